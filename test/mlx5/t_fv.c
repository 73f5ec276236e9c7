/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The fake verbs as a driver meets them when nothing goes wrong. */

#include <fcntl.h>

#include "u_fv.h"

#define ENDS_CASE(name) T_CASE_OF(struct u_ends, u_open, u_close, name, u)

T_CASE(devices_have_ports_and_gids)
{
	struct ibv_gid_entry gids[64];
	struct ibv_device_attr attr;
	struct ibv_context **list;
	struct ibv_port_attr port;
	__be16 pkey;
	int nb;

	list = fv_glue.get_devices(&nb);
	T_EQ(nb, 2);
	T_STR_EQ(fv_glue.get_device_name(list[0]->device), "fv0");
	T_STR_EQ(fv_glue.get_device_path(list[1]->device), "/sys/class/infiniband/fv1");
	T_EQ(fv_glue.query_device(list[0], &attr), 0);
	T_EQ(attr.max_qp_wr, 16384);
	T_EQ(fv_glue.query_port(list[0], 1, &port), 0);
	T_EQ(port.state, IBV_PORT_ACTIVE);
	T_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	T_EQ(fv_glue.query_port(list[0], 2, &port), EINVAL);
	T_EQ(fv_glue.query_pkey(list[0], 1, 0, &pkey), 0);
	T_EQ(pkey, 0xffff);
	/* Four addresses, two types each; the index is not the position. */
	T_EQ(fv_glue.query_gid_table(list[0], gids, 64, 0), 8);
	T_EQ(gids[0].gid_type, IBV_GID_TYPE_ROCE_V1);
	T_EQ(gids[7].gid_type, IBV_GID_TYPE_ROCE_V2);
	T_NE(gids[7].gid_index, 7);
	T_EQ(fv_glue.query_gid_table(list[0], gids, 7, 0), -EINVAL);
	fv_glue.free_devices(list);
	fv_reset();
}

