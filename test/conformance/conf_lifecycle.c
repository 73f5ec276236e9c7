/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Names, and the states of servers and clients. Devices: conf_dev.c. */

#include <stdlib.h>
#include <unistd.h>

#include "conf.h"

static struct rte_comch_server *
try_server(const struct t_pair *p, const char *name)
{
	const struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf), .poll = p->dpu->poll, .name = name,
	};

	return rte_comch_server_create(p->dpu_dev, &conf);
}

static struct rte_comch_client *
try_client(const struct t_pair *p, const char *name)
{
	const struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf), .poll = p->host->poll, .name = name,
	};

	return rte_comch_client_create(p->host_dev, &conf);
}

void
conf_lifecycle_names(void)
{
	struct rte_comch_conn_info info;
	char longest[RTE_COMCH_NAME_SIZE], over[RTE_COMCH_NAME_SIZE + 1];
	struct t_pair_conf conf = { .name = longest };
	struct t_pair p;

	memset(longest, 'n', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	memset(over, 'n', sizeof(over));
	over[sizeof(over) - 1] = '\0';
	t_pair_open(&p, &conf);
	T_EQ(rte_comch_conn_info_get(p.sconn, &info), 0);
	T_STR_EQ(info.name, longest);
	T_EQ(rte_comch_conn_info_get(p.cconn, &info), 0);
	T_STR_EQ(info.name, longest);
	T_NULL_ERRNO(try_server(&p, over), EINVAL);
	T_NULL_ERRNO(try_server(&p, ""), EINVAL);
	T_NULL_ERRNO(try_server(&p, NULL), EINVAL);
	T_NULL_ERRNO(try_client(&p, over), EINVAL);
	T_NULL_ERRNO(try_client(&p, ""), EINVAL);
	T_NULL_ERRNO(try_client(&p, NULL), EINVAL);
	t_pair_close(&p);
}

/* A name is bytes to the driver: no directory, no pattern, no escape. */
void
conf_lifecycle_odd_names(void)
{
	static const char *const names[] = {
		"../../etc", "a/b", ".", "with space", "\xc3\xa4", "%s%n", "*",
	};
	struct t_pair p;
	unsigned int i;

	t_pair_devs(&p, NULL);
	for (i = 0; i < RTE_DIM(names); i++) {
		p.server = t_server_new(p.dpu, p.dpu_dev, names[i], 0, NULL);
		p.client = t_client_new(p.host, p.host_dev, names[i], NULL);
		t_pair_connect(&p);
		t_client_end(p.client);
		t_server_end(p.server);
	}
	p.client = NULL;
	p.server = NULL;
	t_pair_close(&p);
}

void
conf_lifecycle_addrinuse(void)
{
	struct rte_comch_server *second;
	struct t_pair p;

	t_pair_ends(&p, NULL);
	second = try_server(&p, T_NAME);
	T_CHECK(second != NULL);
	T_EQ(rte_comch_server_start(second), -EADDRINUSE);
	T_EQ(rte_comch_server_state(second), RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_server_start(second), -EADDRINUSE);
	T_EQ(rte_comch_server_stop(p.server), 0);
	T_EQ(rte_comch_server_start(second), 0);
	T_EQ(rte_comch_server_start(p.server), -EADDRINUSE);
	t_pair_connect(&p);
	T_CHECK(rte_comch_conn_server(p.sconn) == second);
	t_pair_disconnect(&p);
	t_server_end(second);
	T_EQ(rte_comch_server_start(p.server), 0);
	t_pair_close(&p);
}

void
conf_lifecycle_wrong_side(void)
{
	struct rte_comch_server_conf sconf = { .conf_size = sizeof(sconf), .name = "x" };
	struct rte_comch_client_conf cconf = { .conf_size = sizeof(cconf), .name = "x" };
	struct t_pair p;

	t_pair_devs(&p, NULL);
	sconf.poll = p.dpu->poll;
	cconf.poll = p.host->poll;
	T_NULL_ERRNO(rte_comch_server_create(p.host_dev, &sconf), ENOTSUP);
	T_NULL_ERRNO(rte_comch_client_create(p.dpu_dev, &cconf), ENOTSUP);
	T_NULL_ERRNO(rte_comch_server_create(-1, &sconf), ENODEV);
	T_NULL_ERRNO(rte_comch_server_create(INT16_MAX, &sconf), ENODEV);
	T_NULL_ERRNO(rte_comch_client_create(-1, &cconf), ENODEV);
	sconf.rep = 1;
	T_NULL_ERRNO(rte_comch_server_create(p.dpu_dev, &sconf), ENOENT);
	t_pair_close(&p);
}

void
conf_lifecycle_server_states(void)
{
	struct rte_comch_server *s;
	struct t_pair p;

	T_EQ(rte_comch_server_state(NULL), RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_server_start(NULL), -EINVAL);
	T_EQ(rte_comch_server_stop(NULL), -EINVAL);
	T_EQ(rte_comch_server_destroy(NULL), -EINVAL);
	t_pair_devs(&p, NULL);
	s = try_server(&p, "s");
	T_CHECK(s != NULL);
	T_EQ(rte_comch_server_state(s), RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_server_stop(s), -EBADFD);
	T_EQ(rte_comch_server_start(s), 0);
	T_EQ(rte_comch_server_state(s), RTE_COMCH_STATE_RUNNING);
	T_EQ(rte_comch_server_start(s), -EBADFD);
	T_EQ(rte_comch_server_destroy(s), -EBUSY);
	T_EQ(rte_comch_server_nb_conns(s), 0);
	T_EQ(rte_comch_server_nb_pending(s), 0);
	/* No client is connected: done at once, and no event. */
	T_EQ(rte_comch_server_stop(s), 0);
	T_EQ(rte_comch_server_state(s), RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_server_stop(s), -EBADFD);
	T_EQ(rte_comch_server_start(s), 0);
	T_EQ(rte_comch_server_stop(s), 0);
	t_settle();
	T_EQ(p.dpu->nb_evs, 0);
	T_EQ(rte_comch_server_destroy(s), 0);
	t_pair_close(&p);
}

void
conf_lifecycle_client_states(void)
{
	const struct t_ev *ev;
	struct t_pair p;

	T_EQ(rte_comch_client_state(NULL), RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_client_start(NULL), -EINVAL);
	T_EQ(rte_comch_client_stop(NULL), -EINVAL);
	T_EQ(rte_comch_client_destroy(NULL), -EINVAL);
	t_pair_ends(&p, NULL);
	T_EQ(rte_comch_client_state(p.client), RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_client_stop(p.client), -EBADFD);
	T_CHECK(rte_comch_client_conn(p.client) == NULL);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_EQ(rte_comch_client_state(p.client), RTE_COMCH_STATE_STARTING);
	T_CHECK(rte_comch_client_conn(p.client) != NULL);
	T_EQ(rte_comch_client_start(p.client), -EBADFD);
	T_EQ(rte_comch_client_destroy(p.client), -EBUSY);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING);
	T_EQ(rte_comch_client_start(p.client), -EBADFD);
	T_EQ(rte_comch_client_destroy(p.client), -EBUSY);
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	T_EQ(rte_comch_client_state(p.client), RTE_COMCH_STATE_STOPPING);
	T_EQ(rte_comch_client_stop(p.client), -EBADFD);
	T_EQ(rte_comch_client_start(p.client), -EBADFD);
	T_EQ(rte_comch_client_destroy(p.client), -EBUSY);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(t_state_is(p.host, p.client, RTE_COMCH_STATE_IDLE));
	ev = t_state_ev(p.host, p.client);
	T_EQ(ev->e.state.prev, RTE_COMCH_STATE_STOPPING);
	T_EQ(ev->e.obj_type, RTE_COMCH_OBJ_CLIENT);
	T_EQ(ev->e.status, 0);
	T_CHECK(rte_comch_client_conn(p.client) == NULL);
	t_pair_close(&p);
}

