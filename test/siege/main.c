/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Attack after attack: what honest clients saw, and what they should have seen at worst. */

#include <getopt.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "siege.h"

#define OTHER_UID 65534

static const char usage[] =
	"usage: siege [OPTION...] [ATTACK...]\n"
	"\n"
	"Measure what each attack on a server costs its honest clients. Default: all attacks,\n"
	"by a process of the same user and by one of another user (as root only).\n"
	"\n"
	"  --seconds N     duration of each attack, 1 to 3600; default 5\n"
	"  --repeat N      all of it N times\n"
	"  --cpus A,B      CPUs of the server and of the attacker; default 0,1\n"
	"  --no-judge      print figures only; the exit status says only whether they were taken\n"
	"  --list          list the attacks\n"
	"\n"
	"Times are wall clock less the wait for a CPU. \"run\" is the longest run of the server's\n"
	"poll in each millisecond. \"message\" is one way within the server's thread, or where an\n"
	"answer is judged until the answer, by a client on the attacker's CPU. The last line is\n"
	"\"N passed, N failed, N skipped\".\n"
	"Exit status: 0, 1 if a figure is worse than wanted, 2 for wrong arguments.\n";

/* What must hold, apart from: nobody honest is refused, and none is cut. */
enum wanted {
	WANT_TRIP_ALONE,   /* p99 of answers at most 10 times that without an attack */
	WANT_TRIP,         /* p99.9 of messages */
	WANT_CONNECT,      /* p99.9 of connects */
	WANT_RUN,          /* p99.9 of runs */
	WANT_LINES,        /* of the log: one a second and one for each connection that ends */
};

struct row {
	const struct attack *attack;
	enum wanted wanted;
	uint64_t limit;          /* ns */
	unsigned int nofile;     /* of the server */
};

#define MS UINT64_C(1000000)

static const struct row rows[] = {
	{ &attack_small, WANT_TRIP_ALONE, 0, 4096 },
	{ &attack_large, WANT_TRIP_ALONE, 0, 4096 },
	{ &attack_silent, WANT_CONNECT, 200 * MS, 4096 },
	{ &attack_greets, WANT_CONNECT, 200 * MS, 4096 },
	{ &attack_deaf, WANT_CONNECT, 200 * MS, 4096 },
	{ &attack_connections, WANT_CONNECT, 200 * MS, 512 },
	{ &attack_producers, WANT_CONNECT, 200 * MS, 512 },
	{ &attack_refused, WANT_LINES, 0, 4096 },
	{ &attack_wakes, WANT_RUN, 2 * MS, 4096 },
	{ &attack_lets_go, WANT_TRIP, 5 * MS, 4096 },
};

struct options {
	unsigned int seconds;
	unsigned int repeat;
	unsigned int cpus[2];
	bool judges;
};

static double
us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static void
print_head(void)
{
	printf("%-11s %-5s  %-26s  %-26s  %8s  %5s %5s %5s\n", "attack", "by",
		"message, us", "connect, us", "run, us", "re-", "ended", "log");
	printf("%-11s %-5s  %8s %8s %8s  %8s %8s %8s  %8s  %5s %5s %5s  %s\n", "", "user",
		"p50", "p99", "p99.9", "p50", "p99.9", "number", "p99.9", "fused", "",
		"lines", "wanted");
}

static void
print_figures(const char *name, const char *user, const struct figures *f)
{
	printf("%-11s %-5s  %8.1f %8.1f %8.1f  %8.0f %8.0f %8u  %8.1f  %5u %5u %5u", name, user,
		us(f->trip_p50), us(f->trip_p99), us(f->trip_p999), us(f->connect_p50),
		us(f->connect_p999), f->nb_connects, us(f->run_p999), f->nb_refused,
		f->nb_ended, f->nb_lines);
}

