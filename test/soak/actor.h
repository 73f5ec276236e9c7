/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SOAK_ACTOR_H
#define SOAK_ACTOR_H

/*
 * An actor is a process or a thread under test: a server, or a client with some connections.
 * It decides by itself what it sends, creates and ends; the supervisor stops and kills it.
 */

#include "msg.h"
#include "t_pair.h"

#define ACTOR_SEATS 3       /* connections of a client process */
#define ACTOR_KEPT 6
#define END_CONSUMERS 3
#define END_PRODUCERS 3
#define PRODUCER_OPS 64
#define PRODUCER_BURST 8

struct actor;
struct end;

/** A consumer and its buffers. */
struct consumer {
	struct rte_comch_consumer *cons;
	struct t_mem mem;
	uint32_t mem_flags;
	uint32_t id;
	uint32_t buf_len;
	uint32_t depth;
	uint64_t posted;
	uint64_t returned;
	bool is_ending;
};

/** A message that the channel has. */
struct flight {
	uint64_t seq;
	uint64_t arena_end;
	bool is_silent;
};

/** A producer. It sends to one consumer of the peer at a time. */
struct producer {
	struct rte_comch_producer *prod;
	struct soak_stream *stream; /* NULL: it has no target */
	struct t_mem arena;         /* a ring; each message is in one piece */
	uint64_t head, tail;        /* bytes; those offered are behind head */
	struct flight flights[PRODUCER_OPS];
	uint32_t nb_flights, first;
	/* Offered, not accepted yet. */
	struct rte_comch_op ops[PRODUCER_BURST];
	struct rte_comch_sge sges[PRODUCER_OPS][2]; /* by sequence number */
	struct flight next[PRODUCER_BURST];
	uint8_t imms[PRODUCER_BURST][SOAK_IMM];
	uint16_t nb_ops;
	uint64_t due_ms;
	bool is_switching;
	bool is_ending;             /* by its own stop */
};

/** One end of a connection. */
struct end {
	struct actor *a;
	struct rte_comch_conn *conn;
	struct soak_conn *book;     /* NULL: not connected yet, or the client is forgotten */
	uint64_t serial;
	struct soak_end *mine, *peers;
	bool is_up;
	bool is_leaving;            /* destroys what it has, then asks for the end */
	bool is_bare;               /* no producers or consumers are left */
	bool is_asked;
	bool is_down;
	bool is_stuck;              /* said already */
	uint64_t sent_next;         /* no SENT event below is to come */
	uint64_t consumers;         /* ids of the peer's consumers, a bit each */
	struct consumer cons[END_CONSUMERS];
	struct producer prods[END_PRODUCERS];
	bool is_quiet;              /* little happens, at both ends */
	uint64_t ctrl_ms;           /* when to send next */
	uint64_t change_ms;         /* when to change something next */
	uint64_t end_ms;            /* since when it is leaving or down */
	struct end *next;
};

/** A client of a client process. */
struct seat {
	struct rte_comch_client *client;
	struct end *end;            /* NULL: before it is connected, and after */
	struct soak_conn *book;
	uint64_t due_ms;
	uint64_t begin_ms;
};

struct kept {
	struct t_mem mem;
	uint32_t flags;
};

struct actor {
	struct soak_books *books;
	struct soak_books *grave;   /* of a killed thread: the books of its remains */
	struct soak_proc *me;
	uint32_t number;
	enum soak_side side;
	const char *name;           /* of the server */
	int fd;                     /* the supervisor wakes it; -1: it does not */
	struct soak_rnd rnd;
	struct rte_comch_poll *poll;
	int16_t dev;
	struct rte_comch_server *server;
	struct seat seats[ACTOR_SEATS];
	uint32_t nb_seats;
	struct end *ends;
	uint32_t nb_ends;
	uint8_t *msgs;              /* a burst of control messages */
	struct kept kept[ACTOR_KEPT]; /* memory for the next consumers */
	uint32_t nb_kept;
	uint64_t now_ms;
	uint64_t due_ms;            /* when to go on, if nothing else happens */
	uint64_t calm_ms;           /* until then only others wake it */
	uint64_t next_calm_ms;
	uint64_t stop_ms;           /* since when the server stops; 0: it does not */
	uint64_t restart_ms;        /* when the server does next */
	bool has_moved;
};

#define CTRL_BURST 16
#define MAX_CTRL_MSG 131072

struct actor_conf {
	struct soak_books *books;
	uint32_t number;
	const char *name;
};
/* Life of an actor, in a process or thread of its own. What comes over fd wakes it. */
void actor_live(int fd, const struct actor_conf *conf);

/* One round of work: events, then what is due. */
void actor_turn(struct actor *a);
/* Sleep until something happens or is due. */
void actor_sleep(struct actor *a);
void actor_open(struct actor *a, const struct actor_conf *conf);
void actor_close(struct actor *a);
/* It was killed: none of its books count any more (grave.c). */
void actor_bury(struct actor *a);
/* Nothing is left of its connections. */
bool actor_is_idle(const struct actor *a);
static inline uint32_t
actor_order(const struct actor *a)
{
	return soak_get(&a->me->order);
}
/* Something is to be done then. */
void actor_due(struct actor *a, uint64_t ms);
/* Nothing that happens to it counts any more. */
static inline bool
actor_is_killed(const struct actor *a)
{
	return soak_get(&a->me->is_killed) != 0;
}
#define ACTOR_FAULT(a, fmt, ...) \
	do { \
		if (!actor_is_killed(a)) \
			soak_fault((a)->books, "%s %u: " fmt, (a)->side == SOAK_DPU ? \
				"server" : "client", (a)->number, ##__VA_ARGS__); \
	} while (0)

/* Clients of a client process, and the server of the other (ends.c). */
void seats_turn(struct actor *a);
void seat_event(struct actor *a, const struct rte_comch_event *ev);
void server_turn(struct actor *a);
void server_event(struct actor *a, const struct rte_comch_event *ev);

/* One end of a connection (end.c). */
struct end *end_new(struct actor *a, struct rte_comch_conn *conn);
/* Which one it is. */
void end_book(struct end *e, struct soak_conn *book);
void end_event(struct end *e, const struct rte_comch_event *ev);
/* The end may be freed: all of it has ended. */
void end_turn(struct end *e);
void end_leave(struct end *e);
/* Create, stop and end something at random. */
void end_change(struct end *e);

/* Producers and consumers (consumer.c, producer.c). */
void consumer_new(struct end *e);
void consumer_turn(struct end *e, struct consumer *c);
void consumer_end(struct end *e, struct consumer *c);
void producer_new(struct end *e);
void producer_turn(struct end *e, struct producer *p);
void producer_end(struct end *e, struct producer *p);
void kept_free(struct actor *a);

/*
 * Resources of this process when idle (figures.c). The first time, they become *base* once they
 * do not change any more; later they get some time to return to it. Returns what has grown, or
 * NULL. Meanwhile *step* is called.
 */
const char *figures_settle(struct soak_figures *base, bool is_first, struct soak_figures *now,
		void (*step)(void *arg), void *arg);
/* "9/8 descriptors, ..." */
void figures_text(char *buf, size_t size, const struct soak_figures *base,
		const struct soak_figures *now);

#endif /* SOAK_ACTOR_H */
