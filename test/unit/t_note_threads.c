/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* comch_poll_note() from many threads: no note is lost, no object freed too early. */

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "t_main.h"

#include "base/comch_poll.h"

#define NB_THREADS 4
#define NB_OBJS 3
#define NOTES 20000
#define BURIALS 3000

struct u_obj {
	struct comch_obj obj;
	uint64_t asked;   /* atomic: requests so far */
	uint64_t served;  /* the poll's: requests that it saw */
};

static struct rte_comch_poll *poll;
static struct u_obj objs[NB_OBJS];
static uint32_t nb_freed, nb_running;

static bool
serve(struct comch_obj *obj, struct comch_run *run)
{
	struct u_obj *o = container_of(obj, struct u_obj, obj);

	RTE_SET_USED(run);
	if (comch_obj_is_dead(obj))
		return false;
	/* Relaxed: the note itself has to order it. */
	o->served = comch_load_relaxed(&o->asked);
	return false;
}

static void
free_obj(struct comch_obj *obj)
{
	struct u_obj *o = container_of(obj, struct u_obj, obj);

	nb_freed++;
	memset(o, 0xdd, sizeof(*o));
	free(o);
}

static void
init_obj(struct u_obj *o)
{
	comch_obj_init(&o->obj, RTE_COMCH_OBJ_CLIENT, o, poll, 0);
	o->obj.service = serve;
	o->obj.free = free_obj;
	comch_poll_attach(poll);
}

static void
make_poll(void)
{
	t_eal_start(1);
	poll = rte_comch_poll_create(NULL);
	T_CHECK(poll != NULL);
}

