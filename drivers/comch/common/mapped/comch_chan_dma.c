/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The sending half of a channel whose large payloads a DMA device copies (comch_dma.h).
 *
 * A send claims positions, starts the copies, and returns. A later burst finds which are complete
 * and commits their records, in the order of the positions. Short messages in between are sent as
 * ever: the consumer receives by position. Completions are taken in the order of the sends: those
 * of copies in flight are open (COMCH_DONE_OPEN), and behind a silent one none is taken.
 *
 * While a copy is in flight its destination must stay mapped, so the producer stays in its epoch
 * (comch_epoch.h) between bursts, too: what the peer takes back is freed when the last copy is
 * complete. If someone waits for that, no new copy is started until then.
 *
 * A copy in flight cannot be aborted. A stop, and the end of a connection, wait for it.
 *
 * The producer's thread runs the bursts, and other threads look, so that a message does not wait
 * for the next burst, nor a stop. They share a lock: one that finds it taken tries again later.
 * The owner of the lock also has the queue of the DMA device. Whether a producer that is halted is
 * idle is decided with the lock, too: a burst that began before the halt has left, and later ones
 * see the halt.
 */

#include <errno.h>

#include <rte_common.h>
#include <rte_dmadev.h>
#include <rte_malloc.h>

#include "comch_chan.h"
#include "comch_dma.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_dir.h"

/* Copies in flight of one producer. */
#define MAX_JOBS COMCH_SEND_GROUP
#define NONE_SILENT UINT64_MAX

struct job {
	struct comch_chan_remote *rc;
	uint64_t pos;
	struct rte_comch_op op; /* with imm, the copy below */
	uint8_t imm[RTE_COMCH_IMM_SIZE];
	uint8_t *dst;
	struct comch_done *done; /* NULL: silent */
	uint64_t behind;         /* silent: completions there were before it */
};

struct comch_chan_dma {
	struct comch_dma *dma;
	uint32_t locked;
	uint32_t first; /* job of those in flight */
	int queue;      /* of the DMA device; negative: none */
	uint64_t silent; /* completions from here on wait for a silent copy; or NONE_SILENT */
	struct job job[MAX_JOBS];
};

/* Begin a burst, or a look from another thread. False: try again later. */
static bool
dma_enter(struct comch_chan_prod *p)
{
	/* Acquire: pairs with the release in dma_leave(). Model: lock.pml, lock. */
	if (__atomic_exchange_n(&p->dma->locked, 1, __ATOMIC_ACQUIRE) != 0)
		return false;
	if (p->copying == 0)
		comch_epoch_enter(&p->tx.epoch);
	return true;
}

static void
dma_leave(struct comch_chan_prod *p)
{
	struct comch_chan_dma *d = p->dma;

	if (p->copying == 0) {
		comch_epoch_leave(&p->tx.epoch);
		if (d->queue >= 0)
			comch_eal_dev_give_queue(d->dma->dev, d->queue);
		d->queue = -1;
	}
	/* Release: pairs with the acquire in dma_enter(). Model: lock.pml, unlock. */
	comch_store_release(&d->locked, 0);
}

/* Publish a message whose payload is in its buffer. */
static void
commit(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		const struct rte_comch_op *op, bool by_core)
{
	comch_chan_commit_one(p, rc, pos, op, COMCH_REC_DIRECT);
	comch_chan_wake(p, rc);
	comch_count(&p->tx.stats.msgs, 1);
	comch_count(&p->tx.stats.bytes, op->len);
	comch_count(&p->tx.stats.imm_msgs, op->imm_len > 0);
	comch_count(&p->tx.stats.copies, by_core);
}

/* Is a message whose record is committed now perhaps not received any more? */
static int
status_of(const struct comch_chan_prod *p, const struct comch_chan_remote *rc)
{
	/* Pairs with comch_map_prod_halt(). Model: publish.pml, find. */
	if (comch_load_acquire(&p->tx.halt) == RTE_COMCH_HALT_DOWN)
		return -ECONNRESET;
	return comch_load_relaxed(&rc->retired) != 0 ? -ENOENT : 0;
}

/* After a change of the jobs in flight: from which completion on is one to wait? */
static void
find_silent(struct comch_chan_prod *p)
{
	struct comch_chan_dma *d = p->dma;
	uint64_t silent = NONE_SILENT;
	const struct job *j;
	uint32_t i;

	for (i = 0; i < p->copying && silent == NONE_SILENT; i++) {
		j = &d->job[(d->first + i) % MAX_JOBS];
		if (j->done == NULL)
			silent = j->behind;
	}
	/* Release: pairs with comch_chan_dma_done(). Model: done.pml, close. */
	comch_store_release(&d->silent, silent);
}

