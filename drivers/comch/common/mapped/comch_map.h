/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MAP_H
#define COMCH_MAP_H

/*
 * The mapped channel's halves of the core's objects: creation, wake-up and end of
 * consumers, producers and sending ends. comch_chan.h has their bursts.
 */

#include <sys/queue.h>

#include "sdk/comch_quota.h"
#include "sdk/comch_staging_budget.h"
#include "comch_chan.h"

/* A producer of the peer, which local consumers wake. */
struct comch_map_peer_prod {
	uint32_t id; /* 0: free */
	int wake_fd;
};

/* Data of a link. */
struct comch_map {
	rte_spinlock_t lock;     /* protects peer_prod and prods, which bursts read */
	struct comch_map_peer_prod peer_prod[COMCH_MAX_PRODUCERS];
	LIST_HEAD(, comch_map_prod) prods; /* those that are started */
	struct comch_staging staging; /* record regions; the connection's thread */
	struct comch_quota *quota;    /* of the peer, whose wake sockets we keep */
};

/* A local socket pair: a peer could make this end block on a shared eventfd. */
struct comch_map_wake {
	int fd;
	int peer_fd;             /* the peer's end; -1 after it was sent */
	bool refuses_fds;        /* the kernel refuses descriptors there */
	uint8_t unread;          /* times that it was readable since it was read */
};

struct comch_map_dq {
	struct rte_comch_dq base; /* first */
	struct comch_map_wake wake;
	bool is_cons;
	void *ext;               /* of a driver that adds to the channel */
};

struct comch_map_cons {
	struct comch_map_dq dq;  /* first */
	struct comch_chan_cons chan;
	uint32_t staging_size;
	struct rte_comch_region post; /* local */
	struct rte_comch_region rec;  /* the peer's */
};

/* The burst functions of a producer. */
struct comch_map_bursts {
	uint16_t (*send)(void *queue, const struct rte_comch_op *ops, uint16_t n);
	uint16_t (*done)(void *queue, struct rte_comch_cpl *cpls, uint16_t n);
};

struct comch_map_prod {
	struct comch_map_dq dq;  /* first */
	struct comch_chan_prod chan;
	LIST_ENTRY(comch_map_prod) next;
	const struct comch_map_bursts *bursts; /* with a DMA device, or without */
	bool is_started;
};

static inline const struct rte_comch_region_ops *
comch_map_regions(const struct rte_comch_link *link)
{
	return link->ops->regions;
}

/* comch_map.c */
/*
 * Take over a wake socket from a ticket. Returns it, -EPROTO (not a unix socket) or -EMFILE (the
 * peer's share of descriptors is used up).
 */
int comch_map_wake_keep(struct comch_map *map, int *from);
void comch_map_wake_drop(struct comch_map *map, int fd);
void comch_map_wake_producers(struct rte_comch_link *link);

/* comch_map_queue.c */
int comch_map_cons_create(struct rte_comch_link *link, const struct rte_comch_cons_args *args,
		struct rte_comch_consumer_core *core, struct rte_comch_dq **dq);
int comch_map_cons_offer(struct rte_comch_dq *dq, uint32_t staging_size,
		struct rte_comch_ticket *mine);
int comch_map_cons_bind(struct rte_comch_dq *dq, struct rte_comch_ticket *peers);
void comch_map_cons_halt(struct rte_comch_dq *dq, enum rte_comch_halt why);
bool comch_map_cons_drained(const struct rte_comch_dq *dq);
bool comch_map_cons_retire(struct rte_comch_dq *dq, uint64_t *final);
uint32_t comch_map_cons_room(const struct rte_comch_dq *dq);
int comch_map_recv_mbufs(struct rte_comch_dq *dq, struct rte_mbuf **mbufs, uint16_t n,
		uint16_t *done);
int comch_map_prod_create(struct rte_comch_link *link, const struct rte_comch_prod_args *args,
		struct rte_comch_producer_core *core, struct rte_comch_dq **dq);
void comch_map_prod_begin(struct rte_comch_dq *dq, uint32_t id);
bool comch_map_prod_offer(struct rte_comch_dq *dq, struct rte_comch_ticket *mine);
void comch_map_prod_halt(struct rte_comch_dq *dq, enum rte_comch_halt why);
bool comch_map_prod_idle(const struct rte_comch_dq *dq);
bool comch_map_prod_step(struct rte_comch_dq *dq);
bool comch_map_prod_abort(struct rte_comch_dq *dq, int err);
struct comch_epoch *comch_map_prod_epoch(struct rte_comch_dq *dq);
int comch_map_send_mbufs(struct rte_comch_dq *dq, uint32_t consumer_id, struct rte_comch_mr *mr,
		struct rte_mbuf **mbufs, uint16_t n, uint16_t *done);
void comch_map_dq_destroy(struct rte_comch_dq *dq);
int comch_map_dq_fd(const struct rte_comch_dq *dq);
void comch_map_dq_clear(struct rte_comch_dq *dq);
bool comch_map_dq_arm(struct rte_comch_dq *dq);
void comch_map_dq_rest(struct rte_comch_dq *dq);
bool comch_map_dq_pending(struct rte_comch_dq *dq);

/* comch_map_remote.c */
uint64_t comch_map_remote_size(const struct rte_comch_remote_args *args);
int comch_map_remote_create(struct rte_comch_link *link,
		const struct rte_comch_remote_args *args, struct rte_comch_ticket *peers,
		struct rte_comch_ticket *mine, struct rte_comch_remote **remote);
void comch_map_remote_retire(struct rte_comch_remote *remote, uint64_t final);
int comch_map_remote_free(struct rte_comch_link *link, struct rte_comch_remote *remote);

#endif /* COMCH_MAP_H */
