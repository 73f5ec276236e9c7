/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Reads sweep files: INI files whose sections are tests. */

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

#define MAX_KEYS 16

/* What --plot measures by itself: latency over size, rate over burst, bandwidth over size. */
static const char pictures[] =
	"[ctrl-lat]\n"
	"size = 8:4080:x4\n"
	"duration = 0.3\n"
	"[data-lat]\n"
	"size = 8:4K:x2\n"
	"duration = 0.3\n"
	"[data-rate]\n"
	"size = 64\n"
	"burst = 1,2,4,8,16,32,64\n"
	"api = desc,mbuf\n"
	"duration = 0.3\n"
	"[data-bw]\n"
	"size = 4K:16M:x4\n"
	"memory = shared,heap\n"
	"duration = 0.3\n";

/* A key of a section, and its list of values. */
struct key {
	char *name;
	char *values;
};

/* The current section; its end adds the rows. */
struct sweep {
	struct plan *plan;
	const struct options *opts;
	const struct perf_test *test;
	struct key keys[MAX_KEYS];
	uint32_t nb_keys;
	int rc;
};

/* Combine each value of key *nb* with all combinations of the later keys. */
static int
expand(struct sweep *s, const struct options *opts, uint32_t nb)
{
	const struct key *key = &s->keys[nb];
	struct options mine;
	char error[PERF_ERROR_SIZE];
	char *values, *value, *rest = NULL;
	int rc = 0;

	if (nb == s->nb_keys)
		return plan_add(s->plan, s->test, opts);
	values = strdup(key->values);
	if (values == NULL)
		return -ENOMEM;
	for (value = strtok_r(values, ", \t", &rest); value != NULL && rc == 0;
			value = strtok_r(NULL, ", \t", &rest)) {
		mine = *opts;
		rc = options_set(&mine, key->name, value, error);
		if (rc != 0)
			fprintf(stderr, "comch-perf: %s: [%s] %s: %s\n", opts->sweep,
					s->test->name, key->name, error);
		else
			rc = expand(s, &mine, nb + 1);
	}
	free(values);
	return rc;
}

static void
finish_section(struct sweep *s)
{
	uint32_t i;

	if (s->test != NULL && s->rc == 0)
		s->rc = expand(s, s->opts, 0);
	for (i = 0; i < s->nb_keys; i++) {
		free(s->keys[i].name);
		free(s->keys[i].values);
	}
	s->nb_keys = 0;
}

/* Callback of ini_parse() for a line. @return 0: error */
static int
take_line(void *arg, const char *section, const char *name, const char *value)
{
	const struct perf_test *test = tests_find(section);
	struct sweep *s = arg;
	struct key *key;

	if (test == NULL) {
		fprintf(stderr, "comch-perf: %s: [%s]: unknown test\n", s->opts->sweep, section);
		s->rc = -EINVAL;
		return 0;
	}
	if (test != s->test) {
		finish_section(s);
		s->test = test;
	}
	if (s->rc != 0)
		return 0;
	if (s->nb_keys == MAX_KEYS) {
		fprintf(stderr, "comch-perf: %s: [%s]: more than %u keys\n", s->opts->sweep,
				section, MAX_KEYS);
		s->rc = -E2BIG;
		return 0;
	}
	key = &s->keys[s->nb_keys];
	s->nb_keys++;
	key->name = strdup(name);
	key->values = strdup(value);
	if (key->name == NULL || key->values == NULL)
		s->rc = -ENOMEM;
	return s->rc == 0;
}

int
sweep_pictures(struct plan *plan, const struct options *opts)
{
	struct sweep s = { .plan = plan, .opts = opts };
	int line = ini_parse_string(pictures, take_line, &s);

	finish_section(&s);
	return line != 0 ? -EINVAL : s.rc;
}

int
sweep_load(struct plan *plan, const struct options *opts)
{
	struct sweep s = { .plan = plan, .opts = opts };
	int line = ini_parse(opts->sweep, take_line, &s);
	int error = errno;

	finish_section(&s);
	if (line < 0)
		fprintf(stderr, "comch-perf: read %s: %s\n", opts->sweep, strerror(error));
	else if (line > 0)
		fprintf(stderr, "comch-perf: %s: invalid line %d\n", opts->sweep, line);
	else if (s.rc == 0 && plan->nb_rows == 0)
		fprintf(stderr, "comch-perf: %s: expected a section per test, found none\n",
				opts->sweep);
	else
		return s.rc;
	return -EINVAL;
}
