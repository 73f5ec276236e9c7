/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Bursts of producers.
 *
 * A send plans (comch_send.h), then fills messages with records: as many as fit in one
 * of the consumer's slots. Short payloads are copied behind their record. Others are
 * written to the posted buffers by RDMA WRITEs that precede their record's message.
 * One doorbell posts it all.
 */

#include <errno.h>
#include <string.h>

#include <rte_memcpy.h>

#include "mlx5_send.h"
#include "sdk/comch_guard.h"

/* A message to be: the operations whose records fit in a slot. */
struct send_plan {
	uint32_t n;
	uint32_t len;                      /* bytes */
	uint32_t nb_writes;
	uint16_t rec[COMCH_SEND_GROUP];    /* offset of an operation's record */
	uint16_t payload[COMCH_SEND_GROUP];
	bool is_eager[COMCH_SEND_GROUP];
	uint32_t lkey[COMCH_SEND_GROUP];   /* of those that are not eager */
	uint32_t rkey[COMCH_SEND_GROUP];
};

static struct mlx5_prod *
prod_of(struct comch_send *tx)
{
	return container_of(tx, struct mlx5_prod, tx);
}

/* Records */

void
mlx5_send_rec(struct comch_rec *rec, const struct mlx5_prod *p, uint64_t pos, uint8_t kind,
		const struct rte_comch_op *op)
{
	*rec = (struct comch_rec){
		.seq = pos + 1,
		.head = {
			.producer = p->tx.id, .count = 1, .imm_len = (uint8_t)op->imm_len,
			.kind = kind,
		},
	};
	rec->len0 = op->len;
	if (op->imm_len > 0)
		memcpy(rec->imm, op->imm, op->imm_len);
}

bool
mlx5_send_rkey(const struct mlx5_remote *r, uint64_t pos, uint32_t *rkey)
{
	uint64_t region = r->post->desc[pos & r->to.mask].where >> COMCH_DESC_OFF_BITS;
	const struct rte_comch_region *import;

	/* comch_send_group() has checked it: this is the same copy of the descriptor. */
	if (region >= COMCH_MAX_IMPORTS)
		return false;
	/* Acquire: as in comch_send_check_desc(). Model: publish.pml, find. */
	import = comch_load_acquire(&r->to.imports[region]);
	if (import == NULL)
		return false;
	*rkey = mlx5_mem_rkey(import);
	return true;
}

/* Does an operation need more than one RDMA WRITE, or may it? */
static bool
is_long(const struct mlx5_remote *r, const struct rte_comch_op *op)
{
	return op->len > r->eager &&
		(op->len > r->max_write || (op->flags & RTE_COMCH_OP_F_SGL) != 0);
}

/* The keys for one RDMA WRITE of operation i of a plan. */
static bool
plan_keys(const struct mlx5_remote *r, struct send_plan *plan, uint32_t i,
		const struct rte_comch_op *op)
{
	return mlx5_mem_lkey(r->data, op->mr, &plan->lkey[i]) &&
		mlx5_send_rkey(r, r->claim + i, &plan->rkey[i]);
}

/* May an operation join the record of the one before it? */
static bool
can_join(const struct send_plan *plan, uint32_t count, const struct rte_comch_op *ops)
{
	uint32_t i = plan->n;

	return i > 0 && count < COMCH_REC_BATCH && ops[i].imm_len == 0 && ops[i - 1].imm_len == 0 &&
		plan->is_eager[i] == plan->is_eager[i - 1];
}

/* Plan the next message from the first of n operations. plan->n may be 0: no room, no key. */
static __rte_always_inline void
make_plan(const struct mlx5_remote *r, const struct rte_comch_op *ops, uint32_t n,
		struct send_plan *plan)
{
	uint32_t room = mlx5_qp_tx_room(&r->qp), count = 0, rec = 0, payload, end;

