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
 * RTE_COMCH_DRIVER_REGISTER(). The contract, for every operation:
 *
 * - It never blocks, and never calls up into the core other than by the
 *   services listed at the end of this file: the core may hold locks.
 * - A peer may be hostile. What it wrote is read once, into private memory,
 *   and checked; a violation is -EPROTO and brings the link down.
 * - On failure nothing is half-created, and what was passed in (descriptors,
 *   memory) still belongs to the caller unless the operation says otherwise.
 * - Link and frame operations are called by the thread that runs the
 *   connection's poll; queue operations by the thread named with them.
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

/** Memory with one writer that both ends map, or memory shown to a peer. */
struct rte_comch_region {
	void *addr;
	size_t len;
	int fd;        /**< To be given to the peer; -1 once it was, or for imports. */
	uint64_t *used; /**< What its length counts in until it is unmapped; NULL: nothing. */
	void *priv;     /**< The driver's. */
};

/** How a registration is shown to a peer. */
struct rte_comch_mem_desc {
	uint32_t kind;   /**< enum rte_comch_mem_kind */
	uint64_t offset; /**< Of the registration within the descriptor's file. */
	uint64_t len;
	int fd;          /**< Borrowed: valid while the registration lives. */
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
	 * R. Describe a registration for this peer.
	 * @return 0, -ENOTSUP (cannot be shown: it will be staged).
	 */
	int (*mem_export)(struct rte_comch_link *link, const struct rte_comch_mr *mr,
			struct rte_comch_mem_desc *desc);
	/**
	 * R. Check and map what a peer shows. desc->fd stays the caller's.
	 * @return 0, -EPERM (not sealed, wrong size, not trusted, mapped by another
	 * process), -ENOMEM, -EDQUOT (over the device's limit).
	 */
	int (*mem_import)(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
			struct rte_comch_region *region);
	/**
	 * R. Undo mem_import or region_create or region_map. It may be unmapped
	 * later, by comch_reaper_unmap(): then its length is taken from *used.
	 */
	void (*region_free)(struct rte_comch_link *link, struct rte_comch_region *region);
	/**
	 * R. Make a control region: we write, the peer reads. Zeroed.
	 * @return 0, -ENOMEM, -EMFILE.
	 */
	int (*region_create)(struct rte_comch_link *link, size_t len,
			struct rte_comch_region *region);
	/**
	 * R. Map a control region of the peer, read-only, *len* bytes.
	 * @return 0, -EPERM (not sealed, too short), -ENOMEM.
	 */
	int (*region_map)(struct rte_comch_link *link, int fd, size_t len,
			struct rte_comch_region *region);
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

/** The file behind a registration; -1 for heap memory. */
int rte_comch_mr_fd(const struct rte_comch_mr *mr, uint64_t *offset);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_DRIVER_H */
