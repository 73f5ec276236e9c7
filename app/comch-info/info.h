/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef INFO_H
#define INFO_H

/*
 * comch-info: finds processes by their telemetry sockets (query.c), requests their
 * objects (collect.c), and prints the replies (print.c, explain.c). --dev opens a device
 * itself, and --scan lists hardware (device.c).
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
	const char *dev;         /**< --dev; NULL: query processes. */
	const char *scan;        /**< --scan: driver. */
	const char *file_prefix; /**< NULL: all processes. */
	bool explain;
	uint32_t explain_conn;
	uint32_t watch_ms;       /**< 0: once. */
	bool json;
	bool done;               /**< --help, --version...: exit now. */
};

/* Returns 0, or -1 after printing an error. */
int info_options_parse(struct info_options *opts, int argc, char **argv);

/* query.c */

struct info_process {
	char prefix[64]; /**< EAL's --file-prefix. */
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	int fd;
	long long pid;
	char eal[64];    /**< "DPDK 22.11.11" */
	size_t reply_size;
	bool lost;       /**< A reply is missing: later ones would match the wrong request. */
};

#define INFO_MAX_PROCESSES 256

struct info_found {
	char dir[256]; /**< Directory that was searched. */
	struct info_process process[INFO_MAX_PROCESSES];
	unsigned int nb;
	unsigned int nb_denied; /**< Sockets without permission. */
	unsigned int nb_full;   /**< Processes with as many clients as EAL allows. */
};

/* Connect to all processes, or to those with one prefix. */
void info_find(struct info_found *found, const char *prefix);
void info_found_close(struct info_found *found);
/*
 * Send one request, such as "/comch/conn/info,1". Returns a new reference, or NULL if the
 * process does not know the command or the object.
 */
json_t *info_ask(struct info_process *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* collect.c */

/* All objects of a process; NULL if it does not use comch, or stops answering. */
json_t *info_collect(struct info_process *p);
/* Add rates per second to collected objects, from an earlier collection. */
void info_rates(json_t *now, const json_t *before, double seconds);

/* print.c */

void info_print_process(const json_t *process);
/* "64 KiB" */
const char *info_size_text(char *buf, size_t size, json_int_t bytes);
/* Replace bytes that are not printable ASCII. */
const char *info_safe_text(char *buf, size_t size, const char *text);

/* explain.c */

void info_print_explain(const json_t *reply);

/* device.c */

/* Start EAL and probe a device string. Returns the exit status. */
int info_device(const char *devargs, bool as_json);
/* Show the hardware that a driver could use. INFO_FAILED if there is none. */
int info_scan(const char *driver, bool as_json);

#endif /* INFO_H */
