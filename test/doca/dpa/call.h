/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DPA_CALL_H
#define DPA_CALL_H

/*
 * The emulated DPA in tests whose device code is more than a function or two: an
 * application whose RPC and kernel call whatever function the test passes.
 */

#include "dpa/program.h"
#include "t_main.h"

struct dpa_calls {
	struct doca_dev *dev;
	struct doca_dpa *dpa;
};

/* What a kernel runs, in each activation. */
struct dpa_call_kernel {
	void (*fn)(void *arg);
	void *arg;
};

typedef uint64_t (*dpa_call_t)(void *arg);

/* The kernel, whose argument is a struct dpa_call_kernel. */
doca_dpa_func_t *dpa_call_kernel_func(void);

/* A started context, and its end. */
void dpa_calls_open(struct dpa_calls *t);
void dpa_calls_close(struct dpa_calls *t);
/* DPA_CALLS_CASE(name, t) { ... }: a case with one. */
#define DPA_CALLS_CASE(name, t) \
	T_CASE_OF(struct dpa_calls, dpa_calls_open, dpa_calls_close, name, t)
/* Call fn as device code; what it returned. */
uint64_t dpa_call(struct dpa_calls *t, dpa_call_t fn, void *arg);
/* The same, but it is a fault, and the log has the text. The context is broken. */
void dpa_call_faults(struct dpa_calls *t, dpa_call_t fn, void *arg, const char *text);
/* A thread that is started; its kernel is there as long as it is. */
struct doca_dpa_thread *dpa_call_thread(struct dpa_calls *t, struct dpa_call_kernel *kernel);
void dpa_call_thread_destroy(struct doca_dpa_thread *thread);
/* A completion that is started, and its handle. */
struct doca_dpa_completion *dpa_call_completion(struct dpa_calls *t, unsigned int size,
		struct doca_dpa_thread *thread, doca_dpa_dev_completion_t *handle);
void dpa_call_completion_destroy(struct doca_dpa_completion *comp);

#endif /* DPA_CALL_H */
