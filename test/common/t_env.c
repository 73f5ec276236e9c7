/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dirent.h>
#include <dlfcn.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_log.h>

#include "t.h"

#define T_PREFIX "ct"
/* Settled: this number of runs without an event, and at least this time. */
#define T_SETTLE_RUNS 200
#define T_SETTLE_MS 10
/* A wait in which nothing has moved for this many steps, and for so long, is a long one. */
#define T_BUSY_STEPS 1000
#define T_BUSY_MS 20
#define T_PAUSE_US 100

static char eal_dir[PATH_MAX];
static char private_dir[PATH_MAX];
static pid_t private_dir_owner;

/* T_LIBRARY: the directory of the librte_comch that the test is for, if not the build's own. */
static void __attribute__((constructor))
check_library(void)
{
	const char *want = getenv("T_LIBRARY");
	Dl_info info = { .dli_fname = "nothing" };

	if (want == NULL)
		return;
	dladdr(dlsym(RTLD_DEFAULT, "rte_comch_poll_run"), &info);
	if (strncmp(info.dli_fname, want, strlen(want)) != 0) {
		fprintf(stderr, "librte_comch is %s, not one of %s\n", info.dli_fname, want);
		abort();
	}
}

uint64_t
t_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

uint64_t
t_env_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text == NULL ? otherwise : strtoull(text, NULL, 0);
}

unsigned int
t_patience(void)
{
	const unsigned int times = (unsigned int)t_env_number("T_PATIENCE", 1);

	/* A wait must end, and say what for, before meson ends the test. */
	return (t_sanitized() ? 4U : 1U) * RTE_MAX(times, 1U);
}

unsigned int
t_repeat(unsigned int n)
{
	const unsigned int factor = (unsigned int)t_env_number("T_FEWER", 1);

	return RTE_MAX(n / RTE_MAX(factor, 1U), 1U);
}

uint64_t
t_deadline(void)
{
	return t_now_ms() + (uint64_t)T_TIMEOUT_MS;
}

void
t_time_le(const char *file, int line, const char *what, uint64_t took, uint64_t limit)
{
	const char *env = getenv("T_TIMED");

	fprintf(stderr, "%s:%d: %s: %" PRIu64 ", at most %" PRIu64 " where times are judged\n",
		file, line, what, took, limit);
	if (took > limit && env != NULL && atoi(env) != 0)
		t_fail_at(file, line, "%s (%" PRIu64 ") is more than %" PRIu64, what, took, limit);
}

/* Of this thread's wait: idle steps in a row, and since when the last ones are. */
static __thread unsigned int nb_idle;
static __thread uint64_t idle_ms;

struct t_wait
t_wait_begin(const char *file, int line, const char *cond)
{
	nb_idle = 0;
	return (struct t_wait){
		.deadline = t_deadline(), .file = file, .line = line, .cond = cond,
	};
}

void
t_wait_check(const struct t_wait *wait)
{
	if (t_now_ms() > wait->deadline)
		t_fail_at(wait->file, wait->line, "timed out: %s", wait->cond);
}

void
t_relax(bool moved)
{
	if (moved) {
		nb_idle = 0;
		return;
	}
	if (nb_idle++ == T_BUSY_STEPS)
		idle_ms = t_now_ms();
	/* What we wait for may need this CPU; during a long wait, other tests do. */
	if (nb_idle <= T_BUSY_STEPS || t_now_ms() - idle_ms < T_BUSY_MS)
		sched_yield();
	else
		usleep(T_PAUSE_US);
}

struct t_settling
t_settle_begin(void)
{
	return (struct t_settling){ .end = t_now_ms() + T_SETTLE_MS };
}

bool
t_settle_on(struct t_settling *s, bool moved)
{
	s->idle = moved ? 0 : s->idle + 1;
	if (s->idle < T_SETTLE_RUNS)
		return true;
	if (t_now_ms() >= s->end)
		return false;
	usleep(T_PAUSE_US);
	return true;
}

/* How long this thread has waited for a CPU in its life, ns. */
uint64_t
t_cpu_wait_ns(void)
{
	unsigned long long ran, waited = 0;
	FILE *f;

	f = fopen("/proc/thread-self/schedstat", "re");
	if (f != NULL) {
		T_EQ(fscanf(f, "%llu %llu", &ran, &waited), 2);
		fclose(f);
	}
	return waited;
}

