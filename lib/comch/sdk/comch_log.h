/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_LOG_H
#define COMCH_LOG_H

#include <rte_log.h>

/* The first function that decides on an error logs it, once, with object and reason. */
extern int comch_logtype;

#define COMCH_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, comch_logtype, "COMCH: " fmt "\n", ##__VA_ARGS__)

#endif /* COMCH_LOG_H */