/* Writes what is wanted. */
static bool
judge(const struct row *row, const struct figures *alone, const struct figures *f,
		unsigned int seconds, char *text, size_t size)
{
	uint64_t limit = row->limit, seen = 0;

	switch (row->wanted) {
	case WANT_TRIP_ALONE:
		limit = 10 * alone->trip_p99;
		seen = f->trip_p99;
		snprintf(text, size, "answer p99 <= %.1f us, 10 x alone", us(limit));
		break;
	case WANT_TRIP:
		seen = f->trip_p999;
		snprintf(text, size, "message p99.9 <= %.0f us", us(limit));
		break;
	case WANT_CONNECT:
		seen = f->connect_p999;
		snprintf(text, size, "connect p99.9 <= %.0f us", us(limit));
		break;
	case WANT_RUN:
		seen = f->run_p999;
		snprintf(text, size, "run p99.9 <= %.0f us", us(limit));
		break;
	case WANT_LINES:
		seen = f->nb_lines;
		limit = seconds + f->nb_ended + 1;
		snprintf(text, size, "log lines <= %u, and ended > 0", (unsigned int)limit);
		if (f->nb_ended == 0)
			return false;
		break;
	}
	return seen <= limit && f->nb_refused == 0 && f->nb_cut == 0;
}

struct shared {
	const struct options *o;
	const struct row *row;
	uid_t uid;
	struct conf conf;
	struct figures alone, f, asked;
};

static int
attacker(int fd, void *arg)
{
	const struct shared *s = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(s->o->cpus[1], &set);
	T_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	t_hear(fd, 'G');
	return attack_run_as(fd, s->row->attack, s->uid);
}

static int
victim(int fd, void *arg)
{
	struct shared *s = arg;

	return victim_run(fd, &s->conf, &s->alone, &s->f);
}

static int
asker(int fd, void *arg)
{
	struct shared *s = arg;

	return asker_run(fd, &s->conf, &s->alone, &s->asked);
}

/* Others must find the sockets, and may not change them. */
static void
open_dir(void)
{
	char path[4096];

	T_EQ(chmod(t_dir(), 0711), 0);
	snprintf(path, sizeof(path), "%s/pf0", t_dir());
	T_CHECK(mkdir(path, 0711) == 0 || errno == EEXIST);
	T_EQ(chmod(path, 0711), 0);
}

static void
merge_asked(struct shared *s)
{
	s->f.trip_p50 = s->asked.trip_p50;
	s->f.trip_p99 = s->asked.trip_p99;
	s->f.trip_p999 = s->asked.trip_p999;
	s->f.nb_trips = s->asked.nb_trips;
	s->f.nb_cut += s->asked.nb_cut;
}

/* Returns whether all was as wanted. */
static bool
besiege(struct shared *s)
{
	const char *user = s->uid == 0 ? "same" : "other";
	struct t_proc pv, pa, pq;
	int measurer;
	char text[64];
	bool is_good;

	s->conf = (struct conf){
		.seconds = s->o->seconds, .cpu = s->o->cpus[0], .nofile = s->row->nofile,
		.asks = s->row->wanted == WANT_TRIP_ALONE, .asker_cpu = s->o->cpus[1],
	};
	open_dir();
	t_proc_start(&pa, "attacker", attacker, s);
	t_proc_start(&pv, "victim", victim, s);
	t_hear(pv.fd, 'A');
	measurer = pv.fd;
	if (s->conf.asks) {
		t_proc_start(&pq, "asker", asker, s);
		t_hear(pq.fd, 'A');
		measurer = pq.fd;
	}
	t_say(pa.fd, 'G', 0);
	t_hear(pa.fd, 'R');
	t_say(measurer, 'S', 0);
	T_CHECK(t_readable(measurer, (int)(1000 * s->conf.seconds) + T_TIMEOUT_MS));
	t_hear(measurer, 'E');
	if (s->conf.asks) {
		t_proc_join(&pq);
		t_say(pv.fd, 'E', 0);
		t_hear(pv.fd, 'E');
		merge_asked(s);
	}
	t_proc_join(&pv);
	t_say(pa.fd, 'E', 0);
	t_proc_join(&pa);
	is_good = judge(s->row, &s->alone, &s->f, s->conf.seconds, text, sizeof(text));
	print_figures("(alone)", "", &s->alone);
	printf("\n");
	print_figures(s->row->attack->name, user, &s->f);
	printf("  %s%s\n", text, !s->o->judges ? "" : is_good ? ": yes" : ": NO");
	if (s->f.nb_cut > 0)
		printf("%-11s %-5s  the honest connection was cut\n", s->row->attack->name, user);
	fflush(stdout);
	return is_good;
}

