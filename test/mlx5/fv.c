/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* State of the fake verbs, their configuration and faults; events that wait. */

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "fv_private.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define FV_POISON_MEMORY(at, len) ASAN_POISON_MEMORY_REGION(at, len)
#define FV_UNPOISON(at, len) ASAN_UNPOISON_MEMORY_REGION(at, len)
#else
#define FV_POISON_MEMORY(at, len) ((void)(at), (void)(len))
#define FV_UNPOISON(at, len) ((void)(at), (void)(len))
#endif

/* Fills freed objects. */
#define GARBAGE 0xdd
/* How long an event may stay unacknowledged while its object is destroyed. */
#define ACK_WAIT_MS 1000
#define MAGIC_LIVE 0xf47e11fe
#define MAGIC_DEAD 0xdeadf47e

struct fv_state fv;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *const kind_names[FV_NB_KINDS] = {
	[FV_PD] = "protection domain",
	[FV_MR] = "memory region",
	[FV_COMP_CHANNEL] = "completion channel",
	[FV_CQ] = "completion queue",
	[FV_QP] = "queue pair",
	[FV_EVENT_CHANNEL] = "event channel",
	[FV_ID] = "rdma_cm id",
	[FV_CM_EVENT] = "rdma_cm event not acknowledged",
};

static void say(const char *where, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

static void
say(const char *where, const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "fv: %s: %s\n", where, text);
}

void
fv_say(const char *where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(where, fmt, ap);
	va_end(ap);
}

void
fv_die(const char *where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(where, fmt, ap);
	va_end(ap);
	abort();
}

static void
init(void)
{
	unsigned int i;

	for (i = 0; i < FV_NB_BUCKETS; i++)
		TAILQ_INIT(&fv.qp_hash[i]);
	TAILQ_INIT(&fv.devs);
	TAILQ_INIT(&fv.qps);
	TAILQ_INIT(&fv.busy);
	TAILQ_INIT(&fv.cqs);
	TAILQ_INIT(&fv.ids);
	TAILQ_INIT(&fv.msgs);
	fv_conf_default(&fv.conf);
	fv.rng = 1;
	fv.next_qpn = 0x11;
	fv.next_id = 1;
	fv.next_psn = 0x3c0de;
}

void
fv_lock(void)
{
	pthread_mutex_lock(&lock);
	if (fv.next_qpn == 0)
		init();
	if (TAILQ_EMPTY(&fv.devs))
		fv_dev_init();
}

void
fv_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

pthread_mutex_t *
fv_lock_of_cond(void)
{
	return &lock;
}

/* Microseconds. */
uint64_t
fv_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

uint32_t
fv_random(uint32_t below)
{
	fv.rng = fv.rng * 6364136223846793005u + 1442695040888963407u;
	return below == 0 ? 0 : (uint32_t)((fv.rng >> 33) % below);
}

void *
fv_new(enum fv_kind kind, size_t size)
{
	struct fv_obj *obj = calloc(1, size);

	if (obj == NULL)
		FV_DIE("out of memory");
	obj->magic = MAGIC_LIVE;
	obj->kind = kind;
	fv.live[kind]++;
	return obj;
}

static void
grave_free(struct fv_grave *g)
{
	if (g->obj != NULL)
		FV_UNPOISON(g->obj + 1, g->size - sizeof(*g->obj));
	free(g->obj);
	g->obj = NULL;
}

/* Destroyed objects are kept for a while, so that another call with one is recognised. */
void
fv_free(void *ptr, size_t size)
{
	struct fv_obj *obj = ptr;
	struct fv_grave *g = &fv.graves[fv.next_grave++ % FV_NB_GRAVES];

	obj->magic = MAGIC_DEAD;
	fv.live[obj->kind]--;
	grave_free(g);
	g->obj = obj;
	g->size = size;
	memset(obj + 1, GARBAGE, size - sizeof(*obj));
	FV_POISON_MEMORY(obj + 1, size - sizeof(*obj));
}

