/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The supervisor: starts the sides, forwards signals, and cleans up. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app_eal.h"
#include "base/clock.h"
#include "side/side.h"

/* Time for a side to exit after the other one exited, failed, or got a signal. */
#define LINGER_MS 10000
#define FAILED_MS 5000
#define QUIT_MS   3000

/* A side's process. */
struct child {
	struct side side;
	pid_t pid;      /* 0: exited, or not started */
	int status;
};

struct supervisor {
	struct child children[2];
	uint32_t nb;
	struct side dpu;    /* with --same-process */
	char dir[64];       /* empty: none */
	sigset_t signals;   /* blocked, for sigtimedwait() */
	int signal;         /* that asked to exit; 0: none */
	uint64_t deadline;  /* when to kill the sides, ns; 0: never */
};

static void
on_signal(int sig)
{
	(void)sig;
	perf_quit_set();
}

static void
block_signals(struct supervisor *sv)
{
	/* It may be inherited ignored: then children leave no status, and no signal. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&sv->signals);
	sigaddset(&sv->signals, SIGINT);
	sigaddset(&sv->signals, SIGTERM);
	sigaddset(&sv->signals, SIGHUP);
	sigaddset(&sv->signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &sv->signals, NULL);
}

/* In a side, a signal only asks it to unwind and exit. */
static void
handle_signals(const struct supervisor *sv)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &sa, NULL);
	sigprocmask(SIG_UNBLOCK, &sv->signals, NULL);
}

static void
clean(const struct supervisor *sv)
{
	uint32_t i;

	for (i = 0; i < sv->nb; i++)
		eal_clean(&sv->children[i].side);
	if (sv->dir[0] != '\0')
		app_remove_tree(sv->dir);
}

/* Body of the process of a side. */
static void
run_child(const struct supervisor *sv, struct side *side, pid_t parent)
{
	int status;

	handle_signals(sv);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, side->host ? "comch-perf-host" : "comch-perf-dpu");
	status = side_run(side);
	/* If the supervisor was killed, the sides clean up. */
	if (getppid() != parent)
		clean(sv);
	fflush(NULL);
	_exit(status);
}

static int
start_sides(struct supervisor *sv)
{
	pid_t parent = getpid();
	uint32_t i;

	for (i = 0; i < sv->nb; i++) {
		struct child *child = &sv->children[i];

		fflush(NULL);
		child->status = -1;
		child->pid = fork();
		if (child->pid == 0)
			run_child(sv, &child->side, parent);
		if (child->pid > 0)
			continue;
		child->pid = 0;
		fprintf(stderr, "comch-perf: fork the %s side: %s\n",
				side_name(&child->side), strerror(errno));
		return -1;
	}
	return 0;
}

/* Send a signal, maybe 0, to the live sides. @return their number */
static uint32_t
kill_sides(const struct supervisor *sv, int sig)
{
	uint32_t nb = 0;
	uint32_t i;

	for (i = 0; i < sv->nb; i++)
		nb += sv->children[i].pid > 0 && kill(sv->children[i].pid, sig) == 0;
	return nb;
}

static void
set_deadline(struct supervisor *sv, uint64_t ms)
{
	uint64_t deadline = clock_mono_ns() + ms * 1000000;

	if (sv->deadline == 0 || deadline < sv->deadline)
		sv->deadline = deadline;
}

/* Collect the status of sides that exited. */
static void
reap(struct supervisor *sv)
{
	uint32_t i;

	for (i = 0; i < sv->nb; i++) {
		struct child *child = &sv->children[i];
		int *status = &child->status;

		if (child->pid <= 0 || waitpid(child->pid, status, WNOHANG) != child->pid)
			continue;
		child->pid = 0;
		if (WIFSIGNALED(*status))
			fprintf(stderr, "comch-perf: the %s side was killed by signal %d (%s)\n",
					side_name(&child->side), WTERMSIG(*status),
					strsignal(WTERMSIG(*status)));
		set_deadline(sv, WIFEXITED(*status) && WEXITSTATUS(*status) == 0 ?
				LINGER_MS : FAILED_MS);
	}
}

/* Forward a request to exit; the second one kills. */
static void
forward_signal(struct supervisor *sv, int sig)
{
	kill_sides(sv, sv->signal == 0 ? SIGTERM : SIGKILL);
	if (sv->signal == 0)
		set_deadline(sv, QUIT_MS);
	sv->signal = sig;
}

static void
watch(struct supervisor *sv)
{
	const struct timespec turn = { .tv_nsec = 100000000 };
	bool terminated = false;
	int sig;

	while (kill_sides(sv, 0) > 0) {
		sig = sigtimedwait(&sv->signals, NULL, sv->deadline == 0 ? NULL : &turn);
		if (sig > 0 && sig != SIGCHLD)
			forward_signal(sv, sig);
		reap(sv);
		if (sv->deadline == 0 || clock_mono_ns() < sv->deadline)
			continue;
		kill_sides(sv, terminated || sv->signal != 0 ? SIGKILL : SIGTERM);
		terminated = true;
		sv->deadline = 0;
		set_deadline(sv, QUIT_MS);
	}
}

/* Create a private directory for the sockets of a pair. */
static int
make_dir(struct supervisor *sv)
{
	const char *base = getenv("XDG_RUNTIME_DIR");

	/* A socket path is limited to 108 bytes. */
	if (base == NULL || strlen(base) > 32 || access(base, W_OK) != 0)
		base = "/tmp";
	snprintf(sv->dir, sizeof(sv->dir), "%s/comch-perf-XXXXXX", base);
	if (mkdtemp(sv->dir) != NULL)
		return 0;
	fprintf(stderr, "comch-perf: create directory %s: %s\n", sv->dir, strerror(errno));
	return -1;
}

static void
fill_side(const struct supervisor *sv, struct side *side, const struct options *opts,
		const struct plan *plan, const struct side_cpus *cpus)
{
	side->opts = opts;
	side->plan = plan;
	side->cpus = cpus;
	side->dir = sv->dir[0] != '\0' ? sv->dir : NULL;
	side->same_process = opts->same_process && plan->place == PERF_TWO_SIDES;
}

/* Plan the process of a side, which may have both. */
static void
add_side(struct supervisor *sv, const struct options *opts, const struct plan *plan,
		const struct side_cpus *cpus, bool host)
{
	struct side *side = &sv->children[sv->nb++].side;

	fill_side(sv, side, opts, plan, cpus);
	side->host = host;
	eal_prefix(side);
	if (!side->same_process)
		return;
	fill_side(sv, &sv->dpu, opts, plan, cpus);
	side->dpu = &sv->dpu;
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
proc_supervise(const struct options *opts, const struct plan *plan, const struct side_cpus *cpus)
{
	struct supervisor sv = { .nb = 0 };

	if (opts->role == PERF_ROLE_BOTH && plan->place != PERF_BARE && make_dir(&sv) != 0)
		return 1;
	if (opts->role != PERF_ROLE_HOST && plan->place == PERF_TWO_SIDES && !opts->same_process)
		add_side(&sv, opts, plan, cpus, false);
	if (opts->role != PERF_ROLE_DPU)
		add_side(&sv, opts, plan, cpus, true);
	block_signals(&sv);
	if (start_sides(&sv) != 0)
		kill_sides(&sv, SIGKILL);
	watch(&sv);
	clean(&sv);
	return exit_status(&sv);
}
