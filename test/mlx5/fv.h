/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FV_H
#define FV_H

/*
 * Fake verbs: libibverbs and librdmacm within this process, without a device.
 *
 *   mlx5_verbs = &fv_glue;       before the first device is opened
 *
 * The devices, "fv0" and "fv1" by default, are joined by a wire. Each has some GIDs, and
 * each IPv4 address is one machine or function, so both ends of a connection can live in
 * one process. RC queue pairs and rdma_cm behave as on hardware, and where a provider
 * may do one thing or another, as the stricter one:
 *
 *   - a send queue's slots are free again when a later completion was polled (mlx5)
 *   - a queue has exactly the size that was asked for
 *   - fields of a completion that are undefined hold garbage
 *   - payload is read when the message is delivered
 *
 * What a provider would answer by an error is answered by that error. What it would
 * answer by blocking for ever or by corrupting memory ends the program with a sentence.
 *
 * With the default configuration messages are delivered within post_send(). Where time
 * matters (delays, RNR timers, retries), a thread of the library delivers them.
 * All functions may be called from any thread.
 */

#include "mlx5_glue.h"

extern const struct mlx5_glue fv_glue;

/** What a device can do, and what the wire does. */
struct fv_conf {
	/* Limits of each device. As Soft-RoCE by default. */
	int max_qp, max_cq, max_mr, max_pd;
	int max_qp_wr, max_cqe, max_sge;
	uint32_t max_inline;
	uint32_t max_msg_sz;
	uint64_t max_pinned;    /**< Bytes registered in all; more is -ENOMEM. */

	/* The wire. Each way takes delay_us and at most jitter_us more. */
	uint32_t delay_us;
	uint32_t jitter_us;     /**< Reorders what different queue pairs do. */
	uint64_t seed;          /**< Of all that is random; 0: by the clock. It is printed. */
	uint32_t cm_timeout_ms; /**< Until the connection manager gives up. */
	uint32_t timewait_ms;   /**< Until TIMEWAIT_EXIT. */

	/* Percentage of calls of post_send() that accept only a part of the chain, as if
	 * the queue were full; of req_notify_cq() that are followed by an event without a
	 * completion.
	 */
	uint32_t short_posts;
	uint32_t spurious;

	/* Litmus of early looks. late_recv: a posted receive buffer holds FV_POISON until its
	 * completion is polled; a program that writes to it is ended. late_write: what a peer
	 * writes is there when a later completion of a receive of the same queue pair is
	 * polled.
	 */
	bool late_recv;
	bool late_write;
};

#define FV_POISON 0xa5

void fv_conf_default(struct fv_conf *conf);
/* "delay_us=50,max_inline=0,late_recv=1": 0, or -EINVAL, and what is wrong is printed. */
int fv_conf_parse(struct fv_conf *conf, const char *text);
/* At any time; limits count for objects created later. */
void fv_configure(const struct fv_conf *conf);

#define FV_MAX_ADDRS 8

struct fv_dev_conf {
	const char *name;
	const char *path;       /**< In sysfs; NULL: /sys/class/infiniband/NAME. */
	uint8_t link_layer;     /**< 0: IBV_LINK_LAYER_ETHERNET. */
	/* IPv4 or IPv6 addresses. RoCE v1 and v2 GIDs are made of each, beside those of the
	 * link-local address.
	 */
	const char *addrs[FV_MAX_ADDRS];
};

/* Other devices than fv0 (127.0.0.1, 10.0.0.1, 10.0.0.2) and fv1 (10.0.1.1, 10.0.1.2).
 * No context may be in use.
 */
void fv_set_devices(const struct fv_dev_conf *confs, unsigned int nb);

/* Forget devices, configuration and faults; the wire is whole. Everything that lives is
 * printed, and ends the program.
 */
void fv_reset(void);

/** What can be created. */
enum fv_kind {
	FV_PD,
	FV_MR,
	FV_COMP_CHANNEL,
	FV_CQ,
	FV_QP,
	FV_EVENT_CHANNEL,
	FV_ID,
	FV_CM_EVENT,    /**< Got, not acknowledged. */
	FV_NB_KINDS,
	FV_ALL = FV_NB_KINDS,
};

unsigned int fv_nb_live(enum fv_kind kind);

/** Counts of the process. */
struct fv_stats {
	uint64_t doorbells;     /**< Calls of post_send() that posted something. */
	uint64_t sends, recvs;  /**< Work requests posted. */
	uint64_t cqes;          /**< Completions polled... */
	uint64_t cqes_send;     /**< ...of these of sends. */
	uint64_t arms, events;  /**< Of completion queues. */
	uint64_t rnr;           /**< Refusals for want of a receive buffer. */
	uint64_t retries;       /**< Messages that found no peer at first. */
	uint64_t regs;          /**< Memory regions registered... */
	uint64_t pinned;        /**< ...and bytes of those that live. */
};

void fv_get_stats(struct fv_stats *stats);

