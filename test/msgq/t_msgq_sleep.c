/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * MsgQ: sleepers are woken. Each side sleeps until it is woken, tens of thousands
 * of times: a lost wake-up hangs the test.
 */

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

#include <rte_comch_poll.h>

#include "u_msgq.h"

static uint64_t
rounds(void)
{
	return t_sanitized() ? 3000 : 30000;
}

static void
post(void *arg)
{
	sem_post(arg);
}

static void
wait_for(sem_t *sem)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += T_TIMEOUT_MS / 1000;
	while (sem_timedwait(sem, &ts) != 0)
		if (errno != EINTR)
			T_FAIL("this side was not woken: %s", strerror(errno));
}

struct side {
	struct u_pair *u;
	struct rte_comch_msgq_cq *cq;
	sem_t *sem;
	uint64_t n;
};

/* Send all, asleep while there is no credit. */
static void *
send_all(void *arg)
{
	struct side *s = arg;
	struct rte_comch_cpl cpl[8];
	uint64_t i = 0;

	while (i < s->n) {
		while (rte_comch_msgq_done_burst(s->u->p, cpl, RTE_DIM(cpl)) > 0)
			;
		if (u_send_u64(s->u->p, 1, i) == 1)
			i++;
		else if (rte_comch_msgq_producer_arm(s->u->p) == 0)
			wait_for(s->sem);
	}
	return NULL;
}

static uint16_t
recv_some(struct side *s, struct rte_comch_cpl *cpl, uint16_t n)
{
	return s->cq != NULL ? rte_comch_msgq_cq_recv_burst(s->cq, cpl, n) :
		rte_comch_msgq_recv_burst(s->u->c, cpl, n);
}

static void
recv_all(struct side *s)
{
	struct rte_comch_cpl cpl[4];
	uint64_t got = 0;
	uint16_t i, n;

	T_EQ(rte_comch_msgq_credit(s->u->c, 2), 2);
	while (got < s->n) {
		n = recv_some(s, cpl, RTE_DIM(cpl));
		for (i = 0; i < n; i++, got++)
			T_EQ(u_imm_u64(&cpl[i]), got);
		if (n > 0)
			T_EQ(rte_comch_msgq_credit(s->u->c, n), n);
		else if ((s->cq != NULL ? rte_comch_msgq_cq_arm(s->cq) :
				rte_comch_msgq_consumer_arm(s->u->c)) == 0)
			wait_for(s->sem);
	}
}

static void
both_sleep(bool with_cq)
{
	sem_t sems[2];
	struct rte_comch_msgq_producer_conf p_conf = {
		.conf_size = sizeof(p_conf), .notify = post, .notify_arg = &sems[0],
	};
	struct rte_comch_msgq_consumer_conf c_conf = {
		.conf_size = sizeof(c_conf), .queue_size = 2,
	};
	struct rte_comch_msgq_cq_conf q_conf = {
		.conf_size = sizeof(q_conf), .notify = post, .notify_arg = &sems[1],
	};
	struct side tx, rx;
	struct rte_comch_consumer_stats cs;
	struct rte_comch_producer_stats ps;
	pthread_t thread;
	struct u_pair u;

	t_eal_start(1);
	sem_init(&sems[0], 0, 0);
	sem_init(&sems[1], 0, 0);
	if (with_cq) {
		c_conf.cq = rte_comch_msgq_cq_create(&q_conf);
		T_CHECK(c_conf.cq != NULL);
	} else {
		c_conf.notify = post;
		c_conf.notify_arg = &sems[1];
	}
	u_open(&u, &p_conf, &c_conf);
	tx = (struct side){ .u = &u, .sem = &sems[0], .n = rounds() };
	rx = (struct side){ .u = &u, .cq = c_conf.cq, .sem = &sems[1], .n = rounds() };
	T_EQ(pthread_create(&thread, NULL, send_all, &tx), 0);
	recv_all(&rx);
	pthread_join(thread, NULL);
	rte_comch_msgq_consumer_stats_get(u.c, &cs);
	rte_comch_msgq_producer_stats_get(u.p, &ps);
	T_GT(cs.wakes + ps.wakes, 0);
	u_close(&u);
	if (with_cq)
		T_EQ(rte_comch_msgq_cq_destroy(c_conf.cq), 0);
	t_eal_stop();
}

static void
by_function(void)
{
	both_sleep(false);
}

static void
by_function_of_a_queue(void)
{
	both_sleep(true);
}

