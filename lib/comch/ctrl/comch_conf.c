/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Configurations of servers and clients: names, sizes, defaults. */

#include <errno.h>
#include <string.h>

#include "sdk/comch_log.h"
#include "ctrl/comch_conf.h"

#define DEFAULT_MSG_SIZE 4080
#define DEFAULT_QUEUE 64

int
comch_conf_check_name(const char *name, const char *what)
{
	size_t len = name != NULL ? strnlen(name, RTE_COMCH_NAME_SIZE) : 0;

	if (len > 0 && len < RTE_COMCH_NAME_SIZE)
		return 0;
	if (len == 0)
		COMCH_LOG(ERR, "%s: name is empty", what);
	else
		COMCH_LOG(ERR, "%s: name is longer than %d bytes", what, RTE_COMCH_NAME_SIZE - 1);
	return -EINVAL;
}

int
comch_conf_check_size(const char *what, const char *which, uint32_t *val, uint32_t dflt,
		uint32_t max)
{
	if (*val == 0)
		*val = RTE_MIN(dflt, max);
	if (*val <= max)
		return 0;
	COMCH_LOG(ERR, "%s: %s is %u, the device's limit is %u", what, which, *val, max);
	return -EINVAL;
}

int
comch_conf_check_sizes(const struct rte_comch_dev *dev, const char *what,
		uint32_t *max_msg_size, uint32_t *recv_queue, uint32_t *send_queue)
{
	const struct rte_comch_dev_info *i = &dev->info;

	int ret;

	ret = comch_conf_check_size(what, "max_msg_size", max_msg_size, DEFAULT_MSG_SIZE,
			i->max_msg_size);
	if (ret == 0)
		ret = comch_conf_check_size(what, "recv_queue", recv_queue, DEFAULT_QUEUE,
				i->max_recv_queue);
	if (ret == 0)
		ret = comch_conf_check_size(what, "send_queue", send_queue, DEFAULT_QUEUE,
				i->max_send_queue);
	return ret;
}
