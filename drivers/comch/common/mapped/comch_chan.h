/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CHAN_H
#define COMCH_CHAN_H

/*
 * The channel: how messages reach one consumer over memory that both ends map.
 *
 * Two regions, each with one writer (the other end cannot even map it for
 * writing):
 *
 *   post region, the consumer's           record region, the producers'
 *   +--------------------------+          +---------------------------+
 *   | tail: buffers posted     |          | claim: positions taken    |
 *   +--------------------------+          +---------------------------+
 *   | armed, closed            |          | armed; staging head       |
 *   +--------------------------+          +---------------------------+
 *   | staging tail             |          | records[depth], 64 bytes  |
 *   +--------------------------+          +---------------------------+
 *   | descriptors[depth], 16 B |          | staging ring (maybe)      |
 *   +--------------------------+          +---------------------------+
 *
 * Position is identity. Buffer number p, counted from 0, has its descriptor
 * at p & mask, and so has its record. A producer claims positions by CAS on
 * `claim`, copies payload into the buffers, and commits each by storing
 * sequence p + 1 into its record, last. The consumer only ever looks at the
 * record of its next position: no index, pointer or cookie comes from a peer.
 *
 * One record may speak for up to COMCH_REC_BATCH consecutive positions if
 * none of them has immediate data. Then 32 small messages cost three record
 * lines. The records of the other positions are not touched: a 64-bit
 * sequence never comes back, so an old one cannot be taken for a new one.
 *
 * Which acquire reads which release:
 *   T  consumer stores tail (release)      -> producer loads it (acquire)
 *   R  producer stores rec.seq (release)   -> consumer loads it (acquire)
 *   H  producer stores staging_head (rel.) -> consumer loads it (acquire)
 *   S  consumer stores staging_tail (rel.) -> producer loads it (acquire)
 *   A  producer stores rec.stop_at (rel.)  -> consumer loads it (acquire)
 * and two pairs of fences (store, fence, load on both sides; the publisher's of
 * W is a light one where the sleeper's can make up for it, see comch_asym.h):
 *   C  producer: claim, fence, closed      | consumer: closed, fence, claim
 *   W  publisher: R or T, fence, armed     | sleeper: armed, fence, R or T
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_spinlock.h>

#include "rte_comch_dp.h"
#include "rte_comch_driver.h"
#include "rte_comch_stats.h"
#include "sdk/comch_armed.h"
#include "sdk/comch_asym.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_entry.h"
#include "sdk/comch_gather.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_peer.h"
#include "sdk/comch_plan.h"
#include "sdk/comch_rec.h"

/* A large message goes through the staging ring in pieces of this size. */
#define COMCH_STAGE_PIECE (UINT32_C(256) << 10)

/* Bytes of the two regions. Both ends derive them from the agreed numbers. */
static inline size_t
comch_chan_post_len(uint32_t depth)
{
	return sizeof(struct comch_post_shared) + (size_t)depth * sizeof(struct comch_desc);
}

static inline size_t
comch_chan_rec_len(uint32_t depth, uint32_t staging_size)
{
	return sizeof(struct comch_rec_shared) + (size_t)depth * sizeof(struct comch_rec) +
		staging_size;
}

/*
 * The consuming end: belongs to the consumer's thread, but for what is said
 * otherwise. Told apart from struct rte_comch_consumer so that it needs no
 * EAL and no connection: unit tests and models drive it alone.
 */
struct comch_chan_cons {
	struct comch_rx rx;     /* first */
	/* hot */
	struct comch_post_shared *post;       /* ours */
	const struct comch_rec_shared *rec_shared; /* the peer's: read by comch_peer.h only */
	uint32_t tx_answered;   /* value of the peer's armed word at our last wake-up */
	bool light;             /* see comch_fence_publish() */
	/* staged reception */
	bool pulling;           /* the message at head is half-way */
	const uint8_t *staging; /* the peer's */
	uint32_t staging_size;
	uint32_t pulled;
	uint64_t stage_tail;    /* bytes taken out */
	/* end */
	uint64_t halt_deadline; /* TSC; when claimed positions are given up */
	uint64_t timeout_cycles;
	void (*wake_peer)(void *ctx); /* peers' producers sleep; rx.ctx */
};

/* The sending end of one consumer of the peer, shared by all local producers. */
struct comch_rcons {
	struct comch_target to;               /* first */
	/* read-mostly */
	struct comch_rec_shared *rec;         /* ours */
	uint8_t *staging;
	bool light;                           /* see comch_fence_publish() */
	int wake_fd;
	/* written by all producers */
	uint32_t armed_answered __rte_aligned(COMCH_LINE); /* value at the last wake-up */
	uint32_t streaming;                   /* 1: a producer owns the staging ring */
	uint64_t stage_head;                  /* bytes put in; the owner's */
	uint32_t gone;                        /* retired: a stream to it ends */
	/* the connection's thread */
	struct rte_comch_region post_region;
	struct rte_comch_region rec_region;
};

/* The sending end of one producer. */
struct comch_chan_prod {
	struct comch_tx tx;     /* first */
	/* a large message on its way through a staging ring */
	struct comch_rcons *stream; /* NULL: none; read by the poll's thread, too */
	uint32_t stream_held;   /* see stream_try() */
	struct comch_gather stream_from;
	uint32_t stream_left;
	uint64_t stream_pos;
	struct comch_done stream_done;
	bool stream_silent;
	/* bytes of staging ring that the last short send wanted; 0: a buffer */
	uint32_t short_room;
};

