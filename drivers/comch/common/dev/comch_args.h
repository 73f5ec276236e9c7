/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_ARGS_H
#define COMCH_ARGS_H

/*
 * What the device strings of all drivers have in common: role, host functions, limits.
 * Errors are logged with the driver's type and tag.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_kvargs.h>

#include "rte_comch_driver.h"

#define COMCH_ARGS_ROLE "role"
#define COMCH_ARGS_FUNC "func"
#define COMCH_ARGS_REP "rep"
#define COMCH_ARGS_MAX_CLIENTS "max_clients"
#define COMCH_ARGS_MAX_IMPORT "max_import"
#define COMCH_ARGS_TOTAL_IMPORT "total_import"
#define COMCH_ARGS_MAX_STAGING "max_staging"
#define COMCH_ARGS_TOTAL_STAGING "total_staging"
#define COMCH_ARGS_MAX_MSG "max_msg_size"
#define COMCH_ARGS_DIR "dir" /* comch_place.h */

/* For a driver's valid_keys. */
#define COMCH_ARGS_KEYS COMCH_ARGS_ROLE, COMCH_ARGS_FUNC, COMCH_ARGS_REP, \
	COMCH_ARGS_MAX_CLIENTS, COMCH_ARGS_MAX_IMPORT, COMCH_ARGS_TOTAL_IMPORT, \
	COMCH_ARGS_MAX_STAGING, COMCH_ARGS_TOTAL_STAGING, COMCH_ARGS_MAX_MSG, \
	COMCH_ARGS_DIR

/* Largest number of bytes that a key may have. */
#define COMCH_ARGS_MAX_BYTES (UINT64_C(1) << 47)
#define COMCH_ARGS_DEFAULT_MSG 4080
#define COMCH_ARGS_LIMIT_MSG (UINT32_C(128) << 10)

struct comch_args {
	struct rte_comch_dev *dev;
	struct rte_kvargs *kv;
	int logtype;
	const char *tag;         /* "COMCH_SHM" */
	/*
	 * Parse the text after the '@' of a function's name, for dev->reps[rep]. 0 or
	 * -EINVAL. NULL: names have no such text.
	 */
	int (*on_addrs)(const struct comch_args *a, uint16_t rep, const char *key,
			const char *text);
};

/* Log that a value is not *valid*. Returns -EINVAL. */
int comch_args_bad(const struct comch_args *a, const char *key, const char *value,
		const char *valid);
/*
 * Call parse for each value of a key. Returns 0, or the first error of parse.
 */
int comch_args_each(const struct comch_args *a, const char *key,
		int (*parse)(const struct comch_args *a, const char *key, const char *value,
			void *arg), void *arg);
/* The value of a key, if the string has it. 0 or -EINVAL. */
int comch_args_number(const struct comch_args *a, const char *key, uint64_t min, uint64_t max,
		uint64_t *out);
int comch_args_u32(const struct comch_args *a, const char *key, uint32_t min, uint32_t max,
		uint32_t *out);
int comch_args_bool(const struct comch_args *a, const char *key, bool *out);
/* Set dev->info.role; required. 0 or -EINVAL. */
int comch_args_role(const struct comch_args *a);
/* Add the functions of func= or rep= to dev->reps; pf0 if there are none. 0, -EINVAL, -ENOMEM. */
int comch_args_funcs(const struct comch_args *a);
/*
 * Set the limits of dev->info that have keys, with their defaults. Those of memory are 0
 * without a key. 0 or -EINVAL.
 */
int comch_args_limits(const struct comch_args *a);
/*
 * Set the rest of dev->info: what every driver is capable of, limits without keys, and
 * the limits of memory that are 0, by the machine's memory. The role is set. max_staging:
 * its default if the machine has as much, bytes.
 */
void comch_args_fill_info(struct rte_comch_dev_info *info, uint64_t max_staging);

#endif /* COMCH_ARGS_H */
