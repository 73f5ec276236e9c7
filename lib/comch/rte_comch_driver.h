/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_DRIVER_H
#define RTE_COMCH_DRIVER_H

/**
 * @file
 * The interface between the core and a driver.
 *
 * The core handles names, states, credits, ids and memory tables; a driver moves bytes
 * and memory between two ends. It registers a table of operations with
 * RTE_COMCH_DRIVER_REGISTER(): links and frames for the control path, and a table of
 * data operations for the fast path. Drivers whose ends map the same memory share one,
 * rte_comch_data_mapped. A driver that lacks a required operation is refused with a log
 * line. The contract of every operation:
 *
 * - It never blocks: the core may hold locks. remove and mem_gone may wait for the
 *   driver's threads. It calls only the services of the core at the end of this file.
 * - A peer may be hostile. Its data is read once, into private memory, and validated; a
 *   violation is -EPROTO and ends the link.
 * - On failure nothing is half-created, and arguments (descriptors, memory) still
 *   belong to the caller unless the operation says otherwise.
 * - Link and frame operations are called by the thread that runs the connection's poll;
 *   data operations by the thread documented with them.
 *
 * Operations marked O are optional: without one, the core uses a default or another way.
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

/** Version of this interface; part of the registering function's name. */
#define RTE_COMCH_DRIVER_ABI 9

struct rte_comch_driver_ops;
struct rte_comch_data_ops;
struct rte_comch_region_ops;
struct rte_comch_xstat;
struct rte_mbuf;
struct rte_mempool;
struct comch_cons_mrs;
struct comch_dir;
struct comch_epoch;

/** Maximum descriptors per frame. */
#define RTE_COMCH_FRAME_FDS 3
/** Longest frame besides a message that a driver must support, bytes. */
#define RTE_COMCH_FRAME_OVERHEAD 256
/** Shortest header of a frame, and the longest one of a frame with a payload, bytes. */
#define RTE_COMCH_FRAME_MIN_HDR 16
#define RTE_COMCH_FRAME_HDR 24
/** Maximum host functions of a device. */
#define RTE_COMCH_MAX_REPS 256

/** A device, shared by core and driver. The core owns it. */
struct rte_comch_dev {
	const struct rte_comch_driver_ops *ops;
	struct rte_comch_dev_info info;  /**< Set by probe; name and driver by the core. */
	struct rte_comch_rep_info *reps; /**< From malloc() in probe; freed by the core. */
	void *priv;                      /**< Private to the driver. */
	const char *where;               /**< Where clients search for servers; for the log. */
	int16_t id;
	uint16_t link_fds;               /**< Descriptors of a link, 0 for one; of the driver. */
	uint32_t nb_users;               /**< Servers and clients; of the core. */
	/** Bytes used of info.total_import; of the driver. Atomic; outlives the device. */
	uint64_t *imported;
	uint64_t *staged;                /**< The same for info.total_staging; of the core. */
};

/** State of a driver's link. */
enum rte_comch_link_state {
	RTE_COMCH_LINK_CONNECTING,
	RTE_COMCH_LINK_UP,
	RTE_COMCH_LINK_DOWN, /**< No frames can be sent; received ones may remain. */
};

/** Base of a driver's link; the driver allocates and frees it. */
struct rte_comch_link {
	const struct rte_comch_driver_ops *ops;
	struct rte_comch_dev *dev;
	enum rte_comch_link_state state; /**< Written by the driver in the poll's thread. */
	int error;                       /**< Why it is DOWN: a negative errno. */
	const char *text;                /**< The reason in words; static. */
	uint64_t wakes;                  /**< Wake-ups written. */
	void *data;                      /**< For the data operations, between open and close. */
	uint32_t conn_id;                /**< Id of the connection, for the log. */
	uint8_t fences;                  /**< COMCH_FENCES_* of comch_armed.h: of publishers. */
	bool may_leave;                  /**< link_poll may leave unread what woke us... */
	bool left_unread;                /**< ...until a link_poll without may_leave. */
	bool try_again;                  /**< CONNECTING, and to be polled without an event. */
	bool needs_setup;                /**< UP; link_poll maps memory next, when there is time. */
	/** Callback of the core, set after accept or connect: see comch_link.h. */
	bool (*news)(void *ctx, bool can_wake);
	void *ctx;
};

