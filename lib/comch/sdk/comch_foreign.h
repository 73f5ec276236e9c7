/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_FOREIGN_H
#define COMCH_FOREIGN_H

/*
 * Descriptors that a peer sends.
 *
 * Dropping one may block for as long as its sender likes: a TCP socket with
 * SO_LINGER waits in close() for its data to be sent, a file of FUSE waits for
 * its daemon, even after SIGKILL. The kernel drops descriptors in close(), in
 * recvmsg() without room for them, in recv(), and when a socket is closed
 * whose queue holds some. A thread that runs a poll does none of these on a
 * socket that a peer can write to.
 *
 * Threads with a descriptor table of their own do, the receivers and the
 * closers. Receivers pass on memfds and unix sockets only; anything else
 * never gets into the table of the program, so that a close() that never
 * returns cannot keep the program's sockets and locks open after its death.
 *
 *   poll's thread                              threads here
 *     comch_foreign_next()  descriptors are next
 *     comch_foreign_recv()  -- the socket -->  recvmsg(), check each
 *     comch_foreign_take()  <-- fds ---------  comch_news_t
 *     comch_foreign_close() -- a socket ---->  close()
 *
 * All calls may be made by any thread, and none of them blocks.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "sdk/comch_shown.h"
#include "rte_comch_driver.h"

/* Descriptors and bytes of one message. */
#define COMCH_FOREIGN_FDS RTE_COMCH_FRAME_FDS
#define COMCH_FOREIGN_BYTES 16

/* A peer whose descriptor takes this long to drop is given up. */
#define COMCH_FOREIGN_STUCK_MS 1000
/* Messages of one process, and of one user, that are received at a time. */
#define COMCH_FOREIGN_PER_PID 4
#define COMCH_FOREIGN_PER_UID 8
/* Threads of each kind. */
#define COMCH_FOREIGN_RECEIVERS 32
#define COMCH_FOREIGN_CLOSERS 8

/* Who is at the other end, for the shares of peers. -1: unknown. */
struct comch_foreign_peer {
	int32_t uid;
	int32_t pid;
};

/* One message as it was received. */
struct comch_foreign_msg {
	int len;         /* bytes; 0: end of the stream; or a negative errno */
	uint32_t nb_fds;
	int fds[COMCH_FOREIGN_FDS];
	/* Payload memory that was left open for one process: mapped and sealed; or NULL. */
	struct comch_shown *shown[COMCH_FOREIGN_FDS];
	uint8_t data[COMCH_FOREIGN_BYTES];
};

struct comch_foreign_job;

/*
 * A job is done. Called by a thread of ours, first with can_wake false: that
 * thread has another descriptor table, so no number of a descriptor means
 * anything. If it returns true the poll sleeps, and it is called again, with
 * can_wake true, by a thread that has the program's.
 */
typedef bool (*comch_news_t)(void *ctx, bool can_wake);

/* What a socket has next. */
enum comch_foreign_next {
	COMCH_FOREIGN_NOTHING,
	COMCH_FOREIGN_PLAIN, /* a message without descriptors: recv() drops nothing */
	COMCH_FOREIGN_FDS_NEXT,
	COMCH_FOREIGN_END,   /* closed by the peer, or an error */
};

/* Start the threads, unless they run. 0 or a negative errno. */
int comch_foreign_start(void);

enum comch_foreign_next comch_foreign_next(int sock);

/*
 * Have one message received. The socket stays the caller's; until the job is
 * taken or cancelled it must not be read. When the message is there, news
 * is called, and never after a cancel. Payload memory that has to be sealed is
 * mapped and sealed, within *limit* (NULL: there is none): that may wait for
 * its sender, too.
 * 0, -EAGAIN (later: the peer has its share under way), -EDQUOT (and that is
 * stuck), -ENOMEM.
 */
int comch_foreign_recv(int sock, const struct comch_foreign_peer *peer,
		const struct comch_shown_limit *limit, comch_news_t news, void *ctx,
		struct comch_foreign_job **job);

/*
 * 0: the message is in *msg*, the descriptors and what is shown by them are
 * the caller's, the job is gone. -EINPROGRESS: not yet. msg->len is -EPROTO if
 * there were descriptors of other kinds or too many, -EMFILE, or -ETIMEDOUT
 * (dropping blocks).
 */
int comch_foreign_take(struct comch_foreign_job *job, struct comch_foreign_msg *msg);

/* Give up what a message shows. */
void comch_foreign_unshow(struct comch_foreign_msg *msg);

/* Forget a job. */
void comch_foreign_cancel(struct comch_foreign_job *job);

/*
 * Close a socket that came from a peer, or whose queue a peer can fill. It is
 * taken out of all epoll sets first: the file may stay open for a while.
 */
void comch_foreign_close(int fd);

/* Close the descriptors of a ticket from the peer: all whose place has not -1. */
static inline void
comch_foreign_close_ticket(struct rte_comch_ticket *ticket)
{
	uint32_t i;

	for (i = 0; i < ticket->nb_fds; i++)
		if (ticket->fds[i] >= 0)
			comch_foreign_close(ticket->fds[i]);
	ticket->nb_fds = 0;
}

/* A unix socket: what a peer is woken by. */
bool comch_foreign_is_unix(int fd);

/* Descriptors of one message. */
union comch_foreign_control {
	struct cmsghdr align;
	char buf[CMSG_SPACE(sizeof(int) * COMCH_FOREIGN_FDS)];
};
/* Fill in the header of a message: its bytes, and at most COMCH_FOREIGN_FDS descriptors. */
void comch_foreign_pack(struct msghdr *msg, struct iovec *iov,
		union comch_foreign_control *control, const int *fds, uint32_t nb_fds);

/* Have the kernel refuse descriptors on this socket (Linux 6.16). False: it does not. */
bool comch_foreign_refuse(int sock);

#endif /* COMCH_FOREIGN_H */
