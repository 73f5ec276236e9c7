/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CONN_H
#define COMCH_CONN_H

/*
 * A connection, at either end. The word beside a member says how it may be accessed:
 *
 * poll:  by the thread that runs the connection's poll.
 * lock:  with conn->lock held (control path only), from any thread.
 * any:   by atomics, from any thread.
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

/* Time limit of the handshake, ms. */
#define COMCH_HANDSHAKE_MS 10000
/* How long a full server keeps a new client waiting for the slot of an ending one, ms. */
#define COMCH_SLOT_WAIT_MS 5000
/* Time limit for the peer to acknowledge the last messages, and to take the last frame, ms. */
#define COMCH_CLOSE_MS 1000
/* Maximum number of frames that one run reads from a connection, with or without events. */
#define COMCH_RX_BURST 1024
/*
 * Receiving pauses at this load of unsent answers: the peer does not read. An answer with a
 * descriptor weighs more, since it occupies one of ours. Correct peers stay below, by
 * COMCH_MAX_OFFERS and COMCH_MAX_SHOWN. Our own requests do not count: else both sides
 * could wait for each other.
 */
#define COMCH_MAX_TX_WAIT 256
#define COMCH_TX_WAIT_FD 7

/* The life of a connection, in this order. */
enum comch_phase {
	COMCH_PHASE_DIALLING, /* client: no link yet; retries until dial_until */
	COMCH_PHASE_LINKING,  /* handshake of the driver */
	COMCH_PHASE_HELLO,    /* client: waits for ACCEPT or REJECT; server: for HELLO */
	COMCH_PHASE_FULL,     /* server: waits for the slot of an ending client */
	COMCH_PHASE_PENDING,  /* server: the application accepts or rejects */
	COMCH_PHASE_UP,
	COMCH_PHASE_DRAINING, /* closed by us; waits for acknowledgements of messages */
	COMCH_PHASE_CLOSING,  /* waits until the last frame is delivered */
	COMCH_PHASE_ENDING,   /* returns the last events */
	COMCH_PHASE_ENDED,    /* waits until its producers and consumers are destroyed */
	COMCH_NB_PHASES
};

/* The side that requested a connection without a fast path. */
#define COMCH_CTRL_ONLY_OURS 1
#define COMCH_CTRL_ONLY_PEER 2

/* A message that was sent and is not acknowledged yet. */
struct comch_unacked {
	uint64_t cookie;
	int32_t status; /* not 0: send failed */
	bool silent;     /* no SENT event unless it failed */
	bool is_awaited; /* by a disconnect */
};

/* A frame that waits for space in the link. */
struct comch_tx_wait {
	STAILQ_ENTRY(comch_tx_wait) next;
	uint32_t len;
	uint32_t nb_fds;
	int fds[RTE_COMCH_FRAME_FDS]; /* duplicates, closed with the frame */
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
};

struct comch_fast_path;
struct comch_holder;
struct comch_sched;
struct comch_order;

