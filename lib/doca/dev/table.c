/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Finding and reading the device table.
 */

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/string.h>
#include <ini.h>
#include <rte_common.h>

#include <comch_doca.h>
#include "dev/report.h"
#include "dev/table.h"

/** libinih's limit: it would split longer lines. */
#define LINE_SIZE 200
/** Byte order mark, which some editors write at the start of a file. */
#define BOM "\xef\xbb\xbf"

/* Counts lines, since libinih does not pass them to its handler. */
struct reader {
	struct impl_table *table;
	FILE *file;
	unsigned int line;
	unsigned int section_line;   /* of the last [section]; 0: none yet */
	bool section_is_empty;
	bool no_memory;
	struct impl_entry *entry;    /* NULL: no key of the section yet */
};

doca_error_t
impl_table_wrong(struct impl_table *table, unsigned int line, const char *format, ...)
{
	va_list ap;
	int len;

	if (table->why[0] != '\0')
		return DOCA_ERROR_BAD_CONFIG;
	len = snprintf(table->why, sizeof(table->why), "%s:%u: ", table->source, line);
	if (len >= (int)sizeof(table->why))
		return DOCA_ERROR_BAD_CONFIG;
	va_start(ap, format);
	vsnprintf(table->why + len, sizeof(table->why) - (size_t)len, format, ap);
	va_end(ap);
	return DOCA_ERROR_BAD_CONFIG;
}

static void
end_section(struct reader *r)
{
	if (r->section_is_empty)
		impl_table_wrong(r->table, r->section_line, "section has no keys");
	r->section_is_empty = false;
}

/* Reader for libinih: a line at a time, as fgets(). */
static char *
read_line(char *buf, int size, void *arg)
{
	struct reader *r = arg;
	size_t len;
	char *start;

	if (fgets(buf, RTE_MIN(size, LINE_SIZE), r->file) == NULL) {
		end_section(r);
		return NULL;
	}
	r->line++;
	len = strlen(buf);
	if (len > 0 && buf[len - 1] != '\n' && !feof(r->file)) {
		impl_table_wrong(r->table, r->line, "line is longer than %d bytes", LINE_SIZE - 2);
		return NULL;
	}
	/* Skip indentation, which libinih takes for a continuation of the previous line. */
	start = buf + (r->line == 1 && strncmp(buf, BOM, strlen(BOM)) == 0 ? strlen(BOM) : 0);
	start += strspn(start, " \t");
	memmove(buf, start, strlen(start) + 1);
	if (buf[0] == '[') {
		end_section(r);
		r->section_line = r->line;
		r->section_is_empty = true;
		r->entry = NULL;
	}
	return buf;
}

/* "device LABEL" or "function LABEL" */
static doca_error_t
begin_section(struct reader *r, const char *section)
{
	static const char *const kinds[] = { "device ", "function " };
	struct impl_entry *e;
	const char *label;
	unsigned int i;

	for (i = 0; i < RTE_DIM(kinds); i++)
		if (strncmp(section, kinds[i], strlen(kinds[i])) == 0)
			break;
	if (i == RTE_DIM(kinds))
		return impl_table_wrong(r->table, r->section_line,
			"[%s]: expected [device LABEL] or [function LABEL]", section);
	label = section + strlen(kinds[i]);
	label += strspn(label, " \t");
	if (label[0] == '\0' || strlen(label) >= IMPL_LABEL_SIZE)
		return impl_table_wrong(r->table, r->section_line,
			"[%s]: expected a label of 1 to %d bytes", section, IMPL_LABEL_SIZE - 1);
	e = calloc(1, sizeof(*e));
	if (e == NULL) {
		r->no_memory = true;
		return DOCA_ERROR_NO_MEMORY;
	}
	snprintf(e->label, sizeof(e->label), "%s", label);
	e->is_func = i == 1;
	e->line = r->section_line;
	TAILQ_INSERT_TAIL(&r->table->entries, e, next);
	r->table->nb_devs += !e->is_func;
	r->table->nb_funcs += e->is_func;
	r->entry = e;
	return DOCA_SUCCESS;
}

/* Handler for libinih: called for each KEY = VALUE. 0: error. */
static int
take_key(void *arg, const char *section, const char *key, const char *value)
{
	struct reader *r = arg;

	if (r->table->why[0] != '\0')
		return 0;
	if (r->section_line == 0) {
		impl_table_wrong(r->table, r->line, "%s: key before the first section", key);
		return 0;
	}
	r->section_is_empty = false;
	if (r->entry == NULL && begin_section(r, section) != DOCA_SUCCESS)
		return 0;
	return impl_table_set(r->table, r->entry, r->line, key, value) == DOCA_SUCCESS;
}

