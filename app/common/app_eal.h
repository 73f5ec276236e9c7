/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef APP_EAL_H
#define APP_EAL_H

/**
 * @file
 * EAL arguments of the applications: those of the user, and defaults for what the user
 * leaves out.
 */

#include <stdbool.h>
#include <stdint.h>

#define APP_EAL_MAX_ARGS 64

/** EAL arguments under construction. */
struct app_eal_args {
	char *argv[APP_EAL_MAX_ARGS + 1];
	int argc;
	bool full;           /**< Arguments are missing in argv. */
	char *const *given;  /**< The user's arguments. */
	int nb_given;
};

/**
 * Did the user give an argument (`-x VALUE`, `-xVALUE`, `--xx VALUE`, `--xx=VALUE`)?
 *
 * @param[out] value
 *   Its value; may be NULL.
 */
bool app_eal_is_given(const struct app_eal_args *args, const char *name, const char **value);

/** Did the user give any argument of a list that ends with NULL? */
bool app_eal_any_given(const struct app_eal_args *args, const char *const *names);

/** Did the user choose the lcores? */
bool app_eal_lcores_given(const struct app_eal_args *args);

/** Add an argument. */
void app_eal_add(struct app_eal_args *args, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Add the user's arguments but those for which *skip* returns true (NULL: none). */
void app_eal_add_given(struct app_eal_args *args, bool (*skip)(const char *name, void *ctx),
		void *ctx);

/**
 * Add the defaults for which the user gave nothing else: no PCI devices, quiet, IOVA as VA; and
 * no telemetry if EAL has no directory for its socket.
 */
void app_eal_add_defaults(struct app_eal_args *args);

/**
 * Unless the user chose the memory, add *mb* MiB: in hugepages if *free_mb* of them are
 * free, else in normal pages. *one_file* makes all memory one descriptor, as its export
 * to a peer requires.
 */
void app_eal_add_memory(struct app_eal_args *args, uint32_t mb, uint64_t free_mb,
		bool one_file);

/**
 * May a file have this size? EAL's memory is one, and a process that makes one larger than
 * RLIMIT_FSIZE is ended by a signal.
 *
 * @return 0, or -EFBIG after a line on stderr
 */
int app_eal_check_file_size(uint64_t mb);

/**
 * The directory that EAL makes "dpdk" in, for its files. Where EAL's own choice cannot be
 * written (read-only, or of another user, after su), it would not start: /tmp.
 */
const char *app_eal_base(void);

/**
 * Start EAL, with app_eal_base().
 *
 * @return 0 or a negative errno; EAL logs the reason, or it is on stderr
 */
int app_eal_start(const struct app_eal_args *args);

/** Remove EAL's runtime directory of a file prefix. */
void app_eal_clean(const char *prefix);

/** Remove a directory recursively. */
void app_remove_tree(const char *path);

/**
 * Raise the limit of descriptors to its maximum: each connection takes a few, and the
 * library leaves the limit alone.
 */
void app_raise_nofile(void);

#endif /* APP_EAL_H */
