/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Much memory: what is pinned, and the longest message. */

#include "t_main.h"
#include "u_driver.h"

#define NB_LINKS 3
#define QUEUE 64
#define POOL_SIZE ((size_t)8 << 20)
#define LEN 100000

/** Connections over one registration, which each shows and sends from. */
struct big {
	struct t_pair p;
	struct t_mem pool;
	struct rte_comch_client *client[NB_LINKS];
	struct t_flow flow[NB_LINKS];
	uint32_t nb;
};

static void
begin(struct big *b)
{
	static bool is_started;

	if (!is_started)
		t_eal_start(1);
	is_started = true;
	t_driver = &u_driver;
	memset(b, 0, sizeof(*b));
}

static void
end(struct big *b)
{
	uint32_t i;

	for (i = 0; i < b->nb; i++) {
		t_producer_end(b->flow[i].prod);
		t_consumer_end(b->flow[i].cons);
		t_client_end(b->client[i]);
	}
	t_mem_free(&b->pool);
	t_pair_close(&b->p);
	T_EQ(fv_nb_live(FV_ALL), 0);
	fv_reset();
	t_dir_remove();
}

#define BIG_CASE(name) T_CASE_OF(struct big, begin, end, name, b)

static uint64_t
pinned(int16_t dev)
{
	return u_counter(dev, "pinned");
}

static void
open_pool(struct big *b, const struct t_pair_conf *conf, size_t size)
{
	t_pair_ends(&b->p, conf);
	t_mem_new(&b->pool, RTE_COMCH_MEM_HEAP, size, 0);
}

/* One more connection with a consumer and a producer. */
static struct t_flow *
add_link(struct big *b, uint32_t queue)
{
	const struct rte_comch_consumer_conf conf = { .queue_size = queue };
	struct t_flow *f = &b->flow[b->nb];
	const struct t_ev *ev;

	b->client[b->nb] = t_client_new(b->p.host, b->p.host_dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(b->client[b->nb]), -EINPROGRESS);
	T_UNTIL(t_count(b->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == b->nb + 1 &&
		rte_comch_client_state(b->client[b->nb]) == RTE_COMCH_STATE_RUNNING);
	ev = t_find(b->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, b->nb);
	f->cons_conn = ev->e.conn;
	f->prod_conn = rte_comch_client_conn(b->client[b->nb]);
	f->dst = b->pool;
	f->src = b->pool;
	f->prod = t_producer_new(f->prod_conn, NULL);
	f->cons = t_consumer_new(f->cons_conn, &conf, b->pool.mr);
	t_consumer_run(f->cons);
	f->id = rte_comch_consumer_id(f->cons);
	T_UNTIL(t_knows_consumer(b->p.host, f->prod_conn, f->id));
	b->nb++;
	return f;
}

/* Send a message from the second half of the memory to its beginning. Returns the copies. */
static uint32_t
once(struct t_flow *f, uint32_t len, uint64_t seed)
{
	struct rte_comch_cpl in, out;
	size_t half = f->dst.len / 2;

	t_fill(f->src.addr + half, len, seed);
	T_EQ(t_post(f, 0, len, seed), 1);
	t_submit(f, half, len, seed);
	t_both(f, &in, &out);
	T_EQ(out.status, 0);
	T_EQ(in.status, 0);
	T_EQ(in.len, len);
	T_VERIFY(f->dst.addr, len, seed);
	return (uint32_t)(in.copies + out.copies);
}

/* The guide's formula: what a connection with one consumer pins, beside registrations. */
static uint64_t
pinned_by_queues(uint32_t queue)
{
	return (2 * queue + 160) * (512 + 16) + 100 * 1024;
}

/* Each connection pins the registration on both sides, and gives it back. */
BIG_CASE(pinned_by_each_connection)
{
	uint64_t dpu, host, most;
	uint32_t i;

	open_pool(b, NULL, POOL_SIZE);
	for (i = 0; i < NB_LINKS; i++) {
		dpu = pinned(b->p.dpu_dev);
		host = pinned(b->p.host_dev);
		T_EQ(once(add_link(b, QUEUE), LEN, i), 0);
		most = POOL_SIZE + pinned_by_queues(QUEUE);
		T_GT(pinned(b->p.dpu_dev) - dpu, POOL_SIZE);
		T_LE(pinned(b->p.dpu_dev) - dpu, most);
		T_GT(pinned(b->p.host_dev) - host, POOL_SIZE);
		T_LE(pinned(b->p.host_dev) - host, most);
	}
	while (b->nb > 0) {
		b->nb--;
		dpu = pinned(b->p.dpu_dev);
		host = pinned(b->p.host_dev);
		t_producer_end(b->flow[b->nb].prod);
		t_consumer_end(b->flow[b->nb].cons);
		t_client_end(b->client[b->nb]);
		T_UNTIL(dpu - pinned(b->p.dpu_dev) > POOL_SIZE);
		T_UNTIL(host - pinned(b->p.host_dev) > POOL_SIZE);
	}
}

/* With max_pinned as the formula says, and no more: another consumer's messages are staged. */
BIG_CASE(consumer_beyond_max_pinned)
{
	struct t_pair_conf conf = { 0 };
	char keys[64];

	snprintf(keys, sizeof(keys), ",max_pinned=%llu", (unsigned long long)
		(NB_LINKS - 1) * (POOL_SIZE + pinned_by_queues(QUEUE)) + POOL_SIZE / 2);
	conf.dpu_args = keys;
	open_pool(b, &conf, POOL_SIZE);
	T_EQ(once(add_link(b, QUEUE), LEN, 1), 0);
	T_EQ(once(add_link(b, QUEUE), LEN, 2), 0);
	T_GT(once(add_link(b, QUEUE), LEN, 3), 0);
	T_EQ(once(&b->flow[0], LEN, 4), 0);
}

/* The longest message, from heap memory to heap memory. */
BIG_CASE(one_gib)
{
	const size_t gib = (size_t)1 << 30;

	open_pool(b, NULL, 2 * gib);
	T_EQ(once(add_link(b, QUEUE), (uint32_t)gib, 1), 0);
}
