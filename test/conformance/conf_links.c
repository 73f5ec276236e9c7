/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Many connections over one registration. */

#include "conf.h"

#define NB_LINKS 64
#define POOL_SIZE ((size_t)256 << 20)
/* Each connection has such a part of the memory: its buffer, and its payload behind it. */
#define PART (POOL_SIZE / NB_LINKS)
#define LEN 100000

/** A client with a producer, and the consumer on its connection's other end. */
struct link {
	struct rte_comch_client *client;
	struct rte_comch_conn *sconn;
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;
	uint32_t id;
};

static void
links_connect(struct link *link, struct t_pair *p)
{
	const struct t_ev *ev;
	uint32_t i, k;

	for (i = 0; i < NB_LINKS; i++) {
		link[i].client = t_client_new(p->host, p->host_dev, T_NAME, NULL);
		T_EQ(rte_comch_client_start(link[i].client), -EINPROGRESS);
	}
	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_STATE, NULL) == NB_LINKS &&
			t_count(p->dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == NB_LINKS);
	for (i = 0; i < NB_LINKS; i++) {
		T_EQ(rte_comch_client_state(link[i].client), RTE_COMCH_STATE_RUNNING);
		t_send(rte_comch_client_conn(link[i].client), &i, sizeof(i), 0);
	}
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_MSG, NULL) == NB_LINKS);
	for (k = 0; k < NB_LINKS; k++) {
		ev = t_find(p->dpu, RTE_COMCH_EVENT_MSG, NULL, k);
		memcpy(&i, ev->data, sizeof(i));
		T_LT(i, NB_LINKS);
		link[i].sconn = ev->e.conn;
	}
}

/* All consumers show the same registration. */
static void
links_start(struct link *link, const struct t_pair *p, const struct t_mem *pool)
{
	struct rte_comch_conn *cconn;
	uint32_t i;

	for (i = 0; i < NB_LINKS; i++) {
		cconn = rte_comch_client_conn(link[i].client);
		link[i].prod = t_producer_new(cconn, NULL);
		link[i].cons = t_consumer_new(link[i].sconn, NULL, pool->mr);
		t_consumer_run(link[i].cons);
		link[i].id = rte_comch_consumer_id(link[i].cons);
		T_UNTIL(t_knows_consumer(p->host, cconn, link[i].id));
	}
}

/* A message on one connection, from the registration and to it. */
static void
link_once(const struct link *l, const struct t_mem *pool, size_t off, uint64_t seed)
{
	struct t_flow f = { .prod = l->prod, .cons = l->cons, .id = l->id };
	struct rte_comch_cpl in, out;

	f.dst = *pool;
	f.src = *pool;
	t_fill(pool->addr + off + PART / 2, LEN, seed);
	T_EQ(t_post(&f, off, LEN, seed), 1);
	t_submit(&f, off + PART / 2, LEN, seed);
	t_both(&f, &in, &out);
	T_EQ(out.status, 0);
	T_EQ(in.status, 0);
	T_EQ(in.len, LEN);
	T_VERIFY(pool->addr + off, LEN, seed);
}

static void
link_close(struct link *l)
{
	t_producer_end(l->prod);
	t_consumer_end(l->cons);
	t_client_end(l->client);
}

/* A pool that is shown to 64 peers, and from which messages go to as many. */
void
conf_mem_pool_of_64_links(void)
{
	struct t_pair_conf pc = { 0 };
	struct link link[NB_LINKS];
	struct t_mem pool;
	struct t_pair p;
	uint32_t i;

	/* A driver that maps memory counts it for each connection. */
	if (t_driver->has_total_import)
		pc.host_args = ",total_import=17179869184";
	T_CHECK(t_nofile_set(4096));
	t_pair_ends(&p, &pc);
	t_mem_new(&pool, RTE_COMCH_MEM_SEALED, POOL_SIZE, 0);
	links_connect(link, &p);
	links_start(link, &p, &pool);
	for (i = 0; i < NB_LINKS; i++)
		link_once(&link[i], &pool, i * PART, i);
	/* The end of one is not that of the others. */
	link_close(&link[0]);
	T_UNTIL(rte_comch_server_nb_conns(p.server) == NB_LINKS - 1);
	for (i = 1; i < NB_LINKS; i++)
		link_once(&link[i], &pool, i * PART, NB_LINKS + i);
	for (i = 1; i < NB_LINKS; i++)
		link_close(&link[i]);
	T_UNTIL(rte_comch_server_nb_conns(p.server) == 0);
	t_mem_free(&pool);
	t_pair_close(&p);
}
