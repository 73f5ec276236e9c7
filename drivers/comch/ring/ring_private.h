/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RING_PRIVATE_H
#define RING_PRIVATE_H

/*
 * The driver for lcores of one process, and for the processes of one EAL. mbufs are handed
 * over: what is received is the pointer that was sent.
 *
 * Links are those of shared memory (drivers/comch/shm), and so are names, connections,
 * events, and how a peer's death is noticed. Operations and buffers are those of the mapped
 * channel (drivers/comch/common/mapped). This driver adds
 *
 *   ring_driver.c   devices, and the proof that both ends are of one EAL
 *   ring_data.c     memory by address: EAL memory, and all memory within a process
 *   ring_hand.c     a queue of mbufs for each consumer, and how long it lives
 *   ring_mbuf.c     the bursts of mbufs
 *   ring_pool.c     mempools that several processes use
 *
 * The processes of an EAL share all memory of it, so they trust each other: addresses from
 * the peer are used as they are. Peers of other EALs are refused in the handshake.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "comch_map.h"
#include "shm_private.h"

extern int comch_ring_logtype;

#define RING_TAG "COMCH_RING"
#define RING_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, comch_ring_logtype, RING_TAG ": " fmt "\n", ##__VA_ARGS__)

enum ring_state {
	RING_IDLE,   /* the consumer is not in mbuf mode */
	RING_OPEN,
	RING_CLOSED, /* it takes no more mbufs */
};

/*
 * The queue of mbufs to a consumer, in EAL memory. Many producers of one process put
 * mbufs; the consumer's thread takes them.
 *
 * Its consumer hands it out by address in the ticket of CONSUMER_NEW, in each life of the
 * consumer with another generation. The memory is never freed, only used again by the
 * process that made or inherited it, so that a ticket that is read late finds a queue of
 * another generation and nothing else.
 */
struct ring_hand {
	/* Generation in the upper half, users in the lower: the consumer, and its remote. */
	uint64_t users;
	uint32_t depth;
	pid_t pid;               /* the process that uses it for its consumers */
	pid_t peer_pid;
	bool is_taken;           /* has a consumer of that process */
	struct ring_hand *next;  /* of the same process */
	/* Written by the consumer's end; read by each burst. */
	uint32_t state __rte_aligned(COMCH_LINE); /* enum ring_state */
	uint32_t room;           /* bytes in an mbuf of the pool */
	struct rte_mempool *pool;
	bool takes_chains;
	/* Written by producers: 1 while one of them enqueues. The consumer's stop reads it. */
	uint32_t busy __rte_aligned(COMCH_LINE);
	/* Only the producer that has set `busy` enqueues. Single consumer. */
	struct rte_ring ring;
};

/* The driver's part of the ticket of CONSUMER_NEW. */
struct ring_ticket {
	uint64_t hand;
	uint32_t gen;
	uint32_t reserved;
};

/* Added to a consumer: comch_map_dq.ext. */
struct ring_cons {
	struct ring_hand *hand; /* from cons_offer to cons_retire */
	uint32_t gen;
	int socket_id;
	bool is_open;
	/* Of mbuf mode. */
	struct rte_mempool *pool; /* NULL: mbufs are posted, and come over the channel */
	bool takes_chains;
	uint64_t deadline;      /* TSC; after a halt, mbufs that are being put are abandoned */
};

/* Added to a producer. */
struct ring_prod {
	/* The channel's send, for consumers that are not in mbuf mode. */
	uint16_t (*send)(void *queue, const struct rte_comch_op *ops, uint16_t n);
	bool same_process;
	bool as_channel;            /* the next send, of mbufs: the consumer had no queue */
	const struct rte_mempool *seen_pool; /* the last one of which mbufs crossed */
	/* The EAL's memory in which the last data was. */
	uintptr_t eal_base;
	size_t eal_len;
};

/* ring_data.c */
extern struct rte_comch_data_ops ring_data_ops;
/* Set them: those of the mapped channel, and what differs. */
void ring_data_init(void);
/* The queue to a remote in mbuf mode, or NULL. Within an epoch. */
static inline struct ring_hand *
ring_hand_of(struct comch_send_remote *to)
{
	struct ring_hand *h = container_of(to, struct comch_chan_remote, to)->ext;

	/* Acquire: pairs with the release in open_hand(). Model: publish.pml, find. */
	return h != NULL && comch_load_acquire(&h->state) == RING_OPEN ? h : NULL;
}

static inline struct comch_map_cons *
ring_map_cons(const struct rte_comch_dq *dq)
{
	return (struct comch_map_cons *)(uintptr_t)
		container_of(dq, const struct comch_map_cons, dq.base);
}

static inline struct comch_map_prod *
ring_map_prod(const struct rte_comch_dq *dq)
{
	return (struct comch_map_prod *)(uintptr_t)
		container_of(dq, const struct comch_map_prod, dq.base);
}

/* ring_hand.c */
/* A queue of the next generation, with one user. NULL: no memory. */
struct ring_hand *ring_hand_get(uint32_t depth, pid_t peer_pid, int socket_id, uint32_t *gen);
/* Another user. False: its generation has ended. */
bool ring_hand_ref(struct ring_hand *h, uint32_t gen);
/* The consumer lets go, and what is left in the queue is freed. */
void ring_hand_put(struct ring_hand *h);
/* The remote lets go. If the consumer's process was killed, what it left is freed. */
void ring_hand_leave(struct ring_hand *h, pid_t peer_pid);
/*
 * Number of mbufs in the queue. Acquire: what was put is seen; pairs with the release of
 * the ring's tail.
 */
static inline uint32_t
ring_hand_count(const struct ring_hand *h)
{
	return __atomic_load_n(&h->ring.prod.tail, __ATOMIC_ACQUIRE) -
		comch_load_relaxed(&h->ring.cons.tail); /* publish.pml, find */
}

/* ring_pool.c */
/* Can all processes of the EAL use the data of its mbufs? */
bool ring_pool_is_shared(struct rte_mempool *mp);
/* Warn, once for each pool, if a process that is killed can make the others hang. */
void ring_pool_check(const struct rte_mempool *mp);
/* The same, but a later ring_pool_warn() logs it: for bursts. The pool stays. */
void ring_pool_crosses(const struct rte_mempool *mp);
void ring_pool_warn(void);

/* ring_mbuf.c */
int ring_rx_setup(struct rte_comch_dq *dq, struct rte_mempool *mp, bool takes_chains);
int ring_recv_mbufs(struct rte_comch_dq *dq, struct rte_mbuf **mbufs, uint16_t n, uint16_t *done);
int ring_send_mbufs(struct rte_comch_dq *dq, uint32_t consumer_id, struct rte_comch_mr *mr,
		struct rte_mbuf **mbufs, uint16_t n, uint16_t *done);
/* Operations, also to consumers in mbuf mode. */
uint16_t ring_send(void *queue, const struct rte_comch_op *ops, uint16_t n);
/* After a halt: drain the consumer if nothing can come any more. */
void ring_recv_end(struct comch_map_cons *c);

#endif /* RING_PRIVATE_H */
