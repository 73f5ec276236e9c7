/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_DPA_APP_H
#define COMCH_DOCA_DPA_APP_H

/**
 * @file
 * Definition of doca_dpa_app: device code that comch-dpacc stores in an archive.
 * Programs only pass its symbol to doca_dpa_set_app(); this header is for code that
 * comch-dpacc generates.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the structures below. */
#define COMCH_DOCA_DPA_APP_VERSION 1

/** A function of device code that the host can refer to. */
struct comch_doca_dpa_func {
	const char *name;
	void (*func)(void);              /**< Cast to doca_dpa_func_t by the host. */
	size_t args_size;                /**< Bytes of all arguments, packed. */
	/** Copy the variable arguments of doca_dpa_rpc() or a kernel launch to args. */
	void (*pack)(void *args, va_list *list);
	/** Call the function with packed arguments; 0 if it returns nothing. */
	uint64_t (*call)(const void *args);
	uint32_t is_rpc;                 /**< 1: `__dpa_rpc__`; 0: `__dpa_global__`. */
	uint32_t nb_args;
};

/** The functions of one source file. */
struct comch_doca_dpa_unit {
	const struct comch_doca_dpa_func *funcs;
	uint32_t nb_funcs;
};

/** An application. */
struct doca_dpa_app {
	uint32_t version;                /**< COMCH_DOCA_DPA_APP_VERSION */
	uint32_t nb_units;
	const char *name;
	const struct comch_doca_dpa_unit *const *units;
};

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_DPA_APP_H */
