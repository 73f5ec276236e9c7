/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Sync events with a location on the DPA: launches, and device code. */

#include <pthread.h>
#include <stdlib.h>

#include <doca_ctx.h>
#include <doca_dpa_dev_sync_event.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "common/context.h"
#include "common/file.h"
#include "dpa/call.h"
#include "t_main.h"

#define ALL UINT64_MAX
#define NB_THREADS 4
#define NB_ROUNDS 200

/* What launched kernels share. */
struct seen {
	doca_dpa_dev_sync_event_t handle;
	atomic_uint nb;
	_Atomic uint64_t least;
};

static doca_error_t
launch_set(struct dpa_calls *t, struct doca_sync_event *wait, uint64_t threshold,
		struct doca_sync_event *comp, uint64_t count, unsigned int nb,
		struct dpa_call_kernel *kernel)
{
	return doca_dpa_kernel_launch_update_set(t->dpa, wait, threshold, comp, count, nb,
		dpa_call_kernel_func(), (uint64_t)(uintptr_t)kernel);
}

static doca_error_t
launch_add(struct dpa_calls *t, struct doca_sync_event *wait, uint64_t threshold,
		struct doca_sync_event *comp, uint64_t count, unsigned int nb,
		struct dpa_call_kernel *kernel)
{
	return doca_dpa_kernel_launch_update_add(t->dpa, wait, threshold, comp, count, nb,
		dpa_call_kernel_func(), (uint64_t)(uintptr_t)kernel);
}

/* From the CPU to the DPA, not started. */
static struct doca_sync_event *
create_wait(struct dpa_calls *t)
{
	struct doca_sync_event *event;

	T_OK(doca_sync_event_create(&event));
	T_OK(doca_sync_event_add_publisher_location_cpu(event, t->dev));
	T_OK(doca_sync_event_add_subscriber_location_dpa(event, t->dpa));
	return event;
}

static struct doca_sync_event *
start_wait(struct dpa_calls *t)
{
	struct doca_sync_event *event = create_wait(t);

	T_OK(doca_sync_event_start(event));
	return event;
}

/* From the DPA to the CPU. */
static struct doca_sync_event *
start_comp(struct dpa_calls *t)
{
	struct doca_sync_event *event;

	T_OK(doca_sync_event_create(&event));
	T_OK(doca_sync_event_add_publisher_location_dpa(event, t->dpa));
	T_OK(doca_sync_event_add_subscriber_location_cpu(event, t->dev));
	T_OK(doca_sync_event_start(event));
	return event;
}

static doca_dpa_dev_sync_event_t
handle_of(struct dpa_calls *t, struct doca_sync_event *event)
{
	doca_dpa_dev_sync_event_t handle, again;

	T_OK(doca_sync_event_get_dpa_handle(event, t->dpa, &handle));
	T_OK(doca_sync_event_get_dpa_handle(event, t->dpa, &again));
	T_EQ(handle, again);
	return handle;
}

static uint64_t
value_of(struct doca_sync_event *event)
{
	uint64_t value;

	T_OK(doca_sync_event_get(event, &value));
	return value;
}

/* Kernels */

static void
see(void *arg)
{
	struct seen *seen = arg;
	uint64_t value;

	doca_dpa_dev_sync_event_get(seen->handle, &value);
	if (value < seen->least)
		seen->least = value;
	seen->nb++;
}

static void
wait_and_add(void *arg)
{
	struct seen *seen = arg;

	doca_dpa_dev_sync_event_wait_gt(seen->handle, 0, 1);
	doca_dpa_dev_sync_event_update_add(seen->handle, 2);
}

static void
wait_for_ever(void *arg)
{
	struct seen *seen = arg;

	seen->nb++;
	doca_dpa_dev_sync_event_wait_gt(seen->handle, ALL, ALL);
}

static void
fault(void *arg __rte_unused)
{
	doca_dpa_dev_thread_reschedule();
}

/* Launches */

/*
 * A program of NVIDIA does this: events that it has started are destroyed.
 * behaviour: H18
 */