T_CASE(devices_can_be_chosen)
{
	static const struct fv_dev_conf confs[] = {
		{ .name = "mlx5_7", .path = "/tmp/x", .addrs = { "192.168.0.1", "fd00::1" } },
		{ .name = "ib0", .link_layer = IBV_LINK_LAYER_INFINIBAND },
	};
	struct ibv_gid_entry gids[64];
	struct ibv_port_attr port;

	fv_set_devices(confs, 2);
	T_EQ(fv_glue.query_gid_table(fv_ctx("mlx5_7"), gids, 64, 0), 6);
	T_EQ(fv_glue.query_gid_table(fv_ctx("ib0"), gids, 64, 0), 1);
	T_EQ(gids[0].gid_type, IBV_GID_TYPE_IB);
	T_EQ(fv_glue.query_port(fv_ctx("ib0"), 1, &port), 0);
	T_EQ(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
	T_STR_EQ(fv_glue.get_device_path(fv_ctx("mlx5_7")->device), "/tmp/x");
	fv_reset();
}

T_CASE(configuration_is_parsed)
{
	struct fv_conf conf;

	fv_conf_default(&conf);
	T_EQ(fv_conf_parse(&conf, "delay_us=50,max_inline=0,late_recv=1,seed=0x10"), 0);
	T_EQ(conf.delay_us, 50);
	T_EQ(conf.max_inline, 0);
	T_EQ(conf.seed, 16);
	T_CHECK(conf.late_recv && !conf.late_write);
	T_EQ(fv_conf_parse(&conf, ""), 0);
	T_EQ(fv_conf_parse(&conf, "delay=1"), -EINVAL);
	T_EQ(fv_conf_parse(&conf, "delay_us=x"), -EINVAL);
	T_EQ(fv_conf_parse(&conf, "delay_us"), -EINVAL);
}

ENDS_CASE(send_arrives_in_the_posted_buffer)
{
	struct ibv_wc wc;

	t_fill(u->a.buf, 100, 1);
	T_EQ(u_recv(&u->b, 5, 1000, 200), 0);
	T_EQ(u_send(&u->a, 6, 0, 100, IBV_SEND_SIGNALED), 0);
	wc = u_wc(&u->b);
	T_EQ(wc.wr_id, 5);
	T_EQ(wc.status, IBV_WC_SUCCESS);
	T_EQ(wc.opcode, IBV_WC_RECV);
	T_EQ(wc.byte_len, 100);
	T_EQ(wc.wc_flags, 0);
	T_EQ(wc.src_qp, u->a.qp->qp_num);
	T_VERIFY(&u->b.buf[1000], 100, 1);
	T_EQ(u->b.buf[1100], 0);
	wc = u_wc(&u->a);
	T_EQ(wc.wr_id, 6);
	T_EQ(wc.opcode, IBV_WC_SEND);
}

ENDS_CASE(immediate_data_arrives)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 0x01020304 };
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	T_EQ(u_recv(&u->b, 1, 0, 64), 0);
	T_EQ(fv_glue.post_send(u->a.qp, &wr, &bad), 0);
	wc = u_wc(&u->b);
	T_EQ(wc.byte_len, 0);
	T_EQ(wc.opcode, IBV_WC_RECV);
	T_EQ(wc.wc_flags, IBV_WC_WITH_IMM);
	T_EQ(wc.imm_data, 0x01020304);

	/* Also behind a write, which then takes a receive. */
	T_EQ(u_recv(&u->b, 2, 0, 0), 0);
	t_fill(u->a.buf, 64, 2);
	wr = (struct ibv_send_wr) {
		.sg_list = &(struct ibv_sge) { (uintptr_t)u->a.buf, 64, u->a.mr->lkey },
		.num_sge = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = 9,
		.wr.rdma = { (uintptr_t)u->b.buf + 128, u->b.mr->rkey },
	};
	T_EQ(fv_glue.post_send(u->a.qp, &wr, &bad), 0);
	wc = u_wc(&u->b);
	T_EQ(wc.wr_id, 2);
	T_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	T_EQ(wc.byte_len, 64);
	T_EQ(wc.imm_data, 9);
	T_VERIFY(&u->b.buf[128], 64, 2);
}

ENDS_CASE(write_needs_no_receive)
{
	t_fill(u->a.buf, 500, 3);
	T_EQ(u_write(&u->a, &u->b, 1, 0, 500, 300, IBV_SEND_SIGNALED), 0);
	T_EQ(u_wc(&u->a).opcode, IBV_WC_RDMA_WRITE);
	T_VERIFY(&u->b.buf[300], 500, 3);
	T_CHECK(u_is_empty(&u->b));
	/* Of no bytes: neither address nor key is looked at. */
	T_EQ(u_write(&u->a, &u->b, 2, 0, 0, 1u << 30, IBV_SEND_SIGNALED), 0);
	u_expect(&u->a, 2, IBV_WC_SUCCESS);
}

ENDS_CASE(pieces_are_gathered_and_scattered)
{
	struct ibv_sge from[4], to[3];
	struct ibv_send_wr s = { .sg_list = from, .num_sge = 4, .opcode = IBV_WR_SEND };
	struct ibv_recv_wr r = { .sg_list = to, .num_sge = 3 }, *bad_r;
	struct ibv_send_wr *bad_s;

	t_fill(u->a.buf, 300, 4);
	from[0] = (struct ibv_sge) { (uintptr_t)u->a.buf, 100, u->a.mr->lkey };
	/* An empty piece is not looked at. */
	from[1] = (struct ibv_sge) { 0, 0, 0 };
	from[2] = (struct ibv_sge) { (uintptr_t)u->a.buf + 100, 1, u->a.mr->lkey };
	from[3] = (struct ibv_sge) { (uintptr_t)u->a.buf + 101, 199, u->a.mr->lkey };
	to[0] = (struct ibv_sge) { (uintptr_t)u->b.buf, 7, u->b.mr->lkey };
	to[1] = (struct ibv_sge) { (uintptr_t)u->b.buf + 7, 193, u->b.mr->lkey };
	to[2] = (struct ibv_sge) { (uintptr_t)u->b.buf + 200, 200, u->b.mr->lkey };
	T_EQ(fv_glue.post_recv(u->b.qp, &r, &bad_r), 0);
	T_EQ(fv_glue.post_send(u->a.qp, &s, &bad_s), 0);
	T_EQ(u_wc(&u->b).byte_len, 300);
	T_VERIFY(u->b.buf, 300, 4);
	s.num_sge = 5;
	T_EQ(fv_glue.post_send(u->a.qp, &s, &bad_s), EINVAL);
	T_CHECK(bad_s == &s);
}

