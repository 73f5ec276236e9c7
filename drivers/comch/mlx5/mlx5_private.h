/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_PRIVATE_H
#define MLX5_PRIVATE_H

/*
 * The driver for RDMA: devices, links and what their parts ask of each other.
 *
 *   mlx5_driver.c   operations        mlx5_args.c   device strings
 *   mlx5_dev.c      devices, asynchronous events, pinned memory
 *   mlx5_cm.c       listen, accept, connect      mlx5_name.c  names and ports
 *   mlx5_link.c     life of a link               mlx5_frame.c control frames
 *   mlx5_data.c     data operations, waking      mlx5_mr.c    memory
 *   mlx5_cons.c     consumers                    mlx5_prod.c  producers
 *   mlx5_remote.c   the sending ends of consumers
 *   mlx5_qp.c       queue pairs                  mlx5_glue.c  verbs
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>
#include <netinet/in.h>

#include <rte_log.h>

#include "rte_comch_driver.h"
#include "mlx5_glue.h"
#include "mlx5_layout.h"
#include "mlx5_qp.h"

/* Addresses of one host function. */
#define MLX5_MAX_ADDRS 8

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
	struct ibv_context *ctx;    /* librdmacm's */
	char ibdev[64];             /* "mlx5_0" */
	uint8_t port;
	uint8_t gid_index;
	bool is_roce;
	union ibv_gid gid;
	struct mlx5_addr addr;      /* of the device: what the GID stands for */
	struct ibv_device_attr attr;
	struct ibv_port_attr port_attr;
	struct mlx5_rep *reps;      /* as many as dev->reps */
	/* Device string. */
	uint16_t pkey_index;
	uint8_t tclass;
	uint8_t sl;
	uint8_t timeout;
	uint8_t retry;
	uint16_t first_port, last_port; /* candidates for servers */
	uint32_t slot;              /* receive slots of records and control, bytes */
	uint32_t eager;             /* longest payload within a record's message, bytes */
	uint32_t dead_ms;           /* a peer that is silent for so long is gone */
	uint32_t max_inline;
	uint64_t max_pinned;
	_Atomic uint64_t pinned;    /* bytes registered */
	char lock_dir[108];
	pthread_mutex_t lock;       /* guards the lists and qp_total */
	TAILQ_HEAD(, mlx5_link) links;
	TAILQ_HEAD(, mlx5_qp) qps;
	struct mlx5_qp_stats qp_total; /* of queue pairs that were destroyed */
	/* Rare events of bursts. */
	_Atomic uint64_t key_misses; /* sends that waited for a registration */
	_Atomic uint64_t held;       /* sends that found a remote's tx_lock held */
};

/* Pin memory: count it against the limit. 0, or -EDQUOT with a log line. */
int mlx5_dev_pin(struct mlx5_dev *dev, uint64_t len);
void mlx5_dev_unpin(struct mlx5_dev *dev, uint64_t len);
/* Milliseconds of a monotonic clock. */
uint64_t mlx5_dev_now_ms(void);

struct mlx5_data;

/* A link. Members up to ctrl belong to the connection's thread. */
struct mlx5_link {
	struct rte_comch_link base;     /* first */
	TAILQ_ENTRY(mlx5_link) next;    /* in the device's list */
	struct mlx5_dev *dev;
	struct rdma_cm_id *id;
	struct rdma_event_channel *cm;  /* of its own */
	struct ibv_comp_channel *comp;  /* of ctrl */
	struct ibv_pd *pd;
	int epfd;                       /* link_fd: cm, comp, timer */
	struct mlx5_path path;          /* valid when UP */
	struct mlx5_addr peer;
	struct mlx5_qp ctrl;
	struct mlx5_frames *frames;     /* mlx5_frame.c */
	struct mlx5_dial *dial;         /* mlx5_cm.c; NULL for accepted links */
	/* A fault found by another thread: a negative errno, then its text. */
	_Atomic int fault;
	const char *_Atomic fault_text;
};

static inline struct mlx5_link *
mlx5_link_of(const struct rte_comch_link *link)
{
	return (struct mlx5_link *)(uintptr_t)link;
}

/* mlx5_link.c */

/* The link has failed; the first reason is kept. The connection's thread. */
void mlx5_link_down(struct mlx5_link *l, int error, const char *text);
/* The same from any thread, also within a burst: link_poll takes it up. */
void mlx5_link_fault(struct mlx5_link *l, int error, const char *text);

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
/* The link went DOWN: move all queue pairs to ERR, and wake all queues. */
void mlx5_data_down(struct mlx5_link *l);

/* mlx5_driver.c */
extern int mlx5_logtype;
#define MLX5_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, mlx5_logtype, "COMCH_MLX5: " fmt "\n", ##__VA_ARGS__)

#endif /* MLX5_PRIVATE_H */
