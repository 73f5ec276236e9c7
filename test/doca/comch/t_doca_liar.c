/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Frames of a server that lies on the wire to a client of doca_comch. Whatever it says, the
 * client's callbacks get what the headers promise, and another client is served meanwhile.
 */

#include <sys/mman.h>
#include <unistd.h>

#include "comch/liar.h"
#include "odd.h"

/* What is said, and how it ended. */
struct talk {
	struct liar *l;
	struct lie_goods g;
	int step;                /* how far the client is */
	unsigned int nb_ended;
	unsigned int nb_alive;   /* the client took a message */
	unsigned int nb_quiet;   /* waits for the rest of a frame */
};

static void
talk_begin(struct talk *t, struct liar *l)
{
	unsigned int i;

	memset(t, 0, sizeof(*t));
	t->l = l;
	lie_goods_new(&t->g);
	/* A client that believes in the consumer can send to it. */
	for (i = 0; i < LIAR_POSTS; i++)
		raw_cons_post(&t->g.c, COMCH_REGION_STAGED, 0, LIAR_LEN);
	t->g.c.id = 1;
}

static void
talk_end(struct talk *t)
{
	fprintf(stderr, "   %u ended, %u lived, %u waited\n", t->nb_ended, t->nb_alive,
		t->nb_quiet);
	lie_goods_free(&t->g);
}

/* Is it over, or does the client take another message? */
static bool
is_alive(struct talk *t)
{
	struct liar *l = t->l;
	const unsigned int before = l->client.nb_msgs;
	unsigned int i;

	/* Behind a frame whose length was a lie, the client looks elsewhere. */
	if (t->step >= LIE_UP) {
		l->a.acked = LIAR_CREDITS;
		(void)raw_try(&l->a, &(struct raw_send){ .type = COMCH_WIRE_MSG });
	}
	for (i = 0; i < 300 && !liar_is_over(l) && l->client.nb_msgs == before; i++)
		liar_progress(l);
	if (!liar_is_over(l) && l->client.nb_msgs == before)
		T_SETTLE(liar_progress(l));
	return l->client.nb_msgs > before;
}

static void
say(void *arg, const struct lie_frame *f, const uint8_t *bytes, uint32_t len, const int *fds)
{
	struct talk *t = arg;
	struct liar *l = t->l;
	bool alive;

	liar_reach(l, t->step);
	lie_send(&l->a, f, bytes, len, fds);
	alive = is_alive(t);
	liar_check_honest(l);
	if (liar_is_over(l))
		t->nb_ended++;
	else if (alive)
		t->nb_alive++;
	else
		t->nb_quiet++;
	/* A program may have enough of a server that lives on. */
	if (alive && !liar_is_over(l) && t->nb_alive % 2 == 0) {
		liar_ack(l);
		liar_stop(l);
	} else {
		liar_close(l);
	}
}

static void
say_lies(struct talk *t, int of, int step)
{
	unsigned int i;

	t->step = step;
	for (i = 0; i < lie_nb_frames; i++)
		if ((int)lie_frames[i].step == of && (lie_frames[i].by & LIE_BY_SERVER) != 0)
			lie_each(&lie_frames[i], &t->g, say, t);
}

LIAR_CASE(each_invalid_field, l)
{
	struct talk t;
	int step;

	talk_begin(&t, l);
	for (step = LIE_LINKED; step < LIE_NB_STEPS; step++)
		say_lies(&t, step, step);
	T_GT(t.nb_alive, 0);
	T_GT(t.nb_ended, t.nb_alive);
	talk_end(&t);
}

/* What is said at UP is also understood later, when there is more to damage. */
LIAR_CASE(each_invalid_field_later, l)
{
	struct talk t;

	talk_begin(&t, l);
	say_lies(&t, LIE_UP, LIE_OFFERED);
	say_lies(&t, LIE_SHOWN, LIE_OFFERED);
	T_GT(t.nb_alive, 0);
	talk_end(&t);
}

/* True ones, also those of clients. */
LIAR_CASE(each_frame_at_each_step, l)
{
	uint8_t bytes[LIE_MAX_LEN];
	struct talk t;
	unsigned int i;
	int fds[2];

	talk_begin(&t, l);
	for (t.step = LIE_LINKED; t.step < LIE_NB_STEPS; t.step++) {
		for (i = 0; i < lie_nb_frames; i++) {
			lie_fds(&t.g, lie_frames[i].type, fds);
			say(&t, &lie_frames[i], bytes, lie_build(&lie_frames[i], bytes), fds);
		}
	}
	T_GT(t.nb_alive, 0);
	talk_end(&t);
}

