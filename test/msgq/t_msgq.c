/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* MsgQ in one thread: life, ids, credits, what is refused. */

#include <sys/wait.h>
#include <unistd.h>

#include <rte_comch_poll.h>

#include "u_msgq.h"

static void
nobody(void *arg)
{
	RTE_SET_USED(arg);
	T_FAIL("unexpected notification");
}

static void
life(void)
{
	struct rte_comch_msgq_conf conf = {
		.conf_size = sizeof(conf), .name = "life", .socket_id = -1,
		.max_producers = 1, .max_consumers = 2,
	};
	struct rte_comch_msgq_consumer_conf c_conf = { .conf_size = sizeof(c_conf), .id = 2 };
	struct rte_comch_msgq_consumer *c1, *c2;
	struct rte_comch_msgq_producer *p;
	struct rte_comch_msgq *q;

	t_eal_start(1);
	q = rte_comch_msgq_create(&conf);
	T_CHECK(q != NULL);
	c2 = rte_comch_msgq_consumer_create(q, &c_conf);
	T_EQ(rte_comch_msgq_consumer_id(c2), 2);
	T_NULL_ERRNO(rte_comch_msgq_consumer_create(q, &c_conf), EEXIST);
	c_conf.id = 3;
	T_NULL_ERRNO(rte_comch_msgq_consumer_create(q, &c_conf), EINVAL);
	c1 = rte_comch_msgq_consumer_create(q, NULL);
	T_EQ(rte_comch_msgq_consumer_id(c1), 1);
	T_EQ(rte_comch_msgq_consumer_state(c1), RTE_COMCH_STATE_RUNNING);
	T_NULL_ERRNO(rte_comch_msgq_consumer_create(q, NULL), ENOSPC);
	p = rte_comch_msgq_producer_create(q, NULL);
	T_EQ(rte_comch_msgq_producer_id(p), 1);
	T_NULL_ERRNO(rte_comch_msgq_producer_create(q, NULL), ENOSPC);
	T_EQ(rte_comch_msgq_destroy(q), -EBUSY);
	T_EQ(rte_comch_msgq_consumer_destroy(c1), -EBUSY);
	T_EQ(rte_comch_msgq_consumer_stop(c1), 0);
	T_EQ(rte_comch_msgq_consumer_stop(c1), -EBADFD);
	T_EQ(rte_comch_msgq_consumer_state(c1), RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_msgq_credit(c1, 1), 0);
	T_EQ(rte_comch_msgq_consumer_destroy(c1), 0);
	/* The lowest that is free. */
	c1 = rte_comch_msgq_consumer_create(q, NULL);
	T_EQ(rte_comch_msgq_consumer_id(c1), 1);
	u_close_consumer(c1);
	u_close_consumer(c2);
	T_EQ(rte_comch_msgq_producer_destroy(p), 0);
	T_EQ(rte_comch_msgq_destroy(q), 0);
	t_eal_stop();
}

