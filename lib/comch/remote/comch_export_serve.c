/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The thread that serves importers, and where it listens. It begins with the first export, and
 * ends with the process.
 *
 * It serves in rounds, one message of each importer, so that a fast importer does not delay the
 * others. If there is only one, a round serves all that it has sent.
 */

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bsd/string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "base/comch_fork_notes.h"
#include "base/comch_registry.h"
#include "ctrl/comch_dev.h"
#include "remote/comch_export.h"
#include "remote/comch_export_place.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_foreign.h"
#include "sdk/comch_fork.h"

/* Events of a round. */
#define MAX_EVENTS 128
/* While no descriptor is left, new importers wait. */
#define RETRY_MS 100
/* It looks for requests for so long before it sleeps. */
#define LOOK_US 50
#define USEC 1000000
/* An event has the address of an importer, of a place with this bit, or this alone: a wake-up. */
#define IS_OURS UINT64_C(1)

/* Where importers find us. It stays. */
struct place {
	struct comch_registry_entry entry;
	int fd;
	char dir[PATH_MAX];  /* of the device */
	char path[sizeof(((struct comch_remote_desc *)0)->path)];
};

static int epoll_fd = -1;
static int wake_fd = -1;
/* Of those who export: guards the places, and the descriptors until the thread runs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
place_before_fork(struct comch_registry_entry *entry)
{
	comch_fork_note_fd(container_of(entry, struct place, entry)->fd);
}

static COMCH_REGISTRY_SERVICE_TYPE(place_type, place_before_fork)

/* A child may export by itself, with a thread of its own. */
static void
reset(void *arg)
{
	RTE_SET_USED(arg);
	pthread_mutex_init(&lock, NULL);
	epoll_fd = wake_fd = -1;
	TAILQ_INIT(&place_type.list);
	comch_export_peer_reset();
	comch_export_reset();
	comch_export_copy_reset();
}

static void
service_before_fork(struct comch_registry_entry *entry)
{
	RTE_SET_USED(entry);
	comch_fork_note_fd(epoll_fd);
	comch_fork_note_fd(wake_fd);
	comch_fork_note_fd(comch_export_copy_fd());
	comch_fork_note_call(reset, NULL);
}

static COMCH_REGISTRY_SERVICE(service, service_before_fork)

static int
watch(int op, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event event = { .events = events, .data.u64 = data };

	return epoll_ctl(epoll_fd, op, fd, &event);
}

int
comch_export_watch(int op, int fd, uint32_t events, void *peer)
{
	return watch(op, fd, events, (uintptr_t)peer);
}

void
comch_export_wake(void)
{
	eventfd_write(wake_fd, 1);
}

/* Thread */

/* Have new importers wait, or wait no longer. */
static void
watch_places(bool on)
{
	struct place *place;

	pthread_mutex_lock(&lock);
	COMCH_REGISTRY_FOREACH(place, &place_type)
		watch(EPOLL_CTL_MOD, place->fd, on ? EPOLLIN : 0, (uintptr_t)place | IS_OURS);
	pthread_mutex_unlock(&lock);
}

static void
serve_peers(const struct epoll_event *events, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if ((events[i].data.u64 & IS_OURS) == 0)
			comch_export_peer_serve(events[i].data.ptr, n == 1);
}

/* False: no descriptor is left. */
static bool
serve_ours(const struct epoll_event *event)
{
	const struct place *place;
	eventfd_t nb;

	if (event->data.u64 == IS_OURS) {
		eventfd_read(wake_fd, &nb);
		comch_export_peer_look();
		return true;
	}
	place = (const struct place *)(uintptr_t)(event->data.u64 & ~IS_OURS);
	return comch_export_peer_accept(place->fd);
}

/*
 * Wait for what is next. An importer has several requests under way, and a thread that sleeps
 * between them is woken on the CPU of the importer, where the two would do by turns what
 * they could do at once. So it looks for a while before it sleeps.
 */
static int
wait_for_events(struct epoll_event *events, bool is_open)
{
	const uint64_t until = rte_rdtsc() + rte_get_tsc_hz() / USEC * LOOK_US;
	int n;

	do {
		n = epoll_wait(epoll_fd, events, MAX_EVENTS, 0);
		if (n != 0)
			return n;
	} while (rte_rdtsc() < until);
	return epoll_wait(epoll_fd, events, MAX_EVENTS, is_open ? -1 : RETRY_MS);
}

