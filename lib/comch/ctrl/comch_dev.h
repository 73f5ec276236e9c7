/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DEV_H
#define COMCH_DEV_H

/* Devices and drivers, as the rest of the library sees them. Any thread. */

#include "rte_comch_driver.h"

/* The device, with a use counted; NULL if there is none. */
struct rte_comch_dev *comch_dev_get(int16_t dev_id);
void comch_dev_put(struct rte_comch_dev *dev);
/* The drivers in turn, from 0; NULL: no more. */
const struct rte_comch_driver_ops *comch_driver_get(uint32_t number);

#endif /* COMCH_DEV_H */
