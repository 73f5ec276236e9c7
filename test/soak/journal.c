/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "boss.h"

static FILE *journal;
static bool has_progress;
static uint32_t nb_said;

void
journal_open(const char *path)
{
	if (path == NULL)
		return;
	journal = fopen(path, "ae");
	if (journal == NULL)
		T_FAIL("%s: %s", path, strerror(errno));
}

static void
progress_end(void)
{
	if (has_progress)
		fputs("\r\033[K", stdout);
	has_progress = false;
}

void
journal_line(const char *fmt, ...)
{
	const time_t now = time(NULL);
	char text[1024], when[32];
	struct tm tm;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	progress_end();
	printf("%s %s\n", when, text);
	fflush(stdout);
	if (journal == NULL)
		return;
	fprintf(journal, "%s %s\n", when, text);
	/* What is written is there after any crash. */
	fflush(journal);
}

void
journal_progress(const char *fmt, ...)
{
	va_list ap;

	if (!isatty(STDOUT_FILENO))
		return;
	progress_end();
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	fflush(stdout);
	has_progress = true;
}

void
journal_faults(struct soak_books *b)
{
	while (nb_said < SOAK_FAULTS && soak_get(&b->faults[nb_said][0]) != '\0')
		journal_line("FAILED: %s", b->faults[nb_said++]);
}
