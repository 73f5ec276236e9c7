/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Control messages of the driver for RDMA, and the frames made of them. The device is the
 * input: it says what arrives in which slot, and when a send completes. The rest of the
 * driver is stand-ins, so that the linker takes nothing else of it.
 */

#include <stdlib.h>

#include "fuzz.h"
#include "mlx5_frame.h"

#define SLOT 256u
#define NB_SLOTS 32u
#define MAX_FRAME 1024u
#define NB_TX 64u
#define HDR 16u

enum op {
	OP_MESSAGE,  /* that an honest peer could send */
	OP_BYTES,
	OP_SENT,     /* sends complete */
	OP_FAILED,
	OP_TX,
	OP_RX,
	OP_PENDING,
	OP_SLEEP,
	OP_POSTS,    /* posts that frames need have arrived, or not */
	NB_OPS
};

static struct {
	struct mlx5_link link;
	struct rte_comch_dev cdev;
	struct mlx5_dev dev;
	struct mlx5_qp_hw hw;
	struct ibv_qp qp;
	struct ibv_cq cq;
	struct ibv_mr mr;
	/* The device. */
	uint32_t posted[NB_SLOTS];
	uint32_t nb_posted;
	struct ibv_wc wcs[4 * NB_SLOTS + NB_TX];
	uint32_t nb_wcs;
	uint64_t sent, completed;
	bool has_posts;
	bool has_halted;
	uint32_t nb_data; /* wrong messages end the link once */
	/* Of the frame that arrives. */
	uint32_t frame_len, frame_left;
	uint16_t fragment;
} f;

/* What the rest of the driver would do */

const struct mlx5_glue *mlx5_verbs;
int comch_mlx5_logtype;

void
mlx5_link_down_now(struct mlx5_link *l, int error, const char *text)
{
	T_LT(error, 0);
	T_CHECK(text != NULL);
	if (l->base.state == RTE_COMCH_LINK_UP)
		l->base.state = RTE_COMCH_LINK_DOWN;
}

void
mlx5_link_failed(struct mlx5_link *l)
{
	mlx5_link_down_now(l, -EIO, "a work request failed");
}

void
mlx5_link_tick(struct mlx5_link *l __rte_unused)
{
}

void
mlx5_link_end_step(struct mlx5_link *l __rte_unused)
{
}

uint32_t
mlx5_data_needs(struct mlx5_link *l __rte_unused, struct mlx5_need *need, uint32_t n)
{
	uint32_t i, nb = f.nb_data % 12;

	f.nb_data = 0;
	for (i = 0; i < RTE_MIN(n, nb); i++)
		need[i] = (struct mlx5_need){ .consumer = i };
	return i;
}

uint32_t
mlx5_data_halted(struct mlx5_link *l __rte_unused, struct mlx5_halted *halted, uint32_t n)
{
	T_GT(n, 0);
	f.has_halted = false;
	halted[0] = (struct mlx5_halted){ .consumer = 1 };
	return 1;
}

bool
mlx5_data_has_halted(const struct mlx5_link *l __rte_unused)
{
	return f.has_halted;
}

bool
mlx5_data_has_posts(struct mlx5_link *l __rte_unused,
		const struct mlx5_need *peer_need __rte_unused)
{
	return f.has_posts;
}

void
mlx5_data_peer_halted(struct mlx5_link *l __rte_unused, uint32_t consumer __rte_unused)
{
}

int
mlx5_qp_hw_post(const struct mlx5_qp_hw *hw, const uint32_t *slots, uint32_t n)
{
	uint32_t i, k;

	T_CHECK(hw == &f.hw);
	for (i = 0; i < n; i++) {
		T_LT(slots[i], NB_SLOTS);
		/* A slot that is posted twice would be written while it is read. */
		for (k = 0; k < f.nb_posted; k++)
			T_NE(f.posted[k], slots[i]);
		T_LT(f.nb_posted, NB_SLOTS);
		f.posted[f.nb_posted++] = slots[i];
	}
	return 0;
}

int
mlx5_qp_hw_post_all(const struct mlx5_qp_hw *hw)
{
	uint32_t i;

	for (i = 0; i < NB_SLOTS; i++)
		mlx5_qp_hw_post(hw, &i, 1);
	return 0;
}

/* The queue pair is neither made nor ended. */

int
mlx5_qp_hw_new(struct mlx5_link *link __rte_unused, const struct mlx5_qp_conf *conf __rte_unused,
		struct mlx5_qp_hw **hw __rte_unused)
{
	T_FAIL("not here");
}

void
mlx5_qp_hw_create(struct mlx5_qp_hw *hw __rte_unused)
{
	T_FAIL("not here");
}

