/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_DRIVER_H
#define RTE_COMCH_DRIVER_H

/**
 * @file
 * What a driver is to the core.
 *
 * The core knows names, states, credits, ids and memory tables; a driver moves
 * bytes and memory between two ends. It registers a table of operations with
 * RTE_COMCH_DRIVER_REGISTER(): links and frames for the control path, and a
 * table of data operations for the fast path. Drivers whose ends map the same
 * memory share one, rte_comch_data_mapped. A driver that lacks a required
 * operation is refused with a log line. The contract, for every operation:
 *
 * - It never blocks, and never calls up into the core other than by the
 *   services listed at the end of this file: the core may hold locks.
 * - A peer may be hostile. What it wrote is read once, into private memory,
 *   and checked; a violation is -EPROTO and brings the link down.
 * - On failure nothing is half-created, and what was passed in (descriptors,
 *   memory) still belongs to the caller unless the operation says otherwise.
 * - Link and frame operations are called by the thread that runs the
 *   connection's poll; data operations by the thread named with them.
 *
 * Operations marked O may be left out: a dummy that returns -ENOTSUP or does
 * nothing takes their place, so that the core never tests for NULL.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_kvargs.h>

#include <rte_comch.h>
#include <rte_comch_core.h>
#include <rte_comch_mem.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Number of this interface; part of the registering function's name. */
#define RTE_COMCH_DRIVER_ABI 3

struct rte_comch_driver_ops;
struct rte_comch_data_ops;
struct rte_comch_region_ops;
struct rte_mbuf;
struct comch_cons_mrs;
struct comch_dir;
struct comch_dir_reader;

/** Descriptors that one frame may carry. */
#define RTE_COMCH_FRAME_FDS 3
/** Longest frame that a driver must carry beside a message, bytes. */
#define RTE_COMCH_FRAME_OVERHEAD 256
/** Longest header of a frame that has a payload, bytes. Each has 16 at least. */
#define RTE_COMCH_FRAME_HDR 24
/** Host functions of one device. */
#define RTE_COMCH_MAX_REPS 256

/** A device as core and driver share it. The core owns it. */
struct rte_comch_dev {
	const struct rte_comch_driver_ops *ops;
	struct rte_comch_dev_info info;  /**< Filled by probe; name and driver by the core. */
	struct rte_comch_rep_info *reps; /**< Filled by probe with malloc(); freed by the core. */
	void *priv;                      /**< The driver's. */
	const char *where;               /**< Where clients look for servers, for the log. */
	int16_t id;
	uint32_t nb_users;               /**< Servers and clients; the core's. */
	/** Bytes of info.total_import; the driver's. Atomic; outlives the device. */
	uint64_t *imported;
	uint64_t *staged;                /**< The same of info.total_staging; the core's. */
};

/** State of a link as the driver sees it. */
enum rte_comch_link_state {
	RTE_COMCH_LINK_CONNECTING,
	RTE_COMCH_LINK_UP,
	RTE_COMCH_LINK_DOWN, /**< No new frame can be sent; received ones may remain. */
};

/** Base of a driver's link; the driver allocates and frees it. */
struct rte_comch_link {
	const struct rte_comch_driver_ops *ops;
	struct rte_comch_dev *dev;
	enum rte_comch_link_state state; /**< Written by the driver in the poll's thread. */
	int error;                       /**< Why it is DOWN: a negative errno. */
	const char *text;                /**< The same in words; static. */
	uint64_t wakes;                  /**< Wake-ups written. */
	bool light;                      /**< The peer's sleepers fence for our publishers. */
	void *data;                      /**< Of the data operations: between open and close. */
	uint32_t conn_id;                /**< The core's number of the connection, for the log. */
	/** CONNECTING, and link_poll has to be called again though nothing comes. */
	bool try_again;
	/**
	 * The core's, set after accept or connect: link_poll is to be called
	 * though link_fd is not readable. From any thread, until link_close
	 * returns. A thread with a descriptor table of its own says *can_wake*
	 * false; if this returns true the poll sleeps, and another one calls.
	 */
	bool (*news)(void *ctx, bool can_wake);
	void *ctx;
};

