/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_COMM_CHANNEL_CCHAN_H
#define IMPL_COMM_CHANNEL_CCHAN_H

/*
 * Endpoints of doca_comm_channel, of both generations.
 *
 * Who owns what: an endpoint owns a poll of its own, from listen or connect on,
 * and in it one client, or one server for each representor.
 *
 * Threads: any may call. Each public function takes the endpoint's lock first,
 * that of the endpoint of a peer address among them, and holds it to its end:
 * the private functions below are called with it. A call of 1.2 that waits gives
 * it back while it sleeps (impl_cchan_wait()), and looks at everything anew
 * afterwards. Only destroying needs the program's care: no other call may be
 * under way then.
 *
 * The poll runs only within calls for the endpoint (impl_cchan_run()). What a
 * run returns is looked at once: messages stay where they are, in the poll's
 * memory, until recvfrom takes them one by one; all else is done at once. Before
 * the next run, messages that were not taken are copied ("kept"). The native
 * connections have manual credit: a peer cannot have more messages here than the
 * receive queue, taken or kept, however many runs there are.
 *
 * Peer addresses are memory of the endpoint until its end: a pointer to one
 * that was disconnected is wrong, but no harm.
 *
 * run.c is the engine, link.c listens, connects and disconnects, msg.c sends
 * and receives, event.c is about sleeping; the others are what their names say.
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

/* Smallest sizes; an endpoint's are raised to these. */
#define CCHAN_MIN_MSG 256
#define CCHAN_MIN_QUEUE 16
#define CCHAN_DEFAULT_QUEUE 64
/* Events of one run. */
#define CCHAN_BURST 32
/* Peer addresses that are made at once. */
#define CCHAN_SLAB 32

enum cchan_kind {
	CCHAN_NONE,
	CCHAN_SERVICE,
	CCHAN_CLIENT,
};

enum cchan_state {
	CCHAN_FREE,       /* no connection */
	CCHAN_PENDING,    /* of a service: waits for recvfrom */
	CCHAN_CONNECTING, /* until both sides have agreed */
	CCHAN_UP,
	CCHAN_LOST,
	CCHAN_REFUSED,    /* was never up */
};

struct cchan_stats {
	uint64_t send_msgs;
	uint64_t send_bytes;
	uint64_t recv_msgs;
	uint64_t recv_bytes;
	uint64_t in_flight;
};

/* How far a peer was when somebody began to wait for it. */
struct cchan_mark {
	enum cchan_state state;
	uint32_t serial;
	uint64_t acked;
};

struct doca_comm_channel_addr_t {
	struct doca_comm_channel_ep_t *ep; /* written once: read without the lock */
	enum cchan_state state;
	uint32_t serial;               /* of its connection: the address is used again */
	bool known;                    /* the program has the pointer */
	bool wants_room;               /* sendto has said AGAIN, when it was at wants */
	struct cchan_mark wants;
	uint16_t vport;                /* number of its representor */
	uint32_t max_msg_size;         /* once it is up */
	uint32_t nb_unread;            /* messages not taken by recvfrom */
	struct rte_comch_conn *native; /* NULL: has ended */
	uint64_t user_data;
	struct cchan_stats now;        /* in_flight: once it has ended */
	struct cchan_stats snapshot;
	TAILQ_ENTRY(doca_comm_channel_addr_t) next;
};

TAILQ_HEAD(cchan_addrs, doca_comm_channel_addr_t);

struct cchan_slab {
	SLIST_ENTRY(cchan_slab) next;
	struct doca_comm_channel_addr_t addrs[CCHAN_SLAB];
};

/* A message that a run would have overwritten. */
struct cchan_kept {
	STAILQ_ENTRY(cchan_kept) next;
	struct doca_comm_channel_addr_t *addr;
	uint32_t len;
	uint8_t data[];
};

/* A message, wherever it lies. */
struct cchan_msg {
	struct doca_comm_channel_addr_t *addr;
	const void *data;
	uint32_t len;
};

/* What one can sleep for. */
enum cchan_event {
	CCHAN_EVENT_SEND,
	CCHAN_EVENT_RECV,
	CCHAN_EVENT_SERVICE,
	CCHAN_EVENT_ANY,  /* of 1.2: send or receive */
	CCHAN_EVENT_CALL, /* of 1.2: what a call waits for */
	CCHAN_NB_EVENTS
};

/* A call that waits: for a peer to get on, or (NULL) for something to receive. */
struct cchan_sleeper {
	const struct doca_comm_channel_addr_t *peer;
	struct cchan_mark since;
	TAILQ_ENTRY(cchan_sleeper) next;
};

/*
 * A descriptor for the program: an epoll descriptor with two members, the
 * poll's while we wait for something, and an eventfd once it has happened.
 */
struct cchan_channel {
	int epoll_fd;     /* -1: nobody has asked for it */
	int kick_fd;
	bool armed;
	bool kicked;      /* the eventfd is readable */
	bool linked;      /* the poll's descriptor is a member */
};

