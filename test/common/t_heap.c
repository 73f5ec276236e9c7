/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * DPDK's libraries allocate from EAL's heap, whose locks TSan does not see. The calls of this
 * program, and of the libraries that it loads, come here first: in the macros of
 * comch_compat.h TSan is told that they come one after the other.
 */
#include <dlfcn.h>

#include "sdk/comch_compat.h"

#ifdef __SANITIZE_THREAD__

/* Set next, a variable of the caller, to EAL's own function. */
#define NEXT(name) (*(void **)&next = dlsym(RTLD_NEXT, #name))

#undef rte_free
#undef rte_zmalloc
#undef rte_zmalloc_socket

void
rte_free(void *ptr)
{
	void (*next)(void *ptr);

	NEXT(rte_free);
	COMCH_TSAN_BEGIN_();
	next(ptr);
	COMCH_TSAN_END_();
}

void *
rte_zmalloc(const char *type, size_t size, unsigned int align)
{
	void *(*next)(const char *type, size_t size, unsigned int align);

	NEXT(rte_zmalloc);
	return COMCH_TSAN_ALLOC_(next(type, size, align));
}

void *
rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	void *(*next)(const char *type, size_t size, unsigned int align, int socket);

	NEXT(rte_zmalloc_socket);
	return COMCH_TSAN_ALLOC_(next(type, size, align, socket));
}

#endif
