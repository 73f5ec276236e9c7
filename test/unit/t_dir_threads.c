/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Producers look consumers up and use them, while the connection's thread
 * adds, removes and frees them. What is freed is overwritten before.
 */

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "t_main.h"
#include "u_chan.h"

#define NB_PRODS 3
#define NB_LIVE 4
#define RUN_MS 1500

static struct comch_dir dir;
static struct comch_chan_prod prods[NB_PRODS];
/* The newest id of each slot; a producer asks for it or for an older one. */
static uint32_t newest[NB_LIVE];
static uint32_t stop, nb_found, nb_missed;

static void *
look_up(void *arg)
{
	struct comch_chan_prod *p = arg;
	uint32_t i = 0, id, found = 0, missed = 0;
	const struct rte_comch_remote *rc;

	while (comch_load_relaxed(&stop) == 0) {
		id = comch_load_relaxed(&newest[i++ % NB_LIVE]);
		if (i % 3 == 0 && id > 2 * COMCH_MAX_CONSUMERS)
			id -= COMCH_MAX_CONSUMERS;
		comch_epoch_enter(&p->tx.epoch);
		rc = comch_dir_find(&dir, id, &p->tx.last_slot);
		if (rc != NULL) {
			T_EQ(rc->id, id);
			T_EQ(rc->depth, id ^ 0x5a5a);
			found++;
		} else {
			missed++;
		}
		comch_epoch_leave(&p->tx.epoch);
	}
	__atomic_fetch_add(&nb_found, found, __ATOMIC_RELAXED);
	__atomic_fetch_add(&nb_missed, missed, __ATOMIC_RELAXED);
	return NULL;
}

static void
add(uint32_t k, uint32_t id)
{
	struct rte_comch_remote *rc = calloc(1, sizeof(*rc));

	T_CHECK(rc != NULL);
	rc->id = id;
	rc->depth = id ^ 0x5a5a;
	T_EQ(comch_dir_add(&dir, rc), 0);
	comch_store_relaxed(&newest[k], id);
}

static struct rte_comch_remote *
hide(uint32_t id)
{
	struct rte_comch_remote *rc = comch_dir_remove(&dir, id);

	T_CHECK(rc != NULL);
	T_EQ(rc->id, id);
	return rc;
}

static void
wait_and_free(struct rte_comch_remote *rc)
{
	uint32_t i;

	comch_fence_heavy();
	for (i = 0; i < NB_PRODS; i++)
		comch_epoch_watch(&prods[i].tx.epoch);
	for (i = 0; i < NB_PRODS; i++)
		while (!comch_epoch_passed(&prods[i].tx.epoch))
			sched_yield();
	memset(rc, 0xdd, sizeof(*rc));
	free(rc);
}

/* reuse: the place of the one that goes is taken before its last users left. */
static void
churn(bool reuse)
{
	uint32_t id[NB_LIVE], k, rounds = 0;
	struct rte_comch_remote *rc;
	pthread_t t[NB_PRODS];
	uint64_t end;

	for (k = 0; k < NB_LIVE; k++) {
		id[k] = k + 1;
		add(k, id[k]);
	}
	for (k = 0; k < NB_PRODS; k++)
		T_EQ(pthread_create(&t[k], NULL, look_up, &prods[k]), 0);
	for (end = t_now_ms() + RUN_MS; t_now_ms() < end; rounds++) {
		k = rounds % NB_LIVE;
		rc = hide(id[k]);
		id[k] += COMCH_MAX_CONSUMERS;
		if (reuse)
			add(k, id[k]);
		wait_and_free(rc);
		if (!reuse)
			add(k, id[k]);
	}
	comch_store_relaxed(&stop, 1);
	for (k = 0; k < NB_PRODS; k++)
		pthread_join(t[k], NULL);
	for (k = 0; k < NB_LIVE; k++)
		wait_and_free(hide(id[k]));
	printf("   %u consumers went, %u found, %u missed\n", rounds, nb_found, nb_missed);
	T_GT(nb_found, 0);
}

static void
come_and_go(void)
{
	churn(false);
}

static void
place_used_again_at_once(void)
{
	churn(true);
}

/*
 * A producer's stream to a consumer that retired holds the consumer by
 * rc->streaming alone: what sees that word cleared frees it.
 */
static void *
push_on(void *arg)
{
	struct comch_chan_prod *p = arg;
	struct rte_comch_cpl cpl;

	while (comch_chan_done(p, &cpl, 1) == 0)
		sched_yield();
	T_EQ(cpl.status, -ENOENT);
	return NULL;
}

/* A channel whose sending end has memory of its own, and a stream half-way. */
static struct u_chan *
make_stream(struct comch_chan_remote **rcons)
{
	struct u_chan *u = u_chan_create(&(struct u_conf){
		.depth = 4, .staging_size = 256, .mem_size = 4096,
	});
	struct comch_chan_remote *rc = aligned_alloc(COMCH_LINE, sizeof(*rc));

	T_CHECK(rc != NULL);
	*rc = u->rc;
	T_CHECK(comch_dir_remove(&u->dir, U_CONS_ID) == &u->rc.to.base);
	T_EQ(comch_dir_add(&u->dir, &rc->to.base), 0);
	T_CHECK(u_post(u, U_MR_STAGED, 0, 1000, 1));
	T_EQ(u_send(u, 0, 1000, 1), 1);
	T_CHECK(u->prod[0].stream == rc);
	*rcons = rc;
	return u;
}

static void
stream_to_one_that_retires(void)
{
	struct comch_chan_remote *rc;
	uint32_t round;
	struct u_chan *u;
	pthread_t t;

	for (round = 0; round < 200; round++) {
		u = make_stream(&rc);
		/* As the connection's thread does when the consumer retires. */
		T_CHECK(comch_dir_remove(&u->dir, U_CONS_ID) == &rc->to.base);
		comch_fence_heavy();
		comch_epoch_watch(&u->prod[0].tx.epoch);
		T_EQ(pthread_create(&t, NULL, push_on, &u->prod[0]), 0);
		comch_store_relaxed(&rc->retired, 1);
		while (!comch_epoch_passed(&u->prod[0].tx.epoch) ||
				comch_load_acquire(&rc->streaming) != 0)
			sched_yield();
		/* Freed: a late reader races with this. */
		rc->to.post_shared = NULL;
		rc->wake_fd = -1;
		free(rc);
		pthread_join(t, NULL);
		u_chan_free(u);
	}
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "come_and_go", come_and_go },
		{ "place_used_again_at_once", place_used_again_at_once },
		{ "stream_to_one_that_retires", stream_to_one_that_retires },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
