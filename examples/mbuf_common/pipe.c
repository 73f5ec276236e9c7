/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "pipe.h"

struct rte_comch_pipe_in pipe_in;
struct rte_comch_pipe_out pipe_out;
static const struct pipe_ops *pipe_ops;

/* Nothing is read while packets wait to be sent, so none are dropped. */
static uint64_t
work(const struct ends *e)
{
	const uint64_t before = pipe_in.nb_received + pipe_out.nb_sent;

	pipe_in.consumer = e->consumer;
	pipe_out.producer = e->producer;
	pipe_out.consumer_id = e->consumer_id;
	if (rte_comch_pipe_flush(&pipe_out) == 0)
		pipe_ops->run();
	return pipe_in.nb_received + pipe_out.nb_sent - before;
}

static void
unbind(void)
{
	pipe_in.consumer = NULL;
	pipe_out.producer = NULL;
	/* The next client does not get the rest. */
	rte_comch_pipe_drop(&pipe_out);
}

static void
destroy(void)
{
	pipe_ops->destroy();
	printf("%" PRIu64 " packets received, %" PRIu64 " sent, %" PRIu64 " dropped\n",
			pipe_in.nb_received, pipe_out.nb_sent, pipe_out.nb_dropped);
}

int
pipe_main(int argc, char **argv, const struct pipe_ops *ops)
{
	const struct serve_ops serve = {
		.build = ops->build, .work = work, .unbind = unbind, .destroy = destroy,
	};

	pipe_ops = ops;
	return serve_main(argc, argv, &serve);
}
