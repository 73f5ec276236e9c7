/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <fcntl.h>
#include <stdlib.h>

#include "t_node.h"
#include "u_ctrl.h"
#include "vpeer.h"

/* Buffers to send from, used in turn. */
#define TX_BUFS 16
#define TX_SIZE 8192
#define PATH_MTU IBV_MTU_1024

/* Queue pairs */

static void
post_slot(struct vp_qp *q, uint64_t slot)
{
	struct ibv_sge sge = {
		(uintptr_t)(q->slab + slot * q->rx_size), q->rx_size, q->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	T_EQ(fv_glue.post_recv(q->qp, &wr, &bad), 0);
}

static void
qp_open(struct vp_qp *q, struct ibv_pd *pd, uint32_t nb_rx, uint32_t rx_size)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = TX_BUFS, .max_recv_wr = nb_rx, .max_send_sge = 1,
			.max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	const size_t len = (size_t)nb_rx * rx_size + TX_BUFS * TX_SIZE;

	memset(q, 0, sizeof(*q));
	q->nb_rx = nb_rx;
	q->rx_size = rx_size;
	q->slab = calloc(1, len);
	T_CHECK(q->slab != NULL);
	q->mr = fv_glue.reg_mr(pd, q->slab, len, IBV_ACCESS_LOCAL_WRITE);
	T_CHECK(q->mr != NULL);
	q->tx_cq = init.send_cq = fv_glue.create_cq(pd->context, TX_BUFS, NULL, NULL, 0);
	q->rx_cq = init.recv_cq = fv_glue.create_cq(pd->context, (int)nb_rx, NULL, NULL, 0);
	T_CHECK(q->tx_cq != NULL && q->rx_cq != NULL);
	q->qp = fv_glue.create_qp(pd, &init);
	T_CHECK(q->qp != NULL);
	q->psn = 4711;
}

static void
qp_close(struct vp_qp *q)
{
	if (q->qp == NULL)
		return;
	T_EQ(fv_glue.destroy_qp(q->qp), 0);
	T_EQ(fv_glue.destroy_cq(q->tx_cq), 0);
	T_EQ(fv_glue.destroy_cq(q->rx_cq), 0);
	T_EQ(fv_glue.dereg_mr(q->mr), 0);
	free(q->slab);
	q->qp = NULL;
}

static void
post_slots(struct vp_qp *q)
{
	uint32_t i;

	for (i = 0; i < q->nb_rx; i++)
		post_slot(q, i);
}

/* A buffer to send from; waits until it is free. */
static uint8_t *
tx_buf(struct vp_qp *q)
{
	struct ibv_wc wc[TX_BUFS];

	T_UNTIL((q->nb_done += (uint64_t)fv_glue.poll_cq(q->tx_cq, TX_BUFS, wc),
		q->nb_sent - q->nb_done < TX_BUFS));
	return q->slab + (size_t)q->nb_rx * q->rx_size + q->nb_sent % TX_BUFS * TX_SIZE;
}

static void
post(struct vp_qp *q, struct ibv_send_wr *wr, const void *bytes, uint32_t len)
{
	uint8_t *buf = tx_buf(q);
	struct ibv_sge sge = { (uintptr_t)buf, len, q->mr->lkey };
	struct ibv_send_wr *bad;

	T_LE(len, TX_SIZE);
	if (len > 0)
		memcpy(buf, bytes, len);
	wr->sg_list = &sge;
	wr->num_sge = len > 0 ? 1 : 0;
	wr->send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
	T_EQ(fv_glue.post_send(q->qp, wr, &bad), 0);
	q->nb_sent++;
}

void
vp_send(struct vp_qp *q, const void *bytes, uint32_t len)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	post(q, &wr, bytes, len);
}

void
vp_write(struct vp_qp *q, enum ibv_wr_opcode opcode, const void *bytes, uint32_t len,
		uint64_t addr, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = opcode, .wr.rdma = { addr, rkey } };

	post(q, &wr, bytes, len);
}

/* Private data */

void
vp_hello(struct form *f, const char *name)
{
	uint64_t hash[2];

	mlx5_name_hash("pf0", name, (uint8_t *)hash);
	form_add(f, 4, MLX5_MAGIC);
	form_add(f, 2, MLX5_WIRE_VERSION);
	form_add(f, 2, 0);
	form_add(f, 8, hash[0]);
	form_add(f, 8, hash[1]);
	form_add(f, 4, VP_SLOT);
	form_add(f, 4, VP_SLOTS);
	form_add(f, 4, 0);
	form_add(f, 4, 0);
	T_EQ(form_len(f), sizeof(struct mlx5_hello));
}

