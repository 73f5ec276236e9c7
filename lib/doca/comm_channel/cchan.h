/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_COMM_CHANNEL_CCHAN_H
#define IMPL_COMM_CHANNEL_CCHAN_H

/*
 * Endpoints of doca_comm_channel, of both generations.
 *
 * Ownership: from listen or connect on, an endpoint owns a poll with one client, or
 * with one server per representor.
 *
 * Threads: any may call. Each public function takes the endpoint's lock (for a peer
 * address, that of its endpoint) and holds it until it returns; private functions are
 * called with the lock held. A blocking call of 1.2 releases it while it sleeps
 * (impl_cchan_wait()) and then checks everything again. The program must not destroy an
 * endpoint during another call.
 *
 * The poll runs only within calls on the endpoint (impl_cchan_run()). All events of a
 * run are handled at once, except messages: they stay in the poll's memory until
 * recvfrom returns them one by one, and those left are copied ("kept") before the next
 * run. The native connections have manual credit, so a peer never has more messages
 * here than the receive queue, however many runs there are.
 *
 * Peer addresses are memory of the endpoint until it is destroyed: a stale pointer to a
 * disconnected one is detected.
 *
 * run.c is the engine; link.c listens, connects and disconnects; msg.c sends and
 * receives; event.c waits.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <bsd/sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_comch_poll.h>
#include <rte_comch_stats.h>

#include <doca_error.h>

#include "dev/dev.h"

/* Minimum sizes; smaller settings are raised to these. */
#define CCHAN_MIN_MSG 256
#define CCHAN_MIN_QUEUE 16
#define CCHAN_DEFAULT_QUEUE 64
/* Events per run of the poll. */
#define CCHAN_BURST 32
/* Peer addresses per allocation. */
#define CCHAN_SLAB 32

enum cchan_kind {
	CCHAN_NONE,
	CCHAN_SERVICE,
	CCHAN_CLIENT,
};

enum cchan_state {
	CCHAN_FREE,       /* no connection */
	CCHAN_PENDING,    /* service: recvfrom has not accepted it yet */
	CCHAN_CONNECTING, /* until both sides have accepted */
	CCHAN_UP,
	CCHAN_LOST,
	CCHAN_REFUSED,    /* never established */
};

struct cchan_stats {
	uint64_t send_msgs;
	uint64_t send_bytes;
	uint64_t recv_msgs;
	uint64_t recv_bytes;
	uint64_t in_flight;
};

/* State of a peer when a program started to wait for it. */
struct cchan_mark {
	enum cchan_state state;
	uint32_t serial;
	uint64_t acked;
};

struct doca_comm_channel_addr_t {
	struct doca_comm_channel_ep_t *ep; /* constant, read without the lock */
	enum cchan_state state;
	uint32_t serial;               /* of its connection, since addresses are reused */
	bool is_exposed;               /* the program has the pointer */
	bool is_blocked;               /* sendto has returned AGAIN, in the state blocked_at */
	struct cchan_mark blocked_at;
	uint16_t vport;                /* number of its representor */
	uint32_t max_msg_size;         /* valid once it is UP */
	uint32_t nb_unread;            /* messages that recvfrom has not returned */
	struct rte_comch_conn *native; /* NULL: ended */
	uint64_t user_data;
	struct cchan_stats now;        /* in_flight: valid once it has ended */
	struct cchan_stats snapshot;
	TAILQ_ENTRY(doca_comm_channel_addr_t) next;
};

TAILQ_HEAD(cchan_addrs, doca_comm_channel_addr_t);

struct cchan_slab {
	SLIST_ENTRY(cchan_slab) next;
	struct doca_comm_channel_addr_t addrs[CCHAN_SLAB];
};

/* Copy of a message, made before a run overwrites it. */
struct cchan_kept {
	STAILQ_ENTRY(cchan_kept) next;
	struct doca_comm_channel_addr_t *addr;
	uint32_t len;
	uint8_t data[];
};

/* A message in the poll's memory or a copy. */
struct cchan_msg {
	struct doca_comm_channel_addr_t *addr;
	const void *data;
	uint32_t len;
};

