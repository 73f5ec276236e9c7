/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef STRANGER_H
#define STRANGER_H

/*
 * A peer of the shm driver that does what an input says, and an application at the other end
 * of its connection that does so, too.
 *
 * The input is a sequence of steps. Most send a frame that an honest peer could send, made
 * from a few bytes of the input, and sometimes wrong in one place: frames of random bytes
 * would end each connection at once. Other steps write into the memory that the stranger
 * shares, send on its socket, or have the application send, post, start and stop.
 */

#include "app.h"
#include "raw_peer.h"

/* Regions and sockets that the stranger makes at most. */
#define STRANGER_MAX_MADE 12

/* A region that the stranger made: of a consumer, or for one of the application's. */
struct stranger_mem {
	struct raw_mem mem;
	int wake[2];       /* -1: none */
};

struct stranger {
	struct fuzz_in in;
	struct app app;
	/* The stranger. */
	struct raw_peer raw;
	bool is_over;                /* the application's end has hung up */
	/* It has lied about what it read: the library's end may have written over the rest. */
	bool is_deaf;
	const char *name;            /* of the server */
	struct stranger_mem made[STRANGER_MAX_MADE];
	uint32_t nb_made;
	/* What the application announced last. */
	uint32_t app_cons;
	uint32_t app_depth;
	uint32_t app_staging;
	uint32_t app_mr;
	uint32_t app_prod;
};

/* Begin with a socket that is connected; the library's end belongs to node. */
void stranger_begin(struct stranger *s, struct t_node *node, const char *name, int sock);
/* Do all that the input says. */
void stranger_run(struct stranger *s);
/* Hang up, and end the application's objects of the connection. */
void stranger_end(struct stranger *s);

/* Start EAL, on the shm driver. */
void stranger_init(void);

/* Step the library's end, and take in what it sends. */
void stranger_settle(struct stranger *s);

#endif /* STRANGER_H */
