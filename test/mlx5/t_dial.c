/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connecting with the RDMA driver: strangers on a name's ports, refusals on both sides. */

#include <fcntl.h>

#include "u_ctrl.h"

static struct rdma_event_channel *
channel_new(void)
{
	struct rdma_event_channel *ch = fv_glue.create_event_channel();

	T_CHECK(ch != NULL);
	T_EQ(fcntl(ch->fd, F_SETFL, O_NONBLOCK), 0);
	return ch;
}

/* Somebody else's program on such a port. */
struct stranger {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct rdma_cm_id *client;
	unsigned int nb_asked;
	enum { ACCEPTS, DIES, REFUSES, IS_SILENT } answer;
	const void *says;   /* its private data */
	uint8_t len;
};

static void
stranger_open(struct stranger *s, unsigned int candidate)
{
	struct mlx5_addr addr = u_addr_of_port(T_NAME, candidate);

	memset(s, 0, sizeof(*s));
	s->says = "NVMe";
	s->len = 4;
	s->ch = channel_new();
	T_EQ(fv_glue.create_id(s->ch, &s->id, s, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.bind_addr(s->id, &addr.sa), 0);
	T_EQ(fv_glue.listen(s->id, 8), 0);
}

static void
stranger_forget(struct stranger *s)
{
	if (s->client != NULL)
		fv_glue.destroy_id(s->client);
	s->client = NULL;
}

/*
 * Accept clients, with data of its own, and end just then, or refuse them, or do neither.
 * False: no event.
 */
static bool
stranger_step(struct stranger *s)
{
	struct rdma_conn_param param = {
		.private_data = s->says, .private_data_len = s->len, .qp_num = 1,
	};
	struct rdma_cm_event *ev;

	if (fv_glue.get_cm_event(s->ch, &ev) != 0)
		return false;
	if (ev->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		fv_glue.ack_cm_event(ev);
		return true;
	}
	stranger_forget(s);
	s->client = ev->id;
	s->nb_asked++;
	fv_glue.ack_cm_event(ev);
	if (s->answer == ACCEPTS || s->answer == DIES)
		T_EQ(fv_glue.accept(s->client, &param), 0);
	else if (s->answer == REFUSES)
		T_EQ(fv_glue.reject(s->client, s->says, s->len), 0);
	if (s->answer == DIES)
		stranger_forget(s);
	return true;
}

static void
stranger_close(struct stranger *s)
{
	s->answer = IS_SILENT;
	while (stranger_step(s))
		;
	stranger_forget(s);
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
CTRL_CASE(all_ports_in_use)
{
	const struct rte_comch_server_conf conf = { .conf_size = sizeof(conf) };
	struct rte_comch_server_conf c = conf;
	struct stranger s[MLX5_CANDIDATES];
	struct rte_comch_server *server;
	unsigned int i;
	struct t_log log;

	for (i = 0; i < MLX5_CANDIDATES; i++)
		stranger_open(&s[i], i);
	t_pair_devs(p, NULL);
	c.poll = p->dpu->poll;
	c.name = T_NAME;
	server = rte_comch_server_create(p->dpu_dev, &c);
	t_log_begin(&log);
	T_EQ(rte_comch_server_start(server), -EADDRINUSE);
	t_log_end(&log, "the 8 ports of name " T_NAME " from ports=47000-47999 are in use");
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
	struct t_log log;
	int16_t dev;

	t_pair_ends(p, NULL);
	dev = t_dev_open(2, "role=host,func=pf0,gid=6");
	client = t_client_new(p->host, dev, T_NAME, NULL);
	t_log_begin(&log);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p->host, client) != NULL);
	t_log_end(&log, "client at 10.0.1.2 refused");
	ev = t_state_ev(p->host, client);
	T_EQ(ev->e.status, -EACCES);
	T_STR_HAS(ev->text, "address not listed for the host function (rep=)");
	t_client_end(client);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_pair_connect(p);
}

/* The driver's own words, of a server that is not as it should be. */

