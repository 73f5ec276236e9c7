/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CHAN_H
#define COMCH_CHAN_H

/*
 * The channel carries messages to one consumer over memory that both ends map.
 *
 * It has two regions, each with one writer (the other end can map it for reading
 * only):
 *
 *   post region, the consumer's           record region, the producers'
 *   +--------------------------+          +---------------------------+
 *   | tail: buffers posted     |          | claim: positions claimed  |
 *   +--------------------------+          +---------------------------+
 *   | armed, closed            |          | armed; staging head       |
 *   +--------------------------+          +---------------------------+
 *   | staging tail             |          | records[depth], 64 bytes  |
 *   +--------------------------+          +---------------------------+
 *   | descriptors[depth], 16 B |          | staging ring (optional)   |
 *   +--------------------------+          +---------------------------+
 *
 * Buffers are identified by position. The buffer at position p, counted from 0,
 * has its descriptor and its record at index p & mask. A producer claims positions
 * by CAS on `claim`, copies payload into the buffers, and commits each position by
 * storing sequence p + 1 into its record, last. The consumer reads only the record
 * of its next position: no index, pointer or cookie comes from a peer.
 *
 * One record can cover up to COMCH_REC_BATCH consecutive positions without
 * immediate data, so 32 small messages cost three record lines. The records of the
 * other positions are not written: a 64-bit sequence never repeats, so an old one
 * is never mistaken for a new one.
 *
 * Each acquire and the release that it pairs with:
 *   T  consumer stores tail (release)      -> producer loads it (acquire)
 *   R  producer stores rec.seq (release)   -> consumer loads it (acquire)
 *   H  producer stores staging_head (rel.) -> consumer loads it (acquire)
 *   S  consumer stores staging_tail (rel.) -> producer loads it (acquire)
 *   A  producer stores rec.stop_at (rel.)  -> consumer loads it (acquire)
 * and two pairs of fences (store, fence, load on both sides; the publisher's fence
 * of W is light where the sleeper's heavy fence makes up for it, see comch_asym.h):
 *   C  producer: claim, fence, closed      | consumer: closed, fence, claim
 *   W  publisher: R or T, fence, armed     | sleeper: armed, fence, R or T
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_memcpy.h>
#include <rte_prefetch.h>
#include <rte_spinlock.h>

#include "rte_comch_dp.h"
#include "rte_comch_driver.h"
#include "rte_comch_stats.h"
#include "sdk/comch_armed.h"
#include "sdk/comch_asym.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_recv_post.h"
#include "sdk/comch_gather.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_peer.h"
#include "sdk/comch_send.h"
#include "sdk/comch_rec.h"

struct comch_dma;
struct comch_chan_dma;

/* Sizes of the two regions. Both ends compute them from the negotiated values. */
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
 * The receiving end. Used by the consumer's thread except where noted. It is
 * separate from struct rte_comch_consumer so that unit tests and models can run it
 * without EAL and connection.
 */
struct comch_chan_cons {
	struct comch_recv rx;     /* first */
	/* hot */
	struct comch_post_shared *post;       /* local */
	const struct comch_rec_shared *rec_shared; /* the peer's: read by comch_peer.h only */
	uint32_t armed_answered; /* the peer's armed word at the last wake-up sent */
	uint8_t fences;         /* of the link: COMCH_FENCES_* */
	/* while nothing comes */
	bool looks;             /* for the payload of the next message, each time */
	uint32_t last_len;      /* of the last completion */
	uint32_t nb_empty;      /* receives in a row that found nothing, until it looks */
	uint64_t look_at;       /* TSC: from then on */
	uint64_t look_cycles;   /* from the last of some receives that found nothing */
	/* staged reception */
	bool pulling;           /* the message at head is partly copied */
	bool stage_lost;        /* the peer died within a message: the ring is not read again */
	bool has_freed_space;   /* staging space was freed; producers not woken yet */
	const uint8_t *staging; /* the peer's */
	uint32_t staging_size;
	uint32_t pulled;        /* bytes copied of the message at head */
	uint64_t stage_tail;    /* bytes of the ring used by earlier messages */
	uint64_t stage_filled;  /* the peer's staging_head, when last read */
	/* stop */
	uint64_t halt_deadline; /* TSC; after it, claimed positions are abandoned */
	uint64_t timeout_cycles;
	/* Callback of the owner: wake the peer's producers. */
	void (*wake_peer)(struct comch_chan_cons *c);
};

