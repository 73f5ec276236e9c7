/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Arguments and output of the programs that measure a floor. */

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "floor/floor.h"
#include "floor/lines.h"

/* Arguments after the required ones: KIND CPU-A CPU-B MS. */
#define ARG_SIZE  5
#define ARG_HZ    6
#define ARG_BURST 7
#define ARG_QUEUE 8
#define ARG_LINES 9
#define ARGS_MAX  10

void
floor_pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set) != 0)
		fprintf(stderr, "%s: sched_setaffinity: %s\n", program_invocation_short_name,
				strerror(errno));
}

static void
print_usage(FILE *f, const char *program)
{
	const char *separator = " ";
	enum floor_kind kind;

	fprintf(f, "Usage: %s", program);
	for (kind = FLOOR_LINE; kind < FLOOR_NONE; kind++) {
		if (strcmp(floor_program(kind), program) != 0)
			continue;
		fprintf(f, "%s%s", separator, floor_name(kind));
		separator = "|";
	}
	fprintf(f, " CPU-A CPU-B MS [SIZE [TSC-HZ [BURST [QUEUE [LINES]]]]]\n");
}

static uint64_t
number(int argc, char **argv, int i, uint64_t by_default)
{
	return argc > i ? strtoull(argv[i], NULL, 0) : by_default;
}

static int
parse(struct floor_req *req, int argc, char **argv, const char *program)
{
	if (argc < ARG_SIZE || argc > ARGS_MAX)
		return -1;
	while (req->kind < FLOOR_NONE && strcmp(argv[1], floor_name(req->kind)) != 0)
		req->kind++;
	req->cpu_a = atoi(argv[2]);
	req->cpu_b = atoi(argv[3]);
	req->ms = (uint32_t)strtoul(argv[4], NULL, 0);
	req->size = number(argc, argv, ARG_SIZE, 64);
	if (req->kind == FLOOR_COPIES && req->size > FLOOR_PIECE)
		req->size = FLOOR_PIECE;
	req->burst = (uint32_t)number(argc, argv, ARG_BURST, 32);
	req->queue = (uint32_t)number(argc, argv, ARG_QUEUE, 1024);
	req->lines = FLOOR_ONE_LINE;
	if (argc > ARG_LINES && floor_lines_parse(argv[ARG_LINES], &req->lines) != 0)
		return -1;
	return strcmp(floor_program(req->kind), program) != 0 || req->ms == 0 ||
		(floor_has_size(req->kind) && req->size == 0) ? -1 : 0;
}

/* Of a latency; floor_main() prints it behind the median. */
static double p999_ns = NAN;

double
floor_whole(const struct hist *hist)
{
	p999_ns = clock_cycles_to_ns(hist_quantile(hist, 0.999));
	return clock_cycles_to_ns(hist_quantile(hist, 0.5));
}

double
floor_one_way(const struct hist *hist)
{
	const double whole = floor_whole(hist);

	p999_ns /= 2;
	return whole / 2;
}

int
floor_main(int argc, char **argv, const char *program,
		double (*measure)(const struct floor_req *req))
{
	struct floor_req req = { .kind = FLOOR_LINE };
	pid_t parent = getppid();
	double value;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		print_usage(stdout, program);
		return 0;
	}
	/* The parent may be killed while this process spins. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	if (parse(&req, argc, argv, program) != 0) {
		print_usage(stderr, program);
		return 2;
	}
	if (argc > ARG_HZ)
		clock_set_hz(strtoull(argv[ARG_HZ], NULL, 0));
	else
		clock_calibrate();
	value = measure(&req);
	printf("%.17g", value);
	if (!isnan(p999_ns))
		printf(" %.17g", p999_ns);
	printf("\n");
	fflush(stdout);
	return value < 0;
}
