/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_RECV_MBUFS_H
#define COMCH_RECV_MBUFS_H

/*
 * Receives of mbufs without completions in between, for transports with comch_recv.h whose CPU
 * copies nothing on this side: the step `copies` is not asked.
 */

#include "sdk/comch_mbuf.h"
#include "sdk/comch_recv.h"

/*
 * Deliver messages of the record at head in their buffers, which are mbufs. Returns their number;
 * 0: there are none; -ENOTSUP: they are not whole ones of a direct record without immediate data.
 */
static __rte_always_inline int
comch_recv_mbufs(struct comch_recv *rx, struct rte_mbuf **mbufs, uint16_t n,
		const struct comch_recv_steps *steps)
{
	const uint64_t entry_head = rx->entry_head;
	const struct comch_posted *e;
	const struct comch_rec *rec;
	struct comch_rec_head head;
	uint64_t bytes = 0;
	uint32_t len, idx;
	uint16_t i;

	if (rx->rec_idx == rx->cur.head.count) {
		if (!steps->is_committed(rx))
			return 0;
		rec = steps->at_head(rx);
		if (unlikely(!comch_recv_read_head(rx, rec, &head) || head.imm_len > 0 ||
				head.kind != COMCH_REC_DIRECT))
			return -ENOTSUP;
		comch_recv_begin_rec(rx, rec, &head);
	}
	rec = &rx->cur;
	if (unlikely(rec->head.kind != COMCH_REC_DIRECT))
		return -ENOTSUP;
	idx = rx->rec_idx;
	n = (uint16_t)RTE_MIN((uint32_t)n, rec->head.count - idx);
	for (i = 0; i < n; i++) {
		e = &rx->entry[(entry_head + i) & rx->mask];
		len = rec->len[idx + i];
		if (unlikely((int64_t)len > e->room))
			break;
		mbufs[i] = (struct rte_mbuf *)(uintptr_t)e->cookie;
		comch_mbuf_received(mbufs[i], len);
		bytes += len;
	}
	rx->entry_head = entry_head + i;
	rx->head += i;
	rx->rec_idx = idx + i;
	comch_count(&rx->stats.msgs, i);
	comch_count(&rx->stats.bytes, bytes);
	return likely(i > 0) ? i : -ENOTSUP;
}

#endif /* COMCH_RECV_MBUFS_H */
