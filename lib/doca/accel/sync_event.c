/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA sync events: objects, locations, descriptors, and functions without a task. */

#include <errno.h>
#include <time.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_pause.h>

#include <comch_doca_sync_event_200.h>
#include <doca_sync_event.h>

#include "accel/sync.h"
#include "base/err.h"
#include "ctx/yield.h"
#include "dev/dev.h"
#include "log/log.h"

/* The exporter's library answers, whatever its program does. */
#define CONNECT_MS 5000
#define LOOK_NS 50000

_Static_assert(sizeof(struct impl_sync_desc) == 168, "the format is fixed");

static const struct impl_desc_kind desc_kind = {
	"sync event", "comchse", 1, sizeof(struct impl_sync_desc)
};

/* Object */

/* Programs of NVIDIA destroy events that they have started without a context. */
doca_error_t
doca_sync_event_destroy(struct doca_sync_event *event)
{
	doca_error_t ret = DOCA_SUCCESS;

	if (event == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->is_alone)
		ret = doca_sync_event_stop(event);
	return ret == DOCA_SUCCESS ? impl_ctx_destroy(&event->accel.ctx) : ret;
}

struct doca_ctx *
doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	return event == NULL ? NULL : &event->accel.ctx;
}

/* Start and stop */

/* Have this counter. NULL: rte_errno says why there is none. */
static doca_error_t
take(struct doca_sync_event *event, struct rte_comch_counter *counter)
{
	if (counter == NULL)
		return impl_err(-rte_errno);
	event->word = impl_sync_word_create(counter);
	if (event->word == NULL) {
		rte_comch_counter_free(counter);
		return DOCA_ERROR_NO_MEMORY;
	}
	return DOCA_SUCCESS;
}

static doca_error_t
make(struct doca_sync_event *event)
{
	if (!event->has_publisher || !event->has_subscriber) {
		IMPL_ERR("sync event: cannot start: it has no %s", event->has_publisher ?
			"subscriber" : "publisher");
		return DOCA_ERROR_BAD_STATE;
	}
	return take(event, rte_comch_counter_create(event->is_for_remote ?
		RTE_COMCH_COUNTER_F_SHARED : 0));
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Wait for the exporter's library. 0, or a negative errno; -EAGAIN: in vain. */
static int
connect_counter(struct rte_comch_counter *counter)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	const uint64_t end = now_ms() + CONNECT_MS;
	int ret;

	while ((ret = rte_comch_counter_connect(counter)) == -EAGAIN && now_ms() < end)
		nanosleep(&pause, NULL);
	return ret;
}

static doca_error_t
fetch(struct doca_sync_event *event)
{
	doca_error_t ret = take(event, rte_comch_counter_import(event->desc.native));
	int err;

	if (ret != DOCA_SUCCESS)
		return ret;
	err = connect_counter(event->word->counter);
	if (err == 0)
		return DOCA_SUCCESS;
	impl_sync_end(event);
	if (err == -EAGAIN)
		IMPL_ERR("sync event: cannot start: its exporter does not answer");
	return err == -EAGAIN ? DOCA_ERROR_TIME_OUT : impl_err(err);
}

doca_error_t
impl_sync_begin(struct doca_sync_event *event)
{
	return event->is_imported ? fetch(event) : make(event);
}

void
impl_sync_end(struct doca_sync_event *event)
{
	if (event->dpa_ops != NULL)
		event->dpa_ops->stopping(event);
	impl_sync_word_drop(event->word);
	event->word = NULL;
}

