/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_ARGP_H
#define DOCA_ARGP_H

/**
 * @file
 * Command line and JSON file of a program.
 *
 * A process has one parser, used by one thread at a time:
 *
 *     doca_argp_init("my_app", &conf)
 *     doca_argp_param_create(&param)
 *     doca_argp_param_set_short_name(param, "p")     and the other fields
 *     doca_argp_register_param(param)                for each flag
 *     doca_argp_start(argc, argv)                    calls the callbacks
 *     ...
 *     doca_argp_destroy()
 *
 * A flag has a short name, a long name or both: `-p VALUE`, `-pVALUE`, `--port VALUE`,
 * `--port=VALUE`. After two dashes a name can be abbreviated while it is unambiguous. If any
 * short name has several letters, `-ld VALUE` is that flag; `-lx` is `-l` with the value x.
 *
 * Every program has these flags:
 *
 *     -h, --help               print the usage to stdout and exit with 0
 *     -v, --version            call the version callback; without one, print
 *                              the library's version and exit with 0
 *     -l, --log-level N        doca_log_level_set_global_lower_limit()
 *     --sdk-log-level N        doca_log_level_set_global_sdk_limit()
 *     -j, --json FILE          read more flags from a file
 *
 * The file is a JSON object of objects, whose keys are long names. Values on the
 * command line override it. C and C++ comments are allowed. Keys of the last two
 * objects may also be in the outer object:
 *
 *     {
 *         "doca_dpdk_flags": { "a": "0000:03:00.0", "in-memory": true },
 *         "doca_general_flags": { "log-level": 60 },
 *         "doca_program_flags": { "port": 1234, "name": ["a", "b"] }
 *     }
 *
 * Each error is reported once, with the flag and the value: to the logger callback;
 * without one, to the SDK backends of doca_log.h; without these, to stderr.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument unless NULL is allowed; each names its other errors. "Not initialized" means
 * before doca_argp_init().
 *
 * Reference: DOCA Comm Channel guide, "Running the Sample" (usage and flags of the
 * library).
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
 *   Of the flag's type; valid during the call.
 * @param config
 *   From doca_argp_init().
 * @return
 *   DOCA_SUCCESS, or the result of doca_argp_start().
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *value, void *config);

/** A command was given, and its flags' callbacks were called. As doca_argp_param_cb_t. */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *config);

/** Arguments for DPDK, valid until doca_argp_destroy(). */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/** Validate the program's settings, after all callbacks of flags and commands. */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *config);

/** Report an error; *format* is as for printf, without a newline. The result is ignored. */
typedef doca_error_t (*doca_argp_logger_cb_t)(enum doca_log_level level, const char *format,
		va_list args);

/** Type of a flag's value, and what its callback gets. */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0,
	DOCA_ARGP_TYPE_STRING = 1,  /**< `char *`: the text. */
	DOCA_ARGP_TYPE_INT = 2,     /**< `int *`: decimal, or hexadecimal with 0x. */
	DOCA_ARGP_TYPE_BOOLEAN = 3, /**< `bool *`: true. Has no value on the command line. */
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
/** A command: a word with its own flags and commands. */
struct doca_argp_cmd;

/**
 * Print the usage of the command that was parsed last, to stdout. Until DOCA 2.8 it
 * then exits with status 1.
 */
DOCA_EXPERIMENTAL
void doca_argp_usage(void)
#if COMCH_DOCA_GENERATION < 209
		COMCH_DOCA_SYMBOL(doca_argp_usage_205)
#endif
		;

/**
 * Initialize the parser.
 *
 * @param program_name
 *   Name for the usage; copied. NULL: taken from argv[0].
 * @param program_config
 *   Argument of the callbacks; may be NULL.
 * @return
 *   - DOCA_ERROR_BAD_STATE: initialized already
 *   - DOCA_ERROR_INVALID_VALUE: an empty name
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * Add a flag. The library owns it from now on, also on errors other than "not
 * initialized".
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not initialized, started already, or registered already
 *   - DOCA_ERROR_INITIALIZATION: it lacks a name, a description, a type or a callback
 *   - DOCA_ERROR_INVALID_VALUE: a name is invalid or in use
 *   - DOCA_ERROR_NO_MEMORY: a setter ran out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

/**
 * Add a command. The library owns it from now on, also on errors other than "not
 * initialized".
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not initialized, started already, or registered already
 *   - DOCA_ERROR_INITIALIZATION: it lacks a name or a description
 *   - DOCA_ERROR_INVALID_VALUE: its name is invalid or in use
 *   - DOCA_ERROR_NO_MEMORY: a setter ran out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd);

/**
 * Set the callback of --version, whose value is a true bool. If it returns
 * DOCA_SUCCESS, parsing continues.
 *
 * @return DOCA_ERROR_BAD_STATE: not initialized
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/**
 * Set the callback after those of all flags and commands.
 *
 * @return DOCA_ERROR_BAD_STATE: not initialized
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/**
 * Set the callback for error messages.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not initialized
 *   - DOCA_ERROR_ALREADY_EXIST: one is set
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback);

/**
 * Report no errors, and remove the logger callback.
 *
 * @return DOCA_ERROR_BAD_STATE: not initialized
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_logger_callback(void);

/**
 * Parse the command line, once. All input is checked first. Then the callbacks are
 * called: those of flags in their order, those of commands from the outer to the inner,
 * validation, DPDK. The first that fails is the last called.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not initialized, or started already
 *   - DOCA_ERROR_NOT_SUPPORTED: an unknown flag, command or JSON key
 *   - DOCA_ERROR_INVALID_VALUE: NULL or no argv[0]; an invalid, missing or extra value;
 *     a missing mandatory flag; a flag given twice; or a flag beside a singular one
 *   - DOCA_ERROR_IO_FAILED: the JSON file is unreadable or invalid
 *   - DOCA_ERROR_NOT_FOUND: unknown device or representor
 *   - DOCA_ERROR_NO_MEMORY
 *   - the error of a callback, or of opening a device
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_start(int argc, char **argv);

/**
 * Free the parser and everything registered. doca_argp_init() may follow.
 *
 * @return DOCA_ERROR_BAD_STATE: not initialized
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_destroy(void);

/**
 * Pass arguments to DPDK. The callback gets the program's name, everything before a
 * `--` on the command line, and the object "doca_dpdk_flags" of a JSON file. Without a
 * `--`, all flags are DOCA's and the program's.
 *
 * A JSON key of one letter becomes `-k`, any other `--key`, followed by its value
 * unless that is true. An array repeats the flag.
 */
