/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DEATHS_H
#define DEATHS_H

/*
 * A process that is killed (the mortal) and its peer (the survivor), over a channel that uses all
 * features. The mortal logs to shared memory that survives it.
 */

#include <rte_comch_mbuf.h>

#include "mp.h"

/** The name of a server that dies. */
#define DEATHS_NAME "mortal"

/* Messages of the longest kind: whole into the buffer, and through a staging ring. */
#define DEATHS_LEN 16384
#define DEATHS_STAGED_LEN 100000

/** Streams of messages each way. Stream n goes to consumer n + 1. */
enum deaths_stream {
	DEATHS_SEALED,
	DEATHS_STAGED,
	DEATHS_NB_STREAMS,
	DEATHS_MBUFS = DEATHS_NB_STREAMS,
	DEATHS_SHARED, /* to the survivor only */
};

/** A stream of mbufs, one way. */
struct deaths_mbufs {
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;
	uint32_t id;
	uint64_t sent, got;
};

#define DEATHS_NB_THREADS 2

/** A consumer to which two threads of the mortal send. */
struct deaths_shared {
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod[DEATHS_NB_THREADS];
	bool is_sending[DEATHS_NB_THREADS]; /* Is it in the call? */
	uint64_t sent[DEATHS_NB_THREADS], done[DEATHS_NB_THREADS], got[DEATHS_NB_THREADS];
	uint64_t posted, flushed;
};

struct deaths_books {
	unsigned int heard;     /**< Control messages received. */
	unsigned int acked;     /**< Those sent that the peer has received. */
	bool has_name;          /**< It is a server that runs. */
	struct mp_data in[DEATHS_NB_STREAMS], out[DEATHS_NB_STREAMS];
	struct deaths_mbufs mbufs;
	struct deaths_shared shared;
};

struct deaths {
	bool server_dies;
	struct deaths_books *books;
};

/* A life; ends by waiting for its death. */
int mortal_run(int fd, void *deaths);
/* Of a phase of it; NULL beyond the last. */
const char *mortal_phase(unsigned int phase);

/*
 * 'N': a mortal begins. 'S': it is stopped; 'O': all others are served. 'K': it is dead;
 * 'D': all is as before. 'E': the end.
 */
int survivor_run(int fd, void *deaths);

/* Receive verified mbufs; send some, up to *end* in all. */
void deaths_mbufs_recv(struct deaths_mbufs *m);
void deaths_mbufs_send(struct deaths_mbufs *m, struct rte_mempool *pool, uint64_t end);
struct rte_mempool *deaths_pool(void);

extern const struct t_driver deaths_driver;

/* A burst of a thread; what has come; its account after a death. */
void deaths_shared_send(struct deaths_shared *s, unsigned int thread);
void deaths_shared_recv(struct deaths_shared *s);
void deaths_shared_check(const struct deaths_shared *here, const struct deaths_shared *dead);

#define DEATHS_NB_MBUFS 255
/** Length of a segment of a pool, and of each message, in bytes. */
#define DEATHS_MBUF_LEN 200

#endif /* DEATHS_H */
