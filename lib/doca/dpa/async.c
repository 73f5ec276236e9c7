/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Async ops: copies by device code. A copy is made when it is posted; only its element
 * may arrive later.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include <doca_dpa_dev_buf.h>

#include "dpa/dpa.h"
#include "log/log.h"

#define MAX_QUEUE_SIZE (1u << 20)
#define MAX_USER_DATA ((1u << DOCA_DPA_COMPLETION_LOG_MAX_USER_DATA) - 1)

struct doca_dpa_async_ops {
	struct doca_dpa *dpa;
	struct doca_dpa_completion *comp; /* NULL: not attached */
	doca_dpa_dev_async_ops_t handle;  /* 0: not started */
	uint32_t user_data;
	uint32_t queue_size;
	/* Operations whose elements are delayed until a later one. */
	uint32_t nb_deferred;
};

/* Device code until DOCA 2.8: a flag requests the completion element. */
void doca_dpa_dev_post_memcpy_207(doca_dpa_dev_async_ops_t async_ops_handle,
		doca_dpa_dev_mmap_t dst_mmap_handle, uint64_t dst_addr,
		doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr, size_t length,
		uint32_t completion_requested);
void doca_dpa_dev_post_buf_memcpy_207(doca_dpa_dev_async_ops_t async_ops_handle,
		doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
		uint32_t completion_requested);

doca_error_t
doca_dpa_async_ops_create(struct doca_dpa *dpa, unsigned int queue_size, uint64_t user_data,
		struct doca_dpa_async_ops **async_ops)
{
	struct doca_dpa_async_ops *ops;

