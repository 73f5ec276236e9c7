/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_NEED_H
#define T_NEED_H

/*
 * What a test needs and some drivers lack. A test whose needs are not met is skipped,
 * and the line that says so names what is missing.
 *
 * Needs are the bits of RTE_COMCH_CAPA_*, and those below for what no capability says:
 * properties in struct t_driver.
 */

#include <stdint.h>

#include <rte_comch_dev.h>

/** The pid, uid and gid of the peer, from the kernel. */
#define T_NEED_PEER_IDS (UINT64_C(1) << 63)
/** A directory with lock files of names. */
#define T_NEED_DIR (UINT64_C(1) << 62)
/** A send that was accepted arrives without another call of its sender. */
#define T_NEED_SENDS_ALONE (UINT64_C(1) << 61)

/* Skip the test, unless the device and t_driver, if it is set, have all of *needs*. */
void t_need(const struct rte_comch_dev_info *info, uint64_t needs);

#endif /* T_NEED_H */
