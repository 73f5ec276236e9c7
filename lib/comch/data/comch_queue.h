/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_QUEUE_H
#define COMCH_QUEUE_H

/* What consumers and producers share. */

#include "data/comch_data.h"

/* A poll of its own and the driver's half. */
struct comch_queue {
	struct comch_obj obj;
	struct rte_comch_conn *conn;
	struct rte_comch_dq *dq;
	struct comch_fd fd;            /* readable after a wake-up; or -1 */
	struct comch_poll_guest guest; /* of its poll */
	uint32_t id;
	uint32_t depth;
};

/* May there be one? 0, -EBADFD, -ENOTSUP or -ENOMEM, after a log line that says what. */
int comch_queue_check(struct rte_comch_conn *conn, const char *what);
int comch_queue_init(struct comch_queue *q, enum rte_comch_obj_type type, void *self,
		struct rte_comch_conn *conn, struct rte_comch_poll *poll, uint64_t user_data,
		struct rte_comch_dq *dq);
/* Undo comch_queue_init(), but for what the burial of the object undoes. */
void comch_queue_detach(struct comch_queue *q);
/* The driver's half of a consumer or producer. */
static inline const struct rte_comch_data_ops *
comch_queue_ops(const struct comch_queue *q)
{
	return q->dq->ops;
}
/* What the driver's half tells: ctx is the queue. Any thread, also within a burst. */
void comch_queue_on_fault(void *ctx, int err, const char *text);
void comch_queue_on_news(void *ctx);

#endif /* COMCH_QUEUE_H */
