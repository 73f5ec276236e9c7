/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Log and trace lines of device code.
 */

#include <stdlib.h>
#include <unistd.h>

#include "common/capture.h"
#include "dpa/program.h"
#include "t_main.h"

static uint64_t
say(uint64_t arg)
{
	DOCA_DPA_DEV_LOG_ERR("error %d", (int)arg);
	DOCA_DPA_DEV_LOG_WARN("warning %d\n", (int)arg);
	DOCA_DPA_DEV_LOG_INFO("info %d %s", (int)arg, "text");
	DOCA_DPA_DEV_LOG_DBG("debug %d", (int)arg);
	doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_DISABLE, "never");
	doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_ERROR, "%s", "");
	return 0;
}

static uint64_t
trace(uint64_t arg)
{
	doca_dpa_dev_trace(arg, 2, 3, 4, UINT64_MAX);
	if (arg == 1)
		doca_dpa_dev_trace_flush();
	return 0;
}

/* Only the kernel of a DPA thread may. */
static uint64_t
fault(uint64_t arg __rte_unused)
{
	doca_dpa_dev_thread_reschedule();
	return 0;
}

DPA_RPC(say)
DPA_RPC(trace)
DPA_RPC(fault)

static const struct comch_doca_dpa_func funcs[] = {
	DPA_FUNC(say, 1),
	DPA_FUNC(trace, 1),
	DPA_FUNC(fault, 1),
};
DPA_APP(app, funcs);

static void
call(struct doca_dpa *dpa, void *func, uint64_t arg)
{
	uint64_t ret;

	T_OK(doca_dpa_rpc(dpa, DPA_HOST_FUNC(func), &ret, arg));
}

static const char *
path_of(const char *name)
{
	static char path[2][512];
	static unsigned int i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s", t_dir(), name);
	return path[i];
}

static const char *
content(const char *path)
{
	static char text[4096];
	FILE *f = fopen(path, "r");
	size_t len;

	T_CHECK(f != NULL);
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[len] = '\0';
	return text;
}

DPA_CASE(lines_go_to_the_program_s_log, dpa)
{
	const char *text;

	log_keep();
	call(dpa, say, 5);
	text = log_kept();
	T_STR_HAS(text, "][DPA][ERR][dpa-say:0][say] error 5\n[");
	T_STR_HAS(text, "][DPA][WRN][dpa-say:0][say] warning 5\n[");
	T_STR_HAS(text, "][DPA][INF][dpa-say:0][say] info 5 text\n[");
	T_STR_HAS(text, "[say] \n");
	T_CHECK(strstr(text, "debug") == NULL && strstr(text, "never") == NULL);
	T_CHECK(strstr(text, "\n\n") == NULL);
	/* A host thread has no context, and so no level. */
	say(6);
	T_STR_HAS(log_kept(), "][DPA][DBG][dpa-host:0][host] debug 6\n");
}

T_CASE(the_level_of_the_context_counts)
{
	static const struct {
		doca_dpa_dev_log_level_t level;
		const char *last, *none;
	} tries[] = {
		{ DOCA_DPA_DEV_LOG_LEVEL_DISABLE, "", "error" },
		{ DOCA_DPA_DEV_LOG_LEVEL_ERROR, "error", "warning" },
		{ DOCA_DPA_DEV_LOG_LEVEL_WARNING, "warning", "info" },
		{ DOCA_DPA_DEV_LOG_LEVEL_INFO, "info", "debug" },
		{ DOCA_DPA_DEV_LOG_LEVEL_DEBUG, "debug", "never" },
	};
	unsigned int i;

	log_keep();
	for (i = 0; i < RTE_DIM(tries); i++) {
		struct doca_dpa *dpa = dpa_program_start(&app);
		char want[16];

		T_OK(doca_dpa_stop(dpa));
		T_OK(doca_dpa_set_log_level(dpa, tries[i].level));
		T_OK(doca_dpa_start(dpa));
		call(dpa, say, i);
		snprintf(want, sizeof(want), "%s %u", tries[i].last, i);
		T_CHECK(i == 0 || strstr(log_kept(), want) != NULL);
		snprintf(want, sizeof(want), "%s %u", tries[i].none, i);
		T_CHECK(strstr(log_kept(), want) == NULL);
		dpa_program_end(dpa);
	}
}

DPA_CASE(paths_are_set_and_got, dpa)
{
	doca_error_t (*const set[])(struct doca_dpa *dpa, const char *path) = {
		doca_dpa_log_file_set_path, doca_dpa_trace_file_set_path,
	};
	doca_error_t (*const get[])(struct doca_dpa *dpa, char *path, uint32_t *len) = {
		doca_dpa_log_file_get_path, doca_dpa_trace_file_get_path,
	};
	unsigned int i;
	char path[16];
	uint32_t len;

	for (i = 0; i < RTE_DIM(set); i++) {
		T_IS(set[i](dpa, "stdout"), DOCA_ERROR_BAD_STATE);
		T_OK(doca_dpa_stop(dpa));
		len = sizeof(path);
		T_OK(get[i](dpa, path, &len));
		T_EQ(len, 1);
		T_STR_EQ(path, "");
		T_INVALID(set[i](NULL, "stdout"));
		T_INVALID(set[i](dpa, NULL));
		T_INVALID(set[i](dpa, ""));
		T_OK(set[i](dpa, "/dev/null"));
		T_OK(set[i](dpa, "stdout"));
		T_INVALID(get[i](NULL, path, &len));
		T_INVALID(get[i](dpa, path, NULL));
		len = 0;
		T_OK(get[i](dpa, NULL, &len));
		T_EQ(len, 7);
		len = 6;
		T_INVALID(get[i](dpa, path, &len));
		T_EQ(len, 7);
		T_OK(get[i](dpa, path, &len));
		T_STR_EQ(path, "stdout");
		T_OK(doca_dpa_start(dpa));
	}
}

