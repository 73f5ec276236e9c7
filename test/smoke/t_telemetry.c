/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Telemetry, asked as any client asks: over EAL's socket, while both ends of
 * a connection live in this process.
 */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>
#include <rte_comch_msgq.h>
#include <rte_comch_stats.h>
#include <rte_eal.h>

#include "t_main.h"
#include "t_pair.h"
#include "t_tel.h"

#define NB_REGISTRATIONS 600
#define LIST_MAX 512
/* Rounds of the case in which all comes and goes. */
#define NB_ROUNDS 60

static const struct t_driver driver = { .name = "comch_shm", .has_dir = true };

static bool
has_text(const json_t *list, const char *want)
{
	const json_t *val;
	size_t i;

	json_array_foreach(list, i, val)
		if (strcmp(json_string_value(val), want) == 0)
			return true;
	return false;
}

/* What all cases begin and end with */

static void
start(void)
{
	char prefix[64];
	char *argv[] = {
		(char *)(uintptr_t)"test", prefix, (char *)(uintptr_t)"--log-level=*:2",
		(char *)(uintptr_t)"--no-huge", (char *)(uintptr_t)"-m",
		(char *)(uintptr_t)"64", (char *)(uintptr_t)"--no-pci",
		(char *)(uintptr_t)"--no-shconf", (char *)(uintptr_t)"--iova-mode=va", NULL,
	};

	t_driver = &driver;
	snprintf(prefix, sizeof(prefix), "--file-prefix=tel%d", (int)getpid());
	if (rte_eal_init((int)RTE_DIM(argv) - 1, argv) < 0)
		T_FAIL("rte_eal_init: %s", rte_strerror(rte_errno));
}

static void
end(void)
{
	T_EQ(rte_comch_dev_count(), 0);
	rte_eal_cleanup();
}

/* Each command is there, with a text of what it says. */
static void
commands(void)
{
	static const char *const numbered[] = {
		"driver", "dev", "server", "client", "conn", "producer", "consumer", "poll", "mem",
		"msgq",
	};
	static const char *const counted[] = { "server", "conn", "producer", "consumer", "poll",
		"msgq" };
	char text[96];
	json_t *all, *help;
	const json_t *cmd;
	size_t i, nb = 0;
	int fd;

	start();
	fd = t_tel_open();
	all = t_tel_ask(fd, "/");
	for (i = 0; i < RTE_DIM(numbered); i++) {
		snprintf(text, sizeof(text), "/comch/%s/list", numbered[i]);
		T_CHECK(has_text(all, text));
		snprintf(text, sizeof(text), "/comch/%s/info", numbered[i]);
		T_CHECK(has_text(all, text));
	}
	for (i = 0; i < RTE_DIM(counted); i++) {
		snprintf(text, sizeof(text), "/comch/%s/stats", counted[i]);
		T_CHECK(has_text(all, text));
	}
	T_CHECK(has_text(all, "/comch/explain"));
	T_CHECK(has_text(all, "/comch/dev/xstats"));
	T_CHECK(has_text(all, "/comch/shares"));
	json_array_foreach(all, i, cmd) {
		if (strncmp(json_string_value(cmd), "/comch/", 7) != 0)
			continue;
		nb++;
		snprintf(text, sizeof(text), "/help,%s", json_string_value(cmd));
		help = t_tel_ask(fd, text);
		T_STR_HAS(json_string_value(t_tel_member(help, json_string_value(cmd))), ".");
		json_decref(help);
	}
	T_EQ(nb, 2 * RTE_DIM(numbered) + RTE_DIM(counted) + 3);
	json_decref(all);
	close(fd);
	end();
}

/* What peers use of it; the only peer is this process itself. */
static void
check_share(json_t *shares, const char *of, uint32_t used)
{
	const json_t *share = json_object_get(shares, of);

	T_EQ(t_tel_number(share, "used"), used);
	T_EQ(t_tel_number(share, "most"), used);
	T_GT(t_tel_number(share, "max"), used);
	T_EQ(t_tel_number(share, "most_uid"), used > 0 ? (json_int_t)getuid() : -1);
	T_EQ(t_tel_number(share, "most_pid"), used > 0 ? getpid() : 0);
}

