/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The life of counters.
 *
 * The page of one that others import is a memfd of its owner, sealed against a change of its size.
 * Several may map it, so a process that has it may make a hole into it: then its value is 0, as it
 * could have been set to, and the next access has the kernel fill it. Where it cannot, since memory
 * may not be overcommitted or the group is at its limit, the process is ended. An importer gets the
 * page from the thread that serves exports, once, and closes the connection.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_errno.h>

#include "base/comch_fork_notes.h"
#include "remote/comch_counter.h"
#include "remote/comch_export.h"
#include "remote/comch_hail.h"
#include "sdk/comch_foreign.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "sdk/comch_memfd.h"

static void
counter_before_fork(struct comch_registry_entry *entry)
{
	const struct rte_comch_counter *counter =
		container_of(entry, struct rte_comch_counter, entry);

	comch_fork_note_fd(counter->page_fd);
	comch_fork_note_fd(counter->sock);
}

static COMCH_REGISTRY_TYPE(counter_type, counter_before_fork)

static size_t
page_len(void)
{
	return comch_memfd_round(sizeof(struct comch_counter_page));
}

static struct rte_comch_counter *
new_counter(void)
{
	struct rte_comch_counter *counter = calloc(1, sizeof(*counter));

	if (counter == NULL)
		return NULL;
	counter->page_fd = counter->sock = -1;
	return counter;
}

/* Owner */

static int
page_create(struct rte_comch_counter *counter)
{
	void *addr = NULL;
	int fd = comch_memfd_create("comch_counter", page_len(), COMCH_MEMFD_PAYLOAD, &addr);

	if (fd < 0)
		return fd;
	comch_memfd_seal(fd);
	counter->page_fd = fd;
	counter->page = addr;
	return 0;
}

static int
page_alloc(struct rte_comch_counter *counter)
{
	counter->page = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_SIZE);
	if (counter->page == NULL)
		return -ENOMEM;
	memset(counter->page, 0, sizeof(*counter->page));
	return 0;
}

static void
page_free(struct rte_comch_counter *counter)
{
	const int fd = comch_hail_set_fd(&counter->page_fd, -1);

	if (counter->export != NULL)
		rte_comch_export_destroy(counter->export);
	if (fd >= 0)
		close(fd);
	if (counter->page == NULL)
		return;
	if (fd >= 0 || counter->is_imported)
		munmap(counter->page, page_len());
	else
		free(counter->page);
}

struct rte_comch_counter *
rte_comch_counter_create(uint32_t flags)
{
	struct rte_comch_counter *counter;
	int ret;

	if ((flags & ~RTE_COMCH_COUNTER_F_SHARED) != 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	counter = comch_forked ? NULL : new_counter();
	if (counter == NULL) {
		rte_errno = comch_forked ? EBADFD : ENOMEM;
		return NULL;
	}
	ret = flags == 0 ? page_alloc(counter) : page_create(counter);
	if (ret != 0) {
		free(counter);
		rte_errno = -ret;
		return NULL;
	}
	comch_registry_add(&counter_type, &counter->entry);
	return counter;
}

int
rte_comch_counter_export(struct rte_comch_counter *counter, int16_t dev_id,
		uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN])
{
	if (counter == NULL || desc == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (counter->page_fd < 0)
		return -ENOTSUP;
	if (counter->export == NULL) {
		counter->export = comch_export_create_counter(dev_id, counter->page_fd);
		counter->dev_id = dev_id;
	}
	if (counter->export == NULL)
		return -rte_errno;
	/* The descriptor leads to a place of the device's. */
	return counter->dev_id != dev_id ? -ENOTSUP : rte_comch_export_desc(counter->export, desc);
}

/* Importer */

struct rte_comch_counter *
rte_comch_counter_import(const uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN])
{
	struct rte_comch_counter *counter;

	rte_errno = EINVAL;
	if (desc == NULL)
		return NULL;
	rte_errno = comch_forked ? EBADFD : ENOMEM;
	counter = comch_forked ? NULL : new_counter();
	if (counter == NULL)
		return NULL;
	memcpy(&counter->desc, desc, sizeof(counter->desc));
	if (!comch_hail_is_valid(&counter->desc)) {
		rte_errno = EINVAL;
		free(counter);
		return NULL;
	}
	counter->is_imported = true;
	comch_registry_add(&counter_type, &counter->entry);
	return counter;
}

/* The socket was connected, unless there is an error to connect it. */
static void
hang_up(struct rte_comch_counter *counter, bool was_connected)
{
	int sock = comch_hail_set_fd(&counter->sock, -1);

	if (counter->job != NULL)
		comch_foreign_cancel(counter->job);
	counter->job = NULL;
	if (sock >= 0 && was_connected)
		comch_foreign_hang_up(sock);
	else if (sock >= 0)
		close(sock);
}

