/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Collects rows, writes their files, and runs gnuplot. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app_text.h"
#include "plot/plot.h"

struct plot {
	char dir[PATH_MAX - 64];
	char setting[512];
	struct report_row *rows;
	uint32_t nb_rows;
	bool failed;
};

/* Run gnuplot in the directory. @return 0 or a negative errno */
static int
run_gnuplot(const char *dir, const char *argument)
{
	char *const argv[] = {
		(char *)(uintptr_t)"gnuplot", (char *)(uintptr_t)argument, NULL,
	};
	posix_spawn_file_actions_t actions;
	int status = 0;
	pid_t pid;
	int rc;

	rc = posix_spawn_file_actions_init(&actions);
	if (rc != 0)
		return -rc;
	rc = posix_spawn_file_actions_addchdir_np(&actions, dir);
	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
				O_WRONLY, 0);
	if (rc == 0)
		rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc != 0)
		return -rc;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	/* posix_spawnp() may report only like this that there is no such program. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* "Intel(R) Xeon(R)", or an empty text. */
static void
cpu_model(char *buf, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];
	const char *colon;

	buf[0] = '\0';
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) != 0 || colon == NULL)
			continue;
		app_printable(colon + 2, strcspn(colon + 2, "\n"), buf, size);
		break;
	}
	if (f != NULL)
		fclose(f);
}

struct plot *
plot_open(const char *dir, const char *setting)
{
	struct plot *plot = calloc(1, sizeof(*plot));
	time_t now = time(NULL);
	char cpu[128], date[16];
	struct tm tm;
	int rc;

	if (plot == NULL)
		return NULL;
	snprintf(plot->dir, sizeof(plot->dir), "%s", dir);
	cpu_model(cpu, sizeof(cpu));
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &tm));
	snprintf(plot->setting, sizeof(plot->setting), "%s%s%s, %s", setting,
			cpu[0] != '\0' ? ", " : "", cpu, date);
	if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
		fprintf(stderr, "comch-perf: create --plot %s: %s\n", dir, strerror(errno));
		goto err;
	}
	rc = run_gnuplot(dir, "--version");
	if (rc == 0)
		return plot;
	fprintf(stderr, "comch-perf: --plot: run gnuplot in %s: %s%s\n", dir, strerror(-rc),
			rc == -ENOENT ? " (Debian package gnuplot-nox)" : "");
err:
	free(plot);
	return NULL;
}

void
plot_row(struct plot *plot, const struct report_row *row)
{
	struct report_row *rows, *r;
	struct hist *copy;

	if (row->error[0] != '\0' || row->errors > 0)
		return;
	rows = realloc(plot->rows, (plot->nb_rows + 1) * sizeof(*rows));
	if (rows == NULL) {
		plot->failed = true;
		return;
	}
	plot->rows = rows;
	r = &rows[plot->nb_rows++];
	*r = *row;
	if (row->hist == NULL)
		return;
	copy = malloc(sizeof(*copy));
	if (copy != NULL)
		*copy = *row->hist;
	r->hist = copy;
}

/* Open DIR/NAME.SUFFIX. */
static FILE *
open_file(struct plot *plot, const char *name, const char *suffix)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.%s", plot->dir, name, suffix);
	f = fopen(path, "we");
	if (f == NULL) {
		fprintf(stderr, "comch-perf: create %s: %s\n", path, strerror(errno));
		plot->failed = true;
	}
	return f;
}

static void
close_file(struct plot *plot, FILE *f)
{
	if (f != NULL && fclose(f) != 0) {
		fprintf(stderr, "comch-perf: write to %s: %s\n", plot->dir, strerror(errno));
		plot->failed = true;
	}
}

/* Draw NAME.svg and NAME.png from its files. */
static void
draw(struct plot *plot, const char *name)
{
	char script[80];
	int rc;

	if (plot->failed)
		return;
	snprintf(script, sizeof(script), "%s.gnuplot", name);
	rc = run_gnuplot(plot->dir, script);
	if (rc == 0) {
		fprintf(stderr, "comch-perf: drew %s/%s.svg and .png\n", plot->dir, name);
		return;
	}
	fprintf(stderr, "comch-perf: gnuplot %s/%s: %s\n", plot->dir, script, strerror(-rc));
	plot->failed = true;
}

static void
draw_test(struct plot *plot, const struct report_row *rows, uint32_t nb)
{
	const char *name = rows->test->name;
	FILE *csv = open_file(plot, name, "csv"), *script = open_file(plot, name, "gnuplot");

	if (csv != NULL)
		chart_csv(csv, rows, nb);
	if (script != NULL)
		chart_script(script, name, plot->setting, rows, nb);
	close_file(plot, csv);
	close_file(plot, script);
	draw(plot, name);
}

static void
draw_histogram(struct plot *plot, const struct report_row *row)
{
	char name[64];
	FILE *csv, *script;

	snprintf(name, sizeof(name), "%s-histogram", row->test->name);
	csv = open_file(plot, name, "csv");
	script = open_file(plot, name, "gnuplot");
	if (csv != NULL)
		chart_histogram_csv(csv, row);
	if (script != NULL)
		chart_histogram_script(script, name, plot->setting, row);
	close_file(plot, csv);
	close_file(plot, script);
	draw(plot, name);
}

/* The row whose round trips are shown: of 64 bytes, or else the first. */
static const struct report_row *
find_histogram(const struct report_row *rows, uint32_t nb)
{
	const struct report_row *found = NULL;
	uint32_t i;

	for (i = 0; i < nb; i++) {
		if (rows[i].hist == NULL || rows[i].hist->count == 0)
			continue;
		if (found == NULL || (rows[i].params.size == 64 && found->params.size != 64))
			found = &rows[i];
	}
	return found;
}

/* A test's rows follow each other. */
static void
draw_all(struct plot *plot)
{
	const struct report_row *histogram;
	uint32_t i, end;

	for (i = 0; i < plot->nb_rows; i = end) {
		for (end = i; end < plot->nb_rows && plot->rows[end].test == plot->rows[i].test;
				end++)
			;
		if (perf_test_is_floor(plot->rows[i].test))
			continue;
		draw_test(plot, &plot->rows[i], end - i);
		histogram = find_histogram(&plot->rows[i], end - i);
		if (histogram != NULL)
			draw_histogram(plot, histogram);
	}
}

int
plot_close(struct plot *plot)
{
	uint32_t i;
	int rc;

	draw_all(plot);
	rc = plot->failed ? -EIO : 0;
	for (i = 0; i < plot->nb_rows; i++)
		free((void *)(uintptr_t)plot->rows[i].hist);
	free(plot->rows);
	free(plot);
	return rc;
}
