/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Which tasks of a context are given to workers, when, and how they come back. */

#include "accel/accel.h"

/* A worker gets a task only if at most as many are before it: each submit looks at them. */
#define MAX_BEFORE 64

/* Whether two lists have a buffer in common. */
static bool
is_common(const struct doca_buf *a, const struct doca_buf *b)
{
	const struct doca_buf *i;

	for (; a != NULL; a = a->next)
		for (i = b; i != NULL; i = i->next)
			if (a == i)
				return true;
	return false;
}

/* Whether enough tasks that are not reported are in front of the next one to give. */
static bool
is_far_ahead(const struct impl_accel *accel)
{
	const struct doca_task *t = accel->queue.first;
	unsigned int n;

	for (n = 0; n < MAX_BEFORE && t != accel->next_to_give; n++)
		t = t->next;
	return n == MAX_BEFORE;
}

bool
impl_accel_is_bound(const struct impl_accel *accel, const struct impl_accel_task *task)
{
	const struct impl_accel_task *before;
	const struct doca_task *t;

	for (t = accel->queue.first; t != accel->next_to_give; t = t->next) {
		before = impl_accel_task_of(t);
		if (is_common(before->dst, task->dst) || is_common(before->dst, task->src) ||
				is_common(before->src, task->dst))
			return true;
	}
	return false;
}

static bool
suits_worker(const struct impl_accel_task *task)
{
	const struct impl_accel_kind *kind = impl_accel_kind_of(task);

	return kind->suits_worker != NULL && task->task.state != IMPL_TASK_ORPHAN &&
		impl_accel_admit(task) == DOCA_SUCCESS && kind->suits_worker(task);
}

/*
 * Have the workers busy, and not much more: what is begun has memory. A task that cannot begin
 * fails when it is its turn.
 */
void
impl_accel_give(struct impl_accel *accel)
{
	struct impl_accel_task *task;

	while (accel->next_to_give != NULL && accel->nb_given < 2 * accel->nb_workers) {
		task = impl_accel_task_of(accel->next_to_give);
		/* First: a worker may be at its buffers. */
		if (is_far_ahead(accel) || impl_accel_is_bound(accel, task))
			return;
		if (suits_worker(task) && impl_accel_begin(task) == DOCA_SUCCESS) {
			impl_workers_give(task);
			accel->nb_given++;
		}
		accel->next_to_give = task->task.next;
	}
}

void
impl_accel_call_off_all(struct impl_accel *accel)
{
	struct doca_task *task;

	for (task = accel->queue.first; task != NULL; task = task->next)
		if (impl_workers_phase(&impl_accel_task_of(task)->work) == IMPL_WORKER_GIVEN)
			impl_workers_call_off(impl_accel_task_of(task));
}

void
impl_accel_take_back(struct impl_accel_task *task)
{
	if (impl_workers_phase(&task->work) == IMPL_WORKER_GIVEN)
		impl_workers_recall(task);
}
