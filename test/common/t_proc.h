/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_PROC_H
#define T_PROC_H

/*
 * Tests of several processes: a director, which has no EAL, forks actors,
 * each with an EAL of its own, and tells them step by step what to do. A step
 * is one small datagram on a socketpair; no process sleeps to guess the progress
 * of another.
 *
 *     director                         actor
 *     t_proc_start(&p, "server", fn)   fn(fd, arg)
 *     t_hear(p.fd, 'R')         <----- t_say(fd, 'R', 0)     ready
 *     t_say(p.fd, 'G', 100)     -----> t_listen(fd, &step)   go, without waiting
 *     t_proc_join(&p)                  return 0
 */

#include <sys/types.h>

#include "t.h"

struct t_step {
	uint32_t code;  /**< A letter. */
	uint32_t aux;
	uint64_t value;
};

struct t_proc {
	const char *name;
	pid_t pid;
	int fd;
};

/* Fork an actor. It ends when fn returns, with that status, or when the
 * director dies.
 */
void t_proc_start(struct t_proc *p, const char *name, int (*fn)(int fd, void *arg),
		void *arg);
/* Does not wait. */
bool t_proc_has_ended(const struct t_proc *p);
/* Wait for its end: it must return 0. */
void t_proc_join(struct t_proc *p);
/* Send a signal. */
void t_proc_signal(struct t_proc *p, int sig);
/* SIGKILL and wait. */
void t_proc_kill(struct t_proc *p);
/* Wait until a SIGSTOP has taken effect. */
void t_proc_stop(struct t_proc *p);

/* Send a step; the other side must be alive. */
void t_say(int fd, char code, uint64_t value);
/* Wait for a step with this code; its value. */
uint64_t t_hear(int fd, char code);
/* Is there a step? Does not wait. */
bool t_listen(int fd, struct t_step *step);

#endif /* T_PROC_H */
