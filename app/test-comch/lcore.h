/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef LCORE_H
#define LCORE_H

/**
 * @file
 * The lcores that run streams. Only the main lcore calls these functions.
 */

#include <stdbool.h>

struct tc_stream;

/** The lcore that a stream gets by default: the first worker, or the main one. */
unsigned int lcore_default(void);

/** Run a stream on its lcore. @return 0 or a negative errno */
int lcore_add(unsigned int lcore, struct tc_stream *s);

/** Remove a stream. On return, its lcore no longer uses it. */
void lcore_remove(unsigned int lcore, struct tc_stream *s);

/** Streams of an lcore. */
unsigned int lcore_nb_streams(unsigned int lcore);

/** Run the streams of the main lcore once. @return whether there are any */
bool lcore_main_pass(void);

#endif /* LCORE_H */
