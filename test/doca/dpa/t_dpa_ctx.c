/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * DPA contexts: set-up, extended ones, handles and faults.
 */

#include <stdlib.h>

#include "dpa/dpa.h"
#include "t_main.h"
#include "dpa/program.h"

#define BAD DOCA_ERROR_BAD_STATE
#define INVALID DOCA_ERROR_INVALID_VALUE
#define IN_USE DOCA_ERROR_IN_USE

static atomic_uint nb_calls;

static void
set_device_for_ever(uint64_t arg)
{
	nb_calls++;
	for (;;)
		doca_dpa_dev_device_set(arg);
}

static uint64_t
set_device(uint64_t arg)
{
	doca_dpa_dev_device_set(arg);
	return 3;
}

static void foreign(uint64_t arg);
static void
foreign(uint64_t arg)
{
	RTE_SET_USED(arg);
}

TDPA_KERNEL(set_device_for_ever)
TDPA_RPC(set_device)

static const struct comch_doca_dpa_func funcs[] = {
	TDPA_FUNC(set_device_for_ever, 0),
	TDPA_FUNC(set_device, 1),
};
TDPA_APP(app, funcs);
TDPA_APP(old_app, funcs);

static void
null_is_refused(void)
{
	struct doca_dev *dev = tdpa_dev(0);
	struct doca_dpa *dpa, *ext;
	doca_dpa_dev_log_level_t level;
	struct doca_dpa_app *got;
	unsigned long long time;
	unsigned int n;
	uint64_t handle;
	uint32_t len = 8;

	TD_IS(doca_dpa_cap_is_supported(NULL), INVALID);
	TD_OK(doca_dpa_cap_is_supported(doca_dev_as_devinfo(dev)));
	TD_IS(doca_dpa_create(NULL, &dpa), INVALID);
	TD_IS(doca_dpa_create(dev, NULL), INVALID);
	TD_OK(doca_dpa_create(dev, &dpa));
	TD_IS(doca_dpa_destroy(NULL), INVALID);
	TD_IS(doca_dpa_start(NULL), INVALID);
	TD_IS(doca_dpa_stop(NULL), INVALID);
	TD_IS(doca_dpa_set_app(NULL, &app), INVALID);
	TD_IS(doca_dpa_set_app(dpa, NULL), INVALID);
	TD_IS(doca_dpa_get_app(NULL, &got), INVALID);
	TD_IS(doca_dpa_get_app(dpa, NULL), INVALID);
	TD_IS(doca_dpa_app_get_name(NULL, NULL, &len), INVALID);
	TD_IS(doca_dpa_app_get_name(&app, NULL, NULL), INVALID);
	TD_IS(doca_dpa_set_log_level(NULL, DOCA_DPA_DEV_LOG_LEVEL_INFO), INVALID);
	TD_IS(doca_dpa_get_log_level(NULL, &level), INVALID);
	TD_IS(doca_dpa_get_log_level(dpa, NULL), INVALID);
	TD_IS(doca_dpa_device_extend(NULL, dev, &ext), INVALID);
	TD_IS(doca_dpa_device_extend(dpa, NULL, &ext), INVALID);
	TD_IS(doca_dpa_device_extend(dpa, dev, NULL), INVALID);
	TD_IS(doca_dpa_get_dpa_handle(NULL, &handle), INVALID);
	TD_IS(doca_dpa_get_dpa_handle(dpa, NULL), INVALID);
	TD_IS(doca_dpa_get_max_threads_per_kernel(NULL, &n), INVALID);
	TD_IS(doca_dpa_get_max_threads_per_kernel(dpa, NULL), INVALID);
	TD_IS(doca_dpa_get_kernel_max_run_time(NULL, &time), INVALID);
	TD_IS(doca_dpa_get_kernel_max_run_time(dpa, NULL), INVALID);
	TD_IS(doca_dpa_peek_at_last_error(NULL), INVALID);
	TD_OK(doca_dpa_destroy(dpa));
	TD_OK(doca_dev_close(dev));
}

