/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_JOB_H
#define MLX5_JOB_H

/*
 * What takes a device long is done by a helper thread, one per comch device: registering
 * and deregistering memory, creating, connecting and destroying queue pairs, destroying
 * ids of the connection manager. So a run of the poll stays short, whatever memory and
 * consumers a peer makes it handle. The thread does one job after the other, in the order
 * in which they were put.
 *
 * Ownership. A job is an object with handles of the device: a registration (mlx5_reg.c),
 * the handles of a queue pair (mlx5_qp_make.c), an id (mlx5_cm.c), a link that was closed
 * (mlx5_link.c). While it is busy it belongs to the helper, otherwise to the owner, which
 * is one thread or has a lock. The helper touches nothing but the job, verbs, the count of
 * pinned bytes, and the link's news, by which the owner's thread looks for the result:
 * keys, lists, frames and the core's objects belong to the poll's thread and to bursts as
 * if there were no helper.
 *
 *    owner                                  helper
 *    mlx5_job_start(job, work)   -------->  work(job)
 *    mlx5_job_is_busy(): true               ...
 *    link_poll                   <--------  news
 *    mlx5_job_is_busy(): false
 *    mlx5_job_end(job)           -------->  job->end(job), which frees it
 *
 * Bytes are counted as pinned before the job is put, so that the limit is checked at once,
 * and until the memory is deregistered.
 *
 * The end. mlx5_job_end() never waits, also while the job is busy: a job that was not
 * begun is skipped, one in progress completes, and then the end releases what it made. So a
 * link, a consumer or a registration that ends with jobs under way only lets go of them.
 * What handles of the device refer to must outlive them: the order of jobs is enough for
 * that. Queue pairs and registrations are let go of before the link, whose end deallocates
 * the protection domain; a completion channel is counted (struct mlx5_channel), since a
 * consumer's may outlive the link, and the device.
 *
 * A peer's access to memory has ended when mem_hide returns 0, after the deregistration;
 * until then the core's consumers are not IDLE. mem_gone() waits for the helper: it is called
 * in calls of the application, with no lock that a poll takes.
 * Removing the device waits for all jobs. When the process exits, the destructor of this
 * driver runs before those of the verbs libraries: it waits for the job in progress and
 * drops the others.
 *
 * rdma_destroy_id(), ibv_destroy_cq() and ibv_destroy_qp() block until all events of the
 * object are acknowledged. So a poll acknowledges an event before it does anything else
 * that may wait for the helper.
 *
 * Without a thread (the system refuses one), jobs are done where they are put.
 */

#include <stdbool.h>
#include <stdint.h>

#include "sdk/comch_worker.h"

struct ibv_comp_channel;
struct ibv_mr;
struct ibv_pd;
struct mlx5_dev;
struct mlx5_link;
struct rte_comch_mr;

struct mlx5_job {
	struct comch_job base; /* first */
	struct mlx5_dev *dev;
	struct mlx5_link *link; /* told of progress; NULL: none */
	void (*work)(struct mlx5_job *job);
	void (*end)(struct mlx5_job *job);
	/* Guarded by dev->job_lock. */
	bool is_busy;
	bool is_ending;
};

/* dev->worker, dev->job_lock. */
void mlx5_job_open(struct mlx5_dev *dev);
/* Do all jobs. */
void mlx5_job_close(struct mlx5_dev *dev);
/* Set up a job that is not busy. end releases what work has made, and frees the job. */
void mlx5_job_init(struct mlx5_job *job, struct mlx5_dev *dev, struct mlx5_link *link,
		void (*end)(struct mlx5_job *job));
/* Have the work done; the link is told when it is. The job is not busy. */
void mlx5_job_start(struct mlx5_job *job, void (*work)(struct mlx5_job *job));
/* Does the helper own it? */
bool mlx5_job_is_busy(struct mlx5_job *job);
/* The owner lets go of it. */
void mlx5_job_end(struct mlx5_job *job);
/* Is the link told of progress? From the first link_poll, when the core knows it, to its close. */
void mlx5_job_read_async(struct mlx5_link *l, bool reads);

/* mlx5_reg.c: a registration with a device. */

struct mlx5_reg {
	struct mlx5_job job; /* first */
	struct ibv_pd *pd;
	void *addr;
	size_t len;
	int access;
	struct ibv_mr *ib;   /* NULL: not registered; the owner's while not busy */
	int err;             /* why not: a positive errno */
};

/* Begin to register. 0, -ENOMEM, or -ENOTSUP with a log line: over the limit. */
int mlx5_reg_begin(struct mlx5_link *l, const struct rte_comch_mr *mr, int access,
		struct mlx5_reg **reg);
/* 0: reg->ib exists. -EINPROGRESS. -ENOTSUP: the device cannot have it, which was logged. */
int mlx5_reg_poll(struct mlx5_reg *reg);
/* Begin to deregister. Then mlx5_reg_is_gone() says when. */
void mlx5_reg_revoke(struct mlx5_reg *reg);
/* Is it deregistered, or was it never registered? */
bool mlx5_reg_is_gone(struct mlx5_reg *reg);
/* Deregister and free it, some time. */
void mlx5_reg_free(struct mlx5_reg *reg);

#endif /* MLX5_JOB_H */
