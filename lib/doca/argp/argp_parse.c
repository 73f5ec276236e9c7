/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Parses the command line with getopt: a command's flags, then those of an inner command. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "argp/argp.h"

/* First code that getopt returns for a long name: above any letter. */
#define FIRST_LONG 256

/* Flags of one command, for getopt. */
struct table {
	struct doca_argp_param **params;
	int nb_params;
	struct option *longs;
	char *shorts;
	bool long_shorts; /* some short names have several letters */
};

/* Collect the flags of a command in params, unless NULL; returns their number. */
static int
collect(struct doca_argp_cmd *cmd, struct doca_argp_param **params)
{
	const struct doca_argp_cmd *c;
	struct doca_argp_param *param;
	int i, n = 0;

	for (c = cmd; c != NULL; c = c->outer) {
		TAILQ_FOREACH(param, &c->params, next) {
			if (c != cmd && !param->inherited)
				continue;
			if (params != NULL)
				params[n] = param;
			n++;
		}
	}
	for (i = 0; i < IMPL_ARGP_NB_BUILTINS; i++, n++)
		if (params != NULL)
			params[n] = &impl_argp->builtins[i];
	return n;
}

static void
free_table(struct table *t)
{
	free(t->params);
	free(t->longs);
	free(t->shorts);
}

/* Add the names of a flag; returns the end of letters. */
static char *
add_names(struct table *t, int i, struct option **next_long, char *letters)
{
	const struct doca_argp_param *param = t->params[i];
	const bool value = impl_argp_takes_value(param);
	const struct option names = {
		.has_arg = value ? required_argument : no_argument, .val = FIRST_LONG + i,
	};

	if (param->long_name != NULL) {
		**next_long = names;
		(*next_long)++->name = param->long_name;
	}
	if (param->short_name == NULL)
		return letters;
	if (param->short_name[1] != '\0') {
		**next_long = names;
		(*next_long)++->name = param->short_name;
		t->long_shorts = true;
		return letters;
	}
	*letters++ = param->short_name[0];
	if (value)
		*letters++ = ':';
	return letters;
}

static doca_error_t
make_table(struct table *t, struct doca_argp_cmd *cmd)
{
	struct option *next_long;
	char *letters;
	int i;

	*t = (struct table){ .nb_params = collect(cmd, NULL) };
	t->params = calloc(t->nb_params, sizeof(*t->params));
	t->longs = calloc(2 * t->nb_params + 1, sizeof(*t->longs));
	t->shorts = calloc(2 * t->nb_params + 3, 1);
	if (t->params == NULL || t->longs == NULL || t->shorts == NULL) {
		free_table(t);
		return DOCA_ERROR_NO_MEMORY;
	}
	collect(cmd, t->params);
	letters = t->shorts;
	*letters++ = '+'; /* stop at the first word that is not a flag */
	*letters++ = ':'; /* return ':' for a missing value, '?' for an unknown flag */
	next_long = t->longs;
	for (i = 0; i < t->nb_params; i++)
		letters = add_names(t, i, &next_long, letters);
	return DOCA_SUCCESS;
}

/* Flag of a getopt code; NULL: not in the table. */
static struct doca_argp_param *
find(const struct table *t, int code)
{
	const char *name;
	int i;

	if (code >= FIRST_LONG)
		return t->params[code - FIRST_LONG];
	for (i = 0; i < t->nb_params; i++) {
		name = t->params[i]->short_name;
		if (name != NULL && name[0] == code && name[1] == '\0')
			return t->params[i];
	}
	return NULL;
}

