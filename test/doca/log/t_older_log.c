/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_log as programs of DOCA 1.2 to 2.2 see it. */

#define DOCA_LOGGING_ALLOW_DLOG

#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

#include <doca_log.h>

#include "common/result.h"
#include "t_main.h"

DOCA_LOG_REGISTER(OLDER::PROGRAM)

static char record[4096], seen[4096];
static unsigned int nb_seen;

static void
see(char *buf)
{
	snprintf(seen, sizeof(seen), "%s", buf);
	nb_seen++;
}

static struct doca_logger_backend *
create_seen(void)
{
	struct doca_logger_backend *b = NULL;

	T_OK(doca_log_create_buffer_backend(record, sizeof(record), see, &b));
	T_CHECK(b != NULL);
	return b;
}

T_CASE(messages)
{
	static int source;

	create_seen();
	T_OK(doca_log_source_register("MINE", &source));
	T_OK(doca_log(DOCA_LOG_LEVEL_INFO, source, 12, "a %s %d", "text", 3));
	T_STR_HAS(seen, "[MINE][INF][?:12][?] a text 3\n");
	T_OK(doca_log_developer(DOCA_LOG_LEVEL_ERROR, source, 13, "%d", 4));
	T_STR_HAS(seen, "[MINE][ERR][?:13][?] 4\n");
	T_EQ(nb_seen, 2);
	T_INVALID(doca_log(0, source, 1, "x"));
	T_INVALID(doca_log(DOCA_LOG_LEVEL_INFO + 1, source, 1, "x"));
	T_INVALID(doca_log(DOCA_LOG_LEVEL_INFO, 1000, 1, "x"));
	T_OK(doca_log(DOCA_LOG_LEVEL_DEBUG, source, 1, "x"));
	T_OK(doca_log_source_destroy(source));
	T_INVALID(doca_log_source_destroy(source));
	T_INVALID(doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "x"));
	T_REFUSES_NULL(doca_log_source_register, "MINE", &source);
	T_EQ(nb_seen, 2);
}

#define SEEN(level, text) T_STR_HAS(seen, "[OLDER::PROGRAM][" level "]"); T_STR_HAS(seen, text)

T_CASE(macros)
{
	create_seen();
	T_OK(doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG));
	DOCA_LOG(WARNING, "%d", 1);
	SEEN("WRN", " 1\n");
	DOCA_LOG_CRIT("%d", 2);
	SEEN("CRT", " 2\n");
	DOCA_LOG_ERR("%d", 3);
	SEEN("ERR", " 3\n");
	DOCA_LOG_WARN("%d", 4);
	SEEN("WRN", " 4\n");
	DOCA_LOG_INFO("five");
	SEEN("INF", " five\n");
	DOCA_LOG_DBG("%d", 6);
	SEEN("DBG", " 6\n");
	DOCA_DLOG(ERROR, "%d", 7);
	SEEN("ERR", " 7\n");
	DOCA_DLOG_CRIT("%d", 8);
	SEEN("CRT", " 8\n");
	DOCA_DLOG_ERR("%d", 9);
	SEEN("ERR", " 9\n");
	DOCA_DLOG_WARN("%d", 10);
	SEEN("WRN", " 10\n");
	DOCA_DLOG_INFO("%d", 11);
	SEEN("INF", " 11\n");
	DOCA_DLOG_DBG("%d", 12);
	SEEN("DBG", " 12\n");
	T_EQ(nb_seen, 12);
}

T_CASE(levels)
{
	struct doca_logger_backend *b;

	T_EQ(doca_log_global_level_get(), DOCA_LOG_LEVEL_INFO);
	b = create_seen();
	T_OK(doca_log_backend_level_set(b, DOCA_LOG_LEVEL_ERROR));
	DOCA_LOG_WARN("no");
	T_EQ(nb_seen, 0);
	DOCA_LOG_ERR("yes");
	T_EQ(nb_seen, 1);
	T_OK(doca_log_global_level_set(DOCA_LOG_LEVEL_CRIT));
	T_EQ(doca_log_global_level_get(), DOCA_LOG_LEVEL_CRIT);
	DOCA_LOG_ERR("no");
	T_EQ(nb_seen, 1);
	T_INVALID(doca_log_global_level_set(35));
	T_INVALID(doca_log_backend_level_set(b, 35));
	T_INVALID(doca_log_backend_level_set(NULL, 30));
}

/* What a stream or descriptor got. */
static const char *
written(FILE *file)
{
	size_t n;

	rewind(file);
	n = fread(seen, 1, sizeof(seen) - 1, file);
	seen[n] = '\0';
	return seen;
}

T_CASE(backends)
{
	struct doca_logger_backend *b;
	FILE *file = tmpfile(), *other = tmpfile();
	char buf[2];

	T_CHECK(file != NULL && other != NULL);
	T_OK(doca_log_create_file_backend(file, &b));
	T_OK(doca_log_create_fd_backend(fileno(other), &b));
	T_OK(doca_log_create_syslog_backend("t_older_log", &b));
	DOCA_LOG_INFO("for all");
	T_STR_HAS(written(file), "for all\n");
	T_STR_HAS(written(other), "for all\n");
	closelog();
	T_REFUSES_NULL(doca_log_create_file_backend, file, &b);
	T_INVALID(doca_log_create_fd_backend(-1, &b));
	T_INVALID(doca_log_create_fd_backend(1, NULL));
	T_REFUSES_NULL(doca_log_create_syslog_backend, "x", &b);
	T_INVALID(doca_log_create_buffer_backend(NULL, 2, see, &b));
	T_INVALID(doca_log_create_buffer_backend(buf, 1, see, &b));
	T_INVALID(doca_log_create_buffer_backend(buf, 2, NULL, &b));
	T_INVALID(doca_log_create_buffer_backend(buf, 2, see, NULL));
	/* The backends still have the stream and the descriptor. */
}

T_CASE(standard)
{
	T_OK(doca_log_create_standard_backend());
	T_OK(doca_log_create_standard_backend());
	DOCA_LOG_INFO("to stdout");
}
