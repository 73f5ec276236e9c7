/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ARGP_PROGRAM_H
#define ARGP_PROGRAM_H

/*
 * A program for the tests of argp: callbacks that write down their calls, and
 * flags for them.
 */

#include <doca_argp.h>

#include "common/child.h"

struct argp_conf {
	char calls[4096];        /* "int(5) string(x) " */
	doca_error_t validation; /* what these callbacks return */
	doca_error_t cmd;
	doca_error_t dpdk;
};

extern struct argp_conf argp_conf;
/* The last message. */
extern char argp_log[1024];

/* Note a call. */
void argp_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

doca_error_t argp_take_string(void *value, void *config);
doca_error_t argp_take_int(void *value, void *config);
doca_error_t argp_take_bool(void *value, void *config);
doca_error_t argp_take_double(void *value, void *config);
doca_error_t argp_take_nothing(void *value, void *config);
/* Returns DOCA_ERROR_AUTHENTICATION. */
doca_error_t argp_fail(void *value, void *config);
doca_error_t argp_take_cmd(void *config);
doca_error_t argp_validate(void *config);
doca_error_t argp_take_dpdk(int argc, char **argv);
doca_error_t argp_take_log(enum doca_log_level level, const char *format, va_list args);

/* doca_argp_init() with a fresh argp_conf and the logger above. */
void argp_begin(void);
/* --only stands alone; --must is mandatory. */
void argp_begin_singular(void);
/* -i, inherited; -p; "outer" with --secret, hidden, and within it "inner" with
 * -s, mandatory; "hidden".
 */
void argp_begin_commands(void);
void argp_begin_usage(void);

/* A flag, complete. */
struct doca_argp_param *argp_param(const char *short_name, const char *long_name,
		unsigned int type, doca_argp_param_cb_t callback);
/* The same, registered; so its fields cannot be set. */
void argp_register(const char *short_name, const char *long_name, unsigned int type,
		doca_argp_param_cb_t callback, void (*set)(struct doca_argp_param *param));
struct doca_argp_cmd *argp_cmd(const char *name);

/* doca_argp_start() of "prog" and these words, up to a NULL. */
doca_error_t argp_start_words(const char *const *words);
#define argp_start(...) argp_start_words((const char *const[]){ __VA_ARGS__, NULL })

#endif /* ARGP_PROGRAM_H */
