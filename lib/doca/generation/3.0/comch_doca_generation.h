/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_GENERATION_H
#define COMCH_DOCA_GENERATION_H

/**
 * @file
 * The generation of DOCA that a program is built for: 3.0 to 3.3.
 */

/** Major * 100 + minor of the first release with these signatures. */
#define COMCH_DOCA_GENERATION 300

#define DOCA_VERSION_MAJOR 3
#define DOCA_VERSION_MINOR 3
#define DOCA_VERSION_PATCH 0
#define DOCA_VERSION_STRING "3.3.0000"

#endif /* COMCH_DOCA_GENERATION_H */
