/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_PRIVATE_H
#define MLX5_PRIVATE_H

/*
 * The driver for RDMA: devices, links and what their parts ask of each other.
 *
 *   mlx5_driver.c   operations        mlx5_args.c   device strings
 *   mlx5_open.c     finding and checking a device   mlx5_host.c  /sys and /dev
 *   mlx5_scan.c     what an operator is told of devices
 *   mlx5_dev.c      devices, asynchronous events, pinned memory
 *   mlx5_cm.c       listen and accept            mlx5_dial.c  connect
 *   mlx5_name.c     names, ports, addresses
 *   mlx5_link.c     life of a link
 *   mlx5_frame.c    control frames: sending      mlx5_frame_rx.c receiving
 *   mlx5_data.c     data operations              mlx5_mem.c   memory
 *   mlx5_cons.c     consumers                    mlx5_recv.c  their bursts
 *   mlx5_prod.c     producers, waking            mlx5_send.c  their bursts
 *   mlx5_stream.c   messages of several bursts
 *   mlx5_remote.c   the sending ends of consumers   mlx5_reap.c  what comes back to them
 *   mlx5_qp.c       queue pairs                  mlx5_qp_make.c  their handles
 *   mlx5_status.c   what a failed completion means
 *   mlx5_job.c      the helper thread            mlx5_reg.c   registrations
 *   mlx5_event.c    event channels               mlx5_fd.c    descriptors, fork
 *   mlx5_glue.c     verbs
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>
#include <netinet/in.h>

#include <rte_log.h>

#include "comch_args.h"
#include "comch_place.h"
#include "sdk/comch_link.h"
#include "mlx5_glue.h"
#include "mlx5_job.h"
#include "mlx5_layout.h"
#include "mlx5_qp.h"

/* Addresses of one host function. */
#define MLX5_MAX_ADDRS 8
/* Of the transport: 7 would try for ever, and never end the link. */
#define MLX5_RNR_RETRY 6
/* Ports that a name can be served on. */
#define MLX5_CANDIDATES 8

/* An address of a device or of a function: IPv4, or IPv6. */
struct mlx5_addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
};

struct mlx5_rep {
	struct mlx5_addr addr[MLX5_MAX_ADDRS]; /* dpu: clients; host: the server's */
	uint32_t nb_addrs;
};

/* dev->priv */
struct mlx5_dev {
	struct rte_comch_dev *dev;
	TAILQ_ENTRY(mlx5_dev) next; /* in the list of all devices, for asynchronous events */
	struct ibv_context *ctx;    /* librdmacm's */
	char ibdev[64];             /* "mlx5_0"; before probe, dev=: a PCI address as well */
	uint8_t port;
	uint8_t gid_index;
	bool has_gid;               /* gid= */
	union ibv_gid gid;
	struct mlx5_addr addr;      /* of the device: what the GID stands for */
	struct ibv_device_attr attr;
	struct ibv_port_attr port_attr;
	struct mlx5_rep *reps;      /* as many as dev->reps */
	uint32_t nb_slots;          /* of a control queue pair */
	uint32_t max_frame;         /* bytes */
	uint16_t pkey_index;
	/* Device string. */
	uint16_t pkey;              /* 0: index 0 */
	uint8_t tclass;
	uint8_t sl;
	bool has_tclass;
	bool has_sl;
	uint8_t timeout;
	uint8_t retry;
	uint16_t first_port, last_port; /* candidates for servers */
	uint32_t slot;              /* receive slots of records and control, bytes */
	uint32_t eager;             /* longest payload within a record's message, bytes */
	uint32_t dead_ms;           /* a peer that is silent for so long is gone */
	uint32_t max_inline;
	uint64_t max_pinned;
	_Atomic uint64_t pinned;    /* bytes registered */
	struct comch_place place;   /* lock files of names */
	pthread_mutex_t lock;       /* guards the lists and qp_total; taken within devs_lock */
	TAILQ_HEAD(, mlx5_link) links;
	TAILQ_HEAD(, mlx5_qp) qps;
	/* The helper thread: mlx5_job.h. */
	struct comch_worker worker;
	pthread_mutex_t job_lock;   /* innermost; guards states of jobs, mlx5_link.reads_async */
	char worker_name[16];
	struct mlx5_qp_stats qp_total; /* of queue pairs that were destroyed */
	/* Rare events of bursts. */
	_Atomic uint64_t key_misses; /* sends that waited for a registration */
	_Atomic uint64_t held;       /* sends that found a remote's tx_lock held */
};

/* mlx5_args.c */

/* Keys of device strings. */
extern const char *const mlx5_args_keys[];
/* Parse the device string. 0, -EINVAL, -ENOMEM. */
int mlx5_args_parse(struct rte_comch_dev *dev, struct rte_kvargs *kv);

