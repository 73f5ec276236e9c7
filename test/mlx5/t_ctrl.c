/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The control path of the RDMA driver when something goes wrong. */

#include <fcntl.h>

#include <rte_comch_stats.h>

#include "mlx5_private.h"
#include "u_ctrl.h"

/* The cable is cut, and no side sends anything: probes find out. */
CTRL_CASE(cable_is_cut)
{
	uint64_t start;

	u_dead_ms = DEAD_MS;
	t_pair_open(p, NULL);
	start = t_now_ms();
	fv_cut(NULL, NULL);
	u_both_end(p, -ETIMEDOUT, "peer does not respond");
	/* Not before a link can be called silent. */
	T_GE(t_now_ms() - start, DEAD_MS / 8);
	fv_restore(NULL, NULL);
	u_connect_again(p);
}

/* A message is a work request and a doorbell; what a queue pair counted stays. */
CTRL_CASE(counters)
{
	struct rte_comch_xstat one;
	uint64_t sends, doorbells;

	t_pair_open(p, NULL);
	sends = u_counter(p->host_dev, "sends");
	doorbells = u_counter(p->host_dev, "doorbells");
	T_GT(sends, 0);
	t_send(p->cconn, "x", 1, 1);
	T_EQ(u_counter(p->host_dev, "sends"), sends + 1);
	T_EQ(u_counter(p->host_dev, "doorbells"), doorbells + 1);
	T_GT(u_counter(p->host_dev, "pinned"), 0);
	T_EQ(u_counter(p->host_dev, "rnr"), 0);
	T_GT(rte_comch_dev_xstats_get(p->host_dev, &one, 1), 1);
	T_STR_EQ(one.name, "sends");
	T_EQ(rte_comch_conn_disconnect(p->sconn, "enough"), -EINPROGRESS);
	u_connect_again(p);
	T_GT(u_counter(p->host_dev, "sends"), sends + 1);
}

/* The same while both sleep: the timer of a sleeping link. */
CTRL_CASE(cable_is_cut_asleep)
{
	u_dead_ms = DEAD_MS;
	t_pair_open(p, NULL);
	fv_cut(NULL, NULL);
	T_SLEEP_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1 &&
			t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	fv_restore(NULL, NULL);
	u_connect_again(p);
}

/* No completion, no error: the device forgot. */
CTRL_CASE(queue_pair_is_stuck)
{
	u_dead_ms = DEAD_MS;
	t_pair_open(p, NULL);
	fv_hold();
	t_send(p->cconn, "x", 1, 1);
	u_both_end(p, -ETIMEDOUT, "no completion on the control queue pair");
	fv_release();
	u_connect_again(p);
}

CTRL_CASE(queue_pair_fails)
{
	t_pair_open(p, NULL);
	fv_event_qp(u_ctrl_qp(), IBV_EVENT_QP_FATAL);
	u_both_end(p, -EIO, "fatal error of a queue pair");
	u_connect_again(p);
}

/* A message that is longer than a slot, in the words of Soft-RoCE. */
CTRL_CASE(receive_fails)
{
	const struct fv_fault fault = { .recv = true, .status = IBV_WC_LOC_QP_OP_ERR };
	const struct t_ev *ev;

	t_pair_open(p, NULL);
	fv_fail_wr(&fault);
	t_send(p->cconn, "x", 1, 1);
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	ev = t_find(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0);
	T_EQ(ev->e.status, -EPROTO);
	T_STR_HAS(ev->text, "longer than a receive slot");
	u_connect_again(p);
}

CTRL_CASE(completion_queue_fails)
{
	t_pair_open(p, NULL);
	fv_event_cq(u_ctrl_qp()->send_cq);
	u_both_end(p, -EIO, "error of a completion queue");
	u_connect_again(p);
}

CTRL_CASE(port_goes_down)
{
	t_pair_open(p, NULL);
	fv_event_port("fv1", IBV_EVENT_PORT_ERR);
	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_EQ(t_find(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0)->e.status, -ENETDOWN);
	fv_event_port("fv1", IBV_EVENT_PORT_ACTIVE);
}

CTRL_CASE(device_fails)
{
	t_pair_open(p, NULL);
	fv_event_dev("fv1");
	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_EQ(t_find(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0)->e.status, -ENODEV);
}

