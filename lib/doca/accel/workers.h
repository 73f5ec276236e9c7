/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_WORKERS_H
#define IMPL_ACCEL_WORKERS_H

/*
 * Helper threads that do the work of tasks, if the device table says so (workers = N).
 *
 *     engine's thread                           a worker
 *     impl_workers_give() ------- queue ----->  run() of the task's kind, until it has ended
 *     impl_workers_has_ended() <-- its end ---  notifies the engine's poll
 *     impl_workers_recall(): it is not to go on
 *
 * A task that takes long lets others have their turn, a piece each.
 *
 * The workers are those of the process: as many as the largest N of the contexts that run. The
 * threads exist while one of these contexts runs.
 *
 * From the give until it has ended or was recalled, a task and what it works on are the worker's,
 * but for the part that contexts use (struct doca_task). Its buffers are anyway: the program lends
 * them until the task completes.
 *
 * No worker takes a task whose peer could hold it up.
 */

#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>

#include <doca_error.h>

struct impl_accel_task;

/* Where a task is. */
enum impl_worker_phase {
	IMPL_WORKER_NONE,   /* no worker has it */
	IMPL_WORKER_GIVEN,
	IMPL_WORKER_ENDED,  /* its status is there */
};

/* What a task has of it. */
struct impl_work {
	TAILQ_ENTRY(impl_work) next;
	uint8_t phase;         /* atomic */
	bool is_taken;         /* out of the queue, by a worker */
	bool is_recalled;      /* atomic */
	doca_error_t status;
};

/*
 * A context starts, on a device that has that many. DOCA_ERROR_INITIALIZATION: logged.
 * DOCA_ERROR_NOT_SUPPORTED: in a child of fork().
 */
doca_error_t impl_workers_begin(uint32_t nb);
/* It is IDLE, and no worker has a task of it. */
void impl_workers_end(uint32_t nb);

void impl_workers_give(struct impl_accel_task *task);
/* Where it is; an ended task's status is what its run() has returned. */
enum impl_worker_phase impl_workers_phase(const struct impl_work *work);
/* A task that was given is not to go on: if no worker is at it, it has ended. */
void impl_workers_call_off(struct impl_accel_task *task);
/* The same, and wait for a worker to finish the piece that it is at. */
void impl_workers_recall(struct impl_accel_task *task);

#endif /* IMPL_ACCEL_WORKERS_H */