ENDS_CASE(inline_data_is_copied_when_posted)
{
	struct ibv_sge sge = { (uintptr_t)u->a.buf, 64, 0 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE }, *bad;

	T_EQ(u_recv(&u->b, 0, 0, 64), 0);
	T_EQ(u_recv(&u->b, 1, 64, 64), 0);
	fv_hold();
	t_fill(u->a.buf, 64, 5);
	T_EQ(fv_glue.post_send(u->a.qp, &wr, &bad), 0);
	t_fill(u->a.buf, 64, 6);
	/* What is not inline is read when it is delivered. */
	T_EQ(u_send(&u->a, 1, 0, 64, 0), 0);
	t_fill(u->a.buf, 64, 7);
	fv_release();
	u_expect(&u->b, 0, IBV_WC_SUCCESS);
	u_expect(&u->b, 1, IBV_WC_SUCCESS);
	T_VERIFY(u->b.buf, 64, 5);
	T_VERIFY(&u->b.buf[64], 64, 7);
	sge.length = 65;
	T_EQ(fv_glue.post_send(u->a.qp, &wr, &bad), EINVAL);
}

/* As on mlx5: that unsignalled sends are done does not free their slots. */
ENDS_CASE(slots_are_freed_by_polled_completions)
{
	unsigned int i;

	for (i = 0; i < U_WRS - 1; i++)
		T_EQ(u_write(&u->a, &u->b, i, 0, 8, 0, 0), 0);
	T_EQ(u_write(&u->a, &u->b, i, 0, 8, 0, IBV_SEND_SIGNALED), 0);
	T_EQ(u_write(&u->a, &u->b, 99, 0, 8, 0, 0), ENOMEM);
	u_expect(&u->a, i, IBV_WC_SUCCESS);
	T_CHECK(u_is_empty(&u->a));
	/* The first of two completions frees what was posted up to it. */
	for (i = 0; i < U_WRS; i++)
		T_EQ(u_write(&u->a, &u->b, i, 0, 8, 0, i % 4 == 3 ? IBV_SEND_SIGNALED : 0), 0);
	u_expect(&u->a, 3, IBV_WC_SUCCESS);
	for (i = 0; i < 4; i++)
		T_EQ(u_write(&u->a, &u->b, i, 0, 8, 0, 0), 0);
	T_EQ(u_write(&u->a, &u->b, 99, 0, 8, 0, 0), ENOMEM);
	u_expect(&u->a, 7, IBV_WC_SUCCESS);
	for (i = 0; i < 4; i++)
		T_EQ(u_write(&u->a, &u->b, i, 0, 8, 0, 0), 0);
	/* None of these is signalled: the queue is full for ever. */
	T_CHECK(u_is_empty(&u->a));
	T_EQ(u_write(&u->a, &u->b, 99, 0, 8, 0, 0), ENOMEM);
}

