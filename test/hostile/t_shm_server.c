/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Frames of a server that lies to its client: each field of each frame that it may send, and at
 * random. Whatever it says, the client learns of the end in an event, with one line in the log,
 * or lives on; another client of the process is served meanwhile.
 */

#include <stdlib.h>
#include <unistd.h>

#include "liar.h"
#include "lies.h"
#include "odd.h"
#include "t_figures.h"

TestSuite(server, .init = v_start, .fini = v_stop);

/* Bring the client so far. */
static void (*const go[LIE_NB_STEPS])(struct liar *l) = {
	[LIE_LINKED] = liar_link, [LIE_UP] = liar_up, [LIE_SHOWN] = liar_shown,
	[LIE_OFFERED] = liar_offered,
};

/* How the lies ended. */
static struct {
	unsigned int ended;
	unsigned int alive;  /* and takes a message */
	unsigned int quiet;  /* waits for the rest of a frame */
} tally;

/* What the client makes of it. */
static void
outcome(struct liar *l)
{
	const unsigned int msgs = t_count(l->v.p.host, RTE_COMCH_EVENT_MSG, l->conn);
	bool alive = false;
	unsigned int i;

	/* Behind a frame whose length was a lie, the client looks elsewhere. */
	if (l->conn != NULL)
		(void)raw_try(&l->a, &(struct raw_send){ .type = COMCH_WIRE_MSG });
	for (i = 0; i < 300 && !alive && !liar_is_over(l); i++) {
		t_step_all();
		if (l->conn != NULL)
			alive = t_count(l->v.p.host, RTE_COMCH_EVENT_MSG, l->conn) >= msgs + 1;
	}
	if (!alive && !liar_is_over(l))
		t_settle();
	liar_check_honest(l);
	t_check_events(l->v.p.host, 4080);
	if (liar_is_over(l))
		tally.ended++;
	else if (alive)
		tally.alive++;
	else
		tally.quiet++;
}

static unsigned int
nb_of(const char *text, const char *part)
{
	unsigned int n = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		n++;
	return n;
}

/* One line says that the connection has ended and why; a few may say more. */
static void
check_log(const char *text, unsigned int more)
{
	if (nb_of(text, " of " LIAR ": ") != 1 || nb_of(text, "\n") > 1 + more)
		T_FAIL("unexpected log: \"%s\"", text);
}

/* Send the bytes as a frame to a client that has come so far. */
static void
say(void *arg, const struct lie_frame *f, const uint8_t *bytes, uint32_t len, const int *fds)
{
	struct liar *l = arg;
	struct t_log log;

	go[f->step](l);
	t_log_begin_at(&log, RTE_LOG_INFO);
	lie_send(&l->a, f, bytes, len, fds);
	outcome(l);
	liar_close(l);
	t_log_stop(&log);
	check_log(log.text, 1);
	free(log.text);
}

/* Each field of a frame, each lie. */
static void
lies_of(struct liar *l, const struct lie_frame *f)
{
	struct lie_goods g;

	lie_goods_new(&g);
	lie_each(f, &g, say, l);
	lie_goods_free(&g);
}

/* Many lies, told one after the other: nothing is left of them, at least not of each. */
struct tale {
	struct liar l;
	unsigned int maps;
	uint64_t rss;
};

static void
tale_begin(struct tale *t)
{
	unsigned int i;

	liar_begin(&t->l);
	/* What is allocated once. */
	for (i = 0; i < 20; i++) {
		liar_offered(&t->l);
		liar_close(&t->l);
	}
	t->maps = t_maps_count("");
	t->rss = t_rss_kb();
	memset(&tally, 0, sizeof(tally));
}

static void
tale_end(struct tale *t)
{
	fprintf(stderr, "%u ended, %u lived, %u waited\n", tally.ended, tally.alive, tally.quiet);
	/* Other threads unmap some; such a thread has mappings of its own. */
	T_UNTIL(t_maps_count("") <= t->maps + 24);
	if (!t_sanitized())
		T_LE(t_rss_kb(), t->rss + 4096);
	liar_end(&t->l);
}

static void
lies_at(enum lie_step step)
{
	struct tale t;
	unsigned int i;

	tale_begin(&t);
	for (i = 0; i < lie_nb_frames; i++)
		if (lie_frames[i].step == step && (lie_frames[i].by & LIE_BY_SERVER) != 0)
			lies_of(&t.l, &lie_frames[i]);
	tale_end(&t);
}