/** Base of a driver's listener. */
struct rte_comch_listener {
	const struct rte_comch_driver_ops *ops;
	struct rte_comch_dev *dev;
};

/** Who is at the other end, as the kernel vouches. -1: unknown. */
struct rte_comch_peer_id {
	int32_t pid;
	int32_t uid;
	int32_t gid;
};

/** A frame to send: header and payload are copied. */
struct rte_comch_frame {
	const void *hdr;
	const void *payload;
	uint32_t hdr_len;
	uint32_t payload_len;
	int fds[RTE_COMCH_FRAME_FDS]; /**< Duplicated for the peer. */
	uint32_t nb_fds;
	bool is_credit; /**< Only makes room: may leave a sleeper asleep, see link_arm. */
};

/** Memory with one writer that both ends map, or memory shown by a peer. */
struct rte_comch_region {
	void *addr;
	size_t len;
	int fd;        /**< To be given to the peer; -1 once it was, or for imports. */
	uint64_t *used; /**< What its length counts in until it is unmapped; NULL: nothing. */
	void *priv;     /**< The driver's. */
};

/** Longest ticket, bytes. */
#define RTE_COMCH_TICKET_SIZE 96

/**
 * What the driver at one end tells the driver at the other end about a consumer,
 * a producer or a registration. It travels in the frame that announces the object;
 * the core does not look into it. A ticket from a peer is untrusted.
 */
struct rte_comch_ticket {
	uint8_t data[RTE_COMCH_TICKET_SIZE];
	uint32_t len;                 /**< Bytes of data; 0 is allowed. */
	uint32_t nb_fds;
	/** Descriptors. In a peer's ticket a driver that keeps one writes -1 in its place. */
	int fds[RTE_COMCH_FRAME_FDS];
	/** In a driver's ticket: bit i says that the core closes fds[i] once it is sent. */
	uint32_t to_close;
};

/** Descriptors that each kind of ticket brings. The core refuses any other number. */
struct rte_comch_ticket_fds {
	uint8_t cons;     /**< cons_offer to remote_create. */
	uint8_t cons_ack; /**< remote_create to cons_bind. */
	uint8_t prod;     /**< prod_offer to peer_prod_add. */
	uint8_t mem;      /**< mem_show to mem_take. */
};

/** How a registration is shown to a peer. */
struct rte_comch_mem_desc {
	uint32_t kind;   /**< enum rte_comch_mem_kind */
	uint64_t offset; /**< Of the registration within the descriptor's file. */
	uint64_t len;
	int fd;          /**< Borrowed: valid while the registration lives; or -1. */
};

/** Why a queue winds down; the first reason stays. */
enum rte_comch_halt {
	RTE_COMCH_HALT_NONE,
	RTE_COMCH_HALT_STOP, /**< The application stopped it. */
	RTE_COMCH_HALT_DOWN, /**< The connection is gone. */
};

/** Base of the driver's half of a consumer or producer. The driver allocates it. */
struct rte_comch_dq {
	const struct rte_comch_data_ops *ops;
	struct rte_comch_link *link;
	/** Counters: struct rte_comch_consumer_stats or rte_comch_producer_stats. */
	void *stats;
	/** The core's: the peer broke the protocol. Any thread, also within a burst. */
	void (*fault)(void *ctx, int err, const char *text);
	/** The core's: drained, or idle. Any thread, also within a burst. */
	void (*news)(void *ctx);
	void *ctx;
};

/** Base of the sending end towards one consumer of the peer. The driver allocates it. */
struct rte_comch_remote {
	const struct rte_comch_data_ops *ops;
	uint32_t id;
	uint32_t depth;        /**< Buffers that may be posted; a power of two. */
	uint32_t imm_size;     /**< Immediate data that it takes, bytes. */
	uint32_t staging_size; /**< 0 or a power of two. */
};

/** A consumer to create. */
struct rte_comch_cons_args {
	uint32_t depth;        /**< A power of two. */
	uint32_t imm_size;
	uint32_t stop_ms;      /**< How long a stop waits for messages under way. */
	int socket_id;
	struct comch_cons_mrs *mrs; /**< Registrations it may post from; the core adds. */
	void (*fault)(void *ctx, int err, const char *text);
	void (*news)(void *ctx);
	void *ctx;
};

