/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers by DOCA's calls, as its programs use them: a task for
 * each buffer, submitted anew by the callback of its completion.
 */

#include <errno.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_mmap.h>

#include "data.h"
#include "link_doca.h"

/* Payload that a producer sends from: what its tasks have together. */
#define SOURCE_BYTES (UINT64_C(256) << 10)

/* A task and its buf. */
struct data_doca_slot {
	union {
		struct doca_comch_producer_task_send *send;
		struct doca_comch_consumer_task_post_recv *recv;
	};
	struct doca_buf *buf; /* NULL: messages have no payload */
	uint8_t *payload;
	uint32_t consumer_id;
};

/* What drives them */

static int
doca_worker_open(struct perf_run *run, struct data_worker *w)
{
	w->pe = run->link.doca->pe;
	w->fd = run->link.fd;
	if (!w->own_poll)
		return 0;
	w->pe = NULL;
	return dev_doca_ok(run, doca_pe_create(&w->pe), "a progress engine") &&
		dev_doca_ok(run, doca_pe_get_notification_handle(w->pe, &w->fd),
			"a progress engine's handle") ? 0 : -ECANCELED;
}

static void
doca_worker_close(struct data_worker *w)
{
	doca_pe_destroy(w->pe);
}

static void
doca_worker_poll(struct data_worker *w)
{
	doca_pe_progress(w->pe);
}

static void
doca_worker_sleep(struct data_worker *w, uint32_t cls)
{
	(void)cls;
	link_doca_sleep(w->pe, w->fd);
}

/* Memory: a buf for each slot */

static bool
open_mmap(struct perf_run *run, struct data_doca *d, const struct data_mem *mem,
		uint32_t access)
{
	return dev_doca_ok(run, doca_mmap_create(&d->mmap), "an mmap") &&
		dev_doca_ok(run, doca_mmap_add_dev(d->mmap, run->link.doca->dev.dev),
			"an mmap's device") &&
		dev_doca_ok(run, doca_mmap_set_permissions(d->mmap, access),
			"an mmap's permissions") &&
		dev_doca_ok(run, doca_mmap_set_memrange(d->mmap, mem->addr, mem->len),
			"an mmap's memory") &&
		dev_doca_ok(run, doca_mmap_start(d->mmap), "starting an mmap");
}

static int
open_slots(struct perf_run *run, struct data_doca *d, struct data_mem *mem, uint32_t nb,
		uint8_t memory)
{
	uint64_t size = run->params.size;
	uint64_t stride = RTE_MAX(data_stride(&run->params), UINT64_C(64));
	uint32_t i;

	d->slots = calloc(nb, sizeof(d->slots[0]));
	if (d->slots == NULL || data_mem_get(mem, nb * stride, memory) != 0)
		return perf_run_fail(run, "no memory for %u messages", nb);
	if (!open_mmap(run, d, mem, DOCA_ACCESS_FLAG_PCI_READ_WRITE) ||
			!dev_doca_ok(run, doca_buf_inventory_create(nb, &d->bufs), "bufs") ||
			!dev_doca_ok(run, doca_buf_inventory_start(d->bufs), "bufs"))
		return -ECANCELED;
	for (i = 0; i < nb && size > 0; i++) {
		struct data_doca_slot *slot = &d->slots[i];

		slot->payload = (uint8_t *)mem->addr + i * stride;
		if (!dev_doca_ok(run, doca_buf_inventory_buf_get_by_addr(d->bufs, d->mmap,
				slot->payload, size, &slot->buf), "a buf"))
			return -ECANCELED;
	}
	return 0;
}

static void
close_slots(struct data_doca *d, struct data_mem *mem, uint32_t nb)
{
	uint32_t i;

	for (i = 0; d->slots != NULL && i < nb; i++) {
		if (d->slots[i].buf != NULL)
			doca_buf_dec_refcount(d->slots[i].buf, NULL);
	}
	doca_buf_inventory_destroy(d->bufs);
	doca_mmap_destroy(d->mmap);
	data_mem_close(mem);
	free(d->free);
	free(d->slots);
}

/* Its engine, its owner, and off it goes. */
static bool
begin(struct perf_run *run, struct data_doca *d, struct doca_pe *pe, void *owner)
{
	const union doca_data data = { .ptr = owner };

	d->pe = pe;
	return dev_doca_ok(run, doca_pe_connect_ctx(pe, d->ctx), "an engine's context") &&
		dev_doca_ok(run, doca_ctx_set_user_data(d->ctx, data), "a context's data");
}

