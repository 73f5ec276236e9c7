/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Polls of both ends. When a poll is created, the end of its objects is not known yet,
 * so each poll is a near one. The first far object gives it a twin, which is run in
 * its place, or after it if it has objects of both.
 */

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "far.h"
#include "far_wrap.h"

#define NB_CLASSES 4

static const uint32_t class_of[NB_CLASSES] = {
	RTE_COMCH_POLL_ANY, RTE_COMCH_POLL_RX, RTE_COMCH_POLL_TX, RTE_COMCH_POLL_LINK,
};

/** A poll and its twin. */
struct both {
	struct both *next;
	struct rte_comch_poll *near;
	bool near_used;    /**< Has near objects, or had. */
	uint64_t handle;   /**< Of the twin; 0: none. */
	/* To sleep on, by class: a connection on which the agent writes a byte when the
	 * twin's descriptor becomes readable, and how many of them were read.
	 */
	int fd[NB_CLASSES];
	uint64_t nb_read[NB_CLASSES];
	/** What the last events point to. */
	struct wire_buf frame;
};

static struct both *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct both *
find(const struct rte_comch_poll *poll)
{
	struct both *b;

	pthread_mutex_lock(&lock);
	for (b = all; b != NULL && b->near != poll; b = b->next)
		;
	pthread_mutex_unlock(&lock);
	return b;
}

/* With a twin that has to be asked; NULL for all others. */
static struct both *
twin_of(const struct rte_comch_poll *poll)
{
	struct both *b = far_on() && poll != NULL ? find(poll) : NULL;

	return b != NULL && b->handle != 0 ? b : NULL;
}

FAR_WRAP(struct rte_comch_poll *, rte_comch_poll_create, const struct rte_comch_poll_conf *conf)
{
	struct rte_comch_poll *poll = __real_rte_comch_poll_create(conf);
	struct both *b;
	unsigned int i;

	if (poll == NULL || !far_on())
		return poll;
	b = calloc(1, sizeof(*b));
	if (b == NULL)
		T_FAIL("no memory");
	b->near = poll;
	for (i = 0; i < NB_CLASSES; i++)
		b->fd[i] = -1;
	pthread_mutex_lock(&lock);
	b->next = all;
	all = b;
	pthread_mutex_unlock(&lock);
	return poll;
}

void
far_poll_near(struct rte_comch_poll *poll)
{
	struct both *b = far_on() ? find(poll) : NULL;

	if (b != NULL)
		b->near_used = true;
}

uint64_t
far_poll(struct rte_comch_poll *poll)
{
	struct both *b;

	if (poll == NULL)
		return 0;
	b = find(poll);
	T_CHECK(b != NULL);
	if (b->handle == 0)
		b->handle = (uint64_t)far_call(CALL_POLL_CREATE, 0);
	if (b->handle == 0)
		T_FAIL("poll_create: %s", strerror(rte_errno));
	return b->handle;
}

static void
twin_end(struct both *b)
{
	unsigned int i;

	for (i = 0; i < NB_CLASSES; i++) {
		if (b->fd[i] >= 0)
			close(b->fd[i]);
		b->fd[i] = -1;
		b->nb_read[i] = 0;
	}
	b->handle = 0;
}

static void
forget(struct both *b)
{
	struct both **at;

	pthread_mutex_lock(&lock);
	for (at = &all; *at != b; at = &(*at)->next)
		;
	*at = b->next;
	pthread_mutex_unlock(&lock);
	free(b->frame.data);
	free(b);
}

FAR_WRAP(int, rte_comch_poll_destroy, struct rte_comch_poll *poll)
{
	struct both *b = far_on() && poll != NULL ? find(poll) : NULL;
	int rc = 0;

	if (b != NULL && b->handle != 0)
		rc = (int)far_call(CALL_POLL_DESTROY, b->handle);
	if (rc != 0)
		return rc;
	if (b != NULL)
		twin_end(b);
	rc = __real_rte_comch_poll_destroy(poll);
	if (rc == 0 && b != NULL)
		forget(b);
	return rc;
}

/* Read what the agent says it has told, so that the descriptors are not readable. */
static void
get_told(struct wire *w, struct both *b)
{
	uint64_t nb = wire_get_u64(w), cls, told;
	unsigned int i;
	char byte;

	while (nb-- > 0) {
		cls = wire_get_u64(w);
		told = wire_get_u64(w);
		for (i = 0; class_of[i] != cls; i++)
			;
		for (; b->nb_read[i] < told; b->nb_read[i]++)
			if (recv(b->fd[i], &byte, 1, 0) != 1)
				T_FAIL("wake-up: %s", strerror(errno));
	}
}

static void
get_event(struct wire *w, struct rte_comch_event *ev)
{
	uint32_t len;

	wire_get(w, ev, sizeof(*ev));
	ev->obj.ptr = far_obj(ev->obj_type, (uintptr_t)ev->obj.ptr);
	ev->conn = far_obj(RTE_COMCH_OBJ_CONN, (uintptr_t)ev->conn);
	ev->text = wire_get_str(w);
	if (ev->type == RTE_COMCH_EVENT_MSG)
		ev->msg.data = wire_get_bytes(w, &len);
	else if (ev->type == RTE_COMCH_EVENT_MR_ADDED)
		ev->mr.mr = far_mem_by_handle((uintptr_t)ev->mr.mr);
}

