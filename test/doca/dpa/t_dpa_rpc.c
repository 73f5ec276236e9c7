/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * RPCs and launches of kernels.
 */

#include <pthread.h>
#include <stdlib.h>

#include "t_main.h"
#include "dpa/program.h"

#define BAD DOCA_ERROR_BAD_STATE
#define INVALID DOCA_ERROR_INVALID_VALUE
#define DRIVER DOCA_ERROR_DRIVER

#define EVENT ((struct doca_sync_event *)(uintptr_t)8)

static struct doca_dpa *dpa_of_rpc;
static pthread_t host;
static atomic_uint nb_calls, nb_ends;
static _Atomic uint64_t ranks;
static atomic_bool is_released;

/* Of several arguments: as comch-dpacc packs them. */
struct mix_args {
	int8_t small;
	double real;
	uint64_t big;
	const char *text;
};

static uint64_t
mix(int8_t small, double real, uint64_t big, const char *text)
{
	T_CHECK(pthread_equal(pthread_self(), host));
	T_EQ(doca_dpa_dev_thread_rank(), 0);
	T_EQ(doca_dpa_dev_num_threads(), 1);
	return (uint64_t)small + (uint64_t)(real * 2) + big + strlen(text);
}

static void
mix_pack(void *args, va_list *list)
{
	struct mix_args *a = args;

	a->small = (int8_t)va_arg(*list, int);
	a->real = va_arg(*list, double);
	a->big = va_arg(*list, uint64_t);
	a->text = va_arg(*list, const char *);
}

static uint64_t
mix_call(const void *args)
{
	const struct mix_args *a = args;

	return mix(a->small, a->real, a->big, a->text);
}

static uint64_t
without(void)
{
	return 99;
}

static void
without_pack(void *args, va_list *list)
{
	RTE_SET_USED(args);
	RTE_SET_USED(list);
}

static uint64_t
without_call(const void *args)
{
	RTE_SET_USED(args);
	return without();
}

static uint64_t
reschedule(uint64_t arg)
{
	if (arg == 0)
		doca_dpa_dev_thread_reschedule();
	else if (arg == 1)
		doca_dpa_dev_thread_finish();
	else
		return doca_dpa_dev_thread_get_local_storage();
	return 0;
}

/* Host functions are not for device code. */
static uint64_t
call_host(uint64_t arg)
{
	uint64_t ret;

	TD_IS(doca_dpa_rpc(dpa_of_rpc, TDPA_F(without), &ret), BAD);
	TD_IS(doca_dpa_stop(dpa_of_rpc), DOCA_ERROR_IN_USE);
	return arg;
}

static uint64_t
spin(uint64_t arg)
{
	nb_calls++;
	while (!is_released)
		sched_yield();
	return arg;
}

static void
rank(uint64_t arg)
{
	T_EQ(doca_dpa_dev_num_threads(), arg);
	ranks += UINT64_C(1) << doca_dpa_dev_thread_rank();
	while (nb_calls == 1 && !is_released)
		doca_dpa_dev_yield();
	nb_ends++;
}

static void
yield_for_ever(uint64_t arg)
{
	RTE_SET_USED(arg);
	nb_calls++;
	for (;;)
		doca_dpa_dev_yield();
}

static void
spin_in_launch(uint64_t arg)
{
	spin(arg);
}

static void
reschedule_in_launch(uint64_t arg)
{
	RTE_SET_USED(arg);
	doca_dpa_dev_thread_reschedule();
}

TDPA_RPC(reschedule)
TDPA_RPC(call_host)
TDPA_RPC(spin)
TDPA_KERNEL(rank)
TDPA_KERNEL(yield_for_ever)
TDPA_KERNEL(spin_in_launch)
TDPA_KERNEL(reschedule_in_launch)

static const struct comch_doca_dpa_func funcs[] = {
	{ "mix", (void (*)(void))mix, sizeof(struct mix_args), mix_pack, mix_call, 1, 4 },
	{ "without", (void (*)(void))without, 0, without_pack, without_call, 1, 0 },
	TDPA_FUNC(reschedule, 1),
	TDPA_FUNC(call_host, 1),
	TDPA_FUNC(spin, 1),
	TDPA_FUNC(rank, 0),
	TDPA_FUNC(yield_for_ever, 0),
	TDPA_FUNC(spin_in_launch, 0),
	TDPA_FUNC(reschedule_in_launch, 0),
};
TDPA_APP(app, funcs);

static void
arguments_and_results_pass(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	uint64_t ret;

	host = pthread_self();
	TD_OK(doca_dpa_rpc(dpa, TDPA_F(mix), &ret, -3, 2.5, UINT64_C(1) << 40, "four"));
	T_EQ(ret, (UINT64_C(1) << 40) - 3 + 5 + 4);
	TD_OK(doca_dpa_rpc(dpa, TDPA_F(without), &ret));
	T_EQ(ret, 99);
	tdpa_end(dpa);
}

