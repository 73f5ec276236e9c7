/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Counters that two processes share: an owner that does as it is told; the test imports. */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <rte_comch_counter.h>
#include <rte_comch_poll.h>
#include <rte_errno.h>

#include "mp.h"
#include "t_futex.h"

#define ALL UINT64_MAX
#define ADDS 100000

struct shared {
	uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN];
	uint8_t memory_desc[RTE_COMCH_EXPORT_DESC_LEN];
};

struct pair {
	struct t_proc owner;
	struct shared *shared;
	struct rte_comch_counter *counter; /* imported */
};

static int16_t
open_dev(const char *devargs)
{
	int16_t dev;

	T_EQ(rte_comch_dev_probe(devargs, &dev), 0);
	return dev;
}

/*
 * 'S': set; 'A': add ADDS times; 'W': wait for a value, then add 1 to it; 'F': free it; 'X': exit.
 * Each is answered, 'W' at once.
 */
static void
own(int fd, struct rte_comch_counter *counter)
{
	struct t_step step;
	unsigned int i;

	for (;;) {
		T_AWAIT(t_listen(fd, &step));
		if (step.code == 'X')
			break;
		if (step.code == 'S')
			rte_comch_counter_set(counter, step.value);
		for (i = 0; step.code == 'A' && i < ADDS; i++)
			rte_comch_counter_add(counter, 1);
		if (step.code == 'F')
			rte_comch_counter_free(counter);
		t_say(fd, (char)step.code, 0);
		if (step.code != 'W')
			continue;
		T_EQ(rte_comch_counter_wait(counter, RTE_COMCH_COUNTER_EQ, step.value, ALL, -1), 0);
		rte_comch_counter_add(counter, 1);
	}
}

static int
owner_main(int fd, void *arg)
{
	struct rte_comch_counter *counter;
	struct shared *shared = arg;
	struct rte_comch_export *exp;
	char memory[16] = "";
	int16_t dev;

	t_eal_start(1);
	dev = open_dev("comch_shm0,role=host,func=pf0");
	counter = rte_comch_counter_create(RTE_COMCH_COUNTER_F_SHARED);
	T_CHECK(counter != NULL);
	T_EQ(rte_comch_counter_export(counter, dev, shared->desc), 0);
	exp = rte_comch_export_create(dev, memory, sizeof(memory), 0);
	T_CHECK(exp != NULL);
	T_EQ(rte_comch_export_desc(exp, shared->memory_desc), 0);
	t_say(fd, 'R', 0);
	own(fd, counter);
	T_EQ(rte_comch_export_destroy(exp), 0);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_eal_stop();
	return 0;
}

static void
pair_open(struct pair *p)
{
	t_futex_never_looks = true;
	p->shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_CHECK(p->shared != MAP_FAILED);
	t_proc_start(&p->owner, "owner", owner_main, p->shared);
	t_hear(p->owner.fd, 'R');
	t_eal_start(1);
	p->counter = rte_comch_counter_import(p->shared->desc);
	T_CHECK(p->counter != NULL);
}

static int
connected(struct rte_comch_counter *counter)
{
	int ret = 0;

	T_WAIT(0, (ret = rte_comch_counter_connect(counter)) != -EAGAIN);
	return ret;
}

static void
owner_do(struct pair *p, char what, uint64_t value)
{
	t_say(p->owner.fd, what, value);
	t_hear(p->owner.fd, what);
}

static void
pair_close(struct pair *p)
{
	rte_comch_counter_free(p->counter);
	if (p->owner.pid > 0) {
		t_say(p->owner.fd, 'X', 0);
		t_proc_join(&p->owner);
	}
	T_EQ(munmap(p->shared, sizeof(*p->shared)), 0);
	t_eal_stop();
}

#define PAIR_CASE(name) T_CASE_OF(struct pair, pair_open, pair_close, name, p)