/* What a client hears that finds s on the first port, and nothing on the others. */
static void
client_hears(struct t_pair *p, struct stranger *s, int status, const char *text)
{
	const struct t_ev *ev;

	t_forget(p->host);
	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	T_UNTIL((stranger_step(s), t_state_is(p->host, p->client, RTE_COMCH_STATE_IDLE)));
	ev = t_state_ev(p->host, p->client);
	T_EQ(ev->e.status, status);
	T_STR_HAS(ev->text, text);
}

/* A pair without a server, and a stranger on its first port. */
static void
open_without_server(struct t_pair *p, struct stranger *s)
{
	t_pair_devs(p, NULL);
	p->client = t_client_new(p->host, p->host_dev, T_NAME, NULL);
	stranger_open(s, 0);
}

static const struct mlx5_welcome good_welcome = {
	.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION, .slot_size = MLX5_SLOT_MAX,
	.nb_slots = 64,
};

CTRL_CASE(server_dies_after_it_has_accepted)
{
	struct stranger s;

	open_without_server(p, &s);
	s.answer = DIES;
	s.says = &good_welcome;
	s.len = sizeof(good_welcome);
	client_hears(p, &s, -ECONNRESET, "peer disconnected during the handshake");
	stranger_close(&s);
}

CTRL_CASE(welcome_is_invalid)
{
	static const struct {
		uint16_t version;
		uint32_t slot_size, nb_slots;
		const char *text;
	} cases[] = {
		{ MLX5_WIRE_VERSION + 1, MLX5_SLOT_MAX, 64, "driver version does not match" },
		{ MLX5_WIRE_VERSION, MLX5_SLOT_MIN - 1, 64, "too few or too small" },
		{ MLX5_WIRE_VERSION, MLX5_SLOT_MAX + 1, 64, "too few or too small" },
		{ MLX5_WIRE_VERSION, MLX5_SLOT_MAX, 0, "too few or too small" },
		{ MLX5_WIRE_VERSION, MLX5_SLOT_MAX, UINT32_MAX, "too few or too small" },
		{ MLX5_WIRE_VERSION, MLX5_SLOT_MIN, 4, "set slot= and max_msg_size= alike" },
	};
	struct mlx5_welcome welcome;
	struct stranger s;
	unsigned int i;

	open_without_server(p, &s);
	s.answer = ACCEPTS;
	s.says = &welcome;
	s.len = sizeof(welcome);
	for (i = 0; i < RTE_DIM(cases); i++) {
		welcome = good_welcome;
		welcome.version = cases[i].version;
		welcome.slot_size = cases[i].slot_size;
		welcome.nb_slots = cases[i].nb_slots;
		client_hears(p, &s, -EPROTO, cases[i].text);
	}
	stranger_close(&s);
}

CTRL_CASE(refusals)
{
	static const struct {
		uint16_t reason;
		int status;
		const char *text;
	} cases[] = {
		{ MLX5_REFUSE_NAME, -ENOENT, "no server listens on that name" },
		{ MLX5_REFUSE_VERSION, -EPROTO, "driver version or slot sizes do not match" },
		{ MLX5_REFUSE_FUNCTION, -EACCES, "address not listed for the host function" },
		/* Busy, or unknown: tried again until the time is over. */
		{ UINT16_MAX, -ETIMEDOUT, "no resources for another connection" },
	};
	struct mlx5_refuse why = { .magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION };
	struct stranger s;
	unsigned int i;

	open_without_server(p, &s);
	s.answer = REFUSES;
	s.says = &why;
	s.len = sizeof(why);
	for (i = 0; i < RTE_DIM(cases); i++) {
		why.reason = cases[i].reason;
		client_hears(p, &s, cases[i].status, cases[i].text);
	}
	stranger_close(&s);
}

/* The same of a client: what it says, and the answer. */

