/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Commands that show things. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "app_text.h"
#include "cmd.h"
#include "lcore.h"
#include "stream.h"

#define MAX_XSTATS 64

static void
cell_size(uint64_t size)
{
	char text[32];

	tc_cell(TC_PLAIN, "%s", app_size(size, text, sizeof(text)));
}

static void
show_devices(void)
{
	char reps[512];
	struct rte_comch_rep_info rep;
	struct rte_comch_dev_info info;
	int16_t dev;
	uint16_t i;

	tc_table_begin("devices", "name driver role functions clients msg queue imm buffer");
	RTE_COMCH_DEV_FOREACH(dev) {
		size_t len = 0;

		if (rte_comch_dev_info_get(dev, &info) != 0)
			continue;
		reps[0] = '\0';
		for (i = 0; i < info.nb_reps && len < sizeof(reps); i++)
			if (rte_comch_dev_rep_info_get(dev, i, &rep) == 0)
				len += (size_t)snprintf(reps + len, sizeof(reps) - len, "%s%s",
						i > 0 ? "," : "", rep.name);
		tc_cell(TC_BOLD, "%s", info.name);
		tc_cell(TC_PLAIN, "%s", info.driver);
		tc_cell(TC_PLAIN, "%s", info.role == RTE_COMCH_ROLE_DPU ? "dpu" : "host");
		tc_cell(TC_PLAIN, "%s", reps);
		tc_cell_number(info.max_clients);
		cell_size(info.max_msg_size);
		tc_cell_number(info.max_dp_queue);
		cell_size(info.max_imm_len);
		cell_size(info.max_buf_len);
	}
	tc_table_end();
}

static void
show_servers(void)
{
	char name[RTE_COMCH_DEV_NAME_SIZE];
	struct rte_comch_server_stats stats;
	struct rte_comch_rep_info rep;
	struct tc_server *s;

	tc_table_begin("servers", "server name device rep state conns pending accepted refused "
		"ended");
	TC_FOREACH(TC_SERVER, s) {
		memset(&stats, 0, sizeof(stats));
		memset(&rep, 0, sizeof(rep));
		rte_comch_server_stats_get(s->server, &stats);
		rte_comch_dev_rep_info_get(s->dev_id, s->conf.rep, &rep);
		tc_dev_name(s->dev_id, name, sizeof(name));
		tc_cell(TC_BOLD, "%s", s->obj.name);
		tc_cell(TC_PLAIN, "%s", s->listen);
		tc_cell(TC_PLAIN, "%s", name);
		tc_cell(TC_PLAIN, "%s", rep.name);
		tc_cell_state(rte_comch_server_state(s->server));
		tc_cell_number(rte_comch_server_nb_conns(s->server));
		tc_cell_number(rte_comch_server_nb_pending(s->server));
		tc_cell_number(stats.accepted);
		tc_cell_number(stats.refused);
		tc_cell_number(stats.disconnected);
	}
	tc_table_end();
}

static void
show_clients(void)
{
	char name[RTE_COMCH_DEV_NAME_SIZE];
	struct tc_client *c;

	tc_table_begin("clients", "client server device state");
	TC_FOREACH(TC_CLIENT, c) {
		tc_dev_name(c->dev_id, name, sizeof(name));
		tc_cell(TC_BOLD, "%s", c->obj.name);
		tc_cell(TC_PLAIN, "%s", c->connect);
		tc_cell(TC_PLAIN, "%s", name);
		tc_cell_state(rte_comch_client_state(c->client));
	}
	tc_table_end();
}

static void
show_conns(void)
{
	struct rte_comch_conn_stats stats;
	struct rte_comch_conn_info info;
	struct tc_conn *c;

	tc_table_begin("connections", "conn of state peer_pid uid msg consumers sent received "
		"in_flight full errors");
	TC_FOREACH(TC_CONN, c) {
		memset(&stats, 0, sizeof(stats));
		memset(&info, 0, sizeof(info));
		rte_comch_conn_info_get(c->conn, &info);
		rte_comch_conn_stats_get(c->conn, &stats);
		tc_cell(TC_BOLD, "%s", c->obj.name);
		tc_cell(TC_PLAIN, "%s", c->owner != NULL ? c->owner->name : "-");
		if (c->conn == NULL)
			tc_cell(TC_BAD, "ended");
		else if (c->pending)
			tc_cell(TC_BUSY, "pending");
		else
			tc_cell(TC_GOOD, "up");
		tc_cell(TC_PLAIN, "%d", info.peer_pid);
		tc_cell(TC_PLAIN, "%d", info.peer_uid);
		tc_cell_number(info.max_msg_size);
		tc_cell_number(c->nb_targets);
		tc_cell_number(stats.tx_msgs);
		tc_cell_number(stats.rx_msgs);
		tc_cell_number(stats.in_flight);
		tc_cell_number(stats.tx_full);
		tc_cell_number(stats.tx_errors);
	}
	tc_table_end();
}