static void
the_order_of_calls(void)
{
	struct doca_dev *dev = tdpa_dev(0);
	struct doca_dpa_app *got;
	struct doca_dpa *dpa;
	uint64_t handle;

	tdpa_log_begin();
	TD_OK(doca_dpa_create(dev, &dpa));
	/* It holds the device. */
	TD_IS(doca_dev_close(dev), IN_USE);
	TD_IS(doca_dpa_get_app(dpa, &got), INVALID);
	TD_IS(doca_dpa_start(dpa), INVALID);
	T_STR_HAS(tdpa_log(), "needs an application: doca_dpa_set_app()");
	TD_IS(doca_dpa_stop(dpa), BAD);
	TD_IS(doca_dpa_get_dpa_handle(dpa, &handle), BAD);
	TD_OK(doca_dpa_set_app(dpa, &app));
	TD_OK(doca_dpa_get_app(dpa, &got));
	T_CHECK(got == &app);
	TD_OK(doca_dpa_start(dpa));
	TD_IS(doca_dpa_start(dpa), BAD);
	TD_IS(doca_dpa_set_app(dpa, &app), BAD);
	TD_IS(doca_dpa_set_log_level(dpa, DOCA_DPA_DEV_LOG_LEVEL_INFO), BAD);
	TD_OK(doca_dpa_get_dpa_handle(dpa, &handle));
	TD_OK(doca_dpa_peek_at_last_error(dpa));
	T_CHECK(impl_dpa_is_started(dpa));
	T_CHECK(impl_dpa_dev(dpa) == dev);
	TD_OK(doca_dpa_stop(dpa));
	TD_IS(doca_dpa_stop(dpa), BAD);
	TD_OK(doca_dpa_start(dpa));
	/* It stops what it destroys. */
	TD_OK(doca_dpa_destroy(dpa));
	TD_OK(doca_dev_close(dev));
}

static void
an_application_of_another_version_is_refused(void)
{
	struct doca_dev *dev = tdpa_dev(0);
	struct doca_dpa *dpa;

	old_app.version = 999;
	tdpa_log_begin();
	TD_OK(doca_dpa_create(dev, &dpa));
	TD_OK(doca_dpa_set_app(dpa, &old_app));
	TD_IS(doca_dpa_start(dpa), DOCA_ERROR_DRIVER);
	T_STR_HAS(tdpa_log(), "has version 999, this library takes 1: build it anew");
	TD_OK(doca_dpa_set_app(dpa, &app));
	TD_OK(doca_dpa_start(dpa));
	TD_OK(doca_dpa_destroy(dpa));
	TD_OK(doca_dev_close(dev));
}

static void
names_and_figures(void)
{
	static const doca_dpa_dev_log_level_t levels[] = {
		DOCA_DPA_DEV_LOG_LEVEL_DISABLE, DOCA_DPA_DEV_LOG_LEVEL_ERROR,
		DOCA_DPA_DEV_LOG_LEVEL_WARNING, DOCA_DPA_DEV_LOG_LEVEL_INFO,
		DOCA_DPA_DEV_LOG_LEVEL_DEBUG,
	};
	struct doca_dev *dev = (tdpa_table("dpa_max_run_ms = 1001\n"), tdpa_dev(0));
	doca_dpa_dev_log_level_t level;
	unsigned long long time;
	struct doca_dpa *dpa;
	uint32_t len = 0;
	char name[8];
	unsigned int i, n;

	TD_OK(doca_dpa_app_get_name(&app, NULL, &len));
	T_EQ(len, 4);
	len = 3;
	TD_IS(doca_dpa_app_get_name(&app, name, &len), INVALID);
	T_EQ(len, 4);
	TD_OK(doca_dpa_app_get_name(&app, name, &len));
	T_STR_EQ(name, "app");
	TD_OK(doca_dpa_create(dev, &dpa));
	TD_OK(doca_dpa_get_log_level(dpa, &level));
	T_EQ(level, DOCA_DPA_DEV_LOG_LEVEL_INFO);
	for (i = 0; i < RTE_DIM(levels); i++) {
		TD_OK(doca_dpa_set_log_level(dpa, levels[i]));
		TD_OK(doca_dpa_get_log_level(dpa, &level));
		T_EQ(level, levels[i]);
	}
	TD_IS(doca_dpa_set_log_level(dpa, (doca_dpa_dev_log_level_t)20), INVALID);
	TD_IS(doca_dpa_set_log_level(dpa, (doca_dpa_dev_log_level_t)0), INVALID);
	TD_OK(doca_dpa_get_max_threads_per_kernel(dpa, &n));
	T_EQ(n, 128);
	/* Rounded up. */
	TD_OK(doca_dpa_get_kernel_max_run_time(dpa, &time));
	T_EQ(time, 2);
	TD_OK(doca_dpa_destroy(dpa));
	TD_OK(doca_dev_close(dev));
}

