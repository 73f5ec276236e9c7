/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef PLOT_H
#define PLOT_H

/**
 * @file
 * Pictures of a report, drawn by gnuplot. For each test DIR/TEST.svg and DIR/TEST.png show its
 * figures over the parameter that varies, with the floor; for each latency test
 * DIR/TEST-histogram.* shows how its round trips are distributed. The figures are in
 * DIR/TEST.csv and the instructions in DIR/TEST.gnuplot, so that users can draw their own.
 */

#include "report/report.h"

struct plot;

/**
 * Begin. Creates the directory and checks that there is a gnuplot, before anything is measured.
 *
 * @param setting
 *   A line about the machine, which each picture shows.
 * @return
 *   The plot, or NULL with the reason on stderr.
 */
struct plot *plot_open(const char *dir, const char *setting);

/** Take a row and its histogram. Rows that failed are left out. */
void plot_row(struct plot *plot, const struct report_row *row);

/** Draw, and free the plot. @return 0, or a negative errno with the reason on stderr */
int plot_close(struct plot *plot);

/** @name Text of one picture (chart.c); rows are of one test
 * @{
 */
/** Write series of points, "series,x,value,floor,low,high". */
void chart_csv(FILE *f, const struct report_row *rows, uint32_t nb);
/** Write the instructions that draw NAME.csv to NAME.svg and NAME.png. */
void chart_script(FILE *f, const char *name, const char *setting, const struct report_row *rows,
		uint32_t nb);
/** The same for the round trips of one row: "ns,share". */
void chart_histogram_csv(FILE *f, const struct report_row *row);
void chart_histogram_script(FILE *f, const char *name, const char *setting,
		const struct report_row *row);
/** @} */

#endif /* PLOT_H */
