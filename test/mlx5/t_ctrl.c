/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The control path of the RDMA driver when something goes wrong. */

#include <rte_comch_stats.h>

#include "mlx5_private.h"
#include "u_ctrl.h"

/* The cable is cut, and no side sends anything: probes find out. */
CTRL_CASE(cable_is_cut)
{
	uint64_t start;

	u_dead_ms = DEAD_MS;
	t_pair_open(p, NULL);
	start = t_now_ms();
	fv_cut(NULL, NULL);
	u_both_end(p, -ETIMEDOUT, "peer does not respond");
	/* Not before a link can be called silent. */
	T_GE(t_now_ms() - start, DEAD_MS / 8);
	fv_restore(NULL, NULL);
	u_connect_again(p);
}

/* A message is a work request and a doorbell; what a queue pair counted stays. */
CTRL_CASE(counters)
{
	struct rte_comch_xstat one;
	uint64_t sends, doorbells;

	t_pair_open(p, NULL);
	sends = u_counter(p->host_dev, "sends");
	doorbells = u_counter(p->host_dev, "doorbells");
	T_GT(sends, 0);
	t_send(p->cconn, "x", 1, 1);
	T_EQ(u_counter(p->host_dev, "sends"), sends + 1);
	T_EQ(u_counter(p->host_dev, "doorbells"), doorbells + 1);
	T_GT(u_counter(p->host_dev, "pinned"), 0);
	T_EQ(u_counter(p->host_dev, "rnr"), 0);
	T_GT(rte_comch_dev_xstats_get(p->host_dev, &one, 1), 1);
	T_STR_EQ(one.name, "sends");
	T_EQ(rte_comch_conn_disconnect(p->sconn, "enough"), -EINPROGRESS);
	u_connect_again(p);
	T_GT(u_counter(p->host_dev, "sends"), sends + 1);
}

/* The same while both sleep: the timer of a sleeping link. */
CTRL_CASE(cable_is_cut_asleep)
{
	u_dead_ms = DEAD_MS;
	t_pair_open(p, NULL);
	fv_cut(NULL, NULL);
	T_SLEEP_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1 &&
			t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	fv_restore(NULL, NULL);
	u_connect_again(p);
}

/* No completion, no error: the device forgot. */
CTRL_CASE(queue_pair_is_stuck)
{
	u_dead_ms = DEAD_MS;
	t_pair_open(p, NULL);
	fv_hold();
	t_send(p->cconn, "x", 1, 1);
	u_both_end(p, -ETIMEDOUT, "no completion on the control queue pair");
	fv_release();
	u_connect_again(p);
}

CTRL_CASE(queue_pair_fails)
{
	t_pair_open(p, NULL);
	fv_event_qp(u_ctrl_qp(), IBV_EVENT_QP_FATAL);
	u_both_end(p, -EIO, "fatal error of a queue pair");
	u_connect_again(p);
}

/* A message that is longer than a slot, in the words of Soft-RoCE. */
CTRL_CASE(receive_fails)
{
	const struct fv_fault fault = { .recv = true, .status = IBV_WC_LOC_QP_OP_ERR };
	const struct t_ev *ev;

	t_pair_open(p, NULL);
	fv_fail_wr(&fault);
	t_send(p->cconn, "x", 1, 1);
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	ev = t_find(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0);
	T_EQ(ev->e.status, -EPROTO);
	T_STR_HAS(ev->text, "longer than a receive slot");
	u_connect_again(p);
}