/* Without any object, lists are empty and numbers unknown. */
static void
nothing(void)
{
	static const char *const lists[] = {
		"/comch/dev/list", "/comch/server/list", "/comch/client/list", "/comch/conn/list",
		"/comch/producer/list", "/comch/consumer/list", "/comch/poll/list",
		"/comch/mem/list", "/comch/msgq/list",
	};
	json_t *o;
	size_t i;
	int fd;

	start();
	fd = t_tel_open();
	for (i = 0; i < RTE_DIM(lists); i++)
		t_tel_first(fd, lists[i], 0);
	T_EQ(t_tel_first(fd, "/comch/driver/list", 2), 0);
	o = t_tel_ask(fd, "/comch/driver/info,0");
	t_tel_is_text(o, "name", "comch_shm");
	T_CHECK(has_text(t_tel_member(o, "keys"), "role"));
	T_CHECK(has_text(t_tel_member(o, "keys"), "rep"));
	json_decref(o);
	o = t_tel_ask(fd, "/comch/shares");
	check_share(o, "descriptors", 0);
	check_share(o, "mappings", 0);
	json_decref(o);
	close(fd);
	end();
}

static void
check_devices(int fd)
{
	json_t *o;

	T_EQ(t_tel_first(fd, "/comch/dev/list", 2), 0);
	T_EQ(t_tel_first(fd, "/comch/dev/list,1", 1), 1);
	o = t_tel_ask(fd, "/comch/dev/info,0");
	t_tel_is_text(o, "name", "comch_shm0");
	t_tel_is_text(o, "driver", "comch_shm");
	t_tel_is_text(o, "role", "dpu");
	T_CHECK(has_text(t_tel_member(o, "capabilities"), "server"));
	T_CHECK(!has_text(t_tel_member(o, "capabilities"), "client"));
	T_CHECK(has_text(t_tel_member(o, "functions"), "pf0"));
	T_GT(t_tel_number(o, "max_msg_size"), 0);
	T_EQ(t_tel_number(o, "max_imm_len"), RTE_COMCH_IMM_SIZE);
	json_decref(o);
	o = t_tel_ask(fd, "/comch/dev/info,1");
	t_tel_is_text(o, "role", "host");
	T_CHECK(has_text(t_tel_member(o, "capabilities"), "client"));
	json_decref(o);
	/* This driver has no counters of its own. */
	o = t_tel_ask(fd, "/comch/dev/xstats,0");
	T_EQ(json_object_size(o), 0);
	json_decref(o);
}

static void
check_ends(int fd)
{
	json_t *o;

	T_EQ(t_tel_first(fd, "/comch/server/list", 1), 0);
	o = t_tel_ask(fd, "/comch/server/info,0");
	t_tel_is_text(o, "name", T_NAME);
	t_tel_is_text(o, "device", "comch_shm0");
	t_tel_is_text(o, "function", "pf0");
	t_tel_is_text(o, "state", "RUNNING");
	T_EQ(t_tel_number(o, "conns"), 1);
	T_EQ(t_tel_number(o, "half_open"), 0);
	T_EQ(t_tel_number(o, "pending"), 0);
	json_decref(o);
	o = t_tel_ask(fd, "/comch/server/stats,0");
	T_EQ(t_tel_number(o, "accepted"), 1);
	T_EQ(t_tel_number(o, "refused"), 0);
	json_decref(o);
	T_EQ(t_tel_first(fd, "/comch/client/list", 1), 0);
	o = t_tel_ask(fd, "/comch/client/info,0");
	t_tel_is_text(o, "state", "RUNNING");
	t_tel_is_text(o, "device", "comch_shm1");
	T_GT(t_tel_number(o, "conn"), 0);
	json_decref(o);
	t_tel_first(fd, "/comch/poll/list", 2);
	o = t_tel_ask(fd, "/comch/poll/info,0");
	/* The server and its connection. */
	T_EQ(t_tel_number(o, "objects"), 2);
	T_EQ(t_tel_number(o, "asleep"), 0);
	json_decref(o);
	o = t_tel_ask(fd, "/comch/poll/stats,0");
	T_GT(t_tel_number(o, "runs"), 0);
	T_GE(t_tel_number(o, "events"), 1);
	T_GT(t_tel_number(o, "longest_run_ns"), 0);
	json_decref(o);
}

