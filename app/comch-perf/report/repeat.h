/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef REPEAT_H
#define REPEAT_H

/**
 * @file
 * A row that was measured several times: which measurement to report, and how far the others
 * are from it.
 */

#include "report/report.h"

/**
 * Choose among *nb* measurements of a row, at least one, without errors: the median of the
 * stable ones by ratio, or of all if none is stable. By message rate or latency, if there is
 * no floor. With an even number, the one below the middle.
 *
 * @return
 *   The chosen one, with repeats, nb_stable, ratio_min, ratio_max, settled and modes filled in.
 *   The order of *rows* changes.
 */
struct report_row *repeat_median(struct report_row *rows, uint32_t nb);

#endif /* REPEAT_H */