/* Armed with something there: said at once, and again nothing is missed. */
static void
arm_says_again(void)
{
	sem_t sem;
	struct rte_comch_msgq_consumer_conf c_conf = {
		.conf_size = sizeof(c_conf), .notify = post, .notify_arg = &sem,
	};
	struct rte_comch_msgq_producer_conf p_conf = {
		.conf_size = sizeof(p_conf), .notify = post, .notify_arg = &sem,
	};
	struct rte_comch_cpl cpl;
	struct u_pair u;
	int val;

	t_eal_start(1);
	sem_init(&sem, 0, 0);
	u_open(&u, &p_conf, &c_conf);
	/* No burst was short, so the producer does not wait for credit. */
	T_EQ(rte_comch_msgq_producer_arm(u.p), 0);
	T_EQ(u_send_u64(u.p, 1, 1), 0);
	T_EQ(rte_comch_msgq_producer_arm(u.p), 0);
	T_EQ(rte_comch_msgq_credit(u.c, 1), 1);
	sem_getvalue(&sem, &val);
	T_EQ(val, 1);
	T_EQ(rte_comch_msgq_producer_arm(u.p), -EAGAIN);
	T_EQ(u_send_u64(u.p, 1, 1), 1);
	T_EQ(rte_comch_msgq_done_burst(u.p, &cpl, 1), 1);
	T_EQ(rte_comch_msgq_consumer_arm(u.c), -EAGAIN);
	T_EQ(rte_comch_msgq_recv_burst(u.c, &cpl, 1), 1);
	T_EQ(rte_comch_msgq_consumer_arm(u.c), 0);
	/* Once for each arm. */
	T_EQ(rte_comch_msgq_credit(u.c, 2), 2);
	T_EQ(u_send_u64(u.p, 1, 1), 1);
	T_EQ(u_send_u64(u.p, 1, 1), 1);
	sem_getvalue(&sem, &val);
	T_EQ(val, 2);
	/* A consumer that goes is something to look at, too. */
	T_EQ(rte_comch_msgq_done_burst(u.p, &cpl, 1), 1);
	T_EQ(rte_comch_msgq_done_burst(u.p, &cpl, 1), 1);
	T_EQ(u_send_u64(u.p, 1, 1), 0);
	T_EQ(rte_comch_msgq_producer_arm(u.p), 0);
	T_EQ(rte_comch_msgq_consumer_stop(u.c), -EINPROGRESS);
	sem_getvalue(&sem, &val);
	T_EQ(val, 3);
	while (rte_comch_msgq_consumer_state(u.c) != RTE_COMCH_STATE_IDLE)
		rte_comch_msgq_recv_burst(u.c, &cpl, 1);
	T_EQ(rte_comch_msgq_consumer_destroy(u.c), 0);
	T_EQ(rte_comch_msgq_producer_destroy(u.p), 0);
	T_EQ(rte_comch_msgq_destroy(u.q), 0);
	t_eal_stop();
}

/* Credit of one consumer does not wake a producer that waits for another's. */
static void
of_another_consumer(void)
{
	sem_t sem;
	struct rte_comch_msgq_producer_conf p_conf = {
		.conf_size = sizeof(p_conf), .notify = post, .notify_arg = &sem,
	};
	struct rte_comch_msgq_consumer *c2;
	struct rte_comch_cpl cpl;
	struct u_pair u;
	int val;

	t_eal_start(1);
	sem_init(&sem, 0, 0);
	u_open(&u, &p_conf, NULL);
	c2 = rte_comch_msgq_consumer_create(u.q, NULL);
	T_EQ(u_send_u64(u.p, 2, 1), 0);
	T_EQ(rte_comch_msgq_producer_arm(u.p), 0);
	T_EQ(rte_comch_msgq_credit(u.c, 1), 1);
	sem_getvalue(&sem, &val);
	T_EQ(val, 0);
	T_EQ(rte_comch_msgq_credit(c2, 1), 1);
	sem_getvalue(&sem, &val);
	T_EQ(val, 1);
	/* Reported once to a producer that stopped sending. */
	T_EQ(rte_comch_msgq_producer_arm(u.p), -EAGAIN);
	T_EQ(rte_comch_msgq_producer_arm(u.p), 0);
	/* And a send that goes leaves nothing to wait for. */
	T_EQ(u_send_u64(u.p, 2, 1), 1);
	T_EQ(u_send_u64(u.p, 2, 1), 0);
	T_EQ(rte_comch_msgq_credit(c2, 1), 1);
	T_EQ(u_send_u64(u.p, 2, 1), 1);
	while (rte_comch_msgq_done_burst(u.p, &cpl, 1) == 1)
		;
	T_EQ(rte_comch_msgq_credit(c2, 1), 1);
	T_EQ(rte_comch_msgq_producer_arm(u.p), 0);
	while (rte_comch_msgq_recv_burst(c2, &cpl, 1) == 1)
		;
	u_close_consumer(c2);
	u_close(&u);
	t_eal_stop();
}

/* A consumer that is stopped has credits to return: no time to sleep. */
static void
while_it_stops(void)
{
	sem_t sem;
	struct rte_comch_msgq_consumer_conf c_conf = {
		.conf_size = sizeof(c_conf), .notify = post, .notify_arg = &sem,
	};
	struct u_pair u;

	t_eal_start(1);
	sem_init(&sem, 0, 0);
	u_open(&u, NULL, &c_conf);
	T_EQ(rte_comch_msgq_credit(u.c, 2), 2);
	T_EQ(rte_comch_msgq_consumer_arm(u.c), 0);
	T_EQ(rte_comch_msgq_consumer_stop(u.c), -EINPROGRESS);
	T_EQ(rte_comch_msgq_consumer_arm(u.c), -EAGAIN);
	while (rte_comch_msgq_consumer_state(u.c) != RTE_COMCH_STATE_IDLE) {
		struct rte_comch_cpl cpl;

		T_EQ(rte_comch_msgq_recv_burst(u.c, &cpl, 1), 1);
	}
	T_EQ(rte_comch_msgq_consumer_destroy(u.c), 0);
	T_EQ(rte_comch_msgq_producer_destroy(u.p), 0);
	T_EQ(rte_comch_msgq_destroy(u.q), 0);
	t_eal_stop();
}