/* Giving up while connecting: no CONNECTED, one STATE, and it may start anew. */
void
conf_lifecycle_client_stop_starting(void)
{
	struct t_pair_conf conf = { .client.connect_timeout_ms = 20000 };
	struct t_pair p;

	t_pair_devs(&p, NULL);
	p.client = t_client_new(p.host, p.host_dev, T_NAME, &conf.client);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	t_steps(p.host, 10);
	T_EQ(rte_comch_client_state(p.client), RTE_COMCH_STATE_STARTING);
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	t_settle();
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_CONNECTED, NULL), 0);
	t_no_end(p.host, NULL);
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_STATE, NULL), 1);
	p.server = t_server_new(p.dpu, p.dpu_dev, T_NAME, 0, NULL);
	t_pair_connect(&p);
	t_pair_close(&p);
}

void
conf_lifecycle_connect_events(void)
{
	struct t_pair_conf conf = {
		.server.user_data = 111, .client.user_data = 222,
	};
	const struct t_ev *conn, *state;
	struct t_pair p;

	t_pair_ends(&p, &conf);
	t_pair_connect(&p);
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_CONNECTED, NULL), 1);
	conn = t_find(p.host, RTE_COMCH_EVENT_CONNECTED, p.cconn, 0);
	state = t_state_ev(p.host, p.client);
	T_CHECK(conn != NULL);
	T_LT(t_pos(p.host, conn), t_pos(p.host, state));
	T_EQ(state->e.obj_type, RTE_COMCH_OBJ_CLIENT);
	T_CHECK(state->e.obj.client == p.client);
	T_EQ(state->e.state.prev, RTE_COMCH_STATE_STARTING);
	T_EQ(state->e.state.next, RTE_COMCH_STATE_RUNNING);
	T_EQ(state->e.status, 0);
	T_EQ(state->e.user_data, 222);
	T_EQ(p.dpu->nb_evs, 1);
	T_EQ(rte_comch_server_nb_conns(p.server), 1);
	T_EQ(rte_comch_server_nb_pending(p.server), 0);
	t_pair_close(&p);
}

