/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The order in which messages are received. A message occupies a receiver for as long as its
 * sender likes, so a process and a user may have a few received at a time. Further ones wait
 * in a line per process. The lines take turns: a process with a thousand messages does not
 * keep another one of its user waiting behind them.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <rte_common.h>

#include "sdk/comch_foreign_private.h"

struct comch_foreign_line {
	struct comch_foreign_peer peer;
	struct comch_foreign_jobs jobs;
	TAILQ_ENTRY(comch_foreign_line) next;
};

/*
 * While this many descriptors are still to be closed, no messages are received: the peers' quotas
 * do not count these any more. A share of RLIMIT_NOFILE, up to a maximum.
 */
#define CLOSING_SHARE(nofile) ((nofile) / 16)
#define MAX_CLOSING 256

static struct comch_foreign_pool *const pool = &comch_foreign_pool;

static bool
is_same_user(int32_t a, int32_t b)
{
	return a >= 0 && a == b;
}

/* Processes of other pid namespaces have the number 0. */
static bool
is_same_process(int32_t a, int32_t b)
{
	return a > 0 && a == b;
}

/* Messages that are being received. */
struct share {
	uint32_t pid;   /* of the process */
	uint32_t uid;   /* of the user */
	uint32_t stuck; /* of the user, for long */
};

static struct share
share_of(const struct comch_foreign_peer *peer)
{
	const struct comch_foreign_slot *s;
	const struct comch_foreign_job *job;
	struct share n = { 0 };

	for (s = pool->slot; s < pool->slot + COMCH_FOREIGN_SLOTS; s++) {
		if (!s->used || !s->busy || !is_same_user(s->peer.uid, peer->uid))
			continue;
		n.uid++;
		n.pid += is_same_process(s->peer.pid, peer->pid);
		n.stuck += s->ticks >= COMCH_FOREIGN_STUCK_TICKS;
	}
	TAILQ_FOREACH(job, &pool->jobs, next) {
		if (job->state != COMCH_FOREIGN_QUEUED || !is_same_user(job->peer.uid, peer->uid))
			continue;
		n.uid++;
		n.pid += is_same_process(job->peer.pid, peer->pid);
	}
	return n;
}

/* May one more be received? Returns 0, -EAGAIN (at the limit), or -EDQUOT (stuck there). */
static int
check_share(const struct share *n)
{
	if (n->pid < COMCH_FOREIGN_PER_PID && n->uid < COMCH_FOREIGN_PER_UID)
		return 0;
	return n->stuck >= COMCH_FOREIGN_PER_PID ? -EDQUOT : -EAGAIN;
}

static struct comch_foreign_line *
find_line(const struct comch_foreign_peer *peer)
{
	struct comch_foreign_line *line;

	TAILQ_FOREACH(line, &pool->lines, next)
		if (line->peer.pid == peer->pid && line->peer.uid == peer->uid)
			break;
	return line;
}

static int
wait_in_line(struct comch_foreign_job *job, struct comch_foreign_line *line)
{
	if (line == NULL) {
		line = malloc(sizeof(*line));
		if (line == NULL)
			return -ENOMEM;
		line->peer = job->peer;
		TAILQ_INIT(&line->jobs);
		TAILQ_INSERT_TAIL(&pool->lines, line, next);
	}
	job->state = COMCH_FOREIGN_WAITING;
	job->refs = 1;
	job->line = line;
	TAILQ_INSERT_TAIL(&line->jobs, job, next);
	return 0;
}

