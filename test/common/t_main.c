/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t_main.h"

/** A case that has not ended by itself: something hangs for good. */
#define T_CASE_SECONDS 280

static int
run_case(const struct t_case *c)
{
	int status = 0;
	pid_t pid;

	printf("== %s\n", c->name);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return 1;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(T_CASE_SECONDS);
		t_dir();
		c->fn();
		t_dir_remove();
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	if (WIFSIGNALED(status)) {
		printf("   ended by signal %d\n", WTERMSIG(status));
		return 1;
	}
	return WEXITSTATUS(status);
}

static bool
wanted(const char *name, int argc, char **argv)
{
	bool all = true;
	int i;

	for (i = 1; i < argc; i++) {
		if (argv[i][0] == '-' && strcmp(argv[i] + 1, name) == 0)
			return false;
		if (strcmp(argv[i], name) == 0)
			return true;
		all &= argv[i][0] == '-';
	}
	return all;
}

int
t_main(const struct t_case *cases, unsigned int nb, int argc, char **argv)
{
	unsigned int i, passed = 0, failed = 0, skipped = 0;
	int rc;

	for (i = 0; i < nb; i++) {
		if (!wanted(cases[i].name, argc, argv))
			continue;
		rc = run_case(&cases[i]);
		if (rc == 0) {
			passed++;
		} else if (rc == T_EXIT_SKIP) {
			skipped++;
		} else {
			printf("   FAILED: %s\n", cases[i].name);
			failed++;
		}
	}
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	if (failed > 0 || passed + skipped == 0)
		return 1;
	return passed == 0 ? T_EXIT_SKIP : 0;
}
