/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The peer that survives: serves an undisturbed pair and each mortal in turn. */

#include <malloc.h>

#include <rte_mempool.h>

#include "deaths.h"
#include "t_figures.h"

/* Messages offered to a mortal; more than it receives. */
#define NB_MSGS 60
#define NB_SEALED 60
#define NB_STAGED 8
#define NB_MBUFS 40
/* Deaths before the heap is stable; growth allowed per death afterwards. */
#define WARM_UP 20
#define MAX_HEAP_PER_DEATH 64

/** This side of the connection with the mortal. */
struct guest {
	struct rte_comch_conn *conn;
	bool over;          /* conn is freed */
	uint32_t next;
	struct mp_data in[DEATHS_NB_STREAMS], out[DEATHS_NB_STREAMS];
	struct deaths_mbufs mbufs;
	bool mbufs_set_up;
	struct deaths_shared shared;
};

struct survivor {
	const struct deaths *d;
	struct t_pair pair;              /* honest */
	struct t_flow flow;
	uint64_t seed;
	struct t_node *node;             /* of the connection with the mortal */
	struct rte_comch_client *client; /* of the server that dies */
	struct rte_mempool *pool;
	struct guest g;
	struct t_figures figures;
	unsigned int nb_deaths;
	size_t heap;                     /* after WARM_UP */
};

/* The end of a connection may be known before its event is. */
static bool
is_refused(const void *obj)
{
	if (obj == NULL)
		T_CHECK(rte_errno == EBADFD || rte_errno == ECONNRESET);
	return obj == NULL;
}

static struct rte_comch_consumer *
new_consumer(struct guest *g, struct rte_comch_mr *mr, uint32_t depth)
{
	const struct rte_comch_consumer_conf conf = {
		.conf_size = sizeof(conf), .queue_size = depth, .staging_size = 65536,
		.mrs = &mr, .nb_mrs = mr != NULL,
	};
	struct rte_comch_consumer *cons = rte_comch_consumer_create(g->conn, &conf);
	int ret;

	if (is_refused(cons))
		return NULL;
	t_born(cons);
	ret = rte_comch_consumer_start(cons);
	T_CHECK(ret == -EINPROGRESS || ret == -ECONNRESET);
	return cons;
}

static struct rte_comch_producer *
new_producer(struct guest *g)
{
	const struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf), .queue_size = 16,
	};
	struct rte_comch_producer *prod = rte_comch_producer_create(g->conn, &conf);
	int ret;

	if (is_refused(prod))
		return NULL;
	t_born(prod);
	ret = rte_comch_producer_start(prod);
	T_CHECK(ret == 0 || ret == -ECONNRESET);
	return prod;
}

static void
open_streams(struct guest *g, enum deaths_stream stream, enum rte_comch_mem_kind kind,
		uint32_t len, uint32_t depth)
{
	struct mp_data *in = &g->in[stream], *out = &g->out[stream];

	in->len = out->len = len;
	in->depth = out->depth = depth;
	in->mixed = out->mixed = stream == DEATHS_SEALED;
	t_mem_new(&in->mem, kind, (size_t)len * depth, 0);
	t_mem_new(&out->mem, RTE_COMCH_MEM_HEAP, (size_t)len * depth, 0);
	in->cons = new_consumer(g, in->mem.mr, depth);
	out->prod = new_producer(g);
}

static void
welcome(struct survivor *s, struct rte_comch_conn *conn)
{
	struct guest *g = &s->g;

	g->conn = conn;
	open_streams(g, DEATHS_SEALED, RTE_COMCH_MEM_SEALED, DEATHS_LEN, 8);
	open_streams(g, DEATHS_STAGED, RTE_COMCH_MEM_HEAP, DEATHS_STAGED_LEN, 2);
	g->mbufs.cons = new_consumer(g, rte_comch_mempool_mr(s->pool), 32);
	g->mbufs.prod = new_producer(g);
	g->shared.cons = new_consumer(g, NULL, 256);
}

/* Is there a consumer to send to, of a peer that is there? */
static bool
may_send(struct survivor *s, const struct rte_comch_producer *prod, uint32_t *id,
		enum deaths_stream stream)
{
	if (s->g.over || prod == NULL)
		return false;
	if (*id == 0 && t_knows_consumer(s->node, s->g.conn, 1 + stream))
		*id = 1 + stream;
	return *id != 0;
}

static void
pump_mbufs(struct survivor *s)
{
	struct deaths_mbufs *m = &s->g.mbufs;
	int ret;

	if (m->cons != NULL && !s->g.mbufs_set_up &&
			rte_comch_consumer_state(m->cons) == RTE_COMCH_STATE_RUNNING) {
		ret = rte_comch_consumer_rx_setup(m->cons, s->pool);
		T_CHECK(ret == 0 || ret == -EBADFD);
		s->g.mbufs_set_up = ret == 0;
	}
	if (m->cons != NULL)
		deaths_mbufs_recv(m);
	if (may_send(s, m->prod, &m->id, DEATHS_MBUFS))
		deaths_mbufs_send(m, s->pool, NB_MBUFS);
}

