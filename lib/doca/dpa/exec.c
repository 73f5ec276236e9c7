/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Threads in device code, and the begin and end of each device call.
 *
 * A handle is destroyed in two steps: it is invalidated, then all running calls, which
 * may have found it before, are waited for. A call costs two plain stores; the fences:
 *
 *     a call                         destroy
 *     calls = odd                    entry's handle = 0
 *     light fence                    heavy fence
 *     handle of the entry? use it    calls odd? wait until it changes
 *     calls = even (release)         (acquire) free the object
 *
 * With membarrier(2) the light fence is a compiler barrier; without it both
 * are full fences. So either the call finds the handle invalid, or it is waited for.
 *
 * lib/comch/sdk/comch_epoch.h implements the same protocol. lib/doca includes only public
 * headers of lib/comch, so this file has its own.
 */

#include <errno.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_pause.h>

#include "ctx/yield.h"
#include "dev/report.h"
#include "dpa/core.h"
#include "log/log.h"

/* Whether membarrier(2) works. Set once, before any device code runs. */
static bool has_membarrier;

static struct {
	pthread_mutex_t lock;
	LIST_HEAD(, impl_dpa_self) list;
	pthread_key_t key;      /* runs host_ends() when a host thread ends */
	pthread_once_t once;
} selves = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.once = PTHREAD_ONCE_INIT,
};

static __thread struct impl_dpa_self *self_now __attribute__((tls_model("initial-exec")));
/* Of a host thread. */
static __thread struct impl_dpa_self self_host __attribute__((tls_model("initial-exec")));

RTE_INIT(impl_dpa_exec_init)
{
	has_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
		0, 0) == 0;
}

static inline void
fence_light(void)
{
	if (likely(has_membarrier))
		atomic_signal_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_seq_cst);
}

