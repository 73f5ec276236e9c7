/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SWAP_H
#define SWAP_H

/* What the DPU's side does; the program dpu, or an lcore of nic. */

#include "../mbuf_common/serve.h"

extern const struct serve_ops swap_ops;

#endif /* SWAP_H */
