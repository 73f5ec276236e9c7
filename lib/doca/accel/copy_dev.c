/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The copies that a DMA device makes. */

#include <errno.h>

#include <rte_common.h>
#include <rte_dmadev.h>
#include <rte_pause.h>

#include "accel/copy_dev.h"
#include "sdk/comch_dma_dev.h"

/* Of one copy, bytes: devices have limits of 2 MiB and more. */
#define PIECE (UINT32_C(1) << 20)

doca_error_t
impl_copy_dev_open(struct impl_offload *dev, const struct doca_ctx *ctx)
{
	return impl_offload_open(dev, ctx, IMPL_OFFLOAD_DMA, &comch_dma_dev_class);
}

void
impl_dev_copies_begin(struct impl_dev_copies *c, struct impl_offload *dev, size_t len)
{
	*c = (struct impl_dev_copies){ .dev = dev, .queue = -1 };
	if (!impl_offload_wants(dev, len))
		return;
	c->queue = impl_offload_take_queue(dev);
	c->id = (int16_t)impl_offload_id(dev);
}

bool
impl_dev_copies_wants(const struct impl_dev_copies *c, size_t len)
{
	return c->queue >= 0 && impl_offload_wants(c->dev, len);
}

doca_error_t
impl_dev_copies_start(struct impl_dev_copies *c, void *dst, const void *src, size_t len,
		size_t *n)
{
	int ret;

	*n = RTE_MIN(len, (size_t)PIECE);
	ret = rte_dma_copy(c->id, (uint16_t)c->queue, (uintptr_t)src, (uintptr_t)dst,
		(uint32_t)*n, RTE_DMA_OP_FLAG_SUBMIT);
	if (ret == -ENOSPC && c->nb > 0)
		return DOCA_ERROR_AGAIN;
	if (ret < 0)
		return DOCA_ERROR_IO_FAILED;
	c->nb++;
	c->bytes += *n;
	return DOCA_SUCCESS;
}

doca_error_t
impl_dev_copies_poll(struct impl_dev_copies *c)
{
	enum rte_dma_status_code status = RTE_DMA_STATUS_SUCCESSFUL;
	bool failed = false;

	if (c->nb == 0)
		return DOCA_SUCCESS;
	if (impl_offload_is_parents())
		return DOCA_ERROR_IO_FAILED;
	c->nb -= rte_dma_completed(c->id, (uint16_t)c->queue, c->nb, NULL, &failed);
	if (failed)
		c->nb -= rte_dma_completed_status(c->id, (uint16_t)c->queue, 1, NULL, &status);
	if (status != RTE_DMA_STATUS_SUCCESSFUL)
		return DOCA_ERROR_IO_FAILED;
	return c->nb == 0 ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}

void
impl_dev_copies_end(struct impl_dev_copies *c)
{
	if (c->queue < 0)
		return;
	while (c->nb > 0 && !impl_offload_is_parents()) {
		impl_dev_copies_poll(c);
		rte_pause();
	}
	impl_offload_give_queue(c->dev, c->queue);
	c->nb = 0;
	c->queue = -1;
}

void
impl_dev_copies_fail(struct impl_dev_copies *c)
{
	impl_dev_copies_end(c);
	c->bytes = 0;
	impl_offload_tell(c->dev);
}
