/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Consumer completions, on which messages for consumers on the DPA arrive. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_errno.h>

#include "base/err.h"
#include "dev/eal.h"
#include "log/log.h"
#include "msgq/msgq.h"

#define DEFAULT_RECV 1024

doca_error_t
doca_comch_consumer_completion_create(struct doca_comch_consumer_completion **consumer_comp)
{
	struct doca_comch_consumer_completion *comp;

	if (consumer_comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	comp = calloc(1, sizeof(*comp));
	if (comp == NULL)
		return DOCA_ERROR_NO_MEMORY;
	rte_spinlock_init(&comp->lock);
	comp->max_consumers = 1;
	comp->max_recv = DEFAULT_RECV;
	comp->imm_len = IMPL_MAX_IMM;
	*consumer_comp = comp;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_completion_destroy(struct doca_comch_consumer_completion *consumer_comp)
{
	if (consumer_comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (consumer_comp->handle != 0) {
		IMPL_ERR("consumer completion: cannot destroy while started");
		return DOCA_ERROR_IN_USE;
	}
	if (__atomic_load_n(&consumer_comp->nb_users, __ATOMIC_ACQUIRE) > 0) {
		IMPL_ERR("consumer completion: cannot destroy while consumers use it");
		return DOCA_ERROR_IN_USE;
	}
	if (consumer_comp->thread != NULL)
		impl_dpa_thread_drop(consumer_comp->thread);
	free(consumer_comp);
	return DOCA_SUCCESS;
}

/* Configuration */

doca_error_t
doca_comch_consumer_completion_set_dpa_thread(
		struct doca_comch_consumer_completion *consumer_comp,
		struct doca_dpa_thread *dpa_thread)
{
	if (consumer_comp == NULL || dpa_thread == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (consumer_comp->handle != 0)
		return DOCA_ERROR_BAD_STATE;
	impl_dpa_thread_hold(dpa_thread);
	if (consumer_comp->thread != NULL)
		impl_dpa_thread_drop(consumer_comp->thread);
	consumer_comp->thread = dpa_thread;
	return DOCA_SUCCESS;
}

/* Set a field of the completion; with is_pow2, rounded up to a power of two. */
static doca_error_t
set_number(struct doca_comch_consumer_completion *comp, uint32_t *place, uint32_t value,
		uint32_t max, bool is_pow2)
{
	if (value == 0 || value > max)
		return DOCA_ERROR_INVALID_VALUE;
	if (comp->handle != 0)
		return DOCA_ERROR_BAD_STATE;
	*place = is_pow2 ? rte_align32pow2(value) : value;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_completion_set_max_num_consumers(
		struct doca_comch_consumer_completion *consumer_comp, uint32_t max_num_consumers)
{
	return consumer_comp == NULL ? DOCA_ERROR_INVALID_VALUE :
		set_number(consumer_comp, &consumer_comp->max_consumers, max_num_consumers,
			IMPL_MSGQ_MAX_ENDS, true);
}

doca_error_t
doca_comch_consumer_completion_set_max_num_recv(
		struct doca_comch_consumer_completion *consumer_comp, uint32_t max_num_recv)
{
	return consumer_comp == NULL ? DOCA_ERROR_INVALID_VALUE :
		set_number(consumer_comp, &consumer_comp->max_recv, max_num_recv,
			IMPL_MSGQ_MAX_DEPTH, true);
}

doca_error_t
doca_comch_consumer_completion_set_imm_data_len(
		struct doca_comch_consumer_completion *consumer_comp, uint32_t imm_data_len)
{
	return consumer_comp == NULL ? DOCA_ERROR_INVALID_VALUE :
		set_number(consumer_comp, &consumer_comp->imm_len, imm_data_len, IMPL_MAX_IMM,
			false);
}

static doca_error_t
get_number(const struct doca_comch_consumer_completion *comp, size_t offset, uint32_t *value)
{
	if (comp == NULL || value == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(value, (const char *)comp + offset, sizeof(*value));
	return DOCA_SUCCESS;
}

#define GET_NUMBER(comp, member, value) \
	get_number(comp, offsetof(struct doca_comch_consumer_completion, member), value)

doca_error_t
doca_comch_consumer_completion_get_max_num_consumers(
		const struct doca_comch_consumer_completion *consumer_comp,
		uint32_t *max_num_consumers)
{
	return GET_NUMBER(consumer_comp, max_consumers, max_num_consumers);
}

doca_error_t
doca_comch_consumer_completion_get_max_num_recv(
		const struct doca_comch_consumer_completion *consumer_comp, uint32_t *max_num_recv)
{
	return GET_NUMBER(consumer_comp, max_recv, max_num_recv);
}

doca_error_t
doca_comch_consumer_completion_get_imm_data_len(
		const struct doca_comch_consumer_completion *consumer_comp, uint32_t *imm_data_len)
{
	return GET_NUMBER(consumer_comp, imm_len, imm_data_len);
}

/* Start and stop */

/* Called in a producer's burst, if the thread has requested a notification. */
static void
on_message(void *arg)
{
	const struct doca_comch_consumer_completion *comp = arg;

	impl_dpa_thread_activate(comp->thread);
}

static doca_error_t
start_check(const struct doca_comch_consumer_completion *comp)
{
	if (comp->thread == NULL) {
		IMPL_ERR("consumer completion: cannot start: no DPA thread is set");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if ((uint64_t)comp->max_consumers * comp->max_recv > IMPL_MSGQ_MAX_COMPLETIONS) {
		IMPL_ERR("consumer completion: %u receives times %u consumers exceeds %u",
			comp->max_recv, comp->max_consumers, IMPL_MSGQ_MAX_COMPLETIONS);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (comp->handle != 0)
		return DOCA_ERROR_BAD_STATE;
	if (!impl_dpa_thread_is_started(comp->thread)) {
		IMPL_ERR("consumer completion: cannot start: its DPA thread is not started");
		return DOCA_ERROR_BAD_STATE;
	}
	return impl_eal_start();
}

static doca_error_t
create_queues(struct doca_comch_consumer_completion *comp)
{
	const struct rte_comch_msgq_cq_conf conf = {
		.conf_size = sizeof(conf),
		.size = comp->max_consumers * comp->max_recv,
		.socket_id = -1,
		.notify = on_message,
		.notify_arg = comp,
	};

	comp->elements = calloc((size_t)4 * conf.size, sizeof(*comp->elements));
	if (comp->elements == NULL)
		return DOCA_ERROR_NO_MEMORY;
	comp->size = conf.size;
	comp->mask = 4 * conf.size - 1;
	comp->acked = comp->taken = comp->filled = comp->nb_credits = 0;
	comp->cq = rte_comch_msgq_cq_create(&conf);
	if (comp->cq != NULL)
		return DOCA_SUCCESS;
	free(comp->elements);
	comp->elements = NULL;
	return impl_err(-rte_errno);
}

static void
destroy_queues(struct doca_comch_consumer_completion *comp)
{
	rte_comch_msgq_cq_destroy(comp->cq);
	comp->cq = NULL;
	free(comp->elements);
	comp->elements = NULL;
}

doca_error_t
doca_comch_consumer_completion_start(struct doca_comch_consumer_completion *consumer_comp)
{
	struct doca_comch_consumer_completion *comp = consumer_comp;
	struct doca_dpa *dpa;
	doca_error_t ret;

	if (comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = start_check(comp);
	if (ret != DOCA_SUCCESS)
		return ret;
	dpa = impl_dpa_thread_dpa(comp->thread);
	ret = impl_dpa_join(dpa);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = create_queues(comp);
	if (ret != DOCA_SUCCESS)
		goto err_drop;
	comp->handle = impl_dpa_handle_create(IMPL_DPA_CONSUMER_COMPLETION, comp);
	if (comp->handle == 0) {
		ret = DOCA_ERROR_NO_MEMORY;
		goto err_queues;
	}
	/* Always succeeds: without consumers there are no messages. */
	rte_comch_msgq_cq_arm(comp->cq);
	return DOCA_SUCCESS;

err_queues:
	destroy_queues(comp);
err_drop:
	impl_dpa_drop(dpa);
	return ret;
}

static bool
has_consumers(struct doca_comch_consumer_completion *comp)
{
	uint32_t n;

	rte_spinlock_lock(&comp->lock);
	n = comp->nb_consumers;
	rte_spinlock_unlock(&comp->lock);
	if (n > 0)
		IMPL_ERR("consumer completion: cannot stop with %u running consumers", n);
	return n > 0;
}

doca_error_t
doca_comch_consumer_completion_stop(struct doca_comch_consumer_completion *consumer_comp)
{
	struct doca_comch_consumer_completion *comp = consumer_comp;

	if (comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (comp->handle == 0)
		return DOCA_ERROR_BAD_STATE;
	if (has_consumers(comp))
		return DOCA_ERROR_IN_USE;
	impl_dpa_handle_destroy(comp->handle);
	comp->handle = 0;
	destroy_queues(comp);
	impl_dpa_drop(impl_dpa_thread_dpa(comp->thread));
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_completion_get_dpa_handle(
		struct doca_comch_consumer_completion *consumer_comp,
		doca_dpa_dev_comch_consumer_completion_t *consumer_comp_handle)
{
	if (consumer_comp == NULL || consumer_comp_handle == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (consumer_comp->handle == 0)
		return DOCA_ERROR_BAD_STATE;
	*consumer_comp_handle = consumer_comp->handle;
	return DOCA_SUCCESS;
}

/* Consumers */

doca_error_t
impl_consumer_completion_join(struct doca_comch_consumer_completion *comp, uint32_t max_recv,
		uint32_t imm_len)
{
	doca_error_t ret = DOCA_SUCCESS;

	if (comp->handle == 0) {
		IMPL_ERR("MsgQ consumer: cannot start: its consumer completion is not started");
		return DOCA_ERROR_BAD_STATE;
	}
	if (max_recv > comp->max_recv || imm_len > comp->imm_len) {
		IMPL_ERR("MsgQ consumer: %u receives of %u bytes exceed its completion's %u of "
			"%u bytes", max_recv, imm_len, comp->max_recv, comp->imm_len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rte_spinlock_lock(&comp->lock);
	if (comp->nb_consumers < comp->max_consumers)
		comp->nb_consumers++;
	else
		ret = DOCA_ERROR_INVALID_VALUE;
	rte_spinlock_unlock(&comp->lock);
	if (ret != DOCA_SUCCESS)
		IMPL_ERR("MsgQ consumer: limit of %u consumers of its completion reached",
			comp->max_consumers);
	return ret;
}

void
impl_consumer_completion_leave(struct doca_comch_consumer_completion *comp)
{
	rte_spinlock_lock(&comp->lock);
	comp->nb_consumers--;
	rte_spinlock_unlock(&comp->lock);
}

void
impl_consumer_completion_fill(struct doca_comch_consumer_completion *comp)
{
	uint16_t n = rte_comch_msgq_cq_recv_burst(comp->cq,
			&comp->elements[comp->filled & comp->mask], 1);

	comp->filled += n;
	comp->nb_credits -= n;
}

void
impl_consumer_completion_stop_native(struct doca_comch_consumer_completion *comp,
		struct rte_comch_msgq_consumer *native)
{
	struct rte_comch_consumer_stats stats;

	rte_spinlock_lock(&comp->lock);
	rte_comch_msgq_consumer_stop(native);
	/* All messages fit: credit is given for free elements only. */
	while (rte_comch_msgq_consumer_state(native) != RTE_COMCH_STATE_IDLE)
		impl_consumer_completion_fill(comp);
	rte_comch_msgq_consumer_stats_get(native, &stats);
	comp->nb_credits -= stats.posted - stats.msgs;
	rte_spinlock_unlock(&comp->lock);
}
