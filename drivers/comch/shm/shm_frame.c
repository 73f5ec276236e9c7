/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Sends and receives frames in rings of cells; see shm_layout.h. */

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_atomic.h>
#include <rte_prefetch.h>

#include "sdk/comch_armed.h"
#include "sdk/comch_peer.h"
#include "shm_private.h"

/* Size of the header that the core puts before each frame. */
#define HDR_LEN 16
/* Bytes of a first cell for header and payload. */
#define FIRST_DATA (SHM_CELL_DATA - sizeof(struct shm_frame_prefix))
static_assert(FIRST_DATA >= RTE_COMCH_FRAME_HDR, "a header with a payload fits");

/* Check for n free cells. Returns 0, -EAGAIN or -EPROTO. */
static inline int
tx_room(struct shm_link *l, uint32_t n)
{
	uint64_t peer_rx;

	if (likely(l->tx_limit - l->tx_pos >= n))
		return 0;
	peer_rx = peer_load_acquire_u64(&l->peer->rx_pos); /* X: cells.pml, room */
	if (l->tx_pos - peer_rx > l->own_cells) {
		shm_link_down(l, -EPROTO, "peer's ring position is out of range");
		return -EPROTO;
	}
	l->tx_limit = peer_rx + l->own_cells - (l->growth != SHM_GROWTH_NO);
	return l->tx_limit - l->tx_pos >= n ? 0 : -EAGAIN;
}

/*
 * Wake a sleeping peer. A credit does not wake a peer that armed without credits, and
 * leaves its armed word unanswered: the next other frame wakes it. If the peer arms
 * with credits meanwhile, it stores another word: either we read that word, or the
 * peer finds our frame in its last check (W).
 */
static void
wake_peer(struct shm_link *l, bool is_credit)
{
	uint32_t peer_armed;

	if (likely(!comch_armed_asks(&l->peer->armed, l->base.fences, &l->armed_answered,
			&peer_armed)))
		return;
	if (is_credit && l->peer_sets_credit_bit && (peer_armed & COMCH_ARMED_CREDITS) == 0)
		return;
	l->armed_answered = peer_armed;
	comch_count(&l->base.wakes, 1);
	/* A full socket is readable, so the peer is awake. */
	(void)shm_sock_send(l->sock, &(char){ SHM_SOCK_WAKE }, 1, NULL, 0);
}

/* Write a frame of hdr_len + len bytes into n cells, starting at tx_pos. */
static __rte_always_inline void
put_frame(struct shm_link *l, const void *hdr, uint32_t hdr_len, const uint8_t *payload,
		uint32_t len, uint32_t nb_fds, uint32_t n)
{
	const struct shm_frame_prefix prefix = { .len = hdr_len + len, .nb_fds = nb_fds };
	struct shm_cell *first = &l->own_cell[l->tx_pos & l->own_mask];
	uint32_t left = len, i, k;
	struct shm_cell *cell;

	memcpy(first->data, &prefix, sizeof(prefix));
	memcpy(first->data + sizeof(prefix), hdr, hdr_len);
	k = RTE_MIN(left, (uint32_t)FIRST_DATA - hdr_len);
	if (k > 0)
		memcpy(first->data + sizeof(prefix) + hdr_len, payload, k);
	for (i = 1, left -= k; i < n; i++) {
		payload += k;
		k = RTE_MIN(left, (uint32_t)SHM_CELL_DATA);
		cell = &l->own_cell[(l->tx_pos + i) & l->own_mask];
		memcpy(cell->data, payload, k);
		/* Differs from the sequence that any later first cell will have. */
		comch_store_relaxed(&cell->seq, l->tx_pos + i + 1);
		left -= k;
	}
	comch_store_release(&first->seq, l->tx_pos + 1); /* P: cells.pml, publish */
	l->tx_pos += n;
}

int
shm_frame_tx(struct rte_comch_link *link, const struct rte_comch_frame *frame)
{
	struct shm_link *l = container_of(link, struct shm_link, base);
	const uint8_t *payload = frame->payload;
	uint32_t len = frame->payload_len, hdr_len = HDR_LEN, n;
	int ret;

	if (unlikely(link->state != RTE_COMCH_LINK_UP))
		return -ENOTCONN;
	if (unlikely(frame->hdr_len != HDR_LEN)) {
		if (len > 0) {
			hdr_len = frame->hdr_len;
		} else {
			payload = (const uint8_t *)frame->hdr + HDR_LEN;
			len = frame->hdr_len - HDR_LEN;
		}
	}
	n = shm_frame_cells(hdr_len + len);
	ret = tx_room(l, n);
	if (unlikely(ret != 0)) {
		/* The ring may be full of credits, which wake no peer: wake it to read. */
		if (ret == -EAGAIN) {
			wake_peer(l, false);
			shm_ring_full(l);
		}
		return ret == -EPROTO ? -ENOTCONN : ret;
	}
	if (unlikely(frame->nb_fds > 0)) {
		ret = shm_link_send_fds(l, SHM_SOCK_FDS, frame->fds, frame->nb_fds);
		if (ret != 0)
			return ret == -ECONNRESET ? -ENOTCONN : ret;
	}
	if (likely(hdr_len == HDR_LEN))
		put_frame(l, frame->hdr, HDR_LEN, payload, len, frame->nb_fds, n);
	else
		put_frame(l, frame->hdr, hdr_len, payload, len, frame->nb_fds, n);
	wake_peer(l, frame->is_credit);
	return 0;
}