T_CASE(lines_go_to_a_file)
{
	struct doca_dpa *dpa = dpa_program_start(&app);
	const char *path = path_of("log");

	log_keep();
	T_OK(doca_dpa_stop(dpa));
	T_OK(doca_dpa_log_file_set_path(dpa, path));
	T_OK(doca_dpa_start(dpa));
	call(dpa, say, 5);
	T_STR_EQ(content(path), "[ERR][dpa-say:0] error 5\n[WRN][dpa-say:0] warning 5\n"
		"[INF][dpa-say:0] info 5 text\n[ERR][dpa-say:0] \n");
	/* A start empties it. */
	T_OK(doca_dpa_stop(dpa));
	T_OK(doca_dpa_set_log_level(dpa, DOCA_DPA_DEV_LOG_LEVEL_DEBUG));
	T_OK(doca_dpa_start(dpa));
	T_STR_EQ(content(path), "");
	call(dpa, say, 6);
	T_STR_HAS(content(path), "[DBG][dpa-say:0] debug 6\n");
	dpa_program_end(dpa);
	T_STR_EQ(log_kept(), "");
}

DPA_CASE(stderr_is_understood, dpa)
{
	T_OK(doca_dpa_stop(dpa));
	T_OK(doca_dpa_log_file_set_path(dpa, "stderr"));
	T_OK(doca_dpa_trace_file_set_path(dpa, "stderr"));
	t_capture_begin();
	T_OK(doca_dpa_start(dpa));
	call(dpa, say, 5);
	call(dpa, trace, 9);
	T_OK(doca_dpa_stop(dpa));
	T_STR_HAS(t_capture_end(), "info 5 text\n[ERR][dpa-say:0] \n"
		"[dpa-trace:0] trace 0x9 0x2 0x3 0x4 0xffffffffffffffff\n");
	T_EQ(access("stderr", F_OK), -1);
	T_OK(doca_dpa_start(dpa));
}

/* A program without a backend for the library's lines hears of a fault as well. */
DPA_CASE(fault_is_said, dpa)
{
	uint64_t ret;

	t_capture_begin();
	T_IS(doca_dpa_rpc(dpa, DPA_HOST_FUNC(fault), &ret, 0), DOCA_ERROR_DRIVER);
	T_STR_HAS(t_capture_end(), "RPC fault: doca_dpa_dev_thread_reschedule: allowed in "
		"the kernel of a DPA thread only\n");
}

T_CASE(traces_go_to_a_file)
{
	struct doca_dpa *dpa = dpa_program_start(&app);
	const char *path = path_of("trace");

	log_keep();
	T_OK(doca_dpa_stop(dpa));
	T_OK(doca_dpa_trace_file_set_path(dpa, path));
	T_OK(doca_dpa_start(dpa));
	call(dpa, trace, 0);
	call(dpa, trace, 1);
	T_STR_EQ(content(path), "[dpa-trace:0] trace 0x0 0x2 0x3 0x4 0xffffffffffffffff\n"
		"[dpa-trace:0] trace 0x1 0x2 0x3 0x4 0xffffffffffffffff\n");
	call(dpa, trace, 2);
	T_OK(doca_dpa_stop(dpa));
	T_STR_HAS(content(path), "trace 0x2 ");
	T_OK(doca_dpa_start(dpa));
	dpa_program_end(dpa);
	T_STR_EQ(log_kept(), "");
}

DPA_CASE(without_a_file_traces_are_for_debugging, dpa)
{
	log_keep();
	call(dpa, trace, 1);
	T_STR_HAS(log_kept(), "[DPA][DBG][dpa-trace:0][trace] trace 0x1 0x2 0x3 0x4 0xff");
}

DPA_CASE(a_file_that_does_not_open_is_told_of, dpa)
{
	log_keep();
	T_OK(doca_dpa_stop(dpa));
	T_OK(doca_dpa_log_file_set_path(dpa, path_of("log")));
	T_OK(doca_dpa_trace_file_set_path(dpa, "/nowhere/trace"));
	T_IS(doca_dpa_start(dpa), DOCA_ERROR_DRIVER);
	T_STR_HAS(log_kept(), "DPA: open /nowhere/trace for log or trace lines: No such");
	T_OK(doca_dpa_trace_file_set_path(dpa, path_of("trace")));
	T_OK(doca_dpa_start(dpa));
}