/* A place at the server, and a mapping of each link. */
static void
check_shares(int fd)
{
	json_t *o = t_tel_ask(fd, "/comch/shares");

	check_share(o, "descriptors", 1);
	check_share(o, "mappings", 2);
	T_GT(t_tel_number(json_object_get(o, "descriptors_in_flight"), "max"), 0);
	json_decref(o);
}

/* A MsgQ, its ends and what they have counted. */
static void
msgqs(void)
{
	struct rte_comch_msgq_conf conf = { .conf_size = sizeof(conf), .name = "orders" };
	const struct rte_comch_op op = { .consumer_id = 1, .imm = "x", .imm_len = 1 };
	struct rte_comch_msgq_producer *p;
	struct rte_comch_msgq_consumer *c;
	struct rte_comch_msgq *q;
	struct rte_comch_cpl cpl;
	const json_t *end_of;
	json_t *o;
	int fd;

	start();
	fd = t_tel_open();
	q = rte_comch_msgq_create(&conf);
	c = rte_comch_msgq_consumer_create(q, NULL);
	p = rte_comch_msgq_producer_create(q, NULL);
	T_CHECK(p != NULL && c != NULL);
	T_EQ(rte_comch_msgq_credit(c, 3), 3);
	T_EQ(rte_comch_msgq_send_burst(p, &op, 1), 1);
	T_EQ(t_tel_first(fd, "/comch/msgq/list", 1), 0);
	o = t_tel_ask(fd, "/comch/msgq/info,0");
	t_tel_is_text(o, "name", "orders");
	end_of = t_tel_member(t_tel_member(o, "consumers"), "1");
	t_tel_is_text(end_of, "state", "RUNNING");
	T_EQ(t_tel_number(end_of, "depth"), 1024);
	T_EQ(t_tel_number(end_of, "credits"), 2);
	T_EQ(t_tel_number(end_of, "completion_queue"), 0);
	T_EQ(t_tel_number(t_tel_member(t_tel_member(o, "producers"), "1"), "dma_device"), -1);
	json_decref(o);
	o = t_tel_ask(fd, "/comch/msgq/stats,0");
	T_EQ(t_tel_number(t_tel_member(t_tel_member(o, "producers"), "1"), "msgs"), 1);
	T_EQ(t_tel_number(t_tel_member(t_tel_member(o, "consumers"), "1"), "posted"), 3);
	T_EQ(t_tel_number(t_tel_member(t_tel_member(o, "consumers"), "1"), "msgs"), 0);
	json_decref(o);
	T_EQ(rte_comch_msgq_recv_burst(c, &cpl, 1), 1);
	T_EQ(rte_comch_msgq_consumer_stop(c), -EINPROGRESS);
	while (rte_comch_msgq_consumer_state(c) != RTE_COMCH_STATE_IDLE)
		rte_comch_msgq_recv_burst(c, &cpl, 1);
	rte_comch_msgq_consumer_destroy(c);
	rte_comch_msgq_producer_destroy(p);
	T_EQ(rte_comch_msgq_destroy(q), 0);
	t_tel_first(fd, "/comch/msgq/list", 0);
	close(fd);
	end();
}