/* Begin at position 0 over fresh regions. */
void comch_chan_cons_bind(struct comch_chan_cons *c, struct comch_post_shared *post,
		const struct comch_rec_shared *rec_shared, uint32_t staging_size);
uint16_t comch_chan_post(void *queue, const struct rte_comch_buf *bufs, uint16_t n);
uint16_t comch_chan_recv(void *queue, struct rte_comch_cpl *cpls, uint16_t n);
/* Wind up. Any thread but not within a burst; deadline counts from now. */
void comch_chan_cons_halt(struct comch_chan_cons *c, enum rte_comch_halt why);
/* After a halt, with nothing posted: give the regions up at once. Not within a burst. */
void comch_chan_cons_drain_empty(struct comch_chan_cons *c);
/* Is there something to receive, or a flush to do? */
bool comch_chan_cons_pending(const struct comch_chan_cons *c);
/* Ask for a wake-up at the next message. The caller fences and looks again. */
void comch_chan_cons_arm(struct comch_chan_cons *c);

uint16_t comch_chan_send(void *queue, const struct rte_comch_op *ops, uint16_t n);
uint16_t comch_chan_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n);
/*
 * Is there something to take, or room again where a send was cut short?
 * This and arm keep out of the burst's way (no busy): the caller holds what
 * keeps the directory's entries alive.
 */
bool comch_chan_prod_pending(struct comch_chan_prod *p);
/* Ask for a wake-up at the next buffer posted where a send was cut short. */
void comch_chan_prod_arm(struct comch_chan_prod *p);
/* Give up the message that streams, if any. Any thread. False: later. */
bool comch_chan_prod_abort(struct comch_chan_prod *p, int err);

/* What other parts of the channel need of comch_chan_stage.c. */
/*
 * Put one message into the staging ring of rc, whole or its beginning.
 * Returns 1: taken, 0: later, or a negative errno.
 */
int comch_stage_send(struct comch_chan_prod *p, struct comch_rcons *rc,
		const struct rte_comch_op *op, uint64_t pos);
/* Has the ring of rc room for so many bytes, or a fault to report? */
bool comch_stage_room(const struct comch_rcons *rc, uint32_t len);
/* Push the message that streams. Returns true when none is left. */
bool comch_stage_push(struct comch_chan_prod *p);
/*
 * Pull the message at head into entry e.
 * Returns 1: complete, 0: later, or a negative errno.
 */
int comch_stage_pull(struct comch_chan_cons *c, const struct comch_posted *e, uint32_t len);

/* Begin a record; whoever began it stores its sequence, last. */
static inline struct comch_rec *
comch_rec_begin(struct comch_chan_prod *p, struct comch_rcons *rc, uint64_t pos, uint8_t count,
		enum comch_rec_kind kind)
{
	struct comch_rec *rec = &rc->rec->rec[pos & rc->to.mask];

	rec->head = (struct comch_rec_head){
		.producer = p->tx.id, .count = count, .kind = (uint8_t)kind,
	};
	return rec;
}

/* Publish one record for one position. */
static __rte_always_inline void
comch_chan_commit_one(struct comch_chan_prod *p, struct comch_rcons *rc, uint64_t pos,
		const struct rte_comch_op *op, enum comch_rec_kind kind)
{
	struct comch_rec *rec = comch_rec_begin(p, rc, pos, 1, kind);

	rec->len0 = op->len;
	rec->stop_at = 0;
	if (op->imm_len > 0) {
		rec->head.imm_len = (uint8_t)op->imm_len;
		if (likely(op->imm_len == RTE_COMCH_IMM_SIZE))
			memcpy(rec->imm, op->imm, RTE_COMCH_IMM_SIZE);
		else
			memcpy(rec->imm, op->imm, op->imm_len);
	}
	comch_store_release(&rec->seq, pos + 1); /* R */
}

/* Take n positions from pos on. False: another producer was faster. */
static inline bool
comch_chan_claim(struct comch_rcons *rc, uint64_t pos, uint32_t n)
{
	bool won = __atomic_compare_exchange_n(&rc->rec->claim, &pos, pos + n, false,
			__ATOMIC_SEQ_CST, __ATOMIC_RELAXED);

	/* C: the claim is visible before `closed` is read. A locked CAS is that fence on x86. */
#ifndef RTE_ARCH_X86
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
	return won;
}

/* After a publication: wake the consumer if it sleeps. */
static inline void
comch_chan_wake(struct comch_chan_prod *p, struct comch_rcons *rc)
{
	uint32_t peer_armed;

	/* W: what was published is visible before `armed` is read. */
	comch_fence_publish(rc->light);
	if (likely(!comch_armed_asks(&rc->to.post_shared->armed, &rc->armed_answered,
			&peer_armed)))
		return;
	/* Of several producers, one answers. */
	if (__atomic_exchange_n(&rc->armed_answered, peer_armed, __ATOMIC_RELAXED) == peer_armed)
		return;
	comch_count(&p->tx.stats.wakes, 1);
	/* EAGAIN: a wake-up is pending. Other failures harm the peer only. */
	(void)send(rc->wake_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

#endif /* COMCH_CHAN_H */
