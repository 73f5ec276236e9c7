/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Completions and notification completions of the DPA: their set-up, the order
 * of elements, and that no activation is lost.
 */

#include <pthread.h>
#include <stdlib.h>

#include <rte_pause.h>

#include "dpa/dpa.h"
#include "dpa/program.h"
#include "t_main.h"

#define BAD DOCA_ERROR_BAD_STATE
#define SEND DOCA_DPA_DEV_COMP_SEND

/* A completion, its thread if it has one, and what the device code does with them. */
static struct doca_dpa_thread *thread;
static struct doca_dpa_completion *comp;
static doca_dpa_dev_completion_t handle;
static atomic_uint nb_calls, nb_seen;
static atomic_bool is_pausing, is_asking;

/* All elements, whose immediate data count, then ask for more, a little late: now
 * and then one comes in between.
 */
static void
serve(uint64_t arg)
{
	doca_dpa_dev_completion_element_t element;
	unsigned int pauses = nb_calls++ % 8;

	while (doca_dpa_dev_get_completion(arg, &element) == 1) {
		T_EQ(doca_dpa_dev_get_completion_immediate(element), nb_seen);
		nb_seen++;
		doca_dpa_dev_completion_ack(arg, 1);
	}
	while (pauses-- > 0)
		rte_pause();
	doca_dpa_dev_completion_request_notification(arg);
	doca_dpa_dev_thread_reschedule();
}

/* Nothing but the activation; a notification if the test says so. */
static void
count(uint64_t arg)
{
	nb_calls++;
	while (is_pausing)
		sched_yield();
	if (is_asking)
		doca_dpa_dev_completion_request_notification(arg);
}

static void
poll_for_ever(uint64_t arg)
{
	doca_dpa_dev_completion_element_t element;

	nb_calls++;
	for (;;)
		doca_dpa_dev_get_completion(arg, &element);
}

static atomic_uint nb_taken;

static void
take(uint64_t arg)
{
	doca_dpa_dev_completion_element_t element;

	while (doca_dpa_dev_get_completion(arg, &element) == 1) {
		nb_taken++;
		doca_dpa_dev_completion_ack(arg, 1);
	}
	doca_dpa_dev_completion_request_notification(arg);
}

/* What device functions say, in an RPC. */

static uint64_t
get(uint64_t arg)
{
	doca_dpa_dev_completion_element_t element;

	if (doca_dpa_dev_get_completion(arg, &element) == 0)
		return 0;
	return UINT64_C(1) << 63 | (uint64_t)doca_dpa_dev_get_completion_type(element) << 56 |
		(uint64_t)doca_dpa_dev_get_completion_user_data(element) << 32 |
		doca_dpa_dev_get_completion_immediate(element);
}

static uint64_t nb_to_ack;

static uint64_t
ack(uint64_t arg)
{
	doca_dpa_dev_completion_ack(arg, nb_to_ack);
	return 1;
}

static uint64_t
ask(uint64_t arg)
{
	doca_dpa_dev_completion_request_notification(arg);
	return 1;
}

static uint64_t
type_of(uint64_t arg)
{
	return doca_dpa_dev_get_completion_type(arg);
}

static uint64_t
notify(uint64_t arg)
{
	doca_dpa_dev_thread_notify(arg);
	return 1;
}

DPA_KERNEL(serve)
DPA_KERNEL(count)
DPA_KERNEL(poll_for_ever)
DPA_KERNEL(take)
DPA_RPC(get)
DPA_RPC(ack)
DPA_RPC(ask)
DPA_RPC(type_of)
DPA_RPC(notify)

static const struct comch_doca_dpa_func funcs[] = {
	DPA_FUNC(serve, 0),
	DPA_FUNC(count, 0),
	DPA_FUNC(poll_for_ever, 0),
	DPA_FUNC(take, 0),
	DPA_FUNC(get, 1),
	DPA_FUNC(ack, 1),
	DPA_FUNC(ask, 1),
	DPA_FUNC(type_of, 1),
	DPA_FUNC(notify, 1),
};
DPA_APP(app, funcs);

static uint64_t
rpc(struct doca_dpa *dpa, void *func, uint64_t arg)
{
	uint64_t ret = 0;

	T_OK(doca_dpa_rpc(dpa, DPA_HOST_FUNC(func), &ret, arg));
	return ret;
}

