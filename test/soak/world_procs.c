/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Actors are processes that talk over shared memory. */

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

static const struct t_driver driver = {
	.name = "comch_shm", .has_dir = true, .has_kernel_peer = true,
};

static void
procs_open(struct soak_books *b)
{
	RTE_SET_USED(b);
	t_driver = &driver;
}

static int
process(int fd, void *arg)
{
	struct actor_conf *conf = arg;

	t_eal_start(1);
	conf->books->procs[conf->number].pid = getpid();
	actor_live(fd, conf);
	t_eal_stop();
	return 0;
}

static void
procs_start(struct worker *w)
{
	t_proc_start(&w->proc, w->name, process, &w->conf);
	soak_set(&w->conf.books->procs[w->conf.number].pid, w->proc.pid);
}

static void
procs_kill(struct worker *w, struct soak_rnd *rnd)
{
	RTE_SET_USED(rnd);
	t_proc_kill(&w->proc);
}

static void
procs_stop(struct worker *w)
{
	t_proc_signal(&w->proc, SIGSTOP);
}

static void
procs_cont(struct worker *w)
{
	t_proc_signal(&w->proc, SIGCONT);
}

/* As it was told? */
static bool
procs_has_ended(struct worker *w)
{
	struct soak_books *b = w->conf.books;
	int status;

	if (waitpid(w->proc.pid, &status, WNOHANG) != w->proc.pid)
		return false;
	close(w->proc.fd);
	if (WIFSIGNALED(status))
		soak_fault(b, "%s %d was ended by signal %d", w->name, (int)w->proc.pid,
			WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0 || b->procs[w->conf.number].order != SOAK_QUIT)
		soak_fault(b, "%s %d ended with status %d", w->name, (int)w->proc.pid,
			WEXITSTATUS(status));
	return true;
}

static bool
procs_is_gone(struct worker *w)
{
	RTE_SET_USED(w);
	return true;
}

static const char *
procs_dev(uint32_t number)
{
	return number == 0 ? "role=dpu,rep=pf0,max_msg_size=131072" :
		"role=host,func=pf0,max_msg_size=131072";
}

/* Nothing but the function's directory is left where both ends meet. */
static void
procs_close(struct soak_books *b)
{
	const char *const dirs[] = { ".", "pf0" };
	struct dirent *ent;
	char path[4096];
	unsigned int i;
	DIR *d;

	for (i = 0; i < RTE_DIM(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", t_dir(), dirs[i]);
		d = opendir(path);
		if (d == NULL) {
			soak_fault(b, "%s: %s", path, strerror(errno));
			continue;
		}
		while ((ent = readdir(d)) != NULL)
			if (ent->d_name[0] != '.' && strcmp(ent->d_name, "pf0") != 0)
				soak_fault(b, "%s/%s is left", path, ent->d_name);
		closedir(d);
	}
}

const struct soak_world soak_world = {
	.driver = "shm",
	.keeps_accepted = true,
	.counts_each = true,
	.open = procs_open,
	.start = procs_start,
	.kill = procs_kill,
	.stop = procs_stop,
	.cont = procs_cont,
	.has_ended = procs_has_ended,
	.is_gone = procs_is_gone,
	.dev = procs_dev,
	.close = procs_close,
};