/* Producers */

static uint32_t
nb_tx_slots(const struct perf_params *p)
{
	uint64_t nb = SOURCE_BYTES / RTE_MAX(data_stride(p), UINT64_C(64));

	nb = RTE_MAX(nb, 2 * (uint64_t)p->burst);
	return (uint32_t)RTE_MIN(nb, RTE_MAX(p->queue, p->burst));
}

/* Stamp the next message, in a task that is free. NULL: none is. */
static struct data_doca_slot *
stamp(struct data_tx *tx)
{
	const struct perf_params *p = tx->params;
	struct data_doca *d = &tx->doca;
	uint8_t imm[RTE_COMCH_IMM_SIZE];
	struct data_doca_slot *slot;
	struct data_target *to;

	if (d->nb_free == 0 || tx->left == 0)
		return NULL;
	slot = d->free[--d->nb_free];
	tx->left--;
	if (d->nb_burst-- == 0) {
		d->nb_burst = p->burst - 1;
		tx->target = tx->target + 1 < tx->nb_targets ? tx->target + 1 : 0;
	}
	to = &tx->targets[tx->target];
	if (unlikely(slot->consumer_id != to->id)) {
		slot->consumer_id = to->id;
		doca_comch_producer_task_send_set_consumer_id(slot->send, to->id);
	}
	data_write(tx, to, slot->payload, imm);
	if (p->imm > 0)
		doca_comch_producer_task_send_set_imm_data(slot->send, imm, p->imm);
	return slot;
}

/* Send up to n messages. One that is not taken stays stamped. */
static void
pump(struct data_tx *tx, uint32_t n)
{
	struct data_doca *d = &tx->doca;
	struct data_doca_slot *slot;
	doca_error_t ret;

	while (n-- > 0) {
		slot = d->stamped != NULL ? d->stamped : stamp(tx);
		if (slot == NULL)
			return;
		ret = doca_task_submit(doca_comch_producer_task_send_as_task(slot->send));
		d->stamped = ret == DOCA_ERROR_AGAIN ? slot : NULL;
		tx->ready = d->stamped != NULL;
		if (tx->ready)
			return;
		if (unlikely(ret != DOCA_SUCCESS)) {
			tx->failed++;
			d->free[d->nb_free++] = slot;
			return;
		}
		tx->sent++;
		tx->in_flight++;
	}
}

static inline void
tx_back(struct data_tx *tx, struct data_doca_slot *slot)
{
	struct data_doca *d = &tx->doca;

	tx->in_flight--;
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

	(void)task;
	tx_back(tx, task_data.ptr);
	if (tx->doca.streams)
		pump(tx, 1);
}

static void
on_unsent(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct data_tx *tx = ctx_data.ptr;

	(void)task;
	tx->failed += !tx->doca.stopping;
	tx_back(tx, task_data.ptr);
}

static int
doca_tx_create(struct perf_run *run, struct data_tx *tx, struct data_worker *w)
{
	struct data_doca *d = &tx->doca;

	tx->nb_slots = nb_tx_slots(&run->params);
	if (!dev_doca_ok(run, doca_comch_producer_create(
			run->link.conns[tx->number % run->params.connections],
			&tx->doca_producer), "a producer"))
		return -ECANCELED;
	d->ctx = doca_comch_producer_as_ctx(tx->doca_producer);
	return dev_doca_ok(run, doca_comch_producer_task_send_set_conf(tx->doca_producer,
			on_sent, on_unsent, tx->nb_slots), "a producer's tasks") &&
		begin(run, d, w->pe, tx) &&
		dev_doca_ok(run, doca_ctx_start(d->ctx), "starting a producer") ?
		0 : -ECANCELED;
}

static int
doca_tx_open(struct perf_run *run, struct data_tx *tx)
{
	const struct perf_params *p = tx->params;
	struct data_doca *d = &tx->doca;
	uint8_t imm[RTE_COMCH_IMM_SIZE] = { 0 };
	uint32_t i;

	d->streams = run->test->ways == 0;
	d->free = calloc(tx->nb_slots, sizeof(d->free[0]));
	if (d->free == NULL)
		return perf_run_fail(run, "no memory to send from");
	if (open_slots(run, d, &tx->mem, tx->nb_slots, PERF_MEMORY_HEAP) != 0)
		return -ECANCELED;
	for (i = tx->nb_slots; i > 0; i--) {
		struct data_doca_slot *slot = &d->slots[i - 1];
		const union doca_data data = { .ptr = slot };

		slot->consumer_id = tx->targets[0].id;
		if ((slot->buf != NULL && !dev_doca_ok(run, doca_buf_set_data_len(slot->buf,
				p->size), "a buf's data")) ||
				!dev_doca_ok(run, doca_comch_producer_task_send_alloc_init(
					tx->doca_producer, slot->buf, p->imm > 0 ? imm : NULL,
					p->imm, slot->consumer_id, &slot->send), "a task"))
			return -ECANCELED;
		doca_task_set_user_data(doca_comch_producer_task_send_as_task(slot->send), data);
		d->free[d->nb_free++] = slot;
	}
	return 0;
}