DPA_CALLS_CASE(a_launch_waits_for_an_event_and_sets_another, t)
{
	struct doca_sync_event *wait = start_wait(t), *comp = start_comp(t);
	struct seen seen = { .handle = handle_of(t, wait), .least = ALL };
	struct dpa_call_kernel kernel = { see, &seen };

	T_OK(launch_set(t, wait, 4, comp, 10, NB_THREADS, &kernel));
	/* Not greater than 4. */
	T_OK(doca_sync_event_update_set(wait, 4));
	T_EQ(value_of(comp), 0);
	T_OK(doca_sync_event_update_set(wait, 5));
	T_OK(doca_sync_event_wait_gt(comp, 9, ALL));
	T_EQ(value_of(comp), 10);
	T_EQ(seen.nb, NB_THREADS);
	T_EQ(seen.least, 5);
	T_OK(doca_sync_event_destroy(comp));
	T_OK(doca_sync_event_destroy(wait));
}

/* behaviour: H18 */
DPA_CALLS_CASE(launches_add_to_an_event, t)
{
	struct doca_sync_event *comp = start_comp(t);
	struct seen seen = { .handle = handle_of(t, comp), .least = ALL };
	struct dpa_call_kernel kernel = { see, &seen };
	unsigned int i;

	for (i = 0; i < 3; i++)
		T_OK(launch_add(t, NULL, 0, comp, 5, 2, &kernel));
	T_OK(doca_sync_event_wait_eq_yield(comp, 15, ALL));
	T_EQ(seen.nb, 6);
	/* Without a completion event. */
	T_OK(launch_add(t, NULL, 0, NULL, 5, 2, &kernel));
	T_AWAIT(seen.nb == 8);
	T_EQ(value_of(comp), 15);
	T_OK(doca_sync_event_stop(comp));
	T_OK(doca_sync_event_destroy(comp));
}

/* The event is destroyed as soon as its update is seen, while the launch is about to end. */
DPA_CALLS_CASE(an_event_is_destroyed_once_its_update_is_seen, t)
{
	struct seen seen = { .least = ALL };
	struct dpa_call_kernel kernel = { see, &seen };
	struct doca_sync_event *comp;
	unsigned int i;

	for (i = 0; i < NB_ROUNDS; i++) {
		comp = start_comp(t);
		seen.handle = handle_of(t, comp);
		T_OK(launch_set(t, NULL, 0, comp, 1, 1, &kernel));
		T_OK(doca_sync_event_wait_gt(comp, 0, ALL));
		T_OK(doca_sync_event_destroy(comp));
	}
}

/* behaviour: H19 */
DPA_CALLS_CASE(events_of_a_launch_are_kept_until_the_context_stops, t)
{
	struct doca_sync_event *wait = start_wait(t), *comp = start_comp(t);
	struct seen seen = { .least = ALL };
	struct dpa_call_kernel kernel = { see, &seen };

	T_OK(launch_set(t, wait, 0, comp, 1, 2, &kernel));
	T_IS(doca_sync_event_stop(wait), DOCA_ERROR_IN_USE);
	T_IS(doca_sync_event_destroy(comp), DOCA_ERROR_IN_USE);
	T_STR_HAS(log_kept(), "sync event: cannot stop: 1 launched kernels wait for it");
	T_IS(doca_dpa_destroy(t->dpa), DOCA_ERROR_IN_USE);
	T_STR_HAS(log_kept(), "DPA context: cannot destroy: sync events have 2 locations on it");
	T_OK(doca_dpa_stop(t->dpa));
	T_STR_HAS(log_kept(), "ended before its event has come: the context stops");
	/* No kernel has run. */
	T_EQ(seen.nb, 0);
	T_EQ(value_of(comp), 0);
	T_IS(doca_dpa_destroy(t->dpa), DOCA_ERROR_IN_USE);
	T_OK(doca_sync_event_destroy(comp));
	T_OK(doca_sync_event_destroy(wait));
}

/* Its event has come, though none of its threads may have seen that. */
DPA_CALLS_CASE(a_stop_waits_for_a_launch_whose_event_has_come, t)
{
	struct doca_sync_event *wait = start_wait(t), *comp = start_comp(t);
	struct seen seen = { .handle = handle_of(t, wait), .least = ALL };
	struct dpa_call_kernel kernel = { see, &seen };

	T_OK(launch_set(t, wait, 0, comp, 1, 2, &kernel));
	T_OK(doca_sync_event_update_set(wait, 1));
	T_OK(doca_dpa_stop(t->dpa));
	T_EQ(seen.nb, 2);
	T_EQ(value_of(comp), 1);
	T_OK(doca_sync_event_destroy(comp));
	T_OK(doca_sync_event_destroy(wait));
}