/** Base of a driver's listener. */
struct rte_comch_listener {
	const struct rte_comch_driver_ops *ops;
	struct rte_comch_dev *dev;
};

/** Identity of the peer, from the kernel. -1: unknown. */
struct rte_comch_peer_id {
	int32_t pid;
	int32_t uid;
	int32_t gid;
};

/** A frame to send. Header and payload are copied. */
struct rte_comch_frame {
	const void *hdr;
	const void *payload;
	uint32_t hdr_len;
	uint32_t payload_len;
	int fds[RTE_COMCH_FRAME_FDS]; /**< Duplicated for the peer. */
	uint32_t nb_fds;
	bool is_credit; /**< A credit, which need not wake a sleeper: see link_arm. */
};

/** Memory with one writer that both ends map, or memory exported by a peer. */
struct rte_comch_region {
	void *addr;
	size_t len;
	int fd;        /**< To be sent to the peer; -1 after that, and for imports. */
	uint64_t *used; /**< Counter that includes its length until it is unmapped; or NULL. */
	void *priv;     /**< Private to the driver. */
};

/** Maximum size of a ticket, bytes. */
#define RTE_COMCH_TICKET_SIZE 96

/**
 * Data from the driver at one end for the driver at the other end, about a consumer, a
 * producer or a registration. It is part of the frame that announces the object and
 * opaque to the core. A ticket from a peer is untrusted.
 */
struct rte_comch_ticket {
	uint8_t data[RTE_COMCH_TICKET_SIZE];
	uint32_t len;                 /**< Bytes of data; may be 0. */
	uint32_t nb_fds;
	/** Descriptors. A driver that keeps one of a peer's ticket replaces it by -1. */
	int fds[RTE_COMCH_FRAME_FDS];
	/** In a driver's ticket: bit i makes the core close fds[i] after sending it. */
	uint32_t to_close;
};

/** Number of descriptors in each kind of ticket. The core refuses any other number. */
struct rte_comch_ticket_fds {
	uint8_t cons;     /**< cons_offer to remote_create. */
	uint8_t cons_ack; /**< remote_create to cons_bind. */
	uint8_t prod;     /**< prod_offer to peer_prod_add. */
	uint8_t mem;      /**< mem_show to mem_take; none if desc.kind is heap memory. */
};

/** Description of a registration for a peer. */
struct rte_comch_mem_desc {
	uint32_t kind;   /**< enum rte_comch_mem_kind */
	uint64_t offset; /**< Offset of the registration in the descriptor's file. */
	uint64_t len;
	int fd;          /**< Borrowed: valid while the registration exists; or -1. */
};

/** Why a queue stops. DOWN replaces STOP, never the reverse. */
enum rte_comch_halt {
	RTE_COMCH_HALT_NONE,
	RTE_COMCH_HALT_STOP, /**< The application stopped it. */
	RTE_COMCH_HALT_DOWN, /**< The connection has ended. */
};

/** Base of the driver's half of a consumer or producer. The driver allocates it. */
struct rte_comch_dq {
	const struct rte_comch_data_ops *ops;
	struct rte_comch_link *link;
	uint32_t id; /**< Of a consumer; set by the core before cons_offer. */
	/** Counters: struct rte_comch_consumer_stats or rte_comch_producer_stats. */
	void *stats;
	/** Callback of the core: protocol violation by the peer. Any thread, also in a burst. */
	void (*fault)(void *ctx, int err, const char *text);
	/** Callback of the core: a producer is idle; see struct rte_comch_prod_args. */
	void (*idle_cb)(void *ctx);
	void *ctx;
};

/** Base of the sending end towards one consumer of the peer. The driver allocates it. */
struct rte_comch_remote {
	const struct rte_comch_data_ops *ops;
	uint32_t id;
	uint32_t depth;        /**< Maximum posted buffers; a power of two. */
	uint32_t imm_size;     /**< Longest immediate data, bytes. */
	uint32_t staging_size; /**< 0 or a power of two. */
};

