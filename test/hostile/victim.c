/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "t_figures.h"
#include "victim.h"

#define CANARY_LEN (64 * 1024)
#define CANARY_SEED 4711
/* The honest flow's buffers lie here within its memory; the rest is canary. */
#define USED_OFF 16384
#define USED_LEN 16384

static const struct t_driver driver_shm = {
	.name = "comch_shm", .has_dir = true, .has_kernel_peer = true,
};

void
v_start(void)
{
	t_driver = &driver_shm;
	t_eal_start(1);
}

void
v_stop(void)
{
	t_eal_stop();
	t_dir_remove();
}

/*
 * Frames are in order, and those with descriptors wait for these: with a message
 * each way, all that was said before has arrived.
 */
static void
exchange(struct t_pair *p)
{
	t_send(p->cconn, "here", 4, 0);
	t_send(p->sconn, "here", 4, 0);
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_MSG, p->sconn) == 1 &&
		t_count(p->host, RTE_COMCH_EVENT_MSG, p->cconn) == 1);
}

void
v_open(struct victim *v, const struct t_pair_conf *conf)
{
	const struct t_flow_conf fc = { 0 };
	struct t_pair_conf c = { 0 };

	memset(v, 0, sizeof(*v));
	if (conf != NULL)
		c = *conf;
	c.name = V_NAME;
	t_pair_open(&v->p, &c);
	t_flow_open(&v->flow, &v->p, &fc);
	v->canary = malloc(CANARY_LEN);
	T_CHECK(v->canary != NULL);
	t_fill(v->canary, CANARY_LEN, CANARY_SEED);
	t_fill(v->flow.dst.addr, v->flow.dst.len, CANARY_SEED);
	exchange(&v->p);
	t_settle();
	/* Not those that another thread is about to close. */
	v->nb_fds = t_figures_least().fds;
}

/* All of the honest memory but the part in use. */
static void
check_canaries(struct victim *v)
{
	uint8_t *copy;

	T_VERIFY(v->canary, CANARY_LEN, CANARY_SEED);
	copy = malloc(v->flow.dst.len);
	T_CHECK(copy != NULL);
	t_fill(copy, v->flow.dst.len, CANARY_SEED);
	T_EQ(memcmp(copy, v->flow.dst.addr, USED_OFF), 0);
	T_EQ(memcmp(copy + USED_OFF + USED_LEN, v->flow.dst.addr + USED_OFF + USED_LEN,
		v->flow.dst.len - USED_OFF - USED_LEN), 0);
	free(copy);
}

static void
check_messages(struct victim *v)
{
	const uint64_t cookie = ++v->seed;
	struct t_pair *p = &v->p;
	unsigned int before;

	before = t_count(p->dpu, RTE_COMCH_EVENT_MSG, p->sconn);
	T_UNTIL(t_offer(p->cconn, &cookie, sizeof(cookie), cookie, 0));
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_MSG, p->sconn) == before + 1);
	T_EQ(memcmp(t_find(p->dpu, RTE_COMCH_EVENT_MSG, p->sconn, before)->data, &cookie,
		sizeof(cookie)), 0);
	before = t_count(p->host, RTE_COMCH_EVENT_MSG, p->cconn);
	T_UNTIL(t_offer(p->sconn, &cookie, sizeof(cookie), cookie, 0));
	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_MSG, p->cconn) == before + 1);
}

void
v_check(struct victim *v)
{
	struct rte_comch_cpl in, out;
	struct t_flow *f = &v->flow;
	uint32_t len;

	check_messages(v);
	len = (uint32_t)(1 + v->seed * 7919 % USED_LEN);
	t_fill(f->src.addr, len, v->seed);
	T_EQ(t_post(f, USED_OFF, len, v->seed), 1);
	T_UNTIL(t_put(f, 0, len, v->seed) == 1);
	t_recv(f->cons, &in);
	t_done(f->prod, &out);
	T_EQ(in.status, 0);
	T_EQ(in.len, len);
	T_EQ(in.cookie, v->seed);
	T_EQ(out.status, 0);
	T_VERIFY(f->dst.addr + USED_OFF, len, v->seed);
	check_canaries(v);
}

void
v_close(struct victim *v)
{
	v_check(v);
	T_UNTIL(rte_comch_server_nb_conns(v->p.server) == 1);
	t_settle();
	/* Some are closed by another thread. */
	T_UNTIL(t_fd_count() == v->nb_fds);
	t_flow_close(&v->flow);
	free(v->canary);
	t_pair_close(&v->p);
}

int
v_dial(void)
{
	int sock = raw_dial(t_dir(), "pf0", V_NAME);

	T_GE(sock, 0);
	return sock;
}

