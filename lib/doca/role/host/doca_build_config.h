/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_BUILD_CONFIG_H
#define DOCA_BUILD_CONFIG_H

/**
 * @file
 * The side a program is built for: here, the host.
 */

#undef DOCA_ARCH_DPU
#undef DOCA_ARCH_ARM
#define DOCA_ARCH_HOST
#define DOCA_ARCH_X86
#define DOCA_ARCH_DPU_BF2 false

#endif /* DOCA_BUILD_CONFIG_H */