void
vp_welcome(struct form *f)
{
	form_add(f, 4, MLX5_MAGIC);
	form_add(f, 2, MLX5_WIRE_VERSION);
	form_add(f, 2, 0);
	form_add(f, 4, VP_SLOT);
	form_add(f, 4, VP_SLOTS);
	T_EQ(form_len(f), sizeof(struct mlx5_welcome));
}

void
vp_refuse(struct form *f, uint16_t reason)
{
	form_add(f, 4, MLX5_MAGIC);
	form_add(f, 2, MLX5_WIRE_VERSION);
	form_add(f, 2, reason);
	T_EQ(form_len(f), sizeof(struct mlx5_refuse));
}

/* Connecting */

static void
open_channel(struct vp *a)
{
	memset(a, 0, sizeof(*a));
	a->ch = fv_glue.create_event_channel();
	T_CHECK(a->ch != NULL);
	T_EQ(fcntl(a->ch->fd, F_SETFL, O_NONBLOCK), 0);
}

static void
open_ctrl(struct vp *a)
{
	a->pd = fv_glue.alloc_pd(a->id->verbs);
	T_CHECK(a->pd != NULL);
	qp_open(&a->ctrl, a->pd, VP_SLOTS, VP_SLOT);
}

static void
ctrl_to(struct vp *a, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask = 0;

	T_EQ(fv_glue.init_qp_attr(a->id, &attr, &mask), 0);
	if (state == IBV_QPS_RTR)
		a->ah = attr.ah_attr;
	T_EQ(fv_glue.modify_qp(a->ctrl.qp, &attr, mask), 0);
}

static void
ctrl_ready(struct vp *a)
{
	ctrl_to(a, IBV_QPS_INIT);
	post_slots(&a->ctrl);
	ctrl_to(a, IBV_QPS_RTR);
	ctrl_to(a, IBV_QPS_RTS);
}

/* The next event of the connection manager. *why: of a refusal. False: none. */
static bool
next_event(struct vp *a, enum rdma_cm_event_type *type, unsigned int *why)
{
	struct mlx5_refuse refuse;
	struct rdma_cm_event *ev;

	if (fv_glue.get_cm_event(a->ch, &ev) != 0)
		return false;
	*type = ev->event;
	if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		a->id = ev->id;
	if (ev->event == RDMA_CM_EVENT_REJECTED &&
			ev->param.conn.private_data_len >= sizeof(refuse)) {
		memcpy(&refuse, ev->param.conn.private_data, sizeof(refuse));
		*why = refuse.magic == MLX5_MAGIC ? refuse.reason : 0;
	}
	fv_glue.ack_cm_event(ev);
	return true;
}

