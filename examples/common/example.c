/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>

#include "example.h"

#define MAX_OPTIONS 16u

const char *example_name = "example";
atomic_bool example_quit;

/* Stays readable after Ctrl-C. Every sleeping thread polls it. */
static int quit_fd = -1;

int
example_error(const char *what, int err)
{
	EXAMPLE_ERR("%s: %s", what, rte_strerror(err < 0 ? -err : err));
	return -1;
}

void
example_stop(void)
{
	const uint64_t one = 1;

	example_quit = true;
	/* Also wakes a thread that checked example_quit just before and then sleeps. */
	if (write(quit_fd, &one, sizeof(one)) < 0)
		_exit(1);
}

static void
on_signal(int sig)
{
	int saved = errno;

	(void)sig;
	example_stop();
	errno = saved;
}

static int
catch_signals(void)
{
	struct sigaction sa;

	quit_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (quit_fd < 0)
		return example_error("eventfd", errno);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	/* RESETHAND: a second Ctrl-C kills the program at once. */
	sa.sa_flags = SA_RESTART | SA_RESETHAND;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	return 0;
}

/* The EAL options of the command line. */
static int eal_argc;
static char **eal_argv;

/* Cut off the EAL options. The remaining part also begins with the program's name. */
static void
split_command_line(int *argc, char ***argv)
{
	int i;

	example_name = strrchr(**argv, '/') != NULL ? strrchr(**argv, '/') + 1 : **argv;
	for (i = 1; i < *argc; i++) {
		if (strcmp((*argv)[i], "--") != 0)
			continue;
		eal_argc = i;
		eal_argv = *argv;
		(*argv)[i] = **argv;
		*argc -= i;
		*argv += i;
		return;
	}
}

/* EAL's own directory may be read-only, or another user's after su. */
static void
choose_eal_dir(void)
{
	const char *dir = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");

	if (dir != NULL && access(dir, W_OK | X_OK) != 0)
		setenv("RUNTIME_DIRECTORY", "/tmp", 0);
}

/*
 * EAL options without hugepages, PCI devices, persistent files and informational
 * output. The lcores are not bound to single cores, because two examples on one
 * machine would share core 0.
 */
static int
start_default_eal(unsigned int nb_lcores)
{
	/* Static, because EAL may keep pointers to it. */
	static char line[256];
	char *argv[16], *arg, *rest;
	int argc = 0;
	long nb_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	snprintf(line, sizeof(line), "example --lcores=(0-%u)@(0-%ld) --no-huge -m 64 "
			"--no-pci --no-shconf --file-prefix=comch-example "
			"--log-level=lib.eal:error --log-level=lib.telemetry:error",
			nb_lcores - 1, RTE_MAX(nb_cpus, 1) - 1);
	for (arg = strtok_r(line, " ", &rest); arg != NULL; arg = strtok_r(NULL, " ", &rest))
		argv[argc++] = arg;
	return rte_eal_init(argc, argv);
}

int
example_start(unsigned int nb_lcores)
{
	int ret;

	choose_eal_dir();
	if (eal_argc > 1)
		ret = rte_eal_init(eal_argc, eal_argv);
	else
		ret = start_default_eal(nb_lcores);
	if (ret < 0)
		return example_error("start EAL", rte_errno);
	if (rte_lcore_count() < nb_lcores) {
		EXAMPLE_ERR("%u lcores needed, EAL has %u; use the EAL options -l or --lcores",
				nb_lcores, rte_lcore_count());
		rte_eal_cleanup();
		return -1;
	}
	if (catch_signals() < 0) {
		rte_eal_cleanup();
		return -1;
	}
	return 0;
}

void
example_end(void)
{
	rte_eal_cleanup();
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	close(quit_fd);
}