static void
pump_streams(struct survivor *s)
{
	static const uint64_t nb[] = { NB_SEALED, NB_STAGED };
	struct guest *g = &s->g;
	unsigned int i;

	for (i = 0; i < DEATHS_NB_STREAMS; i++) {
		if (g->in[i].cons != NULL)
			mp_consume(&g->in[i], nb[i]);
		if (may_send(s, g->out[i].prod, &g->out[i].id, i) && g->out[i].failed == 0)
			mp_produce(&g->out[i], nb[i]);
		else if (g->out[i].prod != NULL)
			mp_produce(&g->out[i], g->out[i].sent);
	}
	pump_mbufs(s);
	if (g->shared.cons != NULL)
		deaths_shared_recv(&g->shared);
}

/* Once round, without waiting for anything. */
static void
pump(struct survivor *s)
{
	struct guest *g = &s->g;
	const struct t_ev *ev;

	t_step_all();
	ev = t_find(s->node, RTE_COMCH_EVENT_CONNECTED, NULL, 0);
	if (g->conn == NULL && ev != NULL)
		g->conn = ev->e.conn;
	if (g->conn == NULL)
		return;
	g->over = t_count(s->node, RTE_COMCH_EVENT_DISCONNECTED, g->conn) > 0;
	if (!g->over && g->in[0].mem.addr == NULL)
		welcome(s, g->conn);
	if (!g->over)
		mp_count_up(g->conn, &g->next, NB_MSGS);
	pump_streams(s);
}

/* Full service for all others. */
static void
serve(struct survivor *s)
{
	struct t_pair *p = &s->pair;
	const unsigned int dpu = t_count(p->dpu, RTE_COMCH_EVENT_MSG, p->sconn);
	const unsigned int host = t_count(p->host, RTE_COMCH_EVENT_MSG, p->cconn);

	T_UNTIL(t_offer(p->cconn, &s->seed, sizeof(s->seed), s->seed, 0));
	T_UNTIL(t_offer(p->sconn, &s->seed, sizeof(s->seed), s->seed, 0));
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_MSG, p->sconn) == dpu + 1 &&
		t_count(p->host, RTE_COMCH_EVENT_MSG, p->cconn) == host + 1);
	t_flow_once(&s->flow, (uint32_t)(1 + s->seed * 7919 % s->flow.dst.len), s->seed);
	s->seed++;
}

static void
check_name_is_taken(struct survivor *s)
{
	const struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf), .poll = s->pair.dpu->poll, .name = DEATHS_NAME,
	};
	struct rte_comch_server *server = rte_comch_server_create(s->pair.dpu_dev, &conf);

	T_CHECK(server != NULL);
	T_EQ(rte_comch_server_start(server), -EADDRINUSE);
	T_EQ(rte_comch_server_destroy(server), 0);
	t_step_all();
}

/* Nothing of ours waits for a stopped process. */
static void
serve_beside_stopped(struct survivor *s)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		pump(s);
	serve(s);
	if (s->d->books->has_name)
		check_name_is_taken(s);
}

static bool
all_is_over(struct survivor *s)
{
	const struct guest *g = &s->g;
	unsigned int i;

	pump(s);
	if (g->conn == NULL)
		return true;
	for (i = 0; i < DEATHS_NB_STREAMS; i++)
		if (g->in[i].got + g->in[i].flushed != g->in[i].posted ||
				g->out[i].done + g->out[i].failed != g->out[i].sent ||
				rte_comch_consumer_state(g->in[i].cons) != RTE_COMCH_STATE_IDLE)
			return false;
	return g->over && (g->shared.cons == NULL ||
		rte_comch_consumer_state(g->shared.cons) == RTE_COMCH_STATE_IDLE);
}

/* What either side reported as delivered has arrived at the other. */
static void
check_books(struct survivor *s)
{
	const struct deaths_books *b = s->d->books;
	const struct guest *g = &s->g;
	unsigned int i;

	if (g->conn == NULL)
		return;
	T_GE(mp_counted(s->node, g->conn), b->acked);
	T_LE(mp_check_sent(s->node, g->conn, g->next), b->heard);
	for (i = 0; i < DEATHS_NB_STREAMS; i++) {
		T_GE(g->in[i].got, b->out[i].done);
		/* One is accepted before it is entered. */
		T_LE(g->in[i].got, b->out[i].sent + 1);
		T_LE(g->out[i].done, b->in[i].posted + 1);
		T_LE(b->in[i].got, g->out[i].sent);
	}
	deaths_shared_check(&g->shared, &b->shared);
	T_LE(g->mbufs.got, b->mbufs.sent + 1);
	T_LE(b->mbufs.got, g->mbufs.sent);
}