static void
check_conn(int fd, const struct rte_comch_conn *conn, const char *side)
{
	struct rte_comch_conn_info info;
	char text[64];
	json_t *o;

	T_EQ(rte_comch_conn_info_get(conn, &info), 0);
	snprintf(text, sizeof(text), "/comch/conn/info,%u", info.id);
	o = t_tel_ask(fd, text);
	t_tel_is_text(o, "name", T_NAME);
	t_tel_is_text(o, "side", side);
	t_tel_is_text(o, "state", "up");
	T_EQ(t_tel_number(o, "id"), info.id);
	T_EQ(t_tel_number(o, "max_msg_size"), info.max_msg_size);
	T_EQ(t_tel_number(o, "peer_pid"), getpid());
	T_EQ(t_tel_number(o, "peer_uid"), (json_int_t)getuid());
	T_EQ(t_tel_number(o, "producers"), 0);
	T_EQ(t_tel_number(o, "consumers"), 0);
	json_decref(o);
	snprintf(text, sizeof(text), "/comch/conn/stats,%u", info.id);
	o = t_tel_ask(fd, text);
	T_EQ(t_tel_number(o, "tx_msgs"), strcmp(side, "client") == 0 ? 3 : 0);
	T_EQ(t_tel_number(o, "tx_bytes"), strcmp(side, "client") == 0 ? 15 : 0);
	T_EQ(t_tel_number(o, "rx_msgs"), strcmp(side, "server") == 0 ? 3 : 0);
	json_decref(o);
}

static void
objects(void)
{
	struct t_pair p;
	int fd, i;

	start();
	fd = t_tel_open();
	t_pair_open(&p, NULL);
	for (i = 0; i < 3; i++)
		t_send(p.cconn, "hello", 5, (uint64_t)i);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 3);
	check_devices(fd);
	check_ends(fd);
	check_shares(fd);
	t_tel_first(fd, "/comch/conn/list", 2);
	check_conn(fd, p.sconn, "server");
	check_conn(fd, p.cconn, "client");
	t_pair_close(&p);
	t_tel_first(fd, "/comch/conn/list", 0);
	t_tel_first(fd, "/comch/server/list", 0);
	close(fd);
	end();
}

static uint32_t
conn_id(const struct rte_comch_conn *conn)
{
	struct rte_comch_conn_info info;

	T_EQ(rte_comch_conn_info_get(conn, &info), 0);
	return info.id;
}

static void
queues(void)
{
	struct t_flow_conf conf = { .cons.queue_size = 64 };
	char text[64], id[32];
	struct t_pair p;
	struct t_flow f;
	json_t *o;
	int fd;

	start();
	fd = t_tel_open();
	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &conf);
	t_flow_once(&f, 1000, 1);
	t_flow_once(&f, 2000, 2);
	o = t_tel_ask(fd, "/comch/consumer/list");
	snprintf(id, sizeof(id), "%u.1", conn_id(p.sconn));
	T_EQ(json_array_size(o), 1);
	T_CHECK(has_text(o, id));
	json_decref(o);
	/* As the list says it, and with a comma. */
	snprintf(text, sizeof(text), "/comch/consumer/info,%s", id);
	o = t_tel_ask(fd, text);
	t_tel_is_text(o, "state", "RUNNING");
	T_EQ(t_tel_number(o, "depth"), 64);
	T_EQ(t_tel_number(o, "registrations"), 1);
	T_EQ(t_tel_number(o, "snapshot"), 0);
	json_decref(o);
	snprintf(text, sizeof(text), "/comch/consumer/stats,%u,1", conn_id(p.sconn));
	o = t_tel_ask(fd, text);
	T_EQ(t_tel_number(o, "msgs"), 2);
	T_EQ(t_tel_number(o, "bytes"), 3000);
	T_EQ(t_tel_number(o, "staged"), 0);
	json_decref(o);
	snprintf(text, sizeof(text), "/comch/producer/list,%u", conn_id(p.sconn));
	t_tel_first(fd, text, 0);
	snprintf(text, sizeof(text), "/comch/producer/info,%u,1", conn_id(p.cconn));
	o = t_tel_ask(fd, text);
	t_tel_is_text(o, "state", "RUNNING");
	json_decref(o);
	snprintf(text, sizeof(text), "/comch/producer/stats,%u,1", conn_id(p.cconn));
	o = t_tel_ask(fd, text);
	T_EQ(t_tel_number(o, "msgs"), 2);
	T_EQ(t_tel_number(o, "bytes"), 3000);
	json_decref(o);
	snprintf(text, sizeof(text), "/comch/conn/info,%u", conn_id(p.cconn));
	o = t_tel_ask(fd, text);
	T_EQ(t_tel_number(o, "producers"), 1);
	T_EQ(t_tel_number(o, "peer_consumers"), 1);
	json_decref(o);
	t_flow_close(&f);
	t_tel_first(fd, "/comch/consumer/list", 0);
	t_pair_close(&p);
	close(fd);
	end();
}