void
shm_frame_tx_ring(struct shm_link *l)
{
	static const uint8_t frame[SHM_RING_FRAME];

	static_assert(sizeof(frame) == HDR_LEN, "as long as any header");
	put_frame(l, frame, HDR_LEN, NULL, 0, SHM_PREFIX_RING, 1);
	wake_peer(l, false);
}

bool
shm_frame_pending(const struct rte_comch_link *link)
{
	const struct shm_link *l = container_of(link, const struct shm_link, base);

	if (l->peer == NULL || l->awaits_fds != 0)
		return false;
	/* Of a frame of two cells, the second is on the way before the first tells of it. */
	rte_prefetch0(&l->peer_cell[(l->rx_pos + 1) & l->peer_mask]);
	/* P: cells.pml, look */
	return peer_load_acquire_u64(&l->peer_cell[l->rx_pos & l->peer_mask].seq) ==
		l->rx_pos + 1;
}

const uint64_t *
shm_frame_word(const struct rte_comch_link *link, uint64_t *value)
{
	const struct shm_link *l = container_of(link, const struct shm_link, base);

	if (l->peer == NULL)
		return NULL;
	*value = l->rx_pos + 1;
	return &l->peer_cell[l->rx_pos & l->peer_mask].seq;
}

/* Copy len bytes of a frame out of its cells. */
static inline void
get_frame(const struct shm_link *l, uint8_t *buf, uint32_t len)
{
	uint32_t skip = sizeof(struct shm_frame_prefix), k;
	uint64_t pos = l->rx_pos;

	while (len > 0) {
		k = RTE_MIN(len, SHM_CELL_DATA - skip);
		peer_copy(buf, l->peer_cell[pos & l->peer_mask].data + skip, k);
		buf += k;
		len -= k;
		skip = 0;
		pos++;
	}
}

int
shm_frame_rx(struct rte_comch_link *link, void *buf, uint32_t size,
		int fds[RTE_COMCH_FRAME_FDS], uint32_t *nb_fds)
{
	struct shm_link *l = container_of(link, struct shm_link, base);
	struct shm_frame_prefix peer_prefix;
	uint32_t len;
	int ret;

	if (!shm_frame_pending(link))
		return -EAGAIN;
	if (unlikely(l->looks) && shm_link_look(l))
		return -EAGAIN;
	/* The previous frame is processed. */
	if (unlikely(l->stash != NULL && l->stash->map[0] != NULL))
		shm_fds_unmap(l);
	peer_copy(&peer_prefix, l->peer_cell[l->rx_pos & l->peer_mask].data,
		sizeof(peer_prefix));
	if (unlikely(peer_prefix.nb_fds == SHM_PREFIX_RING && peer_prefix.len == SHM_RING_FRAME)) {
		ret = shm_ring_take(l);
		/* Once per link: the next frame is none of these. */
		return ret == 0 ? shm_frame_rx(link, buf, size, fds, nb_fds) : ret;
	}
	if (unlikely(peer_prefix.len < HDR_LEN || peer_prefix.len > size ||
			shm_frame_cells(peer_prefix.len) > l->peer_cells ||
			peer_prefix.nb_fds > RTE_COMCH_FRAME_FDS))
		goto err_proto;
	len = peer_prefix.len;
	if (unlikely(peer_prefix.nb_fds > 0)) {
		ret = shm_fds_take(l, fds, peer_prefix.nb_fds);
		if (ret == -EPROTO)
			goto err_proto;
		if (ret != 0)
			return ret;
		*nb_fds = peer_prefix.nb_fds;
	}
	get_frame(l, buf, len);
	l->rx_pos += shm_frame_cells(len);
	comch_store_release(&l->own->rx_pos, l->rx_pos); /* X: cells.pml, consumed */
	return (int)len;

err_proto:
	shm_link_down(l, -EPROTO, "invalid frame from peer");
	return -EPROTO;
}
