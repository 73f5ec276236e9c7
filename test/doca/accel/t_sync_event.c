/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA sync events within a process: functions, tasks, states and arguments. */

#include <limits.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_pe.h>
#include <doca_sync_event.h>

#include "common/context.h"
#include "common/device.h"
#include "common/result.h"
#include "t_main.h"

#define ALL UINT64_MAX

/* What happened to the tasks of an event. */
struct events {
	struct state_log states; /* first */
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	unsigned int nb_done, nb_errors;
	doca_error_t status;
	struct doca_task *last;
	unsigned int again;  /* submits of wait_neq tasks by their callback, which are left */
	unsigned int nb_again;
};

static void
note(struct events *e, struct doca_task *task)
{
	e->last = task;
	e->status = doca_task_get_status(task);
	if (e->status == DOCA_SUCCESS)
		e->nb_done++;
	else
		e->nb_errors++;
}

#define CALLBACK(name) \
	static void \
	on_##name(struct doca_sync_event_task_##name *task, union doca_data task_data, \
			union doca_data ctx_data) \
	{ \
		struct doca_task *t = doca_sync_event_task_##name##_as_doca_task(task); \
		T_EQ(task_data.u64, 17); \
		note(ctx_data.ptr, t); \
		doca_task_free(t); \
	}

CALLBACK(get)
CALLBACK(notify_set)
CALLBACK(notify_add)
CALLBACK(wait_eq)

static void
on_wait_neq(struct doca_sync_event_task_wait_neq *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct doca_task *t = doca_sync_event_task_wait_neq_as_doca_task(task);
	struct events *e = ctx_data.ptr;

	T_EQ(task_data.u64, 17);
	if (e->again > 0) {
		e->again--;
		e->nb_again++;
		T_OK(doca_task_submit(t));
		return;
	}
	note(e, t);
	doca_task_free(t);
}

static const union doca_data user_data = { .u64 = 17 };

static void
event_create(struct events *e)
{
	*e = (struct events){ .dev = dev_open("dpu", "03:00.0") };
	T_OK(doca_sync_event_create(&e->event));
	T_OK(doca_sync_event_add_publisher_location_cpu(e->event, e->dev));
	T_OK(doca_sync_event_add_subscriber_location_cpu(e->event, e->dev));
	e->ctx = doca_sync_event_as_ctx(e->event);
}

/* As a context, started. */
static void
event_open(struct events *e)
{
	event_create(e);
	T_OK(doca_pe_create(&e->pe));
	T_OK(doca_pe_connect_ctx(e->pe, e->ctx));
	T_OK(doca_ctx_set_user_data(e->ctx, (union doca_data){ .ptr = e }));
	T_OK(doca_ctx_set_state_changed_cb(e->ctx, state_log_note));
	T_OK(doca_sync_event_task_get_set_conf(e->event, on_get, on_get, 4));
	T_OK(doca_sync_event_task_notify_set_set_conf(e->event, on_notify_set, on_notify_set, 4));
	T_OK(doca_sync_event_task_notify_add_set_conf(e->event, on_notify_add, on_notify_add, 4));
	T_OK(doca_sync_event_task_wait_eq_set_conf(e->event, on_wait_eq, on_wait_eq, 0));
	T_OK(doca_sync_event_task_wait_neq_set_conf(e->event, on_wait_neq, on_wait_neq, 4));
	T_OK(doca_ctx_start(e->ctx));
	T_CHECK(ctx_is_running(e->ctx));
}

static void
event_close(struct events *e)
{
	if (e->pe != NULL && !ctx_is_idle(e->ctx)) {
		doca_ctx_stop(e->ctx);
		T_WAIT(doca_pe_progress(e->pe), ctx_is_idle(e->ctx));
	}
	T_OK(doca_sync_event_destroy(e->event));
	if (e->pe != NULL) {
		state_log_check(&e->states);
		T_OK(doca_pe_destroy(e->pe));
	}
	T_OK(doca_dev_close(e->dev));
}