/** Arguments to create a consumer. */
struct rte_comch_cons_args {
	uint32_t depth;        /**< A power of two. */
	uint32_t imm_size;
	uint32_t stop_ms;      /**< How long a stop waits for messages in flight. */
	int socket_id;
	struct comch_cons_mrs *mrs; /**< Registrations to post from; filled by the core. */
	void (*fault)(void *ctx, int err, const char *text);
	void (*drained_cb)(void *ctx); /**< cons_drained is true. Any thread, also in a burst. */
	void *ctx;
};

/** Arguments to create a producer. */
struct rte_comch_prod_args {
	uint32_t queue_size;
	int socket_id;
	struct comch_dir *dir; /**< Remotes by consumer id. */
	void (*fault)(void *ctx, int err, const char *text);
	/** prod_idle, dq_pending or prod_step may be true. Any thread, also in a burst. */
	void (*idle_cb)(void *ctx);
	void *ctx;
	uint32_t flags; /**< RTE_COMCH_PRODUCER_F_*; hints */
};

/** A consumer of the peer, from CONSUMER_NEW; validated by the core. */
struct rte_comch_remote_args {
	uint32_t id;
	uint32_t depth;
	uint32_t imm_size;
	uint32_t staging_size;
	/** Memory that the peer exports, by number; maintained by the core. */
	struct rte_comch_region *const *imports;
};

/**
 * Data operations: transport of the fast path. The core decides which objects may
 * communicate, and their states; a driver moves the messages.
 *
 * The order of calls, each line in one thread:
 *
 *     cons_create, cons_offer, cons_bind, bursts, cons_halt, bursts until
 *         cons_drained, cons_retire, (cons_offer ...), dq_destroy
 *     prod_create, prod_begin, bursts, prod_halt, prod_idle, (prod_begin ...), dq_destroy
 *     remote_create, remote_retire, remote_free
 *
 * -EINPROGRESS: the operation continues in another thread, and the driver calls comch_link_tell()
 * when it has ended. The core calls it again with the same arguments, or undoes it.
 *
 * "Connection's thread" runs the connection's poll; "queue's thread" makes burst calls.
 * All operations are required unless marked O.
 */
struct rte_comch_data_ops {
	/** Tickets may contain bytes, which requires wire version 1.2 of the peer. */
	bool has_tickets;
	/** mem_show also exports heap memory, which is then bound to a peer like any other. */
	bool shows_heap;
	struct rte_comch_ticket_fds nb_fds;

	/**
	 * Prepare a link for the operations below. Connection's thread, or any thread
	 * with the connection's lock; called once, before all others.
	 * @return 0, -ENOMEM.
	 */
	int (*open)(struct rte_comch_link *link);
	/**
	 * Undo open, if it was called. Queues are retired or halted, remotes and imports
	 * are freed. dq_destroy may come later.
	 */
	void (*close)(struct rte_comch_link *link);

