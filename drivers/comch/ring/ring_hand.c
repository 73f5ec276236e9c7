/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Queues of mbufs: who uses one, and when it can be used again.
 *
 *   consumer                                 its remote, at the producers' end
 *   ring_hand_get(): generation g, 1 user
 *   CONSUMER_NEW {address, g}  ------------> ring_hand_ref(g): 2 users, or too late
 *                                            bursts, in epochs
 *   ring_hand_put(): takes what is left      remote_free: ring_hand_put()
 *
 * Without users its process may use it again. A process that was killed keeps a use for
 * ever: its uses end with it.
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "ring_private.h"

#define GEN_SHIFT 32
#define NB_MASK UINT32_MAX

/* Queues that this process has made. */
static struct ring_hand *hands;
static pthread_mutex_t hands_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t
nb_users(const struct ring_hand *h)
{
	/* Acquire: pairs with the release of the last user. */
	return (uint32_t)(__atomic_load_n(&h->users, __ATOMIC_ACQUIRE) & NB_MASK);
}

static bool
is_dead(pid_t pid)
{
	return pid > 0 && pid != getpid() && kill(pid, 0) != 0 && errno == ESRCH;
}

static bool
is_free(const struct ring_hand *h)
{
	return nb_users(h) == 0 ||
		(comch_load_relaxed(&h->state) == RING_CLOSED && is_dead(h->peer_pid));
}

/* Take what is left in the queue. */
static void
empty(struct ring_hand *h)
{
	struct rte_mbuf *mbufs[32];
	uint32_t n;

	while ((n = rte_ring_sc_dequeue_burst(&h->ring, (void **)mbufs, RTE_DIM(mbufs), NULL)) > 0)
		rte_pktmbuf_free_bulk(mbufs, n);
}

static struct ring_hand *
make(uint32_t depth, int socket_id)
{
	const unsigned int flags = RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ;
	/* One place stays empty. */
	ssize_t size = rte_ring_get_memsize(2 * depth);
	struct ring_hand *h;

	if (size < 0)
		return NULL;
	h = rte_zmalloc_socket("comch_ring_hand", offsetof(struct ring_hand, ring) +
			(size_t)size, COMCH_LINE, socket_id);
	if (h == NULL)
		return NULL;
	if (rte_ring_init(&h->ring, "comch", depth, flags) != 0) {
		rte_free(h);
		return NULL;
	}
	h->depth = depth;
	h->pid = getpid();
	h->next = hands;
	hands = h;
	return h;
}

struct ring_hand *
ring_hand_get(uint32_t depth, pid_t peer_pid, int socket_id, uint32_t *gen)
{
	struct ring_hand *h;

	pthread_mutex_lock(&hands_lock);
	for (h = hands; h != NULL; h = h->next)
		if (h->depth == depth && h->pid == getpid() && is_free(h))
			break;
	if (h == NULL)
		h = make(depth, socket_id);
	if (h != NULL) {
		/*
		 * A burst that its consumer gave up on may have put mbufs since. One whose
		 * process was killed may have stopped in the middle.
		 */
		empty(h);
		rte_ring_reset(&h->ring);
		comch_store_relaxed(&h->busy, 0);
		h->peer_pid = peer_pid;
		comch_store_relaxed(&h->state, RING_IDLE);
		*gen = (uint32_t)(h->users >> GEN_SHIFT) + 1;
		/* Release: pairs with the acquire in ring_hand_ref(). */
		__atomic_store_n(&h->users, ((uint64_t)*gen << GEN_SHIFT) | 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&hands_lock);
	return h;
}

bool
ring_hand_ref(struct ring_hand *h, uint32_t gen)
{
	uint64_t users = __atomic_load_n(&h->users, __ATOMIC_ACQUIRE);

	while (users >> GEN_SHIFT == gen && (users & NB_MASK) != 0)
		if (__atomic_compare_exchange_n(&h->users, &users, users + 1, false,
				__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

void
ring_hand_put(struct ring_hand *h, bool by_consumer)
{
	/* A consumer's process that was killed takes no more. */
	if (by_consumer || is_dead(h->pid))
		empty(h);
	/* Release: our accesses are over. Pairs with the acquire in nb_users(). */
	__atomic_sub_fetch(&h->users, 1, __ATOMIC_RELEASE);
}
