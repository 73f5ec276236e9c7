/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_PRIVATE_H
#define COMCH_PRIVATE_H

/*
 * The objects, and who may touch what.
 *
 * poll:  only the thread that runs the object's poll.
 * lock:  whoever holds conn->lock (control path only; any thread).
 * any:   atomics.
 * queue: only the thread that calls the queue's bursts.
 */

#include <pthread.h>
#include <bsd/sys/queue.h>

#include "rte_comch_driver.h"
#include "rte_comch_dp.h"
#include "rte_comch_msgq.h"
#include "rte_comch_stats.h"
#include "sdk/comch_dir.h"
#include "comch_mem.h"
#include "comch_obj.h"
#include "comch_poll.h"
#include "sdk/comch_rec.h"
#include "comch_wire.h"

#define COMCH_DEFAULT_MSG_SIZE 4080
#define COMCH_DEFAULT_QUEUE 64
#define COMCH_DEFAULT_DP_QUEUE 1024
#define COMCH_DEFAULT_STAGING (UINT32_C(1) << 20)
#define COMCH_MIN_STAGING UINT32_C(4096)
#define COMCH_MAX_STAGING (UINT32_C(1) << 28)
/* How long a peer may take to shake hands, ms. */
#define COMCH_HANDSHAKE_MS 10000
/* How long a stop waits for a peer that is within a message, ms. */
#define COMCH_STOP_MS 1000
/* How long a client waits for the place of one that leaves, ms. */
#define COMCH_ROOM_MS 5000
/* Frames of one connection that a run reads at most, events or not. */
#define COMCH_RX_BURST 1024
/* Clients of one server that may be half-way through a handshake. */
#define COMCH_MAX_HALF_OPEN 1024

/* container_of() for an object that begins with struct comch_obj obj. */
#define COMCH_OBJ_OF(type, o) container_of(o, struct type, obj)

/* Where a connection is between its birth and its end. poll. */
enum comch_phase {
	COMCH_PHASE_DIALLING, /* client: no link yet; tries until the deadline */
	COMCH_PHASE_LINKING,  /* the driver shakes hands */
	COMCH_PHASE_HELLO,    /* client waits for the answer, server for the question */
	COMCH_PHASE_PENDING,  /* server: the application decides */
	COMCH_PHASE_UP,
	COMCH_PHASE_CLOSING,  /* ended by us: a last frame wants to go out */
	COMCH_PHASE_ENDING,   /* events are to be returned */
	COMCH_PHASE_ENDED,    /* waits for its queues to be destroyed */
	COMCH_NB_PHASES
};

/* Who said that a connection has no fast path. */
#define COMCH_CTRL_ONLY_OURS 1
#define COMCH_CTRL_ONLY_PEER 2

struct rte_comch_server {
	struct comch_obj obj;
	struct rte_comch_dev *dev;
	struct rte_comch_server_conf conf; /* name points to our copy */
	char name[RTE_COMCH_NAME_SIZE];
	struct rte_comch_listener *listener;
	struct comch_fd fd;
	struct comch_fd watch;
	int end_status;        /* why it stopped by itself; 0: it was asked to */
	char reason[RTE_COMCH_REASON_SIZE]; /* the same in words */
	struct comch_conn_list conns;
	uint32_t nb_conns;     /* all of them */
	uint32_t nb_half_open; /* not established and not pending */
	uint32_t nb_pending;
	uint32_t nb_leaving;   /* about to end or ended: they make room */
	bool accept_failed;    /* logged; tried again at each look */
	struct rte_comch_server_stats stats;
	TAILQ_ENTRY(rte_comch_server) next; /* of the registry */
};

struct rte_comch_client {
	struct comch_obj obj;
	struct rte_comch_dev *dev;
	struct rte_comch_client_conf conf;
	char name[RTE_COMCH_NAME_SIZE];
	struct rte_comch_conn *conn;  /* from STARTING on */
	char reason[RTE_COMCH_REASON_SIZE];
	TAILQ_ENTRY(rte_comch_client) next;
};

/* A message that was sent and not delivered yet. */
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
/* With so many waiting, nothing more is received: the peer does not read. */
#define COMCH_MAX_TX_WAIT 64

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
	bool shown;     /* by the driver: to be hidden again */
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

