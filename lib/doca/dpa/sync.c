/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Sync events with a location on the DPA: launches wait for them and update them, and device code
 * uses them by a handle. The counter is in memory of the process like any other.
 *
 * An event knows of the DPA by its locations and by its handle only, and tells by impl_sync_dpa_ops
 * when they end. Device code that uses an event is waited for at its stop, as with all handles.
 */

#include <doca_dpa_dev_sync_event.h>
#include <doca_sync_event.h>

#include "accel/sync.h"
#include "dpa/core.h"
#include "log/log.h"

/* How often a launch that waits looks whether it must end. */
#define SLICE_MS 20

static void
stopping(struct doca_sync_event *event)
{
	impl_dpa_handle_destroy(event->dpa_handle);
	event->dpa_handle = 0;
}

static void
destroying(struct doca_sync_event *event)
{
	if (event->publisher_dpa != NULL)
		impl_dpa_locate(event->publisher_dpa, -1);
	if (event->subscriber_dpa != NULL)
		impl_dpa_locate(event->subscriber_dpa, -1);
}

/* Locations */

static doca_error_t
may_locate(const struct doca_sync_event *event, const struct doca_dpa *dpa)
{
	return dpa == NULL ? DOCA_ERROR_INVALID_VALUE : impl_sync_may_add(event);
}

/* Set one of an event's two DPAs. */
static void
locate(struct doca_sync_event *event, struct doca_dpa **place, struct doca_dpa *dpa)
{
	static const struct impl_sync_dpa_ops ops = {
		.stopping = stopping,
		.destroying = destroying,
	};

	impl_dpa_locate(dpa, 1);
	if (*place != NULL)
		impl_dpa_locate(*place, -1);
	*place = dpa;
	event->dpa_ops = &ops;
}

doca_error_t
doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa)
{
	doca_error_t ret = may_locate(event, dpa);

	if (ret != DOCA_SUCCESS)
		return ret;
	locate(event, &event->publisher_dpa, dpa);
	event->has_publisher = true;
	return DOCA_SUCCESS;
}

doca_error_t
doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa)
{
	doca_error_t ret = may_locate(event, dpa);

	if (ret != DOCA_SUCCESS)
		return ret;
	locate(event, &event->subscriber_dpa, dpa);
	event->has_subscriber = true;
	return DOCA_SUCCESS;
}

/* NULL: no location. */
static bool
is_at(const struct doca_dpa *place, const struct doca_dpa *dpa)
{
	return place != NULL && impl_dpa_is_same(place, dpa);
}

doca_error_t
doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
		doca_dpa_dev_sync_event_t *handle)
{
	if (event == NULL || dpa == NULL || handle == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->word == NULL)
		return DOCA_ERROR_BAD_STATE;
	if (!is_at(event->publisher_dpa, dpa) && !is_at(event->subscriber_dpa, dpa)) {
		IMPL_ERR("sync event: no handle: it has no location on this DPA");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (event->dpa_handle == 0)
		event->dpa_handle = impl_dpa_handle_create(IMPL_DPA_SYNC_EVENT, event);
	if (event->dpa_handle == 0)
		return DOCA_ERROR_NO_MEMORY;
	*handle = event->dpa_handle;
	return DOCA_SUCCESS;
}

/* Another machine */

doca_error_t
doca_sync_event_remote_net_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
		struct doca_sync_event_remote_net **event)
{
	if (dev == NULL || data == NULL || sz == 0 || event == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	IMPL_ERR("sync event: one of another machine is not supported");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t
doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event)
{
	/* There is none. */
	return event == NULL ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_NOT_SUPPORTED;
}

/* Launches */

/* NULL and success: there is no event. */
static doca_error_t
hold_one(struct doca_sync_event *event, bool is_here, const char *what,
		struct impl_sync_word **word)
{
	*word = NULL;
	if (event == NULL)
		return DOCA_SUCCESS;
	if (!is_here) {
		IMPL_ERR("kernel launch: its %s has no location on this DPA", what);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (event->word == NULL || event->accel.ctx.state == DOCA_CTX_STATE_STOPPING) {
		IMPL_ERR("kernel launch: its %s is not started", what);
		return DOCA_ERROR_BAD_STATE;
	}
	*word = event->word;
	impl_sync_word_hold(*word);
	return DOCA_SUCCESS;
}

doca_error_t
impl_dpa_sync_hold(struct impl_dpa_sync *sync, const struct doca_dpa *dpa,
		struct doca_sync_event *wait, struct doca_sync_event *comp)
{
	doca_error_t ret;

