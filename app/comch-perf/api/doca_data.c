/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers under test, with the calls of DOCA Comch, used as in
 * DOCA programs: one task per buffer, resubmitted by its completion callback.
 */

#include <errno.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_mmap.h>

#include "api/api.h"
#include "api/doca.h"
#include "app_mem.h"

/* A task and its buffer. */
struct slot {
	union {
		struct doca_comch_producer_task_send *send;
		struct doca_comch_consumer_task_post_recv *recv;
	};
	struct doca_buf *buf; /* NULL: messages have no payload */
	uint8_t *payload;
	uint32_t consumer_id;
};

/* State common to producer and consumer. */
struct end {
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	struct app_mem mem;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *bufs;
	struct slot *slots;
	uint32_t nb_slots;
	uint64_t seen;        /* messages reported to the engine */
};

struct doca_tx {
	struct data_tx base;
	struct end end;
	struct doca_comch_producer *producer;
	struct slot **free;   /* tasks not submitted */
	uint32_t nb_free;
	uint32_t nb_burst;    /* messages left of the burst to the current target */
	struct slot *stamped; /* filled, not accepted yet */
	bool streams;         /* completion callbacks send the next message */
	bool stopping;
};

struct doca_rx {
	struct data_rx base;
	struct end end;
	struct doca_comch_consumer *consumer;
};

static inline struct doca_tx *
doca_tx(struct data_tx *tx)
{
	return container_of(tx, struct doca_tx, base);
}

static inline struct doca_rx *
doca_rx(struct data_rx *rx)
{
	return container_of(rx, struct doca_rx, base);
}

/* Memory: one buf per slot */

static bool
open_mmap(struct link *link, struct end *e)
{
	bool ok = doca_ok(link, doca_mmap_create(&e->mmap), "create an mmap");

	ok = ok && doca_ok(link, doca_mmap_add_dev(e->mmap, doca_link_dev(link)),
			"add the device to an mmap");
	ok = ok && doca_ok(link, doca_mmap_set_permissions(e->mmap,
			DOCA_ACCESS_FLAG_PCI_READ_WRITE), "set the permissions of an mmap");
	ok = ok && doca_ok(link, doca_mmap_set_memrange(e->mmap, e->mem.addr, e->mem.len),
			"set the memory range of an mmap");
	return ok && doca_ok(link, doca_mmap_start(e->mmap), "start an mmap");
}

static bool
open_slots(struct link *link, struct end *e, const struct perf_params *p, uint8_t memory)
{
	uint64_t stride = RTE_MAX(data_stride(p), UINT64_C(64));
	uint32_t nb = e->nb_slots;
	bool ok;
	uint32_t i;

	e->slots = calloc(nb, sizeof(e->slots[0]));
	if (e->slots == NULL || app_mem_get(&e->mem, nb * stride, memory) != 0) {
		link_fail(link, "not enough memory for %u messages of %llu bytes", nb,
				(unsigned long long)stride);
		return false;
	}
	ok = open_mmap(link, e) &&
		doca_ok(link, doca_buf_inventory_create(nb, &e->bufs), "create a buf inventory") &&
		doca_ok(link, doca_buf_inventory_start(e->bufs), "start a buf inventory");
	for (i = 0; i < nb && p->size > 0 && ok; i++) {
		struct slot *slot = &e->slots[i];

		slot->payload = (uint8_t *)e->mem.addr + i * stride;
		ok = doca_ok(link, doca_buf_inventory_buf_get_by_addr(e->bufs, e->mmap,
				slot->payload, p->size, &slot->buf), "get a buf");
	}
	return ok;
}

static void
close_slots(struct end *e)
{
	uint32_t i;

	for (i = 0; e->slots != NULL && i < e->nb_slots; i++) {
		if (e->slots[i].buf != NULL)
			doca_buf_dec_refcount(e->slots[i].buf, NULL);
	}
	doca_buf_inventory_destroy(e->bufs);
	doca_mmap_destroy(e->mmap);
	app_mem_close(&e->mem);
	free(e->slots);
}

/* Number of messages since the last call. */
static inline uint16_t
newly_counted(struct end *e, uint64_t count)
{
	uint64_t n = count - e->seen;

	e->seen = count;
	return (uint16_t)RTE_MIN(n, (uint64_t)UINT16_MAX);
}

/* Producers */

