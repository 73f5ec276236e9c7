/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Jobs of the helper thread: see mlx5_job.h. */

#include <stdio.h>

#include "sdk/comch_compat.h"
#include "mlx5_private.h"

void
mlx5_job_open(struct mlx5_dev *dev)
{
	snprintf(dev->worker_name, sizeof(dev->worker_name), "comch-mlx5-%u",
		(uint8_t)dev->dev->id);
	comch_worker_init(&dev->worker, dev->worker_name);
	if (!comch_worker_start(&dev->worker))
		MLX5_LOG(NOTICE, "device %s: no helper thread: polls register memory themselves",
			dev->dev->info.name);
	pthread_mutex_init(&dev->job_lock, NULL);
}

void
mlx5_job_close(struct mlx5_dev *dev)
{
	comch_worker_fini(&dev->worker);
	pthread_mutex_destroy(&dev->job_lock);
}

void
mlx5_job_init(struct mlx5_job *job, struct mlx5_dev *dev, struct mlx5_link *link,
		void (*end)(struct mlx5_job *job))
{
	*job = (struct mlx5_job){ .dev = dev, .link = link, .end = end };
}

/* job_lock held: the link is not closed meanwhile. */
static void
tell_link(struct mlx5_link *l)
{
	if (l != NULL && l->reads_async)
		comch_link_tell(&l->base, true);
}

/* The work was done, or is skipped. */
static void
finish(struct mlx5_job *job)
{
	struct mlx5_dev *dev = job->dev;
	bool ends;

	pthread_mutex_lock(&dev->job_lock);
	ends = job->is_ending;
	if (!ends) {
		/* From here on it is the owner's. */
		job->is_busy = false;
		tell_link(job->link);
	}
	pthread_mutex_unlock(&dev->job_lock);
	if (ends)
		job->end(job);
}

static void
run(struct comch_job *base)
{
	struct mlx5_job *job = (struct mlx5_job *)base;
	bool ends;

	pthread_mutex_lock(&job->dev->job_lock);
	ends = job->is_ending;
	pthread_mutex_unlock(&job->dev->job_lock);
	if (!ends)
		job->work(job);
	finish(job);
}

static void
put(struct mlx5_job *job)
{
	job->base.run = run;
	if (!comch_worker_put(&job->dev->worker, &job->base))
		run(&job->base);
}

void
mlx5_job_start(struct mlx5_job *job, void (*work)(struct mlx5_job *job))
{
	pthread_mutex_lock(&job->dev->job_lock);
	job->work = work;
	job->is_busy = true;
	pthread_mutex_unlock(&job->dev->job_lock);
	put(job);
}

bool
mlx5_job_is_busy(struct mlx5_job *job)
{
	bool is_busy;

	pthread_mutex_lock(&job->dev->job_lock);
	is_busy = job->is_busy;
	pthread_mutex_unlock(&job->dev->job_lock);
	return is_busy;
}

void
mlx5_job_end(struct mlx5_job *job)
{
	struct mlx5_dev *dev = job->dev;
	bool is_busy;

	pthread_mutex_lock(&dev->job_lock);
	job->is_ending = true;
	is_busy = job->is_busy;
	job->is_busy = true;
	pthread_mutex_unlock(&dev->job_lock);
	if (!is_busy)
		put(job);
}

void
mlx5_job_read_async(struct mlx5_link *l, bool reads)
{
	pthread_mutex_lock(&l->dev->job_lock);
	l->reads_async = reads;
	pthread_mutex_unlock(&l->dev->job_lock);
}
