/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What flags of servers and clients change. */

#include "conf.h"

/* Neither end may have producers or consumers, and the connection lives on. */
static void
check_no_fast_path(struct t_pair *p)
{
	struct rte_comch_consumer_conf cc = { .conf_size = sizeof(cc) };
	struct rte_comch_producer_conf pc = { .conf_size = sizeof(pc) };
	struct rte_comch_conn *const ends[] = { p->sconn, p->cconn };
	struct rte_comch_conn_info info;
	unsigned int i;

	for (i = 0; i < RTE_DIM(ends); i++) {
		T_EQ(rte_comch_conn_info_get(ends[i], &info), 0);
		T_EQ(info.ctrl_only, true);
		T_NULL_ERRNO(rte_comch_consumer_create(ends[i], &cc), ENOTSUP);
		T_NULL_ERRNO(rte_comch_producer_create(ends[i], &pc), ENOTSUP);
	}
	t_send(p->cconn, "to the server", 13, 1);
	t_send(p->sconn, "to the client", 13, 2);
	T_UNTIL(conf_sent_status(p->host, 1) == 0 && conf_sent_status(p->dpu, 2) == 0);
}

static void
ctrl_only(uint32_t server_flags, uint32_t client_flags)
{
	struct t_pair_conf conf = {
		.server.flags = server_flags, .client.flags = client_flags,
	};
	struct t_pair p;

	t_pair_open(&p, &conf);
	check_no_fast_path(&p);
	t_pair_close(&p);
}

CONF_CASE(flags, ctrl_only_server, ctrl_only(RTE_COMCH_SERVER_F_CTRL_ONLY, 0))
CONF_CASE(flags, ctrl_only_client, ctrl_only(0, RTE_COMCH_CLIENT_F_CTRL_ONLY))
CONF_CASE(flags, ctrl_only_both,
	ctrl_only(RTE_COMCH_SERVER_F_CTRL_ONLY, RTE_COMCH_CLIENT_F_CTRL_ONLY))

/* A connection that is not there, and one that has it all. */
void
conf_flags_ctrl_only_not(void)
{
	struct t_pair_conf conf = { .client.flags = RTE_COMCH_CLIENT_F_CTRL_ONLY };
	struct rte_comch_producer_conf pc = { .conf_size = sizeof(pc) };
	struct rte_comch_conn_info info;
	struct rte_comch_client *plain;
	struct rte_comch_conn *conn;
	struct t_pair p;

	t_pair_ends(&p, &conf);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_NULL_ERRNO(rte_comch_producer_create(rte_comch_client_conn(p.client), &pc), EBADFD);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING);
	/* Each client chooses for itself. */
	plain = t_client_new(p.host, p.host_dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(plain), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(plain) == RTE_COMCH_STATE_RUNNING);
	conn = rte_comch_client_conn(plain);
	T_EQ(rte_comch_conn_info_get(conn, &info), 0);
	T_EQ(info.ctrl_only, false);
	t_producer_end(t_producer_new(conn, NULL));
	t_client_end(plain);
	t_pair_close(&p);
}

/* Messages are taken from the peer when the application says so, not before. */
static void
manual(struct t_pair *p, struct rte_comch_conn *from, struct rte_comch_conn *to)
{
	struct t_node *out = from == p->cconn ? p->host : p->dpu;
	struct t_node *in = from == p->cconn ? p->dpu : p->host;
	uint32_t next = 0, done = 0;

	for (next = 0; next < 4; next++)
		t_send(from, &next, sizeof(next), next);
	T_UNTIL(t_count(in, RTE_COMCH_EVENT_MSG, NULL) == 4);
	t_settle();
	/* All events are returned, and the peer's queue is full all the same. */
	T_EQ(t_count(out, RTE_COMCH_EVENT_SENT, NULL), 0);
	T_CHECK(!t_offer(from, &next, sizeof(next), next, 0));
	T_EQ(rte_comch_conn_msgs_done(to, 1), 0);
	T_UNTIL(t_count(out, RTE_COMCH_EVENT_SENT, NULL) == 1);
	t_settle();
	T_EQ(t_count(out, RTE_COMCH_EVENT_SENT, NULL), 1);
	t_send(from, &next, sizeof(next), next);
	next++;
	T_CHECK(!t_offer(from, &next, sizeof(next), next, 0));
	/* It rides on any frame, too. */
	T_EQ(rte_comch_conn_msgs_done(to, 2), 0);
	t_send(to, "x", 1, 77);
	T_UNTIL(t_count(out, RTE_COMCH_EVENT_SENT, NULL) == 3);
	T_UNTIL(t_count(in, RTE_COMCH_EVENT_MSG, to) == 5);
	T_EQ(rte_comch_conn_msgs_done(to, 2), 0);
	/* The other end has no such flag: its messages are done by themselves. */
	T_UNTIL(conf_sent_status(in, 77) == 0);
	done = 5;
	while (done < 500) {
		while (t_offer(from, &next, sizeof(next), next, 0))
			next++;
		T_UNTIL(t_count(in, RTE_COMCH_EVENT_MSG, to) == next);
		T_LE(next - done, 4);
		T_EQ(rte_comch_conn_msgs_done(to, next - done), 0);
		done = next;
		T_UNTIL(t_count(out, RTE_COMCH_EVENT_SENT, NULL) == done);
	}
	conf_check_counting(in);
}

