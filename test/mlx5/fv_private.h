/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FV_PRIVATE_H
#define FV_PRIVATE_H

/*
 * One lock guards all; functions of the table take it by fv_lock(), all others expect it.
 *
 *   fv.c        state, faults, events that wait
 *   fv_dev.c    devices, addresses, cuts
 *   fv_mr.c     protection domains, memory regions, and what is written late
 *   fv_cq.c     completion channels and queues
 *   fv_qp.c     queue pairs
 *   fv_post.c   posting
 *   fv_wire.c   delivery, completions, time
 *   fv_cm.c     event channels, ids and addresses
 *   fv_conn.c   connections
 *   fv_msg.c    messages of connections
 *   fv_conf.c   configuration
 *   fv_async.c  asynchronous events
 *   fv_death.c  an end that is gone
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "fv.h"

#define FV_OF(ptr, type, member) \
	((type *)((uintptr_t)(ptr) - offsetof(type, member)))
#define FV_DIM(a) (sizeof(a) / sizeof((a)[0]))
#define FV_MIN(a, b) ((a) < (b) ? (a) : (b))
#define FV_MAX(a, b) ((a) > (b) ? (a) : (b))
#define FV_FOREACH_SAFE(var, head, field, tmp) \
	for ((var) = TAILQ_FIRST(head); \
			(var) != NULL && ((tmp) = TAILQ_NEXT(var, field), 1); (var) = (tmp))

#define FV_NEVER UINT64_MAX

/* The program did what a provider does not survive. */
#define FV_DIE(...) fv_die(__func__, __VA_ARGS__)
void fv_die(const char *where, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
#define FV_SAY(...) fv_say(__func__, __VA_ARGS__)
void fv_say(const char *where, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** First member of each object: destroyed ones are recognised. */
struct fv_obj {
	uint32_t magic;
	enum fv_kind kind;
};

void *fv_new(enum fv_kind kind, size_t size);
void fv_free(void *obj, size_t size);
void fv_check(const void *obj, enum fv_kind kind, const char *where);
#define FV_CHECK(obj, kind) fv_check(obj, kind, __func__)

/** Events that wait for a reader. The counter of fd is their number. */
struct fv_ev {
	TAILQ_ENTRY(fv_ev) next;
};

struct fv_evq {
	TAILQ_HEAD(fv_ev_list, fv_ev) list;
	int fd;
};

int fv_evq_open(struct fv_evq *q);
void fv_evq_close(struct fv_evq *q);
void fv_evq_put(struct fv_evq *q, struct fv_ev *ev);
void fv_evq_remove(struct fv_evq *q, struct fv_ev *ev);
/* Waits, without the lock, unless fd is O_NONBLOCK: then NULL and errno. */
struct fv_ev *fv_evq_take(struct fv_evq *q);

#define FV_MAX_GIDS 32

struct fv_dev {
	TAILQ_ENTRY(fv_dev) next;
	struct ibv_device ibv;
	struct ibv_context ctx;
	struct fv_evq async;
	struct ibv_gid_entry gids[FV_MAX_GIDS];
	unsigned int nb_gids;
	uint8_t link_layer;
	bool port_down, dead;
	bool kernel_lives;              /**< Dead, but its kernel answers. */
	int nb_pd, nb_mr, nb_cq, nb_qp;
};

struct fv_pd {
	struct fv_obj obj;
	struct ibv_pd ibv;
	unsigned int nb_users;
};

struct fv_mr {
	struct fv_obj obj;
	struct ibv_mr ibv;
	unsigned int access;
};

struct fv_comp_channel {
	struct fv_obj obj;
	struct ibv_comp_channel ibv;
	struct fv_evq events;
};

struct fv_cq_ev {
	struct fv_ev ev;
	struct fv_cq *cq;
};

struct fv_async_ev {
	struct fv_ev ev;
	struct ibv_async_event ibv;
};

/** Bytes that get to their place later. */
struct fv_late {
	TAILQ_ENTRY(fv_late) next;
	uint32_t key;           /**< Of the memory region. */
	uint8_t *to;
	size_t len;
	uint8_t bytes[];
};
TAILQ_HEAD(fv_asides, fv_late);

struct fv_cqe {
	TAILQ_ENTRY(fv_cqe) next;
	struct ibv_wc wc;
	struct fv_qp *qp;
	uint64_t frees;         /**< Work requests of this queue that are over then. */
	bool recv;
	struct fv_asides aside;
};

struct fv_cq {
	struct fv_obj obj;
	struct ibv_cq ibv;
	TAILQ_ENTRY(fv_cq) next;
	TAILQ_HEAD(, fv_cqe) cqes;
	int nb_cqes;
	enum { FV_UNARMED, FV_SOLICITED, FV_ARMED } armed;
	bool broken;
	unsigned int nb_qps;
	unsigned int unacked;           /**< Events got, not acknowledged. */
	unsigned int unacked_async;
};

/** A piece of memory. */
struct fv_iov {
	uint8_t *addr;
	size_t len;
	uint32_t key;
};

#define FV_MAX_SGE 64
#define FV_MAX_INLINE 4096

struct fv_swr {
	struct ibv_send_wr wr;
	struct ibv_sge *sges;
	uint8_t *inl;                   /**< Copy of inline data. */
	size_t len;
	uint64_t due;                   /**< When it arrives. */
	uint64_t ack_due;               /**< When the sender gets to know. */
	enum ibv_wc_status status;
};

struct fv_rwr {
	uint64_t wr_id;
	struct ibv_sge *sges;
	int num_sge;
	bool poisoned;
};

struct fv_qp {
	struct fv_obj obj;
	struct ibv_qp ibv;
	TAILQ_ENTRY(fv_qp) next;
	TAILQ_ENTRY(fv_qp) busy_next;
	TAILQ_ENTRY(fv_qp) hash_next;
	bool busy;
	bool sq_sig_all;
	bool doomed;                    /**< A send failed; what follows is not delivered. */
	bool complained;
	bool established;               /**< COMM_EST was told. */
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;
	unsigned int unacked_async;

	/* freed <= done <= delivered <= posted. freed: its completion was polled. */
	struct fv_swr *sq;
	uint64_t s_freed, s_done, s_delivered, s_posted;
	/* freed <= taken <= posted */
	struct fv_rwr *rq;
	struct ibv_sge *sq_sges, *rq_sges;
	uint8_t *inl;
	uint64_t r_freed, r_taken, r_posted;

	uint64_t last_due, last_ack;    /**< Both only go forward. */
	uint64_t flush_due;
	uint64_t blocked_since;         /**< No peer to deliver to; 0: not so. */
	uint64_t ack_blocked_since;
	uint64_t rnr_until;
	unsigned int rnr_tries;
	struct fv_asides aside;          /**< Written, no completion is behind it yet. */
};

struct fv_event_channel {
	struct fv_obj obj;
	struct rdma_event_channel rdma;
	struct fv_evq events;
	unsigned int nb_ids;
	unsigned int unacked;
};

enum fv_id_state {
	FV_ID_IDLE,             /**< May be bound. */
	FV_ID_ADDR_QUERY,
	FV_ID_ADDR,
	FV_ID_ROUTE_QUERY,
	FV_ID_ROUTE,
	FV_ID_LISTEN,
	FV_ID_REQ_SENT,
	FV_ID_REQ_RCVD,
	FV_ID_REP_SENT,
	FV_ID_REP_RCVD,
	FV_ID_UP,
	FV_ID_DREQ_SENT,
	FV_ID_DREQ_RCVD,
	FV_ID_OVER,
};

/** What one end tells the other of its queue pair. */
struct fv_conn_param {
	uint32_t qpn, psn;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count;
	uint8_t flow_control, srq;
};

struct fv_id {
	struct fv_obj obj;
	struct rdma_cm_id rdma;
	TAILQ_ENTRY(fv_id) next;
	enum fv_id_state state;
	struct fv_dev *dev;
	union ibv_gid sgid, dgid;
	int gid_index;
	uint32_t num, peer;             /**< Numbers of this id and of the other end's. */
	bool bound, any_addr, reuse;
	int backlog, nb_requests;       /**< nb_requests: not got yet. */
	uint8_t tos, ack_timeout;
	unsigned int unacked;           /**< Events got, not acknowledged. */
	unsigned int unacked_request;   /**< The request that made this id: not either. */
	struct fv_conn_param mine, theirs;
	uint64_t last_due;
};

struct fv_cm_ev {
	struct fv_obj obj;
	struct fv_ev ev;
	struct rdma_cm_event rdma;
	struct fv_event_channel *channel;       /**< Where it was got. */
	struct fv_id *id;                       /**< Which it counts for. */
	uint32_t made;                          /**< Number of a request's new id. */
	uint8_t data[256];
};

enum fv_msg_type {
	FV_MSG_REQ,
	FV_MSG_REP,
	FV_MSG_RTU,
	FV_MSG_REJ,
	FV_MSG_DREQ,
	FV_MSG_DREP,
	FV_MSG_LOCAL,           /**< An event of "to" itself, after some time. */
};

/* Sizes of private data. What is shorter arrives with zeros behind it. */
#define FV_REQ_DATA 56
#define FV_REP_DATA 196
#define FV_REJ_DATA 148
/* Reasons of a rejection. */
#define FV_REJ_TIMEOUT 4
#define FV_REJ_NO_LISTENER 8
#define FV_REJ_CONSUMER 28

/** A message of the connection manager. */
struct fv_msg {
	TAILQ_ENTRY(fv_msg) next;
	enum fv_msg_type type;
	uint64_t due, blocked_since;
	uint32_t from, to;      /**< Numbers of ids; to: 0 for a request. */
	union ibv_gid sgid, dgid;
	uint16_t sport, dport;
	enum rdma_cm_event_type event;
	int status;
	struct fv_conn_param param;
	uint8_t data[256];
	uint8_t len;
	bool is_last;           /**< Of an end that is gone: it arrives. */
};

TAILQ_HEAD(fv_devs, fv_dev);
TAILQ_HEAD(fv_qps, fv_qp);
TAILQ_HEAD(fv_cqs, fv_cq);
TAILQ_HEAD(fv_ids, fv_id);
TAILQ_HEAD(fv_msgs, fv_msg);

#define FV_MAX_CUTS 16

struct fv_cut_pair {
	union ibv_gid a, b;
	bool any_a, any_b, used;
};

#define FV_MAX_FAULTS 16

#define FV_NB_GRAVES 256
#define FV_NB_BUCKETS 256

struct fv_grave {
	struct fv_obj *obj;
	size_t size;
};

struct fv_state {
	struct fv_conf conf;
	uint64_t rng;
	struct fv_devs devs;
	struct fv_qps qps, busy, qp_hash[FV_NB_BUCKETS];
	struct fv_cqs cqs;
	struct fv_ids ids;
	struct fv_msgs msgs;
	struct fv_stats stats;
	struct fv_grave graves[FV_NB_GRAVES];
	unsigned int next_grave;
	unsigned int live[FV_NB_KINDS];
	uint32_t next_qpn, next_id, next_psn;
	struct fv_cut_pair cuts[FV_MAX_CUTS];
	struct fv_fault faults[FV_MAX_FAULTS];
	unsigned int nb_faults;
	struct {
		unsigned int nth;
		int err;
		unsigned int slow_ms;
		unsigned int begun, done; /* calls that are slow */
	} calls[FV_NB_CALLS];
	unsigned int short_post;        /**< Plus 1; 0: none. */
	bool held;
	unsigned int steps;             /**< That may pass while held. */
};

extern struct fv_state fv;

void fv_lock(void);
void fv_unlock(void);
uint64_t fv_now(void);
uint32_t fv_random(uint32_t below);
/* The error that this call is to fail with, or 0. */
void fv_call_wait(enum fv_call call);
/* Wait for acknowledgements in other threads. False: none comes, a provider would block. */
bool fv_await_acks(const unsigned int *unacked);
int fv_call_err(enum fv_call call);
/* The fault that is for this work request; NULL: none. */
const struct fv_fault *fv_fault_of(const struct fv_qp *qp, bool recv, int opcode);
pthread_mutex_t *fv_lock_of_cond(void);

/* Devices. */
void fv_dev_init(void);
void fv_dev_fini(void);
struct fv_dev *fv_dev_find(const char *name);
/* Device and index of a GID; v2 of RoCE comes first. NULL: of none. */
struct fv_dev *fv_dev_of_gid(const union ibv_gid *gid, int *index);
const struct ibv_gid_entry *fv_gid_at(const struct fv_dev *dev, unsigned int index);
void fv_async_put(struct fv_dev *dev, enum ibv_event_type type, void *obj);
/* Those that wait, of an object that goes away. */
void fv_async_drop(struct fv_dev *dev, const void *obj);
bool fv_gid_parse(union ibv_gid *gid, const char *text);
bool fv_path_ok(const union ibv_gid *a, const union ibv_gid *b);
/* A step of any end, after which one may be gone. */
void fv_death_step(void);
bool fv_is_gone(const union ibv_gid *gid);
/* For messages of the connection manager. */
bool fv_cm_path_ok(const union ibv_gid *a, const union ibv_gid *b);

static inline struct fv_dev *
fv_dev_of(const struct ibv_context *ctx)
{
	return FV_OF(ctx, struct fv_dev, ctx);
}

void fv_pd_use(struct ibv_pd *pd, int change);
void fv_mr_forget_keys(void);
/* NULL, or the region that allows this access. */
const struct fv_mr *fv_mr_check(const struct ibv_pd *pd, uint32_t key, bool remote,
		uint64_t addr, size_t len, unsigned int access);
/* Pieces of a list; false: one of them is not allowed. */
bool fv_mr_resolve(const struct ibv_pd *pd, const struct ibv_sge *sges, int nb,
		unsigned int access, struct fv_iov *iov, int *nb_iov);
void fv_iov_copy(const struct fv_iov *to, int nb_to, const struct fv_iov *from, int nb_from,
		size_t len, struct fv_asides *aside);
void fv_aside_apply(struct fv_asides *aside);

/* A receive is over: only the device wrote to its buffer. */
void fv_recv_over(const struct fv_qp *qp, const struct fv_rwr *r);

/* Completions. */
void fv_cq_put(struct fv_cq *cq, struct fv_cqe *cqe, bool solicited);
void fv_cq_break(struct fv_cq *cq);
void fv_cq_drop_qp(struct fv_cq *cq, const struct fv_qp *qp);

static inline struct fv_cq *
fv_cq_of(const struct ibv_cq *cq)
{
	return FV_OF(cq, struct fv_cq, ibv);
}

static inline struct fv_qp *
fv_qp_of(const struct ibv_qp *qp)
{
	return FV_OF(qp, struct fv_qp, ibv);
}

/* Queue pairs. */
struct fv_qp *fv_qp_by_num(uint32_t num);
void fv_qp_error(struct fv_qp *qp);
void fv_qp_busy(struct fv_qp *qp);
/* The queue pair that takes messages of this one; NULL: none. */
struct fv_qp *fv_qp_find_peer(struct fv_qp *qp, bool complain);
const struct ibv_gid_entry *fv_qp_gid(const struct fv_qp *qp);

static inline struct fv_swr *
fv_swr(struct fv_qp *qp, uint64_t pos)
{
	return &qp->sq[pos % qp->cap.max_send_wr];
}

static inline struct fv_rwr *
fv_rwr(struct fv_qp *qp, uint64_t pos)
{
	return &qp->rq[pos % qp->cap.max_recv_wr];
}

/* The wire. When something arrives that is sent now, not before what was sent earlier. */
uint64_t fv_wire_due(uint64_t *last);
/* Nothing may pass, not even a step. */
bool fv_wire_is_held(void);
void fv_step_take(void);
/* Do what is due, and see to it that the rest is done in time. */
void fv_wire_run(void);
void fv_wire_start(void);
/* Returns whether something moved; *next becomes the time when something will be due. */
bool fv_cm_run(uint64_t now, uint64_t *next);

/* Connection manager. */
struct fv_id *fv_id_by_num(uint32_t num);
struct fv_id *fv_id_new(struct fv_event_channel *channel, void *ctx, enum rdma_port_space ps);
void fv_id_free(struct fv_id *id);
struct fv_cm_ev *fv_cm_event(struct fv_id *id, enum rdma_cm_event_type type, int status);
void fv_cm_event_put(struct fv_cm_ev *ev);
struct fv_msg *fv_msg_new(struct fv_id *from, enum fv_msg_type type);
void fv_msg_local(struct fv_id *id, enum rdma_cm_event_type type, int status, uint64_t in_ms);
void fv_send_rej(struct fv_id *id, int reason, const void *data, uint8_t len);
/* What the kernel tells the other end when an id goes away. */
void fv_conn_destroy(struct fv_id *id);
void fv_msgs_forget(void);
int fv_cm_ret(int err);
void fv_id_set_dev(struct fv_id *id, struct fv_dev *dev, int gid_index);
void fv_sockaddr_of_gid(struct sockaddr_storage *sa, const union ibv_gid *gid, uint16_t port);
uint16_t fv_id_port(const struct sockaddr_storage *sa);

static inline struct fv_id *
fv_id_of(const struct rdma_cm_id *id)
{
	return FV_OF(id, struct fv_id, rdma);
}

/* The table. */
struct ibv_context **fv_get_devices(int *num);
void fv_free_devices(struct ibv_context **list);
const char *fv_get_device_name(struct ibv_device *device);
const char *fv_get_device_path(struct ibv_device *device);
int fv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr);
int fv_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr);
int fv_query_pkey(struct ibv_context *ctx, uint8_t port, int index, __be16 *pkey);
ssize_t fv_query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *entries,
		size_t max, uint32_t flags);
