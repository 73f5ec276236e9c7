/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What device code asks and says of the thread that it runs in.
 */

#include <sched.h>

#include "dface_dpa_core.h"

void
doca_dpa_dev_device_set(doca_dpa_dev_t dpa_handle)
{
	struct dface_dpa_self *self = dface_dpa_enter();
	const struct doca_dpa *dpa;

	dpa = dface_dpa_object(self, DFACE_DPA_CONTEXT, dpa_handle, __func__);
	if (dpa == NULL)
		return;
	if (self->dpa != NULL && !dface_dpa_is_same(self->dpa, dpa)) {
		dface_dpa_fault(self, __func__, "a context of another accelerator");
		return;
	}
	/* Handles say their contexts themselves. */
	dface_dpa_leave(self);
}

unsigned int
doca_dpa_dev_thread_rank(void)
{
	struct dface_dpa_self *self = dface_dpa_enter();
	unsigned int rank = atomic_load_explicit(&self->rank, memory_order_relaxed);

	dface_dpa_leave(self);
	return rank;
}

unsigned int
doca_dpa_dev_num_threads(void)
{
	struct dface_dpa_self *self = dface_dpa_enter();
	unsigned int nb = atomic_load_explicit(&self->nb_threads, memory_order_relaxed);

	dface_dpa_leave(self);
	return nb;
}

doca_dpa_dev_uintptr_t
doca_dpa_dev_thread_get_local_storage(void)
{
	struct dface_dpa_self *self = dface_dpa_enter();
	doca_dpa_dev_uintptr_t storage;

	if (!dface_dpa_self_need_thread(self, __func__))
		return 0;
	storage = dface_dpa_thread_storage(self->thread);
	dface_dpa_leave(self);
	return storage;
}

void
doca_dpa_dev_yield(void)
{
	struct dface_dpa_self *self = dface_dpa_enter();

	dface_dpa_leave(self);
	sched_yield();
}

void
doca_dpa_dev_thread_reschedule(void)
{
	struct dface_dpa_self *self = dface_dpa_enter();

	if (dface_dpa_self_need_thread(self, __func__))
		dface_dpa_self_end(self, DFACE_DPA_RESCHEDULED);
}

void
doca_dpa_dev_thread_finish(void)
{
	struct dface_dpa_self *self = dface_dpa_enter();

	if (dface_dpa_self_need_thread(self, __func__))
		dface_dpa_self_end(self, DFACE_DPA_FINISHED);
}