ENDS_CASE(chains_are_taken_in_part)
{
	struct ibv_send_wr s[U_WRS + 2], *bad_s;
	struct ibv_recv_wr r[U_WRS + 2], *bad_r;
	unsigned int i;

	memset(s, 0, sizeof(s));
	memset(r, 0, sizeof(r));
	for (i = 0; i < U_WRS + 2; i++) {
		s[i].next = i == U_WRS + 1 ? NULL : &s[i + 1];
		r[i].next = i == U_WRS + 1 ? NULL : &r[i + 1];
		s[i].opcode = IBV_WR_SEND;
		s[i].send_flags = IBV_SEND_SIGNALED;
		s[i].wr_id = r[i].wr_id = i;
	}
	T_EQ(fv_glue.post_recv(u->b.qp, r, &bad_r), ENOMEM);
	T_CHECK(bad_r == &r[U_WRS]);
	fv_short_post(3);
	T_EQ(fv_glue.post_send(u->a.qp, s, &bad_s), ENOMEM);
	T_CHECK(bad_s == &s[3]);
	T_EQ(fv_glue.post_send(u->a.qp, &s[3], &bad_s), ENOMEM);
	T_CHECK(bad_s == &s[U_WRS]);
	for (i = 0; i < U_WRS; i++) {
		u_expect(&u->a, i, IBV_WC_SUCCESS);
		u_expect(&u->b, i, IBV_WC_SUCCESS);
	}
	T_CHECK(u_is_empty(&u->a));
}

static bool
event_of(struct u_end *e)
{
	struct ibv_cq *cq;
	void *ctx;

	if (fv_glue.get_cq_event(e->ch, &cq, &ctx) != 0) {
		T_EQ(errno, EAGAIN);
		return false;
	}
	T_CHECK(cq == e->cq && ctx == e);
	fv_glue.ack_cq_events(cq, 1);
	return true;
}

ENDS_CASE(armed_queue_has_one_event)
{
	struct u_end *b = &u->b;
	unsigned int i;

	T_EQ(fcntl(b->ch->fd, F_SETFL, fcntl(b->ch->fd, F_GETFL) | O_NONBLOCK), 0);
	for (i = 0; i < 5; i++)
		T_EQ(u_recv(b, i, 0, 8), 0);
	T_EQ(u_send(&u->a, 0, 0, 8, 0), 0);
	/* Not for what was there before. */
	T_EQ(fv_glue.req_notify_cq(b->cq, 0), 0);
	T_CHECK(!t_readable(b->ch->fd, 0));
	T_CHECK(!event_of(b));
	/* For the next, and not for the one after it. */
	T_EQ(u_send(&u->a, 1, 0, 8, 0), 0);
	T_EQ(u_send(&u->a, 2, 0, 8, 0), 0);
	T_CHECK(t_readable(b->ch->fd, 0));
	T_CHECK(event_of(b));
	T_CHECK(!event_of(b));
	/* Only for solicited ones. */
	T_EQ(fv_glue.req_notify_cq(b->cq, 1), 0);
	T_EQ(u_send(&u->a, 3, 0, 8, 0), 0);
	T_CHECK(!event_of(b));
	T_EQ(u_send(&u->a, 4, 0, 8, IBV_SEND_SOLICITED), 0);
	T_CHECK(event_of(b));
	for (i = 0; i < 5; i++)
		u_expect(b, i, IBV_WC_SUCCESS);
	/* That does not take back what was asked before. */
	T_EQ(fv_glue.req_notify_cq(b->cq, 0), 0);
	T_EQ(fv_glue.req_notify_cq(b->cq, 1), 0);
	T_EQ(u_recv(b, 5, 0, 8), 0);
	T_EQ(u_send(&u->a, 5, 0, 8, IBV_SEND_SIGNALED), 0);
	T_CHECK(event_of(b));
	u_expect(b, 5, IBV_WC_SUCCESS);
	fv_event_spurious(b->cq);
	T_CHECK(event_of(b) && u_is_empty(b));
}

