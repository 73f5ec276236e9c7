/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * EAL starts with the first device, and the program does not notice: its
 * threads stay where they are and as they are, its signals come to it.
 */

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_dev.h>
#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "common/capture.h"
#include "common/logged.h"
#include "common/result.h"
#include "dev/eal.h"
#include "t_main.h"
#include "t_proc.h"

static doca_error_t
open_one(struct doca_dev **dev)
{
	struct doca_devinfo **list;
	doca_error_t ret;
	uint32_t nb;

	T_OK(doca_devinfo_create_list(&list, &nb));
	ret = doca_dev_open(list[0], dev);
	doca_devinfo_destroy_list(list);
	return ret;
}

static void
open_and_close(void)
{
	struct doca_dev *dev;

	T_OK(open_one(&dev));
	T_OK(doca_dev_close(dev));
}

/* A child's exit status after fn and exit(), which runs what _exit() does not. */
static int
in_child(void (*fn)(void))
{
	int status = 0;
	pid_t pid;

	pid = t_fork();
	if (pid == 0) {
		fn();
		exit(0);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

T_CASE(listing_needs_no_eal)
{
	struct doca_devinfo **list;
	uint32_t nb;

	T_OK(doca_devinfo_create_list(&list, &nb));
	doca_devinfo_destroy_list(list);
	T_EQ(rte_lcore_count(), 0);
}

static void
open_with_small_files(void)
{
	const struct rlimit limit = { .rlim_cur = 1 << 20, .rlim_max = 1 << 20 };

	T_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	open_and_close();
}

/* EAL's memory is a file. Where that is too large, EAL does without, and nothing ends us. */
T_CASE(limit_of_files)
{
	T_EQ(in_child(open_with_small_files), 0);
}

static void *
affinity_of_new(void *arg)
{
	T_EQ(pthread_getaffinity_np(pthread_self(), sizeof(cpu_set_t), arg), 0);
	return NULL;
}

T_CASE(affinity_stays)
{
	cpu_set_t before, after, of_new;
	pthread_t thread;

	T_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
	open_and_close();
	T_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
	T_CHECK(CPU_EQUAL(&before, &after));
	T_EQ(pthread_create(&thread, NULL, affinity_of_new, &of_new), 0);
	T_EQ(pthread_join(thread, NULL), 0);
	T_CHECK(CPU_EQUAL(&before, &of_new));
	T_EQ(rte_lcore_count(), 1);
	T_EQ(rte_lcore_id(), LCORE_ID_ANY);
}

/* Call fn for each thread of this process but the calling one. */
static unsigned int
foreach_other_thread(void (*fn)(const char *status))
{
	char path[64], text[4096];
	unsigned int nb = 0;
	struct dirent *e;
	size_t len;
	DIR *d;
	FILE *f;

	d = opendir("/proc/self/task");
	T_CHECK(d != NULL);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || atoi(e->d_name) == (int)getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", e->d_name);
		f = fopen(path, "r");
		/* One that has ended meanwhile, as that which started EAL. */
		if (f == NULL)
			continue;
		len = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
		if (len == 0)
			continue;
		text[len] = '\0';
		fn(text);
		nb++;
	}
	closedir(d);
	return nb;
}

/* All but KILL, STOP and the two that the C library keeps for itself. */
#define ALL_SIGNALS 0xfffffffe7ffbfeffULL

/* A thread that begins or ends has the library's two blocked as well. */
static void
blocks_all(const char *status)
{
	const char *p = strstr(status, "\nSigBlk:");

	/* TSan's own thread has done without. */
	if (strstr(status, "Name:\teal") == NULL && strstr(status, "Name:\ttelemetry") == NULL)
		return;
	T_CHECK(p != NULL);
	T_EQ(strtoull(p + strlen("\nSigBlk:"), NULL, 16) & ALL_SIGNALS, ALL_SIGNALS);
}

T_CASE(signals_stay)
{
	sigset_t mask, before, after;
	int i;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	T_EQ(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
	T_EQ(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
	open_and_close();
	T_EQ(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
	for (i = 1; i < NSIG; i++)
		T_EQ(sigismember(&before, i), sigismember(&after, i));
	T_GE(foreach_other_thread(blocks_all), 1);
}

T_CASE(it_is_quiet)
{
	t_capture_begin();
	open_and_close();
	T_STR_EQ(t_capture_end(), "");
}

static void *
start_eal(void *arg)
{
	*(doca_error_t *)arg = impl_eal_start();
	return NULL;
}

T_CASE(any_thread_may_start_it)
{
	pthread_t threads[4];
	doca_error_t ret[4];
	unsigned int i;
	void *p;

	for (i = 0; i < 4; i++)
		T_EQ(pthread_create(&threads[i], NULL, start_eal, &ret[i]), 0);
	for (i = 0; i < 4; i++) {
		T_EQ(pthread_join(threads[i], NULL), 0);
		T_OK(ret[i]);
	}
	/* And it has memory for more than the smallest program. */
	p = rte_malloc(NULL, 200 << 20, 0);
	T_CHECK(p != NULL);
	rte_free(p);
}

T_CASE(the_programs_own_comes_first)
{
	char dir[PATH_MAX];

	t_eal_start(2);
	snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
	open_and_close();
	T_EQ(rte_lcore_count(), 2);
	T_STR_EQ(rte_eal_get_runtime_dir(), dir);
	t_eal_stop();
}

static unsigned int
nb_entries(const char *dir)
{
	unsigned int nb = 0;
	struct dirent *e;
	DIR *d;

	d = opendir(dir);
	if (d == NULL)
		return 0;
	while ((e = readdir(d)) != NULL)
		nb += e->d_name[0] != '.';
	closedir(d);
	return nb;
}

/* Open a device; EAL's directory is there, and goes with the process. */
static void
open_with_dir(void)
{
	char path[PATH_MAX];

	open_and_close();
	T_EQ(access(rte_eal_get_runtime_dir(), F_OK), 0);
	snprintf(path, sizeof(path), "%s/dpdk", getenv("RUNTIME_DIRECTORY"));
	T_EQ(nb_entries(path), 1);
}

T_CASE(the_runtime_directory_goes)
{
	char path[PATH_MAX];

	setenv("RUNTIME_DIRECTORY", t_dir(), 1);
	T_EQ(in_child(open_with_dir), 0);
	snprintf(path, sizeof(path), "%s/dpdk", t_dir());
	T_EQ(access(path, F_OK), 0);
	T_EQ(nb_entries(path), 0);
}

static void
nothing(void)
{
}

/* A socket whose process is gone. */
static void
leave_socket(const char *dir, const char *name)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	T_LT(snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", dir, name),
		(int)sizeof(sun.sun_path));
	T_EQ(bind(fd, (const struct sockaddr *)&sun, sizeof(sun)), 0);
	close(fd);
}

/*
 * What one leaves that was killed, the next takes away; whatever its pid was, which may be
 * that of another process by now.
 */
T_CASE(directories_of_the_dead_go)
{
	char path[PATH_MAX], dead[PATH_MAX + 32];

	setenv("RUNTIME_DIRECTORY", t_dir(), 1);
	snprintf(path, sizeof(path), "%s/dpdk", t_dir());
	T_EQ(mkdir(path, 0700), 0);
	snprintf(dead, sizeof(dead), "%s/comch-doca-1", path);
	T_EQ(mkdir(dead, 0700), 0);
	leave_socket(dead, "dpdk_telemetry.v2");
	leave_socket(dead, "dpdk_telemetry.v2:1");
	T_EQ(in_child(open_with_dir), 0);
	T_EQ(nb_entries(path), 0);
}

/* In a pid namespace of its own, where this process has no pid. */
static int
open_elsewhere(int fd, void *arg)
{
	(void)arg;
	if (unshare(CLONE_NEWPID) != 0)
		return T_EXIT_SKIP;
	t_hear(fd, 'G');
	return in_child(open_and_close);
}

T_CASE(directories_of_another_pid_namespace_stay)
{
	char path[PATH_MAX];
	struct doca_dev *dev;
	struct t_proc p;

	setenv("RUNTIME_DIRECTORY", t_dir(), 1);
	t_proc_start(&p, "elsewhere", open_elsewhere, NULL);
	T_OK(open_one(&dev));
	snprintf(path, sizeof(path), "%s/dpdk_telemetry.v2", rte_eal_get_runtime_dir());
	T_EQ(access(path, F_OK), 0);
	t_say(p.fd, 'G', 0);
	t_proc_join(&p);
	T_EQ(access(path, F_OK), 0);
	T_OK(doca_dev_close(dev));
}

/* Two programs with the same pid, each in its namespace: the second has another directory. */
T_CASE(the_same_pid_of_another_namespace)
{
	char path[PATH_MAX];
	int fd;

	setenv("RUNTIME_DIRECTORY", t_dir(), 1);
	snprintf(path, sizeof(path), "%s/dpdk", t_dir());
	T_EQ(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/dpdk/comch-doca-%d", t_dir(), (int)getpid());
	T_EQ(mkdir(path, 0700), 0);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	T_GE(fd, 0);
	T_EQ(flock(fd, LOCK_EX), 0);
	open_and_close();
	T_STR_HAS(rte_eal_get_runtime_dir(), "-1");
	T_EQ(nb_entries(path), 0);
}

/* A forked child is told; it neither hangs nor takes its parent's directory away. */
static void
child_is_refused(void)
{
	struct doca_dev *dev;

	T_IS(open_one(&dev), DOCA_ERROR_NOT_SUPPORTED);
	T_IS(impl_eal_start(), DOCA_ERROR_NOT_SUPPORTED);
}

static struct doca_dev *of_parent;

static void
child_may_not_close(void)
{
	T_IS(doca_dev_close(of_parent), DOCA_ERROR_NOT_SUPPORTED);
}

T_CASE(a_forked_child_is_refused)
{
	/* Forked before: nothing is inherited. */
	T_EQ(in_child(open_and_close), 0);
	T_OK(open_one(&of_parent));
	T_EQ(in_child(child_is_refused), 0);
	T_EQ(in_child(child_may_not_close), 0);
	T_EQ(in_child(nothing), 0);
	T_EQ(access(rte_eal_get_runtime_dir(), F_OK), 0);
	T_OK(doca_dev_close(of_parent));
}

static void
become_nobody(void)
{
	if (getuid() != 0)
		return;
	T_EQ(setgroups(0, NULL), 0);
	T_EQ(setgid(65534), 0);
	T_EQ(setuid(65534), 0);
}

static void
open_as_nobody(void)
{
	become_nobody();
	t_capture_begin();
	open_and_close();
	T_STR_EQ(t_capture_end(), "");
}

/* Give a directory to whom become_nobody() makes us. */
static char *
nobodys_dir(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "/tmp/ct-%d-%s", (int)getpid(), name);
	T_EQ(mkdir(path, 0700), 0);
	if (getuid() == 0)
		T_EQ(chown(path, 65534, 65534), 0);
	return path;
}

T_CASE(a_plain_user_needs_nothing)
{
	char *dir = nobodys_dir("user"), path[PATH_MAX];

	unsetenv("RUNTIME_DIRECTORY");
	unsetenv("COMCH_DIR");
	setenv("XDG_RUNTIME_DIR", dir, 1);
	T_EQ(in_child(open_as_nobody), 0);
	snprintf(path, sizeof(path), "%s/dpdk", dir);
	T_EQ(nb_entries(path), 0);
	T_EQ(rmdir(path), 0);
	snprintf(path, sizeof(path), "rm -r %s", dir);
	T_EQ(system(path), 0);
}

static void
open_unseen(void)
{
	become_nobody();
	logged_begin();
	open_and_close();
	T_STR_HAS(logged_end(), "no telemetry, comch-info does not see this program");
}

/* No telemetry then: the log says so, stderr does not. */
T_CASE(a_directory_that_cannot_be_written)
{
	char *dir = nobodys_dir("ro"), path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/none", dir);
	T_EQ(mkdir(path, 0555), 0);
	setenv("RUNTIME_DIRECTORY", path, 1);
	unsetenv("COMCH_DIR");
	setenv("XDG_RUNTIME_DIR", dir, 1);
	T_EQ(in_child(open_as_nobody), 0);
	T_EQ(in_child(open_unseen), 0);
	T_EQ(nb_entries(path), 0);
	snprintf(path, sizeof(path), "rm -r %s", dir);
	T_EQ(system(path), 0);
}

T_CASE(arguments_may_be_given)
{
	setenv("COMCH_EAL_ARGS", "  -m 300 --lcores=3@0  --no-telemetry --file-prefix=mine ", 1);
	open_and_close();
	T_EQ(rte_get_main_lcore(), 3);
	T_STR_HAS(rte_eal_get_runtime_dir(), "/dpdk/mine");
}

T_CASE(wrong_arguments_are_said)
{
	struct doca_dev *dev;

	setenv("COMCH_EAL_ARGS", "--lcores=x", 1);
	t_capture_begin();
	T_IS(open_one(&dev), DOCA_ERROR_INITIALIZATION);
	T_STR_HAS(t_capture_end(), "COMCH_EAL_ARGS");
	/* It is not tried again. */
	T_IS(open_one(&dev), DOCA_ERROR_INITIALIZATION);
}