void
fv_check(const void *ptr, enum fv_kind kind, const char *where)
{
	const struct fv_obj *obj = ptr;

	if (obj->magic != MAGIC_LIVE || obj->kind != kind)
		fv_die(where, "%p is not a live %s", ptr, kind_names[kind]);
}

int
fv_evq_open(struct fv_evq *q)
{
	TAILQ_INIT(&q->list);
	/* Without EFD_CLOEXEC: the driver does not rely on the kernel's. */
	q->fd = eventfd(0, EFD_SEMAPHORE);
	return q->fd < 0 ? -1 : 0;
}

void
fv_evq_close(struct fv_evq *q)
{
	close(q->fd);
}

void
fv_evq_put(struct fv_evq *q, struct fv_ev *ev)
{
	uint64_t one = 1;

	TAILQ_INSERT_TAIL(&q->list, ev, next);
	if (write(q->fd, &one, sizeof(one)) != sizeof(one))
		FV_DIE("descriptor of events: %s", strerror(errno));
}

void
fv_evq_remove(struct fv_evq *q, struct fv_ev *ev)
{
	struct pollfd p = { .fd = q->fd, .events = POLLIN };
	uint64_t one;

	if (poll(&p, 1, 0) != 1 || read(q->fd, &one, sizeof(one)) != sizeof(one))
		FV_DIE("descriptor %d was read or closed by someone else", q->fd);
	TAILQ_REMOVE(&q->list, ev, next);
}

struct fv_ev *
fv_evq_take(struct fv_evq *q)
{
	struct pollfd p = { .fd = q->fd, .events = POLLIN };
	struct fv_ev *ev;

	while (TAILQ_EMPTY(&q->list)) {
		if (fcntl(q->fd, F_GETFL) & O_NONBLOCK) {
			errno = EAGAIN;
			return NULL;
		}
		fv_unlock();
		poll(&p, 1, -1);
		fv_lock();
	}
	ev = TAILQ_FIRST(&q->list);
	fv_evq_remove(q, ev);
	return ev;
}

void
fv_fail_call(enum fv_call call, unsigned int nth, int err)
{
	fv_lock();
	fv.calls[call].nth = nth;
	fv.calls[call].err = err;
	fv_unlock();
}

void
fv_slow_call(enum fv_call call, unsigned int ms)
{
	fv_lock();
	fv.calls[call].slow_ms = ms;
	fv_unlock();
}

void
fv_call_wait(enum fv_call call)
{
	unsigned int ms;

	fv_lock();
	ms = fv.calls[call].slow_ms;
	fv.calls[call].begun += ms > 0;
	fv_unlock();
	if (ms == 0)
		return;
	usleep(ms * 1000);
	fv_lock();
	fv.calls[call].done++;
	fv_unlock();
}

void
fv_slow_calls(enum fv_call call, unsigned int *begun, unsigned int *done)
{
	fv_lock();
	*begun = fv.calls[call].begun;
	*done = fv.calls[call].done;
	fv_unlock();
}

/* A test forks to see a call fail: its child must not find the lock held by our thread. */
static void
before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void __attribute__((constructor))
lock_across_forks(void)
{
	pthread_atfork(before_fork, fv_unlock, fv_unlock);
}

bool
fv_await_acks(const unsigned int *unacked)
{
	int i;

	for (i = 0; i < ACK_WAIT_MS && *unacked > 0; i++) {
		fv_unlock();
		usleep(1000);
		fv_lock();
	}
	return *unacked == 0;
}

int
fv_call_err(enum fv_call call)
{
	int err = fv.calls[call].err;

	if (err == 0)
		return 0;
	if (fv.calls[call].nth-- > 0)
		return 0;
	fv.calls[call].err = 0;
	return err;
}

void
fv_fail_wr(const struct fv_fault *fault)
{
	fv_lock();
	if (fv.nb_faults == FV_MAX_FAULTS)
		FV_DIE("more than %d faults", FV_MAX_FAULTS);
	fv.faults[fv.nb_faults++] = *fault;
	fv_unlock();
}