T_CASE(alone)
{
	struct rte_comch_counter *c;

	t_eal_start(1);
	c = rte_comch_counter_create(0);
	T_CHECK(c != NULL);
	T_EQ(rte_comch_counter_connect(c), 0);
	T_EQ(rte_comch_counter_get(c), 0);
	T_EQ(rte_comch_counter_add(c, 1), 0);
	T_EQ(rte_comch_counter_add(c, 1), 1);
	T_EQ(rte_comch_counter_get(c), 2);
	rte_comch_counter_set(c, 7);
	T_EQ(rte_comch_counter_get(c), 7);
	T_EQ(rte_comch_counter_add(c, UINT64_MAX), 7);
	T_EQ(rte_comch_counter_get(c), 6);
	/* What is true is not waited for. */
	T_EQ(rte_comch_counter_wait(c, RTE_COMCH_COUNTER_EQ, 6, ALL, -1), 0);
	T_EQ(rte_comch_counter_wait(c, RTE_COMCH_COUNTER_NE, 7, ALL, -1), 0);
	T_EQ(rte_comch_counter_wait(c, RTE_COMCH_COUNTER_GT, 5, ALL, -1), 0);
	T_EQ(rte_comch_counter_wait(c, RTE_COMCH_COUNTER_EQ, 2, 3, -1), 0);
	/* The mask is not applied to the value. */
	T_EQ(rte_comch_counter_wait(c, RTE_COMCH_COUNTER_EQ, 6, 3, 1), -ETIMEDOUT);
	T_EQ(rte_comch_counter_wait(c, RTE_COMCH_COUNTER_GT, 6, ALL, 0), -ETIMEDOUT);
	T_EQ(rte_comch_counter_wait(c, RTE_COMCH_COUNTER_NE, 6, ALL, 25), -ETIMEDOUT);
	rte_comch_counter_free(c);
	t_eal_stop();
}

PAIR_CASE(handshake)
{
	T_EQ(connected(p->counter), 0);
	T_EQ(rte_comch_counter_get(p->counter), 0);
	owner_do(p, 'W', 1);
	rte_comch_counter_set(p->counter, 1);
	T_EQ(rte_comch_counter_wait(p->counter, RTE_COMCH_COUNTER_EQ, 2, ALL, -1), 0);
	owner_do(p, 'S', 77);
	T_EQ(rte_comch_counter_get(p->counter), 77);
}

PAIR_CASE(adds)
{
	unsigned int i;

	T_EQ(connected(p->counter), 0);
	t_say(p->owner.fd, 'A', 0);
	for (i = 0; i < ADDS; i++)
		rte_comch_counter_add(p->counter, 1);
	t_hear(p->owner.fd, 'A');
	T_EQ(rte_comch_counter_get(p->counter), 2 * ADDS);
}

/* Many times, as the waiter is about to sleep now and then. */
PAIR_CASE(ping_pong)
{
	uint64_t i;

	T_EQ(connected(p->counter), 0);
	for (i = 1; i < 2000; i += 2) {
		owner_do(p, 'W', i);
		rte_comch_counter_set(p->counter, i);
		T_EQ(rte_comch_counter_wait(p->counter, RTE_COMCH_COUNTER_EQ, i + 1, ALL, -1), 0);
	}
}

static bool
is_woken(struct rte_comch_poll *node, int timeout_ms)
{
	struct pollfd fd = { .fd = rte_comch_poll_fd(node, RTE_COMCH_POLL_ANY), .events = POLLIN };

	return poll(&fd, 1, timeout_ms) == 1;
}

static void
arm(struct rte_comch_poll *poll)
{
	struct rte_comch_event event;

	T_WAIT(rte_comch_poll_run(poll, &event, 1),
		rte_comch_poll_arm(poll, RTE_COMCH_POLL_ANY) == 0);
}

PAIR_CASE(watched)
{
	struct rte_comch_poll *poll = rte_comch_poll_create(NULL);

	T_CHECK(poll != NULL);
	T_EQ(rte_comch_counter_watch(p->counter, 0, poll), -EINVAL);
	T_EQ(connected(p->counter), 0);
	arm(poll);
	T_EQ(rte_comch_counter_watch(p->counter, 0, poll), 0);
	T_CHECK(!is_woken(poll, 30));
	owner_do(p, 'S', 1);
	T_CHECK(is_woken(poll, -1));
	T_EQ(rte_comch_poll_clear(poll), 0);
	/* Once only. */
	arm(poll);
	owner_do(p, 'S', 2);
	T_CHECK(!is_woken(poll, 30));
	/* It has changed already. */
	T_EQ(rte_comch_counter_watch(p->counter, 1, poll), 0);
	T_CHECK(is_woken(poll, -1));
	T_EQ(rte_comch_poll_clear(poll), 0);
	arm(poll);
	T_EQ(rte_comch_counter_watch(p->counter, 2, poll), 0);
	rte_comch_counter_unwatch(p->counter);
	owner_do(p, 'S', 3);
	T_CHECK(!is_woken(poll, 30));
	rte_comch_counter_unwatch(p->counter);
	/* A watched counter can be freed. */
	T_EQ(rte_comch_counter_watch(p->counter, 3, poll), 0);
	rte_comch_counter_free(p->counter);
	p->counter = NULL;
	T_EQ(rte_comch_poll_destroy(poll), 0);
}

