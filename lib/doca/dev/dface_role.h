/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DFACE_ROLE_H
#define DFACE_ROLE_H

#include <stdbool.h>

#include <doca_error.h>

/* Which side this program is. DOCA_ERROR_INITIALIZATION: nobody said; a line
 * says how to. Any thread.
 */
doca_error_t dface_role_is_dpu(bool *is_dpu);

#endif /* DFACE_ROLE_H */
