/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA DMA: copies within a process, and how accelerators start, fail and stop. */

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "accel/copier.h"
#include "t_main.h"

/* behaviour: Y1, Y2, Y4, Y6, Y9, C5 */
T_CASE(life)
{
	static const char *const roles[][2] = { { "dpu", "03:00.0" }, { "host", "b1:00.0" } };
	struct doca_buf *src, *dst;
	struct copier c;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		copier_create(&c, roles[i][0], roles[i][1]);
		T_OK(doca_dma_cap_task_memcpy_is_supported(doca_dev_as_devinfo(c.dev)));
		/* It is where a stop leads to. */
		T_OK(doca_ctx_stop(c.ctx));
		T_EQ(c.states.nb, 0);
		T_OK(doca_ctx_start(c.ctx));
		T_EQ(c.states.nb, 1);
		T_EQ(c.states.next[0], DOCA_CTX_STATE_RUNNING);
		T_EQ(doca_pe_progress(c.pe), 0);
		src = memory_buf(&c.src, 0, 64, true);
		dst = memory_buf(&c.dst, 0, 64, false);
		copier_submit(&c, src, dst);
		T_EQ(c.nb_done, 0);
		T_EQ(doca_pe_progress(c.pe), 1);
		T_EQ(c.nb_done, 1);
		T_EQ(doca_pe_progress(c.pe), 0);
		free_bufs(src, dst);
		copier_close(&c);
		state_log_check(&c.states);
	}
}

/* A copy reads it only. */
static void
check_source(const struct copier *c)
{
	unsigned int i;

	for (i = 0; i < COPIER_SIZE; i++)
		T_EQ(c->src.addr[i], copier_byte(i));
}

/* behaviour: B1, Y7 */
T_CASE(lengths)
{
	static const size_t lens[] = { 1, 7, 64, 4095, 4096, COPIER_SIZE };
	struct doca_buf *src, *dst;
	struct copier c;
	unsigned int i;

	copier_open(&c);
	for (i = 0; i < RTE_DIM(lens); i++) {
		memset(c.dst.addr, 0xee, COPIER_SIZE);
		src = memory_buf(&c.src, 0, lens[i], true);
		dst = memory_buf(&c.dst, 0, COPIER_SIZE, false);
		copier_submit(&c, src, dst);
		copier_wait(&c, i + 1);
		T_EQ(c.nb_done, i + 1);
		T_EQ(data_len(dst), lens[i]);
		T_EQ(data_len(src), lens[i]);
		T_EQ(memcmp(c.dst.addr, c.src.addr, lens[i]), 0);
		check_source(&c);
		T_CHECK(lens[i] == COPIER_SIZE || c.dst.addr[lens[i]] == 0xee);
		free_bufs(src, dst);
	}
	copier_close(&c);
}

/* A copy of many pieces, while an engine of its own does nothing else. behaviour: B1 */
T_CASE(long_copy)
{
	const size_t len = 5 * 1024 * 1024 + 3;
	struct doca_buf *src, *dst;
	struct memory from, to;
	struct copier c;
	size_t i;

	copier_open(&c);
	memory_create_new(&from, c.dev, len);
	memory_create_new(&to, c.dev, len);
	for (i = 0; i < len; i++)
		from.addr[i] = (uint8_t)(i * 7 + i / 255);
	src = memory_buf(&from, 0, len, true);
	dst = memory_buf(&to, 0, len, false);
	copier_submit(&c, src, dst);
	/* Not all in one progress: others of the engine would wait for it. */
	T_EQ(doca_pe_progress(c.pe), 0);
	T_EQ(data_len(dst), 0);
	copier_wait(&c, 1);
	T_EQ(data_len(dst), len);
	T_EQ(memcmp(from.addr, to.addr, len), 0);
	free_bufs(src, dst);
	memory_destroy(&from);
	memory_destroy(&to);
	copier_close(&c);
}

