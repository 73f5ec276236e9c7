/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Functions of device code about its own thread.
 */

#include <sched.h>

#include "dpa/core.h"

void
doca_dpa_dev_device_set(doca_dpa_dev_t dpa_handle)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	const struct doca_dpa *dpa;

	dpa = impl_dpa_object(self, IMPL_DPA_CONTEXT, dpa_handle, __func__);
	if (dpa == NULL)
		return;
	if (self->dpa != NULL && !impl_dpa_is_same(self->dpa, dpa)) {
		impl_dpa_fault(self, __func__, "handle is of a context of another accelerator");
		return;
	}
	/* Handles identify their contexts, so there is nothing to set. */
	impl_dpa_leave(self);
}

unsigned int
doca_dpa_dev_thread_rank(void)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	unsigned int rank = atomic_load_explicit(&self->rank, memory_order_relaxed);

	impl_dpa_leave(self);
	return rank;
}

unsigned int
doca_dpa_dev_num_threads(void)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	unsigned int nb = atomic_load_explicit(&self->nb_threads, memory_order_relaxed);

	impl_dpa_leave(self);
	return nb;
}

doca_dpa_dev_uintptr_t
doca_dpa_dev_thread_get_local_storage(void)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	doca_dpa_dev_uintptr_t storage;

	if (!impl_dpa_self_need_thread(self, __func__))
		return 0;
	storage = impl_dpa_thread_storage(self->thread);
	impl_dpa_leave(self);
	return storage;
}

void
doca_dpa_dev_yield(void)
{
	struct impl_dpa_self *self = impl_dpa_enter();

	impl_dpa_leave(self);
	sched_yield();
}

void
doca_dpa_dev_thread_reschedule(void)
{
	struct impl_dpa_self *self = impl_dpa_enter();

	if (impl_dpa_self_need_thread(self, __func__))
		impl_dpa_self_end(self, IMPL_DPA_RESCHEDULED);
}

void
doca_dpa_dev_thread_finish(void)
{
	struct impl_dpa_self *self = impl_dpa_enter();

	if (impl_dpa_self_need_thread(self, __func__))
		impl_dpa_self_end(self, IMPL_DPA_FINISHED);
}
