/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef API_API_H
#define API_API_H

/**
 * @file
 * The API backends that the engine can measure.
 */

#include "engine/accel.h"
#include "engine/data.h"
#include "engine/link.h"

extern const struct link_ops link_ops_native;
extern const struct link_ops link_ops_doca;
extern const struct link_ops link_ops_cchan;

extern const struct data_ops data_ops_desc;
extern const struct data_ops data_ops_mbuf;
extern const struct data_ops data_ops_doca;
extern const struct data_ops data_ops_msgq;
extern const struct data_ops data_ops_msgq_copy;

extern const struct accel_ops accel_ops_doca;

#endif /* API_API_H */