	plan->n = 0;
	plan->len = 0;
	plan->nb_writes = 0;
	for (; plan->n < n; plan->n++) {
		const uint32_t i = plan->n;
		const struct rte_comch_op *op = &ops[i];

		if (is_long(r, op))
			return;
		plan->is_eager[i] = op->len <= r->eager;
		end = RTE_ALIGN_CEIL(plan->len, (uint32_t)MLX5_EAGER_ALIGN);
		if (can_join(plan, count, ops)) {
			payload = end;
		} else {
			count = 0;
			rec = end;
			payload = end + sizeof(struct comch_rec);
		}
		end = payload + (plan->is_eager[i] ? op->len : 0);
		if (end > r->slot || plan->nb_writes + !plan->is_eager[i] + 1 > room)
			return;
		if (!plan->is_eager[i] && !plan_keys(r, plan, i, op))
			return;
		plan->nb_writes += !plan->is_eager[i];
		plan->rec[i] = (uint16_t)rec;
		plan->payload[i] = (uint16_t)payload;
		plan->len = end;
		count++;
	}
}

/* RDMA WRITEs of a plan. They complete no position: their record does. */
static void
send_writes(struct mlx5_remote *r, const struct rte_comch_op *ops, const struct send_plan *plan,
		uint8_t *const *dst)
{
	struct ibv_sge sge;
	uint64_t number;
	uint32_t i;

	for (i = 0; i < plan->n; i++) {
		if (plan->is_eager[i])
			continue;
		sge = (struct ibv_sge){
			.addr = (uintptr_t)ops[i].addr, .length = ops[i].len, .lkey = plan->lkey[i],
		};
		number = mlx5_qp_write(&r->qp, &sge, 1, (uintptr_t)dst[i], plan->rkey[i]);
		r->wr_pos[number & r->wr_mask] = r->claim;
	}
}

static __rte_always_inline void
copy_payload(uint8_t *to, const struct rte_comch_op *op)
{
	struct comch_gather g;

	if (op->len == 0)
		return;
	if (op->flags & RTE_COMCH_OP_F_SGL) {
		comch_gather_init(&g, op);
		comch_gather_copy(&g, to, op->len);
	} else {
		rte_memcpy(to, op->addr, op->len);
	}
}

/* Build the message of a plan, and assign the positions. */
static __rte_always_inline void
send_records(struct mlx5_remote *r, struct mlx5_prod *p, const struct rte_comch_op *ops,
		const struct send_plan *plan)
{
	uint8_t *buf = mlx5_qp_tx_buf(&r->qp);
	uint64_t number, copies = 0;
	struct comch_rec *rec = NULL;
	uint32_t i;

	for (i = 0; i < plan->n; i++) {
		if (i == 0 || plan->rec[i] != plan->rec[i - 1]) {
			rec = (struct comch_rec *)(buf + plan->rec[i]);
			mlx5_send_rec(rec, p, r->claim, plan->is_eager[i] ? MLX5_REC_EAGER :
				COMCH_REC_DIRECT, &ops[i]);
		} else {
			rec->len[rec->head.count++] = ops[i].len;
		}
		if (plan->is_eager[i]) {
			copy_payload(buf + plan->payload[i], &ops[i]);
			copies += ops[i].len > 0;
		}
		mlx5_remote_add(r, p, &ops[i], plan->is_eager[i]);
	}
	number = mlx5_qp_send(&r->qp, plan->len);
	r->wr_pos[number & r->wr_mask] = r->claim;
	comch_count(&p->tx.stats.copies, copies);
}

