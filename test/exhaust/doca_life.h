/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_LIFE_H
#define DOCA_LIFE_H

/* As life_run(), by the calls of DOCA; an error is the negative of DOCA's. */

#include "life.h"

int doca_life_run(const struct life_conf *conf, const char **step);

#endif /* DOCA_LIFE_H */