/* The only registration of the only consumer of a connection. */
static void
explain_is(int fd, struct rte_comch_conn *conn, const struct t_flow *f, const char *path,
		const char *why)
{
	char text[64], id[16];
	const json_t *c, *m;
	struct rte_comch_mr_info mr;
	json_t *o;

	T_EQ(rte_comch_mem_info_get(f->dst.mr, &mr), 0);
	snprintf(text, sizeof(text), "/comch/explain,%u", conn_id(conn));
	o = t_tel_ask(fd, text);
	snprintf(id, sizeof(id), "%u", rte_comch_consumer_id(f->cons));
	c = t_tel_member(t_tel_member(o, "consumers"), id);
	snprintf(id, sizeof(id), "%u", mr.id);
	m = t_tel_member(t_tel_member(c, "memory"), id);
	t_tel_is_text(m, "kind", rte_comch_mem_kind_name(mr.kind));
	t_tel_is_text(m, "path", path);
	T_STR_HAS(json_string_value(t_tel_member(m, "why")), why);
	T_EQ(t_tel_number(m, "len"), (json_int_t)mr.len);
	T_EQ(t_tel_number(c, "staging_size") > 0, strcmp(path, "staged") == 0);
	T_EQ(t_tel_number(c, "msgs"), 1);
	T_EQ(t_tel_number(c, "staged_msgs"), strcmp(path, "staged") == 0);
	json_decref(o);
	/* One consumer alone. */
	snprintf(text, sizeof(text), "/comch/explain,%u,%u", conn_id(conn),
		rte_comch_consumer_id(f->cons));
	o = t_tel_ask(fd, text);
	T_EQ(json_object_size(t_tel_member(o, "consumers")), 1);
	json_decref(o);
}

/* What the connection says of itself agrees with what its messages did. */
static void
explain(void)
{
	static const struct {
		const char *args; /* of the DPU's device */
		enum rte_comch_mem_kind kind;
		uint32_t flags;
		const char *path;
		const char *why;
	} cases[] = {
		{ "", RTE_COMCH_MEM_SEALED, 0, "direct", "writes into it" },
		{ "", RTE_COMCH_MEM_HEAP, 0, "staged", "heap memory" },
		{ "", RTE_COMCH_MEM_EAL, 0, "staged", "export_eal=1" },
		{ "", RTE_COMCH_MEM_SEALED, RTE_COMCH_CONSUMER_F_SNAPSHOT, "staged", "SNAPSHOT" },
	};
	struct t_pair_conf pair_conf = { 0 };
	struct t_flow_conf conf = { 0 };
	struct t_pair p;
	struct t_flow f;
	char text[64];
	json_t *o;
	size_t i;
	int fd;

	start();
	fd = t_tel_open();
	for (i = 0; i < RTE_DIM(cases); i++) {
		pair_conf.dpu_args = cases[i].args;
		conf.kind = cases[i].kind;
		conf.cons.flags = cases[i].flags;
		t_pair_open(&p, &pair_conf);
		t_flow_open(&f, &p, &conf);
		t_flow_once(&f, 1000, i);
		explain_is(fd, p.sconn, &f, cases[i].path, cases[i].why);
		/* From the producer's side. */
		snprintf(text, sizeof(text), "/comch/explain,%u", conn_id(p.cconn));
		o = t_tel_ask(fd, text);
		T_EQ(json_object_size(t_tel_member(o, "consumers")), 0);
		T_EQ(json_object_size(t_tel_member(o, "peer_consumers")), 1);
		T_EQ(t_tel_number(o, "peer_memory"), strcmp(cases[i].path, "direct") == 0);
		json_decref(o);
		t_flow_close(&f);
		t_pair_close(&p);
	}
	close(fd);
	end();
}