void
conf_lifecycle_conn_info(void)
{
	struct rte_comch_conn_info s, c;
	struct t_pair p;

	t_pair_open(&p, NULL);
	T_EQ(rte_comch_conn_info_get(NULL, &s), -EINVAL);
	T_EQ(rte_comch_conn_info_get(p.sconn, NULL), -EINVAL);
	T_EQ(rte_comch_conn_info_get(p.sconn, &s), 0);
	T_EQ(rte_comch_conn_info_get(p.cconn, &c), 0);
	T_NE(s.id, c.id);
	T_EQ(s.dev_id, p.dpu_dev);
	T_EQ(c.dev_id, p.host_dev);
	T_EQ(s.rep, 0);
	T_CHECK(s.established);
	T_CHECK(c.established);
	T_STR_EQ(s.name, T_NAME);
	T_STR_EQ(c.name, T_NAME);
	T_STR_EQ(s.reason, "");
	T_STR_EQ(c.reason, "");
	T_CHECK(rte_comch_conn_server(p.sconn) == p.server);
	T_CHECK(rte_comch_conn_client(p.sconn) == NULL);
	T_CHECK(rte_comch_conn_server(p.cconn) == NULL);
	T_CHECK(rte_comch_conn_client(p.cconn) == p.client);
	T_EQ(rte_comch_conn_user_data_get(p.sconn), 0);
	rte_comch_conn_user_data_set(p.sconn, UINT64_MAX);
	rte_comch_conn_user_data_set(p.cconn, 5);
	T_CHECK(rte_comch_conn_user_data_get(p.sconn) == UINT64_MAX);
	T_EQ(rte_comch_conn_user_data_get(p.cconn), 5);
	t_pair_close(&p);
}

/* The kernel identifies the peer. */
void
conf_lifecycle_peer_ids(void)
{
	struct rte_comch_conn_info info[2];
	unsigned int i;
	struct t_pair p;

	t_pair_open(&p, NULL);
	T_EQ(rte_comch_conn_info_get(p.sconn, &info[0]), 0);
	T_EQ(rte_comch_conn_info_get(p.cconn, &info[1]), 0);
	T_EQ(info[0].peer_pid, t_peer_pid(p.sconn));
	T_EQ(info[1].peer_pid, t_peer_pid(p.cconn));
	for (i = 0; i < RTE_DIM(info); i++) {
		T_EQ(info[i].peer_uid, (int32_t)getuid());
		T_EQ(info[i].peer_gid, (int32_t)getgid());
	}
	t_pair_close(&p);
}

void
conf_lifecycle_connect_absent(void)
{
	const struct t_ev *ev;
	struct t_pair p;

	t_pair_devs(&p, NULL);
	p.client = t_client_new(p.host, p.host_dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	ev = t_state_ev(p.host, p.client);
	T_EQ(ev->e.status, -ENOENT);
	T_EQ(ev->e.state.prev, RTE_COMCH_STATE_STARTING);
	T_EQ(ev->e.state.next, RTE_COMCH_STATE_IDLE);
	T_STR_HAS(ev->text, T_NAME);
	T_EQ(rte_comch_client_state(p.client), RTE_COMCH_STATE_IDLE);
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_CONNECTED, NULL), 0);
	t_no_end(p.host, NULL);
	/* A server on another name does not help; on this one it does. */
	p.server = t_server_new(p.dpu, p.dpu_dev, T_NAME "x", 0, NULL);
	t_forget(p.host);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	T_EQ(t_state_ev(p.host, p.client)->e.status, -ENOENT);
	t_server_end(p.server);
	p.server = t_server_new(p.dpu, p.dpu_dev, T_NAME, 0, NULL);
	t_pair_connect(&p);
	t_pair_close(&p);
}

