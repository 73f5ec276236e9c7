/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "info.h"

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
report_full(const struct info_found *found)
{
	if (found->nb_full > 0)
		INFO_ERR("%u DPDK processes have 10 telemetry clients, as many as EAL allows: "
			"end one", found->nb_full);
}

static void
report_nothing_found(const struct info_found *found, const struct info_options *opts)
{
	/* One of those may be what is looked for. */
	if (found->nb_full > 0)
		return;
	INFO_ERR("no program with comch and telemetry in %s/%s/dpdk_telemetry.v2*",
		found->dir, opts->file_prefix != NULL ? opts->file_prefix : "*");
	if (found->nb > 0)
		INFO_ERR("found %u DPDK processes without comch", found->nb);
	if (found->nb_denied > 0)
		INFO_ERR("no permission for %u sockets or directories", found->nb_denied);
	INFO_ERR("a program that starts EAL with --no-telemetry is not found; see --help");
}

/* Find the same process in the previous round. */
static const json_t *
find_process(const json_t *processes, const json_t *process)
{
	const json_t *p;
	size_t i;

	json_array_foreach(processes, i, p)
		if (json_equal(json_object_get(p, "pid"), json_object_get(process, "pid")) &&
				json_equal(json_object_get(p, "prefix"),
					json_object_get(process, "prefix")))
			return p;
	return NULL;
}

static json_t *
collect_all(struct info_found *found, const json_t *before, double seconds)
{
	json_t *all = json_array(), *process;
	unsigned int i;

	for (i = 0; i < found->nb; i++) {
		process = info_collect(&found->process[i]);
		if (process == NULL)
			continue;
		info_rates(process, find_process(before, process), seconds);
		json_array_append_new(all, process);
	}
	return all;
}

static void
print_json(const json_t *json)
{
	json_dumpf(json, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	printf("\n");
}

static void
print_all(const json_t *all, void (*print)(const json_t *process))
{
	json_t *process;
	size_t i;

	json_array_foreach(all, i, process) {
		if (i > 0)
			printf("\n");
		print(process);
	}
}

/* All objects of all processes. */
static int
show_objects(struct info_found *found, const struct info_options *opts)
{
	static json_t *before;
	static double then;
	double time = now();
	json_t *all;

	all = collect_all(found, before, time - then);
	if (json_array_size(all) == 0)
		report_nothing_found(found, opts);
	else if (opts->json)
		print_json(all);
	else
		print_all(all, info_print_process);
	json_decref(before);
	before = all;
	then = time;
	return json_array_size(all) > 0 ? 0 : INFO_FAILED;
}

/* Explanation of one connection; NULL if the process has no such connection. */
static json_t *
ask_explain(struct info_process *p, uint32_t conn)
{
	json_t *reply = info_ask(p, "/comch/explain,%u", conn);

	if (reply == NULL)
		return NULL;
	json_object_set_new(reply, "prefix", json_string(p->prefix));
	json_object_set_new(reply, "pid", json_integer(p->pid));
	return reply;
}

/* Ask all processes for the connection, because ids are per process. */
static int
show_explain(struct info_found *found, const struct info_options *opts)
{
	json_t *all = json_array(), *reply;
	unsigned int i, nb_comch = 0;
	size_t nb;

	for (i = 0; i < found->nb; i++) {
		reply = info_ask(&found->process[i], "/comch/dev/list");
		nb_comch += reply != NULL;
		json_decref(reply);
		reply = ask_explain(&found->process[i], opts->explain_conn);
		if (reply != NULL)
			json_array_append_new(all, reply);
	}
	nb = json_array_size(all);
	if (nb_comch == 0)
		report_nothing_found(found, opts);
	else if (nb == 0)
		INFO_ERR("no connection %u in %u programs with comch", opts->explain_conn,
			nb_comch);
	else if (opts->json)
		print_json(all);
	else
		print_all(all, info_print_explain);
	json_decref(all);
	return nb > 0 ? 0 : INFO_FAILED;
}

static int
show_once(const struct info_options *opts)
{
	static struct info_found found;
	int ret;

	info_find(&found, opts->file_prefix);
	report_full(&found);
	ret = opts->explain ? show_explain(&found, opts) : show_objects(&found, opts);
	info_found_close(&found);
	return fflush(stdout) == 0 ? ret : INFO_FAILED;
}

static int
watch(const struct info_options *opts)
{
	const struct timespec pause = {
		.tv_sec = opts->watch_ms / 1000,
		.tv_nsec = (long)(opts->watch_ms % 1000) * 1000000,
	};
	bool clear = isatty(STDOUT_FILENO) && !opts->json;
	int ret;

	/* Until the programs have exited, or Ctrl-C. */
	for (;;) {
		if (clear)
			fputs("\033[H\033[2J", stdout);
		ret = show_once(opts);
		if (ret != 0)
			return ret;
		if (!clear && !opts->json)
			printf("\n");
		nanosleep(&pause, NULL);
	}
}

int
main(int argc, char **argv)
{
	struct info_options opts;

	if (info_options_parse(&opts, argc, argv) != 0)
		return INFO_USAGE;
	if (opts.done)
		return 0;
	if (opts.dev != NULL)
		return info_device(opts.dev, opts.json);
	if (opts.scan != NULL)
		return info_scan(opts.scan, opts.json);
	return opts.watch_ms != 0 ? watch(&opts) : show_once(&opts);
}
