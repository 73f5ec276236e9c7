/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ARGP_ARGP_H
#define IMPL_ARGP_ARGP_H

/*
 * The parser of the command line. There is one, for one thread at a time:
 *
 *     argp_main.c     its state; init, start, destroy
 *     argp_builtin.c  flags of every program
 *     argp_param.c    flags                argp_cmd.c   commands
 *     argp_parse.c    command line         argp_json.c  JSON file
 *     argp_value.c    conversion of values, callbacks of flags
 *     argp_dev.c      values that are devices
 *     argp_usage.c    usage                argp_exit.c  exit of the program
 */

#include <stdbool.h>
#include <stddef.h>

#include <bsd/sys/queue.h>

#include <doca_argp.h>

/* Until 2.10 its value was 4, which is now DOCA_ARGP_TYPE_DEVICE. */
#define IMPL_ARGP_TYPE_JSON_OBJ 7
#define IMPL_ARGP_NB_TYPES 8

struct doca_argp_param {
	TAILQ_ENTRY(doca_argp_param) next;
	char *short_name;
	char *long_name;
	char *arguments;
	char *description;
	doca_argp_param_cb_t callback;
	unsigned int type; /* DOCA_ARGP_TYPE_*, IMPL_ARGP_TYPE_JSON_OBJ */
	bool mandatory;
	bool cli_only;
	bool multiplicity;
	bool singular;
	bool inherited;
	bool hidden;
	bool builtin;     /* takes effect while parsing */
	bool no_memory;   /* a setter failed */
	bool registered;  /* owned by the parser */
	bool from_json;   /* all of nb_given are from the JSON file */
	unsigned int nb_given;
};
TAILQ_HEAD(impl_argp_params, doca_argp_param);

struct doca_argp_cmd {
	TAILQ_ENTRY(doca_argp_cmd) next;
	char *name;
	char *description;
	doca_argp_cmd_cb_t callback;
	bool hidden;
	bool no_memory;
	bool registered;
	struct doca_argp_cmd *outer;
	struct impl_argp_params params;
	TAILQ_HEAD(impl_argp_cmds, doca_argp_cmd) cmds;
};

/* A flag that was given. */
struct impl_argp_value {
	STAILQ_ENTRY(impl_argp_value) next;
	struct doca_argp_param *param;
	char *text; /* NULL: none */
	union {
		bool b;
		int i;
		double d;
	};
};

enum impl_argp_builtin {
	IMPL_ARGP_HELP,
	IMPL_ARGP_VERSION,
	IMPL_ARGP_LOG_LEVEL,
	IMPL_ARGP_SDK_LOG_LEVEL,
	IMPL_ARGP_JSON,
	IMPL_ARGP_NB_BUILTINS
};

struct impl_argp {
	char *name; /* NULL: argv[0] */
	void *config;
	bool started;
	bool silent;
	struct doca_argp_cmd program;     /* top-level flags and commands */
	struct doca_argp_cmd *cmd;        /* parsed last */
	struct impl_argp_params refused; /* owned, but invalid */
	struct impl_argp_cmds refused_cmds;
	struct doca_argp_param builtins[IMPL_ARGP_NB_BUILTINS];
	STAILQ_HEAD(, impl_argp_value) values;
	int log_level; /* 0: not given */
	int sdk_log_level;
	char *json_path;
	int nb_rest;      /* arguments after "--" */
	char **rest;
	char *dpdk_args; /* argz */
	size_t dpdk_args_len;
	char **dpdk_argv;
	doca_argp_param_cb_t version;
	doca_argp_validation_cb_t validation;
	doca_argp_logger_cb_t logger;
	doca_argp_dpdk_cb_t dpdk;
	doca_argp_dev_open_cb_t dev_open;
	void *dev_open_ctx;
};

/* NULL: not initialized. */
extern struct impl_argp *impl_argp;

/* Report an error. */
void impl_argp_log(enum doca_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
#define ARGP_ERR(...) impl_argp_log(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define ARGP_WARN(...) impl_argp_log(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)

/* argp_param.c */
/* Whether it consists of letters, digits, '-' and '_'. */
bool impl_argp_name_is_valid(const char *name);
/* Name for messages, such as "--port". */
const char *impl_argp_flag(const struct doca_argp_param *param);
doca_error_t impl_argp_add_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param);
void impl_argp_free_params(struct impl_argp_params *params);
/* Copy a text into a field; false: out of memory. */
bool impl_argp_set_text(char **field, const char *text);

/* argp_cmd.c */
void impl_argp_init_cmd(struct doca_argp_cmd *cmd);
void impl_argp_free_cmds(struct impl_argp_cmds *cmds);
/* Free the contents. */
void impl_argp_clear_cmd(struct doca_argp_cmd *cmd);

/* argp_value.c */
bool impl_argp_takes_value(const struct doca_argp_param *param);
/* Check and store the value of a flag. Built-in flags take effect now. */
doca_error_t impl_argp_give(struct doca_argp_param *param, const char *text);
/* Call the callbacks of all flags given. */
doca_error_t impl_argp_call_values(void);
void impl_argp_free_values(void);

/* argp_dev.c */
/* Open the device that the text names, then call the callback. */
doca_error_t impl_argp_call_dev(const struct doca_argp_param *param, const char *text);
doca_error_t impl_argp_call_rep(const struct doca_argp_param *param, const char *text);

/* argp_parse.c */
doca_error_t impl_argp_parse(int argc, char **argv);
/* Add an argument for DPDK. */
doca_error_t impl_argp_add_dpdk(const char *arg);

/* argp_json.c */
doca_error_t impl_argp_load_json(const char *path);

/* argp_builtin.c */
void impl_argp_init_builtins(struct impl_argp *argp);

/* argp_usage.c */
/* Name of the program, without directories. */
const char *impl_argp_program(void);

/* argp_exit.c */
void impl_argp_end_program(int status) __attribute__((noreturn));

#endif /* IMPL_ARGP_ARGP_H */
