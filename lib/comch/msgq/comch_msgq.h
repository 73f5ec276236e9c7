/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MSGQ_H
#define COMCH_MSGQ_H

/*
 * MsgQ: its objects, the protocol between producers and consumers, and locking.
 *
 * A message is a line of 64 bytes in a ring. A ring belongs to one consumer, or
 * to a completion queue that several consumers share. To send, a producer
 *   1. claims credit of the consumer: advances `claim`, which never passes `posted`, by
 *      CAS if the MsgQ has other producers, else by a store;
 *   2. takes a position in the ring: that of the credit, or in a shared ring by an
 *      atomic addition to `tail`;
 *   3. writes the line, its sequence (position + 1) last.
 * The consumer checks only the line of its next position. A line is free once the
 * consumer has copied it and posted a new credit: so `posted` alone keeps a line from
 * being overwritten, and producers load it with acquire.
 *
 * Pairs of release and acquire (M: of the MsgQ; those of channels are in comch_chan.h):
 *   MT  consumer stores posted (release)  -> producer loads it (acquire)
 *   MR  producer stores line.seq (release)-> consumer loads it (acquire)
 * and pairs of fences (store, fence, load on both sides; that of bursts is a
 * light one, see comch_asym.h):
 *   MW  publisher: MR or MT, fence, armed | sleeper: armed, fence, MR or MT
 *   MQ  producer: burst is odd, fence, consumers[], closed, is_single | writer of one of
 *       them: store, fence, burst
 *
 * MQ serves changes while producers send. Once each producer was seen outside a burst,
 * or in a later one, all of them have seen the change: a consumer is closed, so
 * `claim` is final; it is removed from consumers[], so no pointer to it is left; or a
 * second producer exists, so all use CAS.
 *
 * The MsgQ's lock protects its lists, create, stop and destroy, and the arming of
 * producers, in any thread. A consumer is freed only after its removal from consumers[].
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <bsd/sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "rte_comch_msgq.h"
#include "sdk/comch_armed.h"
#include "sdk/comch_asym.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_epoch.h"
#include "base/comch_poll.h"

#define COMCH_MSGQ_ALIGN 64
#define COMCH_MSGQ_DEFAULT_ENDS 16
#define COMCH_MSGQ_DEFAULT_QUEUE 1024
#define COMCH_MSGQ_MAX_QUEUE (UINT32_C(1) << 20)
#define COMCH_MSGQ_MAX_COPY (UINT32_C(1) << 30)
struct comch_msgq_line {
	uint64_t seq;       /* position + 1; MR */
	uint32_t producer;
	uint32_t len;       /* bytes that a copy transferred before the message */
	struct rte_comch_msgq_consumer *consumer;
	uint16_t imm_len;
	uint16_t reserved[3];
	uint8_t imm[RTE_COMCH_IMM_SIZE];
} __rte_aligned(COMCH_MSGQ_ALIGN);

/* How an end of a MsgQ is woken. */
struct comch_msgq_sleep {
	uint32_t armed;                 /* MW: any */
	rte_comch_msgq_notify_t notify; /* NULL: the end never sleeps */
	void *arg;
	struct rte_comch_poll *poll;    /* or NULL */
	struct comch_poll_source source; /* in poll */
};

struct comch_msgq_ring {
	/* read mostly */
	struct comch_msgq_line *lines;
	uint32_t mask;
	bool is_shared;
	struct comch_msgq_sleep sleep;
	/* the consumer's thread; head is read by others */
	uint64_t head __rte_aligned(COMCH_MSGQ_ALIGN);  /* lines taken */
	uint64_t posted;                  /* credits posted, less cancelled ones */
	uint32_t guard;
	/* producers, if the ring is shared */
	uint64_t tail __rte_aligned(COMCH_MSGQ_ALIGN);  /* next free position */
};

struct rte_comch_msgq_cq {
	struct comch_msgq_ring ring;
	uint32_t nb_consumers;            /* any */
};

struct rte_comch_msgq_consumer {
	/* the consumer's thread writes, producers read when they are out of credit */
	uint64_t posted __rte_aligned(COMCH_MSGQ_ALIGN); /* MT: credits posted */
	/* producers */
	uint64_t claim __rte_aligned(COMCH_MSGQ_ALIGN);  /* of posted, used */
	/* read mostly */
	struct comch_msgq_ring *ring __rte_aligned(COMCH_MSGQ_ALIGN);
	uint64_t serial;                  /* unique among all consumers of the MsgQ */
	uint64_t user_data;
	uint64_t *cookies;                /* queue_size entries */
	uint32_t mask;
	uint32_t imm_size;
	uint32_t id;
	uint32_t closed;                  /* stopped: MQ */
	uint32_t tx_armed;                /* MW: a sleeping producer waits for credit; any */
	struct rte_comch_msgq *msgq;
	struct rte_comch_msgq_cq *cq;
	/* the consumer's thread */
	uint64_t taken __rte_aligned(COMCH_MSGQ_ALIGN); /* messages received, credits returned */
	uint64_t final;                   /* STOPPING: final number of messages */
	uint32_t state;                   /* enum rte_comch_state; read by any */
	bool has_cookies;                 /* some cookie is not 0 */
	struct rte_comch_consumer_stats stats;
	TAILQ_ENTRY(rte_comch_msgq_consumer) next;
	struct comch_msgq_ring own;       /* used without a cq */
};

