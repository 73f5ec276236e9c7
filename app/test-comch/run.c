/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Runs commands, and says what was expected if one does not parse. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

#define MAX_DEPTH 8

/* How many tokens of a command a line matches. */
static unsigned int
nb_matching(const cmdline_parse_inst_t *inst, const char *line)
{
	char buf[CMDLINE_PARSE_RESULT_BUFSIZE];
	unsigned int i;
	int len;

	for (i = 0; inst->tokens[i] != NULL; i++) {
		line += strspn(line, " \t");
		len = inst->tokens[i]->ops->parse(inst->tokens[i], line, buf, sizeof(buf));
		if (len < 0)
			break;
		line += len;
	}
	return i;
}

/* Report the usage of the commands that begin like a line. */
static void
report_unparsed(const char *line)
{
	char usage[2048] = "";
	unsigned int i, n, best = 0;
	size_t len = 0;

	for (i = 0; cmd_all[i] != NULL; i++) {
		n = nb_matching(cmd_all[i], line);
		best = n > best ? n : best;
	}
	line += strspn(line, " \t");
	if (best == 0) {
		tc_fail("%.*s: unknown command; \"help\" lists them",
			(int)strcspn(line, " \t\n"), line);
		return;
	}
	for (i = 0; cmd_all[i] != NULL && len < sizeof(usage); i++) {
		const char *help = cmd_all[i]->help_str;

		if (nb_matching(cmd_all[i], line) == best)
			len += (size_t)snprintf(usage + len, sizeof(usage) - len, "\n  %.*s",
					(int)strcspn(help, ":"), help);
	}
	tc_fail("%.*s: does not parse; expected:%s", (int)strcspn(line, "\n"), line, usage);
}

int
tc_run(const char *line)
{
	static unsigned int depth;
	char *text;

	tc.failed = false;
	if (depth == MAX_DEPTH) {
		tc_fail("load: more than %u files within each other", MAX_DEPTH);
		return -1;
	}
	if (asprintf(&text, "%s\n", line) < 0) {
		tc_fail("out of memory");
		return -1;
	}
	depth++;
	if (tc_prompt_parse(text) < 0)
		report_unparsed(text);
	depth--;
	free(text);
	return tc.failed ? -1 : 0;
}

int
tc_run_file(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned int number = 0;
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	if (f == NULL) {
		tc_fail("%s: %s", path, strerror(errno));
		return -1;
	}
	while (ret == 0 && !tc.quit && getline(&line, &size, f) > 0) {
		number++;
		line[strcspn(line, "\r\n")] = '\0';
		ret = tc_run(line);
	}
	if (ret != 0)
		tc_fail("%s:%u: stopped at this line", path, number);
	free(line);
	fclose(f);
	return ret;
}
