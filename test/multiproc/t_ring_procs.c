/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The ring driver between processes of one EAL: a primary and a secondary, and the server
 * in either. Both run the same case, and wait for each other through the director.
 */

#include <stdlib.h>
#include <unistd.h>

#include <rte_log.h>

#include "mp_mbuf.h"

#define NB_MBUFS 1023
#define DEPTH 64

/* One end of a case, in its process. */
struct end {
	int fd;
	bool is_server;
	bool is_primary;
	struct mp_end e;
	struct rte_mempool *pool; /* of both */
	struct mp_mbuf m;
};

struct pair_case {
	struct mp_eal eal;
	bool server_is_primary;
	void (*fn)(struct end *x);
};

/* Wait for the other end. */
static void
meet(struct end *x)
{
	t_say(x->fd, 'M', 0);
	mp_hear(x->fd, 'G');
}

static int
run_end(int fd, const struct pair_case *c, bool is_server)
{
	struct end x = { .fd = fd, .is_server = is_server };

	x.is_primary = is_server == c->server_is_primary;
	mp_eal_join(&c->eal, x.is_primary, x.is_primary ? 0 : 1);
	x.pool = x.is_primary ? mp_pool_new("pool", NB_MBUFS) : mp_pool_find("pool");
	if (x.is_primary)
		t_say(fd, 'R', 0);
	if (is_server) {
		mp_server_open(&x.e, NULL);
		x.e.conn = mp_server_accept(&x.e, 0);
	} else {
		mp_client_open(&x.e, NULL);
	}
	c->fn(&x);
	t_say(fd, 'D', 0);
	mp_hear(fd, 'X');
	if (x.is_primary)
		T_EQ(rte_mempool_avail_count(x.pool), NB_MBUFS);
	mp_close(&x.e);
	return 0;
}

static int
server(int fd, void *arg)
{
	return run_end(fd, arg, true);
}

static int
client(int fd, void *arg)
{
	return run_end(fd, arg, false);
}

static char
next_code(const struct t_proc *p)
{
	struct t_step step;

	T_AWAIT(t_listen(p->fd, &step));
	return (char)step.code;
}

/* Have both meet until both are done. */
static void
direct(struct t_proc *first, struct t_proc *second)
{
	char code;

	for (;;) {
		code = next_code(first);
		T_EQ(next_code(second), code);
		if (code == 'D')
			break;
		T_EQ(code, 'M');
		t_say(first->fd, 'G', 0);
		t_say(second->fd, 'G', 0);
	}
	t_say(second->fd, 'X', 0);
	t_proc_join(second);
	t_say(first->fd, 'X', 0);
	t_proc_join(first);
}

static void
run(void (*fn)(struct end *x))
{
	struct pair_case c = { .fn = fn };
	struct t_proc first, second;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		c.server_is_primary = i == 0;
		mp_eal_new(&c.eal);
		t_proc_start(&first, "primary", c.server_is_primary ? server : client, &c);
		t_hear(first.fd, 'R');
		t_proc_start(&second, "secondary", c.server_is_primary ? client : server, &c);
		direct(&first, &second);
		mp_eal_remove(&c.eal);
	}
}

/* Names, connections, messages with their credits, events. */

/* Another server of this name, in the process that has the client. */
static void
name_is_taken(struct end *x)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf), .poll = x->e.node->poll, .name = MP_NAME,
	};
	struct rte_comch_server *other;
	int16_t dev = t_dev_open(2, "role=dpu,rep=pf0");

	other = rte_comch_server_create(dev, &conf);
	T_CHECK(other != NULL);
	T_EQ(rte_comch_server_start(other), -EADDRINUSE);
	t_server_end(other);
	T_EQ(rte_comch_dev_close(dev), 0);
}

#define NB_MSGS 200

static void
exchange(struct end *x)
{
	uint32_t next = 0;

	/* More than there are credits for. */
	T_UNTIL((mp_count_up(x->e.conn, &next, NB_MSGS), next == NB_MSGS));
	T_UNTIL(mp_counted(x->e.node, x->e.conn) == NB_MSGS);
	T_UNTIL(t_count(x->e.node, RTE_COMCH_EVENT_SENT, x->e.conn) == NB_MSGS);
}