/* A producer's cached copy of a consumer's credit. */
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

/* A copy in progress, or a message that waits behind one. */
struct comch_msgq_pending {
	uint64_t cookie;
	uint32_t consumer_id;
	uint32_t len;
	int32_t status;      /* of the copy */
	bool in_dma;         /* queued in the DMA device */
	uint8_t copies;
	uint16_t flags;
	uint16_t imm_len;
	uint8_t imm[RTE_COMCH_IMM_SIZE];
};

struct rte_comch_msgq_producer {
	struct comch_epoch burst;         /* MQ: odd within one; read by any */
	uint32_t is_single;               /* the MsgQ has no other producer: MQ */
	uint32_t id;
	uint32_t mask;                    /* of done and pending */
	uint32_t max_consumers;
	struct rte_comch_msgq_consumer **consumers; /* the MsgQ's: MQ */
	struct comch_msgq_seen *seen;     /* indexed as consumers */
	struct comch_msgq_done *done;
	uint32_t done_head;
	uint32_t done_tail;
	uint32_t pending_head;
	uint32_t pending_tail;
	uint32_t nb_dma_done;             /* copies completed by the device, not processed yet */
	uint32_t short_id;                /* the consumer that lacked credit; 0: none */
	uint32_t waits_for;               /* short_id when the producer was armed: lock */
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
	struct rte_comch_msgq_consumer **consumers; /* by id - 1: MQ */
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

/* Wake an armed end. Returns 1 if it was armed, else 0. Call after the light fence of MW. */
static inline uint32_t
comch_msgq_wake(struct comch_msgq_sleep *sleep)
{
	if (likely(!comch_armed_take(&sleep->armed)))
		return 0;
	sleep->notify(sleep->arg);
	return 1;
}

/* The number of operations that a producer can accept: each needs an entry in done. */
static inline uint32_t
comch_msgq_room(const struct rte_comch_msgq_producer *p)
{
	return p->mask + 1 - (p->done_tail - p->done_head) -
		(p->pending_tail - p->pending_head);
}

/* Look up a consumer by id, within a burst; NULL: unknown or stopped. */
static inline struct rte_comch_msgq_consumer *
comch_msgq_find(const struct rte_comch_msgq_producer *p, uint32_t id)
{
	struct rte_comch_msgq_consumer *c;

	/* Id 0 wraps around, and so exceeds any limit. */
	if (unlikely(id - 1 >= p->max_consumers))
		return NULL;
	/* Acquire: pairs with the release in create. Model: publish.pml, find. */
	c = comch_load_acquire(&p->consumers[id - 1]);
	return likely(c != NULL && comch_load_relaxed(&c->closed) == 0) ? c : NULL;
}

/* Add an operation's completion for done_burst(). Returns NULL for a silent one. */
static inline struct comch_msgq_done *
comch_msgq_complete(struct rte_comch_msgq_producer *p, uint64_t cookie, uint32_t consumer_id,
		uint16_t flags, int status)
{
	struct comch_msgq_done *d;

	if (unlikely(status != 0))
		comch_count(&p->stats.errors, 1);
	if ((flags & RTE_COMCH_OP_F_SILENT) != 0)
		return NULL;
	/* Field by field: with a struct copy the loads would wait for the stores. */
	d = &p->done[p->done_tail++ & p->mask];
	d->cookie = cookie;
	d->status = status;
	d->len = 0;
	d->consumer_id = consumer_id;
	d->copies = 0;
	return d;
}

/* comch_msgq_dp.c */
/* Send the message of a pending entry. Returns 1, 0 (no credit) or a negative errno. */
int comch_msgq_send_pending(struct rte_comch_msgq_producer *p,
		const struct comch_msgq_pending *m);
/* Check a message. Returns 0 or its completion status. */
int comch_msgq_check(const struct rte_comch_msgq_producer *p, uint32_t consumer_id,
		const void *imm, uint16_t imm_len);
int comch_msgq_check_op(const struct rte_comch_msgq_producer *p, const struct rte_comch_op *op);
/* True: the consumer has credit, or does not exist, so that a send does not wait. */
bool comch_msgq_can_send(const struct rte_comch_msgq_producer *p, uint32_t consumer_id);

/* comch_msgq_copy.c */
/* Continue pending copies. True: none is left. */
bool comch_msgq_push(struct rte_comch_msgq_producer *p);
uint16_t comch_msgq_copy(struct rte_comch_msgq_producer *p,
		const struct rte_comch_msgq_copy *ops, uint16_t n);
/* Queue messages behind pending copies. Returns their number. */
uint16_t comch_msgq_defer(struct rte_comch_msgq_producer *p, const struct rte_comch_op *ops,
		uint16_t n);

/* comch_msgq_sleep.c */
/* Check that at most one of poll and notify is set. Returns 0 or -EINVAL. */
int comch_msgq_sleep_check(const char *what, struct rte_comch_poll *poll,
		rte_comch_msgq_notify_t notify);
void comch_msgq_sleep_init(struct comch_msgq_sleep *sleep, uint32_t cls,
		struct rte_comch_poll *poll, rte_comch_msgq_notify_t notify, void *arg);
void comch_msgq_sleep_fini(struct comch_msgq_sleep *sleep);
/* Wake the producers that wait for credit of a consumer. */
void comch_msgq_wake_producers(struct rte_comch_msgq_consumer *c);

#endif /* COMCH_MSGQ_H */