static void
show_producers(void)
{
	struct rte_comch_producer_stats stats;
	struct tc_producer *p;

	tc_table_begin("producers", "producer conn id state queue stream msgs bytes copies staged "
		"later errors wakes");
	TC_FOREACH(TC_PRODUCER, p) {
		tc_producer_stats(p, &stats);
		tc_cell(TC_BOLD, "%s", p->obj.name);
		tc_cell(TC_PLAIN, "%s", p->conn->obj.name);
		tc_cell_number(p->producer != NULL ? rte_comch_producer_id(p->producer) : 0);
		tc_cell_state(rte_comch_producer_state(p->producer));
		tc_cell_number(p->queue);
		tc_cell(TC_PLAIN, "%s", p->stream != NULL ? p->stream->obj.name : "-");
		tc_cell_number(stats.msgs);
		tc_cell_number(stats.bytes);
		tc_cell_number(stats.copies);
		tc_cell_number(stats.staged);
		tc_cell_number(stats.later);
		tc_cell(stats.errors > 0 ? TC_BAD : TC_PLAIN, "%" PRIu64, stats.errors);
		tc_cell_number(stats.wakes);
	}
	tc_table_end();
}

static void
show_consumers(void)
{
	struct rte_comch_consumer_stats stats;
	struct tc_consumer *c;

	tc_table_begin("consumers", "consumer conn id state queue size memory stream msgs bytes "
		"copies staged errors no_mbuf wakes");
	TC_FOREACH(TC_CONSUMER, c) {
		tc_consumer_stats(c, &stats);
		tc_cell(TC_BOLD, "%s", c->obj.name);
		tc_cell(TC_PLAIN, "%s", c->conn->obj.name);
		tc_cell_number(c->consumer != NULL ? rte_comch_consumer_id(c->consumer) : 0);
		tc_cell_state(rte_comch_consumer_state(c->consumer));
		tc_cell_number(c->queue);
		tc_cell_number(c->size);
		tc_cell(TC_PLAIN, "%s", c->api == TC_API_MBUF ? "mbuf" :
			app_memory_names[c->memory]);
		tc_cell(TC_PLAIN, "%s", c->stream != NULL ? c->stream->obj.name : "-");
		tc_cell_number(stats.msgs);
		tc_cell_number(stats.bytes);
		tc_cell_number(stats.copies);
		tc_cell_number(stats.staged);
		tc_cell(stats.errors > 0 ? TC_BAD : TC_PLAIN, "%" PRIu64, stats.errors);
		tc_cell_number(stats.no_mbuf);
		tc_cell_number(stats.wakes);
	}
	tc_table_end();
}

static void
show_streams(void)
{
	struct tc_stream *s;

	tc_table_begin("streams", "stream mode state from to lcore burst size count target");
	TC_FOREACH(TC_STREAM, s) {
		tc_cell(TC_BOLD, "%s", s->obj.name);
		tc_cell(TC_PLAIN, "%s", tc_mode_name(s->mode));
		tc_cell(s->running ? TC_GOOD : TC_PLAIN, "%s", s->running ? "running" : "stopped");
		tc_cell(TC_PLAIN, "%s", s->rx != NULL ? s->rx->obj.name : "-");
		tc_cell(TC_PLAIN, "%s", s->tx != NULL ? s->tx->obj.name : "-");
		tc_cell_number(s->lcore);
		tc_cell_number(s->burst);
		tc_cell_number(s->size);
		tc_cell_number(s->count);
		tc_cell_number(s->running && s->tx != NULL ? s->target_id : s->target);
	}
	tc_table_end();
}

static void
show_lcores(void)
{
	unsigned int lcore;

	tc_table_begin("lcores", "lcore role streams");
	RTE_LCORE_FOREACH(lcore) {
		bool is_main = lcore == rte_get_main_lcore();

		tc_cell_number(lcore);
		tc_cell(TC_PLAIN, "%s", is_main ? "main" : "worker");
		tc_cell_number(lcore_nb_streams(lcore));
	}
	tc_table_end();
}

