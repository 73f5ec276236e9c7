/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Frames of a malicious peer over RDMA: each field of each frame that a client and a server may
 * send, and of the driver's tickets; and at random, with T_SEED. See attack.h for what must
 * hold after each one.
 */

#include "attack.h"

/* How a frame without a lie ends the connection: 0: it does not. */
static int
end_by_truth(uint32_t type)
{
	switch (type) {
	case COMCH_WIRE_REJECT:
		return -ECONNREFUSED;
	case COMCH_WIRE_DISCONNECT:
		return -ECONNRESET;
	case COMCH_WIRE_MSG_AT:
	case COMCH_WIRE_PRODUCER_NEW:
	case COMCH_WIRE_PRODUCER_GONE:
		return -EPROTO;
	default:
		return 0;
	}
}

/*
 * What a frame may say, by wire_format.md and wire_format_rdma.md. Fields count from the header,
 * which has four. The message that follows has 8 bytes.
 */
#define ONLY_TRUTH FORM_ONLY_TRUTH
#define T(type) COMCH_WIRE_##type
static const struct form_limit limits[] = {
	{ T(HELLO), 4, ONLY_TRUTH }, { T(HELLO), 5, ONLY_TRUTH }, { T(HELLO), 7, 8, UINT32_MAX },
	{ T(HELLO), 8, 1, UINT32_MAX }, { T(HELLO), 9, ONLY_TRUTH }, { T(HELLO), 10, ONLY_TRUTH },
	{ T(ACCEPT), 4, ONLY_TRUTH }, { T(ACCEPT), 6, 8, 4080 }, { T(ACCEPT), 7, 1, UINT32_MAX },
	{ T(MR_ADD), 4, 0, 63 }, { T(MR_ADD), 6, ONLY_TRUTH }, { T(MR_ADD), 7, ONLY_TRUTH },
	{ T(MR_ADD), 8, ONLY_TRUTH }, { T(MR_ADD), 9, ONLY_TRUTH },
	{ T(MR_ADD), 11, 1, UINT64_MAX - LIE_MEM_LEN }, { T(MR_ADD), 12, ONLY_TRUTH },
	{ T(MR_ACK), 5, UINT32_MAX - 4094, UINT32_MAX },
	{ T(MR_DEL), 4, 0, 63 },
	{ T(CONSUMER_NEW), 4, 1, UINT32_MAX }, { T(CONSUMER_NEW), 5, 1, 1 },
	{ T(CONSUMER_NEW), 6, 0, RTE_COMCH_IMM_SIZE }, { T(CONSUMER_NEW), 7, ONLY_TRUTH },
	{ T(CONSUMER_NEW), 8, ONLY_TRUTH }, { T(CONSUMER_NEW), 9, ONLY_TRUTH },
	{ T(CONSUMER_NEW), 10, ONLY_TRUTH }, { T(CONSUMER_NEW), 11, IBV_MTU_256, IBV_MTU_4096 },
	{ T(CONSUMER_NEW), 13, 2, 0xffffff }, { T(CONSUMER_NEW), 14, 0, 0xffffff },
	{ T(CONSUMER_NEW), 15, MLX5_SLOT_MIN, MLX5_SLOT_MAX },
	{ T(CONSUMER_NEW), 16, LIE_DEPTH + 16 + VP_PIECES, UINT32_MAX },
	{ T(CONSUMER_NEW), 17, 1, VP_DATA_SLOTS - LIE_DEPTH - 16 },
	{ T(CONSUMER_GONE), 4, ONLY_TRUTH }, { T(CONSUMER_GONE), 5, ONLY_TRUTH },
	{ T(CONSUMER_ACK), 5, UINT32_MAX - 4094, UINT32_MAX },
	{ T(CONSUMER_ACK), 6, ONLY_TRUTH }, { T(CONSUMER_ACK), 7, ONLY_TRUTH },
	{ T(CONSUMER_ACK), 8, ONLY_TRUTH }, { T(CONSUMER_ACK), 9, IBV_MTU_256, IBV_MTU_4096 },
	{ T(CONSUMER_ACK), 11, 2, 0xffffff }, { T(CONSUMER_ACK), 12, 0, 0xffffff },
	{ T(CONSUMER_ACK), 13, MLX5_POST_SLOT, UINT32_MAX },
	{ T(CONSUMER_ACK), 14, LIE_DEPTH, UINT32_MAX },
};
#undef T

