/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DATA_H
#define COMCH_DATA_H

/*
 * The fast path of a connection: its producers and consumers, the peer's consumers,
 * the memory that each side shows the other. What carries the messages is the
 * driver's. Made when the first of them appears, freed with the connection.
 *
 * What is written beside a member says who may touch it:
 *
 * poll:  only the thread that runs the connection's poll.
 * lock:  whoever holds conn->lock (control path only; any thread).
 * any:   atomics.
 * queue: only the thread that calls the producer's or consumer's bursts.
 */

#include <bsd/sys/queue.h>

#include "rte_comch_driver.h"
#include "rte_comch_dp.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_rec.h"
#include "ctrl/comch_conn.h"

/* Depth of a producer or consumer whose configuration names none. */
#define COMCH_DEFAULT_DP_QUEUE 1024
/* How long a stop waits for a peer that is within a message, ms. */
#define COMCH_STOP_MS 1000
/* Bytes of a consumer's staging ring, which its peer allocates. */
#define COMCH_DEFAULT_STAGING (UINT32_C(1) << 20)
#define COMCH_MIN_STAGING UINT32_C(4096)
#define COMCH_MAX_STAGING (UINT32_C(1) << 28)

/* How far the peer is with a registration that we show it. */
enum comch_export_state {
	COMCH_EXPORT_FREE,
	COMCH_EXPORT_NEW,    /* to be sent */
	COMCH_EXPORT_SENT,
	COMCH_EXPORT_DIRECT, /* imported */
	COMCH_EXPORT_STAGED, /* cannot be shown, or was refused */
};

struct comch_export {
	struct rte_comch_mr *mr;
	enum comch_export_state state;
	uint32_t refs; /* consumers */
	uint32_t stale_acks; /* to come for what had this number before */
	int refusal;   /* why it is staged: a negative errno */
	bool shown;    /* by the driver: to be hidden again */
};

/* Something that producers may still be looking at. */
struct comch_reclaim {
	struct rte_comch_remote *remote; /* or, if NULL, */
	struct rte_comch_region *import; /* of import_region[] */
	struct comch_reclaim *next;
};

/* A CONSUMER_NEW that waits for a later run; see comch_remote_step(). */
struct comch_new_cons {
	uint32_t id;
	uint32_t depth;
	uint32_t imm_size;
	uint32_t staging_size;
	struct rte_comch_ticket ticket;
};

TAILQ_HEAD(comch_cons_list, rte_comch_consumer);
TAILQ_HEAD(comch_prod_list, rte_comch_producer);

struct comch_fast_path {
	/* ours: lock */
	struct comch_cons_list consumers;
	struct comch_prod_list producers;
	uint32_t nb_consumers;
	uint32_t nb_producers;
	uint32_t next_consumer_id;
	uint32_t next_producer_id;
	uint32_t gone_producers[COMCH_MAX_PRODUCERS]; /* ids to be told to the peer */
	uint32_t nb_gone_producers;
	/* memory: lock */
	struct comch_export exports[COMCH_MAX_IMPORTS];
	uint32_t next_export;               /* where the search for a free one begins */
	/* By number, into import_region[]; read by producers: any. What a pointer leads
	 * to does not change until it was withdrawn and the producers have passed. */
	struct rte_comch_region *imports[COMCH_MAX_IMPORTS];
	struct rte_comch_region import_region[COMCH_MAX_IMPORT_REGIONS]; /* addr NULL: free */
	/* the peer's consumers: poll */
	struct comch_dir dir;               /* read by producers: any */
	uint32_t nb_remotes;
	bool said_refused;                  /* that one of them was refused: once */
	struct comch_new_cons new_cons;     /* while conn->put_off */
	/* what producers may still use: lists changed by poll and under the lock */
	struct comch_reclaim *reclaim_new;  /* hidden, not fenced yet */
	struct comch_reclaim *reclaim_wait; /* waits for producers */
};

/* That of a connection, made if there is none; NULL: no memory. Any thread. */
struct comch_fast_path *comch_data_get(struct rte_comch_conn *conn);

#endif /* COMCH_DATA_H */
