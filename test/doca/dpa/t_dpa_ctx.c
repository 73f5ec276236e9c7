/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * DPA contexts: set-up, extended ones, handles and faults.
 */

#include <stdlib.h>

#include "dpa/dpa.h"
#include "dpa/program.h"
#include "t_main.h"

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
foreign(uint64_t arg __rte_unused)
{
}

DPA_KERNEL(set_device_for_ever)
DPA_RPC(set_device)

static const struct comch_doca_dpa_func funcs[] = {
	DPA_FUNC(set_device_for_ever, 0),
	DPA_FUNC(set_device, 1),
};
DPA_APP(app, funcs);
DPA_APP(old_app, funcs);

T_CASE(null_is_refused)
{
	struct doca_dev *dev = host_dev(0);
	struct doca_dpa *dpa, *ext;
	doca_dpa_dev_log_level_t level;
	struct doca_dpa_app *got;
	unsigned long long time;
	unsigned int n;
	uint64_t handle;
	uint32_t len = 8;

	T_INVALID(doca_dpa_cap_is_supported(NULL));
	T_OK(doca_dpa_cap_is_supported(doca_dev_as_devinfo(dev)));
	T_REFUSES_NULL(doca_dpa_create, dev, &dpa);
	T_OK(doca_dpa_create(dev, &dpa));
	T_INVALID(doca_dpa_destroy(NULL));
	T_INVALID(doca_dpa_start(NULL));
	T_INVALID(doca_dpa_stop(NULL));
	T_REFUSES_NULL(doca_dpa_set_app, dpa, &app);
	T_REFUSES_NULL(doca_dpa_get_app, dpa, &got);
	T_INVALID(doca_dpa_app_get_name(NULL, NULL, &len));
	T_INVALID(doca_dpa_app_get_name(&app, NULL, NULL));
	T_INVALID(doca_dpa_set_log_level(NULL, DOCA_DPA_DEV_LOG_LEVEL_INFO));
	T_REFUSES_NULL(doca_dpa_get_log_level, dpa, &level);
	T_REFUSES_NULLS(doca_dpa_device_extend, dpa, dev, &ext);
	T_REFUSES_NULL(doca_dpa_get_dpa_handle, dpa, &handle);
	T_REFUSES_NULL(doca_dpa_get_max_threads_per_kernel, dpa, &n);
	T_REFUSES_NULL(doca_dpa_get_kernel_max_run_time, dpa, &time);
	T_INVALID(doca_dpa_peek_at_last_error(NULL));
	T_OK(doca_dpa_destroy(dpa));
	T_OK(doca_dev_close(dev));
}

T_CASE(the_order_of_calls)
{
	struct doca_dev *dev = host_dev(0);
	struct doca_dpa_app *got;
	struct doca_dpa *dpa;
	uint64_t handle;

	log_keep();
	T_OK(doca_dpa_create(dev, &dpa));
	/* It holds the device. */
	T_IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	T_INVALID(doca_dpa_get_app(dpa, &got));
	T_INVALID(doca_dpa_start(dpa));
	T_STR_HAS(log_kept(), "no application is set (call doca_dpa_set_app())");
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_get_dpa_handle(dpa, &handle), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_set_app(dpa, &app));
	T_OK(doca_dpa_get_app(dpa, &got));
	T_CHECK(got == &app);
	T_OK(doca_dpa_start(dpa));
	T_IS(doca_dpa_start(dpa), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_set_app(dpa, &app), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_set_log_level(dpa, DOCA_DPA_DEV_LOG_LEVEL_INFO), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_get_dpa_handle(dpa, &handle));
	T_OK(doca_dpa_peek_at_last_error(dpa));
	T_CHECK(impl_dpa_is_started(dpa));
	T_CHECK(impl_dpa_dev(dpa) == dev);
	T_OK(doca_dpa_stop(dpa));
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_start(dpa));
	/* It stops what it destroys. */
	T_OK(doca_dpa_destroy(dpa));
	T_OK(doca_dev_close(dev));
}

T_CASE(an_application_of_another_version_is_refused)
{
	struct doca_dev *dev = host_dev(0);
	struct doca_dpa *dpa;

	old_app.version = 999;
	log_keep();
	T_OK(doca_dpa_create(dev, &dpa));
	T_OK(doca_dpa_set_app(dpa, &old_app));
	T_IS(doca_dpa_start(dpa), DOCA_ERROR_DRIVER);
	T_STR_HAS(log_kept(), "has version 999, expected 1: rebuild it");
	T_OK(doca_dpa_set_app(dpa, &app));
	T_OK(doca_dpa_start(dpa));
	T_OK(doca_dpa_destroy(dpa));
	T_OK(doca_dev_close(dev));
}