void
v_link(struct raw_peer *a, uint32_t cells)
{
	raw_open(a, v_dial(), cells);
	T_UNTIL(raw_is_up(a));
}

void
v_hear(struct raw_peer *a, struct raw_frame *f, uint32_t type)
{
	do {
		T_UNTIL(raw_recv(a, f));
		if (f->type != type)
			raw_frame_free(f);
	} while (f->type != type);
}

int32_t
v_hear_status(struct raw_peer *a, uint32_t type)
{
	struct raw_frame f;
	int32_t status;

	v_hear(a, &f, type);
	memcpy(&status, f.body + 4, sizeof(status));
	raw_frame_free(&f);
	return status;
}

void
v_clog(struct victim *v, struct raw_peer *a, unsigned int extra)
{
	struct raw_mem m;
	unsigned int i;

	a->mute = true;
	raw_mem_new(&m, 4096, MFD_ALLOW_SEALING, 0);
	for (i = 0; i < 256 + extra; i++) {
		raw_send_mr_add(a, 0, 0, 4096, m.fd);
		t_steps(v->p.dpu, 3);
	}
	raw_mem_free(&m);
}

struct rte_comch_conn *
v_connect_cells(struct victim *v, struct raw_peer *a, uint32_t cells)
{
	unsigned int before = t_count(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL);
	struct raw_frame f;

	v_link(a, cells);
	raw_send_hello(a, V_NAME, 4080, 64);
	v_hear(a, &f, COMCH_WIRE_ACCEPT);
	T_UNTIL(t_count(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) > before);
	return t_find(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, before)->e.conn;
}

struct rte_comch_conn *
v_connect(struct victim *v, struct raw_peer *a)
{
	return v_connect_cells(v, a, RAW_CELLS);
}

const struct t_ev *
v_expect_down(struct victim *v, const struct rte_comch_conn *conn)
{
	const struct t_ev *ev;

	T_UNTIL(t_count(v->p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) > 0);
	ev = t_find(v->p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn, 0);
	T_LT(ev->e.status, 0);
	T_GE(strlen(ev->text), 5);
	/* The honest one is not concerned. */
	t_no_end(v->p.dpu, v->p.sconn);
	return ev;
}

void
v_expect_end(struct victim *v, const struct rte_comch_conn *conn)
{
	T_EQ(v_expect_down(v, conn)->e.status, -EPROTO);
}

void
v_expect_hangup(struct raw_peer *a)
{
	uint64_t begin = t_now_ms();

	T_UNTIL(raw_is_hung_up(a));
	/* At once, not because the handshake took too long. */
	T_TIME_LE(t_now_ms() - begin, 5000);
}

void
v_expect_alive(struct victim *v, struct raw_peer *a, const struct rte_comch_conn *conn)
{
	unsigned int before = t_count(v->p.dpu, RTE_COMCH_EVENT_MSG, conn);

	t_settle();
	t_no_end(v->p.dpu, conn);
	raw_send_msg(a, "still here", 10);
	T_UNTIL(t_count(v->p.dpu, RTE_COMCH_EVENT_MSG, conn) == before + 1);
}

void
v_run(struct victim *v)
{
	runs_step(&v->runs, v->p.dpu);
}

void
v_trip(struct victim *v)
{
	unsigned int before = v->p.dpu->nb_of[RTE_COMCH_EVENT_MSG], runs = 0;
	const uint64_t end = t_deadline();

	t_send(v->p.cconn, "trip", 4, 0);
	while (v->p.dpu->nb_of[RTE_COMCH_EVENT_MSG] == before) {
		v_run(v);
		runs++;
		T_LT(t_now_ms(), end);
	}
	v->longest_trip = RTE_MAX(v->longest_trip, runs);
	t_step(v->p.host);
	t_forget(v->p.host);
}

void
v_check_runs(struct victim *v)
{
	T_LE(v->longest_trip, V_MAX_TRIP_RUNS);
	runs_check(&v->runs);
}

static void *
thread_main(void *arg)
{
	struct v_thread *t = arg;

	while (__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE) == 0)
		t->fn(t->arg);
	return NULL;
}

void
v_thread_start(struct v_thread *t, void (*fn)(void *arg), void *arg)
{
	*t = (struct v_thread){ .fn = fn, .arg = arg };
	T_EQ(pthread_create(&t->id, NULL, thread_main, t), 0);
}

void
v_thread_stop(struct v_thread *t)
{
	__atomic_store_n(&t->stop, 1, __ATOMIC_RELEASE);
	T_EQ(pthread_join(t->id, NULL), 0);
}