struct rte_comch_conn {
	struct comch_obj obj;
	/* hot: poll */
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
	struct comch_order *order; /* of a server that is ordered, once accepted */
	bool hold;                 /* no frame is taken before an event is returned */
	bool put_off;              /* nor before new_cons was made; in poll->new_cons */
	bool owing;                /* in poll->owing */
	bool is_hot;
	bool is_waiting;           /* in poll->waiting */
	uint64_t last_active;      /* run number */
	TAILQ_ENTRY(rte_comch_conn) link_next; /* of poll->hot, cold or order.conns */
	TAILQ_ENTRY(rte_comch_conn) owing_next;
	TAILQ_ENTRY(rte_comch_conn) waiting_next;
	/* unacked[]: send_queue of them; head..tail free-running */
	struct comch_unacked *unacked;
	uint32_t unacked_mask;
	uint32_t unacked_size;
	uint32_t unacked_head;     /* next to be reported */
	uint32_t unacked_ready;    /* up to here they may be reported */
	uint32_t unacked_tail;
	struct rte_comch_conn_stats stats;
	/* set-up and end: poll */
	struct rte_comch_server *server;
	struct rte_comch_client *client;
	struct rte_comch_dev *dev;
	uint32_t link_news;     /* the driver wants link_poll to be called */
	struct comch_fd fd;
	uint64_t deadline;         /* TSC */
	uint64_t dial_deadline;
	uint8_t ctrl_only;         /* COMCH_CTRL_ONLY_*: who wants no fast path */
	uint16_t rep;
	uint32_t id;
	bool draining;             /* closed; waits for what the peer takes of ours */
	bool send_connected;       /* an event CONNECTED or CONNECT_REQUEST is due */
	bool known;                /* the application was given it by such an event */
	bool leaving;              /* counted in server->nb_leaving */
	bool wants_room;           /* its HELLO found the server full, with some leaving */
	int end_status;
	char reason[RTE_COMCH_REASON_SIZE];
	struct rte_comch_peer_id peer;
	STAILQ_HEAD(, comch_tx_wait) tx_wait;
	uint32_t nb_tx_wait;
	TAILQ_ENTRY(rte_comch_conn) server_next;
	TAILQ_ENTRY(rte_comch_conn) next; /* of the registry */
	/* fast path: lock */
	pthread_mutex_t lock;
	struct comch_cons_list consumers;
	struct comch_prod_list producers;
	uint32_t nb_consumers;
	uint32_t nb_producers;
	uint32_t next_consumer_id;
	uint32_t next_producer_id;
	struct comch_export exports[COMCH_MAX_IMPORTS];
	/* By number, into import_region[]; read by producers: any. What a pointer leads
	 * to does not change until it was withdrawn and the producers have passed. */
	struct rte_comch_region *imports[COMCH_MAX_IMPORTS];
	struct rte_comch_region import_region[COMCH_MAX_IMPORT_REGIONS]; /* addr NULL: free */
	struct comch_dir dir;                           /* read by producers: any */
	uint32_t nb_remotes;
	bool said_refused;                  /* that one of them was refused: once */
	struct comch_new_cons new_cons;
	TAILQ_ENTRY(rte_comch_conn) new_cons_next;
	struct comch_reclaim *reclaim_new;  /* hidden, not fenced yet */
	struct comch_reclaim *reclaim_wait; /* waits for producers */
	uint32_t next_export;               /* where the search for a free one begins */
	uint32_t gone_producers[COMCH_MAX_PRODUCERS]; /* ids to be told to the peer */
	uint32_t nb_gone_producers;
	/* a queue met a fault; its thread says so here: any */
	uint32_t faulted; /* 1: being written, 2: to be read */
	int fault_status;
	const char *fault_text;
};

/* What consumers and producers share: a poll of their own and the driver's half. */
struct comch_queue {
	struct comch_obj obj;
	struct rte_comch_conn *conn;
	struct rte_comch_dq *dq;
	struct comch_fd fd;     /* readable after a wake-up; or -1 */
	uint32_t id;
	uint32_t depth;
	TAILQ_ENTRY(comch_queue) poll_next;
};

