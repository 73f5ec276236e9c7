/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CONF_H
#define COMCH_CONF_H

/* What configurations of servers and clients have in common. Any thread. */

#include "rte_comch_driver.h"

/* 0, or -EINVAL after a log line that begins with what. */
int comch_conf_check_name(const char *name, const char *what);
/* A size of 0 becomes its default. 0, or -EINVAL (logged): it is larger than max. */
int comch_conf_check_size(const char *what, const char *which, uint32_t *val, uint32_t dflt,
		uint32_t max);
/* The same for the sizes that both have, with the limits of a device. */
int comch_conf_check_sizes(const struct rte_comch_dev *dev, const char *what,
		uint32_t *max_msg_size, uint32_t *recv_queue, uint32_t *send_queue);

#endif /* COMCH_CONF_H */
