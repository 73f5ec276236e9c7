/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_FORK_H
#define COMCH_FORK_H

/* For calls of a forked child, which are refused. Set in lib/comch/base/comch_fork.c. */

#include <stdbool.h>

/* This process is a forked child: existing objects belong to its parent. */
extern bool comch_forked;

#endif /* COMCH_FORK_H */
