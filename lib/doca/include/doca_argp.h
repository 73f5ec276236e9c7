/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_ARGP_H
#define DOCA_ARGP_H

/**
 * @file
 * The command line of a program, and its JSON file.
 *
 * There is one parser in a process; one thread at a time uses it:
 *
 *     doca_argp_init("my_app", &conf)
 *     doca_argp_param_create(&param)
 *     doca_argp_param_set_short_name(param, "p")     and the other fields
 *     doca_argp_register_param(param)                for each flag
 *     doca_argp_start(argc, argv)                    calls the callbacks
 *     ...
 *     doca_argp_destroy()
 *
 * A flag has a short or a long name or both: `-p VALUE`, `-pVALUE`,
 * `--port VALUE`, `--port=VALUE`. A long name may be cut as long as it is
 * unambiguous. If any short name has several letters, `-ld VALUE` is that flag.
 *
 * Flags of each program:
 *
 *     -h, --help               print the usage to stdout and exit with 0
 *     -v, --version            call the version callback; without one, print
 *                              the library's version and exit with 0
 *     -l, --log-level N        doca_log_level_set_global_lower_limit()
 *     --sdk-log-level N        doca_log_level_set_global_sdk_limit()
 *     -j, --json FILE          read further flags from a file
 *
 * The file is an object with objects in it; keys are long names. Values of the
 * command line win. Comments as in C and C++ are allowed, and keys of the
 * latter two may also stand in the outer object:
 *
 *     {
 *         "doca_dpdk_flags": { "a": "0000:03:00.0", "in-memory": true },
 *         "doca_general_flags": { "log-level": 60 },
 *         "doca_program_flags": { "port": 1234, "name": ["a", "b"] }
 *     }
 *
 * What is wrong is said once, with the flag and the value: to the logger
 * callback; without one, to the SDK's backends of doca_log.h; without these,
 * to stderr.
 *
 * Reference: DOCA Comm Channel guide, "Running the Sample" (usage and flags
 * of the library).
 */

#include <stdarg.h>

#include <doca_compat.h>
#if COMCH_DOCA_GENERATION >= 300
#include <doca_dev.h>
#endif
#include <doca_error.h>
#include <doca_log.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A flag was given.
 *
 * @param value
 *   As the flag's type says; valid within the call.
 * @param config
 *   From doca_argp_init().
 * @return
 *   DOCA_SUCCESS, or what doca_argp_start() is to return.
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *value, void *config);

/** A command was given; its flags' callbacks were called. As doca_argp_param_cb_t. */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *config);

/** What DPDK is to be started with; valid until doca_argp_destroy(). */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/** All callbacks of flags and commands were called: does it fit together? */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *config);

/** What is wrong; printf's format, without a newline. Its result is not looked at. */
typedef doca_error_t (*doca_argp_logger_cb_t)(enum doca_log_level level, const char *format,
		va_list args);

/** What a flag's callback gets. */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0,
	DOCA_ARGP_TYPE_STRING = 1,  /**< `char *`: the text. */
	DOCA_ARGP_TYPE_INT = 2,     /**< `int *`: decimal, or hexadecimal with 0x. */
	DOCA_ARGP_TYPE_BOOLEAN = 3, /**< `bool *`: true. Without a value on the command line. */
#if COMCH_DOCA_GENERATION < 300
	DOCA_ARGP_TYPE_JSON_OBJ = 4, /**< `char *`: the text of a JSON object. */
#else
	DOCA_ARGP_TYPE_DEVICE = 4,     /**< `struct doca_argp_device_ctx *`: opened. */
	DOCA_ARGP_TYPE_DEVICE_REP = 5, /**< `struct doca_argp_device_rep_ctx *`: opened. */
	DOCA_ARGP_TYPE_DOUBLE = 6,     /**< `double *`; finite. */
#endif
};

/** A flag. */
struct doca_argp_param;
/** A command: a word with flags and commands of its own. */
struct doca_argp_cmd;