/* A child of fork() does not have the counters of its parent. */
static doca_error_t
may_use(const struct doca_sync_event *event)
{
	if (event == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return event->word == NULL || rte_comch_counter_connect(event->word->counter) != 0 ?
		DOCA_ERROR_BAD_STATE : DOCA_SUCCESS;
}

doca_error_t
doca_sync_event_start(struct doca_sync_event *event)
{
	doca_error_t ret;

	if (event == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->word != NULL || event->accel.ctx.state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	ret = impl_sync_begin(event);
	event->is_alone = ret == DOCA_SUCCESS;
	return ret;
}

doca_error_t
doca_sync_event_stop(struct doca_sync_event *event)
{
	doca_error_t ret;

	if (event == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	/* Programs may stop a context by this name. */
	if (!event->is_alone)
		return event->word == NULL ? DOCA_ERROR_BAD_STATE :
			doca_ctx_stop(&event->accel.ctx);
	ret = may_use(event);
	if (ret == DOCA_SUCCESS)
		ret = impl_sync_may_stop(event);
	if (ret != DOCA_SUCCESS)
		return ret;
	impl_sync_end(event);
	event->is_alone = false;
	return DOCA_SUCCESS;
}

doca_error_t
impl_sync_may_stop(const struct doca_sync_event *event)
{
	uint32_t nb = impl_sync_word_nb_holders(event->word);

	if (nb == 1)
		return DOCA_SUCCESS;
	IMPL_ERR("sync event: cannot stop: %u launched kernels wait for it or will update it",
		nb - 1);
	return DOCA_ERROR_IN_USE;
}

/* Locations */

doca_error_t
impl_sync_may_add(const struct doca_sync_event *event)
{
	if (event == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return event->word != NULL || event->is_imported ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS;
}

/* Use the device of a location, if there is none yet. */
static doca_error_t
add_dev(struct doca_sync_event *event, struct doca_dev *dev)
{
	doca_error_t ret = impl_sync_may_add(event);

	if (ret != DOCA_SUCCESS)
		return ret;
	if (!impl_dev_is_one(dev))
		return DOCA_ERROR_INVALID_VALUE;
	if (event->accel.dev == NULL)
		impl_accel_set_dev(&event->accel, dev);
	return DOCA_SUCCESS;
}

doca_error_t
doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	doca_error_t ret = add_dev(event, dev);

	if (ret == DOCA_SUCCESS)
		event->has_publisher = true;
	return ret;
}

doca_error_t
doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	doca_error_t ret = add_dev(event, dev);

	if (ret == DOCA_SUCCESS)
		event->has_subscriber = true;
	return ret;
}

doca_error_t
doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event)
{
	doca_error_t ret = impl_sync_may_add(event);

	if (ret == DOCA_SUCCESS)
		event->has_publisher = event->is_for_remote = true;
	return ret;
}

doca_error_t
doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event)
{
	doca_error_t ret = impl_sync_may_add(event);

	if (ret == DOCA_SUCCESS)
		event->has_subscriber = event->is_for_remote = true;
	return ret;
}

static doca_error_t
refuse_net(const struct doca_sync_event *event)
{
	if (event == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	IMPL_ERR("sync event: a location on another machine is not supported");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t
doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event)
{
	return refuse_net(event);
}

/* Export */

static doca_error_t
describe(struct doca_sync_event *event, const struct doca_dev *dev)
{
	struct impl_sync_desc *d = &event->desc;
	int ret;

	ret = rte_comch_counter_export(event->word->counter, impl_dev_id(dev), d->native);
	if (ret != 0)
		return impl_err(ret);
	d->zero = 0;
	impl_desc_seal(&desc_kind, d);
	return DOCA_SUCCESS;
}

doca_error_t
doca_sync_event_export_to_remote_pci(struct doca_sync_event *event, struct doca_dev *dev,
		const uint8_t **data, size_t *sz)
{
	doca_error_t ret;

	if (event == NULL || !impl_dev_is_one(dev) || data == NULL || sz == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->word == NULL)
		return DOCA_ERROR_BAD_STATE;
	if (!event->is_for_remote || event->is_imported) {
		IMPL_ERR("sync event: cannot export: %s", event->is_imported ? "imported" :
			"it has no location on the other side");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	ret = describe(event, dev);
	if (ret != DOCA_SUCCESS)
		return ret;
	*data = (const uint8_t *)&event->desc;
	*sz = sizeof(event->desc);
	return DOCA_SUCCESS;
}

doca_error_t
doca_sync_event_export_to_remote_net(struct doca_sync_event *event, const uint8_t **data,
		size_t *sz)
{
	return data == NULL || sz == NULL ? DOCA_ERROR_INVALID_VALUE : refuse_net(event);
}

doca_error_t
impl_sync_import(struct doca_dev *dev, const uint8_t *data, size_t sz,
		struct doca_sync_event *event)
{
	struct rte_comch_counter *counter;
	doca_error_t ret;

	if (!impl_dev_is_one(dev) || data == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_desc_read(&desc_kind, data, sz, &event->desc);
	if (ret != DOCA_SUCCESS)
		return ret;
	if (event->desc.zero != 0) {
		IMPL_ERR("sync event descriptor: its reserved bytes are not 0");
		return DOCA_ERROR_INVALID_VALUE;
	}
	/* Of what is in it, nothing but the form can be seen yet. */
	counter = rte_comch_counter_import(event->desc.native);
	if (counter == NULL) {
		IMPL_ERR("sync event descriptor: %s", rte_errno == EINVAL ? "no path of a socket" :
			rte_strerror(rte_errno));
		return impl_err(-rte_errno);
	}
	rte_comch_counter_free(counter);
	event->is_imported = true;
	impl_accel_set_dev(&event->accel, dev);
	return DOCA_SUCCESS;
}

doca_error_t
doca_sync_event_cap_is_export_to_remote_pci_supported(const struct doca_devinfo *devinfo)
{
	return impl_devinfo_supports(devinfo);
}

doca_error_t
doca_sync_event_cap_is_create_from_export_supported(const struct doca_devinfo *devinfo)
{
	return impl_devinfo_supports(devinfo);
}

/* Functions */

doca_error_t
doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	doca_error_t ret = value == NULL ? DOCA_ERROR_INVALID_VALUE : may_use(event);

	if (ret == DOCA_SUCCESS)
		*value = rte_comch_counter_get(event->word->counter);
	return ret;
}

doca_error_t
doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	doca_error_t ret = may_use(event);

	if (ret == DOCA_SUCCESS)
		rte_comch_counter_set(event->word->counter, value);
	return ret;
}

doca_error_t
doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched)
{
	doca_error_t ret = may_use(event);
	uint64_t before;

	if (ret != DOCA_SUCCESS)
		return ret;
	before = rte_comch_counter_add(event->word->counter, value);
	if (fetched != NULL)
		*fetched = before;
	return DOCA_SUCCESS;
}

