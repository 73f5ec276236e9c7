/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A malicious peer over RDMA, below the frames of the core: each field of the private data of
 * the connection manager, of control messages and their lists, of fragments. See attack.h for
 * what must hold after each one.
 */

#include "attack.h"

static const uint8_t zeros[2048];

/* Private data */

/*
 * The limits of wire_format_rdma.md. The longest frame takes 9 messages with slots of this
 * size, and two slots are for others; all that must fit into half of them.
 */
#define MIN_SLOTS (2 * (9 + 2))
#define MAX_SLOTS 65536
enum { HELLO, WELCOME, MESSAGE, FRAGMENT };
static const struct form_limit limits[] = {
	{ HELLO, 0, FORM_ONLY_TRUTH }, { HELLO, 1, FORM_ONLY_TRUTH },
	{ HELLO, 3, FORM_ONLY_TRUTH }, { HELLO, 4, FORM_ONLY_TRUTH },
	{ HELLO, 5, MLX5_SLOT_MIN, MLX5_SLOT_MAX }, { HELLO, 6, MIN_SLOTS, MAX_SLOTS },
	{ WELCOME, 0, FORM_ONLY_TRUTH }, { WELCOME, 1, FORM_ONLY_TRUTH },
	{ WELCOME, 3, MLX5_SLOT_MIN, MLX5_SLOT_MAX }, { WELCOME, 4, MIN_SLOTS, MAX_SLOTS },
	/* Slots returned: not more than there are. Below that it depends on what was sent. */
	{ MESSAGE, 0, FORM_ONLY_TRUTH }, { MESSAGE, 1, 0, VP_SLOTS },
	{ MESSAGE, 2, FORM_ONLY_TRUTH }, { MESSAGE, 3, FORM_ONLY_TRUTH },
	{ MESSAGE, 4, FORM_ONLY_TRUTH },
	{ MESSAGE, 17, FORM_ONLY_TRUTH }, { MESSAGE, 18, FORM_ONLY_TRUTH },
	{ FRAGMENT, 0, FORM_ONLY_TRUTH }, { FRAGMENT, 1, 0, VP_SLOTS },
	{ FRAGMENT, 2, FORM_ONLY_TRUTH }, { FRAGMENT, 3, FORM_ONLY_TRUTH },
	{ FRAGMENT, 4, FORM_ONLY_TRUTH },
};

static bool
is_valid(const struct form *f, unsigned int field, unsigned int which, uint32_t what)
{
	return form_is_valid(f, field, which, limits, RTE_DIM(limits), what);
}

/* A control message with a lie has been judged. */
static void
check_message(const struct form *f, unsigned int field, unsigned int which, uint32_t what,
		int status)
{
	/* The frame's type. */
	if (what == MESSAGE && field == 16)
		return;
	if (field == 1 && is_valid(f, field, which, what))
		return;
	/* Posts to wait for: the end comes after twice dead_ms. */
	if (field == 8 && status == -EPROTO)
		return;
	if ((status == 0) != is_valid(f, field, which, what))
		T_FAIL("lie %u in field %u: %d", which, field, status);
}

/* Connect with this private data, and go on if that is allowed; returns how it ended. */
static int
connect_with(struct attack *t, const void *data, uint8_t len)
{
	struct vp_frame frame = { .type = 0 };

	attack_link(t, data, len);
	if (t->by_server) {
		T_UNTIL(attack_is_over(t) || vp_recv(&t->a, &frame));
		if (frame.type == COMCH_WIRE_HELLO)
			vp_say(&t->a, COMCH_WIRE_ACCEPT);
	} else if (!t->a.is_over) {
		vp_say(&t->a, COMCH_WIRE_HELLO);
	}
	return attack_judge(t);
}

/* Some more and some fewer bytes of private data. */
static void
lengths(struct attack *t, const uint8_t *data, uint8_t len)
{
	uint8_t copy[64] = { 0 };
	unsigned int n;
	int status;

	memcpy(copy, data, len);
	for (n = 0; n <= 56; n += n < len ? 3 : 5) {
		status = connect_with(t, copy, (uint8_t)n);
		/* Bytes that are not sent arrive as 0. */
		if (t->by_server)
			T_EQ(status < 0, n < len && memcmp(copy + n, zeros, len - n) != 0);
	}
	T_EQ(connect_with(t, copy, len), 0);
}

