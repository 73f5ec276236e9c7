/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_FORK_H
#define COMCH_FORK_H

#include <stdbool.h>

/* This process is a forked child: the objects that it sees are its parent's. */
extern bool comch_forked;

#endif /* COMCH_FORK_H */
