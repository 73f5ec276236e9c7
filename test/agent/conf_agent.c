/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * conformance-agent: the conformance suite with one end in an agent's process, on this
 * machine or another; see usage(). The cases of a group run in one process with one EAL,
 * and one session of the agent. After a case that fails, the rest of its group has a new
 * process and a new session.
 */

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_log.h>

#include "conf.h"
#include "conf_agent.h"
#include "far.h"

/** A case that has not ended by itself hangs. */
#define CASE_SECONDS 120

struct one {
	const char *group;
	const char *name;
	void (*fn)(void);
	uint64_t needs;       /**< See t_need.h. */
	bool wanted;
	const char *excluded; /**< Why it cannot run with an agent. */
};

#define ROW(inst, group, name, ...) \
	{ #group, #name, conf_##group##_##name, CONF_NEEDS(__VA_ARGS__), false, NULL },

static struct one cases[] = { CONF_ALL(ROW, none) };

#define NB_CASES RTE_DIM(cases)

/** How far the process of a group has come, in memory shared with it. */
struct progress {
	bool begun; /**< EAL is there, and the agent. */
	bool passed[NB_CASES];
};

static struct progress *progress;
static struct conf_agent_options opt;
static unsigned int nb_passed, nb_failed, nb_skipped, nb_excluded;

static void
run_one(unsigned int i)
{
	const uint32_t log_level = rte_log_get_global_level();
	const uint64_t begin = t_now_ms();
	uint64_t ms;

	alarm(CASE_SECONDS * t_patience());
	conf_need(cases[i].needs);
	cases[i].fn();
	T_EQ(rte_comch_dev_count(), 0);
	t_dir_remove();
	rte_log_set_global_level(log_level);
	ms = t_now_ms() - begin;
	printf("ok       %s/%s %lu.%03lu s\n", cases[i].group, cases[i].name,
			(unsigned long)(ms / 1000), (unsigned long)(ms % 1000));
	fflush(stdout);
	progress->passed[i] = true;
}

/* The cases from first on, up to end, in this process. */
static void
run_group(unsigned int first, unsigned int end)
{
	unsigned int i;

	t_eal_start(1);
	if (opt.agent != NULL)
		far_connect(opt.agent, opt.far_role);
	progress->begun = true;
	for (i = first; i < end; i++)
		if (cases[i].wanted)
			run_one(i);
	far_disconnect();
	t_eal_stop();
}

/* What became of the cases; the first of those that are to be run next. */
static unsigned int
report(unsigned int first, unsigned int end, int status)
{
	unsigned int i;

	if (!progress->begun) {
		/* It would be the same for all others. */
		printf("FAILED   %s/%s and all after it: no EAL, or no agent\n",
				cases[first].group, cases[first].name);
		nb_failed++;
		return NB_CASES;
	}
	for (i = first; i < end; i++) {
		if (!cases[i].wanted)
			continue;
		if (!progress->passed[i])
			break;
		nb_passed++;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return end;
	if (i == end) {
		/* After the last one: EAL, or a leak. */
		printf("FAILED   end of group %s, status %#x\n", cases[first].group,
				(unsigned int)status);
		nb_failed++;
		return end;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == T_EXIT_SKIP) {
		printf("skipped  %s/%s\n", cases[i].group, cases[i].name);
		nb_skipped++;
		return i + 1;
	}
	printf("FAILED   %s/%s%s\n", cases[i].group, cases[i].name,
		!WIFSIGNALED(status) ? "" : WTERMSIG(status) == SIGALRM ?
			": it does not end" : ": ended by a signal");
	nb_failed++;
	return i + 1;
}

static unsigned int
fork_group(unsigned int first, unsigned int end)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	progress->begun = false;
	pid = fork();
	if (pid < 0)
		T_FAIL("fork: %s", strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_group(first, end);
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		T_FAIL("waitpid: %s", strerror(errno));
	return report(first, end, status);
}

static void
run_all(void)
{
	unsigned int i = 0, end;

	while (i < NB_CASES) {
		if (!cases[i].wanted) {
			i++;
			continue;
		}
		for (end = i; end < NB_CASES && strcmp(cases[end].group, cases[i].group) == 0; )
			end++;
		i = fork_group(i, end);
	}
}

/* "dp", "dp/sizes"; what begins with '-' is left out. */
static bool
choose(const char *arg)
{
	const bool on = arg[0] != '-';
	unsigned int i, nb = 0;
	char full[64];

	if (!on)
		arg++;
	for (i = 0; i < NB_CASES; i++) {
		snprintf(full, sizeof(full), "%s/%s", cases[i].group, cases[i].name);
		if (strcmp(arg, full) != 0 && strcmp(arg, cases[i].group) != 0)
			continue;
		cases[i].wanted = on;
		nb++;
	}
	return nb > 0;
}

static void
exclude(void)
{
	const char *why;
	unsigned int i;

	for (i = 0; i < NB_CASES; i++) {
		why = conf_agent_excluded(cases[i].group, cases[i].name);
		if (!cases[i].wanted || why == NULL)
			continue;
		cases[i].wanted = false;
		printf("excluded %s/%s: %s\n", cases[i].group, cases[i].name, why);
		nb_excluded++;
	}
}

static int
choose_all(int nb, char **args)
{
	bool all = true;
	unsigned int c;
	int i;

	for (i = 0; i < nb; i++)
		all &= args[i][0] == '-';
	for (c = 0; c < NB_CASES; c++)
		cases[c].wanted = all;
	for (i = 0; i < nb; i++) {
		if (choose(args[i]))
			continue;
		fprintf(stderr, "conformance-agent: no case or group is named %s\n", args[i]);
		return -1;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	int nb = conf_agent_options(&opt, argc, argv);

	if (nb < 0)
		return 2;
	if (choose_all(argc - nb, argv + nb) != 0)
		return 2;
	t_driver = &opt.driver;
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (progress == MAP_FAILED)
		T_FAIL("mmap: %s", strerror(errno));
	if (opt.agent != NULL)
		exclude();
	run_all();
	if (!conf_agent_spawned_end()) {
		printf("FAILED   the agent's end; its output says why\n");
		nb_failed++;
	}
	printf("%u passed, %u failed, %u skipped, %u excluded\n", nb_passed, nb_failed,
			nb_skipped, nb_excluded);
	return nb_failed > 0 || nb_passed + nb_skipped == 0 ? 1 : 0;
}