/* With a thread that runs func, or without. */
static struct doca_dpa *
begin(unsigned int queue_size, void *func)
{
	struct doca_dpa *dpa = dpa_program_start(&app);

	T_OK(doca_dpa_completion_create(dpa, queue_size, &comp));
	if (func != NULL) {
		T_OK(doca_dpa_thread_create(dpa, &thread));
		T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(func), 0));
		T_OK(doca_dpa_thread_start(thread));
		T_OK(doca_dpa_completion_set_thread(comp, thread));
	}
	T_OK(doca_dpa_completion_start(comp));
	T_OK(doca_dpa_completion_get_dpa_handle(comp, &handle));
	if (func != NULL) {
		/* Its argument is known only now. */
		T_OK(doca_dpa_thread_stop(thread));
		T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(func), handle));
		T_OK(doca_dpa_thread_start(thread));
		T_OK(doca_dpa_thread_run(thread));
	}
	return dpa;
}

static void
end(struct doca_dpa *dpa)
{
	T_OK(doca_dpa_completion_stop(comp));
	T_OK(doca_dpa_completion_destroy(comp));
	if (thread != NULL) {
		T_OK(doca_dpa_thread_stop(thread));
		T_OK(doca_dpa_thread_destroy(thread));
	}
	dpa_program_end(dpa);
}

static bool
push(uint32_t immediate)
{
	return impl_dpa_completion_push(comp, SEND, 0, immediate);
}

DPA_CASE(null_is_refused, dpa)
{
	struct doca_dpa_notification_completion *notify_comp;
	struct doca_dpa_thread *got;
	uint64_t number;
	unsigned int n;

	T_OK(doca_dpa_thread_create(dpa, &got));
	T_INVALID(doca_dpa_completion_create(NULL, 1, &comp));
	T_INVALID(doca_dpa_completion_create(dpa, 1, NULL));
	T_INVALID(doca_dpa_completion_create(dpa, 0, &comp));
	T_INVALID(doca_dpa_completion_create(dpa, (1u << 24) + 1, &comp));
	T_INVALID(doca_dpa_completion_create(dpa, UINT32_MAX, &comp));
	T_OK(doca_dpa_completion_create(dpa, 1, &comp));
	T_INVALID(doca_dpa_completion_destroy(NULL));
	T_REFUSES_NULL(doca_dpa_completion_get_queue_size, comp, &n);
	T_REFUSES_NULL(doca_dpa_completion_set_thread, comp, got);
	T_REFUSES_NULL(doca_dpa_completion_get_thread, comp, &got);
	T_INVALID(doca_dpa_completion_start(NULL));
	T_INVALID(doca_dpa_completion_stop(NULL));
	T_REFUSES_NULL(doca_dpa_completion_get_dpa_handle, comp, &number);
	T_OK(doca_dpa_completion_destroy(comp));
	T_REFUSES_NULLS(doca_dpa_notification_completion_create, dpa, got, &notify_comp);
	T_OK(doca_dpa_notification_completion_create(dpa, got, &notify_comp));
	T_INVALID(doca_dpa_notification_completion_destroy(NULL));
	T_REFUSES_NULL(doca_dpa_notification_completion_get_thread, notify_comp, &got);
	T_INVALID(doca_dpa_notification_completion_start(NULL));
	T_INVALID(doca_dpa_notification_completion_stop(NULL));
	T_REFUSES_NULL(doca_dpa_notification_completion_get_dpa_handle, notify_comp, &number);
	T_OK(doca_dpa_notification_completion_destroy(notify_comp));
	T_OK(doca_dpa_thread_destroy(got));
}

/* behaviour: Q13 */
DPA_CASE(sizes_are_rounded_up, dpa)
{
	static const unsigned int sizes[][2] = {
		{ 1, 1 }, { 2, 2 }, { 3, 4 }, { 1000, 1024 }, { 1024, 1024 },
	};
	unsigned int i, size;

	for (i = 0; i < RTE_DIM(sizes); i++) {
		T_OK(doca_dpa_completion_create(dpa, sizes[i][0], &comp));
		T_GETS(doca_dpa_completion_get_queue_size(comp, &size), size, sizes[i][1]);
		T_OK(doca_dpa_completion_destroy(comp));
	}
}

