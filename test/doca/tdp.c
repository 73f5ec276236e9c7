/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <doca_log.h>

#include <comch_doca_dpa_app.h>

#include "t_capture.h"
#include "tdp.h"

/* Only their addresses matter. */
void
tdp_kernel_func(void)
{
	T_FAIL("the host calls a kernel");
}

void
tdp_rpc_func(void)
{
	T_FAIL("the host calls an RPC");
}

static void
pack(void *args, va_list *list, unsigned int nb)
{
	uint64_t *to = args;

	while (nb-- > 0)
		*to++ = va_arg(*list, uint64_t);
}

static void
pack_kernel(void *args, va_list *list)
{
	pack(args, list, 1);
}

static void
pack_rpc(void *args, va_list *list)
{
	pack(args, list, 2);
}

static uint64_t
call_kernel(const void *args)
{
	const struct tdp_kernel *kernel = (const void *)(uintptr_t)*(const uint64_t *)args;

	kernel->fn(kernel->arg);
	return 0;
}

static uint64_t
call_rpc(const void *args)
{
	const uint64_t *a = args;

	return ((tdp_rpc_t)(uintptr_t)a[0])((void *)(uintptr_t)a[1]);
}

static const struct comch_doca_dpa_func funcs[] = {
	{
		.name = "tdp_kernel_func",
		.func = tdp_kernel_func,
		.args_size = sizeof(uint64_t),
		.pack = pack_kernel,
		.call = call_kernel,
		.nb_args = 1,
	},
	{
		.name = "tdp_rpc_func",
		.func = tdp_rpc_func,
		.args_size = 2 * sizeof(uint64_t),
		.pack = pack_rpc,
		.call = call_rpc,
		.is_rpc = 1,
		.nb_args = 2,
	},
};

static const struct comch_doca_dpa_unit unit = { .funcs = funcs, .nb_funcs = RTE_DIM(funcs) };
static const struct comch_doca_dpa_unit *const units[] = { &unit };

struct doca_dpa_app tdp_app = {
	.version = COMCH_DOCA_DPA_APP_VERSION,
	.nb_units = RTE_DIM(units),
	.name = "tdp",
	.units = units,
};

/* The library's messages go to stderr, where tdp_rpc_faults() looks. */
static void
open_log(void)
{
	static struct doca_log_backend *log;

	if (log != NULL)
		return;
	TD_OK(doca_log_backend_create_with_file_sdk(stderr, &log));
	TD_OK(doca_log_backend_set_sdk_level(log, DOCA_LOG_LEVEL_WARNING));
}

void
tdp_open(struct tdp *t)
{
	open_log();
	t->dev = td_dev_open("dpu", "03:00.0");
	TD_OK(doca_dpa_create(t->dev, &t->dpa));
	TD_OK(doca_dpa_set_app(t->dpa, &tdp_app));
	TD_OK(doca_dpa_start(t->dpa));
}

void
tdp_close(struct tdp *t)
{
	TD_OK(doca_dpa_destroy(t->dpa));
	TD_OK(doca_dev_close(t->dev));
}

uint64_t
tdp_rpc(struct tdp *t, tdp_rpc_t fn, void *arg)
{
	uint64_t ret = 0;

	TD_OK(doca_dpa_rpc(t->dpa, tdp_rpc_func, &ret, (uint64_t)(uintptr_t)fn,
		(uint64_t)(uintptr_t)arg));
	return ret;
}

void
tdp_rpc_faults(struct tdp *t, tdp_rpc_t fn, void *arg, const char *text)
{
	const char *said;
	doca_error_t ret;
	uint64_t value;

	TD_OK(doca_dpa_peek_at_last_error(t->dpa));
	t_capture_begin();
	ret = doca_dpa_rpc(t->dpa, tdp_rpc_func, &value, (uint64_t)(uintptr_t)fn,
		(uint64_t)(uintptr_t)arg);
	said = t_capture_end();
	TD_IS(ret, DOCA_ERROR_DRIVER);
	T_STR_HAS(said, text);
	TD_IS(doca_dpa_peek_at_last_error(t->dpa), DOCA_ERROR_BAD_STATE);
}

struct doca_dpa_thread *
tdp_thread(struct tdp *t, struct tdp_kernel *kernel)
{
	struct doca_dpa_thread *thread;

	TD_OK(doca_dpa_thread_create(t->dpa, &thread));
	TD_OK(doca_dpa_thread_set_func_arg(thread, tdp_kernel_func, (uintptr_t)kernel));
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
