/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FAR_WRAP_H
#define FAR_WRAP_H

/* The linker's names: FAR_WRAP(int, rte_comch_x, void *a) declares both and begins
 * __wrap_rte_comch_x().
 */
#define FAR_WRAP(ret, name, ...) \
	ret __real_##name(__VA_ARGS__); \
	ret __wrap_##name(__VA_ARGS__); \
	ret \
	__wrap_##name(__VA_ARGS__)

#endif /* FAR_WRAP_H */
