/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CONN_H
#define COMCH_CONN_H

/*
 * A connection, at either end. What is written beside a member says who may touch it:
 *
 * poll:  only the thread that runs the connection's poll.
 * lock:  whoever holds conn->lock (control path only; any thread).
 * any:   atomics.
 */

#include <errno.h>
#include <pthread.h>
#include <bsd/sys/queue.h>

#include <rte_cycles.h>

#include "rte_comch_driver.h"
#include "rte_comch_stats.h"
#include "base/comch_obj.h"
#include "base/comch_poll.h"
#include "ctrl/comch_wire.h"

/* How long a peer may take to shake hands, ms. */
#define COMCH_HANDSHAKE_MS 10000
/* How long a client waits for the place of one that leaves, ms. */
#define COMCH_ROOM_MS 5000
/* How long last messages and the last frame may take, ms. */
#define COMCH_CLOSE_MS 1000
/* Frames of one connection that a run reads at most, events or not. */
#define COMCH_RX_BURST 1024
/* With so many frames waiting to be sent, nothing more is received: the peer does not read. */
#define COMCH_MAX_TX_WAIT 64

/* The life of a connection, in this order. */
enum comch_phase {
	COMCH_PHASE_DIALLING, /* client: no link yet; tries until dial_until */
	COMCH_PHASE_LINKING,  /* the driver shakes hands */
	COMCH_PHASE_HELLO,    /* client waits for the answer, server for the question */
	COMCH_PHASE_FULL,     /* server: waits for the place of a client that leaves */
	COMCH_PHASE_PENDING,  /* server: the application decides */
	COMCH_PHASE_UP,
	COMCH_PHASE_DRAINING, /* closed by us; last messages are not acknowledged yet */
	COMCH_PHASE_CLOSING,  /* the last frame is not there yet */
	COMCH_PHASE_ENDING,   /* events are to be returned */
	COMCH_PHASE_ENDED,    /* waits for its producers and consumers to be destroyed */
	COMCH_NB_PHASES
};

/* Which side wants a connection without a fast path. */
#define COMCH_CTRL_ONLY_OURS 1
#define COMCH_CTRL_ONLY_PEER 2

/* A message that was sent and not acknowledged yet. */
struct comch_unacked {
	uint64_t cookie;
	int32_t status; /* not 0: never sent */
	bool silent;
};

/* A frame that found no room. */
struct comch_tx_wait {
	STAILQ_ENTRY(comch_tx_wait) next;
	uint32_t len;
	uint32_t nb_fds;
	int fds[RTE_COMCH_FRAME_FDS]; /* ours */
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
};

struct comch_fast_path;
struct comch_links;
struct comch_order;

struct rte_comch_conn {
	struct comch_obj obj;
	/* messages and credits: poll */
	struct rte_comch_link *link;
	const struct rte_comch_driver_ops *ops;
	uint32_t phase;            /* enum comch_phase; written by poll, read by any */
	uint32_t tx_seq;           /* messages sent */
	uint32_t tx_acked;         /* of them delivered */
	uint32_t tx_credits;       /* the peer's queue */
	uint32_t rx_seq;           /* messages given to the application */
	uint32_t rx_done;          /* of them done with: all, but for manual_credit */
	uint32_t rx_told;          /* of them acknowledged */
	uint32_t recv_queue;       /* messages that the peer may have beyond rx_told */
	uint32_t max_msg_size;
	bool manual_credit;        /* rx_done is the application's to move */
	bool says_clocks;          /* sends MSG_AT: the server is ordered */
	bool tell;                 /* CONNECTED or CONNECT_REQUEST is due; frames wait for that */
	bool put_off;              /* the fast path holds the last frame, and those behind it */
	struct comch_order *order; /* of a server that is ordered, once accepted */
	/* unacked[]: send_queue of them; head..tail free-running */
	struct comch_unacked *unacked;
	uint32_t unacked_mask;
	uint32_t unacked_size;
	uint32_t unacked_head;     /* next to be reported */
	uint32_t unacked_ready;    /* up to here they may be reported */
	uint32_t unacked_tail;
	struct rte_comch_conn_stats stats;
	/* when the poll looks at it: comch_links.c */
	struct comch_links *links;
	bool is_hot;
	bool is_waiting;
	bool is_owing;
	uint64_t last_active;      /* run number */
	TAILQ_ENTRY(rte_comch_conn) link_next; /* of links->hot, cold or order.conns */
	TAILQ_ENTRY(rte_comch_conn) owing_next;
	TAILQ_ENTRY(rte_comch_conn) waiting_next;
	/* set-up and end: poll */
	struct rte_comch_server *server;
	struct rte_comch_client *client;
	struct rte_comch_dev *dev;
	uint32_t link_news;        /* the driver wants link_poll to be called: any */
	struct comch_fd fd;
	uint64_t deadline;         /* TSC: this phase ends by then */
	uint64_t dial_until;       /* TSC: until then a server that is absent is tried again */
	uint64_t retry_at;         /* TSC: when frames that found no room are tried again */
	uint8_t ctrl_only;         /* COMCH_CTRL_ONLY_*: who wants no fast path */
	bool known;                /* the application has been told of it, and not of its end */
	bool leaving;              /* counted in server->nb_leaving: its end is certain */
	uint16_t rep;
	uint32_t id;
	int end_status;
	char *reason;              /* why it ends, from DRAINING on: comch_conn_reason() */
	struct rte_comch_peer_id peer;
	STAILQ_HEAD(, comch_tx_wait) tx_wait;
	uint32_t nb_tx_wait;
	TAILQ_ENTRY(rte_comch_conn) server_next;
	struct comch_registry_entry entry;
	/* a fault met in any thread, for the connection's: any */
	uint32_t faulted;          /* 1: being written, 2: to be read */
	int fault_status;
	const char *fault_text;
	/* producers and consumers */
	pthread_mutex_t lock;
	uint32_t nb_queues;        /* lock */
	struct comch_fast_path *fast; /* NULL until there is one: any; set under the lock */
};

