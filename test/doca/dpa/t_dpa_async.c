/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Async ops: copies by device code, and the elements that tell of them. */

#include <string.h>

#include <doca_dpa_dev_buf.h>
#include <doca_mmap.h>

#include "dpa/call.h"
#include "t_main.h"

#define USER 0xabcdef
#define LEN 256

/* Async ops on a completion, and memory to copy. */
struct ops {
	struct dpa_calls t;
	struct doca_dpa_completion *comp;
	doca_dpa_dev_completion_t comp_handle;
	struct doca_dpa_async_ops *ops;
	doca_dpa_dev_async_ops_t handle;
	struct doca_mmap *dst_mmap, *src_mmap;
	doca_dpa_dev_mmap_t dst, src;
	uint32_t flags;
	size_t len;
	uint8_t from[LEN], to[LEN];
};

static struct doca_mmap *
mmap_of(struct dpa_calls *t, void *addr, uint32_t permissions, doca_dpa_dev_mmap_t *handle)
{
	struct doca_mmap *mmap;

	T_OK(doca_mmap_create(&mmap));
	T_OK(doca_mmap_set_memrange(mmap, addr, LEN));
	T_OK(doca_mmap_set_permissions(mmap, permissions));
	T_OK(doca_mmap_add_dev(mmap, t->dev));
	T_OK(doca_mmap_start(mmap));
	T_OK(doca_mmap_dev_get_dpa_handle(mmap, t->dev, handle));
	return mmap;
}

static void
ops_open(struct ops *o, unsigned int comp_size, unsigned int queue_size)
{
	unsigned int i;

	dpa_calls_open(&o->t);
	o->comp = dpa_call_completion(&o->t, comp_size, NULL, &o->comp_handle);
	T_OK(doca_dpa_async_ops_create(o->t.dpa, queue_size, USER, &o->ops));
	T_OK(doca_dpa_async_ops_attach(o->ops, o->comp));
	T_OK(doca_dpa_async_ops_start(o->ops));
	T_OK(doca_dpa_async_ops_get_dpa_handle(o->ops, &o->handle));
	o->dst_mmap = mmap_of(&o->t, o->to, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &o->dst);
	o->src_mmap = mmap_of(&o->t, o->from, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &o->src);
	for (i = 0; i < LEN; i++)
		o->from[i] = (uint8_t)(i + 1);
	memset(o->to, 0, sizeof(o->to));
	o->flags = DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH;
	o->len = LEN;
}

static void
ops_close(struct ops *o)
{
	T_OK(doca_mmap_destroy(o->dst_mmap));
	T_OK(doca_mmap_destroy(o->src_mmap));
	T_OK(doca_dpa_async_ops_stop(o->ops));
	T_OK(doca_dpa_async_ops_destroy(o->ops));
	dpa_call_completion_destroy(o->comp);
	dpa_calls_close(&o->t);
}

/* How many elements there are; all are right, and acknowledged. */
static unsigned int
take_all(struct ops *o)
{
	doca_dpa_dev_completion_element_t element;
	unsigned int nb;

	for (nb = 0; doca_dpa_dev_get_completion(o->comp_handle, &element) == 1; nb++) {
		T_EQ(doca_dpa_dev_get_completion_type(element), DOCA_DPA_DEV_COMP_SEND);
		T_EQ(doca_dpa_dev_get_completion_user_data(element), USER);
		T_EQ(doca_dpa_dev_get_completion_immediate(element), 0);
	}
	doca_dpa_dev_completion_ack(o->comp_handle, nb);
	return nb;
}

static void
post(struct ops *o, uint32_t flags)
{
	doca_dpa_dev_post_memcpy(o->handle, o->dst, (uintptr_t)o->to, o->src,
		(uintptr_t)o->from, o->len, flags);
}

static uint64_t
copy(void *arg)
{
	struct ops *o = arg;

	post(o, o->flags);
	return take_all(o);
}

