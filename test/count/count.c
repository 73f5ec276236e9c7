/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Run one row under callgrind; devtools/count-instructions.sh does so for all.
 *
 * Each side is counted in spans. Now and then a poll looks at its descriptors,
 * by the clock: the cheapest span is one without such a look. The spans are
 * dumps of callgrind, named after the side.
 */

#include <stdlib.h>

#include <rte_version.h>

#include "count.h"

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

#define SPANS 24
#define SPAN_STEPS 32
#define WARM_UP_STEPS 256

enum count_side count_side;

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
	/* Not counted: writing a dump takes so long that a look is due after it. */
	count_side = COUNT_NONE;
	steps(row, 1);
	count_side = side;
	steps(row, SPAN_STEPS);
	CALLGRIND_DUMP_STATS_AT(name);
}

static void
run(const struct count_row *row)
{
	unsigned int i;

	row->open();
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
