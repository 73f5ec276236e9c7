/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Endpoints of DOCA 1.2 to 1.4 have no device argument: they open the devices themselves. */

#include <stdlib.h>

#include "comm_channel/cchan.h"
#include "dev/role.h"
#include "log/log.h"

doca_error_t
impl_cchan_need_side(bool dpu)
{
	bool is_dpu;
	doca_error_t ret = impl_role_is_dpu(&is_dpu);

	if (ret != DOCA_SUCCESS)
		return ret;
	return is_dpu == dpu ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t
impl_cchan_open(struct doca_comm_channel_ep_t *ep, bool all)
{
	struct doca_devinfo **list;
	uint32_t i, nb;
	doca_error_t ret;

	ret = doca_devinfo_create_list(&list, &nb);
	if (ret != DOCA_SUCCESS)
		return ret;
	if (nb == 0) {
		IMPL_ERR("no device found to listen or connect on");
		ret = DOCA_ERROR_DRIVER;
		goto out;
	}
	nb = all ? nb : 1;
	ep->devs = calloc(nb, sizeof(struct doca_dev *));
	if (ep->devs == NULL) {
		ret = DOCA_ERROR_NO_MEMORY;
		goto out;
	}
	/* On an error, impl_cchan_unlink() closes those that were opened. */
	for (i = 0; i < nb && ret == DOCA_SUCCESS; i++) {
		ret = doca_dev_open(list[i], &ep->devs[i]);
		if (ret == DOCA_SUCCESS)
			ep->nb_devs++;
	}
out:
	doca_devinfo_destroy_list(list);
	return ret;
}

void
impl_cchan_close(struct doca_comm_channel_ep_t *ep)
{
	while (ep->nb_devs > 0)
		doca_dev_close(ep->devs[--ep->nb_devs]);
	free(ep->devs);
	ep->devs = NULL;
}