/* Steps of a consumer's start and stop, done by the connection's thread. lock. */
enum comch_cons_step {
	COMCH_CONS_IDLE,
	COMCH_CONS_SHOW,     /* show its memory */
	COMCH_CONS_ANNOUNCE, /* send CONSUMER_NEW */
	COMCH_CONS_WAIT,     /* for CONSUMER_ACK */
	COMCH_CONS_LIVE,
	COMCH_CONS_RETIRE,   /* drained: send CONSUMER_GONE, free the regions */
};

struct rte_comch_consumer {
	struct rte_comch_consumer_core core; /* first: rte_comch_dp.h reads it */
	struct comch_queue q;
	enum comch_cons_step step;           /* lock */
	bool announced;                      /* lock: the peer knows it */
	bool cancel;                         /* lock: stopped while starting */
	bool started;                        /* lock: not for the first time */
	int fail;                            /* lock: why the start failed */
	uint32_t conf_flags;
	uint32_t staging_conf;               /* as configured */
	uint32_t staging_size;               /* as announced */
	uint32_t imm_size;
	struct comch_cons_mrs mrs;
	int16_t export[COMCH_MAX_IMPORTS];   /* lock: number of each, -1: not shown */
	int32_t mr_status[COMCH_MAX_IMPORTS];
	bool mr_added[COMCH_MAX_IMPORTS];    /* lock: by mr_add(), event not queued yet */
	bool mr_event[COMCH_MAX_IMPORTS];    /* lock: an MR_ADDED is due */
	struct rte_mempool *rx_pool;         /* queue: mbuf mode */
	struct rte_comch_mr *rx_mr;
	TAILQ_ENTRY(rte_comch_consumer) next;
};

struct rte_comch_producer {
	struct rte_comch_producer_core core;
	struct comch_queue q;
	bool announce;                       /* lock: PRODUCER_NEW is due */
	bool announced;                      /* lock */
	uint64_t stop_deadline;              /* queue */
	bool sync_send;                      /* RTE_COMCH_CAPA_SYNC_SEND */
	struct comch_mbuf_tx *mbuf_tx;       /* queue: mbufs under way; NULL: it had none */
	const struct rte_mempool *last_pool; /* queue: of the last mbuf sent */
	struct rte_comch_mr *last_mr;
	TAILQ_ENTRY(rte_comch_producer) next;
};

/* comch_mbuf.c: free what is left of the mbufs that it sent; nothing is under way. */
void comch_mbuf_tx_free(struct rte_comch_producer *p);

/* comch_dev.c */
/* The device, with a use counted; NULL if there is none. */
struct rte_comch_dev *comch_dev_get(int16_t dev_id);
void comch_dev_put(struct rte_comch_dev *dev);
/* The drivers in turn, from 0; NULL: no more. */
const struct rte_comch_driver_ops *comch_driver_get(uint32_t number);

/* comch_server.c */
/* 0, or -EINVAL after a log line that begins with what. */
int comch_name_check(const char *name, const char *what);
/* Check sizes against the device's limits and fill in defaults. */
int comch_sizes_check(const struct rte_comch_dev *dev, const char *what,
		uint32_t *max_msg_size, uint32_t *recv_queue, uint32_t *send_queue);
void comch_server_conn_ended(struct rte_comch_conn *conn);
/* Its end is known, though it has its place until the application was told. */
void comch_server_conn_leaves(struct rte_comch_conn *conn);
void comch_server_accept(struct rte_comch_server *server);
/* Its watch says that clients may not find it any more: then it stops. */
void comch_server_check(struct rte_comch_server *server);

/* comch_client.c */
void comch_client_up(struct rte_comch_client *client);
void comch_client_conn_gone(struct rte_comch_client *client);
void comch_client_conn_freed(struct rte_comch_client *client);

/* comch_conn.c */
struct rte_comch_conn *comch_conn_create(struct rte_comch_dev *dev, uint16_t rep,
		struct rte_comch_poll *poll, uint32_t send_queue);