static void
private_data(struct attack *t, const struct form *f, uint32_t what)
{
	unsigned int field, which;
	uint8_t data[64];
	uint32_t len;
	int status;

	len = form_put(f, data);
	lengths(t, data, (uint8_t)len);
	for (field = 0; field < f->nb; field++) {
		for (which = 0; which < LIE_NB_WHICH; which++) {
			form_put(f, data);
			form_lie(f, field, which, data);
			status = connect_with(t, data, (uint8_t)len);
			if ((status == 0) != is_valid(f, field, which, what))
				T_FAIL("lie %u in field %u: %d", which, field, status);
		}
	}
}

CLIENT_ATTACK(hello)
{
	struct form f = { 0 };

	vp_hello(&f, ATTACK_NAME);
	private_data(t, &f, HELLO);
}

SERVER_ATTACK(welcome)
{
	struct form f = { 0 };

	vp_welcome(&f);
	private_data(t, &f, WELCOME);
}

/* A client asks again if the server is busy, or says what the client does not know. */
static bool
is_asked_again(const void *data)
{
	struct mlx5_refuse r;

	memcpy(&r, data, sizeof(r));
	return r.magic == MLX5_MAGIC && (r.reason == 0 || r.reason >= MLX5_REFUSE_BUSY);
}

static void
refuse(struct attack *t, const void *data)
{
	struct form f = { 0 };
	struct vp_frame hello;
	uint8_t welcome[64];

	attack_refuse(t, data, sizeof(struct mlx5_refuse));
	if (!is_asked_again(data)) {
		T_LT(attack_judge(t), 0);
		return;
	}
	vp_welcome(&f);
	vp_accept(&t->place, &t->a, welcome, (uint8_t)form_put(&f, welcome));
	vp_hear(&t->a, &hello, COMCH_WIRE_HELLO);
	vp_say(&t->a, COMCH_WIRE_ACCEPT);
	T_EQ(attack_judge(t), 0);
}

/* Refusals with all reasons, and with parts of one. */
SERVER_ATTACK(refusal)
{
	unsigned int reason, field, which;
	struct form f;
	uint8_t data[8];

	for (reason = MLX5_REFUSE_NAME; reason <= MLX5_REFUSE_BUSY; reason++) {
		f = (struct form){ 0 };
		vp_refuse(&f, (uint16_t)reason);
		for (field = 0; field < f.nb; field++) {
			for (which = 0; which < LIE_NB_WHICH; which++) {
				form_put(&f, data);
				form_lie(&f, field, which, data);
				refuse(t, data);
			}
		}
	}
	form_put(&f, data);
	for (field = 0; field < 4; field++) {
		attack_refuse(t, data, (uint8_t)field);
		T_LT(attack_judge(t), 0);
	}
}

/* A link takes four descriptors: those in the handshake take a quarter of all, not all. */
T_CASE(half_open_links)
{
	enum { NB_FILES = 1024, NB_PLACES = NB_FILES / 4 / 4, NB = NB_PLACES + 10 };
	struct rte_comch_server_stats stats;
	struct vp silent[NB] = { 0 };
	struct form f = { 0 };
	struct attack t;
	unsigned int i, why;
	uint8_t data[64];
	uint8_t len;

	/* EAL raises the limit when it starts. */
	u_ctrl_begin(&t.p);
	T_CHECK(t_nofile_set(NB_FILES));
	attack_begin_by_client(&t);
	vp_hello(&f, ATTACK_NAME);
	len = (uint8_t)form_put(&f, data);
	for (i = 0; i < NB; i++)
		T_CHECK(vp_dial(&silent[i], ATTACK_NAME, data, len, &why));
	T_UNTIL(rte_comch_server_stats_get(t.p.server, &stats) == 0 &&
		stats.refused >= NB - NB_PLACES);
	T_EQ(stats.refused, NB - NB_PLACES);
	for (i = 0; i < NB; i++)
		vp_close(&silent[i]);
	T_UNTIL(fv_nb_live(FV_ALL) == t.nb_live);
	attack_reach(&t, LIE_UP);
	T_EQ(attack_judge(&t), 0);
	attack_end(&t);
}

/* Control messages */

