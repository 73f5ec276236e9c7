/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_comch_mbuf.h>
#include <rte_mbuf.h>

#include "fault.h"
#include "life.h"

#define MEM_SIZE 65536
/* One that may give up has no more than this time. */
#define GIVE_UP_MS 20
/* An armed poll that nothing wakes is a hang. */
#define WAKE_MS 5000

struct life {
	const struct life_conf *conf;
	struct t_pair p;
	struct t_flow flows[2]; /* to the DPU, to the host */
	struct t_mem more;      /* added to a consumer that runs */
	struct rte_mempool *pool;
	bool in_mbuf_mode;      /* the consumer of the second flow */
	unsigned int owed[2];   /* of each flow: sends accepted, not completed */
	uint64_t give_up;       /* 0: not to be; a time */
	const char *step;
};

static int
failed(struct life *l, const char *step, int err)
{
	T_LT(err, 0);
	l->step = step;
	return err;
}

/* Give up, unless it holds: an error, a negative one. */
#define L_TRY(l, cond, err) \
	do { \
		if (!(cond)) \
			return failed(l, #cond, err); \
	} while (0)

/* Creators set rte_errno. */
#define L_NEW(l, var, expr) \
	do { \
		rte_errno = 0; \
		(var) = (expr); \
		L_TRY(l, (var) != NULL, -rte_errno); \
	} while (0)

/* The status of a connection or client that has ended, or 0. */
static int
end_of(const struct life_conf *conf, const struct t_node *node,
		const struct rte_comch_client *client)
{
	const struct t_ev *ev = t_find(node, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0);

	if (ev == NULL && client != NULL && t_state_is(node, client, RTE_COMCH_STATE_IDLE))
		ev = t_state_ev(node, client);
	if (ev == NULL)
		return 0;
	T_LT(ev->e.status, 0);
	/* Both ends are honest, and neither blames the other for what it lacks itself. */
	if (!conf->misleads)
		T_NE(ev->e.status, -EPROTO);
	return ev->e.status;
}

/* A reason to give up: the end of the connection, on either side. */
static int
over(struct life *l)
{
	int err = end_of(l->conf, l->p.host, l->p.client);

	if (err == 0)
		err = end_of(l->conf, l->p.dpu, NULL);
	if (err != 0 || l->conf->gives_up == NULL || !l->conf->gives_up())
		return err;
	if (l->give_up == 0)
		l->give_up = t_now_ms() + GIVE_UP_MS * t_patience();
	return t_now_ms() < l->give_up ? 0 : -ETIMEDOUT;
}

static void
sleep_on(struct life *l)
{
	struct t_node *nodes[] = { l->p.dpu, l->p.host };
	struct pollfd fds[RTE_DIM(nodes)];
	unsigned int i;

	for (i = 0; i < RTE_DIM(nodes); i++) {
		/* One that cannot sleep is run again. */
		if (rte_comch_poll_arm(nodes[i]->poll, RTE_COMCH_POLL_ANY) != 0)
			return;
		fds[i].fd = rte_comch_poll_fd(nodes[i]->poll, RTE_COMCH_POLL_ANY);
		fds[i].events = POLLIN;
		if (fds[i].fd < 0)
			return;
	}
	if (poll(fds, RTE_DIM(fds), (int)(WAKE_MS * t_patience())) == 0)
		T_FAIL("no wake-up");
}

static void
step(struct life *l, const struct t_wait *wait)
{
	if (!l->conf->sleeps) {
		t_until_step(wait);
	} else if (t_step_all() == 0) {
		t_wait_check(wait);
		sleep_on(l);
	}
}

#define L_WAIT(l, cond) \
	do { \
		const struct t_wait wait_ = t_wait_begin(__FILE__, __LINE__, #cond); \
		while (!(cond)) { \
			int over_ = over(l); \
			if (over_ != 0) \
				return failed(l, #cond, over_); \
			step(l, &wait_); \
		} \
	} while (0)

static int
open_node(struct life *l, struct t_node **node)
{
	struct rte_comch_poll *poll;

	L_NEW(l, poll, rte_comch_poll_create(NULL));
	T_EQ(rte_comch_poll_destroy(poll), 0);
	/* A node is made of a poll that works. */
	fault_pause();
	*node = t_node_new();
	fault_resume();
	return 0;
}

static int
open_ends(struct life *l)
{
	struct rte_comch_server_conf sc = { .conf_size = sizeof(sc), .name = T_NAME };
	struct rte_comch_client_conf cc = {
		.conf_size = sizeof(cc), .name = T_NAME, .connect_timeout_ms = 50,
	};
	int ret;

	ret = rte_comch_dev_probe(t_dev_string(0, "role=dpu,rep=pf0"), &l->p.dpu_dev);
	L_TRY(l, ret == 0 && "probe DPU", ret);
	ret = rte_comch_dev_probe(t_dev_string(1, "role=host,func=pf0"), &l->p.host_dev);
	L_TRY(l, ret == 0 && "probe host", ret);
	sc.poll = l->p.dpu->poll;
	L_NEW(l, l->p.server, rte_comch_server_create(l->p.dpu_dev, &sc));
	ret = rte_comch_server_start(l->p.server);
	L_TRY(l, ret == 0 && "server start", ret);
	cc.poll = l->p.host->poll;
	L_NEW(l, l->p.client, rte_comch_client_create(l->p.host_dev, &cc));
	return 0;
}

static int
connect_ends(struct life *l)
{
	struct t_pair *p = &l->p;
	int ret;

	t_forget(p->dpu);
	t_forget(p->host);
	ret = rte_comch_client_start(p->client);
	L_TRY(l, ret == -EINPROGRESS && "client start", ret);
	L_WAIT(l, t_count(p->host, RTE_COMCH_EVENT_CONNECTED, NULL) == 1 &&
		t_count(p->dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	p->cconn = rte_comch_client_conn(p->client);
	p->sconn = t_find(p->dpu, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
	return 0;
}

static int
send_messages(struct life *l)
{
	static const uint32_t lens[] = { 0, 1, 100, 4080 };
	static uint8_t data[4080];
	struct t_pair *p = &l->p;
	unsigned int i;

	for (i = 0; i < RTE_DIM(lens); i++) {
		L_WAIT(l, t_offer(p->cconn, data, lens[i], i, 0));
		L_WAIT(l, t_offer(p->sconn, data, lens[i], i, RTE_COMCH_MSG_F_SILENT));
	}
	L_WAIT(l, t_count(p->host, RTE_COMCH_EVENT_SENT, NULL) == i &&
		t_count(p->dpu, RTE_COMCH_EVENT_MSG, NULL) == i &&
		t_count(p->host, RTE_COMCH_EVENT_MSG, NULL) == i);
	return 0;
}

static int
open_mem(struct life *l, struct t_mem *m, enum rte_comch_mem_kind kind)
{
	m->kind = kind;
	m->len = MEM_SIZE;
	if (kind == RTE_COMCH_MEM_SEALED)
		L_NEW(l, m->addr, rte_comch_mem_alloc(m->len, SOCKET_ID_ANY));
	else
		m->addr = calloc(1, m->len);
	L_NEW(l, m->mr, rte_comch_mem_register(m->addr, m->len, 0));
	return 0;
}

static void
free_mem(struct t_mem *m)
{
	if (m->mr != NULL)
		T_EQ(rte_comch_mem_unregister(m->mr), 0);
	if (m->kind == RTE_COMCH_MEM_SEALED)
		T_EQ(rte_comch_mem_free(m->addr), 0);
	else
		free(m->addr);
}

static bool
consumer_is_idle(struct t_flow *f)
{
	struct rte_comch_cpl cpl;

	rte_comch_consumer_recv_burst(f->cons, &cpl, 1);
	return rte_comch_consumer_state(f->cons) == RTE_COMCH_STATE_IDLE;
}

/* A consumer that runs, known to the peer. */
static int
run_consumer(struct life *l, struct t_flow *f)
{
	int ret;

	t_born(f->cons);
	ret = rte_comch_consumer_start(f->cons);
	L_TRY(l, ret == -EINPROGRESS && "consumer start", ret);
	L_WAIT(l, rte_comch_consumer_state(f->cons) == RTE_COMCH_STATE_RUNNING ||
		t_state_is(f->cons_node, f->cons, RTE_COMCH_STATE_IDLE));
	if (rte_comch_consumer_state(f->cons) != RTE_COMCH_STATE_RUNNING)
		return failed(l, "consumer start", t_state_ev(f->cons_node, f->cons)->e.status);
	f->id = rte_comch_consumer_id(f->cons);
	L_WAIT(l, t_knows_consumer(f->prod_node, f->prod_conn, f->id));
	return 0;
}

static int
open_consumer(struct life *l, struct t_flow *f, const struct rte_comch_consumer_conf *conf)
{
	L_NEW(l, f->cons, rte_comch_consumer_create(f->cons_conn, conf));
	return run_consumer(l, f);
}

static int
restart_consumer(struct life *l, struct t_flow *f)
{
	int ret = rte_comch_consumer_stop(f->cons);

	L_TRY(l, ret == 0 || ret == -EINPROGRESS, ret);
	t_forget(f->cons_node);
	t_forget(f->prod_node);
	L_WAIT(l, consumer_is_idle(f) &&
		(ret == 0 || t_state_is(f->cons_node, f->cons, RTE_COMCH_STATE_IDLE)));
	return run_consumer(l, f);
}

static int
open_flow(struct life *l, struct t_flow *f, bool to_host)
{
	struct rte_comch_consumer_conf cc = {
		.conf_size = sizeof(cc), .queue_size = 16, .staging_size = 65536, .nb_mrs = 1,
	};
	struct rte_comch_producer_conf pc = { .conf_size = sizeof(pc), .queue_size = 16 };
	struct t_pair *p = &l->p;
	int ret;

	f->cons_node = to_host ? p->host : p->dpu;
	f->prod_node = to_host ? p->dpu : p->host;
	f->cons_conn = to_host ? p->cconn : p->sconn;
	f->prod_conn = to_host ? p->sconn : p->cconn;
	ret = open_mem(l, &f->dst, l->conf->kind);
	if (ret == 0)
		ret = open_mem(l, &f->src, RTE_COMCH_MEM_HEAP);
	if (ret != 0)
		return ret;
	L_NEW(l, f->prod, rte_comch_producer_create(f->prod_conn, &pc));
	ret = rte_comch_producer_start(f->prod);
	L_TRY(l, ret == 0 && "producer start", ret);
	cc.mrs = &f->dst.mr;
	return open_consumer(l, f, &cc);
}

/* Post to memory that is added while the consumer runs. */
static int
add_mem(struct life *l, struct t_flow *f)
{
	const struct t_ev *ev;
	int ret;

	ret = open_mem(l, &l->more, l->conf->kind);
	if (ret != 0)
		return ret;
	ret = rte_comch_consumer_mr_add(f->cons, l->more.mr);
	L_TRY(l, ret == 0 && "add memory", ret);
	L_WAIT(l, t_count(f->cons_node, RTE_COMCH_EVENT_MR_ADDED, NULL) > 0);
	ev = t_find(f->cons_node, RTE_COMCH_EVENT_MR_ADDED, NULL, 0);
	L_TRY(l, ev->e.status == 0 && "memory added", ev->e.status);
	return 0;
}

/* One completion, and only one: len is that of none before. */
static bool
took(struct t_flow *f, struct rte_comch_cpl *in)
{
	return in->len != UINT32_MAX || rte_comch_consumer_recv_burst(f->cons, in, 1) == 1;
}

static bool
sent(struct life *l, struct t_flow *f, const struct rte_comch_op *op)
{
	const uint16_t n = rte_comch_producer_send_burst(f->prod, op, 1);

	l->owed[f - l->flows] += n;
	return n == 1;
}

static bool
done(struct life *l, struct t_flow *f, struct rte_comch_cpl *out)
{
	if (out->len != UINT32_MAX)
		return true;
	if (rte_comch_producer_done_burst(f->prod, out, 1) == 0)
		return false;
	l->owed[f - l->flows]--;
	return true;
}

static int
send_one(struct life *l, struct t_flow *f, const struct rte_comch_op *op)
{
	const struct t_mem *dst = l->more.mr != NULL && f == l->flows ? &l->more : &f->dst;
	const struct rte_comch_buf buf = { .addr = dst->addr, .mr = dst->mr, .len = MEM_SIZE };
	struct rte_comch_cpl in, out;

	in.len = out.len = UINT32_MAX;
	/* What was posted for a message that failed is still there. */
	L_WAIT(l, rte_comch_consumer_post_burst(f->cons, &buf, 1) == 1);
	/* A post that fails completes at once. */
	L_WAIT(l, took(f, &in) || sent(l, f, op));
	/* A streamed message moves only while both sides call their bursts. */
	L_WAIT(l, took(f, &in) + done(l, f, &out) == 2 ||
		(in.len != UINT32_MAX && in.status != 0) ||
		(out.len != UINT32_MAX && out.status != 0));
	L_TRY(l, in.len == UINT32_MAX || in.status == 0, in.status);
	L_TRY(l, out.status == 0, out.status);
	T_EQ(in.len, op->len);
	if ((op->flags & RTE_COMCH_OP_F_SGL) == 0)
		T_EQ(memcmp(dst->addr, f->src.addr, op->len), 0);
	return 0;
}

static int
send_all(struct life *l, struct t_flow *f)
{
	const struct rte_comch_sge sges[] = {
		{ .mr = f->src.mr, .addr = f->src.addr, .len = 100 },
		{ .mr = f->src.mr, .addr = f->src.addr + 1000, .len = 1000 },
	};
	const struct rte_comch_op ops[] = {
		{ .addr = f->src.addr, .mr = f->src.mr, .len = 1 },
		{ .imm = "imm", .imm_len = 3 },
		{ .addr = f->src.addr, .mr = f->src.mr, .len = MEM_SIZE },
		{ .addr = sges, .len = 1100, .nb_sges = 2, .flags = RTE_COMCH_OP_F_SGL },
	};
	struct rte_comch_op op;
	unsigned int i;
	int ret = 0;

	t_fill(f->src.addr, f->src.len, 1);
	for (i = 0; i < RTE_DIM(ops) && ret == 0; i++) {
		op = ops[i];
		op.consumer_id = f->id;
		ret = send_one(l, f, &op);
	}
	return ret;
}

/* What it has accepted completes, whatever has happened. */
static void
end_producer(struct life *l, struct t_flow *f)
{
	struct rte_comch_cpl out = { .len = UINT32_MAX };

	if (rte_comch_producer_state(f->prod) == RTE_COMCH_STATE_RUNNING)
		rte_comch_producer_stop(f->prod);
	while (l->owed[f - l->flows] > 0) {
		T_UNTIL(done(l, f, &out));
		out.len = UINT32_MAX;
	}
	t_producer_end(f->prod);
}

static void
close_flow(struct life *l, struct t_flow *f)
{
	if (f->prod != NULL)
		end_producer(l, f);
	if (f->cons != NULL)
		t_consumer_end(f->cons);
	free_mem(&f->dst);
	free_mem(&f->src);
	memset(f, 0, sizeof(*f));
}

/* A life may give up while a consumer is starting. */
static bool
has_started(enum rte_comch_state state)
{
	return state == RTE_COMCH_STATE_RUNNING || state == RTE_COMCH_STATE_STARTING;
}

/* In mbuf mode a consumer returns its mbufs with calls of its own. */
static bool
is_drained(struct life *l, struct t_flow *f)
{
	struct rte_mbuf *m;

	if (f->cons == NULL)
		return true;
	if (!l->in_mbuf_mode)
		return consumer_is_idle(f);
	while (rte_comch_rx_burst(f->cons, &m, 1) == 1)
		rte_pktmbuf_free(m);
	return rte_comch_consumer_state(f->cons) == RTE_COMCH_STATE_IDLE;
}

static void
close_mbuf_flow(struct life *l, struct t_flow *f)
{
	if (f->prod != NULL && has_started(rte_comch_producer_state(f->prod)))
		rte_comch_producer_stop(f->prod);
	if (f->cons != NULL && has_started(rte_comch_consumer_state(f->cons)))
		rte_comch_consumer_stop(f->cons);
	T_UNTIL(rte_comch_producer_state(f->prod) == RTE_COMCH_STATE_IDLE &&
		is_drained(l, f));
	t_step_all();
	if (f->prod != NULL)
		T_EQ(rte_comch_producer_destroy(f->prod), 0);
	if (f->cons != NULL)
		T_EQ(rte_comch_consumer_destroy(f->cons), 0);
	memset(f, 0, sizeof(*f));
}

static int
send_mbuf(struct life *l, struct t_flow *f, struct rte_mbuf *m)
{
	L_WAIT(l, rte_comch_tx_burst(f->prod, f->id, &m, 1) == 1);
	return 0;
}

/* A chain, which needs a list of segments. */
static int
send_chain(struct life *l, struct t_flow *f)
{
	struct rte_comch_producer_stats stats;
	struct rte_mbuf *m[2];
	uint16_t n = 0;
	int ret;

	T_EQ(rte_pktmbuf_alloc_bulk(l->pool, m, 2), 0);
	T_CHECK(rte_pktmbuf_append(m[0], 60) != NULL);
	T_CHECK(rte_pktmbuf_append(m[1], 60) != NULL);
	T_EQ(rte_pktmbuf_chain(m[0], m[1]), 0);
	ret = send_mbuf(l, f, m[0]);
	if (ret != 0) {
		rte_pktmbuf_free(m[0]);
		return ret;
	}
	L_WAIT(l, (n = rte_comch_rx_burst(f->cons, m, 1)) == 1 ||
		(rte_comch_producer_stats_get(f->prod, &stats) == 0 && stats.errors > 0));
	L_TRY(l, n == 1, -ENOMEM);
	T_EQ(rte_pktmbuf_pkt_len(m[0]), 120);
	rte_pktmbuf_free(m[0]);
	return 0;
}

static int
send_mbufs(struct life *l, struct t_flow *f)
{
	struct rte_comch_consumer_conf cc = {
		.conf_size = sizeof(cc), .queue_size = 16, .nb_mrs = 1,
	};
	struct rte_comch_producer_conf pc = { .conf_size = sizeof(pc), .queue_size = 16 };
	struct rte_comch_mr *mr;
	int ret;

	L_NEW(l, l->pool, rte_comch_pktmbuf_pool_create("life", 63, 0, 0, 2048, SOCKET_ID_ANY));
	mr = rte_comch_mempool_mr(l->pool);
	cc.mrs = &mr;
	f->cons_node = l->p.dpu;
	f->cons_conn = l->p.sconn;
	f->prod_node = l->p.host;
	f->prod_conn = l->p.cconn;
	L_NEW(l, f->prod, rte_comch_producer_create(f->prod_conn, &pc));
	ret = rte_comch_producer_start(f->prod);
	L_TRY(l, ret == 0 && "producer start", ret);
	ret = open_consumer(l, f, &cc);
	if (ret != 0)
		return ret;
	ret = rte_comch_consumer_rx_setup(f->cons, l->pool);
	L_TRY(l, ret == 0 && "rx setup", ret);
	l->in_mbuf_mode = true;
	return send_chain(l, f);
}

/* All that a connection can do. */
static int
use(struct life *l)
{
	int ret = send_messages(l);

	if (ret == 0)
		ret = open_flow(l, &l->flows[0], false);
	if (ret == 0)
		ret = open_flow(l, &l->flows[1], true);
	if (ret == 0)
		ret = add_mem(l, &l->flows[0]);
	if (ret == 0)
		ret = send_all(l, &l->flows[0]);
	if (ret == 0)
		ret = send_all(l, &l->flows[1]);
	if (ret == 0)
		ret = restart_consumer(l, &l->flows[0]);
	if (ret == 0)
		ret = send_all(l, &l->flows[0]);
	if (ret == 0)
		close_flow(l, &l->flows[1]);
	if (ret == 0 && l->conf->mbufs)
		ret = send_mbufs(l, &l->flows[1]);
	return ret;
}

static void
unuse(struct life *l)
{
	close_flow(l, &l->flows[0]);
	if (l->pool != NULL)
		close_mbuf_flow(l, &l->flows[1]);
	else
		close_flow(l, &l->flows[1]);
	free_mem(&l->more);
	if (l->pool != NULL)
		T_UNTIL(rte_comch_pktmbuf_pool_free(l->pool) == 0);
	memset(&l->more, 0, sizeof(l->more));
	l->pool = NULL;
}

static void
close_ends(struct life *l)
{
	t_client_end(l->p.client);
	t_server_end(l->p.server);
	if (l->p.host_dev >= 0)
		T_UNTIL(rte_comch_dev_close(l->p.host_dev) == 0);
	if (l->p.dpu_dev >= 0)
		T_UNTIL(rte_comch_dev_close(l->p.dpu_dev) == 0);
	if (l->p.host != NULL)
		t_node_free(l->p.host);
	if (l->p.dpu != NULL)
		t_node_free(l->p.dpu);
}

int
life_run(const struct life_conf *conf, const char **step_text)
{
	struct life l = { .conf = conf, .p = { .dpu_dev = -1, .host_dev = -1 } };
	int ret;

	ret = open_node(&l, &l.p.dpu);
	if (ret == 0)
		ret = open_node(&l, &l.p.host);
	if (ret == 0)
		ret = open_ends(&l);
	if (ret == 0)
		ret = connect_ends(&l);
	if (ret == 0)
		ret = use(&l);
	unuse(&l);
	if (ret == 0) {
		/* Once the client ends a connection, once the server. */
		t_pair_disconnect(&l.p);
		T_UNTIL(t_state_is(l.p.host, l.p.client, RTE_COMCH_STATE_IDLE));
		ret = connect_ends(&l);
		if (ret == 0)
			t_server_end(l.p.server);
		if (ret == 0)
			l.p.server = NULL;
	}
	close_ends(&l);
	*step_text = l.step;
	return ret;
}
