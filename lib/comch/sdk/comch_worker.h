/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_WORKER_H
#define COMCH_WORKER_H

/*
 * A helper thread, for work that would make the run of a poll long: it does jobs one by
 * one, in the order in which they were put. The thread runs away from the lcores' CPUs if
 * possible, and has all signals blocked. A forked child has workers without threads and jobs,
 * so they must not be in memory that the processes share.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>

/* A job; it is part of what it is about. */
struct comch_job {
	STAILQ_ENTRY(comch_job) next;
	/* In the worker's thread. May put the job again, or free it. */
	void (*run)(struct comch_job *job);
};

struct comch_worker {
	pthread_mutex_t lock;  /* guards all members but the name */
	pthread_cond_t wake;   /* a job, or the end */
	pthread_cond_t idle;   /* a job is done, or the thread has ended */
	STAILQ_HEAD(, comch_job) jobs;
	uint64_t nb_put;
	uint64_t nb_done;      /* atomic for readers without the lock */
	enum {
		COMCH_WORKER_NO_THREAD,
		COMCH_WORKER_HAS_THREAD,
		COMCH_WORKER_REFUSED, /* creating the thread failed: not retried */
	} state;
	bool is_ending;
	bool is_abandoned;     /* no job begins any more */
	LIST_ENTRY(comch_worker) next; /* list of all workers */
	const char *name;      /* of the thread; at most 15 characters */
};

/*
 * The name must outlive it. Not with a lock held that is taken before a fork: static workers
 * are initialized by constructors.
 */
void comch_worker_init(struct comch_worker *w, const char *name);
/*
 * Start the thread, which waits until it runs: better not in a run of a poll. False: the
 * worker has no thread.
 */
bool comch_worker_start(struct comch_worker *w);
/*
 * Have a job done. Starts the thread if it was not. Any thread, jobs included. False:
 * the worker has no thread, and the caller may do the job itself.
 */
bool comch_worker_put(struct comch_worker *w, struct comch_job *job);
/* Wait until all jobs that were put before are done. Not in a job. */
void comch_worker_wait(struct comch_worker *w);
/* The same without waiting: what has been put so far, and is all of that done? Any thread. */
uint64_t comch_worker_mark(struct comch_worker *w);
bool comch_worker_passed(struct comch_worker *w, uint64_t mark);
/* Do all jobs, those that they put included, and end the thread. No calls may follow. */
void comch_worker_fini(struct comch_worker *w);
/*
 * The process exits: wait for the job in progress, and begin no other. Libraries that jobs
 * use may be finalized then.
 */
void comch_worker_abandon(struct comch_worker *w);

#endif /* COMCH_WORKER_H */