/* A message with two entries in each list, and a frame. */
static void
add_message(struct attack *t, struct form *f)
{
	const struct lie_frame *msg = lie_frame_of(COMCH_WIRE_MSG);
	const unsigned int at = f->nb;
	unsigned int i;
	uint32_t before;

	vp_add_ctrl(&t->a, f, 0);
	f->value[at + 3] = 2;
	f->value[at + 4] = 2;
	for (i = 0; i < 2; i++) {
		form_add(f, 4, 1 + i);
		form_add(f, 4, 0);
		form_add(f, 8, 0);
	}
	for (i = 0; i < 2; i++) {
		form_add(f, 4, 2 + i);
		form_add(f, 4, 0);
	}
	before = form_len(f);
	form_add_frame(f, msg, 0);
	f->value[at] = form_len(f) - before;
}

/* Say it, with a lie in that field, if there is one; returns the number of fields. */
static unsigned int
say_message(struct attack *t, unsigned int field, unsigned int which)
{
	uint8_t bytes[FORM_MAX_LEN];
	struct form f = { 0 };
	uint32_t len;
	int status;

	attack_reach(t, ATTACK_FEEDS);
	t->sends = false;
	add_message(t, &f);
	len = form_put(&f, bytes);
	if (field < f.nb)
		form_lie(&f, field, which, bytes);
	vp_send(&t->a.ctrl, bytes, len);
	status = attack_judge(t);
	if (field < f.nb)
		check_message(&f, field, which, MESSAGE, status);
	else
		T_EQ(status, 0);
	return f.nb;
}

static void
messages(struct attack *t)
{
	attack_tell_lies(t, say_message, 0, say_message(t, UINT32_MAX, 0));
}

CLIENT_ATTACK(client_control_messages)
{
	messages(t);
}

SERVER_ATTACK(server_control_messages)
{
	messages(t);
}

/* Lists of so many entries, all of them there. */
static int
say_lists(struct attack *t, unsigned int nb_need, unsigned int nb_halted)
{
	uint8_t bytes[FORM_MAX_LEN];
	struct form f = { 0 };
	unsigned int i;

	attack_reach(t, LIE_UP);
	vp_add_ctrl(&t->a, &f, 16 + 8);
	f.value[3] = nb_need;
	f.value[4] = nb_halted;
	for (i = 0; i < 2 * nb_need + nb_halted; i++)
		form_add(&f, 8, 1);
	form_add_frame(&f, lie_frame_of(COMCH_WIRE_MSG), 0);
	vp_send(&t->a.ctrl, bytes, form_put(&f, bytes));
	return attack_judge(t);
}

CLIENT_ATTACK(lists_that_are_too_long)
{
	T_EQ(say_lists(t, MLX5_MAX_NEED, MLX5_MAX_HALTED - 1), 0);
	T_EQ(say_lists(t, MLX5_MAX_NEED - 4, MLX5_MAX_HALTED), 0);
	T_EQ(say_lists(t, MLX5_MAX_NEED + 1, 0), -EPROTO);
	T_EQ(say_lists(t, 0, MLX5_MAX_HALTED + 1), -EPROTO);
}

/* A message that is cut, byte by byte, and one that is longer than it says. */
CLIENT_ATTACK(control_message_lengths)
{
	uint8_t bytes[FORM_MAX_LEN + 64] = { 0 };
	struct form f = { 0 };
	uint32_t i, len;

	add_message(t, &f);
	len = form_len(&f);
	for (i = 0; i < len + 40; i += i < 18 ? 1 : 5) {
		attack_reach(t, ATTACK_FEEDS);
		t->sends = false;
		f.nb = 0;
		add_message(t, &f);
		form_put(&f, bytes);
		vp_send(&t->a.ctrl, bytes, i);
		T_EQ(attack_judge(t), i == len ? 0 : -EPROTO);
	}
	/* Longer than a slot. */
	attack_reach(t, LIE_UP);
	vp_send(&t->a.ctrl, zeros, VP_SLOT + 1);
	T_LT(attack_judge(t), 0);
}

/* Each field of the header of a frame's second part. */
CLIENT_ATTACK(fragments)
{
	uint8_t first[FORM_MAX_LEN], second[FORM_MAX_LEN];
	struct form f = { 0 }, g = { 0 };
	unsigned int field, which;
	uint32_t len;

	for (field = 0; field == 0 || field < g.nb; field++) {
		for (which = 0; which < LIE_NB_WHICH; which++) {
			attack_reach(t, LIE_UP);
			f.nb = g.nb = 0;
			vp_add_ctrl(&t->a, &f, 16 + 8);
			form_add_frame(&f, lie_frame_of(COMCH_WIRE_MSG), 0);
			vp_add_ctrl(&t->a, &g, 16 + 8);
			g.value[2] = 1;
			form_add(&g, 4, 4711);
			/* The last 4 bytes come in the second part. */
			len = form_put(&f, first) - 4;
			vp_send(&t->a.ctrl, first, len);
			len = form_put(&g, second);
			form_lie(&g, field, which, second);
			vp_send(&t->a.ctrl, second, len);
			check_message(&g, field, which, FRAGMENT, attack_judge(t));
		}
	}
}

