/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_DEV_H
#define IMPL_DEV_DEV_H

/*
 * Devices and representors, for the rest of the library. Any thread may call all of this.
 */

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include <doca_dev.h>
#include <rte_comch.h>

#include "dev/manners.h"

/* Whether it is a device, and not NULL or another object that was cast; representors alike. */
bool impl_dev_is_one(const struct doca_dev *dev);
bool impl_rep_is_one(const struct doca_dev_rep *rep);

/* Native id of an open device. */
int16_t impl_dev_id(const struct doca_dev *dev);
/* Whether it is a device of the DPU. */
bool impl_dev_is_dpu(const struct doca_dev *dev);
bool impl_devinfo_is_dpu(const struct doca_devinfo *devinfo);

/* The answer of a capability that all devices have. */
static inline doca_error_t
impl_devinfo_supports(const struct doca_devinfo *devinfo)
{
	return devinfo == NULL ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
}

/* Those of the device table. */
const struct impl_manners *impl_dev_manners(const struct doca_dev *dev);
const struct impl_limits *impl_devinfo_limits(const struct doca_devinfo *devinfo);

/* CPUs for the threads of the device's DPA; empty: any. */
const cpu_set_t *impl_dev_dpa_cpus(const struct doca_dev *dev);
/* Maximum run time of a DPA kernel, milliseconds; 0: unlimited. */
uint32_t impl_dev_dpa_max_run_ms(const struct doca_dev *dev);

/* Use the device, until impl_dev_drop(): the last doca_dev_close() returns
 * DOCA_ERROR_IN_USE.
 */
void impl_dev_hold(struct doca_dev *dev);
void impl_dev_drop(struct doca_dev *dev);

/* The device of a representor, and its native id there. */
struct doca_dev *impl_rep_dev(const struct doca_dev_rep *rep);
uint16_t impl_rep_id(const struct doca_dev_rep *rep);
void impl_rep_hold(struct doca_dev_rep *rep);
void impl_rep_drop(struct doca_dev_rep *rep);

#endif /* IMPL_DEV_DEV_H */
