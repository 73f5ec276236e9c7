/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DPA_PROGRAM_H
#define DPA_PROGRAM_H

/*
 * The emulated DPA in tests: an application made by hand of C functions, as
 * comch-dpacc would make it, a context, and what the library logs.
 */

#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <comch_doca_dpa_app.h>
#include <doca_dev.h>
#include <doca_dpa.h>
#include <doca_dpa_dev.h>

#include "common/result.h"
#include "t_main.h"

/* A kernel, and an RPC, of one uint64_t. */
#define DPA_GLUE_(fn, ret) \
	static void fn##_pack(void *args, va_list *list) \
	{ \
		*(uint64_t *)args = va_arg(*list, uint64_t); \
	} \
	static uint64_t fn##_call(const void *args) \
	{ \
		ret fn(*(const uint64_t *)args); \
		DPA_END_##ret \
	}
#define DPA_END_ return 0;
#define DPA_END_return
#define DPA_KERNEL(fn) DPA_GLUE_(fn, )
#define DPA_RPC(fn) DPA_GLUE_(fn, return)

#define DPA_FUNC(fn, rpc) \
	{ #fn, (doca_dpa_func_t *)(void (*)(void))fn, sizeof(uint64_t), fn##_pack, fn##_call, \
		rpc, 1 }

/* An application of one unit of these functions: define the array first. */
#define DPA_APP(app, funcs) \
	static const struct comch_doca_dpa_unit app##_unit = { funcs, RTE_DIM(funcs) }; \
	static const struct comch_doca_dpa_unit *const app##_units[] = { &app##_unit }; \
	static struct doca_dpa_app app = { \
		COMCH_DOCA_DPA_APP_VERSION, 1, #app, app##_units \
	}

/* As the host names a function of the application. */
#define DPA_HOST_FUNC(fn) ((doca_dpa_func_t *)(void (*)(void))(fn))

/* Have a device table whose device says this as well: "dpa_cpus = 0\n". Before the
 * first device is opened.
 */
void dpa_program_table(const char *keys);
/* The i-th device of the host. */
struct doca_dev *host_dev(unsigned int i);
/* A context of the first one with an application, started. */
struct doca_dpa *dpa_program_start(struct doca_dpa_app *app);
/* And its end, with the device's. */
void dpa_program_end(struct doca_dpa *dpa);

/* DPA_CASE(name, dpa) { ... }: a case with a context of the file's application, app. */
#define DPA_CASE(name, dpa) \
	static void name##_of(struct doca_dpa *dpa); \
	T_CASE(name) \
	{ \
		struct doca_dpa *of_ = dpa_program_start(&app); \
		name##_of(of_); \
		dpa_program_end(of_); \
	} \
	static void \
	name##_of(struct doca_dpa *dpa)

/* A thread of it that runs a kernel; a notification completion for it and its handle. */
struct kernel_thread {
	struct doca_dpa_thread *thread;
	struct doca_dpa_notification_completion *comp;
	doca_dpa_dev_notification_completion_t handle;
};

/* Created and started, not run. */
void kernel_thread_start(struct kernel_thread *t, struct doca_dpa *dpa, doca_dpa_func_t *func,
		uint64_t arg);
void kernel_thread_end(struct kernel_thread *t);

/* From here on lines of the library and of the program are kept, ... */
void log_keep(void);
/* ... which are so far. */
const char *log_kept(void);

#endif /* DPA_PROGRAM_H */