static uint32_t
nb_tx_slots(const struct perf_params *p)
{
	uint64_t nb = DATA_SOURCE_BYTES / RTE_MAX(data_stride(p), UINT64_C(64));

	nb = RTE_MAX(nb, 2 * (uint64_t)p->burst);
	return (uint32_t)RTE_MIN(nb, RTE_MAX(p->queue, p->burst));
}

/* Fill in the next message. */
static inline void
stamp(struct data_tx *tx, struct slot *slot)
{
	const struct perf_params *p = tx->params;
	struct doca_tx *d = doca_tx(tx);
	uint8_t imm[RTE_COMCH_IMM_SIZE];
	struct data_target *to;

	tx->left--;
	if (d->nb_burst-- == 0) {
		d->nb_burst = p->burst - 1;
		data_next_target(tx);
	}
	to = &tx->targets[tx->target];
	if (unlikely(slot->consumer_id != to->id)) {
		slot->consumer_id = to->id;
		doca_comch_producer_task_send_set_consumer_id(slot->send, to->id);
	}
	data_write(tx, to, slot->payload, imm);
	if (p->imm > 0)
		doca_comch_producer_task_send_set_imm_data(slot->send, imm, p->imm);
}

/* Stamp the next message in a free task. False: there is none. */
static bool
stamp_free(struct data_tx *tx)
{
	struct doca_tx *d = doca_tx(tx);

	if (d->nb_free == 0 || tx->left == 0)
		return false;
	d->stamped = d->free[--d->nb_free];
	stamp(tx, d->stamped);
	return true;
}

/* A message was not accepted: it stays stamped, or is lost. */
static __rte_noinline void
refused(struct data_tx *tx, struct slot *slot, doca_error_t ret)
{
	struct doca_tx *d = doca_tx(tx);

	tx->ready = ret == DOCA_ERROR_AGAIN;
	d->stamped = tx->ready ? slot : NULL;
	if (tx->ready)
		return;
	tx->failed++;
	d->free[d->nb_free++] = slot;
}

/* Send a stamped message. False: it was not accepted. */
static inline bool
submit(struct data_tx *tx, struct slot *slot)
{
	doca_error_t ret = doca_task_submit(doca_comch_producer_task_send_as_task(slot->send));

	if (unlikely(ret != DOCA_SUCCESS)) {
		refused(tx, slot, ret);
		return false;
	}
	tx->sent++;
	tx->in_flight++;
	return true;
}

/* Send up to n messages in free tasks. */
static void
pump(struct data_tx *tx, uint32_t n)
{
	struct doca_tx *d = doca_tx(tx);
	struct slot *slot;

	while (n-- > 0 && (d->stamped != NULL || stamp_free(tx))) {
		slot = d->stamped;
		d->stamped = NULL;
		tx->ready = 0;
		if (!submit(tx, slot))
			return;
	}
}

static inline void
tx_task_return(struct doca_tx *d, struct slot *slot)
{
	if (unlikely(d->stopping))
		doca_task_free(doca_comch_producer_task_send_as_task(slot->send));
	else
		d->free[d->nb_free++] = slot;
}

static void
on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct data_tx *tx = ctx_data.ptr;
	struct doca_tx *d = doca_tx(tx);

	(void)task;
	tx->in_flight--;
	/* The usual way: the same task again, past the list of free ones. */
	if (likely(d->streams && tx->left > 0 && d->stamped == NULL && !d->stopping)) {
		stamp(tx, task_data.ptr);
		submit(tx, task_data.ptr);
		return;
	}
	tx_task_return(d, task_data.ptr);
	if (d->streams)
		pump(tx, 1);
}

static void
on_unsent(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct data_tx *tx = ctx_data.ptr;

	(void)task;
	tx->failed += !doca_tx(tx)->stopping;
	tx->in_flight--;
	tx_task_return(doca_tx(tx), task_data.ptr);
}