static void
messages(struct end *x)
{
	exchange(x);
	meet(x);
	if (x->is_server) {
		T_UNTIL(t_count(x->e.node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
		T_STR_HAS(t_find(x->e.node, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0)->text,
			"client stopped");
		t_forget(x->e.node);
		meet(x);
		x->e.conn = mp_server_accept(&x->e, 0);
	} else {
		name_is_taken(x);
		T_EQ(rte_comch_client_stop(x->e.client), -EINPROGRESS);
		T_UNTIL(rte_comch_client_state(x->e.client) == RTE_COMCH_STATE_IDLE);
		t_settle();
		t_forget(x->e.node);
		meet(x);
		mp_client_connect(&x->e);
	}
	exchange(x);
	meet(x);
}

/* mbufs that are handed over. */

/* What an mbuf says of itself, at the same address in all processes. */
struct self {
	struct rte_mbuf *mbuf;
	struct rte_mempool *pool;
	uint64_t number;
};

static struct rte_mbuf *
numbered(struct rte_mempool *pool, uint64_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	T_CHECK(m != NULL);
	*(struct self *)rte_pktmbuf_append(m, sizeof(struct self)) = (struct self){
		.mbuf = m, .pool = pool, .number = number,
	};
	return m;
}

static void
check_self(struct rte_mbuf *m, const struct rte_mempool *pool, uint64_t number)
{
	const struct self *s = rte_pktmbuf_mtod(m, const struct self *);

	T_EQ(m->data_len, sizeof(*s));
	T_CHECK(s->mbuf == m);
	T_CHECK(s->pool == pool && m->pool == pool);
	T_EQ(s->number, number);
}

#define NB_ROUNDS 300

static void
ping(struct end *x)
{
	struct rte_mbuf *out[MP_BURST], *in[MP_BURST];
	unsigned int round, i;

	for (round = 0; round < NB_ROUNDS; round++) {
		for (i = 0; i < MP_BURST; i++)
			out[i] = numbered(x->pool, round * MP_BURST + i);
		mp_mbuf_send(&x->m, out, MP_BURST);
		mp_mbuf_recv(&x->m, in, MP_BURST);
		for (i = 0; i < MP_BURST; i++) {
			T_CHECK(in[i] == out[i]);
			check_self(in[i], x->pool, round * MP_BURST + i);
		}
		rte_pktmbuf_free_bulk(in, MP_BURST);
	}
}

static void
pong(struct end *x)
{
	struct rte_mbuf *in[MP_BURST];
	unsigned int round, i;

	for (round = 0; round < NB_ROUNDS; round++) {
		mp_mbuf_recv(&x->m, in, MP_BURST);
		for (i = 0; i < MP_BURST; i++)
			check_self(in[i], x->pool, round * MP_BURST + i);
		mp_mbuf_send(&x->m, in, MP_BURST);
	}
}

static void
same_pointer(struct end *x)
{
	mp_mbuf_open(&x->m, &x->e, x->e.conn, x->pool, DEPTH, 0);
	meet(x);
	(x->is_server ? pong : ping)(x);
	T_EQ(mp_mbuf_stats(&x->m).msgs, NB_ROUNDS * MP_BURST);
	T_EQ(mp_mbuf_stats(&x->m).copies, 0);
	meet(x);
	mp_mbuf_close(&x->m);
	meet(x);
}

/* Each end sleeps until the other one has sent. */
static void
sleeping(struct end *x)
{
	struct rte_mbuf *m = NULL;
	unsigned int i;

	mp_mbuf_open(&x->m, &x->e, x->e.conn, x->pool, DEPTH, 0);
	meet(x);
	for (i = 0; i < 50; i++) {
		if (!x->is_server) {
			m = numbered(x->pool, i);
			mp_mbuf_send(&x->m, &m, 1);
		}
		T_SLEEP_UNTIL(rte_comch_rx_burst(x->m.cons, &m, 1) == 1);
		check_self(m, x->pool, i);
		if (x->is_server)
			mp_mbuf_send(&x->m, &m, 1);
		else
			rte_pktmbuf_free(m);
	}
	meet(x);
	mp_mbuf_close(&x->m);
	meet(x);
}

/* Three segments. */
static struct rte_mbuf *
chain(struct rte_mempool *pool)
{
	struct rte_mbuf *m = NULL, *seg;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		seg = rte_pktmbuf_alloc(pool);
		T_CHECK(seg != NULL);
		t_fill(rte_pktmbuf_append(seg, 100), 100, i);
		if (m == NULL)
			m = seg;
		else
			T_EQ(rte_pktmbuf_chain(m, seg), 0);
	}
	return m;
}

static void
chains(struct end *x)
{
	struct rte_mbuf *m, *in;
	uint64_t addr;

	mp_mbuf_open(&x->m, &x->e, x->e.conn, x->pool, DEPTH, RTE_COMCH_CONSUMER_F_CHAINS);
	meet(x);
	if (x->is_server) {
		mp_mbuf_recv(&x->m, &in, 1);
		T_EQ(in->nb_segs, 3);
		T_VERIFY(rte_pktmbuf_mtod(in->next->next, void *), 100, 2);
		addr = (uintptr_t)in->next->next;
		mp_mbuf_send(&x->m, &in, 1);
		mp_mbuf_recv(&x->m, &in, 1);
		T_EQ(*rte_pktmbuf_mtod(in, uint64_t *), addr);
		rte_pktmbuf_free(in);
	} else {
		m = chain(x->pool);
		addr = (uintptr_t)m->next->next;
		mp_mbuf_send(&x->m, &m, 1);
		mp_mbuf_recv(&x->m, &in, 1);
		T_CHECK(in == m && (uintptr_t)in->next->next == addr);
		rte_pktmbuf_free(in);
		m = rte_pktmbuf_alloc(x->pool);
		*(uint64_t *)rte_pktmbuf_append(m, sizeof(addr)) = addr;
		mp_mbuf_send(&x->m, &m, 1);
	}
	T_EQ(mp_mbuf_stats(&x->m).copies, 0);
	meet(x);
	mp_mbuf_close(&x->m);
	meet(x);
}

/* mbufs that are copied, because the peer could not use them. */

static unsigned int nb_ext_freed;

static void
ext_free(void *addr __rte_unused, void *arg __rte_unused)
{
	nb_ext_freed++;
}

/* Data in memory of this process, freed by a function of this process. */
static struct rte_mbuf *
external(struct rte_mempool *pool, struct rte_mbuf_ext_shared_info *info)
{
	static uint8_t data[512];
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	T_CHECK(m != NULL);
	t_fill(data, sizeof(data), 7);
	info->free_cb = ext_free;
	rte_mbuf_ext_refcnt_set(info, 1);
	rte_pktmbuf_attach_extbuf(m, data, RTE_BAD_IOVA, sizeof(data), info);
	T_CHECK(rte_pktmbuf_append(m, 300) != NULL);
	return m;
}

static void
send_what_is_copied(struct end *x)
{
	struct rte_mbuf_ext_shared_info info;
	struct rte_mempool *sealed, *big;
	struct rte_mbuf *m[4];

	sealed = rte_comch_pktmbuf_pool_create("sealed", 15, 0, 0,
			MP_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	big = rte_pktmbuf_pool_create("big", 15, 0, 0, 4 * MP_ROOM, SOCKET_ID_ANY);
	T_CHECK(sealed != NULL && big != NULL);
	m[0] = chain(x->pool);
	m[1] = external(x->pool, &info);
	m[2] = rte_pktmbuf_alloc(sealed);
	t_fill(rte_pktmbuf_append(m[2], 300), 300, 8);
	/* More than the consumer's mbufs have room for. */
	m[3] = rte_pktmbuf_alloc(big);
	T_CHECK(rte_pktmbuf_append(m[3], MP_ROOM + 1) != NULL);
	mp_mbuf_send(&x->m, m, 4);
	T_EQ(nb_ext_freed, 1);
	T_CHECK(rte_mempool_full(sealed));
	T_CHECK(rte_mempool_full(big));
	T_EQ(mp_mbuf_stats(&x->m).copies, 3);
	T_EQ(mp_mbuf_stats(&x->m).errors, 1);
	T_UNTIL(rte_comch_pktmbuf_pool_free(sealed) == 0);
	rte_mempool_free(big);
}

static void
check_copies(struct end *x)
{
	struct rte_mbuf *m[3];
	unsigned int i;

	mp_mbuf_recv(&x->m, m, 3);
	for (i = 0; i < 3; i++) {
		T_CHECK(m[i]->pool == x->pool);
		T_EQ(m[i]->nb_segs, 1);
		T_EQ(m[i]->pkt_len, 300);
		T_CHECK(!RTE_MBUF_HAS_EXTBUF(m[i]));
	}
	T_VERIFY(rte_pktmbuf_mtod(m[0], uint8_t *) + 200, 100, 2);
	T_VERIFY(rte_pktmbuf_mtod(m[1], void *), 300, 7);
	T_VERIFY(rte_pktmbuf_mtod(m[2], void *), 300, 8);
	rte_pktmbuf_free_bulk(m, 3);
}

static void
copies(struct end *x)
{
	mp_mbuf_open(&x->m, &x->e, x->e.conn, x->pool, DEPTH, 0);
	meet(x);
	(x->is_server ? check_copies : send_what_is_copied)(x);
	meet(x);
	mp_mbuf_close(&x->m);
	meet(x);
}

/* A consumer whose mbufs the other process cannot write: its buffers are posted. */
static void
sealed_pool(struct end *x)
{
	struct rte_mempool *own = NULL;
	struct rte_mbuf *m;
	unsigned int i;

	if (x->is_server) {
		own = rte_comch_pktmbuf_pool_create("own", 127, 0, 0,
				MP_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
		T_CHECK(own != NULL);
	}
	mp_mbuf_open(&x->m, &x->e, x->e.conn, own != NULL ? own : x->pool, DEPTH, 0);
	meet(x);
	for (i = 0; i < 200; i++) {
		if (x->is_server) {
			mp_mbuf_recv(&x->m, &m, 1);
			T_CHECK(m->pool == own);
			T_EQ(m->pkt_len, 300);
			T_VERIFY(rte_pktmbuf_mtod(m, uint8_t *) + 200, 100, 2);
			rte_pktmbuf_free(m);
		} else {
			m = chain(x->pool);
			mp_mbuf_send(&x->m, &m, 1);
		}
	}
	T_EQ(mp_mbuf_stats(&x->m).errors, 0);
	meet(x);
	mp_mbuf_close(&x->m);
	if (own != NULL)
		T_UNTIL(rte_comch_pktmbuf_pool_free(own) == 0);
	meet(x);
}

/* Pools of which a killed process can make the others hang are named in the log, once. */

static unsigned int
occurrences(const char *text, const char *what)
{
	unsigned int n = 0;

	while ((text = strstr(text, what)) != NULL) {
		text += strlen(what);
		n++;
	}
	return n;
}

static struct rte_mempool *
unsafe_pool(const char *name, const struct end *x)
{
	char text[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *mp;

	snprintf(text, sizeof(text), "%s_%d", name, x->is_server);
	mp = rte_pktmbuf_pool_create(text, 63, 0, 0, MP_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	T_CHECK(mp != NULL);
	T_CHECK(rte_comch_mempool_register(mp, 0) != NULL);
	return mp;
}

static void
unsafe_pool_free(struct rte_mempool *mp)
{
	T_CHECK(rte_mempool_full(mp));
	T_UNTIL(rte_comch_mempool_unregister(mp) == 0);
	rte_mempool_free(mp);
}

static void
warnings(struct end *x)
{
	struct rte_mempool *rx = unsafe_pool("rx", x), *tx = unsafe_pool("tx", x);
	char *text = NULL;
	struct rte_mbuf *m;
	unsigned int i;
	size_t len;
	FILE *log;

	log = open_memstream(&text, &len);
	T_CHECK(log != NULL);
	T_EQ(rte_openlog_stream(log), 0);
	T_EQ(rte_log_set_level_pattern("pmd.comch.ring", RTE_LOG_WARNING), 0);
	mp_mbuf_open(&x->m, &x->e, x->e.conn, rx, DEPTH, 0);
	meet(x);
	for (i = 0; i < 20; i++) {
		/* Alternate the two pools: only the unsafe one is warned of. */
		m = numbered(i % 2 == 0 ? tx : x->pool, i);
		mp_mbuf_send(&x->m, &m, 1);
		mp_mbuf_recv(&x->m, &m, 1);
		rte_pktmbuf_free(m);
	}
	meet(x);
	t_settle();
	T_EQ(rte_openlog_stream(NULL), 0);
	fclose(log);
	T_EQ(occurrences(text, "mempool"), 2);
	T_EQ(occurrences(text, x->is_server ? "mempool rx_1" : "mempool rx_0"), 1);
	T_EQ(occurrences(text, x->is_server ? "mempool tx_1" : "mempool tx_0"), 1);
	free(text);
	mp_mbuf_close(&x->m);
	meet(x);
	unsafe_pool_free(rx);
	unsafe_pool_free(tx);
	meet(x);
}

/* Operations: a buffer in memory of each kind. */

static void
stream(struct end *x, enum rte_comch_mem_kind kind)
{
	struct mp_data d;

	t_forget(x->e.node);
	meet(x);
	if (x->is_server) {
		mp_consumer_open(&d, &x->e, kind, 5000, 16);
		T_UNTIL((mp_consume(&d, 100), d.got == 100));
	} else {
		mp_producer_open(&d, &x->e, 5000);
		T_UNTIL((mp_produce(&d, 100), d.done == 100));
	}
	meet(x);
	mp_data_close(&d);
	meet(x);
}

static void
memory(struct end *x)
{
	stream(x, RTE_COMCH_MEM_EAL);
	stream(x, RTE_COMCH_MEM_SEALED);
	stream(x, RTE_COMCH_MEM_HEAP);
}

/* The consumer stops and starts under the producer's bursts, then the client leaves. */

static unsigned int
take(struct mp_mbuf *m)
{
	struct rte_mbuf *in[MP_BURST];
	uint16_t n = rte_comch_rx_burst(m->cons, in, MP_BURST);

	rte_pktmbuf_free_bulk(in, n);
	return n;
}

static uint64_t
stop_and_go(struct end *x)
{
	uint64_t got = 0, before;
	unsigned int i, n;

	for (i = 0; i < 8; i++) {
		before = got;
		T_UNTIL((got += take(&x->m)) >= before + 100);
		T_EQ(rte_comch_consumer_stop(x->m.cons), -EINPROGRESS);
		T_UNTIL((n = take(&x->m), got += n, n == 0) &&
			rte_comch_consumer_state(x->m.cons) == RTE_COMCH_STATE_IDLE);
		t_consumer_run(x->m.cons);
		got += take(&x->m);
	}
	return got;
}

static uint64_t
send_always(struct end *x)
{
	struct t_step step = { 0 };
	struct rte_mbuf *m = NULL;
	uint64_t accepted = 0;
	const struct t_ev *ev;

	while (!t_listen(x->fd, &step)) {
		if (m == NULL)
			m = rte_pktmbuf_alloc(x->pool);
		if (m != NULL && rte_comch_tx_burst(x->m.prod, x->m.id, &m, 1) == 1) {
			accepted++;
			m = NULL;
		}
		t_step_all();
		ev = t_find(x->e.node, RTE_COMCH_EVENT_CONSUMER_NEW, x->e.conn,
				t_count(x->e.node, RTE_COMCH_EVENT_CONSUMER_NEW, x->e.conn) - 1);
		x->m.id = ev->e.consumer.id;
	}
	rte_pktmbuf_free(m);
	return accepted;
}

static void
stops(struct end *x)
{
	struct rte_comch_producer_stats st;
	uint64_t n, settled;

	mp_mbuf_open(&x->m, &x->e, x->e.conn, x->pool, DEPTH, 0);
	meet(x);
	if (x->is_server) {
		n = stop_and_go(x);
		meet(x);
		meet(x); /* the sender has stopped */
		T_UNTIL((settled = take(&x->m), n += settled, settled == 0));
		t_send(x->e.conn, &n, sizeof(n), 0);
	} else {
		t_say(x->fd, 'M', 0);
		n = send_always(x);
		meet(x);
		st = mp_mbuf_stats(&x->m);
		T_EQ(st.msgs + st.errors, n);
		T_UNTIL(t_count(x->e.node, RTE_COMCH_EVENT_MSG, NULL) == 1);
		memcpy(&n, t_find(x->e.node, RTE_COMCH_EVENT_MSG, NULL, 0)->data, sizeof(n));
		T_EQ(n, st.msgs);
	}
	meet(x);
	mp_mbuf_close(&x->m);
	meet(x);
}

#define CASE(name) \
	static void \
	name##_case(void) \
	{ \
		run(name); \
	}

CASE(messages)
CASE(same_pointer)
CASE(sleeping)
CASE(chains)
CASE(copies)
CASE(sealed_pool)
CASE(warnings)
CASE(memory)
CASE(stops)

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "messages", messages_case },
		{ "same_pointer", same_pointer_case },
		{ "sleeping", sleeping_case },
		{ "chains", chains_case },
		{ "copies", copies_case },
		{ "sealed_pool", sealed_pool_case },
		{ "warnings", warnings_case },
		{ "memory", memory_case },
		{ "stops", stops_case },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