/**
 * Print the usage, of the command that was parsed last, to stdout. A program
 * of DOCA 2.8 or older ends then, with exit status 1.
 */
DOCA_EXPERIMENTAL
void doca_argp_usage(void)
#if COMCH_DOCA_GENERATION < 209
		COMCH_DOCA_SYMBOL(doca_argp_usage_205)
#endif
		;

/**
 * Begin.
 *
 * @param program_name
 *   For the usage; copied. NULL: from argv[0].
 * @param program_config
 *   For the callbacks; may be NULL.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_BAD_STATE: begun already
 *   - DOCA_ERROR_INVALID_VALUE: an empty name
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * Add a flag. Whatever the result, it is no longer the caller's; but for "not
 * begun".
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_BAD_STATE: not begun, started already, or registered already
 *   - DOCA_ERROR_INITIALIZATION: it lacks a name, a description, a type or a
 *     callback
 *   - DOCA_ERROR_INVALID_VALUE: NULL, a name that cannot be parsed, or that is
 *     taken
 *   - DOCA_ERROR_NO_MEMORY: a setter had no memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

/**
 * Add a command. Whatever the result, it is no longer the caller's; but for "not
 * begun".
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_BAD_STATE: not begun, started already, or registered already
 *   - DOCA_ERROR_INITIALIZATION: it lacks a name or a description
 *   - DOCA_ERROR_INVALID_VALUE: NULL, a name that cannot be parsed, or that is
 *     taken
 *   - DOCA_ERROR_NO_MEMORY: a setter had no memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd);

/**
 * Set what --version does. If it returns DOCA_SUCCESS, parsing goes on. Its
 * value is a bool that is true.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_BAD_STATE: not begun; DOCA_ERROR_INVALID_VALUE:
 *   NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/**
 * Set what is called last.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_BAD_STATE: not begun; DOCA_ERROR_INVALID_VALUE:
 *   NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/**
 * Set who is told what is wrong.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_BAD_STATE: not begun
 *   - DOCA_ERROR_ALREADY_EXIST: there is one
 *   - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback);

/**
 * Write no messages about errors; a logger callback is forgotten.
 *
 * @return DOCA_SUCCESS; DOCA_ERROR_BAD_STATE: not begun
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_logger_callback(void);

/**
 * Parse, once. Everything is looked at first; then come the callbacks: of the
 * flags in their order, of the commands from the outer to the inner, the
 * validation, DPDK. The first that fails is the last that is called.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_BAD_STATE: not begun, or started already
 *   - DOCA_ERROR_NOT_SUPPORTED: an unknown flag, command or JSON key
 *   - DOCA_ERROR_INVALID_VALUE: NULL or no argv[0]; a value that does not fit,
 *     is missing or is too much; a mandatory flag is missing; a flag was given
 *     twice, or together with one that stands alone
 *   - DOCA_ERROR_IO_FAILED: the JSON file cannot be read, or is no JSON
 *   - DOCA_ERROR_NOT_FOUND: no such device or representor
 *   - DOCA_ERROR_NO_MEMORY
 *   - what a callback or the opening of a device returned
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_start(int argc, char **argv);

/**
 * End: frees all that was registered. One can begin anew.
 *
 * @return DOCA_SUCCESS; DOCA_ERROR_BAD_STATE: not begun
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_destroy(void);

/**
 * The program uses DPDK: all that goes before a `--` on the command line, and
 * the object "doca_dpdk_flags" of a JSON file, goes to the callback, after the
 * program's name; without a `--`, all flags are DOCA's and the program's. A key of one letter
 * becomes `-k`, another `--key`; followed
 * by its value, unless that is true; an array gives the flag several times.
 */