static void
doca_tx_close(struct data_tx *tx)
{
	close_slots(&tx->doca, &tx->mem, tx->nb_slots);
}

static void
doca_prepare(struct data_tx *tx, uint16_t n)
{
	(void)n;
	if (tx->doca.stamped == NULL)
		tx->doca.stamped = stamp(tx);
	tx->ready = tx->doca.stamped != NULL;
}

static void
doca_reap(struct data_tx *tx)
{
	doca_pe_progress(tx->doca.pe);
	tx->flushed = tx->left == 0 && tx->ready == 0 && tx->in_flight == 0;
}

static uint16_t
doca_send(struct data_tx *tx, uint16_t n)
{
	struct data_doca *d = &tx->doca;
	uint64_t news;

	pump(tx, n);
	if (tx->sent == d->seen)
		doca_reap(tx);
	news = tx->sent - d->seen;
	d->seen = tx->sent;
	return (uint16_t)RTE_MIN(news, (uint64_t)UINT16_MAX);
}

static void
doca_tx_stop(struct data_tx *tx)
{
	struct data_doca *d = &tx->doca;

	d->stopping = true;
	if (d->stamped != NULL)
		d->free[d->nb_free++] = d->stamped;
	d->stamped = NULL;
	while (d->nb_free > 0)
		doca_task_free(doca_comch_producer_task_send_as_task(
			d->free[--d->nb_free]->send));
	doca_ctx_stop(d->ctx);
}

static bool
doca_tx_idle(const struct data_tx *tx)
{
	return link_doca_state(tx->doca.ctx) == DOCA_CTX_STATE_IDLE;
}

static void
doca_tx_destroy(struct data_tx *tx)
{
	doca_comch_producer_destroy(tx->doca_producer);
}

static void
doca_tx_stats(const struct data_tx *tx, struct perf_result *r)
{
	r->failed += tx->failed;
}

/* Consumers */

static void
rx_back(struct data_rx *rx, const struct data_doca_slot *slot)
{
	doca_error_t ret = DOCA_ERROR_SHUTDOWN;

	if (likely(!rx->stopping)) {
		if (slot->buf != NULL)
			doca_buf_reset_data_len(slot->buf);
		ret = doca_task_submit(doca_comch_consumer_task_post_recv_as_task(slot->recv));
		rx->failed += ret != DOCA_SUCCESS;
	}
	if (unlikely(ret != DOCA_SUCCESS))
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(slot->recv));
}

static void
on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct data_rx *rx = ctx_data.ptr;
	const struct perf_params *p = rx->params;
	const struct data_doca_slot *slot = task_data.ptr;
	uint32_t imm_len = doca_comch_consumer_task_post_recv_get_imm_data_len(task);
	size_t len = 0;

	if (slot->buf != NULL)
		doca_buf_get_data_len(slot->buf, &len);
	if (unlikely(len != p->size || imm_len != p->imm)) {
		rx->count++;
		rx->torn++;
	} else {
		data_check_msg(rx, slot->payload,
			doca_comch_consumer_task_post_recv_get_imm_data(task));
	}
	rx_back(rx, slot);
}

static void
on_not_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct data_rx *rx = ctx_data.ptr;

	(void)task_data;
	rx->failed += !rx->stopping;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static int
doca_rx_open(struct perf_run *run, struct data_rx *rx)
{
	rx->nb_bufs = rx->params->queue;
	return open_slots(run, &rx->doca, &rx->mem, rx->nb_bufs, rx->params->memory);
}