static void
bad_arguments(void)
{
	struct rte_comch_msgq_conf conf = {
		.conf_size = sizeof(conf), .max_consumers = RTE_COMCH_MSGQ_MAX_ENDS + 1,
	};
	struct rte_comch_msgq_consumer_conf c_conf = { .conf_size = sizeof(c_conf) };
	struct rte_comch_msgq_producer_conf p_conf = { .conf_size = sizeof(p_conf) };
	struct rte_comch_msgq_cq_conf q_conf = { .conf_size = sizeof(q_conf) };
	const struct rte_comch_msgq_dma dma = { .dev_id = 5 };
	struct rte_comch_poll *poll;
	struct rte_comch_msgq_cq *cq;
	struct u_pair u;

	t_eal_start(1);
	poll = rte_comch_poll_create(NULL);
	T_NULL_ERRNO(rte_comch_msgq_create(&conf), EINVAL);
	conf.conf_size = 1;
	T_NULL_ERRNO(rte_comch_msgq_create(&conf), EINVAL);
	T_NULL_ERRNO(rte_comch_msgq_consumer_create(NULL, NULL), EINVAL);
	T_NULL_ERRNO(rte_comch_msgq_producer_create(NULL, NULL), EINVAL);
	T_NULL_ERRNO(rte_comch_msgq_cq_create(NULL), EINVAL);
	q_conf.size = UINT32_C(1) << 21;
	T_NULL_ERRNO(rte_comch_msgq_cq_create(&q_conf), EINVAL);
	q_conf.size = 2;
	cq = rte_comch_msgq_cq_create(&q_conf);
	T_CHECK(cq != NULL);
	u_open(&u, NULL, NULL);
	c_conf.imm_size = RTE_COMCH_IMM_SIZE + 1;
	T_NULL_ERRNO(rte_comch_msgq_consumer_create(u.q, &c_conf), EINVAL);
	c_conf.imm_size = 0;
	c_conf.queue_size = UINT32_C(1) << 21;
	T_NULL_ERRNO(rte_comch_msgq_consumer_create(u.q, &c_conf), EINVAL);
	c_conf.queue_size = 0;
	c_conf.poll = poll;
	c_conf.cq = cq;
	T_NULL_ERRNO(rte_comch_msgq_consumer_create(u.q, &c_conf), EINVAL);
	c_conf.cq = NULL;
	c_conf.notify = nobody;
	T_NULL_ERRNO(rte_comch_msgq_consumer_create(u.q, &c_conf), EINVAL);
	p_conf.dma = &dma;
	T_NULL_ERRNO(rte_comch_msgq_producer_create(u.q, &p_conf), EINVAL);
	T_EQ(rte_comch_msgq_consumer_arm(u.c), -EINVAL);
	T_EQ(rte_comch_msgq_producer_arm(u.p), -EINVAL);
	T_EQ(rte_comch_msgq_cq_arm(cq), -EINVAL);
	u_close(&u);
	T_EQ(rte_comch_msgq_cq_destroy(cq), 0);
	T_EQ(rte_comch_poll_destroy(poll), 0);
	t_eal_stop();
}

/* A forked child has no MsgQ: it is its parent's. */
static void
forked(void)
{
	struct u_pair u;
	int status;
	pid_t pid;

	t_eal_start(1);
	u_open(&u, NULL, NULL);
	pid = fork();
	T_GE(pid, 0);
	if (pid == 0)
		_exit(rte_comch_msgq_consumer_stop(u.c) == -EBADFD &&
			rte_comch_msgq_consumer_destroy(u.c) == -EBADFD &&
			rte_comch_msgq_producer_destroy(u.p) == -EBADFD &&
			rte_comch_msgq_destroy(u.q) == -EBADFD ? 0 : 1);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	u_close(&u);
	t_eal_stop();
}

