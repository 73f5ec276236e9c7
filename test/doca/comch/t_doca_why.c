/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Why a connection failed: DOCA's calls and states do not say, so the side that has the cause
 * prints a line.
 */

#include <sys/resource.h>

#include "comch/pair.h"
#include "common/child.h"
#include "common/logged.h"

/* Less than the memory of any connection, and enough for what a test prints. */
#define FEW_BYTES 4096

/* Neither side can make the memory of a connection. */
static void
connect_in_vain(void)
{
	struct rlimit before, limit;
	struct pair t;

	pair_create(&t);
	T_OK(doca_ctx_start(t.server.ctx));
	T_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = FEW_BYTES;
	T_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	T_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), ctx_is_idle(t.client.ctx));
	T_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
	pair_close(&t);
}

T_CASE(without_a_backend)
{
	static struct child_run run;

	child_run(&run, connect_in_vain);
	T_EQ(run.status, 0);
	T_STR_HAS(run.err, "RLIMIT_FSIZE");
}

static void
connect_with_backend(void)
{
	logged_begin();
	connect_in_vain();
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