void
conf_lifecycle_connect_waits(void)
{
	struct t_pair_conf conf = { .client.connect_timeout_ms = 25000 };
	struct t_pair p;

	t_pair_devs(&p, NULL);
	p.client = t_client_new(p.host, p.host_dev, T_NAME, &conf.client);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	t_settle();
	T_EQ(rte_comch_client_state(p.client), RTE_COMCH_STATE_STARTING);
	T_EQ(p.host->nb_evs, 0);
	p.server = t_server_new(p.dpu, p.dpu_dev, T_NAME, 0, NULL);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING);
	t_pair_close(&p);
}

void
conf_lifecycle_connect_timeout(void)
{
	struct t_pair_conf conf = { .client.connect_timeout_ms = 100 };
	const uint64_t begin = t_now_ms();
	const struct t_ev *ev;
	struct t_pair p;

	t_pair_devs(&p, NULL);
	p.client = t_client_new(p.host, p.host_dev, T_NAME, &conf.client);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	ev = t_state_ev(p.host, p.client);
	T_CHECK(ev->e.status == -ENOENT || ev->e.status == -ETIMEDOUT);
	T_EQ(ev->e.state.next, RTE_COMCH_STATE_IDLE);
	/* The clocks differ; a quarter is for them. */
	T_GE(t_now_ms() - begin, 75);
	t_pair_close(&p);
}

void
conf_lifecycle_reconnect(void)
{
	struct rte_comch_conn_info info;
	uint32_t last = 0;
	struct t_pair p;
	unsigned int i;

	t_pair_ends(&p, NULL);
	for (i = 0; i < 20; i++) {
		t_forget(p.dpu);
		t_forget(p.host);
		t_pair_connect(&p);
		T_EQ(rte_comch_conn_info_get(p.cconn, &info), 0);
		T_NE(info.id, last);
		last = info.id;
		t_send(p.cconn, &i, sizeof(i), i);
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, p.sconn) == 1);
		T_EQ(memcmp(t_find(p.dpu, RTE_COMCH_EVENT_MSG, NULL, 0)->data,
				&i, sizeof(i)), 0);
		t_pair_disconnect(&p);
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
		T_EQ(t_count(p.host, RTE_COMCH_EVENT_DISCONNECTED, NULL), 1);
	}
	t_pair_close(&p);
}

void
conf_lifecycle_server_restart(void)
{
	struct t_pair p;
	unsigned int i;

	t_pair_ends(&p, NULL);
	for (i = 0; i < 10; i++) {
		t_forget(p.dpu);
		t_pair_connect(&p);
		t_pair_disconnect(&p);
		T_EQ(rte_comch_server_stop(p.server), 0);
		T_EQ(rte_comch_server_start(p.server), 0);
	}
	t_pair_close(&p);
}

void
conf_lifecycle_texts(void)
{
	static const char *const states[] = {
		"IDLE", "STARTING", "RUNNING", "STOPPING", "?",
	};
	char *text = NULL;
	unsigned int i, k;
	struct t_flow flow;
	struct t_pair p;
	size_t size = 0;
	FILE *f;

	for (i = 0; i < RTE_DIM(states); i++)
		T_STR_EQ(rte_comch_state_name((enum rte_comch_state)i), states[i]);
	for (i = 0; i <= RTE_COMCH_EVENT_MR_ADDED; i++)
		for (k = 0; k < i; k++)
			T_NE(strcmp(rte_comch_event_name((enum rte_comch_event_type)i),
				rte_comch_event_name((enum rte_comch_event_type)k)), 0);
	T_CHECK(rte_comch_event_name((enum rte_comch_event_type)999) != NULL);
	T_STR_EQ(rte_comch_version(), RTE_COMCH_VERSION_STRING);
	t_pair_open(&p, NULL);
	t_flow_open(&flow, &p, NULL);
	t_flow_once(&flow, 100, 1);
	f = open_memstream(&text, &size);
	T_CHECK(f != NULL);
	rte_comch_dump(f);
	fclose(f);
	T_STR_HAS(text, "  consumer ");
	T_STR_HAS(text, "  producer ");
	T_STR_HAS(text, ": RUNNING, depth 1024, 1 messages, 100 bytes\n");
	T_STR_HAS(text, conf_dev_name(0));
	T_STR_HAS(text, conf_dev_name(1));
	T_STR_HAS(text, T_NAME);
	free(text);
	t_flow_close(&flow);
	t_pair_close(&p);
}