/* behaviour: Q15 */
static void
contexts_with_objects_do_not_stop(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	struct doca_dpa_completion *comp;
	struct doca_dpa_thread *thread;

	tdpa_log_begin();
	TD_OK(doca_dpa_thread_create(dpa, &thread));
	TD_IS(doca_dpa_stop(dpa), IN_USE);
	T_STR_HAS(tdpa_log(), "with 1 objects that are not destroyed");
	TD_OK(doca_dpa_completion_create(dpa, 1, &comp));
	TD_OK(doca_dpa_thread_destroy(thread));
	TD_IS(doca_dpa_stop(dpa), IN_USE);
	TD_IS(doca_dpa_destroy(dpa), IN_USE);
	TD_OK(doca_dpa_completion_destroy(comp));
	TD_OK(impl_dpa_join(dpa));
	TD_IS(doca_dpa_stop(dpa), IN_USE);
	impl_dpa_drop(dpa);
	TD_OK(doca_dpa_stop(dpa));
	TD_IS(impl_dpa_join(dpa), BAD);
	impl_dpa_hold(dpa);
	TD_IS(doca_dpa_destroy(dpa), IN_USE);
	impl_dpa_drop(dpa);
	TD_OK(doca_dpa_start(dpa));
	tdpa_end(dpa);
}

static void
functions_are_found(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);

	T_CHECK(impl_dpa_func(dpa, TDPA_F(set_device)) == &funcs[1]);
	T_CHECK(impl_dpa_func(dpa, TDPA_F(foreign)) == NULL);
	tdpa_end(dpa);
}

static void
extended_contexts(void)
{
	struct doca_dpa *dpa = tdpa_start(&app), *ext, *none;
	struct doca_dev *dev = tdpa_dev(1);
	doca_dpa_dev_log_level_t level;
	doca_dpa_dev_uintptr_t mem;
	struct doca_dpa_app *got;
	uint64_t handle, ret;
	uint32_t value = 5;

	TD_OK(doca_dpa_device_extend(dpa, dev, &ext));
	TD_IS(doca_dpa_device_extend(ext, dev, &none), BAD);
	TD_IS(doca_dpa_stop(dpa), IN_USE);
	T_CHECK(impl_dpa_dev(ext) == dev);
	T_CHECK(impl_dpa_is_same(dpa, ext));
	TD_IS(doca_dpa_start(ext), BAD);
	TD_IS(doca_dpa_set_app(ext, &app), BAD);
	TD_OK(doca_dpa_get_app(ext, &got));
	T_CHECK(got == &app);
	TD_IS(doca_dpa_set_log_level(ext, DOCA_DPA_DEV_LOG_LEVEL_INFO), DOCA_ERROR_NOT_PERMITTED);
	TD_OK(doca_dpa_get_log_level(ext, &level));
	TD_IS(doca_dpa_log_file_set_path(ext, "x"), DOCA_ERROR_NOT_PERMITTED);
	/* Memory and device code are of both. */
	TD_OK(doca_dpa_mem_alloc(ext, 4, &mem));
	TD_OK(doca_dpa_h2d_memcpy(dpa, mem, &value, 4));
	TD_OK(doca_dpa_mem_free(dpa, mem));
	TD_OK(doca_dpa_get_dpa_handle(ext, &handle));
	TD_OK(doca_dpa_rpc(dpa, TDPA_F(set_device), &ret, handle));
	T_EQ(ret, 3);
	TD_OK(doca_dpa_rpc(ext, TDPA_F(set_device), &ret, handle));
	TD_OK(doca_dpa_stop(ext));
	TD_IS(doca_dpa_get_dpa_handle(ext, &handle), BAD);
	TD_IS(doca_dpa_rpc(ext, TDPA_F(set_device), &ret, handle), BAD);
	TD_OK(doca_dpa_destroy(ext));
	TD_OK(doca_dpa_device_extend(dpa, dev, &ext));
	TD_OK(doca_dpa_destroy(ext));
	TD_OK(doca_dpa_stop(dpa));
	TD_IS(doca_dpa_device_extend(dpa, dev, &ext), BAD);
	TD_OK(doca_dpa_start(dpa));
	TD_OK(doca_dev_close(dev));
	tdpa_end(dpa);
}