/* Events that a program can wait for. */
enum cchan_event {
	CCHAN_EVENT_SEND,
	CCHAN_EVENT_RECV,
	CCHAN_EVENT_SERVICE,
	CCHAN_EVENT_ANY,  /* 1.2: send or receive */
	CCHAN_EVENT_CALL, /* 1.2: for a blocked call */
	CCHAN_NB_EVENTS
};

/* A blocked call, waiting for room to send to a peer or (NULL) for something to receive. */
struct cchan_sleeper {
	uint32_t nb_unlinks; /* of the endpoint when it began */
	const struct doca_comm_channel_addr_t *peer;
	struct cchan_mark since;
	TAILQ_ENTRY(cchan_sleeper) next;
};

/*
 * A descriptor for the program: an epoll descriptor with two members, the poll's
 * descriptor for events to come and an eventfd for events that have happened.
 */
struct cchan_channel {
	int epoll_fd;     /* -1: not created yet */
	int event_fd;
	bool armed;
	bool is_signaled;      /* the eventfd is readable */
	bool linked;      /* the poll's descriptor is a member */
};

struct doca_comm_channel_ep_t {
	uint32_t lock;
	enum cchan_kind kind;
	/* Events of a run; those from next_ev on were not checked by recvfrom. */
	uint16_t next_ev;
	uint16_t nb_ev;
	uint32_t nb_unlinks;     /* so far: a sleeper may wake in the endpoint's next life */
	uint32_t nb_active;      /* channels that exist and are armed or readable */
	uint32_t nb_sends;       /* since the last run */
	uint32_t nb_unread;      /* messages, in events or kept */
	uint32_t nb_uncredited;      /* received messages of one peer without a credit yet */
	uint32_t nb_pending;
	uint32_t nb_blocked;     /* peers for which sendto has returned AGAIN */
	bool again_after_send;   /* as the device table says */
	struct impl_faults *faults; /* of its device; NULL: none */
	bool was_sent;           /* since the last receive call; if again_after_send */
	uint64_t last_run;       /* TSC */
	uint64_t run_cycles;     /* when the next run is due */
	struct doca_comm_channel_addr_t *uncredited;
	struct rte_comch_poll *poll;
	STAILQ_HEAD(, cchan_kept) kept;
	struct rte_comch_event ev[CCHAN_BURST];
	/* set at creation */
	bool is_102;
	bool nonblock;           /* 1.2 */
	uint32_t cookie;         /* 1.2 */
	uint16_t max_msg_size;
	uint16_t send_queue;
	uint16_t recv_queue;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_dev **devs;  /* 1.2: opened by the endpoint */
	uint32_t nb_devs;
	/* link */
	struct rte_comch_client *client;
	struct rte_comch_server **servers;
	uint32_t nb_servers;
	uint32_t serial;         /* of the last connection */
	struct cchan_addrs addrs;      /* those not FREE */
	struct cchan_addrs free_addrs;
	SLIST_HEAD(, cchan_slab) slabs;
	bool service_lost;
	bool refused;            /* 1.2: refused a second client of a function, to be reported */
	/* events */
	struct cchan_channel channel[CCHAN_NB_EVENTS];
	TAILQ_HEAD(, cchan_sleeper) sleepers;
	bool service_changed;    /* since it was armed */
	uint64_t ticks;          /* connections established or lost so far */
	uint64_t armed_ticks;    /* when SEND was armed */
	uint64_t armed_acked;
	/* the last snapshot */
	struct doca_comm_channel_addr_t **list;
	uint32_t list_len;
	uint32_t list_pending;
};

/* ep.c */
/* Create an endpoint with default settings; NULL: out of memory. */
struct doca_comm_channel_ep_t *impl_cchan_create(void);
/* Round up the size of a queue. */
uint16_t impl_cchan_queue(uint32_t size);
/* Wait for an endpoint's lock, and take it. */
void impl_cchan_lock_wait(uint32_t *lock);
/* Lock an endpoint; functions that only read it must also do so. */
static inline void
impl_cchan_lock(const struct doca_comm_channel_ep_t *ep)
{
	uint32_t *lock = (uint32_t *)(uintptr_t)&ep->lock;

	/* Pairs with the release in impl_cchan_unlock(). */
	if (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0)
		impl_cchan_lock_wait(lock);
}
static inline void
impl_cchan_unlock(const struct doca_comm_channel_ep_t *ep)
{
	__atomic_store_n((uint32_t *)(uintptr_t)&ep->lock, 0, __ATOMIC_RELEASE);
}