/* behaviour: H19 */
DPA_CALLS_CASE(a_fault_ends_launches_without_an_update, t)
{
	struct doca_sync_event *wait = start_wait(t), *comp = start_comp(t);
	struct seen seen = { .least = ALL };
	struct dpa_call_kernel waiting = { see, &seen }, faulty = { fault, NULL };

	T_OK(launch_set(t, wait, 0, comp, 1, NB_THREADS, &waiting));
	T_OK(launch_set(t, NULL, 0, comp, 1, 1, &faulty));
	/* The first launch ends by itself. */
	T_AWAIT(doca_sync_event_stop(wait) == DOCA_SUCCESS);
	T_IS(doca_dpa_peek_at_last_error(t->dpa), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_stop(t->dpa));
	T_EQ(value_of(comp), 0);
	T_EQ(seen.nb, 0);
	T_OK(doca_sync_event_destroy(comp));
	T_OK(doca_sync_event_destroy(wait));
}

/* behaviour: H20 */
DPA_CALLS_CASE(wrong_events_are_refused, t)
{
	struct doca_sync_event *wait = start_wait(t), *comp = start_comp(t);
	struct doca_sync_event *idle = create_wait(t);
	struct seen seen = { .least = ALL };
	struct dpa_call_kernel kernel = { see, &seen };

	T_INVALID(launch_set(t, comp, 0, NULL, 0, 1, &kernel));
	T_STR_HAS(log_kept(), "kernel launch: its event to wait for, as a subscriber, has no "
		"location on this DPA");
	T_INVALID(launch_add(t, NULL, 0, wait, 0, 1, &kernel));
	T_INVALID(launch_add(t, wait, 0, wait, 0, 1, &kernel));
	T_IS(launch_set(t, idle, 0, comp, 0, 1, &kernel), DOCA_ERROR_BAD_STATE);
	/* None of them uses an event. */
	T_OK(doca_sync_event_stop(wait));
	T_OK(doca_sync_event_destroy(wait));
	T_OK(doca_sync_event_destroy(idle));
	T_OK(doca_sync_event_destroy(comp));
	T_EQ(seen.nb, 0);
}

/* Device code */

static uint64_t
use(void *arg)
{
	doca_dpa_dev_sync_event_t event = *(doca_dpa_dev_sync_event_t *)arg;
	uint64_t value;

	doca_dpa_dev_sync_event_get(event, &value);
	T_EQ(value, 0);
	doca_dpa_dev_sync_event_update_set(event, 0x10);
	doca_dpa_dev_sync_event_update_add(event, 0x02);
	doca_dpa_dev_sync_event_get(event, &value);
	T_EQ(value, 0x12);
	/* What is true: the mask is the counter's. */
	doca_dpa_dev_sync_event_wait_gt(event, 1, 0x0f);
	doca_dpa_dev_sync_event_update_add(event, -UINT64_C(0x12));
	return 1;
}

/* behaviour: H21 */
DPA_CALLS_CASE(device_code_uses_an_event, t)
{
	struct doca_sync_event *event = start_comp(t);
	doca_dpa_dev_sync_event_t handle = handle_of(t, event);

	T_EQ(dpa_call(t, use, &handle), 1);
	T_EQ(value_of(event), 0);
	T_OK(doca_sync_event_destroy(event));
}

/* behaviour: H21 */
DPA_CALLS_CASE(device_code_waits_for_the_cpu, t)
{
	struct doca_sync_event *event = start_wait(t), *comp = start_comp(t);
	struct seen seen = { .handle = handle_of(t, event) };
	struct dpa_call_kernel kernel = { wait_and_add, &seen };

	T_OK(launch_set(t, NULL, 0, comp, 1, 1, &kernel));
	/* The bit that the kernel waits for is not set yet. */
	T_OK(doca_sync_event_update_set(event, 4));
	T_OK(doca_sync_event_update_add(event, 1, NULL));
	T_OK(doca_sync_event_wait_eq_yield(comp, 1, ALL));
	T_EQ(value_of(event), 7);
	T_OK(doca_sync_event_destroy(event));
	T_OK(doca_sync_event_destroy(comp));
}