/* Of the staging ring of a sending end. */
enum comch_stage_owner {
	COMCH_STAGE_FREE,
	COMCH_STAGE_OWNED,   /* by a local producer */
	COMCH_STAGE_AWAITED, /* and another one sleeps until it is free */
};

/* The sending end towards one consumer of the peer, shared by all local producers. */
struct comch_chan_remote {
	struct comch_send_remote to;               /* first */
	/* read-mostly */
	struct comch_rec_shared *rec;         /* local */
	uint8_t *staging;
	uint8_t fences;                       /* of the link: COMCH_FENCES_* */
	int wake_fd;
	/* written by all producers */
	uint32_t armed_answered __rte_aligned(COMCH_LINE); /* armed at the last wake-up */
	uint32_t streaming;                   /* enum comch_stage_owner */
	uint64_t stage_head;                  /* bytes written; by the ring's owner */
	uint64_t stage_limit;                 /* head may go there, for all that is known */
	uint32_t retired;                     /* streams to it end */
	/* the connection's thread */
	struct rte_comch_region post_region;
	struct rte_comch_region rec_region;
	void *ext;                            /* of a driver that adds to the channel */
};

/* A producer: sends to any consumer of the peer. */
struct comch_chan_prod {
	struct comch_send tx;     /* first */
	/* a large message that streams through a staging ring */
	struct comch_chan_remote *stream; /* NULL: none; also read by the poll's thread */
	uint32_t stream_locked; /* see stream_trylock() */
	struct comch_gather stream_from;
	uint32_t stream_left;
	uint64_t stream_pos;
	struct comch_done stream_done;
	bool stream_silent;
	/* bytes of staging ring that the last short send needs; 0: it needs a buffer */
	uint32_t short_space;
	/* copies by a DMA device */
	struct comch_chan_dma *dma; /* NULL: the core copies */
	uint32_t copying;           /* in flight; written with the lock of *dma */
	/* Callback of the owner: wake the other local producers. Any thread. */
	void (*wake_others)(struct comch_chan_prod *p);
	/* The same: its poll is to look whether copies are complete. In a burst. */
	void (*copies_started)(struct comch_chan_prod *p);
};

/* Start at position 0 with zeroed regions. */
void comch_chan_cons_bind(struct comch_chan_cons *c, struct comch_post_shared *post,
		const struct comch_rec_shared *rec_shared, uint32_t staging_size);
uint16_t comch_chan_post(void *queue, const struct rte_comch_buf *bufs, uint16_t n);
uint16_t comch_chan_recv(void *queue, struct rte_comch_cpl *cpls, uint16_t n);
/* Stop receiving; the deadline counts from now. Any thread, but not within a burst. */
void comch_chan_cons_halt(struct comch_chan_cons *c, enum rte_comch_halt why);
/*
 * After a halt, with nothing posted: drain at once, so that the regions can be freed.
 * Not within a burst.
 */
void comch_chan_cons_drain_empty(struct comch_chan_cons *c);
/* Would a burst receive or flush anything? */
bool comch_chan_cons_pending(const struct comch_chan_cons *c);
/*
 * Request a wake-up at the next message. The caller fences, heavily if this returns true, then
 * checks pending.
 */
bool comch_chan_cons_arm(struct comch_chan_cons *c);
/* Its poll stays awake. */
void comch_chan_cons_rest(struct comch_chan_cons *c);

