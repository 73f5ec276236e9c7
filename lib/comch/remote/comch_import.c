/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The importer's end of exported memory.
 *
 * An import has one connection, which the first piece opens, and which is opened again after it
 * has ended. All of it is guarded by the import's lock; a slot that a piece has is the piece's
 * until it has ended.
 *
 * The window is memory of this process, and mapped before the exporter gets it. The exporter seals
 * it before its welcome. From then on nobody can change its size or punch holes, which our next
 * access would have to fill. A message with a descriptor ends the connection.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_memcpy.h>

#include "base/comch_fork_notes.h"
#include "base/comch_registry.h"
#include "remote/comch_hail.h"
#include "sdk/comch_foreign.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "sdk/comch_memfd.h"
#include "sdk/comch_reaper.h"

enum slot_state {
	SLOT_FREE,
	SLOT_BUSY,     /* its request has no reply yet */
	SLOT_DONE,     /* its reply is in `status` */
	SLOT_DROPPED,  /* busy, for no piece: the exporter still uses it */
};

struct slot {
	uint8_t state;   /* enum slot_state */
	bool is_write;
	uint32_t number; /* of its request */
	int32_t status;
};

enum link_state {
	LINK_CLOSED,
	LINK_GREETED,  /* hello and window were sent */
	LINK_UP,
};

struct rte_comch_import {
	struct comch_registry_entry entry;
	pthread_mutex_t lock;
	uint32_t nb_refs;      /* of the owner, and of pieces under way */
	enum link_state link;
	int fd;                /* changed with the registry's lock: a fork looks at it */
	int window_fd;         /* the same; -1 from the welcome on */
	uint8_t *window;
	uint32_t last_number;
	bool refuses_fds;      /* the kernel refuses descriptors there */
	bool has_told;         /* why it cannot be reached */
	struct slot slots[COMCH_REMOTE_SLOTS];
	struct comch_remote_desc desc;
};

static void
import_before_fork(struct comch_registry_entry *entry)
{
	const struct rte_comch_import *imp = container_of(entry, struct rte_comch_import, entry);

	comch_fork_note_fd(imp->fd);
	comch_fork_note_fd(imp->window_fd);
}

static COMCH_REGISTRY_TYPE(import_type, import_before_fork)

struct rte_comch_import *
rte_comch_import_create(const uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN])
{
	struct rte_comch_import *imp = NULL;

	rte_errno = EINVAL;
	if (desc == NULL)
		return NULL;
	rte_errno = ENOMEM;
	imp = calloc(1, sizeof(*imp));
	if (imp == NULL)
		return NULL;
	memcpy(&imp->desc, desc, sizeof(imp->desc));
	if (!comch_hail_is_valid(&imp->desc)) {
		rte_errno = EINVAL;
		free(imp);
		return NULL;
	}
	pthread_mutex_init(&imp->lock, NULL);
	imp->nb_refs = 1;
	imp->fd = imp->window_fd = -1;
	comch_registry_add(&import_type, &imp->entry);
	return imp;
}

/* Link */

static void
close_window_fd(struct rte_comch_import *imp)
{
	int fd = comch_hail_set_fd(&imp->window_fd, -1);

	if (fd >= 0)
		close(fd);
}

/* What a piece has yet to do cannot be done any more: the window goes. */
static bool
needs_link(const struct slot *slot)
{
	return slot->state == SLOT_BUSY ||
		(slot->state == SLOT_DONE && slot->status == 0 && !slot->is_write);
}

/* Close it: the pieces that are under way find that out by their slots. */
static void
link_close(struct rte_comch_import *imp)
{
	int fd = comch_hail_set_fd(&imp->fd, -1);
	struct slot *slot;

	/* Its queue may hold descriptors, but not before it was connected. */
	if (fd >= 0 && imp->link == LINK_CLOSED)
		close(fd);
	else if (fd >= 0)
		comch_foreign_hang_up(fd);
	close_window_fd(imp);
	if (imp->window != NULL)
		comch_reaper_unmap(imp->window, COMCH_REMOTE_WINDOW, NULL);
	imp->window = NULL;
	imp->link = LINK_CLOSED;
	for (slot = imp->slots; slot < imp->slots + COMCH_REMOTE_SLOTS; slot++) {
		if (slot->state == SLOT_DROPPED)
			slot->state = SLOT_FREE;
		if (!needs_link(slot))
			continue;
		slot->state = SLOT_DONE;
		slot->status = -ENOTCONN;
	}
}

static int
give_up(struct rte_comch_import *imp, int error, const char *why)
{
	if (!imp->has_told)
		COMCH_LOG(ERR, "import from %s: %s", imp->desc.path, why);
	imp->has_told = true;
	link_close(imp);
	return error;
}

static int
make_window(struct rte_comch_import *imp)
{
	void *addr = NULL;
	int fd = comch_memfd_create("comch_window", COMCH_REMOTE_WINDOW, COMCH_MEMFD_PAYLOAD,
		&addr);

	if (fd < 0)
		return fd;
	comch_hail_set_fd(&imp->window_fd, fd);
	imp->window = addr;
	return 0;
}

