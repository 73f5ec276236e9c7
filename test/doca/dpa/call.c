/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "dpa/call.h"

struct call {
	dpa_call_t fn;
	void *arg;
};

static void
run_kernel(uint64_t arg)
{
	const struct dpa_call_kernel *kernel = (const void *)(uintptr_t)arg;

	kernel->fn(kernel->arg);
}

static uint64_t
run_rpc(uint64_t arg)
{
	const struct call *call = (const void *)(uintptr_t)arg;

	return call->fn(call->arg);
}

DPA_KERNEL(run_kernel)
DPA_RPC(run_rpc)

static const struct comch_doca_dpa_func funcs[] = {
	DPA_FUNC(run_kernel, 0),
	DPA_FUNC(run_rpc, 1),
};

DPA_APP(app, funcs);

doca_dpa_func_t *
dpa_call_kernel_func(void)
{
	return DPA_HOST_FUNC(run_kernel);
}

void
dpa_calls_open(struct dpa_calls *t)
{
	static bool is_logged;

	if (!is_logged)
		log_keep();
	is_logged = true;
	t->dev = host_dev(0);
	T_OK(doca_dpa_create(t->dev, &t->dpa));
	T_OK(doca_dpa_set_app(t->dpa, &app));
	T_OK(doca_dpa_start(t->dpa));
}

void
dpa_calls_close(struct dpa_calls *t)
{
	T_OK(doca_dpa_destroy(t->dpa));
	T_OK(doca_dev_close(t->dev));
}

static doca_error_t
rpc(struct dpa_calls *t, dpa_call_t fn, void *arg, uint64_t *ret)
{
	struct call call = { fn, arg };

	return doca_dpa_rpc(t->dpa, DPA_HOST_FUNC(run_rpc), ret, (uint64_t)(uintptr_t)&call);
}

uint64_t
dpa_call(struct dpa_calls *t, dpa_call_t fn, void *arg)
{
	uint64_t ret = 0;

	T_OK(rpc(t, fn, arg, &ret));
	return ret;
}

void
dpa_call_faults(struct dpa_calls *t, dpa_call_t fn, void *arg, const char *text)
{
	size_t before = strlen(log_kept());
	uint64_t value;

	T_OK(doca_dpa_peek_at_last_error(t->dpa));
	T_IS(rpc(t, fn, arg, &value), DOCA_ERROR_DRIVER);
	T_STR_HAS(log_kept() + before, text);
	T_IS(doca_dpa_peek_at_last_error(t->dpa), DOCA_ERROR_BAD_STATE);
}

struct doca_dpa_thread *
dpa_call_thread(struct dpa_calls *t, struct dpa_call_kernel *kernel)
{
	struct doca_dpa_thread *thread;

	T_OK(doca_dpa_thread_create(t->dpa, &thread));
	T_OK(doca_dpa_thread_set_func_arg(thread, dpa_call_kernel_func(), (uintptr_t)kernel));
	T_OK(doca_dpa_thread_start(thread));
	return thread;
}

void
dpa_call_thread_destroy(struct doca_dpa_thread *thread)
{
	T_OK(doca_dpa_thread_stop(thread));
	T_OK(doca_dpa_thread_destroy(thread));
}

struct doca_dpa_completion *
dpa_call_completion(struct dpa_calls *t, unsigned int size, struct doca_dpa_thread *thread,
		doca_dpa_dev_completion_t *handle)
{
	struct doca_dpa_completion *comp;

	T_OK(doca_dpa_completion_create(t->dpa, size, &comp));
	if (thread != NULL)
		T_OK(doca_dpa_completion_set_thread(comp, thread));
	T_OK(doca_dpa_completion_start(comp));
	T_OK(doca_dpa_completion_get_dpa_handle(comp, handle));
	return comp;
}

void
dpa_call_completion_destroy(struct doca_dpa_completion *comp)
{
	T_OK(doca_dpa_completion_stop(comp));
	T_OK(doca_dpa_completion_destroy(comp));
}
