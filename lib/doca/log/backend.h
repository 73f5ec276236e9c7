/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_LOG_BACKEND_H
#define IMPL_LOG_BACKEND_H

/*
 * Backends: destinations of records, with their limits. One lock protects all of them and
 * is held while a record is written, so that lines do not mix.
 */

#include <stdbool.h>

#include <bsd/sys/queue.h>

#include <doca_log.h>

/* Limits of a backend, and the global ones. */
enum impl_backend_limit {
	IMPL_BACKEND_LOWER, /* most verbose; of an SDK backend, the SDK level */
	IMPL_BACKEND_UPPER, /* most severe */
	IMPL_BACKEND_NB_LIMITS
};

struct doca_log_backend {
	STAILQ_ENTRY(doca_log_backend) next;
	doca_error_t (*write)(const struct doca_log_backend *backend, uint32_t level,
			const char *record, size_t len);
	union {
		FILE *file;
		int fd;
		struct {
			char *data;
			size_t capacity;
			log_flush_callback handler;
		} buf;
	};
	bool sdk;
	/* Range of levels, besides the limits. */
	uint32_t first, last;
	uint32_t limit[IMPL_BACKEND_NB_LIMITS];
	bool strict[IMPL_BACKEND_NB_LIMITS];
};

/* Whether it is a valid level of a message. */
bool impl_backend_is_level(uint32_t level);

/* Add a backend, with the global limits. */
void impl_backend_add(struct doca_log_backend *backend);

/* Whether a backend of this kind shows this level. Cheap. */
bool impl_backend_wants(bool sdk, uint32_t level);

/* Write a line, with its newline, to all backends of this kind that show its level. */
doca_error_t impl_backend_write(bool sdk, uint32_t level, const char *record, size_t len);

#endif /* IMPL_LOG_BACKEND_H */