#define EVENT_CASE(name) T_CASE_OF(struct events, event_open, event_close, name, e)

static void
submit(struct doca_task *task)
{
	T_OK(doca_task_submit(task));
}

static struct doca_task *
wait_eq(struct events *e, uint64_t value)
{
	struct doca_sync_event_task_wait_eq *task;

	T_OK(doca_sync_event_task_wait_eq_alloc_init(e->event, value, ALL, user_data, &task));
	return doca_sync_event_task_wait_eq_as_doca_task(task);
}

/* behaviour: H1, H2, H4, H10 */
T_CASE(functions)
{
	struct events e;
	uint64_t value = 1;

	event_create(&e);
	T_IS(doca_sync_event_get(e.event, &value), DOCA_ERROR_BAD_STATE);
	/* Without an engine, which a context needs. */
	T_IS(doca_ctx_start(e.ctx), DOCA_ERROR_NOT_CONNECTED);
	T_OK(doca_sync_event_start(e.event));
	T_GETS(doca_sync_event_get(e.event, &value), value, 0);
	T_GETS(doca_sync_event_update_add(e.event, 1, &value), value, 0);
	T_OK(doca_sync_event_update_add(e.event, 1, NULL));
	T_GETS(doca_sync_event_get(e.event, &value), value, 2);
	T_OK(doca_sync_event_update_set(e.event, 7));
	T_GETS(doca_sync_event_get(e.event, &value), value, 7);
	/* What is true. */
	T_OK(doca_sync_event_wait_eq(e.event, 7, ALL));
	T_OK(doca_sync_event_wait_eq_yield(e.event, 7, ALL));
	T_OK(doca_sync_event_wait_gt(e.event, 6, ALL));
	T_OK(doca_sync_event_wait_gt_yield(e.event, 6, ALL));
	T_OK(doca_sync_event_wait_neq(e.event, 6, ALL));
	T_OK(doca_sync_event_wait_neq_yield(e.event, 6, ALL));
	T_OK(doca_sync_event_wait_eq(e.event, 3, 3));
	T_OK(doca_sync_event_stop(e.event));
	T_IS(doca_sync_event_stop(e.event), DOCA_ERROR_BAD_STATE);
	/* A new start is a new counter. */
	T_OK(doca_sync_event_start(e.event));
	T_IS(doca_sync_event_start(e.event), DOCA_ERROR_BAD_STATE);
	T_GETS(doca_sync_event_get(e.event, &value), value, 0);
	/* Started. */
	event_close(&e);
}