static doca_error_t
wait_polling(struct doca_sync_event *event, enum rte_comch_counter_cond cond, uint64_t value,
		uint64_t mask)
{
	doca_error_t ret = may_use(event);

	if (ret != DOCA_SUCCESS)
		return ret;
	while (!rte_comch_counter_is(event->word->counter, cond, value, mask)) {
		rte_pause();
		impl_yield_idle();
	}
	return DOCA_SUCCESS;
}

static doca_error_t
wait_sleeping(struct doca_sync_event *event, enum rte_comch_counter_cond cond, uint64_t value,
		uint64_t mask)
{
	doca_error_t ret = may_use(event);

	if (ret == DOCA_SUCCESS)
		rte_comch_counter_wait(event->word->counter, cond, value, mask, -1);
	return ret;
}

doca_error_t
doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return wait_polling(event, RTE_COMCH_COUNTER_GT, value, mask);
}

doca_error_t
doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return wait_sleeping(event, RTE_COMCH_COUNTER_GT, value, mask);
}

doca_error_t
doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return wait_polling(event, RTE_COMCH_COUNTER_EQ, value, mask);
}

doca_error_t
doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return wait_sleeping(event, RTE_COMCH_COUNTER_EQ, value, mask);
}

doca_error_t
doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return wait_polling(event, RTE_COMCH_COUNTER_NE, value, mask);
}

doca_error_t
doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return wait_sleeping(event, RTE_COMCH_COUNTER_NE, value, mask);
}

/* Other names, until DOCA 2.2 */

doca_error_t
doca_sync_event_publisher_add_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	return doca_sync_event_add_publisher_location_cpu(event, dev);
}

doca_error_t
doca_sync_event_publisher_add_location_dpu(struct doca_sync_event *event)
{
	return doca_sync_event_add_publisher_location_remote_pci(event);
}

doca_error_t
doca_sync_event_subscriber_add_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	return doca_sync_event_add_subscriber_location_cpu(event, dev);
}

doca_error_t
doca_sync_event_subscriber_add_location_dpu(struct doca_sync_event *event)
{
	return doca_sync_event_add_subscriber_location_remote_pci(event);
}

doca_error_t
doca_sync_event_export_to_dpu(struct doca_sync_event *event, struct doca_dev *dev,
		const uint8_t **data, size_t *sz)
{
	return doca_sync_event_export_to_remote_pci(event, dev, data, sz);
}

doca_error_t
doca_sync_event_get_export_to_dpu_supported(struct doca_devinfo *devinfo)
{
	return impl_devinfo_supports(devinfo);
}

doca_error_t
doca_sync_event_get_create_from_export_supported(struct doca_devinfo *devinfo)
{
	return impl_devinfo_supports(devinfo);
}