static int
doca_rx_create(struct perf_run *run, struct data_rx *rx, struct data_worker *w)
{
	struct data_doca *d = &rx->doca;

	if (!dev_doca_ok(run, doca_comch_consumer_create(run->link.conns[rx->conn], d->mmap,
			&rx->doca_consumer), "a consumer"))
		return -ECANCELED;
	d->ctx = doca_comch_consumer_as_ctx(rx->doca_consumer);
	return dev_doca_ok(run, doca_comch_consumer_set_imm_data_len(rx->doca_consumer,
			run->params.imm), "--imm") &&
		dev_doca_ok(run, doca_comch_consumer_task_post_recv_set_conf(rx->doca_consumer,
			on_received, on_not_received, rx->nb_bufs), "a consumer's tasks") &&
		begin(run, d, w->pe, rx) &&
		dev_doca_ok(run, doca_ctx_start(d->ctx), "starting a consumer") ?
		0 : -ECANCELED;
}

static bool
doca_rx_running(const struct data_rx *rx)
{
	return link_doca_state(rx->doca.ctx) == DOCA_CTX_STATE_RUNNING;
}

static uint32_t
doca_rx_id(const struct data_rx *rx)
{
	uint32_t id = 0;

	doca_comch_consumer_get_id(rx->doca_consumer, &id);
	return id;
}

static int
doca_rx_start(struct perf_run *run, struct data_rx *rx)
{
	uint32_t i;

	for (i = 0; i < rx->nb_bufs; i++) {
		struct data_doca_slot *slot = &rx->doca.slots[i];
		const union doca_data data = { .ptr = slot };
		struct doca_task *task;

		if (!dev_doca_ok(run, doca_comch_consumer_task_post_recv_alloc_init(
				rx->doca_consumer, slot->buf, &slot->recv), "a task"))
			return -ECANCELED;
		task = doca_comch_consumer_task_post_recv_as_task(slot->recv);
		doca_task_set_user_data(task, data);
		if (!dev_doca_ok(run, doca_task_submit(task), "posting a buffer")) {
			doca_task_free(task);
			return -ECANCELED;
		}
	}
	return 0;
}

static uint16_t
doca_recv(struct data_rx *rx, uint16_t n)
{
	struct data_doca *d = &rx->doca;
	uint64_t news;

	(void)n;
	doca_pe_progress(d->pe);
	news = rx->count - d->seen;
	d->seen = rx->count;
	return (uint16_t)RTE_MIN(news, (uint64_t)UINT16_MAX);
}

/* The callback has done so. */
static void
doca_repost(struct data_rx *rx)
{
	(void)rx;
}

static void
doca_rx_drain(struct data_rx *rx)
{
	doca_pe_progress(rx->doca.pe);
}

static void
doca_rx_stop(struct data_rx *rx)
{
	doca_ctx_stop(rx->doca.ctx);
}

static bool
doca_rx_idle(const struct data_rx *rx)
{
	return link_doca_state(rx->doca.ctx) == DOCA_CTX_STATE_IDLE;
}

static void
doca_rx_destroy(struct data_rx *rx)
{
	doca_comch_consumer_destroy(rx->doca_consumer);
}

static void
doca_rx_close(struct data_rx *rx)
{
	close_slots(&rx->doca, &rx->mem, rx->nb_bufs);
}

/* The library counts no copies for programs of DOCA. */
static void
doca_rx_stats(const struct data_rx *rx, struct perf_result *r)
{
	(void)rx;
	(void)r;
}

const struct data_ends data_ends_doca = {
	.worker_open = doca_worker_open,
	.worker_close = doca_worker_close,
	.worker_poll = doca_worker_poll,
	.worker_sleep = doca_worker_sleep,
	.rx_create = doca_rx_create,
	.tx_create = doca_tx_create,
	.rx_running = doca_rx_running,
	.rx_id = doca_rx_id,
	.rx_stop = doca_rx_stop,
	.tx_stop = doca_tx_stop,
	.rx_idle = doca_rx_idle,
	.tx_idle = doca_tx_idle,
	.rx_destroy = doca_rx_destroy,
	.tx_destroy = doca_tx_destroy,
	.rx_stats = doca_rx_stats,
	.tx_stats = doca_tx_stats,
};

const struct data_api data_api_doca = {
	.ends = &data_ends_doca,
	.tx_open = doca_tx_open,
	.tx_close = doca_tx_close,
	.prepare = doca_prepare,
	.send = doca_send,
	.reap = doca_reap,
	.rx_open = doca_rx_open,
	.rx_start = doca_rx_start,
	.recv = doca_recv,
	.repost = doca_repost,
	.rx_drain = doca_rx_drain,
	.rx_close = doca_rx_close,
};