/* Frames that arrived before the end are read before DISCONNECTED. */
CTRL_CASE(last_words_before_failure)
{
	const struct t_ev *msg, *last;

	t_pair_open(p, NULL);
	p->dpu->paused = true;
	t_send(p->cconn, "last", 4, 1);
	t_settle();
	fv_event_qp(fv_qp_peer(u_ctrl_qp()), IBV_EVENT_QP_FATAL);
	p->dpu->paused = false;
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	msg = t_find(p->dpu, RTE_COMCH_EVENT_MSG, NULL, 0);
	last = t_find(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0);
	T_LT(t_pos(p->dpu, msg), t_pos(p->dpu, last));
}

/* The port of a name, and somebody else's program on it. */
struct stranger {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct rdma_cm_id *client;
	unsigned int nb_asked;
	enum { ACCEPTS, REFUSES, IS_SILENT } answer;
};

static void
stranger_open(struct stranger *s, unsigned int candidate)
{
	const struct mlx5_dev dev = { .first_port = 47000, .last_port = 47999 };
	uint16_t ports[MLX5_CANDIDATES];
	struct mlx5_addr addr;
	uint8_t hash[16];

	memset(s, 0, sizeof(*s));
	mlx5_name_hash("pf0", T_NAME, hash);
	T_EQ(mlx5_name_ports(&dev, hash, ports), MLX5_CANDIDATES);
	T_EQ(mlx5_name_parse_addr("10.0.0.1", &addr), 0);
	mlx5_name_set_port(&addr, ports[candidate]);
	s->ch = fv_glue.create_event_channel();
	T_EQ(fcntl(s->ch->fd, F_SETFL, O_NONBLOCK), 0);
	T_EQ(fv_glue.create_id(s->ch, &s->id, s, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.bind_addr(s->id, &addr.sa), 0);
	T_EQ(fv_glue.listen(s->id, 8), 0);
}

/* Accept clients, with data of its own, or refuse them, or neither. False: no event. */
static bool
stranger_step(struct stranger *s)
{
	struct rdma_conn_param param = {
		.private_data = "NVMe", .private_data_len = 4, .qp_num = 1,
	};
	struct rdma_cm_event *ev;

	if (fv_glue.get_cm_event(s->ch, &ev) != 0)
		return false;
	if (ev->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		fv_glue.ack_cm_event(ev);
		return true;
	}
	if (s->client != NULL)
		fv_glue.destroy_id(s->client);
	s->client = ev->id;
	s->nb_asked++;
	fv_glue.ack_cm_event(ev);
	if (s->answer == ACCEPTS)
		T_EQ(fv_glue.accept(s->client, &param), 0);
	else if (s->answer == REFUSES)
		T_EQ(fv_glue.reject(s->client, "NVMe", 4), 0);
	return true;
}

static void
stranger_close(struct stranger *s)
{
	s->answer = IS_SILENT;
	while (stranger_step(s))
		;
	if (s->client != NULL)
		fv_glue.destroy_id(s->client);
	fv_glue.destroy_id(s->id);
	fv_glue.destroy_event_channel(s->ch);
}

static void
pass_stranger(struct t_pair *p, int answer)
{
	struct stranger s;

	stranger_open(&s, 0);
	s.answer = answer;
	t_pair_ends(p, NULL);
	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	T_UNTIL((stranger_step(&s),
		rte_comch_client_state(p->client) == RTE_COMCH_STATE_RUNNING));
	T_EQ(s.nb_asked, 1);
	t_client_end(p->client);
	p->client = NULL;
	stranger_close(&s);
}

CTRL_CASE(stranger_accepts)
{
	pass_stranger(p, ACCEPTS);
}

CTRL_CASE(stranger_refuses)
{
	pass_stranger(p, REFUSES);
}

/* The connection manager gives up on it. */
CTRL_CASE(stranger_is_silent)
{
	pass_stranger(p, IS_SILENT);
}

static void
set_cm_timeout(uint32_t ms)
{
	struct fv_conf conf;

	fv_conf_default(&conf);
	conf.cm_timeout_ms = ms;
	fv_configure(&conf);
}

/* It does not give up: the dial does not wait for that. */
CTRL_CASE(stranger_is_silent_for_long)
{
	set_cm_timeout(60000);
	pass_stranger(p, IS_SILENT);
}

CTRL_CASE(stranger_is_silent_for_long_asleep)
{
	struct stranger s;

	set_cm_timeout(60000);
	stranger_open(&s, 0);
	s.answer = IS_SILENT;
	t_pair_ends(p, NULL);
	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	T_SLEEP_UNTIL(rte_comch_client_state(p->client) == RTE_COMCH_STATE_RUNNING);
	t_client_end(p->client);
	p->client = NULL;
	stranger_close(&s);
}

/* A silent stranger first, and a server that answers only after all other ports have. */
CTRL_CASE(server_is_slow)
{
	struct stranger s[MLX5_CANDIDATES];
	uint64_t begin = t_now_ms();
	unsigned int i;

	set_cm_timeout(60000);
	stranger_open(&s[0], 0);
	s[0].answer = IS_SILENT;
	t_pair_ends(p, NULL);
	for (i = 2; i < MLX5_CANDIDATES; i++) {
		stranger_open(&s[i], i);
		s[i].answer = REFUSES;
	}
	p->dpu->paused = true;
	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	T_UNTIL((stranger_step(&s[7]), s[7].nb_asked == 1) ||
		(stranger_step(&s[2]), stranger_step(&s[3]), stranger_step(&s[4]),
		stranger_step(&s[5]), stranger_step(&s[6]), false));
	T_GT(t_now_ms() - begin, 1500);
	p->dpu->paused = false;
	T_UNTIL(rte_comch_client_state(p->client) == RTE_COMCH_STATE_RUNNING);
	t_client_end(p->client);
	p->client = NULL;
	stranger_close(&s[0]);
	for (i = 2; i < MLX5_CANDIDATES; i++)
		stranger_close(&s[i]);
}

/* Nothing but strangers on all ports. */
CTRL_CASE(no_port_is_free)
{
	const struct rte_comch_server_conf conf = { .conf_size = sizeof(conf) };
	struct rte_comch_server_conf c = conf;
	struct stranger s[MLX5_CANDIDATES];
	struct rte_comch_server *server;
	unsigned int i;
	struct u_log log;

	for (i = 0; i < MLX5_CANDIDATES; i++)
		stranger_open(&s[i], i);
	t_pair_devs(p, NULL);
	c.poll = p->dpu->poll;
	c.name = T_NAME;
	server = rte_comch_server_create(p->dpu_dev, &c);
	u_log_begin(&log);
	T_EQ(rte_comch_server_start(server), -EADDRINUSE);
	u_log_end(&log, "the 8 ports of name " T_NAME " from ports=47000-47999 are in use");
	stranger_close(&s[5]);
	T_EQ(rte_comch_server_start(server), 0);
	t_server_end(server);
	for (i = 0; i < MLX5_CANDIDATES; i++)
		if (i != 5)
			stranger_close(&s[i]);
}

/* pf0's address is 10.0.1.1: a client that says pf0 from 10.0.1.2 is refused. */
CTRL_CASE(address_of_another_function)
{
	struct rte_comch_client *client;
	const struct t_ev *ev;
	struct u_log log;
	int16_t dev;

	t_pair_ends(p, NULL);
	dev = t_dev_open(2, "role=host,func=pf0,gid=6");
	client = t_client_new(p->host, dev, T_NAME, NULL);
	u_log_begin(&log);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p->host, client) != NULL);
	u_log_end(&log, "client at 10.0.1.2 refused");
	ev = t_state_ev(p->host, client);
	T_EQ(ev->e.status, -EACCES);
	T_STR_HAS(ev->text, "this address is not one of the host function's");
	t_client_end(client);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_pair_connect(p);
}

