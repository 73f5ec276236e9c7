/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What all objects have: states, events that wait, configurations. comch_obj.c. */

#include <criterion/criterion.h>

#include "t.h"

#include "base/comch_poll.h"

static struct rte_comch_poll poll;
static struct comch_obj obj;

static void
setup(void)
{
	poll.event_fd = -1;
	comch_obj_init(&obj, RTE_COMCH_OBJ_CONSUMER, &obj, &poll, 4711);
}

TestSuite(obj, .init = setup);

Test(obj, legal_states)
{
	static const char *const legal[] = {
		/* to IDLE, STARTING, RUNNING, STOPPING */
		"-yy-", "y-yy", "y--y", "y---",
	};
	unsigned int from, to;

	for (from = 0; from < 4; from++)
		for (to = 0; to < 4; to++)
			cr_assert_eq(comch_obj_may(from, to), legal[from][to] == 'y',
				"%s to %s", rte_comch_state_name(from), rte_comch_state_name(to));
}

Test(obj, names)
{
	cr_assert_str_eq(rte_comch_state_name(RTE_COMCH_STATE_STOPPING), "STOPPING");
	cr_assert_str_eq(rte_comch_state_name(4), "?");
	cr_assert_str_eq(rte_comch_event_name(RTE_COMCH_EVENT_MR_ADDED), "MR_ADDED");
	cr_assert_str_eq(rte_comch_event_name(1000), "?");
}

static void
change(enum rte_comch_state next, int status, const char *text)
{
	comch_obj_state_event(&obj, next, status, text);
	cr_assert_eq(comch_obj_state(&obj), next);
}

Test(obj, events_in_order)
{
	struct rte_comch_event ev[4];
	struct comch_run run = { .poll = &poll, .events = ev, .max = 2 };

	memset(ev, 0xee, sizeof(ev));
	comch_obj_state_set(&obj, RTE_COMCH_STATE_STARTING);
	change(RTE_COMCH_STATE_RUNNING, 0, NULL);
	change(RTE_COMCH_STATE_STOPPING, -ECONNRESET, "gone");
	change(RTE_COMCH_STATE_IDLE, 0, NULL);
	cr_assert_eq(poll.mailbox, &obj, "the poll was told");
	cr_assert_null(obj.note_next, "once");
	cr_assert(!comch_obj_events(&obj, &run, NULL), "one is left");
	cr_assert_eq(run.n, 2);
	cr_assert_eq(ev[0].type, RTE_COMCH_EVENT_STATE);
	cr_assert_eq(ev[0].obj_type, RTE_COMCH_OBJ_CONSUMER);
	cr_assert_eq(ev[0].user_data, 4711u);
	cr_assert_eq(ev[0].state.prev, RTE_COMCH_STATE_STARTING);
	cr_assert_eq(ev[0].state.next, RTE_COMCH_STATE_RUNNING);
	cr_assert_eq(ev[0].status, 0);
	cr_assert_null(ev[0].text);
	cr_assert_eq(ev[1].state.prev, RTE_COMCH_STATE_RUNNING);
	cr_assert_eq(ev[1].status, -ECONNRESET);
	cr_assert_str_eq(ev[1].text, "gone");
	run.n = 0;
	cr_assert(comch_obj_events(&obj, &run, NULL));
	cr_assert_eq(run.n, 1);
	cr_assert_eq(ev[0].state.next, RTE_COMCH_STATE_IDLE);
	run.n = 0;
	cr_assert(comch_obj_events(&obj, &run, NULL));
	cr_assert_eq(run.n, 0);
}

/* More than are kept: the state counts, and no memory is overrun. */
Test(obj, events_overflow)
{
	struct rte_comch_event ev[2 * COMCH_OBJ_EVS + 2];
	struct comch_run run = { .poll = &poll, .events = ev, .max = RTE_DIM(ev) };
	int i;

	for (i = 0; i < COMCH_OBJ_EVS; i++) {
		change(RTE_COMCH_STATE_RUNNING, 0, NULL);
		change(RTE_COMCH_STATE_IDLE, 0, NULL);
	}
	cr_assert(comch_obj_events(&obj, &run, NULL));
	cr_assert_eq(run.n, COMCH_OBJ_EVS);
}

Test(obj, nobody_hears_of_the_dead)
{
	struct rte_comch_event ev[4];
	struct comch_run run = { .poll = &poll, .events = ev, .max = 4 };

	change(RTE_COMCH_STATE_RUNNING, 0, NULL);
	comch_obj_free_later(&obj);
	cr_assert(comch_obj_events(&obj, &run, NULL));
	cr_assert_eq(run.n, 0);
}

struct conf {
	size_t conf_size;
	uint64_t a;
	uint64_t b;
};

Test(obj, conf_sizes)
{
	struct conf src[40] = { { .a = 1, .b = 2 } }, dst;

	src[0].conf_size = sizeof(dst);
	cr_assert_eq(comch_obj_conf(&dst, sizeof(dst), src, "test"), 0);
	cr_assert_eq(dst.b, 2u);
	/* An older application: what it does not have is zero. */
	src[0].conf_size = offsetof(struct conf, b);
	cr_assert_eq(comch_obj_conf(&dst, sizeof(dst), src, "test"), 0);
	cr_assert_eq(dst.a, 1u);
	cr_assert_eq(dst.b, 0u);
	src[0].conf_size = sizeof(size_t);
	cr_assert_eq(comch_obj_conf(&dst, sizeof(dst), src, "test"), 0);
	cr_assert_eq(dst.a, 0u);
	/* A newer one. */
	src[0].conf_size = 16 * sizeof(dst);
	cr_assert_eq(comch_obj_conf(&dst, sizeof(dst), src, "test"), 0);
	cr_assert_eq(dst.b, 2u);
}

/* It is refused only if it asks for what is not there. */
Test(obj, conf_of_a_newer_header)
{
	struct conf src[2] = { { .conf_size = sizeof(src), .a = 1 } }, dst;

	cr_assert_eq(comch_obj_conf(&dst, sizeof(dst), src, "test"), 0);
	cr_assert_eq(dst.a, 1);
	src[1].b = 1;
	cr_assert_eq(comch_obj_conf(&dst, sizeof(dst), src, "test"), -EINVAL);
}

Test(obj, conf_sizes_that_cannot_be)
{
	static const size_t bad[] = { 0, 1, sizeof(size_t) - 1, 16 * sizeof(struct conf) + 1,
		SIZE_MAX };
	struct conf src = { .a = 1 }, dst;
	unsigned int i;

	cr_assert_eq(comch_obj_conf(&dst, sizeof(dst), NULL, "test"), -EINVAL);
	for (i = 0; i < RTE_DIM(bad); i++) {
		src.conf_size = bad[i];
		dst.a = 5;
		cr_assert_eq(comch_obj_conf(&dst, sizeof(dst), &src, "test"), -EINVAL);
		cr_assert_eq(dst.a, 0u);
	}
}
