/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_QUEUE_H
#define COMCH_QUEUE_H

/* The common base of consumers and producers. */

#include "data/comch_fast_path.h"

/* A consumer or producer, with its own poll and the driver's data queue. */
struct comch_queue {
	struct comch_obj obj;
	struct rte_comch_conn *conn;
	struct rte_comch_dq *dq;
	struct comch_fd fd;              /* readable after a wake-up; -1: none */
	struct comch_poll_source source; /* in its poll */
	uint32_t id;
	uint32_t depth;
};

/*
 * May the connection have a consumer or producer? Then it keeps its link for this one, which
 * may be created while the peer leaves. Returns 0, or -EBADFD, -ENOTSUP or -ENOMEM after a log
 * line that names `what`.
 */
int comch_queue_reserve(struct rte_comch_conn *conn, const char *what);
/* Undo it: the consumer or producer was not created, or is destroyed. Call with conn->lock held. */
void comch_queue_unreserve(struct rte_comch_conn *conn);
/* The same, without the lock. */
void comch_queue_cancel(struct rte_comch_conn *conn);
int comch_queue_init(struct comch_queue *q, enum rte_comch_obj_type type, void *self,
		struct rte_comch_conn *conn, struct rte_comch_poll *poll, uint64_t user_data,
		struct rte_comch_dq *dq);
/* Undo comch_queue_init(), except what comch_obj_free_later() undoes. */
void comch_queue_detach(struct comch_queue *q);
/* The driver's data operations. */
static inline const struct rte_comch_data_ops *
comch_queue_ops(const struct comch_queue *q)
{
	return q->dq->ops;
}
/* Callback of the driver; ctx is the queue. Any thread, also within a burst. */
void comch_queue_on_fault(void *ctx, int err, const char *text);

#endif /* COMCH_QUEUE_H */
