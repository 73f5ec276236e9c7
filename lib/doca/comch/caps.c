/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Capabilities: the limits of the device table. They do not depend on the driver: a device that is
 * not open has none to ask.
 */

#include <stdbool.h>
#include <stddef.h>

#include <rte_common.h>

#include "comch/cc_names.h"
#include "comch/comch.h"
#include "dev/dev.h"

void
impl_set_max_clients(struct rte_comch_server_conf *conf, const struct doca_dev *dev)
{
	const uint32_t limit = impl_dev_manners(dev)->limits.max_clients;
	struct rte_comch_dev_info info;

	conf->max_clients = IMPL_MAX_PLACES;
	if (rte_comch_dev_info_get(impl_dev_id(dev), &info) == 0)
		conf->max_clients = RTE_MIN(info.max_clients, conf->max_clients);
	conf->reserve = conf->max_clients / IMPL_RESERVE_SHARE;
	/* A card has a fixed number of places, whichever process takes them. */
	if (limit < conf->max_clients - conf->reserve) {
		conf->max_clients = limit;
		conf->reserve = 0;
	}
}

uint32_t
impl_ordered_flag(const struct doca_dev *dev)
{
	struct rte_comch_dev_info info;

	if (rte_comch_dev_info_get(impl_dev_id(dev), &info) != 0)
		return 0;
	return (info.capa & RTE_COMCH_CAPA_ORDERED) != 0 ? RTE_COMCH_SERVER_F_ORDERED : 0;
}

static doca_error_t
set_u32(const struct doca_devinfo *devinfo, uint32_t *out, uint32_t value)
{
	if (devinfo == NULL || out == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*out = value;
	return DOCA_SUCCESS;
}

static doca_error_t
set_limit(const struct doca_devinfo *devinfo, uint32_t *out, size_t offset)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return set_u32(devinfo, out, impl_limit_at(impl_devinfo_limits(devinfo), offset));
}

static doca_error_t
is_on(const struct doca_devinfo *devinfo, bool dpu)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_is_dpu(devinfo) == dpu ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t
doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len)
{
	return set_u32(devinfo, max_name_len, IMPL_MAX_NAME);
}

doca_error_t
doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size)
{
	return set_limit(devinfo, size, IMPL_LIMIT(max_msg_size));
}

doca_error_t
doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *size)
{
	return set_limit(devinfo, size, IMPL_LIMIT(max_recv_queue_size));
}

doca_error_t
doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo, uint32_t *num_clients)
{
	return set_limit(devinfo, num_clients, IMPL_LIMIT(max_clients));
}

doca_error_t
doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo, uint32_t *max_send_tasks)
{
	return set_limit(devinfo, max_send_tasks, IMPL_LIMIT(max_send_tasks));
}

doca_error_t
doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo)
{
	return is_on(devinfo, true);
}

doca_error_t
doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo)
{
	return is_on(devinfo, false);
}

doca_error_t
doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo)
{
	return impl_devinfo_supports(devinfo);
}

doca_error_t
doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_num_tasks)
{
	return set_limit(devinfo, max_num_tasks, IMPL_LIMIT(max_num_tasks));
}

doca_error_t
doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_size)
{
	return set_limit(devinfo, max_buf_size, IMPL_LIMIT(max_buf_size));
}

doca_error_t
doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_list_len)
{
	return set_u32(devinfo, max_buf_list_len, 1);
}

doca_error_t
doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo,
		uint32_t *max_consumers)
{
	return set_limit(devinfo, max_consumers, IMPL_LIMIT(max_consumers));
}

doca_error_t
doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo,
		uint32_t *max_imm_data_len)
{
	return set_limit(devinfo, max_imm_data_len, IMPL_LIMIT(max_imm_data_len));
}

doca_error_t
doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo)
{
	return impl_devinfo_supports(devinfo);
}

doca_error_t
doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_num_tasks)
{
	return set_limit(devinfo, max_num_tasks, IMPL_LIMIT(max_num_tasks));
}

doca_error_t
doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_size)
{
	return set_limit(devinfo, max_buf_size, IMPL_LIMIT(max_buf_size));
}

doca_error_t
doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_list_len)
{
	return set_u32(devinfo, max_buf_list_len, 1);
}

doca_error_t
doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo,
		uint32_t *max_producers)
{
	return set_limit(devinfo, max_producers, IMPL_LIMIT(max_producers));
}

IMPL_CC_NAMES_CAPS(IMPL_CC_NAME)