/* The queue pairs that live, oldest first; NULL beyond the last. */
struct ibv_qp *fv_qp(unsigned int n);
/* The one that a queue pair is connected to; NULL: none, or it does not fit. */
struct ibv_qp *fv_qp_peer(const struct ibv_qp *qp);
/* The context of a device by its name. */
struct ibv_context *fv_ctx(const char *name);

/*
 * Faults. Each is for one occasion.
 */

/** A work request that fails. */
struct fv_fault {
	const struct ibv_qp *qp;        /**< NULL: of any queue pair. */
	int opcode;                     /**< enum ibv_wr_opcode; -1: any. Sends only. */
	bool recv;                      /**< A receive, not a send. */
	bool delivered;                 /**< The peer gets the message all the same. */
	unsigned int nth;               /**< 0: the next that is looked at. */
	enum ibv_wc_status status;
};

void fv_fail_wr(const struct fv_fault *fault);

/* The next post_send() takes at most so many work requests. */
void fv_short_post(unsigned int nb);

/** Calls that can be made to fail; the last two by an event. */
enum fv_call {
	FV_CALL_ALLOC_PD,
	FV_CALL_REG_MR,
	FV_CALL_CREATE_COMP_CHANNEL,
	FV_CALL_CREATE_CQ,
	FV_CALL_CREATE_QP,
	FV_CALL_MODIFY_QP,
	FV_CALL_POST_SEND,
	FV_CALL_POST_RECV,
	FV_CALL_CREATE_EVENT_CHANNEL,
	FV_CALL_CREATE_ID,
	FV_CALL_BIND_ADDR,
	FV_CALL_LISTEN,
	FV_CALL_RESOLVE_ADDR,
	FV_CALL_RESOLVE_ROUTE,
	FV_CALL_INIT_QP_ATTR,
	FV_CALL_CONNECT,
	FV_CALL_ESTABLISH,
	FV_CALL_ACCEPT,
	FV_CALL_MIGRATE_ID,
	/* These are only slow. */
	FV_CALL_DEREG_MR,
	FV_CALL_DESTROY_QP,
	FV_CALL_DESTROY_ID,
	FV_CALL_ADDR_RESOLVED,
	FV_CALL_ROUTE_RESOLVED,
	FV_NB_CALLS,
};

/* The nth call from now, 0 the next, fails with err (ENOMEM). */
void fv_fail_call(enum fv_call call, unsigned int nth, int err);

/* Each call takes so long, as on a device: REG_MR, DEREG_MR, CREATE_QP, DESTROY_QP,
 * DESTROY_ID. 0: at once.
 */
void fv_slow_call(enum fv_call call, unsigned int ms);
/* How many slow calls have begun to wait, and how many have waited. */
void fv_slow_calls(enum fv_call call, unsigned int *begun, unsigned int *done);

/* Nothing passes between two addresses, either way; NULL: any address. */
void fv_cut(const char *a, const char *b);
void fv_restore(const char *a, const char *b);

/*
 * The end at an address is gone from the nth step on, 1 the next: neither what it does nor
 * what is sent to it arrives. Steps are messages that arrive, work requests posted, and
 * completions polled, of all ends. hangs_up: its connections are ended first, as a kernel
 * does for a process that dies; otherwise a machine has lost its power. A NULL address: all
 * live again, and steps are counted from 0.
 */
void fv_death_at(const char *addr, unsigned int nth, bool hangs_up);
/* Steps since then. */
unsigned int fv_death_steps(bool *gone);

/* Nothing is delivered any more, also nothing of the connection manager. */
void fv_hold(void);
/* Let so many messages or acknowledgements pass while held. */
void fv_step(unsigned int nb);
void fv_release(void);

/*
 * Asynchronous events. QP_FATAL and CQ_ERR break the object, PORT_ERR cuts the port's
 * wire until PORT_ACTIVE. After DEVICE_FATAL the device does nothing any more.
 */
void fv_event_qp(struct ibv_qp *qp, enum ibv_event_type type);
void fv_event_cq(struct ibv_cq *cq);
void fv_event_port(const char *dev, enum ibv_event_type type);
void fv_event_dev(const char *dev);
/* An event of a completion queue's channel without a completion. */
void fv_event_spurious(struct ibv_cq *cq);
/* RDMA_CM_EVENT_DEVICE_REMOVAL for the ids of a device, which does nothing any more. */
void fv_remove_dev(const char *dev);

/*
 * The process that uses a device is killed: nothing that it has posted is delivered, its
 * memory is not written, and its ids are gone. kernel_lives: its kernel ends their
 * connections and refuses new ones; else the machine does not answer any more. As the killed
 * end is in this process, it gets DEVICE_FATAL, and destroys what it has.
 */
void fv_kill(const char *dev, bool kernel_lives);
/* After fv_kill(), when all is destroyed: the device is as new. */
void fv_revive(const char *dev);

#endif /* FV_H */