/* What a device string gets for an answer. */
static void
refused(const char *keys, int error, const char *sentence)
{
	char string[256];
	struct u_log log;
	int16_t dev;

	snprintf(string, sizeof(string), "comch_mlx59,dir=%s,%s", t_dir(), keys);
	u_log_begin(&log);
	T_EQ(rte_comch_dev_probe(string, &dev), error);
	u_log_end(&log, sentence);
}

CTRL_CASE(device_strings)
{
	static const struct fv_dev_conf ib = {
		.name = "ib0", .link_layer = IBV_LINK_LAYER_INFINIBAND, .addrs = { "10.0.0.9" },
	}, bare = { .name = "fv0" };

	RTE_SET_USED(p);
	refused("role=host,peer=10.0.0.1,dev=mlx5_7", -ENODEV,
		"no RDMA device mlx5_7; there are: fv0, fv1");
	refused("role=host,peer=10.0.0.1", -ENODEV, "dev=DEVICE is required; there are: fv0, fv1");
	refused("role=host,dev=fv0", -EINVAL, "peer=ADDRESS is required");
	refused("role=host,dev=fv0,peer=nowhere", -EINVAL,
		"peer=nowhere: invalid value, expected an IPv4 or IPv6 address");
	refused("role=dpu,dev=fv0,rep=pf0", -EINVAL, "expected FUNCTION@ADDRESS");
	refused("role=dpu,dev=fv0,rep=pf0@10.0.0.2+x", -EINVAL, "rep=x: invalid value");
	refused("role=dpu,dev=fv0,peer=10.0.0.2,rep=pf0@10.0.0.2", -EINVAL, "peer=10.0.0.2");
	refused("role=host,dev=fv0,peer=10.0.0.1,port=2", -EINVAL, "fv0 has 1 ports");
	refused("role=host,dev=fv0,peer=10.0.0.1,gid=0", -EADDRNOTAVAIL, "is not a RoCEv2 GID");
	refused("role=host,dev=fv0,peer=10.0.0.1,ports=5", -EINVAL, "FIRST-LAST");
	refused("role=host,dev=fv0,peer=10.0.0.1,slot=100", -EINVAL, "a number from 256 to 4096");
	fv_event_port("fv0", IBV_EVENT_PORT_ERR);
	refused("role=host,dev=fv0,peer=10.0.0.1", -ENETDOWN, "port 1 of fv0 is down");
	fv_reset();
	fv_fail_call(FV_CALL_REG_MR, 0, ENOMEM);
	refused("role=host,dev=fv0,peer=10.0.0.1", -ENOMEM, "cannot register the");
	fv_set_devices(&bare, 1);
	refused("role=host,peer=10.0.0.1", -EADDRNOTAVAIL, "has no RoCEv2 GID with an IP address");
	fv_set_devices(&ib, 1);
	refused("role=host,peer=10.0.0.1", -ENOTSUP, "is an InfiniBand port");
}