/* Connect with the first len bytes of hello. Returns the reason of the refusal. */
static unsigned int
ask(const void *hello, uint8_t len)
{
	struct rdma_conn_param param = {
		.private_data = hello, .private_data_len = len, .qp_num = 1,
	};
	struct mlx5_addr from, to = u_addr_of_port(T_NAME, 0);
	struct rdma_event_channel *ch = channel_new();
	struct mlx5_refuse why = { .reason = 0 };
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	bool over = false;

	T_EQ(mlx5_name_parse_addr("10.0.1.1", &from), 0);
	T_EQ(fv_glue.create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.resolve_addr(id, &from.sa, &to.sa, 1000), 0);
	while (!over) {
		T_UNTIL(fv_glue.get_cm_event(ch, &ev) == 0);
		if (ev->event == RDMA_CM_EVENT_ADDR_RESOLVED) {
			T_EQ(fv_glue.resolve_route(id, 1000), 0);
		} else if (ev->event == RDMA_CM_EVENT_ROUTE_RESOLVED) {
			T_EQ(fv_glue.connect(id, &param), 0);
		} else {
			T_EQ(ev->event, RDMA_CM_EVENT_REJECTED);
			T_GE(ev->param.conn.private_data_len, sizeof(why));
			memcpy(&why, ev->param.conn.private_data, sizeof(why));
			over = true;
		}
		fv_glue.ack_cm_event(ev);
	}
	fv_glue.destroy_id(id);
	fv_glue.destroy_event_channel(ch);
	T_EQ(why.magic, MLX5_MAGIC);
	T_EQ(why.version, MLX5_WIRE_VERSION);
	return why.reason;
}

CTRL_CASE(hello_is_invalid)
{
	struct mlx5_hello good = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION, .slot_size = MLX5_SLOT_MAX,
		.nb_slots = 64,
	}, h;

	mlx5_name_hash("pf0", T_NAME, good.name_hash);
	t_pair_ends(p, NULL);
	T_EQ(ask("", 0), MLX5_REFUSE_NAME);
	h = good;
	h.magic++;
	T_EQ(ask(&h, sizeof(h)), MLX5_REFUSE_NAME);
	h = good;
	h.version++;
	T_EQ(ask(&h, sizeof(h)), MLX5_REFUSE_VERSION);
	h = good;
	h.name_hash[15] ^= 1;
	T_EQ(ask(&h, sizeof(h)), MLX5_REFUSE_NAME);
	h = good;
	h.slot_size = MLX5_SLOT_MAX + 1;
	T_EQ(ask(&h, sizeof(h)), MLX5_REFUSE_VERSION);
	h = good;
	h.nb_slots = 2;
	T_EQ(ask(&h, sizeof(h)), MLX5_REFUSE_VERSION);
	t_settle();
	T_EQ(t_count(p->dpu, RTE_COMCH_EVENT_CONNECTED, NULL), 0);
	T_EQ(rte_comch_server_nb_conns(p->server), 0);
	t_pair_connect(p);
}

/* Events of the connection manager that are changed on their way to the driver. */

static struct {
	enum rdma_cm_event_type from, to; /* an event of the first kind becomes the second */
	int status;
	unsigned int nb;                  /* events still to change */
	const char *dev;                  /* and its id another device's */
} forgery;

static int
forge(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	int ret = fv_glue.get_cm_event(channel, event);

	if (ret != 0 || forgery.nb == 0 || (*event)->event != forgery.from)
		return ret;
	forgery.nb--;
	(*event)->event = forgery.to;
	(*event)->status = forgery.status;
	if (forgery.dev != NULL)
		(*event)->id->verbs = fv_ctx(forgery.dev);
	return 0;
}

static void
forging_begin(struct t_pair *p)
{
	static struct mlx5_glue forged;

	/* Before the devices, whose helper threads use it, too. */
	forged = fv_glue;
	forged.get_cm_event = forge;
	mlx5_verbs = &forged;
	u_ctrl_begin(p);
}

#define FORGED_CASE(name) T_CASE_OF(struct t_pair, forging_begin, u_ctrl_end, name, p)

