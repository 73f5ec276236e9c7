/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Why a connection failed: DOCA's calls and states do not say, so the side that has the cause
 * prints a line.
 */

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "comch/pair.h"
#include "common/child.h"
#include "common/logged.h"

/* Less than the memory of any connection, and enough for what a test prints. */
#define FEW_BYTES 4096

/* Neither side can make the memory of a connection once this is done to the process. */
static void
connect_in_vain(void (*spoil)(void))
{
	struct pair t;

	pair_create(&t);
	T_OK(doca_ctx_start(t.server.ctx));
	spoil();
	T_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), ctx_is_idle(t.client.ctx));
	pair_close(&t);
}

static void
limit_files(void)
{
	struct rlimit limit;

	T_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = FEW_BYTES;
	T_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void
connect_limited(void)
{
	struct rlimit before;

	T_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
	connect_in_vain(limit_files);
	/* A build that measures coverage writes files at exit. */
	T_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

T_CASE(without_a_backend)
{
	static struct child_run run;

	child_run(&run, connect_limited);
	T_EQ(run.status, 0);
	T_STR_HAS(run.err, "RLIMIT_FSIZE");
}

static void
connect_with_backend(void)
{
	logged_begin();
	connect_limited();
	fputs(logged_end(), stdout);
}

T_CASE(with_a_backend)
{
	static struct child_run run;

	child_run(&run, connect_with_backend);
	T_EQ(run.status, 0);
	T_STR_HAS(run.out, "RLIMIT_FSIZE");
	/* A warning; stderr has errors only. */
	T_CHECK(strstr(run.err, "RLIMIT_FSIZE") == NULL);
}

/* As a container's filter does. */
static void
deny_memfd(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = RTE_DIM(filter), .filter = filter };

	T_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	T_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
}

static void
connect_denied(void)
{
	connect_in_vain(deny_memfd);
}

T_CASE(memfd_is_denied)
{
	static struct child_run run;

	child_run(&run, connect_denied);
	T_EQ(run.status, 0);
	T_STR_HAS(run.err, "memfd_create: Operation not permitted");
}

/* Descriptors that the process may open besides those that it has. */
static unsigned int spare;

static bool
is_starting(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	T_OK(doca_ctx_get_state(ctx, &state));
	return state == DOCA_CTX_STATE_STARTING;
}

static void
connect_with_few(void)
{
	struct rlimit before, limit;
	struct pair t;
	int first;

	pair_create(&t);
	T_OK(doca_ctx_start(t.server.ctx));
	T_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	/* All below the first free one are in use. */
	first = dup(0);
	T_GE(first, 0);
	close(first);
	limit.rlim_cur = (rlim_t)first + spare;
	T_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (doca_ctx_start(t.client.ctx) == DOCA_ERROR_IN_PROGRESS)
		T_WAIT(pair_progress(&t), !is_starting(t.client.ctx));
	T_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	if (!ctx_is_idle(t.client.ctx))
		printf("connected\n");
	pair_close(&t);
}

/* With too few for it, each step of the handshake names what it lacks. */
T_CASE(few_descriptors)
{
	static struct child_run run;
	unsigned int failed = 0;

	for (spare = 0; spare < 16; spare++) {
		child_run(&run, connect_with_few);
		T_EQ(run.status, 0);
		if (strstr(run.out, "connected") != NULL)
			break;
		fprintf(stderr, "%u spare descriptors: %s\n", spare, run.err);
		T_CHECK(strstr(run.err, "Too many open files") != NULL ||
			strstr(run.err, "descriptors") != NULL);
		failed++;
	}
	T_GT(failed, 0);
	T_LT(spare, 16);
}
