/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * MsgQ between threads: nothing lost, nothing twice, the messages of each
 * producer in order; consumers that come and go under senders.
 */

#include <pthread.h>
#include <sched.h>

#include "u_msgq.h"

#define NB_PRODUCERS 3
#define BURST 8

struct sender {
	struct rte_comch_msgq_producer *p;
	uint64_t n;
	uint32_t nb_consumers;
	uint64_t sent[4];    /* by consumer */
	uint64_t refused;
	bool *stop;
};

/* number of the producer << 48 | number of the message to that consumer */
static uint64_t
mark(uint32_t producer, uint64_t seq)
{
	return (uint64_t)producer << 48 | seq;
}

static void
take_done(struct sender *s)
{
	struct rte_comch_cpl cpl[32];
	uint16_t i, n = rte_comch_msgq_done_burst(s->p, cpl, RTE_DIM(cpl));

	for (i = 0; i < n; i++) {
		if (cpl[i].status == 0)
			continue;
		T_EQ(cpl[i].status, -ENOENT);
		s->refused++;
	}
}

/* Bursts of a length that changes, each to one consumer after the other. */
static void *
send_bursts(void *arg)
{
	struct sender *s = arg;
	uint32_t id = rte_comch_msgq_producer_id(s->p);
	struct rte_comch_op ops[BURST] = { { .cookie = 0 } };
	uint64_t imm[BURST], total = 0;
	uint16_t i, n, k, done;
	uint32_t to = 0;

	while (total < s->n) {
		n = (uint16_t)RTE_MIN(1 + total % BURST, s->n - total);
		for (i = 0; i < n; i++) {
			imm[i] = mark(id, s->sent[to] + i);
			ops[i] = (struct rte_comch_op){ .consumer_id = to + 1, .imm = &imm[i],
				.imm_len = sizeof(imm[i]) };
		}
		for (done = 0; done < n; done += k) {
			k = rte_comch_msgq_send_burst(s->p, &ops[done], (uint16_t)(n - done));
			take_done(s);
			if (k == 0)
				sched_yield();
		}
		s->sent[to] += n;
		total += n;
		to = (to + 1) % s->nb_consumers;
	}
	return NULL;
}

struct expect {
	uint64_t next[NB_PRODUCERS];
	uint64_t got;
};

static void
check_order(struct expect *e, const struct rte_comch_cpl *cpl)
{
	uint64_t val = u_imm_u64(cpl);
	uint32_t producer = (uint32_t)(val >> 48);

	T_EQ(producer, cpl->peer_id);
	T_CHECK(producer >= 1 && producer <= NB_PRODUCERS);
	T_SEQ(val, mark(producer, e->next[producer - 1]));
	e->next[producer - 1]++;
	e->got++;
}

/* Several producers, one or two consumers, each with its own queue or one for all. */
static void
many_to_few(uint32_t nb_consumers, bool with_cq)
{
	struct rte_comch_msgq_cq_conf q_conf = { .conf_size = sizeof(q_conf), .size = 32 };
	struct rte_comch_msgq_consumer_conf c_conf = {
		.conf_size = sizeof(c_conf), .queue_size = 16,
	};
	const uint64_t n = t_sanitized() ? 20000 : 300000;
	struct rte_comch_msgq_consumer *c[2];
	struct sender s[NB_PRODUCERS] = { { .n = n, .nb_consumers = nb_consumers } };
	struct expect e[2] = { { .got = 0 } };
	pthread_t threads[NB_PRODUCERS];
	struct rte_comch_cpl cpl[BURST];
	struct rte_comch_msgq *q;
	uint32_t i, k, from;
	uint16_t got;

	t_eal_start(1);
	q = rte_comch_msgq_create(NULL);
	c_conf.cq = with_cq ? rte_comch_msgq_cq_create(&q_conf) : NULL;
	for (i = 0; i < nb_consumers; i++) {
		c_conf.user_data = i;
		c[i] = rte_comch_msgq_consumer_create(q, &c_conf);
		T_EQ(rte_comch_msgq_credit(c[i], 16), 16);
	}
	for (i = 0; i < NB_PRODUCERS; i++) {
		s[i] = s[0];
		s[i].p = rte_comch_msgq_producer_create(q, NULL);
	}
	for (i = 0; i < NB_PRODUCERS; i++)
		T_EQ(pthread_create(&threads[i], NULL, send_bursts, &s[i]), 0);
	while (e[0].got + e[1].got < NB_PRODUCERS * n) {
		for (from = 0; from < (with_cq ? 1 : nb_consumers); from++) {
			got = with_cq ? rte_comch_msgq_cq_recv_burst(c_conf.cq, cpl, BURST) :
				rte_comch_msgq_recv_burst(c[from], cpl, BURST);
			for (k = 0; k < got; k++) {
				check_order(&e[cpl[k].user_data], &cpl[k]);
				T_EQ(rte_comch_msgq_credit(c[cpl[k].user_data], 1), 1);
			}
			if (got == 0)
				sched_yield();
		}
	}
	for (i = 0; i < NB_PRODUCERS; i++) {
		pthread_join(threads[i], NULL);
		T_EQ(s[i].refused, 0);
		T_EQ(rte_comch_msgq_producer_destroy(s[i].p), 0);
	}
	for (i = 0; i < nb_consumers; i++)
		u_close_consumer(c[i]);
	T_EQ(rte_comch_msgq_destroy(q), 0);
	if (with_cq)
		T_EQ(rte_comch_msgq_cq_destroy(c_conf.cq), 0);
	t_eal_stop();
}

