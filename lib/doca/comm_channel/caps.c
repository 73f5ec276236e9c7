/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Capabilities: the same as those of doca_comch. */

#include <doca_comm_channel.h>

#include "base/alias.h"
#include "comch/comch.h"
#include "dev/dev.h"

doca_error_t
doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len)
{
	if (max_service_name_len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*max_service_name_len = IMPL_MAX_NAME;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_get_max_message_size(struct doca_devinfo *devinfo, uint32_t *max_message_size)
{
	return doca_comch_cap_get_max_msg_size(devinfo, max_message_size);
}

doca_error_t
doca_comm_channel_get_max_send_queue_size(struct doca_devinfo *devinfo,
		uint32_t *max_send_queue_size)
{
	return doca_comch_cap_get_max_send_tasks(devinfo, max_send_queue_size);
}

doca_error_t
doca_comm_channel_get_max_recv_queue_size(struct doca_devinfo *devinfo,
		uint32_t *max_recv_queue_size)
{
	return doca_comch_cap_get_max_recv_queue_size(devinfo, max_recv_queue_size);
}

doca_error_t
doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo,
		uint32_t *max_num_connections)
{
	if (devinfo != NULL && max_num_connections != NULL && !impl_devinfo_is_dpu(devinfo))
		return DOCA_ERROR_NOT_SUPPORTED;
	return doca_comch_cap_get_max_clients(devinfo, max_num_connections);
}

IMPL_ALIAS(doca_comm_channel_get_max_rcv_queue_size, doca_comm_channel_get_max_recv_queue_size);