/* addr.c */
/* Run, take a snapshot of the statistics, and return the state of the connection. */
doca_error_t impl_cchan_update(struct doca_comm_channel_addr_t *addr);

/* link.c */
/* Close all connections; the endpoint is then neither a service nor a client. */
void impl_cchan_unlink(struct doca_comm_channel_ep_t *ep);
/* Whether it is a connected peer of the endpoint. */
static inline bool
impl_cchan_is_peer(const struct doca_comm_channel_ep_t *ep,
		const struct doca_comm_channel_addr_t *addr)
{
	return addr != NULL && addr->ep == ep && addr->state != CCHAN_FREE;
}

/* dev_102.c: devices of endpoints of DOCA 1.2 to 1.4 */
/* DOCA_ERROR_NOT_PERMITTED: the program runs on the other side. */
doca_error_t impl_cchan_need_side(bool dpu);
/* Open all devices of this side, or the first one. */
doca_error_t impl_cchan_open(struct doca_comm_channel_ep_t *ep, bool all);
void impl_cchan_close(struct doca_comm_channel_ep_t *ep);

/* run.c */
/* Run the poll once. False: no memory to copy the messages it would overwrite. */
bool impl_cchan_run(struct doca_comm_channel_ep_t *ep);
/* Accept pending clients. */
void impl_cchan_accept(struct doca_comm_channel_ep_t *ep);
struct doca_comm_channel_addr_t *impl_cchan_addr_get(struct doca_comm_channel_ep_t *ep);
/* Free an address with its messages. */
void impl_cchan_addr_put(struct doca_comm_channel_addr_t *addr);
/* Address of an event; NULL: disconnected here. */
static inline struct doca_comm_channel_addr_t *
impl_cchan_addr_of(const struct rte_comch_event *event)
{
	return (struct doca_comm_channel_addr_t *)(uintptr_t)event->user_data;
}
/* Return the credits of messages received since the last call. */
void impl_cchan_return_credits(struct doca_comm_channel_ep_t *ep);
/* Messages sent and not acknowledged. */
uint64_t impl_cchan_in_flight(const struct doca_comm_channel_addr_t *addr);

/* event.c */
void impl_cchan_channels_init(struct doca_comm_channel_ep_t *ep);
void impl_cchan_channels_fini(struct doca_comm_channel_ep_t *ep);
/* The channel's descriptor, created by the first call; or -1. */
int impl_cchan_channel_fd(struct doca_comm_channel_ep_t *ep, enum cchan_event event);
/* Arm: the next event makes the descriptor readable, once. */
void impl_cchan_channel_arm(struct doca_comm_channel_ep_t *ep, enum cchan_event event);
void impl_cchan_channel_done(struct doca_comm_channel_ep_t *ep, enum cchan_event event,
		bool found);
/* Set whether sendto has returned AGAIN, so that later events may make room. */
void impl_cchan_set_blocked(struct doca_comm_channel_addr_t *addr, bool blocked);
/* Signal what has happened, and arm the poll for what has not. */
void impl_cchan_channels_settle(struct doca_comm_channel_ep_t *ep);
/* The program has checked for the event itself; found: it was there. */
static inline void
impl_cchan_checked(struct doca_comm_channel_ep_t *ep, enum cchan_event event, bool found)
{
	if (unlikely(ep->nb_active > 0))
		impl_cchan_channel_done(ep, event, found);
}
/* Call this at the end of each function: its runs may have found what others wait for. */
static inline void
impl_cchan_settle(struct doca_comm_channel_ep_t *ep)
{
	if (unlikely(ep->nb_active > 0))
		impl_cchan_channels_settle(ep);
}
/*
 * Sleep, without the lock, until there may be room for the peer (NULL: until there may
 * be something to receive). False: the connection was closed here meanwhile.
 */
bool impl_cchan_wait(struct doca_comm_channel_ep_t *ep,
		const struct doca_comm_channel_addr_t *peer);

#endif /* IMPL_COMM_CHANNEL_CCHAN_H */