static void
show_ports(void)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_eth_stats stats;
	uint16_t port;

	tc_table_begin("ports", "port name state rx rx_bytes missed no_mbuf tx tx_bytes errors");
	RTE_ETH_FOREACH_DEV(port) {
		memset(&stats, 0, sizeof(stats));
		rte_eth_stats_get(port, &stats);
		tc_cell_number(port);
		tc_cell(TC_PLAIN, "%s", rte_eth_dev_get_name_by_port(port, name) == 0 ? name : "?");
		tc_cell(tc_port_started(port) ? TC_GOOD : TC_PLAIN, "%s",
			tc_port_started(port) ? "started" : "stopped");
		tc_cell_number(stats.ipackets);
		tc_cell_number(stats.ibytes);
		tc_cell_number(stats.imissed);
		tc_cell_number(stats.rx_nombuf);
		tc_cell_number(stats.opackets);
		tc_cell_number(stats.obytes);
		tc_cell_number(stats.ierrors + stats.oerrors);
	}
	tc_table_end();
}

static void
show_poll(void)
{
	struct rte_comch_poll_stats stats;

	if (rte_comch_poll_stats_get(tc.poll, &stats) != 0)
		return;
	tc_table_begin("poll", "runs busy events arms wakes longest-run-ns");
	tc_cell_number(stats.runs);
	tc_cell_number(stats.busy_runs);
	tc_cell_number(stats.events);
	tc_cell_number(stats.arms);
	tc_cell_number(stats.wakes);
	tc_cell_number(stats.longest_run_ns);
	tc_table_end();
}

static const struct {
	const char *what;
	void (*show)(void);
} shows[] = {
	{ "devices", show_devices },
	{ "servers", show_servers },
	{ "clients", show_clients },
	{ "conns", show_conns },
	{ "producers", show_producers },
	{ "consumers", show_consumers },
	{ "streams", show_streams },
	{ "lcores", show_lcores },
	{ "ports", show_ports },
	{ "poll", show_poll },
};

static void
show(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	bool all = cmd_is(cmd->word[1], "all");
	unsigned int i;

	(void)cl;
	(void)data;
	for (i = 0; i < RTE_DIM(shows); i++)
		if (all || cmd_is(cmd->word[1], shows[i].what))
			shows[i].show();
}

static void
show_stats(void *parsed, struct cmdline *cl, void *data)
{
	(void)parsed;
	(void)cl;
	(void)data;
	tc_stream_stats(false);
}

static void
show_xstats(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct rte_comch_xstat xstats[MAX_XSTATS];
	int dev = tc_dev_find(cmd->word[2]), n, i;

	(void)cl;
	(void)data;
	if (dev < 0)
		return;
	n = rte_comch_dev_xstats_get((int16_t)dev, xstats, MAX_XSTATS);
	if (n == 0)
		tc_out("%s: its driver has no counters\n", cmd->word[2]);
	if (cmd_check(cmd->word[2], n) <= 0)
		return;
	tc_table_begin(NULL, "counter value");
	for (i = 0; i < RTE_MIN(n, MAX_XSTATS); i++) {
		tc_cell(TC_PLAIN, "%s", xstats[i].name);
		tc_cell_number(xstats[i].value);
	}
	tc_table_end();
}

static void
show_dump(void *parsed, struct cmdline *cl, void *data)
{
	(void)parsed;
	(void)cl;
	(void)data;
	rte_comch_dump(stdout);
	fflush(stdout);
}

CMD(inst_show, show,
	"show all|devices|servers|clients|conns|producers|consumers|streams|lcores|ports|poll: "
	"states and counters",
	KEY(0, "show"), KEY(1, "all#devices#servers#clients#conns#producers#consumers#streams#"
		"lcores#ports#poll"));
CMD(inst_stats, show_stats, "show stats: counters of the streams, and rates since the last time",
	KEY(0, "show"), KEY(1, "stats"));
CMD(inst_xstats, show_xstats, "show xstats DEVICE: counters of the driver",
	KEY(0, "show"), KEY(1, "xstats"), NAME(2, "device", CMD_LIST_DEV));
CMD(inst_dump, show_dump, "show dump: the library's dump of its objects",
	KEY(0, "show"), KEY(1, "dump"));

cmdline_parse_inst_t *cmd_show[] = {
	&inst_show, &inst_stats, &inst_xstats, &inst_dump, NULL,
};