/* Our side wants no fast path, or its driver has none. */
static inline void
comch_conn_set_ctrl_only(struct rte_comch_conn *conn, bool wanted)
{
	conn->ctrl_only = wanted || conn->ops->data == NULL ? COMCH_CTRL_ONLY_OURS : 0;
}
int comch_conn_set_link(struct rte_comch_conn *conn, struct rte_comch_link *link);
/* A frame other than MSG; waits its turn if there is no room. */
void comch_conn_tx(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		const int *fds, uint32_t nb_fds);
/* Receive what there is, while the run has room. */
void comch_conn_rx(struct rte_comch_conn *conn, struct comch_run *run);
/* May frames be taken? */
bool comch_conn_may_rx(const struct rte_comch_conn *conn);
/* One of an ordered connection: 1, 0 (none) or a negative errno. A MSG_AT is held. */
int comch_conn_rx_held(struct rte_comch_conn *conn, struct comch_run *run);
/* Receive what there is on an ordered connection that is the only one. */
void comch_conn_rx_alone(struct rte_comch_conn *conn, struct comch_run *run);
/* No more frames for now; ret < 0 ends it. */
void comch_conn_rx_over(struct rte_comch_conn *conn, int ret);
/* Return a message. There must be room; data lives until the next run. */
void comch_conn_on_msg(struct rte_comch_conn *conn, struct comch_run *run, void *data,
		uint32_t len);
/* Look at the link after its descriptor woke us, or a deadline. */
void comch_conn_look(struct rte_comch_conn *conn);
/* End it: status and text go into the event DISCONNECTED. */
void comch_conn_end(struct rte_comch_conn *conn, int status, const char *fmt, ...)
	__rte_format_printf(3, 4);
/* Tell the peer why, then end it. */
void comch_conn_close(struct rte_comch_conn *conn, int status, const char *reason);
/* End it from wherever we are, in its own thread's time. text is static. Any thread. */
void comch_conn_fault(struct rte_comch_conn *conn, int status, const char *text);
const char *comch_conn_name(const struct rte_comch_conn *conn);
/* Return SENT events. True: none is left. */
bool comch_conn_report_sent(struct rte_comch_conn *conn, struct comch_run *run);
/* Nobody will want the frames that found no room. */
void comch_conn_tx_forget(struct rte_comch_conn *conn);
/* Acknowledge what was given to the application. */
void comch_conn_credit(struct rte_comch_conn *conn);
static inline bool
comch_conn_is_up(const struct rte_comch_conn *conn)
{
	return comch_load_acquire(&conn->phase) == COMCH_PHASE_UP;
}
/* Frames of the handshake return no event of their own: they need no room. */
static inline bool
comch_conn_has_room(const struct rte_comch_conn *conn, const struct comch_run *run)
{
	return conn->phase < COMCH_PHASE_PENDING || !comch_run_full(run);
}
uint32_t comch_conn_nb_queues(struct rte_comch_conn *conn);
void comch_conn_established(struct rte_comch_conn *conn);
void comch_conn_wait_begin(struct rte_comch_conn *conn, uint32_t ms);
void comch_conn_wait_end(struct rte_comch_conn *conn);

