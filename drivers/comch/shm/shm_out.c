/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Descriptors in flight to peers. */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "sdk/comch_foreign.h"
#include "sdk/comch_worker.h"
#include "shm_out.h"

/* Links that one sweep checks: each costs a system call. */
#define SWEEP_LINKS 64
/* Minimum interval of sweeps by senders, us. */
#define SWEEP_US 500
/* Interval of the worker's sweeps, ms. */
#define LEFT_MS 20

TAILQ_HEAD(out_list, shm_out);

/* All of it is protected by the lock. */
static struct {
	pthread_mutex_t lock;
	struct out_list outs; /* with any in flight, least recently checked first */
	struct out_list free; /* abandoned by their links, with nothing in flight */
	uint32_t nb_abandoned; /* in both lists */
	bool is_watched;      /* watch_job is queued at the worker, or runs */
	uint64_t sweep_at;    /* TSC */
} all = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.outs = TAILQ_HEAD_INITIALIZER(all.outs),
	.free = TAILQ_HEAD_INITIALIZER(all.free),
};

static struct comch_worker worker;

/* Add n descriptors, already taken from the quota. Lock held, here and below. */
static void
add(struct shm_out *out, uint32_t n)
{
	if (out->nb == 0 && n > 0)
		TAILQ_INSERT_TAIL(&all.outs, out, next);
	out->nb += n;
}

/* Check whether the peer has received all that the link sent. */
static void
ask(struct shm_out *out)
{
	int left;

	if (out->nb == 0 || ioctl(out->sock, SIOCOUTQ, &left) != 0 || left != 0)
		return;
	comch_quota_give(out->quota, COMCH_QUOTA_FDS_OUT, out->nb);
	out->nb = 0;
	TAILQ_REMOVE(&all.outs, out, next);
	if (out->is_abandoned)
		TAILQ_INSERT_TAIL(&all.free, out, next);
}

/* Check some links, least recently checked first. */
static void
sweep(void)
{
	struct out_list asked = TAILQ_HEAD_INITIALIZER(asked);
	struct shm_out *out;
	uint32_t n;

	for (n = 0; n < SWEEP_LINKS && (out = TAILQ_FIRST(&all.outs)) != NULL; n++) {
		ask(out);
		if (out->nb == 0)
			continue;
		TAILQ_REMOVE(&all.outs, out, next);
		TAILQ_INSERT_TAIL(&asked, out, next);
	}
	TAILQ_CONCAT(&all.outs, &asked, next);
}

/* Close one abandoned socket. False: none. Call without the lock. */
static bool
close_one(void)
{
	struct shm_out *out;

	pthread_mutex_lock(&all.lock);
	out = TAILQ_FIRST(&all.free);
	if (out != NULL) {
		TAILQ_REMOVE(&all.free, out, next);
		all.nb_abandoned--;
	}
	pthread_mutex_unlock(&all.lock);
	if (out == NULL)
		return false;
	comch_foreign_hang_up(out->sock);
	comch_quota_put(out->quota);
	free(out);
	return true;
}

/* No event reports that a peer has received everything: poll for it. */
static void
watch(struct comch_job *job)
{
	rte_delay_us_sleep(LEFT_MS * (US_PER_S / MS_PER_S));
	pthread_mutex_lock(&all.lock);
	sweep();
	pthread_mutex_unlock(&all.lock);
	while (close_one())
		;
	pthread_mutex_lock(&all.lock);
	all.is_watched = all.nb_abandoned > 0 && comch_worker_put(&worker, job);
	pthread_mutex_unlock(&all.lock);
}

static struct comch_job watch_job = { .run = watch };

void
shm_out_begin(struct shm_out *out, int sock, struct comch_quota *quota)
{
	*out = (struct shm_out){ .sock = sock, .quota = quota };
}

/* Under the lock. */
static bool
take(struct shm_out *out, uint32_t n)
{
	const uint64_t now = rte_rdtsc();

	if (out->nb + n > SHM_OUT_PER_LINK)
		ask(out);
	if (out->nb + n > SHM_OUT_PER_LINK)
		return false;
	if (comch_quota_take(out->quota, COMCH_QUOTA_FDS_OUT, n))
		return true;
	if (now < all.sweep_at)
		return false;
	all.sweep_at = now + rte_get_tsc_hz() / US_PER_S * SWEEP_US;
	sweep();
	return comch_quota_take(out->quota, COMCH_QUOTA_FDS_OUT, n);
}

bool
shm_out_take(struct shm_out *out, uint32_t n)
{
	bool ok;

	pthread_mutex_lock(&all.lock);
	ok = take(out, n);
	pthread_mutex_unlock(&all.lock);
	return ok;
}

void
shm_out_sent(struct shm_out *out, uint32_t n)
{
	pthread_mutex_lock(&all.lock);
	add(out, n);
	pthread_mutex_unlock(&all.lock);
}

void
shm_out_give(struct shm_out *out, uint32_t n)
{
	comch_quota_give(out->quota, COMCH_QUOTA_FDS_OUT, n);
}

/* False: nothing is in flight, or there is no memory to remember it. Under the lock. */
static bool
leave(const struct shm_out *out)
{
	struct shm_out *left;

	if (out->nb == 0)
		return false;
	left = malloc(sizeof(*left));
	if (left == NULL)
		return false;
	*left = *out;
	comch_quota_ref(left->quota);
	left->nb = 0;
	left->is_abandoned = true;
	add(left, out->nb);
	all.nb_abandoned++;
	if (!all.is_watched)
		all.is_watched = comch_worker_put(&worker, &watch_job);
	return true;
}

/* The worker has no thread: check and close a few here. */
static void
help(void)
{
	uint32_t n = 0;

	pthread_mutex_lock(&all.lock);
	sweep();
	pthread_mutex_unlock(&all.lock);
	while (n++ < SHM_OUT_PER_LINK && close_one())
		;
}

void
shm_out_end(struct shm_out *out, bool may_stay)
{
	bool is_abandoned, needs_help;

	pthread_mutex_lock(&all.lock);
	ask(out);
	is_abandoned = may_stay && leave(out);
	if (out->nb > 0)
		TAILQ_REMOVE(&all.outs, out, next);
	needs_help = all.nb_abandoned > 0 && !all.is_watched;
	pthread_mutex_unlock(&all.lock);
	if (!is_abandoned) {
		comch_quota_give(out->quota, COMCH_QUOTA_FDS_OUT, out->nb);
		comch_foreign_hang_up(out->sock);
	}
	if (needs_help)
		help();
}

/* fork() */

static void
before_fork(void)
{
	pthread_mutex_lock(&all.lock);
	comch_quota_lock();
}

static void
in_parent(void)
{
	comch_quota_unlock();
	pthread_mutex_unlock(&all.lock);
}

/* A child has no links: its parent's sockets are open in it, too. */
static void
close_in_child(struct out_list *outs)
{
	struct shm_out *out;

	TAILQ_FOREACH(out, outs, next)
		if (out->is_abandoned)
			close(out->sock);
	TAILQ_INIT(outs);
}

static void
in_child(void)
{
	close_in_child(&all.outs);
	close_in_child(&all.free);
	all.nb_abandoned = 0;
	all.is_watched = false;
	comch_quota_forget();
	comch_quota_unlock();
	pthread_mutex_unlock(&all.lock);
}

RTE_INIT(shm_out_init)
{
	comch_worker_init(&worker, "comch-out");
	pthread_atfork(before_fork, in_parent, in_child);
}