/* behaviour: Q15, Q16 */
T_CASE(the_order_of_calls)
{
	struct doca_dev *dev = host_dev(0);
	struct doca_dpa_thread *got;
	struct doca_dpa *dpa;

	T_OK(doca_dpa_create(dev, &dpa));
	T_OK(doca_dpa_set_app(dpa, &app));
	T_OK(doca_dpa_completion_create(dpa, 4, &comp));
	T_GETS(doca_dpa_completion_get_thread(comp, &got), got, NULL);
	T_IS(doca_dpa_completion_start(comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_start(dpa));
	T_IS(doca_dpa_completion_get_dpa_handle(comp, &handle), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_completion_stop(comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_thread_create(dpa, &thread));
	T_OK(doca_dpa_completion_set_thread(comp, thread));
	T_GETS(doca_dpa_completion_get_thread(comp, &got), got, thread);
	/* Its thread is not started. */
	T_IS(doca_dpa_completion_start(comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(count), 0));
	T_OK(doca_dpa_thread_start(thread));
	T_IS(impl_dpa_completion_attach(comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_completion_start(comp));
	T_IS(doca_dpa_completion_start(comp), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_completion_set_thread(comp, thread), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_destroy(thread), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	T_OK(impl_dpa_completion_attach(comp));
	T_IS(doca_dpa_completion_stop(comp), DOCA_ERROR_IN_USE);
	T_IS(doca_dpa_completion_destroy(comp), DOCA_ERROR_BAD_STATE);
	impl_dpa_completion_detach(comp);
	T_CHECK(impl_dpa_completion_dpa(comp) == dpa);
	/* It stops what it destroys. */
	T_OK(doca_dpa_completion_destroy(comp));
	T_OK(doca_dpa_thread_destroy(thread));
	T_OK(doca_dpa_destroy(dpa));
	T_OK(doca_dev_close(dev));
}

T_CASE(a_thread_of_another_context_is_refused)
{
	struct doca_dpa_notification_completion *notify_comp;
	struct doca_dev *dev = host_dev(1);
	struct doca_dpa *dpa = dpa_program_start(&app), *other;
	struct doca_dpa_thread *second;

	T_OK(doca_dpa_create(dev, &other));
	T_OK(doca_dpa_thread_create(other, &thread));
	T_OK(doca_dpa_thread_create(dpa, &second));
	T_OK(doca_dpa_completion_create(dpa, 4, &comp));
	T_INVALID(doca_dpa_completion_set_thread(comp, thread));
	T_INVALID(doca_dpa_notification_completion_create(dpa, thread, &notify_comp));
	T_OK(doca_dpa_thread_destroy(thread));
	/* One that is replaced is free. */
	T_OK(doca_dpa_thread_create(dpa, &thread));
	T_OK(doca_dpa_completion_set_thread(comp, second));
	T_OK(doca_dpa_completion_set_thread(comp, thread));
	T_OK(doca_dpa_thread_destroy(second));
	T_OK(doca_dpa_completion_destroy(comp));
	T_OK(doca_dpa_thread_destroy(thread));
	T_OK(doca_dpa_destroy(other));
	T_OK(doca_dev_close(dev));
	dpa_program_end(dpa);
}

T_CASE(elements_come_in_order_and_say_what_they_are)
{
	struct doca_dpa *dpa = begin(4, NULL);
	unsigned int round;

	for (round = 0; round < 5; round++) {
		T_EQ(rpc(dpa, get, handle), 0);
		T_CHECK(impl_dpa_completion_push(comp, SEND, 0xabcdef, 0xffffffff));
		T_CHECK(impl_dpa_completion_push(comp, DOCA_DPA_DEV_COMP_SEND_ERR, 0, 0));
		/* What does not fit into 24 bits is not told. */
		T_CHECK(impl_dpa_completion_push(comp, DOCA_DPA_DEV_COMP_RECV_ERR, 0x7f000001,
			round));
		T_CHECK(push(5));
		T_CHECK(!push(6));
		T_EQ(rpc(dpa, get, handle), 0x80abcdefffffffff);
		/* Taken, not given back. */
		T_CHECK(!push(6));
		T_EQ(rpc(dpa, get, handle), 0x8d00000000000000);
		T_EQ(rpc(dpa, get, handle), 0x8e00000100000000 + round);
		nb_to_ack = 2;
		T_EQ(rpc(dpa, ack, handle), 1);
		T_CHECK(push(7));
		T_CHECK(push(8));
		T_CHECK(!push(9));
		T_EQ(rpc(dpa, get, handle), 0x8000000000000005);
		T_EQ(rpc(dpa, get, handle), 0x8000000000000007);
		T_EQ(rpc(dpa, get, handle), 0x8000000000000008);
		T_EQ(rpc(dpa, get, handle), 0);
		nb_to_ack = 4;
		T_EQ(rpc(dpa, ack, handle), 1);
		nb_to_ack = 0;
		T_EQ(rpc(dpa, ack, handle), 1);
	}
	/* A new start is empty. */
	T_CHECK(push(1));
	T_OK(doca_dpa_completion_stop(comp));
	T_OK(doca_dpa_completion_start(comp));
	T_OK(doca_dpa_completion_get_dpa_handle(comp, &handle));
	T_EQ(rpc(dpa, get, handle), 0);
	end(dpa);
}

T_CASE(host_threads_may_call_device_functions)
{
	struct doca_dpa *dpa = begin(4, NULL);

	T_EQ(get(handle), 0);
	T_CHECK(push(3));
	T_EQ(get(handle), 0x8000000000000003);
	nb_to_ack = 2;
	log_keep();
	ack(handle);
	T_STR_HAS(log_kept(), "a host thread: doca_dpa_dev_completion_ack: acknowledged "
		"2 elements, only 1");
	ask(handle);
	T_STR_HAS(log_kept(), "no thread is set");
	T_EQ(type_of(1), SEND);
	T_STR_HAS(log_kept(), "0x1 is not a valid element");
	T_OK(doca_dpa_peek_at_last_error(dpa));
	end(dpa);
}

T_CASE(to_give_back_more_than_was_taken_is_a_fault)
{
	struct doca_dpa *dpa = begin(4, NULL);
	uint64_t ret;

	log_keep();
	T_CHECK(push(1));
	T_CHECK(push(2));
	T_CHECK(rpc(dpa, get, handle) != 0);
	nb_to_ack = 2;
	T_IS(doca_dpa_rpc(dpa, DPA_HOST_FUNC(ack), &ret, handle), DOCA_ERROR_DRIVER);
	T_STR_HAS(log_kept(), "RPC ack: doca_dpa_dev_completion_ack: acknowledged 2 "
		"elements, only 1");
	T_IS(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
	end(dpa);
}

T_CASE(what_is_no_element_is_a_fault)
{
	struct doca_dpa *dpa = begin(4, NULL);
	uint64_t ret;

	log_keep();
	T_IS(doca_dpa_rpc(dpa, DPA_HOST_FUNC(type_of), &ret, UINT64_C(0x123)), DOCA_ERROR_DRIVER);
	T_STR_HAS(log_kept(), "doca_dpa_dev_get_completion_type: 0x123 is not a valid element");
	T_IS(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
	end(dpa);
}

/* behaviour: Q7 */
T_CASE(only_asked_notifications_activate)
{
	struct doca_dpa *dpa = begin(64, count);
	unsigned int i;

	/* The first one needs no request. */
	T_CHECK(push(0));
	T_AWAIT(nb_calls == 1);
	for (i = 0; i < 10; i++)
		T_CHECK(push(0));
	/* One that waits activates at the request; the kernel leaves it there. */
	rpc(dpa, ask, handle);
	T_AWAIT(nb_calls == 2);
	for (i = 0; i < 11; i++)
		T_CHECK(rpc(dpa, get, handle) != 0);
	/* Taken ones do not count, only the next. */
	rpc(dpa, ask, handle);
	T_CHECK(push(0));
	T_AWAIT(nb_calls == 3);
	T_CHECK(push(0));
	end(dpa);
	T_EQ(nb_calls, 3);
}

/* A request of a kernel for an element that is there: it runs again. */
T_CASE(a_request_while_an_element_waits_activates_at_once)
{
	struct doca_dpa *dpa = begin(64, count);

	is_asking = true;
	is_pausing = true;
	T_CHECK(push(0));
	T_AWAIT(nb_calls == 1);
	is_pausing = false;
	/* It asks, and what activated it is still there. */
	T_AWAIT(nb_calls > 10);
	T_OK(doca_dpa_peek_at_last_error(dpa));
	end(dpa);
}

#define ROUNDS 40000

/* Until the element is seen, without a call that takes long; then a while more. */
static void
wait_seen(unsigned int nb, unsigned int pauses)
{
	unsigned int i;

	for (i = 0; i < 2000 && nb_seen < nb; i++)
		rte_pause();
	T_AWAIT(nb_seen >= nb);
	for (i = 0; i < pauses; i++)
		rte_pause();
}

/* Every element is seen, although the kernel asks just when they come: the pauses
 * are such that some come between its last look and the request, some after it.
 */
T_CASE(no_wake_up_is_lost)
{
	struct doca_dpa *dpa = begin(16, serve);
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		T_AWAIT(push(i));
		wait_seen(i + 1, i % 16);
	}
	/* And several at once. */
	for (; i < 2 * ROUNDS; i++) {
		T_AWAIT(push(i));
		if (i % 4 == 0)
			wait_seen(i + 1, i % 64);
	}
	T_AWAIT(nb_seen == 2 * ROUNDS);
	T_GT(nb_calls, 1);
	end(dpa);
}

static void *
push_many(void *arg)
{
	unsigned int i;

	for (i = 0; i < ROUNDS / 2; i++)
		T_AWAIT(push(i));
	return arg;
}

T_CASE(several_threads_push)
{
	struct doca_dpa *dpa = begin(8, take);
	pthread_t pushers[2];
	unsigned int i;

	for (i = 0; i < RTE_DIM(pushers); i++)
		T_EQ(pthread_create(&pushers[i], NULL, push_many, NULL), 0);
	for (i = 0; i < RTE_DIM(pushers); i++)
		T_EQ(pthread_join(pushers[i], NULL), 0);
	T_AWAIT(nb_taken == ROUNDS);
	end(dpa);
}

/* The handle goes while a kernel polls by it: that is a fault, and no crash. */
T_CASE(a_completion_is_destroyed_while_it_is_polled)
{
	struct doca_dpa *dpa = begin(4, poll_for_ever);

	log_keep();
	T_CHECK(push(0));
	T_AWAIT(nb_calls == 1);
	T_OK(doca_dpa_completion_stop(comp));
	T_OK(doca_dpa_completion_destroy(comp));
	T_AWAIT(doca_dpa_peek_at_last_error(dpa) == BAD);
	T_STR_HAS(log_kept(), "DPA thread dpa-poll_for_ever (kernel poll_for_ever): "
		"doca_dpa_dev_get_completion: handle 0x");
	T_STR_HAS(log_kept(), ": the completion is stopped or destroyed");
	T_OK(doca_dpa_thread_stop(thread));
	T_OK(doca_dpa_thread_destroy(thread));
	dpa_program_end(dpa);
}

static atomic_bool is_done;

static void *
poll_on_host(void *arg)
{
	doca_dpa_dev_completion_element_t element;

	while (!is_done)
		if (doca_dpa_dev_get_completion(handle, &element) == 1)
			doca_dpa_dev_completion_ack(handle, 1);
	return arg;
}

/* Many times, so that it is met in the middle of a call. */
T_CASE(handles_die_under_calls)
{
	struct doca_dpa *dpa = begin(4, NULL);
	pthread_t poller;
	unsigned int i;

	T_EQ(pthread_create(&poller, NULL, poll_on_host, NULL), 0);
	for (i = 0; i < 2000; i++) {
		T_OK(doca_dpa_completion_stop(comp));
		T_OK(doca_dpa_completion_destroy(comp));
		T_OK(doca_dpa_completion_create(dpa, 4, &comp));
		T_OK(doca_dpa_completion_start(comp));
	}
	is_done = true;
	T_EQ(pthread_join(poller, NULL), 0);
	end(dpa);
}

DPA_CASE(notification_completions, dpa)
{
	struct doca_dpa_notification_completion *notify_comp;
	doca_dpa_dev_notification_completion_t number;
	struct doca_dpa_thread *got;

	T_OK(doca_dpa_thread_create(dpa, &thread));
	T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(count), 0));
	T_OK(doca_dpa_notification_completion_create(dpa, thread, &notify_comp));
	T_GETS(doca_dpa_notification_completion_get_thread(notify_comp, &got), got, thread);
	T_IS(doca_dpa_notification_completion_get_dpa_handle(notify_comp, &number),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_notification_completion_start(notify_comp), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_notification_completion_stop(notify_comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_thread_start(thread));
	T_OK(doca_dpa_notification_completion_start(notify_comp));
	T_IS(doca_dpa_notification_completion_start(notify_comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_notification_completion_get_dpa_handle(notify_comp, &number));
	T_OK(doca_dpa_thread_run(thread));
	rpc(dpa, notify, number);
	T_AWAIT(nb_calls == 1);
	/* And anew, with another handle. */
	T_OK(doca_dpa_notification_completion_stop(notify_comp));
	T_OK(doca_dpa_notification_completion_start(notify_comp));
	T_OK(doca_dpa_notification_completion_get_dpa_handle(notify_comp, &handle));
	T_CHECK(handle != number);
	rpc(dpa, notify, handle);
	T_AWAIT(nb_calls == 2);
	T_IS(doca_dpa_rpc(dpa, DPA_HOST_FUNC(notify), &handle, number), DOCA_ERROR_DRIVER);
	T_OK(doca_dpa_notification_completion_destroy(notify_comp));
	T_OK(doca_dpa_thread_destroy(thread));
}