/* Calls without an object. */
static void
no_object(void)
{
	struct rte_comch_consumer_stats cs;
	struct rte_comch_producer_stats ps;
	struct rte_comch_cpl cpl;
	struct u_pair u;

	t_eal_start(1);
	u_open(&u, NULL, NULL);
	T_EQ(rte_comch_msgq_consumer_arm(NULL), -EINVAL);
	T_EQ(rte_comch_msgq_producer_arm(NULL), -EINVAL);
	T_EQ(rte_comch_msgq_cq_arm(NULL), -EINVAL);
	T_EQ(rte_comch_msgq_destroy(NULL), -EINVAL);
	T_EQ(rte_comch_msgq_cq_destroy(NULL), -EINVAL);
	T_EQ(rte_comch_msgq_consumer_destroy(NULL), -EINVAL);
	T_EQ(rte_comch_msgq_consumer_stop(NULL), -EINVAL);
	T_EQ(rte_comch_msgq_producer_destroy(NULL), -EINVAL);
	T_EQ(rte_comch_msgq_consumer_empty(NULL, 1), -EINVAL);
	T_EQ(rte_comch_msgq_consumer_stats_get(NULL, &cs), -EINVAL);
	T_EQ(rte_comch_msgq_consumer_stats_get(u.c, NULL), -EINVAL);
	T_EQ(rte_comch_msgq_producer_stats_get(NULL, &ps), -EINVAL);
	T_EQ(rte_comch_msgq_producer_stats_get(u.p, NULL), -EINVAL);
	T_EQ(rte_comch_msgq_consumer_id(NULL), 0);
	T_EQ(rte_comch_msgq_producer_id(NULL), 0);
	T_EQ(rte_comch_msgq_consumer_state(NULL), RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_msgq_send_burst(NULL, NULL, 1), 0);
	T_EQ(rte_comch_msgq_copy_burst(u.p, NULL, 1), 0);
	T_EQ(rte_comch_msgq_recv_burst(NULL, &cpl, 1), 0);
	T_EQ(rte_comch_msgq_recv_burst(u.c, NULL, 1), 0);
	T_EQ(rte_comch_msgq_cq_recv_burst(NULL, &cpl, 1), 0);
	T_EQ(rte_comch_msgq_done_burst(NULL, &cpl, 1), 0);
	T_EQ(rte_comch_msgq_post_burst(u.c, NULL, 1), 0);
	T_EQ(rte_comch_msgq_credit(NULL, 1), 0);
	u_close(&u);
	t_eal_stop();
}

/* Without credit nothing goes; with n exactly n; then none again. */
static void
credits(void)
{
	struct rte_comch_msgq_consumer_conf c_conf = {
		.conf_size = sizeof(c_conf), .queue_size = 5, .user_data = 77,
	};
	struct rte_comch_producer_stats ps;
	struct rte_comch_consumer_stats cs;
	struct rte_comch_cpl cpl[8];
	struct u_pair u;
	uint64_t i, got = 0, sent = 0;
	uint16_t n;

	t_eal_start(1);
	u_open(&u, NULL, &c_conf);
	T_EQ(rte_comch_msgq_consumer_empty(u.p, 1), 1);
	T_EQ(u_send_u64(u.p, 1, 0), 0);
	/* Five is raised to eight. */
	T_EQ(rte_comch_msgq_credit(u.c, 100), 8);
	T_EQ(rte_comch_msgq_credit(u.c, 1), 0);
	T_EQ(rte_comch_msgq_consumer_empty(u.p, 1), 0);
	for (i = 0; i < 1000; i++) {
		while (u_send_u64(u.p, 1, sent) == 1)
			sent++;
		T_EQ(rte_comch_msgq_consumer_empty(u.p, 1), 1);
		n = rte_comch_msgq_recv_burst(u.c, cpl, (uint16_t)(1 + i % RTE_DIM(cpl)));
		T_GT(n, 0);
		for (uint16_t k = 0; k < n; k++) {
			T_EQ(u_imm_u64(&cpl[k]), got++);
			T_EQ(cpl[k].peer_id, 1);
			T_EQ(cpl[k].cookie, 0);
			T_EQ(cpl[k].user_data, 77);
			T_EQ(cpl[k].status, 0);
			T_EQ(cpl[k].len, 0);
		}
		T_EQ(rte_comch_msgq_credit(u.c, n), n);
		while (rte_comch_msgq_done_burst(u.p, cpl, RTE_DIM(cpl)) > 0)
			T_EQ(cpl[0].status, 0);
	}
	rte_comch_msgq_producer_stats_get(u.p, &ps);
	rte_comch_msgq_consumer_stats_get(u.c, &cs);
	T_EQ(ps.msgs, sent);
	T_EQ(ps.imm_msgs, sent);
	T_GT(ps.later, 0);
	T_EQ(ps.errors, 0);
	T_EQ(cs.msgs, got);
	T_EQ(cs.posted, got + 8);
	u_close(&u);
	t_eal_stop();
}

