/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Notification completions, with which device code activates a thread.
 */

#include <stdlib.h>

#include "dpa/core.h"

struct doca_dpa_notification_completion {
	struct doca_dpa *dpa;
	struct doca_dpa_thread *thread;
	uint64_t handle; /* 0: not started */
};

doca_error_t
doca_dpa_notification_completion_create(struct doca_dpa *dpa,
		struct doca_dpa_thread *dpa_thread,
		struct doca_dpa_notification_completion **notify_comp)
{
	struct doca_dpa_notification_completion *comp;

	if (dpa == NULL || dpa_thread == NULL || notify_comp == NULL ||
			!impl_dpa_is_same(dpa, impl_dpa_thread_dpa(dpa_thread)))
		return DOCA_ERROR_INVALID_VALUE;
	comp = calloc(1, sizeof(*comp));
	if (comp == NULL)
		return DOCA_ERROR_NO_MEMORY;
	comp->dpa = dpa;
	comp->thread = dpa_thread;
	impl_dpa_thread_hold(dpa_thread);
	impl_dpa_hold(dpa);
	*notify_comp = comp;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_notification_completion_destroy(struct doca_dpa_notification_completion *notify_comp)
{
	if (notify_comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_dpa_handle_destroy(notify_comp->handle);
	impl_dpa_thread_drop(notify_comp->thread);
	impl_dpa_drop(notify_comp->dpa);
	free(notify_comp);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_notification_completion_get_thread(
		struct doca_dpa_notification_completion *notify_comp,
		struct doca_dpa_thread **dpa_thread)
{
	if (notify_comp == NULL || dpa_thread == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*dpa_thread = notify_comp->thread;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_notification_completion_start(struct doca_dpa_notification_completion *notify_comp)
{
	if (notify_comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (notify_comp->handle != 0 || !impl_dpa_is_started(notify_comp->dpa) ||
			!impl_dpa_thread_is_started(notify_comp->thread))
		return DOCA_ERROR_BAD_STATE;
	notify_comp->handle = impl_dpa_handle_create(IMPL_DPA_NOTIFICATION, notify_comp);
	return notify_comp->handle == 0 ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

doca_error_t
doca_dpa_notification_completion_stop(struct doca_dpa_notification_completion *notify_comp)
{
	if (notify_comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (notify_comp->handle == 0)
		return DOCA_ERROR_BAD_STATE;
	impl_dpa_handle_destroy(notify_comp->handle);
	notify_comp->handle = 0;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_notification_completion_get_dpa_handle(
		struct doca_dpa_notification_completion *notify_comp,
		doca_dpa_dev_notification_completion_t *handle)
{
	if (notify_comp == NULL || handle == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (notify_comp->handle == 0)
		return DOCA_ERROR_BAD_STATE;
	*handle = notify_comp->handle;
	return DOCA_SUCCESS;
}

void
doca_dpa_dev_thread_notify(doca_dpa_dev_notification_completion_t comp_handle)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	const struct doca_dpa_notification_completion *comp;

	comp = impl_dpa_object(self, IMPL_DPA_NOTIFICATION, comp_handle, __func__);
	if (comp == NULL)
		return;
	impl_dpa_thread_activate(comp->thread);
	impl_dpa_leave(self);
}
