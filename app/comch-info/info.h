/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef INFO_H
#define INFO_H

/*
 * comch-info: finds processes by their telemetry sockets (query.c), asks
 * each for its objects (collect.c), and prints what they say (print.c,
 * explain.c). --dev looks at a device itself (device.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#include <jansson.h>

/** Exit statuses. */
#define INFO_FAILED 1
#define INFO_USAGE  2

#define INFO_ERR(fmt, ...) fprintf(stderr, "comch-info: " fmt "\n", ##__VA_ARGS__)

/* options.c */

struct info_options {
	const char *dev;         /**< --dev; NULL: look at processes. */
	const char *file_prefix; /**< NULL: all processes. */
	bool explain;
	uint32_t explain_conn;
	uint32_t watch_ms;       /**< 0: once. */
	bool json;
	bool done;               /**< --help, --version...: nothing else to do. */
};

/* 0, or -1 after saying what is wrong. */
int info_options_parse(struct info_options *opts, int argc, char **argv);

/* query.c */

struct info_process {
	char prefix[64]; /**< --file-prefix that EAL was given. */
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	int fd;
	long long pid;
	char eal[64];    /**< "DPDK 22.11.11" */
	size_t reply_size;
	bool lost;       /**< It did not answer: what it says later answers something else. */
};

#define INFO_MAX_PROCESSES 256

struct info_found {
	char dir[256]; /**< Where was looked. */
	struct info_process process[INFO_MAX_PROCESSES];
	unsigned int nb;
	unsigned int nb_denied; /**< Sockets that we may not use. */
};

/* Connect to all processes, or to those of one prefix. */
void info_find(struct info_found *found, const char *prefix);
void info_found_close(struct info_found *found);
/*
 * Ask one question, "/comch/conn/info,1". A new reference; NULL if the process
 * has no answer: it does not know the command, or not the object.
 */
json_t *info_ask(struct info_process *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* collect.c */

/* All objects of a process; NULL if it does not use comch, or stops answering. */
json_t *info_collect(struct info_process *p);
/* Put msgs and bytes a second into what was collected, from an earlier one. */
void info_rates(json_t *now, const json_t *before, double seconds);

/* print.c */

void info_print_process(const json_t *process);
/* "64 KiB" */
const char *info_size_text(char *buf, size_t size, json_int_t bytes);
/* What came from elsewhere, fit for a terminal. */
const char *info_safe_text(char *buf, size_t size, const char *text);

/* explain.c */

void info_print_explain(const json_t *reply);

/* device.c */

/* Probe a device string in an EAL of our own. Returns the exit status. */
int info_device(const char *devargs, bool as_json);

#endif /* INFO_H */
