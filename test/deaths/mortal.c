/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The process that is killed: uses all features of a channel, in phases. */

#include <pthread.h>
#include <unistd.h>

#include "deaths.h"
#include "steps.h"

#define NB_MSGS 40

struct mortal {
	const struct deaths *d;
	struct deaths_books *b;
	struct mp_end e;
	uint32_t next;
	struct t_mem more;
	struct rte_mempool *pool;
	pthread_t thread;
	bool thread_ends;
};

static void
note(struct t_node *node, const struct rte_comch_event *ev)
{
	struct deaths_books *b = node->hook_arg;

	b->heard += ev->type == RTE_COMCH_EVENT_MSG;
	b->acked += ev->type == RTE_COMCH_EVENT_SENT && ev->status == 0;
}

static void
open_device(struct mortal *m)
{
	if (m->d->server_dies)
		mp_node_open(&m->e, 0, "role=dpu,rep=pf0");
	else
		mp_node_open(&m->e, 1, "role=host,func=pf0");
	m->e.node->hook = note;
	m->e.node->hook_arg = m->b;
}

static void
start(struct mortal *m)
{
	const struct rte_comch_client_conf conf = { .connect_timeout_ms = T_TIMEOUT_MS };
	struct mp_end *e = &m->e;

	if (m->d->server_dies) {
		e->server = t_server_new(e->node, e->dev, DEATHS_NAME, 0, NULL);
		m->b->has_name = true;
	} else {
		e->client = t_client_new(e->node, e->dev, MP_NAME, &conf);
		T_EQ(rte_comch_client_start(e->client), -EINPROGRESS);
	}
}