/* What a device has without a device string. */
void mlx5_args_default(struct mlx5_dev *mdev);

/* mlx5_open.c */

/* Find and check the device that the string names. 0, or an errno with a log line. */
int mlx5_open_find(struct mlx5_dev *dev);

/* mlx5_scan.c */

/* See rte_comch_driver_ops.props. */
void mlx5_scan_props(const struct rte_comch_dev *dev, rte_comch_dev_prop_t prop, void *ctx);

/* mlx5_dev.c */

/* Open the device that the string names, and check that it can be used. 0 or an errno. */
int mlx5_device_open(struct mlx5_dev *dev);
void mlx5_device_close(struct mlx5_dev *dev);
/* Links that hear of asynchronous events. */
void mlx5_dev_add_link(struct mlx5_dev *dev, struct mlx5_link *l);
void mlx5_dev_del_link(struct mlx5_dev *dev, struct mlx5_link *l);
/* Read the asynchronous events of the device, and pass them on to the links. Any thread. */
void mlx5_dev_events(struct mlx5_dev *dev);
/* Pin memory: count it against the limit. 0, or -EDQUOT with a log line. */
int mlx5_dev_pin(struct mlx5_dev *dev, uint64_t len);
void mlx5_dev_unpin(struct mlx5_dev *dev, uint64_t len);
/* Milliseconds of a monotonic clock. */
uint64_t mlx5_dev_now_ms(void);

/* mlx5_event.c: event channels, which never block. */

/* Make a descriptor of the libraries non-blocking, and close it on exec. 0 or an errno. */
int mlx5_event_set_up(int fd);
/* 0 or an errno; then the channel is NULL. */
int mlx5_event_open_cm(struct rdma_event_channel **channel);
/* A channel that is NULL is skipped. */
void mlx5_event_close_cm(struct rdma_event_channel **channel);

/* A completion channel. It is counted, since a queue pair is destroyed by the helper thread. */
struct mlx5_channel {
	struct ibv_comp_channel *ibv;
	uint32_t refs; /* atomic */
};

/* 0, -EMFILE or -ENOMEM. */
int mlx5_channel_open(struct mlx5_dev *dev, struct mlx5_channel **channel);
void mlx5_channel_ref(struct mlx5_channel *channel);
/* The last one closes it. Any thread. NULL is skipped. */
void mlx5_channel_put(struct mlx5_channel *channel);

/* mlx5_fd.c */

/* Descriptors of a link that a forked child must not keep. */
struct mlx5_link_fds {
	TAILQ_ENTRY(mlx5_link_fds) next;
	int cm_fd;  /* of the connection manager's channel */
	int cmd_fd; /* of the device's context; -1: none */
	bool is_listed;
};

void mlx5_fd_add(struct mlx5_link_fds *fds, int cm_fd, int cmd_fd);
/* Before they are closed. Allowed for those that were not added. */
void mlx5_fd_del(struct mlx5_link_fds *fds);

/* mlx5_name.c */

/* The hash of a server's name on a host function. */
void mlx5_name_hash(const char *func, const char *name, uint8_t hash[16]);
/* The ports where a server of that hash is searched for, in order. Returns their number. */
uint32_t mlx5_name_ports(const struct mlx5_dev *dev, const uint8_t hash[16],
		uint16_t ports[MLX5_CANDIDATES]);
/* "10.0.0.1", "fd00::1": 0 or -EINVAL. */
int mlx5_name_parse_addr(const char *text, struct mlx5_addr *addr);
void mlx5_name_format_addr(const struct mlx5_addr *addr, char *text, size_t size);
bool mlx5_name_same_addr(const struct mlx5_addr *a, const struct mlx5_addr *b);
socklen_t mlx5_name_addr_len(const struct mlx5_addr *addr);
void mlx5_name_set_port(struct mlx5_addr *addr, uint16_t port);
void mlx5_name_addr_to_gid(const struct mlx5_addr *addr, union ibv_gid *gid);
/* False: the GID is not that of an IPv4 or global IPv6 address. */
bool mlx5_name_gid_to_addr(const union ibv_gid *gid, struct mlx5_addr *addr);

struct mlx5_data;

struct mlx5_dial;
struct mlx5_frames;

