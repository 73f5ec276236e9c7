/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Both ends of a channel as threads over one mapping: order and contents,
 * direct and staged, one producer and several, and stops under fire. Meant
 * for TSan, which takes two mappings of one file for two memories.
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "t_main.h"
#include "u_chan.h"

#define DEPTH 64
#define BURST 16
#define BUF_SIZE 512
#define CELL 1024
#define RUN_MS 1200

struct sender {
	struct u_chan *u;
	struct comch_chan_prod *p;
	uint64_t sent;
	uint64_t done;
	uint32_t max_len;
	uint32_t nb_enoent;
};

static uint32_t stop;
/* Messages below this number of each producer have their contents checked. */
static uint64_t checked;

static uint32_t
msg_len(uint64_t n, uint32_t max)
{
	return (uint32_t)(n * 13 % (max + 1));
}

/* The first bytes name the message; the rest is a piece of src. */
static uint32_t
msg_from(uint64_t n, uint32_t id)
{
	return (uint32_t)((n * 31 + id) % 499);
}

static void
take_done(struct sender *s)
{
	struct rte_comch_cpl cpls[BURST];
	uint16_t i, k;

	k = comch_chan_done(s->p, cpls, BURST);
	for (i = 0; i < k; i++) {
		T_EQ(cpls[i].cookie, s->done);
		s->done++;
		if (cpls[i].status == -ENOENT)
			s->nb_enoent++;
		else
			T_EQ(cpls[i].status, 0);
	}
}

static void *
send_loop(void *arg)
{
	struct rte_comch_op ops[BURST];
	uint64_t number[BURST];
	struct sender *s = arg;
	uint16_t i, n, k;

	while (comch_load_relaxed(&stop) == 0) {
		n = (uint16_t)(s->sent % BURST + 1);
		for (i = 0; i < n; i++) {
			number[i] = s->sent + i;
			ops[i] = u_op(s->u, msg_from(number[i], s->p->tx.id),
				msg_len(number[i], s->max_len), number[i]);
			ops[i].imm = &number[i];
			ops[i].imm_len = number[i] % 3 == 0 ? sizeof(uint64_t) : 0;
		}
		k = comch_chan_send(s->p, ops, n);
		s->sent += k;
		take_done(s);
		if (k == 0)
			sched_yield();
	}
	/* What streams comes to its end, or is given up. */
	comch_chan_prod_abort(s->p, -ENOENT);
	return NULL;
}

static void
check_msg(struct u_chan *u, uint32_t kind, const struct rte_comch_cpl *cpl,
		uint64_t *next, uint32_t max_len)
{
	const uint8_t *buf = u->mrs.mr[kind].mr->addr + cpl->cookie % DEPTH * CELL;
	uint32_t who = cpl->peer_id - 100;
	uint64_t n, imm;

	T_LT(who, U_MAX_PRODS);
	n = next[who]++;
	T_EQ(cpl->len, msg_len(n, max_len));
	T_EQ(cpl->imm_len, n % 3 == 0 ? sizeof(uint64_t) : 0);
	if (cpl->imm_len > 0) {
		memcpy(&imm, cpl->imm, sizeof(imm));
		T_EQ(imm, n);
	}
	T_EQ(memcmp(buf, u->src.addr + msg_from(n, cpl->peer_id), cpl->len), 0);
	checked++;
}

static void
post_all(struct u_chan *u, uint32_t kind, uint64_t *cookie)
{
	while (u_post(u, kind, *cookie % DEPTH * CELL, CELL, *cookie))
		(*cookie)++;
}

static void
start(struct u_chan *u, struct sender *s, pthread_t *t, uint32_t n, uint32_t max_len)
{
	uint32_t i;

	stop = 0;
	for (i = 0; i < n; i++) {
		s[i] = (struct sender){ .u = u, .p = &u->prod[i], .max_len = max_len };
		T_EQ(pthread_create(&t[i], NULL, send_loop, &s[i]), 0);
	}
}

static void
join(pthread_t *t, uint32_t n)
{
	while (n > 0)
		pthread_join(t[--n], NULL);
}

static struct u_chan *
make(uint32_t nb_prods)
{
	return u_chan_create(&(struct u_conf){
		.depth = DEPTH, .staging_size = 4096, .nb_prods = nb_prods,
		.mem_size = DEPTH * CELL * 2, .timeout_cycles = UINT64_MAX / 4,
	});
}

static void
run(uint32_t nb_prods, uint32_t kind, uint32_t max_len)
{
	uint64_t next[U_MAX_PRODS] = { 0 }, cookie = 0, expect = 0, end;
	struct sender s[U_MAX_PRODS];
	struct rte_comch_cpl cpls[BURST];
	struct u_chan *u = make(nb_prods);
	pthread_t t[U_MAX_PRODS];
	uint16_t i, k;

	checked = 0;
	start(u, s, t, nb_prods, max_len);
	for (end = t_now_ms() + RUN_MS; t_now_ms() < end; ) {
		post_all(u, kind, &cookie);
		k = comch_chan_recv(&u->c, cpls, (uint16_t)(expect % BURST + 1));
		for (i = 0; i < k; i++) {
			T_EQ(cpls[i].status, 0);
			T_EQ(cpls[i].cookie, expect);
			expect++;
			check_msg(u, kind, &cpls[i], next, max_len);
		}
		if (k == 0)
			sched_yield();
	}
	comch_store_relaxed(&stop, 1);
	join(t, nb_prods);
	T_EQ(u->cons_faults + u->prod_faults, 0);
	printf("   %llu messages\n", (unsigned long long)checked);
	T_GT(checked, 0);
	u_chan_free(u);
}

