/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_FIGURES_H
#define T_FIGURES_H

/* Resources of the process, which must be released with the objects that use them. */

#include "t.h"

struct t_figures {
	unsigned int fds;
	unsigned int memfds; /**< Mapped. */
	unsigned int blocks; /**< Of EAL's heap, since t_figures_begin(). */
};

/* Mappings whose line in /proc/self/maps has this text. */
unsigned int t_maps_count(const char *text);
/* What is allocated by malloc(); 0 where a sanitizer does that. */
uint64_t t_heap_bytes(void);
/* Processes that share an EAL share its heap: count from here. */
void t_figures_begin(void);
/* What stays once library threads have closed the rest. */
struct t_figures t_figures_least(void);
/*
 * Step all nodes until all is as before: their runs, and library threads, close and unmap some
 * of it.
 */
void t_figures_wait(const struct t_figures *want);

#endif /* T_FIGURES_H */