/* Receive into the mbufs that were posted, as far as that is simple: recv_mbufs of a driver. */
int comch_chan_recv_mbufs(struct comch_chan_cons *c, struct rte_mbuf **mbufs, uint16_t n,
		uint16_t *done);

uint16_t comch_chan_send(void *queue, const struct rte_comch_op *ops, uint16_t n);
uint16_t comch_chan_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n);
/*
 * Is there a completion, or space again for a send that was cut short? This and
 * comch_chan_prod_arm() enter no epoch, which belongs to the bursts: the caller keeps
 * the directory's entries alive.
 */
bool comch_chan_prod_pending(struct comch_chan_prod *p);
/*
 * Request a wake-up when the consumer of a short send posts a buffer or frees space. The caller
 * fences, heavily if this returns true, then checks pending.
 */
bool comch_chan_prod_arm(struct comch_chan_prod *p);
/* Whether all that was sent is complete, after a look. Any thread. */
bool comch_chan_prod_idle(struct comch_chan_prod *p);
/*
 * Abort the message that streams, if any. Any thread. False: try again, as it could not be, or as
 * copies of a DMA device are in flight.
 */
bool comch_chan_prod_abort(struct comch_chan_prod *p, int err);

/*
 * comch_chan_mbuf.c: send mbufs, as far as that is simple: send_mbufs of a driver. The caller frees
 * those that are done, not before: that may run functions of the program.
 */
int comch_chan_send_mbufs(struct comch_chan_prod *p, uint32_t consumer_id,
		const struct rte_comch_mr *mr, struct rte_mbuf **mbufs, uint16_t n, uint16_t *done);

/* For the files below: send operations to one consumer. Returns the number accepted. */
uint16_t comch_chan_send_to(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *ops, uint32_t n);
/* The consumer closed before the claim of these n positions. */
void comch_chan_abort_group(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		const struct rte_comch_op *ops, uint32_t n);
/* The same, with no operations to complete. */
void comch_chan_abort_positions(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		uint64_t pos, uint32_t n);

/* comch_chan_dma.c: the bursts and more of a producer with a DMA device */
/* Before anything else; not thread-safe. 0 or -ENOMEM. */
int comch_chan_dma_attach(struct comch_chan_prod *p, struct comch_dma *dma, int socket_id);
/* No copy is in flight. Nothing to do without a DMA device. */
void comch_chan_dma_detach(struct comch_chan_prod *p);
uint16_t comch_chan_dma_send(void *queue, const struct rte_comch_op *ops, uint16_t n);
uint16_t comch_chan_dma_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n);
/* As comch_chan_prod_idle() and _abort(). */
bool comch_chan_dma_idle(struct comch_chan_prod *p);
bool comch_chan_dma_abort(struct comch_chan_prod *p, int err);

/* comch_chan_stage.c */
/*
 * Put messages, or the first part of one, into the staging ring of rc: the first of n operations,
 * which goes to a buffer that is staged, and short ones that follow it.
 * Returns the number accepted, 0 to try again later, or a negative errno.
 */
int comch_stage_send(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *ops, uint32_t n, uint64_t pos);
/* Is it worth a try to stage len bytes? False after comch_stage_await(): it wakes. */
bool comch_stage_can_continue(const struct comch_chan_remote *rc, uint32_t len);
/* Does the ring of rc have len free bytes, or a fault to report? */
bool comch_stage_has_space(const struct comch_chan_remote *rc, uint32_t len);
/* Before a sleep: its owner wakes the local producers when it is free. */
void comch_stage_await(struct comch_chan_remote *rc);
/* Advance the message that streams. Returns true if none streams afterwards. */
bool comch_stage_push(struct comch_chan_prod *p);
/* Abort it, if any. Any thread. False: try again. */
bool comch_stage_abort(struct comch_chan_prod *p, int err);
/*
 * Copy the message at head into entry e.
 * Returns 1 if complete, 0 if more is to come, or a negative errno.
 */