/* Send up to n operations to the buffers at dst. Returns the number accepted. */
static __rte_always_inline uint32_t
send_all(struct mlx5_remote *r, struct mlx5_prod *p, const struct rte_comch_op *ops, uint32_t n,
		uint8_t *const *dst)
{
	struct send_plan plan;
	bool signal = false;
	uint32_t i = 0, k;

	while (i < n) {
		make_plan(r, &ops[i], n - i, &plan);
		if (plan.n > 0) {
			send_writes(r, &ops[i], &plan, &dst[i]);
			send_records(r, p, &ops[i], &plan);
		} else if (is_long(r, &ops[i]) && mlx5_stream_begin(r, p, &ops[i], dst[i], false)) {
			plan.n = 1;
		}
		for (k = 0; k < plan.n; k++)
			signal |= (ops[i + k].flags & RTE_COMCH_OP_F_SILENT) == 0;
		i += plan.n;
		if (plan.n == 0 || r->stream.prod != NULL)
			break;
	}
	mlx5_remote_flush(r, signal);
	return i;
}

/* Send to a buffer in memory that the peer does not show. A short payload fits a record. */
static uint16_t
send_staged(struct mlx5_remote *r, struct mlx5_prod *p, const struct rte_comch_op *op)
{
	uint8_t *dst = NULL;

	if (op->len > r->eager && !mlx5_stream_begin(r, p, op, NULL, true))
		return 0;
	if (op->len <= r->eager && send_all(r, p, op, 1, &dst) == 0)
		return 0;
	comch_count(&p->tx.stats.staged, 1);
	mlx5_remote_flush(r, true);
	return 1;
}

/* Memory that the device cannot register. */
static bool
is_refused(const struct mlx5_remote *r, const struct rte_comch_op *op)
{
	const struct rte_comch_sge *sge = op->addr;
	uint16_t i;

	if (op->len <= r->eager)
		return false;
	if ((op->flags & RTE_COMCH_OP_F_SGL) == 0)
		return mlx5_mem_is_refused(r->data, op->mr);
	for (i = 0; i < op->nb_sges; i++)
		if (sge[i].len > 0 && mlx5_mem_is_refused(r->data, sge[i].mr))
			return true;
	return false;
}

static uint16_t
send_direct(struct mlx5_remote *r, struct mlx5_prod *p, const struct rte_comch_op *ops, uint32_t n,
		uint8_t *const *dst)
{
	uint32_t took = send_all(r, p, ops, n, dst);

	if (unlikely(took == 0 && is_refused(r, &ops[0])))
		return comch_send_fail(&p->tx, &ops[0], -ENOMEM);
	return (uint16_t)took;
}

/* Send operations to one consumer, with its lock held. Returns the number accepted. */
static __rte_always_inline uint16_t
send_group(struct mlx5_remote *r, struct mlx5_prod *p, const struct rte_comch_op *ops, uint32_t n)
{
	uint8_t *dst[COMCH_SEND_GROUP];
	uint32_t k;
	int err;

	mlx5_remote_reap(r);
	/* Model: publish.pml, find. */
	if (unlikely(comch_load_acquire(&r->peer_halted) || comch_load_acquire(&r->is_retired)))
		return comch_send_fail(&p->tx, &ops[0], -ENOENT);
	if (unlikely(mlx5_remote_is_err(r) || r->stream.prod != NULL))
		return 0;
	/* The entry of a position is free when its message of the last lap has completed. */
	n = RTE_MIN(comch_send_same_consumer(ops, n),
		r->to.base.depth - (uint32_t)(r->claim - r->completed));
	if (n == 0)
		return 0;
	k = comch_send_group(&p->tx.ahead, &r->to, r->claim, ops, n, dst, &err);
	if (likely(k > 0))
		return send_direct(r, p, ops, k, dst);
	if (err == COMCH_SEND_STAGED)
		return send_staged(r, p, &ops[0]);
	/* The peer takes its memory back after its consumer has ended. Model: publish.pml, find. */
	if (err == -EPROTO && comch_load_acquire(&r->is_retired))
		err = -ENOENT;
	return err < 0 ? comch_send_fail(&p->tx, &ops[0], err) : 0;
}