/* The device says that a work request failed; the connection says how. */
CTRL_CASE(send_fails)
{
	static const struct {
		enum ibv_wc_status status;
		int error;
		const char *text;
	} cases[] = {
		{ IBV_WC_LOC_PROT_ERR, -EIO, "local memory is not registered for the access" },
		{ IBV_WC_LOC_QP_OP_ERR, -EIO, "the local device refused a work request" },
		{ IBV_WC_FATAL_ERR, -EIO, "the local device failed" },
		{ IBV_WC_REM_INV_REQ_ERR, -EPROTO, "peer's device refused the request" },
		{ IBV_WC_REM_OP_ERR, -EPROTO, "peer's device failed to perform the request" },
		{ IBV_WC_REM_ACCESS_ERR, -EPROTO, "peer's memory does not allow the access" },
		{ IBV_WC_RNR_RETRY_EXC_ERR, -ETIMEDOUT, "peer has no receive buffer posted" },
		{ IBV_WC_RETRY_EXC_ERR, -ETIMEDOUT, "peer does not respond" },
	};
	struct fv_fault fault = { .opcode = -1 };
	unsigned int i;

	t_pair_open(p, NULL);
	for (i = 0; i < RTE_DIM(cases); i++) {
		fault.status = cases[i].status;
		fault.qp = u_ctrl_qp();
		fv_fail_wr(&fault);
		t_send(p->cconn, "x", 1, 1);
		u_both_end(p, cases[i].error, cases[i].text);
		u_connect_again(p);
	}
}

/* The peer's end has failed too, and its goodbye is here before the completion was read. */
CTRL_CASE(send_fails_and_peer_leaves)
{
	struct fv_fault fault = { .opcode = -1, .status = IBV_WC_REM_ACCESS_ERR };

	t_pair_open(p, NULL);
	fault.qp = u_ctrl_qp();
	fv_fail_wr(&fault);
	fv_hold();
	t_send(p->cconn, "x", 1, 1);
	p->host->paused = true;
	fv_release();
	T_EQ(rte_comch_conn_disconnect(p->sconn, NULL), -EINPROGRESS);
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	p->host->paused = false;
	u_both_end(p, -EPROTO, "peer's memory does not allow the access");
	u_connect_again(p);
}

CTRL_CASE(completion_queue_fails)
{
	t_pair_open(p, NULL);
	fv_event_cq(u_ctrl_qp()->send_cq);
	u_both_end(p, -EIO, "error of a completion queue");
	u_connect_again(p);
}

CTRL_CASE(port_goes_down)
{
	t_pair_open(p, NULL);
	fv_event_port("fv1", IBV_EVENT_PORT_ERR);
	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_EQ(t_find(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0)->e.status, -ENETDOWN);
	fv_event_port("fv1", IBV_EVENT_PORT_ACTIVE);
}

CTRL_CASE(device_fails)
{
	t_pair_open(p, NULL);
	fv_event_dev("fv1");
	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_EQ(t_find(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0)->e.status, -ENODEV);
}

/* The kernel takes it away. */
CTRL_CASE(device_is_removed)
{
	const struct t_ev *ev;

	t_pair_open(p, NULL);
	fv_remove_dev("fv1");
	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	ev = t_find(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0);
	T_EQ(ev->e.status, -ENODEV);
	T_STR_HAS(ev->text, "the device was removed");
}

/* Frames that arrived before the end are read before DISCONNECTED. */
CTRL_CASE(last_words_before_failure)
{
	const struct t_ev *msg, *last;

	t_pair_open(p, NULL);
	p->dpu->paused = true;
	t_send(p->cconn, "last", 4, 1);
	t_settle();
	fv_event_qp(fv_qp_peer(u_ctrl_qp()), IBV_EVENT_QP_FATAL);
	p->dpu->paused = false;
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	msg = t_find(p->dpu, RTE_COMCH_EVENT_MSG, NULL, 0);
	last = t_find(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0);
	T_LT(t_pos(p->dpu, msg), t_pos(p->dpu, last));
}

/* What a device string gets for an answer. */
static void
refused(const char *keys, int error, const char *sentence)
{
	char string[256];
	struct t_log log;
	int16_t dev;

	snprintf(string, sizeof(string), "comch_mlx59,dir=%s,%s", t_dir(), keys);
	t_log_begin(&log);
	T_EQ(rte_comch_dev_probe(string, &dev), error);
	t_log_end(&log, sentence);
}