/* An importer needs its owner for its memory only. */
PAIR_CASE(owner_gone)
{
	/* It has time-outs, which are no wake-ups. */
	t_futex_never_looks = false;
	T_EQ(connected(p->counter), 0);
	owner_do(p, 'S', 5);
	T_EQ(kill(p->owner.pid, SIGKILL), 0);
	T_EQ(waitpid(p->owner.pid, NULL, 0), p->owner.pid);
	p->owner.pid = 0;
	T_EQ(rte_comch_counter_add(p->counter, 1), 5);
	T_EQ(rte_comch_counter_get(p->counter), 6);
	T_EQ(rte_comch_counter_wait(p->counter, RTE_COMCH_COUNTER_GT, 6, ALL, 20), -ETIMEDOUT);
	rte_comch_counter_free(p->counter);
	p->counter = rte_comch_counter_import(p->shared->desc);
	T_CHECK(p->counter != NULL);
	T_EQ(connected(p->counter), -ENOTCONN);
}

/* Another waiter was killed in its sleep. */
PAIR_CASE(waiter_killed)
{
	T_EQ(connected(p->counter), 0);
	owner_do(p, 'W', 1);
	T_EQ(kill(p->owner.pid, SIGKILL), 0);
	T_EQ(waitpid(p->owner.pid, NULL, 0), p->owner.pid);
	p->owner.pid = 0;
	rte_comch_counter_set(p->counter, 1);
	T_EQ(rte_comch_counter_wait(p->counter, RTE_COMCH_COUNTER_EQ, 1, ALL, -1), 0);
}

/* No descriptor is left when the answer comes: it can be tried again. */
PAIR_CASE(no_descriptor_left)
{
	const struct rlimit few = { 64, 64 };
	int fds[64];
	unsigned int n = 0;

	T_EQ(rte_comch_counter_connect(p->counter), -EAGAIN);
	T_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	while ((fds[n] = dup(0)) >= 0)
		n++;
	T_EQ(errno, EMFILE);
	T_EQ(connected(p->counter), -EMFILE);
	while (n > 0)
		close(fds[--n]);
	T_EQ(connected(p->counter), 0);
	owner_do(p, 'S', 5);
	T_EQ(rte_comch_counter_get(p->counter), 5);
}

PAIR_CASE(freed_by_its_owner)
{
	owner_do(p, 'F', 0);
	T_EQ(connected(p->counter), -ENOTCONN);
}

/* The key of memory is none of a counter. */
PAIR_CASE(not_a_counter)
{
	rte_comch_counter_free(p->counter);
	p->counter = rte_comch_counter_import(p->shared->memory_desc);
	T_CHECK(p->counter != NULL);
	T_EQ(connected(p->counter), -ENOTCONN);
}

/* And the other way round. */
PAIR_CASE(not_memory)
{
	struct rte_comch_piece piece = { .len = 1, .local = p };
	int ret = 0;

	piece.imp = rte_comch_import_create(p->shared->desc);
	T_CHECK(piece.imp != NULL);
	T_WAIT(0, (ret = rte_comch_piece_start(&piece)) != -EAGAIN);
	T_EQ(ret, -ENOTCONN);
	rte_comch_import_destroy(piece.imp);
}

T_CASE(arguments)
{
	uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN] = { 0 };
	struct rte_comch_counter *c;
	int16_t dev, other;

	t_eal_start(1);
	dev = open_dev("comch_shm0,role=dpu,rep=pf0");
	T_CHECK(rte_comch_counter_create(2) == NULL);
	T_EQ(rte_errno, EINVAL);
	T_CHECK(rte_comch_counter_import(NULL) == NULL);
	T_EQ(rte_errno, EINVAL);
	T_CHECK(rte_comch_counter_import(desc) == NULL);
	T_EQ(rte_errno, EINVAL);
	T_EQ(rte_comch_counter_connect(NULL), -EINVAL);
	c = rte_comch_counter_create(0);
	T_CHECK(c != NULL);
	T_EQ(rte_comch_counter_export(c, dev, desc), -ENOTSUP);
	rte_comch_counter_free(c);
	c = rte_comch_counter_create(RTE_COMCH_COUNTER_F_SHARED);
	T_CHECK(c != NULL);
	T_EQ(rte_comch_counter_export(NULL, dev, desc), -EINVAL);
	T_EQ(rte_comch_counter_export(c, dev, NULL), -EINVAL);
	T_EQ(rte_comch_counter_export(c, 1000, desc), -ENODEV);
	T_EQ(rte_comch_counter_export(c, dev, desc), 0);
	/* Its descriptor is one of the first device. */
	other = open_dev("comch_shm1,role=dpu,rep=pf1");
	T_EQ(rte_comch_counter_export(c, other, desc), -ENOTSUP);
	T_EQ(rte_comch_dev_close(other), 0);
	T_EQ(rte_comch_counter_watch(c, 0, NULL), -EINVAL);
	rte_comch_counter_free(c);
	rte_comch_counter_free(NULL);
	rte_comch_counter_unwatch(NULL);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_eal_stop();
}
