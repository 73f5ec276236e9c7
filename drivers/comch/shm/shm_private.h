/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SHM_PRIVATE_H
#define SHM_PRIVATE_H

/*
 * Private definitions of the shared-memory driver. The thread of a connection's poll
 * owns its link and frees its regions.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <rte_log.h>

#include "comch_place.h"
#include "sdk/comch_foreign.h"
#include "sdk/comch_memfd.h"
#include "rte_comch_driver.h"
#include "comch_dma.h"
#include "shm_layout.h"
#include "shm_out.h"

extern int comch_shm_logtype;

#define SHM_TAG "COMCH_SHM"
#define SHM_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, comch_shm_logtype, SHM_TAG ": " fmt "\n", ##__VA_ARGS__)

/* Maximum number of descriptors that wait for their frames. */
#define SHM_MAX_STASH 32

/* What differs between the drivers that use these links. */
struct shm_kind {
	const char *tag;         /* of their log */
	int *logtype;
	const char *sock_suffix; /* of the files of a server */
	const char *lock_suffix;
	/* Why a peer with another magic is refused, if that is not a protocol error. */
	const char *stranger;
};

struct shm_dev {
	const struct shm_kind *kind;
	uint32_t magic;  /* of hellos */
	struct comch_place place;
	bool trust_peer; /* accept memory that is not sealed */
	bool export_eal; /* export EAL memory */
	bool grows;      /* rings can: shm_ring.c */
	uint32_t cells;
	struct comch_dma dma; /* copies large payloads */
};

struct shm_listener {
	struct rte_comch_listener base;
	int sock;
	int lock_fd;
	struct comch_watch watch; /* of the socket's file */
	char sock_path[PATH_MAX];
	char lock_path[PATH_MAX];
};

/* A file of the peer's payload that a connection maps. */
struct shm_import {
	struct comch_peermap *foreign;
	uint32_t refs;
	struct shm_import *next;
};

/* How far our ring is on the way to a larger one. */
enum shm_growth {
	SHM_GROWTH_NO,      /* it has it, or will not get it */
	SHM_GROWTH_OFFERED, /* when the ring is full, and the peer has mapped it, it grows */
	SHM_GROWTH_DUE,     /* in shm_ring_step() */
};

/* A descriptor whose frame is not read yet. */
struct shm_stashed {
	int fd;
	struct comch_peermap *map;  /* counted in `imported` */
};

struct shm_stash {
	struct shm_stashed at[SHM_MAX_STASH];
	uint32_t head;
	uint32_t tail;
	/* memory that the last frame exports: held until it is imported */
	struct comch_peermap *map[RTE_COMCH_FRAME_FDS];
};

struct shm_link {
	struct rte_comch_link base;
	int sock;                   /* -1 after shutdown */
	bool is_client;
	bool peer_sets_credit_bit;  /* the low bit of the peer's armed word is valid */
	bool warned_over;           /* the exceeded limit is logged */
	bool must_read;             /* the socket, in the next run: see read_again() */
	bool grows;                 /* both ends know of larger rings */
	bool peer_may_offer;        /* one; it has not yet */
	bool looks;                 /* for the offer, before the peer's first frame */
	uint8_t growth;             /* enum shm_growth, of our ring */
	uint16_t awaits_fds;        /* descriptors of the next frame that are in flight */
	int16_t map_err;            /* why memory after the last import was not mapped; or 0 */
	/* sending */
	struct shm_link_shared *own;
	struct shm_cell *own_cell;  /* in *own or grown */
	void *own_grown;            /* the larger ring; counted in `out.quota` */
	uint32_t own_cells;
	uint32_t own_mask;
	uint64_t tx_pos;
	uint64_t tx_limit;          /* end of the free cells, from the checked rx_pos */
	uint32_t armed_answered;    /* value of the peer's armed word at our last wake-up */
	uint32_t peer_first_cells;  /* in *peer; peer_cells may be those of a larger ring */
	/* receiving */
	const struct shm_link_shared *peer; /* of a link that is or was up; for comch_peer.h */
	const struct shm_link_shared *peer_unanswered; /* the same, before our hello is sent */
	const struct shm_cell *peer_cell; /* in *peer or grown; read by comch_peer.h only */
	void *peer_grown;           /* the larger one; counted in `out.quota` */
	uint32_t peer_cells;
	uint32_t peer_mask;
	uint64_t rx_pos;
	struct shm_stash *stash;    /* NULL until first used: most links carry no descriptors */
	/* the socket */
	struct comch_foreign_peer peer_id;
	struct comch_foreign_job *job; /* a message with descriptors is being received */
	int32_t peer_gid;
	uint32_t unread;            /* times that the socket was readable since it was read */
	uint32_t max_unread;
	uint32_t wakes_allowed;     /* wake-ups that the peer may still send */
	struct shm_out out;
	/* the peer's memory */
	struct shm_import *imports;
	uint64_t imported;          /* bytes; counts against max_import */
};

/* Bytes that are mapped with a region, as a page fault takes longer: words and first frames. */
#define SHM_FIRST_FRAMES 4096

/* The length of a region. */
static inline size_t
shm_region_len(uint32_t cells)
{
	return comch_memfd_round(shm_link_len(cells));
}

/* The region of one end of a link, whose descriptor the hello carries. */
struct shm_own {
	void *addr;
	int fd;
};

static inline const struct shm_kind *
shm_kind_of(const struct rte_comch_dev *dev)
{
	return ((const struct shm_dev *)dev->priv)->kind;
}

static inline struct shm_dev *
shm_dev_of(const struct rte_comch_link *link)
{
	return link->dev->priv;
}

