/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Helpers for messages with descriptors. None of them receives or drops a descriptor. */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "sdk/comch_foreign_private.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

bool
comch_foreign_is_unix(int fd)
{
	socklen_t len = sizeof(int);
	int domain;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}

enum comch_foreign_next
comch_foreign_next(int sock)
{
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t len;

	/* peer-read: peeking leaves the descriptors in the message, so none is dropped. */
	len = recvmsg(sock, &msg, MSG_PEEK | MSG_DONTWAIT);
	/* peer-read: the same. The peer closed with unread data: its messages can be read. */
	if (len < 0 && errno == ECONNRESET)
		len = recvmsg(sock, &msg, MSG_PEEK | MSG_DONTWAIT);
	if (len < 0)
		return errno == EWOULDBLOCK ? COMCH_FOREIGN_NOTHING : COMCH_FOREIGN_END;
	if ((msg.msg_flags & MSG_CTRUNC) != 0)
		return COMCH_FOREIGN_FDS_NEXT;
	return len > 0 ? COMCH_FOREIGN_PLAIN : COMCH_FOREIGN_END;
}

enum comch_foreign_next
comch_foreign_recv_plain(int sock, bool refuses_fds, void *room, size_t size, size_t *len)
{
	enum comch_foreign_next next = COMCH_FOREIGN_PLAIN;
	ssize_t n;

	if (!refuses_fds)
		next = comch_foreign_next(sock);
	if (next != COMCH_FOREIGN_PLAIN)
		return next;
	/* peer-read: without descriptors, as was found, or as the kernel sees to. */
	n = recv(sock, room, size, MSG_DONTWAIT | MSG_TRUNC);
	/* peer-read: the same. The peer closed with unread data: its messages can be read. */
	if (n < 0 && errno == ECONNRESET)
		n = recv(sock, room, size, MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		return errno == EWOULDBLOCK ? COMCH_FOREIGN_NOTHING : COMCH_FOREIGN_END;
	*len = (size_t)n;
	return n > 0 ? COMCH_FOREIGN_PLAIN : COMCH_FOREIGN_END;
}

/*
 * Headers for messages of one byte; two are read of each, to see that there is no more.
 */
struct byte_hdrs {
	struct mmsghdr msg[COMCH_FOREIGN_BYTES_MAX];
	struct iovec iov[COMCH_FOREIGN_BYTES_MAX];
	char data[COMCH_FOREIGN_BYTES_MAX][2];
};

static void
set_hdrs(struct byte_hdrs *h, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		h->iov[i] = (struct iovec){ h->data[i], sizeof(h->data[i]) };
		h->msg[i] = (struct mmsghdr){
			.msg_hdr.msg_iov = &h->iov[i], .msg_hdr.msg_iovlen = 1,
		};
	}
}

/*
 * How many messages at the head have one byte, and no descriptors. *nb: how many there are. Only
 * these: of a longer one, the next peek would see the rest, as if it were another message.
 */
static uint32_t
count_bytes(int sock, struct byte_hdrs *h, uint32_t n, uint32_t *nb)
{
	const int head = 0, off = -1;
	uint32_t i;
	int ret;

	/* Each peek goes on behind the last one. */
	if (setsockopt(sock, SOL_SOCKET, SO_PEEK_OFF, &head, sizeof(head)) != 0)
		return 0;
	/* peer-read: peeking leaves the descriptors in the messages, so none is dropped. */
	ret = recvmmsg(sock, h->msg, n, MSG_PEEK | MSG_DONTWAIT, NULL);
	setsockopt(sock, SOL_SOCKET, SO_PEEK_OFF, &off, sizeof(off));
	*nb = ret > 0 ? (uint32_t)ret : 0;
	for (i = 0; i < *nb && h->msg[i].msg_len == 1 &&
			(h->msg[i].msg_hdr.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0; i++)
		;
	return i;
}

uint32_t
comch_foreign_bytes(int sock, char *bytes, uint32_t n, bool *end)
{
	uint32_t nb = 0, nb_bytes, i;
	struct byte_hdrs h;
	int ret;

	set_hdrs(&h, n);
	nb_bytes = count_bytes(sock, &h, n, &nb);
	*end = nb_bytes == nb && nb_bytes < n;
	if (nb_bytes == 0)
		return 0;
	set_hdrs(&h, nb_bytes);
	/* peer-read: none of these has descriptors, as seen above, and only this thread reads. */
	ret = recvmmsg(sock, h.msg, nb_bytes, MSG_DONTWAIT, NULL);
	for (i = 0; (int)i < ret; i++)
		bytes[i] = h.data[i][0];
	return i;
}

/* Peek as above. A byte, or any control data: there is a message. */
static bool
has_message(int sock)
{
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	/* peer-read: as in comch_foreign_next(). */
	ssize_t len = recvmsg(sock, &msg, MSG_PEEK | MSG_DONTWAIT);

	/* peer-read: the same. */
	if (len < 0 && errno == ECONNRESET)
		len = recvmsg(sock, &msg, MSG_PEEK | MSG_DONTWAIT);
	return len != 0 || (msg.msg_flags & MSG_CTRUNC) != 0;
}

bool
comch_foreign_is_drained(int sock)
{
	const int yes = 1;

	/*
	 * Credentials come with each message, even an empty one, and not with the end of
	 * the stream. After the shutdown nothing can be added: the kernel checks that with
	 * the lock of the queue. An error, such as a listener's, counts as a message, and so
	 * does the end of a stream socket, which has credentials, too.
	 */
	return setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0 &&
		shutdown(sock, SHUT_RDWR) == 0 && !has_message(sock);
}

bool
comch_foreign_refuse(int sock)
{
	int no = 0, value = 1;
	socklen_t len = sizeof(value);

	/* Some sandboxes accept options that they do not know. */
	return setsockopt(sock, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof(no)) == 0 &&
		getsockopt(sock, SOL_SOCKET, SO_PASSRIGHTS, &value, &len) == 0 && value == 0;
}

void
comch_foreign_pack(struct msghdr *msg, struct iovec *iov, union comch_foreign_control *control,
		const int *fds, uint32_t nb_fds)
{
	struct cmsghdr *c;

	*msg = (struct msghdr){ .msg_iov = iov, .msg_iovlen = 1 };
	if (nb_fds == 0)
		return;
	memset(control, 0, sizeof(*control));
	msg->msg_control = control->buf;
	msg->msg_controllen = CMSG_SPACE(sizeof(int) * nb_fds);
	c = CMSG_FIRSTHDR(msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * nb_fds);
	memcpy(CMSG_DATA(c), fds, sizeof(int) * nb_fds);
}

uint32_t
comch_foreign_unpack(struct msghdr *msg, int *fds)
{
	struct cmsghdr *c;
	uint32_t n;

	for (c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), sizeof(int) * n);
		return n;
	}
	return 0;
}