/* What events point to is good until the next run of this poll; a frame is not. */
static void
keep(struct wire *w, struct both *b)
{
	const struct wire_buf spent = b->frame;

	b->frame = w->in;
	w->in = spent;
}

static uint16_t
run(struct both *b, struct rte_comch_event *events, uint16_t max)
{
	struct wire *w = far_begin(CALL_POLL_RUN);
	uint16_t i, n;

	wire_u64(w, b->handle);
	wire_u64(w, max);
	n = (uint16_t)far_do(w);
	get_told(w, b);
	for (i = 0; i < n; i++)
		get_event(w, &events[i]);
	if (n > 0)
		keep(w, b);
	far_end();
	return n;
}

FAR_WRAP(uint16_t, rte_comch_poll_run, struct rte_comch_poll *poll,
		struct rte_comch_event *events, uint16_t max)
{
	struct both *b = twin_of(poll);
	uint16_t n = 0;

	if (b == NULL)
		return __real_rte_comch_poll_run(poll, events, max);
	if (b->near_used)
		n = __real_rte_comch_poll_run(poll, events, max);
	return (uint16_t)(n + run(b, events + n, max - n));
}

FAR_WRAP(int, rte_comch_poll_arm, struct rte_comch_poll *poll, uint32_t cls)
{
	struct both *b = twin_of(poll);
	int rc = 0;

	if (b == NULL || b->near_used)
		rc = __real_rte_comch_poll_arm(poll, cls);
	if (b == NULL || rc != 0)
		return rc;
	return (int)far_call2(CALL_POLL_ARM, b->handle, cls);
}

FAR_WRAP(int, rte_comch_poll_clear, struct rte_comch_poll *poll)
{
	struct both *b = twin_of(poll);
	struct wire *w;
	int64_t rc;

	if (b == NULL || b->near_used)
		rc = __real_rte_comch_poll_clear(poll);
	if (b == NULL)
		return (int)rc;
	w = far_begin(CALL_POLL_CLEAR);
	wire_u64(w, b->handle);
	rc = far_do(w);
	get_told(w, b);
	far_end();
	return (int)rc;
}

FAR_WRAP(int, rte_comch_poll_notify, struct rte_comch_poll *poll)
{
	struct both *b = twin_of(poll);

	return b == NULL || b->near_used ? __real_rte_comch_poll_notify(poll) :
		(int)far_call(CALL_POLL_NOTIFY, b->handle);
}

/* The twin's descriptor: a connection that has a byte when it is readable. */
static int
far_fd(struct both *b, uint32_t cls)
{
	unsigned int i;
	int rc, fd;

	rc = (int)far_call2(CALL_POLL_FD, b->handle, cls);
	if (rc < 0)
		return rc;
	for (i = 0; class_of[i] != cls; i++)
		;
	if (b->fd[i] >= 0)
		return b->fd[i];
	fd = far_wake_connect();
	T_EQ(far_call2(CALL_POLL_WATCH, b->handle, cls), 0);
	b->fd[i] = fd;
	return fd;
}

FAR_WRAP(int, rte_comch_poll_fd, struct rte_comch_poll *poll, uint32_t cls)
{
	struct both *b = twin_of(poll);

	if (b == NULL)
		return __real_rte_comch_poll_fd(poll, cls);
	if (b->near_used)
		T_FAIL("a poll with objects of both ends cannot sleep");
	return far_fd(b, cls);
}

/*
 * The twin sleeps here, on its descriptor, so that this process can go on to call the agent from
 * other threads.
 */
FAR_WRAP(int, rte_comch_poll_wait, struct rte_comch_poll *poll, uint32_t cls, int timeout_ms)
{
	int rc;

	if (twin_of(poll) == NULL)
		return __real_rte_comch_poll_wait(poll, cls, timeout_ms);
	rc = rte_comch_poll_arm(poll, cls);
	if (rc != 0)
		return rc == -EAGAIN ? 1 : rc;
	rc = t_readable(rte_comch_poll_fd(poll, RTE_COMCH_POLL_ANY), timeout_ms);
	T_EQ(rte_comch_poll_clear(poll), 0);
	return rc;
}

FAR_WRAP(int, rte_comch_poll_stats_get, const struct rte_comch_poll *poll,
		struct rte_comch_poll_stats *stats)
{
	struct both *b = twin_of(poll);
	struct wire *w;
	int64_t rc;

	if (b == NULL || stats == NULL)
		return __real_rte_comch_poll_stats_get(poll, stats);
	w = far_begin(CALL_POLL_STATS);
	wire_u64(w, b->handle);
	rc = far_do(w);
	wire_get(w, stats, sizeof(*stats));
	far_end();
	return (int)rc;
}
