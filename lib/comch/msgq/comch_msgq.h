/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MSGQ_H
#define COMCH_MSGQ_H

/*
 * MsgQ: the objects, and who may touch what.
 *
 * A message is a line of 64 bytes in a ring. A ring belongs to one consumer, or
 * to a completion queue that several consumers share. To send, a producer
 *   1. claims credit of the consumer: moves `claim`, which never passes `posted`, by
 *      CAS if the MsgQ has other producers, else by a store;
 *   2. has a position in the ring: that of the credit, or in a shared ring one
 *      more atomic addition to `tail`;
 *   3. writes the line, its sequence (position + 1) last.
 * The consumer looks at the line of its next position only. A line is free once
 * the consumer has copied it out and gave credit again: so `posted` is all that
 * keeps a line from being overwritten, and what it was read by is an acquire.
 *
 * Which acquire reads which release:
 *   T  consumer stores posted (release)  -> producer loads it (acquire)
 *   R  producer stores line.seq (release)-> consumer loads it (acquire)
 * and pairs of fences (store, fence, load on both sides; that of bursts is a
 * light one, see comch_asym.h):
 *   W  publisher: R or T, fence, armed   | sleeper: armed, fence, R or T
 *   Q  producer: burst is odd, fence, consumers[], closed, is_alone | who changes
 *      one of them: store, fence, burst
 *
 * Q is how things change while producers send. Once each producer was seen outside a
 * burst, or in a later one, all of them know: that a consumer is closed, so that
 * `claim` stays as it is; that it is hidden, so that nobody has a pointer; that a
 * producer is not alone any more, so that all use CAS.
 *
 * MsgQ, end lists, create, stop and destroy, and producers that fall asleep: under the
 * MsgQ's lock, any thread. Nothing is freed under it that is in consumers[].
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <bsd/sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "rte_comch_msgq.h"
#include "sdk/comch_asym.h"
#include "sdk/comch_compat.h"
#include "base/comch_poll.h"

#define COMCH_MSGQ_ALIGN 64
#define COMCH_MSGQ_DEFAULT_ENDS 16
#define COMCH_MSGQ_DEFAULT_QUEUE 1024
#define COMCH_MSGQ_MAX_QUEUE (UINT32_C(1) << 20)
#define COMCH_MSGQ_MAX_COPY (UINT32_C(1) << 30)
struct comch_msgq_line {
	uint64_t seq;       /* position + 1; R */
	uint32_t producer;
	uint32_t len;       /* bytes that were copied before */
	struct rte_comch_msgq_consumer *consumer;
	uint16_t imm_len;
	uint16_t reserved[3];
	uint8_t imm[RTE_COMCH_IMM_SIZE];
} __rte_aligned(COMCH_MSGQ_ALIGN);

/* Who is to be woken, and how. */
struct comch_msgq_sleep {
	uint32_t armed;                 /* W: any */
	rte_comch_msgq_notify_t notify; /* NULL: it never sleeps */
	void *arg;
	struct rte_comch_poll *poll;    /* or NULL */
	struct comch_poll_guest guest;  /* in poll */
};

struct comch_msgq_ring {
	/* read mostly */
	struct comch_msgq_line *lines;
	uint32_t mask;
	bool is_shared;
	struct comch_msgq_sleep sleep;
	/* the consumer's thread; head is read by others */
	uint64_t head __rte_aligned(COMCH_MSGQ_ALIGN);  /* lines taken */
	uint64_t posted;                  /* credits given in all, less what was cancelled */
	uint32_t guard;
	/* producers, if it is shared */
	uint64_t tail __rte_aligned(COMCH_MSGQ_ALIGN);  /* positions given away */
};

struct rte_comch_msgq_cq {
	struct comch_msgq_ring ring;
	uint32_t nb_consumers;            /* any */
};

