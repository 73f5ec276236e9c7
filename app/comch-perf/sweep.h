/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SWEEP_H
#define SWEEP_H

/**
 * @file
 * Sweep files. A section names a test, its keys are options without dashes,
 * and comma lists multiply:
 *
 *     [data-rate]
 *     size  = 64,256
 *     burst = 1,8,32
 *     api   = desc,mbuf
 *
 * makes twelve rows. What the command line says counts for all sections,
 * unless a section says otherwise.
 */

#include "plan.h"

/** Add the rows of opts->sweep; complains on stderr. @return 0 or -EINVAL. */
int sweep_load(struct plan *plan, const struct options *opts);

#endif /* SWEEP_H */
