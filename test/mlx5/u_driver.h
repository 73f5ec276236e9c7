/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_DRIVER_H
#define U_DRIVER_H

/*
 * The RDMA driver over verbs in memory, for tests by pairs: the DPU is at 10.0.0.1 on fv0;
 * on fv1, pf0 is at 10.0.1.1 and all other functions of the host are at 10.0.1.2.
 *
 * FV_CONF in the environment configures the verbs: "delay_us=50,late_recv=1".
 */

#include "fv.h"
#include "t_pair.h"

extern const struct t_driver u_driver;
/* The key dead_ms= of devices that are opened later. */
extern unsigned int u_dead_ms;
/* A counter of a device. */
uint64_t u_counter(int16_t dev, const char *name);

#endif /* U_DRIVER_H */
