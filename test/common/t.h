/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_H
#define T_H

/*
 * What every test that runs on a real EAL shares: checks, the environment
 * (EAL, a private directory), and figures of this process.
 *
 * Checks work in Criterion tests and in plain programs: t_fail_at() has one
 * implementation for each (t_fail_criterion.c, t_fail_plain.c).
 *
 * Nothing here sleeps for a fixed time. All waits are for a condition;
 * T_TIMEOUT_MS only limits how long a test may hang before it fails.
 */

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <rte_common.h>
#include <rte_errno.h>

/** How long a condition may take to come true, here: see t_patience(). */
#define T_TIMEOUT_MS ((int)(30000 * t_patience()))

/** Exit status of a test that could not run here. */
#define T_EXIT_SKIP 77

/* Ends the test as failed. */
void t_fail_at(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
/* Ends the test as skipped, with the reason. */
void t_skip(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

#define T_FAIL(...) t_fail_at(__FILE__, __LINE__, __VA_ARGS__)

#define T_CHECK(cond) \
	do { \
		if (!(cond)) \
			T_FAIL("%s", #cond); \
	} while (0)

#define T_OP_(a, op, b) \
	do { \
		const long long a_ = (long long)(a); \
		const long long b_ = (long long)(b); \
		if (!(a_ op b_)) \
			T_FAIL("%s (%lld) %s %s (%lld)", #a, a_, #op, #b, b_); \
	} while (0)

#define T_EQ(a, b) T_OP_(a, ==, b)
#define T_NE(a, b) T_OP_(a, !=, b)
#define T_GE(a, b) T_OP_(a, >=, b)
#define T_GT(a, b) T_OP_(a, >, b)
#define T_LE(a, b) T_OP_(a, <=, b)
#define T_LT(a, b) T_OP_(a, <, b)

/* Numbers that messages carry, which must come in order: never forgiven by the gate. */
#define T_SEQ(got, want) \
	do { \
		const long long got_ = (long long)(got); \
		const long long want_ = (long long)(want); \
		if (got_ != want_) \
			T_FAIL("%s is %lld instead of %lld", #got, got_, want_); \
	} while (0)

#define T_STR_EQ(a, b) \
	do { \
		const char *a_ = (a); \
		const char *b_ = (b); \
		if (a_ == NULL || b_ == NULL || strcmp(a_, b_) != 0) \
			T_FAIL("%s \"%s\" is not \"%s\"", #a, \
					a_ == NULL ? "(null)" : a_, \
					b_ == NULL ? "(null)" : b_); \
	} while (0)

#define T_STR_HAS(hay, needle) \
	do { \
		const char *a_ = (hay); \
		const char *b_ = (needle); \
		if (a_ == NULL || strstr(a_, b_) == NULL) \
			T_FAIL("%s \"%s\" lacks \"%s\"", #hay, \
					a_ == NULL ? "(null)" : a_, b_); \
	} while (0)

/* A creator that has to refuse: NULL, and this rte_errno. */
#define T_NULL_ERRNO(expr, err) \
	do { \
		const void *p_; \
		rte_errno = 0; \
		p_ = (expr); \
		if (p_ != NULL) \
			T_FAIL("%s is not NULL", #expr); \
		if (rte_errno != (err)) \
			T_FAIL("%s: rte_errno %d (%s), not %s", #expr, \
					rte_errno, strerror(rte_errno), #err); \
	} while (0)

/* Milliseconds of a clock that only goes forward. */
uint64_t t_now_ms(void);
/* How many times longer than usual things may take here: under a sanitizer; and by the
 * environment variable T_PATIENCE, for slow machines.
 */
unsigned int t_patience(void);
/* How often to repeat what would be done n times: fewer by the factor in the environment
 * variable T_FEWER, where each time takes long, but at least once.
 */
unsigned int t_repeat(unsigned int n);
/* The number in an environment variable, or another one if it is not set. */
uint64_t t_env_number(const char *name, uint64_t otherwise);
/* T_TIMEOUT_MS from now. */
uint64_t t_deadline(void);

/*
 * How long something took, in any unit. That says as much of the machine as of the code, so it
 * is printed always, and fails a test only where T_TIMED=1 is set: in the part "timed" of
 * devtools/nightly.sh, which has the machine to itself.
 *
 *   T_TIME_LE(t_now_ms() - killed, 1000)
 */
#define T_TIME_LE(took, limit) \
	t_time_le(__FILE__, __LINE__, #took, (uint64_t)(took), (uint64_t)(limit))

void t_time_le(const char *file, int line, const char *what, uint64_t took, uint64_t limit);

/** Somebody waits for a condition. */
struct t_wait {
	uint64_t deadline;
	const char *file;
	int line;
	const char *cond; /**< Its text. */
};

struct t_wait t_wait_begin(const char *file, int line, const char *cond);
/* Fail the test if the deadline is over. */
void t_wait_check(const struct t_wait *wait);
/* Between two steps of a wait: give way, and sleep if nothing has moved for long. */
void t_relax(bool moved);

/*
 * All waiting: step by step until the condition holds. If the deadline is over before,
 * the test fails with the text of the condition.
 *
 *   T_WAIT(step, cond)    a step is any expression: doca_pe_progress(pe)
 *   T_AWAIT(cond)         while others run: threads, processes, or calls that
 *                         are part of the condition
 *   T_SETTLE(step)        until what is on its way has arrived: before a check that
 *                         something did not happen, or of an exact count; the step
 *                         says whether anything happened
 *   T_UNTIL(cond)         t_node.h: stepping all nodes
 *   T_SLEEP_UNTIL(cond)   t_node.h: sleeping on their descriptors
 *   T_NEVER(cond)         t_node.h: the opposite, until everything has settled
 *   T_WAIT_STEP(fn, cond) for the two of t_node.h: a step that knows the deadline
 */
#define T_WAIT_STEP(fn, cond) \
	do { \
		const struct t_wait wait_ = t_wait_begin(__FILE__, __LINE__, #cond); \
		while (!(cond)) \
			(fn)(&wait_); \
	} while (0)

#define T_WAIT(step, cond) \
	do { \
		const struct t_wait wait_ = t_wait_begin(__FILE__, __LINE__, #cond); \
		while (!(cond)) { \
			t_wait_check(&wait_); \
			(void)(step); \
		} \
	} while (0)

#define T_AWAIT(cond) T_WAIT(t_relax(false), cond)

/** How far T_SETTLE() has come. */
struct t_settling {
	uint64_t end;      /**< Not before this time... */
	unsigned int idle; /**< ...and this number of steps without a change. */
};

struct t_settling t_settle_begin(void);
/* After a step; false: all has arrived. */
bool t_settle_on(struct t_settling *s, bool moved);

#define T_SETTLE(step) \
	do { \
		const struct t_wait wait_ = t_wait_begin(__FILE__, __LINE__, "rest of " #step); \
		struct t_settling settling_ = t_settle_begin(); \
		while (t_settle_on(&settling_, (step) != 0)) \
			t_wait_check(&wait_); \
	} while (0)

/* Nanoseconds of a wall clock that stands still while this thread waits for a
 * CPU; and how long ago on it. That counts work and blocking, not what else the
 * machine does.
 */
uint64_t t_own_ns(void);
/* What this thread has waited for a CPU, ns. */
uint64_t t_cpu_wait_ns(void);
uint64_t t_own_since(uint64_t begin);

/* Start an EAL of this process's own, without hugepages, silent. Env T_LOG
 * (a level, say 7) lets the library speak. nb_lcores lcores float over all
 * CPUs, so that tests that run side by side do not share one.
 */
void t_eal_start(unsigned int nb_lcores);
void t_eal_stop(void);

/* How names of files of this process begin; whether a name is of a process that is gone. */
const char *t_own_names(void);
bool t_is_leftover(const char *name);

/* A directory of this test's own, made at the first call. Children that were
 * forked after it share it; the process that made it removes it.
 */
const char *t_dir(void);
void t_dir_remove(void);

/* Does this program run under a sanitizer that changes its memory? */
bool t_sanitized(void);

/* Does it run under qemu-user? That leaks memory with each thread that ends. */
bool t_emulated(void);

unsigned int t_fd_count(void);
/* Those of another process. */
unsigned int t_fd_count_of(pid_t pid);
uint64_t t_rss_kb(void);
/* All that is mapped, touched or not. */
uint64_t t_mapped_kb(void);
/* What is mapped shared: a new thread's stack and heap are not. */
uint64_t t_shared_kb(void);
/* Set the soft limit of descriptors; false if the hard limit forbids. */
bool t_nofile_set(uint64_t soft);

/* Wait until fd is readable; false at time-out. */
bool t_readable(int fd, int timeout_ms);

/* Contents that tell a misplaced byte: a function of seed and position. */
void t_fill(void *buf, size_t len, uint64_t seed);
/* Position of the first wrong byte, or -1. */
int64_t t_verify(const void *buf, size_t len, uint64_t seed);

#define T_VERIFY(buf, len, seed) T_EQ(t_verify(buf, len, seed), -1)

#endif /* T_H */
