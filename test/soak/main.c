/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A soak: a server and clients in processes or threads of their own send, connect and
 * disconnect at random, and are stopped and killed at random. Books that survive them say
 * whether each message arrived once, in order and whole.
 */

#include <getopt.h>
#include <stdlib.h>
#include <time.h>

#include "boss.h"
#include "world.h"

static const char usage[] =
	"usage: soak [OPTION...] SECONDS\n"
	"\n"
	"  --kills N       continue beyond SECONDS until N actors were killed\n"
	"  --seed N        seed of all random choices; default: from the clock\n"
	"  --clients N     number of clients, 1 to 7; default 3\n"
	"  --journal FILE  also append the output to FILE\n"
	"\n"
	"Exit status: 0, 1 if anything failed, 2 for wrong arguments.\n";

static int
number(const char *what, const char *text, uint64_t max, uint64_t *val)
{
	char *end;

	errno = 0;
	*val = strtoull(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *val <= max)
		return 0;
	fprintf(stderr, "soak: %s: expected a number up to %llu, found '%s'\n", what,
		(unsigned long long)max, text);
	return -1;
}

static int
take(struct soak_options *o, int option)
{
	uint64_t val = 0;
	int ret = 0;

	switch (option) {
	case 'k':
		ret = number("--kills", optarg, 1000000, &val);
		o->kills = (uint32_t)val;
		return ret;
	case 's':
		return number("--seed", optarg, UINT64_MAX, &o->seed);
	case 'c':
		ret = number("--clients", optarg, SOAK_PROCS - 1, &val);
		o->clients = (uint32_t)val;
		return ret;
	case 'j':
		o->journal = optarg;
		return 0;
	case 'h':
		fputs(usage, stdout);
		exit(0);
	default:
		return -1;
	}
}

static int
parse(struct soak_options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "kills", required_argument, NULL, 'k' },
		{ "seed", required_argument, NULL, 's' },
		{ "clients", required_argument, NULL, 'c' },
		{ "journal", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t val = 0;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
		if (take(o, option) != 0)
			return -1;
	if (optind != argc - 1) {
		fputs("soak: expected SECONDS\n", stderr);
		return -1;
	}
	if (number("SECONDS", argv[optind], 10000000, &val) != 0)
		return -1;
	o->seconds = (uint32_t)val;
	return o->clients > 0 ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct soak_options o = { .clients = 3, .seed = (uint64_t)time(NULL) };

	if (parse(&o, argc, argv) != 0) {
		fputs(usage, stderr);
		return 2;
	}
	journal_open(o.journal);
	journal_line("seed %llu: %u s over %s, %u clients", (unsigned long long)o.seed,
		o.seconds, soak_world.driver, o.clients);
	return soak_run(&o);
}
