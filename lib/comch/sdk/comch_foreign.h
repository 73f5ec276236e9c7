/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_FOREIGN_H
#define COMCH_FOREIGN_H

/*
 * Receives and closes descriptors that a peer sends.
 *
 * Dropping a descriptor can block for as long as its sender wants: a TCP socket with
 * SO_LINGER waits in close() for its data to be sent, a file of FUSE waits for its
 * daemon, even after SIGKILL. The kernel drops descriptors in close(), in recvmsg()
 * without space for them, in recv(), and when it closes a socket whose queue holds
 * some. A thread that runs a poll makes none of these calls on a socket that a peer
 * can write to.
 *
 * Receiver and closer threads make these calls. They have their own descriptor
 * tables. Receivers pass on memfds and unix sockets only; other files never enter
 * the program's table, so a close() that never returns cannot keep the program's
 * sockets and locks open after its death.
 *
 *   poll's thread                              threads here
 *     comch_foreign_next()  finds descriptors
 *     comch_foreign_recv()  -- the socket -->  recvmsg(), check each
 *     comch_foreign_take()  <-- fds ---------  comch_news_t
 *     comch_foreign_close() -- a socket ---->  close()
 *
 * All calls may be made by any thread, and none of them blocks for a peer. A thread here
 * that holds the lock may lose its CPU, to a peer for instance. The calls that a peer can
 * cause often do not wait for it: comch_foreign_recv() and comch_foreign_take() return
 * -EBUSY, comch_foreign_close() has another thread close the descriptor. comch_foreign_recv() may
 * yield the CPU to a thread here, once.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "sdk/comch_peermap.h"
#include "rte_comch_driver.h"

/* Descriptors and bytes of one message. */
#define COMCH_FOREIGN_FDS RTE_COMCH_FRAME_FDS
#define COMCH_FOREIGN_BYTES 16

/* Time limit for dropping a peer's descriptor, ms; then its link goes down. */
#define COMCH_FOREIGN_STUCK_MS 1000
/* Maximum number of messages of one process, and of one user, received at a time. */
#define COMCH_FOREIGN_PER_PID 4
#define COMCH_FOREIGN_PER_UID 8
/* Maximum number of threads of each kind. */
#define COMCH_FOREIGN_RECEIVERS 32
#define COMCH_FOREIGN_CLOSERS 8

/* The identity of a peer, for these limits. -1: unknown. */
struct comch_foreign_peer {
	int32_t uid;
	int32_t pid;
};

/* Of its credentials; the pid of another pid namespace is 0 there. */
static inline struct comch_foreign_peer
comch_foreign_peer_of(const struct ucred *cred)
{
	return (struct comch_foreign_peer){
		.uid = (int32_t)cred->uid,
		.pid = cred->pid > 0 ? cred->pid : -1,
	};
}

/* A received message. */
struct comch_foreign_msg {
	int len;         /* bytes; 0: end of the stream; or a negative errno */
	uint32_t nb_fds;
	int fds[COMCH_FOREIGN_FDS];
	/* Mappings of payload memory that was unsealed and is sealed now; or NULL. */
	struct comch_peermap *map[COMCH_FOREIGN_FDS];
	int map_err;     /* -errno if a limit or memory prevented such a mapping; or 0 */
	uint8_t data[COMCH_FOREIGN_BYTES];
};

struct comch_foreign_job;

/*
 * A job is done. Called by an internal thread, first with can_wake false: that thread
 * has another descriptor table, so the callback must not use descriptors. It returns
 * true if the poll sleeps; then a thread with the program's table calls it again,
 * with can_wake true.
 */
typedef bool (*comch_news_t)(void *ctx, bool can_wake);

/* The next message of a socket. */
enum comch_foreign_next {
	COMCH_FOREIGN_NOTHING,
	COMCH_FOREIGN_PLAIN, /* a message without descriptors: recv() drops nothing */
	COMCH_FOREIGN_FDS_NEXT,
	COMCH_FOREIGN_END,   /* closed by the peer, or an error */
};

/* Start the threads, unless they run. Returns 0 or a negative errno. */
int comch_foreign_start(void);