CTRL_CASE(device_strings)
{
	static const struct fv_dev_conf ib = {
		.name = "ib0", .link_layer = IBV_LINK_LAYER_INFINIBAND, .addrs = { "10.0.0.9" },
	}, bare = { .name = "fv0" };

	RTE_SET_USED(p);
	refused("role=host,peer=10.0.0.1,dev=mlx5_7", -ENODEV,
		"no RDMA device mlx5_7; there are: fv0, fv1");
	refused("role=host,peer=10.0.0.1", -ENODEV, "dev=DEVICE is required; there are: fv0, fv1");
	refused("role=host,dev=fv0", -EINVAL, "peer=ADDRESS is required");
	refused("role=host,dev=fv0,peer=nowhere", -EINVAL,
		"peer=nowhere: invalid value, expected an IPv4 or IPv6 address");
	refused("role=dpu,dev=fv0,rep=pf0", -EINVAL, "expected FUNCTION@ADDRESS");
	refused("role=dpu,dev=fv0,rep=pf0@10.0.0.2+x", -EINVAL, "rep=x: invalid value");
	refused("role=dpu,dev=fv0,peer=10.0.0.2,rep=pf0@10.0.0.2", -EINVAL, "peer=10.0.0.2");
	refused("role=host,dev=fv0,peer=10.0.0.1,port=2", -EINVAL, "fv0 has 1 ports");
	refused("role=host,dev=fv0,peer=10.0.0.1,gid=0", -EADDRNOTAVAIL, "is not a RoCEv2 GID");
	refused("role=host,dev=fv0,peer=10.0.0.1,ports=5", -EINVAL, "FIRST-LAST");
	refused("role=host,dev=fv0,peer=10.0.0.1,slot=100", -EINVAL, "a number from 256 to 4096");
	fv_event_port("fv0", IBV_EVENT_PORT_ERR);
	refused("role=host,dev=fv0,peer=10.0.0.1", -ENETDOWN, "port 1 of fv0 is down");
	fv_reset();
	fv_fail_call(FV_CALL_REG_MR, 0, ENOMEM);
	refused("role=host,dev=fv0,peer=10.0.0.1", -ENOMEM, "cannot register the");
	fv_set_devices(&bare, 1);
	refused("role=host,peer=10.0.0.1", -EADDRNOTAVAIL, "has no RoCEv2 GID with an IP address");
	fv_set_devices(&ib, 1);
	refused("role=host,peer=10.0.0.1", -ENOTSUP, "is an InfiniBand port");
}

/*
 * Each of these fails once within a connect or an accept: nothing leaks, and the next
 * connection works. twice: both ends make the call.
 */
CTRL_CASE(resources_run_out)
{
	static const struct {
		enum fv_call call;
		bool twice;
	} calls[] = {
		{ FV_CALL_ALLOC_PD, true }, { FV_CALL_REG_MR, true },
		{ FV_CALL_CREATE_COMP_CHANNEL, true }, { FV_CALL_CREATE_CQ, true },
		{ FV_CALL_CREATE_QP, true }, { FV_CALL_MODIFY_QP, true },
		{ FV_CALL_POST_RECV, true }, { FV_CALL_CREATE_EVENT_CHANNEL, true },
		{ FV_CALL_INIT_QP_ATTR, true }, { FV_CALL_CREATE_ID, false },
		{ FV_CALL_RESOLVE_ADDR, false }, { FV_CALL_RESOLVE_ROUTE, false },
		{ FV_CALL_CONNECT, false }, { FV_CALL_ESTABLISH, false },
		{ FV_CALL_ACCEPT, false }, { FV_CALL_MIGRATE_ID, false },
		{ FV_CALL_ADDR_RESOLVED, false }, { FV_CALL_ROUTE_RESOLVED, false },
	};
	unsigned int i, nth;

	t_pair_ends(p, NULL);
	for (i = 0; i < RTE_DIM(calls); i++) {
		for (nth = 0; nth < (calls[i].twice ? 2 : 1); nth++) {
			fv_fail_call(calls[i].call, nth, ENOMEM);
			T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
			T_UNTIL(rte_comch_client_state(p->client) != RTE_COMCH_STATE_STARTING);
			t_pair_disconnect(p);
		}
	}
	t_settle();
	u_connect_again(p);
}
