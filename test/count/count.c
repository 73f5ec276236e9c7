/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Run one row under callgrind; devtools/count-instructions.sh does so for all. With --calls,
 * count its system calls instead: this process traces a child that runs the row.
 *
 * Each side is counted in spans, which are dumps of callgrind, named after the
 * side. Once a millisecond a poll looks at its descriptors; how many spans that
 * is in depends on the machine and its load, so no poll does it within a span.
 */

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_comch_poll.h>
#include <rte_version.h>

#include "base/comch_poll.h"
#include "count.h"

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

#define SPANS 24
#define SPAN_STEPS 32
#define WARM_UP_STEPS 256

/* More than any row has. */
#define MAX_POLLS 8

enum count_side count_side;

static struct rte_comch_poll *polls[MAX_POLLS];
static unsigned int nb_polls;

/* Before the library's: notes each poll of this process, also those that libcomch_doca makes. */
struct rte_comch_poll *
rte_comch_poll_create(const struct rte_comch_poll_conf *conf)
{
	struct rte_comch_poll *(*create)(const struct rte_comch_poll_conf *conf);
	struct rte_comch_poll *poll;

	create = (__typeof__(create))dlsym(RTLD_NEXT, "rte_comch_poll_create");
	T_CHECK(create != NULL);
	poll = create(conf);
	T_LT(nb_polls, MAX_POLLS);
	polls[nb_polls++] = poll;
	return poll;
}

void (*count_asleep)(void);

/* Between two of these within a counted call of the receiver, nothing is counted. */
static void
interrupt(void)
{
	if (count_side == COUNT_RECV)
		CALLGRIND_TOGGLE_COLLECT;
	count_mark(COUNT_RECV);
}

/* Before the library's: what wakes the receiver happens when it is asleep, in the same thread. */
int
epoll_wait(int epfd, struct epoll_event *events, int n, int timeout)
{
	void (*fn)(void) = timeout != 0 ? count_asleep : NULL;

	if (fn != NULL) {
		count_asleep = NULL;
		interrupt();
		fn();
		interrupt();
	}
	return epoll_pwait(epfd, events, n, timeout, NULL);
}

static uint64_t scan_cycles;

/* No look at descriptors by the clock from now on. */
static void
pin_polls(void)
{
	unsigned int i;

	if (nb_polls > 0 && scan_cycles == 0)
		scan_cycles = polls[0]->scan_cycles;

	for (i = 0; i < nb_polls; i++) {
		/* Nor after a sleep, when the next look is due after this time. */
		polls[i]->scan_cycles = UINT64_MAX / 64;
		/* A slow machine does not read wake-ups sooner. */
		polls[i]->unread_ms = 1000 * 1000;
		polls[i]->next_scan = UINT64_MAX;
		polls[i]->next_look = UINT64_MAX;
	}
}

static void
unpin_polls(void)
{
	unsigned int i;

	for (i = 0; i < nb_polls; i++) {
		polls[i]->scan_cycles = scan_cycles;
		polls[i]->next_scan = polls[i]->next_look = 0;
	}
}

static const struct count_row *const all_rows[] = {
	count_rows_native,
	count_rows_msgq,
#ifdef COUNT_DOCA
	count_rows_doca,
	count_rows_cchan,
#endif
};

/* Then reading wake-ups takes fewer calls. */
static bool
sockets_refuse_fds(void)
{
	const int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), no = 0;
	int ret;

	T_GE(sock, 0);
	ret = setsockopt(sock, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof(no));
	close(sock);
	return ret == 0;
}

static void
list(void)
{
	const struct count_row *row;
	unsigned int i;

	for (i = 0; i < RTE_DIM(all_rows); i++)
		for (row = all_rows[i]; row->name != NULL; row++)
			printf("%-14s %4u  %s\n", row->name, row->nb * SPAN_STEPS, row->help);
}

static const struct count_row *
find(const char *name)
{
	const struct count_row *row;
	unsigned int i;

	for (i = 0; i < RTE_DIM(all_rows); i++)
		for (row = all_rows[i]; row->name != NULL; row++)
			if (strcmp(row->name, name) == 0)
				return row;
	return NULL;
}

