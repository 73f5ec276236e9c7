/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The queue of an output end: send, retry, drop. */

#include <errno.h>

#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "comch_outq.h"

RTE_LOG_REGISTER(comch_pipe_logtype, lib.comch.pipe, NOTICE);

static int
out_check(const struct rte_comch_pipe_out *out, uint32_t burst, uint32_t size,
		const char *what)
{
	if (out == NULL) {
		COMCH_PIPE_LOG(ERR, "%s: no struct rte_comch_pipe_out", what);
		return -EINVAL;
	}
	if (burst > 64 || !rte_is_power_of_2(burst)) {
		COMCH_PIPE_LOG(ERR, "%s: burst_size %u is not a power of 2 from 1 to 64",
				what, burst);
		return -EINVAL;
	}
	if (size < burst || size > COMCH_OUTQ_SIZE_MAX) {
		COMCH_PIPE_LOG(ERR, "%s: queue_size %u is not from %u to %u",
				what, size, burst, COMCH_OUTQ_SIZE_MAX);
		return -EINVAL;
	}
	if (out->reserved != NULL) {
		COMCH_PIPE_LOG(ERR, "%s: another port or node has this output end", what);
		return -EBUSY;
	}
	return 0;
}

struct comch_outq *
comch_outq_create(struct rte_comch_pipe_out *out, uint32_t burst, uint32_t size,
		int socket_id, const char *what)
{
	struct comch_outq *q;
	int ret;

	burst = burst == 0 ? COMCH_PIPE_BURST : burst;
	size = size == 0 ? COMCH_OUTQ_SIZE : size;
	ret = out_check(out, burst, size, what);
	if (ret < 0) {
		rte_errno = -ret;
		return NULL;
	}
	q = rte_zmalloc_socket("comch_outq", sizeof(*q) + (size + 1) * sizeof(q->mbufs[0]),
			RTE_CACHE_LINE_SIZE, socket_id);
	if (q == NULL) {
		COMCH_PIPE_LOG(ERR, "%s: no memory for a queue of %u mbufs", what, size);
		rte_errno = ENOMEM;
		return NULL;
	}
	q->out = out;
	q->burst = burst;
	q->size = size;
	comch_outq_set_count(q, 0);
	out->reserved = q;
	return q;
}

void
comch_outq_attend(struct comch_outq *q)
{
	/* While the peer is slow, try once per burst. */
	if ((q->count & (q->burst - 1)) == 0 || q->count > q->size)
		comch_outq_flush(q);
	if (q->count > q->size) {
		comch_outq_drop(q, &q->mbufs[q->head + q->size], 1);
		q->count = q->size;
	}
	if (q->head + q->count > q->size)
		comch_outq_to_front(q);
	comch_outq_set_count(q, q->count);
}

static uint32_t
drop_all(struct comch_outq *q)
{
	const uint32_t n = q->count;

	comch_outq_drop(q, &q->mbufs[q->head], n);
	q->head = 0;
	comch_outq_set_count(q, 0);
	return n;
}

void
comch_outq_clear(struct comch_outq *q)
{
	comch_outq_flush(q);
	drop_all(q);
}

void
comch_outq_free(struct comch_outq *q)
{
	comch_outq_clear(q);
	q->out->reserved = NULL;
	rte_free(q);
}

int
comch_in_take(struct rte_comch_pipe_in *in, void *owner, const char *what)
{
	if (in == NULL) {
		COMCH_PIPE_LOG(ERR, "%s: no struct rte_comch_pipe_in", what);
		return -EINVAL;
	}
	if (in->reserved != NULL) {
		COMCH_PIPE_LOG(ERR, "%s: another port or node has this input end", what);
		return -EBUSY;
	}
	in->reserved = owner;
	return 0;
}

uint32_t
rte_comch_pipe_flush(struct rte_comch_pipe_out *out)
{
	struct comch_outq *q = out->reserved;

	if (q == NULL)
		return 0;
	comch_outq_flush(q);
	return q->count;
}

uint32_t
rte_comch_pipe_drop(struct rte_comch_pipe_out *out)
{
	return out->reserved == NULL ? 0 : drop_all(out->reserved);
}