	/**
	 * Allocate the driver's half of a consumer with all resources of its bursts,
	 * and set core->post, core->recv and core->queue. Any thread.
	 * @return 0, -ENOMEM, -EMFILE.
	 */
	int (*cons_create)(struct rte_comch_link *link, const struct rte_comch_cons_args *args,
			struct rte_comch_consumer_core *core, struct rte_comch_dq **dq);
	/**
	 * Reset to position 0, and make the ticket of CONSUMER_NEW. Connection's thread.
	 * Called again with a smaller ring if the peer refuses the size.
	 * @return 0, -ENOMEM, -EMFILE, -EINPROGRESS (undone by cons_retire).
	 */
	int (*cons_offer)(struct rte_comch_dq *dq, uint32_t staging_size,
			struct rte_comch_ticket *mine);
	/**
	 * Handle the peer's CONSUMER_ACK: bursts work from now on. Connection's thread.
	 * @return 0, -EINPROGRESS (*peers* is NULL from then on; undone by cons_retire),
	 * -EPROTO (the ticket is invalid: ends the connection), -ENOMEM.
	 */
	int (*cons_bind)(struct rte_comch_dq *dq, struct rte_comch_ticket *peers);
	/**
	 * Accept no new messages after this returns, only those in flight. Any thread,
	 * but not in a burst. With *STOP* a consumer with nothing posted is drained at
	 * once, without a call by the queue's thread.
	 */
	void (*cons_halt)(struct rte_comch_dq *dq, enum rte_comch_halt why);
	/** Whether recv_burst has returned everything. Acquire: the caller may free it. */
	bool (*cons_drained)(const struct rte_comch_dq *dq);
	/**
	 * Drained or not bound yet: cut off the peer's access. Connection's thread.
	 * @param[out] final Positions received in total.
	 * @return true if CONSUMER_GONE must include *final*.
	 */
	bool (*cons_retire)(struct rte_comch_dq *dq, uint64_t *final);
	/** Number of buffers that a post would accept. Queue's thread. */
	uint32_t (*cons_room)(const struct rte_comch_dq *dq);
	/**
	 * As cons_create, for a producer: sets core->send, core->done, core->queue. A
	 * payload may be read until its operation is done, or during the send only if
	 * probe sets RTE_COMCH_CAPA_SYNC_SEND.
	 */
	int (*prod_create)(struct rte_comch_link *link, const struct rte_comch_prod_args *args,
			struct rte_comch_producer_core *core, struct rte_comch_dq **dq);
	/** Bursts work from now on, with this id. Any thread. */
	void (*prod_begin)(struct rte_comch_dq *dq, uint32_t id);
	/**
	 * Make the ticket of PRODUCER_NEW, once. Connection's thread.
	 * @return false: the peer needs no PRODUCER_NEW.
	 */
	bool (*prod_offer)(struct rte_comch_dq *dq, struct rte_comch_ticket *mine);
	/**
	 * Accept no more sends. With *DOWN* those in flight complete with -ECONNRESET, in
	 * later bursts or by prod_abort. Any thread.
	 */
	void (*prod_halt)(struct rte_comch_dq *dq, enum rte_comch_halt why);
	/** Whether all sends have completed, for which a stop waits. Any thread. */
	bool (*prod_idle)(const struct rte_comch_dq *dq);
	/** O. Advance sends, after idle_cb, in each run until it returns false. Poll's thread. */
	bool (*prod_step)(struct rte_comch_dq *dq);
	/**
	 * Complete sends in flight with *err*, if they can be aborted: those of a stop that
	 * takes too long, and before dq_destroy. Any thread.
	 * @return false: not possible now, try again.
	 */
	bool (*prod_abort)(struct rte_comch_dq *dq, int err);
	/** The producer's reader of the directory; see comch_dir.h. */
	struct comch_epoch *(*prod_epoch)(struct rte_comch_dq *dq);
	/** Handle the peer's PRODUCER_NEW, _GONE. Connection's thread. @return 0, -EPROTO. */
	int (*peer_prod_add)(struct rte_comch_link *link, uint32_t id,
			struct rte_comch_ticket *peers);
	int (*peer_prod_del)(struct rte_comch_link *link, uint32_t id);

	/** Bytes that remote_create would allocate: limited per run, and while others leave. */
	uint64_t (*remote_size)(const struct rte_comch_remote_args *args);
	/**
	 * Create the sending end of a consumer. On success *mine* is sent in CONSUMER_ACK.
	 * Connection's thread.
	 * @return 0, -EPROTO (the ticket is invalid), -ENOMEM, -EMFILE, -EDQUOT (over
	 * the limits of connection or device; logged), -EINPROGRESS (one; undone by close).
	 */
	int (*remote_create)(struct rte_comch_link *link, const struct rte_comch_remote_args *args,
			struct rte_comch_ticket *peers, struct rte_comch_ticket *mine,
			struct rte_comch_remote **remote);
	/**
	 * CONSUMER_GONE, after it was removed from the directory. Completes sends in
	 * flight: those below *final* (0 if unknown) with success, the rest with
	 * -ENOENT. Connection's thread.
	 */
	void (*remote_retire)(struct rte_comch_remote *remote, uint64_t final);
	/**
	 * Free it; producers no longer find it.
	 * @return 0, -EBUSY (sends are in flight: try again; not without producers).
	 */
	int (*remote_free)(struct rte_comch_link *link, struct rte_comch_remote *remote);

