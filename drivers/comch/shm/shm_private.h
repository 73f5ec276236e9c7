/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SHM_PRIVATE_H
#define SHM_PRIVATE_H

/*
 * The shared-memory driver. A link belongs to the thread of its connection's
 * poll; regions are freed by that thread as well.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <rte_log.h>

#include "sdk/comch_foreign.h"
#include "rte_comch_driver.h"
#include "shm_layout.h"

extern int shm_logtype;

#define SHM_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, shm_logtype, "COMCH_SHM: " fmt "\n", ##__VA_ARGS__)

/* Descriptors that came before their frames. */
#define SHM_MAX_STASH 32

struct shm_dev {
	char dir[PATH_MAX];
	bool dir_is_open; /* below /tmp, where anybody may have made it before us */
	bool trust_peer; /* accept memory that is not sealed */
	bool export_eal; /* show EAL memory */
	uint32_t cells;
};

struct shm_listener {
	struct rte_comch_listener base;
	int sock;
	int lock_fd;
	int watch_fd;      /* inotify of the socket's file; -1: we could not have one */
	dev_t sock_dev;    /* which file that is */
	ino_t sock_ino;
	char sock_path[PATH_MAX];
	char lock_path[PATH_MAX];
};

/* A file of the peer's payload that a connection maps. */
struct shm_import {
	struct comch_shown *foreign;
	uint32_t refs;
	struct shm_import *next;
};

/* A descriptor whose frame was not read yet. */
struct shm_stashed {
	int fd;
	struct comch_shown *shown;  /* counted in `imported` */
};

struct shm_link {
	struct rte_comch_link base;
	int sock;                   /* -1 after shutdown */
	bool is_client;
	/* sending */
	struct shm_link_shared *own;
	uint32_t own_cells;
	uint32_t own_mask;
	uint64_t tx_pos;
	uint64_t tx_limit;          /* up to here there is room; checked */
	uint32_t told;              /* the peer's armed word that was answered */
	bool peer_says_credits;     /* in the low bit of that */
	/* receiving */
	const struct shm_link_shared *peer; /* comch_peer.h only */
	const struct shm_link_shared *peer_later; /* peer, until our hello found a way */
	uint32_t peer_cells;
	uint32_t peer_mask;
	uint64_t rx_pos;
	uint32_t awaits_fds;        /* that the next frame needs and that are under way */
	struct shm_stashed *stash;  /* SHM_MAX_STASH of them, once there is one */
	/* what the frame that was read last shows: until it is imported */
	struct comch_shown *shown[RTE_COMCH_FRAME_FDS];
	uint32_t stash_head;
	uint32_t stash_tail;
	/* the socket */
	struct comch_foreign_peer who;
	struct comch_foreign_job *job; /* a message with descriptors is being received */
	bool job_later;             /* the same, when there is room for one more */
	uint32_t wakes_allowed;     /* asked for since the socket was empty, and a few */
	/* end */
	size_t own_len;
	size_t peer_len;
	/* the peer's memory */
	struct shm_import *imports;
	uint64_t imported;          /* bytes; counts against max_import */
	bool said_over;             /* that it is over a limit: once */
	bool shown_over;            /* memory that it sent since the last import is */
};

static inline struct shm_dev *
shm_dev_of(const struct rte_comch_link *link)
{
	return link->dev->priv;
}

/* The link is over: the first reason stays. */
void shm_link_down(struct shm_link *l, int error, const char *text);

/* shm_watch.c: is the socket's file still there? */
/*
 * Before the socket, and then on the socket. When a process dies the kernel
 * takes its time for the first; the socket must not stay behind meanwhile, or
 * clients connect to the dead.
 */
void shm_watch_open(struct shm_listener *l);
void shm_watch_start(struct shm_listener *l);
void shm_watch_close(struct shm_listener *l);
int shm_watch_fd(const struct rte_comch_listener *listener);
int shm_watch_check(struct rte_comch_listener *listener, char *text, size_t size);
/* Does the path of the socket lead to our file? */
bool shm_watch_is_ours(const struct shm_listener *l);

/* shm_sock.c */
int shm_sock_listen(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_listener **listener);
void shm_sock_unlisten(struct rte_comch_listener *listener);
int shm_sock_accept(struct rte_comch_listener *listener, struct rte_comch_link **link);
void shm_sock_listener_forked(struct rte_comch_listener *listener);
int shm_sock_listener_fd(const struct rte_comch_listener *listener);
int shm_sock_connect(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_link **link);
/* Is a directory that anybody could have made one of ours? 0, -ENOENT or -EACCES. */
int shm_sock_check_dir(const struct shm_dev *shm);
/* Make sure that the directory of each host function exists. */
int shm_sock_make_dirs(const struct rte_comch_dev *dev);
/* Send one message. 0, -EAGAIN or a negative errno. */
int shm_sock_send(int sock, const void *data, size_t len, const int *fds, uint32_t nb_fds);

/* shm_link.c */
struct shm_link *shm_link_create(struct rte_comch_dev *dev, int sock, bool is_client);
int shm_link_say_hello(struct shm_link *l);
void shm_link_poll(struct rte_comch_link *link);
void shm_link_shutdown(struct rte_comch_link *link);
void shm_link_close(struct rte_comch_link *link);
void shm_link_peer(const struct rte_comch_link *link, struct rte_comch_peer_id *id);
int shm_link_fd(const struct rte_comch_link *link);
void shm_link_arm(struct rte_comch_link *link, bool credits);
/* What the last frame showed was imported, or never will be. */
void shm_link_unshow(struct shm_link *l);
/* Take nb_fds descriptors that came on the socket. 0, -EAGAIN (later) or -EPROTO. */
int shm_link_take_fds(struct shm_link *l, int *fds, uint32_t nb_fds);

/* shm_limits.c */
/* Fill in the limits that the device string did not give (0), by what the machine can afford. */
void shm_limits_default(struct rte_comch_dev_info *info);

/* shm_frame.c */
int shm_frame_tx(struct rte_comch_link *link, const struct rte_comch_frame *frame);
int shm_frame_rx(struct rte_comch_link *link, void *buf, uint32_t size,
		int fds[RTE_COMCH_FRAME_FDS], uint32_t *nb_fds);
bool shm_frame_pending(const struct rte_comch_link *link);

/* shm_mem.c */
/* What all connections of a device import; and count it for this one. */
struct comch_shown_limit shm_mem_limit(struct rte_comch_link *link);
bool shm_mem_take(struct shm_link *l, uint64_t len);
int shm_mem_export(struct rte_comch_link *link, const struct rte_comch_mr *mr,
		struct rte_comch_mem_desc *desc);
int shm_mem_import(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
		struct rte_comch_region *region);
int shm_mem_region_create(struct rte_comch_link *link, size_t len,
		struct rte_comch_region *region);
int shm_mem_region_map(struct rte_comch_link *link, int fd, size_t len,
		struct rte_comch_region *region);
void shm_mem_region_free(struct rte_comch_link *link, struct rte_comch_region *region);

#endif /* SHM_PRIVATE_H */
