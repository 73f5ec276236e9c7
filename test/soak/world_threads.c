/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Actors are threads that talk over RDMA, on verbs in memory. Each has an RDMA device of its
 * own, which dies with it.
 */

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fv.h"
#include "world.h"

#define POLL_US 200

static const struct t_driver driver = { .name = "comch_mlx5", .has_dir = true };
static char dev_names[SOAK_PROCS][8];
static char addrs[SOAK_PROCS][16];
static char keys[64];

static uint32_t
pick(struct soak_rnd *rnd, const uint32_t *values, uint32_t nb)
{
	return values[soak_rnd_below(rnd, nb)];
}
#define PICK(rnd, ...) \
	pick(rnd, (const uint32_t[]){ __VA_ARGS__ }, \
		RTE_DIM(((const uint32_t[]){ __VA_ARGS__ })))

static void
threads_open(struct soak_books *b)
{
	struct fv_dev_conf devs[SOAK_PROCS] = { 0 };
	struct soak_rnd rnd = { .state = ~b->seed };
	uint32_t i;

	/* malloc_trim() gives back the end of the first arena only. */
	mallopt(M_ARENA_MAX, 1);
	t_driver = &driver;
	mlx5_verbs = &fv_glue;
	for (i = 0; i < SOAK_PROCS; i++) {
		snprintf(dev_names[i], sizeof(dev_names[i]), "fv%u", i);
		snprintf(addrs[i], sizeof(addrs[i]), "10.0.%u.%u", i > 0, RTE_MAX(i, 1U));
		devs[i].name = dev_names[i];
		devs[i].addrs[0] = addrs[i];
	}
	fv_set_devices(devs, SOAK_PROCS);
	snprintf(keys, sizeof(keys), "max_msg_size=131072,slot=%u,eager=%u,dead_ms=%u",
		PICK(&rnd, 512, 512, 1024, 4096), PICK(&rnd, 64, 256, 256, 400),
		(500 + soak_rnd_below(&rnd, 1500)) * t_patience());
	t_eal_start(1);
}

static const char *
threads_dev(uint32_t number)
{
	static __thread char text[512];
	uint32_t i;
	int n;

	if (number > 0) {
		snprintf(text, sizeof(text), "role=host,func=pf0,dev=%s,peer=%s,%s",
			dev_names[number], addrs[0], keys);
		return text;
	}
	n = snprintf(text, sizeof(text), "role=dpu,dev=%s,%s,rep=pf0", dev_names[0], keys);
	for (i = 1; i < SOAK_PROCS; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%c%s", i == 1 ? '@' : '+',
			addrs[i]);
	return text;
}

/* At rest: receives that are posted know what they were posted with. */
static const char *
threads_draw(struct soak_rnd *rnd)
{
	static const enum fv_call slow[] = {
		FV_CALL_REG_MR, FV_CALL_DEREG_MR, FV_CALL_CREATE_QP, FV_CALL_DESTROY_QP,
		FV_CALL_DESTROY_ID,
	};
	static char text[160];
	struct fv_conf conf;
	uint32_t i, ms = 0;

	fv_conf_default(&conf);
	conf.delay_us = PICK(rnd, 0, 0, 30, 200, 2000);
	conf.jitter_us = PICK(rnd, 0, 1, 1, 3) * conf.delay_us;
	conf.spurious = PICK(rnd, 0, 0, 5, 30);
	conf.late_recv = soak_rnd_one_in(rnd, 2);
	conf.late_write = soak_rnd_one_in(rnd, 2);
	conf.seed = soak_rnd(rnd) | 1;
	fv_configure(&conf);
	if (soak_rnd_one_in(rnd, 3))
		ms = 1 + soak_rnd_below(rnd, 10);
	for (i = 0; i < RTE_DIM(slow); i++)
		fv_slow_call(slow[i], ms > 0 ? soak_rnd_below(rnd, ms + 1) : 0);
	snprintf(text, sizeof(text), " (delay_us=%u,jitter_us=%u,spurious=%u,late_recv=%u,"
		"late_write=%u, calls of %u ms)", conf.delay_us, conf.jitter_us, conf.spurious,
		conf.late_recv, conf.late_write, ms);
	return text;
}

/** What a thread begins with. */
struct birth {
	struct actor_conf conf;
	int fd;
};

static void *
thread(void *arg)
{
	struct birth birth = *(struct birth *)arg;

	free(arg);
	actor_live(birth.fd, &birth.conf);
	close(birth.fd);
	soak_set(&birth.conf.books->procs[birth.conf.number].has_ended, 1);
	return NULL;
}

static struct soak_proc *
proc_of(const struct worker *w)
{
	return &w->conf.books->procs[w->conf.number];
}

static void
threads_start(struct worker *w)
{
	struct birth *birth = malloc(sizeof(*birth));
	struct soak_proc *p = proc_of(w);
	int sv[2];

	if (birth == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		T_FAIL("%s: %s", w->name, strerror(errno));
	w->proc.fd = sv[0];
	birth->conf = w->conf;
	birth->fd = sv[1];
	soak_set(&p->pid, (int32_t)(p->life * SOAK_PROCS + w->conf.number));
	if (pthread_create(&w->thread, NULL, thread, birth) != 0)
		T_FAIL("%s: no thread", w->name);
}

static bool
threads_has_ended(struct worker *w)
{
	if (soak_get(&proc_of(w)->has_ended) == 0)
		return false;
	pthread_join(w->thread, NULL);
	close(w->proc.fd);
	return true;
}

/*
 * The device goes silent first; the thread notices after its current step. Until then it logs no
 * more than a thread that is killed slightly later.
 */
static void
threads_kill(struct worker *w, struct soak_rnd *rnd)
{
	struct soak_proc *p = proc_of(w);

	T_WAIT(usleep(POLL_US), soak_get(&p->is_open) != 0);
	soak_set(&p->is_killed, 1);
	fv_kill(dev_names[w->conf.number], soak_rnd_one_in(rnd, 2));
	soak_set(&p->is_dead, 1);
	send(w->proc.fd, "k", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	T_WAIT(usleep(POLL_US), soak_get(&p->is_buried) != 0 || soak_get(&p->has_ended) != 0);
}

static bool
threads_is_gone(struct worker *w)
{
	if (!threads_has_ended(w))
		return false;
	fv_revive(dev_names[w->conf.number]);
	return true;
}

static void
threads_stop(struct worker *w)
{
	soak_set(&proc_of(w)->is_stopped, 1);
}

static void
threads_cont(struct worker *w)
{
	soak_set(&proc_of(w)->is_stopped, 0);
}

static uint32_t
threads_objects(void)
{
	return fv_nb_live(FV_ALL);
}

static void
threads_close(struct soak_books *b)
{
	RTE_SET_USED(b);
	fv_reset();
	t_eal_stop();
}

const struct soak_world soak_world = {
	.driver = "mlx5",
	.open = threads_open,
	.draw = threads_draw,
	.start = threads_start,
	.kill = threads_kill,
	.stop = threads_stop,
	.cont = threads_cont,
	.has_ended = threads_has_ended,
	.is_gone = threads_is_gone,
	.dev = threads_dev,
	.objects = threads_objects,
	.close = threads_close,
};