/*
 * Each of these fails once within a connect or an accept: nothing leaks, and the next
 * connection works. twice: both ends make the call.
 */
CTRL_CASE(resources_run_out)
{
	static const struct {
		enum fv_call call;
		bool twice;
	} calls[] = {
		{ FV_CALL_ALLOC_PD, true }, { FV_CALL_REG_MR, true },
		{ FV_CALL_CREATE_COMP_CHANNEL, true }, { FV_CALL_CREATE_CQ, true },
		{ FV_CALL_CREATE_QP, true }, { FV_CALL_MODIFY_QP, true },
		{ FV_CALL_POST_RECV, true }, { FV_CALL_CREATE_EVENT_CHANNEL, true },
		{ FV_CALL_INIT_QP_ATTR, true }, { FV_CALL_CREATE_ID, false },
		{ FV_CALL_RESOLVE_ADDR, false }, { FV_CALL_RESOLVE_ROUTE, false },
		{ FV_CALL_CONNECT, false }, { FV_CALL_ESTABLISH, false },
		{ FV_CALL_ACCEPT, false }, { FV_CALL_MIGRATE_ID, false },
		{ FV_CALL_ADDR_RESOLVED, false }, { FV_CALL_ROUTE_RESOLVED, false },
	};
	unsigned int i, nth;

	t_pair_ends(p, NULL);
	for (i = 0; i < RTE_DIM(calls); i++) {
		for (nth = 0; nth < (calls[i].twice ? 2 : 1); nth++) {
			fv_fail_call(calls[i].call, nth, ENOMEM);
			T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
			T_UNTIL(rte_comch_client_state(p->client) != RTE_COMCH_STATE_STARTING);
			t_pair_disconnect(p);
		}
	}
	t_settle();
	u_connect_again(p);
}
