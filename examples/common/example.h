/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef EXAMPLE_H
#define EXAMPLE_H

/*
 * Code shared by all examples and mostly unrelated to comch: command line, EAL,
 * Ctrl-C, numbers. Only example_sleep() concerns comch: it turns a busy loop into
 * one that sleeps.
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
/* Set by example_stop() and by the first SIGINT (Ctrl-C) or SIGTERM; the second one kills. */
extern atomic_bool example_quit;

/* A program option: a text, a number (with suffix K, M, G) or a flag. */
struct example_option {
	char letter;
	const char *name;
	const char *arg;    /* Name of the argument in --help; NULL for a flag. */
	const char *help;
	const char **text;  /* One of these three; initially the default. */
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
 * Parse the command line. Options before "--" are for EAL, those after it for the
 * program; without "--" all are for the program. -h and --help are built in.
 * Returns 0 to continue, 1 after --help, -1 after printing an error.
 */
int example_options(int argc, char **argv, const struct example_option *options,
		unsigned int n);

/*
 * Start EAL with the options before "--". Without them, use options that work on
 * any machine without root or hugepages, for nb_lcores lcores. Also catches Ctrl-C.
 * Returns 0, or -1 after printing an error.
 */
int example_start(unsigned int nb_lcores);

/* Set example_quit and wake all sleeping threads, as Ctrl-C does. Any thread. */
void example_stop(void);

/* Clean up EAL and the signal handlers. */
void example_end(void);

/*
 * Sleep until the poll has work, Ctrl-C, or timeout_ms (-1: none). Returns at once
 * if something arrived since the last run.
 */
void example_sleep(struct rte_comch_poll *comch_poll, int timeout_ms);

/* The same, but also wakes when fd (-1: none) is readable. Returns whether it is. */
bool example_sleep_fd(struct rte_comch_poll *comch_poll, int fd, int timeout_ms);

/* Monotonic time in seconds. */
double example_now(void);

/* Extend a checksum by len bytes. The initial sum is 0. */
uint64_t example_sum(uint64_t sum, const void *data, size_t len);

/* Print "what: reason" for a positive or negative errno. Returns -1. */
int example_error(const char *what, int err);

/* Print an error to stderr, with the program's name. */
#define EXAMPLE_ERR(fmt, ...) \
	fprintf(stderr, "%s: " fmt "\n", example_name, ##__VA_ARGS__)

#endif /* EXAMPLE_H */
