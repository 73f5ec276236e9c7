/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Creation, properties and destruction of endpoints. */

#include <stdlib.h>
#include <time.h>

#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_pause.h>

#include <doca_comm_channel.h>

#include "base/alias.h"
#include "comch/comch.h"
#include "comm_channel/cchan.h"

uint16_t
impl_cchan_queue(uint32_t size)
{
	return (uint16_t)rte_align32pow2(RTE_MAX(size, (uint32_t)CCHAN_MIN_QUEUE));
}

/* Checks of a taken lock before a sleep, and the length of that. */
#define LOCK_LOOKS 200
#define LOCK_NAP_NS 20000

void
impl_cchan_lock_wait(uint32_t *lock)
{
	const struct timespec nap = { .tv_nsec = LOCK_NAP_NS };
	unsigned int i = 0;

	/* The lock's holder may need this CPU. */
	do {
		if (++i < LOCK_LOOKS)
			rte_pause();
		else
			nanosleep(&nap, NULL);
	} while (__atomic_load_n(lock, __ATOMIC_RELAXED) != 0 ||
		__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0);
}

struct doca_comm_channel_ep_t *
impl_cchan_create(void)
{
	struct doca_comm_channel_ep_t *ep = calloc(1, sizeof(*ep));

	if (ep == NULL)
		return NULL;
	ep->max_msg_size = IMPL_MAX_MSG_SIZE;
	ep->send_queue = CCHAN_DEFAULT_QUEUE;
	ep->recv_queue = CCHAN_DEFAULT_QUEUE;
	TAILQ_INIT(&ep->addrs);
	TAILQ_INIT(&ep->free_addrs);
	SLIST_INIT(&ep->slabs);
	STAILQ_INIT(&ep->kept);
	impl_cchan_channels_init(ep);
	return ep;
}

doca_error_t
doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep)
{
	if (ep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*ep = impl_cchan_create();
	return *ep == NULL ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *local_ep)
{
	struct cchan_slab *slab;

	if (local_ep == NULL)
		return DOCA_ERROR_NOT_CONNECTED;
	impl_cchan_unlink(local_ep);
	impl_cchan_channels_fini(local_ep);
	if (local_ep->poll != NULL)
		rte_comch_poll_destroy(local_ep->poll);
	if (local_ep->dev != NULL)
		impl_dev_drop(local_ep->dev);
	if (local_ep->rep != NULL)
		impl_rep_drop(local_ep->rep);
	while ((slab = SLIST_FIRST(&local_ep->slabs)) != NULL) {
		SLIST_REMOVE_HEAD(&local_ep->slabs, next);
		free(slab);
	}
	free(local_ep->list);
	free(local_ep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep, struct doca_dev **device)
{
	if (ep == NULL || device == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(ep);
	*device = ep->dev;
	impl_cchan_unlock(ep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep,
		struct doca_dev_rep **device_rep)
{
	if (ep == NULL || device_rep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(ep);
	*device_rep = ep->rep;
	impl_cchan_unlock(ep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t *max_msg_size)
{
	if (ep == NULL || max_msg_size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(ep);
	*max_msg_size = ep->max_msg_size;
	impl_cchan_unlock(ep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t *send_queue_size)
{
	if (ep == NULL || send_queue_size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(ep);
	*send_queue_size = ep->send_queue;
	impl_cchan_unlock(ep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t *recv_queue_size)
{
	if (ep == NULL || recv_queue_size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(ep);
	*recv_queue_size = ep->recv_queue;
	impl_cchan_unlock(ep);
	return DOCA_SUCCESS;
}

/* Lock an endpoint to change it; not locked on an error. */
static doca_error_t
set_begin(struct doca_comm_channel_ep_t *ep, bool good)
{
	if (ep == NULL || !good)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(ep);
	if (ep->kind == CCHAN_NONE)
		return DOCA_SUCCESS;
	impl_cchan_unlock(ep);
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t
doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep, struct doca_dev *device)
{
	doca_error_t ret = set_begin(ep, impl_dev_is_one(device));

	if (ret != DOCA_SUCCESS)
		return ret;
	impl_dev_hold(device);
	if (ep->dev != NULL)
		impl_dev_drop(ep->dev);
	ep->dev = device;
	impl_cchan_unlock(ep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep,
		struct doca_dev_rep *device_rep)
{
	doca_error_t ret = set_begin(ep, impl_rep_is_one(device_rep));

	if (ret != DOCA_SUCCESS)
		return ret;
	impl_rep_hold(device_rep);
	if (ep->rep != NULL)
		impl_rep_drop(ep->rep);
	ep->rep = device_rep;
	impl_cchan_unlock(ep);
	return DOCA_SUCCESS;
}

/* The same, for a size: before a device is set, up to the largest that one may have. */
static doca_error_t
set_size_begin(struct doca_comm_channel_ep_t *ep, uint16_t size, uint32_t max, size_t limit)
{
	doca_error_t ret = set_begin(ep, size > 0 && size <= max);

	if (ret != DOCA_SUCCESS || ep->dev == NULL ||
			size <= impl_limit_at(&impl_dev_manners(ep->dev)->limits, limit))
		return ret;
	impl_cchan_unlock(ep);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t
doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t max_msg_size)
{
	doca_error_t ret = set_size_begin(ep, max_msg_size, IMPL_MAX_MSG_SIZE,
		IMPL_LIMIT(max_msg_size));

	if (ret != DOCA_SUCCESS)
		return ret;
	ep->max_msg_size = RTE_MAX(max_msg_size, CCHAN_MIN_MSG);
	impl_cchan_unlock(ep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t send_queue_size)
{
	doca_error_t ret = set_size_begin(ep, send_queue_size, IMPL_MAX_SEND_TASKS,
		IMPL_LIMIT(max_send_tasks));

	if (ret != DOCA_SUCCESS)
		return ret;
	ep->send_queue = impl_cchan_queue(send_queue_size);
	impl_cchan_unlock(ep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t recv_queue_size)
{
	doca_error_t ret = set_size_begin(ep, recv_queue_size, IMPL_MAX_RECV_QUEUE,
		IMPL_LIMIT(max_recv_queue_size));

	if (ret != DOCA_SUCCESS)
		return ret;
	ep->recv_queue = impl_cchan_queue(recv_queue_size);
	impl_cchan_unlock(ep);
	return DOCA_SUCCESS;
}

IMPL_ALIAS(doca_comm_channel_ep_set_rcv_queue_size, doca_comm_channel_ep_set_recv_queue_size);

IMPL_ALIAS(doca_comm_channel_ep_get_rcv_queue_size, doca_comm_channel_ep_get_recv_queue_size);