/* Thirty-two bytes pass, thirty-three do not, and so with what is refused else. */
static void
what_is_refused(void)
{
	uint8_t imm[RTE_COMCH_IMM_SIZE + 1];
	const struct rte_comch_op ops[] = {
		{ .cookie = 1, .consumer_id = 1, .imm = imm, .imm_len = RTE_COMCH_IMM_SIZE },
		{ .cookie = 2, .consumer_id = 1, .imm = imm, .imm_len = RTE_COMCH_IMM_SIZE + 1 },
		{ .cookie = 3, .consumer_id = 2, .imm = imm, .imm_len = 1 },
		{ .cookie = 4, .consumer_id = 0, .imm = imm, .imm_len = 1 },
		{ .cookie = 5, .consumer_id = 1, .imm = NULL, .imm_len = 1 },
		{ .cookie = 6, .consumer_id = 1, .addr = imm, .len = 1 },
		{ .cookie = 7, .consumer_id = 1, .flags = RTE_COMCH_OP_F_SGL },
		{ .cookie = 8, .consumer_id = UINT32_MAX, .imm = imm, .imm_len = 1 },
		{ .cookie = 9, .consumer_id = 1, .imm = imm, .imm_len = 3 },
		{ .cookie = 10, .consumer_id = 1 },
	};
	static const int status[] = {
		0, -EMSGSIZE, -ENOENT, -ENOENT, -EINVAL, -EINVAL, -EINVAL, -ENOENT, 0, 0,
	};
	struct rte_comch_producer_stats ps;
	struct rte_comch_cpl cpl[16];
	struct u_pair u;
	unsigned int i;

	t_eal_start(1);
	t_fill(imm, sizeof(imm), 3);
	u_open(&u, NULL, NULL);
	T_EQ(rte_comch_msgq_credit(u.c, 16), 16);
	T_EQ(rte_comch_msgq_send_burst(u.p, ops, RTE_DIM(ops)), RTE_DIM(ops));
	T_EQ(rte_comch_msgq_done_burst(u.p, cpl, RTE_DIM(cpl)), RTE_DIM(ops));
	for (i = 0; i < RTE_DIM(ops); i++) {
		T_EQ(cpl[i].cookie, i + 1);
		T_EQ(cpl[i].status, status[i]);
		T_EQ(cpl[i].peer_id, ops[i].consumer_id);
	}
	T_EQ(rte_comch_msgq_recv_burst(u.c, cpl, RTE_DIM(cpl)), 3);
	T_EQ(cpl[0].imm_len, RTE_COMCH_IMM_SIZE);
	T_CHECK(memcmp(cpl[0].imm, imm, RTE_COMCH_IMM_SIZE) == 0);
	T_EQ(cpl[1].imm_len, 3);
	T_CHECK(memcmp(cpl[1].imm, imm, 3) == 0);
	T_EQ(cpl[2].imm_len, 0);
	rte_comch_msgq_producer_stats_get(u.p, &ps);
	T_EQ(ps.errors, 7);
	T_EQ(ps.msgs, 3);
	T_EQ(ps.imm_msgs, 2);
	u_close(&u);
	t_eal_stop();
}

/* A consumer that takes less says so, and a silent operation leaves no completion. */
static void
short_imm_and_silence(void)
{
	struct rte_comch_msgq_consumer_conf c_conf = {
		.conf_size = sizeof(c_conf), .imm_size = 4,
	};
	struct rte_comch_op op = { .consumer_id = 1, .flags = RTE_COMCH_OP_F_SILENT };
	struct rte_comch_cpl cpl[2];
	struct u_pair u;
	uint32_t val = 9;

	t_eal_start(1);
	u_open(&u, NULL, &c_conf);
	T_EQ(rte_comch_msgq_credit(u.c, 4), 4);
	op.imm = &val;
	op.imm_len = sizeof(val);
	T_EQ(rte_comch_msgq_send_burst(u.p, &op, 1), 1);
	T_EQ(rte_comch_msgq_done_burst(u.p, cpl, 2), 0);
	T_EQ(u_send_u64(u.p, 1, 1), 1);
	T_EQ(rte_comch_msgq_done_burst(u.p, cpl, 2), 1);
	T_EQ(cpl[0].status, -EMSGSIZE);
	T_EQ(rte_comch_msgq_recv_burst(u.c, cpl, 2), 1);
	u_close(&u);
	t_eal_stop();
}