struct rte_comch_msgq_consumer {
	/* the consumer's thread writes, producers read when they are out of credit */
	uint64_t posted __rte_aligned(COMCH_MSGQ_ALIGN); /* T: credits given */
	/* producers */
	uint64_t claim __rte_aligned(COMCH_MSGQ_ALIGN);  /* of them used */
	/* read mostly */
	struct comch_msgq_ring *ring __rte_aligned(COMCH_MSGQ_ALIGN);
	uint64_t serial;                  /* of all consumers of the MsgQ, ever */
	uint64_t user_data;
	uint64_t *cookies;                /* queue_size of them */
	uint32_t mask;
	uint32_t imm_size;
	uint32_t id;
	uint32_t closed;                  /* it is stopped: Q */
	uint32_t tx_armed;                /* W: a producer sleeps for its credit; any */
	struct rte_comch_msgq *msgq;
	struct rte_comch_msgq_cq *cq;
	/* the consumer's thread */
	uint64_t taken __rte_aligned(COMCH_MSGQ_ALIGN); /* messages received, credits returned */
	uint64_t final;                   /* STOPPING: messages that there will be */
	uint32_t state;                   /* enum rte_comch_state; read by any */
	bool has_cookies;                 /* some are not 0 */
	struct rte_comch_consumer_stats stats;
	TAILQ_ENTRY(rte_comch_msgq_consumer) next;
	struct comch_msgq_ring own;       /* unless it has a cq */
};

/* What a producer knows of a consumer's credit. */
struct comch_msgq_seen {
	uint64_t serial;
	uint64_t posted;
};

struct comch_msgq_done {
	uint64_t cookie;
	int32_t status;
	uint32_t len;
	uint32_t consumer_id;
	uint16_t copies;
	uint16_t reserved;
};

/* A copy that is not done, or a message that may not overtake one. */
struct comch_msgq_pending {
	uint64_t cookie;
	uint32_t consumer_id;
	uint32_t len;
	int32_t status;      /* of the copy */
	bool in_dma;         /* a DMA device has it */
	uint8_t copies;
	uint16_t flags;
	uint16_t imm_len;
	uint8_t imm[RTE_COMCH_IMM_SIZE];
};

struct rte_comch_msgq_producer {
	uint32_t burst;                   /* Q: odd within one; read by any */
	uint32_t is_alone;                /* no other producer is there: Q */
	uint32_t id;
	uint32_t mask;                    /* of done and pending */
	uint32_t max_consumers;
	struct rte_comch_msgq_consumer **consumers; /* the MsgQ's: Q */
	struct comch_msgq_seen *seen;     /* one for each place in consumers */
	struct comch_msgq_done *done;
	uint32_t done_head;
	uint32_t done_tail;
	uint32_t pending_head;
	uint32_t pending_tail;
	uint32_t nb_dma_done;             /* copies that the device has done, not looked at */
	uint32_t short_id;                /* the consumer that had no credit; 0: none */
	uint32_t waits_for;               /* the same, of one that sleeps: lock */
	struct comch_msgq_pending *pending;
	struct rte_comch_msgq *msgq;
	uint32_t guard;
	bool has_dma;
	struct rte_comch_msgq_dma dma;
	struct comch_msgq_sleep sleep;
	struct rte_comch_producer_stats stats;
	TAILQ_ENTRY(rte_comch_msgq_producer) next;
};

struct rte_comch_msgq {
	struct rte_comch_msgq_consumer **consumers; /* by id - 1: Q */
	uint32_t max_consumers;
	uint32_t max_producers;
	int socket_id;
	pthread_mutex_t lock;
	TAILQ_HEAD(, rte_comch_msgq_consumer) consumer_list;
	TAILQ_HEAD(, rte_comch_msgq_producer) producer_list;
	uint64_t next_serial;
	uint32_t nb_consumers;
	uint32_t nb_producers;
	char name[RTE_COMCH_DEV_NAME_SIZE];
	struct comch_registry_entry entry;
};

extern struct comch_registry_type comch_msgq_registry;