	/**
	 * Free it; it is halted, and idle or drained. Any thread. The link may be closed
	 * already: it is not used.
	 */
	void (*dq_destroy)(struct rte_comch_dq *dq);
	/** Readable after a wake-up, edge-triggered; -1: none. cons_offer may renew its file. */
	int (*dq_fd)(const struct rte_comch_dq *dq);
	/** Make dq_fd unreadable again. The thread of the queue's poll. */
	void (*dq_clear)(struct rte_comch_dq *dq);
	/** Request one wake-up. The caller fences, if true by comch_fence_sleep(), and looks. */
	bool (*dq_arm)(struct rte_comch_dq *dq);
	/** O. Its poll stays awake: publishers need not fence for its sake. */
	void (*dq_rest)(struct rte_comch_dq *dq);
	/** Whether a burst would find work. May be true in error, but not false. */
	bool (*dq_pending)(struct rte_comch_dq *dq);

	/**
	 * Describe a registration for this peer. Connection's thread.
	 * @return 0, -EINPROGRESS, -ENOTSUP (cannot be exported), -ENOMEM: messages are staged.
	 */
	int (*mem_show)(struct rte_comch_link *link, const struct rte_comch_mr *mr,
			struct rte_comch_mem_desc *desc, struct rte_comch_ticket *mine);
	/**
	 * Undo mem_show, also if the peer refused the memory. A process that mapped it keeps it.
	 * @return 0 (devices have lost access), -EINPROGRESS (not shown again meanwhile).
	 */
	int (*mem_hide)(struct rte_comch_link *link, const struct rte_comch_mr *mr);
	/**
	 * Validate and import memory of a peer: sets region->addr and len. Connection's thread.
	 * @return 0, -EPERM (not sealed, wrong size, not trusted, mapped by another process),
	 * -EPROTO (the ticket is invalid), -ENOMEM, -EDQUOT (over the device's limit).
	 */
	int (*mem_take)(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
			struct rte_comch_ticket *peers, struct rte_comch_region *region);
	/** Undo mem_take. */
	void (*mem_drop)(struct rte_comch_link *link, struct rte_comch_region *region);
	/**
	 * O. A registration ends, or its pages are replaced: forget its keys. No consumer and
	 * no operation uses it. Any thread; *mr* is not freed before this returns. May wait.
	 */
	void (*mem_gone)(struct rte_comch_dev *dev, const struct rte_comch_mr *mr);

	/**
	 * O. Bursts of mbufs; *done*: how many, 0 before. Queue's thread. @return 0: no more now;
	 * -ENOTSUP: the core does the rest. Frees what is sent or fails. *mr*: of the first one's
	 * data, or NULL. After rx_setup the core posts none, recv_mbufs returns all after a halt.
	 */
	int (*rx_setup)(struct rte_comch_dq *dq, struct rte_mempool *mp, bool takes_chains);
	int (*recv_mbufs)(struct rte_comch_dq *dq, struct rte_mbuf **m, uint16_t n, uint16_t *done);
	int (*send_mbufs)(struct rte_comch_dq *dq, uint32_t consumer_id, struct rte_comch_mr *mr,
			struct rte_mbuf **m, uint16_t n, uint16_t *done);
};