/* behaviour: B2 */
T_CASE(appends)
{
	struct doca_buf *src, *dst;
	struct copier c;

	copier_open(&c);
	src = memory_buf(&c.src, 10, 20, true);
	dst = memory_buf(&c.dst, 0, 100, false);
	T_OK(doca_buf_set_data(dst, c.dst.addr + 30, 5));
	copier_submit(&c, src, dst);
	copier_wait(&c, 1);
	T_EQ(data_len(dst), 25);
	T_EQ(memcmp(c.dst.addr + 35, c.src.addr + 10, 20), 0);
	T_EQ(c.dst.addr[34], 0);
	T_EQ(c.dst.addr[55], 0);
	/* At its data again, which begins at 30. */
	T_OK(doca_buf_reset_data_len(dst));
	copier_submit(&c, src, dst);
	copier_wait(&c, 2);
	T_EQ(data_len(dst), 20);
	T_EQ(memcmp(c.dst.addr + 30, c.src.addr + 10, 20), 0);
	/* Which is the head, if its data begins there. */
	T_OK(doca_buf_set_data(dst, c.dst.addr, 5));
	copier_submit(&c, src, dst);
	copier_wait(&c, 3);
	T_EQ(memcmp(c.dst.addr + 5, c.src.addr + 10, 20), 0);
	T_OK(doca_buf_reset_data_len(dst));
	copier_submit(&c, src, dst);
	copier_wait(&c, 4);
	T_EQ(data_len(dst), 20);
	T_EQ(memcmp(c.dst.addr, c.src.addr + 10, 20), 0);
	free_bufs(src, dst);
	copier_close(&c);
}

/* A list of bufs, from the first of these lengths to the last, 0, at distances of 1000. */
static struct doca_buf *
list_of(struct memory *mem, const size_t *lens, bool data)
{
	struct doca_buf *first = memory_buf(mem, 0, lens[0], data), *next;
	size_t i;

	for (i = 1; lens[i] > 0; i++) {
		next = memory_buf(mem, 1000 * i, lens[i], data);
		T_OK(doca_buf_chain_list(first, next));
	}
	return first;
}

static void
copies(struct copier *c, const struct doca_buf *src, struct doca_buf *dst)
{
	copier_submit(c, src, dst);
	copier_wait(c, 1);
	T_EQ(c->nb_done, 1);
}

/* behaviour: B3 */
T_CASE(lists)
{
	static const size_t from[] = { 100, 50, 300, 0 }, to[] = { 260, 400, 10, 0 };
	uint8_t want[450], got[450];
	struct doca_buf *src, *dst, *second, *third;
	struct copier c;

	copier_open(&c);
	src = list_of(&c.src, from, true);
	dst = list_of(&c.dst, to, false);
	copies(&c, src, dst);
	memcpy(want, c.src.addr, 100);
	memcpy(want + 100, c.src.addr + 1000, 50);
	memcpy(want + 150, c.src.addr + 2000, 300);
	memcpy(got, c.dst.addr, 260);
	memcpy(got + 260, c.dst.addr + 1000, 190);
	T_EQ(memcmp(want, got, sizeof(want)), 0);
	T_EQ(data_len(dst), 260);
	T_OK(doca_buf_get_next_in_list(dst, &second));
	T_EQ(data_len(second), 190);
	T_OK(doca_buf_get_next_in_list(second, &third));
	T_EQ(data_len(third), 0);
	T_EQ(c.dst.addr[2000], 0);
	free_bufs(src, dst);
	copier_close(&c);
}

/* All bytes find a place, and none is left. behaviour: B3 */
T_CASE(lists_of_one_size)
{
	static const size_t from[] = { 100, 50, 300, 0 }, to[] = { 260, 190, 0 };
	struct doca_buf *src, *dst, *second;
	struct copier c;

	copier_open(&c);
	src = list_of(&c.src, from, true);
	dst = list_of(&c.dst, to, false);
	copies(&c, src, dst);
	T_OK(doca_buf_get_next_in_list(dst, &second));
	T_EQ(data_len(dst), 260);
	T_EQ(data_len(second), 190);
	T_EQ(memcmp(c.dst.addr, c.src.addr, 100), 0);
	T_EQ(memcmp(c.dst.addr + 100, c.src.addr + 1000, 50), 0);
	T_EQ(memcmp(c.dst.addr + 150, c.src.addr + 2000, 110), 0);
	T_EQ(memcmp(c.dst.addr + 1000, c.src.addr + 2110, 190), 0);
	T_EQ(c.dst.addr[260], 0);
	T_EQ(c.dst.addr[1190], 0);
	free_bufs(src, dst);
	copier_close(&c);
}

static uint32_t
nb_free(struct memory *mem)
{
	uint32_t nb;

	T_OK(doca_buf_inventory_get_num_free_elements(mem->inv, &nb));
	return nb;
}