struct rte_comch_conn {
	struct comch_obj obj;
	/* messages and credits: poll */
	struct rte_comch_link *link;
	const struct rte_comch_driver_ops *ops;
	uint32_t phase;            /* enum comch_phase; written by poll, read by any */
	uint32_t tx_seq;           /* messages sent */
	uint32_t tx_acked;         /* of tx_seq, acknowledged by the peer */
	uint32_t tx_credits;       /* size of the peer's receive queue */
	uint32_t rx_seq;           /* messages returned to the application */
	uint32_t rx_done;          /* of rx_seq, processed; equals rx_seq without manual_credit */
	uint32_t rx_acked;         /* of rx_done, acknowledged to the peer */
	uint32_t recv_queue;       /* messages that the peer may send beyond rx_acked */
	uint32_t max_msg_size;
	bool manual_credit;        /* the application advances rx_done */
	bool sends_stamps;         /* send MSG_AT: the server is ordered */
	bool connect_event_due;    /* CONNECTED or CONNECT_REQUEST; frames wait behind it */
	bool rx_deferred;          /* the fast path retries the last frame; others wait behind it */
	struct comch_order *order; /* set once an ordered server has accepted the connection */
	/* unacked[]: send_queue entries; head to tail are free-running */
	struct comch_unacked *unacked;
	uint32_t unacked_mask;
	uint32_t unacked_size;
	uint32_t unacked_head;     /* next SENT to return */
	uint32_t unacked_ready;    /* end of the entries whose SENT may be returned */
	uint32_t unacked_tail;
	uint32_t last_active;      /* scheduling: lower half of the number of the run */
	struct rte_comch_conn_stats stats;
	/* scheduling, see comch_sched.c */
	struct comch_sched *sched;
	bool is_hot;
	bool is_fresh;           /* when it was listed: not established */
	bool is_waiting;
	bool is_unread;
	bool is_credit_due;
	uint16_t rep;
	TAILQ_ENTRY(rte_comch_conn) link_next; /* in sched->hot, fresh or order.conns */
	/* A credit is due after the handshake only, a place of the handshake before. */
	union {
		TAILQ_ENTRY(rte_comch_conn) credit_next;
		TAILQ_ENTRY(rte_comch_conn) half_open_next;
	};
	TAILQ_ENTRY(rte_comch_conn) waiting_next;
	TAILQ_ENTRY(rte_comch_conn) unread_next;
	/* setup and end: poll */
	struct rte_comch_server *server;
	struct rte_comch_client *client;
	struct rte_comch_dev *dev;
	struct comch_fd fd;
	uint64_t deadline;         /* TSC: end of this phase */
	union {
		uint64_t dial_until; /* client: end of retries while the server is absent */
		uint64_t may_go_at;  /* server: its handshake may be displaced from then on */
	};
	uint64_t dial_deadline;    /* TSC: end of retries while the server is busy */
	uint64_t retry_at;         /* TSC: next attempt to dial, or to send waiting frames */
	uint8_t ctrl_only;         /* COMCH_CTRL_ONLY_*: the sides that request no fast path */
	bool announced;            /* the application has its first event, not yet DISCONNECTED */
	bool is_ending;            /* its end is certain: counted in server->nb_ending */
	bool is_half_open;         /* server: in holder->half_open */
	bool has_place;            /* server: counts against max_clients, until freed */
	bool is_to_free;           /* server: counted in server->nb_to_free */
	bool is_reported;          /* the log has why it ends */
	struct comch_holder *holder;
	uint32_t id;
	int end_status;
	uint32_t link_news;        /* the driver requests a call of link_poll: any */
	uint32_t tx_wait_load;     /* of tx_wait, see COMCH_MAX_TX_WAIT */
	char *reason;              /* set from DRAINING on; read by comch_conn_reason() */
	struct rte_comch_peer_id peer;
	uint32_t cold_slot;        /* scheduling: in sched->cold, while it has a link */
	STAILQ_HEAD(, comch_tx_wait) tx_wait;
	TAILQ_ENTRY(rte_comch_conn) server_next;
	struct comch_registry_entry entry;
	/* fault found by any thread, handled by the connection's thread: any */
	uint32_t faulted;          /* 1: being written, 2: ready to be read */
	int fault_status;
	const char *fault_text;
	/* producers and consumers */
	pthread_mutex_t lock;
	uint32_t nb_queues;        /* lock */
	struct comch_fast_path *fast; /* NULL until first used: any; set under the lock */
};

extern struct comch_registry_type comch_conn_registry;

/* container_of() for an object that begins with struct comch_obj obj. */
#define COMCH_OBJ_OF(type, o) container_of(o, struct type, obj)

static inline bool
comch_conn_is_up(const struct rte_comch_conn *conn)
{
	/* Pairs with comch_conn_established(). Model: publish.pml, find. */
	uint32_t phase = comch_load_acquire(&conn->phase);

	return phase == COMCH_PHASE_UP || phase == COMCH_PHASE_DRAINING;
}

/* Why the connection ends or has ended, as text. */
static inline const char *
comch_conn_reason(const struct rte_comch_conn *conn)
{
	return conn->reason != NULL ? conn->reason : "no memory for the reason";
}

/* An object of the connection was created: may the poll sleep while it exists? */
static inline void
comch_conn_check_wake(const struct rte_comch_conn *conn, struct comch_obj *obj)
{
	if ((conn->dev->info.capa & RTE_COMCH_CAPA_EVENT_FD) == 0)
		comch_poll_cannot_wake(obj);
}

static inline uint64_t
comch_conn_in_ms(uint64_t ms)
{
	return rte_rdtsc() + rte_get_tsc_hz() / 1000 * ms;
}

/* comch_conn.c: creation and service */
struct rte_comch_conn *comch_conn_create(struct rte_comch_dev *dev, uint16_t rep,
		struct rte_comch_poll *poll, uint32_t send_queue);
