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
#include "sdk/comch_asym.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_peer.h"
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

/* What a posted buffer is to its consumer. */
struct comch_posted {
	uint64_t cookie;
	uint8_t *addr;
	uint32_t len;
	/*
	 * The longest message that the peer may have put in by itself: len, 0
	 * for a staged buffer, or a negative errno for one that was never
	 * posted and comes back with that.
	 */
	int32_t room;
};

/*
 * The consuming end: belongs to the consumer's thread, but for what is said
 * otherwise. Told apart from struct rte_comch_consumer so that it needs no
 * EAL and no connection: unit tests and models drive it alone.
 */
struct comch_chan_cons {
	/* hot */
	struct comch_post_shared *post;       /* ours */
	const struct comch_rec_shared *rec_shared; /* the peer's: read by comch_peer.h only */
	uint32_t mask;
	uint32_t depth;
	uint32_t imm_size;
	uint32_t halt;          /* enum rte_comch_halt; set by any thread */
	uint64_t tail;          /* positions posted */
	uint64_t head;          /* positions received */
	uint64_t entry_tail;    /* entries taken, positions and refusals */
	uint64_t entry_head;    /* entries given back */
	struct comch_posted *entry; /* depth of them */
	uint32_t nb_refused;    /* entries that were never posted */
	uint32_t last_mr;       /* where the last posted buffer was found */
	const struct comch_cons_mrs *mrs; /* the owner's */
	uint32_t tx_told;       /* last value of the peer's armed word that we answered */
	uint32_t rec_idx;       /* next message within cur */
	bool light;             /* see comch_fence_publish() */
	struct comch_rec cur;   /* private copy of the record in work, but for seq */
	/* staged reception */
	const uint8_t *staging; /* the peer's */
	uint32_t staging_size;
	bool pulling;           /* the message at head is half-way */
	bool flushing;          /* nothing is delivered any more */
	uint32_t pulled;
	uint64_t stage_tail;    /* bytes taken out */
	/* end */
	uint64_t halt_deadline; /* TSC; when claimed positions are given up */
	uint64_t timeout_cycles;
	uint32_t guard;         /* see comch_guard.h */
	uint32_t drained;       /* all is given back: regions may go (release) */
	struct rte_comch_consumer_stats stats;
	/* to the owner */
	void (*wake_peer)(void *ctx);                 /* peers' producers sleep */
	void (*fault)(void *ctx, int err, const char *text);
	void (*drained_cb)(void *ctx);
	void *ctx;
};

/* The sending end of one consumer of the peer, shared by all local producers. */
struct comch_rcons {
	/* read-mostly */
	struct rte_comch_remote base;         /* first */
	const struct comch_post_shared *post_shared; /* the peer's */
	struct comch_rec_shared *rec;         /* ours */
	struct rte_comch_region *const *imports; /* by number; NULL: none */
	uint8_t *staging;
	uint32_t mask;
	bool light;                           /* see comch_fence_publish() */
	int wake_fd;
	/* written by all producers */
	uint64_t tail_seen __rte_aligned(COMCH_LINE); /* a tail that was checked */
	uint32_t told;                        /* last armed word that was answered */
	uint32_t streaming;                   /* 1: a producer owns the staging ring */
	uint64_t stage_head;                  /* bytes put in; the owner's */
	uint32_t gone;                        /* retired: a stream to it ends */
	/* the connection's thread */
	struct rte_comch_region post_region;
	struct rte_comch_region rec_region;
};

/*
 * Descriptors of one consumer that were read before they were needed: those of
 * posted positions stay as they are until they are claimed. A line of them is
 * fetched once, not again after each post that the consumer adds to it.
 */
#define COMCH_AHEAD 32
struct comch_ahead {
	uint64_t pos; /* of the first */
	uint32_t n;
	uint32_t id;  /* the consumer's; 0: none */
	struct comch_desc desc[COMCH_AHEAD]; /* by position */
};

