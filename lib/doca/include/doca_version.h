/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_VERSION_H
#define DOCA_VERSION_H

/**
 * @file
 * Versions. DOCA_VERSION_* are those of the generation that a program is built for;
 * comch's own is rte_comch_version().
 */

#include <stddef.h>

#include <doca_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A version as one number, including the exact patch. */
#define DOCA_VERSION_CALC_EXACT(major, minor, patch) \
	((size_t)((major) << 24 | (minor) << 16 | (patch)))
/** The version of these headers. */
#define DOCA_VERSION_EXACT \
	DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
/** A version as one number, with the patch as official releases number it. */
#define DOCA_VERSION_CALC(major, minor, patch) \
	((size_t)((major) << 24 | (minor) << 16 | (patch * 1000)))
/** The official release of these headers. */
#define DOCA_VERSION_OFFICIAL \
	DOCA_VERSION_CALC(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
/** Whether it is the version of these headers. */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) == DOCA_VERSION_OFFICIAL)
/** Whether it is the version of these headers or an older one. */
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) <= DOCA_VERSION_OFFICIAL)

/** Version that the program was built for, such as "2.10.0000". */
static inline const char *
doca_version(void)
{
	return DOCA_VERSION_STRING;
}

/** Version of the library in use: comch's, such as "comch 0.2.0". */
const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_VERSION_H */
