/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <poll.h>
#include <sched.h>
#include <stdlib.h>

#include <rte_comch_dp.h>

#include "t_node.h"

#define T_MAX_NODES 64

static __thread struct t_node *nodes;

struct t_node *
t_node_new(void)
{
	struct t_node *node, **tail;

	node = calloc(1, sizeof(*node));
	if (node == NULL)
		T_FAIL("no memory");
	node->poll = rte_comch_poll_create(NULL);
	if (node->poll == NULL)
		T_FAIL("rte_comch_poll_create: %s", strerror(rte_errno));
	for (tail = &nodes; *tail != NULL; tail = &(*tail)->next)
		;
	*tail = node;
	return node;
}

void
t_node_free(struct t_node *node)
{
	struct t_node **p;

	t_step(node); /* frees what was destroyed */
	T_EQ(rte_comch_poll_destroy(node->poll), 0);
	for (p = &nodes; *p != node; p = &(*p)->next)
		if (*p == NULL)
			T_FAIL("not a node of this thread");
	*p = node->next;
	t_forget(node);
	free(node->evs);
	free(node);
}

static void
record(struct t_node *node, const struct rte_comch_event *e)
{
	struct t_ev *ev;

	if (node->nb_evs == node->cap) {
		node->cap = node->cap == 0 ? 256 : node->cap * 2;
		node->evs = realloc(node->evs, node->cap * sizeof(*node->evs));
		if (node->evs == NULL)
			T_FAIL("no memory");
	}
	ev = &node->evs[node->nb_evs++];
	memset(ev, 0, sizeof(*ev));
	ev->e = *e;
	T_LE(e->type, RTE_COMCH_EVENT_MR_ADDED);
	node->nb_of[e->type]++;
	if (e->text != NULL)
		snprintf(ev->text, sizeof(ev->text), "%s", e->text);
	if (e->type != RTE_COMCH_EVENT_MSG)
		return;
	ev->len = e->msg.len;
	ev->data = malloc(ev->len + 1);
	if (ev->data == NULL)
		T_FAIL("no memory");
	if (ev->len > 0)
		memcpy(ev->data, e->msg.data, ev->len);
}

uint16_t
t_step_max(struct t_node *node, uint16_t max)
{
	struct rte_comch_event evs[T_BURST];
	uint16_t i, n;

	n = rte_comch_poll_run(node->poll, evs, RTE_MIN(max, T_BURST));
	T_LE(n, max);
	for (i = 0; i < n; i++) {
		if (node->hook != NULL)
			node->hook(node, &evs[i]);
		record(node, &evs[i]);
	}
	return n;
}

uint16_t
t_step(struct t_node *node)
{
	return t_step_max(node, T_BURST);
}

void
t_steps(struct t_node *node, unsigned int n)
{
	while (n-- > 0)
		t_step(node);
}

uint16_t
t_step_all(void)
{
	struct t_node *node;
	uint16_t n = 0;

	for (node = nodes; node != NULL; node = node->next)
		if (!node->paused)
			n = (uint16_t)(n + t_step(node));
	return n;
}

void
t_forget(struct t_node *node)
{
	unsigned int i;

	for (i = 0; i < node->nb_evs; i++)
		free(node->evs[i].data);
	node->nb_evs = 0;
	memset(node->nb_of, 0, sizeof(node->nb_of));
}

const struct t_ev *
t_find(const struct t_node *node, enum rte_comch_event_type type,
		const struct rte_comch_conn *conn, unsigned int i)
{
	unsigned int k;

	for (k = 0; k < node->nb_evs; k++) {
		if (node->evs[k].e.type != type)
			continue;
		if (conn != NULL && node->evs[k].e.conn != conn)
			continue;
		if (i-- == 0)
			return &node->evs[k];
	}
	return NULL;
}

unsigned int
t_count(const struct t_node *node, enum rte_comch_event_type type,
		const struct rte_comch_conn *conn)
{
	unsigned int k, n = 0;

	if (conn == NULL)
		return node->nb_of[type];
	for (k = 0; k < node->nb_evs; k++)
		if (node->evs[k].e.type == type && node->evs[k].e.conn == conn)
			n++;
	return n;
}

void
t_no_end(const struct t_node *node, const struct rte_comch_conn *conn)
{
	const struct t_ev *ev = t_find(node, RTE_COMCH_EVENT_DISCONNECTED, conn, 0);

	if (ev != NULL)
		T_FAIL("a connection has ended: %s (%d)", ev->text, ev->e.status);
}