T_CASE(names_and_figures)
{
	static const doca_dpa_dev_log_level_t levels[] = {
		DOCA_DPA_DEV_LOG_LEVEL_DISABLE, DOCA_DPA_DEV_LOG_LEVEL_ERROR,
		DOCA_DPA_DEV_LOG_LEVEL_WARNING, DOCA_DPA_DEV_LOG_LEVEL_INFO,
		DOCA_DPA_DEV_LOG_LEVEL_DEBUG,
	};
	struct doca_dev *dev = (dpa_program_table("dpa_max_run_ms = 1001\n"), host_dev(0));
	doca_dpa_dev_log_level_t level;
	unsigned long long time;
	struct doca_dpa *dpa;
	uint32_t len = 0;
	char name[8];
	unsigned int i, n;

	T_GETS(doca_dpa_app_get_name(&app, NULL, &len), len, 4);
	len = 3;
	T_INVALID(doca_dpa_app_get_name(&app, name, &len));
	T_EQ(len, 4);
	T_OK(doca_dpa_app_get_name(&app, name, &len));
	T_STR_EQ(name, "app");
	T_OK(doca_dpa_create(dev, &dpa));
	T_GETS(doca_dpa_get_log_level(dpa, &level), level, DOCA_DPA_DEV_LOG_LEVEL_INFO);
	for (i = 0; i < RTE_DIM(levels); i++) {
		T_OK(doca_dpa_set_log_level(dpa, levels[i]));
		T_GETS(doca_dpa_get_log_level(dpa, &level), level, levels[i]);
	}
	T_INVALID(doca_dpa_set_log_level(dpa, (doca_dpa_dev_log_level_t)20));
	T_INVALID(doca_dpa_set_log_level(dpa, (doca_dpa_dev_log_level_t)0));
	T_GETS(doca_dpa_get_max_threads_per_kernel(dpa, &n), n, 128);
	/* Rounded up. */
	T_GETS(doca_dpa_get_kernel_max_run_time(dpa, &time), time, 2);
	T_OK(doca_dpa_destroy(dpa));
	T_OK(doca_dev_close(dev));
}

/* behaviour: Q15 */
DPA_CASE(contexts_with_objects_do_not_stop, dpa)
{
	struct doca_dpa_completion *comp;
	struct doca_dpa_thread *thread;

	log_keep();
	T_OK(doca_dpa_thread_create(dpa, &thread));
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	T_STR_HAS(log_kept(), "cannot stop with 1 objects");
	T_OK(doca_dpa_completion_create(dpa, 1, &comp));
	T_OK(doca_dpa_thread_destroy(thread));
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	T_IS(doca_dpa_destroy(dpa), DOCA_ERROR_IN_USE);
	T_OK(doca_dpa_completion_destroy(comp));
	T_OK(impl_dpa_join(dpa));
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	impl_dpa_drop(dpa);
	T_OK(doca_dpa_stop(dpa));
	T_IS(impl_dpa_join(dpa), DOCA_ERROR_BAD_STATE);
	impl_dpa_hold(dpa);
	T_IS(doca_dpa_destroy(dpa), DOCA_ERROR_IN_USE);
	impl_dpa_drop(dpa);
	T_OK(doca_dpa_start(dpa));
}

DPA_CASE(functions_are_found, dpa)
{
	T_CHECK(impl_dpa_func(dpa, DPA_HOST_FUNC(set_device)) == &funcs[1]);
	T_CHECK(impl_dpa_func(dpa, DPA_HOST_FUNC(foreign)) == NULL);
}

