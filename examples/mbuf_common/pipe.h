/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef PIPE_H
#define PIPE_H

/*
 * The frame of the examples whose pipeline has an input and an output of librte_comch_pipe.
 * The ends are bound to the consumer and the producer of the present client.
 */

#include <rte_comch_pipe.h>

#include "serve.h"

extern struct rte_comch_pipe_in pipe_in;
extern struct rte_comch_pipe_out pipe_out;

struct pipe_ops {
	/* Build the pipeline, with pipe_in and pipe_out. Returns 0, or -1 after an error. */
	int (*build)(void);
	/* One round. Nothing waits to be sent. */
	void (*run)(void);
	/* Also after a failed build(). */
	void (*destroy)(void);
};

/* All that main() does. */
int pipe_main(int argc, char **argv, const struct pipe_ops *ops);

#endif /* PIPE_H */
