/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A DPU side that hangs: it takes a first message, or posts no buffer, and then never calls its
 * poll again. For comch-run, which has to say so.
 */

#include <stdio.h>
#include <unistd.h>

#include <rte_comch.h>
#include <rte_comch_poll.h>
#include <rte_eal.h>

int
main(int argc, char **argv)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf), .name = "ctrl_path",
	};
	struct rte_comch_server *server;
	struct rte_comch_event ev;
	int16_t dev;

	if (rte_eal_init(argc, argv) < 0)
		return 1;
	conf.poll = rte_comch_poll_create(NULL);
	if (conf.poll == NULL || rte_comch_dev_probe("comch_shm0,role=dpu,rep=pf0", &dev) != 0)
		return 1;
	server = rte_comch_server_create(dev, &conf);
	if (server == NULL || rte_comch_server_start(server) != 0)
		return 1;
	while (rte_comch_poll_run(conf.poll, &ev, 1) == 0 || ev.type != RTE_COMCH_EVENT_MSG)
		;
	puts("got a message");
	for (;;)
		pause();
}
