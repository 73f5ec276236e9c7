/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_branch_prediction.h>

#include "dev_doca.h"
#include "perf_test.h"

bool
dev_doca_ok(struct perf_run *run, doca_error_t ret, const char *what)
{
	if (likely(ret == DOCA_SUCCESS || ret == DOCA_ERROR_IN_PROGRESS))
		return true;
	perf_run_fail(run, "%s: %s", what, doca_error_get_descr(ret));
	return false;
}

static int
open_rep(struct perf_run *run, struct dev_doca *d)
{
	struct doca_devinfo_rep **list;
	uint32_t nb;
	doca_error_t ret;

	ret = doca_devinfo_rep_create_list(d->dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &nb);
	if (!dev_doca_ok(run, ret, "representors"))
		return -ECANCELED;
	ret = nb > 0 ? doca_dev_rep_open(list[0], &d->rep) : DOCA_ERROR_NOT_FOUND;
	doca_devinfo_rep_destroy_list(list);
	return dev_doca_ok(run, ret, "opening a representor") ? 0 : -ECANCELED;
}

int
dev_doca_open(struct perf_run *run, struct dev_doca *d, bool host)
{
	struct doca_devinfo **list;
	uint32_t nb;
	doca_error_t ret;

	/* Both sides are this program. */
	setenv("COMCH_ROLE", host ? "host" : "dpu", 1);
	ret = doca_devinfo_create_list(&list, &nb);
	if (!dev_doca_ok(run, ret, "devices of the device table"))
		return -ECANCELED;
	ret = nb > 0 ? doca_dev_open(list[0], &d->dev) : DOCA_ERROR_NOT_FOUND;
	doca_devinfo_destroy_list(list);
	if (!dev_doca_ok(run, ret, "opening the first device of the device table"))
		return -ECANCELED;
	return host ? 0 : open_rep(run, d);
}

void
dev_doca_close(struct dev_doca *d)
{
	if (d->rep != NULL)
		doca_dev_rep_close(d->rep);
	if (d->dev != NULL)
		doca_dev_close(d->dev);
	d->rep = NULL;
	d->dev = NULL;
}