Test(server, lies_linked)
{
	lies_at(LIE_LINKED);
}

Test(server, lies_up)
{
	lies_at(LIE_UP);
}

Test(server, lies_shown)
{
	lies_at(LIE_SHOWN);
}

Test(server, lies_offered)
{
	lies_at(LIE_OFFERED);
}

/* Several fields of several frames at once, and bytes that are no frame at all. */

static void
random_talk(struct liar *l, const struct lie_goods *g)
{
	unsigned int i, n = 1 + lie_draw(6);
	struct t_log log;

	go[lie_draw(LIE_NB_STEPS)](l);
	t_log_begin_at(&log, RTE_LOG_INFO);
	for (i = 0; i < n && !liar_is_over(l); i++) {
		lie_random_say(&l->a, g);
		t_steps(l->v.p.host, lie_draw(4));
	}
	outcome(l);
	liar_close(l);
	t_log_stop(&log);
	/* What is refused and what is over a limit is logged once for each connection. */
	check_log(log.text, 3);
	free(log.text);
}

Test(server, lies_at_random)
{
	unsigned int i, n = t_sanitized() ? 200 : 600;
	struct tale t;
	struct lie_goods g;

	lie_seed();
	tale_begin(&t);
	lie_goods_new(&g);
	for (i = 0; i < n; i++)
		random_talk(&t.l, &g);
	lie_goods_free(&g);
	tale_end(&t);
}

/* Descriptors of all kinds in place of memory and sockets. */

/* In place of number `which` of a frame's descriptors. */
static void
odd_fds_of(struct liar *l, const struct lie_frame *f, const struct lie_goods *g, uint32_t which)
{
	uint8_t bytes[LIE_MAX_LEN];
	unsigned int kind;
	uint32_t len;
	int fds[2];

	len = lie_build(f, bytes);
	for (kind = 0; kind < ODD_NB; kind++) {
		lie_fds(g, f->type, fds);
		fds[which] = odd_fd(kind, t_dir());
		T_GE(fds[which], 0);
		say(l, f, bytes, len, fds);
		close(fds[which]);
	}
}

static void
odd_hello(struct liar *l)
{
	const struct shm_hello hello = {
		.magic = SHM_HELLO_MAGIC, .version = SHM_HELLO_VERSION, .cells = RAW_CELLS,
	};
	unsigned int kind;
	int fd;

	for (kind = 0; kind < ODD_NB; kind++) {
		liar_connect(l);
		fd = odd_fd(kind, t_dir());
		T_EQ(raw_sock_send(l->a.sock, &hello, sizeof(hello), &fd, 1), sizeof(hello));
		T_UNTIL(liar_is_over(l));
		liar_check_honest(l);
		T_EQ(liar_close(l), -EPROTO);
		close(fd);
	}
}

Test(server, descriptors)
{
	struct tale t;
	struct lie_goods g;
	unsigned int i, k;

	tale_begin(&t);
	lie_goods_new(&g);
	odd_hello(&t.l);
	for (i = 0; i < lie_nb_frames; i++)
		for (k = 0; k < lie_frames[i].nb_fds; k++)
			odd_fds_of(&t.l, &lie_frames[i], &g, k);
	lie_goods_free(&g);
	tale_end(&t);
}

/* Each field of the driver's hello, too; unknown flags are ignored. */
Test(server, hello)
{
	const uint32_t truth[4] = { SHM_HELLO_MAGIC, SHM_HELLO_VERSION, RAW_CELLS, 0 };
	unsigned int field, which;
	uint32_t hello[4];
	struct tale t;

	static_assert(sizeof(hello) == sizeof(struct shm_hello), "its words");
	tale_begin(&t);
	for (field = 0; field < RTE_DIM(hello); field++) {
		for (which = 0; which < LIE_NB_WHICH; which++) {
			memcpy(hello, truth, sizeof(hello));
			hello[field] = (uint32_t)lie_value(truth[field], 4, which);
			liar_connect(&t.l);
			raw_sock_send(t.l.a.sock, hello, sizeof(hello), &t.l.a.own_fd, 1);
			if (field < 3 && hello[field] != truth[field])
				T_UNTIL(liar_is_over(&t.l));
			liar_check_honest(&t.l);
			liar_close(&t.l);
		}
	}
	tale_end(&t);
}
