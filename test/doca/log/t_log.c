/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_log: sources, limits, backends, records, and the library's own messages. */

#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

#include <doca_log.h>

#include "common/child.h"
#include "common/result.h"
#include "log/log_forms.h"
#include "t_main.h"

#include "log/log.h"

DOCA_LOG_REGISTER(T_LOG)

static const uint32_t levels[] = {
	DOCA_LOG_LEVEL_CRIT, DOCA_LOG_LEVEL_ERROR, DOCA_LOG_LEVEL_WARNING,
	DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_DEBUG, DOCA_LOG_LEVEL_TRACE,
};
static const uint32_t bad_levels[] = { 0, 9, 35, 71, 80, UINT32_MAX };

/* A backend that keeps its last record. */
static char record[4096], seen[4096];
static unsigned int nb_seen;

static void
see(char *buf)
{
	T_CHECK(buf == record);
	snprintf(seen, sizeof(seen), "%s", buf);
	nb_seen++;
}

static struct doca_log_backend *
create_seen(void)
{
	struct doca_log_backend *b = NULL;

	T_OK(doca_log_backend_create_with_buf(record, sizeof(record), see, &b));
	return b;
}

static struct doca_log_backend *
create_seen_sdk(void)
{
	struct doca_log_backend *b = NULL;

	T_OK(doca_log_backend_create_with_buf_sdk(record, sizeof(record), see, &b));
	return b;
}

/* Which levels are shown, as bits from CRIT on. */
static unsigned int
shown(void)
{
	unsigned int i, before, bits = 0;

	for (i = 0; i < RTE_DIM(levels); i++) {
		before = nb_seen;
		T_OK(DOCA_LOG(levels[i], "level %u", levels[i]));
		bits |= (nb_seen - before) << i;
	}
	return bits;
}

static unsigned int
shown_sdk(void)
{
	unsigned int i, before, bits = 0;

	for (i = 0; i < RTE_DIM(levels); i++) {
		before = nb_seen;
		impl_log(levels[i], __FILE__, __LINE__, __func__, "level %u", levels[i]);
		bits |= (nb_seen - before) << i;
	}
	return bits;
}

T_CASE(sources)
{
	int a = 0, b = 0, c = 0;

	T_GT(log_source, 0);
	T_REFUSES_NULL(doca_log_register_source, "A", &a);
	T_OK(doca_log_register_source("A", &a));
	T_OK(doca_log_register_source("A", &b));
	T_NE(a, b);
	create_seen();
	T_OK(doca_log(DOCA_LOG_LEVEL_INFO, a, "f.c", 1, "fn", "text"));
	T_STR_HAS(seen, "[A][INF][f.c:1][fn] text\n");
	T_OK(doca_log_unregister_source(a));
	T_INVALID(doca_log_unregister_source(a));
	T_INVALID(doca_log_unregister_source(0));
	T_INVALID(doca_log_unregister_source(-1));
	T_INVALID(doca_log_unregister_source(1 << 20));
	T_INVALID(doca_log(DOCA_LOG_LEVEL_INFO, a, "f.c", 1, "fn", "text"));
	T_OK(doca_log_register_source("\"C\"", &c));
	T_OK(doca_log(DOCA_LOG_LEVEL_INFO, c, "f.c", 1, "fn", "text"));
	T_STR_HAS(seen, "[C]");
	T_OK(doca_log_unregister_source(b));
	T_OK(doca_log_unregister_source(c));
}

/* behaviour: G3 */
T_CASE(register_forms)
{
	unsigned int i;

	create_seen();
	for (i = 0; i < nb_log_forms; i++) {
		nb_seen = 0;
		log_forms[i].log();
		T_EQ(nb_seen, 1);
		T_STR_HAS(seen, log_forms[i].source);
		T_STR_HAS(seen, "] hello 1\n");
	}
	T_GE(i, 3);
}