	ret = hold_one(wait, wait != NULL && is_at(wait->subscriber_dpa, dpa),
		"event to wait for, as a subscriber,", &sync->wait);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = hold_one(comp, comp != NULL && is_at(comp->publisher_dpa, dpa),
		"completion event, as a publisher,", &sync->comp);
	if (ret != DOCA_SUCCESS)
		impl_dpa_sync_drop_wait(sync);
	return ret;
}

bool
impl_dpa_sync_wait(const struct impl_dpa_self *self, const struct impl_dpa_sync *sync)
{
	struct rte_comch_counter *counter = sync->wait->counter;

	while (!impl_dpa_is_over(self))
		if (rte_comch_counter_wait(counter, RTE_COMCH_COUNTER_GT, sync->threshold,
				UINT64_MAX, SLICE_MS) == 0)
			return true;
	return false;
}

bool
impl_dpa_sync_has_come(const struct impl_dpa_sync *sync)
{
	return sync->wait == NULL || rte_comch_counter_is(sync->wait->counter,
		RTE_COMCH_COUNTER_GT, sync->threshold, UINT64_MAX);
}

void
impl_dpa_sync_drop_wait(struct impl_dpa_sync *sync)
{
	if (sync->wait != NULL)
		impl_sync_word_drop(sync->wait);
	sync->wait = NULL;
}

void
impl_dpa_sync_drop_comp(struct impl_dpa_sync *sync, bool is_done)
{
	struct impl_sync_word *word = sync->comp;

	sync->comp = NULL;
	if (word == NULL)
		return;
	if (!is_done)
		impl_sync_word_drop(word);
	else if (sync->is_add)
		impl_sync_word_drop_add(word, sync->count);
	else
		impl_sync_word_drop_set(word, sync->count);
}

/* Device code */

void
doca_dpa_dev_sync_event_get(doca_dpa_dev_sync_event_t event, uint64_t *value)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	const struct doca_sync_event *e;

	e = impl_dpa_object(self, IMPL_DPA_SYNC_EVENT, event, __func__);
	if (e == NULL)
		return;
	*value = rte_comch_counter_get(e->word->counter);
	impl_dpa_leave(self);
}

void
doca_dpa_dev_sync_event_update_set(doca_dpa_dev_sync_event_t event, uint64_t value)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	const struct doca_sync_event *e;

	e = impl_dpa_object(self, IMPL_DPA_SYNC_EVENT, event, __func__);
	if (e == NULL)
		return;
	rte_comch_counter_set(e->word->counter, value);
	impl_dpa_leave(self);
}

void
doca_dpa_dev_sync_event_update_add(doca_dpa_dev_sync_event_t event, uint64_t value)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	const struct doca_sync_event *e;

	e = impl_dpa_object(self, IMPL_DPA_SYNC_EVENT, event, __func__);
	if (e == NULL)
		return;
	rte_comch_counter_add(e->word->counter, value);
	impl_dpa_leave(self);
}

void
doca_dpa_dev_sync_event_wait_gt(doca_dpa_dev_sync_event_t event, uint64_t value, uint64_t mask)
{
	const struct doca_sync_event *e;
	struct impl_dpa_self *self;
	bool is_met;

	do {
		self = impl_dpa_enter();
		e = impl_dpa_object(self, IMPL_DPA_SYNC_EVENT, event, __func__);
		if (e == NULL)
			return;
		is_met = rte_comch_counter_is(e->word->counter, RTE_COMCH_COUNTER_GT, value, mask);
		impl_dpa_leave(self);
		if (!is_met)
			impl_dpa_pause(self);
	} while (!is_met);
}
