/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_comch.h>
#include <rte_comch_poll.h>
#ifdef COMCH_APP_DOCA
#include <comch_doca.h>
#endif

#include "info.h"

static const char usage[] =
	"usage: comch-info [OPTION...]\n"
	"\n"
	"Show the drivers, devices, servers, clients, connections, producers, consumers,\n"
	"registrations, polls and, of DOCA, accelerators of running programs, and their\n"
	"counters.\n"
	"\n"
	"  -p, --file-prefix PREFIX  only the program with this EAL file prefix\n"
	"  -e, --explain CONNECTION  how messages of a connection reach each\n"
	"                            registration, and why\n"
	"  -w, --watch [SECONDS]     repeat (every second by default), with messages and\n"
	"                            bytes per second\n"
	"  -j, --json                print JSON, one line per round\n"
	"  -d, --dev DEVARGS         open a device and show its functions and limits,\n"
	"                            for example comch_shm0,role=dpu,rep=pf0\n"
	"  -s, --scan [DRIVER]       list the hardware that devices of a driver could use\n"
	"                            (comch_mlx5 by default), and why it cannot be used\n"
	"      --default-devices     print the built-in device table of programs for DOCA,\n"
	"                            as a start for your own\n"
	"      --check-devices FILE  say what is wrong in a device table, if anything is\n"
	"  -V, --version             print the version of the library\n"
	"  -h, --help                print this help\n"
	"\n"
	"Programs are found by the telemetry sockets of their EAL, for the same user, in\n"
	"$RUNTIME_DIRECTORY/dpdk if that is set; else /var/run/dpdk for root, and\n"
	"$XDG_RUNTIME_DIR/dpdk for other users; or /tmp/dpdk, if that cannot be written or\n"
	"is not set. They need telemetry, which is EAL's default: a program that starts it\n"
	"with --no-telemetry is not found.\n"
	"\n"
	"Exit status: 0; 1 if nothing was found, a device does not open or no hardware is\n"
	"usable; 2 for a command-line error.\n";

static const char hint[] =
	"valid options: --file-prefix PREFIX, --explain CONNECTION, --watch [SECONDS], --json, "
	"--dev DEVARGS, --scan [DRIVER], --default-devices, --check-devices FILE, --version, "
	"--help";

/** Options without a letter. */
#define OPTION_DEFAULT_DEVICES 256
#define OPTION_CHECK_DEVICES 257

/* Digits only. */
static int
parse_u32(const char *text, uint32_t *val)
{
	unsigned long long v;
	char *end;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0' || v > UINT32_MAX)
		return -1;
	*val = (uint32_t)v;
	return 0;
}

/* Also accept "--watch SECONDS": getopt takes optional arguments only after "=". */
static const char *
watch_arg(int argc, char **argv)
{
	if (optarg != NULL)
		return optarg;
	if (optind < argc && strchr("0123456789.", argv[optind][0]) != NULL)
		return argv[optind++];
	return "1";
}

static const char *
scan_arg(int argc, char **argv)
{
	if (optarg != NULL)
		return optarg;
	return optind < argc && argv[optind][0] != '-' ? argv[optind++] : "comch_mlx5";
}

static int
parse_seconds(const char *text, uint32_t *ms)
{
	char *end;
	double v;

	if (strspn(text, "0123456789.") != strlen(text))
		return -1;
	v = strtod(text, &end);
	if (end == text || *end != '\0' || v < 0.01 || v > 86400)
		return -1;
	*ms = (uint32_t)(v * 1000);
	return 0;
}

static int
bad_value(const char *option, const char *text, const char *want)
{
	INFO_ERR("--%s %s: expected %s", option, text, want);
	return -1;
}

#ifdef COMCH_APP_DOCA
static int
default_devices(struct info_options *opts)
{
	fputs(comch_doca_default_devices(), stdout);
	opts->done = true;
	return 0;
}

static int
check_devices(struct info_options *opts, const char *path)
{
	const char *fault = comch_doca_devices_fault(path);

	if (fault != NULL) {
		INFO_ERR("%s", fault);
		return -1;
	}
	opts->done = true;
	return 0;
}
#else
static int
default_devices(struct info_options *opts)
{
	(void)opts;
	INFO_ERR("--default-devices: comch-info was built without DOCA support");
	return -1;
}

static int
check_devices(struct info_options *opts, const char *path)
{
	(void)opts;
	INFO_ERR("--check-devices %s: comch-info was built without DOCA support", path);
	return -1;
}
#endif

static int
take_option(struct info_options *opts, int option, int argc, char **argv)
{
	const char *seconds;

	switch (option) {
	case 'p':
		opts->file_prefix = optarg;
		if (*optarg == '\0' || strchr(optarg, '/') != NULL || optarg[0] == '.')
			return bad_value("file-prefix", optarg, "a prefix, not a path");
		return 0;
	case 'e':
		opts->explain = true;
		if (parse_u32(optarg, &opts->explain_conn) != 0)
			return bad_value("explain", optarg, "a connection id");
		return 0;
	case 'w':
		seconds = watch_arg(argc, argv);
		if (parse_seconds(seconds, &opts->watch_ms) != 0)
			return bad_value("watch", seconds, "seconds from 0.01 to 86400");
		return 0;
	case 'j':
		opts->json = true;
		return 0;
	case 'd':
		opts->dev = optarg;
		return 0;
	case 's':
		opts->scan = scan_arg(argc, argv);
		return 0;
	case OPTION_DEFAULT_DEVICES:
		return default_devices(opts);
	case OPTION_CHECK_DEVICES:
		return check_devices(opts, optarg);
	case 'V':
		printf("comch-info %s\n", rte_comch_version());
		opts->done = true;
		return 0;
	case 'h':
		fputs(usage, stdout);
		opts->done = true;
		return 0;
	default: /* getopt has printed the error */
		INFO_ERR("%s", hint);
		return -1;
	}
}

int
info_options_parse(struct info_options *opts, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "file-prefix", required_argument, NULL, 'p' },
		{ "explain", required_argument, NULL, 'e' },
		{ "watch", optional_argument, NULL, 'w' },
		{ "json", no_argument, NULL, 'j' },
		{ "dev", required_argument, NULL, 'd' },
		{ "scan", optional_argument, NULL, 's' },
		{ "default-devices", no_argument, NULL, OPTION_DEFAULT_DEVICES },
		{ "check-devices", required_argument, NULL, OPTION_CHECK_DEVICES },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, ret = 0;

	memset(opts, 0, sizeof(*opts));
	while (ret == 0 && !opts->done &&
			(option = getopt_long(argc, argv, "p:e:w::jd:s::Vh", longs, NULL)) != -1)
		ret = take_option(opts, option, argc, argv);
	if (ret == 0 && !opts->done && optind < argc) {
		INFO_ERR("unexpected argument '%s'%s; %s", argv[optind], opts->watch_ms != 0 ?
			" (--watch takes seconds from 0.01 to 86400)" : "", hint);
		ret = -1;
	}
	if (ret == 0 && (opts->dev != NULL || opts->scan != NULL) &&
			(opts->file_prefix != NULL || opts->explain || opts->watch_ms != 0 ||
			(opts->dev != NULL && opts->scan != NULL))) {
		INFO_ERR("--dev and --scan query no other program: combine one of them with "
			"--json only");
		ret = -1;
	}
	return ret;
}
