/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include <rte_log.h>

#include "t.h"
#include "t_log.h"

void
t_log_begin_at(struct t_log *l, uint32_t level)
{
	l->f = open_memstream(&l->text, &l->size);
	T_CHECK(l->f != NULL);
	rte_log_set_level_pattern("*comch*", level);
	rte_log_set_global_level(level);
	T_EQ(rte_openlog_stream(l->f), 0);
}

void
t_log_begin(struct t_log *l)
{
	t_log_begin_at(l, RTE_LOG_INFO);
}

void
t_log_has(struct t_log *l, const char *sentence)
{
	T_EQ(fflush(l->f), 0);
	T_STR_HAS(l->text, sentence);
}

unsigned int
t_log_count(struct t_log *l, const char *sentence)
{
	unsigned int n = 0;
	const char *at;

	T_EQ(fflush(l->f), 0);
	for (at = l->text; (at = strstr(at, sentence)) != NULL; at++)
		n++;
	return n;
}

void
t_log_stop(struct t_log *l)
{
	T_EQ(rte_openlog_stream(NULL), 0);
	fclose(l->f);
}

void
t_log_end(struct t_log *l, const char *sentence)
{
	t_log_stop(l);
	T_STR_HAS(l->text, sentence);
	free(l->text);
}