/* Several at once, and bytes that are no frame at all. */
LIAR_CASE(at_random, l)
{
	const unsigned int nb_talks = t_repeat(t_sanitized() ? 100 : 300);
	unsigned int i, n;
	struct talk t;

	lie_seed();
	talk_begin(&t, l);
	for (i = 0; i < nb_talks; i++) {
		liar_reach(l, (int)lie_draw(LIE_NB_STEPS));
		for (n = 1 + lie_draw(6); n > 0 && !liar_is_over(l); n--) {
			lie_random_say(&l->a, &t.g);
			if (lie_draw(2) == 0)
				liar_progress(l);
		}
		for (n = lie_draw(100); n > 0; n--)
			liar_progress(l);
		liar_check_honest(l);
		liar_close(l);
	}
	lie_goods_free(&t.g);
}

/* In place of each descriptor of each frame. */
LIAR_CASE(descriptors, l)
{
	uint8_t bytes[LIE_MAX_LEN];
	unsigned int i, k, kind;
	struct talk t;
	int fds[2];

	l->is_timed = true;
	talk_begin(&t, l);
	for (i = 0; i < lie_nb_frames; i++) {
		t.step = lie_frames[i].step;
		for (k = 0; k < lie_frames[i].nb_fds; k++) {
			for (kind = 0; kind < ODD_NB; kind++) {
				lie_fds(&t.g, lie_frames[i].type, fds);
				fds[k] = odd_fd(kind, t_dir());
				T_GE(fds[k], 0);
				say(&t, &lie_frames[i], bytes, lie_build(&lie_frames[i], bytes),
					fds);
				close(fds[k]);
			}
		}
	}
	T_GT(t.nb_ended, 0);
	talk_end(&t);
}

/* The client answers a message that comes with the end of the connection. */
LIAR_CASE(last_message, l)
{
	l->answers = true;
	liar_reach(l, LIE_UP);
	raw_send_msg(&l->a, "last", 4);
	raw_send_reason(&l->a, COMCH_WIRE_DISCONNECT, -ECONNRESET, "bye", 3);
	T_WAIT(liar_progress(l), liar_is_over(l));
	T_EQ(l->client.nb_msgs, 1);
	liar_close(l);
}

/* A server that agrees to one byte: longer messages fail, one at a time. */
LIAR_CASE(shorter_messages, l)
{
	struct side *side = &l->client;

	l->is_shorter = true;
	liar_reach(l, LIE_LINKED);
	raw_send_accept(&l->a, 1, 64);
	T_WAIT(liar_progress(l), ctx_is_running(side->ctx));
	liar_send(l, "long", 4);
	liar_send(l, "s", 1);
	T_WAIT(liar_progress(l), side->nb_send_errors == 1);
	T_IS(side->send_status, DOCA_ERROR_INVALID_VALUE);
	l->a.acked = 1;
	(void)raw_try(&l->a, &(struct raw_send){ .type = COMCH_WIRE_CREDIT });
	T_WAIT(liar_progress(l), side->nb_sent == 1);
	liar_close(l);
}

static void
say_hello(struct liar *l, const struct shm_hello *hello, int fd, bool is_true)
{
	liar_reach(l, LIE_CONNECTED);
	raw_sock_send(l->a.sock, hello, sizeof(*hello), &fd, 1);
	if (is_true)
		T_SETTLE(liar_progress(l));
	else
		T_WAIT(liar_progress(l), liar_is_over(l));
	liar_check_honest(l);
	liar_close(l);
	T_EQ(l->client.nb_sent + l->client.nb_msgs, 0);
}

/* Of the driver, before any frame. */
LIAR_CASE(hello, l)
{
	const uint32_t truth[4] = { SHM_HELLO_MAGIC, SHM_HELLO_VERSION, RAW_CELLS, 0 };
	unsigned int i, which;
	union {
		uint32_t word[4];
		struct shm_hello hello;
	} u;
	struct raw_mem m;
	int fd;

	raw_mem_new(&m, (shm_link_len(RAW_CELLS) + 4095) & ~(size_t)4095, MFD_ALLOW_SEALING,
		RAW_SEALS);
	for (i = 0; i < RTE_DIM(truth); i++) {
		for (which = 0; which < LIE_NB_WHICH; which++) {
			memcpy(u.word, truth, sizeof(truth));
			u.word[i] = (uint32_t)lie_value(truth[i], 4, which);
			/* Unknown flags are ignored. */
			say_hello(l, &u.hello, m.fd, i == 3 || u.word[i] == truth[i]);
		}
	}
	memcpy(u.word, truth, sizeof(truth));
	for (i = 0; i < ODD_NB; i++) {
		fd = odd_fd(i, t_dir());
		say_hello(l, &u.hello, fd, false);
		close(fd);
	}
	raw_mem_free(&m);
}