/* The first copy in flight has ended. */
static void
finish(struct comch_chan_prod *p, bool copied)
{
	struct comch_chan_dma *d = p->dma;
	struct job *j = &d->job[d->first];
	const int status = status_of(p, j->rc);
	/* Only a consumer that is retired does not receive it: a peer may not have seen our end. */
	const bool by_core = !copied && status != -ENOENT;

	if (copied) {
		__atomic_fetch_add(&d->dma->copies, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&d->dma->bytes, j->op.len, __ATOMIC_RELAXED);
	} else {
		__atomic_fetch_add(&d->dma->errors, 1, __ATOMIC_RELAXED);
		if (by_core)
			memcpy(j->dst, j->op.addr, j->op.len);
	}
	commit(p, j->rc, j->pos, &j->op, by_core);
	if (status != 0)
		comch_count(&p->tx.stats.errors, 1);
	if (j->done != NULL) {
		j->done->copies = !copied;
		comch_done_close(j->done, status);
	}
	d->first = (d->first + 1) % MAX_JOBS;
	/*
	 * Release: pairs with comch_chan_is_copying(), after which the memory may be freed.
	 * Model: leave.pml, leave.
	 */
	comch_store_release(&p->copying, p->copying - 1);
	if (j->done == NULL)
		find_silent(p);
}

/* Take completions of the DMA device, up to the first error: the core copies one at a time. */
static void
take_completions(struct comch_chan_prod *p)
{
	const int16_t id = p->dma->dma->id;
	const uint16_t queue = (uint16_t)p->dma->queue;
	enum rte_dma_status_code code;
	bool failed = false;
	uint16_t n;

	for (n = rte_dma_completed(id, queue, (uint16_t)p->copying, NULL, &failed); n > 0; n--)
		finish(p, true);
	if (failed && rte_dma_completed_status(id, queue, 1, NULL, &code) > 0)
		finish(p, code == RTE_DMA_STATUS_SUCCESSFUL);
}

static void
reap(struct comch_chan_prod *p)
{
	if (p->copying == 0)
		return;
	take_completions(p);
	if (p->copying > 0)
		return;
	/* Who waits for the last copy waits for those that are started next, else. */
	comch_epoch_leave(&p->tx.epoch);
	comch_epoch_enter(&p->tx.epoch);
}

/* Start the copy of a message whose position is claimed. */
static void
start(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		const struct rte_comch_op *op, uint8_t *dst)
{
	struct comch_chan_dma *d = p->dma;
	struct job *j = &d->job[(d->first + p->copying) % MAX_JOBS];

	if (rte_dma_copy(d->dma->id, (uint16_t)d->queue, (rte_iova_t)(uintptr_t)op->addr,
			(rte_iova_t)(uintptr_t)dst, op->len, 0) < 0) {
		__atomic_fetch_add(&d->dma->errors, 1, __ATOMIC_RELAXED);
		memcpy(dst, op->addr, op->len);
		commit(p, rc, pos, op, true);
		comch_send_done(&p->tx, op, 0, 1);
		return;
	}
	*j = (struct job){
		.rc = rc, .pos = pos, .op = *op, .dst = dst, .behind = p->tx.done.tail,
	};
	if (op->imm_len > 0)
		memcpy(j->imm, op->imm, op->imm_len);
	j->op.imm = j->imm;
	if ((op->flags & RTE_COMCH_OP_F_SILENT) == 0)
		j->done = comch_done_put(&p->tx.done, op, COMCH_DONE_OPEN, 0);
	comch_store_relaxed(&p->copying, p->copying + 1);
	if (j->done == NULL)
		find_silent(p);
}

/* Send operations to one consumer by the queue that we own. Returns the number accepted. */
static uint16_t
send_large(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *ops, uint32_t n)
{
	uint8_t *dst[COMCH_SEND_GROUP];
	uint64_t pos;
	uint32_t i, k;
	int err;

	do {
		pos = comch_load_relaxed(&rc->rec->claim);
		k = comch_send_group(&p->tx.ahead, &rc->to, pos, ops, n, dst, &err);
		if (k == 0)
			/* Nothing posted, staged, or an error. */
			return comch_chan_send_to(p, rc, ops, 1);
	} while (!comch_chan_claim(rc, pos, k));

	if (unlikely(peer_load_relaxed_u32(&rc->to.post_shared->closed) != 0)) { /* C */
		comch_chan_abort_group(p, rc, pos, ops, k);
		return (uint16_t)k;
	}
	for (i = 0; i < k; i++)
		start(p, rc, pos + i, &ops[i], dst[i]);
	/* A queue that works does not refuse. */
	(void)rte_dma_submit(p->dma->dma->id, (uint16_t)p->dma->queue);
	p->copies_started(p);
	return (uint16_t)k;
}

/* The number of copies, at most n, that may be started; negative: the core is to copy. */
static int
may_start(struct comch_chan_prod *p, uint32_t n)
{
	struct comch_chan_dma *d = p->dma;

	if (d->queue < 0)
		d->queue = comch_eal_dev_take_queue(d->dma->dev);
	if (d->queue < 0)
		return -1;
	if (p->copying > 0 && comch_epoch_is_watched(&p->tx.epoch))
		return 0;
	n = RTE_MIN(n, MAX_JOBS - p->copying);
	n = RTE_MIN(n, (uint32_t)rte_dma_burst_capacity(d->dma->id, (uint16_t)d->queue));
	return n == 0 && p->copying == 0 ? -1 : (int)n;
}