/* A fault in an extended context is one of its base. */
static void
a_context_of_another_accelerator_is_a_fault(void)
{
	struct doca_dpa *dpa = tdpa_start(&app), *ext, *other;
	struct doca_dev *dev = tdpa_dev(1);
	uint64_t handle, ret;

	tdpa_log_begin();
	TD_OK(doca_dpa_device_extend(dpa, dev, &ext));
	TD_OK(doca_dpa_create(dev, &other));
	TD_OK(doca_dpa_set_app(other, &app));
	TD_OK(doca_dpa_start(other));
	T_CHECK(!impl_dpa_is_same(dpa, other));
	TD_OK(doca_dpa_get_dpa_handle(other, &handle));
	TD_IS(doca_dpa_rpc(ext, TDPA_F(set_device), &ret, handle), DOCA_ERROR_DRIVER);
	T_STR_HAS(tdpa_log(), "RPC set_device: doca_dpa_dev_device_set: a context of another");
	TD_IS(doca_dpa_peek_at_last_error(dpa), BAD);
	TD_IS(doca_dpa_peek_at_last_error(ext), BAD);
	TD_OK(doca_dpa_peek_at_last_error(other));
	TD_OK(doca_dpa_destroy(other));
	TD_OK(doca_dpa_destroy(ext));
	TD_OK(doca_dev_close(dev));
	tdpa_end(dpa);
}

/* After one kernel's fault the others end as well, and none begins. */
static void
a_fault_ends_all_device_code(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	struct tdpa_thread polls, sleeps;
	uint64_t handle, ret;

	TD_OK(doca_dpa_get_dpa_handle(dpa, &handle));
	tdpa_thread_start(&polls, dpa, TDPA_F(set_device_for_ever), handle);
	tdpa_thread_start(&sleeps, dpa, TDPA_F(set_device_for_ever), handle);
	TD_OK(doca_dpa_thread_run(polls.thread));
	TD_OK(doca_dpa_thread_run(sleeps.thread));
	doca_dpa_dev_thread_notify(polls.handle);
	TDPA_UNTIL(nb_calls == 1);
	TD_IS(doca_dpa_rpc(dpa, TDPA_F(set_device), &ret, UINT64_C(0)), DOCA_ERROR_DRIVER);
	TD_IS(doca_dpa_peek_at_last_error(dpa), BAD);
	TD_IS(doca_dpa_rpc(dpa, TDPA_F(set_device), &ret, handle), DOCA_ERROR_DRIVER);
	TD_IS(doca_dpa_thread_run(polls.thread), DOCA_ERROR_DRIVER);
	doca_dpa_dev_thread_notify(sleeps.handle);
	tdpa_thread_end(&polls);
	tdpa_thread_end(&sleeps);
	T_EQ(nb_calls, 1);
	/* Even those that are started anew. */
	tdpa_thread_start(&polls, dpa, TDPA_F(set_device_for_ever), handle);
	TD_IS(doca_dpa_thread_run(polls.thread), DOCA_ERROR_DRIVER);
	tdpa_thread_end(&polls);
	TD_IS(doca_dpa_peek_at_last_error(dpa), BAD);
	tdpa_end(dpa);
}