/* An end that comes to a poll which sleeps already. */
static void
on_a_poll_asleep(void)
{
	struct rte_comch_msgq_consumer_conf c_conf = { .conf_size = sizeof(c_conf) };
	struct rte_comch_event ev[4];
	struct u_pair u;
	int fd;

	t_eal_start(1);
	c_conf.poll = rte_comch_poll_create(NULL);
	fd = rte_comch_poll_fd(c_conf.poll, RTE_COMCH_POLL_ANY);
	rte_comch_poll_run(c_conf.poll, ev, RTE_DIM(ev));
	T_EQ(rte_comch_poll_arm(c_conf.poll, RTE_COMCH_POLL_ANY), 0);
	T_CHECK(!t_readable(fd, 0));
	u_open(&u, NULL, &c_conf);
	/* It may sleep again, and then is woken by a message. */
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	rte_comch_poll_run(c_conf.poll, ev, RTE_DIM(ev));
	T_EQ(rte_comch_msgq_credit(u.c, 1), 1);
	T_EQ(rte_comch_poll_arm(c_conf.poll, RTE_COMCH_POLL_ANY), 0);
	T_CHECK(!t_readable(fd, 0));
	T_EQ(u_send_u64(u.p, 1, 1), 1);
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	u_close(&u);
	T_EQ(rte_comch_poll_destroy(c_conf.poll), 0);
	t_eal_stop();
}

/* The same with polls, as programs of the rest of comch sleep. */

struct poller {
	struct u_pair *u;
	struct rte_comch_poll *poll;
	uint64_t n;
};

static void
sleep_on(struct rte_comch_poll *poll)
{
	struct rte_comch_event ev[4];

	rte_comch_poll_run(poll, ev, RTE_DIM(ev));
	if (rte_comch_poll_arm(poll, RTE_COMCH_POLL_ANY) == 0)
		T_CHECK(t_readable(rte_comch_poll_fd(poll, RTE_COMCH_POLL_ANY), T_TIMEOUT_MS));
}

static void *
send_polling(void *arg)
{
	struct poller *s = arg;
	struct rte_comch_cpl cpl[8];
	uint64_t i = 0;

	while (i < s->n) {
		while (rte_comch_msgq_done_burst(s->u->p, cpl, RTE_DIM(cpl)) > 0)
			;
		if (u_send_u64(s->u->p, 1, i) == 1)
			i++;
		else
			sleep_on(s->poll);
	}
	return NULL;
}

static void
by_poll(void)
{
	struct rte_comch_msgq_producer_conf p_conf = { .conf_size = sizeof(p_conf) };
	struct rte_comch_msgq_consumer_conf c_conf = {
		.conf_size = sizeof(c_conf), .queue_size = 2,
	};
	struct poller tx;
	struct rte_comch_cpl cpl[4];
	uint64_t got = 0;
	pthread_t thread;
	struct u_pair u;
	uint16_t i, n;

	t_eal_start(1);
	p_conf.poll = rte_comch_poll_create(NULL);
	c_conf.poll = rte_comch_poll_create(NULL);
	u_open(&u, &p_conf, &c_conf);
	T_EQ(rte_comch_poll_destroy(c_conf.poll), -EBUSY);
	T_EQ(rte_comch_msgq_consumer_arm(u.c), -EINVAL);
	tx = (struct poller){ .u = &u, .poll = p_conf.poll, .n = rounds() };
	T_EQ(pthread_create(&thread, NULL, send_polling, &tx), 0);
	T_EQ(rte_comch_msgq_credit(u.c, 2), 2);
	while (got < tx.n) {
		n = rte_comch_msgq_recv_burst(u.c, cpl, RTE_DIM(cpl));
		for (i = 0; i < n; i++, got++)
			T_EQ(u_imm_u64(&cpl[i]), got);
		if (n > 0)
			T_EQ(rte_comch_msgq_credit(u.c, n), n);
		else
			sleep_on(c_conf.poll);
	}
	pthread_join(thread, NULL);
	u_close(&u);
	T_EQ(rte_comch_poll_destroy(p_conf.poll), 0);
	T_EQ(rte_comch_poll_destroy(c_conf.poll), 0);
	t_eal_stop();
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "by_function", by_function },
		{ "by_function_of_a_queue", by_function_of_a_queue },
		{ "arm_says_again", arm_says_again },
		{ "of_another_consumer", of_another_consumer },
		{ "while_it_stops", while_it_stops },
		{ "on_a_poll_asleep", on_a_poll_asleep },
		{ "by_poll", by_poll },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