/* Memory of the victim's that we may write. */
static void
learn_memory(struct attack *t, struct mlx5_mem_ticket *mem)
{
	struct vp_frame frame;

	t->cons = t_consumer_new(t->conn, NULL, t->mem.mr);
	T_EQ(rte_comch_consumer_start(t->cons), -EINPROGRESS);
	vp_hear(&t->a, &frame, COMCH_WIRE_MR_ADD);
	memcpy(mem, frame.body + frame.len - sizeof(*mem), sizeof(*mem));
}

/* An RDMA WRITE with an immediate value completes a receive, and writes nothing to its slot. */
CLIENT_ATTACK(write_with_immediate)
{
	static const uint32_t lens[] = { 0, 1, 16, 32, 500, 1000 };
	struct mlx5_mem_ticket mem;
	unsigned int i;

	for (i = 0; i < RTE_DIM(lens); i++) {
		attack_reach(t, LIE_UP);
		learn_memory(t, &mem);
		vp_write(&t->a.ctrl, IBV_WR_RDMA_WRITE_WITH_IMM, zeros, lens[i], mem.addr,
			mem.rkey);
		attack_expect(t, -EPROTO, "invalid control message from peer");
	}
}

/* A message of 1,000 bytes in three parts. */
static void
say_long(struct attack *t)
{
	const uint32_t len = 16 + 1000, part = VP_SLOT - sizeof(struct mlx5_ctrl_hdr);
	uint8_t msg[VP_SLOT] = { 0 };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct form f = { 0 };

		vp_add_ctrl(&t->a, &f, len);
		f.value[2] = i;
		form_add(&f, 4, i == 0 ? COMCH_WIRE_MSG : 0);
		form_add(&f, 4, i == 0 ? 1000 : 0);
		form_put(&f, msg);
		vp_send(&t->a.ctrl, msg, RTE_MIN(part, len - i * part) + VP_SLOT - part);
	}
}

/* The slot has the first part of an earlier message, and the completion says it has all of it. */
CLIENT_ATTACK(write_with_immediate_over_a_message)
{
	struct mlx5_mem_ticket mem;
	unsigned int i;

	attack_reach(t, LIE_UP);
	/* HELLO was in the first slot of 64, which the CREDIT uses again. */
	for (i = 0; i < 21; i++) {
		say_long(t);
		T_UNTIL(t_count(t->node, RTE_COMCH_EVENT_MSG, t->conn) == i + 1);
	}
	vp_say(&t->a, COMCH_WIRE_CREDIT);
	learn_memory(t, &mem);
	vp_write(&t->a.ctrl, IBV_WR_RDMA_WRITE_WITH_IMM, zeros,
		sizeof(struct mlx5_ctrl_hdr) + 16 + 1000, mem.addr, mem.rkey);
	attack_expect(t, -EPROTO, "invalid control message from peer");
}

/* A frame that waits for posts that never come holds up its sender only, and not for ever. */
CLIENT_ATTACK(need_that_is_never_met)
{
	static const uint64_t tails[] = { 1, 2, INT64_MAX };
	uint8_t bytes[FORM_MAX_LEN];
	unsigned int i, k;
	struct form f;

	for (i = 0; i < RTE_DIM(tails); i++) {
		attack_reach(t, ATTACK_FEEDS);
		t->sends = false;
		f = (struct form){ 0 };
		vp_add_ctrl(&t->a, &f, 16 + 8);
		f.value[3] = 1;
		form_add(&f, 4, 1);
		form_add(&f, 4, 0);
		form_add(&f, 8, tails[i]);
		form_add_frame(&f, lie_frame_of(COMCH_WIRE_MSG), 0);
		for (k = 0; k < 40; k++)
			vp_send(&t->a.ctrl, bytes, form_put(&f, bytes));
		T_UNTIL(attack_is_over(t));
		attack_expect(t, -EPROTO, "peer did not post the buffers that it announced");
	}
}