/* Allocate a free task for each slot. */
static bool
open_tasks(struct data_tx *tx)
{
	const struct perf_params *p = tx->params;
	struct doca_tx *d = doca_tx(tx);
	uint8_t imm[RTE_COMCH_IMM_SIZE] = { 0 };
	bool ok = true;
	uint32_t i;

	for (i = tx->nb_slots; i > 0 && ok; i--) {
		struct slot *slot = &d->end.slots[i - 1];
		const union doca_data data = { .ptr = slot };

		slot->consumer_id = tx->targets[0].id;
		if (slot->buf != NULL)
			ok = doca_ok(tx->link, doca_buf_set_data_len(slot->buf, p->size),
					"set the data length of a buf");
		ok = ok && doca_ok(tx->link, doca_comch_producer_task_send_alloc_init(d->producer,
				slot->buf, p->imm > 0 ? imm : NULL, p->imm, slot->consumer_id,
				&slot->send), "allocate a send task");
		if (!ok)
			break;
		doca_task_set_user_data(doca_comch_producer_task_send_as_task(slot->send), data);
		d->free[d->nb_free++] = slot;
	}
	return ok;
}

static int
doca_tx_open(struct perf_run *run, struct data_tx *tx)
{
	struct doca_tx *d = doca_tx(tx);
	struct link *link = tx->link;
	bool ok;

	tx->nb_slots = nb_tx_slots(tx->params);
	d->end.nb_slots = tx->nb_slots;
	d->end.pe = ((struct doca_poll *)tx->worker->poll)->pe;
	d->streams = run->test->hops == 0;
	d->free = calloc(tx->nb_slots, sizeof(d->free[0]));
	if (d->free == NULL)
		return perf_run_fail(run, "send tasks: not enough memory for %u", tx->nb_slots);
	if (!doca_ok(link, doca_comch_producer_create(tx->conn, &d->producer), "create a producer"))
		return -ECANCELED;
	d->end.ctx = doca_comch_producer_as_ctx(d->producer);
	ok = doca_ok(link, doca_comch_producer_task_send_set_conf(d->producer, on_sent,
			on_unsent, tx->nb_slots), "configure the tasks of a producer");
	ok = ok && doca_start(link, tx->worker->poll, d->end.ctx, tx, "start a producer");
	ok = ok && open_slots(link, &d->end, tx->params, APP_MEMORY_HEAP);
	return ok && open_tasks(tx) ? 0 : -ECANCELED;
}

static void
doca_prepare(struct data_tx *tx, uint16_t n)
{
	struct doca_tx *d = doca_tx(tx);

	(void)n;
	tx->ready = d->stamped != NULL || stamp_free(tx);
}

static void
doca_reap(struct data_tx *tx)
{
	doca_pe_progress(doca_tx(tx)->end.pe);
	tx->flushed = tx->left == 0 && tx->ready == 0 && tx->in_flight == 0;
}

static uint16_t
doca_send(struct data_tx *tx, uint16_t n)
{
	struct doca_tx *d = doca_tx(tx);

	pump(tx, n);
	if (tx->sent == d->end.seen)
		doca_reap(tx);
	return newly_counted(&d->end, tx->sent);
}

static bool
doca_tx_stop(struct data_tx *tx)
{
	struct doca_tx *d = doca_tx(tx);

	if (!d->stopping) {
		d->stopping = true;
		if (d->stamped != NULL)
			d->free[d->nb_free++] = d->stamped;
		d->stamped = NULL;
		while (d->nb_free > 0)
			doca_task_free(doca_comch_producer_task_send_as_task(
				d->free[--d->nb_free]->send));
		doca_ctx_stop(d->end.ctx);
	}
	return doca_state(d->end.ctx) == DOCA_CTX_STATE_IDLE;
}

static void
doca_tx_close(struct data_tx *tx)
{
	struct doca_tx *d = doca_tx(tx);

	doca_comch_producer_destroy(d->producer);
	close_slots(&d->end);
	free(d->free);
}

/* Consumers */

static void
rx_task_return(struct data_rx *rx, const struct slot *slot)
{
	doca_error_t ret = DOCA_ERROR_SHUTDOWN;

	if (likely(!rx->stopping)) {
		if (slot->buf != NULL)
			doca_buf_reset_data_len(slot->buf);
		ret = doca_task_submit(doca_comch_consumer_task_post_recv_as_task(slot->recv));
		rx->faults.failed += ret != DOCA_SUCCESS;
	}
	if (unlikely(ret != DOCA_SUCCESS))
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(slot->recv));
}

