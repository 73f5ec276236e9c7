/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The callers' side of comch_foreign.h: closing. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_foreign_private.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "sdk/comch_worker.h"

static struct comch_foreign_pool *const pool = &comch_foreign_pool;
/* Descriptors that wait for space in the closers' queue. */
static int *backlog;
static uint32_t nb_backlog, max_backlog;
static uint32_t nb_late; /* descriptors whose close waits for the lock */

/* A descriptor to close when the lock is free. */
struct late_close {
	struct comch_job base; /* first */
	int fd;
};

static struct comch_worker late;

void
comch_foreign_close_start(void)
{
	/* Without it comch_foreign_close() waits for the lock. */
	(void)comch_worker_start(&late);
}

void
comch_foreign_close_forked(void)
{
	while (nb_backlog > 0)
		close(backlog[--nb_backlog]);
	nb_late = 0;
}

bool
comch_foreign_has_backlog(void)
{
	return nb_backlog > 0;
}

uint32_t
comch_foreign_nb_closing(void)
{
	return nb_backlog + comch_load_relaxed(&nb_late);
}

void
comch_foreign_backlog_flush(void)
{
	while (nb_backlog > 0 && comch_foreign_hand_over(COMCH_FOREIGN_CLOSER, NULL,
			backlog[nb_backlog - 1]) == 0)
		close(backlog[--nb_backlog]);
}

/* Under the lock. Without memory the descriptor leaks: close() could block. */
static void
backlog_add(int fd)
{
	uint32_t max = 2 * max_backlog + 64;
	int *larger;

	if (nb_backlog == max_backlog) {
		larger = realloc(backlog, max * sizeof(*backlog));
		if (larger == NULL) {
			COMCH_LOG(ERR, "no memory: leaking descriptor %d of a peer", fd);
			return;
		}
		backlog = larger;
		max_backlog = max;
	}
	backlog[nb_backlog++] = fd;
	pthread_cond_signal(&pool->wake);
}

/*
 * Under the lock, which a closer takes before it closes: so the closer still has the
 * file open, and this close() does not drop it.
 */
void
comch_foreign_close_locked(int fd)
{
	comch_foreign_backlog_flush();
	if (comch_foreign_hand_over(COMCH_FOREIGN_CLOSER, NULL, fd) == 0)
		close(fd);
	else
		backlog_add(fd);
}

static void
close_and_unlock(int fd)
{
	if (pool->started || comch_foreign_start_locked() == 0)
		comch_foreign_close_locked(fd);
	else
		COMCH_LOG(ERR, "leaking descriptor %d of a peer", fd);
	pthread_mutex_unlock(&pool->lock);
}

static void
close_late(struct comch_job *base)
{
	struct late_close *job = (struct late_close *)base;

	pthread_mutex_lock(&pool->lock);
	close_and_unlock(job->fd);
	__atomic_sub_fetch(&nb_late, 1, __ATOMIC_RELAXED);
	free(job);
}

/* False: no memory or no thread. */
static bool
hand_to_late(int fd)
{
	struct late_close *job = comch_forked ? NULL : malloc(sizeof(*job));

	if (job == NULL)
		return false;
	*job = (struct late_close){ .base.run = close_late, .fd = fd };
	__atomic_add_fetch(&nb_late, 1, __ATOMIC_RELAXED);
	if (comch_worker_put(&late, &job->base))
		return true;
	__atomic_sub_fetch(&nb_late, 1, __ATOMIC_RELAXED);
	free(job);
	return false;
}

void
comch_foreign_close(int fd)
{
	if (pthread_mutex_trylock(&pool->lock) != 0) {
		if (hand_to_late(fd))
			return;
		pthread_mutex_lock(&pool->lock);
	}
	close_and_unlock(fd);
}

void
comch_foreign_hang_up(int sock)
{
	/* The usual case, which needs no other thread. */
	if (comch_foreign_is_drained(sock))
		close(sock);
	else
		comch_foreign_close(sock);
}

RTE_INIT(comch_foreign_close_init)
{
	comch_worker_init(&late, "comch-late");
}