static void
many_to_one(void)
{
	many_to_few(1, false);
}

static void
many_to_two(void)
{
	many_to_few(2, false);
}

static void
many_to_two_with_a_queue(void)
{
	many_to_few(2, true);
}

static void *
send_until_told(void *arg)
{
	struct sender *s = arg;

	while (!__atomic_load_n(s->stop, __ATOMIC_RELAXED)) {
		s->n += u_send_u64(s->p, 1, mark(rte_comch_msgq_producer_id(s->p), s->n));
		take_done(s);
	}
	return NULL;
}

/*
 * Consumers stop and go while two threads send to them: each message that was
 * taken has arrived or came back, and none arrives at a later consumer.
 */
static void
consumers_come_and_go(void)
{
	const int rounds = t_sanitized() ? 200 : 2000;
	struct sender s[2] = { { .n = 0 } };
	struct rte_comch_msgq_consumer *c;
	struct rte_comch_cpl cpl[BURST];
	uint64_t taken, arrived = 0;
	pthread_t threads[2];
	struct rte_comch_msgq *q;
	bool stop = false;
	uint16_t i, k, n;
	int round;

	t_eal_start(1);
	q = rte_comch_msgq_create(NULL);
	for (i = 0; i < 2; i++) {
		s[i].p = rte_comch_msgq_producer_create(q, NULL);
		s[i].stop = &stop;
		T_EQ(pthread_create(&threads[i], NULL, send_until_told, &s[i]), 0);
	}
	for (round = 0; round < rounds; round++) {
		c = rte_comch_msgq_consumer_create(q, NULL);
		T_EQ(rte_comch_msgq_consumer_id(c), 1);
		rte_comch_msgq_credit(c, (uint32_t)(1 + round % 7));
		for (k = 0; k < round % 50; k++) {
			n = rte_comch_msgq_recv_burst(c, cpl, BURST);
			arrived += n;
			rte_comch_msgq_credit(c, n);
		}
		rte_comch_msgq_consumer_stop(c);
		while (rte_comch_msgq_consumer_state(c) != RTE_COMCH_STATE_IDLE) {
			n = rte_comch_msgq_recv_burst(c, cpl, BURST);
			for (k = 0; k < n; k++)
				arrived += cpl[k].status == 0;
		}
		T_EQ(rte_comch_msgq_consumer_destroy(c), 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	taken = 0;
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		take_done(&s[i]);
		taken += s[i].n - s[i].refused;
		T_EQ(rte_comch_msgq_producer_destroy(s[i].p), 0);
	}
	T_EQ(arrived, taken);
	T_EQ(rte_comch_msgq_destroy(q), 0);
	t_eal_stop();
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "many_to_one", many_to_one },
		{ "many_to_two", many_to_two },
		{ "many_to_two_with_a_queue", many_to_two_with_a_queue },
		{ "consumers_come_and_go", consumers_come_and_go },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
