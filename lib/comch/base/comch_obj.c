/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The base of all objects: states, STATE events, configurations. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "sdk/comch_log.h"
#include "base/comch_obj.h"
#include "base/comch_poll.h"

RTE_LOG_REGISTER(comch_logtype, lib.comch, NOTICE);

static const char *const state_names[] = {
	[RTE_COMCH_STATE_IDLE] = "IDLE",
	[RTE_COMCH_STATE_STARTING] = "STARTING",
	[RTE_COMCH_STATE_RUNNING] = "RUNNING",
	[RTE_COMCH_STATE_STOPPING] = "STOPPING",
};

static const char *const event_names[] = {
	[RTE_COMCH_EVENT_STATE] = "STATE",
	[RTE_COMCH_EVENT_CONNECT_REQUEST] = "CONNECT_REQUEST",
	[RTE_COMCH_EVENT_CONNECTED] = "CONNECTED",
	[RTE_COMCH_EVENT_DISCONNECTED] = "DISCONNECTED",
	[RTE_COMCH_EVENT_MSG] = "MSG",
	[RTE_COMCH_EVENT_SENT] = "SENT",
	[RTE_COMCH_EVENT_CONSUMER_NEW] = "CONSUMER_NEW",
	[RTE_COMCH_EVENT_CONSUMER_GONE] = "CONSUMER_GONE",
	[RTE_COMCH_EVENT_MR_ADDED] = "MR_ADDED",
};

const char *
rte_comch_state_name(enum rte_comch_state state)
{
	return (unsigned int)state < RTE_DIM(state_names) ? state_names[state] : "?";
}

const char *
rte_comch_event_name(enum rte_comch_event_type type)
{
	return (unsigned int)type < RTE_DIM(event_names) ? event_names[type] : "?";
}

const char *
rte_comch_version(void)
{
	return RTE_COMCH_VERSION_STRING;
}

int
comch_obj_conf(void *dst, size_t size, const void *src, const char *what)
{
	const uint8_t *bytes = src;
	size_t have, i;

	memset(dst, 0, size);
	if (src == NULL) {
		COMCH_LOG(ERR, "%s: no configuration given", what);
		return -EINVAL;
	}
	memcpy(&have, src, sizeof(have));
	if (have < sizeof(have) || have > 16 * size) {
		COMCH_LOG(ERR, "%s: unsupported conf_size %zu, expected %zu", what, have, size);
		return -EINVAL;
	}
	/* Members of a newer header: 0 means what this library does. */
	for (i = size; i < have; i++) {
		if (bytes[i] != 0) {
			COMCH_LOG(ERR, "%s: byte %zu of the configuration is used, and version %s "
				"knows %zu bytes: a newer librte_comch is needed", what, i,
				RTE_COMCH_VERSION_STRING, size);
			return -EINVAL;
		}
	}
	memcpy(dst, src, RTE_MIN(have, size));
	return 0;
}

bool
comch_obj_may(enum rte_comch_state prev, enum rte_comch_state next)
{
	static const bool legal[4][4] = {
		[RTE_COMCH_STATE_IDLE][RTE_COMCH_STATE_STARTING] = true,
		[RTE_COMCH_STATE_IDLE][RTE_COMCH_STATE_RUNNING] = true,
		[RTE_COMCH_STATE_STARTING][RTE_COMCH_STATE_RUNNING] = true,
		[RTE_COMCH_STATE_STARTING][RTE_COMCH_STATE_STOPPING] = true,
		[RTE_COMCH_STATE_STARTING][RTE_COMCH_STATE_IDLE] = true,
		[RTE_COMCH_STATE_RUNNING][RTE_COMCH_STATE_STOPPING] = true,
		[RTE_COMCH_STATE_RUNNING][RTE_COMCH_STATE_IDLE] = true,
		[RTE_COMCH_STATE_STOPPING][RTE_COMCH_STATE_IDLE] = true,
	};

	return legal[prev][next];
}

void
comch_obj_init(struct comch_obj *obj, enum rte_comch_obj_type type, void *self,
		struct rte_comch_poll *poll, uint64_t user_data)
{
	obj->type = type;
	obj->self = self;
	obj->poll = poll;
	obj->user_data = user_data;
	rte_spinlock_init(&obj->ev_lock);
}

void
comch_obj_state_set(struct comch_obj *obj, enum rte_comch_state next)
{
	enum rte_comch_state prev = comch_obj_state(obj);

	if (!comch_obj_may(prev, next))
		COMCH_LOG(ERR, "object %p: illegal state change %s to %s", (void *)obj,
			rte_comch_state_name(prev), rte_comch_state_name(next));
	/* Pairs with comch_obj_state(). Model: publish.pml, publish. */
	comch_store_release(&obj->state, (uint32_t)next);
}

void
comch_obj_state_event(struct comch_obj *obj, enum rte_comch_state next,
		int status, const char *text)
{
	struct comch_obj_ev *ev;

	rte_spinlock_lock(&obj->ev_lock);
	/* At most three changes occur between two runs: a start and its stop. */
	if (obj->nb_evs < COMCH_OBJ_EVS) {
		ev = &obj->ev[obj->nb_evs];
		/* Atomic: comch_obj_events() reads it without the lock. */
		comch_store_relaxed(&obj->nb_evs, obj->nb_evs + 1);
		ev->prev = (uint8_t)comch_obj_state(obj);
		ev->next = (uint8_t)next;
		ev->status = status;
		ev->text = text;
	}
	comch_obj_state_set(obj, next);
	rte_spinlock_unlock(&obj->ev_lock);
	comch_poll_note(obj);
}

static bool
next_event(struct comch_obj *obj, struct comch_obj_ev *ev)
{
	bool have;

	rte_spinlock_lock(&obj->ev_lock);
	have = obj->nb_evs > 0;
	if (have) {
		*ev = obj->ev[0];
		comch_store_relaxed(&obj->nb_evs, obj->nb_evs - 1);
		memmove(&obj->ev[0], &obj->ev[1], obj->nb_evs * sizeof(obj->ev[0]));
	}
	rte_spinlock_unlock(&obj->ev_lock);
	return have;
}

bool
comch_obj_events(struct comch_obj *obj, struct comch_run *run, struct rte_comch_conn *conn)
{
	struct rte_comch_event *event;
	struct comch_obj_ev ev;

	/* No events after destroy. */
	if (comch_obj_is_dead(obj))
		return true;
	while (!comch_run_full(run)) {
		if (!next_event(obj, &ev))
			return true;
		event = comch_run_add(run, RTE_COMCH_EVENT_STATE, obj, conn);
		event->state.prev = (enum rte_comch_state)ev.prev;
		event->state.next = (enum rte_comch_state)ev.next;
		event->status = ev.status;
		event->text = ev.text;
	}
	return comch_load_relaxed(&obj->nb_evs) == 0;
}

struct rte_comch_event *
comch_run_add(struct comch_run *run, enum rte_comch_event_type type,
		struct comch_obj *obj, struct rte_comch_conn *conn)
{
	struct rte_comch_event *event = &run->events[run->n++];

	event->type = type;
	event->obj_type = obj->type;
	event->obj.ptr = obj->self;
	event->conn = conn;
	event->user_data = comch_load_relaxed(&obj->user_data);
	event->status = 0;
	event->text = NULL;
	return event;
}

void
comch_obj_free_later(struct comch_obj *obj)
{
	comch_poll_note_as(obj, COMCH_NOTE_IN | COMCH_NOTE_DEAD);
}
