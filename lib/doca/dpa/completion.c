/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Completions: a ring of elements with any number of producers and one consumer. An
 * element is a value of 64 bits, so it never dangles: 32 of immediate data, 24 of user
 * data, 4 of type, and one that marks it as valid.
 *
 * A slot is reserved (head), then filled. So a slot may be empty for a moment while
 * later ones are full; elements are taken in the order of reservation. A slot is cleared
 * before it is acknowledged (acked), which makes it available to producers.
 *
 * No activation is lost: push and request_notification each store, then load what the
 * other stores, with full fences between:
 *
 *     push                        request_notification
 *     slot = element              is_armed = true
 *     fence                       fence
 *     is_armed? activate          slot of the next element filled? activate
 *
 * So at least one of them sees the other's store. If both do, the exchange of is_armed
 * lets only one activate the thread.
 */

#include <inttypes.h>
#include <stdlib.h>

#include <rte_bitops.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "ctx/yield.h"
#include "dpa/core.h"
#include "log/log.h"

/** Maximum number of elements. */
#define MAX_SIZE (1u << 24)

#define THERE (UINT64_C(1) << 63)
#define TYPE_SHIFT 56
#define USER_SHIFT 32
#define USER_MASK ((UINT32_C(1) << DOCA_DPA_COMPLETION_LOG_MAX_USER_DATA) - 1)

struct slot {
	_Atomic uint64_t element;  /* 0: empty */
};

struct doca_dpa_completion {
	/* Written by producers. */
	_Atomic uint32_t head __rte_cache_aligned;
	/* Acknowledged elements; producers read it, too. */
	_Atomic uint32_t acked;
	atomic_bool is_armed;
	/* Written by the consumer. */
	_Atomic uint32_t taken __rte_cache_aligned;
	/* Constant while it is started. */
	struct slot *slots __rte_cache_aligned;
	uint32_t size;
	atomic_bool is_started;
	struct doca_dpa_thread *thread;
	struct doca_dpa *dpa;
	uint64_t handle;
	/* Under the context's lock. */
	unsigned int nb_attached;
};

doca_error_t
doca_dpa_completion_create(struct doca_dpa *dpa, unsigned int queue_size,
		struct doca_dpa_completion **dpa_comp)
{
	struct doca_dpa_completion *comp;

	if (dpa == NULL || dpa_comp == NULL || queue_size == 0 || queue_size > MAX_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	comp = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*comp));
	if (comp == NULL)
		return DOCA_ERROR_NO_MEMORY;
	memset(comp, 0, sizeof(*comp));
	comp->size = rte_align32pow2(queue_size);
	comp->slots = calloc(comp->size, sizeof(*comp->slots));
	if (comp->slots == NULL) {
		free(comp);
		return DOCA_ERROR_NO_MEMORY;
	}
	comp->dpa = dpa;
	impl_dpa_hold(dpa);
	*dpa_comp = comp;
	return DOCA_SUCCESS;
}

static bool
is_started(const struct doca_dpa_completion *comp)
{
	return atomic_load_explicit(&comp->is_started, memory_order_acquire);
}

static bool
is_attached(struct doca_dpa_completion *comp)
{
	bool is;

	pthread_mutex_lock(&comp->dpa->root->lock);
	is = comp->nb_attached > 0;
	pthread_mutex_unlock(&comp->dpa->root->lock);
	return is;
}