/* No completion is lost: with the queue full of them a send takes nothing. */
static void
done_queue_full(void)
{
	struct rte_comch_msgq_producer_conf p_conf = {
		.conf_size = sizeof(p_conf), .queue_size = 4,
	};
	struct rte_comch_cpl cpl[8];
	struct u_pair u;
	int i;

	t_eal_start(1);
	u_open(&u, &p_conf, NULL);
	T_EQ(rte_comch_msgq_credit(u.c, 64), 64);
	for (i = 0; i < 4; i++)
		T_EQ(u_send_u64(u.p, 1, 1), 1);
	T_EQ(u_send_u64(u.p, 1, 1), 0);
	T_EQ(rte_comch_msgq_done_burst(u.p, cpl, 3), 3);
	for (i = 0; i < 3; i++)
		T_EQ(u_send_u64(u.p, 1, 1), 1);
	T_EQ(u_send_u64(u.p, 1, 1), 0);
	T_EQ(rte_comch_msgq_done_burst(u.p, cpl, 8), 4);
	T_EQ(rte_comch_msgq_recv_burst(u.c, cpl, 8), 7);
	u_close(&u);
	t_eal_stop();
}

/* Cookies come back in the order of posting, those of a stop with -ECANCELED. */
static void
stop_with_credits(void)
{
	struct rte_comch_buf bufs[4] = { { .cookie = 10 }, { .cookie = 11 }, { .cookie = 12 },
		{ .cookie = 13, .len = 1 } };
	struct rte_comch_cpl cpl[8];
	struct u_pair u;

	t_eal_start(1);
	u_open(&u, NULL, NULL);
	T_EQ(rte_comch_msgq_post_burst(u.c, bufs, 4), 3);
	T_EQ(rte_comch_msgq_credit(u.c, 1), 1);
	T_EQ(u_send_u64(u.p, 1, 5), 1);
	T_EQ(rte_comch_msgq_consumer_stop(u.c), -EINPROGRESS);
	T_EQ(rte_comch_msgq_consumer_state(u.c), RTE_COMCH_STATE_STOPPING);
	T_EQ(rte_comch_msgq_consumer_destroy(u.c), -EBUSY);
	T_EQ(u_send_u64(u.p, 1, 6), 1);
	T_EQ(rte_comch_msgq_consumer_empty(u.p, 1), -ENOENT);
	T_EQ(rte_comch_msgq_done_burst(u.p, cpl, 8), 2);
	T_EQ(cpl[0].status, 0);
	T_EQ(cpl[1].status, -ENOENT);
	T_EQ(rte_comch_msgq_recv_burst(u.c, cpl, 2), 2);
	T_EQ(cpl[0].cookie, 10);
	T_EQ(cpl[0].status, 0);
	T_EQ(cpl[1].cookie, 11);
	T_EQ(cpl[1].status, -ECANCELED);
	T_EQ(rte_comch_msgq_consumer_state(u.c), RTE_COMCH_STATE_STOPPING);
	T_EQ(rte_comch_msgq_recv_burst(u.c, cpl, 8), 2);
	T_EQ(cpl[0].cookie, 12);
	T_EQ(cpl[1].cookie, 0);
	T_EQ(rte_comch_msgq_consumer_destroy(u.c), 0);
	/* The id again, which knows nothing of the old one's credits. */
	u.c = rte_comch_msgq_consumer_create(u.q, NULL);
	T_EQ(rte_comch_msgq_consumer_id(u.c), 1);
	T_EQ(rte_comch_msgq_consumer_empty(u.p, 1), 1);
	T_EQ(u_send_u64(u.p, 1, 7), 0);
	T_EQ(rte_comch_msgq_credit(u.c, 1), 1);
	T_EQ(u_send_u64(u.p, 1, 8), 1);
	T_EQ(rte_comch_msgq_recv_burst(u.c, cpl, 8), 1);
	T_EQ(u_imm_u64(&cpl[0]), 8);
	u_close(&u);
	t_eal_stop();
}

