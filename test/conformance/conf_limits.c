/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Defaults, sizes at the limits and over them, and what two ends agree on. */

#include <stdlib.h>

#include "conf.h"

/* Consumers and producers of one end. */
#define MANY 256

void
conf_limits_defaults(void)
{
	struct rte_comch_dev_info dinfo;
	struct rte_comch_conn_info s, c;
	struct t_pair p;

	t_pair_open(&p, NULL);
	T_EQ(rte_comch_dev_info_get(p.dpu_dev, &dinfo), 0);
	T_EQ(rte_comch_conn_info_get(p.sconn, &s), 0);
	T_EQ(rte_comch_conn_info_get(p.cconn, &c), 0);
	T_EQ(s.max_msg_size, RTE_MIN(dinfo.max_msg_size, 4080U));
	T_EQ(c.max_msg_size, s.max_msg_size);
	T_EQ(s.recv_queue, 64);
	T_EQ(c.recv_queue, 64);
	T_EQ(s.send_credits, 64);
	T_EQ(c.send_credits, 64);
	t_pair_close(&p);
}

void
conf_limits_server_conf(void)
{
	struct rte_comch_server_conf good = {
		.conf_size = sizeof(good), .name = "limits",
	}, bad;
	struct rte_comch_dev_info info;
	struct rte_comch_server *s;
	struct t_pair p;

	t_pair_devs(&p, NULL);
	good.poll = p.dpu->poll;
	T_EQ(rte_comch_dev_info_get(p.dpu_dev, &info), 0);
	T_NULL_ERRNO(rte_comch_server_create(p.dpu_dev, NULL), EINVAL);
	bad = good;
	bad.conf_size = 0;
	T_NULL_ERRNO(rte_comch_server_create(p.dpu_dev, &bad), EINVAL);
	bad = good;
	bad.poll = NULL;
	T_NULL_ERRNO(rte_comch_server_create(p.dpu_dev, &bad), EINVAL);
	bad = good;
	bad.flags = UINT32_C(1) << 31;
	T_NULL_ERRNO(rte_comch_server_create(p.dpu_dev, &bad), EINVAL);
	bad = good;
	bad.max_msg_size = info.max_msg_size + 1;
	T_NULL_ERRNO(rte_comch_server_create(p.dpu_dev, &bad), EINVAL);
	bad = good;
	bad.recv_queue = info.max_recv_queue + 1;
	T_NULL_ERRNO(rte_comch_server_create(p.dpu_dev, &bad), EINVAL);
	bad = good;
	bad.send_queue = info.max_send_queue + 1;
	T_NULL_ERRNO(rte_comch_server_create(p.dpu_dev, &bad), EINVAL);
	bad = good;
	bad.max_clients = info.max_clients + 1;
	if (bad.max_clients != 0)
		T_NULL_ERRNO(rte_comch_server_create(p.dpu_dev, &bad), EINVAL);
	bad = good;
	bad.max_clients = bad.reserve = 2;
	T_NULL_ERRNO(rte_comch_server_create(p.dpu_dev, &bad), EINVAL);
	bad.reserve = RTE_COMCH_RESERVE_NONE;
	s = rte_comch_server_create(p.dpu_dev, &bad);
	T_CHECK(s != NULL);
	t_server_end(s);
	bad = good;
	bad.max_msg_size = info.max_msg_size;
	bad.recv_queue = info.max_recv_queue;
	bad.send_queue = info.max_send_queue;
	bad.max_clients = info.max_clients;
	s = rte_comch_server_create(p.dpu_dev, &bad);
	T_CHECK(s != NULL);
	t_server_end(s);
	t_pair_close(&p);
}

