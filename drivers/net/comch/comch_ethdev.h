/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_ETHDEV_H
#define COMCH_ETHDEV_H

/* The net_comch port; comch_ethdev.c describes its threads and locks. */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <ethdev_driver.h>
#include <rte_ether.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_pause.h>
#include <rte_spinlock.h>

#include <rte_comch.h>
#include <rte_comch_mbuf.h>
#include <rte_comch_poll.h>

#include "comch_bounce.h"
#include "comch_hello.h"

extern int comch_ethdev_logtype;

#define PMD_LOG(level, ...) \
	rte_log(RTE_LOG_ ## level, comch_ethdev_logtype, "net_comch: " \
		RTE_FMT(RTE_FMT_HEAD(__VA_ARGS__,) "\n", RTE_FMT_TAIL(__VA_ARGS__,)))

/* Ethernet header, CRC, and two VLAN tags. */
#define COMCH_ETHDEV_OVERHEAD (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 2 * RTE_VLAN_HLEN)
#define COMCH_ETHDEV_MAX_FRAME UINT16_MAX
/* Shortest receive buffer: with it, the longest frame is COMCH_ETHDEV_MAX_PIECES messages. */
#define COMCH_ETHDEV_MIN_ROOM 1024
#define COMCH_ETHDEV_MAX_PIECES (COMCH_ETHDEV_MAX_FRAME / COMCH_ETHDEV_MIN_ROOM + 1)
#define COMCH_ETHDEV_MAX_DESC 32768

/* Counters of a receive queue. */
enum comch_rxq_count {
	COMCH_RXQ_PACKETS,
	COMCH_RXQ_BYTES,
	COMCH_RXQ_DISCARDED, /* received while the port or the connection was closed */
	COMCH_RXQ_FILTERED,  /* for other MAC addresses */
	COMCH_RXQ_ERRORS,    /* too short, too long, or incomplete */
	COMCH_RXQ_NO_MBUF,   /* of copies, and of consumers that are destroyed */
	COMCH_RXQ_NB,
};

/* Counters of a transmit queue. */
enum comch_txq_count {
	COMCH_TXQ_PACKETS,     /* accepted by the channel */
	COMCH_TXQ_BYTES,
	COMCH_TXQ_LOST,        /* of these, not sent: the peer stopped or died */
	COMCH_TXQ_OVERSIZE,    /* longer than the peer receives */
	COMCH_TXQ_OFFLOAD,     /* asked for an offload */
	COMCH_TXQ_NO_POOL,     /* the registration of its pool failed */
	COMCH_TXQ_UNCONFIRMED, /* sent to a peer that died: an upper bound of what it missed */
	COMCH_TXQ_NB,
};

struct comch_port;

struct comch_rxq {
	rte_spinlock_t lock;
	uint16_t id;
	uint16_t port_id;
	uint16_t room;                   /* of a message: a shorter one ends a frame */
	bool reaps;                      /* sends complete later: reap them */
	bool skips;                      /* drop the rest of a frame that was too long */
	struct rte_comch_consumer *cons; /* NULL: closed to bursts */
	struct rte_mbuf *chain;          /* frame of which the end is missing */
	struct rte_mbuf *chain_last;
	struct comch_port *port;
	uint64_t count[COMCH_RXQ_NB];
	uint64_t base[COMCH_RXQ_NB];     /* at the last reset */

	struct rte_mempool *mp;
	struct rte_comch_poll *poll;     /* under the lock; its fd is the receive interrupt */
	uint16_t nb_desc;
	/* The control thread's; changed with the lock held, for statistics. */
	struct rte_comch_consumer *made;
	struct comch_bounce bounce;      /* used if the peer cannot write to mp */
};

struct comch_txq {
	rte_spinlock_t lock;
	uint16_t id;
	uint16_t port_id;
	uint16_t room;                   /* of the peer's receive queue */
	bool splits;                     /* may send a frame as several messages */
	uint32_t max_frame;              /* of the peer */
	uint32_t consumer_id;
	struct comch_port *port;
	struct rte_comch_producer *prod; /* NULL: closed to bursts */
	const struct rte_mempool *good_pool; /* last pool found registered */
	const struct rte_mempool *bad_pool;  /* last pool that failed to register */
	uint32_t pool_changes;               /* when they were remembered */
	uint64_t count[COMCH_TXQ_NB];
	uint64_t base[COMCH_TXQ_NB];

	/* Messages of a frame that was accepted and is not sent yet. */
	uint16_t nb_pieces;
	uint16_t next_piece;
	struct rte_mbuf *pieces[COMCH_ETHDEV_MAX_PIECES];
	struct rte_mempool *piece_pool;
	uint16_t nb_desc;
	/* The control thread's; changed with the lock held, for statistics. */
	struct rte_comch_producer *made;
};

/* State of the link; the control thread's. */
enum comch_link_state {
	COMCH_LINK_WAIT,    /* for a connection */
	COMCH_LINK_QUEUES,  /* consumers start */
	COMCH_LINK_HELLO,   /* waiting for the peer's HELLO */
	COMCH_LINK_UP,
	COMCH_LINK_CLOSING, /* queues drain and are destroyed */
	COMCH_LINK_END,     /* waiting for the end of the connection */
};