int comch_stage_pull(struct comch_chan_cons *c, const struct comch_posted *e, uint32_t len);
/* The end of a burst: publish the space that its messages freed. */
void comch_stage_free_space(struct comch_chan_cons *c);

/* Acquire: the poll's thread may have ended the stream. */
static __rte_always_inline bool
comch_chan_is_streaming(const struct comch_send *tx)
{
	return comch_load_acquire(&container_of(tx, const struct comch_chan_prod, tx)->stream) !=
		NULL; /* pairs with stream_end(): leave.pml, left */
}

/* Acquire: pairs with finish() of comch_chan_dma.c. Model: leave.pml, left. */
static __rte_always_inline bool
comch_chan_is_copying(const struct comch_chan_prod *p)
{
	return comch_load_acquire(&p->copying) > 0;
}

/* Fill in a record's header. The caller stores the sequence last. */
static inline struct comch_rec *
comch_rec_begin(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		uint8_t count, enum comch_rec_kind kind)
{
	struct comch_rec *rec = &rc->rec->rec[pos & rc->to.mask];

	rec->head = (struct comch_rec_head){
		.producer = p->tx.id, .count = count, .kind = (uint8_t)kind,
	};
	return rec;
}

/* Publish one record for one position. */
static __rte_always_inline void
comch_chan_commit_one(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
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
	comch_store_release(&rec->seq, pos + 1); /* R: ring.pml, commit */
}

/*
 * The consumer has the lines that we write, and a claim waits until each store before it has
 * got its line: one after the other. So senders ask for lines early, and for many at a time: for
 * the first ones of a burst, and after a message or a burst for those of one that may follow.
 */

/* A copy of more is long enough to have its lines fetched in time. */
#define COMCH_FETCH_MAX 1024
/* Messages of a burst that may follow: a CPU waits if it asks for more lines than 10 to 16. */
#define COMCH_FETCH_BURST 10

static __rte_always_inline void
comch_chan_fetch_rec(const struct comch_chan_remote *rc, uint64_t pos)
{
	comch_prefetch_write(&rc->rec->rec[pos & rc->to.mask]);
}

/*
 * The position of the message to fetch lines for, after one at pos of len bytes. The next, or, as
 * a short one is written sooner, that after it: lines that are asked for too early are gone again,
 * since the consumer's CPU prefetches, too. False: not now. Another producer is at work, or no
 * buffer is known to be posted there.
 */
static __rte_always_inline bool
comch_chan_fetch_pos(const struct comch_chan_remote *rc, uint64_t *pos, uint32_t len)
{
	const uint64_t next = *pos + 1;

	*pos = next + (len <= 2 * COMCH_LINE);
	return len <= COMCH_FETCH_MAX && comch_load_relaxed(&rc->rec->claim) == next &&
		(int64_t)(comch_load_relaxed(&rc->to.tail_seen) - *pos) > 0;
}

/* After a message of len bytes at pos, as if those that follow were as long. */
static __rte_always_inline void
comch_chan_fetch_next(struct comch_chan_prod *p, const struct comch_chan_remote *rc,
		uint64_t pos, uint32_t len)
{
	struct comch_import_cache cache = { .region = UINT32_MAX };
	const struct comch_ahead *ahead = &p->tx.ahead;
	uint32_t i;
	uint8_t *dst;

	if (!comch_chan_fetch_pos(rc, &pos, len))
		return;
	comch_chan_fetch_rec(rc, pos);
	if (len > 0 && pos - ahead->pos < ahead->n && comch_send_check_desc(&rc->to,
			&ahead->desc[pos - ahead->pos], len, &cache, &dst) == 0)
		for (i = 0; i < len; i += COMCH_LINE)
			comch_prefetch_write(dst + i);
}

/*
 * After a burst, as if n messages of len bytes were sent from pos on: until the next burst, the
 * program has other things to do than to wait for lines; but if that takes long, the consumer's CPU
 * takes them back. Not the records' lines, which the
 * consumer's CPU reads all the time.
 */