/* A link. Members that are not atomic belong to the connection's thread. */
struct mlx5_link {
	struct rte_comch_link base;     /* first */
	TAILQ_ENTRY(mlx5_link) next;    /* in the device's list */
	struct mlx5_dev *dev;
	struct rdma_cm_id *id;
	struct rdma_event_channel *cm;  /* of its own */
	struct mlx5_channel *comp;      /* of ctrl */
	struct ibv_pd *pd;
	int epfd;                       /* link_fd: cm, comp, asynchronous events, timer */
	int timer_fd;                   /* -1 until first used */
	bool is_timer_set;
	bool is_open;                   /* its descriptors and ctrl exist */
	struct mlx5_link_fds fds;
	struct mlx5_path path;          /* valid when UP */
	struct mlx5_addr peer;
	struct mlx5_qp ctrl;
	struct mlx5_job job;            /* its end: the helper frees it */
	bool reads_async;               /* dev->job_lock: the helper may tell the core */
	bool is_opening;                /* the helper makes ctrl */
	/* Continues the handshake when ctrl was made: 0 or an errno. */
	void (*opened)(struct mlx5_link *l, int ret);
	uint32_t peer_slot, peer_nb_slots; /* of a connection request */
	struct mlx5_frames *frames;     /* mlx5_frame.c */
	struct mlx5_dial *dial;         /* mlx5_dial.c; NULL if accepted or UP */
	/* Of asynchronous events that are for this link; guarded by dev->lock. */
	const struct ibv_pd *event_pd;
	/* The end: ctrl is in ERR, and the link goes DOWN when all slots came back. */
	bool is_ending;
	bool is_flushed;                /* ctrl was moved to ERR, the reason is to be found */
	int end_error;
	const char *end_text;
	uint64_t end_ms;                /* DOWN at the latest */
	/* Times of mlx5_link_tick(). */
	uint64_t next_tick;             /* TSC */
	uint64_t quiet_tail;            /* ctrl.tx_tail at quiet_ms */
	uint64_t quiet_ms;
	/* A fault found by another thread: its text, then a negative errno. */
	const char *_Atomic fault_text;
	_Atomic int fault;
};

static inline struct mlx5_link *
mlx5_link_of(const struct rte_comch_link *link)
{
	return (struct mlx5_link *)(uintptr_t)link;
}

/* mlx5_link.c */

/* Create the descriptors of a link. 0, -ENOMEM, -EMFILE. */
int mlx5_link_create(struct mlx5_dev *dev, struct mlx5_link **link);
/*
 * Create its protection domain, and have its control queue pair made. Then link_poll calls
 * *opened*. 0 or an errno.
 */
int mlx5_link_open(struct mlx5_link *l, void (*opened)(struct mlx5_link *l, int ret));
/* Destroy the queue pair, if there is one. */
void mlx5_link_close_qp(struct mlx5_link *l);
/* The handshake is complete. */
void mlx5_link_up(struct mlx5_link *l);
/*
 * The link has failed; the first reason is kept. What arrived before is received first,
 * so that the link is DOWN somewhat later. The connection's thread.
 */
void mlx5_link_down(struct mlx5_link *l, int error, const char *text);
/* DOWN at once: the peer broke the protocol, or the device does not work any more. */
void mlx5_link_down_now(struct mlx5_link *l, int error, const char *text);
/* A work request of ctrl failed. */
void mlx5_link_failed(struct mlx5_link *l);
/* The same from any thread, also within a burst: link_poll takes it up. */
void mlx5_link_fault(struct mlx5_link *l, int error, const char *text);
/* Check for silence and lack of progress. The connection's thread, in each look. */
void mlx5_link_tick(struct mlx5_link *l);
/* Some slots came back after the end, or all did: may go DOWN. */
void mlx5_link_end_step(struct mlx5_link *l);

void mlx5_link_poll(struct rte_comch_link *link);
void mlx5_link_shutdown(struct rte_comch_link *link);
void mlx5_link_close(struct rte_comch_link *link);
void mlx5_link_peer(const struct rte_comch_link *link, struct rte_comch_peer_id *id);
int mlx5_link_fd(const struct rte_comch_link *link);
bool mlx5_link_arm(struct rte_comch_link *link, bool credits);

/* mlx5_cm.c */

int mlx5_cm_listen(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_listener **listener);
void mlx5_cm_unlisten(struct rte_comch_listener *listener);
void mlx5_cm_listener_forked(struct rte_comch_listener *listener);
int mlx5_cm_listener_fd(const struct rte_comch_listener *listener);
int mlx5_cm_watch_fd(const struct rte_comch_listener *listener);
int mlx5_cm_check(struct rte_comch_listener *listener, char *text, size_t size);
int mlx5_cm_accept(struct rte_comch_listener *listener, struct rte_comch_link **link);
/*
 * Move the control queue pair to RTS, by what the connection manager agreed on, and post
 * its slots. 0 or an errno.
 */
