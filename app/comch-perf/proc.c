/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc.h"
#include "side.h"

#define MAX_SIDES 2
#define DIR_SIZE  128
/* How long a side may take to end once the other has, or once told to. */
#define LINGER_MS 10000
#define FAILED_MS 5000
#define QUIT_MS   3000

/* A side's process. */
struct child {
	struct side side;
	pid_t pid;      /* 0: has ended, or was not started */
	int status;
};

struct supervisor {
	struct child children[MAX_SIDES];
	uint32_t nb;
	char dir[DIR_SIZE]; /* empty: none */
	int sigfd;
	int signal;         /* that we were told to end by; 0: none */
	uint64_t deadline;  /* when to use force, ns; 0: never */
};

static void
on_signal(int sig)
{
	(void)sig;
	perf_quit_set();
}

static void
signals_of_supervisor(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
}

/* A side unwinds by itself when it is told to end. */
static void
signals_of_side(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t set;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &sa, NULL);
	signals_of_supervisor(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void
clean(const struct supervisor *sv)
{
	uint32_t i;

	for (i = 0; i < sv->nb; i++)
		eal_clean(sv->children[i].side.eal.prefix);
	if (sv->dir[0] != '\0')
		eal_remove_tree(sv->dir);
}

/* In the new process. */
static void
be_side(struct supervisor *sv, struct child *child, pid_t parent)
{
	int status;

	signals_of_side();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, child->side.host ? "comch-perf-host" : "comch-perf-dpu");
	close(sv->sigfd);
	status = side_run(&child->side);
	/* A killed supervisor leaves it to the sides. */
	if (getppid() != parent)
		clean(sv);
	fflush(NULL);
	_exit(status);
}

static int
start_side(struct supervisor *sv, struct child *child)
{
	pid_t parent = getpid();

	fflush(NULL);
	child->status = -1;
	child->pid = fork();
	if (child->pid < 0) {
		child->pid = 0;
		return -errno;
	}
	if (child->pid == 0)
		be_side(sv, child, parent);
	return 0;
}

static void
kill_sides(const struct supervisor *sv, int sig)
{
	uint32_t i;

	for (i = 0; i < sv->nb; i++) {
		if (sv->children[i].pid > 0)
			kill(sv->children[i].pid, sig);
	}
}

static bool
any_alive(const struct supervisor *sv)
{
	uint32_t i;

	for (i = 0; i < sv->nb; i++) {
		if (sv->children[i].pid > 0)
			return true;
	}
	return false;
}

static void
set_deadline(struct supervisor *sv, uint64_t ms)
{
	uint64_t deadline = clock_mono_ns() + ms * 1000000;

	if (sv->deadline == 0 || deadline < sv->deadline)
		sv->deadline = deadline;
}

/* Take the status of sides that have ended. */
static void
reap(struct supervisor *sv)
{
	uint32_t i;

	for (i = 0; i < sv->nb; i++) {
		struct child *child = &sv->children[i];

		if (child->pid <= 0 ||
				waitpid(child->pid, &child->status, WNOHANG) != child->pid)
			continue;
		child->pid = 0;
		if (WIFSIGNALED(child->status))
			fprintf(stderr, "comch-perf: the %s side was ended by signal %d (%s)\n",
					child->side.host ? "host" : "dpu",
					WTERMSIG(child->status),
					strsignal(WTERMSIG(child->status)));
		set_deadline(sv, WIFEXITED(child->status) &&
				WEXITSTATUS(child->status) == 0 ? LINGER_MS : FAILED_MS);
	}
}