/* A connection and what its peer has said. */
struct comch_peer {
	struct rte_comch_conn *conn;          /* NULL: unused */
	bool ended;                           /* DISCONNECTED */
	bool said_hello;
	bool left;                            /* it retires consumers: it stops */
	struct comch_hello hello;
	uint16_t nb_consumers;                /* announced and not retired */
	struct {
		uint32_t id;
		uint32_t depth;
	} consumers[COMCH_HELLO_MAX_QUEUES];
};

struct comch_port {
	struct rte_eth_dev *dev;
	struct rte_ether_addr mac;
	char name[RTE_COMCH_NAME_SIZE];
	enum rte_comch_role role;
	uint16_t max_queues;
	int16_t dev_id;      /* comch device */
	bool owns_dev;
	bool sync_send;
	bool stages_heap;    /* messages to memory that is not shareable are staged */
	bool hands_over;
	bool exports_eal;    /* the peer may write to pools in EAL memory */
	uint16_t rep;
	uint32_t max_dp_queue;
	bool filters;        /* atomic: drop frames for others */

	/* The control thread, between start and stop. */
	pthread_t thread;
	bool started;
	bool quit;           /* atomic */
	bool flush;          /* atomic: a transmit queue has the rest of a frame */
	struct rte_comch_poll *poll;
	struct rte_comch_poll *prod_poll; /* of the producers; run while they end */
	struct rte_comch_server *server;
	struct rte_comch_client *client;
	enum comch_link_state state;
	uint64_t next_try;   /* TSC */
	uint64_t deadline;   /* TSC: the control thread drains the consumers itself */
	struct comch_peer peers[2]; /* one may come before the other's queues are destroyed */
	struct comch_peer *peer;    /* peer that our queues are connected to */

	uint64_t nb_ups;     /* atomic */
	uint64_t nb_downs;
	uint64_t base_ups;
	uint64_t base_downs;
};

/* Longest frame that the port receives. */
static inline uint32_t
comch_port_max_frame(const struct comch_port *port)
{
	return RTE_MIN((uint32_t)port->dev->data->mtu + COMCH_ETHDEV_OVERHEAD,
		(uint32_t)COMCH_ETHDEV_MAX_FRAME);
}

/*
 * Lock a queue for a burst. The control thread holds the lock for a few stores; if it was
 * preempted meanwhile, the burst does nothing.
 */
static inline bool
comch_queue_enter(rte_spinlock_t *lock)
{
	int i;

	for (i = 0; i < 1024; i++) {
		if (likely(rte_spinlock_trylock(lock)))
			return true;
		rte_pause();
	}
	return false;
}

/*
 * Unlock a queue at the end of a burst, or within one. A store, since rte_spinlock_unlock() is an
 * exchange on x86, which waits until the lines that the burst has written have come from the
 * peer's CPU.
 */
static inline void
comch_queue_leave(rte_spinlock_t *lock)
{
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

/* One writer at a time: the holder of the queue's lock. Any thread may read. */
static inline void
comch_queue_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* comch_args.c */
int comch_ethdev_args(struct comch_port *port, const char *args);

/* comch_pool.c */
bool comch_ethdev_pool_register(struct rte_mempool *mp);
/* Differs from an earlier one if what was remembered of pools then may be wrong. */
uint32_t comch_ethdev_pool_changes(void);
void comch_ethdev_pools_open(void);
void comch_ethdev_pools_close(void);

/* comch_link.c */
int comch_link_start(struct comch_port *port);
void comch_link_stop(struct comch_port *port);

/* comch_link_queues.c: the control thread. */
int comch_link_make_queues(struct comch_port *port);
int comch_link_open_rx(struct comch_port *port);
void comch_link_open_tx(struct comch_port *port);
/* Keep bursts of all transmit queues out; let them in again, or shut the queues first. */
void comch_link_hold_tx(struct comch_port *port);
void comch_link_release_tx(struct comch_port *port, bool shut);
void comch_link_close_queues(struct comch_port *port);
bool comch_link_end_queues(struct comch_port *port, bool drain);

/* comch_rxtx.c */
uint16_t comch_ethdev_rx_burst(void *queue, struct rte_mbuf **pkts, uint16_t n);
uint16_t comch_ethdev_tx_burst(void *queue, struct rte_mbuf **pkts, uint16_t n);
uint16_t comch_ethdev_tx_prepare(void *queue, struct rte_mbuf **pkts, uint16_t n);
int comch_ethdev_tx_done_cleanup(void *queue, uint32_t free_cnt);
void comch_rxq_discard(struct comch_rxq *rxq, struct rte_comch_consumer *cons);
void comch_rxq_forget(struct comch_rxq *rxq);
void comch_txq_flush(struct comch_txq *txq);
void comch_txq_forget_frame(struct comch_txq *txq);

/* comch_xstats.c */
int comch_ethdev_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats);
int comch_ethdev_stats_reset(struct rte_eth_dev *dev);
int comch_ethdev_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats,
		unsigned int n);
int comch_ethdev_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names,
		unsigned int n);

/* comch_intr.c */
int comch_ethdev_intr_open(struct comch_port *port);
void comch_ethdev_intr_close(struct comch_port *port);
int comch_ethdev_intr_enable(struct rte_eth_dev *dev, uint16_t queue);
int comch_ethdev_intr_disable(struct rte_eth_dev *dev, uint16_t queue);

#endif /* COMCH_ETHDEV_H */
