/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The fake verbs as a driver meets them when something goes wrong. */

#include <fcntl.h>

#include "u_fv.h"

#define ENDS_CASE(name) T_CASE_OF(struct u_ends, u_open, u_close, name, u)

/* The next asynchronous event of a device. */
static void
expect_async(struct u_end *e, enum ibv_event_type type)
{
	struct ibv_async_event ev;

	T_CHECK(t_readable(e->ctx->async_fd, T_TIMEOUT_MS));
	T_EQ(fv_glue.get_async_event(e->ctx, &ev), 0);
	T_EQ(ev.event_type, type);
	if (type == IBV_EVENT_QP_ACCESS_ERR || type == IBV_EVENT_QP_FATAL)
		T_CHECK(ev.element.qp == e->qp);
	fv_glue.ack_async_event(&ev);
}

static enum ibv_qp_state
state_of(struct u_end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	T_EQ(fv_glue.query_qp(e->qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

ENDS_CASE(error_flushes_in_order)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		T_EQ(u_recv(&u->a, i, 0, 8), 0);
	fv_hold();
	/* Signalled or not. */
	for (i = 0; i < 4; i++)
		T_EQ(u_send(&u->a, 10 + i, 0, 8, i & 1 ? IBV_SEND_SIGNALED : 0), 0);
	T_EQ(u_set_state(u->a.qp, IBV_QPS_ERR), 0);
	for (i = 0; i < 4; i++)
		u_expect(&u->a, 10 + i, IBV_WC_WR_FLUSH_ERR);
	for (i = 0; i < 4; i++)
		u_expect(&u->a, i, IBV_WC_WR_FLUSH_ERR);
	/* Also what is posted afterwards. */
	T_EQ(u_recv(&u->a, 20, 0, 8), 0);
	T_EQ(u_send(&u->a, 21, 0, 8, 0), 0);
	u_expect(&u->a, 20, IBV_WC_WR_FLUSH_ERR);
	u_expect(&u->a, 21, IBV_WC_WR_FLUSH_ERR);
	fv_release();
	T_CHECK(u_is_empty(&u->a) && u_is_empty(&u->b));
}

/* A message that arrived, whose answer is on its way, is flushed all the same. */
ENDS_CASE(flushed_may_have_been_delivered)
{
	struct fv_conf conf;

	fv_conf_default(&conf);
	conf.delay_us = 1;
	fv_configure(&conf);
	T_EQ(u_recv(&u->b, 1, 0, 8), 0);
	fv_hold();
	T_EQ(u_send(&u->a, 2, 0, 8, 0), 0);
	fv_step(1);
	u_expect(&u->b, 1, IBV_WC_SUCCESS);
	T_EQ(u_set_state(u->a.qp, IBV_QPS_ERR), 0);
	u_expect(&u->a, 2, IBV_WC_WR_FLUSH_ERR);
}

ENDS_CASE(failed_completion_has_no_opcode)
{
	struct ibv_wc wc;

	T_EQ(u_recv(&u->a, 1, 0, 8), 0);
	T_EQ(u_set_state(u->a.qp, IBV_QPS_ERR), 0);
	wc = u_wc(&u->a);
	T_CHECK(wc.opcode != IBV_WC_RECV && wc.opcode != IBV_WC_SEND);
	T_GT(wc.byte_len, U_BUF);
	T_NE(wc.vendor_err, 0);
}

ENDS_CASE(destroyed_queue_pair_takes_its_completions)
{
	T_EQ(u_recv(&u->b, 1, 0, 8), 0);
	T_EQ(u_send(&u->a, 2, 0, 8, IBV_SEND_SIGNALED), 0);
	T_EQ(u_set_state(u->b.qp, IBV_QPS_RESET), 0);
	T_CHECK(u_is_empty(&u->b));
	u_expect(&u->a, 2, IBV_WC_SUCCESS);
}

ENDS_CASE(message_longer_than_the_buffer)
{
	T_EQ(u_recv(&u->b, 1, 0, 8), 0);
	T_EQ(u_recv(&u->b, 2, 0, 8), 0);
	T_EQ(u_send(&u->a, 3, 0, 9, 0), 0);
	T_EQ(u_send(&u->a, 4, 0, 8, 0), 0);
	u_expect(&u->b, 1, IBV_WC_LOC_LEN_ERR);
	u_expect(&u->b, 2, IBV_WC_WR_FLUSH_ERR);
	u_expect(&u->a, 3, IBV_WC_REM_INV_REQ_ERR);
	u_expect(&u->a, 4, IBV_WC_WR_FLUSH_ERR);
	T_EQ(state_of(&u->a), IBV_QPS_ERR);
	T_EQ(state_of(&u->b), IBV_QPS_ERR);
}

static void
bad_write(struct u_ends *u, size_t to, uint32_t len, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)u->a.buf, len, u->a.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 5, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)u->b.buf + to, rkey } }, *bad;

	t_fill(u->a.buf, len, 1);
	T_EQ(u_recv(&u->b, 1, 0, 8), 0);
	T_EQ(fv_glue.post_send(u->a.qp, &wr, &bad), 0);
	u_expect(&u->a, 5, IBV_WC_REM_ACCESS_ERR);
	u_expect(&u->b, 1, IBV_WC_WR_FLUSH_ERR);
	expect_async(&u->b, IBV_EVENT_QP_ACCESS_ERR);
	T_EQ(u->b.buf[to < U_BUF ? to : 0], 0);
}