static void
steps(const struct count_row *row, unsigned int n)
{
	while (n-- > 0)
		row->step();
}

static void
span(const struct count_row *row, enum count_side side, const char *name)
{
	pin_polls();
	count_side = side;
	steps(row, SPAN_STEPS);
	CALLGRIND_DUMP_STATS_AT(name);
}

static void
run(const struct count_row *row)
{
	unsigned int i;

	row->open();
	/* A MsgQ has none. If another row had none, the function above would not be in use. */
	T_CHECK(nb_polls > 0 || strncmp(row->name, "msgq", strlen("msgq")) == 0);
	steps(row, WARM_UP_STEPS);
	CALLGRIND_START_INSTRUMENTATION;
	for (i = 0; i < SPANS; i++) {
		span(row, COUNT_SEND, "send");
		span(row, COUNT_RECV, "receive");
	}
	CALLGRIND_STOP_INSTRUMENTATION;
	unpin_polls();
	count_side = COUNT_NONE;
	row->close();
}

/* System calls */

static bool traced;

/* A call that nothing else makes, and that does nothing. */
#define MARK SYS_getppid

void
count_mark(enum count_side side)
{
	if (traced && count_side == side)
		syscall(MARK, side);
}

/* One span of each side. */
static void
run_traced(const struct count_row *row)
{
	T_EQ(ptrace(PTRACE_TRACEME, 0, NULL, NULL), 0);
	row->open();
	steps(row, WARM_UP_STEPS);
	pin_polls();
	raise(SIGSTOP);
	traced = true;
	for (count_side = COUNT_SEND; count_side <= COUNT_RECV; count_side++)
		steps(row, SPAN_STEPS);
	traced = false;
	unpin_polls();
	count_side = COUNT_NONE;
	row->close();
}

/* What the parent has seen. */
struct calls {
	unsigned int nb[COUNT_RECV + 1];
	bool counts;            /* between two marks */
	enum count_side side;
};

static void
on_entry(struct calls *calls, const struct __ptrace_syscall_info *info)
{
	if (info->entry.nr == MARK) {
		calls->counts = !calls->counts;
		calls->side = (enum count_side)info->entry.args[0];
	} else if (calls->counts) {
		calls->nb[calls->side]++;
	}
}

/* Let the child run to the next entry or return of a call, or with other signals. */
static void
trace(pid_t child, struct calls *calls)
{
	struct __ptrace_syscall_info info;
	int status, sig = 0;

	while (ptrace(PTRACE_SYSCALL, child, NULL, sig) == 0 &&
			waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		sig = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
		if (sig == 0 && ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info) > 0 &&
				info.op == PTRACE_SYSCALL_INFO_ENTRY)
			on_entry(calls, &info);
	}
	T_CHECK(WIFEXITED(status));
	T_EQ(WEXITSTATUS(status), 0);
}

static int
count_calls(const struct count_row *row)
{
	struct calls calls = { .counts = false };
	const double nb = row->nb * SPAN_STEPS;
	pid_t child = fork();
	int status;

	T_GE(child, 0);
	if (child == 0) {
		t_dir();
		run_traced(row);
		t_dir_remove();
		exit(0);
	}
	T_EQ(waitpid(child, &status, 0), child);
	T_CHECK(WIFSTOPPED(status));
	T_EQ(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
	trace(child, &calls);
	printf("%s/calls %.4f %.4f\n", row->name, calls.nb[COUNT_SEND] / nb,
		calls.nb[COUNT_RECV] / nb);
	return 0;
}

int
main(int argc, char **argv)
{
	const struct count_row *row;

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("%s %s, %s%s\n", COMPILER, __VERSION__, rte_version(),
			sockets_refuse_fds() ? ", Linux 6.16 or later" : "");
		return 0;
	}
	row = argc == 2 ? find(argv[1]) : argc == 3 && strcmp(argv[1], "--calls") == 0 ?
		find(argv[2]) : NULL;
	if (row == NULL) {
		fprintf(stderr, "usage: count [--calls] ROW | --list | --version\n");
		return EXIT_FAILURE;
	}
	if (argc == 3)
		return count_calls(row);
	t_dir();
	run(row);
	t_dir_remove();
	return 0;
}
