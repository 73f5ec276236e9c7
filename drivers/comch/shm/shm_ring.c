/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Rings that grow; see shm_layout.h.
 *
 * A new link has a ring for few messages, so that strangers in the handshake cost little. It
 * grows when it was full, in the next run of the poll: connections that never fill it do not
 * pay for more. The larger ring is our memory, taken for what this peer does not read: it counts
 * against the peer's share of such rings. Over it, or without memory, the ring stays small.
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

void
shm_ring_full(struct shm_link *l)
{
	if (l->growth != SHM_GROWTH_POSSIBLE)
		return;
	l->growth = SHM_GROWTH_DUE;
	l->base.needs_setup = true;
	comch_link_tell(&l->base, true);
}

/* Create the memory of our larger ring, and send its descriptor. */
static int
make(struct shm_link *l, void **addr)
{
	const size_t len = comch_memfd_round(shm_ring_len(SHM_GROWN_CELLS));
	int fd, ret;

	fd = comch_memfd_create("comch_ring", len, COMCH_MEMFD_ONE_WRITER, addr);
	if (fd < 0)
		return fd;
	ret = shm_link_send_fds(l, &fd, 1);
	close(fd);
	if (ret != 0)
		munmap(*addr, len);
	return ret;
}

void
shm_ring_grow(struct shm_link *l)
{
	void *addr = NULL;

	l->base.needs_setup = false;
	/* Once: a peer that is over its share would else cost an attempt for each full ring. */
	l->growth = SHM_GROWTH_NO;
	if (l->base.state != RTE_COMCH_LINK_UP)
		return;
	if (!comch_quota_take(l->out.quota, COMCH_QUOTA_RINGS, 1))
		return;
	if (make(l, &addr) != 0) {
		comch_quota_give(l->out.quota, COMCH_QUOTA_RINGS, 1);
		return;
	}
	shm_frame_tx_ring(l, SHM_GROWN_CELLS);
	l->own_grown = addr;
	l->own_cell = addr;
	l->own_cells = SHM_GROWN_CELLS;
	l->own_mask = SHM_GROWN_CELLS - 1;
	/* Look at the peer's position again. */
	l->tx_limit = l->tx_pos;
}

/* Map the peer's larger ring. */
static int
map_peers(struct shm_link *l, int fd, uint32_t cells)
{
	const size_t len = comch_memfd_round(shm_ring_len(cells));
	void *addr;
	int ret;

	ret = comch_memfd_check_control(fd, len);
	if (ret != 0)
		return ret;
	if (!comch_quota_take(l->out.quota, COMCH_QUOTA_MAPS, 1))
		return -EDQUOT;
	ret = comch_memfd_map(fd, 0, len, false, &addr);
	if (ret != 0) {
		comch_quota_give(l->out.quota, COMCH_QUOTA_MAPS, 1);
		return ret;
	}
	l->peer_grown = addr;
	l->peer_cell = addr;
	l->peer_cells = cells;
	l->peer_mask = cells - 1;
	return 0;
}

static int
refuse(struct shm_link *l, int err)
{
	if (err == -EPERM)
		shm_link_down(l, -EPROTO, "peer's larger ring lacks seals");
	else if (err == -EDQUOT)
		shm_link_down(l, err, "peer has used up its share of this process's mappings");
	else
		shm_link_down(l, err, err == -EPROTO ? "invalid frame from peer" :
			strerrordesc_np(-err));
	return l->base.error;
}

int
shm_ring_take(struct shm_link *l, uint32_t len)
{
	struct shm_ring_frame peer_frame;
	uint32_t cells;
	int fd, ret;

	if (!l->peer_may_grow || len != sizeof(peer_frame))
		return refuse(l, -EPROTO);
	peer_copy(&peer_frame, l->peer_cell[l->rx_pos & l->peer_mask].data +
		sizeof(struct shm_frame_prefix), sizeof(peer_frame));
	cells = rte_le_to_cpu_32(peer_frame.cells);
	if (cells <= l->peer_cells || cells > SHM_GROWN_CELLS || !rte_is_power_of_2(cells))
		return refuse(l, -EPROTO);
	ret = shm_link_take_fds(l, &fd, 1);
	if (ret != 0)
		return ret == -EPROTO ? refuse(l, ret) : ret;
	/* It was mapped like payload, in case that it is. */
	shm_link_unmap(l);
	l->map_err = 0;
	ret = map_peers(l, fd, cells);
	comch_foreign_close(fd);
	if (ret != 0)
		return refuse(l, ret);
	l->peer_may_grow = false;
	l->rx_pos++;
	comch_store_release(&l->own->rx_pos, l->rx_pos); /* X: cells.pml, consumed */
	return 0;
}

void
shm_ring_free(struct shm_link *l)
{
	if (l->own_grown != NULL) {
		munmap(l->own_grown, comch_memfd_round(shm_ring_len(SHM_GROWN_CELLS)));
		comch_quota_give(l->out.quota, COMCH_QUOTA_RINGS, 1);
	}
	if (l->peer_grown != NULL) {
		munmap(l->peer_grown, comch_memfd_round(shm_ring_len(l->peer_cells)));
		comch_quota_give(l->out.quota, COMCH_QUOTA_MAPS, 1);
	}
}