static int
set_number(const struct example_option *option, const char *text)
{
	unsigned int shift = 0;
	uint64_t number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'G' || *end == 'g')
		shift = 30;
	if (shift != 0)
		end++;
	/* Check the first character, because strtoull() accepts "-1" as a large number. */
	if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' ||
			number > (UINT64_MAX >> shift) ||
			(number << shift) < option->min || (number << shift) > option->max) {
		EXAMPLE_ERR("--%s: '%s', not a number from %" PRIu64 " to %" PRIu64,
				option->name, text, option->min, option->max);
		return -1;
	}
	*option->number = number << shift;
	return 0;
}

static void
print_help(const struct example_option *options, unsigned int n)
{
	char left[32];
	unsigned int i;

	printf("usage: %s [EAL options --] [options]\n", example_name);
	for (i = 0; i < n; i++) {
		snprintf(left, sizeof(left), "-%c, --%s %s", options[i].letter, options[i].name,
				options[i].arg != NULL ? options[i].arg : "");
		printf("  %-22s %s", left, options[i].help);
		if (options[i].text != NULL && *options[i].text != NULL)
			printf(" (%s)", *options[i].text);
		if (options[i].number != NULL)
			printf(" (%" PRIu64 ")", *options[i].number);
		printf("\n");
	}
	printf("  -h, --help             print this help\n");
}

static int
set_option(const struct example_option *options, unsigned int n, int letter)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (options[i].letter == letter)
			break;
	if (i == n) {
		/* getopt_long() has printed the error. */
		fprintf(stderr, "Try '%s --help'; EAL options go before \"--\".\n", example_name);
		return -1;
	}
	if (options[i].number != NULL)
		return set_number(&options[i], optarg);
	if (options[i].text != NULL)
		*options[i].text = optarg;
	else
		*options[i].flag = true;
	return 0;
}

int
example_options(int argc, char **argv, const struct example_option *options,
		unsigned int n)
{
	struct option longs[MAX_OPTIONS + 2] = { 0 };
	char shorts[2 * MAX_OPTIONS + 2] = "";
	unsigned int i, len = 0;
	int letter;

	/* Line buffered, even into a pipe. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	split_command_line(&argc, &argv);
	for (i = 0; i < RTE_MIN(n, MAX_OPTIONS); i++) {
		longs[i].name = options[i].name;
		longs[i].val = options[i].letter;
		longs[i].has_arg = options[i].arg != NULL ? required_argument : no_argument;
		shorts[len++] = options[i].letter;
		if (options[i].arg != NULL)
			shorts[len++] = ':';
	}
	longs[i].name = "help";
	longs[i].val = 'h';
	shorts[len] = 'h';

	while ((letter = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (letter == 'h') {
			print_help(options, n);
			return 1;
		}
		if (set_option(options, n, letter) < 0)
			return -1;
	}
	if (optind < argc) {
		EXAMPLE_ERR("unexpected argument '%s'", argv[optind]);
		return -1;
	}
	return 0;
}

bool
example_sleep_fd(struct rte_comch_poll *comch_poll, int fd, int timeout_ms)
{
	struct pollfd fds[3] = {
		{ .fd = rte_comch_poll_fd(comch_poll, RTE_COMCH_POLL_ANY), .events = POLLIN },
		/* It stays readable: after Ctrl-C, leave it out to be able to sleep. */
		{ .fd = example_quit ? -1 : quit_fd, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};

	/* -EAGAIN: something arrived since the last rte_comch_poll_run(). */
	if (rte_comch_poll_arm(comch_poll, RTE_COMCH_POLL_ANY) != 0)
		timeout_ms = 0;
	if (poll(fds, RTE_DIM(fds), timeout_ms) <= 0)
		return false;
	return (fds[2].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

void
example_sleep(struct rte_comch_poll *comch_poll, int timeout_ms)
{
	example_sleep_fd(comch_poll, -1, timeout_ms);
}

double
example_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

uint64_t
example_sum(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t word;

	/* The rotation makes the sum depend on the order. */
	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum = ((sum << 1) | (sum >> 63)) + word;
	}
	for (; len > 0; len--, p++)
		sum = ((sum << 1) | (sum >> 63)) + *p;
	return sum;
}
