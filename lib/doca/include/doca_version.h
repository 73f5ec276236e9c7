/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_VERSION_H
#define DOCA_VERSION_H

/**
 * @file
 * Versions. Those of DOCA are of the generation that a program is built for;
 * comch has its own, see rte_comch_version().
 */

#include <stddef.h>

#include <doca_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A version as one number, every patch told apart. */
#define DOCA_VERSION_CALC_EXACT(major, minor, patch) \
	((size_t)((major) << 24 | (minor) << 16 | (patch)))
/** The version of these headers. */
#define DOCA_VERSION_EXACT \
	DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
/** A version as one number, as official releases count. */
#define DOCA_VERSION_CALC(major, minor, patch) \
	((size_t)((major) << 24 | (minor) << 16 | (patch * 1000)))
/** The official release of these headers. */
#define DOCA_VERSION_OFFICIAL \
	DOCA_VERSION_CALC(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
/** Is it the version of these headers? */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) == DOCA_VERSION_OFFICIAL)
/** Is it the version of these headers, or older? */
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) <= DOCA_VERSION_OFFICIAL)

/** The version that the program was built for, as "2.10.0000". */
static inline const char *
doca_version(void)
{
	return DOCA_VERSION_STRING;
}

/** The version of the library in use: comch's, as "comch 0.1.0". */
const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_VERSION_H */