/* Does a frame with this lie end the connection? */
static bool
must_end(const struct lie_frame *frame, const struct form *f, unsigned int field,
		unsigned int which)
{
	static const struct form_limit header[] = {
		{ 0, 1, ONLY_TRUTH }, /* the length of the body */
		{ 0, 2, ONLY_TRUTH }, /* messages taken: none was sent */
	};

	return end_by_truth(frame->type) != 0 ||
		!form_is_valid(f, field, which, header, RTE_DIM(header), 0) ||
		!form_is_valid(f, field, which, limits, RTE_DIM(limits), frame->type);
}

/* Bring the victim to where the frame is in order. */
static void
reach(struct attack *t, const struct lie_frame *frame)
{
	attack_reach(t, frame->step);
	if (frame->type == COMCH_WIRE_MR_DEL)
		vp_say(&t->a, COMCH_WIRE_MR_ADD);
	if (frame->type == COMCH_WIRE_CONSUMER_GONE)
		vp_say(&t->a, COMCH_WIRE_CONSUMER_NEW);
}

/* The truth; returns the number of fields. */
static unsigned int
tell_truth(struct attack *t, const struct lie_frame *frame)
{
	uint8_t bytes[FORM_MAX_LEN];
	struct form f = { 0 };
	int status;

	reach(t, frame);
	vp_add_frame(&t->a, &f, frame);
	vp_put(&t->a, bytes, form_put(&f, bytes));
	status = attack_judge(t);
	if (status != end_by_truth(frame->type))
		T_FAIL("%s: %d", frame->name, status);
	return f.nb;
}

static void
lie(struct attack *t, const struct lie_frame *frame, unsigned int field, unsigned int which)
{
	uint8_t bytes[FORM_MAX_LEN];
	struct form f = { 0 };
	uint32_t len;
	int status;

	reach(t, frame);
	vp_add_frame(&t->a, &f, frame);
	len = form_put(&f, bytes);
	form_lie(&f, field, which, bytes);
	vp_put(&t->a, bytes, len);
	status = attack_judge(t);
	/* Another type is another frame, which may be in order. */
	if (field > 0 && (status != 0) != must_end(frame, &f, field, which))
		T_FAIL("%s, lie %u in field %u: %d", frame->name, which, field, status);
}

/* Each lie in each frame that this side may send. */
static void
lies(struct attack *t)
{
	const uint8_t by = t->by_server ? LIE_BY_SERVER : LIE_BY_CLIENT;
	unsigned int i, nb, field, which;

	for (i = 0; i < lie_nb_frames; i++) {
		if ((lie_frames[i].by & by) == 0)
			continue;
		nb = tell_truth(t, &lie_frames[i]);
		for (field = 0; field < nb; field++)
			for (which = 0; which < LIE_NB_WHICH; which++)
				lie(t, &lie_frames[i], field, which);
	}
}

CLIENT_ATTACK(client_lies)
{
	lies(t);
}

SERVER_ATTACK(server_lies)
{
	lies(t);
}

/* It gives no slots back, so that it is told of none, and sends on all the same. */
CLIENT_ATTACK(client_overruns)
{
	uint8_t bytes[FORM_MAX_LEN];
	struct form f = { 0 };
	unsigned int i;
	uint32_t len;

	attack_reach(t, LIE_UP);
	vp_add_ctrl(&t->a, &f, 0);
	len = form_put(&f, bytes);
	for (i = 0; i < 16384 && !attack_is_over(t); i++) {
		vp_send(&t->a.ctrl, bytes, len);
		t_step(t->node);
	}
	attack_expect(t, -EPROTO, "peer sends more control messages than there are slots");
}

