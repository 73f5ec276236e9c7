/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Backends that write to a file, a descriptor, a buffer with a handler, or syslog. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include <rte_common.h>

#include "log/backend.h"

static doca_error_t
write_file(const struct doca_log_backend *b, uint32_t level, const char *record, size_t len)
{
	RTE_SET_USED(level);
	if (fwrite(record, 1, len, b->file) != len || fflush(b->file) != 0)
		return DOCA_ERROR_IO_FAILED;
	return DOCA_SUCCESS;
}

static doca_error_t
write_fd(const struct doca_log_backend *b, uint32_t level, const char *record, size_t len)
{
	ssize_t n;

	RTE_SET_USED(level);
	/* A pipe may accept only a part of a long record. */
	while (len > 0) {
		n = write(b->fd, record, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return DOCA_ERROR_IO_FAILED;
		record += n;
		len -= n;
	}
	return DOCA_SUCCESS;
}

static doca_error_t
write_buf(const struct doca_log_backend *b, uint32_t level, const char *record, size_t len)
{
	RTE_SET_USED(level);
	len = RTE_MIN(len, b->buf.capacity - 1);
	memcpy(b->buf.data, record, len);
	b->buf.data[len] = '\0';
	b->buf.handler(b->buf.data);
	return DOCA_SUCCESS;
}

static doca_error_t
write_syslog(const struct doca_log_backend *b, uint32_t level, const char *record, size_t len)
{
	static const int priorities[] = {
		[DOCA_LOG_LEVEL_CRIT / 10] = LOG_CRIT,
		[DOCA_LOG_LEVEL_ERROR / 10] = LOG_ERR,
		[DOCA_LOG_LEVEL_WARNING / 10] = LOG_WARNING,
		[DOCA_LOG_LEVEL_INFO / 10] = LOG_INFO,
		[DOCA_LOG_LEVEL_DEBUG / 10] = LOG_DEBUG,
		[DOCA_LOG_LEVEL_TRACE / 10] = LOG_DEBUG,
	};

	RTE_SET_USED(b);
	/* syslog adds the newline. */
	syslog(priorities[level / 10], "%.*s", (int)(len - 1), record);
	return DOCA_SUCCESS;
}

/* Add a copy of the backend. */
static doca_error_t
create(const struct doca_log_backend *filled, struct doca_log_backend **backend)
{
	struct doca_log_backend *b = malloc(sizeof(*b));

	if (b == NULL)
		return DOCA_ERROR_NO_MEMORY;
	*b = *filled;
	impl_backend_add(b);
	*backend = b;
	return DOCA_SUCCESS;
}

static doca_error_t
create_file(FILE *file, bool sdk, struct doca_log_backend **backend)
{
	const struct doca_log_backend b = {
		.write = write_file, .file = file, .sdk = sdk, .last = DOCA_LOG_LEVEL_TRACE,
	};

	if (file == NULL || backend == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return create(&b, backend);
}

static doca_error_t
create_fd(int fd, bool sdk, struct doca_log_backend **backend)
{
	const struct doca_log_backend b = {
		.write = write_fd, .fd = fd, .sdk = sdk, .last = DOCA_LOG_LEVEL_TRACE,
	};

	if (fd < 0 || backend == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return create(&b, backend);
}

static doca_error_t
create_buf(char *buf, size_t capacity, log_flush_callback handler, bool sdk,
		struct doca_log_backend **backend)
{
	const struct doca_log_backend b = {
		.write = write_buf, .buf = { buf, capacity, handler }, .sdk = sdk,
		.last = DOCA_LOG_LEVEL_TRACE,
	};

	if (buf == NULL || capacity < 2 || handler == NULL || backend == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return create(&b, backend);
}

static doca_error_t
create_syslog(const char *name, bool sdk, struct doca_log_backend **backend)
{
	static char *ident;
	static pthread_mutex_t ident_lock = PTHREAD_MUTEX_INITIALIZER;
	const struct doca_log_backend b = {
		.write = write_syslog, .sdk = sdk, .last = DOCA_LOG_LEVEL_TRACE,
	};
	char *copy;
	doca_error_t result;

	if (name == NULL || backend == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	copy = strdup(name);
	if (copy == NULL)
		return DOCA_ERROR_NO_MEMORY;
	result = create(&b, backend);
	if (result != DOCA_SUCCESS) {
		free(copy);
		return result;
	}
	pthread_mutex_lock(&ident_lock);
	/* syslog keeps the pointer, so free the previous one after this. */
	openlog(copy, LOG_PID, LOG_USER);
	free(ident);
	ident = copy;
	pthread_mutex_unlock(&ident_lock);
	return DOCA_SUCCESS;
}

doca_error_t
doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend)
{
	return create_file(fptr, false, backend);
}

doca_error_t
doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend)
{
	return create_file(fptr, true, backend);
}

doca_error_t
doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend)
{
	return create_fd(fd, false, backend);
}

doca_error_t
doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend)
{
	return create_fd(fd, true, backend);
}

doca_error_t
doca_log_backend_create_with_buf(char *buf, size_t capacity, log_flush_callback handler,
		struct doca_log_backend **backend)
{
	return create_buf(buf, capacity, handler, false, backend);
}

doca_error_t
doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity, log_flush_callback handler,
		struct doca_log_backend **backend)
{
	return create_buf(buf, capacity, handler, true, backend);
}

doca_error_t
doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend)
{
	return create_syslog(name, false, backend);
}

doca_error_t
doca_log_backend_create_with_syslog_sdk(const char *name, struct doca_log_backend **backend)
{
	return create_syslog(name, true, backend);
}

doca_error_t
doca_log_backend_create_standard(void)
{
	static struct doca_log_backend standard[] = {
		{ .write = write_file, .last = DOCA_LOG_LEVEL_WARNING },
		{ .write = write_file, .first = DOCA_LOG_LEVEL_INFO, .last = DOCA_LOG_LEVEL_TRACE },
	};
	static bool created;

	if (__atomic_exchange_n(&created, true, __ATOMIC_ACQ_REL))
		return DOCA_SUCCESS;
	standard[0].file = stderr;
	standard[1].file = stdout;
	impl_backend_add(&standard[0]);
	impl_backend_add(&standard[1]);
	return DOCA_SUCCESS;
}

doca_error_t
doca_log_create_standard_backend(void)
{
	return doca_log_backend_create_standard();
}
