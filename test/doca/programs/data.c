/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Each side sends 1 MiB to the other one's consumer. */

/* doca_buf.h comes by way of the inventory. behaviour: G11 */
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

#include "app.h"

#define LEN (1U << 20)

#ifdef DOCA_ARCH_DPU
#define MINE 0x5a
#define THEIRS 0xa5
#else
#define MINE 0xa5
#define THEIRS 0x5a
#endif

/* A producer or a consumer, and its memory. */
struct queue {
	uint8_t *addr;
	struct doca_mmap *mmap;
	struct doca_buf *buf;
	struct doca_ctx *ctx;
	bool done, failed;
};

struct data {
	struct app app;
	struct doca_buf_inventory *inv;
	struct CH(producer) *producer;
	struct CH(consumer) *consumer;
	struct queue out, in;
};

static void
on_put(struct PUT_TASK() *task, union doca_data task_data, union doca_data ctx_data)
{
	struct queue *q = (struct queue *)ctx_data.ptr;

	(void)task_data;
	q->done = true;
	doca_task_free(PUT_TASK(_as_task)(task));
}

static void
on_put_error(struct PUT_TASK() *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct queue *)ctx_data.ptr)->failed = true;
	on_put(task, task_data, ctx_data);
}

static void
on_got(struct POST_TASK() *task, union doca_data task_data, union doca_data ctx_data)
{
	struct queue *q = (struct queue *)ctx_data.ptr;

	(void)task_data;
	q->done = POST_TASK(_get_buf)(task) == q->buf;
	doca_task_free(POST_TASK(_as_task)(task));
}

static void
on_got_error(struct POST_TASK() *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct queue *)ctx_data.ptr)->failed = true;
	on_got(task, task_data, ctx_data);
}

static bool
get_memory(struct data *d, struct queue *q, int byte, uint32_t permissions)
{
	q->addr = (uint8_t *)malloc(LEN);
	if (q->addr == NULL)
		return false;
	memset(q->addr, byte, LEN);
	return !FAILS(doca_mmap_create(&q->mmap)) &&
		!FAILS(doca_mmap_add_dev(q->mmap, d->app.dev)) &&
		!FAILS(doca_mmap_set_permissions(q->mmap, permissions)) &&
		!FAILS(doca_mmap_set_memrange(q->mmap, q->addr, LEN)) &&
		!FAILS(doca_mmap_start(q->mmap)) &&
		!FAILS(doca_buf_inventory_buf_get_by_addr(d->inv, q->mmap, q->addr, LEN, &q->buf));
}

static bool
ready(struct data *d, struct queue *q, struct doca_ctx *ctx)
{
	const union doca_data data = { .ptr = q };

	q->ctx = ctx;
	return !FAILS(doca_pe_connect_ctx(d->app.pe, ctx)) &&
		!FAILS(doca_ctx_set_user_data(ctx, data));
}

static bool
open_queues(struct data *d)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(d->app.dev);

	if (FAILS(PRODUCER_CAP(info)) || FAILS(CONSUMER_CAP(info)) ||
			FAILS(doca_buf_inventory_create(2, &d->inv)) ||
			FAILS(doca_buf_inventory_start(d->inv)) ||
			!get_memory(d, &d->out, MINE, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY) ||
			!get_memory(d, &d->in, 0, DOCA_ACCESS_FLAG_PCI_READ_WRITE))
		return false;
	if (FAILS(CH(producer_create)(d->app.conn, &d->producer)) ||
			!ready(d, &d->out, CH(producer_as_ctx)(d->producer)) ||
			FAILS(PUT_TASK(_set_conf)(d->producer, on_put, on_put_error, DATA_TASKS)) ||
			FAILS(doca_ctx_start(d->out.ctx)))
		return false;
	if (FAILS(CH(consumer_create)(d->app.conn, d->in.mmap, &d->consumer)) ||
			!ready(d, &d->in, CH(consumer_as_ctx)(d->consumer)) ||
			FAILS(POST_TASK(_set_conf)(d->consumer, on_got, on_got_error,
				DATA_TASKS)) ||
			doca_ctx_start(d->in.ctx) != DOCA_ERROR_IN_PROGRESS)
		return false;
	app_until(&d->app, app_state(d->in.ctx) == DOCA_CTX_STATE_RUNNING || d->app.ended);
	return app_state(d->in.ctx) == DOCA_CTX_STATE_RUNNING;
}

static bool
close_queue(struct data *d, struct queue *q)
{
	if (q->ctx == NULL || app_state(q->ctx) == DOCA_CTX_STATE_IDLE)
		return true;
	(void)doca_ctx_stop(q->ctx);
	while (app_state(q->ctx) != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(d->app.pe);
	return !q->failed;
}

static bool
put_memory(struct queue *q)
{
	const bool good = (q->buf == NULL || !FAILS(doca_buf_dec_refcount(q->buf, NULL))) &&
		(q->mmap == NULL || !FAILS(doca_mmap_destroy(q->mmap)));

	free(q->addr);
	return good;
}

static bool
close_queues(struct data *d)
{
	bool good = close_queue(d, &d->out);

	good = close_queue(d, &d->in) && good;
	good = (d->producer == NULL || !FAILS(CH(producer_destroy)(d->producer))) && good;
	good = (d->consumer == NULL || !FAILS(CH(consumer_destroy)(d->consumer))) && good;
	good = put_memory(&d->out) && good;
	good = put_memory(&d->in) && good;
	return (d->inv == NULL || !FAILS(doca_buf_inventory_destroy(d->inv))) && good;
}

static bool
exchange(struct data *d)
{
	struct POST_TASK() *post;
	struct PUT_TASK() *put;
	doca_error_t ret;
	size_t i, len;

	if (FAILS(POST_TASK(_alloc_init)(d->consumer, d->in.buf, &post)) ||
			FAILS(doca_task_submit(POST_TASK(_as_task)(post))))
		return false;
	app_until(&d->app, d->app.consumer_id != 0 || d->app.ended);
	if (d->app.consumer_id == 0 || FAILS(doca_buf_set_data(d->out.buf, d->out.addr, LEN)) ||
			FAILS(PUT_TASK(_alloc_init)(d->producer, d->out.buf, NO_IMM
				d->app.consumer_id, &put)))
		return false;
	/* The peer may not have posted yet. */
	do {
		ret = doca_task_submit(PUT_TASK(_as_task)(put));
	} while (ret == DOCA_ERROR_AGAIN && !d->app.ended);
	if (FAILS(ret))
		return false;
	app_until(&d->app, (d->out.done && d->in.done) || d->app.ended);
	if (d->out.failed || d->in.failed || FAILS(doca_buf_get_data_len(d->in.buf, &len)) ||
			len != LEN)
		return false;
	for (i = 0; i < len && d->in.addr[i] == THEIRS; i++)
		;
	return i == len;
}

int
main(int argc, char **argv)
{
	struct data d;

	memset(&d, 0, sizeof(d));
	/* The last to say a text is the one that waits for the other to have all. */
	if (!app_open(&d.app, "data", argc, argv) || !open_queues(&d) || !exchange(&d) ||
			!app_send(&d.app, d.app.options.text))
		d.app.failed = true;
	app_until(&d.app, d.app.msg != NULL || d.app.ended);
	if (!close_queues(&d))
		d.app.failed = true;
	return app_close(&d.app);
}