/* Sleep until it is done. */
static void
arm_link(struct t_node *node)
{
	t_settle();
	while (rte_comch_poll_arm(node->poll, RTE_COMCH_POLL_LINK) != 0)
		t_step(node);
}

static const char *
how_lost(void)
{
	return t_driver->give_back != NULL ? "replaced" : "removed";
}

/* Somebody takes the place away under a sleeping server: it wakes, and stops. */
static void
lose(struct t_pair *p)
{
	const struct t_ev *ev;
	unsigned int i = 0;

	arm_link(p->dpu);
	t_driver->lose("pf0", T_NAME);
	T_CHECK(t_readable(rte_comch_poll_fd(p->dpu->poll, RTE_COMCH_POLL_LINK), T_TIMEOUT_MS));
	T_UNTIL(t_state_ev(p->dpu, p->server) != NULL);
	/* A consumer may have gone to its end before. */
	do {
		ev = t_find(p->dpu, RTE_COMCH_EVENT_STATE, NULL, i++);
		T_CHECK(ev != NULL);
	} while (ev->e.obj.ptr != p->server);
	T_EQ(ev->e.state.prev, RTE_COMCH_STATE_RUNNING);
	T_EQ(ev->e.state.next, RTE_COMCH_STATE_STOPPING);
	T_EQ(ev->e.status, -ENOENT);
	T_STR_HAS(ev->text, how_lost());
	if (t_driver->give_back != NULL)
		t_driver->give_back();
}

/* The same name can be had again, by this server or another one. */
static void
found_again(struct t_pair *p)
{
	const struct t_ev *ev;

	T_UNTIL(t_state_is(p->dpu, p->server, RTE_COMCH_STATE_IDLE));
	ev = t_state_ev(p->dpu, p->server);
	T_EQ(ev->e.status, -ENOENT);
	T_STR_HAS(ev->text, how_lost());
	T_UNTIL(rte_comch_client_state(p->client) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_server_start(p->server), 0);
	t_pair_connect(p);
	t_send(p->cconn, "again", 5, 99);
	T_UNTIL(conf_sent_status(p->host, 99) == 0);
	/* A stop that is asked for has no such reason. */
	t_forget(p->dpu);
	T_EQ(rte_comch_server_stop(p->server), -EINPROGRESS);
	T_UNTIL(t_state_is(p->dpu, p->server, RTE_COMCH_STATE_IDLE));
	T_EQ(t_state_ev(p->dpu, p->server)->e.status, 0);
	T_STR_EQ(t_state_ev(p->dpu, p->server)->text, "");
}

void
conf_lifecycle_server_lost(void)
{
	struct rte_comch_server *other;
	struct t_pair p;

	t_pair_open(&p, NULL);
	lose(&p);
	T_EQ(rte_comch_server_stop(p.server), -EBADFD);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	/* The name is free now. */
	other = t_server_new(p.dpu, p.dpu_dev, T_NAME, 0, NULL);
	t_server_end(other);
	found_again(&p);
	/* One without clients. */
	T_EQ(rte_comch_server_start(p.server), 0);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	t_forget(p.dpu);
	lose(&p);
	T_UNTIL(t_state_is(p.dpu, p.server, RTE_COMCH_STATE_IDLE));
	t_pair_close(&p);
}

/* A cleanup removes a lock file: its server makes it again, and keeps its name and its clients. */
void
conf_lifecycle_lock_removed(void)
{
	struct rte_comch_server *other;
	struct t_pair p;

	t_pair_open(&p, NULL);
	arm_link(p.dpu);
	t_place_lose("pf0", "lock");
	T_CHECK(t_readable(rte_comch_poll_fd(p.dpu->poll, RTE_COMCH_POLL_LINK), T_TIMEOUT_MS));
	t_settle();
	other = try_server(&p, T_NAME);
	T_EQ(rte_comch_server_start(other), -EADDRINUSE);
	T_EQ(rte_comch_server_destroy(other), 0);
	t_send(p.cconn, "again", 5, 99);
	T_UNTIL(conf_sent_status(p.host, 99) == 0);
	t_no_end(p.dpu, p.sconn);
	t_pair_close(&p);
}

/* A stop would be refused; this is none: queues end with their connection. */
void
conf_lifecycle_server_lost_busy(void)
{
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	t_flow_once(&f, 100, 1);
	t_forget(p.dpu);
	lose(&p);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	t_flow_close(&f);
	found_again(&p);
	t_pair_close(&p);
}