void
conf_limits_client_conf(void)
{
	struct rte_comch_client_conf good = {
		.conf_size = sizeof(good), .name = "limits",
	}, bad;
	struct rte_comch_dev_info info;
	struct rte_comch_client *c;
	struct t_pair p;

	t_pair_devs(&p, NULL);
	good.poll = p.host->poll;
	T_EQ(rte_comch_dev_info_get(p.host_dev, &info), 0);
	T_NULL_ERRNO(rte_comch_client_create(p.host_dev, NULL), EINVAL);
	bad = good;
	bad.conf_size = 0;
	T_NULL_ERRNO(rte_comch_client_create(p.host_dev, &bad), EINVAL);
	bad = good;
	bad.poll = NULL;
	T_NULL_ERRNO(rte_comch_client_create(p.host_dev, &bad), EINVAL);
	bad = good;
	bad.max_msg_size = info.max_msg_size + 1;
	T_NULL_ERRNO(rte_comch_client_create(p.host_dev, &bad), EINVAL);
	bad = good;
	bad.recv_queue = info.max_recv_queue + 1;
	T_NULL_ERRNO(rte_comch_client_create(p.host_dev, &bad), EINVAL);
	bad = good;
	bad.send_queue = info.max_send_queue + 1;
	T_NULL_ERRNO(rte_comch_client_create(p.host_dev, &bad), EINVAL);
	bad = good;
	bad.flags = UINT32_C(1) << 31;
	T_NULL_ERRNO(rte_comch_client_create(p.host_dev, &bad), EINVAL);
	/* A program that was built before flags existed has none. */
	bad.conf_size = offsetof(struct rte_comch_client_conf, flags);
	c = rte_comch_client_create(p.host_dev, &bad);
	T_CHECK(c != NULL);
	t_client_end(c);
	bad = good;
	bad.max_msg_size = info.max_msg_size;
	bad.recv_queue = info.max_recv_queue;
	bad.send_queue = info.max_send_queue;
	c = rte_comch_client_create(p.host_dev, &bad);
	T_CHECK(c != NULL);
	t_client_end(c);
	t_pair_close(&p);
}

/* The greatest message through the deepest queue. */
void
conf_limits_greatest(void)
{
	struct rte_comch_dev_info info;
	struct rte_comch_conn_info cinfo;
	const struct t_ev *ev;
	struct t_pair p;
	unsigned int i, taken = 0;
	uint8_t *buf;

	t_pair_devs(&p, NULL);
	T_EQ(rte_comch_dev_info_get(p.dpu_dev, &info), 0);
	p.server = t_server_new(p.dpu, p.dpu_dev, T_NAME, 0,
			&(struct rte_comch_server_conf){
				.max_msg_size = info.max_msg_size,
				.recv_queue = info.max_recv_queue,
				.send_queue = info.max_send_queue });
	p.client = t_client_new(p.host, p.host_dev, T_NAME,
			&(struct rte_comch_client_conf){
				.max_msg_size = info.max_msg_size,
				.recv_queue = info.max_recv_queue,
				.send_queue = info.max_send_queue });
	t_pair_connect(&p);
	T_EQ(rte_comch_conn_info_get(p.cconn, &cinfo), 0);
	T_EQ(cinfo.max_msg_size, info.max_msg_size);
	T_EQ(cinfo.send_credits, info.max_recv_queue);
	buf = malloc(info.max_msg_size);
	T_CHECK(buf != NULL);
	for (i = 0; i < 100; i++) {
		t_fill(buf, info.max_msg_size, i);
		if (!t_offer(p.cconn, buf, info.max_msg_size, i, 0))
			break;
		taken++;
	}
	T_GE(taken, 1);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, p.sconn) == taken);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, p.cconn) == taken);
	for (i = 0; i < taken; i++) {
		ev = t_find(p.dpu, RTE_COMCH_EVENT_MSG, p.sconn, i);
		T_EQ(ev->len, info.max_msg_size);
		T_VERIFY(ev->data, ev->len, i);
	}
	free(buf);
	t_pair_close(&p);
}

/* The smaller size counts, whichever side has it. */
static void
check_smaller(uint32_t at_server, uint32_t at_client)
{
	struct t_pair_conf conf = {
		.server.max_msg_size = at_server, .client.max_msg_size = at_client,
	};
	const uint32_t less = RTE_MIN(at_server, at_client);
	struct rte_comch_conn_info s, c;
	uint8_t buf[2049] = { 0 };
	struct t_pair p;

	t_pair_open(&p, &conf);
	T_EQ(rte_comch_conn_info_get(p.sconn, &s), 0);
	T_EQ(rte_comch_conn_info_get(p.cconn, &c), 0);
	T_EQ(s.max_msg_size, less);
	T_EQ(c.max_msg_size, less);
	t_send(p.cconn, buf, less, 1);
	t_send(p.cconn, buf, less + 1, 2);
	t_send(p.sconn, buf, less, 3);
	t_send(p.sconn, buf, less + 1, 4);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 2);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_SENT, NULL) == 2);
	T_EQ(conf_sent_status(p.host, 1), 0);
	T_EQ(conf_sent_status(p.host, 2), -EMSGSIZE);
	T_EQ(conf_sent_status(p.dpu, 3), 0);
	T_EQ(conf_sent_status(p.dpu, 4), -EMSGSIZE);
	t_settle();
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL), 1);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), 1);
	t_pair_close(&p);
}

CONF_CASE(limits, smaller_size,
	check_smaller(1024, 2048);
	check_smaller(2048, 1024);
	check_smaller(1, 2))

