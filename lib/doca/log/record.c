/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Log calls of programs and of the library: each formats its message as a record, a line
 * with time and origin, and passes it to the backends.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log/backend.h"
#include "log/log.h"
#include "log/source.h"

/* Source name of the library's messages. */
#define LIBRARY "COMCH"

/* Origin of a message. */
struct origin {
	const char *source;
	const char *file;
	int line;
	const char *func;
};

static const char *const level_names[] = {
	[DOCA_LOG_LEVEL_CRIT / 10] = "CRT",
	[DOCA_LOG_LEVEL_ERROR / 10] = "ERR",
	[DOCA_LOG_LEVEL_WARNING / 10] = "WRN",
	[DOCA_LOG_LEVEL_INFO / 10] = "INF",
	[DOCA_LOG_LEVEL_DEBUG / 10] = "DBG",
	[DOCA_LOG_LEVEL_TRACE / 10] = "TRC",
};

/* Format the text and remove a newline at its end. NULL: out of memory. */
__attribute__((format(printf, 1, 0)))
static char *
format_text(const char *format, va_list args)
{
	char *text;
	int len = vasprintf(&text, format, args);

	if (len < 0)
		return NULL;
	if (len > 0 && text[len - 1] == '\n')
		text[len - 1] = '\0';
	return text;
}

/* Format the whole line. Returns its length, or -1. */
static int
format_record(char **record, uint32_t level, const struct origin *from, const char *text)
{
	const char *slash = strrchr(from->file, '/');
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	return asprintf(record, "[%02d:%02d:%02d:%06ld][%d][%s][%s][%s:%d][%s] %s\n",
		tm.tm_hour, tm.tm_min, tm.tm_sec, now.tv_nsec / 1000, (int)getpid(),
		from->source, level_names[level / 10],
		slash != NULL ? slash + 1 : from->file, from->line, from->func, text);
}

__attribute__((format(printf, 4, 0)))
static doca_error_t
log_record(bool sdk, uint32_t level, const struct origin *from, const char *format,
		va_list args)
{
	doca_error_t result;
	char *text, *record;
	int len;

	text = format_text(format, args);
	if (text == NULL)
		return DOCA_ERROR_NO_MEMORY;
	len = format_record(&record, level, from, text);
	free(text);
	if (len < 0)
		return DOCA_ERROR_NO_MEMORY;
	result = impl_backend_write(sdk, level, record, len);
	free(record);
	return result;
}

/* A message of the program, whose source name is not looked up yet. */
__attribute__((format(printf, 4, 0)))
static doca_error_t
log_program(uint32_t level, int source, struct origin *from, const char *format, va_list args)
{
	doca_error_t result;
	char *name;

	if (!impl_backend_is_level(level) || from->file == NULL || from->func == NULL ||
			format == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!impl_backend_wants(false, level))
		return DOCA_SUCCESS;
	name = impl_source_name(source);
	if (name == NULL)
		return errno == EINVAL ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_NO_MEMORY;
	from->source = name;
	result = log_record(false, level, from, format, args);
	free(name);
	return result;
}

doca_error_t
doca_log(uint32_t level, int source, const char *fname, int line, const char *func,
		const char *format, ...)
{
	struct origin from = { .file = fname, .line = line, .func = func };
	doca_error_t result;
	va_list args;

	va_start(args, format);
	result = log_program(level, source, &from, format, args);
	va_end(args);
	return result;
}

doca_error_t doca_log_105(uint32_t level, int source, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* doca_log() until DOCA 2.2, without file and function. */
doca_error_t
doca_log_105(uint32_t level, int source, int line, const char *format, ...)
{
	struct origin from = { .file = "?", .line = line, .func = "?" };
	doca_error_t result;
	va_list args;

	va_start(args, format);
	result = log_program(level, source, &from, format, args);
	va_end(args);
	return result;
}

bool
impl_log_wanted(uint32_t level)
{
	return impl_backend_wants(true, level);
}

void
impl_vlog(uint32_t level, const char *file, int line, const char *func, const char *format,
		va_list args)
{
	/* Logging must not change the caller's errno. */
	const int err = errno;

	if (impl_log_wanted(level))
		log_record(true, level, &(struct origin){ LIBRARY, file, line, func },
			format, args);
	errno = err;
}

void
impl_log(uint32_t level, const char *file, int line, const char *func, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	impl_vlog(level, file, line, func, format, args);
	va_end(args);
}
