/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_COMPAT_H
#define COMCH_COMPAT_H

/*
 * The one place that knows DPDK versions, and the C11 atomics that the rest
 * of the code uses by their short names.
 */

#include <stdint.h>

#include <rte_telemetry.h>
#include <rte_version.h>

/* 22.11 has add_dict_u64, 23.03 renamed it. */
static inline int
comch_tel_u64(struct rte_tel_data *d, const char *name, uint64_t val)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	return rte_tel_data_add_dict_uint(d, name, val);
#else
	return rte_tel_data_add_dict_u64(d, name, val);
#endif
}

#define comch_load_relaxed(p)     __atomic_load_n(p, __ATOMIC_RELAXED)
#define comch_load_acquire(p)     __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define comch_store_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define comch_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

/* A counter with one writer: readers see a whole value, the writer pays no lock prefix. */
#define comch_count(p, n) comch_store_relaxed(p, comch_load_relaxed(p) + (n))

#endif /* COMCH_COMPAT_H */