static void *
note_all(void *arg)
{
	uint32_t i;

	RTE_SET_USED(arg);
	for (i = 0; i < NOTES; i++) {
		__atomic_fetch_add(&objs[i % NB_OBJS].asked, 1, __ATOMIC_RELAXED);
		comch_poll_note(&objs[i % NB_OBJS].obj);
	}
	__atomic_fetch_sub(&nb_running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* The poll sleeps on its descriptor between runs: a lost note is a hang. */
static void
no_note_is_lost(void)
{
	struct rte_comch_event ev[4];
	pthread_t t[NB_THREADS];
	uint64_t served = 0;
	uint32_t i, naps = 0;
	int fd;

	make_poll();
	fd = rte_comch_poll_fd(poll, RTE_COMCH_POLL_ANY);
	for (i = 0; i < NB_OBJS; i++)
		init_obj(&objs[i]);
	nb_running = NB_THREADS;
	for (i = 0; i < NB_THREADS; i++)
		T_EQ(pthread_create(&t[i], NULL, note_all, NULL), 0);
	while (served < (uint64_t)NB_THREADS * NOTES) {
		if (rte_comch_poll_arm(poll, RTE_COMCH_POLL_ANY) == 0) {
			naps++;
			T_CHECK(t_readable(fd, T_TIMEOUT_MS));
		}
		rte_comch_poll_run(poll, ev, RTE_DIM(ev));
		for (served = 0, i = 0; i < NB_OBJS; i++)
			served += objs[i].served;
	}
	for (i = 0; i < NB_THREADS; i++)
		pthread_join(t[i], NULL);
	printf("   %u naps\n", naps);
}

static void *
note_and_bury(void *arg)
{
	struct u_obj *o;
	uint32_t i;

	RTE_SET_USED(arg);
	for (i = 0; i < BURIALS; i++) {
		o = calloc(1, sizeof(*o));
		T_CHECK(o != NULL);
		init_obj(o);
		/* An event is queued, and then the application destroys the object. */
		comch_poll_note(&o->obj);
		if (i % 4 == 0)
			sched_yield();
		comch_obj_free_later(&o->obj);
	}
	__atomic_fetch_sub(&nb_running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void
buried_once_and_not_too_early(void)
{
	struct rte_comch_event ev[4];
	pthread_t t[NB_THREADS];
	uint32_t i;

	make_poll();
	nb_running = NB_THREADS;
	for (i = 0; i < NB_THREADS; i++)
		T_EQ(pthread_create(&t[i], NULL, note_and_bury, NULL), 0);
	while (comch_load_acquire(&nb_running) != 0)
		rte_comch_poll_run(poll, ev, RTE_DIM(ev));
	for (i = 0; i < NB_THREADS; i++)
		pthread_join(t[i], NULL);
	T_EQ(rte_comch_poll_destroy(poll), 0);
	T_EQ(nb_freed, NB_THREADS * BURIALS);
}

/* State events from other threads come in order, each once. */
static bool
serve_events(struct comch_obj *obj, struct comch_run *run)
{
	return !comch_obj_events(obj, run, NULL);
}

static void *
change_states(void *arg)
{
	struct u_obj *o = arg;
	uint32_t i;

	for (i = 0; i < 2000; i++) {
		comch_obj_state_event(&o->obj, RTE_COMCH_STATE_RUNNING, 0, NULL);
		comch_obj_state_event(&o->obj, RTE_COMCH_STATE_IDLE, 0, NULL);
		while (comch_load_acquire(&o->served) < 2 * (i + 1))
			sched_yield();
	}
	return NULL;
}

static void
state_events(void)
{
	struct rte_comch_event ev[3];
	struct u_obj *o = &objs[0];
	uint64_t n = 0;
	uint16_t i, k;
	pthread_t t;

	make_poll();
	init_obj(o);
	o->obj.service = serve_events;
	T_EQ(pthread_create(&t, NULL, change_states, o), 0);
	while (n < 4000) {
		k = rte_comch_poll_run(poll, ev, 1 + n % 3);
		for (i = 0; i < k; i++, n++) {
			T_EQ(ev[i].type, RTE_COMCH_EVENT_STATE);
			T_EQ(ev[i].state.next, n % 2 == 0 ? RTE_COMCH_STATE_RUNNING :
				RTE_COMCH_STATE_IDLE);
			T_NE(ev[i].state.prev, ev[i].state.next);
		}
		comch_store_release(&o->served, n);
	}
	pthread_join(t, NULL);
}

/*
 * The same, step by step: the thread that frees is held up at its one store,
 * while the poll serves an older note. The page that it stores to faults once.
 * (There used to be two stores, and the poll could run between them.)
 */
static uint8_t *fault_page;
static long page_size;
static uint32_t freed_within;

static void
on_fault(int sig)
{
	struct rte_comch_event ev[4];

	RTE_SET_USED(sig);
	if (mprotect(fault_page, (size_t)page_size, PROT_READ | PROT_WRITE) != 0)
		_exit(2);
	rte_comch_poll_run(poll, ev, RTE_DIM(ev));
	rte_comch_poll_run(poll, ev, RTE_DIM(ev));
	rte_comch_poll_run(poll, ev, RTE_DIM(ev));
	freed_within = nb_freed;
}

static void
count_free(struct comch_obj *obj)
{
	RTE_SET_USED(obj);
	nb_freed++;
}

static void
held_up_while_it_buries(void)
{
	struct sigaction sa = { .sa_handler = on_fault };
	struct u_obj *o;

#ifdef __SANITIZE_THREAD__
	t_skip("TSan's runtime holds a lock of its own over the store that faults");
#endif
	make_poll();
	page_size = sysconf(_SC_PAGESIZE);
	fault_page = mmap(NULL, 2 * (size_t)page_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T_CHECK(fault_page != MAP_FAILED);
	o = (struct u_obj *)fault_page;
	init_obj(o);
	o->obj.free = count_free;
	comch_poll_note(&o->obj);
	T_EQ(sigaction(SIGSEGV, &sa, NULL), 0);
	T_EQ(mprotect(fault_page, (size_t)page_size, PROT_READ), 0);
	comch_obj_free_later(&o->obj);
	T_EQ(freed_within, 0);
	T_EQ(rte_comch_poll_destroy(poll), 0);
	T_EQ(nb_freed, 1);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "no_note_is_lost", no_note_is_lost },
		{ "buried_once_and_not_too_early", buried_once_and_not_too_early },
		{ "held_up_while_it_buries", held_up_while_it_buries },
		{ "state_events", state_events },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