static void
wrong_calls_are_refused(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	uint64_t ret;

	tdpa_log_begin();
	TD_IS(doca_dpa_rpc(NULL, TDPA_F(without), &ret), INVALID);
	TD_IS(doca_dpa_rpc(dpa, NULL, &ret), INVALID);
	TD_IS(doca_dpa_rpc(dpa, TDPA_F(without), NULL), INVALID);
	TD_IS(doca_dpa_rpc(dpa, TDPA_F(rank), &ret, UINT64_C(0)), INVALID);
	T_STR_HAS(tdpa_log(), "rank is no __dpa_rpc__ function of the application");
	TD_IS(doca_dpa_rpc(dpa, TDPA_F(tdpa_end), &ret), INVALID);
	T_STR_HAS(tdpa_log(), "a function is no __dpa_rpc__ function");
	TD_OK(doca_dpa_stop(dpa));
	TD_IS(doca_dpa_rpc(dpa, TDPA_F(without), &ret), BAD);
	TD_OK(doca_dpa_start(dpa));
	tdpa_end(dpa);
}

static void
host_functions_are_not_for_device_code(void)
{
	struct doca_dpa *dpa = dpa_of_rpc = tdpa_start(&app);
	uint64_t ret;

	TD_OK(doca_dpa_rpc(dpa, TDPA_F(call_host), &ret, UINT64_C(4)));
	T_EQ(ret, 4);
	tdpa_end(dpa);
}

static void
what_is_for_threads_is_a_fault(void)
{
	static const char *const names[] = {
		"thread_reschedule", "thread_finish", "thread_get_local_storage",
	};
	struct doca_dpa *dpa;
	char want[128];
	uint64_t i, ret;

	tdpa_log_begin();
	for (i = 0; i < RTE_DIM(names); i++) {
		dpa = tdpa_start(&app);
		TD_IS(doca_dpa_rpc(dpa, TDPA_F(reschedule), &ret, i), DRIVER);
		snprintf(want, sizeof(want), "RPC reschedule: doca_dpa_dev_%s: only in the kernel "
			"of a DPA thread", names[i]);
		T_STR_HAS(tdpa_log(), want);
		TD_IS(doca_dpa_peek_at_last_error(dpa), BAD);
		tdpa_end(dpa);
	}
	/* In a host thread they do nothing. */
	T_EQ(reschedule(0) + reschedule(1) + reschedule(2), 0);
	T_STR_HAS(tdpa_log(), "a host thread: doca_dpa_dev_thread_finish: only in the kernel");
}

static void *
rpc_thread(void *dpa)
{
	uint64_t ret;

	TD_OK(doca_dpa_rpc(dpa, TDPA_F(spin), &ret, UINT64_C(6)));
	T_EQ(ret, 6);
	return NULL;
}

static void
a_context_does_not_stop_under_an_rpc(void)
{
	struct doca_dpa *dpa;
	pthread_t thread;

	tdpa_table("dpa_max_run_ms = 20\n");
	dpa = tdpa_start(&app);
	tdpa_log_begin();
	T_EQ(pthread_create(&thread, NULL, rpc_thread, dpa), 0);
	TDPA_UNTIL(nb_calls == 1);
	TD_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	/* It is watched as well. */
	TDPA_UNTIL(strstr(tdpa_log(), "RPC spin has run for 0.") != NULL);
	is_released = true;
	T_EQ(pthread_join(thread, NULL), 0);
	tdpa_end(dpa);
}

static doca_error_t
launch(struct doca_dpa *dpa, unsigned int nb, void *func, uint64_t arg)
{
	return doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, nb, TDPA_F(func), arg);
}

static void
each_thread_of_a_launch_has_its_rank(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);

	TD_OK(launch(dpa, 8, rank, 8));
	TDPA_UNTIL(nb_ends == 8);
	T_EQ(ranks, 0xff);
	TD_OK(doca_dpa_kernel_launch_update_add(dpa, NULL, 0, NULL, 0, 3, TDPA_F(rank),
		UINT64_C(3)));
	/* Stop waits for it. */
	TD_OK(doca_dpa_stop(dpa));
	T_EQ(nb_ends, 11);
	T_EQ(ranks, 0xff + 0x7);
	TD_OK(doca_dpa_start(dpa));
	tdpa_end(dpa);
}