T_CASE(bad_arguments)
{
	struct doca_log_backend *b = create_seen();
	unsigned int i;

	for (i = 0; i < RTE_DIM(bad_levels); i++) {
		const uint32_t bad = bad_levels[i];

		T_INVALID(doca_log_backend_set_level_lower_limit(b, bad));
		T_INVALID(doca_log_backend_set_level_upper_limit(b, bad));
		T_INVALID(doca_log_level_set_global_lower_limit(bad));
		T_INVALID(doca_log_level_set_global_upper_limit(bad));
		T_INVALID(doca_log_level_set_global_sdk_limit(bad));
		T_INVALID(DOCA_LOG(bad, "no"));
	}
	T_INVALID(DOCA_LOG(DOCA_LOG_LEVEL_DISABLE, "no"));
	T_INVALID(doca_log(DOCA_LOG_LEVEL_INFO, log_source, NULL, 1, "fn", "x"));
	T_INVALID(doca_log(DOCA_LOG_LEVEL_INFO, log_source, "f", 1, NULL, "x"));
	T_INVALID(doca_log(DOCA_LOG_LEVEL_INFO, log_source, "f", 1, "fn", NULL));
	T_INVALID(doca_log_backend_set_level_lower_limit(NULL, 50));
	T_INVALID(doca_log_backend_set_level_upper_limit(NULL, 50));
	T_INVALID(doca_log_backend_set_level_lower_limit_strict(NULL));
	T_INVALID(doca_log_backend_set_level_upper_limit_strict(NULL));
	T_INVALID(doca_log_backend_set_sdk_level(NULL, 50));
}

T_CASE(bad_backends)
{
	struct doca_log_backend *b;
	char buf[2];

	T_REFUSES_NULL(doca_log_backend_create_with_file, stdout, &b);
	T_INVALID(doca_log_backend_create_with_file_sdk(NULL, &b));
	T_INVALID(doca_log_backend_create_with_fd(-1, &b));
	T_INVALID(doca_log_backend_create_with_fd(1, NULL));
	T_INVALID(doca_log_backend_create_with_fd_sdk(-1, &b));
	T_INVALID(doca_log_backend_create_with_buf(NULL, 9, see, &b));
	T_INVALID(doca_log_backend_create_with_buf(buf, 1, see, &b));
	T_INVALID(doca_log_backend_create_with_buf(buf, 2, NULL, &b));
	T_INVALID(doca_log_backend_create_with_buf(buf, 2, see, NULL));
	T_INVALID(doca_log_backend_create_with_buf_sdk(NULL, 9, see, &b));
	T_REFUSES_NULL(doca_log_backend_create_with_syslog, "x", &b);
	T_INVALID(doca_log_backend_create_with_syslog_sdk(NULL, &b));
	T_OK(DOCA_LOG(DOCA_LOG_LEVEL_CRIT, "to none"));
}

T_CASE(limits)
{
	struct doca_log_backend *b = create_seen();

	T_EQ(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_INFO);
	T_EQ(doca_log_level_get_global_upper_limit(), DOCA_LOG_LEVEL_CRIT);
	T_EQ(shown(), 0x0f);
	T_OK(doca_log_backend_set_level_lower_limit(b, DOCA_LOG_LEVEL_TRACE));
	T_EQ(shown(), 0x3f);
	T_OK(doca_log_backend_set_level_upper_limit(b, DOCA_LOG_LEVEL_WARNING));
	T_EQ(shown(), 0x3c);
	T_OK(doca_log_backend_set_level_lower_limit(b, DOCA_LOG_LEVEL_DISABLE));
	T_EQ(shown(), 0);
	/* The global ones change a backend that is there, and one to come. */
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG));
	T_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_ERROR));
	T_EQ(shown(), 0x1e);
	T_EQ(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_DEBUG);
	T_EQ(doca_log_level_get_global_upper_limit(), DOCA_LOG_LEVEL_ERROR);
	T_OK(doca_log_backend_set_level_lower_limit(b, DOCA_LOG_LEVEL_DISABLE));
	create_seen();
	T_EQ(shown(), 0x1e);
}

T_CASE(strict_limits)
{
	struct doca_log_backend *b = create_seen();

	T_OK(doca_log_backend_set_level_lower_limit_strict(b));
	T_IS(doca_log_backend_set_level_lower_limit(b, DOCA_LOG_LEVEL_DEBUG),
		DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	T_EQ(shown(), 0x0f);
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_WARNING));
	T_EQ(shown(), 0x07);
	T_OK(doca_log_backend_set_level_upper_limit(b, DOCA_LOG_LEVEL_ERROR));
	T_OK(doca_log_backend_set_level_upper_limit_strict(b));
	T_IS(doca_log_backend_set_level_upper_limit(b, DOCA_LOG_LEVEL_CRIT),
		DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_CRIT));
	T_EQ(shown(), 0x06);
	T_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_WARNING));
	T_EQ(shown(), 0x04);
}