static comch_thread_ret_t
serve(void *arg)
{
	struct epoll_event events[MAX_EVENTS];
	uint64_t open_at = 0;
	bool is_open = true;
	int i, n;

	RTE_SET_USED(arg);
	for (;;) {
		n = wait_for_events(events, is_open);
		if (n < 0 && errno != EINTR)
			return (comch_thread_ret_t)0;
		if (!is_open && rte_rdtsc() >= open_at) {
			is_open = true;
			watch_places(true);
		}
		/* Those that are served close themselves only; what follows may close others. */
		serve_peers(events, n);
		for (i = 0; i < n; i++)
			if (is_open && (events[i].data.u64 & IS_OURS) != 0 &&
					!serve_ours(&events[i])) {
				is_open = false;
				open_at = rte_rdtsc() + rte_get_tsc_hz() * RETRY_MS / 1000;
				watch_places(false);
			}
	}
}

static int
open_fds(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		return -errno;
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return wake_fd < 0 || watch(EPOLL_CTL_ADD, wake_fd, EPOLLIN, IS_OURS) != 0 ? -errno : 0;
}

static void
close_fds(void)
{
	if (epoll_fd >= 0)
		close(epoll_fd);
	if (wake_fd >= 0)
		close(wake_fd);
	epoll_fd = wake_fd = -1;
}

static int
thread_start(void)
{
	int ret;

	if (epoll_fd >= 0)
		return 0;
	ret = comch_foreign_start();
	if (ret == 0)
		ret = open_fds();
	if (ret == 0)
		ret = comch_ctrl_thread("comch-export", serve, NULL);
	if (ret != 0)
		close_fds();
	return ret;
}

static int
add_place(const char *dir, struct place **out)
{
	struct place *place;
	int ret;

	place = calloc(1, sizeof(*place));
	if (place == NULL)
		return -ENOMEM;
	strlcpy(place->dir, dir, sizeof(place->dir));
	place->fd = comch_export_place_listen(dir, place->path, sizeof(place->path));
	ret = place->fd < 0 ? place->fd : 0;
	if (ret == 0 && watch(EPOLL_CTL_ADD, place->fd, EPOLLIN, (uintptr_t)place | IS_OURS) != 0) {
		ret = -errno;
		unlink(place->path);
		close(place->fd);
	}
	if (ret != 0) {
		free(place);
		return ret;
	}
	comch_registry_add(&place_type, &place->entry);
	*out = place;
	return 0;
}

static int
find_place(const char *dir, struct place **out)
{
	struct place *place;
	int ret;

	COMCH_REGISTRY_FOREACH(place, &place_type)
		if (strcmp(place->dir, dir) == 0) {
			*out = place;
			return 0;
		}
	ret = thread_start();
	return ret != 0 ? ret : add_place(dir, out);
}

/* Where the two sides of a device meet. */
static int
dir_of(int16_t dev_id, char *dir, size_t size)
{
	const struct rte_comch_dev *dev = comch_dev_look(dev_id);
	int ret = -ENODEV;

	if (dev == NULL)
		return ret;
	ret = dev->where == NULL ? -ENOTSUP : 0;
	if (ret == 0)
		strlcpy(dir, dev->where, size);
	comch_dev_look_end();
	return ret;
}

int
comch_export_serve(int16_t dev_id, char *path, size_t size)
{
	struct place *place;
	char dir[PATH_MAX];
	int ret;

	ret = dir_of(dev_id, dir, sizeof(dir));
	if (ret != 0)
		return ret;
	pthread_mutex_lock(&lock);
	ret = find_place(dir, &place);
	if (ret == 0)
		strlcpy(path, place->path, size);
	pthread_mutex_unlock(&lock);
	return ret;
}

/* The process ends. A child of its own has no files. */
RTE_FINI(comch_export_remove_files)
{
	struct place *place;

	if (comch_forked)
		return;
	COMCH_REGISTRY_FOREACH(place, &place_type)
		unlink(place->path);
}
