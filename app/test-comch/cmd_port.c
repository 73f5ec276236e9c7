/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Commands for ethdev ports: one queue each way. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <rte_comch_mem.h>

#include "cmd.h"
#include "stream.h"

#define NB_MBUFS   4095
#define POOL_CACHE 64
#define NB_DESC    512

static struct {
	bool started;
	struct rte_mempool *pool;
} ports[RTE_MAX_ETHPORTS];

/* The pool that a port receives into. The producer sends its mbufs, so it is registered. */
static int
pool_open(uint16_t port)
{
	char name[32];

	if (ports[port].pool != NULL)
		return 0;
	snprintf(name, sizeof(name), "port%u", port);
	ports[port].pool = rte_pktmbuf_pool_create(name, NB_MBUFS, POOL_CACHE, 0,
			RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (ports[port].pool == NULL)
		return -rte_errno;
	return rte_comch_mempool_register(ports[port].pool, 0) != NULL ? 0 : -rte_errno;
}

static int
port_start(uint16_t port)
{
	struct rte_eth_conf conf;
	uint16_t rx = NB_DESC, tx = NB_DESC;
	int ret;

	memset(&conf, 0, sizeof(conf));
	ret = pool_open(port);
	if (ret == 0)
		ret = rte_eth_dev_configure(port, 1, 1, &conf);
	if (ret == 0)
		ret = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx, &tx);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port, 0, rx, SOCKET_ID_ANY, NULL, ports[port].pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(port, 0, tx, SOCKET_ID_ANY, NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(port);
	return ret;
}

bool
tc_port_started(uint16_t port)
{
	return ports[port].started;
}

/* The stream that runs on a port, or NULL. */
static struct tc_stream *
port_user(uint16_t port)
{
	struct tc_stream *s;

	TC_FOREACH(TC_STREAM, s)
		if (s->mode == TC_IO && s->port == port && s->running)
			return s;
	return NULL;
}

static void
port_verb(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	bool start = cmd_is(cmd->word[1], "start");
	char name[TC_NAME_SIZE];
	uint64_t number;
	uint16_t port;

	(void)cl;
	(void)data;
	if (cmd_number("port", cmd->word[2], 0, RTE_MAX_ETHPORTS - 1, &number) != 0)
		return;
	port = (uint16_t)number;
	snprintf(name, sizeof(name), "port %u", port);
	if (!rte_eth_dev_is_valid_port(port))
		tc_fail("port %u: no such port; EAL's --vdev or -a adds ports", port);
	else if (start == ports[port].started)
		tc_fail("port %u: is %s", port, start ? "started" : "stopped");
	else if (cmd_check_stopped(name, port_user(port)) == 0 &&
			cmd_check("port", start ? port_start(port) :
				rte_eth_dev_stop(port)) == 0) {
		ports[port].started = start;
		tc_out("port %u: %s\n", port, start ? "started" : "stopped");
	}
}

void
tc_ports_close(void)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		if (ports[port].started)
			rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
	for (port = 0; port < RTE_MAX_ETHPORTS; port++) {
		if (ports[port].pool == NULL)
			continue;
		rte_comch_mempool_unregister(ports[port].pool);
		rte_mempool_free(ports[port].pool);
	}
}

CMD(inst_verb, port_verb, "port start|stop PORT: an ethdev port, with a queue each way",
	KEY(0, "port"), KEY(1, "start#stop"), NAME(2, "port", CMD_LIST_PORT));

cmdline_parse_inst_t *cmd_port[] = { &inst_verb, NULL };