static void
one_direct(void)
{
	run(1, U_MR_DIRECT, BUF_SIZE);
}

static void
four_direct(void)
{
	run(4, U_MR_DIRECT, BUF_SIZE);
}

static void
one_staged(void)
{
	run(1, U_MR_STAGED, BUF_SIZE);
}

static void
four_staged(void)
{
	run(4, U_MR_STAGED, BUF_SIZE);
}

/* A consumer stops, frees its regions, and starts again, while all send. */
static uint32_t
stop_once(struct u_chan *u, uint32_t kind, uint32_t work)
{
	uint64_t cookie = 0, back = 0;
	struct rte_comch_cpl cpls[BURST];
	uint32_t flushed = 0;
	uint16_t i, k;

	post_all(u, kind, &cookie);
	while (back < cookie) {
		if (back >= work)
			comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
		else
			post_all(u, kind, &cookie);
		k = comch_chan_recv(&u->c, cpls, BURST);
		for (i = 0; i < k; i++) {
			T_EQ(cpls[i].cookie, back);
			back++;
			if (cpls[i].status != 0) {
				T_EQ(cpls[i].status, -ECANCELED);
				flushed++;
			}
		}
		if (k == 0)
			sched_yield();
	}
	/* Ours again: a late write of payload races with this. */
	memset(u->mrs.mr[kind].mr->addr, 0xaa, DEPTH * CELL);
	return flushed;
}

static void
stop_under_fire(uint32_t kind)
{
	struct sender s[4];
	pthread_t t[4];
	uint32_t rounds = 0, flushed = 0;
	struct u_chan *u;
	uint64_t end;

	for (end = t_now_ms() + RUN_MS; t_now_ms() < end; rounds++) {
		u = make(2);
		start(u, s, t, 2, BUF_SIZE);
		flushed += stop_once(u, kind, rounds * 7 % 500);
		comch_store_relaxed(&stop, 1);
		join(t, 2);
		T_EQ(u->cons_faults + u->prod_faults, 0);
		u_chan_free(u);
	}
	printf("   %u stops, %u buffers flushed\n", rounds, flushed);
	T_GT(rounds, 1);
}

static void
stop_direct(void)
{
	stop_under_fire(U_MR_DIRECT);
}

static void
stop_staged(void)
{
	stop_under_fire(U_MR_STAGED);
}

/*
 * Honest buffers of very different sizes and places. A producer that is held
 * up within a descriptor, while another one takes that position and the
 * consumer posts again, must not take what it saw for a lie. The page that the
 * descriptor's second word lies in faults once.
 */
static struct u_chan *torn;
static uint8_t *torn_page;
static long page_size;

static void
on_fault(int sig)
{
	struct rte_comch_op op = u_op(torn, 0, 8, 1);
	struct rte_comch_cpl cpl;

	RTE_SET_USED(sig);
	if (mprotect(torn_page, (size_t)page_size, PROT_READ | PROT_WRITE) != 0)
		_exit(2);
	T_EQ(comch_chan_send(&torn->prod[1], &op, 1), 1);
	T_CHECK(u_recv(torn, &cpl));
	T_CHECK(u_post(torn, U_MR_DIRECT, 0, 4096, 2));
}

static void
torn_descriptor(void)
{
	struct sigaction sa = { .sa_handler = on_fault };
	struct u_chan *u = u_chan_create(&(struct u_conf){
		.depth = 1, .nb_prods = 2, .mem_size = 4096,
	});
	struct comch_post_shared *post = u->post;
	struct rte_comch_cpl cpl;
	uint8_t *pages;

	page_size = sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, 2 * (size_t)page_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T_CHECK(pages != MAP_FAILED);
	torn = u;
	torn_page = pages + page_size;
	u->post = (struct comch_post_shared *)(torn_page -
		offsetof(struct comch_post_shared, desc[0].len));
	u->c.post = u->post;
	u->rc.to.post_shared = u->post;
	T_CHECK(u_post(u, U_MR_DIRECT, 4096 - 8, 8, 1));
	T_EQ(sigaction(SIGSEGV, &sa, NULL), 0);
	T_EQ(mprotect(torn_page, (size_t)page_size, PROT_NONE), 0);
	T_EQ(u_send(u, 0, 8, 2), 1);
	T_EQ(u->prod_faults, 0);
	T_EQ(u_done_status(u), 0);
	T_CHECK(u_recv(u, &cpl));
	T_EQ(cpl.cookie, 2);
	u->post = post;
	u_chan_free(u);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "one_direct", one_direct },
		{ "four_direct", four_direct },
		{ "one_staged", one_staged },
		{ "four_staged", four_staged },
		{ "stop_direct", stop_direct },
		{ "stop_staged", stop_staged },
		{ "torn_descriptor", torn_descriptor },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
