/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Importers of this process's exports. Only the thread touches them, but for a fork.
 *
 * An importer sends one descriptor, its window, which threads receive that may block in it. They
 * also map it and seal it. Meanwhile its socket is watched for its end only.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>

#include "base/comch_fork_notes.h"
#include "base/comch_registry.h"
#include "remote/comch_export.h"
#include "sdk/comch_foreign.h"
#include "sdk/comch_log.h"

/* Importers at a time; those of one process. */
#define MAX_PEERS 256
#define MAX_OF_PROCESS 128

enum peer_state {
	PEER_NEW,
	PEER_KEYED,   /* it has shown a key, and sends its window */
	PEER_WAITS,   /* its window is being received */
	PEER_UP,
	PEER_SERVED,  /* it has its counter, and closes */
};

/* An importer. */
struct peer {
	struct comch_registry_entry entry;
	int fd;
	enum peer_state state;
	uint64_t export;               /* number */
	struct comch_foreign_job *job; /* in PEER_WAITS */
	struct comch_peermap *window;  /* in PEER_UP */
	bool refuses_fds;              /* the kernel refuses descriptors there */
	bool has_told;                 /* that it asks for what it may not have */
	struct ucred cred;
};

static unsigned int nb_peers;
/* Of windows, which importers pay for. */
static uint64_t nb_mapped;
static const struct comch_peermap_limit limit = {
	.used = &nb_mapped,
	.max = MAX_PEERS * COMCH_REMOTE_WINDOW,
	.max_file = COMCH_REMOTE_WINDOW,
};

static void
peer_before_fork(struct comch_registry_entry *entry)
{
	comch_fork_note_fd(container_of(entry, struct peer, entry)->fd);
}

static COMCH_REGISTRY_SERVICE_TYPE(peer_type, peer_before_fork)

void
comch_export_peer_reset(void)
{
	TAILQ_INIT(&peer_type.list);
	nb_peers = 0;
	nb_mapped = 0;
}

static void
peer_close(struct peer *peer)
{
	comch_registry_del(&peer_type, &peer->entry);
	nb_peers--;
	comch_export_watch(EPOLL_CTL_DEL, peer->fd, 0, NULL);
	if (peer->job != NULL)
		comch_foreign_cancel(peer->job);
	/* Its queue may hold descriptors. */
	comch_foreign_hang_up(peer->fd);
	if (peer->window != NULL)
		comch_peermap_put(peer->window);
	free(peer);
}

/* Accept */

/* The pid of a process in another pid namespace is 0: then its user counts. */
static bool
is_same_process(const struct ucred *a, const struct ucred *b)
{
	return a->pid == b->pid && (a->pid > 0 || a->uid == b->uid);
}

/* Make room for one more: of those that are not served yet, the oldest goes. */
static bool
make_room(const struct peer *new)
{
	struct peer *peer, *oldest = NULL;
	unsigned int nb = 0;

	COMCH_REGISTRY_FOREACH(peer, &peer_type) {
		nb += is_same_process(&peer->cred, &new->cred);
		if (peer->state != PEER_UP && oldest == NULL)
			oldest = peer;
	}
	if (nb > MAX_OF_PROCESS) {
		COMCH_LOG_PEER(COMCH_LOG, "export: refused process %d (uid %u): it has %u "
			"connections already", new->cred.pid, new->cred.uid, nb - 1);
		return false;
	}
	if (nb_peers <= MAX_PEERS)
		return true;
	if (oldest == new) {
		COMCH_LOG_PEER(COMCH_LOG, "export: refused process %d (uid %u): there are %u "
			"importers already", new->cred.pid, new->cred.uid, nb_peers - 1);
		return false;
	}
	peer_close(oldest);
	return true;
}

static void
peer_open(struct peer *peer)
{
	socklen_t len = sizeof(peer->cred);

	if (getsockopt(peer->fd, SOL_SOCKET, SO_PEERCRED, &peer->cred, &len) != 0 ||
			comch_export_watch(EPOLL_CTL_ADD, peer->fd, EPOLLIN, peer) != 0 ||
			!make_room(peer))
		peer_close(peer);
}

bool
comch_export_peer_accept(int listener)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	int err = 0;

	if (peer == NULL)
		return false;
	/* A fork in between would leave the socket in the child. */
	pthread_mutex_lock(&comch_registry.lock);
	peer->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (peer->fd >= 0)
		comch_registry_add_locked(&peer_type, &peer->entry);
	else
		err = errno;
	pthread_mutex_unlock(&comch_registry.lock);
	if (peer->fd < 0) {
		free(peer);
		return err != EMFILE && err != ENFILE && err != ENOMEM && err != ENOBUFS;
	}
	nb_peers++;
	peer_open(peer);
	return true;
}