void
mlx5_qp_hw_connect(struct mlx5_qp_hw *hw __rte_unused, const struct mlx5_qp_to *to __rte_unused)
{
	T_FAIL("not here");
}

void
mlx5_job_end(struct mlx5_job *job __rte_unused)
{
	T_FAIL("not here");
}

bool
mlx5_job_is_busy(struct mlx5_job *job __rte_unused)
{
	T_FAIL("not here");
}

enum ibv_wc_status
mlx5_qp_status_of(const struct ibv_wc *wc)
{
	return wc->status;
}

static int
poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	const uint32_t nb = RTE_MIN((uint32_t)n, f.nb_wcs);

	T_CHECK(cq == &f.cq);
	memcpy(wc, f.wcs, nb * sizeof(*wc));
	f.nb_wcs -= nb;
	memmove(f.wcs, f.wcs + nb, f.nb_wcs * sizeof(*wc));
	return (int)nb;
}

static int
req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	T_CHECK(cq == &f.cq);
	T_CHECK(solicited_only == 0 || solicited_only == 1);
	return 0;
}

static int
post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int i;

	RTE_SET_USED(bad);
	T_CHECK(qp == &f.qp);
	for (; wr != NULL; wr = wr->next, f.sent++)
		for (i = 0; i < wr->num_sge; i++)
			T_LE(wr->sg_list[i].length, SLOT);
	T_LE(f.sent - f.completed, NB_TX);
	return 0;
}

static int
modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	RTE_SET_USED(qp);
	RTE_SET_USED(attr);
	RTE_SET_USED(mask);
	return 0;
}

static const struct mlx5_glue glue = {
	.poll_cq = poll_cq, .req_notify_cq = req_notify_cq, .post_send = post_send,
	.modify_qp = modify_qp,
};

/* The input */

static bool
begin(struct fuzz_in *in)
{
	struct mlx5_link *l = &f.link;

	memset(&f, 0, sizeof(f));
	mlx5_verbs = &glue;
	l->dev = &f.dev;
	l->base.dev = &f.cdev;
	l->base.state = RTE_COMCH_LINK_UP;
	l->is_open = true;
	/* There are consumers and producers. */
	l->base.data = &f;
	f.dev.nb_slots = NB_SLOTS;
	f.dev.max_frame = MAX_FRAME;
	f.hw.slab_len = NB_SLOTS * SLOT + NB_TX * SLOT;
	f.hw.slab = malloc(f.hw.slab_len);
	T_CHECK(f.hw.slab != NULL);
	memset(f.hw.slab, 0, f.hw.slab_len);
	l->ctrl = (struct mlx5_qp){
		.hw = &f.hw, .qp = &f.qp, .cq = &f.cq, .slab = f.hw.slab, .dev = &f.dev,
		.conf = { .nb_rx = NB_SLOTS, .rx_size = SLOT, .nb_tx = NB_TX, .tx_size = SLOT },
		.max_sges = 1, .status = IBV_WC_SUCCESS,
	};
	f.hw.conf = l->ctrl.conf;
	T_EQ(mlx5_frame_create(l), 0);
	T_EQ(mlx5_qp_post_slots(&l->ctrl), 0);
	f.has_posts = true;
	return mlx5_frame_set_peer(l, 256 + fuzz_u8(in) % 16 * 16, 32 + fuzz_u8(in));
}

/* Len bytes of the slot, which was posted, have arrived. */
static void
arrive(const uint8_t *bytes, uint32_t len)
{
	uint32_t slot;

	if (f.nb_posted == 0)
		return;
	/* In the order of the posts. */
	slot = f.posted[0];
	memmove(f.posted, f.posted + 1, --f.nb_posted * sizeof(f.posted[0]));
	memcpy(f.hw.slab + slot * SLOT, bytes, len);
	T_LT(f.nb_wcs, RTE_DIM(f.wcs));
	f.wcs[f.nb_wcs++] = (struct ibv_wc){
		.wr_id = slot << 1, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV,
		.byte_len = len,
	};
}

/* Slots that the peer has got back, of those that we sent into. */
static uint32_t
returned(struct fuzz_in *in)
{
	const struct mlx5_frames *fr = f.link.frames;
	const uint8_t how = fuzz_u8(in);

	return how < 250 ? fr->tx_returned + RTE_MIN(fr->tx_sent - fr->tx_returned,
		(uint32_t)how) : fr->tx_returned + (uint32_t)fuzz_number(in);
}