extern const struct rte_comch_driver_ops shm_driver_ops;
/* The probe of a driver of this kind: dev->priv is a struct shm_dev. */
int shm_driver_probe(struct rte_comch_dev *dev, struct rte_kvargs *kv,
		const struct shm_kind *kind, uint32_t magic);

/* Take the link down; the first reason is kept. */
void shm_link_down(struct shm_link *l, int error, const char *text);

/* shm_sock.c */
int shm_sock_listen(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_listener **listener);
void shm_sock_unlisten(struct rte_comch_listener *listener);
int shm_sock_accept(struct rte_comch_listener *listener, struct rte_comch_link **link);
void shm_sock_listener_forked(struct rte_comch_listener *listener);
int shm_sock_listener_fd(const struct rte_comch_listener *listener);
int shm_sock_watch_fd(const struct rte_comch_listener *listener);
int shm_sock_check(struct rte_comch_listener *listener, char *text, size_t size);
int shm_sock_connect(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_link **link);
/* Send one message. 0, -EAGAIN, -ECONNRESET (the peer is gone) or another negative errno. */
int shm_sock_send(int sock, const void *data, size_t len, const int *fds, uint32_t nb_fds);

/* shm_own.c */
/* Memory for a link that is to be. Returns 0 or a negative errno. */
int shm_own_create(const struct rte_comch_dev *dev, struct shm_own *own);
/* Close the descriptor, which counts against a limit. The mapping stays. */
void shm_own_close(struct shm_own *own);
void shm_own_unmap(const struct rte_comch_dev *dev, void *addr);
/* Both. */
void shm_own_free(const struct rte_comch_dev *dev, struct shm_own *own);

/* shm_link.c */
struct shm_link *shm_link_create(struct rte_comch_dev *dev, int sock, bool is_client);
/*
 * Send our hello, with this memory, or with new memory if it is NULL. It belongs to the link then,
 * or is freed. 0, -EAGAIN or another negative errno.
 */
int shm_link_say_hello(struct shm_link *l, struct shm_own *ready);
/*
 * Send the descriptors of a frame, which follows (SHM_SOCK_FDS), or of a ring. 0, -EAGAIN or a
 * negative errno.
 */
int shm_link_send_fds(struct shm_link *l, char what, const int *fds, uint32_t nb_fds);
void shm_link_poll(struct rte_comch_link *link);
void shm_link_shutdown(struct rte_comch_link *link);
void shm_link_close(struct rte_comch_link *link);
void shm_link_peer(const struct rte_comch_link *link, struct rte_comch_peer_id *id);
int shm_link_fd(const struct rte_comch_link *link);
bool shm_link_arm(struct rte_comch_link *link, bool credits);
void shm_link_rest(struct rte_comch_link *link);
/* Read what is there, and have another thread receive descriptors. */
void shm_link_read_sock(struct shm_link *l);
/* For `looks`. True: descriptors are being received, and the frame waits for them. */
bool shm_link_look(struct shm_link *l);

/* shm_fds.c: descriptors that wait for their frame */
uint32_t shm_fds_nb(const struct shm_link *l);
/* Those of another frame may find no room. */
bool shm_fds_are_many(const struct shm_link *l);
/* Stash those of a message, or take the link down; *msg is dropped then. */
void shm_fds_arrived(struct shm_link *l, struct comch_foreign_msg *msg);
/* Take those of a frame. Returns 0, -EAGAIN (retry) or -EPROTO. */
int shm_fds_take(struct shm_link *l, int *fds, uint32_t nb_fds);
/* Drop the references to memory that the last frame exported. */
void shm_fds_unmap(struct shm_link *l);
/* And all that is stashed. */
void shm_fds_drop(struct shm_link *l);

/* shm_ring.c: rings that grow */
void shm_ring_prepare(struct rte_comch_link *link, uint32_t nb_msgs, uint32_t len);
/* Our ring was full. */
void shm_ring_full(struct shm_link *l);
/* For base.needs_setup. */
void shm_ring_step(struct shm_link *l);
/* The peer offers its larger ring, in *msg, which is dropped. */
void shm_ring_offered(struct shm_link *l, struct comch_foreign_msg *msg);
/*
 * The peer's next frame is SHM_PREFIX_RING: read on behind it. Returns 0 or a negative errno, with
 * which the link is down.
 */
int shm_ring_take(struct shm_link *l);
void shm_ring_free(struct shm_link *l);

/* shm_frame.c */
/* Tell the peer that the cells after this frame are in its new ring. There is room for it. */
void shm_frame_tx_ring(struct shm_link *l);
/* Number of cells of a frame of len bytes. */
static inline uint32_t
shm_frame_cells(uint32_t len)
{
	return (len + (uint32_t)sizeof(struct shm_frame_prefix) + SHM_CELL_DATA - 1) /
		SHM_CELL_DATA;
}
int shm_frame_tx(struct rte_comch_link *link, const struct rte_comch_frame *frame);
int shm_frame_rx(struct rte_comch_link *link, void *buf, uint32_t size,
		int fds[RTE_COMCH_FRAME_FDS], uint32_t *nb_fds);
bool shm_frame_pending(const struct rte_comch_link *link);
const uint64_t *shm_frame_word(const struct rte_comch_link *link, uint64_t *value);

/* shm_mem.c */
/* The import limit of the device and the connection; and count memory of a connection. */
struct comch_peermap_limit shm_mem_limit(struct rte_comch_link *link);
bool shm_mem_take(struct shm_link *l, uint64_t len);
void shm_mem_give(struct shm_link *l, uint64_t len);
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
