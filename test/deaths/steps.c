/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "steps.h"

#define MARK SIGUSR1

void
steps_mark(void)
{
	const pid_t pid = getpid();

	/* Not raise(), whose system calls depend on the C library. */
	syscall(SYS_tgkill, pid, pid, MARK);
}

/* Wait for a stop: its signal, SIGTRAP for a step. */
static int
wait_for_stop(struct t_proc *p)
{
	int status = 0;

	T_EQ(waitpid(p->pid, &status, 0), p->pid);
	if (!WIFSTOPPED(status))
		T_FAIL("%s has ended by itself, status %#x", p->name, (unsigned int)status);
	return WSTOPSIG(status) & 0x7f;
}

static void
go_on(struct t_proc *p, int request, int sig)
{
	if (ptrace((enum __ptrace_request)request, p->pid, NULL, (void *)(intptr_t)sig) != 0)
		T_FAIL("ptrace(%d) %s: %s", request, p->name, strerror(errno));
}

void
steps_begin(struct t_proc *p)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;

	if (ptrace(PTRACE_SEIZE, p->pid, NULL, (void *)options) != 0)
		T_FAIL("ptrace(PTRACE_SEIZE) of an own child: %s (needs a system that permits it: "
			"no seccomp filter against ptrace, kernel.yama.ptrace_scope below 3)",
			strerror(errno));
	go_on(p, PTRACE_INTERRUPT, 0);
	wait_for_stop(p);
}

/* One step of this kind; false: at a mark. */
static bool
one(struct t_proc *p, int request)
{
	int sig;

	go_on(p, request, 0);
	for (;;) {
		sig = wait_for_stop(p);
		if (sig == MARK)
			return false;
		if (sig == SIGTRAP && request != PTRACE_CONT)
			return true;
		go_on(p, request, sig == SIGTRAP ? 0 : sig);
	}
}

bool
steps_one(struct t_proc *p, enum steps_kind kind)
{
	return one(p, kind == STEPS_CALLS ? PTRACE_SYSCALL : PTRACE_SINGLESTEP);
}

uint64_t
steps_run(struct t_proc *p, unsigned int *at, unsigned int phase, enum steps_kind kind,
		uint64_t n)
{
	uint64_t i;

	/* Marks are counted from 1: at 0 it has not begun. */
	for (; *at < phase + 1; (*at)++)
		while (one(p, PTRACE_CONT))
			;
	for (i = 0; i < n; i++) {
		if (!steps_one(p, kind)) {
			(*at)++;
			break;
		}
	}
	return i;
}