/** Memory that both ends map, for drivers that use rte_comch_data_mapped. */
struct rte_comch_region_ops {
	/** Describe a registration for this peer. @return 0, -ENOTSUP: staged. */
	int (*mem_export)(struct rte_comch_link *link, const struct rte_comch_mr *mr,
			struct rte_comch_mem_desc *desc);
	/**
	 * Validate and map memory of a peer. The caller keeps desc->fd.
	 * @return 0, -EPERM (not sealed, wrong size, not trusted, mapped by another
	 * process), -ENOMEM, -EDQUOT (over the device's limit).
	 */
	int (*mem_import)(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
			struct rte_comch_region *region);
	/**
	 * Undo mem_import, region_create or region_map. It may be unmapped
	 * later, by comch_reaper_unmap(), which subtracts its length from *used.
	 */
	void (*region_free)(struct rte_comch_link *link, struct rte_comch_region *region);
	/** Create a zeroed region: this end writes, the peer reads. @return 0, -ENOMEM, -EMFILE. */
	int (*region_create)(struct rte_comch_link *link, size_t len,
			struct rte_comch_region *region);
	/** Map a control region, read-only. @return 0, -EPERM (not sealed, too short), -ENOMEM. */
	int (*region_map)(struct rte_comch_link *link, int fd, size_t len,
			struct rte_comch_region *region);
	/** O. The DMA device that copies large payloads. @return NULL: none. */
	struct comch_dma *(*dma)(const struct rte_comch_link *link);
};

/** Operations of a driver. R: required, O: optional. */
struct rte_comch_driver_ops {
	/** Start of device strings, such as "comch_shm". */
	const char *name;
	/** Valid keys of device strings, NULL-terminated. */
	const char *const *valid_keys;

	/**
	 * R. Set dev->info, dev->reps and dev->priv from the device string. Set
	 * RTE_COMCH_CAPA_ORDERED only if a frame is visible to the peer's frame_pending
	 * when frame_tx returns, and comch_clock.h is the same clock at both ends.
	 * @return 0, -EINVAL, -ENOMEM, or an errno of the system.
	 */
	int (*probe)(struct rte_comch_dev *dev, struct rte_kvargs *args);
	/** R. Free dev->priv. The device has no links or listeners. May wait. */
	void (*remove)(struct rte_comch_dev *dev);
	/**
	 * O. Get counters of the transport; see rte_comch_dev_xstats_get(). Any thread; may
	 * lock. @return the number of counters, of which the first *n* are stored.
	 */
	unsigned int (*dev_xstats)(struct rte_comch_dev *dev, struct rte_comch_xstat *xstats,
			unsigned int n);
	/** O. rte_comch_dev_props(), and with NULL rte_comch_dev_scan(). Any thread. */
	void (*props)(const struct rte_comch_dev *dev, rte_comch_dev_prop_t prop, void *ctx);

	/**
	 * R. Claim *name* on a representor and listen there.
	 * @return 0, -EADDRINUSE, -EMFILE, -EACCES...
	 */
	int (*listen)(struct rte_comch_dev *dev, uint16_t rep, const char *name,
			struct rte_comch_listener **listener);
	/** R. Release the name, unless another process owns it by now. */
	void (*unlisten)(struct rte_comch_listener *listener);
	/**
	 * R. Accept one client, in state CONNECTING or UP.
	 * @return 0, -EAGAIN (no client), -EBUSY (some were refused: try again), -EMFILE...
	 */
	int (*accept)(struct rte_comch_listener *listener, struct rte_comch_link **link);
	/** O. Called in a forked child: close what keeps the name claimed. */
	void (*listener_forked)(struct rte_comch_listener *listener);
	/** O. A descriptor that is readable when accept has a client; or -1. */
	int (*listener_fd)(const struct rte_comch_listener *listener);
	/** O. A descriptor that is readable when listener_check must be called; or -1. */
	int (*listener_watch_fd)(const struct rte_comch_listener *listener);
	/**
	 * O. Check that clients can still find the server, and clear listener_watch_fd.
	 * @param[out] text Reason if they cannot, at most *size* bytes with its NUL.
	 * @return 0, or -ENOENT: the place was removed; the core calls unlisten.
	 */
	int (*listener_check)(struct rte_comch_listener *listener, char *text, size_t size);