	if (dpa == NULL || async_ops == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (queue_size == 0 || queue_size > MAX_QUEUE_SIZE || user_data > MAX_USER_DATA) {
		IMPL_ERR("DPA async ops: %u operations (limit %u), user data %#llx (limit %#x)",
			queue_size, MAX_QUEUE_SIZE, (unsigned long long)user_data,
			MAX_USER_DATA);
		return DOCA_ERROR_INVALID_VALUE;
	}
	ops = calloc(1, sizeof(*ops));
	if (ops == NULL)
		return DOCA_ERROR_NO_MEMORY;
	impl_dpa_hold(dpa);
	ops->dpa = dpa;
	ops->queue_size = rte_align32pow2(queue_size);
	ops->user_data = (uint32_t)user_data;
	*async_ops = ops;
	return DOCA_SUCCESS;
}

static void
detach(struct doca_dpa_async_ops *ops)
{
	if (ops->comp != NULL)
		impl_dpa_completion_detach(ops->comp);
	ops->comp = NULL;
}

static void
halt(struct doca_dpa_async_ops *ops)
{
	impl_dpa_handle_destroy(ops->handle);
	ops->handle = 0;
	/* The completion may be destroyed before the async ops. */
	detach(ops);
}

doca_error_t
doca_dpa_async_ops_destroy(struct doca_dpa_async_ops *async_ops)
{
	if (async_ops == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (async_ops->handle != 0)
		halt(async_ops);
	detach(async_ops);
	impl_dpa_drop(async_ops->dpa);
	free(async_ops);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_async_ops_get_queue_size(struct doca_dpa_async_ops *async_ops, unsigned int *queue_size)
{
	if (async_ops == NULL || queue_size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*queue_size = async_ops->queue_size;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_async_ops_get_user_data(struct doca_dpa_async_ops *async_ops, uint64_t *user_data)
{
	if (async_ops == NULL || user_data == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*user_data = async_ops->user_data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_async_ops_attach(struct doca_dpa_async_ops *async_ops,
		struct doca_dpa_completion *dpa_comp)
{
	doca_error_t ret;

	if (async_ops == NULL || dpa_comp == NULL ||
			!impl_dpa_is_same(async_ops->dpa, impl_dpa_completion_dpa(dpa_comp)))
		return DOCA_ERROR_INVALID_VALUE;
	if (async_ops->handle != 0) {
		IMPL_ERR("DPA async ops: cannot change the completion while started");
		return DOCA_ERROR_BAD_STATE;
	}
	ret = impl_dpa_completion_attach(dpa_comp);
	if (ret != DOCA_SUCCESS)
		return ret;
	detach(async_ops);
	async_ops->comp = dpa_comp;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_async_ops_start(struct doca_dpa_async_ops *async_ops)
{
	if (async_ops == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (async_ops->handle != 0 || async_ops->comp == NULL) {
		IMPL_ERR("DPA async ops: %s", async_ops->handle != 0 ? "started already" :
			"cannot start: no completion is attached");
		return DOCA_ERROR_BAD_STATE;
	}
	__atomic_store_n(&async_ops->nb_deferred, 0, __ATOMIC_RELAXED);
	async_ops->handle = impl_dpa_handle_create(IMPL_DPA_ASYNC_OPS, async_ops);
	return async_ops->handle != 0 ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

doca_error_t
doca_dpa_async_ops_stop(struct doca_dpa_async_ops *async_ops)
{
	if (async_ops == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (async_ops->handle == 0)
		return DOCA_ERROR_BAD_STATE;
	halt(async_ops);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_async_ops_get_dpa_handle(struct doca_dpa_async_ops *async_ops,
		doca_dpa_dev_async_ops_t *handle)
{
	if (async_ops == NULL || handle == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (async_ops->handle == 0)
		return DOCA_ERROR_BAD_STATE;
	*handle = async_ops->handle;
	return DOCA_SUCCESS;
}

struct copy {
	doca_dpa_dev_mmap_t dst_mmap, src_mmap;
	uint64_t dst_addr, src_addr;
	size_t len;
};

/* False: a fault. */
static bool
copy(struct impl_dpa_self *self, const struct copy *c, const char *what)
{
	char *dst, *src;

	dst = impl_dpa_mmap_range(self, c->dst_mmap, c->dst_addr, c->len, true, what);
	if (dst == NULL)
		return false;
	src = impl_dpa_mmap_range(self, c->src_mmap, c->src_addr, c->len, false, what);
	if (src == NULL)
		return false;
	if (c->len > 0 && dst < src + c->len && src < dst + c->len)
		impl_dpa_warn(self, what, "source and destination overlap: the result is "
			"undefined on hardware");
	memmove(dst, src, c->len);
	return true;
}

/* flags may be NULL: no element. */
static void
post(doca_dpa_dev_async_ops_t handle, const struct copy *c, const uint32_t *flags,
		const char *what)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct doca_dpa_async_ops *ops;
	uint32_t nb;

	ops = impl_dpa_object(self, IMPL_DPA_ASYNC_OPS, handle, what);
	if (ops == NULL || !copy(self, c, what))
		return;
	nb = flags == NULL ? 0 : impl_dpa_nb_elements(&ops->nb_deferred, *flags, ops->queue_size);
	for (; nb > 0; nb--) {
		if (!impl_dpa_completion_push(ops->comp, DOCA_DPA_DEV_COMP_SEND,
				ops->user_data, 0)) {
			impl_dpa_fault(self, what, "the completion is full: acknowledge "
				"elements or create it with more");
			return;
		}
	}
	impl_dpa_leave(self);
}

void
doca_dpa_dev_post_memcpy(doca_dpa_dev_async_ops_t async_ops_handle,
		doca_dpa_dev_mmap_t dst_mmap_handle, uint64_t dst_addr,
		doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr, size_t length,
		uint32_t flags)
{
	const struct copy c = {
		.dst_mmap = dst_mmap_handle,
		.dst_addr = dst_addr,
		.src_mmap = src_mmap_handle,
		.src_addr = src_addr,
		.len = length,
	};

	post(async_ops_handle, &c, &flags, __func__);
}

void
doca_dpa_dev_post_memcpy_207(doca_dpa_dev_async_ops_t async_ops_handle,
		doca_dpa_dev_mmap_t dst_mmap_handle, uint64_t dst_addr,
		doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr, size_t length,
		uint32_t completion_requested)
{
	const uint32_t flags = DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH;
	const struct copy c = {
		.dst_mmap = dst_mmap_handle,
		.dst_addr = dst_addr,
		.src_mmap = src_mmap_handle,
		.src_addr = src_addr,
		.len = length,
	};

	post(async_ops_handle, &c, completion_requested != 0 ? &flags : NULL,
		"doca_dpa_dev_post_memcpy");
}

/* Device code can modify the buffers itself, so read each field once. */
static void
post_bufs(doca_dpa_dev_async_ops_t handle, doca_dpa_dev_buf_t dst, doca_dpa_dev_buf_t src,
		const uint32_t *flags, const char *what)
{
	struct impl_dpa_self *self;
	struct copy c;

	if (dst == 0 || src == 0 ||
			doca_dpa_dev_buf_get_len(src) > doca_dpa_dev_buf_get_len(dst)) {
		self = impl_dpa_enter();
		impl_dpa_fault(self, what, dst == 0 || src == 0 ? "buffer handle is 0" :
			"the destination is shorter than the source");
		return;
	}
	c = (struct copy){
		.dst_mmap = doca_dpa_dev_buf_get_mmap(dst),
		.dst_addr = doca_dpa_dev_buf_get_addr(dst),
		.src_mmap = doca_dpa_dev_buf_get_mmap(src),
		.src_addr = doca_dpa_dev_buf_get_addr(src),
		.len = doca_dpa_dev_buf_get_len(src),
	};
	post(handle, &c, flags, what);
}

void
doca_dpa_dev_post_buf_memcpy(doca_dpa_dev_async_ops_t async_ops_handle,
		doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
		uint32_t flags)
{
	post_bufs(async_ops_handle, dst_buf_handle, src_buf_handle, &flags, __func__);
}

void
doca_dpa_dev_post_buf_memcpy_207(doca_dpa_dev_async_ops_t async_ops_handle,
		doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
		uint32_t completion_requested)
{
	const uint32_t flags = DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH;

	post_bufs(async_ops_handle, dst_buf_handle, src_buf_handle,
		completion_requested != 0 ? &flags : NULL, "doca_dpa_dev_post_buf_memcpy");
}