ENDS_CASE(events_that_nobody_read_go_with_the_queue)
{
	T_EQ(fv_glue.req_notify_cq(u->b.cq, 0), 0);
	T_EQ(u_recv(&u->b, 0, 0, 8), 0);
	T_EQ(u_send(&u->a, 0, 0, 8, 0), 0);
	T_CHECK(t_readable(u->b.ch->fd, 0));
	T_EQ(fv_glue.destroy_qp(u->b.qp), 0);
	T_EQ(fv_glue.destroy_cq(u->b.cq), 0);
	T_CHECK(!t_readable(u->b.ch->fd, 0));
	T_EQ(fv_glue.destroy_comp_channel(u->b.ch), 0);
	T_EQ(fv_glue.dereg_mr(u->b.mr), 0);
	T_EQ(fv_glue.dealloc_pd(u->b.pd), 0);
	free(u->b.buf);
	u_end_open(&u->b, "fv1");
}

/* The wire's thread delivers; the queues keep their order. */
ENDS_CASE(delayed_messages_keep_their_order)
{
	struct fv_conf conf;
	unsigned int i, n;

	fv_conf_default(&conf);
	conf.delay_us = 200;
	conf.jitter_us = 200;
	fv_configure(&conf);
	for (n = 0; n < 50; n++) {
		for (i = 0; i < U_WRS; i++)
			T_EQ(u_recv(&u->b, i, i * 8, 8), 0);
		for (i = 0; i < U_WRS; i++) {
			memcpy(&u->a.buf[i * 8], &(uint64_t) { n * 100 + i }, 8);
			T_EQ(u_send(&u->a, i, i * 8, 8, IBV_SEND_SIGNALED), 0);
		}
		for (i = 0; i < U_WRS; i++) {
			uint64_t val;

			u_expect(&u->b, i, IBV_WC_SUCCESS);
			memcpy(&val, &u->b.buf[i * 8], 8);
			T_EQ(val, n * 100 + i);
		}
		for (i = 0; i < U_WRS; i++)
			u_expect(&u->a, i, IBV_WC_SUCCESS);
	}
}

/* The sleeper is woken by the thread of the wire. */
ENDS_CASE(delayed_completion_wakes)
{
	struct ibv_cq *cq;
	struct fv_conf conf;
	void *ctx;

	fv_conf_default(&conf);
	conf.delay_us = 2000;
	fv_configure(&conf);
	T_EQ(u_recv(&u->b, 1, 0, 8), 0);
	T_EQ(fv_glue.req_notify_cq(u->b.cq, 0), 0);
	T_EQ(u_send(&u->a, 1, 0, 8, 0), 0);
	T_EQ(fv_glue.get_cq_event(u->b.ch, &cq, &ctx), 0);
	fv_glue.ack_cq_events(cq, 1);
	u_expect(&u->b, 1, IBV_WC_SUCCESS);
}

/* A slot or payload that is read too early yields poison or its old content. */
ENDS_CASE(nothing_is_there_before_its_completion)
{
	struct fv_conf conf;

	fv_conf_default(&conf);
	conf.late_recv = conf.late_write = true;
	fv_configure(&conf);
	t_fill(u->a.buf, 64, 1);
	t_fill(&u->a.buf[64], 64, 2);
	T_EQ(u_recv(&u->b, 1, 0, 64), 0);
	T_EQ(u->b.buf[63], FV_POISON);
	T_EQ(u_write(&u->a, &u->b, 0, 64, 64, 512, 0), 0);
	T_EQ(u_send(&u->a, 1, 0, 64, IBV_SEND_SIGNALED), 0);
	u_expect(&u->a, 1, IBV_WC_SUCCESS);
	T_EQ(u->b.buf[0], FV_POISON);
	T_EQ(u->b.buf[512], 0);
	u_expect(&u->b, 1, IBV_WC_SUCCESS);
	T_VERIFY(u->b.buf, 64, 1);
	T_VERIFY(&u->b.buf[512], 64, 2);
	/* And nothing comes after deregistration. */
	T_EQ(u_write(&u->a, &u->b, 0, 64, 64, 1024, 0), 0);
	T_EQ(fv_glue.dereg_mr(u->b.mr), 0);
	T_VERIFY(&u->b.buf[1024], 64, 2);
	u->b.mr = fv_glue.reg_mr(u->b.pd, u->b.buf, U_BUF, IBV_ACCESS_LOCAL_WRITE);
}

