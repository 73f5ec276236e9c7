/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_BUILD_CONFIG_H
#define DOCA_BUILD_CONFIG_H

/**
 * @file
 * The side a program is built for: here, the DPU.
 */

#undef DOCA_ARCH_HOST
#undef DOCA_ARCH_X86
#define DOCA_ARCH_DPU
#define DOCA_ARCH_ARM

#endif /* DOCA_BUILD_CONFIG_H */