extern struct comch_registry_type comch_conn_registry;

/* container_of() for an object that begins with struct comch_obj obj. */
#define COMCH_OBJ_OF(type, o) container_of(o, struct type, obj)

static inline bool
comch_conn_is_up(const struct rte_comch_conn *conn)
{
	uint32_t phase = comch_load_acquire(&conn->phase);

	return phase == COMCH_PHASE_UP || phase == COMCH_PHASE_DRAINING;
}

/* The driver of a link, for what a ticket or a fast path needs; NULL: control path only. */
static inline const struct rte_comch_data_ops *
comch_conn_data(const struct rte_comch_conn *conn)
{
	return conn->ops->data;
}

/* Why it ends or has ended, in words. */
static inline const char *
comch_conn_reason(const struct rte_comch_conn *conn)
{
	return conn->reason != NULL ? conn->reason : "no memory for the reason";
}

static inline uint64_t
comch_conn_in_ms(uint64_t ms)
{
	return rte_rdtsc() + rte_get_tsc_hz() / 1000 * ms;
}

/* comch_conn.c: how it comes and lives */
struct rte_comch_conn *comch_conn_create(struct rte_comch_dev *dev, uint16_t rep,
		struct rte_comch_poll *poll, uint32_t send_queue);
/* Our side wants no fast path, or its driver has none. */
static inline void
comch_conn_set_ctrl_only(struct rte_comch_conn *conn, bool wanted)
{
	conn->ctrl_only = wanted || comch_conn_data(conn) == NULL ? COMCH_CTRL_ONLY_OURS : 0;
}
int comch_conn_set_link(struct rte_comch_conn *conn, struct rte_comch_link *link);
const char *comch_conn_name(const struct rte_comch_conn *conn);
uint32_t comch_conn_nb_queues(struct rte_comch_conn *conn);
void comch_conn_established(struct rte_comch_conn *conn);
/* Look at the link after its descriptor woke us, or a deadline. */
void comch_conn_look(struct rte_comch_conn *conn);
/* It waits for something: try again what has to be, and see whether its time is over. */
void comch_conn_wait_step(struct rte_comch_conn *conn, uint64_t now, bool all_seen);
/* End it from wherever we are, in its own thread's time. text is static. Any thread. */
void comch_conn_fault(struct rte_comch_conn *conn, int status, const char *text);

/* comch_tx.c: what it sends */
/* A frame other than MSG; waits its turn if there is no room. */
void comch_tx_frame(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		const int *fds, uint32_t nb_fds);
/* The same with a ticket of the driver's, whose descriptors are closed as it says. */
void comch_tx_ticket(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		const struct rte_comch_ticket *ticket);
/* Send frames that found no room. True: none is left. */
bool comch_tx_flush(struct rte_comch_conn *conn);
/* Drop them. */
void comch_tx_forget(struct rte_comch_conn *conn);
/* Acknowledge what the application was given. */
void comch_tx_credit(struct rte_comch_conn *conn);

/* comch_rx.c: what it receives */
/* Frames of the handshake return no event of their own: they need no room. */
static inline bool
comch_rx_has_room(const struct rte_comch_conn *conn, const struct comch_run *run)
{
	return conn->phase < COMCH_PHASE_PENDING || !comch_run_full(run);
}
/* May frames be taken? It has a link. */
static inline bool
comch_rx_may(const struct rte_comch_conn *conn)
{
	return !conn->tell && !conn->put_off && conn->phase <= COMCH_PHASE_DRAINING &&
		conn->nb_tx_wait < COMCH_MAX_TX_WAIT;
}
/* Receive what there is, while the run has room. */
void comch_rx(struct rte_comch_conn *conn, struct comch_run *run);
/* One of an ordered connection: 1, 0 (none) or a negative errno. A MSG_AT is held. */
int comch_rx_held(struct rte_comch_conn *conn, struct comch_run *run);
/* Receive what there is on an ordered connection that is the only one. */
void comch_rx_alone(struct rte_comch_conn *conn, struct comch_run *run);
/* No more frames for now; ret < 0 ends it. */
void comch_rx_over(struct rte_comch_conn *conn, int ret);
/* Return a message. There must be room; data lives until the next run. */
void comch_rx_msg(struct rte_comch_conn *conn, struct comch_run *run, void *data,
		uint32_t len);

/* comch_conn_end.c: how it ends */
/* End it: status and text go into the event DISCONNECTED. */
void comch_conn_end(struct rte_comch_conn *conn, int status, const char *fmt, ...)
	__rte_format_printf(3, 4);
/* Tell the peer why, then end it. */
void comch_conn_close(struct rte_comch_conn *conn, int status, const char *reason);
/* The last frame is sent, or waits: it ends once that has arrived, with this reason. */
void comch_conn_closing(struct rte_comch_conn *conn, int status, const char *reason);
/* DRAINING: have the last messages been acknowledged, or is the time over? */
void comch_conn_drain(struct rte_comch_conn *conn);
/* Return the last events. True: all were returned. */
bool comch_conn_report_end(struct rte_comch_conn *conn, struct comch_run *run);
/* CLOSING: has the last frame arrived, or is the time over? */
void comch_conn_close_step(struct rte_comch_conn *conn);
/* All is told and no queue is left: free it. */
void comch_conn_bury(struct rte_comch_conn *conn);

#endif /* COMCH_CONN_H */
