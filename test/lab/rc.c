/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "rc.h"

#define PORT 1
#define PAGE 4096

void
rc_check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s failed: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* RoCEv2 encodes an IPv4 address as an IPv4-mapped IPv6 address. */
static int
find_gid(struct rc_dev *dev, const char *ip, int nb_gids)
{
	union ibv_gid gid;
	struct in6_addr want;
	char text[64];
	int i;

	snprintf(text, sizeof(text), "::ffff:%s", ip);
	if (inet_pton(AF_INET6, text, &want) != 1)
		return -1;
	for (i = 0; i < nb_gids; i++) {
		if (ibv_query_gid(dev->ctx, PORT, i, &gid) != 0 ||
				memcmp(&gid, &want, sizeof(gid)) != 0)
			continue;
		dev->gid = gid;
		dev->gid_index = i;
		return 0;
	}
	return -1;
}

void
rc_open(struct rc_dev *dev, const char *ip, size_t len)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	void *mem;

	rc_check(list != NULL && list[0] != NULL, "looking for an RDMA device");
	dev->ctx = ibv_open_device(list[0]);
	rc_check(dev->ctx != NULL, "ibv_open_device");
	ibv_free_device_list(list);
	dev->pd = ibv_alloc_pd(dev->ctx);
	rc_check(dev->pd != NULL, "ibv_alloc_pd");
	rc_check(ibv_query_port(dev->ctx, PORT, &port) == 0, "ibv_query_port");
	dev->mtu = port.active_mtu;
	rc_check(find_gid(dev, ip, port.gid_tbl_len) == 0, "finding the GID of the address");

	errno = posix_memalign(&mem, PAGE, len);
	rc_check(errno == 0, "posix_memalign");
	memset(mem, 0, len);
	dev->mem = mem;
	dev->mr = ibv_reg_mr(dev->pd, mem, len, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	rc_check(dev->mr != NULL, "ibv_reg_mr");
}

void
rc_close(struct rc_dev *dev)
{
	ibv_dereg_mr(dev->mr);
	free(dev->mem);
	ibv_dealloc_pd(dev->pd);
	ibv_close_device(dev->ctx);
}

void
rc_create(const struct rc_dev *dev, struct rc_end *end)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = RC_DEPTH,
			.max_recv_wr = RC_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 64,
		},
	};

	end->channel = ibv_create_comp_channel(dev->ctx);
	rc_check(end->channel != NULL, "ibv_create_comp_channel");
	end->send_cq = ibv_create_cq(dev->ctx, RC_DEPTH, NULL, NULL, 0);
	end->recv_cq = ibv_create_cq(dev->ctx, RC_DEPTH, NULL, end->channel, 0);
	rc_check(end->send_cq != NULL && end->recv_cq != NULL, "ibv_create_cq");
	attr.send_cq = end->send_cq;
	attr.recv_cq = end->recv_cq;
	end->qp = ibv_create_qp(dev->pd, &attr);
	rc_check(end->qp != NULL, "ibv_create_qp");
}

void
rc_destroy(struct rc_end *end)
{
	ibv_destroy_qp(end->qp);
	ibv_destroy_cq(end->send_cq);
	ibv_destroy_cq(end->recv_cq);
	ibv_destroy_comp_channel(end->channel);
}

struct rc_addr
rc_addr(const struct rc_dev *dev, const struct rc_end *end)
{
	return (struct rc_addr) {
		.gid = dev->gid,
		.mem = (uintptr_t)dev->mem,
		.qpn = end->qp->qp_num,
		.rkey = dev->mr->rkey,
	};
}

static void
modify(struct rc_end *end, struct ibv_qp_attr *attr, int mask)
{
	errno = ibv_modify_qp(end->qp, attr, mask | IBV_QP_STATE);
	rc_check(errno == 0, "ibv_modify_qp");
}

void
rc_connect(const struct rc_dev *dev, struct rc_end *end, const struct rc_addr *peer)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = dev->mtu,
		.dest_qp_num = peer->qpn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.grh = {
				.dgid = peer->gid,
				.sgid_index = (uint8_t)dev->gid_index,
				.hop_limit = 64,
			},
			.port_num = PORT,
		},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	modify(end, &init, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	modify(end, &rtr, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	modify(end, &rts, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

void
rc_post_recv(const struct rc_dev *dev, struct rc_end *end, void *buf, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf,
		.length = len,
		.lkey = dev->mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = len == 0 ? 0 : 1 };
	struct ibv_recv_wr *bad;

	errno = ibv_post_recv(end->qp, &wr, &bad);
	rc_check(errno == 0, "ibv_post_recv");
}

void
rc_post_send(struct rc_end *end, struct ibv_send_wr *wrs)
{
	struct ibv_send_wr *bad;

	errno = ibv_post_send(end->qp, wrs, &bad);
	rc_check(errno == 0, "ibv_post_send");
}

void
rc_wait(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, &wc);
	} while (n == 0);
	rc_check(n == 1, "ibv_poll_cq");
	if (wc.status == IBV_WC_SUCCESS)
		return;
	fprintf(stderr, "completion with status %s\n", ibv_wc_status_str(wc.status));
	exit(EXIT_FAILURE);
}

void
rc_pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	rc_check(sched_setaffinity(0, sizeof(set), &set) == 0, "sched_setaffinity");
}