/* Its wait is a device call, in which a kernel can be ended. */
T_CASE(a_kernel_that_waits_is_ended)
{
	struct doca_sync_event *event;
	struct seen seen = { .nb = 0 };
	struct dpa_call_kernel kernel = { wait_for_ever, &seen };
	struct dpa_calls t;

	dpa_program_table("dpa_max_run_ms = 20\n");
	dpa_calls_open(&t);
	event = start_wait(&t);
	seen.handle = handle_of(&t, event);
	T_OK(launch_set(&t, NULL, 0, NULL, 0, 1, &kernel));
	T_AWAIT(seen.nb == 1);
	T_OK(doca_dpa_stop(t.dpa));
	T_OK(doca_sync_event_destroy(event));
	dpa_calls_close(&t);
}

static uint64_t
use_after_stop(void *arg)
{
	doca_dpa_dev_sync_event_update_add(*(doca_dpa_dev_sync_event_t *)arg, 1);
	return 0;
}

/* behaviour: H22 */
DPA_CALLS_CASE(a_stopped_event_is_a_fault, t)
{
	struct doca_sync_event *event = start_wait(t);
	doca_dpa_dev_sync_event_t handle = handle_of(t, event), later;

	T_OK(doca_sync_event_stop(event));
	T_OK(doca_sync_event_start(event));
	later = handle_of(t, event);
	T_NE(later, handle);
	T_EQ(dpa_call(t, use_after_stop, &later), 0);
	T_EQ(value_of(event), 1);
	dpa_call_faults(t, use_after_stop, &handle, "the sync event is stopped or destroyed");
	T_OK(doca_sync_event_destroy(event));
}

static uint64_t
wait_for_nothing(void *arg)
{
	doca_dpa_dev_sync_event_wait_gt(*(doca_dpa_dev_sync_event_t *)arg, 0, ALL);
	return 0;
}

DPA_CALLS_CASE(a_wrong_handle_is_a_fault, t)
{
	doca_dpa_dev_sync_event_t handle = 77;

	dpa_call_faults(t, wait_for_nothing, &handle, "0x4d is not a valid sync event handle");
}

/* behaviour: H20, H22 */
DPA_CALLS_CASE(handles_and_locations, t)
{
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event, *cpu;

	T_OK(doca_sync_event_create(&event));
	T_INVALID(doca_sync_event_add_publisher_location_dpa(NULL, t->dpa));
	T_INVALID(doca_sync_event_add_publisher_location_dpa(event, NULL));
	T_INVALID(doca_sync_event_add_subscriber_location_dpa(event, NULL));
	T_INVALID(doca_sync_event_add_subscriber_location_dpa(NULL, t->dpa));
	T_OK(doca_sync_event_add_publisher_location_dpa(event, t->dpa));
	T_OK(doca_sync_event_add_publisher_location_dpa(event, t->dpa));
	T_OK(doca_sync_event_add_subscriber_location_dpa(event, t->dpa));
	T_IS(doca_sync_event_get_dpa_handle(event, t->dpa, &handle), DOCA_ERROR_BAD_STATE);
	T_OK(doca_sync_event_start(event));
	T_IS(doca_sync_event_add_subscriber_location_dpa(event, t->dpa), DOCA_ERROR_BAD_STATE);
	T_INVALID(doca_sync_event_get_dpa_handle(NULL, t->dpa, &handle));
	T_INVALID(doca_sync_event_get_dpa_handle(event, NULL, &handle));
	T_INVALID(doca_sync_event_get_dpa_handle(event, t->dpa, NULL));
	T_NE(handle_of(t, event), 0);
	T_OK(doca_sync_event_destroy(event));

	T_OK(doca_sync_event_create(&cpu));
	T_OK(doca_sync_event_add_publisher_location_cpu(cpu, t->dev));
	T_OK(doca_sync_event_add_subscriber_location_cpu(cpu, t->dev));
	T_OK(doca_sync_event_start(cpu));
	T_IS(doca_sync_event_get_dpa_handle(cpu, t->dpa, &handle), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_sync_event_destroy(cpu));
}