/* What makes no sense has no answer, and the next question has. */
static void
mistakes(void)
{
	static const char *const bad[] = {
		"/comch/dev/info", "/comch/dev/info,", "/comch/dev/info,x", "/comch/dev/info,0x0",
		"/comch/dev/info,-1", "/comch/dev/info,+0", "/comch/dev/info, 0",
		"/comch/dev/info,0,0", "/comch/dev/info,0,", "/comch/dev/info,.0",
		"/comch/dev/info,0 ", "/comch/dev/info,2", "/comch/dev/info,32768",
		"/comch/dev/info,65536", "/comch/dev/info,4294967296",
		"/comch/dev/xstats", "/comch/dev/xstats,2", "/comch/dev/xstats,65536",
		"/comch/dev/info,18446744073709551616", "/comch/dev/list,x",
		"/comch/dev/list,0,0", "/comch/dev/list,0,0,0",
		"/comch/driver/info", "/comch/driver/info,2", "/comch/driver/info,4294967295",
		"/comch/server/info,1", "/comch/server/info,4294967295", "/comch/server/stats,1",
		"/comch/client/info,1", "/comch/conn/info,0", "/comch/conn/info,4294967295",
		"/comch/conn/stats,0", "/comch/producer/info,1", "/comch/producer/list,0",
		"/comch/consumer/info,1,", "/comch/consumer/info,1,99", "/comch/consumer/info,0,1",
		"/comch/consumer/stats,1.99", "/comch/consumer/stats,1.1.1",
		"/comch/consumer/stats,1;1", "/comch/poll/info,2", "/comch/poll/stats,99",
		"/comch/msgq/info,0", "/comch/msgq/stats,0",
		"/comch/mem/info,4096", "/comch/mem/info,4294967295", "/comch/explain",
		"/comch/explain,0", "/comch/explain,1,99", "/comch/explain,1,1,1",
		"/comch/explain,\n", "/comch/explain,1\n", "/comch/shares,0",
	};
	struct t_pair p;
	struct t_flow f;
	json_t *o;
	size_t i;
	int fd;

	start();
	fd = t_tel_open();
	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	for (i = 0; i < RTE_DIM(bad); i++) {
		o = t_tel_ask(fd, bad[i]);
		if (!json_is_null(o))
			T_FAIL("'%s': %s", bad[i], json_dumps(o, 0));
		json_decref(o);
		T_EQ(t_tel_first(fd, "/comch/dev/list", 2), 0);
	}
	/* A start beyond the end is valid: the list is empty. */
	t_tel_first(fd, "/comch/dev/list,4294967295", 0);
	t_tel_first(fd, "/comch/mem/list,4294967295", 0);
	t_flow_close(&f);
	t_pair_close(&p);
	close(fd);
	end();
}

/* A reply has room for so many: the others are asked for by number. */
static void
long_lists(void)
{
	static struct rte_comch_mr *mrs[NB_REGISTRATIONS];
	struct rte_comch_mr_info info;
	static uint8_t memory[64];
	char text[64];
	json_t *o;
	size_t i;
	int fd;

	start();
	fd = t_tel_open();
	for (i = 0; i < NB_REGISTRATIONS; i++) {
		mrs[i] = rte_comch_mem_register(memory, sizeof(memory), 0);
		T_CHECK(mrs[i] != NULL);
	}
	T_EQ(t_tel_first(fd, "/comch/mem/list", LIST_MAX), 0);
	T_EQ(t_tel_first(fd, "/comch/mem/list,512", NB_REGISTRATIONS - LIST_MAX), LIST_MAX);
	T_EQ(rte_comch_mem_info_get(mrs[NB_REGISTRATIONS - 1], &info), 0);
	snprintf(text, sizeof(text), "/comch/mem/info,%u", info.id);
	o = t_tel_ask(fd, text);
	t_tel_is_text(o, "kind", "heap");
	T_EQ(t_tel_number(o, "len"), sizeof(memory));
	T_EQ(t_tel_number(o, "users"), 0);
	json_decref(o);
	for (i = 0; i < NB_REGISTRATIONS; i++)
		T_EQ(rte_comch_mem_unregister(mrs[i]), 0);
	close(fd);
	end();
}

/* Asks for everything, over and over, until told to stop. */