/* Depths are each side's own: what one queues is what the other may send. */
void
conf_limits_depths(void)
{
	struct t_pair_conf conf = {
		.server.recv_queue = 4, .server.send_queue = 16,
		.client.recv_queue = 8, .client.send_queue = 32,
	};
	struct rte_comch_conn_info s, c;
	struct t_pair p;

	t_pair_open(&p, &conf);
	T_EQ(rte_comch_conn_info_get(p.sconn, &s), 0);
	T_EQ(rte_comch_conn_info_get(p.cconn, &c), 0);
	T_EQ(s.recv_queue, 4);
	T_EQ(c.send_credits, 4);
	T_EQ(c.recv_queue, 8);
	T_EQ(s.send_credits, 8);
	t_pair_close(&p);
}

void
conf_limits_exact(void)
{
	struct t_pair_conf conf = {
		.server = { .flags = RTE_COMCH_SERVER_F_EXACT, .max_msg_size = 1024 },
		.client = { .max_msg_size = 2048 },
	};
	struct rte_comch_server_stats stats;
	const struct t_ev *ev;
	struct t_pair p;

	t_pair_ends(&p, &conf);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	ev = t_state_ev(p.host, p.client);
	T_EQ(ev->e.status, -ECONNREFUSED);
	T_STR_HAS(ev->text, "1024");
	T_STR_HAS(ev->text, "2048");
	T_EQ(ev->e.state.next, RTE_COMCH_STATE_IDLE);
	T_UNTIL(rte_comch_server_nb_conns(p.server) == 0);
	T_EQ(p.dpu->nb_evs, 0);
	T_EQ(rte_comch_server_stats_get(p.server, &stats), 0);
	T_EQ(stats.refused, 1);
	T_EQ(stats.accepted, 0);
	t_client_end(p.client);
	conf.client.max_msg_size = 512;
	p.client = t_client_new(p.host, p.host_dev, T_NAME, &conf.client);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	T_EQ(t_state_ev(p.host, p.client)->e.status, -ECONNREFUSED);
	t_client_end(p.client);
	conf.client.max_msg_size = 1024;
	p.client = t_client_new(p.host, p.host_dev, T_NAME, &conf.client);
	t_pair_connect(&p);
	t_pair_close(&p);
}

void
conf_limits_max_clients(void)
{
	struct t_pair_conf conf = { .server.max_clients = 2 };
	struct rte_comch_client *second, *third;
	struct t_pair p;

	t_pair_open(&p, &conf);
	second = t_client_new(p.host, p.host_dev, T_NAME, NULL);
	third = t_client_new(p.host, p.host_dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(second), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(second) == RTE_COMCH_STATE_RUNNING);
	T_UNTIL(rte_comch_server_nb_conns(p.server) == 2);
	T_EQ(rte_comch_client_start(third), -EINPROGRESS);
	T_UNTIL(t_state_ev(p.host, third) != NULL);
	T_EQ(t_state_ev(p.host, third)->e.status, -ECONNREFUSED);
	T_NE(t_state_ev(p.host, third)->text[0], '\0');
	T_UNTIL(rte_comch_server_nb_conns(p.server) == 2);
	t_pair_disconnect(&(struct t_pair){ .client = second });
	T_UNTIL(rte_comch_server_nb_conns(p.server) == 1);
	t_forget(p.host);
	T_EQ(rte_comch_client_start(third), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(third) != RTE_COMCH_STATE_STARTING);
	T_EQ(rte_comch_client_state(third), RTE_COMCH_STATE_RUNNING);
	t_client_end(second);
	t_client_end(third);
	t_pair_close(&p);
}

/*
 * The server runs, but its application takes no event. It looks for clients a thousand times a
 * second.
 */
static void
run_without_events(const struct t_pair *p)
{
	const uint64_t begin = t_now_ms();
	unsigned int i;

	for (i = 0; i < 1000 || t_now_ms() - begin < 100; i++) {
		rte_comch_poll_run(p->dpu->poll, NULL, 0);
		t_step(p->host);
	}
}

/* A client that has left frees its slot, whether its end was reported or not. */
void
conf_limits_room_of_one_that_left(void)
{
	struct t_pair_conf conf = { .server.max_clients = 1 };
	struct rte_comch_client *second;
	struct t_pair p;

	t_pair_open(&p, &conf);
	second = t_client_new(p.host, p.host_dev, T_NAME, NULL);
	p.dpu->paused = true;
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	/* A driver may deliver the end late. */
	run_without_events(&p);
	T_EQ(rte_comch_client_start(second), -EINPROGRESS);
	run_without_events(&p);
	T_EQ(rte_comch_client_state(second), RTE_COMCH_STATE_STARTING);
	p.dpu->paused = false;
	T_UNTIL(rte_comch_client_state(second) != RTE_COMCH_STATE_STARTING);
	T_EQ(rte_comch_client_state(second), RTE_COMCH_STATE_RUNNING);
	t_client_end(second);
	t_pair_close(&p);
}