/* Wake who waits. Returns how many: 1 or 0. The light fence of W comes before. */
static inline uint32_t
comch_msgq_wake(struct comch_msgq_sleep *sleep)
{
	if (likely(comch_load_relaxed(&sleep->armed) == 0) ||
			__atomic_exchange_n(&sleep->armed, 0, __ATOMIC_ACQ_REL) == 0)
		return 0;
	sleep->notify(sleep->arg);
	return 1;
}

/* Operations that a producer can take: each will want a place in done. */
static inline uint32_t
comch_msgq_room(const struct rte_comch_msgq_producer *p)
{
	return p->mask + 1 - (p->done_tail - p->done_head) -
		(p->pending_tail - p->pending_head);
}

/* The consumer of an id, within a burst; NULL: none, or it is stopped. */
static inline struct rte_comch_msgq_consumer *
comch_msgq_find(const struct rte_comch_msgq_producer *p, uint32_t id)
{
	struct rte_comch_msgq_consumer *c;

	/* 0 - 1 is over any limit. */
	if (unlikely(id - 1 >= p->max_consumers))
		return NULL;
	/* Acquire: pairs with the release of create. */
	c = comch_load_acquire(&p->consumers[id - 1]);
	return likely(c != NULL && comch_load_relaxed(&c->closed) == 0) ? c : NULL;
}

/* What becomes of an operation, for done_burst(). NULL: nobody wants to know. */
static inline struct comch_msgq_done *
comch_msgq_complete(struct rte_comch_msgq_producer *p, uint64_t cookie, uint32_t consumer_id,
		uint16_t flags, int status)
{
	struct comch_msgq_done *d;

	if (unlikely(status != 0))
		comch_count(&p->stats.errors, 1);
	if ((flags & RTE_COMCH_OP_F_SILENT) != 0)
		return NULL;
	/* Field by field: through a copy the loads would wait for the stores. */
	d = &p->done[p->done_tail++ & p->mask];
	d->cookie = cookie;
	d->status = status;
	d->len = 0;
	d->consumer_id = consumer_id;
	d->copies = 0;
	return d;
}

/* comch_msgq_dp.c */
/* One message of a copy, or one that waited behind it. 1: taken; 0: no credit; -errno. */
int comch_msgq_send_pending(struct rte_comch_msgq_producer *p,
		const struct comch_msgq_pending *m);
/* May a message be sent at all? 0 or the status that it comes back with. */
int comch_msgq_check(const struct rte_comch_msgq_producer *p, uint32_t consumer_id,
		const void *imm, uint16_t imm_len);
int comch_msgq_check_op(const struct rte_comch_msgq_producer *p, const struct rte_comch_op *op);
/* Has a consumer credit, or is it gone? */
bool comch_msgq_can_send(const struct rte_comch_msgq_producer *p, uint32_t consumer_id);

/* comch_msgq_copy.c */
/* Carry copies on. True: nothing is left. */
bool comch_msgq_push(struct rte_comch_msgq_producer *p);
uint16_t comch_msgq_copy(struct rte_comch_msgq_producer *p,
		const struct rte_comch_msgq_copy *ops, uint16_t n);
/* Queue messages behind the copies. How many. */
uint16_t comch_msgq_defer(struct rte_comch_msgq_producer *p, const struct rte_comch_op *ops,
		uint16_t n);

/* comch_msgq_sleep.c */
/* Is there one way to be woken at most? 0 or -EINVAL. */
int comch_msgq_sleep_check(const char *what, struct rte_comch_poll *poll,
		rte_comch_msgq_notify_t notify);
void comch_msgq_sleep_init(struct comch_msgq_sleep *sleep, uint32_t cls,
		struct rte_comch_poll *poll, rte_comch_msgq_notify_t notify, void *arg);
void comch_msgq_sleep_fini(struct comch_msgq_sleep *sleep);
/* Producers that wait for credit look again. */
void comch_msgq_wake_producers(struct rte_comch_msgq_consumer *c);

#endif /* COMCH_MSGQ_H */
