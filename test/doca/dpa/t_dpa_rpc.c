/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * RPCs and launches of kernels.
 */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "dpa/program.h"
#include "t_main.h"

#define BAD DOCA_ERROR_BAD_STATE

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
without_pack(void *args __rte_unused, va_list *list __rte_unused)
{
}

static uint64_t
without_call(const void *args __rte_unused)
{
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

	T_IS(doca_dpa_rpc(dpa_of_rpc, DPA_HOST_FUNC(without), &ret), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_stop(dpa_of_rpc), DOCA_ERROR_IN_USE);
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
yield_for_ever(uint64_t arg __rte_unused)
{
	nb_calls++;
	for (;;)
		doca_dpa_dev_yield();
}

/* As one that gets no CPU for a while. */
static void
sleep_and_yield(uint64_t arg)
{
	nb_calls++;
	usleep(100000);
	yield_for_ever(arg);
}

static void
spin_in_launch(uint64_t arg)
{
	spin(arg);
}

static void
reschedule_in_launch(uint64_t arg __rte_unused)
{
	doca_dpa_dev_thread_reschedule();
}

DPA_RPC(reschedule)
DPA_RPC(call_host)
DPA_RPC(spin)
DPA_KERNEL(rank)
DPA_KERNEL(yield_for_ever)
DPA_KERNEL(sleep_and_yield)
DPA_KERNEL(spin_in_launch)
DPA_KERNEL(reschedule_in_launch)

static const struct comch_doca_dpa_func funcs[] = {
	{ "mix", (void (*)(void))mix, sizeof(struct mix_args), mix_pack, mix_call, 1, 4 },
	{ "without", (void (*)(void))without, 0, without_pack, without_call, 1, 0 },
	DPA_FUNC(reschedule, 1),
	DPA_FUNC(call_host, 1),
	DPA_FUNC(spin, 1),
	DPA_FUNC(rank, 0),
	DPA_FUNC(yield_for_ever, 0),
	DPA_FUNC(sleep_and_yield, 0),
	DPA_FUNC(spin_in_launch, 0),
	DPA_FUNC(reschedule_in_launch, 0),
};
DPA_APP(app, funcs);

DPA_CASE(arguments_and_results_pass, dpa)
{
	uint64_t ret;

	host = pthread_self();
	T_OK(doca_dpa_rpc(dpa, DPA_HOST_FUNC(mix), &ret, -3, 2.5, UINT64_C(1) << 40, "four"));
	T_EQ(ret, (UINT64_C(1) << 40) - 3 + 5 + 4);
	T_GETS(doca_dpa_rpc(dpa, DPA_HOST_FUNC(without), &ret), ret, 99);
}

T_CASE(wrong_calls_are_refused)
{
	struct doca_dpa *dpa = dpa_program_start(&app);
	uint64_t ret;

	log_keep();
	T_REFUSES_NULLS(doca_dpa_rpc, dpa, DPA_HOST_FUNC(without), &ret);
	T_INVALID(doca_dpa_rpc(dpa, DPA_HOST_FUNC(rank), &ret, UINT64_C(0)));
	T_STR_HAS(log_kept(), "rank is not a __dpa_rpc__ function of the application");
	T_INVALID(doca_dpa_rpc(dpa, DPA_HOST_FUNC(dpa_program_end), &ret));
	T_STR_HAS(log_kept(), "a function is not a __dpa_rpc__ function");
	T_OK(doca_dpa_stop(dpa));
	T_IS(doca_dpa_rpc(dpa, DPA_HOST_FUNC(without), &ret), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_start(dpa));
	dpa_program_end(dpa);
}

T_CASE(host_functions_are_not_for_device_code)
{
	struct doca_dpa *dpa = dpa_of_rpc = dpa_program_start(&app);
	uint64_t ret;

	T_OK(doca_dpa_rpc(dpa, DPA_HOST_FUNC(call_host), &ret, UINT64_C(4)));
	T_EQ(ret, 4);
	dpa_program_end(dpa);
}

T_CASE(what_is_for_threads_is_a_fault)
{
	static const char *const names[] = {
		"thread_reschedule", "thread_finish", "thread_get_local_storage",
	};
	struct doca_dpa *dpa;
	char want[128];
	uint64_t i, ret;

	log_keep();
	for (i = 0; i < RTE_DIM(names); i++) {
		dpa = dpa_program_start(&app);
		T_IS(doca_dpa_rpc(dpa, DPA_HOST_FUNC(reschedule), &ret, i), DOCA_ERROR_DRIVER);
		snprintf(want, sizeof(want), "RPC reschedule: doca_dpa_dev_%s: allowed in the "
			"kernel of a DPA thread only", names[i]);
		T_STR_HAS(log_kept(), want);
		T_IS(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
		dpa_program_end(dpa);
	}
	/* In a host thread they do nothing. */
	T_EQ(reschedule(0) + reschedule(1) + reschedule(2), 0);
	T_STR_HAS(log_kept(), "a host thread: doca_dpa_dev_thread_finish: allowed in the kernel");
}

static void *
rpc_thread(void *dpa)
{
	uint64_t ret;

	T_OK(doca_dpa_rpc(dpa, DPA_HOST_FUNC(spin), &ret, UINT64_C(6)));
	T_EQ(ret, 6);
	return NULL;
}

T_CASE(a_context_does_not_stop_under_an_rpc)
{
	struct doca_dpa *dpa;
	pthread_t thread;

	dpa_program_table("dpa_max_run_ms = 20\n");
	dpa = dpa_program_start(&app);
	log_keep();
	T_EQ(pthread_create(&thread, NULL, rpc_thread, dpa), 0);
	T_AWAIT(nb_calls == 1);
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	/* It is watched as well. */
	T_AWAIT(strstr(log_kept(), "RPC spin has run for 0.") != NULL);
	is_released = true;
	T_EQ(pthread_join(thread, NULL), 0);
	dpa_program_end(dpa);
}

static doca_error_t
launch(struct doca_dpa *dpa, unsigned int nb, void *func, uint64_t arg)
{
	return doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, nb, DPA_HOST_FUNC(func),
		arg);
}

DPA_CASE(each_thread_of_a_launch_has_its_rank, dpa)
{
	T_OK(launch(dpa, 8, rank, 8));
	T_AWAIT(nb_ends == 8);
	T_EQ(ranks, 0xff);
	T_OK(doca_dpa_kernel_launch_update_add(dpa, NULL, 0, NULL, 0, 3, DPA_HOST_FUNC(rank),
		UINT64_C(3)));
	/* Stop waits for it. */
	T_OK(doca_dpa_stop(dpa));
	T_EQ(nb_ends, 11);
	T_EQ(ranks, 0xff + 0x7);
	T_OK(doca_dpa_start(dpa));
}

T_CASE(launches_run_side_by_side)
{
	struct doca_dpa *dpa = dpa_program_start(&app);
	unsigned int i;

	nb_calls = 1;
	for (i = 0; i < 10; i++)
		T_OK(launch(dpa, 1, rank, 1));
	T_AWAIT(ranks == 10);
	T_EQ(nb_ends, 0);
	is_released = true;
	T_AWAIT(nb_ends == 10);
	for (i = 0; i < 100; i++)
		T_OK(launch(dpa, 1, rank, 1));
	dpa_program_end(dpa);
	T_EQ(nb_ends, 110);
}

T_CASE(wrong_launches_are_refused)
{
	struct doca_dpa *dpa = dpa_program_start(&app);
	uint64_t ret;
	unsigned int max;

	log_keep();
	T_OK(doca_dpa_get_max_threads_per_kernel(dpa, &max));
	T_INVALID(launch(NULL, 1, rank, 1));
	T_INVALID(launch(dpa, 1, NULL, 1));
	T_INVALID(launch(dpa, 0, rank, 1));
	T_INVALID(launch(dpa, max + 1, rank, 1));
	T_STR_HAS(log_kept(), "launch of kernel rank: 129 threads, expected 1 to 128");
	T_INVALID(launch(dpa, 1, without, 1));
	T_STR_HAS(log_kept(), "without is not a __dpa_global__ function of the application");
	T_INVALID(launch(dpa, 1, dpa_program_end, 1));
	T_INVALID(doca_dpa_kernel_launch_update_add(NULL, NULL, 0, NULL, 0, 1, DPA_HOST_FUNC(rank),
		1));
	T_OK(doca_dpa_stop(dpa));
	T_IS(launch(dpa, 1, rank, 1), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_start(dpa));
	T_IS(doca_dpa_rpc(dpa, DPA_HOST_FUNC(reschedule), &ret, UINT64_C(0)), DOCA_ERROR_DRIVER);
	T_IS(launch(dpa, 1, rank, 1), DOCA_ERROR_BAD_STATE);
	dpa_program_end(dpa);
}

T_CASE(a_launch_that_does_not_end_is_ended)
{
	struct doca_dpa *dpa;

	dpa_program_table("dpa_max_run_ms = 20\n");
	dpa = dpa_program_start(&app);
	T_OK(launch(dpa, 4, yield_for_ever, 0));
	T_AWAIT(nb_calls == 4);
	T_OK(doca_dpa_peek_at_last_error(dpa));
	dpa_program_end(dpa);
}

T_CASE(a_launch_that_does_not_run_is_waited_for)
{
	struct doca_dpa *dpa;

	dpa_program_table("dpa_max_run_ms = 10\n");
	dpa = dpa_program_start(&app);
	T_OK(launch(dpa, 2, sleep_and_yield, 0));
	T_AWAIT(nb_calls >= 1);
	dpa_program_end(dpa);
}

T_CASE(a_launch_without_device_calls_is_told_of)
{
	struct doca_dpa *dpa;

	dpa_program_table("dpa_max_run_ms = 20\n");
	dpa = dpa_program_start(&app);
	log_keep();
	T_OK(launch(dpa, 1, spin_in_launch, 0));
	T_AWAIT(nb_calls == 1);
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_DRIVER);
	T_STR_HAS(log_kept(), "launch of kernel spin_in_launch does not end: no call of "
		"a DPA function for 20 ms");
	/* Another thread tells it. */
	T_AWAIT(strstr(log_kept(), "(launched kernel spin_in_launch) has run for 0.") != NULL);
	is_released = true;
	dpa_program_end(dpa);
}

DPA_CASE(a_fault_in_a_launch, dpa)
{
	log_keep();
	T_OK(launch(dpa, 2, reschedule_in_launch, 0));
	T_AWAIT(doca_dpa_peek_at_last_error(dpa) == BAD);
	T_STR_HAS(log_kept(), "DPA thread dpa-reschedule_in_launch (launched kernel "
		"reschedule_in_launch): doca_dpa_dev_thread_reschedule: allowed in");
}