/* A send that waits for done. */
struct comch_done {
	uint64_t cookie;
	int32_t status;
	uint32_t len;
	uint32_t consumer_id;
};

/* Reads a message piece by piece, one segment or many. */
struct comch_gather {
	const struct rte_comch_sge *sge;
	uint32_t nb_sges;
	const uint8_t *addr; /* rest of the current segment */
	uint32_t left;
};

/* The sending end of one producer. */
struct comch_chan_prod {
	/* hot */
	struct comch_dir *dir;
	struct comch_dir_reader reader;
	uint32_t last_slot;     /* of the directory */
	uint32_t halt;          /* enum rte_comch_halt; set by any thread */
	uint32_t id;
	uint32_t done_mask;
	uint32_t done_size;
	uint64_t done_tail;     /* completions put in */
	uint64_t done_head;     /* completions taken out */
	struct comch_done *done;
	struct comch_ahead ahead;
	/* a large message on its way through a staging ring */
	struct comch_rcons *stream; /* NULL: none; read by the poll's thread, too */
	uint32_t stream_held;   /* see stream_try() */
	struct comch_gather stream_from;
	uint32_t stream_left;
	uint64_t stream_pos;
	struct comch_done stream_done;
	bool stream_silent;
	/* whom the last short send waited for; its thread only */
	uint32_t short_id;
	uint32_t short_room;    /* bytes of staging ring that it wanted; 0: a buffer */
	uint32_t guard;         /* see comch_guard.h */
	struct rte_comch_producer_stats stats;
	/* to the owner */
	void (*fault)(void *ctx, int err, const char *text);
	void *ctx;
};

/* Size a consuming end. depth: a power of two. Returns 0 or -ENOMEM. */
int comch_chan_cons_init(struct comch_chan_cons *c, uint32_t depth, int socket_id);
void comch_chan_cons_fini(struct comch_chan_cons *c);
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

int comch_chan_prod_init(struct comch_chan_prod *p, uint32_t queue_size, int socket_id);
void comch_chan_prod_fini(struct comch_chan_prod *p);
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
void comch_gather_init(struct comch_gather *g, const struct rte_comch_op *op);
/* Copy len bytes, at most what is left, and move on. */
void comch_gather_copy(struct comch_gather *g, void *dst, uint32_t len);
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

/* Shared by the two halves of the sending end. */
static inline void
comch_chan_done_put(struct comch_chan_prod *p, const struct rte_comch_op *op, int status)
{
	struct comch_done *d;

	if (unlikely(status != 0))
		comch_count(&p->stats.errors, 1);
	if (op->flags & RTE_COMCH_OP_F_SILENT)
		return;
	d = &p->done[p->done_tail & p->done_mask];
	d->cookie = op->cookie;
	d->status = status;
	d->len = op->len;
	d->consumer_id = op->consumer_id;
	/* Release: pairs with comch_chan_done(); see comch_chan_prod_abort(). */
	comch_store_release(&p->done_tail, p->done_tail + 1);
}

/* Begin a record; whoever began it stores its sequence, last. */
static inline struct comch_rec *
comch_rec_begin(struct comch_chan_prod *p, struct comch_rcons *rc, uint64_t pos, uint8_t count,
		enum comch_rec_kind kind)
{
	struct comch_rec *rec = &rc->rec->rec[pos & rc->mask];

	rec->head = (struct comch_rec_head){
		.producer = p->id, .count = count, .kind = (uint8_t)kind,
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
	peer_armed = peer_load_relaxed_u32(&rc->post_shared->armed);
	if (likely(peer_armed == comch_load_relaxed(&rc->told)))
		return;
	if (__atomic_exchange_n(&rc->told, peer_armed, __ATOMIC_RELAXED) == peer_armed)
		return;
	comch_count(&p->stats.wakes, 1);
	/* EAGAIN: it has been told. Any other failure is the peer's to suffer. */
	(void)send(rc->wake_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

#endif /* COMCH_CHAN_H */
