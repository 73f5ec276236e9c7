/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef BARE_H
#define BARE_H

#include <stdint.h>

#include "base/window.h"

#define BARE_BURST 32
/* Memory that large messages cycle through, as in comch-perf. */
#define BARE_WINDOW ((size_t)16 << 20)

/* One measurement, in each of the two processes. */
struct bare_job {
	void *shared;     /* of both processes, from bare_test.shared; zeroed */
	int fd;           /* this end of a pair of sockets, if bare_test.type is not 0 */
	int flags;        /* of each call: MSG_DONTWAIT to spin */
	bool pause;       /* before each round trip, so that B sleeps */
	uint32_t ms;
	size_t size;
	uint8_t *window;  /* twice BARE_WINDOW */
	uint32_t nb_msgs; /* that fit into BARE_WINDOW */
};

struct bare_test {
	const char *name;
	size_t shared;    /* bytes of memory that both processes have */
	int type;         /* SOCK_*, or 0 */
	int flags;
	double (*a)(struct bare_job *job); /* returns the figure, negative: failed */
	bool (*b)(struct bare_job *job);
};

/* Ends with an empty name. */
extern const struct bare_test bare_unix_tests[];
extern const struct bare_test bare_ck_tests[];

/* Half of a median round trip, ns. */
static inline double
bare_one_way(const struct hist *hist)
{
	return clock_cycles_to_ns(hist_quantile(hist, 0.5)) / 2;
}

static inline double
bare_per_second(const struct window *w)
{
	return (double)window_msgs(w) * 1e9 / (double)window_ns(w);
}

#endif /* BARE_H */
