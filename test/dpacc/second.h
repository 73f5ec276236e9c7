/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SECOND_H
#define SECOND_H

/* Marked here, and defined without a mark. */
__dpa_global__ void second(uint64_t arg);
/* Declared, and nowhere defined. */
__dpa_rpc__ uint64_t never(uint64_t arg);

#endif /* SECOND_H */