bool
vp_dial(struct vp *a, const char *name, const void *data, uint8_t len, unsigned int *why)
{
	struct mlx5_addr from, to = u_addr_of_port(name, 0);
	struct rdma_conn_param param = {
		.private_data = data, .private_data_len = len, .retry_count = 6,
		.rnr_retry_count = 6,
	};
	enum rdma_cm_event_type type;

	*why = 0;
	open_channel(a);
	T_EQ(mlx5_name_parse_addr("10.0.1.1", &from), 0);
	T_EQ(fv_glue.create_id(a->ch, &a->id, NULL, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.resolve_addr(a->id, &from.sa, &to.sa, 1000), 0);
	for (;;) {
		T_UNTIL(next_event(a, &type, why));
		switch (type) {
		case RDMA_CM_EVENT_ADDR_RESOLVED:
			T_EQ(fv_glue.resolve_route(a->id, 1000), 0);
			break;
		case RDMA_CM_EVENT_ROUTE_RESOLVED:
			open_ctrl(a);
			param.qp_num = a->ctrl.qp->qp_num;
			T_EQ(fv_glue.connect(a->id, &param), 0);
			break;
		case RDMA_CM_EVENT_CONNECT_RESPONSE:
			ctrl_ready(a);
			return fv_glue.establish(a->id) == 0;
		default:
			a->is_over = true;
			return false;
		}
	}
}

void
vp_listen(struct vp *place, const char *name)
{
	struct mlx5_addr addr = u_addr_of_port(name, 0);

	open_channel(place);
	T_EQ(fv_glue.create_id(place->ch, &place->id, NULL, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.bind_addr(place->id, &addr.sa), 0);
	T_EQ(fv_glue.listen(place->id, 64), 0);
}

/* The id of the next request. What became of earlier ones does not matter. */
static struct rdma_cm_id *
take_request(struct vp *place)
{
	struct rdma_cm_id *listener = place->id, *id;
	enum rdma_cm_event_type type;
	unsigned int why;

	do
		T_UNTIL(next_event(place, &type, &why));
	while (type != RDMA_CM_EVENT_CONNECT_REQUEST);
	id = place->id;
	place->id = listener;
	return id;
}

void
vp_accept(struct vp *place, struct vp *a, const void *data, uint8_t len)
{
	struct rdma_conn_param param = {
		.private_data = data, .private_data_len = len, .rnr_retry_count = 6,
	};

	open_channel(a);
	a->id = take_request(place);
	T_EQ(fv_glue.migrate_id(a->id, a->ch), 0);
	open_ctrl(a);
	ctrl_ready(a);
	param.qp_num = a->ctrl.qp->qp_num;
	T_EQ(fv_glue.accept(a->id, &param), 0);
}

void
vp_reject(struct vp *place, const void *data, uint8_t len)
{
	struct rdma_cm_id *id = take_request(place);

	T_EQ(fv_glue.reject(id, data, len), 0);
	T_EQ(fv_glue.destroy_id(id), 0);
}

void
vp_close(struct vp *a)
{
	if (a->id != NULL) {
		(void)fv_glue.disconnect(a->id);
		T_EQ(fv_glue.destroy_id(a->id), 0);
	}
	if (a->ch != NULL)
		fv_glue.destroy_event_channel(a->ch);
	qp_close(&a->ctrl);
	qp_close(&a->data);
	if (a->mem_mr != NULL)
		T_EQ(fv_glue.dereg_mr(a->mem_mr), 0);
	free(a->mem);
	if (a->pd != NULL)
		T_EQ(fv_glue.dealloc_pd(a->pd), 0);
	memset(a, 0, sizeof(*a));
	a->is_over = true;
}

bool
vp_is_over(struct vp *a)
{
	enum rdma_cm_event_type type;
	struct vp_frame f;
	unsigned int why;

	while (!a->is_over && next_event(a, &type, &why))
		a->is_over = type != RDMA_CM_EVENT_ESTABLISHED;
	while (!a->is_over && vp_recv(a, &f))
		a->is_over = f.type == COMCH_WIRE_REJECT || f.type == COMCH_WIRE_DISCONNECT;
	return a->is_over;
}

/* Control messages */

void
vp_add_ctrl(struct vp *a, struct form *f, uint32_t len)
{
	form_add(f, 4, len);
	form_add(f, 4, a->returned);
	form_add(f, 2, 0);
	form_add(f, 1, 0);
	form_add(f, 1, 0);
	form_add(f, 4, 0);
}

static void
need_mem(struct vp *a)
{
	if (a->mem != NULL)
		return;
	a->mem = calloc(1, LIE_MEM_LEN);
	T_CHECK(a->mem != NULL);
	a->mem_mr = fv_glue.reg_mr(a->pd, a->mem, LIE_MEM_LEN,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	T_CHECK(a->mem_mr != NULL);
}

static void
add_mem_ticket(struct vp *a, struct form *f)
{
	need_mem(a);
	form_add(f, 2, sizeof(struct mlx5_mem_ticket));
	form_add(f, 4, MLX5_MAGIC);
	form_add(f, 4, a->mem_mr->rkey);
	form_add(f, 8, (uintptr_t)a->mem);
	form_add(f, 8, LIE_MEM_LEN);
}

static void
add_qp_ticket(struct vp *a, struct form *f)
{
	if (a->data.qp == NULL)
		qp_open(&a->data, a->pd, VP_DATA_SLOTS, MLX5_SLOT_MAX);
	form_add(f, 2, sizeof(struct mlx5_qp_ticket));
	form_add(f, 4, MLX5_MAGIC);
	form_add(f, 2, MLX5_WIRE_VERSION);
	form_add(f, 1, PATH_MTU);
	form_add(f, 1, 0);
	form_add(f, 4, a->data.qp->qp_num);
	form_add(f, 4, a->data.psn);
	form_add(f, 4, a->data.rx_size);
	form_add(f, 4, a->data.nb_rx);
	form_add(f, 4, VP_PIECES);
	form_add(f, 4, 0);
}

void
vp_add_frame(struct vp *a, struct form *f, const struct lie_frame *frame)
{
	switch (frame->type) {
	case COMCH_WIRE_MR_ADD:
		form_add_frame(f, frame, 2 + sizeof(struct mlx5_mem_ticket));
		add_mem_ticket(a, f);
		break;
	case COMCH_WIRE_CONSUMER_NEW:
	case COMCH_WIRE_CONSUMER_ACK:
	case COMCH_WIRE_PRODUCER_NEW:
		form_add_frame(f, frame, 2 + sizeof(struct mlx5_qp_ticket));
		add_qp_ticket(a, f);
		break;
	case COMCH_WIRE_CONSUMER_GONE:
		form_add_frame(f, frame, 8);
		form_add(f, 8, 0); /* the final position */
		break;
	default:
		form_add_frame(f, frame, 0);
	}
}

void
vp_put(struct vp *a, const void *bytes, uint32_t len)
{
	uint8_t msg[VP_SLOT];
	struct form f = { 0 };
	uint32_t at;

	vp_add_ctrl(a, &f, len);
	at = form_put(&f, msg);
	T_LE(at + len, sizeof(msg));
	memcpy(msg + at, bytes, len);
	vp_send(&a->ctrl, msg, at + len);
}

void
vp_say(struct vp *a, uint32_t type)
{
	uint8_t bytes[FORM_MAX_LEN];
	struct form f = { 0 };

	vp_add_frame(a, &f, lie_frame_of(type));
	vp_put(a, bytes, form_put(&f, bytes));
}

/* A control message of the victim's. True: it completes a frame. */
static bool
take_message(struct vp *a, const uint8_t *msg, uint32_t len)
{
	struct mlx5_ctrl_hdr hdr;
	uint32_t at;

	T_GE(len, sizeof(hdr));
	memcpy(&hdr, msg, sizeof(hdr));
	at = (uint32_t)(sizeof(hdr) + hdr.nb_need * sizeof(struct mlx5_need) +
		hdr.nb_halted * sizeof(struct mlx5_halted));
	T_LE(at, len);
	if (hdr.fragment == 0)
		a->rx_len = 0;
	T_LE(a->rx_len + len - at, sizeof(a->rx));
	memcpy(a->rx + a->rx_len, msg + at, len - at);
	a->rx_len += len - at;
	return hdr.frame_len > 0 && a->rx_len == hdr.frame_len;
}

bool
vp_recv(struct vp *a, struct vp_frame *f)
{
	bool is_whole = false;
	struct ibv_wc wc;

	while (!is_whole) {
		if (a->ctrl.qp == NULL || fv_glue.poll_cq(a->ctrl.rx_cq, 1, &wc) != 1 ||
				wc.status != IBV_WC_SUCCESS)
			return false;
		is_whole = take_message(a, a->ctrl.slab + wc.wr_id * a->ctrl.rx_size,
			wc.byte_len);
		post_slot(&a->ctrl, wc.wr_id);
		a->returned++;
	}
	T_GE(a->rx_len, COMCH_WIRE_HDR_SIZE);
	f->type = a->rx[0];
	f->len = a->rx_len - COMCH_WIRE_HDR_SIZE;
	T_LE(f->len, sizeof(f->body));
	memcpy(f->body, a->rx + COMCH_WIRE_HDR_SIZE, f->len);
	return true;
}

void
vp_hear(struct vp *a, struct vp_frame *f, uint32_t type)
{
	do
		T_UNTIL(vp_recv(a, f));
	while (f->type != type);
}

/* The fast path */

/* The ticket is the last of a frame. */
static void
ticket_of(const struct vp_frame *f, struct mlx5_qp_ticket *t)
{
	T_GE(f->len, sizeof(*t));
	memcpy(t, f->body + f->len - sizeof(*t), sizeof(*t));
	T_EQ(t->magic, MLX5_MAGIC);
}

void
vp_join(struct vp *a, const struct vp_frame *f)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct mlx5_qp_ticket t;

	ticket_of(f, &t);
	if (a->data.qp == NULL)
		qp_open(&a->data, a->pd, VP_DATA_SLOTS, MLX5_SLOT_MAX);
	T_EQ(fv_glue.modify_qp(a->data.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
		IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
	post_slots(&a->data);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .ah_attr = a->ah, .path_mtu = PATH_MTU,
		.dest_qp_num = t.qpn, .rq_psn = t.psn, .min_rnr_timer = 1,
	};
	T_EQ(fv_glue.modify_qp(a->data.qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		IBV_QP_MIN_RNR_TIMER), 0);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .sq_psn = a->data.psn, .timeout = 8, .retry_cnt = 6,
		.rnr_retry = 6,
	};
	T_EQ(fv_glue.modify_qp(a->data.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
		IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC), 0);
}

const uint8_t *
vp_data_recv(struct vp *a, uint32_t *len)
{
	struct ibv_wc wc;

	if (fv_glue.poll_cq(a->data.rx_cq, 1, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
		return NULL;
	*len = wc.byte_len;
	return a->data.slab + wc.wr_id * a->data.rx_size;
}
