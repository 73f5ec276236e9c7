/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_CONFIG_H
#define DOCA_CONFIG_H

/**
 * @file
 * What a program is built for: the side (doca_build_config.h) and the generation of
 * DOCA (comch_doca_generation.h). Each comes from an include directory that the
 * pkg-config files select: see comch-doca-env --help.
 */

#include <doca_build_config.h>
#include <comch_doca_generation.h>

/* Device code has no versioned structures. */
#if !defined(DOCA_COMPAT_HELPERS) && !defined(DOCA_DPA_DEVICE)
#define DOCA_COMPAT_HELPERS
#endif

#endif /* DOCA_CONFIG_H */
