/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Holds a pair with a direct and a staged flow, a message every few
 * milliseconds, for comch-info to look at: until its standard input ends.
 *
 * usage: t_hold FILE-PREFIX
 */

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>

#include "t_pair.h"

#define PERIOD_MS 5

static const struct t_driver driver = { .name = "comch_shm", .has_dir = true };

static void
start(const char *prefix)
{
	char arg[64];
	char *argv[] = {
		(char *)(uintptr_t)"hold", arg, (char *)(uintptr_t)"--log-level=*:2",
		(char *)(uintptr_t)"--no-huge", (char *)(uintptr_t)"-m",
		(char *)(uintptr_t)"64", (char *)(uintptr_t)"--no-pci",
		(char *)(uintptr_t)"--no-shconf", (char *)(uintptr_t)"--iova-mode=va", NULL,
	};

	t_driver = &driver;
	snprintf(arg, sizeof(arg), "--file-prefix=%s", prefix);
	if (rte_eal_init((int)RTE_DIM(argv) - 1, argv) < 0)
		T_FAIL("rte_eal_init: %s", rte_strerror(rte_errno));
}

int
main(int argc, char **argv)
{
	const struct t_flow_conf sealed = { .kind = RTE_COMCH_MEM_SEALED };
	const struct t_flow_conf heap = { .kind = RTE_COMCH_MEM_HEAP, .to_host = true };
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct t_flow direct, staged;
	struct t_pair p;
	uint64_t i;

	if (argc != 2)
		return 2;
	start(argv[1]);
	t_pair_open(&p, NULL);
	t_flow_open(&direct, &p, &sealed);
	t_flow_open(&staged, &p, &heap);
	for (i = 0; poll(&in, 1, PERIOD_MS) == 0; i++) {
		t_send(p.cconn, &i, sizeof(i), i);
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, p.sconn) > 0);
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, p.cconn) > 0);
		t_flow_once(&direct, 1000, i);
		t_flow_once(&staged, 1000, i);
		t_forget(p.dpu);
		t_forget(p.host);
		if (i == 0) {
			printf("ready\n");
			fflush(stdout);
		}
	}
	t_flow_close(&staged);
	t_flow_close(&direct);
	t_pair_close(&p);
	rte_eal_cleanup();
	t_dir_remove();
	return 0;
}