/* Programs free a task and its buffers in its callback, in either order. */
static void
free_bufs_first(struct copier *c, struct doca_dma_task_memcpy *task)
{
	/* The task names its source as one that it does not change. */
	struct doca_buf *src = (struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task);

	RTE_SET_USED(c);
	free_bufs(src, doca_dma_task_memcpy_get_dst(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void
free_task_first(struct copier *c, struct doca_dma_task_memcpy *task)
{
	struct doca_buf *src = (struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task);
	struct doca_buf *dst = doca_dma_task_memcpy_get_dst(task);

	RTE_SET_USED(c);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	free_bufs(src, dst);
}

/* behaviour: Y10 */
T_CASE(buffers_freed_in_the_callback)
{
	struct copier c;
	uint32_t src, dst;

	copier_open(&c);
	src = nb_free(&c.src);
	dst = nb_free(&c.dst);
	c.hook = free_bufs_first;
	copier_submit(&c, memory_buf(&c.src, 0, 10, true), memory_buf(&c.dst, 0, 10, false));
	T_EQ(nb_free(&c.src), src - 1);
	T_EQ(nb_free(&c.dst), dst - 1);
	copier_wait(&c, 1);
	T_EQ(nb_free(&c.src), src);
	T_EQ(nb_free(&c.dst), dst);
	c.hook = free_task_first;
	copier_submit(&c, memory_buf(&c.src, 0, 10, true), memory_buf(&c.dst, 0, 10, false));
	copier_wait(&c, 2);
	T_EQ(c.nb_done, 2);
	T_EQ(nb_free(&c.src), src);
	T_EQ(nb_free(&c.dst), dst);
	copier_close(&c);
}

/* behaviour: Y10, Y11 */
T_CASE(buffers_of_a_task)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst, *other;
	struct copier c;

	copier_open(&c);
	c.keep_tasks = true;
	src = memory_buf(&c.src, 0, 100, false);
	dst = memory_buf(&c.dst, 0, 100, false);
	/* No data in it yet. */
	task = copier_task(&c, src, dst);
	T_CHECK(doca_dma_task_memcpy_get_src(task) == src);
	T_CHECK(doca_dma_task_memcpy_get_dst(task) == dst);
	T_OK(doca_buf_set_data(src, c.src.addr + 3, 50));
	T_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	copier_wait(&c, 1);
	T_EQ(data_len(dst), 50);
	T_EQ(memcmp(c.dst.addr, c.src.addr + 3, 50), 0);
	/* The same buf once more, with other data, and another destination. */
	T_OK(doca_buf_set_data(src, c.src.addr + 7, 30));
	other = memory_buf(&c.dst, 200, 100, false);
	doca_dma_task_memcpy_set_src(task, src);
	doca_dma_task_memcpy_set_dst(task, other);
	T_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	copier_wait(&c, 2);
	T_EQ(memcmp(c.dst.addr + 200, c.src.addr + 7, 30), 0);
	/* The buffers are free before the task is. */
	free_bufs(src, dst);
	T_OK(doca_buf_dec_refcount(other, NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	copier_close(&c);
}

static void
stop_after_last(struct copier *c, struct doca_dma_task_memcpy *task)
{
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	if (c->nb_done < 3)
		return;
	T_IS(doca_ctx_stop(c->ctx), DOCA_ERROR_IN_PROGRESS);
	T_EQ(ctx_state(c->ctx), DOCA_CTX_STATE_STOPPING);
}

/* behaviour: Y3 */
T_CASE(stop_in_the_last_callback)
{
	struct doca_buf *src, *dst;
	unsigned int i;
	struct copier c;

	copier_open(&c);
	c.hook = stop_after_last;
	src = memory_buf(&c.src, 0, 10, true);
	dst = memory_buf(&c.dst, 0, 100, false);
	for (i = 0; i < 3; i++)
		copier_submit(&c, src, dst);
	T_WAIT(doca_pe_progress(c.pe), ctx_is_idle(c.ctx));
	T_EQ(c.nb_done, 3);
	T_EQ(c.nb_errors, 0);
	state_log_check(&c.states);
	/* Programs that clean up stop it once more. behaviour: Y4 */
	i = c.states.nb;
	T_OK(doca_ctx_stop(c.ctx));
	T_EQ(c.states.nb, i);
	T_CHECK(ctx_is_idle(c.ctx));
	free_bufs(src, dst);
	copier_close(&c);
}

/* behaviour: Y5 */
T_CASE(stop_with_tasks)
{
	struct doca_dma_task_memcpy *tasks[5];
	struct doca_buf *src, *dst;
	unsigned int i;
	struct copier c;

	copier_open(&c);
	c.keep_tasks = true;
	src = memory_buf(&c.src, 0, 10, true);
	dst = memory_buf(&c.dst, 0, 100, false);
	for (i = 0; i < 5; i++)
		tasks[i] = copier_submit(&c, src, dst);
	T_IS(doca_ctx_stop(c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_EQ(c.nb_errors, 0);
	copier_wait(&c, 5);
	T_EQ(c.nb_errors, 5);
	T_EQ(c.status, DOCA_ERROR_SHUTDOWN);
	T_EQ(data_len(dst), 0);
	T_SETTLE(doca_pe_progress(c.pe));
	T_EQ(ctx_state(c.ctx), DOCA_CTX_STATE_STOPPING);
	for (i = 0; i < 5; i++)
		doca_task_free(doca_dma_task_memcpy_as_task(tasks[i]));
	T_WAIT(doca_pe_progress(c.pe), ctx_is_idle(c.ctx));
	free_bufs(src, dst);
	copier_close(&c);
}

/* behaviour: Y13 */
T_CASE(a_failed_task_stops_the_context)
{
	struct doca_buf *src, *dst, *empty;
	struct copier c;
	unsigned int i;

	copier_open(&c);
	src = memory_buf(&c.src, 0, 10, true);
	empty = memory_buf(&c.src, 0, 10, false);
	dst = memory_buf(&c.dst, 0, COPIER_SIZE, false);
	for (i = 0; i < 255; i++)
		copier_submit(&c, i == 2 ? empty : src, dst);
	T_WAIT(doca_pe_progress(c.pe), ctx_is_idle(c.ctx));
	T_EQ(c.nb_done + c.nb_errors, 255);
	T_EQ(c.nb_done, 2);
	state_log_check(&c.states);
	/* It can be started again. */
	T_OK(doca_ctx_start(c.ctx));
	copier_submit(&c, src, dst);
	copier_wait(&c, 256);
	T_EQ(c.nb_done, 3);
	free_bufs(src, dst);
	T_OK(doca_buf_dec_refcount(empty, NULL));
	copier_close(&c);
}

/* What is wrong with a task shows when it runs; doca_task_try_submit() says it at once. */
static void
fails(struct copier *c, const struct doca_buf *src, struct doca_buf *dst, doca_error_t error)
{
	unsigned int nb_errors = c->nb_errors;
	struct doca_dma_task_memcpy *task = copier_task(c, src, dst);
	size_t n, len = data_len(dst);

	T_IS(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)), error);
	T_GETS(doca_ctx_get_num_inflight_tasks(c->ctx, &n), n, 0);
	T_SETTLE(doca_pe_progress(c->pe));
	T_EQ(c->nb_errors, nb_errors);
	T_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	T_WAIT(doca_pe_progress(c->pe), ctx_is_idle(c->ctx));
	T_EQ(c->nb_errors, nb_errors + 1);
	T_EQ(c->status, error);
	T_EQ(data_len(dst), len);
	memset(&c->states, 0, sizeof(c->states));
	T_OK(doca_ctx_start(c->ctx));
}

/* behaviour: B5, B6, Y7 */
T_CASE(bad_tasks)
{
	struct doca_buf *src, *dst, *other;
	struct memory read_only;
	struct copier c;

	copier_open(&c);
	memory_create(&read_only, c.dev, 100, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	src = memory_buf(&c.src, 0, 10, true);
	dst = memory_buf(&c.dst, 0, 100, false);

	/* No data. */
	other = memory_buf(&c.src, 0, 10, false);
	fails(&c, other, dst, DOCA_ERROR_INVALID_VALUE);
	T_OK(doca_buf_dec_refcount(other, NULL));
	/* Not enough room. */
	other = memory_buf(&c.dst, 0, 9, false);
	fails(&c, src, other, DOCA_ERROR_INVALID_VALUE);
	T_EQ(c.dst.addr[0], 0);
	T_OK(doca_buf_dec_refcount(other, NULL));
	/* The source is not to be written; it can be read. */
	other = memory_buf(&read_only, 0, 100, false);
	fails(&c, src, other, DOCA_ERROR_NOT_PERMITTED);
	T_EQ(read_only.addr[0], 0);
	T_OK(doca_buf_set_data(other, read_only.addr, 100));
	copier_submit(&c, other, dst);
	T_WAIT(doca_pe_progress(c.pe), c.nb_done == 1);
	T_OK(doca_buf_dec_refcount(other, NULL));
	T_OK(doca_buf_reset_data_len(dst));
	/* A byte in both. */
	other = memory_buf(&c.src, 9, 10, false);
	fails(&c, src, other, DOCA_ERROR_INVALID_VALUE);
	T_OK(doca_buf_dec_refcount(other, NULL));
	other = memory_buf(&c.src, 10, 10, false);
	copier_submit(&c, src, other);
	T_WAIT(doca_pe_progress(c.pe), c.nb_done == 2);
	/* One that was freed. */
	T_OK(doca_buf_dec_refcount(other, NULL));
	fails(&c, src, other, DOCA_ERROR_INVALID_VALUE);

	memory_destroy(&read_only);
	free_bufs(src, dst);
	copier_close(&c);
}

/* behaviour: B4 */
T_CASE(long_lists)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst, *next;
	uint32_t i, max;
	struct copier c;

	copier_open(&c);
	T_OK(doca_dma_cap_task_memcpy_get_max_buf_list_len(doca_dev_as_devinfo(c.dev), &max));
	T_GE(max, 2);
	src = memory_buf(&c.src, 0, 1, true);
	dst = memory_buf(&c.dst, 0, 4096, false);
	for (i = 2; i < max; i++) {
		next = memory_buf(&c.src, i, 1, true);
		T_OK(doca_buf_chain_list(src, next));
	}
	copier_submit(&c, src, dst);
	copier_wait(&c, 1);
	T_EQ(data_len(dst), max - 1);
	next = memory_buf(&c.src, 0, 1, true);
	T_OK(doca_buf_chain_list(src, next));
	task = copier_task(&c, src, dst);
	T_INVALID(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	T_INVALID(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)));
	/* It is the program's still, and the context runs. */
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	T_CHECK(ctx_is_running(c.ctx));
	free_bufs(src, dst);
	copier_close(&c);
}

/* Overlapping buffers are valid as long as the bytes that are copied do not overlap. */
T_CASE(beside_the_source)
{
	struct doca_buf *src, *dst, *full;
	struct copier c;
	size_t i;

	copier_open(&c);
	/* A full element within the source, and room that goes as far as the source, and beyond. */
	src = memory_buf(&c.src, 200, 100, true);
	full = memory_buf(&c.src, 250, 10, true);
	dst = memory_buf(&c.src, 0, 1000, false);
	T_OK(doca_buf_chain_list(full, dst));
	copier_submit(&c, src, full);
	copier_wait(&c, 1);
	T_EQ(c.nb_done, 1);
	for (i = 0; i < 100; i++)
		T_EQ(c.src.addr[i], c.src.addr[200 + i]);
	/* A byte more would come to it. */
	T_OK(doca_buf_reset_data_len(dst));
	T_OK(doca_buf_set_data(dst, c.src.addr, 101));
	copier_submit(&c, src, full);
	T_WAIT(doca_pe_progress(c.pe), c.nb_errors == 1);
	T_IS(c.status, DOCA_ERROR_INVALID_VALUE);
	free_bufs(src, full);
	copier_close(&c);
}

/* Many long copies leave others of the engine their turn, too: it is 1 MiB each time. */
T_CASE(long_ones_by_turns)
{
	struct memory big;
	struct doca_buf *src[4], *dst[4];
	struct copier c;
	unsigned int i;

	copier_open(&c);
	memory_create_new(&big, c.dev, 8 << 19);
	for (i = 0; i < 4; i++) {
		src[i] = memory_buf(&big, (size_t)i << 19, 1 << 19, true);
		dst[i] = memory_buf(&big, (size_t)(4 + i) << 19, 1 << 19, false);
		copier_submit(&c, src[i], dst[i]);
	}
	T_EQ(doca_pe_progress(c.pe), 1);
	T_EQ(c.nb_done, 2);
	T_EQ(doca_pe_progress(c.pe), 1);
	T_EQ(c.nb_done, 4);
	for (i = 0; i < 4; i++) {
		T_OK(doca_buf_dec_refcount(src[i], NULL));
		T_OK(doca_buf_dec_refcount(dst[i], NULL));
	}
	memory_destroy(&big);
	copier_close(&c);
}

/* The program may do that, though it must not. */
T_CASE(buffer_taken_away)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	struct copier c;

	copier_open(&c);
	src = memory_buf(&c.src, 0, 10, true);
	dst = memory_buf(&c.dst, 0, 10, false);
	task = copier_submit(&c, src, dst);
	doca_dma_task_memcpy_set_src(task, NULL);
	T_WAIT(doca_pe_progress(c.pe), c.nb_errors == 1);
	T_IS(c.status, DOCA_ERROR_INVALID_VALUE);
	free_bufs(src, dst);
	copier_close(&c);
}

static void
submit_again(struct copier *c, struct doca_dma_task_memcpy *task)
{
	if (c->nb_done == 1000)
		doca_task_free(doca_dma_task_memcpy_as_task(task));
	else
		T_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	T_OK(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
}

/* A task that is submitted in its callback leaves others of the engine their turn. */
T_CASE(resubmitted)
{
	struct doca_buf *src, *dst;
	struct copier c;

	copier_open(&c);
	c.hook = submit_again;
	src = memory_buf(&c.src, 0, 10, true);
	dst = memory_buf(&c.dst, 0, 10, false);
	copier_submit(&c, src, dst);
	T_EQ(doca_pe_progress(c.pe), 1);
	T_LE(c.nb_done, 32);
	T_WAIT(doca_pe_progress(c.pe), c.nb_done == 1000);
	free_bufs(src, dst);
	copier_close(&c);
}

/* The engine's descriptor is readable while there is something to copy. behaviour: E3 */
T_CASE(sleeping)
{
	struct doca_buf *src, *dst;
	doca_notification_handle_t fd;
	struct pollfd p;
	struct copier c;
	unsigned int i;

	copier_open(&c);
	T_OK(doca_pe_get_notification_handle(c.pe, &fd));
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	src = memory_buf(&c.src, 0, 10, true);
	dst = memory_buf(&c.dst, 0, 100, false);
	/* Submitted before the request, and after it. */
	for (i = 0; i < 2; i++) {
		if (i == 0)
			copier_submit(&c, src, dst);
		T_OK(doca_pe_request_notification(c.pe));
		T_EQ(poll(&p, 1, 0), i == 0);
		if (i == 1)
			copier_submit(&c, src, dst);
		T_EQ(poll(&p, 1, 0), 1);
		T_OK(doca_pe_clear_notification(c.pe, fd));
		copier_wait(&c, i + 1);
		T_OK(doca_pe_request_notification(c.pe));
		T_EQ(poll(&p, 1, 0), 0);
		T_OK(doca_pe_clear_notification(c.pe, fd));
	}
	free_bufs(src, dst);
	copier_close(&c);
}

/* A submitted task that is freed does not call back. behaviour: P16 */
T_CASE(freed_while_submitted)
{
	struct doca_dma_task_memcpy *tasks[COPIER_TASKS];
	struct doca_buf *src, *dst;
	struct copier c;
	unsigned int i;

	copier_open(&c);
	src = memory_buf(&c.src, 0, 10, true);
	dst = memory_buf(&c.dst, 0, 100, false);
	for (i = 0; i < COPIER_TASKS; i++)
		tasks[i] = copier_submit(&c, src, dst);
	T_IS(doca_dma_task_memcpy_alloc_init(c.dma, src, dst, (union doca_data){ .u64 = 0 },
		&tasks[0]), DOCA_ERROR_NO_MEMORY);
	for (i = 0; i < COPIER_TASKS; i++)
		doca_task_free(doca_dma_task_memcpy_as_task(tasks[i]));
	T_SETTLE(doca_pe_progress(c.pe));
	T_EQ(c.nb_done + c.nb_errors, 0);
	T_EQ(data_len(dst), 0);
	T_CHECK(ctx_is_running(c.ctx));
	copier_submit(&c, src, dst);
	copier_wait(&c, 1);
	free_bufs(src, dst);
	copier_close(&c);
}

/* Programs free memory that is registered still, once no task uses it. behaviour: Y8 */
T_CASE(memory_freed_first)
{
	struct doca_buf *src, *dst;
	struct memory from;
	struct copier c;

	copier_open(&c);
	memory_create_new(&from, c.dev, 1 << 20);
	src = memory_buf(&from, 0, 100, true);
	dst = memory_buf(&c.dst, 0, 100, false);
	copier_submit(&c, src, dst);
	copier_wait(&c, 1);
	free_bufs(src, dst);
	free(from.addr);
	from.addr = NULL;
	T_OK(doca_ctx_stop(c.ctx));
	memory_destroy(&from);
	copier_close(&c);
}
