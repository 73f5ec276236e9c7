/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DEV_H
#define COMCH_DEV_H

/* Devices and drivers: the interface to the rest of the library. Any thread. */

#include "rte_comch_driver.h"

/* Take a reference to a device; NULL: unknown. It cannot be closed: -EBUSY. */
struct rte_comch_dev *comch_dev_get(int16_t dev_id);
void comch_dev_put(struct rte_comch_dev *dev);
/* Read from a device; NULL: unknown. A close waits until the look ends, so it must be short. */
struct rte_comch_dev *comch_dev_look(int16_t dev_id);
void comch_dev_look_end(void);
/* A registration ends: all open devices forget it. */
void comch_dev_mr_gone(const struct rte_comch_mr *mr);
/* Driver number 0, 1, ...; NULL: past the last. */
const struct rte_comch_driver_ops *comch_driver_get(uint32_t number);

#endif /* COMCH_DEV_H */
