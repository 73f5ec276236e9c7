/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_GENERATION_H
#define COMCH_DOCA_GENERATION_H

/**
 * @file
 * The generation of DOCA that a program is built for: 2.0 to 2.2.
 */

/** Major * 100 + minor of the first release with these signatures. */
#define COMCH_DOCA_GENERATION 200

#define DOCA_VERSION_MAJOR 2
#define DOCA_VERSION_MINOR 2
#define DOCA_VERSION_PATCH 0
#define DOCA_VERSION_STRING "2.2.0000"

#endif /* COMCH_DOCA_GENERATION_H */
