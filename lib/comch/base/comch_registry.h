/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_REGISTRY_H
#define COMCH_REGISTRY_H

/*
 * All objects of this process, in a list per type, for telemetry, the dump and fork.
 * Objects leave the registry before they are freed, so objects found under the lock
 * may be read.
 */

#include <pthread.h>
#include <stdbool.h>
#include <bsd/sys/queue.h>

#include <rte_common.h>

/* A member of each object, called entry. */
struct comch_registry_entry {
	TAILQ_ENTRY(comch_registry_entry) next;
};

TAILQ_HEAD(comch_registry_list, comch_registry_entry);

struct comch_registry_type {
	struct comch_registry_list list;
	/* Call comch_fork_note_*() for what a child must close. NULL: nothing. */
	void (*before_fork)(struct comch_registry_entry *entry);
	/* Of the library itself: a child may use the library nevertheless. */
	bool is_service;
	SLIST_ENTRY(comch_registry_type) next;
};

SLIST_HEAD(comch_registry_types, comch_registry_type);

struct comch_registry {
	pthread_mutex_t lock;
	struct comch_registry_types types;
};

extern struct comch_registry comch_registry;

/* Define a type, and register it at the start of the process. */
#define COMCH_REGISTRY_TYPE(name, before_fork_fn) \
	COMCH_REGISTRY_TYPE_(name, before_fork_fn, false)
/* The same for what the library needs for itself, and keeps. */
#define COMCH_REGISTRY_SERVICE_TYPE(name, before_fork_fn) \
	COMCH_REGISTRY_TYPE_(name, before_fork_fn, true)
#define COMCH_REGISTRY_TYPE_(name, before_fork_fn, is_service_) \
	struct comch_registry_type name = { \
		.list = TAILQ_HEAD_INITIALIZER(name.list), \
		.before_fork = before_fork_fn, \
		.is_service = is_service_, \
	}; \
	RTE_INIT(name##_init) \
	{ \
		SLIST_INSERT_HEAD(&comch_registry.types, &name, next); \
	}

/* The same with one object, which is always there. */
#define COMCH_REGISTRY_SERVICE(name, before_fork_fn) \
	struct comch_registry_entry name##_entry; \
	static COMCH_REGISTRY_SERVICE_TYPE(name, before_fork_fn) \
	RTE_INIT(name##_entry_init) \
	{ \
		TAILQ_INSERT_TAIL(&name.list, &name##_entry, next); \
	}

/* Walk all objects of a type, oldest first, with the lock held. */
#define COMCH_REGISTRY_FOREACH(obj, type) \
	for (struct comch_registry_entry *entry_ = TAILQ_FIRST(&(type)->list); \
			entry_ != NULL && \
			((obj) = container_of(entry_, __typeof__(*(obj)), entry), true); \
			entry_ = TAILQ_NEXT(entry_, next))

/* With the lock, so that no fork comes between this and something else. */
static inline void
comch_registry_add_locked(struct comch_registry_type *type, struct comch_registry_entry *entry)
{
	TAILQ_INSERT_TAIL(&type->list, entry, next);
}

static inline void
comch_registry_add(struct comch_registry_type *type, struct comch_registry_entry *entry)
{
	pthread_mutex_lock(&comch_registry.lock);
	comch_registry_add_locked(type, entry);
	pthread_mutex_unlock(&comch_registry.lock);
}

static inline void
comch_registry_del(struct comch_registry_type *type, struct comch_registry_entry *entry)
{
	pthread_mutex_lock(&comch_registry.lock);
	TAILQ_REMOVE(&type->list, entry, next);
	pthread_mutex_unlock(&comch_registry.lock);
}

#endif /* COMCH_REGISTRY_H */
