/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A descriptor whose close() never returns: a file of FUSE whose daemon does
 * not answer FLUSH, so that not even SIGKILL ends the thread in it. The victim,
 * a process of its own, serves on, and once it is killed its peers are told
 * and its name is free at once.
 */

#define FUSE_USE_VERSION 35

#include <errno.h>
#include <fuse_lowlevel.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mp.h"
#include "raw_peer.h"
#include "runs.h"

#define FILE_INO 2
/* Within this time peers hear of a death, and a name is free. */
#define DEATH_MS 1000

/* The daemon */

struct daemon {
	pid_t pid;
	pid_t owner;    /* whose own close() is answered */
	int stuck[2];   /* a byte for each close() that is not */
	char dir[256];
};

static struct daemon the_daemon;

static void
attr_of(fuse_ino_t ino, struct stat *st)
{
	*st = (struct stat){
		.st_ino = ino, .st_nlink = 1,
		.st_mode = ino == FILE_INO ? S_IFREG | 0666 : S_IFDIR | 0777,
	};
}

static void
on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = { .ino = FILE_INO, .attr_timeout = 60, .entry_timeout = 60 };

	RTE_SET_USED(parent);
	RTE_SET_USED(name);
	attr_of(FILE_INO, &e.attr);
	fuse_reply_entry(req, &e);
}

static void
on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
	struct stat st;

	RTE_SET_USED(info);
	attr_of(ino, &st);
	fuse_reply_attr(req, &st, 60);
}

static void
on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
	RTE_SET_USED(ino);
	fuse_reply_open(req, info);
}

static void
on_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
	RTE_SET_USED(ino);
	RTE_SET_USED(info);
	if (fuse_req_ctx(req)->pid == the_daemon.owner)
		fuse_reply_err(req, 0);
	else if (write(the_daemon.stuck[1], "s", 1) != 1)
		_exit(1);
}

static void
daemon_main(void)
{
	static const struct fuse_lowlevel_ops ops = {
		.lookup = on_lookup, .getattr = on_getattr, .open = on_open, .flush = on_flush,
	};
	char *argv[] = { (char *)(uintptr_t)"t_shm_fuse", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	struct fuse_session *se;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (se == NULL || fuse_session_mount(se, the_daemon.dir) != 0 ||
			write(the_daemon.stuck[1], "m", 1) != 1)
		_exit(1);
	fuse_session_loop(se);
	_exit(0);
}

static void
daemon_start(void)
{
	char byte;

	/* Mounts of this test's own: nothing stays, however it ends. */
	if (access("/dev/fuse", R_OK | W_OK) != 0 || unshare(CLONE_NEWNS) != 0 ||
			mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		t_skip("no /dev/fuse, or no right to mount: %s", strerror(errno));
	snprintf(the_daemon.dir, sizeof(the_daemon.dir), "%s/fuse", t_dir());
	T_EQ(mkdir(the_daemon.dir, 0700), 0);
	T_EQ(pipe(the_daemon.stuck), 0);
	the_daemon.owner = getpid();
	the_daemon.pid = fork();
	if (the_daemon.pid == 0)
		daemon_main();
	T_CHECK(t_readable(the_daemon.stuck[0], T_TIMEOUT_MS));
	T_EQ(read(the_daemon.stuck[0], &byte, 1), 1);
}

/* Its death answers whatever waits. */
static void
daemon_end(void)
{
	T_EQ(kill(the_daemon.pid, SIGKILL), 0);
	T_EQ(waitpid(the_daemon.pid, NULL, 0), the_daemon.pid);
	T_EQ(umount2(the_daemon.dir, MNT_DETACH), 0);
}

static int
evil_file(void)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/f", the_daemon.dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	T_GE(fd, 0);
	return fd;
}

/* A thread of the victim is in a close() that does not return. */
static void
wait_stuck(void)
{
	char byte;

	T_CHECK(t_readable(the_daemon.stuck[0], T_TIMEOUT_MS));
	T_EQ(read(the_daemon.stuck[0], &byte, 1), 1);
}

/* The actors */

/* Echoes until told to end; says how long its longest runs took. */
static int
server(int fd, void *arg)
{
	struct runs runs = { 0 };
	struct t_step step;
	struct mp_end e;

	RTE_SET_USED(arg);
	mp_server_open(&e, NULL);
	t_say(fd, 'R', 0);
	while (!t_listen(fd, &step))
		runs_step(&runs, e.node);
	t_say(fd, 'L', runs.longest[0]);
	t_say(fd, 'M', runs.longest[1]);
	if (step.code == 'K')
		for (;;)
			t_step(e.node);
	mp_close(&e);
	return 0;
}

/* An honest one: says when it is connected, and when it is not any more. */
static int
client(int fd, void *arg)
{
	struct mp_end e;

	RTE_SET_USED(arg);
	mp_client_open(&e, NULL);
	t_say(fd, 'C', 0);
	T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_DISCONNECTED, e.conn) == 1);
	t_say(fd, 'D', t_now_ms());
	mp_close(&e);
	return 0;
}

/* The cases; the director is the attacker, and has no EAL. */

static void
attack(void (*send)(struct raw_peer *a, int fd))
{
	struct t_proc victim, honest, next;
	struct raw_peer a;
	struct runs runs;
	uint64_t killed;
	int fd;

	daemon_start();
	t_proc_start(&victim, "server", server, NULL);
	t_hear(victim.fd, 'R');
	t_proc_start(&honest, "client", client, NULL);
	t_hear(honest.fd, 'C');
	raw_prepare(&a, raw_dial(t_dir(), "pf0", MP_NAME), RAW_CELLS);
	fd = evil_file();
	send(&a, fd);
	close(fd);
	wait_stuck();
	t_say(victim.fd, 'K', 0);
	runs.longest[0] = t_hear(victim.fd, 'L');
	runs.longest[1] = t_hear(victim.fd, 'M');
	runs_check(&runs);
	killed = t_now_ms();
	t_proc_signal(&victim, SIGKILL);
	T_TIME_LE(t_hear(honest.fd, 'D') - killed, DEATH_MS);
	t_proc_join(&honest);
	/* The dead one is still there, in its close(); its name is not. */
	T_EQ(kill(victim.pid, 0), 0);
	t_proc_start(&next, "next server", server, NULL);
	t_hear(next.fd, 'R');
	t_say(next.fd, 'E', 0);
	t_hear(next.fd, 'L');
	t_hear(next.fd, 'M');
	t_proc_join(&next);
	raw_close(&a);
	daemon_end();
	t_proc_kill(&victim);
}

static void
in_hello(struct raw_peer *a, int fd)
{
	raw_sock_send(a->sock, "hello", 5, &fd, 1);
}

static void
case_hello(void)
{
	attack(in_hello);
}

static void
in_mr_add(struct raw_peer *a, int fd)
{
	raw_hello(a);
	while (!raw_is_up(a))
		;
	raw_send_hello(a, MP_NAME, 4080, 64);
	raw_sock_send(a->sock, "f", 1, &fd, 1);
}

static void
case_mr_add(void)
{
	attack(in_mr_add);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "hello", case_hello },
		{ "mr_add", case_mr_add },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