T_CASE(sdk_limits)
{
	struct doca_log_backend *b;

	T_EQ(shown_sdk(), 0);
	T_EQ(impl_log_wanted(DOCA_LOG_LEVEL_CRIT), false);
	b = create_seen_sdk();
	T_EQ(impl_log_wanted(DOCA_LOG_LEVEL_INFO), true);
	T_EQ(impl_log_wanted(DOCA_LOG_LEVEL_DEBUG), false);
	T_EQ(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_INFO);
	T_EQ(shown_sdk(), 0x0f);
	T_EQ(shown(), 0);
	T_OK(doca_log_backend_set_sdk_level(b, DOCA_LOG_LEVEL_WARNING));
	T_EQ(shown_sdk(), 0x07);
	T_INVALID(doca_log_backend_set_sdk_level(b, 1));
	/* The program's limits are not the library's. */
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_CRIT));
	T_EQ(shown_sdk(), 0x07);
	T_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_TRACE));
	T_EQ(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_TRACE);
	T_EQ(shown_sdk(), 0x3f);
	T_INVALID(doca_log_backend_set_level_lower_limit(b, 50));
	T_INVALID(doca_log_backend_set_level_upper_limit(b, 50));
	T_INVALID(doca_log_backend_set_level_lower_limit_strict(b));
	T_INVALID(doca_log_backend_set_level_upper_limit_strict(b));
	T_INVALID(doca_log_backend_set_sdk_level(create_seen(), 50));
	T_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DISABLE));
	T_EQ(shown_sdk(), 0);
}