unsigned int
t_pos(const struct t_node *node, const struct t_ev *ev)
{
	T_CHECK(ev != NULL);
	return (unsigned int)(ev - node->evs);
}

void
t_born(const void *obj)
{
	struct t_node *node;
	unsigned int k;

	for (node = nodes; node != NULL; node = node->next)
		for (k = 0; k < node->nb_evs; k++)
			if (node->evs[k].e.type == RTE_COMCH_EVENT_STATE &&
					node->evs[k].e.obj.ptr == obj)
				node->evs[k].e.obj.ptr = NULL;
}

const struct t_ev *
t_state_ev(const struct t_node *node, const void *obj)
{
	unsigned int k;

	for (k = node->nb_evs; k-- > 0; )
		if (node->evs[k].e.type == RTE_COMCH_EVENT_STATE &&
				node->evs[k].e.obj.ptr == obj)
			return &node->evs[k];
	return NULL;
}

bool
t_state_is(const struct t_node *node, const void *obj, enum rte_comch_state next)
{
	const struct t_ev *ev = t_state_ev(node, obj);

	return ev != NULL && ev->e.state.next == next;
}

void
t_check_events(const struct t_node *node, uint32_t max_len)
{
	const struct t_ev *ev;
	unsigned int k;

	for (k = 0; k < node->nb_evs; k++) {
		ev = &node->evs[k];
		T_LE(ev->e.status, 0);
		T_GT(ev->e.status, -4096);
		if (ev->e.type == RTE_COMCH_EVENT_MSG)
			T_LE(ev->len, max_len);
		if (ev->e.type == RTE_COMCH_EVENT_CONSUMER_NEW)
			T_CHECK(ev->e.consumer.id != 0 && ev->e.consumer.depth > 0 &&
				ev->e.consumer.depth <= 65536 && ev->e.consumer.imm_size <=
				RTE_COMCH_IMM_SIZE);
	}
}

void
t_node_dump(const struct t_node *node)
{
	const struct t_ev *ev;
	unsigned int k;

	for (k = 0; k < node->nb_evs; k++) {
		ev = &node->evs[k];
		fprintf(stderr, "  %3u %-16s obj %d:%p conn %p status %d len %u %s\n", k,
				rte_comch_event_name(ev->e.type), (int)ev->e.obj_type,
				ev->e.obj.ptr, (void *)ev->e.conn, ev->e.status,
				ev->len, ev->text);
	}
}

static void
timed_out(const struct t_wait *wait)
{
	const struct t_node *node;

	for (node = nodes; node != NULL; node = node->next) {
		fprintf(stderr, "node %p%s:\n", (const void *)node,
				node->paused ? " (paused)" : "");
		t_node_dump(node);
	}
	t_fail_at(wait->file, wait->line, "timed out: %s", wait->cond);
}

void
t_until_step(const struct t_wait *wait)
{
	const bool moved = t_step_all() > 0;

	if (!moved && t_now_ms() > wait->deadline)
		timed_out(wait);
	t_relax(moved);
}

bool
t_settle_step(struct t_settling *s)
{
	return t_settle_on(s, t_step_all() > 0);
}

void
t_settle(void)
{
	struct t_settling s = t_settle_begin();

	while (t_settle_step(&s))
		;
}

/* Arm all nodes; false if one has something to do. */
static bool
arm_all(struct pollfd *fds, unsigned int *nb)
{
	struct t_node *node;
	int rc;

	*nb = 0;
	for (node = nodes; node != NULL; node = node->next) {
		if (node->paused)
			continue;
		rc = rte_comch_poll_arm(node->poll, RTE_COMCH_POLL_ANY);
		if (rc == -EAGAIN)
			return false;
		T_EQ(rc, 0);
		T_LT(*nb, T_MAX_NODES);
		fds[*nb].fd = rte_comch_poll_fd(node->poll, RTE_COMCH_POLL_ANY);
		fds[*nb].events = POLLIN;
		T_GE(fds[*nb].fd, 0);
		(*nb)++;
	}
	return true;
}

void
t_sleep_step(const struct t_wait *wait)
{
	struct pollfd fds[T_MAX_NODES];
	unsigned int nb;
	int64_t left;
	int rc;

	if (t_step_all() > 0 || !arm_all(fds, &nb))
		return;
	left = (int64_t)(wait->deadline - t_now_ms());
	rc = left <= 0 ? 0 : poll(fds, nb, (int)left);
	if (rc == 0)
		timed_out(wait);
	if (rc < 0 && errno != EINTR)
		T_FAIL("poll: %s", strerror(errno));
}