ENDS_CASE(write_beyond_the_region)
{
	bad_write(u, U_BUF - 7, 8, u->b.mr->rkey);
}

ENDS_CASE(write_by_a_local_key)
{
	bad_write(u, 0, 8, u->b.mr->lkey);
}

ENDS_CASE(write_by_a_dead_key)
{
	struct ibv_mr *mr = fv_glue.reg_mr(u->b.pd, u->b.buf + 64, 64,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	const uint32_t rkey = mr->rkey;

	T_EQ(fv_glue.dereg_mr(mr), 0);
	/* The next one does not have its key. */
	mr = fv_glue.reg_mr(u->b.pd, u->b.buf + 64, 64,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	T_NE(mr->rkey, rkey);
	bad_write(u, 64, 8, rkey);
	T_EQ(fv_glue.dereg_mr(mr), 0);
}

ENDS_CASE(write_without_the_right)
{
	struct ibv_mr *mr = fv_glue.reg_mr(u->b.pd, u->b.buf + 64, 64, IBV_ACCESS_LOCAL_WRITE);

	T_EQ(mr->rkey, 0);
	bad_write(u, 64, 8, mr->rkey);
	T_EQ(fv_glue.dereg_mr(mr), 0);
}

ENDS_CASE(write_to_another_domain)
{
	struct ibv_pd *pd = fv_glue.alloc_pd(u->b.ctx);
	struct ibv_mr *mr = fv_glue.reg_mr(pd, u->b.buf + 64, 64,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	bad_write(u, 64, 8, mr->rkey);
	T_EQ(fv_glue.dealloc_pd(pd), EBUSY);
	T_EQ(fv_glue.dereg_mr(mr), 0);
	T_EQ(fv_glue.dealloc_pd(pd), 0);
}

ENDS_CASE(own_keys_are_checked_when_it_is_sent)
{
	struct ibv_mr *mr = fv_glue.reg_mr(u->a.pd, u->a.buf, 64, 0);
	struct ibv_sge sge = { (uintptr_t)u->a.buf, 64, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	T_EQ(u_recv(&u->b, 1, 0, 64), 0);
	T_EQ(u_recv(&u->b, 2, 0, 64), 0);
	T_EQ(fv_glue.post_send(u->a.qp, &wr, &bad), 0);
	u_expect(&u->b, 1, IBV_WC_SUCCESS);
	T_EQ(fv_glue.dereg_mr(mr), 0);
	wr.wr_id = 7;
	T_EQ(fv_glue.post_send(u->a.qp, &wr, &bad), 0);
	u_expect(&u->a, 7, IBV_WC_LOC_PROT_ERR);
	T_CHECK(u_is_empty(&u->b));
	T_EQ(state_of(&u->b), IBV_QPS_RTS);
}

ENDS_CASE(receive_into_memory_that_is_read_only)
{
	struct ibv_mr *mr = fv_glue.reg_mr(u->b.pd, u->b.buf, 64, 0);
	struct ibv_sge sge = { (uintptr_t)u->b.buf, 64, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;

	T_EQ(fv_glue.post_recv(u->b.qp, &wr, &bad), 0);
	T_EQ(u_send(&u->a, 2, 0, 8, 0), 0);
	u_expect(&u->b, 1, IBV_WC_LOC_PROT_ERR);
	u_expect(&u->a, 2, IBV_WC_REM_OP_ERR);
	T_EQ(fv_glue.dereg_mr(mr), 0);
}

ENDS_CASE(registering_is_refused)
{
	struct fv_conf conf;
	void *hole;

	errno = 0;
	T_CHECK(fv_glue.reg_mr(u->a.pd, u->a.buf, 8, IBV_ACCESS_REMOTE_WRITE) == NULL);
	T_EQ(errno, EINVAL);
	hole = (void *)0x1000;
	T_CHECK(fv_glue.reg_mr(u->a.pd, hole, 4096, 0) == NULL);
	T_EQ(errno, EFAULT);
	fv_fail_call(FV_CALL_REG_MR, 1, ENOMEM);
	fv_conf_default(&conf);
	conf.max_pinned = 2 * U_BUF + 8;
	fv_configure(&conf);
	T_CHECK(fv_glue.reg_mr(u->a.pd, u->a.buf, 9, 0) == NULL);
	T_EQ(errno, ENOMEM);
	T_CHECK(fv_glue.reg_mr(u->a.pd, u->a.buf, 8, 0) == NULL);
	T_EQ(errno, ENOMEM);
}

ENDS_CASE(limits_are_refused)
{
	struct ibv_qp_init_attr init = { .send_cq = u->a.cq, .recv_cq = u->a.cq,
		.qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 17, .max_send_sge = 1 } };
	struct fv_conf conf;

	fv_conf_default(&conf);
	conf.max_qp_wr = 16;
	conf.max_inline = 0;
	conf.max_msg_sz = 4096;
	conf.max_cqe = 8;
	fv_configure(&conf);
	T_CHECK(fv_glue.create_qp(u->a.pd, &init) == NULL);
	T_EQ(errno, EINVAL);
	init.cap.max_send_wr = 16;
	init.cap.max_inline_data = 1;
	T_CHECK(fv_glue.create_qp(u->a.pd, &init) == NULL);
	T_CHECK(fv_glue.create_cq(u->a.ctx, 9, NULL, NULL, 0) == NULL);
	T_EQ(errno, EINVAL);
	conf.max_msg_sz = 100;
	fv_configure(&conf);
	T_EQ(u_write(&u->a, &u->b, 1, 0, 101, 0, 0), 0);
	u_expect(&u->a, 1, IBV_WC_LOC_LEN_ERR);
}

T_CASE(message_without_a_receive_waits)
{
	struct fv_stats stats;
	struct u_ends u;

	u_end_open(&u.a, "fv0");
	u_end_open(&u.b, "fv1");
	u_connect(&u, 7);
	T_EQ(u_send(&u.a, 1, 0, 8, IBV_SEND_SIGNALED), 0);
	T_EQ(u_write(&u.a, &u.b, 2, 0, 8, 64, IBV_SEND_SIGNALED), 0);
	do {
		fv_get_stats(&stats);
	} while (stats.rnr < 20);
	/* What follows waits, too. */
	T_CHECK(u_is_empty(&u.a));
	T_EQ(u_recv(&u.b, 3, 0, 8), 0);
	u_expect(&u.b, 3, IBV_WC_SUCCESS);
	u_expect(&u.a, 1, IBV_WC_SUCCESS);
	u_expect(&u.a, 2, IBV_WC_SUCCESS);
	u_close(&u);
}

ENDS_CASE(message_without_a_receive_fails_in_the_end)
{
	struct fv_stats stats;

	T_EQ(u_send(&u->a, 1, 0, 8, 0), 0);
	u_expect(&u->a, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	fv_get_stats(&stats);
	T_EQ(stats.rnr, 7);
	T_EQ(state_of(&u->b), IBV_QPS_RTS);
}

ENDS_CASE(vanished_peer_is_noticed_by_retries)
{
	T_EQ(u_set_state(u->b.qp, IBV_QPS_ERR), 0);
	T_EQ(u_write(&u->a, &u->b, 1, 0, 8, 0, 0), 0);
	T_EQ(u_write(&u->a, &u->b, 2, 0, 8, 0, 0), 0);
	T_CHECK(u_is_empty(&u->a));
	u_expect(&u->a, 1, IBV_WC_RETRY_EXC_ERR);
	u_expect(&u->a, 2, IBV_WC_WR_FLUSH_ERR);
}

ENDS_CASE(cut_wire_is_noticed_by_retries)
{
	fv_cut("10.0.0.1", "10.0.1.1");
	T_EQ(u_write(&u->a, &u->b, 1, 0, 8, 0, IBV_SEND_SIGNALED), 0);
	fv_restore("10.0.0.1", "10.0.1.1");
	u_expect(&u->a, 1, IBV_WC_SUCCESS);
	fv_cut("10.0.1.1", NULL);
	T_EQ(u_write(&u->a, &u->b, 2, 0, 8, 0, 0), 0);
	u_expect(&u->a, 2, IBV_WC_RETRY_EXC_ERR);
	T_EQ(state_of(&u->b), IBV_QPS_RTS);
}

/* The message arrives, its answer does not. */
ENDS_CASE(lost_answer_leaves_delivery_unknown)
{
	struct fv_conf conf;

	fv_conf_default(&conf);
	conf.delay_us = 1;
	fv_configure(&conf);
	T_EQ(u_recv(&u->b, 1, 0, 8), 0);
	fv_hold();
	T_EQ(u_send(&u->a, 2, 0, 8, 0), 0);
	fv_step(1);
	u_expect(&u->b, 1, IBV_WC_SUCCESS);
	fv_cut(NULL, NULL);
	fv_release();
	u_expect(&u->a, 2, IBV_WC_RETRY_EXC_ERR);
}

ENDS_CASE(misfits_are_not_heard)
{
	T_EQ(u_set_state(u->b.qp, IBV_QPS_RESET), 0);
	T_EQ(u_init(u->b.qp), 0);
	/* Its rq_psn is not what the other end begins with. */
	T_EQ(u_rtr(u->b.qp, "10.0.1.1", "10.0.0.1", u->a.qp->qp_num, 8), 0);
	T_EQ(u_write(&u->a, &u->b, 1, 0, 8, 0, 0), 0);
	u_expect(&u->a, 1, IBV_WC_RETRY_EXC_ERR);
}

ENDS_CASE(work_requests_fail_on_demand)
{
	const struct fv_fault fault = { .qp = u->a.qp, .opcode = IBV_WR_RDMA_WRITE, .nth = 1,
		.status = IBV_WC_GENERAL_ERR };

	T_EQ(u_recv(&u->b, 0, 0, 8), 0);
	fv_fail_wr(&fault);
	T_EQ(u_write(&u->a, &u->b, 1, 0, 8, 0, IBV_SEND_SIGNALED), 0);
	T_EQ(u_send(&u->a, 2, 0, 8, IBV_SEND_SIGNALED), 0);
	T_EQ(u_write(&u->a, &u->b, 3, 0, 8, 0, 0), 0);
	u_expect(&u->a, 1, IBV_WC_SUCCESS);
	u_expect(&u->a, 2, IBV_WC_SUCCESS);
	u_expect(&u->a, 3, IBV_WC_GENERAL_ERR);
	T_EQ(state_of(&u->a), IBV_QPS_ERR);
	T_EQ(state_of(&u->b), IBV_QPS_RTS);
}

ENDS_CASE(receives_fail_on_demand)
{
	const struct fv_fault fault = { .recv = true, .status = IBV_WC_LOC_QP_OP_ERR };

	T_EQ(u_recv(&u->b, 1, 0, 8), 0);
	fv_fail_wr(&fault);
	T_EQ(u_send(&u->a, 2, 0, 8, 0), 0);
	u_expect(&u->b, 1, IBV_WC_LOC_QP_OP_ERR);
	u_expect(&u->a, 2, IBV_WC_REM_OP_ERR);
}

ENDS_CASE(delivered_messages_fail_on_demand)
{
	const struct fv_fault fault = { .opcode = -1, .delivered = true,
		.status = IBV_WC_RETRY_EXC_ERR };

	T_EQ(u_recv(&u->b, 1, 0, 8), 0);
	fv_fail_wr(&fault);
	T_EQ(u_send(&u->a, 2, 0, 8, 0), 0);
	u_expect(&u->b, 1, IBV_WC_SUCCESS);
	u_expect(&u->a, 2, IBV_WC_RETRY_EXC_ERR);
}

ENDS_CASE(overrun_breaks_all_on_the_queue)
{
	unsigned int i, nb = 0;
	struct ibv_wc wc;

	/* The 16 completions of this one have just room. */
	for (i = 0; i < U_WRS; i++)
		T_EQ(u_recv(&u->a, i, 0, 8), 0);
	for (i = 0; i < U_WRS; i++)
		T_EQ(u_write(&u->a, &u->b, i, 0, 8, 0, IBV_SEND_SIGNALED), 0);
	T_EQ(u_set_state(u->a.qp, IBV_QPS_ERR), 0);
	T_CHECK(!t_readable(u->a.ctx->async_fd, 0));

	/* A queue of four for eight receives. */
	fv_glue.destroy_qp(u->b.qp);
	fv_glue.destroy_cq(u->b.cq);
	u->b.cq = fv_glue.create_cq(u->b.ctx, 4, &u->b, u->b.ch, 0);
	u->b.qp = fv_glue.create_qp(u->b.pd, &(struct ibv_qp_init_attr) {
		.send_cq = u->b.cq, .recv_cq = u->b.cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 8, .max_recv_sge = 1 } });
	T_EQ(u_init(u->b.qp), 0);
	for (i = 0; i < 8; i++)
		T_EQ(u_recv(&u->b, i, 0, 8), 0);
	T_EQ(u_set_state(u->b.qp, IBV_QPS_ERR), 0);
	expect_async(&u->b, IBV_EVENT_CQ_ERR);
	expect_async(&u->b, IBV_EVENT_QP_FATAL);
	while (fv_glue.poll_cq(u->b.cq, 1, &wc) == 1)
		nb++;
	T_EQ(nb, 4);
}

ENDS_CASE(events_are_injected)
{
	struct ibv_port_attr port;

	T_EQ(u_recv(&u->a, 1, 0, 8), 0);
	fv_event_qp(u->a.qp, IBV_EVENT_QP_FATAL);
	expect_async(&u->a, IBV_EVENT_QP_FATAL);
	u_expect(&u->a, 1, IBV_WC_WR_FLUSH_ERR);
	fv_event_cq(u->b.cq);
	expect_async(&u->b, IBV_EVENT_CQ_ERR);
	expect_async(&u->b, IBV_EVENT_QP_FATAL);
	fv_event_port("fv1", IBV_EVENT_PORT_ERR);
	T_EQ(fv_glue.query_port(u->b.ctx, 1, &port), 0);
	T_EQ(port.state, IBV_PORT_DOWN);
	fv_event_port("fv1", IBV_EVENT_PORT_ACTIVE);
	expect_async(&u->b, IBV_EVENT_PORT_ERR);
	expect_async(&u->b, IBV_EVENT_PORT_ACTIVE);
}

/* It never answers again; the peer notices by retries. */
ENDS_CASE(dead_device_is_silent)
{
	T_EQ(u_recv(&u->b, 1, 0, 8), 0);
	fv_event_dev("fv1");
	expect_async(&u->b, IBV_EVENT_DEVICE_FATAL);
	T_EQ(u_set_state(u->b.qp, IBV_QPS_ERR), EIO);
	T_EQ(u_send(&u->a, 2, 0, 8, 0), 0);
	u_expect(&u->a, 2, IBV_WC_RETRY_EXC_ERR);
	T_CHECK(u_is_empty(&u->b));
	errno = 0;
	T_CHECK(fv_glue.alloc_pd(u->b.ctx) == NULL);
	T_EQ(errno, EIO);
}

ENDS_CASE(communication_is_announced_once)
{
	T_EQ(u_set_state(u->b.qp, IBV_QPS_RESET), 0);
	T_EQ(u_init(u->b.qp), 0);
	T_EQ(u_rtr(u->b.qp, "10.0.1.1", "10.0.0.1", u->a.qp->qp_num, 9), 0);
	T_EQ(fcntl(u->b.ctx->async_fd, F_SETFL, O_NONBLOCK), 0);
	T_EQ(u_write(&u->a, &u->b, 1, 0, 8, 0, 0), 0);
	T_EQ(u_write(&u->a, &u->b, 2, 0, 8, 0, 0), 0);
	expect_async(&u->b, IBV_EVENT_COMM_EST);
	T_CHECK(!t_readable(u->b.ctx->async_fd, 0));
}

ENDS_CASE(calls_fail_on_demand)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };

	fv_fail_call(FV_CALL_POST_SEND, 0, ENOMEM);
	T_EQ(fv_glue.post_send(u->a.qp, &wr, &bad), ENOMEM);
	T_CHECK(bad == &wr);
	fv_fail_call(FV_CALL_CREATE_COMP_CHANNEL, 0, EMFILE);
	T_CHECK(fv_glue.create_comp_channel(u->a.ctx) == NULL);
	T_EQ(errno, EMFILE);
	fv_fail_call(FV_CALL_MODIFY_QP, 0, ENOMEM);
	T_EQ(u_set_state(u->a.qp, IBV_QPS_ERR), ENOMEM);
	T_EQ(state_of(&u->a), IBV_QPS_RTS);
}

ENDS_CASE(objects_in_use_stay)
{
	T_EQ(fv_glue.destroy_cq(u->a.cq), EBUSY);
	T_EQ(fv_glue.destroy_comp_channel(u->a.ch), EBUSY);
	T_EQ(fv_glue.dealloc_pd(u->a.pd), EBUSY);
	T_EQ(fv_nb_live(FV_CQ), 2);
}

ENDS_CASE(posted_buffers_are_the_device_s)
{
	struct fv_conf conf;
	struct ibv_wc wc;

	fv_conf_default(&conf);
	conf.late_recv = true;
	fv_configure(&conf);
	T_EQ(u_recv(&u->b, 1, 0, 16), 0);
	T_EQ(u_recv(&u->b, 2, 16, 16), 0);
	u->b.buf[16] = 0;
	T_EQ(u_send(&u->a, 1, 0, 8, 0), 0);
	T_EQ(u_send(&u->a, 2, 0, 8, 0), 0);
	u_expect(&u->b, 1, IBV_WC_SUCCESS);
	U_DIES(fv_glue.poll_cq(u->b.cq, 1, &wc));
}

/* What would block for ever or corrupt memory ends the program. */
ENDS_CASE(misuse_is_loud)
{
	struct ibv_async_event ev;
	struct ibv_cq *cq;
	void *ctx;

	U_DIES(fv_reset());
	U_DIES(fv_glue.ack_cq_events(u->a.cq, 1));
	U_DIES((fv_glue.dereg_mr(u->a.mr), fv_glue.dereg_mr(u->a.mr)));
	fv_event_spurious(u->a.cq);
	T_EQ(fv_glue.get_cq_event(u->a.ch, &cq, &ctx), 0);
	U_DIES((fv_glue.destroy_qp(u->a.qp), fv_glue.destroy_cq(u->a.cq)));
	fv_glue.ack_cq_events(cq, 1);
	fv_event_qp(u->a.qp, IBV_EVENT_QP_FATAL);
	T_EQ(fv_glue.get_async_event(u->a.ctx, &ev), 0);
	U_DIES(fv_glue.destroy_qp(u->a.qp));
	fv_glue.ack_async_event(&ev);
	U_DIES(fv_glue.ack_async_event(&ev));
}
