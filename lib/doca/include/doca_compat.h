/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMPAT_H
#define DOCA_COMPAT_H

/**
 * @file
 * Attributes of declarations, and includes that programs expect from any DOCA header.
 */

#include <assert.h>
#include <inttypes.h>
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

/** Stable interface. */
#define DOCA_STABLE __attribute__((visibility("default"))) DOCA_USED

/** May change. Its use is a warning unless DOCA_ALLOW_EXPERIMENTAL_API is defined. */
#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_EXPERIMENTAL __attribute__((visibility("default"))) DOCA_USED
#else
#define DOCA_EXPERIMENTAL \
	__attribute__((deprecated("experimental: define DOCA_ALLOW_EXPERIMENTAL_API"), \
		visibility("default"))) DOCA_USED
#endif

#if COMCH_DOCA_GENERATION < 200
/** Name of DOCA_EXPERIMENTAL until DOCA 1.5. */
#define __DOCA_EXPERIMENTAL DOCA_EXPERIMENTAL
#endif

/** To be removed. Its use is a warning unless DOCA_ALLOW_DEPRECATED_API is defined. */
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

/** First member of a structure that carries an API version. */
#define DOCA_STRUCT_START size_t __doca_api_version
/** Version in the structure that *p* points to. */
#define DOCA_STRUCT_GET_VERSION(p) ((p)->__doca_api_version)
/** Set the version in the structure *s*. */
#define DOCA_STRUCT_CTOR(s) DOCA_STRUCT_PTR_CTOR(&(s))
/** Set the version in the structure that *p* points to. */
#define DOCA_STRUCT_PTR_CTOR(p) \
	do { \
		(p)->__doca_api_version = DOCA_VERSION_EXACT; \
	} while (0)
/** Clear the structure *s* and set its version. */
#define DOCA_STRUCT_MEMSET_CTOR(s) DOCA_STRUCT_PTR_MEMSET_CTOR(&(s))
/** Clear the structure that *p* points to and set its version. */
#define DOCA_STRUCT_PTR_MEMSET_CTOR(p) \
	do { \
		memset((p), 0, sizeof(*(p))); \
		DOCA_STRUCT_PTR_CTOR(p); \
	} while (0)
/** First value of an initializer. */
#define DOCA_STRUCT_CTOR_LIST_START .__doca_api_version = DOCA_VERSION_EXACT
/** Define a variable with its version set. */
#define DOCA_STRUCT_DEF(type, name) struct type name = { DOCA_STRUCT_CTOR_LIST_START }

#endif /* DOCA_COMPAT_HELPERS */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMPAT_H */