static void
handles_have_kinds_and_generations(void)
{
	static char objs[3000];
	static uint64_t handles[RTE_DIM(objs)];
	unsigned int i;

	for (i = 0; i < RTE_DIM(objs); i++) {
		handles[i] = impl_dpa_handle_create(IMPL_DPA_CONSUMER, &objs[i]);
		T_NE(handles[i], 0);
	}
	for (i = 0; i < RTE_DIM(objs); i++) {
		T_CHECK(impl_dpa_handle_find(IMPL_DPA_CONSUMER, handles[i]) == &objs[i]);
		T_CHECK(impl_dpa_handle_find(IMPL_DPA_PRODUCER, handles[i]) == NULL);
		/* Neither another generation nor another entry. */
		T_CHECK(impl_dpa_handle_find(IMPL_DPA_CONSUMER,
			handles[i] + (UINT64_C(1) << 32)) == NULL);
		T_CHECK(impl_dpa_handle_find(IMPL_DPA_CONSUMER,
			handles[i] | UINT32_MAX) == NULL);
	}
	T_CHECK(impl_dpa_handle_find(IMPL_DPA_CONSUMER, 0) == NULL);
	impl_dpa_handle_destroy(0);
	impl_dpa_handle_destroy(UINT64_MAX);
	for (i = 0; i < RTE_DIM(objs); i += 2)
		impl_dpa_handle_destroy(handles[i]);
	/* Twice is once. */
	impl_dpa_handle_destroy(handles[0]);
	for (i = 0; i < RTE_DIM(objs) / 2; i++)
		T_NE(impl_dpa_handle_create(IMPL_DPA_CONSUMER, &objs[i]), 0);
	for (i = 0; i < RTE_DIM(objs); i++)
		T_CHECK((impl_dpa_handle_find(IMPL_DPA_CONSUMER, handles[i]) != NULL) ==
			(i % 2 == 1));
}

static void
bad_handles_are_told_of(void)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	uint64_t handle = impl_dpa_handle_create(IMPL_DPA_HASH_TABLE, &app);

	tdpa_log_begin();
	T_CHECK(impl_dpa_object(self, IMPL_DPA_HASH_TABLE, handle, "f") == &app);
	impl_dpa_leave(self);
	self = impl_dpa_enter();
	T_CHECK(impl_dpa_object(self, IMPL_DPA_PRODUCER, handle, "f") == NULL);
	T_STR_HAS(tdpa_log(), "a host thread: f: handle 0x");
	T_STR_HAS(tdpa_log(), " is of a hash table, not of a producer");
	impl_dpa_handle_destroy(handle);
	self = impl_dpa_enter();
	T_CHECK(impl_dpa_object(self, IMPL_DPA_HASH_TABLE, handle, "g") == NULL);
	T_STR_HAS(tdpa_log(), " is of a hash table that is stopped or destroyed");
	self = impl_dpa_enter();
	T_CHECK(impl_dpa_object(self, IMPL_DPA_CONTEXT, 0, "h") == NULL);
	T_STR_HAS(tdpa_log(), "h: 0x0 is no handle of a context");
	T_CHECK(!impl_dpa_is_over(self));
}

#define CASE(fn) { #fn, fn }

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		CASE(null_is_refused),
		CASE(the_order_of_calls),
		CASE(an_application_of_another_version_is_refused),
		CASE(names_and_figures),
		CASE(contexts_with_objects_do_not_stop),
		CASE(functions_are_found),
		CASE(extended_contexts),
		CASE(a_context_of_another_accelerator_is_a_fault),
		CASE(a_fault_ends_all_device_code),
		CASE(handles_have_kinds_and_generations),
		CASE(bad_handles_are_told_of),
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
