/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t_figures.h"
#include "trial.h"

/* A life that takes longer hangs. */
#define LIFE_SECONDS 60
/* Failures after which the rest is not tried. */
#define MAX_BAD 10
/* More than any trial needs. */
#define MAX_LIVES 1000

/* Of LeakSanitizer, where it is. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/** Of one process with a life, for its parent. */
struct report {
	struct t_figures figures;
	bool felt; /* something was made to fail */
	int ret;
	char step[128];
};

static struct report *report;

/* LeakSanitizer warns of the parent's thread, which is none of this process: hide that. */
static void
check_leaks(void)
{
	char line[512];
	int err, keep;
	FILE *f;

	if (__lsan_do_recoverable_leak_check == NULL)
		return;
	f = tmpfile();
	keep = dup(STDERR_FILENO);
	T_CHECK(f != NULL && keep >= 0);
	T_GE(dup2(fileno(f), STDERR_FILENO), 0);
	err = __lsan_do_recoverable_leak_check();
	T_GE(dup2(keep, STDERR_FILENO), 0);
	rewind(f);
	while (err != 0 && fgets(line, sizeof(line), f) != NULL)
		fputs(line, stderr);
	T_EQ(err, 0);
}

static void
run_life(const struct trial *t, unsigned int n, const struct t_figures *want)
{
	struct life_conf clean = t->life;
	const char *step = "";

	clean.gives_up = NULL;
	t_figures_begin();
	t->begin(t, n);
	report->ret = t->run(&t->life, &step);
	snprintf(report->step, sizeof(report->step), "%s", step == NULL ? "" : step);
	report->felt = t->end(t, report->ret);
	if (report->ret != 0 && !report->felt)
		T_FAIL("%s: %d, and nothing was made to fail", report->step, report->ret);
	T_EQ(t->run(&clean, &step), 0);
	if (want->fds != 0) {
		t_figures_wait(want);
	} else {
		/* The first of all: what a process has when all is over. */
		T_EQ(t->run(&clean, &step), 0);
		t_settle();
		report->figures = t_figures_least();
	}
	check_leaks();
}

/* False: it has failed, and said why. */
static bool
in_process(const struct trial *t, unsigned int n, const struct t_figures *want)
{
	const uint64_t begin = t_now_ms();
	int status = 0;
	pid_t pid;

	memset(report, 0, sizeof(*report));
	/* Unless it says otherwise: one that crashes does not. */
	report->felt = true;
	fflush(stdout);
	pid = fork();
	T_GE(pid, 0);
	if (pid == 0) {
		alarm(LIFE_SECONDS * t_patience());
		run_life(t, n, want);
		_exit(0);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	if (getenv("T_VERBOSE") != NULL)
		printf("%u: %u ms: %s: %d %s\n", n, (unsigned int)(t_now_ms() - begin),
			t->text(), report->ret, report->step);
	if (status == 0)
		return true;
	fprintf(stderr, "life %u, %s (step \"%s\"): %s %d\n", n, t->text(), report->step,
		WIFSIGNALED(status) ? "signal" : "exit status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return false;
}

void
trial_run(const struct trial *t)
{
	unsigned int n = 0, errors = 0, bad = 0;
	struct t_figures want = { 0 };

	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		-1, 0);
	T_CHECK(report != MAP_FAILED);
	T_CHECK(in_process(t, TRIAL_NONE, &want));
	want = report->figures;
	do {
		bad += !in_process(t, ++n, &want);
		errors += report->ret != 0;
		T_LT(n, MAX_LIVES);
	} while (bad < MAX_BAD && report->felt);
	printf("   %u lives, of which %u could not do all\n", n, errors);
	T_EQ(bad, 0);
	T_GT(errors, 0);
}