static void
farewell(struct survivor *s)
{
	struct guest *g = &s->g;
	unsigned int i;

	for (i = 0; i < DEATHS_NB_STREAMS; i++) {
		mp_data_close(&g->out[i]);
		mp_data_close(&g->in[i]);
	}
	if (g->mbufs.prod != NULL)
		t_producer_end(g->mbufs.prod);
	if (g->mbufs.cons != NULL) {
		T_UNTIL((deaths_mbufs_recv(&g->mbufs),
			rte_comch_consumer_state(g->mbufs.cons) == RTE_COMCH_STATE_IDLE));
		t_step_all();
		T_EQ(rte_comch_consumer_destroy(g->mbufs.cons), 0);
	}
	if (g->shared.cons != NULL)
		t_consumer_end(g->shared.cons);
	t_step_all();
	memset(g, 0, sizeof(*g));
	T_EQ(rte_mempool_avail_count(s->pool), DEATHS_NB_MBUFS);
}

/* The name of a dead server is free at once, and works. */
static void
take_name(struct survivor *s)
{
	struct rte_comch_server *server;

	server = t_server_new(s->pair.dpu, s->pair.dpu_dev, DEATHS_NAME, 0, NULL);
	T_EQ(rte_comch_client_start(s->client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(s->client) != RTE_COMCH_STATE_STARTING);
	T_EQ(rte_comch_client_state(s->client), RTE_COMCH_STATE_RUNNING);
	t_client_stop(s->client);
	t_server_end(server);
}

/* Heap that is in use does not grow with the number of deaths. */
static void
check_heap(struct survivor *s)
{
	const size_t now = mallinfo2().uordblks;

	s->nb_deaths++;
	if (t_sanitized())
		return;
	if (s->nb_deaths <= WARM_UP)
		s->heap = RTE_MAX(s->heap, now);
	else
		T_LE(now, s->heap + 65536 + (s->nb_deaths - WARM_UP) * MAX_HEAP_PER_DEATH);
}

static void
bury(struct survivor *s)
{
	T_UNTIL(all_is_over(s));
	check_books(s);
	farewell(s);
	if (s->client != NULL) {
		t_settle();
		/* It may still look for a server. */
		t_client_stop(s->client);
	}
	T_UNTIL(rte_comch_server_nb_conns(s->pair.server) == 1);
	if (s->client != NULL)
		take_name(s);
	serve(s);
	t_settle();
	/* A client that died within its handshake has no place yet: runs find out and end it. */
	t_figures_wait(&s->figures);
	t_forget(s->pair.dpu);
	t_forget(s->pair.host);
	check_heap(s);
}

static void
begin(struct survivor *s)
{
	if (s->client != NULL)
		T_EQ(rte_comch_client_start(s->client), -EINPROGRESS);
}

static void
open_all(struct survivor *s)
{
	const struct rte_comch_client_conf conf = { .connect_timeout_ms = T_TIMEOUT_MS };

	t_driver = &deaths_driver;
	t_eal_start(1);
	t_pair_open(&s->pair, &(struct t_pair_conf){ .name = MP_NAME });
	t_flow_open(&s->flow, &s->pair, NULL);
	s->pool = deaths_pool();
	s->node = s->pair.dpu;
	if (s->d->server_dies) {
		s->node = s->pair.host;
		s->client = t_client_new(s->node, s->pair.host_dev, DEATHS_NAME, &conf);
	}
	serve(s);
	t_forget(s->pair.dpu);
	t_forget(s->pair.host);
	t_settle();
	t_figures_begin();
	s->figures = t_figures_least();
}

static void
close_all(struct survivor *s)
{
	T_EQ(rte_comch_pktmbuf_pool_free(s->pool), 0);
	t_client_end(s->client);
	t_flow_close(&s->flow);
	t_pair_close(&s->pair);
	t_eal_stop();
}

int
survivor_run(int fd, void *deaths)
{
	struct survivor s = { .d = deaths };
	struct t_step step;

	open_all(&s);
	t_say(fd, 'R', 0);
	for (;;) {
		while (!t_listen(fd, &step))
			pump(&s);
		switch (step.code) {
		case 'N':
			begin(&s);
			break;
		case 'S':
			serve_beside_stopped(&s);
			t_say(fd, 'O', 0);
			break;
		case 'K':
			bury(&s);
			t_say(fd, 'D', 0);
			break;
		default:
			close_all(&s);
			return 0;
		}
	}
}
