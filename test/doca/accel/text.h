/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_TEXT_H
#define ACCEL_TEXT_H

#include <stdint.h>

/* 155 bytes to work on, and what sha256sum and zlib say of them. */
#define TEXT "Lorem ipsum dolor sit amet, consetetur sadipscing elitr, sed diam nonumy eirmod " \
	"tempor invidunt ut labore et dolore magna aliquyam erat, sed diam voluptua."
#define TEXT_SHA256 "a1f5a96775b47ce32ff5cec6842fd43f4aea818ececa7bde5ca7f369acef7184"
#define TEXT_CRC UINT32_C(4025347724)
#define TEXT_ADLER UINT32_C(2629515667)

#endif /* ACCEL_TEXT_H */