enum comch_foreign_next comch_foreign_next(int sock);
/*
 * Receive the next message of a SOCK_SEQPACKET socket, if it has no descriptors. *len: of it, also
 * if it is longer than the room.
 */
enum comch_foreign_next comch_foreign_recv_plain(int sock, bool refuses_fds, void *room,
		size_t size, size_t *len);

/*
 * Receive the messages of one byte without descriptors at the head of a SOCK_SEQPACKET socket, at
 * most n of COMCH_FOREIGN_BYTES_MAX, in four syscalls. Returns their number; 0 if the kernel
 * cannot. *end: no message followed.
 */
#define COMCH_FOREIGN_BYTES_MAX 32
uint32_t comch_foreign_bytes(int sock, char *bytes, uint32_t n, bool *end);

/*
 * Start to receive one message. The caller keeps the socket, and must not read it
 * until the job is taken or cancelled. news is called when the message is received,
 * and never after a cancel. Unsealed payload memory is mapped and sealed, within
 * *limit* (NULL: none): that can block as well.
 * At the peer's limit of messages it waits for its turn. Returns 0, -EBUSY (call again in
 * the next run), -EDQUOT (at the limit, and those are stuck), -ENOMEM, or another error if
 * the threads cannot be started.
 */
int comch_foreign_recv(int sock, const struct comch_foreign_peer *peer,
		const struct comch_peermap_limit *limit, comch_news_t news, void *ctx,
		struct comch_foreign_job **job);

/*
 * Take the message of a job. Returns 0: the message is in *msg*, the caller owns its
 * descriptors and mappings, and the job is freed; -EINPROGRESS: not received yet; -EBUSY:
 * call again in the next run.
 * Errors are in msg->len: -EPROTO for unsupported kinds of descriptors or too many
 * of them, -EMFILE, -ETIMEDOUT (dropping a descriptor blocks), or -EDQUOT (as above).
 */
int comch_foreign_take(struct comch_foreign_job *job, struct comch_foreign_msg *msg);

/* Drop the mappings of a message. */
void comch_foreign_unmap(struct comch_foreign_msg *msg);

/* Cancel a job. */
void comch_foreign_cancel(struct comch_foreign_job *job);

/*
 * Close a socket that a peer sent, or whose queue a peer can fill. The caller removes
 * it from all epoll sets first: the file may stay open for a while.
 */
void comch_foreign_close(int fd);

/*
 * The same for a socket of ours, of which the peer has the other end only: if its queue is
 * empty it is closed at once, by this thread. A file that the peer has as well could make
 * even the look into its queue block.
 */
void comch_foreign_hang_up(int sock);

/* Drop the mappings of a message, and close its descriptors. */
static inline void
comch_foreign_drop(struct comch_foreign_msg *msg)
{
	comch_foreign_unmap(msg);
	while (msg->nb_fds > 0)
		comch_foreign_close(msg->fds[--msg->nb_fds]);
}

/* Close the descriptors of a peer's ticket, except those set to -1. */
static inline void
comch_foreign_close_ticket(struct rte_comch_ticket *ticket)
{
	uint32_t i;

	for (i = 0; i < ticket->nb_fds; i++)
		if (ticket->fds[i] >= 0)
			comch_foreign_close(ticket->fds[i]);
	ticket->nb_fds = 0;
}

/* Is a descriptor a unix socket, by which a peer is woken? */
bool comch_foreign_is_unix(int fd);

/* Control data of one message. */
union comch_foreign_control {
	struct cmsghdr align;
	char buf[CMSG_SPACE(sizeof(int) * COMCH_FOREIGN_FDS)];
};
/* Set the header of a message with at most COMCH_FOREIGN_FDS descriptors. */
void comch_foreign_pack(struct msghdr *msg, struct iovec *iov,
		union comch_foreign_control *control, const int *fds, uint32_t nb_fds);

/*
 * Make the kernel refuse descriptors on this socket (Linux 6.16), those that are sent from now on.
 * False: unsupported.
 */
bool comch_foreign_refuse(int sock);

#endif /* COMCH_FOREIGN_H */