uint64_t
t_own_ns(void)
{
	uint64_t before, after = t_cpu_wait_ns();
	struct timespec ts;

	/* Both at one time. */
	do {
		before = after;
		clock_gettime(CLOCK_MONOTONIC, &ts);
		after = t_cpu_wait_ns();
	} while (before != after);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec - after;
}

uint64_t
t_own_since(uint64_t begin)
{
	uint64_t now = t_own_ns();

	/* The kernel's clocks differ a little: a short time may come out as less than none. */
	return now > begin ? now - begin : 0;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	RTE_SET_USED(st);
	RTE_SET_USED(type);
	RTE_SET_USED(ftw);
	remove(path);
	return 0;
}

static void
remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Pids say nothing of a process in another pid namespace, which may share our directories. */
static unsigned long
pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (unsigned long)st.st_ino : 0;
}

const char *
t_own_names(void)
{
	static __thread char buf[64];

	snprintf(buf, sizeof(buf), T_PREFIX "-%lx-%d-", pid_namespace(), (int)getpid());
	return buf;
}

bool
t_is_leftover(const char *name)
{
	unsigned long namespace;
	long pid;

	return sscanf(name, T_PREFIX "-%lx-%ld-", &namespace, &pid) == 2 &&
		namespace == pid_namespace() && pid > 0 &&
		kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* Those of dead processes are what crashed tests left. */
static void
sweep(const char *dir)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	d = opendir(dir);
	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (!t_is_leftover(e->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		remove_tree(path);
	}
	closedir(d);
}

/* "(0-LAST)@(all CPUs of this process)" */
static void
lcores_arg(char *buf, size_t size, unsigned int nb_lcores)
{
	const char *sep = "";
	cpu_set_t set;
	size_t off;
	int cpu;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	off = (size_t)snprintf(buf, size, "--lcores=(0-%u)@(", nb_lcores - 1);
	for (cpu = 0; cpu < CPU_SETSIZE && off < size - 8; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		off += (size_t)snprintf(buf + off, size - off, "%s%d", sep, cpu);
		sep = ",";
	}
	snprintf(buf + off, size - off, ")");
}

static void
eal_dir_remove(void)
{
	if (eal_dir[0] != '\0')
		remove_tree(eal_dir);
}

/* meson runs each test with a TMPDIR that goes away: see test/isolate.sh. */
static const char *
tmp_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir == NULL || dir[0] == '\0' ? "/tmp" : dir;
}

void
t_eal_start(unsigned int nb_lcores)
{
	char prefix_arg[96], lcores[1024], log_arg[64], vdev_arg[64];
	const char *vdev = getenv("T_VDEV");
	char *argv[] = {
		(char *)(uintptr_t)"test", prefix_arg, lcores, log_arg,
		(char *)(uintptr_t)"--no-huge", (char *)(uintptr_t)"-m",
		(char *)(uintptr_t)"64", (char *)(uintptr_t)"--no-pci",
		(char *)(uintptr_t)"--no-telemetry",
		(char *)(uintptr_t)"--no-shconf",
		(char *)(uintptr_t)"--iova-mode=va", vdev_arg, NULL,
	};
	const char *level = getenv("T_LOG");
	/* A device that T_KEYS names. */
	const int argc = (int)RTE_DIM(argv) - (vdev != NULL ? 1 : 2);

	snprintf(vdev_arg, sizeof(vdev_arg), "--vdev=%s", vdev != NULL ? vdev : "");
	sweep("/var/run/dpdk");
	snprintf(prefix_arg, sizeof(prefix_arg), "--file-prefix=%s%lx", t_own_names(),
		(unsigned long)t_now_ms());
	snprintf(log_arg, sizeof(log_arg), "--log-level=*:%s",
			level == NULL ? "2" : level);
	lcores_arg(lcores, sizeof(lcores), nb_lcores);
	if (rte_eal_init(argc, argv) < 0)
		T_FAIL("rte_eal_init: %s", rte_strerror(rte_errno));
	snprintf(eal_dir, sizeof(eal_dir), "%s", rte_eal_get_runtime_dir());
	/* Nothing in it is needed any more, and a test that crashes leaves none. */
	eal_dir_remove();
}