DOCA_EXPERIMENTAL
void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/**
 * Create a flag. It is the caller's until it is registered; then its setters
 * have no effect.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_BAD_STATE: not begun
 *   - DOCA_ERROR_INVALID_VALUE: NULL
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/** Set the short name: mostly a letter; letters, digits, '-' and '_'. Copied. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

/** Set the long name: letters, digits, '-' and '_'. Copied. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/** Set what the usage shows for the value, as "<path>". Copied. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

/** Set the description for the usage. Copied. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

/** Set what is called where the flag is given. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback);

/** Set the type of the value. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type)
#if COMCH_DOCA_GENERATION < 300
		COMCH_DOCA_SYMBOL(doca_argp_param_set_type_205)
#endif
		;

/** The flag has to be given, if its command is. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/** The flag cannot be in a JSON file; so without a long name, anyway. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/** The flag may be given several times; in a JSON file, as an array. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/** The flag stands alone: no other one of the program's; also no mandatory one. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_singular(struct doca_argp_param *param);

/** The commands within the flag's command have the flag, too. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_inherited(struct doca_argp_param *param);

/** The usage does not show the flag. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_hidden(struct doca_argp_param *param);

/**
 * Destroy a flag that was not registered.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_BAD_STATE: registered;
 *   DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/**
 * Create a command. It is the caller's until it is registered; then its
 * setters have no effect, but flags and commands can still be added.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_BAD_STATE: not begun
 *   - DOCA_ERROR_INVALID_VALUE: NULL
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

/** Set the name: letters, digits, '-' and '_'. Copied. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);

/** Set the description for the usage. Copied. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description);

/** Set what is called if the command is given. A command may do without. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback);

/** The usage does not show the command. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);

/**
 * Add a flag to a command. Whatever the result, the flag is no longer the
 * caller's; but for "not begun".
 *
 * @return as doca_argp_register_param()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
		struct doca_argp_param *input_param);

/**
 * Add a command within a command. Whatever the result, the inner one is no
 * longer the caller's; but for "not begun".
 *
 * @return
 *   as doca_argp_register_cmd(); DOCA_ERROR_INVALID_VALUE also where a command
 *   would be within itself
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd,
		struct doca_argp_cmd *input_cmd);

/**
 * Destroy a command that was not registered, with all in it.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_BAD_STATE: registered;
 *   DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/**
 * The level of --log-level; if it was not given, the global lower limit.
 *
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_log_level(int *log_level);

/**
 * The level of --sdk-log-level; if it was not given, the global SDK level.
 *
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_sdk_log_level(int *log_level);

#if COMCH_DOCA_GENERATION >= 300

/**
 * A device that a flag named: `DEVICE` or `DEVICE,DEVARGS`. DEVICE is a PCI
 * address, with or without "pci/" before it, or the name of an RDMA device or
 * of a network interface.
 *
 * If the callback returns DOCA_SUCCESS, the device is the program's to close;
 * otherwise the library closes it.
 */
struct doca_argp_device_ctx {
	struct doca_dev *dev;
	const char *devargs; /**< NULL if there are none. */
};

/**
 * A representor that a flag named: `DEVICE,REPRESENTOR` or
 * `DEVICE,REPRESENTOR,DEVARGS`. REPRESENTOR is a PCI address of the host, with
 * or without "pci/" before it, or the name of a network interface.
 *
 * If the callback returns DOCA_SUCCESS, both are the program's to close;
 * otherwise the library closes them.
 */
struct doca_argp_device_rep_ctx {
	struct doca_argp_device_ctx dev_ctx;
	struct doca_dev_rep *dev_rep;
};

/** Open a device that a flag named. As doca_dev_open(). */
typedef doca_error_t (*doca_argp_dev_open_cb_t)(struct doca_devinfo *devinfo, void *usr_ctx,
		struct doca_dev **dev);

/**
 * Set how devices are opened that flags name: instead of doca_dev_open().
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_BAD_STATE: not begun; DOCA_ERROR_INVALID_VALUE:
 *   NULL callback
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback,
		void *usr_ctx);

#endif /* COMCH_DOCA_GENERATION >= 300 */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H */