const struct fv_fault *
fv_fault_of(const struct fv_qp *qp, bool recv, int opcode)
{
	static struct fv_fault found;
	unsigned int i;

	for (i = 0; i < fv.nb_faults; i++) {
		struct fv_fault *f = &fv.faults[i];

		if (f->recv != recv || (f->qp != NULL && f->qp != &qp->ibv) ||
				(!recv && f->opcode >= 0 && f->opcode != opcode))
			continue;
		if (f->nth-- > 0)
			continue;
		found = *f;
		*f = fv.faults[--fv.nb_faults];
		return &found;
	}
	return NULL;
}

void
fv_short_post(unsigned int nb)
{
	fv_lock();
	fv.short_post = nb + 1;
	fv_unlock();
}

unsigned int
fv_nb_live(enum fv_kind kind)
{
	unsigned int i, nb = 0;

	fv_lock();
	for (i = 0; i < FV_NB_KINDS; i++)
		if (kind == FV_ALL || kind == i)
			nb += fv.live[i];
	fv_unlock();
	return nb;
}

void
fv_get_stats(struct fv_stats *stats)
{
	fv_lock();
	*stats = fv.stats;
	fv_unlock();
}

void
fv_reset(void)
{
	unsigned int i;
	bool leak = false;

	fv_lock();
	for (i = 0; i < FV_NB_KINDS; i++)
		if (fv.live[i] > 0) {
			FV_SAY("%u of kind '%s' left", fv.live[i], kind_names[i]);
			leak = true;
		}
	if (leak)
		FV_DIE("not all was destroyed");
	for (i = 0; i < FV_NB_GRAVES; i++)
		grave_free(&fv.graves[i]);
	fv_mr_forget_keys();
	fv_msgs_forget();
	fv_dev_fini();
	memset(&fv, 0, sizeof(fv));
	fv_unlock();
}

const struct mlx5_glue fv_glue = {
	.get_devices = fv_get_devices,
	.free_devices = fv_free_devices,
	.get_device_name = fv_get_device_name,
	.get_device_path = fv_get_device_path,
	.query_device = fv_query_device,
	.query_port = fv_query_port,
	.query_pkey = fv_query_pkey,
	.query_gid_table = fv_query_gid_table,
	.get_async_event = fv_get_async_event,
	.ack_async_event = fv_ack_async_event,
	.alloc_pd = fv_alloc_pd,
	.dealloc_pd = fv_dealloc_pd,
	.reg_mr = fv_reg_mr,
	.dereg_mr = fv_dereg_mr,
	.create_comp_channel = fv_create_comp_channel,
	.destroy_comp_channel = fv_destroy_comp_channel,
	.get_cq_event = fv_get_cq_event,
	.ack_cq_events = fv_ack_cq_events,
	.create_cq = fv_create_cq,
	.destroy_cq = fv_destroy_cq,
	.poll_cq = fv_poll_cq,
	.req_notify_cq = fv_req_notify_cq,
	.create_qp = fv_create_qp,
	.modify_qp = fv_modify_qp,
	.query_qp = fv_query_qp,
	.destroy_qp = fv_destroy_qp,
	.post_send = fv_post_send,
	.post_recv = fv_post_recv,
	.create_event_channel = fv_create_event_channel,
	.destroy_event_channel = fv_destroy_event_channel,
	.create_id = fv_create_id,
	.destroy_id = fv_destroy_id,
	.set_option = fv_set_option,
	.bind_addr = fv_bind_addr,
	.listen = fv_listen,
	.resolve_addr = fv_resolve_addr,
	.resolve_route = fv_resolve_route,
	.init_qp_attr = fv_init_qp_attr,
	.connect = fv_connect,
	.establish = fv_establish,
	.accept = fv_accept,
	.reject = fv_reject,
	.disconnect = fv_disconnect,
	.migrate_id = fv_migrate_id,
	.get_cm_event = fv_get_cm_event,
	.ack_cm_event = fv_ack_cm_event,
};