static void
on_get(struct doca_sync_event_task_get *task __rte_unused,
		union doca_data task_data __rte_unused, union doca_data ctx_data __rte_unused)
{
	T_CHECK(!"a task that was not submitted");
}

static void
on_failed(struct doca_sync_event_task_get *task, union doca_data task_data __rte_unused,
		union doca_data ctx_data __rte_unused)
{
	doca_task_free(doca_sync_event_task_get_as_doca_task(task));
}

/* As a context: the same, and it is not stopped under a launch. */
DPA_CALLS_CASE(an_event_that_is_a_context, t)
{
	struct doca_sync_event *wait = create_wait(t);
	struct doca_ctx *ctx = doca_sync_event_as_ctx(wait);
	struct doca_sync_event *comp = start_comp(t);
	struct seen seen = { .least = ALL };
	struct dpa_call_kernel kernel = { see, &seen };
	struct doca_pe *pe;

	T_OK(doca_pe_create(&pe));
	T_OK(doca_pe_connect_ctx(pe, ctx));
	T_OK(doca_sync_event_task_get_set_conf(wait, on_get, on_get, 1));
	T_OK(doca_ctx_start(ctx));
	seen.handle = handle_of(t, wait);
	T_OK(launch_set(t, wait, 0, comp, 1, 1, &kernel));
	T_IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_USE);
	T_OK(doca_sync_event_update_set(wait, 1));
	T_OK(doca_sync_event_wait_gt(comp, 0, ALL));
	T_IS(doca_sync_event_destroy(wait), DOCA_ERROR_IN_USE);
	T_OK(doca_ctx_stop(ctx));
	T_OK(doca_sync_event_destroy(wait));
	T_OK(doca_sync_event_destroy(comp));
	T_OK(doca_pe_destroy(pe));
}

/* A task fails, and with it the context, while a launch waits for its event and updates it. */
T_CASE(an_event_that_fails_under_a_launch)
{
	const union doca_data none = { .u64 = 0 };
	struct doca_sync_event_task_get *task;
	struct seen seen = { .least = ALL };
	struct dpa_call_kernel kernel = { see, &seen };
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	struct dpa_calls t;
	uint64_t value;

	device_table_write("[device d]\npci = 03:00.0\n"
		"[function pf0]\npci = b1:00.0\nfault.error = 1\n");
	dpa_calls_open(&t);
	T_OK(doca_sync_event_create(&event));
	T_OK(doca_sync_event_add_publisher_location_cpu(event, t.dev));
	T_OK(doca_sync_event_add_publisher_location_dpa(event, t.dpa));
	T_OK(doca_sync_event_add_subscriber_location_dpa(event, t.dpa));
	ctx = doca_sync_event_as_ctx(event);
	T_OK(doca_pe_create(&pe));
	T_OK(doca_pe_connect_ctx(pe, ctx));
	T_OK(doca_sync_event_task_get_set_conf(event, on_failed, on_failed, 1));
	T_OK(doca_ctx_start(ctx));
	T_OK(launch_set(&t, event, 0, event, 1, 1, &kernel));
	T_OK(doca_sync_event_task_get_alloc_init(event, &value, none, &task));
	T_OK(doca_task_submit(doca_sync_event_task_get_as_doca_task(task)));
	T_WAIT(doca_pe_progress(pe), ctx_is_idle(ctx));
	T_OK(doca_sync_event_destroy(event));
	T_OK(doca_dpa_stop(t.dpa));
	T_EQ(seen.nb, 0);
	T_OK(doca_pe_destroy(pe));
	dpa_calls_close(&t);
}

DPA_CALLS_CASE(other_machines_are_not_supported, t)
{
	struct doca_sync_event_remote_net *remote;
	const uint8_t data[8] = { 0 };

	T_IS(doca_sync_event_remote_net_create_from_export(t->dev, data, sizeof(data), &remote),
		DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_sync_event_remote_net_create_from_export(NULL, data, 1, &remote));
	T_INVALID(doca_sync_event_remote_net_destroy(NULL));
}