T_CASE(layout)
{
	static const char pattern[] = "^\\[[0-2][0-9]:[0-5][0-9]:[0-6][0-9]:[0-9]{6}\\]"
		"\\[[0-9]+\\]\\[T_LOG\\]\\[WRN\\]\\[t_log.c:[0-9]+\\]\\[layout\\] a 7 b\n$";
	char pid[32];
	regex_t re;

	create_seen();
	T_EQ(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	DOCA_LOG_WARN("a %d b", 7);
	T_EQ(regexec(&re, seen, 0, NULL, 0), 0);
	DOCA_LOG_WARN("a %d b\n", 7);
	T_EQ(regexec(&re, seen, 0, NULL, 0), 0);
	regfree(&re);
	snprintf(pid, sizeof(pid), "[%d]", (int)getpid());
	T_STR_HAS(seen, pid);
	T_OK(doca_log(DOCA_LOG_LEVEL_CRIT, log_source, "../a/b.c", 3, "g", "%s", ""));
	T_STR_HAS(seen, "[CRT][b.c:3][g] \n");
}

/* behaviour: G5 */
T_CASE(macros)
{
	int n = 0;

	create_seen();
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	DOCA_LOG_CRIT("%d", ++n);
	T_STR_HAS(seen, "[CRT]");
	DOCA_LOG_ERR("%d", ++n);
	T_STR_HAS(seen, "[ERR]");
	DOCA_LOG_INFO("plain");
	T_STR_HAS(seen, "[INF]");
	if (n > 0)
		DOCA_LOG_DBG("%d", ++n);
	else
		DOCA_LOG_CRIT("no");
	T_STR_HAS(seen, "[DBG]");
	T_EQ(n, 3);
	DOCA_LOG_TRC("%d", ++n);
	T_EQ(n, 3);
	T_STR_HAS(seen, "[DBG]");
	T_GETS(log_trace(&n), n, 4);
	T_STR_HAS(seen, "[TRC]");
	T_STR_HAS(seen, "step 4\n");
}

T_CASE(to_file_and_fd)
{
	static char text[100001], line[100200];
	struct doca_log_backend *b;
	int fds[2];
	FILE *file = tmpfile();
	ssize_t len;

	T_EQ(pipe(fds), 0);
	T_OK(doca_log_backend_create_with_fd(fds[1], &b));
	DOCA_LOG_INFO("to a pipe");
	len = read(fds[0], line, sizeof(line));
	T_GT(len, 0);
	T_EQ(line[len - 1], '\n');
	T_STR_HAS(line, "] to a pipe\n");
	T_OK(doca_log_backend_set_level_lower_limit(b, DOCA_LOG_LEVEL_DISABLE));
	/* A long text is whole, and on its way at once. */
	memset(text, 'x', sizeof(text) - 1);
	T_OK(doca_log_backend_create_with_file(file, &b));
	DOCA_LOG_INFO("%s", text);
	len = pread(fileno(file), line, sizeof(line) - 1, 0);
	T_GT(len, (ssize_t)sizeof(text));
	line[len] = '\0';
	T_CHECK(strstr(line, text) != NULL);
	T_EQ(line[len - 1], '\n');
}

T_CASE(io_fails)
{
	struct doca_log_backend *b;
	FILE *full = fopen("/dev/full", "w");
	int fds[2];

	T_EQ(pipe(fds), 0);
	T_OK(doca_log_backend_create_with_fd(fds[0], &b));
	T_IS(DOCA_LOG(DOCA_LOG_LEVEL_INFO, "to the wrong end"), DOCA_ERROR_IO_FAILED);
	T_OK(doca_log_backend_set_level_lower_limit(b, DOCA_LOG_LEVEL_DISABLE));
	T_CHECK(full != NULL);
	create_seen();
	T_OK(doca_log_backend_create_with_file(full, &b));
	create_seen();
	nb_seen = 0;
	T_IS(DOCA_LOG(DOCA_LOG_LEVEL_INFO, "no room"), DOCA_ERROR_IO_FAILED);
	T_EQ(nb_seen, 2); /* the others have it */
}

static char small[8];
static doca_error_t nested = DOCA_SUCCESS;

static void
see_small(char *buf)
{
	T_CHECK(buf == small);
	T_EQ(strlen(small), sizeof(small) - 1);
	T_EQ(small[0], '[');
	nested = DOCA_LOG(DOCA_LOG_LEVEL_INFO, "from within");
	/* Limits may be changed from here. */
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
}

T_CASE(small_buffer)
{
	struct doca_log_backend *b;

	T_OK(doca_log_backend_create_with_buf(small, sizeof(small), see_small, &b));
	T_OK(DOCA_LOG(DOCA_LOG_LEVEL_INFO, "longer than that"));
	T_IS(nested, DOCA_ERROR_IN_USE);
	T_EQ(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_ERROR);
}

/* Instead of libc's. */
static char syslog_name[32], syslog_text[256];
static int syslog_priority, syslog_facility;

void
openlog(const char *ident, int option, int facility)
{
	snprintf(syslog_name, sizeof(syslog_name), "%s", ident);
	T_EQ(option, LOG_PID);
	syslog_facility = facility;
}

void
syslog(int priority, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(syslog_text, sizeof(syslog_text), format, args);
	va_end(args);
	syslog_priority = priority;
}

T_CASE(to_syslog)
{
	static const int priorities[] = {
		LOG_CRIT, LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_DEBUG,
	};
	struct doca_log_backend *b;
	unsigned int i;

	T_OK(doca_log_backend_create_with_syslog("one", &b));
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	T_STR_EQ(syslog_name, "one");
	T_EQ(syslog_facility, LOG_USER);
	for (i = 0; i < RTE_DIM(levels); i++) {
		DOCA_LOG(levels[i], "number %u", i);
		T_EQ(syslog_priority, priorities[i]);
		T_STR_HAS(syslog_text, "] number ");
		T_CHECK(strchr(syslog_text, '\n') == NULL);
	}
	T_OK(doca_log_backend_create_with_syslog_sdk("two", &b));
	T_STR_EQ(syslog_name, "two");
	impl_log(DOCA_LOG_LEVEL_ERROR, "a.c", 1, "f", "ours");
	T_EQ(syslog_priority, LOG_ERR);
	T_STR_HAS(syslog_text, "[COMCH][ERR][a.c:1][f] ours");
}

static void
standard_messages(void)
{
	T_OK(doca_log_backend_create_standard());
	T_OK(doca_log_create_standard_backend());
	DOCA_LOG_CRIT("one");
	DOCA_LOG_ERR("two");
	DOCA_LOG_WARN("three");
	DOCA_LOG_INFO("four");
	DOCA_LOG_DBG("five");
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	DOCA_LOG_DBG("six");
	DOCA_LOG(DOCA_LOG_LEVEL_TRACE, "seven");
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
	DOCA_LOG_INFO("eight");
	DOCA_LOG_WARN("nine");
	DOCA_LOG_ERR("ten");
	impl_log(DOCA_LOG_LEVEL_CRIT, "a.c", 1, "f", "eleven");
}

/* The texts of records, with a space after each. */
static void
texts(const char *records, char *list)
{
	const char *text;

	while ((text = strstr(records, "] ")) != NULL) {
		records = text + 2;
		while (*records != '\n')
			*list++ = *records++;
		*list++ = ' ';
	}
	*list = '\0';
}

/* behaviour: G4 */
T_CASE(standard)
{
	static struct child_run run;
	char list[256];

	child_run(&run, standard_messages);
	T_EQ(run.status, 0);
	texts(run.err, list);
	T_STR_EQ(list, "one two three ten ");
	texts(run.out, list);
	T_STR_EQ(list, "four six seven ");
}

T_CASE(library_messages)
{
	struct doca_log_backend *b;
	FILE *file = tmpfile();
	char line[256];
	int fds[2];
	ssize_t len;

	IMPL_ERR("nobody listens");
	create_seen_sdk();
	errno = EXDEV;
	IMPL_ERR("%s %d", "text", 5);
	T_EQ(errno, EXDEV);
	T_STR_HAS(seen, "[COMCH][ERR][t_log.c:");
	T_STR_HAS(seen, "][library_messages] text 5\n");
	T_EQ(pipe(fds), 0);
	T_OK(doca_log_backend_create_with_fd_sdk(fds[1], &b));
	T_OK(doca_log_backend_create_with_file_sdk(file, &b));
	IMPL_WARN("two ways");
	len = read(fds[0], line, sizeof(line) - 1);
	T_GT(len, 0);
	line[len] = '\0';
	T_STR_HAS(line, "[WRN]");
	T_STR_HAS(line, "] two ways\n");
	T_EQ(pread(fileno(file), line, sizeof(line), 0), len);
}

#define NB_THREADS 4
#define MESSAGES 2000

static void *
log_many(void *arg)
{
	const int number = (int)(intptr_t)arg;
	int i, source;

	for (i = 0; i < MESSAGES; i++) {
		T_OK(doca_log_register_source("MANY", &source));
		T_OK(doca_log(DOCA_LOG_LEVEL_INFO, source, "f.c", 1, "f", "%d:%d", number, i));
		T_OK(doca_log_unregister_source(source));
		/* Between two levels that show it. */
		T_OK(doca_log_level_set_global_lower_limit(i % 2 == 0 ?
			DOCA_LOG_LEVEL_TRACE : DOCA_LOG_LEVEL_INFO));
		impl_log(DOCA_LOG_LEVEL_INFO, "f.c", 1, "f", "%d:%d", number, i);
	}
	return NULL;
}

static void
check_lines(FILE *file)
{
	int next[NB_THREADS] = { 0 }, number, i;
	char line[256];
	const char *text;

	rewind(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		text = strstr(line, "[f.c:1][f] ");
		T_CHECK(text != NULL);
		T_EQ(sscanf(text, "[f.c:1][f] %d:%d\n", &number, &i), 2);
		T_CHECK(number >= 0 && number < NB_THREADS);
		T_EQ(i, next[number]);
		next[number]++;
	}
	for (i = 0; i < NB_THREADS; i++)
		T_EQ(next[i], MESSAGES);
}

T_CASE(threads)
{
	struct doca_log_backend *b;
	pthread_t ids[NB_THREADS];
	FILE *file = tmpfile(), *sdk = tmpfile();
	unsigned int i;

	T_OK(doca_log_backend_create_with_file(file, &b));
	T_OK(doca_log_backend_create_with_fd_sdk(fileno(sdk), &b));
	for (i = 0; i < NB_THREADS; i++)
		T_EQ(pthread_create(&ids[i], NULL, log_many, (void *)(intptr_t)i), 0);
	for (i = 0; i < NB_THREADS; i++)
		T_EQ(pthread_join(ids[i], NULL), 0);
	check_lines(file);
	check_lines(sdk);
}
