/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <rte_comch.h>
#include <rte_comch_poll.h>
#include <rte_eal.h>

#include "unload.h"

static void
start_eal(void *lib)
{
	char *argv[] = {
		(char *)(uintptr_t)"unload-native", (char *)(uintptr_t)"--no-huge",
		(char *)(uintptr_t)"-m64", (char *)(uintptr_t)"--no-pci",
		(char *)(uintptr_t)"--no-shconf", (char *)(uintptr_t)"--no-telemetry",
		(char *)(uintptr_t)"--iova-mode=va", (char *)(uintptr_t)"--file-prefix=unload",
		NULL,
	};

	CHECK(LOADED(lib, rte_eal_init)(8, argv) >= 0);
}

/* A server that starts and stops. */
static void
use(void *lib, unsigned int round)
{
	struct rte_comch_server_conf conf = { .conf_size = sizeof(conf), .name = "unload" };
	struct rte_comch_event ev;
	struct rte_comch_server *server;
	int16_t dev;

	if (round == 0)
		start_eal(lib);
	CHECK(LOADED(lib, rte_comch_dev_probe)("comch_shm0,role=dpu,rep=pf0", &dev) == 0);
	conf.poll = LOADED(lib, rte_comch_poll_create)(NULL);
	CHECK(conf.poll != NULL);
	server = LOADED(lib, rte_comch_server_create)(dev, &conf);
	CHECK(server != NULL);
	CHECK(LOADED(lib, rte_comch_server_start)(server) == 0);
	LOADED(lib, rte_comch_poll_run)(conf.poll, &ev, 1);
	CHECK(LOADED(lib, rte_comch_server_stop)(server) == 0);
	CHECK(LOADED(lib, rte_comch_server_destroy)(server) == 0);
	CHECK(LOADED(lib, rte_comch_poll_destroy)(conf.poll) == 0);
	CHECK(LOADED(lib, rte_comch_dev_close)(dev) == 0);
}

int
main(int argc, char **argv)
{
	return argc == 2 ? unload_main(argv[1], use) : 2;
}