static bool
send_window(const struct rte_comch_import *imp)
{
	struct comch_remote_window window = { .magic = COMCH_REMOTE_MAGIC };
	struct iovec iov = { .iov_base = &window, .iov_len = sizeof(window) };
	union comch_foreign_control control;
	struct msghdr msg;

	comch_foreign_pack(&msg, &iov, &control, &imp->window_fd, 1);
	return sendmsg(imp->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(window);
}

static int
greet(struct rte_comch_import *imp)
{
	int ret = make_window(imp);

	if (ret != 0) {
		link_close(imp);
		return ret;
	}
	imp->link = LINK_GREETED;
	if (comch_hail_greet(imp->fd, &imp->desc, COMCH_REMOTE_MEMORY) && send_window(imp))
		return -EAGAIN;
	return give_up(imp, -ENOTCONN, "the exporter does not answer");
}

static int
link_open(struct rte_comch_import *imp)
{
	int ret = comch_hail_open(&imp->fd);

	if (ret != 0)
		return ret;
	imp->refuses_fds = comch_foreign_refuse(imp->fd);
	ret = comch_hail_connect(imp->fd, &imp->desc);
	if (ret == 0)
		return greet(imp);
	if (ret != -EAGAIN && !comch_hail_is_of_us(ret))
		return give_up(imp, -ENOTCONN, comch_hail_reason(ret));
	link_close(imp);
	return ret;
}

static int
on_welcome(struct rte_comch_import *imp, const struct comch_remote_welcome *welcome)
{
	if (welcome->status == -ENOTCONN)
		return give_up(imp, -ENOTCONN, "the exporter has this memory no longer");
	if (welcome->status != 0 || welcome->version != COMCH_REMOTE_VERSION)
		return give_up(imp, -ENOTCONN, "the exporter refuses the connection");
	/* In this order: once it is sealed, there will be no new holes. */
	if (!comch_memfd_is_taken(imp->window_fd) ||
			comch_memfd_check(imp->window_fd, 0, COMCH_REMOTE_WINDOW, false) != 0)
		return give_up(imp, -ENOTCONN, "the exporter has not sealed the window, or has "
			"made holes into it");
	close_window_fd(imp);
	imp->link = LINK_UP;
	return 0;
}

static int
await_welcome(struct rte_comch_import *imp)
{
	struct comch_remote_welcome welcome;
	size_t len;

	switch (comch_foreign_recv_plain(imp->fd, imp->refuses_fds, &welcome, sizeof(welcome),
			&len)) {
	case COMCH_FOREIGN_NOTHING:
		return -EAGAIN;
	case COMCH_FOREIGN_PLAIN:
		if (len == sizeof(welcome))
			return on_welcome(imp, &welcome);
		return give_up(imp, -ENOTCONN, "invalid answer from the exporter");
	case COMCH_FOREIGN_FDS_NEXT:
		return give_up(imp, -ENOTCONN, "invalid answer from the exporter");
	default:
		return give_up(imp, -ENOTCONN, "the exporter has ended the connection");
	}
}

/* 0: it is up. -EAGAIN: not yet. */
static int
link_check(struct rte_comch_import *imp)
{
	switch (imp->link) {
	case LINK_CLOSED:
		return link_open(imp);
	case LINK_GREETED:
		return await_welcome(imp);
	default:
		return 0;
	}
}

/* Replies */

/* False: it is not one of a request that is under way. */
static bool
on_reply(struct rte_comch_import *imp, const struct comch_remote_reply *reply)
{
	struct slot *slot;

	if (reply->slot >= COMCH_REMOTE_SLOTS)
		return false;
	slot = &imp->slots[reply->slot];
	if ((slot->state != SLOT_BUSY && slot->state != SLOT_DROPPED) ||
			slot->number != reply->number || reply->status > 0)
		return false;
	slot->status = reply->status;
	slot->state = slot->state == SLOT_BUSY ? SLOT_DONE : SLOT_FREE;
	return true;
}

/* False: there is none. */
static bool
take_reply(struct rte_comch_import *imp)
{
	struct comch_remote_reply reply;
	size_t len;

	switch (comch_foreign_recv_plain(imp->fd, imp->refuses_fds, &reply, sizeof(reply), &len)) {
	case COMCH_FOREIGN_NOTHING:
		return false;
	case COMCH_FOREIGN_PLAIN:
		if (len == sizeof(reply) && on_reply(imp, &reply))
			return true;
		give_up(imp, 0, "invalid reply from the exporter");
		return false;
	case COMCH_FOREIGN_FDS_NEXT:
		give_up(imp, 0, "invalid reply from the exporter, with descriptors");
		return false;
	default:
		give_up(imp, 0, "the exporter is gone");
		return false;
	}
}

/* Take the replies that are there, but not more than there can be. */
static void
take_replies(struct rte_comch_import *imp)
{
	unsigned int i;

	for (i = 0; i < COMCH_REMOTE_SLOTS && imp->link == LINK_UP && take_reply(imp); i++)
		;
}

/* References */

/* With the lock, which is released. */
static void
put_ref(struct rte_comch_import *imp)
{
	bool last = --imp->nb_refs == 0;

	if (last)
		link_close(imp);
	pthread_mutex_unlock(&imp->lock);
	if (!last)
		return;
	comch_registry_del(&import_type, &imp->entry);
	pthread_mutex_destroy(&imp->lock);
	explicit_bzero(&imp->desc, sizeof(imp->desc));
	free(imp);
}

void
rte_comch_import_destroy(struct rte_comch_import *imp)
{
	if (imp == NULL || comch_forked)
		return;
	pthread_mutex_lock(&imp->lock);
	put_ref(imp);
}

/* Pieces */

static uint8_t *
piece_mem(const struct rte_comch_import *imp, const struct rte_comch_piece *piece)
{
	return imp->window + comch_remote_at(piece->slot, piece->addr);
}

/*
 * Between memory of this process and the window, which the other CPU has written or reads next.
 * memcpy() takes "rep movsb" for that, which moves lines between CPUs up to four times as fast as
 * loads and stores do; but between lines of different alignment it may be several times as slow.
 */
static void
copy_piece(void *dst, const void *src, uint32_t len)
{
	if ((((uintptr_t)dst ^ (uintptr_t)src) % COMCH_REMOTE_ALIGN) == 0)
		memcpy(dst, src, len);
	else
		rte_memcpy(dst, src, len);
}

static int
send_request(struct rte_comch_import *imp, const struct rte_comch_piece *piece)
{
	const struct comch_remote_request request = {
		.op = piece->is_write ? COMCH_REMOTE_WRITE : COMCH_REMOTE_READ,
		.slot = piece->slot,
		.number = imp->last_number + 1,
		.len = piece->len,
		.addr = piece->addr,
	};

	if (piece->is_write)
		copy_piece(piece_mem(imp, piece), piece->local, piece->len);
	if (send(imp->fd, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) !=
			(ssize_t)sizeof(request)) {
		if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
			return -EAGAIN;
		return give_up(imp, -ENOTCONN, "the exporter is gone");
	}
	imp->slots[piece->slot] = (struct slot){
		.state = SLOT_BUSY, .is_write = piece->is_write, .number = request.number,
	};
	imp->last_number++;
	imp->nb_refs++;
	return 0;
}

static unsigned int
find_free(const struct rte_comch_import *imp)
{
	unsigned int i;

	for (i = 0; i < COMCH_REMOTE_SLOTS && imp->slots[i].state != SLOT_FREE; i++)
		;
	return i;
}

static int
start(struct rte_comch_import *imp, struct rte_comch_piece *piece)
{
	int ret = link_check(imp);
	unsigned int i;

	if (ret != 0)
		return ret;
	i = find_free(imp);
	if (i == COMCH_REMOTE_SLOTS) {
		/* Of pieces that were cancelled, no other call does. */
		take_replies(imp);
		i = find_free(imp);
	}
	if (i == COMCH_REMOTE_SLOTS || imp->link != LINK_UP)
		return -EAGAIN;
	piece->slot = (uint8_t)i;
	return send_request(imp, piece);
}

int
rte_comch_piece_start(struct rte_comch_piece *piece)
{
	int ret;

	if (piece == NULL || piece->imp == NULL || piece->len > RTE_COMCH_PIECE_MAX)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	pthread_mutex_lock(&piece->imp->lock);
	ret = start(piece->imp, piece);
	pthread_mutex_unlock(&piece->imp->lock);
	return ret;
}

/* Of an exporter: what is documented, and nothing that would say something else. */
static int
checked(int32_t status)
{
	return status == 0 || status == -EACCES || status == -EFAULT || status == -ENOTCONN ?
		status : -EIO;
}

/* The status of a piece with a reply, or without a link. */
static int
finish(struct rte_comch_import *imp, struct rte_comch_piece *piece)
{
	struct slot *slot = &imp->slots[piece->slot];
	int ret = checked(slot->status);

	/* peer-read: payload, which the exporter may change as long as it likes. */
	if (ret == 0 && !piece->is_write)
		copy_piece(piece->local, piece_mem(imp, piece), piece->len);
	slot->state = SLOT_FREE;
	return ret;
}

int
rte_comch_piece_poll(struct rte_comch_piece *piece)
{
	struct rte_comch_import *imp;
	int ret;

	if (comch_forked)
		return -EBADFD;
	imp = piece->imp;
	pthread_mutex_lock(&imp->lock);
	if (imp->slots[piece->slot].state == SLOT_BUSY)
		take_replies(imp);
	if (imp->slots[piece->slot].state == SLOT_BUSY) {
		pthread_mutex_unlock(&imp->lock);
		return -EINPROGRESS;
	}
	ret = finish(imp, piece);
	put_ref(imp);
	return ret;
}

void
rte_comch_piece_cancel(struct rte_comch_piece *piece)
{
	struct rte_comch_import *imp = piece->imp;
	struct slot *slot;

	if (comch_forked)
		return;
	pthread_mutex_lock(&imp->lock);
	slot = &imp->slots[piece->slot];
	slot->state = slot->state == SLOT_BUSY ? SLOT_DROPPED : SLOT_FREE;
	put_ref(imp);
}