/** A producer to create. */
struct rte_comch_prod_args {
	uint32_t queue_size;
	int socket_id;
	struct comch_dir *dir; /**< Remotes by consumer id. */
	void (*fault)(void *ctx, int err, const char *text);
	void (*news)(void *ctx);
	void *ctx;
};

/** A consumer of the peer, as CONSUMER_NEW announces it; checked by the core. */
struct rte_comch_remote_args {
	uint32_t id;
	uint32_t depth;
	uint32_t imm_size;
	uint32_t staging_size;
	/** What the peer shows, by number; the core adds and withdraws. */
	struct rte_comch_region *const *imports;
};

/**
 * How messages of the fast path travel. The core decides who may send to whom and
 * in which state an object is; a driver carries.
 *
 * The order of calls, each line a thread's own:
 *
 *     cons_create, cons_offer, cons_bind, bursts, cons_halt, bursts until
 *         cons_drained, cons_retire, (cons_offer ...), dq_destroy
 *     prod_create, prod_begin, bursts, prod_halt, prod_idle, (prod_begin ...), dq_destroy
 *     remote_create, remote_retire, remote_free
 *
 * "Connection's thread" runs the connection's poll; "queue's thread" makes the
 * burst calls. All operations are required unless marked O.
 */
struct rte_comch_data_ops {
	/** Tickets may have bytes: the peers speak wire version 1.2. */
	bool has_tickets;
	struct rte_comch_ticket_fds nb_fds;

	/**
	 * Prepare a link for the operations below. Connection's thread, or any
	 * with the connection's lock; once, before all others.
	 * @return 0, -ENOMEM.
	 */
	int (*open)(struct rte_comch_link *link);
	/** Undo open, if it was called. All queues, remotes and imports are gone. */
	void (*close)(struct rte_comch_link *link);

	/**
	 * Allocate the driver's half of a consumer with all that its bursts need,
	 * and set core->post, core->recv and core->queue. Any thread.
	 * @return 0, -ENOMEM, -EMFILE.
	 */
	int (*cons_create)(struct rte_comch_link *link, const struct rte_comch_cons_args *args,
			struct rte_comch_consumer_core *core, struct rte_comch_dq **dq);
	/**
	 * Begin anew at position 0: the ticket of CONSUMER_NEW. Connection's
	 * thread. Called again with a smaller ring if the peer has no room.
	 * @return 0, -ENOMEM, -EMFILE.
	 */
	int (*cons_offer)(struct rte_comch_dq *dq, uint32_t staging_size,
			struct rte_comch_ticket *mine);
	/**
	 * The peer's CONSUMER_ACK: bursts work from now on. Connection's thread.
	 * @return 0, -EPROTO (the ticket is invalid: ends the connection), -ENOMEM.
	 */
	int (*cons_bind)(struct rte_comch_dq *dq, struct rte_comch_ticket *peers);
	/**
	 * From its return on no message is accepted that was not under way. Any
	 * thread but not within a burst. With *STOP* a consumer that has nothing
	 * posted is drained at once: the queue's thread need not call.
	 */
	void (*cons_halt)(struct rte_comch_dq *dq, enum rte_comch_halt why);
	/** Has recv_burst given back everything? Acquire: the rest is the caller's. */
	bool (*cons_drained)(const struct rte_comch_dq *dq);
	/**
	 * Drained, or never bound: from its return on the peer reaches nothing.
	 * Connection's thread.
	 * @param[out] final Positions received in all.
	 * @return true if CONSUMER_GONE has to say *final*.
	 */
	bool (*cons_retire)(struct rte_comch_dq *dq, uint64_t *final);
	/** Buffers that a post would take now. Queue's thread. */
	uint32_t (*cons_room)(const struct rte_comch_dq *dq);