static void
rendezvous(struct mortal *m)
{
	T_SLEEP_UNTIL(t_count(m->e.node, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	m->e.conn = t_find(m->e.node, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
}

static void
messages(struct mortal *m)
{
	mp_count_up(m->e.conn, &m->next, NB_MSGS / 2);
	T_SLEEP_UNTIL((mp_count_up(m->e.conn, &m->next, NB_MSGS), m->next == NB_MSGS) &&
		m->b->acked == m->next && m->b->heard >= NB_MSGS);
}

static void
show_sealed(struct mortal *m)
{
	mp_consumer_open(&m->b->in[DEATHS_SEALED], &m->e, RTE_COMCH_MEM_SEALED, DEATHS_LEN, 8);
	m->b->in[DEATHS_SEALED].mixed = true;
}

static void
show_heap(struct mortal *m)
{
	mp_consumer_open(&m->b->in[DEATHS_STAGED], &m->e, RTE_COMCH_MEM_HEAP, DEATHS_STAGED_LEN,
		2);
}

static void
open_producers(struct mortal *m)
{
	struct mp_data *out = m->b->out;

	mp_producer_open_to(&out[DEATHS_SEALED], &m->e, DEATHS_LEN, 1 + DEATHS_SEALED);
	out[DEATHS_SEALED].mixed = true;
	mp_producer_open_to(&out[DEATHS_STAGED], &m->e, DEATHS_STAGED_LEN, 1 + DEATHS_STAGED);
	/* Here, so that later phases are steps of the library. */
	mp_fill(&out[DEATHS_SEALED], 16);
	mp_fill(&out[DEATHS_STAGED], 4);
}

static void
post(struct mortal *m)
{
	mp_consume(&m->b->in[DEATHS_SEALED], 8);
}

static void
produce(struct mortal *m, enum deaths_stream stream, uint64_t end)
{
	struct mp_data *out = &m->b->out[stream];

	T_UNTIL((mp_produce(out, end), out->sent == end));
}

static void
send_small(struct mortal *m)
{
	produce(m, DEATHS_SEALED, 3);
}

static void
send_large(struct mortal *m)
{
	produce(m, DEATHS_SEALED, 4);
}

static void
send_more(struct mortal *m)
{
	produce(m, DEATHS_SEALED, 16);
	T_UNTIL((mp_produce(&m->b->out[DEATHS_SEALED], 16), m->b->out[DEATHS_SEALED].done == 16));
}

static void
receive(struct mortal *m)
{
	struct mp_data *in = &m->b->in[DEATHS_SEALED];

	T_UNTIL((mp_consume(in, 32), in->got >= 16));
}

static void
send_staged(struct mortal *m)
{
	struct mp_data *out = &m->b->out[DEATHS_STAGED];

	mp_produce(out, 1);
	T_UNTIL((mp_produce(out, 4), out->done == 4));
}

static void
receive_staged(struct mortal *m)
{
	struct mp_data *in = &m->b->in[DEATHS_STAGED];

	mp_consume(in, 2);
	T_UNTIL((mp_consume(in, 4), in->got == 4));
}

static void
open_mbufs(struct mortal *m)
{
	struct deaths_mbufs *mbufs = &m->b->mbufs;

	m->pool = deaths_pool();
	mbufs->cons = t_consumer_new(m->e.conn, &(struct rte_comch_consumer_conf){
		.queue_size = 32 }, rte_comch_mempool_mr(m->pool));
	t_consumer_run(mbufs->cons);
	T_EQ(rte_comch_consumer_rx_setup(mbufs->cons, m->pool), 0);
	mbufs->prod = t_producer_new(m->e.conn, NULL);
	mbufs->id = 1 + DEATHS_MBUFS;
	T_UNTIL(t_knows_consumer(m->e.node, m->e.conn, mbufs->id));
}

static void
send_mbufs(struct mortal *m)
{
	T_UNTIL((deaths_mbufs_send(&m->b->mbufs, m->pool, 8), m->b->mbufs.sent == 8));
}

static void
receive_mbufs(struct mortal *m)
{
	T_UNTIL((deaths_mbufs_recv(&m->b->mbufs), m->b->mbufs.got >= 8));
}

static void
add_memory(struct mortal *m)
{
	t_mem_new(&m->more, RTE_COMCH_MEM_SEALED, DEATHS_LEN, 0);
	T_EQ(rte_comch_consumer_mr_add(m->b->in[DEATHS_SEALED].cons, m->more.mr), 0);
	T_UNTIL(t_count(m->e.node, RTE_COMCH_EVENT_MR_ADDED, NULL) == 1);
}

static void
flush(struct mortal *m)
{
	struct mp_data *in = &m->b->in[DEATHS_SEALED];

	mp_consume(in, UINT64_MAX);
	T_EQ(rte_comch_consumer_stop(in->cons), -EINPROGRESS);
	T_UNTIL((mp_consume(in, 0), rte_comch_consumer_state(in->cons) == RTE_COMCH_STATE_IDLE));
	T_EQ(in->got + in->flushed, in->posted);
}

static void *
second_thread(void *arg)
{
	struct mortal *m = arg;

	while (!__atomic_load_n(&m->thread_ends, __ATOMIC_ACQUIRE))
		deaths_shared_send(&m->b->shared, 1);
	return NULL;
}

static void
open_threads(struct mortal *m)
{
	struct deaths_shared *s = &m->b->shared;

	s->prod[0] = t_producer_new(m->e.conn, NULL);
	s->prod[1] = t_producer_new(m->e.conn, NULL);
	T_UNTIL(t_knows_consumer(m->e.node, m->e.conn, 1 + DEATHS_SHARED));
	T_EQ(pthread_create(&m->thread, NULL, second_thread, m), 0);
	T_AWAIT(__atomic_load_n(&s->done[1], __ATOMIC_RELAXED) > 0);
}

static void
send_from_threads(struct mortal *m)
{
	T_UNTIL((deaths_shared_send(&m->b->shared, 0), m->b->shared.done[0] >= 400));
}

static void
close_threads(struct mortal *m)
{
	__atomic_store_n(&m->thread_ends, true, __ATOMIC_RELEASE);
	T_EQ(pthread_join(m->thread, NULL), 0);
	t_producer_end(m->b->shared.prod[0]);
	t_producer_end(m->b->shared.prod[1]);
}

static bool
mbufs_are_idle(const struct deaths_mbufs *m)
{
	struct rte_mbuf *mbuf;

	while (rte_comch_rx_burst(m->cons, &mbuf, 1) == 1)
		rte_pktmbuf_free(mbuf);
	return rte_comch_consumer_state(m->cons) == RTE_COMCH_STATE_IDLE;
}

static void
stop(struct mortal *m)
{
	unsigned int i;

	for (i = 0; i < DEATHS_NB_STREAMS; i++) {
		mp_data_close(&m->b->out[i]);
		mp_data_close(&m->b->in[i]);
	}
	t_mem_free(&m->more);
	t_producer_end(m->b->mbufs.prod);
	T_EQ(rte_comch_consumer_stop(m->b->mbufs.cons), -EINPROGRESS);
	T_UNTIL(mbufs_are_idle(&m->b->mbufs));
	T_EQ(rte_comch_consumer_destroy(m->b->mbufs.cons), 0);
}

static void
disconnect(struct mortal *m)
{
	m->b->has_name = false;
	if (m->d->server_dies)
		t_server_end(m->e.server);
	else
		t_client_end(m->e.client);
}

static void
tear_down(struct mortal *m)
{
	T_UNTIL(rte_comch_pktmbuf_pool_free(m->pool) == 0);
	T_UNTIL(rte_comch_dev_close(m->e.dev) == 0);
	t_node_free(m->e.node);
}

/* Waits for its death. */
static void
end(struct mortal *m)
{
	RTE_SET_USED(m);
	for (;;)
		pause();
}

static const struct phase {
	const char *name;
	void (*fn)(struct mortal *m);
} phases[] = {
	{ "open", open_device },
	{ "start", start },
	{ "rendezvous and handshake", rendezvous },
	{ "messages", messages },
	{ "registration of sealed memory", show_sealed },
	{ "consumer of heap memory", show_heap },
	{ "producers", open_producers },
	{ "post", post },
	{ "small messages", send_small },
	{ "a large message", send_large },
	{ "more messages", send_more },
	{ "receive", receive },
	{ "send staged", send_staged },
	{ "receive staged", receive_staged },
	{ "pool and consumer of mbufs", open_mbufs },
	{ "send mbufs", send_mbufs },
	{ "receive mbufs", receive_mbufs },
	{ "more memory", add_memory },
	{ "flush", flush },
	{ "producers of two threads", open_threads },
	{ "messages of two threads", send_from_threads },
	{ "end of a thread", close_threads },
	{ "stop", stop },
	{ "disconnect", disconnect },
	{ "teardown", tear_down },
	{ "end", end },
};

const char *
mortal_phase(unsigned int phase)
{
	return phase < RTE_DIM(phases) ? phases[phase].name : NULL;
}

int
mortal_run(int fd, void *deaths)
{
	const struct deaths *d = deaths;
	struct mortal m = { .d = d, .b = d->books };
	unsigned int i;

	/* The director is ready to step. */
	t_hear(fd, 'G');
	t_driver = &deaths_driver;
	t_eal_start(1);
	for (i = 0; i < RTE_DIM(phases); i++) {
		steps_mark();
		phases[i].fn(&m);
	}
	return 1;
}
