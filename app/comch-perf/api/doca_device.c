/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Open and close the DOCA device of a side. */

#include <errno.h>
#include <stdlib.h>

#include <rte_branch_prediction.h>

#include "api/doca.h"

bool
doca_ok(struct link *link, doca_error_t ret, const char *what)
{
	if (likely(ret == DOCA_SUCCESS || ret == DOCA_ERROR_IN_PROGRESS))
		return true;
	link_fail(link, "%s: %s", what, doca_error_get_descr(ret));
	return false;
}

static int
open_rep(struct link *link, struct doca_device *d)
{
	struct doca_devinfo_rep **list;
	uint32_t nb;
	doca_error_t ret;

	ret = doca_devinfo_rep_create_list(d->dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &nb);
	if (!doca_ok(link, ret, "list representors"))
		return -ECANCELED;
	ret = nb > 0 ? doca_dev_rep_open(list[0], &d->rep) : DOCA_ERROR_NOT_FOUND;
	doca_devinfo_rep_destroy_list(list);
	return doca_ok(link, ret, "open the first representor") ? 0 : -ECANCELED;
}

int
doca_device_open(struct link *link, struct doca_device *d)
{
	struct doca_devinfo **list;
	uint32_t nb;
	doca_error_t ret;

	/* Tells the device table which side this process is. */
	setenv("COMCH_ROLE", link->host ? "host" : "dpu", 1);
	ret = doca_devinfo_create_list(&list, &nb);
	if (!doca_ok(link, ret, "list the devices of the device table"))
		return -ECANCELED;
	ret = nb > 0 ? doca_dev_open(list[0], &d->dev) : DOCA_ERROR_NOT_FOUND;
	doca_devinfo_destroy_list(list);
	if (!doca_ok(link, ret, "open the first device of the device table"))
		return -ECANCELED;
	return link->host ? 0 : open_rep(link, d);
}

void
doca_device_close(struct doca_device *d)
{
	if (d->rep != NULL)
		doca_dev_rep_close(d->rep);
	if (d->dev != NULL)
		doca_dev_close(d->dev);
}