	/**
	 * R. Start to connect to *name* on a host function.
	 * @return 0, -ENOENT (no server), -EAGAIN (backlog full), -EBUSY... Or later: link->error.
	 */
	int (*connect)(struct rte_comch_dev *dev, uint16_t rep, const char *name,
			struct rte_comch_link **link);
	/**
	 * R. Advance the handshake, detect the peer's death, and update link->state, error and
	 * text. May make syscalls.
	 */
	void (*link_poll)(struct rte_comch_link *link);
	/**
	 * R. Close and free. Frames that have arrived stay readable for the peer; see
	 * link_idle. All regions and imports of the link are freed.
	 */
	void (*link_close)(struct rte_comch_link *link);
	/**
	 * R. End the link for the peer, which sees DOWN, and release resources
	 * that the system limits (descriptors). Regions stay mapped until close.
	 */
	void (*link_shutdown)(struct rte_comch_link *link);
	/** O. Get the identity of the peer. */
	void (*link_peer)(const struct rte_comch_link *link, struct rte_comch_peer_id *id);
	/** O. A descriptor that is readable after a wake-up or the peer's death; or -1. */
	int (*link_fd)(const struct rte_comch_link *link);
	/**
	 * O. Request one wake-up at the peer's next frame; without *credits*, at the next that is
	 * not is_credit. Spurious ones are allowed. The caller fences as for dq_arm, and looks.
	 */
	bool (*link_arm)(struct rte_comch_link *link, bool credits);
	/** O. Its poll stays awake: publishers need not fence for its sake. */
	void (*link_rest)(struct rte_comch_link *link);
	/** O. Before our first frame: how many messages of how many bytes may be under way. */
	void (*link_prepare)(struct rte_comch_link *link, uint32_t nb_msgs, uint32_t len);

	/**
	 * R. Send one frame, whole or not at all; reliable and in order.
	 * @return 0, -EAGAIN (no room), -ENOTCONN (link not UP), -EMFILE...
	 */
	int (*frame_tx)(struct rte_comch_link *link, const struct rte_comch_frame *frame);
	/**
	 * R. Copy the next frame to *buf*, at most *size* bytes.
	 * @param[out] fds Its descriptors, owned by the caller. Closing one never
	 *   blocks unless it is a unix socket: see comch_foreign.h.
	 * @return its length, -EAGAIN (no frame, or without its descriptors: comch_link_tell()
	 *   follows), -EPROTO (link goes DOWN), or the error of a link that is DOWN.
	 */
	int (*frame_rx)(struct rte_comch_link *link, void *buf, uint32_t size,
			int fds[RTE_COMCH_FRAME_FDS], uint32_t *nb_fds);
	/**
	 * R. Whether there is a frame. Each run calls it for links in use; what else it does there,
	 * such as taking completions, must be cheap. If it sets link->state: comch_link_tell().
	 */
	bool (*frame_pending)(const struct rte_comch_link *link);
	/**
	 * O. Where frame_pending looks, which says no until this 64-bit word is *value*; NULL: it
	 * has to be called. Of idle links, runs read the word alone, until frame_rx or link_close.
	 */
	const uint64_t *(*frame_word)(const struct rte_comch_link *link, uint64_t *value);

	/** O. Whether all frames sent have arrived, which a close waits for; else always. */
	bool (*link_idle)(const struct rte_comch_link *link);

	/** O. Data operations of the fast path (RTE_COMCH_CAPA_DATA). */
	const struct rte_comch_data_ops *data;
	/** O. Required with rte_comch_data_mapped. */
	const struct rte_comch_region_ops *regions;
};

/** Register a driver; for constructors. The name has RTE_COMCH_DRIVER_ABI: others do not link. */
void rte_comch_driver_register_v9(const struct rte_comch_driver_ops *ops);

/** Register a driver with operations *ops* when the program starts. */
#define RTE_COMCH_DRIVER_REGISTER(nm, ops) \
	RTE_INIT(comch_driver_init_##nm) \
	{ \
		rte_comch_driver_register_v9(&(ops)); \
	}

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

/** File descriptor of a registration; -1 for heap memory. */
int rte_comch_mr_fd(const struct rte_comch_mr *mr, uint64_t *offset);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_DRIVER_H */
