/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Rings that grow; see shm_layout.h.
 *
 *   sender                                     receiver
 *   before its first frame: makes a file, offers it -> maps it, says so in its own memory,
 *                                              and reads that frame
 *   ring full, and the file is mapped:
 *   allocates its pages, sends a frame      -> reads on in the file
 *
 * The first frame is one of the handshake and waits for another thread, which receives the offer.
 * No later frame does: each end has the other's ring when the connection is established, messages
 * behind the change can be read at once, which an ordered server counts on, and no sleeper is
 * woken for an offer.
 *
 * One that never fills its ring has no memory of the larger one: the file has no pages until it
 * is used.
 *
 * Either side counts such a ring against the peer's share: the sender, because it allocates what
 * the peer does not read; the receiver, because it allocates the pages that a hostile sender left
 * out, at that frame: a load that finds no memory for one would end this process. Over the share,
 * or without memory at the sender, the ring stays as it is; without memory at the receiver, the
 * link ends. No page can disappear later: the file cannot be written or cut through new mappings
 * or descriptors.
 */

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_common.h>

#include "sdk/comch_foreign.h"
#include "sdk/comch_link.h"
#include "sdk/comch_memfd.h"
#include "sdk/comch_peer.h"
#include "shm_private.h"

/* Messages of the agreed size that a ring shall hold, if the queues do. */
#define WANTED_MSGS 48

static size_t
ring_len(void)
{
	return comch_memfd_round(SHM_GROWN_CELLS * sizeof(struct shm_cell));
}

/* Create the file of our larger ring, and send its descriptor. */
static int
make(struct shm_link *l)
{
	void *addr = NULL;
	int fd, ret;

	fd = comch_memfd_create_sparse("comch_ring", ring_len(), &addr);
	if (fd < 0)
		return fd;
	ret = shm_link_send_fds(l, SHM_SOCK_RING, &fd, 1);
	close(fd);
	if (ret != 0)
		munmap(addr, ring_len());
	else
		l->own_grown = addr;
	return ret;
}

void
shm_ring_prepare(struct rte_comch_link *link, uint32_t nb_msgs, uint32_t len)
{
	struct shm_link *l = container_of(link, struct shm_link, base);
	uint32_t cells = shm_frame_cells(RTE_COMCH_FRAME_HDR + len);

	if (!l->grows || l->own_cells >= SHM_GROWN_CELLS ||
			RTE_MIN(nb_msgs, (uint32_t)WANTED_MSGS) * cells <= l->own_cells ||
			l->tx_limit - l->tx_pos < 2 ||
			!comch_quota_take(l->out.quota, COMCH_QUOTA_RINGS, 1))
		return;
	if (make(l) != 0) {
		comch_quota_give(l->out.quota, COMCH_QUOTA_RINGS, 1);
		return;
	}
	/* From here on one cell is kept for the frame that says where the next ones are. */
	l->tx_limit--;
	l->growth = SHM_GROWTH_OFFERED;
}

void
shm_ring_full(struct shm_link *l)
{
	if (l->growth != SHM_GROWTH_OFFERED ||
			peer_load_relaxed_u32(&l->peer->has_ring) != SHM_HAS_RING)
		return;
	l->growth = SHM_GROWTH_DUE;
	/* The next shm_link_poll() calls shm_ring_step(). */
	l->base.needs_setup = true;
	comch_link_tell(&l->base, true);
}

void
shm_ring_step(struct shm_link *l)
{
	l->base.needs_setup = false;
	if (l->base.state != RTE_COMCH_LINK_UP || l->growth != SHM_GROWTH_DUE)
		return;
	l->growth = SHM_GROWTH_NO;
	if (comch_memfd_populate(l->own_grown, ring_len(), true) != 0)
		return;
	shm_frame_tx_ring(l);
	l->own_cell = l->own_grown;
	l->own_cells = SHM_GROWN_CELLS;
	l->own_mask = SHM_GROWN_CELLS - 1;
	/* Look at the peer's position again. */
	l->tx_limit = l->tx_pos;
}

/* Map the peer's larger ring. Without it, the peer's ring stays as it is. */
static void
map_peers(struct shm_link *l, int fd)
{
	void *addr;

	if (!comch_quota_take(l->out.quota, COMCH_QUOTA_RINGS, 1))
		return;
	if (comch_memfd_map(fd, 0, ring_len(), false, &addr) != 0) {
		comch_quota_give(l->out.quota, COMCH_QUOTA_RINGS, 1);
		return;
	}
	l->peer_grown = addr;
	comch_store_relaxed(&l->own->has_ring, SHM_HAS_RING);
}

void
shm_ring_offered(struct shm_link *l, struct comch_foreign_msg *msg)
{
	/* It was mapped like payload, in case that it is. */
	comch_foreign_unmap(msg);
	if (!l->peer_may_offer || msg->nb_fds != 1)
		shm_link_down(l, -EPROTO, "unexpected descriptors from peer");
	else if (comch_memfd_check_sparse(msg->fds[0], ring_len()) != 0)
		shm_link_down(l, -EPROTO, "peer's larger ring lacks seals, or has another size");
	else
		map_peers(l, msg->fds[0]);
	l->peer_may_offer = false;
	comch_foreign_drop(msg);
}

int
shm_ring_take(struct shm_link *l)
{
	int ret;

	if (l->peer_grown == NULL || l->peer_cell == l->peer_grown) {
		shm_link_down(l, -EPROTO, "invalid frame from peer");
		return -EPROTO;
	}
	/* An honest peer has allocated all. */
	ret = comch_memfd_populate(l->peer_grown, ring_len(), false);
	if (ret != 0) {
		shm_link_down(l, ret, "no memory for what the peer's larger ring lacks");
		return ret;
	}
	l->peer_cell = l->peer_grown;
	l->peer_cells = SHM_GROWN_CELLS;
	l->peer_mask = SHM_GROWN_CELLS - 1;
	l->rx_pos++;
	comch_store_release(&l->own->rx_pos, l->rx_pos); /* X: cells.pml, consumed */
	return 0;
}

static void
unmap(struct shm_link *l, void *ring)
{
	if (ring == NULL)
		return;
	munmap(ring, ring_len());
	comch_quota_give(l->out.quota, COMCH_QUOTA_RINGS, 1);
}

void
shm_ring_free(struct shm_link *l)
{
	unmap(l, l->own_grown);
	unmap(l, l->peer_grown);
	l->own_grown = l->peer_grown = NULL;
}