/* Several fields of several frames at once, and bytes that are no frame at all. */

static void
spoil(uint8_t *bytes, uint32_t len)
{
	uint32_t i;

	for (i = 0; lie_draw(8) == 0 && i < len; i++)
		bytes[lie_draw(len)] = (uint8_t)lie_draw(256);
}

/* Mostly one that alone would not end the connection. */
static const struct lie_frame *
pick_frame(unsigned int step)
{
	const struct lie_frame *frame;

	do
		frame = &lie_frames[lie_draw(lie_nb_frames)];
	while ((end_by_truth(frame->type) != 0 || (frame->step != LIE_UP && frame->step != step)) &&
		lie_draw(32) != 0);
	return frame;
}

static void
say_at_random(struct attack *t, unsigned int step)
{
	uint8_t bytes[2 * FORM_MAX_LEN];
	struct form f = { 0 };
	unsigned int i, n;
	uint32_t len, at;

	vp_add_ctrl(&t->a, &f, 0);
	at = form_len(&f);
	vp_add_frame(&t->a, &f, pick_frame(step));
	len = form_len(&f);
	f.value[0] = len - at;
	form_put(&f, bytes);
	for (i = 0, n = lie_draw(4) / 2; i < n; i++)
		form_lie(&f, lie_draw(f.nb), lie_draw(LIE_NB_WHICH), bytes);
	spoil(bytes, len);
	if (lie_draw(16) == 0)
		len = lie_draw(len + 1);
	vp_send(&t->a.ctrl, bytes, len);
}

/* The same for records or posts: what they are is up to the victim. */
static void
say_bytes(struct attack *t)
{
	static const uint8_t kinds[] = { COMCH_REC_DIRECT, COMCH_REC_STAGED, COMCH_REC_ABORT,
		MLX5_REC_EAGER, MLX5_REC_PIECE };
	uint8_t bytes[256] = { 0 };
	struct form f = { 0 };
	uint32_t len;

	form_add(&f, 8, lie_draw(3));
	form_add(&f, 4, 1);
	form_add(&f, 1, 1 + lie_draw(2));
	form_add(&f, 1, lie_draw(3));
	form_add(&f, 1, kinds[lie_draw(RTE_DIM(kinds))]);
	form_add(&f, 1, 0);
	form_add(&f, 4, lie_draw(200));
	form_put(&f, bytes);
	if (lie_draw(2) == 0)
		form_lie(&f, lie_draw(f.nb), lie_draw(LIE_NB_WHICH), bytes);
	len = lie_draw(4) == 0 ? lie_draw(sizeof(bytes)) : 64 * (1 + lie_draw(3));
	spoil(bytes, len);
	vp_send(&t->a.data, bytes, len);
}

static void
talk_at_random(struct attack *t)
{
	const unsigned int step = lie_draw(ATTACK_NB_STEPS), n = 1 + lie_draw(6);
	unsigned int i;

	t->refuses_memory = lie_draw(2) == 0;
	attack_reach(t, step);
	for (i = 0; i < n && !attack_is_over(t); i++) {
		if (step >= ATTACK_FED && lie_draw(2) == 0)
			say_bytes(t);
		else
			say_at_random(t, step);
		t_steps(t->node, lie_draw(4));
	}
	attack_judge(t);
}

static void
talks_at_random(struct attack *t)
{
	unsigned int i, n = t_repeat(t_sanitized() ? 150 : 400);

	lie_seed();
	for (i = 0; i < n; i++)
		talk_at_random(t);
}

CLIENT_ATTACK(client_at_random)
{
	talks_at_random(t);
}

SERVER_ATTACK(server_at_random)
{
	talks_at_random(t);
}
