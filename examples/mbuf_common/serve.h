/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SERVE_H
#define SERVE_H

/*
 * The frame of the examples' programs on the DPU: a server that passes what its clients
 * send through a pipeline. The pipeline is built once, while clients come and go.
 */

#include "ends.h"

struct serve_ops {
	/* The program's own options. */
	const struct example_option *options;
	unsigned int nb_options;
	/* Lcores beside the main one; NULL: none. */
	const uint64_t *nb_workers;
	/* Returns 0, or -1 after printing an error. */
	int (*build)(void);
	/* One round, on the main lcore. Returns the number of packets that moved. */
	uint64_t (*work)(const struct ends *e);
	/* Consumer and producer are about to end: stop using them. */
	void (*unbind)(void);
	/* Also after a failed build(). Free all mbufs, and print a summary. */
	void (*destroy)(void);
};

/* Serve clients until the server ends. One thread, which may be any lcore's. */
void serve_run(struct ends *e, const struct serve_ops *ops, bool busy);

/* All that main() does. */
int serve_main(int argc, char **argv, const struct serve_ops *ops);

#endif /* SERVE_H */
