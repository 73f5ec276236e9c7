/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Registrations with the device, made and dropped by the helper thread: mlx5_job.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mlx5_data.h"

static struct mlx5_reg *
reg_of(struct mlx5_job *job)
{
	return (struct mlx5_reg *)job;
}

static void
do_register(struct mlx5_job *job)
{
	struct mlx5_reg *r = reg_of(job);

	r->ib = mlx5_verbs->reg_mr(r->pd, r->addr, r->len, r->access);
	if (r->ib != NULL)
		return;
	r->err = errno;
	mlx5_dev_unpin(job->dev, r->len);
	MLX5_LOG(WARNING, "device %s: cannot register %zu bytes at %p: %s%s",
		job->dev->dev->info.name, r->len, r->addr, strerror(r->err), r->err == ENOMEM ?
		"; the limit of locked memory (ulimit -l, LimitMEMLOCK) may be too low" : "");
}

static void
do_deregister(struct mlx5_job *job)
{
	struct mlx5_reg *r = reg_of(job);

	if (r->ib != NULL)
		mlx5_verbs->dereg_mr(r->ib);
	if (r->err == 0)
		mlx5_dev_unpin(job->dev, r->len);
	r->ib = NULL;
	r->err = ECANCELED;
}

static void
do_end(struct mlx5_job *job)
{
	do_deregister(job);
	free(reg_of(job));
}

int
mlx5_reg_begin(struct mlx5_link *l, const struct rte_comch_mr *mr, int access,
		struct mlx5_reg **reg)
{
	struct mlx5_reg *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return -ENOMEM;
	/* It logs that the limit is reached. */
	if (mlx5_dev_pin(l->dev, mr->len) != 0) {
		free(r);
		return -ENOTSUP;
	}
	mlx5_job_init(&r->job, l->dev, l, do_end);
	r->pd = l->pd;
	r->addr = mr->addr;
	r->len = mr->len;
	r->access = access;
	*reg = r;
	mlx5_job_start(&r->job, do_register);
	return 0;
}

int
mlx5_reg_poll(struct mlx5_reg *reg)
{
	if (mlx5_job_is_busy(&reg->job))
		return -EINPROGRESS;
	return reg->ib != NULL ? 0 : -ENOTSUP;
}

void
mlx5_reg_revoke(struct mlx5_reg *reg)
{
	mlx5_job_start(&reg->job, do_deregister);
}

bool
mlx5_reg_is_gone(struct mlx5_reg *reg)
{
	return !mlx5_job_is_busy(&reg->job) && reg->ib == NULL;
}

void
mlx5_reg_free(struct mlx5_reg *reg)
{
	mlx5_job_end(&reg->job);
}