doca_error_t
doca_dpa_completion_destroy(struct doca_dpa_completion *dpa_comp)
{
	if (dpa_comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_started(dpa_comp) && doca_dpa_completion_stop(dpa_comp) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	if (dpa_comp->thread != NULL)
		impl_dpa_thread_drop(dpa_comp->thread);
	impl_dpa_drop(dpa_comp->dpa);
	free(dpa_comp->slots);
	free(dpa_comp);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_completion_get_queue_size(struct doca_dpa_completion *dpa_comp,
		unsigned int *queue_size)
{
	if (dpa_comp == NULL || queue_size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*queue_size = dpa_comp->size;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_completion_set_thread(struct doca_dpa_completion *dpa_comp,
		struct doca_dpa_thread *dpa_thread)
{
	if (dpa_comp == NULL || dpa_thread == NULL ||
			!impl_dpa_is_same(dpa_comp->dpa, impl_dpa_thread_dpa(dpa_thread)))
		return DOCA_ERROR_INVALID_VALUE;
	if (is_started(dpa_comp))
		return DOCA_ERROR_BAD_STATE;
	impl_dpa_thread_hold(dpa_thread);
	if (dpa_comp->thread != NULL)
		impl_dpa_thread_drop(dpa_comp->thread);
	dpa_comp->thread = dpa_thread;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_completion_get_thread(struct doca_dpa_completion *dpa_comp,
		struct doca_dpa_thread **dpa_thread)
{
	if (dpa_comp == NULL || dpa_thread == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*dpa_thread = dpa_comp->thread;
	return DOCA_SUCCESS;
}

/* Clear the ring and arm it for the first element. */
static void
reset(struct doca_dpa_completion *comp)
{
	uint32_t i;

	for (i = 0; i < comp->size; i++)
		atomic_store_explicit(&comp->slots[i].element, 0, memory_order_relaxed);
	atomic_store_explicit(&comp->head, 0, memory_order_relaxed);
	atomic_store_explicit(&comp->acked, 0, memory_order_relaxed);
	atomic_store_explicit(&comp->taken, 0, memory_order_relaxed);
	atomic_store_explicit(&comp->is_armed, comp->thread != NULL, memory_order_relaxed);
}

doca_error_t
doca_dpa_completion_start(struct doca_dpa_completion *dpa_comp)
{
	struct doca_dpa_completion *comp = dpa_comp;

	if (comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_started(comp) || !impl_dpa_is_started(comp->dpa) ||
			(comp->thread != NULL && !impl_dpa_thread_is_started(comp->thread)))
		return DOCA_ERROR_BAD_STATE;
	reset(comp);
	comp->handle = impl_dpa_handle_create(IMPL_DPA_COMPLETION, comp);
	if (comp->handle == 0)
		return DOCA_ERROR_DRIVER;
	atomic_store_explicit(&comp->is_started, true, memory_order_release);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_completion_stop(struct doca_dpa_completion *dpa_comp)
{
	if (dpa_comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!is_started(dpa_comp))
		return DOCA_ERROR_BAD_STATE;
	if (is_attached(dpa_comp)) {
		IMPL_ERR("DPA completion: cannot stop while a producer or async ops use it");
		return DOCA_ERROR_IN_USE;
	}
	atomic_store_explicit(&dpa_comp->is_started, false, memory_order_release);
	impl_dpa_handle_destroy(dpa_comp->handle);
	dpa_comp->handle = 0;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_completion_get_dpa_handle(struct doca_dpa_completion *dpa_comp,
		doca_dpa_dev_completion_t *handle)
{
	if (dpa_comp == NULL || handle == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!is_started(dpa_comp))
		return DOCA_ERROR_BAD_STATE;
	*handle = dpa_comp->handle;
	return DOCA_SUCCESS;
}

doca_error_t
impl_dpa_completion_attach(struct doca_dpa_completion *comp)
{
	doca_error_t ret = DOCA_ERROR_BAD_STATE;

	pthread_mutex_lock(&comp->dpa->root->lock);
	if (is_started(comp)) {
		comp->nb_attached++;
		ret = DOCA_SUCCESS;
	}
	pthread_mutex_unlock(&comp->dpa->root->lock);
	return ret;
}

void
impl_dpa_completion_detach(struct doca_dpa_completion *comp)
{
	pthread_mutex_lock(&comp->dpa->root->lock);
	comp->nb_attached--;
	pthread_mutex_unlock(&comp->dpa->root->lock);
}

struct doca_dpa *
impl_dpa_completion_dpa(const struct doca_dpa_completion *comp)
{
	return comp->dpa;
}

/* Activate the thread unless another caller has done so. */
static void
activate(struct doca_dpa_completion *comp)
{
	if (atomic_exchange_explicit(&comp->is_armed, false, memory_order_acq_rel))
		impl_dpa_thread_activate(comp->thread);
}

bool
impl_dpa_completion_push(struct doca_dpa_completion *comp,
		doca_dpa_dev_completion_type_t type, uint32_t user_data, uint32_t immediate)
{
	const uint64_t element = THERE | (uint64_t)type << TYPE_SHIFT |
		(uint64_t)(user_data & USER_MASK) << USER_SHIFT | immediate;
	uint32_t head = atomic_load_explicit(&comp->head, memory_order_relaxed);

	do {
		/* Acquire: pairs with the release of acked, so the slot is seen cleared. */
		if (head - atomic_load_explicit(&comp->acked, memory_order_acquire) >= comp->size)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&comp->head, &head, head + 1,
			memory_order_relaxed, memory_order_relaxed));
	atomic_store_explicit(&comp->slots[head & (comp->size - 1)].element, element,
		memory_order_release);
	if (comp->thread == NULL)
		return true;
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&comp->is_armed, memory_order_relaxed))
		activate(comp);
	return true;
}

static struct slot *
next_slot(const struct doca_dpa_completion *comp)
{
	uint32_t taken = atomic_load_explicit(&comp->taken, memory_order_relaxed);

	return &comp->slots[taken & (comp->size - 1)];
}

int
doca_dpa_dev_get_completion(doca_dpa_dev_completion_t dpa_comp_handle,
		doca_dpa_dev_completion_element_t *comp_element)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct doca_dpa_completion *comp;
	struct slot *slot;
	uint64_t element;

	comp = impl_dpa_object(self, IMPL_DPA_COMPLETION, dpa_comp_handle, __func__);
	if (comp == NULL)
		return 0;
	slot = next_slot(comp);
	element = atomic_load_explicit(&slot->element, memory_order_acquire);
	if (element != 0) {
		*comp_element = element;
		atomic_store_explicit(&slot->element, 0, memory_order_relaxed);
		atomic_store_explicit(&comp->taken, atomic_load_explicit(&comp->taken,
			memory_order_relaxed) + 1, memory_order_relaxed);
	}
	impl_dpa_leave(self);
	/* Device code that polls shares its CPU. */
	if (element == 0)
		impl_yield_idle();
	else
		impl_yield_busy();
	return element != 0;
}

/* An element is a value, so a device call is only needed to report an invalid one. */
static uint64_t
check_element(doca_dpa_dev_completion_element_t element, const char *what)
{
	if (unlikely((element & THERE) == 0))
		impl_dpa_fault(impl_dpa_enter(), what, "0x%" PRIx64 " is not a valid element",
			element);
	return element;
}

doca_dpa_dev_completion_type_t
doca_dpa_dev_get_completion_type(doca_dpa_dev_completion_element_t comp_element)
{
	return (doca_dpa_dev_completion_type_t)(check_element(comp_element, __func__) >>
		TYPE_SHIFT & 0xf);
}

uint32_t
doca_dpa_dev_get_completion_user_data(doca_dpa_dev_completion_element_t comp_element)
{
	return (uint32_t)(check_element(comp_element, __func__) >> USER_SHIFT) & USER_MASK;
}

uint32_t
doca_dpa_dev_get_completion_immediate(doca_dpa_dev_completion_element_t comp_element)
{
	return (uint32_t)check_element(comp_element, __func__);
}

void
doca_dpa_dev_completion_ack(doca_dpa_dev_completion_t dpa_comp_handle, uint64_t num_comp)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct doca_dpa_completion *comp;
	uint32_t acked, taken;

	comp = impl_dpa_object(self, IMPL_DPA_COMPLETION, dpa_comp_handle, __func__);
	if (comp == NULL)
		return;
	acked = atomic_load_explicit(&comp->acked, memory_order_relaxed);
	taken = atomic_load_explicit(&comp->taken, memory_order_relaxed);
	if (num_comp > taken - acked) {
		impl_dpa_fault(self, __func__, "acknowledged %" PRIu64 " elements, only %u were "
			"taken", num_comp, taken - acked);
		return;
	}
	atomic_store_explicit(&comp->acked, acked + (uint32_t)num_comp, memory_order_release);
	impl_dpa_leave(self);
}

void
doca_dpa_dev_completion_request_notification(doca_dpa_dev_completion_t dpa_comp_handle)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct doca_dpa_completion *comp;

	comp = impl_dpa_object(self, IMPL_DPA_COMPLETION, dpa_comp_handle, __func__);
	if (comp == NULL)
		return;
	if (comp->thread == NULL) {
		impl_dpa_warn(self, __func__, "no thread is set to activate");
	} else {
		atomic_store_explicit(&comp->is_armed, true, memory_order_relaxed);
		atomic_thread_fence(memory_order_seq_cst);
		if (atomic_load_explicit(&next_slot(comp)->element, memory_order_relaxed) != 0)
			activate(comp);
	}
	impl_dpa_leave(self);
}