void
t_eal_stop(void)
{
	rte_eal_cleanup();
	eal_dir_remove();
	eal_dir[0] = '\0';
}

const char *
t_dir(void)
{
	if (private_dir[0] != '\0')
		return private_dir;
	sweep(tmp_dir());
	snprintf(private_dir, sizeof(private_dir), "%s/%sXXXXXX", tmp_dir(), t_own_names());
	if (mkdtemp(private_dir) == NULL)
		T_FAIL("mkdtemp %s: %s", private_dir, strerror(errno));
	private_dir_owner = getpid();
	return private_dir;
}

void
t_dir_remove(void)
{
	if (private_dir[0] == '\0' || private_dir_owner != getpid())
		return;
	remove_tree(private_dir);
	private_dir[0] = '\0';
}

bool
t_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return true;
#else
	return false;
#endif
#else
	return false;
#endif
}

bool
t_emulated(void)
{
	return getenv("QEMU_LD_PREFIX") != NULL;
}

unsigned int
t_fd_count_of(pid_t pid)
{
	unsigned int n = 0;
	struct dirent *e;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	if (d == NULL)
		T_FAIL("%s: %s", path, strerror(errno));
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			n++;
	closedir(d);
	return n;
}

unsigned int
t_fd_count(void)
{
	/* Without the one that counts. */
	return t_fd_count_of(getpid()) - 1;
}

/* The first two fields of statm: pages that are mapped, and that are there. */
static uint64_t
memory_kb(bool mapped)
{
	unsigned long long size = 0, resident = 0;
	FILE *f;

	f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%llu %llu", &size, &resident) != 2)
		T_FAIL("/proc/self/statm");
	fclose(f);
	return (mapped ? size : resident) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

uint64_t
t_rss_kb(void)
{
	return memory_kb(false);
}

uint64_t
t_mapped_kb(void)
{
	return memory_kb(true);
}

uint64_t
t_shared_kb(void)
{
	unsigned long long begin, end;
	uint64_t sum = 0;
	char *line = NULL;
	size_t room = 0;
	char share;
	FILE *f;

	f = fopen("/proc/self/maps", "r");
	if (f == NULL)
		T_FAIL("/proc/self/maps");
	while (getline(&line, &room, f) > 0) {
		if (sscanf(line, "%llx-%llx %*3c%c", &begin, &end, &share) != 3)
			T_FAIL("/proc/self/maps: %s", line);
		if (share == 's')
			sum += end - begin;
	}
	free(line);
	fclose(f);
	return sum / 1024;
}

bool
t_nofile_set(uint64_t soft)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) != 0)
		return false;
	if (lim.rlim_max < soft) {
		lim.rlim_max = soft; /* root may */
		lim.rlim_cur = soft;
		return setrlimit(RLIMIT_NOFILE, &lim) == 0;
	}
	lim.rlim_cur = soft;
	return setrlimit(RLIMIT_NOFILE, &lim) == 0;
}

bool
t_readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int rc;

	do {
		rc = poll(&p, 1, timeout_ms);
	} while (rc < 0 && errno == EINTR);
	return rc > 0 && (p.revents & POLLIN) != 0;
}

static uint64_t
pattern(uint64_t word, uint64_t seed)
{
	uint64_t x = word + seed * UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 31;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ (x >> 29);
}

void
t_fill(void *buf, size_t len, uint64_t seed)
{
	uint8_t *p = buf;
	uint64_t w;
	size_t off;

	for (off = 0; off < len; off += sizeof(w)) {
		w = pattern(off / sizeof(w), seed);
		memcpy(p + off, &w, RTE_MIN(sizeof(w), len - off));
	}
}

int64_t
t_verify(const void *buf, size_t len, uint64_t seed)
{
	const uint8_t *p = buf;
	size_t off, i, n;
	uint64_t w;

	for (off = 0; off < len; off += sizeof(w)) {
		w = pattern(off / sizeof(w), seed);
		n = RTE_MIN(sizeof(w), len - off);
		if (memcmp(p + off, &w, n) == 0)
			continue;
		for (i = 0; i < n; i++)
			if (p[off + i] != ((uint8_t *)&w)[i])
				return (int64_t)(off + i);
	}
	return -1;
}