T_CASE(copies)
{
	struct ops o;

	ops_open(&o, 4, 4);
	o.len = LEN - 1;
	T_EQ(dpa_call(&o.t, copy, &o), 1);
	T_CHECK(memcmp(o.to, o.from, LEN - 1) == 0);
	T_EQ(o.to[LEN - 1], 0);
	o.len = 0;
	T_EQ(dpa_call(&o.t, copy, &o), 1);
	T_EQ(o.to[LEN - 1], 0);
	ops_close(&o);
}

static uint64_t
copy_part(void *arg)
{
	struct ops *o = arg;

	doca_dpa_dev_post_memcpy(o->handle, o->dst, (uintptr_t)o->to + 10, o->src,
		(uintptr_t)o->from + LEN - 20, 20, DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
	return take_all(o);
}

static uint64_t
copy_bufs(void *arg)
{
	struct ops *o = arg;
	struct doca_dpa_dev_buf bufs[2] = {
		{ .addr = (uintptr_t)o->to, .len = LEN, .mmap = o->dst },
	};
	struct doca_dpa_dev_buf_arr arr = { .bufs = bufs };
	doca_dpa_dev_buf_t src = doca_dpa_dev_buf_array_get_buf((uintptr_t)&arr, 1);

	T_EQ(src, (uintptr_t)&bufs[1]);
	doca_dpa_dev_buf_set_addr(src, (uintptr_t)o->from + 1);
	doca_dpa_dev_buf_set_len(src, 5);
	doca_dpa_dev_buf_set_mmap(src, o->src);
	T_EQ(doca_dpa_dev_buf_get_addr(src), (uintptr_t)o->from + 1);
	T_EQ(doca_dpa_dev_buf_get_len(src), 5);
	T_EQ(doca_dpa_dev_buf_get_mmap(src), o->src);
	doca_dpa_dev_post_buf_memcpy(o->handle, (uintptr_t)&bufs[0], src, o->flags);
	return take_all(o);
}

T_CASE(parts_and_bufs)
{
	struct ops o;

	ops_open(&o, 4, 4);
	T_EQ(dpa_call(&o.t, copy_part, &o), 1);
	T_CHECK(memcmp(o.to + 10, o.from + LEN - 20, 20) == 0);
	T_EQ(o.to[9], 0);
	T_EQ(o.to[30], 0);
	T_EQ(dpa_call(&o.t, copy_bufs, &o), 1);
	T_CHECK(memcmp(o.to, o.from + 1, 5) == 0);
	T_EQ(o.to[5], 0);
	ops_close(&o);
}

/* Which flags bring elements, and when. */
static uint64_t
use_flags(void *arg)
{
	const uint32_t later = DOCA_DPA_DEV_SUBMIT_FLAG_OPTIMIZE_REPORTS;
	const uint32_t flush = DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH;
	struct ops *o = arg;
	unsigned int i;

	post(o, DOCA_DPA_DEV_SUBMIT_FLAG_NONE);
	T_EQ(take_all(o), 1);
	post(o, flush);
	T_EQ(take_all(o), 1);
	post(o, later);
	post(o, later | flush);
	T_EQ(take_all(o), 0);
	/* It brings those that were deferred. */
	post(o, flush);
	T_EQ(take_all(o), 3);
	post(o, later);
	post(o, DOCA_DPA_DEV_SUBMIT_FLAG_NONE);
	T_EQ(take_all(o), 2);
	/* The queue is full: four operations. */
	for (i = 0; i < 3; i++)
		post(o, later);
	T_EQ(take_all(o), 0);
	post(o, later);
	T_EQ(take_all(o), 4);
	post(o, later);
	T_EQ(take_all(o), 0);
	return 1;
}

T_CASE(flags)
{
	struct ops o;

	ops_open(&o, 8, 3);
	T_EQ(dpa_call(&o.t, use_flags, &o), 1);
	ops_close(&o);
}

/* Elements that were deferred do not come after a stop. */
T_CASE(stop_with_deferred)
{
	struct ops o;

	ops_open(&o, 8, 3);
	o.flags = DOCA_DPA_DEV_SUBMIT_FLAG_OPTIMIZE_REPORTS;
	T_EQ(dpa_call(&o.t, copy, &o), 0);
	T_OK(doca_dpa_async_ops_stop(o.ops));
	T_OK(doca_dpa_async_ops_attach(o.ops, o.comp));
	T_OK(doca_dpa_async_ops_start(o.ops));
	T_OK(doca_dpa_async_ops_get_dpa_handle(o.ops, &o.handle));
	o.flags = DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH;
	T_EQ(dpa_call(&o.t, copy, &o), 1);
	ops_close(&o);
}

/* More elements than the completion has room for. */
static uint64_t
overrun(void *arg)
{
	struct ops *o = arg;
	unsigned int i;

	for (i = 0; i < 4; i++)
		post(o, o->flags);
	post(o, o->flags);
	T_FAIL("goes on after a fault");
	return 0;
}

T_CASE(no_room)
{
	struct ops o;

	ops_open(&o, 4, 4);
	dpa_call_faults(&o.t, overrun, &o, "doca_dpa_dev_post_memcpy: the completion is full");
	ops_close(&o);
}

static uint64_t
copy_to_source(void *arg)
{
	struct ops *o = arg;

	doca_dpa_dev_post_memcpy(o->handle, o->src, (uintptr_t)o->from, o->dst,
		(uintptr_t)o->to, 1, o->flags);
	return 0;
}

static uint64_t
copy_too_far(void *arg)
{
	struct ops *o = arg;

	doca_dpa_dev_post_memcpy(o->handle, o->dst, (uintptr_t)o->to, o->src,
		(uintptr_t)o->from + 1, LEN, o->flags);
	return 0;
}

static uint64_t
copy_to_short_buf(void *arg)
{
	struct ops *o = arg;
	struct doca_dpa_dev_buf dst = { .addr = (uintptr_t)o->to, .len = 2, .mmap = o->dst };
	struct doca_dpa_dev_buf src = { .addr = (uintptr_t)o->from, .len = 3, .mmap = o->src };

	doca_dpa_dev_post_buf_memcpy(o->handle, (uintptr_t)&dst, (uintptr_t)&src, o->flags);
	return 0;
}

static uint64_t
copy_no_buf(void *arg)
{
	struct ops *o = arg;
	struct doca_dpa_dev_buf src = { .addr = (uintptr_t)o->from, .len = 3, .mmap = o->src };

	doca_dpa_dev_post_buf_memcpy(o->handle, 0, (uintptr_t)&src, o->flags);
	return 0;
}

static uint64_t
copy_without_ops(void *arg)
{
	struct ops *o = arg;

	o->handle = 0;
	post(o, o->flags);
	return 0;
}

T_CASE(faults)
{
	static const struct {
		dpa_call_t fn;
		const char *text;
	} wrongs[] = {
		{ copy_to_source, "doca_dpa_dev_post_memcpy: mmap" },
		{ copy_to_source, "read-only" },
		{ copy_too_far, "is out of range" },
		{ copy_to_short_buf, "post_buf_memcpy: the destination is shorter" },
		{ copy_no_buf, "buffer handle is 0" },
		{ copy_without_ops, "0x0 is not a valid async ops handle" },
	};
	struct ops o;
	unsigned int i;

	for (i = 0; i < RTE_DIM(wrongs); i++) {
		ops_open(&o, 4, 4);
		dpa_call_faults(&o.t, wrongs[i].fn, &o, wrongs[i].text);
		T_EQ(o.from[0], 1);
		T_EQ(o.to[0], 0);
		ops_close(&o);
	}
}

/* Not a fault, but undefined on a card. */
T_CASE(overlap)
{
	struct ops o;
	unsigned int i;

	ops_open(&o, 4, 4);
	o.src = o.dst;
	for (i = 0; i < LEN; i++)
		o.to[i] = (uint8_t)i;
	doca_dpa_dev_post_memcpy(o.handle, o.dst, (uintptr_t)o.to + 1, o.dst, (uintptr_t)o.to,
		10, o.flags);
	for (i = 1; i <= 10; i++)
		T_EQ(o.to[i], i - 1);
	T_EQ(take_all(&o), 1);
	ops_close(&o);
}

T_CASE(arguments)
{
	struct doca_dpa_async_ops *ops;
	doca_dpa_dev_async_ops_t handle;
	doca_dpa_dev_completion_t comp_handle;
	struct doca_dpa_completion *comp, *other;
	unsigned int size = 0;
	uint64_t user = 0;
	struct dpa_calls t, u;

	dpa_calls_open(&t);
	dpa_calls_open(&u);
	comp = dpa_call_completion(&t, 4, NULL, &comp_handle);
	other = dpa_call_completion(&u, 4, NULL, &comp_handle);
	T_INVALID(doca_dpa_async_ops_create(NULL, 1, 0, &ops));
	T_INVALID(doca_dpa_async_ops_create(t.dpa, 0, 0, &ops));
	T_INVALID(doca_dpa_async_ops_create(t.dpa, (1u << 20) + 1, 0, &ops));
	T_INVALID(doca_dpa_async_ops_create(t.dpa, 1, 1u << 24, &ops));
	T_INVALID(doca_dpa_async_ops_create(t.dpa, 1, 0, NULL));
	/* behaviour: Q13 */
	T_OK(doca_dpa_async_ops_create(t.dpa, 5, (1u << 24) - 1, &ops));
	T_GETS(doca_dpa_async_ops_get_queue_size(ops, &size), size, 8);
	T_GETS(doca_dpa_async_ops_get_user_data(ops, &user), user, (1u << 24) - 1);
	T_REFUSES_NULL(doca_dpa_async_ops_get_queue_size, ops, &size);
	T_REFUSES_NULL(doca_dpa_async_ops_get_user_data, ops, &user);
	T_REFUSES_NULL(doca_dpa_async_ops_attach, ops, comp);
	T_INVALID(doca_dpa_async_ops_attach(ops, other));
	T_INVALID(doca_dpa_async_ops_start(NULL));
	T_INVALID(doca_dpa_async_ops_stop(NULL));
	T_INVALID(doca_dpa_async_ops_destroy(NULL));
	T_REFUSES_NULL(doca_dpa_async_ops_get_dpa_handle, ops, &handle);
	T_IS(doca_dpa_stop(t.dpa), DOCA_ERROR_IN_USE);
	T_OK(doca_dpa_async_ops_destroy(ops));
	dpa_call_completion_destroy(comp);
	dpa_call_completion_destroy(other);
	dpa_calls_close(&t);
	dpa_calls_close(&u);
}

DPA_CALLS_CASE(states, t)
{
	struct doca_dpa_completion *comp, *other;
	doca_dpa_dev_completion_t comp_handle;
	doca_dpa_dev_async_ops_t handle, first;
	struct doca_dpa_async_ops *ops;

	T_OK(doca_dpa_async_ops_create(t->dpa, 4, 1, &ops));
	T_OK(doca_dpa_completion_create(t->dpa, 4, &comp));
	other = dpa_call_completion(t, 4, NULL, &comp_handle);
	T_IS(doca_dpa_async_ops_attach(ops, comp), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_async_ops_start(ops), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_async_ops_stop(ops), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_async_ops_get_dpa_handle(ops, &handle), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_completion_start(comp));
	/* What is attached is in use; and only the last one is. */
	T_OK(doca_dpa_async_ops_attach(ops, comp));
	T_IS(doca_dpa_completion_stop(comp), DOCA_ERROR_IN_USE);
	T_OK(doca_dpa_async_ops_attach(ops, comp));
	T_OK(doca_dpa_async_ops_attach(ops, other));
	T_OK(doca_dpa_completion_stop(comp));
	T_IS(doca_dpa_completion_stop(other), DOCA_ERROR_IN_USE);
	T_OK(doca_dpa_async_ops_start(ops));
	T_IS(doca_dpa_async_ops_start(ops), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_async_ops_attach(ops, other), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_async_ops_get_dpa_handle(ops, &first));
	T_OK(doca_dpa_async_ops_stop(ops));
	T_IS(doca_dpa_async_ops_get_dpa_handle(ops, &handle), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_async_ops_start(ops), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_async_ops_attach(ops, other));
	T_OK(doca_dpa_async_ops_start(ops));
	T_OK(doca_dpa_async_ops_get_dpa_handle(ops, &handle));
	T_CHECK(handle != first);
	/* Destroyed without a stop. */
	T_OK(doca_dpa_async_ops_destroy(ops));
	T_OK(doca_dpa_async_ops_create(t->dpa, 4, 1, &ops));
	T_OK(doca_dpa_async_ops_attach(ops, other));
	T_OK(doca_dpa_async_ops_destroy(ops));
	dpa_call_completion_destroy(other);
	T_OK(doca_dpa_completion_destroy(comp));
}

T_CASE(handle_dies)
{
	struct ops o;

	ops_open(&o, 4, 4);
	T_OK(doca_dpa_async_ops_stop(o.ops));
	dpa_call_faults(&o.t, copy, &o, ": the async ops is stopped or destroyed");
	T_OK(doca_dpa_async_ops_attach(o.ops, o.comp));
	T_OK(doca_dpa_async_ops_start(o.ops));
	ops_close(&o);
}

/* A thread that waits for a notification of the copies. */
struct waiter {
	struct ops *o;
	atomic_uint nb;
};

static void
wait_for_copies(void *arg)
{
	struct waiter *w = arg;

	atomic_fetch_add(&w->nb, take_all(w->o));
	doca_dpa_dev_completion_request_notification(w->o->comp_handle);
	doca_dpa_dev_thread_reschedule();
}

static uint64_t
only_post(void *arg)
{
	struct ops *o = arg;

	post(o, o->flags);
	return 0;
}

T_CASE(activates_a_thread)
{
	struct ops o;
	struct waiter w = { &o, 0 };
	struct dpa_call_kernel kernel = { wait_for_copies, &w };
	struct doca_dpa_thread *thread;
	unsigned int i;

	ops_open(&o, 64, 4);
	T_OK(doca_dpa_async_ops_stop(o.ops));
	dpa_call_completion_destroy(o.comp);
	thread = dpa_call_thread(&o.t, &kernel);
	o.comp = dpa_call_completion(&o.t, 64, thread, &o.comp_handle);
	T_OK(doca_dpa_async_ops_attach(o.ops, o.comp));
	T_OK(doca_dpa_async_ops_start(o.ops));
	T_OK(doca_dpa_async_ops_get_dpa_handle(o.ops, &o.handle));
	T_OK(doca_dpa_thread_run(thread));
	o.len = 16;
	for (i = 1; i <= 1000; i++) {
		dpa_call(&o.t, only_post, &o);
		if (i % 32 == 0)
			T_AWAIT(atomic_load(&w.nb) == i);
	}
	T_AWAIT(atomic_load(&w.nb) == 1000);
	T_OK(doca_dpa_thread_stop(thread));
	T_OK(doca_dpa_async_ops_stop(o.ops));
	dpa_call_completion_destroy(o.comp);
	T_OK(doca_dpa_thread_destroy(thread));
	o.comp = dpa_call_completion(&o.t, 4, NULL, &o.comp_handle);
	T_OK(doca_dpa_async_ops_attach(o.ops, o.comp));
	T_OK(doca_dpa_async_ops_start(o.ops));
	ops_close(&o);
}