	/** As cons_create, for a producer: sets core->send, core->done, core->queue. */
	int (*prod_create)(struct rte_comch_link *link, const struct rte_comch_prod_args *args,
			struct rte_comch_producer_core *core, struct rte_comch_dq **dq);
	/** Bursts work from now on, under this id. Any thread. */
	void (*prod_begin)(struct rte_comch_dq *dq, uint32_t id);
	/**
	 * What the peer has to know of the producer, once: the ticket of
	 * PRODUCER_NEW. Connection's thread.
	 * @return true; false: nothing, no frame is sent.
	 */
	bool (*prod_offer)(struct rte_comch_dq *dq, struct rte_comch_ticket *mine);
	/** No send is accepted from now on. Any thread. */
	void (*prod_halt)(struct rte_comch_dq *dq, enum rte_comch_halt why);
	/** Is nothing between send and completion? A stop waits for it. Any thread. */
	bool (*prod_idle)(const struct rte_comch_dq *dq);
	/**
	 * Give up what is under way: it completes with *err*. Any thread.
	 * @return false: later.
	 */
	bool (*prod_abort)(struct rte_comch_dq *dq, int err);
	/** For the directory: who looks something up; see comch_dir.h. */
	struct comch_dir_reader *(*prod_reader)(struct rte_comch_dq *dq);
	/**
	 * The peer's PRODUCER_NEW and PRODUCER_GONE. Connection's thread.
	 * @return 0, -EPROTO.
	 */
	int (*peer_prod_add)(struct rte_comch_link *link, uint32_t id,
			struct rte_comch_ticket *peers);
	int (*peer_prod_del)(struct rte_comch_link *link, uint32_t id);

	/** Memory that remote_create allocates, bytes: a run makes a limited amount. */
	uint64_t (*remote_size)(const struct rte_comch_remote_args *args);
	/**
	 * The sending end of a consumer. On success *mine* goes with CONSUMER_ACK.
	 * Connection's thread.
	 * @return 0, -EPROTO (the ticket is invalid), -ENOMEM, -EMFILE, -EDQUOT (over
	 * the limits of connection or device, which the driver has logged).
	 */
	int (*remote_create)(struct rte_comch_link *link, const struct rte_comch_remote_args *args,
			struct rte_comch_ticket *peers, struct rte_comch_ticket *mine,
			struct rte_comch_remote **remote);
	/**
	 * CONSUMER_GONE: the directory has it no more. Settles what was under way:
	 * below *final* (0 if the peer did not say) it succeeded, the rest is
	 * -ENOENT. Connection's thread.
	 */
	void (*remote_retire)(struct rte_comch_remote *remote, uint64_t final);
	/** No producer looks at it any more. @return 0, -EBUSY: ask again. */
	int (*remote_free)(struct rte_comch_link *link, struct rte_comch_remote *remote);

	/** Halted and idle: free it. Any thread. */
	void (*dq_destroy)(struct rte_comch_dq *dq);
	/** Readable after a wake-up, watched by edges; -1: none. It may change in cons_offer. */
	int (*dq_fd)(const struct rte_comch_dq *dq);
	/** Take back what made dq_fd readable. The thread of the queue's poll. */
	void (*dq_clear)(struct rte_comch_dq *dq);
	/** Ask for one wake-up; the caller fences and asks dq_pending. */
	void (*dq_arm)(struct rte_comch_dq *dq);
	/** Would a burst find something? True too often is allowed, false is not. */
	bool (*dq_pending)(struct rte_comch_dq *dq);

	/**
	 * Describe a registration for this peer. Connection's thread.
	 * @return 0, -ENOTSUP (cannot be shown: it is staged).
	 */
	int (*mem_show)(struct rte_comch_link *link, const struct rte_comch_mr *mr,
			struct rte_comch_mem_desc *desc, struct rte_comch_ticket *mine);
	/** Take it back. A device cannot write to it from now on; a process that mapped it can. */
	void (*mem_hide)(struct rte_comch_link *link, const struct rte_comch_mr *mr);
	/**
	 * Check and take what a peer shows: region->addr and len. Connection's thread.
	 * @return 0, -EPERM (not sealed, wrong size, not trusted, mapped by another
	 * process), -EPROTO (the ticket is invalid), -ENOMEM, -EDQUOT (over the
	 * device's limit).
	 */
	int (*mem_take)(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
			struct rte_comch_ticket *peers, struct rte_comch_region *region);
	/** Undo mem_take. */
	void (*mem_drop)(struct rte_comch_link *link, struct rte_comch_region *region);

