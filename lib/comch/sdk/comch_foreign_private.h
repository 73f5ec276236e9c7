/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_FOREIGN_PRIVATE_H
#define COMCH_FOREIGN_PRIVATE_H

/*
 * Shared by the callers' side (comch_foreign.c, comch_foreign_close.c), the order of messages
 * (comch_foreign_line.c), the receiving call (comch_foreign_sock.c), the threads that
 * receive and close (comch_foreign_threads.c), their descriptor tables (comch_foreign_table.c)
 * and their CPU (comch_foreign_cpu.c). All state is protected by the lock, which is not held
 * during system calls that can block.
 */

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_foreign.h"

#define COMCH_FOREIGN_SLOTS (COMCH_FOREIGN_RECEIVERS + COMCH_FOREIGN_CLOSERS)
/* Interval of the supervisor's checks while jobs are in progress, ms. */
#define COMCH_FOREIGN_TICK_MS 20
#define COMCH_FOREIGN_STUCK_TICKS (COMCH_FOREIGN_STUCK_MS / COMCH_FOREIGN_TICK_MS)

enum comch_foreign_kind {
	COMCH_FOREIGN_RECEIVER,
	COMCH_FOREIGN_CLOSER,
	COMCH_FOREIGN_NB_KINDS,
};

enum comch_foreign_state {
	COMCH_FOREIGN_WAITING,   /* in a line, for the peer's share of the receivers */
	COMCH_FOREIGN_QUEUED,
	COMCH_FOREIGN_RUNNING,
	COMCH_FOREIGN_REPLYING,  /* received; on its way to the program */
	COMCH_FOREIGN_DONE,
};

enum comch_foreign_discard {
	COMCH_FOREIGN_DISCARD_NONE,
	COMCH_FOREIGN_DISCARD_WANTED,
	COMCH_FOREIGN_DISCARD_ASKED,
};

struct comch_foreign_job {
	TAILQ_ENTRY(comch_foreign_job) next; /* in a line, or in pool->jobs */
	enum comch_foreign_state state;
	struct comch_foreign_line *line; /* WAITING */
	int sock;                /* WAITING: the caller's */
	bool cancelled;
	bool replied;            /* its descriptors are in the reply socket */
	uint32_t refs;           /* of the caller, and of the queue or a receiver */
	uint32_t ticks;          /* of the supervisor, in this state */
	struct comch_foreign_peer peer;
	struct comch_peermap_limit limit;
	struct comch_foreign_msg msg;
	comch_news_t news;
	void *ctx;
	bool wake;               /* its poll sleeps: the waker calls news */
	bool is_watched;         /* by the caller, so the supervisor may sleep */
};

/* A thread. */
struct comch_foreign_slot {
	bool used;
	enum comch_foreign_kind kind;
	bool busy;
	int tid;                 /* 0: not running yet */
	int cpu;                 /* it was pulled to this one; or -1 */
	uint32_t ticks;          /* of the supervisor, while busy */
	struct comch_foreign_peer peer;
};

struct comch_foreign_pool {
	pthread_mutex_t lock;
	pthread_cond_t work;     /* wakes the supervisor */
	pthread_cond_t wake;     /* wakes the waker: a job's poll sleeps */
	bool supervisor_sleeps;  /* without a timeout: no job, but for one that is_watched */
	bool has_waker;
	bool drain;              /* for the waker: the reply socket is full */
	bool started;
	/* Socket ends in the program's table: sends jobs, receives replies. */
	int out[COMCH_FOREIGN_NB_KINDS];
	int reply;
	/* The other ends, and a second one of the replies, in the threads' tables. */
	int in[COMCH_FOREIGN_NB_KINDS];
	int reply_out;
	int reply_discard;
	/* The program's table had no free descriptor for the oldest reply. */
	enum comch_foreign_discard discard;
	uint32_t nb_queued[COMCH_FOREIGN_NB_KINDS];
	uint32_t nb_threads[COMCH_FOREIGN_NB_KINDS];
	struct comch_foreign_slot slot[COMCH_FOREIGN_SLOTS];
	TAILQ_HEAD(comch_foreign_jobs, comch_foreign_job) jobs;
	/* Peers with more messages than they may have received at a time. */
	TAILQ_HEAD(, comch_foreign_line) lines;
	bool lines_blocked;      /* for lack of room, not of a share: retry */
	uint64_t away_until;     /* TSC; no receiver is pulled: comch_foreign_cpu.c */
	/* Freed jobs for reuse: free() in these threads would contend for the heap. */
	struct comch_foreign_jobs spare;
};

