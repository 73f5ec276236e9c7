/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The calls of libibverbs and librdmacm. Inline verbs and macros get an address here. */

#include "mlx5_glue.h"

static const char *
get_device_path(struct ibv_device *device)
{
	return device->ibdev_path;
}

static int
query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr)
{
	return ibv_query_port(ctx, port, attr);
}

static ssize_t
query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *entries, size_t max,
		uint32_t flags)
{
	return ibv_query_gid_table(ctx, entries, max, flags);
}

static struct ibv_mr *
reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return ibv_reg_mr(pd, addr, len, access);
}

static int
poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return ibv_poll_cq(cq, n, wc);
}

static int
req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return ibv_req_notify_cq(cq, solicited_only);
}

static int
post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return ibv_post_send(qp, wr, bad);
}

static int
post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return ibv_post_recv(qp, wr, bad);
}

static const struct mlx5_glue real_glue = {
	.get_devices = rdma_get_devices,
	.free_devices = rdma_free_devices,
	.get_device_name = ibv_get_device_name,
	.get_device_path = get_device_path,
	.query_device = ibv_query_device,
	.query_port = query_port,
	.query_pkey = ibv_query_pkey,
	.query_gid_table = query_gid_table,
	.get_async_event = ibv_get_async_event,
	.ack_async_event = ibv_ack_async_event,
	.alloc_pd = ibv_alloc_pd,
	.dealloc_pd = ibv_dealloc_pd,
	.reg_mr = reg_mr,
	.dereg_mr = ibv_dereg_mr,
	.create_comp_channel = ibv_create_comp_channel,
	.destroy_comp_channel = ibv_destroy_comp_channel,
	.get_cq_event = ibv_get_cq_event,
	.ack_cq_events = ibv_ack_cq_events,
	.create_cq = ibv_create_cq,
	.destroy_cq = ibv_destroy_cq,
	.poll_cq = poll_cq,
	.req_notify_cq = req_notify_cq,
	.create_qp = ibv_create_qp,
	.modify_qp = ibv_modify_qp,
	.query_qp = ibv_query_qp,
	.destroy_qp = ibv_destroy_qp,
	.post_send = post_send,
	.post_recv = post_recv,
	.create_event_channel = rdma_create_event_channel,
	.destroy_event_channel = rdma_destroy_event_channel,
	.create_id = rdma_create_id,
	.destroy_id = rdma_destroy_id,
	.set_option = rdma_set_option,
	.bind_addr = rdma_bind_addr,
	.listen = rdma_listen,
	.resolve_addr = rdma_resolve_addr,
	.resolve_route = rdma_resolve_route,
	.init_qp_attr = rdma_init_qp_attr,
	.connect = rdma_connect,
	.establish = rdma_establish,
	.accept = rdma_accept,
	.reject = rdma_reject,
	.disconnect = rdma_disconnect,
	.migrate_id = rdma_migrate_id,
	.get_cm_event = rdma_get_cm_event,
	.ack_cm_event = rdma_ack_cm_event,
};

const struct mlx5_glue *mlx5_verbs = &real_glue;