/* Many clients of one server: each is served, each has its own connection. */
void
conf_limits_many_clients(void)
{
	enum { NB = 200 };
	struct rte_comch_client *client[NB];
	struct t_pair p;
	const struct t_ev *ev;
	unsigned int i;

	T_CHECK(t_nofile_set(4096));
	t_pair_ends(&p, NULL);
	for (i = 0; i < NB; i++) {
		client[i] = t_client_new(p.host, p.host_dev, T_NAME,
				&(struct rte_comch_client_conf){ .user_data = i });
		T_EQ(rte_comch_client_start(client[i]), -EINPROGRESS);
	}
	T_UNTIL(rte_comch_server_nb_conns(p.server) == NB &&
			t_count(p.host, RTE_COMCH_EVENT_STATE, NULL) == NB &&
			t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == NB);
	for (i = 0; i < NB; i++) {
		T_EQ(rte_comch_client_state(client[i]), RTE_COMCH_STATE_RUNNING);
		t_send(rte_comch_client_conn(client[i]), &i, sizeof(i), i);
	}
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == NB);
	for (i = 0; i < NB; i++) {
		ev = t_find(p.dpu, RTE_COMCH_EVENT_MSG, NULL, i);
		T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, ev->e.conn), 1);
		t_send(ev->e.conn, ev->data, ev->len, 0);
	}
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL) == NB);
	for (i = 0; i < NB; i++) {
		ev = t_find(p.host, RTE_COMCH_EVENT_MSG,
				rte_comch_client_conn(client[i]), 0);
		T_CHECK(ev != NULL);
		T_EQ(memcmp(ev->data, &i, sizeof(i)), 0);
	}
	for (i = 0; i < NB; i++)
		T_EQ(rte_comch_client_stop(client[i]), -EINPROGRESS);
	for (i = 0; i < NB; i++)
		t_client_end(client[i]);
	T_UNTIL(rte_comch_server_nb_conns(p.server) == 0);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == NB);
	t_pair_close(&p);
}

void
conf_limits_many_servers(void)
{
	enum { NB = 50 };
	struct rte_comch_server *server[NB];
	struct t_pair p;
	unsigned int i;
	char name[32];

	t_pair_devs(&p, NULL);
	for (i = 0; i < NB; i++) {
		snprintf(name, sizeof(name), "server-%u", i);
		server[i] = t_server_new(p.dpu, p.dpu_dev, name, 0, NULL);
	}
	for (i = 0; i < NB; i += 7) {
		snprintf(name, sizeof(name), "server-%u", i);
		p.client = t_client_new(p.host, p.host_dev, name, NULL);
		t_pair_connect(&p);
		T_CHECK(rte_comch_conn_server(p.sconn) == server[i]);
		t_client_end(p.client);
	}
	p.client = NULL;
	for (i = 0; i < NB; i++)
		t_server_end(server[i]);
	t_pair_close(&p);
}

void
conf_limits_producer_conf(void)
{
	struct rte_comch_producer_conf conf = { .conf_size = sizeof(conf) };
	struct rte_comch_producer *prods[8192];
	struct rte_comch_dev_info info;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	T_CHECK(t_nofile_set(20000));
	T_EQ(rte_comch_dev_info_get(p.dpu_dev, &info), 0);
	T_NULL_ERRNO(rte_comch_producer_create(NULL, &conf), EINVAL);
	T_NULL_ERRNO(rte_comch_producer_create(p.sconn, NULL), EINVAL);
	conf.queue_size = info.max_dp_queue + 1;
	T_NULL_ERRNO(rte_comch_producer_create(p.sconn, &conf), EINVAL);
	conf.queue_size = info.max_dp_queue;
	conf.flags = RTE_COMCH_PRODUCER_F_PAUSES << 1;
	T_NULL_ERRNO(rte_comch_producer_create(p.sconn, &conf), EINVAL);
	conf.flags = RTE_COMCH_PRODUCER_F_PAUSES;
	prods[0] = rte_comch_producer_create(p.sconn, &conf);
	T_CHECK(prods[0] != NULL);
	conf.queue_size = 8;
	T_LT(info.max_producers, RTE_DIM(prods));
	for (i = 1; i < info.max_producers; i++) {
		prods[i] = rte_comch_producer_create(p.sconn, &conf);
		if (prods[i] == NULL)
			T_FAIL("producer %u: %s", i, strerror(rte_errno));
		T_NE(rte_comch_producer_id(prods[i]), rte_comch_producer_id(prods[i - 1]));
	}
	T_NULL_ERRNO(rte_comch_producer_create(p.sconn, &conf), ENOSPC);
	/* The other side has a limit of its own. */
	t_producer_end(t_producer_new(p.cconn, &conf));
	T_EQ(rte_comch_producer_destroy(prods[0]), 0);
	t_settle();
	prods[0] = rte_comch_producer_create(p.sconn, &conf);
	T_CHECK(prods[0] != NULL);
	for (i = 0; i < info.max_producers; i++)
		T_EQ(rte_comch_producer_destroy(prods[i]), 0);
	t_settle();
	t_pair_close(&p);
}