struct doca_comm_channel_ep_t {
	uint32_t lock;
	enum cchan_kind kind;
	/* What a run has returned, from next_ev on not looked at by recvfrom. */
	uint16_t next_ev;
	uint16_t nb_ev;
	uint32_t nb_active;      /* channels that somebody has and that are armed or readable */
	uint32_t nb_sends;       /* since the last run */
	uint32_t nb_unread;      /* messages, in events or kept */
	uint32_t nb_unpaid;      /* messages of one peer that were taken */
	uint32_t nb_pending;
	uint32_t nb_wanting;     /* peers that a sendto has said AGAIN for */
	uint64_t last_run;       /* TSC */
	uint64_t run_cycles;     /* so long after it, another is due */
	struct doca_comm_channel_addr_t *unpaid;
	struct rte_comch_poll *poll;
	STAILQ_HEAD(, cchan_kept) kept;
	struct rte_comch_event ev[CCHAN_BURST];
	/* as created */
	bool is_102;
	bool nonblock;           /* 1.2 */
	uint32_t cookie;         /* 1.2 */
	uint16_t max_msg_size;
	uint16_t send_queue;
	uint16_t recv_queue;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_dev **devs;  /* 1.2: those that we opened */
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
	bool refused;            /* 1.2: a second client of a function; to be told */
	/* events */
	struct cchan_channel channel[CCHAN_NB_EVENTS];
	TAILQ_HEAD(, cchan_sleeper) sleepers;
	bool service_changed;    /* since it was armed */
	uint64_t ticks;          /* connections that came up or were lost */
	uint64_t armed_ticks;    /* when SEND was armed */
	uint64_t armed_acked;
	/* the last snapshot */
	struct doca_comm_channel_addr_t **list;
	uint32_t list_len;
	uint32_t list_pending;
};

/* ep.c */
/* An endpoint with the defaults; NULL: no memory. */
struct doca_comm_channel_ep_t *impl_cchan_create(void);
/* Size of a queue of at least that many messages. */
uint16_t impl_cchan_queue(uint32_t size);
/* Wait for an endpoint's lock, and take it. */
void impl_cchan_lock_wait(uint32_t *lock);
/* Of an endpoint that is not NULL; functions that only read it lock, too. */
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
/* Run, take a snapshot of the statistics, and say how the connection is. */
doca_error_t impl_cchan_update(struct doca_comm_channel_addr_t *addr);

/* link.c */
/* End all connections, and be neither service nor client. */
void impl_cchan_unlink(struct doca_comm_channel_ep_t *ep);
/* Is it a peer of the endpoint? */
static inline bool
impl_cchan_is_peer(const struct doca_comm_channel_ep_t *ep,
		const struct doca_comm_channel_addr_t *addr)
{
	return addr != NULL && addr->ep == ep && addr->state != CCHAN_FREE;
}

/* dev_102.c: DOCA 1.2 to 1.4 name no devices */
/* DOCA_ERROR_NOT_PERMITTED: this program is on the other side. */
doca_error_t impl_cchan_need_side(bool dpu);
/* Open all devices of this program's side, or the first one, for the endpoint. */
doca_error_t impl_cchan_open(struct doca_comm_channel_ep_t *ep, bool all);
void impl_cchan_close(struct doca_comm_channel_ep_t *ep);

/* run.c */
/* Let the poll run once. False: no memory to keep what it would overwrite. */
bool impl_cchan_run(struct doca_comm_channel_ep_t *ep);
/* Let clients in that wait. */
void impl_cchan_accept(struct doca_comm_channel_ep_t *ep);
struct doca_comm_channel_addr_t *impl_cchan_addr_get(struct doca_comm_channel_ep_t *ep);
/* Forget an address, its connection and its messages. */
void impl_cchan_addr_put(struct doca_comm_channel_addr_t *addr);
/* Whose an event is; NULL: it was disconnected here. */
static inline struct doca_comm_channel_addr_t *
impl_cchan_addr_of(const struct rte_comch_event *event)
{
	return (struct doca_comm_channel_addr_t *)(uintptr_t)event->user_data;
}
/* Say that the messages that were taken since the last time have been. */
void impl_cchan_pay(struct doca_comm_channel_ep_t *ep);
/* Messages sent and not delivered. */
uint64_t impl_cchan_in_flight(const struct doca_comm_channel_addr_t *addr);

/* event.c */
void impl_cchan_channels_init(struct doca_comm_channel_ep_t *ep);
void impl_cchan_channels_fini(struct doca_comm_channel_ep_t *ep);
/* The channel's descriptor, made at the first call; or -1. */
int impl_cchan_channel_fd(struct doca_comm_channel_ep_t *ep, enum cchan_event event);
/* From now on one event is to be told. */
void impl_cchan_channel_arm(struct doca_comm_channel_ep_t *ep, enum cchan_event event);
void impl_cchan_channel_done(struct doca_comm_channel_ep_t *ep, enum cchan_event event,
		bool found);
/* A sendto said AGAIN: what comes from here on makes room. Or it did not. */
void impl_cchan_want_room(struct doca_comm_channel_addr_t *addr, bool wants);
/* Tell what has happened, and see that sleepers are woken by what comes. */
void impl_cchan_channels_settle(struct doca_comm_channel_ep_t *ep);
/* The program has come to see; found: and there was what it was armed for. */
static inline void
impl_cchan_came(struct doca_comm_channel_ep_t *ep, enum cchan_event event, bool found)
{
	if (unlikely(ep->nb_active > 0))
		impl_cchan_channel_done(ep, event, found);
}
/* At the end of each call: runs may have seen what sleepers wait for. */
static inline void
impl_cchan_settle(struct doca_comm_channel_ep_t *ep)
{
	if (unlikely(ep->nb_active > 0))
		impl_cchan_channels_settle(ep);
}
/*
 * Sleep, without the lock, until the peer may have got on (NULL: until there may be
 * something to receive). False: the connection was ended here meanwhile.
 */
bool impl_cchan_wait(struct doca_comm_channel_ep_t *ep,
		const struct doca_comm_channel_addr_t *peer);

#endif /* IMPL_COMM_CHANNEL_CCHAN_H */