T_CASE(extended_contexts)
{
	struct doca_dpa *dpa = dpa_program_start(&app), *ext, *none;
	struct doca_dev *dev = host_dev(1);
	doca_dpa_dev_log_level_t level;
	doca_dpa_dev_uintptr_t mem;
	struct doca_dpa_app *got;
	uint64_t handle, ret;
	uint32_t value = 5;

	T_OK(doca_dpa_device_extend(dpa, dev, &ext));
	T_IS(doca_dpa_device_extend(ext, dev, &none), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	T_CHECK(impl_dpa_dev(ext) == dev);
	T_CHECK(impl_dpa_is_same(dpa, ext));
	T_IS(doca_dpa_start(ext), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_set_app(ext, &app), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_get_app(ext, &got));
	T_CHECK(got == &app);
	T_IS(doca_dpa_set_log_level(ext, DOCA_DPA_DEV_LOG_LEVEL_INFO), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_dpa_get_log_level(ext, &level));
	T_IS(doca_dpa_log_file_set_path(ext, "x"), DOCA_ERROR_NOT_PERMITTED);
	/* Memory and device code are of both. */
	T_OK(doca_dpa_mem_alloc(ext, 4, &mem));
	T_OK(doca_dpa_h2d_memcpy(dpa, mem, &value, 4));
	T_OK(doca_dpa_mem_free(dpa, mem));
	T_OK(doca_dpa_get_dpa_handle(ext, &handle));
	T_OK(doca_dpa_rpc(dpa, DPA_HOST_FUNC(set_device), &ret, handle));
	T_EQ(ret, 3);
	T_OK(doca_dpa_rpc(ext, DPA_HOST_FUNC(set_device), &ret, handle));
	T_OK(doca_dpa_stop(ext));
	T_IS(doca_dpa_get_dpa_handle(ext, &handle), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_rpc(ext, DPA_HOST_FUNC(set_device), &ret, handle), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_destroy(ext));
	T_OK(doca_dpa_device_extend(dpa, dev, &ext));
	T_OK(doca_dpa_destroy(ext));
	T_OK(doca_dpa_stop(dpa));
	T_IS(doca_dpa_device_extend(dpa, dev, &ext), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_start(dpa));
	T_OK(doca_dev_close(dev));
	dpa_program_end(dpa);
}

/* A fault in an extended context is one of its base. */
T_CASE(a_context_of_another_accelerator_is_a_fault)
{
	struct doca_dpa *dpa = dpa_program_start(&app), *ext, *other;
	struct doca_dev *dev = host_dev(1);
	uint64_t handle, ret;

	log_keep();
	T_OK(doca_dpa_device_extend(dpa, dev, &ext));
	T_OK(doca_dpa_create(dev, &other));
	T_OK(doca_dpa_set_app(other, &app));
	T_OK(doca_dpa_start(other));
	T_CHECK(!impl_dpa_is_same(dpa, other));
	T_OK(doca_dpa_get_dpa_handle(other, &handle));
	T_IS(doca_dpa_rpc(ext, DPA_HOST_FUNC(set_device), &ret, handle), DOCA_ERROR_DRIVER);
	T_STR_HAS(log_kept(), "RPC set_device: doca_dpa_dev_device_set: handle is of a "
		"context of another");
	T_IS(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_peek_at_last_error(ext), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_peek_at_last_error(other));
	T_OK(doca_dpa_destroy(other));
	T_OK(doca_dpa_destroy(ext));
	T_OK(doca_dev_close(dev));
	dpa_program_end(dpa);
}

/* After one kernel's fault the others end as well, and none begins. */
DPA_CASE(a_fault_ends_all_device_code, dpa)
{
	struct kernel_thread polls, sleeps;
	uint64_t handle, ret;

	T_OK(doca_dpa_get_dpa_handle(dpa, &handle));
	kernel_thread_start(&polls, dpa, DPA_HOST_FUNC(set_device_for_ever), handle);
	kernel_thread_start(&sleeps, dpa, DPA_HOST_FUNC(set_device_for_ever), handle);
	T_OK(doca_dpa_thread_run(polls.thread));
	T_OK(doca_dpa_thread_run(sleeps.thread));
	doca_dpa_dev_thread_notify(polls.handle);
	T_AWAIT(nb_calls == 1);
	T_IS(doca_dpa_rpc(dpa, DPA_HOST_FUNC(set_device), &ret, UINT64_C(0)), DOCA_ERROR_DRIVER);
	T_IS(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_rpc(dpa, DPA_HOST_FUNC(set_device), &ret, handle), DOCA_ERROR_DRIVER);
	T_IS(doca_dpa_thread_run(polls.thread), DOCA_ERROR_DRIVER);
	doca_dpa_dev_thread_notify(sleeps.handle);
	kernel_thread_end(&polls);
	kernel_thread_end(&sleeps);
	T_EQ(nb_calls, 1);
	/* Even those that are started anew. */
	kernel_thread_start(&polls, dpa, DPA_HOST_FUNC(set_device_for_ever), handle);
	T_IS(doca_dpa_thread_run(polls.thread), DOCA_ERROR_DRIVER);
	kernel_thread_end(&polls);
	T_IS(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
}

T_CASE(handles_have_kinds_and_generations)
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
		T_CHECK(impl_dpa_handle_find(IMPL_DPA_CONSUMER, handles[i] | UINT32_MAX) == NULL);
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

T_CASE(bad_handles_are_told_of)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	uint64_t handle = impl_dpa_handle_create(IMPL_DPA_HASH_TABLE, &app);

	log_keep();
	T_CHECK(impl_dpa_object(self, IMPL_DPA_HASH_TABLE, handle, "f") == &app);
	impl_dpa_leave(self);
	self = impl_dpa_enter();
	T_CHECK(impl_dpa_object(self, IMPL_DPA_PRODUCER, handle, "f") == NULL);
	T_STR_HAS(log_kept(), "a host thread: f: handle 0x");
	T_STR_HAS(log_kept(), " is of a hash table, expected a producer");
	impl_dpa_handle_destroy(handle);
	self = impl_dpa_enter();
	T_CHECK(impl_dpa_object(self, IMPL_DPA_HASH_TABLE, handle, "g") == NULL);
	T_STR_HAS(log_kept(), ": the hash table is stopped or destroyed");
	self = impl_dpa_enter();
	T_CHECK(impl_dpa_object(self, IMPL_DPA_CONTEXT, 0, "h") == NULL);
	T_STR_HAS(log_kept(), "h: 0x0 is not a valid context handle");
	T_CHECK(!impl_dpa_is_over(self));
}
