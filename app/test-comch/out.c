/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What is printed: lines, tables, colours. */

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rte_common.h>

#include "app_text.h"
#include "tc.h"

#define MAX_COLUMNS 20
#define CELL_SIZE   132
#define GAP         2
#define SHORTEST    8
#define LINE_SIZE   4096

struct cell {
	enum tc_style style;
	char text[CELL_SIZE];
};

static struct {
	bool colours;
	int fd_width; /* terminal whose width limits tables; -1: no limit */
} out = { .fd_width = -1 };

static struct {
	const char *title;
	char headings[MAX_COLUMNS][CELL_SIZE];
	unsigned int nb_columns;
	struct cell *cells;
	size_t nb_cells;
	size_t room;
} table;

static const char *const codes[] = {
	[TC_PLAIN] = "", [TC_BOLD] = "\033[1m", [TC_GOOD] = "\033[32m",
	[TC_BUSY] = "\033[33m", [TC_BAD] = "\033[31m",
};

void
tc_out_open(bool plain)
{
	const char *term = getenv("TERM");

	if (plain || !isatty(STDOUT_FILENO))
		return;
	out.fd_width = STDOUT_FILENO;
	out.colours = getenv("NO_COLOR") == NULL && term != NULL && strcmp(term, "dumb") != 0;
}

/* Columns of the terminal, which may have changed; 0: no limit. */
static unsigned int
width(void)
{
	struct winsize size;

	if (out.fd_width < 0 || ioctl(out.fd_width, TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

void
tc_out(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	fflush(stdout);
}

void
tc_notice(const char *format, ...)
{
	char line[LINE_SIZE];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	tc_prompt_print(line);
}

void
tc_fail(const char *format, ...)
{
	bool red = out.colours && isatty(STDERR_FILENO);
	va_list ap;

	tc.failed = true;
	tc.any_failed = true;
	fflush(stdout);
	fprintf(stderr, "%serror:%s ", red ? codes[TC_BAD] : "", red ? "\033[0m" : "");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void
tc_table_begin(const char *title, const char *headings)
{
	const char *p = headings;

	table.title = title;
	table.nb_columns = 0;
	table.nb_cells = 0;
	while (*p != '\0' && table.nb_columns < MAX_COLUMNS) {
		size_t len = strcspn(p, " ");

		snprintf(table.headings[table.nb_columns++], CELL_SIZE, "%.*s", (int)len, p);
		p += len + (p[len] == ' ');
	}
}

void
tc_cell(enum tc_style style, const char *format, ...)
{
	struct cell *cells = table.cells;
	va_list ap;

	if (table.nb_cells == table.room) {
		table.room = 2 * table.room + 64;
		cells = realloc(table.cells, table.room * sizeof(*cells));
		if (cells == NULL)
			abort();
		table.cells = cells;
	}
	cells[table.nb_cells].style = style;
	va_start(ap, format);
	vsnprintf(cells[table.nb_cells].text, CELL_SIZE, format, ap);
	va_end(ap);
	table.nb_cells++;
}

void
tc_cell_number(uint64_t value)
{
	tc_cell(TC_PLAIN, "%llu", (unsigned long long)value);
}

void
tc_cell_rate(double value)
{
	char text[32];
	size_t len;

	app_si(value, text, sizeof(text));
	len = strlen(text);
	if (len > 0 && text[len - 1] == ' ')
		text[len - 1] = '\0';
	tc_cell(TC_PLAIN, "%s", text);
}

void
tc_cell_state(enum rte_comch_state state)
{
	static const enum tc_style styles[] = {
		[RTE_COMCH_STATE_IDLE] = TC_PLAIN, [RTE_COMCH_STATE_STARTING] = TC_BUSY,
		[RTE_COMCH_STATE_RUNNING] = TC_GOOD, [RTE_COMCH_STATE_STOPPING] = TC_BUSY,
	};

	tc_cell(styles[state], "%s", rte_comch_state_name(state));
}

/* Numbers are aligned to the right. */
static bool
is_number_column(unsigned int column)
{
	bool digits = false;
	size_t i;

	for (i = column; i < table.nb_cells; i += table.nb_columns) {
		const char *text = table.cells[i].text;

		if (strcmp(text, "-") != 0 && !isdigit((unsigned char)*text))
			return false;
		digits |= isdigit((unsigned char)*text) != 0;
	}
	return digits;
}

/* Natural widths, of text at most a third of the terminal. */
static void
find_widths(size_t *widths, const bool *right, size_t limit)
{
	size_t i;
	unsigned int c;

	for (c = 0; c < table.nb_columns; c++) {
		widths[c] = strlen(table.headings[c]);
		for (i = c; i < table.nb_cells; i += table.nb_columns)
			widths[c] = RTE_MAX(widths[c], strlen(table.cells[i].text));
		if (limit > 0 && !right[c])
			widths[c] = RTE_MIN(widths[c], RTE_MAX(limit / 3, (size_t)SHORTEST));
	}
}

/* The first column that does not fit behind column 0 and those from *from* on. */
static unsigned int
find_last(const size_t *widths, size_t limit, unsigned int from)
{
	size_t total = widths[0];
	unsigned int c = from;

	do {
		total += GAP + widths[c];
	} while (++c < table.nb_columns && (limit == 0 || total + GAP + widths[c] <= limit));
	return c;
}

static void
print_cell(enum tc_style style, const char *text, size_t columns, bool right, bool last)
{
	char cut[CELL_SIZE];
	int pad;

	snprintf(cut, sizeof(cut), "%s", text);
	if (strlen(cut) > columns)
		memcpy(cut + columns - 2, "..", sizeof(".."));
	pad = (int)(columns - strlen(cut));
	if (right)
		printf("%*s", pad, "");
	if (out.colours && style != TC_PLAIN)
		printf("%s%s\033[0m", codes[style], cut);
	else
		printf("%s", cut);
	if (!right && !last)
		printf("%*s", pad, "");
	printf("%*s", last ? 0 : GAP, "");
}

/* Print column 0 and columns *from* to *to* of a row; row -1: the headings. */
static void
print_row(long row, unsigned int from, unsigned int to, const size_t *widths, const bool *right)
{
	const struct cell *cells = &table.cells[(size_t)RTE_MAX(row, 0) * table.nb_columns];
	unsigned int c;

	for (c = 0; c < to; c = c == 0 ? from : c + 1) {
		const struct cell *cell = &cells[c];

		print_cell(row < 0 ? TC_BOLD : cell->style, row < 0 ? table.headings[c] :
			cell->text, widths[c], right[c], c == to - 1);
	}
	printf("\n");
}

void
tc_table_end(void)
{
	size_t widths[MAX_COLUMNS], limit = width();
	unsigned int c, from, to;
	bool right[MAX_COLUMNS];
	long row, nb_rows;

	if (table.nb_cells == 0)
		return;
	nb_rows = (long)(table.nb_cells / table.nb_columns);
	if (table.title != NULL)
		printf("%s\n", table.title);
	for (c = 0; c < table.nb_columns; c++)
		right[c] = is_number_column(c);
	find_widths(widths, right, limit);
	/* What does not fit beside each other goes below, with the first column again. */
	for (from = 1; from < table.nb_columns; from = to) {
		to = find_last(widths, limit, from);
		for (row = -1; row < nb_rows; row++)
			print_row(row, from, to, widths, right);
	}
	fflush(stdout);
}