/* ctrl_only: the application requests no fast path. The driver may have none, either. */
static inline void
comch_conn_set_ctrl_only(struct rte_comch_conn *conn, bool wanted)
{
	conn->ctrl_only = wanted || conn->ops->data == NULL ? COMCH_CTRL_ONLY_OURS : 0;
}
int comch_conn_set_link(struct rte_comch_conn *conn, struct rte_comch_link *link);
const char *comch_conn_name(const struct rte_comch_conn *conn);
uint32_t comch_conn_nb_queues(struct rte_comch_conn *conn);
void comch_conn_established(struct rte_comch_conn *conn);
/* Poll the link: its descriptor is readable, its driver reports news or it retries. */
void comch_conn_poll_link(struct rte_comch_conn *conn);
/* For a connection in sched->waiting: retry what it waits for, and check its deadline. */
void comch_conn_wait_step(struct rte_comch_conn *conn, uint64_t now, bool all_seen);
/* Make the connection's thread end it. text is static. Any thread. */
void comch_conn_fault(struct rte_comch_conn *conn, int status, const char *text);

/* comch_tx.c: sending */
/* Send a frame other than MSG; queue it if the link is full. */
void comch_tx_frame(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		const int *fds, uint32_t nb_fds);
/* Send a frame with a ticket, and close the descriptors in ticket->to_close. */
void comch_tx_ticket(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		const struct rte_comch_ticket *ticket);
/* Close the descriptors in ticket->to_close without sending it. */
void comch_tx_ticket_drop(const struct rte_comch_ticket *ticket);
/* Send queued frames. True: none is left. */
bool comch_tx_flush(struct rte_comch_conn *conn);
/* The number of frames of a type that are not sent yet. */
uint32_t comch_tx_nb_waiting(const struct rte_comch_conn *conn, enum comch_wire_type type);
/* Drop queued frames. */
void comch_tx_drop(struct rte_comch_conn *conn);
/* Acknowledge the messages that the application has processed. */
void comch_tx_credit(struct rte_comch_conn *conn);

/* comch_rx.c: receiving */
/* Frames of the handshake return no events, so a full run can process them. */
static inline bool
comch_rx_has_room(const struct rte_comch_conn *conn, const struct comch_run *run)
{
	return conn->phase < COMCH_PHASE_PENDING || !comch_run_full(run);
}
/* Bytes of the arena that the next frame may need. */
static inline uint32_t
comch_rx_size(const struct rte_comch_conn *conn)
{
	return COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE +
		RTE_MAX(conn->max_msg_size, (uint32_t)COMCH_WIRE_MAX_FRAME);
}
/* May frames be read from the connection's link? */
static inline bool
comch_rx_allowed(const struct rte_comch_conn *conn)
{
	return !conn->connect_event_due && !conn->rx_deferred &&
		conn->phase <= COMCH_PHASE_DRAINING && conn->tx_wait_load < COMCH_MAX_TX_WAIT;
}
/* Receive pending frames, until the run is full. */
void comch_rx(struct rte_comch_conn *conn, struct comch_run *run);
/*
 * Receive one frame of an ordered connection; a MSG_AT is held until its turn.
 * Returns 1, 0 (none) or a negative errno.
 */
int comch_rx_ordered(struct rte_comch_conn *conn, struct comch_run *run);
/* Receive pending frames on the only ordered connection of a poll. */
void comch_rx_single(struct rte_comch_conn *conn, struct comch_run *run);
/* After the last frame of a burst; ret < 0 ends the connection. */
void comch_rx_finish(struct rte_comch_conn *conn, int ret);
/* Return a message. The run is not full; data lives until the next run. */
void comch_rx_msg(struct rte_comch_conn *conn, struct comch_run *run, void *data,
		uint32_t len);

/* comch_conn_end.c: the end */
/* End the connection; status and text go into the event DISCONNECTED. */
void comch_conn_end(struct rte_comch_conn *conn, int status, const char *fmt, ...)
	__rte_format_printf(3, 4);
/* End it for the reason that its link is DOWN. */
void comch_conn_link_lost(struct rte_comch_conn *conn);
/* Send DISCONNECT with the reason, then end the connection. */
void comch_conn_close(struct rte_comch_conn *conn, int status, const char *reason);
/* The last frame is sent or queued: end the connection once the peer has it. */
void comch_conn_enter_closing(struct rte_comch_conn *conn, int status, const char *reason);
/* DRAINING: go on once the last messages are acknowledged, or at the deadline. */
void comch_conn_drain(struct rte_comch_conn *conn);
/* Return the last events. True: all were returned. */
bool comch_conn_report_end(struct rte_comch_conn *conn, struct comch_run *run);
/* CLOSING: end once the last frame is delivered, or at the deadline. */
void comch_conn_close_step(struct rte_comch_conn *conn);
/* All events are returned and no producer or consumer is left: free the connection. */
void comch_conn_free(struct rte_comch_conn *conn);

#endif /* COMCH_CONN_H */