static void
launches_run_side_by_side(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	unsigned int i;

	nb_calls = 1;
	for (i = 0; i < 10; i++)
		TD_OK(launch(dpa, 1, rank, 1));
	TDPA_UNTIL(ranks == 10);
	T_EQ(nb_ends, 0);
	is_released = true;
	TDPA_UNTIL(nb_ends == 10);
	for (i = 0; i < 100; i++)
		TD_OK(launch(dpa, 1, rank, 1));
	tdpa_end(dpa);
	T_EQ(nb_ends, 110);
}

static void
wrong_launches_are_refused(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	uint64_t ret;
	unsigned int max;

	tdpa_log_begin();
	TD_OK(doca_dpa_get_max_threads_per_kernel(dpa, &max));
	TD_IS(launch(NULL, 1, rank, 1), INVALID);
	TD_IS(launch(dpa, 1, NULL, 1), INVALID);
	TD_IS(launch(dpa, 0, rank, 1), INVALID);
	TD_IS(launch(dpa, max + 1, rank, 1), INVALID);
	T_STR_HAS(tdpa_log(), "a launch of kernel rank in 129 threads: 1 to 128");
	TD_IS(launch(dpa, 1, without, 1), INVALID);
	T_STR_HAS(tdpa_log(), "without is no __dpa_global__ function of the application");
	TD_IS(launch(dpa, 1, tdpa_end, 1), INVALID);
	TD_IS(doca_dpa_kernel_launch_update_set(dpa, EVENT, 0, NULL, 0, 1, TDPA_F(rank), 1),
		DOCA_ERROR_NOT_SUPPORTED);
	TD_IS(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, EVENT, 0, 1, TDPA_F(rank), 1),
		DOCA_ERROR_NOT_SUPPORTED);
	TD_IS(doca_dpa_kernel_launch_update_add(dpa, EVENT, 0, EVENT, 0, 1, TDPA_F(rank), 1),
		DOCA_ERROR_NOT_SUPPORTED);
	T_STR_HAS(tdpa_log(), "launches know no sync events");
	TD_IS(doca_dpa_kernel_launch_update_add(NULL, NULL, 0, NULL, 0, 1, TDPA_F(rank), 1),
		INVALID);
	TD_OK(doca_dpa_stop(dpa));
	TD_IS(launch(dpa, 1, rank, 1), BAD);
	TD_OK(doca_dpa_start(dpa));
	TD_IS(doca_dpa_rpc(dpa, TDPA_F(reschedule), &ret, UINT64_C(0)), DRIVER);
	TD_IS(launch(dpa, 1, rank, 1), BAD);
	tdpa_end(dpa);
}

static void
a_launch_that_does_not_end_is_ended(void)
{
	struct doca_dpa *dpa;

	tdpa_table("dpa_max_run_ms = 20\n");
	dpa = tdpa_start(&app);
	TD_OK(launch(dpa, 4, yield_for_ever, 0));
	TDPA_UNTIL(nb_calls == 4);
	TD_OK(doca_dpa_peek_at_last_error(dpa));
	tdpa_end(dpa);
}

static void
a_launch_without_device_calls_is_told_of(void)
{
	struct doca_dpa *dpa;

	tdpa_table("dpa_max_run_ms = 20\n");
	dpa = tdpa_start(&app);
	tdpa_log_begin();
	TD_OK(launch(dpa, 1, spin_in_launch, 0));
	TDPA_UNTIL(nb_calls == 1);
	TD_IS(doca_dpa_stop(dpa), DRIVER);
	T_STR_HAS(tdpa_log(), "a launch of kernel spin_in_launch does not end: for 20 ms");
	T_STR_HAS(tdpa_log(), "(launched kernel spin_in_launch) has run for 0.");
	is_released = true;
	tdpa_end(dpa);
}

static void
a_fault_in_a_launch(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);

	tdpa_log_begin();
	TD_OK(launch(dpa, 2, reschedule_in_launch, 0));
	TDPA_UNTIL(doca_dpa_peek_at_last_error(dpa) == BAD);
	T_STR_HAS(tdpa_log(), "DPA thread dpa-reschedule_in_launch (launched kernel "
		"reschedule_in_launch): doca_dpa_dev_thread_reschedule: only in");
	tdpa_end(dpa);
}

#define CASE(fn) { #fn, fn }

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		CASE(arguments_and_results_pass),
		CASE(wrong_calls_are_refused),
		CASE(host_functions_are_not_for_device_code),
		CASE(what_is_for_threads_is_a_fault),
		CASE(a_context_does_not_stop_under_an_rpc),
		CASE(each_thread_of_a_launch_has_its_rank),
		CASE(launches_run_side_by_side),
		CASE(wrong_launches_are_refused),
		CASE(a_launch_that_does_not_end_is_ended),
		CASE(a_launch_without_device_calls_is_told_of),
		CASE(a_fault_in_a_launch),
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