DOCA_EXPERIMENTAL
void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/**
 * Create a flag. The caller owns it until it is registered; then its setters have no
 * effect.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not initialized
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/** Set the short name, usually a letter: letters, digits, '-' and '_'. Copied. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

/** Set the long name: letters, digits, '-' and '_'. Copied. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/** Set the text for the value in the usage, such as "<path>". Copied. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

/** Set the description in the usage. Copied. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

/** Set the callback for each use of the flag. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback);

/** Set the type of the value. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type)
#if COMCH_DOCA_GENERATION < 300
		COMCH_DOCA_SYMBOL(doca_argp_param_set_type_205)
#endif
		;

/** Make the flag mandatory, if its command is given. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/** Do not allow the flag in a JSON file, as for flags without a long name. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/** Allow the flag several times; in a JSON file, as an array. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/** Allow none of the program's other flags beside this one, and require no mandatory one. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_singular(struct doca_argp_param *param);

/** Add the flag to the commands within its command, too. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_inherited(struct doca_argp_param *param);

/** Hide the flag from the usage. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_hidden(struct doca_argp_param *param);

/** Destroy a flag that was not registered. @return DOCA_ERROR_BAD_STATE: registered. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/**
 * Create a command. The caller owns it until it is registered; then its setters have no
 * effect, but flags and commands can still be added.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not initialized
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

/** Set the name: letters, digits, '-' and '_'. Copied. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);

/** Set the description in the usage. Copied. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description);

/** Set the callback of the command; optional. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback);

/** Hide the command from the usage. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);

/**
 * Add a flag to a command. The library owns it from now on, also on errors other than
 * "not initialized".
 *
 * @return As doca_argp_register_param().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
		struct doca_argp_param *input_param);

/**
 * Add a command to a command. The library owns it from now on, also on errors other
 * than "not initialized".
 *
 * @return As doca_argp_register_cmd(); DOCA_ERROR_INVALID_VALUE also if a command would
 * contain itself.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd,
		struct doca_argp_cmd *input_cmd);

/**
 * Destroy a command that was not registered, with everything in it.
 *
 * @return DOCA_ERROR_BAD_STATE: registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/** The level of --log-level; if it was not given, the global lower limit. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_log_level(int *log_level);

/** The level of --sdk-log-level; if it was not given, the global SDK level. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_sdk_log_level(int *log_level);

#if COMCH_DOCA_GENERATION >= 300

/**
 * Value of a device flag: `DEVICE` or `DEVICE,DEVARGS`. DEVICE is a PCI address,
 * optionally after "pci/", or the name of an RDMA device or network interface.
 *
 * If the callback returns DOCA_SUCCESS, the program owns the device and closes it.
 * Otherwise the library closes it.
 */
struct doca_argp_device_ctx {
	struct doca_dev *dev;
	const char *devargs; /**< NULL if there are none. */
};

/**
 * Value of a representor flag: `DEVICE,REPRESENTOR` or `DEVICE,REPRESENTOR,DEVARGS`.
 * REPRESENTOR is a PCI address of the host, optionally after "pci/", or the name of a
 * network interface.
 *
 * If the callback returns DOCA_SUCCESS, the program owns both and closes them.
 * Otherwise the library closes them.
 */
struct doca_argp_device_rep_ctx {
	struct doca_argp_device_ctx dev_ctx;
	struct doca_dev_rep *dev_rep;
};

/** Open the device of a flag. As doca_dev_open(). */
typedef doca_error_t (*doca_argp_dev_open_cb_t)(struct doca_devinfo *devinfo, void *usr_ctx,
		struct doca_dev **dev);

/**
 * Set the function that opens the devices of flags, instead of doca_dev_open().
 *
 * @return DOCA_ERROR_BAD_STATE: not initialized
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback,
		void *usr_ctx);

#endif /* COMCH_DOCA_GENERATION >= 300 */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H */