/* A child has no events: no function of it waits, or ends it. */
T_CASE(forked)
{
	struct events e;
	uint64_t value;
	int status;
	pid_t pid;

	event_create(&e);
	T_OK(doca_sync_event_add_publisher_location_remote_pci(e.event));
	T_OK(doca_sync_event_start(e.event));
	pid = fork();
	if (pid == 0) {
		T_IS(doca_sync_event_get(e.event, &value), DOCA_ERROR_BAD_STATE);
		T_IS(doca_sync_event_update_set(e.event, 1), DOCA_ERROR_BAD_STATE);
		T_IS(doca_sync_event_update_add(e.event, 1, NULL), DOCA_ERROR_BAD_STATE);
		T_IS(doca_sync_event_wait_gt(e.event, 0, ALL), DOCA_ERROR_BAD_STATE);
		T_IS(doca_sync_event_wait_eq_yield(e.event, 1, ALL), DOCA_ERROR_BAD_STATE);
		T_IS(doca_sync_event_stop(e.event), DOCA_ERROR_BAD_STATE);
		T_IS(doca_sync_event_destroy(e.event), DOCA_ERROR_BAD_STATE);
		_exit(0);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	T_GETS(doca_sync_event_get(e.event, &value), value, 0);
	event_close(&e);
}

/* behaviour: H3, H11 */
EVENT_CASE(tasks)
{
	struct doca_sync_event_task_get *get;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_wait_neq *neq;
	uint64_t got = 0, fetched = 0;

	T_OK(doca_sync_event_task_notify_set_alloc_init(e->event, 5, user_data, &set));
	T_OK(doca_sync_event_task_notify_add_alloc_init(e->event, 2, &fetched, user_data, &add));
	T_OK(doca_sync_event_task_get_alloc_init(e->event, &got, user_data, &get));
	submit(doca_sync_event_task_notify_set_as_doca_task(set));
	submit(doca_sync_event_task_notify_add_as_doca_task(add));
	submit(doca_sync_event_task_get_as_doca_task(get));
	T_WAIT(doca_pe_progress(e->pe), e->nb_done == 3);
	T_EQ(fetched, 5);
	T_EQ(got, 7);
	T_OK(doca_sync_event_task_notify_add_alloc_init(e->event, 1, NULL, user_data, &add));
	submit(doca_sync_event_task_notify_add_as_doca_task(add));
	T_WAIT(doca_pe_progress(e->pe), e->nb_done == 4);
	T_OK(doca_sync_event_task_wait_neq_alloc_init(e->event, 7, ALL, user_data, &neq));
	submit(doca_sync_event_task_wait_neq_as_doca_task(neq));
	submit(wait_eq(e, 8));
	T_WAIT(doca_pe_progress(e->pe), e->nb_done == 6);
	/* Functions work in a context as well. */
	T_GETS(doca_sync_event_get(e->event, &got), got, 8);
}

/* behaviour: H7 */
EVENT_CASE(waiting)
{
	struct doca_sync_event_task_get *get;
	uint64_t got = 0;
	unsigned int i;

	submit(wait_eq(e, 1));
	submit(wait_eq(e, 2));
	for (i = 0; i < 10; i++)
		T_EQ(doca_pe_progress(e->pe), 0);
	/* Others are not held up. */
	T_OK(doca_sync_event_task_get_alloc_init(e->event, &got, user_data, &get));
	submit(doca_sync_event_task_get_as_doca_task(get));
	T_EQ(doca_pe_progress(e->pe), 1);
	T_EQ(e->nb_done, 1);
	T_OK(doca_sync_event_update_set(e->event, 2));
	T_EQ(doca_pe_progress(e->pe), 1);
	T_EQ(e->nb_done, 2);
	T_EQ(doca_pe_progress(e->pe), 0);
	T_OK(doca_sync_event_update_set(e->event, 1));
	T_EQ(doca_pe_progress(e->pe), 1);
	T_EQ(e->nb_done, 3);
	T_EQ(e->nb_errors, 0);
}

static struct doca_task *
wait_neq(struct events *e, uint64_t value)
{
	struct doca_sync_event_task_wait_neq *task;

	T_OK(doca_sync_event_task_wait_neq_alloc_init(e->event, value, ALL, user_data, &task));
	return doca_sync_event_task_wait_neq_as_doca_task(task);
}

/*
 * Waits that are met as soon as they are submitted, again and again, hold up neither the tasks of
 * the queue nor other waits.
 * behaviour: H7
 */
EVENT_CASE(waits_take_turns)
{
	struct doca_sync_event_task_notify_set *set;
	unsigned int i;

	T_OK(doca_sync_event_update_set(e->event, 5));
	e->again = UINT_MAX;
	submit(wait_neq(e, 0));
	submit(wait_neq(e, 0));
	submit(wait_eq(e, 7));
	T_OK(doca_sync_event_task_notify_set_alloc_init(e->event, 7, user_data, &set));
	submit(doca_sync_event_task_notify_set_as_doca_task(set));
	for (i = 0; i < 4; i++)
		T_EQ(doca_pe_progress(e->pe), 1);
	/* The set, and the wait for it. */
	T_EQ(e->nb_done, 2);
	/* The others, once each time. */
	T_EQ(e->nb_again, 2 * 4);
	e->again = 0;
	T_WAIT(doca_pe_progress(e->pe), e->nb_done == 4);
}

/* behaviour: H8 */
EVENT_CASE(stopped_while_waiting)
{
	submit(wait_eq(e, 1));
	submit(wait_eq(e, 2));
	T_IS(doca_ctx_stop(e->ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(e->pe), ctx_is_idle(e->ctx));
	T_EQ(e->nb_errors, 2);
	T_IS(e->status, DOCA_ERROR_SHUTDOWN);
}

/* behaviour: H8 */
EVENT_CASE(freed_while_waiting)
{
	struct doca_task *task = wait_eq(e, 1);

	submit(task);
	T_EQ(doca_pe_progress(e->pe), 0);
	doca_task_free(task);
	doca_ctx_stop(e->ctx);
	T_WAIT(doca_pe_progress(e->pe), ctx_is_idle(e->ctx));
	T_EQ(e->nb_done + e->nb_errors, 0);
}

static bool
is_woken(doca_notification_handle_t handle, int timeout_ms)
{
	struct pollfd fd = { .fd = handle, .events = POLLIN };

	return poll(&fd, 1, timeout_ms) == 1;
}

/* behaviour: H9 */
EVENT_CASE(sleeping)
{
	doca_notification_handle_t handle;

	T_OK(doca_pe_get_notification_handle(e->pe, &handle));
	submit(wait_eq(e, 3));
	T_EQ(doca_pe_progress(e->pe), 0);
	T_OK(doca_pe_request_notification(e->pe));
	T_CHECK(!is_woken(handle, 30));
	T_OK(doca_sync_event_update_set(e->event, 3));
	T_CHECK(is_woken(handle, -1));
	T_OK(doca_pe_clear_notification(e->pe, handle));
	T_EQ(doca_pe_progress(e->pe), 1);
	T_EQ(e->nb_done, 1);
	/* It is met already. */
	submit(wait_eq(e, 3));
	T_OK(doca_pe_request_notification(e->pe));
	T_CHECK(is_woken(handle, -1));
	T_OK(doca_pe_clear_notification(e->pe, handle));
}

/* behaviour: H5 */
T_CASE(locations)
{
	struct doca_sync_event *event;
	struct doca_dev *dev = dev_open("dpu", "03:00.0");
	const uint8_t *data;
	size_t len;

	T_OK(doca_sync_event_create(&event));
	T_IS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	T_OK(doca_sync_event_add_publisher_location_cpu(event, dev));
	T_IS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	T_IS(doca_sync_event_add_publisher_location_remote_net(event), DOCA_ERROR_NOT_SUPPORTED);
	T_OK(doca_sync_event_add_subscriber_location_cpu(event, dev));
	T_IS(doca_sync_event_export_to_remote_pci(event, dev, &data, &len), DOCA_ERROR_BAD_STATE);
	T_OK(doca_sync_event_start(event));
	T_IS(doca_sync_event_add_publisher_location_remote_pci(event), DOCA_ERROR_BAD_STATE);
	T_IS(doca_sync_event_export_to_remote_pci(event, dev, &data, &len),
		DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_sync_event_export_to_remote_net(event, &data, &len), DOCA_ERROR_NOT_SUPPORTED);
	T_OK(doca_sync_event_stop(event));
	T_OK(doca_sync_event_destroy(event));
	T_OK(doca_dev_close(dev));
}

/* behaviour: H6 */
T_CASE(capabilities)
{
	static const char *const roles[][2] = { { "dpu", "03:00.0" }, { "host", "b1:00.0" } };
	doca_error_t (*const caps[])(const struct doca_devinfo *devinfo) = {
		doca_sync_event_cap_is_export_to_remote_pci_supported,
		doca_sync_event_cap_is_create_from_export_supported,
		doca_sync_event_cap_task_get_is_supported,
		doca_sync_event_cap_task_notify_set_is_supported,
		doca_sync_event_cap_task_notify_add_is_supported,
		doca_sync_event_cap_task_wait_eq_is_supported,
		doca_sync_event_cap_task_wait_neq_is_supported,
	};
	struct doca_dev *dev;
	unsigned int i, k;

	for (i = 0; i < 2; i++) {
		dev = dev_open(roles[i][0], roles[i][1]);
		for (k = 0; k < sizeof(caps) / sizeof(caps[0]); k++) {
			T_OK(caps[k](doca_dev_as_devinfo(dev)));
			T_INVALID(caps[k](NULL));
		}
		T_OK(doca_dev_close(dev));
	}
}

EVENT_CASE(arguments)
{
	struct doca_sync_event_task_wait_eq *wait;
	struct doca_sync_event_task_get *get;
	const uint8_t *data;
	uint64_t value;
	size_t len;

	T_INVALID(doca_sync_event_create(NULL));
	T_INVALID(doca_sync_event_destroy(NULL));
	T_INVALID(doca_sync_event_start(NULL));
	T_INVALID(doca_sync_event_stop(NULL));
	T_CHECK(doca_sync_event_as_ctx(NULL) == NULL);
	T_REFUSES_NULL(doca_sync_event_get, e->event, &value);
	T_INVALID(doca_sync_event_update_set(NULL, 1));
	T_INVALID(doca_sync_event_update_add(NULL, 1, &value));
	T_INVALID(doca_sync_event_wait_eq(NULL, 1, ALL));
	T_INVALID(doca_sync_event_wait_eq_yield(NULL, 1, ALL));
	T_INVALID(doca_sync_event_wait_neq(NULL, 1, ALL));
	T_INVALID(doca_sync_event_wait_neq_yield(NULL, 1, ALL));
	T_INVALID(doca_sync_event_wait_gt(NULL, 1, ALL));
	T_INVALID(doca_sync_event_wait_gt_yield(NULL, 1, ALL));
	T_INVALID(doca_sync_event_add_publisher_location_cpu(NULL, e->dev));
	T_INVALID(doca_sync_event_add_publisher_location_remote_pci(NULL));
	T_INVALID(doca_sync_event_add_publisher_location_remote_net(NULL));
	T_INVALID(doca_sync_event_add_subscriber_location_cpu(NULL, e->dev));
	T_INVALID(doca_sync_event_add_subscriber_location_remote_pci(NULL));
	T_INVALID(doca_sync_event_export_to_remote_pci(NULL, e->dev, &data, &len));
	T_INVALID(doca_sync_event_export_to_remote_pci(e->event, NULL, &data, &len));
	T_INVALID(doca_sync_event_export_to_remote_pci(e->event, e->dev, NULL, &len));
	T_INVALID(doca_sync_event_export_to_remote_pci(e->event, e->dev, &data, NULL));
	T_INVALID(doca_sync_event_export_to_remote_net(NULL, &data, &len));
	T_INVALID(doca_sync_event_task_get_alloc_init(e->event, NULL, user_data, &get));
	T_INVALID(doca_sync_event_task_wait_eq_alloc_init(NULL, 1, ALL, user_data, &wait));
	T_INVALID(doca_sync_event_task_wait_eq_alloc_init(e->event, 1, ALL, user_data, NULL));
	T_CHECK(doca_sync_event_task_wait_eq_as_doca_task(NULL) == NULL);
	T_IS(doca_sync_event_task_get_set_conf(e->event, on_get, on_get, 1), DOCA_ERROR_BAD_STATE);
	/* A started context is not started again by itself, and is not destroyed. */
	T_IS(doca_sync_event_start(e->event), DOCA_ERROR_BAD_STATE);
	T_IS(doca_sync_event_destroy(e->event), DOCA_ERROR_IN_USE);
	/* But it is stopped by either name. */
	T_OK(doca_sync_event_stop(e->event));
	T_WAIT(doca_pe_progress(e->pe), ctx_is_idle(e->ctx));
	T_IS(doca_sync_event_task_wait_eq_alloc_init(e->event, 1, ALL, user_data, &wait),
		DOCA_ERROR_BAD_STATE);
	T_INVALID(doca_sync_event_task_get_set_conf(e->event, NULL, on_get, 1));
	T_INVALID(doca_sync_event_task_get_set_conf(e->event, on_get, on_get, UINT32_MAX));
}
