/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Log and trace lines of device code, to files or to the program's log.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dpa/core.h"
#include "log/log.h"

DOCA_LOG_REGISTER(DPA);

doca_error_t
impl_dpa_copy_text(const char *text, char *room, uint32_t *size)
{
	const uint32_t given = size == NULL ? 0 : *size, need = (uint32_t)strlen(text) + 1;

	if (size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*size = need;
	if (room == NULL)
		return DOCA_SUCCESS;
	if (given < need)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(room, text, need);
	return DOCA_SUCCESS;
}

/* The program's stdout or stderr; NULL for any other path. */
static FILE *
standard_stream(const char *path)
{
	if (strcmp(path, "stdout") == 0)
		return stdout;
	return strcmp(path, "stderr") == 0 ? stderr : NULL;
}

doca_error_t
impl_dpa_sink_open(struct impl_dpa_sink *sink)
{
	if (sink->path == NULL)
		return DOCA_SUCCESS;
	sink->file = standard_stream(sink->path);
	if (sink->file == NULL)
		sink->file = fopen(sink->path, "we");
	if (sink->file != NULL)
		return DOCA_SUCCESS;
	IMPL_ERR("DPA: open %s for log or trace lines: %s", sink->path, strerror(errno));
	return DOCA_ERROR_DRIVER;
}

void
impl_dpa_sink_close(struct impl_dpa_sink *sink)
{
	if (sink->file == NULL)
		return;
	if (sink->file == stdout || sink->file == stderr)
		fflush(sink->file);
	else
		fclose(sink->file);
	sink->file = NULL;
}

void
impl_dpa_sink_fini(struct impl_dpa_sink *sink)
{
	impl_dpa_sink_close(sink);
	free(sink->path);
}

static doca_error_t
set_path(struct doca_dpa *dpa, struct impl_dpa_sink *sink, const char *path)
{
	char *copy;

	if (path == NULL || path[0] == '\0')
		return DOCA_ERROR_INVALID_VALUE;
	if (dpa->root != dpa)
		return DOCA_ERROR_NOT_PERMITTED;
	if (impl_dpa_is_started(dpa))
		return DOCA_ERROR_BAD_STATE;
	copy = strdup(path);
	if (copy == NULL)
		return DOCA_ERROR_NO_MEMORY;
	free(sink->path);
	sink->path = copy;
	return DOCA_SUCCESS;
}

static const char *
get_path(const struct impl_dpa_sink *sink)
{
	return sink->path == NULL ? "" : sink->path;
}

doca_error_t
doca_dpa_log_file_set_path(struct doca_dpa *dpa, const char *file_path)
{
	return dpa == NULL ? DOCA_ERROR_INVALID_VALUE : set_path(dpa, &dpa->log, file_path);
}

doca_error_t
doca_dpa_log_file_get_path(struct doca_dpa *dpa, char *file_path, uint32_t *file_path_len)
{
	return dpa == NULL ? DOCA_ERROR_INVALID_VALUE :
		impl_dpa_copy_text(get_path(&dpa->root->log), file_path, file_path_len);
}

doca_error_t
doca_dpa_trace_file_set_path(struct doca_dpa *dpa, const char *file_path)
{
	return dpa == NULL ? DOCA_ERROR_INVALID_VALUE : set_path(dpa, &dpa->trace, file_path);
}

doca_error_t
doca_dpa_trace_file_get_path(struct doca_dpa *dpa, char *file_path, uint32_t *file_path_len)
{
	return dpa == NULL ? DOCA_ERROR_INVALID_VALUE :
		impl_dpa_copy_text(get_path(&dpa->root->trace), file_path, file_path_len);
}

/* The calling thread. The device call ends here, as writing a line uses no objects. */
static const struct impl_dpa_self *
pass(void)
{
	struct impl_dpa_self *self = impl_dpa_enter();

	impl_dpa_leave(self);
	return self;
}

static const char *
name_of(const struct impl_dpa_self *self)
{
	return self->func == NULL ? "host" : self->func->name;
}

static unsigned int
rank_of(const struct impl_dpa_self *self)
{
	return atomic_load_explicit(&self->rank, memory_order_relaxed);
}

/* Write a line to the program's log, with source [dpa-KERNEL:RANK][KERNEL]. */
static void
to_program(const struct impl_dpa_self *self, uint32_t level, const char *text)
{
	char from[64];

	snprintf(from, sizeof(from), "dpa-%s", name_of(self));
	doca_log(level, log_source, from, (int)rank_of(self), name_of(self), "%s", text);
}

static void
to_file(FILE *file, const struct impl_dpa_self *self, uint32_t level, const char *text)
{
	const char *mark = level <= DOCA_LOG_LEVEL_ERROR ? "ERR" :
		level <= DOCA_LOG_LEVEL_WARNING ? "WRN" :
		level <= DOCA_LOG_LEVEL_INFO ? "INF" : "DBG";

	fprintf(file, "[%s][dpa-%s:%u] %s\n", mark, name_of(self), rank_of(self), text);
	fflush(file);
}

/* Levels of device code have the values of the program's log levels. */
static bool
is_wanted(const struct impl_dpa_self *self, uint32_t level)
{
	return level > DOCA_DPA_DEV_LOG_LEVEL_DISABLE && (self->dpa == NULL ||
		level <= atomic_load_explicit(&self->dpa->root->level, memory_order_relaxed));
}

void
doca_dpa_dev_log(doca_dpa_dev_log_level_t log_level, const char *format, ...)
{
	const struct impl_dpa_self *self = pass();
	va_list args;
	char *text;
	int len;

	if (format == NULL || !is_wanted(self, log_level))
		return;
	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return;
	if (len > 0 && text[len - 1] == '\n')
		text[len - 1] = '\0';
	if (self->dpa != NULL && self->dpa->root->log.file != NULL)
		to_file(self->dpa->root->log.file, self, log_level, text);
	else
		to_program(self, log_level, text);
	free(text);
}

void
doca_dpa_dev_trace(uint64_t arg1, uint64_t arg2, uint64_t arg3, uint64_t arg4, uint64_t arg5)
{
	const struct impl_dpa_self *self = pass();
	char text[160];

	snprintf(text, sizeof(text), "trace 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64
		" 0x%" PRIx64, arg1, arg2, arg3, arg4, arg5);
	/* doca_dpa_dev_trace_flush() flushes the file. */
	if (self->dpa != NULL && self->dpa->root->trace.file != NULL)
		fprintf(self->dpa->root->trace.file, "[dpa-%s:%u] %s\n", name_of(self),
			rank_of(self), text);
	else
		to_program(self, DOCA_LOG_LEVEL_DEBUG, text);
}

void
doca_dpa_dev_trace_flush(void)
{
	const struct impl_dpa_self *self = pass();

	if (self->dpa != NULL && self->dpa->root->trace.file != NULL)
		fflush(self->dpa->root->trace.file);
}