int fv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event);
void fv_ack_async_event(struct ibv_async_event *event);
struct ibv_pd *fv_alloc_pd(struct ibv_context *ctx);
int fv_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *fv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access);
int fv_dereg_mr(struct ibv_mr *mr);
struct ibv_comp_channel *fv_create_comp_channel(struct ibv_context *ctx);
int fv_destroy_comp_channel(struct ibv_comp_channel *channel);
int fv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_ctx);
void fv_ack_cq_events(struct ibv_cq *cq, unsigned int n);
struct ibv_cq *fv_create_cq(struct ibv_context *ctx, int cqe, void *cq_ctx,
		struct ibv_comp_channel *channel, int vector);
int fv_destroy_cq(struct ibv_cq *cq);
int fv_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int fv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_qp *fv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int fv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int fv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		struct ibv_qp_init_attr *init);
int fv_destroy_qp(struct ibv_qp *qp);
int fv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int fv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
struct rdma_event_channel *fv_create_event_channel(void);
void fv_destroy_event_channel(struct rdma_event_channel *channel);
int fv_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *ctx,
		enum rdma_port_space ps);
int fv_destroy_id(struct rdma_cm_id *id);
int fv_set_option(struct rdma_cm_id *id, int level, int name, void *val, size_t len);
int fv_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int fv_listen(struct rdma_cm_id *id, int backlog);
int fv_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst,
		int timeout_ms);
int fv_resolve_route(struct rdma_cm_id *id, int timeout_ms);
int fv_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask);
int fv_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
int fv_establish(struct rdma_cm_id *id);
int fv_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int fv_reject(struct rdma_cm_id *id, const void *data, uint8_t len);
int fv_disconnect(struct rdma_cm_id *id);
int fv_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);
int fv_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int fv_ack_cm_event(struct rdma_cm_event *event);

#endif /* FV_PRIVATE_H */
