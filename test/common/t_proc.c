/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t_proc.h"

void
t_proc_start(struct t_proc *p, const char *name, int (*fn)(int fd, void *arg), void *arg)
{
	int sv[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		T_FAIL("socketpair: %s", strerror(errno));
	fflush(stdout);
	fflush(stderr);
	p->name = name;
	p->fd = sv[0];
	p->pid = fork();
	if (p->pid < 0)
		T_FAIL("fork: %s", strerror(errno));
	if (p->pid > 0) {
		close(sv[1]);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(sv[0]);
	rc = fn(sv[1], arg);
	fflush(stdout);
	fflush(stderr);
	_exit(rc);
}

static bool
ended(const struct t_proc *p, int timeout_ms)
{
	int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	bool yes;

	if (fd < 0)
		T_FAIL("pidfd_open %s: %s", p->name, strerror(errno));
	yes = t_readable(fd, timeout_ms);
	close(fd);
	return yes;
}

bool
t_proc_has_ended(const struct t_proc *p)
{
	return ended(p, 0);
}

void
t_proc_join(struct t_proc *p)
{
	int status = 0;

	if (!ended(p, T_TIMEOUT_MS)) {
		t_proc_kill(p);
		T_FAIL("%s does not end", p->name);
	}
	if (waitpid(p->pid, &status, 0) != p->pid)
		T_FAIL("waitpid %s: %s", p->name, strerror(errno));
	close(p->fd);
	p->pid = -1;
	if (WIFSIGNALED(status))
		T_FAIL("%s was ended by signal %d", p->name, WTERMSIG(status));
	if (WEXITSTATUS(status) == T_EXIT_SKIP)
		t_skip("%s cannot run here", p->name);
	if (WEXITSTATUS(status) != 0)
		T_FAIL("%s ended with status %d", p->name, WEXITSTATUS(status));
}

void
t_proc_signal(struct t_proc *p, int sig)
{
	if (kill(p->pid, sig) != 0)
		T_FAIL("kill %s %d: %s", p->name, sig, strerror(errno));
}

void
t_proc_kill(struct t_proc *p)
{
	int status = 0;

	t_proc_signal(p, SIGKILL);
	if (waitpid(p->pid, &status, 0) != p->pid)
		T_FAIL("waitpid %s: %s", p->name, strerror(errno));
	close(p->fd);
	p->pid = -1;
}

void
t_proc_stop(struct t_proc *p)
{
	int status = 0;

	t_proc_signal(p, SIGSTOP);
	if (waitpid(p->pid, &status, WUNTRACED) != p->pid)
		T_FAIL("waitpid %s: %s", p->name, strerror(errno));
	if (!WIFSTOPPED(status))
		T_FAIL("%s has ended, status %x", p->name, (unsigned int)status);
}

void
t_say(int fd, char code, uint64_t value)
{
	const struct t_step step = { .code = (uint32_t)code, .value = value };

	if (send(fd, &step, sizeof(step), MSG_NOSIGNAL) != (ssize_t)sizeof(step))
		T_FAIL("cannot say '%c': %s", code, strerror(errno));
}

static bool
hear(int fd, struct t_step *step, int timeout_ms)
{
	ssize_t n;

	if (!t_readable(fd, timeout_ms))
		return false;
	n = recv(fd, step, sizeof(*step), 0);
	if (n != (ssize_t)sizeof(*step))
		T_FAIL("the other process is gone");
	return true;
}

uint64_t
t_hear(int fd, char code)
{
	struct t_step step;

	if (!hear(fd, &step, T_TIMEOUT_MS))
		T_FAIL("waited in vain for '%c'", code);
	if (step.code != (uint32_t)code)
		T_FAIL("heard '%c', not '%c'", (char)step.code, code);
	return step.value;
}

bool
t_listen(int fd, struct t_step *step)
{
	return hear(fd, step, 0);
}
