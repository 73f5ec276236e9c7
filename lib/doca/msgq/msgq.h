/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_MSGQ_MSGQ_H
#define IMPL_MSGQ_MSGQ_H

/*
 * MsgQs. Their consumers and producers are two kinds of those in
 * comch/data_path.h; each has a native end while it runs.
 *
 * cpu.c: ends on the CPU, whose tasks are comch/consumer.c's and producer.c's.
 * dpa.c: ends on the DPA, which device code (dev.c) uses by handles.
 * completion.c: where messages for consumers on the DPA arrive.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_comch_msgq.h>
#include <rte_spinlock.h>

#include <doca_comch_msgq.h>

#include "comch/data_path.h"
#include "dpa/dpa.h"

#define IMPL_MSGQ_MAX_ENDS RTE_COMCH_MSGQ_MAX_ENDS
/* Receives or sends of one end on the DPA. */
#define IMPL_MSGQ_MAX_DEPTH 65536
/* Messages that one consumer completion holds. */
#define IMPL_MSGQ_MAX_COMPLETIONS (UINT32_C(1) << 19)

struct doca_comch_msgq {
	struct doca_dev *dev;
	struct doca_dpa *dpa_consumer;
	struct doca_dpa *dpa_producer;
	uint32_t max_consumers;
	uint32_t max_producers;
	pthread_mutex_t lock;        /* of what follows */
	struct rte_comch_msgq *native; /* NULL: not started */
	uint32_t nb_consumers;
	uint32_t nb_producers;
	bool consumers[IMPL_MSGQ_MAX_ENDS]; /* by id - 1: is there one? */
	bool producers[IMPL_MSGQ_MAX_ENDS];
};

/*
 * Messages are copied out of the native queue into `elements`, one by one as
 * device code takes them, and all of them when a consumer stops. Positions
 * count up: acked <= taken <= filled.
 *
 * Of the native queue, and of its consumers, it is `lock` that makes one thread at a
 * time: device code, and a host that stops a consumer.
 *
 * With N messages on their way at most, device code may have N elements that it does
 * not acknowledge. There are 4 N of them, so that what consumers leave behind when
 * they stop finds room, and so does what is sent to the next ones.
 */
struct doca_comch_consumer_completion {
	struct doca_dpa_thread *thread;
	struct rte_comch_msgq_cq *cq;
	uint64_t handle;             /* 0: not started */
	uint32_t max_consumers;
	uint32_t max_recv;
	uint32_t imm_len;
	uint32_t nb_users;           /* consumers that have it; atomic */
	rte_spinlock_t lock;         /* of what follows */
	uint32_t nb_consumers;       /* of them running */
	uint32_t size;               /* N */
	uint32_t mask;               /* of elements */
	uint64_t acked;
	uint64_t taken;
	uint64_t filled;
	uint64_t nb_credits;         /* messages that may still come */
	struct rte_comch_cpl *elements;
};

/* A consumer of a MsgQ. Its id is a place in the MsgQ's table. */
struct impl_msgq_consumer {
	struct doca_comch_consumer base;
	struct doca_comch_msgq *msgq;
	struct {
		uint32_t max_recv;       /* 0: not set */
		struct doca_comch_consumer_completion *comp;
		uint64_t handle;         /* 0: not started */
	} dpa; /* if it is on the DPA */
};

struct impl_msgq_producer {
	struct doca_comch_producer base;
	struct doca_comch_msgq *msgq;
	struct {
		uint32_t max_send;       /* 0: not set */
		uint32_t user_data;      /* of its completions */
		uint32_t nb_deferred;    /* completions that come with a later one */
		bool has_warned;         /* that nothing was posted */
		struct doca_dpa_completion *comp;
		uint64_t handle;         /* 0: not started */
	} dpa; /* if it is on the DPA */
};

/* cpu.c, dpa.c: the kinds of ends; each begins on the CPU */
extern const struct impl_consumer_ops impl_msgq_consumer_cpu_ops;
extern const struct impl_consumer_ops impl_msgq_consumer_dpa_ops;
extern const struct impl_producer_ops impl_msgq_producer_cpu_ops;
extern const struct impl_producer_ops impl_msgq_producer_dpa_ops;

/* msgq.c: operations of all ends */
doca_error_t impl_msgq_consumer_destroy(struct doca_comch_consumer *consumer);
doca_error_t impl_msgq_producer_destroy(struct doca_comch_producer *producer);

/* dpa.c: the ends go to the DPA */
doca_error_t impl_msgq_consumer_set_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa);
doca_error_t impl_msgq_producer_set_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa);
/* A consumer has it no more. NULL: nothing. */
void impl_msgq_drop_completion(struct doca_comch_consumer_completion *comp);

/* completion.c */
/* A consumer joins: DOCA_ERROR_BAD_STATE (not started), DOCA_ERROR_INVALID_VALUE. */
doca_error_t impl_consumer_completion_join(struct doca_comch_consumer_completion *comp,
		uint32_t max_recv, uint32_t imm_len);
void impl_consumer_completion_leave(struct doca_comch_consumer_completion *comp);
/* Stop a native consumer; what has arrived for it becomes elements. */
void impl_consumer_completion_stop_native(struct doca_comch_consumer_completion *comp,
		struct rte_comch_msgq_consumer *native);
/* Copy a message out of the native queue, if there is one. lock held. */
void impl_consumer_completion_fill(struct doca_comch_consumer_completion *comp);

#endif /* IMPL_MSGQ_MSGQ_H */