/* Two consumers of two MsgQs and one queue for both: the order of arrival. */
static void
completion_queue(void)
{
	struct rte_comch_msgq_cq_conf q_conf = { .conf_size = sizeof(q_conf), .size = 4 };
	struct rte_comch_msgq_consumer_conf c_conf = { .conf_size = sizeof(c_conf) };
	struct rte_comch_msgq_cq *cq;
	struct rte_comch_cpl cpl[8];
	struct u_pair u[2];
	uint64_t i;

	t_eal_start(1);
	cq = rte_comch_msgq_cq_create(&q_conf);
	c_conf.cq = cq;
	for (i = 0; i < 2; i++) {
		c_conf.user_data = i;
		u_open(&u[i], NULL, &c_conf);
	}
	T_EQ(rte_comch_msgq_cq_destroy(cq), -EBUSY);
	/* Room for four in all. */
	T_EQ(rte_comch_msgq_credit(u[0].c, 3), 3);
	T_EQ(rte_comch_msgq_credit(u[1].c, 3), 1);
	T_EQ(u_send_u64(u[0].p, 1, 0), 1);
	T_EQ(u_send_u64(u[1].p, 1, 1), 1);
	T_EQ(u_send_u64(u[0].p, 1, 2), 1);
	T_EQ(u_send_u64(u[1].p, 1, 3), 0);
	T_EQ(rte_comch_msgq_recv_burst(u[0].c, cpl, 8), 0);
	T_EQ(rte_comch_msgq_cq_recv_burst(cq, cpl, 8), 3);
	for (i = 0; i < 3; i++) {
		T_EQ(u_imm_u64(&cpl[i]), i);
		T_EQ(cpl[i].user_data, i % 2);
	}
	/* A stop gives the rest back to the others. */
	T_EQ(rte_comch_msgq_consumer_stop(u[0].c), 0);
	T_EQ(rte_comch_msgq_credit(u[1].c, 8), 4);
	for (i = 0; i < 4; i++)
		T_EQ(u_send_u64(u[1].p, 1, i), 1);
	T_EQ(rte_comch_msgq_consumer_stop(u[1].c), -EINPROGRESS);
	T_EQ(rte_comch_msgq_cq_recv_burst(cq, cpl, 3), 3);
	T_EQ(rte_comch_msgq_consumer_state(u[1].c), RTE_COMCH_STATE_STOPPING);
	T_EQ(rte_comch_msgq_cq_recv_burst(cq, cpl, 3), 1);
	T_EQ(rte_comch_msgq_consumer_state(u[1].c), RTE_COMCH_STATE_IDLE);
	for (i = 0; i < 2; i++) {
		T_EQ(rte_comch_msgq_consumer_destroy(u[i].c), 0);
		T_EQ(rte_comch_msgq_producer_destroy(u[i].p), 0);
		T_EQ(rte_comch_msgq_destroy(u[i].q), 0);
	}
	T_EQ(rte_comch_msgq_cq_destroy(cq), 0);
	t_eal_stop();
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "life", life },
		{ "bad_arguments", bad_arguments },
		{ "forked", forked },
		{ "no_object", no_object },
		{ "credits", credits },
		{ "what_is_refused", what_is_refused },
		{ "short_imm_and_silence", short_imm_and_silence },
		{ "done_queue_full", done_queue_full },
		{ "stop_with_credits", stop_with_credits },
		{ "completion_queue", completion_queue },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
