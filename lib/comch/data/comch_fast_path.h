/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_FAST_PATH_H
#define COMCH_FAST_PATH_H

/*
 * The fast path of a connection: its producers and consumers, the peer's consumers,
 * and the memory that each side exports to the other. The driver transports the
 * messages. Created with the first producer or consumer of either side, freed with
 * the connection.
 *
 * The word beside a member says how it may be accessed:
 *
 * poll:  by the thread that runs the connection's poll.
 * lock:  with conn->lock held (control path only), from any thread.
 * any:   by atomics, from any thread.
 * queue: by the thread that calls the producer's or consumer's bursts.
 */

#include <bsd/sys/queue.h>

#include "rte_comch_driver.h"
#include "rte_comch_dp.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_rec.h"
#include "ctrl/comch_conn.h"

/* Default depth of a producer or consumer. */
#define COMCH_DEFAULT_DP_QUEUE 1024
/* Time limit of a stop for a message that is being transferred, ms. */
#define COMCH_STOP_MS 1000
/* Size of a consumer's staging ring, which the peer allocates. */
#define COMCH_DEFAULT_STAGING (UINT32_C(1) << 20)
#define COMCH_MIN_STAGING UINT32_C(4096)
#define COMCH_MAX_STAGING (UINT32_C(1) << 28)
/*
 * Refused memory and consumers of a peer: how many are allowed at once, and how many more each
 * second. Correct peers are refused, too: each start of a consumer may try five sizes of the
 * staging ring.
 */
#define COMCH_MAX_REFUSALS 2048
#define COMCH_REFUSALS_PER_S 100

/*
 * Limit of consumers that wait for the peer's answer. Request and answer carry descriptors, of
 * which few fit in a link. A side without room for answers stops reading: never both at once.
 */
#define COMCH_MAX_OFFERS 8
/* The same for registrations, whose answers carry none; includes exports that ended. */
#define COMCH_MAX_SHOWN (2 * COMCH_MAX_IMPORTS)

/* State of a registration that is exported to the peer. */
enum comch_export_state {
	COMCH_EXPORT_FREE,
	COMCH_EXPORT_NEW,    /* the driver makes what MR_ADD needs */
	COMCH_EXPORT_SENT,   /* waits for MR_ACK */
	COMCH_EXPORT_DIRECT, /* imported by the peer */
	COMCH_EXPORT_STAGED, /* not exportable, or refused by the peer */
	COMCH_EXPORT_HIDING, /* the driver withdraws it; refs > 0: then it is exported anew */
};

struct comch_export {
	struct rte_comch_mr *mr;
	enum comch_export_state state;
	uint32_t refs;       /* consumers that use it */
	uint32_t stale_acks; /* MR_ACKs outstanding for earlier uses of this number */
	int refusal;         /* why it is staged: a negative errno */
	bool is_exported;    /* by the driver, until mem_hide */
};

/* An object that is hidden, but that producers may still access. */
struct comch_reclaim {
	struct rte_comch_remote *remote; /* NULL: import is set */
	struct rte_comch_region *import; /* in import_region[] */
	struct comch_reclaim *next;
};

/* A CONSUMER_NEW that waits for a later run; see comch_remote_step(). */
struct comch_new_cons {
	uint32_t id;
	uint32_t depth;
	uint32_t imm_size;
	uint32_t staging_size;
	bool in_progress;    /* of the driver, which tells news; else over a limit */
	bool has_mark;
	uint64_t mark;       /* of the reaper, once only its work is awaited */
	struct rte_comch_ticket ticket;
};

TAILQ_HEAD(comch_cons_list, rte_comch_consumer);
TAILQ_HEAD(comch_prod_list, rte_comch_producer);

/* Regions that a driver frees with a consumer of the peer, at most. */
#define COMCH_REMOTE_REGIONS 2

struct comch_fast_path {
	/* ours: lock */
	struct comch_cons_list consumers;
	struct comch_prod_list producers;
	uint32_t nb_consumers;
	uint32_t nb_producers;
	uint32_t next_consumer_id;
	uint32_t next_producer_id;
	uint32_t gone_producers[COMCH_MAX_PRODUCERS]; /* ids: PRODUCER_GONE not sent yet */
	uint32_t nb_gone_producers;
	/* memory: lock */
	struct comch_export exports[COMCH_MAX_IMPORTS];
	uint32_t nb_shown;                  /* MR_ADD without an answer yet */
	uint32_t next_export;               /* start of the search for a free export */
	uint32_t nb_offers;                 /* CONSUMER_NEW without an answer yet: poll */
	/*
	 * Pointers into import_region[], by number; read by producers: any. A region
	 * does not change while it is reachable, nor before producers are quiesced.
	 */
	struct rte_comch_region *imports[COMCH_MAX_IMPORTS];
	struct rte_comch_region import_region[COMCH_MAX_IMPORT_REGIONS]; /* addr NULL: free */
	/* the peer's consumers: poll */
	struct comch_dir dir;               /* read by producers: any */
	uint32_t nb_remotes;
	uint32_t nb_refused;                /* of the peer; a CONSUMER_GONE of each may follow */
	uint64_t refusals_forgiven_at;      /* TSC: for all refusals so far */
	bool refusal_logged;
	struct comch_new_cons new_cons;     /* valid while conn->rx_deferred */
	uint64_t remote_bytes;              /* of all remotes that are not freed yet */
	/* what producers may still use: lists changed by poll and under the lock */
	struct comch_reclaim *reclaim_new;  /* hidden, not fenced yet */
	struct comch_reclaim *reclaim_wait; /* waits for producers */
	/* an entry per object, so that hiding one needs no memory */
	struct comch_reclaim reclaim[COMCH_MAX_CONSUMERS + COMCH_MAX_IMPORT_REGIONS];
	uint32_t nb_reclaim;                /* entries used so far */
	struct comch_reclaim *reclaim_spare; /* of these, those free again */
};

/* The fast path of a connection, created on first use; NULL: no memory. Any thread. */
struct comch_fast_path *comch_fast_path_get(struct rte_comch_conn *conn);
/*
 * Count that memory or a consumer of the peer was refused, and log the first one of the
 * connection. 0, or -EPROTO: too many, and the connection ends.
 */
int comch_fast_path_refused(struct rte_comch_conn *conn, const char *what, uint32_t id, int err);

#endif /* COMCH_FAST_PATH_H */
