/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_BASE_ALIAS_H
#define IMPL_BASE_ALIAS_H

/* Define a second symbol for a function of the same file. */
#define IMPL_ALIAS(name, of) \
	extern __typeof__(of) name __attribute__((alias(#of), visibility("default")))

#endif /* IMPL_BASE_ALIAS_H */
