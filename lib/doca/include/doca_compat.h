/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMPAT_H
#define DOCA_COMPAT_H

/**
 * @file
 * Marks on declarations, and what programs expect to get with any DOCA header.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <doca_config.h>
#include <doca_version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kept by the linker. */
#define DOCA_USED __attribute__((used))

/** Part of the interface for good. */
#define DOCA_STABLE __attribute__((visibility("default"))) DOCA_USED

/** May change: a warning where it is used, unless DOCA_ALLOW_EXPERIMENTAL_API is defined. */
#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_EXPERIMENTAL __attribute__((visibility("default"))) DOCA_USED
#else
#define DOCA_EXPERIMENTAL \
	__attribute__((deprecated("experimental: define DOCA_ALLOW_EXPERIMENTAL_API"), \
		visibility("default"))) DOCA_USED
#endif

#if COMCH_DOCA_GENERATION < 200
/** The name that DOCA_EXPERIMENTAL had until DOCA 1.5. */
#define __DOCA_EXPERIMENTAL DOCA_EXPERIMENTAL
#endif

/** Going to go: a warning where it is used, unless DOCA_ALLOW_DEPRECATED_API is defined. */
#ifdef DOCA_ALLOW_DEPRECATED_API
#define DOCA_DEPRECATED __attribute__((visibility("default"))) DOCA_USED
#else
#define DOCA_DEPRECATED \
	__attribute__((deprecated("deprecated: define DOCA_ALLOW_DEPRECATED_API"), \
		visibility("default"))) DOCA_USED
#endif

/**
 * Use another symbol for a function whose signature or behaviour differs in
 * this generation.
 */
#define COMCH_DOCA_SYMBOL(symbol) __asm__(#symbol)

#ifdef DOCA_COMPAT_HELPERS

/** First member of a structure that says which version of the API made it. */
#define DOCA_STRUCT_START size_t __doca_api_version
/** Which version made the structure *p*. */
#define DOCA_STRUCT_GET_VERSION(p) ((p)->__doca_api_version)
/** Say the version in the structure *s*. */
#define DOCA_STRUCT_CTOR(s) DOCA_STRUCT_PTR_CTOR(&(s))
/** Say the version in the structure that *p* points to. */
#define DOCA_STRUCT_PTR_CTOR(p) \
	do { \
		(p)->__doca_api_version = DOCA_VERSION_EXACT; \
	} while (0)
/** Clear the structure *s* and say the version in it. */
#define DOCA_STRUCT_MEMSET_CTOR(s) DOCA_STRUCT_PTR_MEMSET_CTOR(&(s))
/** Clear the structure that *p* points to and say the version in it. */
#define DOCA_STRUCT_PTR_MEMSET_CTOR(p) \
	do { \
		memset((p), 0, sizeof(*(p))); \
		DOCA_STRUCT_PTR_CTOR(p); \
	} while (0)
/** First of an initialiser's values. */
#define DOCA_STRUCT_CTOR_LIST_START .__doca_api_version = DOCA_VERSION_EXACT
/** Define a variable with the version in it. */
#define DOCA_STRUCT_DEF(type, name) struct type name = { DOCA_STRUCT_CTOR_LIST_START }

#endif /* DOCA_COMPAT_HELPERS */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMPAT_H */
