/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SOAK_WORLD_H
#define SOAK_WORLD_H

/*
 * The environment of the actors, one per program:
 *
 *   world_procs.c     processes over shared memory
 *   world_threads.c   threads over RDMA, on verbs in memory
 */

#include <pthread.h>

#include "actor.h"
#include "t_proc.h"

/** An actor, as the supervisor sees it. */
struct worker {
	struct actor_conf conf;
	struct t_proc proc;   /* its descriptor wakes the actor */
	pthread_t thread;
	char name[16];
	bool is_running;
	uint64_t start_ms;    /* when to start it, if it is not running */
	uint64_t cont_ms;     /* when to continue it; 0: it is not stopped */
	uint64_t dying_ms;    /* since when a killed actor cleans up; 0: it does not */
};

struct soak_world {
	const char *driver;   /* "shm" */
	/* Accepted messages survive the death of their sender. */
	bool keeps_accepted;
	/* Each actor compares its resources with before; else the supervisor does, for all. */
	bool counts_each;

	void (*open)(struct soak_books *b);
	/* What the transport does to messages in the next phase, in words. */
	const char *(*draw)(struct soak_rnd *rnd);
	void (*start)(struct worker *w);
	/* At once, at any instruction. The caller logs it afterwards. */
	void (*kill)(struct worker *w, struct soak_rnd *rnd);
	void (*stop)(struct worker *w);
	void (*cont)(struct worker *w);
	/* Has a running actor ended? If so, it is joined. */
	bool (*has_ended)(struct worker *w);
	/* Are the resources of a killed actor released? */
	bool (*is_gone)(struct worker *w);
	/* Device string of an actor. */
	const char *(*dev)(uint32_t number);
	/* Objects of the transport. */
	uint32_t (*objects)(void);
	void (*close)(struct soak_books *b);
};

extern const struct soak_world soak_world;

#endif /* SOAK_WORLD_H */
