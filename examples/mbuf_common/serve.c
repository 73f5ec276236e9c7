/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "serve.h"

#define MAX_OPTIONS 12

void
serve_run(struct ends *e, const struct serve_ops *ops, bool busy)
{
	uint32_t nothing = 0;
	bool bound = false;
	uint64_t n;

	while (!ends_over(e)) {
		n = ends_run(e);
		if (ends_ready(e)) {
			bound = true;
			n += ops->work(e);
		} else {
			if (bound)
				ops->unbind();
			bound = false;
			ends_retire(e);
		}
		nothing = n > 0 ? 0 : nothing + 1;
		/* A short timeout, as not each step of retiring has an event. */
		if (nothing > 100 && !busy)
			example_sleep(e->poll, e->closing ? 1 : -1);
	}
}

int
serve_main(int argc, char **argv, const struct serve_ops *ops)
{
	static struct ends_conf conf = {
		ENDS_DEFAULTS,
		.dev = "comch_shm0,role=dpu,rep=pf0",
		.server = true,
		.nb_clients = 1,
	};
	static struct ends ends;
	static bool busy;
	struct example_option options[MAX_OPTIONS] = {
		ENDS_OPTIONS_SERVER(&conf),
		EXAMPLE_NUMBER('N', "clients", "N", "exit after this number of clients; 0: never",
				&conf.nb_clients, 0, UINT32_MAX),
		ENDS_OPTION_BUFFERS(&conf),
		EXAMPLE_FLAG('b', "busy", "spin instead of sleeping", &busy),
	};
	unsigned int nb = 5, i;
	int ret;

	for (i = 0; i < ops->nb_options && nb < MAX_OPTIONS; i++)
		options[nb++] = ops->options[i];
	ret = example_options(argc, argv, options, nb);
	if (ret == 0)
		ret = example_start(1 + (ops->nb_workers != NULL ?
				(unsigned int)*ops->nb_workers : 0));
	if (ret != 0)
		return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

	ret = ops->build();
	if (ret == 0) {
		ret = ends_open(&ends, &conf);
		if (ret == 0)
			serve_run(&ends, ops, busy);
	}
	/* Frees mbufs, so it comes before their pool. */
	ops->destroy();
	if (ends.conf != NULL)
		ends_close(&ends);
	example_end();
	return ret == 0 && !ends.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
