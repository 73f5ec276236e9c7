/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_MSGQ_MSGQ_H
#define IMPL_MSGQ_MSGQ_H

/*
 * MsgQs. Their consumers and producers, together called ends, are kinds of those in
 * comch/data_path.h. Each has a native end while it runs.
 *
 * cpu.c         ends on the CPU, with the tasks of comch/consumer.c and producer.c
 * dpa.c         ends on the DPA, which device code (dev.c) uses by handles
 * completion.c  consumer completions, on which messages for the DPA arrive
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
/* Maximum receives or sends of an end on the DPA. */
#define IMPL_MSGQ_MAX_DEPTH 65536
/* Maximum messages of a consumer completion. */
#define IMPL_MSGQ_MAX_COMPLETIONS (UINT32_C(1) << 19)

struct doca_comch_msgq {
	struct doca_dev *dev;
	struct doca_dpa *dpa_consumer;
	struct doca_dpa *dpa_producer;
	uint32_t max_consumers;
	uint32_t max_producers;
	pthread_mutex_t lock;        /* protects the fields below */
	struct rte_comch_msgq *native; /* NULL: not started */
	uint32_t nb_consumers;
	uint32_t nb_producers;
	bool consumers[IMPL_MSGQ_MAX_ENDS]; /* used ids, by id - 1 */
	bool producers[IMPL_MSGQ_MAX_ENDS];
};

/*
 * Messages are copied out of the native queue into `elements`: one by one as device code
 * takes them, and all when a consumer stops. Positions count up:
 * acked <= taken <= filled.
 *
 * `lock` serializes access to the native queue and its consumers by device code and by
 * a host that stops a consumer.
 *
 * With at most N messages in flight, device code may have N unacknowledged elements.
 * There are 4 N elements, so that messages of stopped consumers and those for the next
 * ones both fit.
 */
struct doca_comch_consumer_completion {
	struct doca_dpa_thread *thread;
	struct rte_comch_msgq_cq *cq;
	uint64_t handle;             /* 0: not started */
	uint32_t max_consumers;
	uint32_t max_recv;
	uint32_t imm_len;
	uint32_t nb_users;           /* consumers it is set in; atomic */
	rte_spinlock_t lock;         /* protects the fields below */
	uint32_t nb_consumers;       /* running */
	uint32_t size;               /* N */
	uint32_t mask;               /* size of elements - 1 */
	uint64_t acked;
	uint64_t taken;
	uint64_t filled;
	uint64_t nb_credits;         /* messages that may still arrive */
	struct rte_comch_cpl *elements;
};

/* A consumer of a MsgQ. Its id is an index into the MsgQ's table, plus 1. */
struct impl_msgq_consumer {
	struct doca_comch_consumer base;
	struct doca_comch_msgq *msgq;
	struct {
		uint32_t max_recv;       /* 0: not set */
		struct doca_comch_consumer_completion *comp;
		uint64_t handle;         /* 0: not started */
	} dpa; /* on the DPA only */
};

struct impl_msgq_producer {
	struct doca_comch_producer base;
	struct doca_comch_msgq *msgq;
	struct {
		uint32_t max_send;       /* 0: not set */
		uint32_t user_data;      /* of its completion elements */
		uint32_t nb_deferred;    /* elements delayed until a later one */
		bool has_warned;         /* about a consumer with nothing posted */
		struct doca_dpa_completion *comp;
		uint64_t handle;         /* 0: not started */
	} dpa; /* on the DPA only */
};

/* cpu.c, dpa.c: kinds of ends; every end is created on the CPU */
extern const struct impl_consumer_ops impl_msgq_consumer_cpu_ops;
extern const struct impl_consumer_ops impl_msgq_consumer_dpa_ops;
extern const struct impl_producer_ops impl_msgq_producer_cpu_ops;
extern const struct impl_producer_ops impl_msgq_producer_dpa_ops;

/* msgq.c: operations of all ends */
doca_error_t impl_msgq_consumer_destroy(struct doca_comch_consumer *consumer);
doca_error_t impl_msgq_producer_destroy(struct doca_comch_producer *producer);

/* dpa.c: move ends to the DPA */
doca_error_t impl_msgq_consumer_set_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa);
doca_error_t impl_msgq_producer_set_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa);
/* A consumer no longer uses it. NULL: no effect. */
void impl_msgq_drop_completion(struct doca_comch_consumer_completion *comp);

/* completion.c */
/* Add a consumer: DOCA_ERROR_BAD_STATE (not started), DOCA_ERROR_INVALID_VALUE. */
doca_error_t impl_consumer_completion_join(struct doca_comch_consumer_completion *comp,
		uint32_t max_recv, uint32_t imm_len);
void impl_consumer_completion_leave(struct doca_comch_consumer_completion *comp);
/* Stop a native consumer; its received messages become elements. */
void impl_consumer_completion_stop_native(struct doca_comch_consumer_completion *comp,
		struct rte_comch_msgq_consumer *native);
/* Copy one message out of the native queue, if any. lock held. */
void impl_consumer_completion_fill(struct doca_comch_consumer_completion *comp);

#endif /* IMPL_MSGQ_MSGQ_H */
