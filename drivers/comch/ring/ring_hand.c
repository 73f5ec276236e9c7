/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Queues of mbufs: which process uses one, and when it can be reused.
 *
 *   consumer                                 its remote, at the producers' end
 *   ring_hand_get(): generation g, 1 user
 *   CONSUMER_NEW {address, g}  ------------> ring_hand_ref(g): 2 users, or too late
 *                                            bursts, in epochs
 *   ring_hand_put(): takes what is left      remote_free: ring_hand_leave()
 *
 * Without users its process may use it again. A process that was killed keeps a use for
 * ever. A producer's is disregarded as soon as the consumer has let go. A consumer's passes
 * to the producers' end, which takes what is left in the queue, and the queue with it.
 */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "ring_private.h"

#define GEN_SHIFT 32
#define NB_MASK UINT32_MAX

/* Queues of this process. */
static struct ring_hand *hands;
static pthread_mutex_t hands_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t
nb_users(const struct ring_hand *h)
{
	/* Acquire: pairs with the release of the last user. Model: leave.pml, left. */
	return (uint32_t)(__atomic_load_n(&h->users, __ATOMIC_ACQUIRE) & NB_MASK);
}

/* Has a process ended? Also one that its parent has not waited for yet. */
static bool
has_ended(pid_t pid)
{
	struct pollfd p = { .events = POLLIN };
	bool ended;

	p.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p.fd < 0)
		return errno == ESRCH || (kill(pid, 0) != 0 && errno == ESRCH);
	ended = poll(&p, 1, 0) == 1;
	close(p.fd);
	return ended;
}

/*
 * A link is down: was the peer killed? A process that exits gives up its memory before its
 * sockets, and ends some time later. It may be one that we cannot see (pid 0).
 */
static bool
was_killed(pid_t pid)
{
	unsigned long pages = 0;
	char path[32];
	bool has_pages;
	FILE *f;

	if (pid <= 0 || pid == getpid())
		return false;
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return true;
	has_pages = fscanf(f, "%lu", &pages) == 1 && pages > 0;
	fclose(f);
	return !has_pages;
}

/* Its consumer has let go, and no burst of the peer is in progress. */
static bool
is_free(const struct ring_hand *h)
{
	return !h->is_taken && (nb_users(h) == 0 || has_ended(h->peer_pid));
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
		h->is_taken = true;
		h->peer_pid = peer_pid;
		comch_store_relaxed(&h->state, RING_IDLE);
		*gen = (uint32_t)(h->users >> GEN_SHIFT) + 1;
		/*
		 * Release: pairs with the acquire in ring_hand_ref(). Model: publish.pml, publish.
		 */
		__atomic_store_n(&h->users, ((uint64_t)*gen << GEN_SHIFT) | 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&hands_lock);
	return h;
}

bool
ring_hand_ref(struct ring_hand *h, uint32_t gen)
{
	/* Pairs with ring_hand_get(). Model: publish.pml, find. */
	uint64_t users = __atomic_load_n(&h->users, __ATOMIC_ACQUIRE);

	while (users >> GEN_SHIFT == gen && (users & NB_MASK) != 0)
		if (__atomic_compare_exchange_n(&h->users, &users, users + 1, false,
				__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) /* publish.pml, find */
			return true;
	return false;
}

void
ring_hand_put(struct ring_hand *h)
{
	empty(h);
	pthread_mutex_lock(&hands_lock);
	h->is_taken = false;
	/*
	 * Release: our accesses are over. Pairs with the acquire in nb_users().
	 * Model: leave.pml, leave.
	 */
	__atomic_sub_fetch(&h->users, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&hands_lock);
}

/* The consumer's process was killed: take over its queue. */
static void
inherit(struct ring_hand *h)
{
	/* Messages of an unfinished burst were not received: keep them for freeing. */
	h->ring.cons.head = h->ring.cons.tail;
	empty(h);
	pthread_mutex_lock(&hands_lock);
	comch_store_relaxed(&h->state, RING_CLOSED);
	h->is_taken = false;
	h->pid = getpid();
	h->next = hands;
	hands = h;
	__atomic_sub_fetch(&h->users, 1, __ATOMIC_RELEASE); /* leave.pml, leave */
	pthread_mutex_unlock(&hands_lock);
}

void
ring_hand_leave(struct ring_hand *h, pid_t peer_pid)
{
	/*
	 * Release: our accesses are over. Pairs with the acquire in nb_users().
	 * Model: leave.pml, leave_last.
	 */
	if ((__atomic_sub_fetch(&h->users, 1, __ATOMIC_ACQ_REL) & NB_MASK) != 0 &&
			was_killed(peer_pid))
		inherit(h);
}