static uint16_t
send_step(struct comch_send *tx, struct comch_send_remote *to, const struct rte_comch_op *ops,
		uint32_t n)
{
	struct mlx5_remote *r = mlx5_remote_of(to);
	uint16_t took;

	if (!mlx5_remote_trylock(r))
		return 0;
	took = send_group(r, prod_of(tx), ops, n);
	mlx5_remote_unlock(r);
	if (took > 0)
		prod_of(tx)->last_id = ops[0].consumer_id;
	return took;
}

static bool
never_blocked(const struct comch_send *tx __rte_unused)
{
	return false;
}

/* Reap a consumer that has left the directory but still owes completions. */
static void
reap_removed(struct mlx5_prod *p, uint32_t id)
{
	struct mlx5_data *data = mlx5_data_of(mlx5_link_of(p->dq.base.link));
	struct mlx5_remote *r;

	if (pthread_mutex_trylock(&data->lock) != 0)
		return;
	TAILQ_FOREACH(r, &data->remotes, next) {
		if (r->to.base.id != id || !mlx5_remote_trylock(r))
			continue;
		mlx5_remote_reap(r);
		mlx5_remote_unlock(r);
	}
	pthread_mutex_unlock(&data->lock);
}

/* Handle the completions of a consumer, and continue its stream. */
static void
reap_id(struct mlx5_prod *p, uint32_t id)
{
	struct comch_send_remote *to;

	comch_epoch_enter(&p->tx.epoch);
	to = comch_send_find(&p->tx, id, &p->tx.last_slot);
	if (likely(to != NULL) && mlx5_remote_trylock(mlx5_remote_of(to))) {
		mlx5_remote_reap(mlx5_remote_of(to));
		mlx5_remote_unlock(mlx5_remote_of(to));
	}
	comch_epoch_leave(&p->tx.epoch);
	if (unlikely(to == NULL))
		reap_removed(p, id);
}

static void
push_stream(struct mlx5_prod *p)
{
	/* Acquire: pairs with the release at the end of a stream. Model: publish.pml, find. */
	uint32_t id = comch_load_acquire(&p->stream_id);

	if (unlikely(id != 0))
		reap_id(p, id);
}

uint16_t
mlx5_prod_send(void *queue, const struct rte_comch_op *ops, uint16_t n)
{
	struct mlx5_prod *p = queue;
	uint16_t took;

	comch_guard_enter(&p->tx.guard, "bursts of a producer");
	p->tx.short_id = 0;
	p->short_for_stream = false;
	push_stream(p);
	comch_epoch_enter(&p->tx.epoch);
	took = comch_send_burst(&p->tx, ops, n, send_step, never_blocked);
	comch_epoch_leave(&p->tx.epoch);
	if (took < n)
		comch_count(&p->tx.stats.later, 1);
	comch_guard_leave(&p->tx.guard);
	return took;
}

/* The consumer for which the first open completion waits; without one, silent messages. */
static uint32_t
awaited(const struct mlx5_prod *p, uint16_t nb_closed)
{
	const struct comch_done_ring *done = &p->tx.done;

	return done->head + nb_closed != done->tail ?
		done->ring[(done->head + nb_closed) & done->mask].consumer_id : p->last_id;
}

uint16_t
mlx5_prod_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct mlx5_prod *p = queue;
	uint16_t k;

	comch_guard_enter(&p->tx.guard, "bursts of a producer");
	push_stream(p);
	k = comch_done_closed(&p->tx.done, n);
	if (k < n && comch_load_relaxed(&p->in_flight) > 0) {
		reap_id(p, awaited(p, k));
		k = comch_done_closed(&p->tx.done, n);
	}
	comch_done_take(&p->tx.done, cpls, k);
	if (unlikely(comch_load_relaxed(&p->late_errors) > 0))
		comch_count(&p->tx.stats.errors,
			__atomic_exchange_n(&p->late_errors, 0, __ATOMIC_RELAXED));
	comch_guard_leave(&p->tx.guard);
	return k;
}
