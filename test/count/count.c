/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Run one row under callgrind; devtools/count-instructions.sh does so for all.
 *
 * Each side is counted in spans, which are dumps of callgrind, named after the
 * side. Once a millisecond a poll looks at its descriptors; how many spans that
 * is in depends on the machine and its load, so no poll does it within a span.
 */

#include <dlfcn.h>
#include <stdlib.h>

#include <rte_comch_poll.h>
#include <rte_version.h>

#include "base/comch_poll.h"
#include "count.h"

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

#define SPANS 24
#define SPAN_STEPS 32
#define WARM_UP_STEPS 256

/* More than any row has. */
#define MAX_POLLS 8

enum count_side count_side;

static struct rte_comch_poll *polls[MAX_POLLS];
static unsigned int nb_polls;

/* Before the library's: notes each poll of this process, also those that libcomch_doca makes. */
struct rte_comch_poll *
rte_comch_poll_create(const struct rte_comch_poll_conf *conf)
{
	struct rte_comch_poll *(*create)(const struct rte_comch_poll_conf *conf);
	struct rte_comch_poll *poll;

	create = (__typeof__(create))dlsym(RTLD_NEXT, "rte_comch_poll_create");
	T_CHECK(create != NULL);
	poll = create(conf);
	T_LT(nb_polls, MAX_POLLS);
	polls[nb_polls++] = poll;
	return poll;
}

/* No look at descriptors by the clock from now on. */
static void
pin_polls(void)
{
	unsigned int i;

	for (i = 0; i < nb_polls; i++) {
		polls[i]->next_scan = UINT64_MAX;
		polls[i]->next_look = UINT64_MAX;
	}
}

static const struct count_row *const all_rows[] = {
	count_rows_native,
	count_rows_msgq,
#ifdef COUNT_DOCA
	count_rows_doca,
	count_rows_cchan,
#endif
};

static void
list(void)
{
	const struct count_row *row;
	unsigned int i;

	for (i = 0; i < RTE_DIM(all_rows); i++)
		for (row = all_rows[i]; row->name != NULL; row++)
			printf("%-14s %4u  %s\n", row->name, row->nb * SPAN_STEPS, row->help);
}

static const struct count_row *
find(const char *name)
{
	const struct count_row *row;
	unsigned int i;

	for (i = 0; i < RTE_DIM(all_rows); i++)
		for (row = all_rows[i]; row->name != NULL; row++)
			if (strcmp(row->name, name) == 0)
				return row;
	return NULL;
}

static void
steps(const struct count_row *row, unsigned int n)
{
	while (n-- > 0)
		row->step();
}

static void
span(const struct count_row *row, enum count_side side, const char *name)
{
	pin_polls();
	count_side = side;
	steps(row, SPAN_STEPS);
	CALLGRIND_DUMP_STATS_AT(name);
}

static void
run(const struct count_row *row)
{
	unsigned int i;

	row->open();
	/* A MsgQ has none. If another row had none, the function above would not be in use. */
	T_CHECK(nb_polls > 0 || strncmp(row->name, "msgq", strlen("msgq")) == 0);
	steps(row, WARM_UP_STEPS);
	CALLGRIND_START_INSTRUMENTATION;
	for (i = 0; i < SPANS; i++) {
		span(row, COUNT_SEND, "send");
		span(row, COUNT_RECV, "receive");
	}
	CALLGRIND_STOP_INSTRUMENTATION;
	count_side = COUNT_NONE;
	row->close();
}

int
main(int argc, char **argv)
{
	const struct count_row *row;

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("%s %s, %s\n", COMPILER, __VERSION__, rte_version());
		return 0;
	}
	row = argc == 2 ? find(argv[1]) : NULL;
	if (row == NULL) {
		fprintf(stderr, "usage: count ROW | --list | --version\n");
		return EXIT_FAILURE;
	}
	t_dir();
	run(row);
	t_dir_remove();
	return 0;
}
