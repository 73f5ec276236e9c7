/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_COMPAT_H
#define COMCH_COMPAT_H

/*
 * Differences between DPDK versions and CPUs, control threads, short names of the C11 atomics, and
 * annotations of EAL's heap for TSan.
 */

#include <pthread.h>
#include <signal.h>
#include <stdint.h>

/* 24.07 moved rte_align32pow2() and similar functions from rte_common.h to rte_bitops.h. */
#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_lcore.h>
#include <rte_telemetry.h>
#include <rte_thread.h>
#include <rte_version.h>

/* 23.03 renamed u64 to uint in telemetry. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
#define COMCH_TEL_UINT            RTE_TEL_UINT_VAL
#define COMCH_TEL_ADD_DICT_UINT   rte_tel_data_add_dict_uint
#define COMCH_TEL_ADD_ARRAY_UINT  rte_tel_data_add_array_uint
#else
#define COMCH_TEL_UINT            RTE_TEL_U64_VAL
#define COMCH_TEL_ADD_DICT_UINT   rte_tel_data_add_dict_u64
#define COMCH_TEL_ADD_ARRAY_UINT  rte_tel_data_add_array_u64
#endif

static inline int
comch_tel_u64(struct rte_tel_data *d, const char *name, uint64_t val)
{
	return COMCH_TEL_ADD_DICT_UINT(d, name, val);
}

/* A list of numbers. */
static inline void
comch_tel_list(struct rte_tel_data *d)
{
	rte_tel_data_start_array(d, COMCH_TEL_UINT);
}

/* 0, or not 0 once the reply is full. */
static inline int
comch_tel_list_add(struct rte_tel_data *d, uint64_t val)
{
	return COMCH_TEL_ADD_ARRAY_UINT(d, val);
}

/* Return type of a control thread's function; 23.11 changed it. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
typedef uint32_t comch_thread_ret_t;
#else
typedef void *comch_thread_ret_t;
#endif

/*
 * Start a detached control thread, on other CPUs than the lcores if possible.
 * Returns 0, or another value on failure.
 */
static inline int
comch_ctrl_thread(const char *name, comch_thread_ret_t (*fn)(void *arg), void *arg)
{
	sigset_t all, old;
	int ret;

	/* Signals are for the program's threads; the new thread inherits the mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	rte_thread_t thread;

	ret = rte_thread_create_control(&thread, name, fn, arg);
	if (ret == 0)
		ret = rte_thread_detach(thread);
#else
	pthread_t thread;

	ret = rte_ctrl_thread_create(&thread, name, NULL, fn, arg);
	if (ret == 0)
		ret = pthread_detach(thread);
#endif
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

/*
 * "ring.pml, commit" in a comment beside a barrier: the label commit of the model
 * test/model/ring.pml, which fails without the barrier. "No model" gives the reason instead.
 */
#define comch_load_relaxed(p)     __atomic_load_n(p, __ATOMIC_RELAXED)
#define comch_load_acquire(p)     __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define comch_store_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define comch_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

/* A counter with one writer: atomic for readers, without a lock prefix for the writer. */
#define comch_count(p, n) comch_store_relaxed(p, comch_load_relaxed(p) + (n))

/* rte_prefetch0_write() is PREFETCHT0, for reading, unless all code is built with -mprfchw. */
static __rte_always_inline void
comch_prefetch_write(const void *p)
{
#ifdef RTE_ARCH_X86
	/* CPUs without it do nothing. */
	asm volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1, 3);
#endif
}

/*
 * TSan does not see the locks of EAL's heap, and reports a race for a block that one thread
 * frees, and clears, and another one allocates, or joins with a block of its own that it frees.
 * In these builds, tell it that the calls come one after the other, under a lock that all
 * libraries have in common.
 */
#ifdef __SANITIZE_THREAD__
#include <stdio.h>

#include <rte_malloc.h>

void __tsan_acquire(void *addr);
void __tsan_release(void *addr);

#define COMCH_TSAN_BEGIN_() do { \
	flockfile(stderr); \
	__tsan_acquire(stderr); \
} while (0)
#define COMCH_TSAN_END_() do { \
	__tsan_release(stderr); \
	funlockfile(stderr); \
} while (0)
#define COMCH_TSAN_ALLOC_(call) __extension__ ({ \
	COMCH_TSAN_BEGIN_(); \
	void *ret_ = call; \
	COMCH_TSAN_END_(); \
	ret_; })
#define rte_free(ptr) do { \
	COMCH_TSAN_BEGIN_(); \
	rte_free(ptr); \
	COMCH_TSAN_END_(); \
} while (0)
#define rte_malloc(...) COMCH_TSAN_ALLOC_(rte_malloc(__VA_ARGS__))
#define rte_malloc_socket(...) COMCH_TSAN_ALLOC_(rte_malloc_socket(__VA_ARGS__))
#define rte_zmalloc(...) COMCH_TSAN_ALLOC_(rte_zmalloc(__VA_ARGS__))
#define rte_zmalloc_socket(...) COMCH_TSAN_ALLOC_(rte_zmalloc_socket(__VA_ARGS__))
#endif

#endif /* COMCH_COMPAT_H */
