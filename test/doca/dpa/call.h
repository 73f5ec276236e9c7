/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TDP_H
#define TDP_H

/*
 * The emulated DPA in tests whose device code is more than a function or two: an
 * application whose RPC and kernel call whatever function the test passes.
 */

#include "dpa/program.h"

struct tdp {
	struct doca_dev *dev;
	struct doca_dpa *dpa;
};

/* What a kernel runs, in each activation. */
struct tdp_kernel {
	void (*fn)(void *arg);
	void *arg;
};

typedef uint64_t (*tdp_rpc_t)(void *arg);

/* The kernel, whose argument is a struct tdp_kernel. */
doca_dpa_func_t *tdp_kernel_func(void);

/* A started context, and its end. */
void tdp_open(struct tdp *t);
void tdp_close(struct tdp *t);
/* Call fn as device code; what it returned. */
uint64_t tdp_rpc(struct tdp *t, tdp_rpc_t fn, void *arg);
/* The same, but it is a fault, and the log has the text. The context is broken. */
void tdp_rpc_faults(struct tdp *t, tdp_rpc_t fn, void *arg, const char *text);
/* A thread that is started; its kernel is there as long as it is. */
struct doca_dpa_thread *tdp_thread(struct tdp *t, struct tdp_kernel *kernel);
void tdp_thread_destroy(struct doca_dpa_thread *thread);
/* A completion that is started, and its handle. */
struct doca_dpa_completion *tdp_completion(struct tdp *t, unsigned int size,
		struct doca_dpa_thread *thread, doca_dpa_dev_completion_t *handle);
void tdp_completion_destroy(struct doca_dpa_completion *comp);

#endif /* TDP_H */