static int
give_up(struct rte_comch_counter *counter, bool was_connected, const char *why)
{
	if (!counter->has_told)
		COMCH_LOG(ERR, "counter from %s: %s", counter->desc.path, why);
	counter->has_told = true;
	hang_up(counter, was_connected);
	return -ENOTCONN;
}

/* Something is missing here, or there, for now: begin again. */
static int
try_later(struct rte_comch_counter *counter, int why)
{
	hang_up(counter, true);
	return why;
}

static int
hail(struct rte_comch_counter *counter)
{
	int ret = comch_hail_open(&counter->sock);

	if (ret != 0)
		return ret;
	ret = comch_hail_connect(counter->sock, &counter->desc);
	if (ret == -EAGAIN || comch_hail_is_of_us(ret)) {
		hang_up(counter, false);
		return ret;
	}
	if (ret != 0)
		return give_up(counter, false, comch_hail_reason(ret));
	if (!comch_hail_greet(counter->sock, &counter->desc, COMCH_REMOTE_COUNTER))
		return give_up(counter, true, "the owner does not answer");
	return -EAGAIN;
}

static int
map_page(struct rte_comch_counter *counter, int fd)
{
	void *addr;
	int ret;

	ret = comch_memfd_check(fd, 0, page_len(), false);
	if (ret == 0)
		ret = comch_memfd_map(fd, 0, page_len(), true, &addr);
	if (ret == 0)
		counter->page = addr;
	return ret;
}

static int
on_welcome(struct rte_comch_counter *counter, const struct comch_foreign_msg *msg)
{
	struct comch_remote_welcome welcome;

	if (comch_hail_is_of_us(msg->len))
		return try_later(counter, msg->len);
	if (msg->len != (int)sizeof(welcome))
		return give_up(counter, true, "the owner has ended the connection");
	memcpy(&welcome, msg->data, sizeof(welcome));
	/* The owner has no descriptor left. */
	if (welcome.status == -EMFILE)
		return try_later(counter, -EAGAIN);
	if (welcome.status == -ENOTCONN)
		return give_up(counter, true, "the owner has it no longer");
	if (welcome.status != 0 || welcome.version != COMCH_REMOTE_VERSION)
		return give_up(counter, true, "the owner refuses the connection");
	if (msg->nb_fds != 1 || map_page(counter, msg->fds[0]) != 0)
		return give_up(counter, true, "invalid memory of the owner");
	hang_up(counter, true);
	return 0;
}

/* No poll sleeps on it. */
static bool
no_news(void *ctx, bool can_wake)
{
	RTE_SET_USED(ctx);
	RTE_SET_USED(can_wake);
	return false;
}

static struct comch_foreign_peer
peer_of(int sock)
{
	socklen_t len = sizeof(struct ucred);
	struct ucred cred;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
		return (struct comch_foreign_peer){ -1, -1 };
	return comch_foreign_peer_of(&cred);
}

static int
receive(struct rte_comch_counter *counter)
{
	const struct comch_foreign_peer peer = peer_of(counter->sock);
	int ret;

	if (comch_foreign_next(counter->sock) == COMCH_FOREIGN_NOTHING)
		return -EAGAIN;
	ret = comch_foreign_recv(counter->sock, &peer, NULL, no_news, NULL, &counter->job);
	if (ret == 0 || ret == -EBUSY)
		return -EAGAIN;
	/* Others of this peer's are stuck. */
	if (ret == -EDQUOT)
		return try_later(counter, -EAGAIN);
	return comch_hail_is_of_us(ret) ? try_later(counter, ret) :
		give_up(counter, true, "cannot receive the owner's answer");
}

static int
take(struct rte_comch_counter *counter)
{
	struct comch_foreign_msg msg;
	int ret;

	if (comch_foreign_take(counter->job, &msg) != 0)
		return -EAGAIN;
	counter->job = NULL;
	ret = on_welcome(counter, &msg);
	comch_foreign_drop(&msg);
	return ret;
}

int
rte_comch_counter_connect(struct rte_comch_counter *counter)
{
	if (counter == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (counter->page != NULL)
		return 0;
	if (counter->sock < 0)
		return hail(counter);
	return counter->job == NULL ? receive(counter) : take(counter);
}

void
rte_comch_counter_free(struct rte_comch_counter *counter)
{
	if (counter == NULL || comch_forked)
		return;
	rte_comch_counter_unwatch(counter);
	comch_counter_wait_updates(counter);
	/* What a child would keep first. */
	hang_up(counter, true);
	page_free(counter);
	comch_registry_del(&counter_type, &counter->entry);
	explicit_bzero(&counter->desc, sizeof(counter->desc));
	free(counter);
}
