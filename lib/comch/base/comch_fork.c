/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A forked child cannot use its parent's connections. Mappings are not inherited
 * (MADV_DONTFORK), and the child closes the descriptors that would hide the
 * parent's death from its peers. Calls in the child return -EBADFD or do nothing.
 *
 * The child may share the memory of polls and servers with its parent (EAL's heap),
 * which modifies it at once. So the child must not walk their lists: before the
 * fork, the parent notes what the child has to close.
 */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_common.h>

#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "base/comch_fork_notes.h"
#include "base/comch_registry.h"

bool comch_forked;

struct fork_call {
	void (*fn)(void *arg);
	void *arg;
};

/* What a child has to close; in private memory. */
static struct {
	int *fds;
	struct fork_call *calls;
	size_t nb_fds, max_fds;
	size_t nb_calls, max_calls;
	bool has_objects;
} noted;

/* Make space for one more element. False: no memory, the child keeps a descriptor. */
static bool
grow(void **array, size_t *max, size_t n, size_t size)
{
	void *larger;

	if (n < *max)
		return true;
	larger = realloc(*array, 2 * (n + 8) * size);
	if (larger == NULL) {
		COMCH_LOG(WARNING, "fork: no memory: the child inherits a descriptor");
		return false;
	}
	*array = larger;
	*max = 2 * (n + 8);
	return true;
}

void
comch_fork_note_fd(int fd)
{
	void *fds = noted.fds;

	if (fd < 0 || !grow(&fds, &noted.max_fds, noted.nb_fds, sizeof(*noted.fds)))
		return;
	noted.fds = fds;
	noted.fds[noted.nb_fds++] = fd;
}

void
comch_fork_note_call(void (*fn)(void *arg), void *arg)
{
	void *calls = noted.calls;

	if (!grow(&calls, &noted.max_calls, noted.nb_calls, sizeof(*noted.calls)))
		return;
	noted.calls = calls;
	noted.calls[noted.nb_calls++] = (struct fork_call){ fn, arg };
}

static void
before_fork(void)
{
	struct comch_registry_entry *entry;
	struct comch_registry_type *type;

	pthread_mutex_lock(&comch_registry.lock);
	noted.nb_fds = noted.nb_calls = 0;
	/* A child that forks: the lists are its parent's, and has_objects stays true. */
	if (comch_forked)
		return;
	/* The child of a parent without objects may use the library. */
	noted.has_objects = false;
	SLIST_FOREACH(type, &comch_registry.types, next) {
		TAILQ_FOREACH(entry, &type->list, next) {
			noted.has_objects |= !type->is_service;
			if (type->before_fork != NULL)
				type->before_fork(entry);
		}
	}
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&comch_registry.lock);
}

static void
in_child(void)
{
	size_t i;

	comch_forked = noted.has_objects;
	for (i = 0; i < noted.nb_calls; i++)
		noted.calls[i].fn(noted.calls[i].arg);
	for (i = 0; i < noted.nb_fds; i++)
		close(noted.fds[i]);
	pthread_mutex_unlock(&comch_registry.lock);
}

RTE_INIT(comch_fork_init)
{
	pthread_atfork(before_fork, in_parent, in_child);
}