static void
manual_credit(const struct t_pair_conf *conf, bool at_server)
{
	struct t_pair p;

	t_pair_open(&p, conf);
	manual(&p, at_server ? p.cconn : p.sconn, at_server ? p.sconn : p.cconn);
	t_pair_close(&p);
}

CONF_CASE(flags, manual_credit_server, manual_credit(&(struct t_pair_conf){
	.server = { .recv_queue = 4, .flags = RTE_COMCH_SERVER_F_MANUAL_CREDIT } }, true))
CONF_CASE(flags, manual_credit_client, manual_credit(&(struct t_pair_conf){
	.client = { .recv_queue = 4, .flags = RTE_COMCH_CLIENT_F_MANUAL_CREDIT } }, false))

void
conf_flags_manual_credit_errors(void)
{
	struct t_pair_conf conf = { .server.flags = RTE_COMCH_SERVER_F_MANUAL_CREDIT };
	struct t_pair p;

	t_pair_open(&p, &conf);
	T_EQ(rte_comch_conn_msgs_done(NULL, 1), -EINVAL);
	T_EQ(rte_comch_conn_msgs_done(p.cconn, 0), -EINVAL);
	T_EQ(rte_comch_conn_msgs_done(p.sconn, 0), 0);
	T_EQ(rte_comch_conn_msgs_done(p.sconn, 1), -EINVAL);
	t_send(p.cconn, "a", 1, 1);
	t_send(p.cconn, "b", 1, 2);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 2);
	T_EQ(rte_comch_conn_msgs_done(p.sconn, 3), -EINVAL);
	T_EQ(rte_comch_conn_msgs_done(p.sconn, UINT32_MAX), -EINVAL);
	T_EQ(rte_comch_conn_msgs_done(p.sconn, 2), 0);
	T_EQ(rte_comch_conn_msgs_done(p.sconn, 1), -EINVAL);
	T_UNTIL(conf_sent_status(p.host, 2) == 0);
	t_pair_close(&p);
}

/* Messages that outlive their connection are ignored. */
void
conf_flags_manual_credit_after_end(void)
{
	struct t_pair_conf conf = { .server.flags = RTE_COMCH_SERVER_F_MANUAL_CREDIT };
	struct t_pair p;

	t_pair_open(&p, &conf);
	t_send(p.cconn, "a", 1, 1);
	t_send(p.cconn, "b", 1, 2);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 2);
	T_EQ(rte_comch_conn_msgs_done(p.sconn, 1), 0);
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	/* Good until the next run, which the test has not made. */
	T_EQ(rte_comch_conn_msgs_done(p.sconn, 1), 0);
	T_EQ(rte_comch_conn_msgs_done(p.sconn, 1), -EINVAL);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	T_EQ(conf_sent_status(p.host, 1), 0);
	T_EQ(conf_sent_status(p.host, 2), -ECONNRESET);
	t_pair_close(&p);
}

/* Says that a message is done and sleeps: the credit went out with the arming. */
void
conf_flags_manual_credit_asleep(void)
{
	struct t_pair_conf conf = {
		.server = { .recv_queue = 1, .flags = RTE_COMCH_SERVER_F_MANUAL_CREDIT },
	};
	struct t_pair p;
	uint32_t i, n;

	t_pair_open(&p, &conf);
	for (i = 0; i < 100; i++) {
		t_send(p.cconn, &i, sizeof(i), i);
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == i + 1);
		p.dpu->paused = true;
		T_EQ(rte_comch_conn_msgs_done(p.sconn, 1), 0);
		n = (uint32_t)rte_comch_poll_arm(p.dpu->poll, RTE_COMCH_POLL_ANY);
		T_CHECK(n == 0 || (int)n == -EAGAIN);
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == i + 1);
		p.dpu->paused = false;
	}
	t_pair_close(&p);
}