/* What the client hears of a handshake with a good server that is disturbed. */
static void
disturbed(struct t_pair *p, int status, const char *text)
{
	const struct t_ev *ev;

	t_forget(p->host);
	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	T_UNTIL(t_state_is(p->host, p->client, RTE_COMCH_STATE_IDLE));
	T_EQ(forgery.nb, 0);
	ev = t_state_ev(p->host, p->client);
	T_EQ(ev->e.status, status);
	T_STR_HAS(ev->text, text);
	t_pair_disconnect(p);
}

FORGED_CASE(handshake_is_disturbed)
{
	static const struct {
		enum rdma_cm_event_type from, to;
		int status;
		const char *text;
	} cases[] = {
		{ RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH,
			"the peer's address is not reachable from this device" },
		{ RDMA_CM_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_ROUTE_ERROR, -EHOSTUNREACH,
			"the peer's address is not reachable from this device" },
		{ RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_DEVICE_REMOVAL, -ENODEV,
			"the device was removed" },
		{ RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_DISCONNECTED, -ECONNRESET,
			"peer disconnected during the handshake" },
	};
	unsigned int i;

	t_pair_ends(p, NULL);
	for (i = 0; i < RTE_DIM(cases); i++) {
		forgery.from = cases[i].from;
		forgery.to = cases[i].to;
		forgery.nb = 1;
		disturbed(p, cases[i].status, cases[i].text);
	}
	u_connect_again(p);
}

/* The server accepted, and does not hear that the client knows: it has no connection. */
FORGED_CASE(handshake_is_not_completed)
{
	static const enum rdma_cm_event_type to[] = {
		RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_REJECTED,
	};
	unsigned int i;

	t_pair_ends(p, NULL);
	for (i = 0; i < RTE_DIM(to); i++) {
		forgery.from = RDMA_CM_EVENT_ESTABLISHED;
		forgery.to = to[i];
		forgery.nb = 1;
		T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
		T_UNTIL(t_state_is(p->host, p->client, RTE_COMCH_STATE_IDLE));
		T_LT(t_state_ev(p->host, p->client)->e.status, 0);
		T_EQ(forgery.nb, 0);
		T_EQ(t_count(p->dpu, RTE_COMCH_EVENT_CONNECTED, NULL), 0);
		t_pair_disconnect(p);
		t_forget(p->host);
	}
	u_connect_again(p);
}

/* The routes of one side's machine lead elsewhere. */
FORGED_CASE(route_through_another_device)
{
	t_pair_ends(p, NULL);
	forgery.from = forgery.to = RDMA_CM_EVENT_ROUTE_RESOLVED;
	forgery.dev = "fv0";
	forgery.nb = 1;
	disturbed(p, -ENODEV, "uses another device");
	forgery.from = forgery.to = RDMA_CM_EVENT_CONNECT_REQUEST;
	forgery.dev = "fv1";
	forgery.nb = 1;
	disturbed(p, -EACCES, "address not listed for the host function (rep=)");
	u_connect_again(p);
}

/* The number of the queue pair that the last request named. */
static uint32_t asked_qpn[16];
static unsigned int nb_asked;

static int
note_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	T_LT(nb_asked, RTE_DIM(asked_qpn));
	asked_qpn[nb_asked++] = param->qp_num;
	return fv_glue.connect(id, param);
}

/*
 * The peer's connection manager remembers a queue pair of our number: another is offered.
 * If that is so each time, it is a port like others that refuse.
 */
#define REJ_STALE_CONN 10

FORGED_CASE(queue_pair_is_stale)
{
	static struct mlx5_glue noting;
	struct stranger s;
	unsigned int i, k;

	noting = *mlx5_verbs;
	noting.connect = note_connect;
	mlx5_verbs = &noting;
	open_without_server(p, &s);
	s.answer = REFUSES;
	forgery.from = forgery.to = RDMA_CM_EVENT_REJECTED;
	forgery.status = REJ_STALE_CONN;
	forgery.nb = UINT32_MAX;
	client_hears(p, &s, -ENOENT, "no server listens on that name");
	/* The first port five times, by five queue pairs; then the others. */
	T_EQ(s.nb_asked, 5);
	T_EQ(nb_asked, 5 + MLX5_CANDIDATES - 1);
	for (i = 1; i < 5; i++)
		for (k = 0; k < i; k++)
			T_NE(asked_qpn[i], asked_qpn[k]);
	stranger_close(&s);
	forgery.nb = 0;
}

