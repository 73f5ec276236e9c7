/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Prints the usage: the flags and inner commands of the current command. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "argp/argp.h"

/* Descriptions of longer names start on the next line. */
#define MAX_WIDTH 32
#define MANDATORY " (mandatory)"

const char *
impl_argp_program(void)
{
	const char *name = impl_argp != NULL && impl_argp->name != NULL ?
		impl_argp->name : program_invocation_short_name;
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

/* Format the names of a flag; returns their width. */
static int
flag_names(const struct doca_argp_param *param, char *text, size_t size)
{
	const bool both = param->short_name != NULL && param->long_name != NULL;

	return snprintf(text, size, "%s%s%s%s%s%s%s",
		param->short_name != NULL ? "-" : "    ",
		param->short_name != NULL ? param->short_name : "",
		both ? ", " : "",
		param->long_name != NULL ? "--" : "",
		param->long_name != NULL ? param->long_name : "",
		param->arguments != NULL ? " " : "",
		param->arguments != NULL ? param->arguments : "");
}

static void
print_row(const char *left, const char *descr, const char *mark, int width)
{
	size_t len;

	fprintf(stdout, "  %-*s", width, left);
	if ((int)strlen(left) > width)
		fprintf(stdout, "\n  %*s", width, "");
	for (;;) {
		len = strcspn(descr, "\n");
		fprintf(stdout, "  %.*s", (int)len, descr);
		descr += len;
		if (*descr == '\0')
			break;
		descr++;
		fprintf(stdout, "\n  %*s", width, "");
	}
	fprintf(stdout, "%s\n", mark);
}

static void
print_flag(const struct doca_argp_param *param, int width)
{
	char left[256];

	flag_names(param, left, sizeof(left));
	print_row(left, param->description, param->mandatory ? MANDATORY : "", width);
}

/* Width of the names of a command's flags and those of its inner commands. */
static int
width_of(const struct doca_argp_cmd *cmd, int width)
{
	const struct doca_argp_param *param;
	int w;

	TAILQ_FOREACH(param, &cmd->params, next) {
		w = flag_names(param, NULL, 0);
		if (!param->hidden && w <= MAX_WIDTH)
			width = RTE_MAX(width, w);
	}
	return width;
}

static int
find_width(const struct doca_argp_cmd *cmd)
{
	const struct doca_argp_cmd *c;
	int i, w, width = 0;

	for (i = 0; i < IMPL_ARGP_NB_BUILTINS; i++) {
		w = flag_names(&impl_argp->builtins[i], NULL, 0);
		width = RTE_MAX(width, w);
	}
	for (c = cmd; c != NULL; c = c->outer)
		width = width_of(c, width);
	TAILQ_FOREACH(c, &cmd->cmds, next) {
		w = (int)strlen(c->name);
		if (!c->hidden && w <= MAX_WIDTH)
			width = RTE_MAX(width, w);
	}
	return width;
}

/* Print the command line up to a command. */
static void
print_words(const struct doca_argp_cmd *cmd)
{
	if (cmd->outer == NULL) {
		fprintf(stdout, "Usage: %s", impl_argp_program());
		return;
	}
	print_words(cmd->outer);
	fprintf(stdout, " %s", cmd->name);
}

static void
print_flags(const struct doca_argp_cmd *cmd, int width)
{
	const struct doca_argp_param *param;
	const struct doca_argp_cmd *c;
	bool titled = false;

	for (c = cmd; c != NULL; c = c->outer) {
		TAILQ_FOREACH(param, &c->params, next) {
			if (param->hidden || (c != cmd && !param->inherited))
				continue;
			if (!titled)
				fprintf(stdout, "\nProgram Flags:\n");
			titled = true;
			print_flag(param, width);
		}
	}
}

static void
print_cmds(const struct doca_argp_cmd *cmd, int width)
{
	const struct doca_argp_cmd *c;
	bool titled = false;

	TAILQ_FOREACH(c, &cmd->cmds, next) {
		if (c->hidden)
			continue;
		if (!titled)
			fprintf(stdout, "\nCommands:\n");
		titled = true;
		print_row(c->name, c->description, "", width);
	}
}

void
doca_argp_usage(void)
{
	const struct doca_argp_cmd *cmd;
	int i, width;

	if (impl_argp == NULL) {
		ARGP_ERR("doca_argp_usage() called before doca_argp_init()");
		return;
	}
	cmd = impl_argp->cmd;
	width = find_width(cmd);
	print_words(cmd);
	fprintf(stdout, "%s [DOCA Flags] [Program Flags]%s\n\nDOCA Flags:\n",
		impl_argp->dpdk != NULL ? " [DPDK Flags] --" : "",
		TAILQ_EMPTY(&cmd->cmds) ? "" : " [Command]");
	for (i = 0; i < IMPL_ARGP_NB_BUILTINS; i++)
		print_flag(&impl_argp->builtins[i], width);
	print_flags(cmd, width);
	print_cmds(cmd, width);
	fputc('\n', stdout);
	fflush(stdout);
}