static void
take_signal(struct supervisor *sv)
{
	struct signalfd_siginfo info;

	if (read(sv->sigfd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD)
		return;
	if (sv->signal == 0) {
		kill_sides(sv, SIGTERM);
		set_deadline(sv, QUIT_MS);
	} else {
		kill_sides(sv, SIGKILL);
	}
	sv->signal = (int)info.ssi_signo;
}

static void
watch(struct supervisor *sv)
{
	struct pollfd pfd = { .fd = sv->sigfd, .events = POLLIN };
	bool asked = false;

	while (any_alive(sv)) {
		if (poll(&pfd, 1, sv->deadline == 0 ? -1 : 100) == 1)
			take_signal(sv);
		reap(sv);
		if (sv->deadline == 0 || clock_mono_ns() < sv->deadline)
			continue;
		kill_sides(sv, asked || sv->signal != 0 ? SIGKILL : SIGTERM);
		asked = true;
		sv->deadline = 0;
		set_deadline(sv, QUIT_MS);
	}
}

/* A directory of our own for the sockets of a pair. */
static int
make_dir(struct supervisor *sv)
{
	const char *base = getenv("XDG_RUNTIME_DIR");

	/* The path of a socket must be short. */
	if (base == NULL || strlen(base) > 32 || access(base, W_OK) != 0)
		base = "/tmp";
	snprintf(sv->dir, sizeof(sv->dir), "%s/comch-perf-XXXXXX", base);
	if (mkdtemp(sv->dir) != NULL)
		return 0;
	fprintf(stderr, "comch-perf: %s: %s\n", sv->dir, strerror(errno));
	sv->dir[0] = '\0';
	return -errno;
}

static void
add_side(struct supervisor *sv, const struct options *opts,
		const struct plan *plan, const struct eal_cpus *cpus, bool host)
{
	struct side *side = &sv->children[sv->nb++].side;
	uint32_t asked = RTE_MAX(opts->params.producers, opts->params.consumers);

	side->opts = opts;
	side->plan = plan;
	side->host = host;
	side->dir = sv->dir[0] != '\0' ? sv->dir : NULL;
	side->eal.opts = opts;
	side->eal.host = host;
	side->eal.cpus = cpus;
	side->eal.mem_mb = plan_eal_mem(plan);
	side->eal.share = plan_shares_eal(plan);
	side->eal.nb_workers = opts->role == PERF_ROLE_DPU ? RTE_MAX(asked, 1u) :
			plan_max_workers(plan, host);
	eal_prefix(&side->eal, getpid());
}

static int
start_all(struct supervisor *sv)
{
	sigset_t set;
	uint32_t i;
	int rc;

	signals_of_supervisor(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sv->sigfd = signalfd(-1, &set, SFD_CLOEXEC);
	if (sv->sigfd < 0)
		return -errno;
	for (i = 0, rc = 0; i < sv->nb && rc == 0; i++)
		rc = start_side(sv, &sv->children[i]);
	if (rc != 0)
		fprintf(stderr, "comch-perf: cannot start a process: %s\n", strerror(-rc));
	return rc;
}

static int
exit_status(const struct supervisor *sv)
{
	int refused = 0;
	uint32_t i;

	if (sv->signal != 0)
		return 128 + sv->signal;
	for (i = 0; i < sv->nb; i++) {
		int status = sv->children[i].status;

		if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE)
			refused = EXIT_USAGE;
		else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			return 1;
	}
	return refused;
}

int
proc_supervise(const struct options *opts, const struct plan *plan,
		const struct eal_cpus *cpus)
{
	struct supervisor sv = { .sigfd = -1 };
	int status = 1;

	if (opts->role == PERF_ROLE_BOTH && plan->place != PERF_BARE &&
			make_dir(&sv) != 0)
		return 1;
	if (opts->role != PERF_ROLE_HOST && plan->place == PERF_TWO_SIDES)
		add_side(&sv, opts, plan, cpus, false);
	if (opts->role != PERF_ROLE_DPU)
		add_side(&sv, opts, plan, cpus, true);
	if (start_all(&sv) == 0) {
		watch(&sv);
		status = exit_status(&sv);
	} else {
		kill_sides(&sv, SIGKILL);
		watch(&sv);
	}
	clean(&sv);
	if (sv.sigfd >= 0)
		close(sv.sigfd);
	return status;
}