static void
on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	const struct slot *slot = task_data.ptr;
	struct data_rx *rx = ctx_data.ptr;
	uint32_t imm_len = doca_comch_consumer_task_post_recv_get_imm_data_len(task);
	size_t len = 0;

	if (slot->buf != NULL)
		doca_buf_get_data_len(slot->buf, &len);
	data_take(rx, 0, len, imm_len, slot->payload, imm_len == 0 ? NULL :
		doca_comch_consumer_task_post_recv_get_imm_data(task));
	rx_task_return(rx, slot);
}

static void
on_not_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct data_rx *rx = ctx_data.ptr;

	(void)task_data;
	rx->faults.failed += !rx->stopping;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static int
doca_rx_open(struct perf_run *run, struct data_rx *rx)
{
	struct doca_rx *d = doca_rx(rx);
	struct link *link = rx->link;
	bool ok;

	d->end.nb_slots = run->params.queue;
	d->end.pe = ((struct doca_poll *)rx->worker->poll)->pe;
	if (!open_slots(link, &d->end, rx->params, rx->params->memory) ||
			!doca_ok(link, doca_comch_consumer_create(rx->conn, d->end.mmap,
				&d->consumer), "create a consumer"))
		return -ECANCELED;
	d->end.ctx = doca_comch_consumer_as_ctx(d->consumer);
	ok = doca_ok(link, doca_comch_consumer_set_imm_data_len(d->consumer, run->params.imm),
			"--imm");
	ok = ok && doca_ok(link, doca_comch_consumer_task_post_recv_set_conf(d->consumer,
			on_received, on_not_received, d->end.nb_slots),
			"configure the tasks of a consumer");
	ok = ok && doca_start(link, rx->worker->poll, d->end.ctx, rx, "start a consumer");
	return ok ? 0 : -ECANCELED;
}

static bool
doca_rx_running(struct data_rx *rx)
{
	if (doca_state(doca_rx(rx)->end.ctx) != DOCA_CTX_STATE_RUNNING)
		return false;
	return doca_comch_consumer_get_id(doca_rx(rx)->consumer, &rx->id) == DOCA_SUCCESS;
}

static int
doca_rx_start(struct perf_run *run, struct data_rx *rx)
{
	struct end *e = &doca_rx(rx)->end;
	struct link *link = rx->link;
	uint32_t i;

	(void)run;
	for (i = 0; i < e->nb_slots; i++) {
		struct slot *slot = &e->slots[i];
		const union doca_data data = { .ptr = slot };
		struct doca_task *task;

		if (!doca_ok(link, doca_comch_consumer_task_post_recv_alloc_init(
				doca_rx(rx)->consumer, slot->buf, &slot->recv),
				"allocate a receive task"))
			return -ECANCELED;
		task = doca_comch_consumer_task_post_recv_as_task(slot->recv);
		doca_task_set_user_data(task, data);
		if (!doca_ok(link, doca_task_submit(task), "post a buffer")) {
			doca_task_free(task);
			return -ECANCELED;
		}
	}
	return 0;
}

static uint16_t
doca_recv(struct data_rx *rx, uint16_t n)
{
	struct end *e = &doca_rx(rx)->end;

	(void)n;
	doca_pe_progress(e->pe);
	return newly_counted(e, rx->count);
}

static bool
doca_rx_stop(struct data_rx *rx)
{
	struct end *e = &doca_rx(rx)->end;

	if (doca_state(e->ctx) == DOCA_CTX_STATE_RUNNING ||
			doca_state(e->ctx) == DOCA_CTX_STATE_STARTING)
		doca_ctx_stop(e->ctx);
	return doca_state(e->ctx) == DOCA_CTX_STATE_IDLE;
}

static void
doca_rx_close(struct data_rx *rx)
{
	struct doca_rx *d = doca_rx(rx);

	doca_comch_consumer_destroy(d->consumer);
	close_slots(&d->end);
}

const struct data_ops data_ops_doca = {
	.tx_size = sizeof(struct doca_tx),
	.rx_size = sizeof(struct doca_rx),
	.rx_open = doca_rx_open,
	.rx_running = doca_rx_running,
	.rx_start = doca_rx_start,
	.recv = doca_recv,
	.rx_stop = doca_rx_stop,
	.rx_close = doca_rx_close,
	.tx_open = doca_tx_open,
	.prepare = doca_prepare,
	.send = doca_send,
	.reap = doca_reap,
	.tx_stop = doca_tx_stop,
	.tx_close = doca_tx_close,
};