	/**
	 * O. mbufs without the detour by operations and buffers, which is how the core
	 * does it otherwise. Queue's thread.
	 */
	uint16_t (*send_mbufs)(struct rte_comch_dq *dq, uint32_t consumer_id,
			struct rte_mbuf **mbufs, uint16_t n);
	uint16_t (*recv_mbufs)(struct rte_comch_dq *dq, struct rte_mbuf **mbufs, uint16_t n);
};

/** Memory that both ends map; for drivers whose data operations are the mapped channel's. */
struct rte_comch_region_ops {
	/**
	 * Describe a registration for this peer.
	 * @return 0, -ENOTSUP (cannot be shown: it will be staged).
	 */
	int (*mem_export)(struct rte_comch_link *link, const struct rte_comch_mr *mr,
			struct rte_comch_mem_desc *desc);
	/**
	 * Check and map what a peer shows. desc->fd stays the caller's.
	 * @return 0, -EPERM (not sealed, wrong size, not trusted, mapped by another
	 * process), -ENOMEM, -EDQUOT (over the device's limit).
	 */
	int (*mem_import)(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
			struct rte_comch_region *region);
	/**
	 * Undo mem_import or region_create or region_map. It may be unmapped
	 * later, by comch_reaper_unmap(): then its length is taken from *used.
	 */
	void (*region_free)(struct rte_comch_link *link, struct rte_comch_region *region);
	/**
	 * Make a control region: we write, the peer reads. Zeroed.
	 * @return 0, -ENOMEM, -EMFILE.
	 */
	int (*region_create)(struct rte_comch_link *link, size_t len,
			struct rte_comch_region *region);
	/**
	 * Map a control region of the peer, read-only, *len* bytes.
	 * @return 0, -EPERM (not sealed, too short), -ENOMEM.
	 */
	int (*region_map)(struct rte_comch_link *link, int fd, size_t len,
			struct rte_comch_region *region);
};

/** Operations of a driver. R: required, O: optional. */
struct rte_comch_driver_ops {
	/** "comch_shm": device strings begin with it. */
	const char *name;
	/** Keys that device strings may have; NULL at the end. */
	const char *const *valid_keys;

	/**
	 * R. Fill dev->info, dev->reps and dev->priv from the device string.
	 * @return 0, -EINVAL, -ENOMEM, or what the system said.
	 */
	int (*probe)(struct rte_comch_dev *dev, struct rte_kvargs *args);
	/** R. Free dev->priv. No link or listener of the device exists. */
	void (*remove)(struct rte_comch_dev *dev);

	/**
	 * R. Own *name* on a representor and listen there.
	 * @return 0, -EADDRINUSE, -EMFILE, -EACCES...
	 */
	int (*listen)(struct rte_comch_dev *dev, uint16_t rep, const char *name,
			struct rte_comch_listener **listener);
	/** R. Give the name back; what is not ours any more stays as it is. */
	void (*unlisten)(struct rte_comch_listener *listener);
	/**
	 * R. Take one client, in state CONNECTING or UP.
	 * @return 0, -EAGAIN (nobody waits), -EMFILE and the like.
	 */
	int (*accept)(struct rte_comch_listener *listener, struct rte_comch_link **link);
	/** O. We are a forked child: close what keeps the name owned. */
	void (*listener_forked)(struct rte_comch_listener *listener);
	/** O. A descriptor that is readable when accept has something; or -1. */
	int (*listener_fd)(const struct rte_comch_listener *listener);
	/** O. A descriptor that is readable when listener_check has to look; or -1. */
	int (*listener_watch_fd)(const struct rte_comch_listener *listener);
	/**
	 * O. Can clients still find it? Takes back what made the watch readable.
	 * @param[out] text A sentence if they cannot, at most *size* bytes with its NUL.
	 * @return 0, or -ENOENT: somebody took the place away; the core unlistens.
	 */
	int (*listener_check)(struct rte_comch_listener *listener, char *text, size_t size);