extern struct comch_foreign_pool comch_foreign_pool;

/* The absolute time in ms from now, for pthread_cond_timedwait(). */
void comch_foreign_in_ms(struct timespec *ts, uint32_t ms);
/*
 * Shut down a socket, for comch_foreign_hang_up(). True: its queue is empty for good, so
 * closing it does not block.
 */
bool comch_foreign_is_drained(int sock);
/* Get the descriptors of a received message; at most COMCH_FOREIGN_FDS. */
uint32_t comch_foreign_unpack(struct msghdr *msg, int *fds);
/* Under the lock. */
void comch_foreign_unref(struct comch_foreign_job *job);
void comch_foreign_finish(struct comch_foreign_job *job, int len);
void comch_foreign_notify(struct comch_foreign_job *job);
uint32_t comch_foreign_nb_idle(enum comch_foreign_kind kind);
/* A socket is on its way to the threads of a kind. */
void comch_foreign_count_queued(enum comch_foreign_kind kind);
/* Send it there: the descriptor also stays in this table. */
int comch_foreign_hand_over(enum comch_foreign_kind kind, struct comch_foreign_job *job, int fd);
/* Start the supervisor and the waker. */
int comch_foreign_start_locked(void);

/* comch_foreign_close.c; under the lock. */

/* Close a descriptor, by a closer, or later if they have no room. */
void comch_foreign_close_locked(int fd);
/* Descriptors that are still to be closed. */
uint32_t comch_foreign_nb_closing(void);
/* Of them, those that wait for room; a try. */
bool comch_foreign_has_backlog(void);
void comch_foreign_backlog_flush(void);
void comch_foreign_close_start(void);
/* In a child. */
void comch_foreign_close_forked(void);

/* comch_foreign_line.c; under the lock. */

/*
 * Queue a new job, which the caller hands over to the receivers when it has released the lock; or
 * have it wait in its peer's line.
 */
int comch_foreign_line_start(struct comch_foreign_job *job);
/*
 * It could not be handed over: have it wait there after all, if there was no room. Another value
 * than 0: it is listed nowhere.
 */
int comch_foreign_line_unsent(struct comch_foreign_job *job, int err);
/* A job that waits is cancelled. */
void comch_foreign_line_leave(struct comch_foreign_job *job);
/* Hand over what shares allow by now. A thread with the program's table. */
void comch_foreign_line_advance(void);
/* A peer's share may have grown: have the waker advance the lines. */
void comch_foreign_line_freed(void);

/* comch_foreign_table.c */

/* Give this thread its own table, with n descriptors only. Returns 0 or -errno. */
int comch_foreign_own_table(const int *keep, unsigned int n);
/* close() in such a thread. */
void comch_foreign_own_close(int fd);

/* comch_foreign_cpu.c */

/* In a helper thread: ask for a short time slice. */
void comch_foreign_cpu_slice(void);
/*
 * In the supervisor, whose CPUs are those of the threads that it starts. The thread that starts
 * it holds the lock for it.
 */
void comch_foreign_cpu_home(void);
/*
 * Have the idle receivers run on the CPU of this thread, which yields it then. False: they
 * run elsewhere. Under the lock, as below.
 */
bool comch_foreign_cpu_pull(void);
/* A receiver takes long, or may: send all home, and pull none for a while. */
void comch_foreign_cpu_leave(void);
/*
 * The same in a receiver, whose own CPU is another matter: it could wait for a new one with the
 * lock held. True: it calls comch_foreign_cpu_go_home() without the lock.
 */
bool comch_foreign_cpu_leave_others(struct comch_foreign_slot *self);
void comch_foreign_cpu_go_home(void);

/* Posted when the supervisor has its own table, or failed to create it. */
struct comch_foreign_start {
	sem_t ready;
	int ret;
};

/* The supervisor, which starts the other threads; arg: a struct comch_foreign_start. */
comch_thread_ret_t comch_foreign_supervisor(void *arg);

#endif /* COMCH_FOREIGN_PRIVATE_H */