static doca_error_t
complain(const struct table *t, int code, char **argv)
{
	const struct doca_argp_param *param = find(t, optopt);

	if (param != NULL) {
		ARGP_ERR("flag '%s' %s; see --help", impl_argp_flag(param),
			code == ':' ? "needs a value" : "takes no value");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (optopt != 0)
		ARGP_ERR("unknown flag '-%c'; see --help", optopt);
	else
		ARGP_ERR("unknown flag '%s'; see --help", argv[optind - 1]);
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* Whether the word is one dash and a name of several letters. */
static bool
is_long_short(const struct table *t, const char *word)
{
	const struct option *o;
	size_t len;

	if (word[0] != '-')
		return false;
	len = strcspn(word + 1, "=");
	for (o = t->longs; o->name != NULL; o++)
		if (strlen(o->name) == len && strncmp(o->name, word + 1, len) == 0)
			return true;
	return false;
}

/* After one dash the whole name: its beginning may be letters with a value. */
static int
next_flag(const struct table *t, int argc, char **argv)
{
	const int at = optind > 0 ? optind : 1; /* 0: getopt begins */

	if (t->long_shorts && at < argc && is_long_short(t, argv[at]))
		return getopt_long_only(argc, argv, t->shorts, t->longs, NULL);
	return getopt_long(argc, argv, t->shorts, t->longs, NULL);
}

/* Parse the flags of one command. *words is the number of words, with argv[0]; *end is
 * set if a "--" ended them.
 */
static doca_error_t
parse_flags(const struct table *t, int argc, char **argv, int *words, bool *end)
{
	doca_error_t result;
	int code, after_flags = 1;

	optind = 0; /* reset getopt */
	while ((code = next_flag(t, argc, argv)) != -1) {
		if (code == ':' || code == '?')
			return complain(t, code, argv);
		result = impl_argp_give(find(t, code), optarg);
		if (result != DOCA_SUCCESS)
			return result;
		after_flags = optind;
	}
	*words = optind;
	*end = optind > after_flags;
	return DOCA_SUCCESS;
}

static doca_error_t
parse_cmd(struct doca_argp_cmd *cmd, int argc, char **argv, int *words, bool *end)
{
	const int print_errors = opterr;
	doca_error_t result;
	struct table table;

	result = make_table(&table, cmd);
	if (result != DOCA_SUCCESS)
		return result;
	opterr = 0;
	result = parse_flags(&table, argc, argv, words, end);
	/* Reset getopt for the program. */
	opterr = print_errors;
	optind = 0;
	free_table(&table);
	return result;
}

static struct doca_argp_cmd *
find_cmd(const struct doca_argp_cmd *outer, const char *name)
{
	struct doca_argp_cmd *cmd;

	TAILQ_FOREACH(cmd, &outer->cmds, next)
		if (strcmp(cmd->name, name) == 0)
			return cmd;
	if (TAILQ_EMPTY(&outer->cmds))
		ARGP_ERR("unexpected argument '%s'; see --help", name);
	else
		ARGP_ERR("unknown command '%s'; see --help", name);
	return NULL;
}

static doca_error_t
refuse_rest(int nb, char **rest)
{
	if (nb == 0)
		return DOCA_SUCCESS;
	ARGP_ERR("unexpected argument '%s'; see --help", rest[0]);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Take the arguments before a "--" for DPDK. Returns the number of arguments to skip. */
static int
take_dpdk(int argc, char **argv)
{
	int i;

	if (impl_argp->dpdk == NULL)
		return 0;
	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		impl_argp->rest = argv + 1;
		impl_argp->nb_rest = i - 1;
		return i;
	}
	return 0;
}

doca_error_t
impl_argp_parse(int argc, char **argv)
{
	struct doca_argp_cmd *cmd = &impl_argp->program;
	doca_error_t result;
	int words = take_dpdk(argc, argv);
	bool end = false;

	/* The "--" takes the place of the program's name. */
	argc -= words;
	argv += words;
	for (;;) {
		impl_argp->cmd = cmd;
		result = parse_cmd(cmd, argc, argv, &words, &end);
		if (result != DOCA_SUCCESS)
			return result;
		argc -= words;
		argv += words;
		if (end || argc == 0)
			return refuse_rest(argc, argv);
		cmd = find_cmd(cmd, argv[0]);
		if (cmd == NULL)
			return TAILQ_EMPTY(&impl_argp->cmd->cmds) ? DOCA_ERROR_INVALID_VALUE :
				DOCA_ERROR_NOT_SUPPORTED;
	}
}
