/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef BASE_H
#define BASE_H

/*
 * What programs of all releases and both sides begin with.
 *
 * Programs here are written as those of DOCA's users: with the headers of their
 * release only, and with what these headers bring along.
 */

#include <doca_error.h>
#include <doca_log.h>

#include "options.h"
#include "release.h"

/* Before DOCA 1.5 a program names no devices. */
#if RELEASE >= 105
#include <doca_dev.h>

bool base_open_dev(const char *pci, struct doca_dev **dev);
#ifdef DOCA_ARCH_DPU
bool base_open_rep(struct doca_dev *dev, const char *pci, struct doca_dev_rep **rep);
#endif
#endif

/* behaviour: G10 */
#if defined(DOCA_ARCH_DPU) == defined(DOCA_ARCH_HOST)
#error a program is built for one side
#endif

/* Is it an error? Say so. */
#define FAILS(expr) base_fails(#expr, (expr))
bool base_fails(const char *what, doca_error_t ret);

/* The log, and the options. */
bool base_start(struct options *options, const char *program, int argc, char **argv);

#endif /* BASE_H */