ENDS_CASE(held_messages_go_step_by_step)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		T_EQ(u_recv(&u->b, i, 0, 8), 0);
	fv_hold();
	for (i = 0; i < 3; i++)
		T_EQ(u_send(&u->a, i, 0, 8, IBV_SEND_SIGNALED), 0);
	T_CHECK(u_is_empty(&u->b));
	fv_step(1);
	u_expect(&u->b, 0, IBV_WC_SUCCESS);
	u_expect(&u->a, 0, IBV_WC_SUCCESS);
	T_CHECK(u_is_empty(&u->b) && u_is_empty(&u->a));
	fv_release();
	u_expect(&u->b, 1, IBV_WC_SUCCESS);
	u_expect(&u->b, 2, IBV_WC_SUCCESS);
}

ENDS_CASE(states_and_attributes_are_checked)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = u->a.qp;

	T_EQ(fv_glue.query_qp(qp, &attr, 0, &init), 0);
	T_EQ(attr.qp_state, IBV_QPS_RTS);
	T_EQ(attr.dest_qp_num, u->b.qp->qp_num);
	T_EQ(init.cap.max_inline_data, 64);
	T_CHECK(fv_qp_peer(qp) == u->b.qp);
	T_EQ(u_rts(qp, 9, 6), EINVAL);
	T_EQ(u_init(qp), EINVAL);
	T_EQ(u_set_state(qp, IBV_QPS_RESET), 0);
	T_EQ(u_recv(&u->a, 0, 0, 8), EINVAL);
	/* ACCESS_FLAGS lack. */
	attr.qp_state = IBV_QPS_INIT;
	T_EQ(fv_glue.modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT), EINVAL);
	T_EQ(u_rtr(qp, "10.0.0.1", "10.0.1.1", 1, 7), EINVAL);
	T_EQ(u_init(qp), 0);
	T_EQ(u_recv(&u->a, 0, 0, 8), 0);
	T_EQ(u_send(&u->a, 0, 0, 8, 0), EINVAL);
	T_EQ(u_rtr(qp, "10.0.0.1", "10.9.9.9", 1, 7), EHOSTUNREACH);
	T_EQ(u_rtr(qp, "10.0.0.1", "10.0.1.1", 1, 7), 0);
	T_EQ(u_send(&u->a, 0, 0, 8, 0), EINVAL);
	T_CHECK(fv_qp_peer(qp) == NULL);
}

ENDS_CASE(stats_count_what_was_posted)
{
	struct ibv_send_wr wr[2] = { { .opcode = IBV_WR_SEND }, { .opcode = IBV_WR_SEND } };
	struct ibv_send_wr *bad;
	struct fv_stats s;

	wr[0].next = &wr[1];
	wr[1].send_flags = IBV_SEND_SIGNALED;
	T_EQ(u_recv(&u->b, 0, 0, 8), 0);
	T_EQ(u_recv(&u->b, 0, 0, 8), 0);
	T_EQ(fv_glue.post_send(u->a.qp, wr, &bad), 0);
	u_wc(&u->a);
	u_wc(&u->b);
	fv_get_stats(&s);
	T_EQ(s.doorbells, 1);
	T_EQ(s.sends, 2);
	T_EQ(s.recvs, 2);
	T_EQ(s.cqes, 2);
	T_EQ(s.cqes_send, 1);
	T_EQ(s.rnr, 0);
	T_EQ(s.regs, 2);
	T_EQ(s.pinned, 2 * U_BUF);
}
