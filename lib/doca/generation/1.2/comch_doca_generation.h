/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_GENERATION_H
#define COMCH_DOCA_GENERATION_H

/**
 * @file
 * The generation of DOCA that a program is built for: 1.2 to 1.4.
 */

/** Major * 100 + minor of the first release with these signatures. */
#define COMCH_DOCA_GENERATION 102

#define DOCA_VERSION_MAJOR 1
#define DOCA_VERSION_MINOR 4
#define DOCA_VERSION_PATCH 0
#define DOCA_VERSION_STRING "1.4.0000"

#endif /* COMCH_DOCA_GENERATION_H */