/* comch_conn_end.c */
/* Send a last frame, and end once it has arrived; reason and end_status are set. */
void comch_conn_last_word(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
/* A peer that lives says what it takes, if it is given a little time. */
void comch_conn_drain(struct rte_comch_conn *conn);
/* Return the last events. True: all were returned. */
bool comch_conn_report_end(struct rte_comch_conn *conn, struct comch_run *run);
/* All is told and no queue is left: away with it. */
void comch_conn_bury(struct rte_comch_conn *conn);

/* comch_handshake.c */
void comch_handshake_dial(struct rte_comch_conn *conn);
void comch_handshake_link(struct rte_comch_conn *conn);
void comch_handshake_hello(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
void comch_handshake_accept(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
void comch_handshake_reject(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
void comch_handshake_timeout(struct rte_comch_conn *conn);
/* One that wants room: is there any? all_seen: nobody's end is still to be looked at. */
void comch_handshake_room(struct rte_comch_conn *conn, bool all_seen);

/* comch_proto.c */
/* A checked frame for a connection; its descriptors are ours to close. -EPROTO ends it. */
int comch_proto_dispatch(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		int *fds, uint32_t nb_fds, struct comch_run *run);
/* Send a frame with a ticket of the driver's, whose descriptors are closed as it says. */
void comch_proto_tx_ticket(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		const struct rte_comch_ticket *ticket);
/* Close what nobody kept of a ticket from the peer. */
void comch_proto_ticket_close(struct rte_comch_ticket *ticket);

/* comch_export.c: memory that we show, memory that we are shown */
/* Show a registration, or find that it is shown. Its number or -ENOSPC. lock held. */
int comch_export_get(struct rte_comch_conn *conn, struct rte_comch_mr *mr);
/* One consumer less; the last one takes it from the peer. lock held. */
void comch_export_put(struct rte_comch_conn *conn, int id);
void comch_export_on_ack(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
int comch_import_on_add(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket);
int comch_import_on_del(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
/* Regions that are freed with the connection, at most. */
uint32_t comch_export_nb_regions(const struct rte_comch_conn *conn);
void comch_import_free_all(struct rte_comch_conn *conn);
/* Hide, fence, wait, free: see comch_dir.h. lock held. */
void comch_reclaim_remote(struct rte_comch_conn *conn, struct rte_comch_remote *remote);
/* True: nothing waits. */
bool comch_reclaim_step(struct rte_comch_conn *conn);
void comch_reclaim_free_all(struct rte_comch_conn *conn);

/* comch_remote.c: the peer's consumers and producers */
int comch_remote_on_consumer_new(struct rte_comch_conn *conn,
		const struct comch_wire_frame *f, struct rte_comch_ticket *ticket,
		struct comch_run *run);
/* Make consumers that were put off, as far as this run may. */
void comch_remote_step(struct rte_comch_poll *poll, struct comch_run *run);
/* The connection ends: drop it. */
void comch_remote_forget_new(struct rte_comch_conn *conn);
int comch_remote_on_consumer_gone(struct rte_comch_conn *conn,
		const struct comch_wire_frame *f, struct comch_run *run);
int comch_remote_free(struct rte_comch_conn *conn, struct rte_comch_remote *remote);
void comch_remote_free_all(struct rte_comch_conn *conn);

/* comch_queue.c: what consumers and producers share */
/* May there be one? 0, -EBADFD or -ENOTSUP, after a log line that says what. */
int comch_queue_check(const struct rte_comch_conn *conn, const char *what);
int comch_queue_init(struct comch_queue *q, enum rte_comch_obj_type type, void *self,
		struct rte_comch_conn *conn, struct rte_comch_poll *poll, uint64_t user_data,
		struct rte_comch_dq *dq);
/* The driver's half of a consumer or producer. */
static inline const struct rte_comch_data_ops *
comch_queue_ops(const struct comch_queue *q)
{
	return q->dq->ops;
}
static inline struct rte_comch_consumer_stats *
comch_consumer_stats(const struct rte_comch_consumer *c)
{
	return c->q.dq->stats;
}
static inline struct rte_comch_producer_stats *
comch_producer_stats(const struct rte_comch_producer *p)
{
	return p->q.dq->stats;
}
/* What the driver's half tells: ctx is the queue. Any thread, also within a burst. */
void comch_queue_on_fault(void *ctx, int err, const char *text);
void comch_queue_on_news(void *ctx);
void comch_queue_detach(struct comch_queue *q);
bool comch_queue_pending(struct comch_queue *q);
void comch_queue_arm(struct comch_queue *q);
/* Take back what made its descriptor readable. */
void comch_queue_clear(struct comch_queue *q);
/* comch_consumer.c */
int comch_consumer_on_ack(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket);
/* Advance all consumers' steps. Connection's thread. */
void comch_consumer_steps(struct rte_comch_conn *conn);
/* The connection is gone: wind up. */
void comch_consumer_halt_all(struct rte_comch_conn *conn);

/* comch_producer.c */
void comch_producer_steps(struct rte_comch_conn *conn);
void comch_producer_halt_all(struct rte_comch_conn *conn);

/* comch_stats.c: the registry of what lives, for dump and telemetry */
void comch_registry_add_server(struct rte_comch_server *server);
void comch_registry_del_server(struct rte_comch_server *server);
void comch_registry_add_client(struct rte_comch_client *client);
void comch_registry_del_client(struct rte_comch_client *client);
void comch_registry_add_conn(struct rte_comch_conn *conn);
void comch_registry_del_conn(struct rte_comch_conn *conn);
void comch_registry_add_poll(struct rte_comch_poll *poll);
void comch_registry_del_poll(struct rte_comch_poll *poll);
void comch_registry_add_msgq(struct rte_comch_msgq *msgq);
void comch_registry_del_msgq(struct rte_comch_msgq *msgq);

#endif /* COMCH_PRIVATE_H */
