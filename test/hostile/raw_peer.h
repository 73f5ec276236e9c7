/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RAW_PEER_H
#define RAW_PEER_H

/*
 * A peer written from scratch against the wire: it knows the layouts and
 * nothing of the library, and may lie in each field. It waits only for room in
 * its ring: the caller runs the victim in between.
 */

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "comch_chan.h"
#include "ctrl/comch_wire.h"
#include "shm_layout.h"

#define RAW_CELLS 256
#define RAW_MAX_FDS 16
#define RAW_SEALS_PAYLOAD (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define RAW_SEALS (RAW_SEALS_PAYLOAD | F_SEAL_FUTURE_WRITE)

struct raw_peer {
	int sock;
	/* what we write */
	int own_fd;
	struct shm_link_shared *own;
	struct shm_cell *own_cell; /* in *own, or in a ring that has grown */
	size_t own_len;
	uint32_t cells;
	uint64_t tx_pos;
	uint32_t acked;          /* goes into each frame */
	uint32_t flags;          /* go into HELLO and ACCEPT */
	uint32_t link_flags;     /* SHM_HELLO_F_* */
	/* what the victim writes */
	struct shm_link_shared *vic;
	const struct shm_cell *vic_cell;
	void *vic_grown;         /* the larger ring that it offers */
	size_t vic_len;
	uint32_t vic_cells;
	uint64_t rx_pos;
	bool mute;               /* never tell how far we have read */
	bool deaf;               /* leave descriptors in the socket */
	int fds[RAW_MAX_FDS];    /* that came and belong to no frame yet */
	uint32_t nb_fds;
};

/* A region of ours, mapped for writing. */
struct raw_mem {
	void *addr;
	size_t len;
	int fd;
};

/* A frame of the victim. */
struct raw_frame {
	uint32_t type;
	uint32_t len;            /* of the body */
	uint32_t acked;
	uint8_t body[4096];
	int fds[RTE_COMCH_FRAME_FDS];
	uint32_t nb_fds;
};

/* A frame of ours. What is 0 is filled in truthfully unless lie is set. */
struct raw_send {
	uint32_t type;
	const void *body;
	uint32_t len;
	int fds[RTE_COMCH_FRAME_FDS];
	uint32_t nb_fds;
	bool lie;                /* say what follows, whatever is true */
	uint32_t say_body;       /* body length in the header */
	uint32_t say_len;        /* frame length in the prefix */
	uint32_t say_fds;        /* descriptors in the prefix */
	uint32_t junk;           /* bits 8 to 31 of the header's first word */
};

void raw_path(char *buf, size_t size, const char *dir, const char *func, const char *name);
/* A socket: connected to a victim, or one that a victim may connect to. -1: no. */
int raw_dial(const char *dir, const char *func, const char *name);
int raw_listen(const char *dir, const char *func, const char *name);

/* Memory of len bytes; MFD_* flags, F_SEAL_* seals. */
void raw_mem_new(struct raw_mem *m, size_t len, unsigned int flags, unsigned int seals);
void raw_mem_free(struct raw_mem *m);

/* One message on a socket. Returns what sendmsg() does. */
ssize_t raw_sock_send(int sock, const void *data, size_t len, const int *fds, uint32_t nb);
/* Unrequested descriptors, or a wake-up. */
void raw_wake(struct raw_peer *p);

/* What a peer may leave behind that cannot be read to its end. */
enum raw_scrap {
	RAW_NO_SCRAP,
	RAW_HALF_HELLO,   /* later: a byte of an unknown kind */
	RAW_HALF_FRAME,   /* its first cell; nothing without a link */
	RAW_STRAY_FD,     /* a descriptor without a frame */
	RAW_NB_SCRAPS,
};

void raw_leave(struct raw_peer *p, enum raw_scrap scrap);

/* Our end of a link over a socket; says hello. */
void raw_open(struct raw_peer *p, int sock, uint32_t cells);
/* The same without a word. */
void raw_prepare(struct raw_peer *p, int sock, uint32_t cells);
void raw_hello(struct raw_peer *p);
/* Has the victim said hello, too? */
bool raw_is_up(struct raw_peer *p);
/* Has the victim offered a larger ring, which we have mapped and said so? */
bool raw_has_ring(struct raw_peer *p);
/* Close all; the victim sees us die. */
void raw_close(struct raw_peer *p);
/* Has the victim hung up? */
bool raw_is_hung_up(struct raw_peer *p);

/* Put a frame into our ring; false: it is full. */
bool raw_try(struct raw_peer *p, const struct raw_send *s);
/* The same; runs the victim until it fits. */
void raw_send(struct raw_peer *p, const struct raw_send *s);
/* Bytes as they are, from the prefix on; there is room. */
void raw_put(struct raw_peer *p, const void *bytes, uint32_t len);
/* Take the victim's next frame; false: there is none. */
bool raw_recv(struct raw_peer *p, struct raw_frame *f);
void raw_frame_free(struct raw_frame *f);

/* Frames by type. */
void raw_send_hello(struct raw_peer *p, const char *name, uint32_t max_msg, uint32_t queue);
void raw_send_accept(struct raw_peer *p, uint32_t max_msg, uint32_t queue);
void raw_send_msg(struct raw_peer *p, const void *data, uint32_t len);
void raw_send_status(struct raw_peer *p, uint32_t type, uint32_t id, int32_t status, int fd);
void raw_send_id(struct raw_peer *p, uint32_t type, uint32_t id);
void raw_send_reason(struct raw_peer *p, uint32_t type, int32_t status, const char *text,
		uint16_t len);
void raw_send_mr_add(struct raw_peer *p, uint32_t id, uint64_t offset, uint64_t size, int fd);
void raw_send_producer(struct raw_peer *p, uint32_t id, int fd);

/* A consumer as we announce it. */
struct raw_cons {
	uint32_t id;
	uint32_t depth;
	uint32_t imm_size;
	uint32_t staging_size;
	struct raw_mem post;
	struct comch_post_shared *shared;
	int wake[2];
	struct raw_mem rec;      /* the victim's, read-only */
};

/* Make its memory; depth may be a lie, room is what there is. */
void raw_cons_new(struct raw_cons *c, uint32_t id, uint32_t depth, uint32_t room,
		uint32_t staging_size);
void raw_cons_announce(struct raw_peer *p, struct raw_cons *c);
/* Map what CONSUMER_ACK brought. */
void raw_cons_map(struct raw_cons *c, int fd);
void raw_cons_free(struct raw_cons *c);
/* Post a descriptor and move the tail. */
void raw_cons_post(struct raw_cons *c, uint32_t region, uint64_t off, uint32_t len);

#endif /* RAW_PEER_H */
