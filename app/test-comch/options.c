/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_comch.h>

#include "app_text.h"
#include "tc.h"

static const char usage[] =
	"usage: test-comch [EAL OPTION... --] [OPTION...] [COMMAND...]\n"
	"\n"
	"Drive a channel by hand: open devices, make servers, clients, producers and\n"
	"consumers, and forward messages between them. \"help\" at the prompt lists the\n"
	"commands.\n"
	"\n"
	"  -c, --commands FILE         run the commands of a file first\n"
	"  -i, --interactive           continue with the prompt afterwards\n"
	"  -s, --stats-period SECONDS  print the rates of the streams periodically\n"
	"  -p, --plain                 no colours, no line editing\n"
	"  -V, --version               print the version of the library\n"
	"  -h, --help                  print this help\n"
	"\n"
	"Each COMMAND is an argument: test-comch 'show devices' 'show lcores'.\n"
	"Commands of a file and of the command line stop at the first that fails.\n"
	"Without any, they are read from stdin: at a prompt on a terminal, else line by line.\n"
	"By default, EAL gets four lcores that share all CPUs; --lcores before \"--\" binds\n"
	"them: test-comch --lcores 0@0,1@1 --\n"
	"\n"
	"Exit status: 0; 1 if a command failed; 2 for a command-line error.\n";

static const char hint[] =
	"valid options: --commands FILE, --interactive, --stats-period SECONDS, --plain, "
	"--version, --help (EAL options go before \"--\")";

static int
parse_period(struct tc_options *opts)
{
	if (app_seconds(optarg, 0.1, 86400, &opts->period) == 0)
		return 0;
	fprintf(stderr, "test-comch: --stats-period: expected seconds from 0.1 to 86400, "
		"found '%s'\n", optarg);
	return -1;
}

static int
take_option(struct tc_options *opts, int option)
{
	switch (option) {
	case 'c':
		opts->file = optarg;
		return 0;
	case 'i':
		opts->interactive = true;
		return 0;
	case 's':
		return parse_period(opts);
	case 'p':
		opts->plain = true;
		return 0;
	case 'V':
		printf("test-comch %s\n", rte_comch_version());
		return 1;
	case 'h':
		fputs(usage, stdout);
		return 1;
	default: /* getopt has printed the error */
		return -1;
	}
}

/* EAL arguments end at the first `--`; without one, there are none. */
static void
split(struct tc_options *opts, int *argc, char ***argv)
{
	int i;

	for (i = 1; i < *argc; i++) {
		if (strcmp((*argv)[i], "--") != 0)
			continue;
		opts->nb_eal_args = i - 1;
		opts->eal_args = *argv + 1;
		(*argv)[i] = (*argv)[0];
		*argv += i;
		*argc -= i;
		return;
	}
}

int
tc_options_parse(struct tc_options *opts, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "commands", required_argument, NULL, 'c' },
		{ "interactive", no_argument, NULL, 'i' },
		{ "stats-period", required_argument, NULL, 's' },
		{ "plain", no_argument, NULL, 'p' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, ret = 0;

	memset(opts, 0, sizeof(*opts));
	split(opts, &argc, &argv);
	while (ret == 0 && (option = getopt_long(argc, argv, "c:is:pVh", longs, NULL)) != -1)
		ret = take_option(opts, option);
	if (ret < 0)
		fprintf(stderr, "test-comch: %s\n", hint);
	opts->commands = argv + optind;
	opts->nb_commands = argc - optind;
	return ret;
}