void
conf_limits_consumer_conf(void)
{
	struct rte_comch_consumer_conf conf = { .conf_size = sizeof(conf) };
	struct rte_comch_consumer *conss[8192];
	struct rte_comch_dev_info info;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	T_CHECK(t_nofile_set(20000));
	T_EQ(rte_comch_dev_info_get(p.host_dev, &info), 0);
	T_NULL_ERRNO(rte_comch_consumer_create(NULL, &conf), EINVAL);
	T_NULL_ERRNO(rte_comch_consumer_create(p.cconn, NULL), EINVAL);
	conf.queue_size = info.max_dp_queue + 1;
	T_NULL_ERRNO(rte_comch_consumer_create(p.cconn, &conf), EINVAL);
	conf.queue_size = info.max_dp_queue;
	conf.imm_size = info.max_imm_len + 1;
	T_NULL_ERRNO(rte_comch_consumer_create(p.cconn, &conf), EINVAL);
	conf.imm_size = info.max_imm_len;
	conf.flags = UINT32_C(1) << 31;
	T_NULL_ERRNO(rte_comch_consumer_create(p.cconn, &conf), EINVAL);
	conf.flags = 0;
	conss[0] = rte_comch_consumer_create(p.cconn, &conf);
	T_CHECK(conss[0] != NULL);
	conf.queue_size = 8;
	T_LT(info.max_consumers, RTE_DIM(conss));
	for (i = 1; i < info.max_consumers; i++) {
		conss[i] = rte_comch_consumer_create(p.cconn, &conf);
		if (conss[i] == NULL)
			T_FAIL("consumer %u: %s", i, strerror(rte_errno));
	}
	T_NULL_ERRNO(rte_comch_consumer_create(p.cconn, &conf), ENOSPC);
	for (i = 0; i < info.max_consumers; i++)
		T_EQ(rte_comch_consumer_destroy(conss[i]), 0);
	t_settle();
	t_consumer_end(t_consumer_new(p.cconn, NULL, NULL));
	t_pair_close(&p);
}

/* Both ends start all that they may have, in one go: neither waits for the other. */
void
conf_limits_all_at_once(void)
{
	const struct rte_comch_consumer_conf cc = { .queue_size = 16 };
	const struct rte_comch_producer_conf pc = { .queue_size = 16 };
	struct rte_comch_consumer *cons[2][MANY];
	struct rte_comch_producer *prod[2][MANY];
	struct rte_comch_dev_info info;
	struct rte_comch_conn *conn;
	unsigned int i, k, nb;
	struct t_pair p;

	t_pair_open(&p, NULL);
	T_EQ(rte_comch_dev_info_get(p.host_dev, &info), 0);
	nb = RTE_MIN(RTE_MIN(info.max_consumers, info.max_producers), (uint32_t)MANY);
	for (i = 0; i < nb; i++)
		for (k = 0; k < 2; k++) {
			conn = k == 0 ? p.cconn : p.sconn;
			cons[k][i] = t_consumer_new(conn, &cc, NULL);
			T_EQ(rte_comch_consumer_start(cons[k][i]), -EINPROGRESS);
			prod[k][i] = t_producer_new(conn, &pc);
		}
	for (i = 0; i < nb; i++)
		for (k = 0; k < 2; k++)
			T_UNTIL(rte_comch_consumer_state(cons[k][i]) == RTE_COMCH_STATE_RUNNING);
	for (i = 0; i < nb; i++)
		for (k = 0; k < 2; k++) {
			t_producer_end(prod[k][i]);
			t_consumer_end(cons[k][i]);
		}
	t_pair_close(&p);
}