/* Hello and window. False, here and below: the importer is to be closed. */

static bool
welcome(const struct peer *peer, int32_t status)
{
	struct comch_remote_welcome text = { .status = status, .version = COMCH_REMOTE_VERSION };

	return send(peer->fd, &text, sizeof(text), MSG_NOSIGNAL | MSG_DONTWAIT) ==
		(ssize_t)sizeof(text) && status == 0;
}

/* Give an importer the file of a counter. It needs nothing else. */
static bool
give_counter(const struct peer *peer, int fd)
{
	struct comch_remote_welcome text = { .version = COMCH_REMOTE_VERSION };
	struct iovec iov = { .iov_base = &text, .iov_len = sizeof(text) };
	union comch_foreign_control control;
	struct msghdr msg;
	bool ok;

	if (fd < 0)
		return welcome(peer, -EMFILE);
	comch_foreign_pack(&msg, &iov, &control, &fd, 1);
	ok = sendmsg(peer->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(text);
	close(fd);
	return ok;
}

static bool
on_hello(struct peer *peer, const struct comch_remote_hello *hello, size_t len)
{
	int fd;

	if (len != sizeof(*hello) || hello->magic != COMCH_REMOTE_MAGIC ||
			hello->version != COMCH_REMOTE_VERSION)
		return false;
	peer->export = comch_export_find(hello->key, hello->kind, &fd);
	if (peer->export == 0) {
		COMCH_LOG_PEER(COMCH_LOG, "export: refused process %d (uid %u): its key is of no "
			"export, or of one that was destroyed", peer->cred.pid, peer->cred.uid);
		return welcome(peer, -ENOTCONN);
	}
	if (hello->kind == COMCH_REMOTE_COUNTER) {
		peer->state = PEER_SERVED;
		return give_counter(peer, fd);
	}
	peer->state = PEER_KEYED;
	return true;
}

/* The thread sleeps in its epoll set. */
static bool
on_news(void *ctx, bool can_wake)
{
	RTE_SET_USED(ctx);
	if (can_wake)
		comch_export_wake();
	return true;
}

static bool
receive_window(struct peer *peer)
{
	const struct comch_foreign_peer id = comch_foreign_peer_of(&peer->cred);
	int ret = comch_foreign_recv(peer->fd, &id, &limit, on_news, peer, &peer->job);

	if (ret == -EBUSY)
		return true;
	peer->state = PEER_WAITS;
	return ret == 0 ? comch_export_watch(EPOLL_CTL_MOD, peer->fd, 0, peer) == 0 :
		welcome(peer, ret);
}

static int
check_window(const struct comch_foreign_msg *msg)
{
	const struct comch_remote_window window = { .magic = COMCH_REMOTE_MAGIC };

	if (msg->len < 0)
		return msg->len;
	if (msg->len != (int)sizeof(window) || msg->nb_fds != 1 ||
			memcmp(msg->data, &window, sizeof(window)) != 0)
		return -EPROTO;
	if (msg->map_err != 0)
		return msg->map_err;
	return msg->map[0] != NULL && msg->map[0]->len == COMCH_REMOTE_WINDOW ? 0 : -EPERM;
}

/*
 * Whether what comes has no descriptors. Only an importer that does not wait for the welcome has
 * sent something by now. Twice: the kernel looks at the option, and queues a message, with the lock
 * that the first look takes when it finds nothing; so what was sent without the option is there for
 * the second one.
 */
static bool
refuses_fds(int sock)
{
	return comch_foreign_refuse(sock) &&
		comch_foreign_next(sock) == COMCH_FOREIGN_NOTHING &&
		comch_foreign_next(sock) == COMCH_FOREIGN_NOTHING;
}

static bool
on_window(struct peer *peer, struct comch_foreign_msg *msg)
{
	int ret = check_window(msg);

	if (ret == 0) {
		peer->window = msg->map[0];
		msg->map[0] = NULL;
	}
	comch_foreign_drop(msg);
	if (ret != 0)
		return welcome(peer, ret);
	peer->state = PEER_UP;
	peer->refuses_fds = refuses_fds(peer->fd);
	return comch_export_watch(EPOLL_CTL_MOD, peer->fd, EPOLLIN, peer) == 0 && welcome(peer, 0);
}

/* Requests */

static void
tell_refused(struct peer *peer, const struct comch_remote_request *request)
{
	if (peer->has_told)
		return;
	peer->has_told = true;
	COMCH_LOG_PEER(COMCH_LOG, "export: refused process %d (uid %u): it may not %s %u bytes at "
		"%#" PRIx64 "; further ones are not reported", peer->cred.pid, peer->cred.uid,
		request->op == COMCH_REMOTE_READ ? "read" : "write", request->len, request->addr);
}

static bool
on_request(struct peer *peer, const struct comch_remote_request *request, size_t len)
{
	struct comch_remote_reply reply = { .slot = request->slot, .number = request->number };

	if (len != sizeof(*request) || request->slot >= COMCH_REMOTE_SLOTS ||
			request->len > RTE_COMCH_PIECE_MAX || (request->op != COMCH_REMOTE_READ &&
			request->op != COMCH_REMOTE_WRITE))
		return false;
	reply.status = comch_export_copy(peer->export, request,
		peer->window->addr + comch_remote_at(request->slot, request->addr));
	if (reply.status == -EACCES)
		tell_refused(peer, request);
	/*
	 * One that does not read its replies has sent more requests than there are slots. Of an
	 * export that is gone, its importer has no use for the connection.
	 */
	return send(peer->fd, &reply, sizeof(reply), MSG_NOSIGNAL | MSG_DONTWAIT) ==
		(ssize_t)sizeof(reply) && reply.status != -ENOTCONN;
}

/*
 * Serve all requests that there are, at most as many as there are slots: their number costs no more
 * system calls. Only where the kernel refuses descriptors.
 */
static bool
serve_requests(struct peer *peer)
{
	struct comch_remote_request in[COMCH_REMOTE_SLOTS];
	struct mmsghdr msg[COMCH_REMOTE_SLOTS];
	struct iovec iov[COMCH_REMOTE_SLOTS];
	int i, n;

	for (i = 0; i < COMCH_REMOTE_SLOTS; i++) {
		iov[i] = (struct iovec){ &in[i], sizeof(in[i]) };
		msg[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &iov[i], .msg_iovlen = 1 } };
	}
	/* peer-read: no message has a descriptor. */
	n = recvmmsg(peer->fd, msg, COMCH_REMOTE_SLOTS, MSG_DONTWAIT | MSG_TRUNC, NULL);
	if (n < 0)
		return errno == EWOULDBLOCK;
	for (i = 0; i < n; i++)
		if (!on_request(peer, &in[i], msg[i].msg_len))
			return false;
	return true;
}

