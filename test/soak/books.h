/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SOAK_BOOKS_H
#define SOAK_BOOKS_H

/*
 * The books: what each end of each connection has sent and received, in memory that the
 * supervisor owns and all processes map. They survive an end that is killed.
 *
 * Each word has one writer. A sender writes "offered" before a burst and "accepted" after
 * it, so that the truth about a killed one is between the two.
 */

#include <stdbool.h>
#include <stdint.h>

#define SOAK_PROCS 8        /* the server, and clients */
#define SOAK_CONNS 192
#define SOAK_STREAMS 48     /* of a connection, from each end, in its life */
#define SOAK_CONSUMERS 48   /* ids of consumers, likewise */
#define SOAK_FAULTS 64
#define SOAK_NONE UINT64_MAX
#define SOAK_PID_GONE (-1)  /* of a process that lives no more */

/** A random number generator of one thread. */
struct soak_rnd {
	uint64_t state;
};

/** The two ends of a connection. */
enum soak_side {
	SOAK_HOST,
	SOAK_DPU,
	SOAK_SIDES,
};

/** Messages with an order: control messages one way, or those of a producer to a consumer. */
struct soak_stream {
	uint32_t prod_id;   /* 0: control messages */
	uint32_t cons_id;
	uint32_t max_len;
	/* Of the sender: sequence numbers, from 0. */
	uint64_t offered;
	uint64_t accepted;
	uint64_t sent_ms;   /* when the last was accepted (control) or completed with 0 */
	uint64_t owed;      /* accepted messages that are not silent... */
	uint64_t done;      /* ...and how many of them have completed */
	uint64_t ok_end;    /* behind the last one that completed with 0 */
	uint64_t refused;   /* the first that completed as not sent; SOAK_NONE */
	bool is_broken;     /* one has failed: nothing more is sent */
	/* Of the receiver: each was the next in order, and whole. */
	uint64_t delivered;
	/* Of the supervisor: when it last saw a change. */
	uint64_t seen_sum;
	uint64_t seen_ms;
};

/** What is known of one end. */
struct soak_end {
	uint32_t state;     /* enum soak_end_state */
	uint32_t initiated; /* it has asked for the end of the connection */
	int32_t status;     /* of DISCONNECTED */
	char text[128];
	uint64_t started_ms; /* when its last producer or consumer was */
	struct soak_stream ctrl;          /* what this end sends */
	struct soak_stream streams[SOAK_STREAMS];
	uint32_t nb_streams;
	/* Lengths of the buffers of this end's consumers, plus 1, by id. */
	uint32_t buf_len[SOAK_CONSUMERS];
};

enum soak_end_state {
	SOAK_END_NONE,   /* not connected yet */
	SOAK_END_OPEN,
	SOAK_END_CLOSED, /* all events and completions were taken */
	SOAK_END_KILLED,
};

struct soak_conn {
	uint64_t serial;    /* unique in a run; 0: free */
	uint32_t client;    /* number of its process... */
	uint32_t life;      /* ...and which of those that had the number */
	int32_t client_pid;
	int32_t server_pid; /* 0: not known yet */
	bool is_void;       /* the client was never connected */
	bool has_failed;    /* said already */
	uint64_t begin_ms;  /* when it was taken */
	uint64_t ended_ms;  /* when one end was gone; 0: both are there */
	struct soak_end end[SOAK_SIDES];
};

enum soak_order {
	SOAK_GO,
	SOAK_REST,  /* end all connections, and give back what is kept */
	SOAK_QUIT,
};

/** Resources of an idle process. */
struct soak_figures {
	uint32_t fds;
	uint32_t threads;
	uint32_t maps;
	uint32_t memfds;    /* of the maps */
	uint32_t objects;   /* of the transport */
	uint64_t rss_kb;
};

struct soak_proc {
	int32_t pid;            /* 0: there is none; of a thread, a number that is used once */
	uint32_t life;          /* counts the processes of this number */
	uint32_t order;         /* enum soak_order */
	uint32_t is_resting;
	/* Of a thread, which cannot be stopped and killed from outside. */
	uint32_t is_open;       /* its device is */
	uint32_t is_stopped;
	uint32_t is_killed;     /* it is about to be dead */
	uint32_t is_dead;       /* nothing of it reaches the others any more */
	uint32_t is_buried;     /* and it writes into these books no more */
	uint32_t has_ended;
	uint32_t nb_rests;      /* of this life */
	struct soak_figures base; /* at the first one */
	struct soak_figures now;
};

struct soak_counts {
	uint64_t connects;
	uint64_t refused;   /* attempts to connect that found no server */
	uint64_t orphans;   /* connections whose client was gone when the server saw them */
	uint64_t ctrl;      /* delivered and verified */
	uint64_t data;
	uint64_t bytes;
	uint64_t failed_ops;
	uint64_t consumers;
	uint64_t producers;
	uint64_t not_started; /* consumers over a limit */
	uint64_t sleeps;
};

struct soak_books {
	uint64_t seed;
	uint32_t run;
	uint64_t next_serial;
	struct soak_proc procs[SOAK_PROCS];
	uint32_t nb_procs;
	struct soak_counts counts;
	uint32_t nb_faults;
	char faults[SOAK_FAULTS][400];
	struct soak_conn conns[SOAK_CONNS];
};

#define soak_get(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define soak_set(p, val) __atomic_store_n(p, val, __ATOMIC_RELEASE)
#define soak_add(p, val) __atomic_fetch_add(p, val, __ATOMIC_RELAXED)

/* The books, shared with children that are forked later. */
struct soak_books *soak_books_new(uint64_t seed);
/* A connection of a client process; NULL: none is free. */
struct soak_conn *soak_conn_take(struct soak_books *b, uint32_t client);
/*
 * The server's end finds its connection by the length of the client's receive queue, which
 * is soak_conn_queue(). NULL: the client had sent nothing when it was killed, and the
 * connection is given up.
 */
uint32_t soak_conn_queue(const struct soak_books *b, const struct soak_conn *c);
struct soak_conn *soak_conn_open(struct soak_books *b, uint32_t queue, int32_t client_pid,
		int32_t server_pid);
/*
 * The client's end knows the server's process by the length of its receive queue, where no
 * kernel says it: a length for this life, and the pid of one with this length.
 */
uint32_t soak_server_queue(const struct soak_books *b, struct soak_rnd *rnd);
int32_t soak_server_pid(const struct soak_books *b, uint32_t queue);
void soak_conn_release(struct soak_conn *c);
/* A stream of one end; NULL: it has had too many. */
struct soak_stream *soak_stream_new(struct soak_end *e, uint32_t prod_id, uint32_t cons_id,
		uint32_t max_len);
struct soak_stream *soak_stream_find(struct soak_end *e, uint32_t prod_id, uint32_t cons_id);

/* Something is wrong: write it into the books. */
void soak_fault(struct soak_books *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* SOAK_BOOKS_H */