static void
message(struct fuzz_in *in)
{
	uint8_t bytes[SLOT] = { 0 };
	const uint8_t how = fuzz_u8(in);
	struct mlx5_ctrl_hdr hdr = {
		.returned = returned(in), .nb_halted = (how >> 2) % 3,
		.nb_need = f.frame_left == 0 ? how % 4 : 0,
	};
	uint32_t at, len = 0;

	at = (uint32_t)(sizeof(hdr) + hdr.nb_need * sizeof(struct mlx5_need) +
		hdr.nb_halted * sizeof(struct mlx5_halted));
	if (f.frame_left == 0 && how & 0x80) {
		f.frame_len = f.frame_left = HDR + fuzz_u16(in) % (MAX_FRAME - HDR + 1);
		f.fragment = 0;
	}
	if (f.frame_left > 0) {
		len = RTE_MIN(f.frame_left, SLOT - at);
		if (how & 0x40)
			len = RTE_MIN(len, 1u + fuzz_u8(in));
		hdr.frame_len = f.frame_len;
		hdr.fragment = f.fragment++;
		f.frame_left -= len;
	}
	memcpy(bytes, &hdr, sizeof(hdr));
	/* One byte of the header may be wrong. */
	if ((how & 0x33) == 0x33)
		bytes[fuzz_u8(in) % sizeof(hdr)] ^= 1u << (how >> 6);
	arrive(bytes, at + len);
}

static void
send_bytes(struct fuzz_in *in)
{
	uint8_t bytes[SLOT];

	arrive(bytes, (uint32_t)fuzz_take(in, bytes, fuzz_u8(in)));
}

/* Sends up to a number that asked for a completion. */
static void
complete(enum ibv_wc_status status)
{
	const uint64_t to = RTE_MIN(f.link.ctrl.tx_signalled, f.sent);

	if (to <= f.completed || f.nb_wcs == RTE_DIM(f.wcs))
		return;
	f.completed = to;
	f.wcs[f.nb_wcs++] = (struct ibv_wc){
		.wr_id = (to - 1) << 1 | 1, .status = status, .opcode = IBV_WC_SEND,
	};
}

static void
tx(struct fuzz_in *in)
{
	static const uint8_t bytes[MAX_FRAME];
	const uint16_t how = fuzz_u16(in);
	const struct rte_comch_frame frame = {
		.hdr = bytes, .hdr_len = HDR, .payload = bytes,
		.payload_len = how % (MAX_FRAME - HDR + 1), .is_credit = how >> 15,
	};
	int ret;

	f.nb_data = how >> 11;
	f.has_halted = how & 0x400;
	ret = mlx5_frame_tx(&f.link.base, &frame);
	T_CHECK(ret == 0 || ret == -EAGAIN || ret == -ENOTCONN);
}

static void
rx(struct fuzz_in *in)
{
	const uint32_t size = HDR + fuzz_u16(in) % MAX_FRAME;
	int fds[RTE_COMCH_FRAME_FDS], len;
	uint8_t *buf = malloc(size);
	uint32_t nb_fds = 1;

	T_CHECK(buf != NULL);
	if (f.link.base.state == RTE_COMCH_LINK_UP) {
		len = mlx5_frame_rx(&f.link.base, buf, size, fds, &nb_fds);
		T_CHECK(len == -EAGAIN || len == -EPROTO || (len >= (int)HDR && len <= (int)size));
		T_EQ(nb_fds, 0);
	}
	free(buf);
}

static void
step(struct fuzz_in *in)
{
	struct mlx5_link *l = &f.link;

	switch ((enum op)(fuzz_u8(in) % NB_OPS)) {
	case OP_MESSAGE:
		message(in);
		break;
	case OP_BYTES:
		send_bytes(in);
		break;
	case OP_SENT:
		complete(IBV_WC_SUCCESS);
		break;
	case OP_FAILED:
		complete(IBV_WC_RETRY_EXC_ERR);
		break;
	case OP_TX:
		tx(in);
		break;
	case OP_RX:
		rx(in);
		break;
	case OP_PENDING:
		(void)mlx5_frame_pending(&l->base);
		break;
	case OP_SLEEP:
		mlx5_frame_arm(l, fuzz_u8(in) & 1);
		(void)mlx5_frame_idle(&l->base);
		mlx5_frame_woken(l);
		break;
	default:
		f.has_posts = fuzz_u8(in) & 1;
		break;
	}
	T_LE(l->frames->tail - l->frames->head, NB_SLOTS);
	T_LE(mlx5_frame_slots_out(l), NB_SLOTS);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };

	if (begin(&in))
		while (in.left > 0)
			step(&in);
	mlx5_frame_destroy(&f.link);
	free(f.hw.slab);
	return 0;
}