static bool
serve_keyed(struct peer *peer)
{
	enum comch_foreign_next next = comch_foreign_next(peer->fd);

	return next == COMCH_FOREIGN_NOTHING ||
		(next == COMCH_FOREIGN_FDS_NEXT && receive_window(peer));
}

static bool
serve(struct peer *peer, bool is_alone)
{
	union {
		struct comch_remote_hello hello;
		struct comch_remote_request request;
	} in;
	enum comch_foreign_next next;
	size_t len;

	/* It is watched for its end only, or has nothing more to say. */
	if (peer->state == PEER_WAITS || peer->state == PEER_SERVED)
		return false;
	if (peer->state == PEER_KEYED)
		return serve_keyed(peer);
	if (is_alone && peer->refuses_fds)
		return serve_requests(peer);
	next = comch_foreign_recv_plain(peer->fd, peer->refuses_fds, &in, sizeof(in), &len);
	if (next != COMCH_FOREIGN_PLAIN)
		return next == COMCH_FOREIGN_NOTHING;
	return peer->state == PEER_NEW ? on_hello(peer, &in.hello, len) :
		on_request(peer, &in.request, len);
}

void
comch_export_peer_serve(void *peer, bool is_alone)
{
	if (!serve(peer, is_alone))
		peer_close(peer);
}

/* False, too, if it is not received yet. */
static bool
take_window(struct peer *peer, struct comch_foreign_msg *msg)
{
	int ret = comch_foreign_take(peer->job, msg);

	/* Another thread has its lock. */
	if (ret == -EBUSY)
		comch_export_wake();
	if (ret != 0)
		return false;
	peer->job = NULL;
	return true;
}

void
comch_export_peer_look(void)
{
	struct comch_registry_entry *entry, *next;
	struct comch_foreign_msg msg;
	struct peer *peer;

	TAILQ_FOREACH_SAFE(entry, &peer_type.list, next, next) {
		peer = container_of(entry, struct peer, entry);
		if (peer->job != NULL && take_window(peer, &msg) && !on_window(peer, &msg))
			peer_close(peer);
	}
}