static doca_error_t
read_stream(struct impl_table *table, FILE *file, const char *name)
{
	struct reader r = { .table = table, .file = file };
	int line;

	snprintf(table->source, sizeof(table->source), "%s", name);
	TAILQ_INIT(&table->entries);
	line = ini_parse_stream(read_line, &r, take_key, &r);
	/* Negative: libinih had none. */
	if (r.no_memory || line < 0)
		return DOCA_ERROR_NO_MEMORY;
	if (ferror(file)) {
		impl_table_wrong(table, r.line + 1, "read failed: %s", strerror(errno));
	} else if (line > 0 && table->why[0] == '\0') {
		/* An error of libinih itself: syntax. */
		impl_table_wrong(table, (unsigned int)line,
			"expected [SECTION], KEY = VALUE or a comment");
	}
	return table->why[0] != '\0' ? DOCA_ERROR_BAD_CONFIG : impl_table_check(table);
}

doca_error_t
impl_table_read_text(struct impl_table *table, const char *name, const char *text)
{
	doca_error_t ret;
	FILE *file;
	/* fmemopen() takes no const, but does not write in mode "r". */
	char *mem = (char *)(uintptr_t)text;

	file = fmemopen(mem, strlen(text), "r");
	if (file == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = read_stream(table, file, name);
	fclose(file);
	return ret;
}

doca_error_t
impl_table_read_file(struct impl_table *table, const char *path)
{
	doca_error_t ret;
	FILE *file;

	file = fopen(path, "re");
	if (file == NULL) {
		snprintf(table->why, sizeof(table->why), "%s: read failed: %s", path,
			strerror(errno));
		return DOCA_ERROR_BAD_CONFIG;
	}
	ret = read_stream(table, file, path);
	fclose(file);
	return ret;
}

void
impl_table_free(struct impl_table *table)
{
	struct impl_entry *e;

	while ((e = TAILQ_FIRST(&table->entries)) != NULL) {
		TAILQ_REMOVE(&table->entries, e, next);
		free(e);
	}
	memset(table, 0, sizeof(*table));
}

/* Path of the user's table; false: no home directory. */
static bool
user_path(char *path, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	if (config != NULL && config[0] != '\0')
		snprintf(path, size, "%s/comch/devices.ini", config);
	else if (home != NULL && home[0] != '\0')
		snprintf(path, size, "%s/.config/comch/devices.ini", home);
	else
		return false;
	return true;
}

/* An unreadable file counts as existing, so that reading it reports the error. */
static bool
is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static doca_error_t
read_first(struct impl_table *table)
{
	static const char system_path[] = "/etc/comch/devices.ini";
	const char *given = getenv("COMCH_DEVICES");
	char path[sizeof(table->source)];

	if (given != NULL && given[0] != '\0')
		return impl_table_read_file(table, given);
	if (user_path(path, sizeof(path)) && is_there(path))
		return impl_table_read_file(table, path);
	if (is_there(system_path))
		return impl_table_read_file(table, system_path);
	return impl_table_read_text(table, "built-in device table",
		comch_doca_default_devices());
}

/* Of the process. */
static struct impl_table process_table = {
	.entries = TAILQ_HEAD_INITIALIZER(process_table.entries),
};

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static doca_error_t process_result = DOCA_ERROR_NO_MEMORY;

/* Read once per process, unless there is no memory now. */
doca_error_t
impl_table_get(struct impl_table **table)
{
	doca_error_t ret;

	pthread_mutex_lock(&process_lock);
	if (process_result == DOCA_ERROR_NO_MEMORY) {
		process_result = read_first(&process_table);
		if (process_result == DOCA_ERROR_BAD_CONFIG)
			impl_report("%s", process_table.why);
		else if (process_result == DOCA_ERROR_NO_MEMORY)
			impl_table_free(&process_table);
	}
	ret = process_result;
	pthread_mutex_unlock(&process_lock);
	*table = &process_table;
	return ret;
}

struct impl_table *
impl_table_if_read(void)
{
	bool is_valid;

	pthread_mutex_lock(&process_lock);
	is_valid = process_result == DOCA_SUCCESS;
	pthread_mutex_unlock(&process_lock);
	return is_valid ? &process_table : NULL;
}

const char *
comch_doca_devices_fault(const char *path)
{
	static char why[IMPL_WHY_SIZE];
	struct impl_table table = { .entries = TAILQ_HEAD_INITIALIZER(table.entries) };
	doca_error_t ret = impl_table_read_file(&table, path);

	strlcpy(why, ret == DOCA_ERROR_BAD_CONFIG ? table.why : "no memory", sizeof(why));
	impl_table_free(&table);
	return ret == DOCA_SUCCESS ? NULL : why;
}

bool
impl_table_has(const void *object, size_t offset)
{
	struct impl_table *table;
	struct impl_entry *e;

	if (object == NULL || impl_table_get(&table) != DOCA_SUCCESS)
		return false;
	IMPL_TABLE_FOREACH(e, table)
		if ((const char *)e + offset == object)
			return true;
	return false;
}
