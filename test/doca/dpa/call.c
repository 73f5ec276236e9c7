/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "dpa/call.h"

struct call {
	tdp_rpc_t fn;
	void *arg;
};

static void
run_kernel(uint64_t arg)
{
	const struct tdp_kernel *kernel = (const void *)(uintptr_t)arg;

	kernel->fn(kernel->arg);
}

static uint64_t
run_rpc(uint64_t arg)
{
	const struct call *call = (const void *)(uintptr_t)arg;

	return call->fn(call->arg);
}

TDPA_KERNEL(run_kernel)
TDPA_RPC(run_rpc)

static const struct comch_doca_dpa_func funcs[] = {
	TDPA_FUNC(run_kernel, 0),
	TDPA_FUNC(run_rpc, 1),
};

TDPA_APP(app, funcs);

doca_dpa_func_t *
tdp_kernel_func(void)
{
	return TDPA_F(run_kernel);
}

void
tdp_open(struct tdp *t)
{
	static bool is_logged;

	if (!is_logged)
		tdpa_log_begin();
	is_logged = true;
	t->dev = tdpa_dev(0);
	TD_OK(doca_dpa_create(t->dev, &t->dpa));
	TD_OK(doca_dpa_set_app(t->dpa, &app));
	TD_OK(doca_dpa_start(t->dpa));
}

void
tdp_close(struct tdp *t)
{
	TD_OK(doca_dpa_destroy(t->dpa));
	TD_OK(doca_dev_close(t->dev));
}

static doca_error_t
rpc(struct tdp *t, tdp_rpc_t fn, void *arg, uint64_t *ret)
{
	struct call call = { fn, arg };

	return doca_dpa_rpc(t->dpa, TDPA_F(run_rpc), ret, (uint64_t)(uintptr_t)&call);
}

uint64_t
tdp_rpc(struct tdp *t, tdp_rpc_t fn, void *arg)
{
	uint64_t ret = 0;

	TD_OK(rpc(t, fn, arg, &ret));
	return ret;
}

void
tdp_rpc_faults(struct tdp *t, tdp_rpc_t fn, void *arg, const char *text)
{
	size_t before = strlen(tdpa_log());
	uint64_t value;

	TD_OK(doca_dpa_peek_at_last_error(t->dpa));
	TD_IS(rpc(t, fn, arg, &value), DOCA_ERROR_DRIVER);
	T_STR_HAS(tdpa_log() + before, text);
	TD_IS(doca_dpa_peek_at_last_error(t->dpa), DOCA_ERROR_BAD_STATE);
}

struct doca_dpa_thread *
tdp_thread(struct tdp *t, struct tdp_kernel *kernel)
{
	struct doca_dpa_thread *thread;

	TD_OK(doca_dpa_thread_create(t->dpa, &thread));
	TD_OK(doca_dpa_thread_set_func_arg(thread, tdp_kernel_func(), (uintptr_t)kernel));
	TD_OK(doca_dpa_thread_start(thread));
	return thread;
}

void
tdp_thread_destroy(struct doca_dpa_thread *thread)
{
	TD_OK(doca_dpa_thread_stop(thread));
	TD_OK(doca_dpa_thread_destroy(thread));
}

struct doca_dpa_completion *
tdp_completion(struct tdp *t, unsigned int size, struct doca_dpa_thread *thread,
		doca_dpa_dev_completion_t *handle)
{
	struct doca_dpa_completion *comp;

	TD_OK(doca_dpa_completion_create(t->dpa, size, &comp));
	if (thread != NULL)
		TD_OK(doca_dpa_completion_set_thread(comp, thread));
	TD_OK(doca_dpa_completion_start(comp));
	TD_OK(doca_dpa_completion_get_dpa_handle(comp, handle));
	return comp;
}

void
tdp_completion_destroy(struct doca_dpa_completion *comp)
{
	TD_OK(doca_dpa_completion_stop(comp));
	TD_OK(doca_dpa_completion_destroy(comp));
}