/* Servers that cannot listen */

CTRL_CASE(server_cannot_listen)
{
	static const struct {
		enum fv_call call;
		int error;
		const char *text;
	} cases[] = {
		{ FV_CALL_CREATE_EVENT_CHANNEL, EMFILE, "Too many open files" },
		{ FV_CALL_CREATE_ID, ENOMEM, "Cannot allocate memory" },
		{ FV_CALL_BIND_ADDR, EACCES, "Permission denied" },
		{ FV_CALL_LISTEN, ENODEV, "No such device" },
	};
	struct rte_comch_server_conf conf = { .conf_size = sizeof(conf), .name = T_NAME };
	struct rte_comch_server *server;
	struct t_log log;
	unsigned int i;

	t_pair_devs(p, NULL);
	conf.poll = p->dpu->poll;
	server = rte_comch_server_create(p->dpu_dev, &conf);
	T_CHECK(server != NULL);
	for (i = 0; i < RTE_DIM(cases); i++) {
		fv_fail_call(cases[i].call, 0, cases[i].error);
		t_log_begin(&log);
		T_EQ(rte_comch_server_start(server), -cases[i].error);
		t_log_has(&log, "server " T_NAME " on pf0 of comch_mlx50: ");
		t_log_end(&log, cases[i].text);
		T_EQ(fv_nb_live(FV_ID) + fv_nb_live(FV_EVENT_CHANNEL), 0);
	}
	/* Another program took the port between bind and listen: the next one. */
	fv_fail_call(FV_CALL_LISTEN, 0, EADDRINUSE);
	T_EQ(rte_comch_server_start(server), 0);
	p->server = server;
	p->client = t_client_new(p->host, p->host_dev, T_NAME, NULL);
	t_pair_connect(p);
}

/* More requests than one call refuses: the client behind them has its turn. */
CTRL_CASE(many_invalid_requests)
{
	struct rdma_conn_param param = { .qp_num = 1 };
	struct rdma_event_channel *ch = channel_new();
	struct mlx5_addr from, to = u_addr_of_port(T_NAME, 0);
	struct rdma_cm_id *ids[200];
	struct rdma_cm_event *ev;
	unsigned int i;

	T_EQ(mlx5_name_parse_addr("10.0.1.1", &from), 0);
	t_pair_ends(p, NULL);
	p->dpu->paused = true;
	for (i = 0; i < RTE_DIM(ids); i++) {
		T_EQ(fv_glue.create_id(ch, &ids[i], NULL, RDMA_PS_TCP), 0);
		T_EQ(fv_glue.resolve_addr(ids[i], &from.sa, &to.sa, 1000), 0);
		T_UNTIL(fv_glue.get_cm_event(ch, &ev) == 0);
		fv_glue.ack_cm_event(ev);
		T_EQ(fv_glue.resolve_route(ids[i], 1000), 0);
		T_UNTIL(fv_glue.get_cm_event(ch, &ev) == 0);
		fv_glue.ack_cm_event(ev);
		T_EQ(fv_glue.connect(ids[i], &param), 0);
	}
	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	t_settle();
	p->dpu->paused = false;
	T_UNTIL(rte_comch_client_state(p->client) == RTE_COMCH_STATE_RUNNING);
	for (i = 0; i < RTE_DIM(ids); i++) {
		T_UNTIL(fv_glue.get_cm_event(ch, &ev) == 0);
		T_EQ(ev->event, RDMA_CM_EVENT_REJECTED);
		fv_glue.ack_cm_event(ev);
	}
	for (i = 0; i < RTE_DIM(ids); i++)
		fv_glue.destroy_id(ids[i]);
	fv_glue.destroy_event_channel(ch);
}
