/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The DMA device of contexts, and the copies that it makes. */

#include <errno.h>

#include <rte_common.h>
#include <rte_dmadev.h>
#include <rte_pause.h>

#include "accel/copy_dev.h"
#include "dev/eal.h"
#include "log/log.h"
#include "sdk/comch_dma_dev.h"

/* Of one copy, bytes: devices have limits of 2 MiB and more. */
#define PIECE (UINT32_C(1) << 20)

doca_error_t
impl_copy_dev_open(struct impl_copy_dev *dev, const struct doca_ctx *ctx)
{
	const struct impl_manners *manners = ctx->manners;
	doca_error_t ret;
	char why[512];

	*dev = (struct impl_copy_dev){ .name = manners->dma, .min = manners->dma_min };
	if (manners->dma[0] == '\0')
		return DOCA_SUCCESS;
	/* Not in a child of fork(). */
	ret = impl_eal_start();
	if (ret != DOCA_SUCCESS)
		return ret;
	if (comch_dma_dev_open(dev->name, &dev->dev, why, sizeof(why)) == 0)
		return DOCA_SUCCESS;
	IMPL_ERR("%s: cannot start: dma = %s in the device table: %s", ctx->ops->name, dev->name,
		why);
	return DOCA_ERROR_INITIALIZATION;
}

void
impl_copy_dev_close(struct impl_copy_dev *dev)
{
	if (dev->dev != NULL)
		comch_dma_dev_close(dev->dev);
	dev->dev = NULL;
}

void
impl_dev_copies_begin(struct impl_dev_copies *c, struct impl_copy_dev *dev, size_t len)
{
	*c = (struct impl_dev_copies){ .dev = dev, .queue = -1 };
	if (dev->dev == NULL || len < dev->min)
		return;
	c->queue = comch_dma_dev_take_queue(dev->dev);
	c->id = comch_dma_dev_id(dev->dev);
}

bool
impl_dev_copies_wants(const struct impl_dev_copies *c, size_t len)
{
	return c->queue >= 0 && len >= c->dev->min;
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
	while (c->nb > 0) {
		impl_dev_copies_poll(c);
		rte_pause();
	}
	comch_dma_dev_give_queue(c->dev->dev, c->queue);
	c->queue = -1;
}

void
impl_dev_copies_fail(struct impl_dev_copies *c)
{
	impl_dev_copies_end(c);
	c->bytes = 0;
	if (!__atomic_exchange_n(&c->dev->has_told, true, __ATOMIC_RELAXED))
		IMPL_WARN("DMA: %s has not made a copy; the core makes it, and others like it",
			c->dev->name);
}