static void
fence_heavy(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (has_membarrier)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

void
impl_dpa_self_add(struct impl_dpa_self *self)
{
	atomic_init(&self->calls, 0);
	atomic_init(&self->begin_ms, 0);
	self->seen_ms = 0;
	pthread_mutex_lock(&selves.lock);
	/* A fault marks all in the list: either it came before, or it will mark this one. */
	atomic_init(&self->over, self->dpa != NULL && atomic_load(&self->dpa->root->fault));
	LIST_INSERT_HEAD(&selves.list, self, next);
	pthread_mutex_unlock(&selves.lock);
}

void
impl_dpa_self_remove(struct impl_dpa_self *self)
{
	pthread_mutex_lock(&selves.lock);
	LIST_REMOVE(self, next);
	pthread_mutex_unlock(&selves.lock);
}

struct impl_dpa_self *
impl_dpa_self_become(struct impl_dpa_self *self)
{
	struct impl_dpa_self *before = self_now;

	self_now = self;
	return before;
}

struct impl_dpa_self *
impl_dpa_self_now(void)
{
	return self_now;
}

static void
host_ends(void *self)
{
	impl_dpa_self_remove(self);
	self_now = NULL;
}

static void
make_key(void)
{
	/* On an error pthread_setspecific() fails, too, and no host thread is registered. */
	if (pthread_key_create(&selves.key, host_ends) != 0)
		IMPL_ERR("pthread_key_create failed: no keys left");
}

/* The first device call of a host thread. */
static struct impl_dpa_self *
host_begins(void)
{
	atomic_init(&self_host.nb_threads, 1);
	pthread_once(&selves.once, make_key);
	/* Add it only if the key will remove it. */
	if (pthread_setspecific(selves.key, &self_host) == 0)
		impl_dpa_self_add(&self_host);
	return self_now = &self_host;
}

struct impl_dpa_self *
impl_dpa_enter(void)
{
	struct impl_dpa_self *self = self_now;

	if (unlikely(self == NULL))
		self = host_begins();
	if (unlikely(atomic_load_explicit(&self->over, memory_order_relaxed))) {
		atomic_store_explicit(&self->calls, atomic_load_explicit(&self->calls,
			memory_order_relaxed) + 1, memory_order_relaxed);
		impl_dpa_self_end(self, IMPL_DPA_OVER);
	}
	atomic_store_explicit(&self->calls, atomic_load_explicit(&self->calls,
		memory_order_relaxed) + 1, memory_order_relaxed);
	fence_light();
	return self;
}

void
impl_dpa_leave(struct impl_dpa_self *self)
{
	atomic_store_explicit(&self->calls, atomic_load_explicit(&self->calls,
		memory_order_relaxed) + 1, memory_order_release);
}

bool
impl_dpa_is_over(const struct impl_dpa_self *self)
{
	return atomic_load_explicit(&self->over, memory_order_relaxed);
}

void
impl_dpa_pause(struct impl_dpa_self *self)
{
	RTE_SET_USED(self);
	rte_pause();
	impl_yield_idle();
}

void
impl_dpa_gate_wait(void)
{
	const struct impl_dpa_self *self;
	uint32_t calls;

	fence_heavy();
	pthread_mutex_lock(&selves.lock);
	LIST_FOREACH(self, &selves.list, next) {
		calls = atomic_load_explicit(&self->calls, memory_order_acquire);
		/* Do not wait for the calling thread itself. */
		if (calls % 2 == 0 || self == self_now)
			continue;
		while (atomic_load_explicit(&self->calls, memory_order_acquire) == calls) {
			rte_pause();
			impl_yield_idle();
		}
	}
	pthread_mutex_unlock(&selves.lock);
}

uint64_t
impl_dpa_now_ms(void)
{
	struct timespec now;

	/* Precise to some ms, but cheap: called in each activation. */
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

enum impl_dpa_end
impl_dpa_self_call(struct impl_dpa_self *self, const void *args, uint64_t *ret)
{
	sigjmp_buf end;
	int how;

	self->end = &end;
	atomic_store_explicit(&self->begin_ms, impl_dpa_now_ms(), memory_order_relaxed);
	/* Signals are blocked, so do not save them; TSan does not support _longjmp(). Device
	 * code ends between two calls, where it holds no locks of the library.
	 */
	how = sigsetjmp(end, 0);
	if (how == 0)
		*ret = self->func->call(args);
	atomic_store_explicit(&self->begin_ms, 0, memory_order_relaxed);
	return (enum impl_dpa_end)how;
}

void
impl_dpa_self_end(struct impl_dpa_self *self, enum impl_dpa_end end)
{
	impl_dpa_leave(self);
	siglongjmp(*self->end, (int)end);
}

const char *
impl_dpa_self_print(const struct impl_dpa_self *self, char *text, size_t size)
{
	const char *name = self->func != NULL ? self->func->name : "";

	if (!impl_dpa_self_is_device(self))
		snprintf(text, size, "a host thread");
	else if (self->role == IMPL_DPA_RPC)
		snprintf(text, size, "RPC %s", name);
	else
		snprintf(text, size, "DPA thread dpa-%s (%skernel %s)", name,
			self->role == IMPL_DPA_LAUNCH ? "launched " : "", name);
	return text;
}

/* Mark a context as faulty, which ends all of its device code. */
static void
set_fault(struct doca_dpa *root)
{
	struct impl_dpa_self *self;

	atomic_store(&root->fault, true);
	pthread_mutex_lock(&selves.lock);
	LIST_FOREACH(self, &selves.list, next)
		if (self->dpa != NULL && self->dpa->root == root)
			atomic_store(&self->over, true);
	pthread_mutex_unlock(&selves.lock);
}

/* Log "THREAD: what: text". */
__attribute__((format(printf, 4, 0)))
static void
say(uint32_t level, const struct impl_dpa_self *self, const char *what, const char *format,
		va_list args)
{
	char who[128], text[256];

	vsnprintf(text, sizeof(text), format, args);
	impl_dpa_self_print(self, who, sizeof(who));
	/* Most programs have no SDK backend, and a fault must be seen. */
	if (level == DOCA_LOG_LEVEL_ERROR && !impl_log_wanted(level))
		impl_report("%s: %s: %s", who, what, text);
	else
		impl_log(level, __FILE__, __LINE__, __func__, "%s: %s: %s", who, what, text);
}

void
impl_dpa_fault(struct impl_dpa_self *self, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(DOCA_LOG_LEVEL_ERROR, self, what, format, args);
	va_end(args);
	/* Leave first: a thread that waits for this call holds the list's lock. */
	impl_dpa_leave(self);
	if (!impl_dpa_self_is_device(self))
		return;
	set_fault(self->dpa->root);
	siglongjmp(*self->end, IMPL_DPA_FAULT);
}

void
impl_dpa_warn(struct impl_dpa_self *self, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(DOCA_LOG_LEVEL_WARNING, self, what, format, args);
	va_end(args);
}

bool
impl_dpa_self_need_thread(struct impl_dpa_self *self, const char *what)
{
	if (likely(self->role == IMPL_DPA_THREAD))
		return true;
	impl_dpa_fault(self, what, "allowed in the kernel of a DPA thread only");
	return false;
}

/* Warn of a kernel that exceeds its limit, again each time its run time doubles. */
static void
watch_one(struct impl_dpa_self *self, uint64_t now)
{
	uint64_t begin = atomic_load_explicit(&self->begin_ms, memory_order_relaxed);
	uint32_t limit = self->dpa->root->max_run_ms;
	char who[128];

	if (begin != self->seen_ms) {
		self->seen_ms = begin;
		self->report_ms = limit;
	}
	if (begin == 0 || limit == 0 || now < begin + self->report_ms)
		return;
	while (now >= begin + self->report_ms)
		self->report_ms *= 2;
	IMPL_WARN("%s has run for %.1f s, over dpa_max_run_ms = %u; hardware would have ended "
		"it", impl_dpa_self_print(self, who, sizeof(who)),
		(double)(now - begin) / 1000, limit);
}

void
impl_dpa_self_watch(void)
{
	uint64_t now = impl_dpa_now_ms();
	struct impl_dpa_self *self;

	pthread_mutex_lock(&selves.lock);
	LIST_FOREACH(self, &selves.list, next)
		if (self->dpa != NULL)
			watch_one(self, now);
	pthread_mutex_unlock(&selves.lock);
}