int mlx5_cm_to_rts(struct mlx5_link *l);
/* Disconnect, and have the helper destroy the id. All events that were got are acknowledged. */
void mlx5_cm_drop_id(struct mlx5_link *l);
/* The same for another id on the link's channel. */
void mlx5_cm_drop(struct mlx5_link *l, struct rdma_cm_id *id);
/* The same, and the channel. */
void mlx5_cm_close(struct mlx5_link *l);

/* mlx5_dial.c */

int mlx5_dial_connect(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_link **link);
/* Handle an event of the channel of a dialling link, which the caller acknowledges. */
void mlx5_dial_event(struct mlx5_link *l, const struct rdma_cm_event *event);
/* After that: try the next port, if this one has no such server; or the dial is over. */
void mlx5_dial_next(struct mlx5_link *l);
/* Has the port of a dialling link been silent for too long? */
void mlx5_dial_tick(struct mlx5_link *l);
void mlx5_dial_free(struct mlx5_link *l);

/* mlx5_frame.c */

/* 0 or -ENOMEM. */
int mlx5_frame_create(struct mlx5_link *l);
void mlx5_frame_destroy(struct mlx5_link *l);
/* The queue pair goes: what was received and not read is lost. */
void mlx5_frame_forget(struct mlx5_link *l);
/* The sizes of the peer. False: frames of this end do not fit. */
bool mlx5_frame_set_peer(struct mlx5_link *l, uint32_t slot_size, uint32_t nb_slots);
/* Handle all completions of ctrl. The connection's thread. */
void mlx5_frame_reap(struct mlx5_link *l);
/*
 * Each tick: has a message waited for posts of the peer for twice dead_ms? What is wrong with a
 * queue pair is found before that.
 */
bool mlx5_frame_overdue(struct mlx5_link *l, uint64_t now_ms);
/* Send what is due without a frame: slots returned, halted consumers. */
void mlx5_frame_send_due(struct mlx5_link *l);
/* Have the peer's device answer, unless it is about to: all sends before it complete, too. */
void mlx5_frame_probe(struct mlx5_link *l);
/* Has a message of the peer arrived? */
bool mlx5_frame_has_received(const struct mlx5_link *l);
/* Slots that the device may still fill. */
uint32_t mlx5_frame_slots_out(const struct mlx5_link *l);
int mlx5_frame_tx(struct rte_comch_link *link, const struct rte_comch_frame *frame);
int mlx5_frame_rx(struct rte_comch_link *link, void *buf, uint32_t size,
		int fds[RTE_COMCH_FRAME_FDS], uint32_t *nb_fds);
bool mlx5_frame_pending(const struct rte_comch_link *link);
bool mlx5_frame_idle(const struct rte_comch_link *link);
/*
 * Ask for one wake-up, see link_arm. frame_pending() says yes for a frame that waits for
 * posts until the next frame_rx().
 */
void mlx5_frame_arm(struct mlx5_link *l, bool credits);
/* The completion channel had an event. */
void mlx5_frame_woken(struct mlx5_link *l);

/* mlx5_data.c: what the control path asks of the fast path. The connection's thread. */

extern const struct rte_comch_data_ops mlx5_data_ops;

/*
 * Consumers whose posts the next frame must not overtake: those that posted since the
 * last call. Returns the number stored, at most n; the rest come with the next frame.
 */
uint32_t mlx5_data_needs(struct mlx5_link *l, struct mlx5_need *need, uint32_t n);
/* Consumers halted since the last call. Returns the number stored. */
uint32_t mlx5_data_halted(struct mlx5_link *l, struct mlx5_halted *halted, uint32_t n);
/* Whether mlx5_data_halted() would return any: then a control message is due. */
bool mlx5_data_has_halted(const struct mlx5_link *l);
/*
 * Have the posts that a frame needs arrived? Reaps the consumer's queue pair. True as
 * well for a consumer that is unknown or halted.
 */
bool mlx5_data_has_posts(struct mlx5_link *l, const struct mlx5_need *peer_need);
/* The peer has halted its consumer. */
void mlx5_data_peer_halted(struct mlx5_link *l, uint32_t consumer);
/* Check all queue pairs for lack of progress and failures; may call mlx5_link_down(). */
void mlx5_data_check(struct mlx5_link *l, uint64_t now_ms);
/* Do what bursts asked for by news. Each link_poll calls it. */
void mlx5_data_service(struct mlx5_link *l);
/* The link went DOWN: move all queue pairs to ERR, and wake all queues. */
void mlx5_data_down(struct mlx5_link *l);

/* mlx5_driver.c */
extern int comch_mlx5_logtype;
#define MLX5_TAG "COMCH_MLX5"
#define MLX5_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, comch_mlx5_logtype, MLX5_TAG ": " fmt "\n", ##__VA_ARGS__)

#endif /* MLX5_PRIVATE_H */