static bool
is_behind(void)
{
	const uint32_t n = comch_foreign_nb_closing();
	struct rlimit limit;

	if (n == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return n >= MAX_CLOSING;
	return n >= RTE_MIN(CLOSING_SHARE(limit.rlim_cur), (rlim_t)MAX_CLOSING);
}

/* List a job with those that do not wait. */
static void
queue(struct comch_foreign_job *job)
{
	job->state = COMCH_FOREIGN_QUEUED;
	job->refs = 2;
	TAILQ_INSERT_TAIL(&pool->jobs, job, next);
}

/* No room: the waker tries again. */
static void
set_blocked(void)
{
	pool->lines_blocked = true;
	pthread_cond_signal(&pool->wake);
}

int
comch_foreign_line_start(struct comch_foreign_job *job)
{
	struct comch_foreign_line *line = find_line(&job->peer);
	const struct share n = share_of(&job->peer);
	int ret = check_share(&n);

	if (ret == 0 && line != NULL)
		ret = -EAGAIN;
	if (ret == 0 && is_behind()) {
		set_blocked();
		ret = -EAGAIN;
	}
	if (ret == -EAGAIN)
		return wait_in_line(job, line);
	if (ret == 0) {
		queue(job);
		comch_foreign_count_queued(COMCH_FOREIGN_RECEIVER);
	}
	return ret;
}

int
comch_foreign_line_unsent(struct comch_foreign_job *job, int err)
{
	pool->nb_queued[COMCH_FOREIGN_RECEIVER]--;
	/* The supervisor has given it up meanwhile. */
	if (job->state != COMCH_FOREIGN_QUEUED) {
		comch_foreign_unref(job);
		return 0;
	}
	TAILQ_REMOVE(&pool->jobs, job, next);
	job->is_watched = false;
	if (err != -EAGAIN)
		return err;
	set_blocked();
	return wait_in_line(job, find_line(&job->peer));
}

static void
end_if_empty(struct comch_foreign_line *line)
{
	if (!TAILQ_EMPTY(&line->jobs))
		return;
	TAILQ_REMOVE(&pool->lines, line, next);
	free(line);
}

void
comch_foreign_line_leave(struct comch_foreign_job *job)
{
	TAILQ_REMOVE(&job->line->jobs, job, next);
	end_if_empty(job->line);
	job->line = NULL;
}

/* The messages that its peer has under way are stuck: none of these will be received. */
static void
refuse_line(struct comch_foreign_line *line)
{
	struct comch_foreign_job *job;

	while ((job = TAILQ_FIRST(&line->jobs)) != NULL) {
		TAILQ_REMOVE(&line->jobs, job, next);
		TAILQ_INSERT_TAIL(&pool->jobs, job, next);
		job->line = NULL;
		comch_foreign_finish(job, -EDQUOT);
	}
	end_if_empty(line);
}

/* One message of a line. Returns 0 if it is on its way. */
static int
advance(struct comch_foreign_line *line)
{
	struct comch_foreign_job *job = TAILQ_FIRST(&line->jobs);
	int ret;

	TAILQ_REMOVE(&line->jobs, job, next);
	/* The receiver may take a peer's time, and this thread has no CPU of its own to offer. */
	comch_foreign_cpu_leave();
	ret = is_behind() ? -EAGAIN :
		comch_foreign_hand_over(COMCH_FOREIGN_RECEIVER, job, job->sock);
	if (ret == -EAGAIN) {
		TAILQ_INSERT_HEAD(&line->jobs, job, next);
		pool->lines_blocked = true;
		return ret;
	}
	job->line = NULL;
	if (ret == 0) {
		queue(job);
	} else {
		TAILQ_INSERT_TAIL(&pool->jobs, job, next);
		comch_foreign_finish(job, ret);
	}
	/* Behind the others. */
	TAILQ_REMOVE(&pool->lines, line, next);
	TAILQ_INSERT_TAIL(&pool->lines, line, next);
	end_if_empty(line);
	return 0;
}

void
comch_foreign_line_advance(void)
{
	struct comch_foreign_line *line, *next;
	int32_t full_uid = -1;
	struct share n;
	int ret;

	pool->lines_blocked = false;
	for (line = TAILQ_FIRST(&pool->lines); line != NULL; line = next) {
		next = TAILQ_NEXT(line, next);
		if (is_same_user(line->peer.uid, full_uid))
			continue;
		n = share_of(&line->peer);
		ret = check_share(&n);
		if (ret == -EDQUOT)
			refuse_line(line);
		else if (n.uid >= COMCH_FOREIGN_PER_UID)
			full_uid = line->peer.uid;
		if (ret != 0)
			continue;
		if (advance(line) != 0)
			return;
		/* It is the last one now: its next message gets its turn, too. */
		if (next == NULL)
			next = TAILQ_FIRST(&pool->lines);
	}
}

void
comch_foreign_line_freed(void)
{
	if (!TAILQ_EMPTY(&pool->lines))
		pthread_cond_signal(&pool->wake);
}
