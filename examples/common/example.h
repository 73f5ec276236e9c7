/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef EXAMPLE_H
#define EXAMPLE_H

/*
 * What all examples share, and what has nothing to do with comch: splitting
 * the command line, starting EAL, Ctrl-C, numbers. The one comch matter here
 * is example_sleep(), the few lines that turn a busy loop into one that
 * sleeps.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include <rte_comch.h>
#include <rte_comch_poll.h>

/* The program's name, for messages. */
extern const char *example_name;
/* Set by example_stop() and by the first Ctrl-C (SIGINT) or SIGTERM; the second one kills. */
extern atomic_bool example_quit;

/* An option of a program: a text, a number (with suffix K, M, G) or a flag. */
struct example_option {
	char letter;
	const char *name;
	const char *arg;    /* What --help calls its argument; NULL: it is a flag. */
	const char *help;
	const char **text;  /* One of these three; it holds the default. */
	uint64_t *number;
	bool *flag;
	uint64_t min;
	uint64_t max;
};

#define EXAMPLE_TEXT(let, nm, ar, hlp, ptr) \
	{ .letter = (let), .name = (nm), .arg = (ar), .help = (hlp), .text = (ptr) }
#define EXAMPLE_NUMBER(let, nm, ar, hlp, ptr, lo, hi) \
	{ .letter = (let), .name = (nm), .arg = (ar), .help = (hlp), .number = (ptr), \
	  .min = (lo), .max = (hi) }
#define EXAMPLE_FLAG(let, nm, hlp, ptr) \
	{ .letter = (let), .name = (nm), .help = (hlp), .flag = (ptr) }

/*
 * Parse the command line: what is before "--" is kept for EAL, what is after
 * is the program's. Without "--" all of it is the program's. -h and --help
 * come by themselves. Returns 0 to go on, 1 after --help, -1 with a line on
 * stderr.
 */
int example_options(int argc, char **argv, const struct example_option *options,
		unsigned int n);

/*
 * Start EAL with the options before "--", or else with options that work on
 * any machine, without root or hugepages, for nb_lcores lcores. Also catches
 * Ctrl-C. Returns 0, or -1 with a line on stderr.
 */
int example_start(unsigned int nb_lcores);

/* What Ctrl-C does: set example_quit and wake all sleepers. Any thread. */
void example_stop(void);

/* Give EAL back. */
void example_end(void);

/*
 * Sleep until the poll has something to do, Ctrl-C, or timeout_ms (-1: none).
 * Returns at once when something arrived meanwhile.
 */
void example_sleep(struct rte_comch_poll *comch_poll, int timeout_ms);

/*
 * The same for a thread that also waits for fd to become readable; -1 for
 * none. Returns true when it is.
 */
bool example_sleep_fd(struct rte_comch_poll *comch_poll, int fd, int timeout_ms);

/* Seconds since some point in the past. */
double example_now(void);

/* Continue a checksum over len bytes; begin with 0. */
uint64_t example_sum(uint64_t sum, const void *data, size_t len);

/* Print "what: why" for a positive or negative errno. Returns -1. */
int example_error(const char *what, int err);

/* An error, on stderr, with the program's name. */
#define EXAMPLE_ERR(fmt, ...) \
	fprintf(stderr, "%s: " fmt "\n", example_name, ##__VA_ARGS__)

#endif /* EXAMPLE_H */