static __rte_always_inline void
comch_chan_fetch_burst(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		uint32_t len, uint32_t n)
{
	struct comch_import_cache cache = { .region = UINT32_MAX };
	/* Acquire: as in comch_send_posted(). Model: ring.pml, seen. */
	const int64_t posted = (int64_t)(comch_load_acquire(&rc->to.tail_seen) - pos);
	struct comch_ahead *ahead = &p->tx.ahead;
	uint8_t *dst;
	uint32_t i;

	if (posted <= 0 || comch_load_relaxed(&rc->rec->claim) != pos)
		return;
	/* Read descriptors if none is left. If some are, they are needed first. */
	comch_send_desc(ahead, &rc->to, pos, (uint32_t)posted);
	if (len == 0 || len > COMCH_FETCH_MAX ||
			(p->tx.flags & RTE_COMCH_PRODUCER_F_PAUSES) != 0)
		return;
	n = RTE_MIN(RTE_MIN(n, (uint32_t)COMCH_FETCH_BURST),
		ahead->n - (uint32_t)(pos - ahead->pos));
	for (i = 0; i < n; i++) {
		if (comch_send_check_desc(&rc->to, &ahead->desc[pos + i - ahead->pos], len,
				&cache, &dst) != 0)
			return;
		comch_prefetch_write(dst);
	}
}

/* Prefetch the descriptor that a send at pos reads, if it is not read yet: for its latency. */
static __rte_always_inline void
comch_chan_fetch_desc(const struct comch_chan_prod *p, const struct comch_chan_remote *rc,
		uint64_t pos)
{
	if (pos - p->tx.ahead.pos == p->tx.ahead.n)
		rte_prefetch0(&rc->to.post_shared->desc[pos & rc->to.mask]);
}

/* Above this the libc's memcpy() is faster: it streams past the caches. */
#define COMCH_COPY_INLINE 2048

/* Copy a payload. */
static __rte_always_inline void
comch_chan_copy(void *dst, const void *src, uint32_t len)
{
	if (len <= COMCH_COPY_INLINE)
		rte_memcpy(dst, src, len);
	else
		memcpy(dst, src, len);
}

/* Claim n positions from pos on. False: another producer claimed first. */
static inline bool
comch_chan_claim(struct comch_chan_remote *rc, uint64_t pos, uint32_t n)
{
	bool won = __atomic_compare_exchange_n(&rc->rec->claim, &pos, pos + n, false,
			__ATOMIC_SEQ_CST, __ATOMIC_RELAXED); /* stop.pml, claim */

	/* C: the claim is visible before `closed` is read. On x86 the locked CAS is the fence. */
#ifndef RTE_ARCH_X86
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* stop.pml, claim */
#endif
	return won;
}

/* Call after publishing: wakes the consumer if it sleeps. */
static inline void
comch_chan_wake(struct comch_chan_prod *p, struct comch_chan_remote *rc)
{
	uint32_t peer_armed;

	if (likely(!comch_armed_asks(&rc->to.post_shared->armed, rc->fences,
			&rc->armed_answered, &peer_armed)))
		return;
	/* One wake-up is enough: only one producer answers. */
	if (__atomic_exchange_n(&rc->armed_answered, peer_armed, __ATOMIC_RELAXED) == peer_armed)
		return;
	comch_count(&p->tx.stats.wakes, 1);
	/* EAGAIN: a wake-up is pending. Other failures affect only the peer. */
	(void)send(rc->wake_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Call after publishing that there is room: wakes the peer's producers if they sleep. */
static __rte_always_inline void
comch_chan_wake_producers(struct comch_chan_cons *c)
{
	if (likely(!comch_armed_answer(&c->rec_shared->armed, c->fences, &c->armed_answered)))
		return;
	comch_count(&c->rx.stats.wakes, 1);
	c->wake_peer(c);
}

#endif /* COMCH_CHAN_H */