	/**
	 * R. Begin to connect to *name* on a host function.
	 * @return 0, -ENOENT (nobody listens), -EACCES, -EAGAIN (backlog full)...
	 */
	int (*connect)(struct rte_comch_dev *dev, uint16_t rep, const char *name,
			struct rte_comch_link **link);
	/**
	 * R. Look at the outside world: handshake, death of the peer. May make
	 * syscalls. Updates link->state, link->error, link->text.
	 */
	void (*link_poll)(struct rte_comch_link *link);
	/**
	 * R. Close and free. Frames already sent stay readable for the peer.
	 * All regions, imports and queues of the link are gone.
	 */
	void (*link_close)(struct rte_comch_link *link);
	/**
	 * R. Tell the peer that we are done (it sees DOWN) and let go of what
	 * the system counts (descriptors); regions stay mapped until close.
	 */
	void (*link_shutdown)(struct rte_comch_link *link);
	/** O. Who is there. */
	void (*link_peer)(const struct rte_comch_link *link, struct rte_comch_peer_id *id);
	/** O. A descriptor that is readable after a wake-up or at death; or -1. */
	int (*link_fd)(const struct rte_comch_link *link);
	/**
	 * O. Ask the peer for one wake-up at its next frame; with *credits* also
	 * if that is_credit, else not before another one. A wake-up too many is
	 * allowed. The caller fences, and then looks at frame_pending.
	 */
	void (*link_arm)(struct rte_comch_link *link, bool credits);

	/**
	 * R. Send one frame, whole or not at all; reliable and in order.
	 * @return 0, -EAGAIN (no room), -ENOTCONN (link not UP), -EMFILE...
	 */
	int (*frame_tx)(struct rte_comch_link *link, const struct rte_comch_frame *frame);
	/**
	 * R. Copy the next frame out to *buf*, at most *size* bytes.
	 * @param[out] fds Descriptors that came with it, now the caller's. None
	 *   of them can block when it is closed but unix sockets: see
	 *   comch_foreign.h.
	 * @return its length, -EAGAIN (none, or its descriptors are still to
	 *   come: then there is news), -EPROTO (link goes DOWN).
	 */
	int (*frame_rx)(struct rte_comch_link *link, void *buf, uint32_t size,
			int fds[RTE_COMCH_FRAME_FDS], uint32_t *nb_fds);
	/** R. Is there a frame to receive? Cheap: it is asked in every run. */
	bool (*frame_pending)(const struct rte_comch_link *link);

	/**
	 * O. Have all frames that were sent arrived? A last frame is waited for.
	 * Without it: yes, as soon as they are sent.
	 */
	bool (*link_idle)(const struct rte_comch_link *link);

	/** O. The fast path. Without it the device has none (RTE_COMCH_CAPA_DATA). */
	const struct rte_comch_data_ops *data;
	/** O. Required by the mapped channel. */
	const struct rte_comch_region_ops *regions;
};

/**
 * Register a driver. Called by constructors.
 *
 * The name carries RTE_COMCH_DRIVER_ABI, so that a driver built for another
 * number does not link.
 */
void rte_comch_driver_register_v3(const struct rte_comch_driver_ops *ops);

/** Register the driver whose operations are *ops* when the program starts. */
#define RTE_COMCH_DRIVER_REGISTER(nm, ops) \
	RTE_INIT(comch_driver_init_##nm) \
	{ \
		rte_comch_driver_register_v3(&(ops)); \
	}

/** @name Services of the core
 * @{
 */

/**
 * Data operations over memory that both ends map, for drivers that have
 * rte_comch_driver_ops.regions. Its tickets carry descriptors only:
 *
 *     CONSUMER_NEW   post region, wake socket of the consumer
 *     CONSUMER_ACK   record region
 *     PRODUCER_NEW   wake socket of the producer
 *     MR_ADD         file of the registration
 */
extern const struct rte_comch_data_ops rte_comch_data_mapped;

/** The file behind a registration; -1 for heap memory. */
int rte_comch_mr_fd(const struct rte_comch_mr *mr, uint64_t *offset);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_DRIVER_H */