static bool
is_large(const struct comch_chan_prod *p, const struct rte_comch_op *op)
{
	const struct comch_dma *dma = p->dma->dma;

	return op->len >= dma->min && op->len <= dma->max && (op->flags & RTE_COMCH_OP_F_SGL) == 0;
}

/* The number of operations, from the first one on, that the same one is to copy. */
static uint32_t
count_alike(const struct comch_chan_prod *p, const struct rte_comch_op *ops, uint32_t n)
{
	const bool large = is_large(p, &ops[0]);
	uint32_t i;

	n = comch_send_same_consumer(ops, n);
	for (i = 1; i < n && is_large(p, &ops[i]) == large; i++)
		;
	return i;
}

/* A message that the device does not copy. */
static uint16_t
send_by_core(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *op)
{
	const uint64_t copies = p->tx.stats.copies - p->tx.stats.staged;
	const uint16_t took = comch_chan_send_to(p, rc, op, 1);

	/* Also copied by the core in any case: what is staged. */
	if (p->tx.stats.copies - p->tx.stats.staged != copies)
		__atomic_fetch_add(&p->dma->dma->busy, 1, __ATOMIC_RELAXED);
	return took;
}

static uint16_t
send_step(struct comch_send *tx, struct comch_send_remote *to, const struct rte_comch_op *ops,
		uint32_t n)
{
	struct comch_chan_prod *p = container_of(tx, struct comch_chan_prod, tx);
	struct comch_chan_remote *rc = container_of(to, struct comch_chan_remote, to);
	int k;

	n = count_alike(p, ops, n);
	if (!is_large(p, &ops[0]))
		return comch_chan_send_to(p, rc, ops, n);
	k = may_start(p, n);
	if (k < 0)
		return send_by_core(p, rc, ops);
	return k > 0 ? send_large(p, rc, ops, (uint32_t)k) : 0;
}

uint16_t
comch_chan_dma_send(void *queue, const struct rte_comch_op *ops, uint16_t n)
{
	struct comch_chan_prod *p = queue;
	uint16_t took = 0;

	p->short_space = 0;
	if (!dma_enter(p)) {
		/* Before a sleep, comch_chan_prod_pending() has it try again. */
		p->tx.short_id = n > 0 ? ops[0].consumer_id : 0;
		comch_count(&p->tx.stats.later, n > 0);
		return 0;
	}
	p->tx.short_id = 0;
	reap(p);
	if (likely(!comch_chan_is_streaming(&p->tx)) || comch_stage_push(p))
		took = comch_send_burst(&p->tx, ops, n, send_step, comch_chan_is_streaming);
	dma_leave(p);
	if (took < n)
		comch_count(&p->tx.stats.later, 1);
	return took;
}

/* Advance what is in progress. */
static void
look(struct comch_chan_prod *p)
{
	if (!dma_enter(p))
		return;
	reap(p);
	if (comch_chan_is_streaming(&p->tx))
		comch_stage_push(p);
	dma_leave(p);
}

uint16_t
comch_chan_dma_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct comch_chan_prod *p = queue;

	if (comch_chan_is_copying(p) || comch_chan_is_streaming(&p->tx))
		look(p);
	/* Acquire: pairs with find_silent(). Model: done.pml, closed. */
	n = (uint16_t)RTE_MIN((uint64_t)n,
		comch_load_acquire(&p->dma->silent) - p->tx.done.head);
	n = comch_done_closed(&p->tx.done, n);
	comch_done_take(&p->tx.done, cpls, n);
	return n;
}

bool
comch_chan_dma_idle(struct comch_chan_prod *p)
{
	bool is_idle;

	if (!dma_enter(p))
		return false;
	reap(p);
	is_idle = p->copying == 0 && !comch_chan_is_streaming(&p->tx);
	dma_leave(p);
	return is_idle;
}

bool
comch_chan_dma_abort(struct comch_chan_prod *p, int err)
{
	bool is_idle;

	/* The lock: both ends count what they do, here and in bursts. */
	if (!dma_enter(p))
		return false;
	reap(p);
	is_idle = comch_stage_abort(p, err) && p->copying == 0;
	dma_leave(p);
	return is_idle;
}

int
comch_chan_dma_attach(struct comch_chan_prod *p, struct comch_dma *dma, int socket_id)
{
	p->dma = rte_zmalloc_socket("comch_chan_dma", sizeof(*p->dma), COMCH_LINE, socket_id);
	if (p->dma == NULL)
		return -ENOMEM;
	p->dma->dma = dma;
	p->dma->queue = -1;
	p->dma->silent = NONE_SILENT;
	return 0;
}

void
comch_chan_dma_detach(struct comch_chan_prod *p)
{
	rte_free(p->dma);
	p->dma = NULL;
}