static bool quit; /* atomic */

static void
ask_all(int fd, uint32_t conn)
{
	static const char *const plain[] = {
		"/comch/dev/list", "/comch/dev/info,0", "/comch/dev/info,1", "/comch/server/list",
		"/comch/server/info,0", "/comch/server/stats,0", "/comch/client/list",
		"/comch/client/info,0", "/comch/conn/list", "/comch/producer/list",
		"/comch/consumer/list", "/comch/poll/list", "/comch/poll/info,0",
		"/comch/poll/stats,0", "/comch/mem/list", "/comch/mem/info,0", "/comch/mem/info,1",
		"/comch/shares",
	};
	static const char *const of_conn[] = {
		"/comch/conn/info,%u", "/comch/conn/stats,%u", "/comch/explain,%u",
		"/comch/explain,%u,1", "/comch/consumer/info,%u,1", "/comch/consumer/stats,%u,1",
		"/comch/producer/info,%u,1", "/comch/producer/stats,%u,1",
	};
	const char *at;
	char text[64];
	size_t i;

	for (i = 0; i < RTE_DIM(plain); i++)
		json_decref(t_tel_ask(fd, plain[i]));
	for (i = 0; i < RTE_DIM(of_conn); i++) {
		at = strchr(of_conn[i], '%');
		snprintf(text, sizeof(text), "%.*s%u%s", (int)(at - of_conn[i]), of_conn[i], conn,
			at + 2);
		json_decref(t_tel_ask(fd, text));
	}
}

static void *
asker(void *arg)
{
	uint64_t *nb = arg;
	json_t *conns;
	json_int_t id;
	int fd = t_tel_open();
	size_t i, nb_conns;

	while (!__atomic_load_n(&quit, __ATOMIC_RELAXED)) {
		conns = t_tel_ask(fd, "/comch/conn/list");
		nb_conns = json_array_size(conns);
		for (i = 0; i <= nb_conns; i++) {
			id = json_integer_value(json_array_get(conns, i));
			ask_all(fd, (uint32_t)id);
		}
		json_decref(conns);
		__atomic_fetch_add(nb, 1, __ATOMIC_RELAXED);
	}
	close(fd);
	return NULL;
}

/* Objects come and go while they are queried: under ASan, a use after free is found. */
static void
churn(void)
{
	static const enum rte_comch_mem_kind kinds[] = {
		RTE_COMCH_MEM_SEALED, RTE_COMCH_MEM_HEAP, RTE_COMCH_MEM_EAL,
	};
	struct t_flow_conf conf = { .cons.queue_size = 64, .prod.queue_size = 64 };
	pthread_t threads[2];
	uint64_t nb[2] = { 0 };
	struct t_pair p;
	struct t_flow f;
	size_t i;

	start();
	for (i = 0; i < RTE_DIM(threads); i++)
		T_EQ(pthread_create(&threads[i], NULL, asker, &nb[i]), 0);
	for (i = 0; i < NB_ROUNDS || __atomic_load_n(&nb[0], __ATOMIC_RELAXED) < 10 ||
			__atomic_load_n(&nb[1], __ATOMIC_RELAXED) < 10; i++) {
		conf.kind = kinds[i % RTE_DIM(kinds)];
		conf.to_host = i % 2 != 0;
		t_pair_open(&p, NULL);
		t_flow_open(&f, &p, &conf);
		t_flow_once(&f, 3000, i);
		t_flow_close(&f);
		t_pair_disconnect(&p);
		t_pair_connect(&p);
		t_flow_open(&f, &p, &conf);
		t_flow_once(&f, 100, i);
		t_flow_close(&f);
		t_pair_close(&p);
	}
	__atomic_store_n(&quit, true, __ATOMIC_RELAXED);
	for (i = 0; i < RTE_DIM(threads); i++)
		pthread_join(threads[i], NULL);
	end();
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "commands", commands }, { "nothing", nothing },
		{ "msgqs", msgqs }, { "objects", objects },
		{ "queues", queues }, { "explain", explain }, { "mistakes", mistakes },
		{ "long_lists", long_lists }, { "churn", churn },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