static int
number(const char *what, const char *text, unsigned long max, unsigned int *val)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || v > max) {
		fprintf(stderr, "siege: %s: expected a number up to %lu, found '%s'\n", what, max,
			text);
		return -1;
	}
	*val = (unsigned int)v;
	return 0;
}

static int
take_cpus(struct options *o, char *text)
{
	char *comma = strchr(text, ',');

	if (comma == NULL) {
		fprintf(stderr, "siege: --cpus: expected two numbers A,B, found '%s'\n", text);
		return -1;
	}
	*comma = '\0';
	if (number("--cpus", text, CPU_SETSIZE - 1, &o->cpus[0]) != 0)
		return -1;
	return number("--cpus", comma + 1, CPU_SETSIZE - 1, &o->cpus[1]);
}

static void
list(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(rows); i++)
		printf("%-11s  %s\n", rows[i].attack->name, rows[i].attack->about);
}

static int
take(struct options *o, int option)
{
	switch (option) {
	case 's':
		return number("--seconds", optarg, 3600, &o->seconds);
	case 'r':
		return number("--repeat", optarg, 1000, &o->repeat);
	case 'c':
		return take_cpus(o, optarg);
	case 'n':
		o->judges = false;
		return 0;
	case 'l':
		list();
		exit(0);
	case 'h':
		fputs(usage, stdout);
		exit(0);
	default:
		return -1;
	}
}

static const struct row *
find(const char *name)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(rows); i++)
		if (strcmp(rows[i].attack->name, name) == 0)
			return &rows[i];
	fprintf(stderr, "siege: no attack is called '%s'; --list lists them\n", name);
	return NULL;
}

static int
parse(struct options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "no-judge", no_argument, NULL, 'n' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, i;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
		if (take(o, option) != 0)
			return -1;
	for (i = optind; i < argc; i++)
		if (find(argv[i]) == NULL)
			return -1;
	if (o->seconds > 0)
		return 0;
	fputs("siege: --seconds: expected 1 to 3600\n", stderr);
	return -1;
}

/* Is it among the attacks to run? None means all. */
static bool
is_chosen(const struct row *row, char **names, int nb)
{
	int i;

	for (i = 0; i < nb; i++)
		if (strcmp(row->attack->name, names[i]) == 0)
			return true;
	return nb == 0;
}

int
main(int argc, char **argv)
{
	struct options o = { .seconds = 5, .repeat = 1, .cpus = { 0, 1 }, .judges = true };
	unsigned int i, k, u, nb_users, nb = 0, nb_bad = 0, nb_skipped = 0;
	const uid_t uids[] = { 0, OTHER_UID };
	struct shared *s;

	if (parse(&o, argc, argv) != 0) {
		fputs(usage, stderr);
		return 2;
	}
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_CHECK(s != MAP_FAILED);
	nb_users = geteuid() == 0 ? 2 : 1;
	print_head();
	for (k = 0; k < o.repeat; k++) {
		for (i = 0; i < RTE_DIM(rows); i++) {
			if (!is_chosen(&rows[i], &argv[optind], argc - optind))
				continue;
			nb_skipped += 2 - nb_users;
			for (u = 0; u < nb_users; u++) {
				*s = (struct shared){ .o = &o, .row = &rows[i], .uid = uids[u] };
				nb_bad += !besiege(s);
				nb++;
			}
		}
	}
	t_dir_remove();
	munmap(s, sizeof(*s));
	printf("\n%u passed, %u failed, %u skipped\n", nb - nb_bad, nb_bad, nb_skipped);
	return o.judges && nb_bad > 0 ? 1 : 0;
}
