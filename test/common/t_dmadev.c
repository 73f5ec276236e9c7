/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_dmadev.h>

#include "t.h"
#include "t_dmadev.h"

struct t_dmadev t_dmadev;

void
t_dmadev_make(uint32_t n, bool ok)
{
	struct t_dmadev_copy *copy;

	for (; n > 0; n--) {
		T_LT(t_dmadev.made, t_dmadev.submitted);
		copy = &t_dmadev.copy[t_dmadev.made % T_DMADEV_QUEUE];
		copy->fails = !ok;
		if (ok)
			memcpy(copy->dst, copy->src, copy->len);
		t_dmadev.made++;
	}
}

static int
dev_submit(void *priv, uint16_t vchan)
{
	RTE_SET_USED(priv);
	T_EQ(vchan, 0);
	t_dmadev.submitted = t_dmadev.given;
	if (t_dmadev.instant)
		t_dmadev_make(t_dmadev.submitted - t_dmadev.made, true);
	return 0;
}

static int
dev_copy(void *priv, uint16_t vchan, rte_iova_t src, rte_iova_t dst, uint32_t len, uint64_t flags)
{
	T_EQ(vchan, 0);
	if (t_dmadev.refuses)
		return -EIO;
	if (t_dmadev.given - t_dmadev.taken == T_DMADEV_QUEUE)
		return -ENOSPC;
	t_dmadev.copy[t_dmadev.given % T_DMADEV_QUEUE] = (struct t_dmadev_copy){
		.src = (void *)(uintptr_t)src, .dst = (void *)(uintptr_t)dst, .len = len,
	};
	t_dmadev.given++;
	if (flags & RTE_DMA_OP_FLAG_SUBMIT)
		dev_submit(priv, vchan);
	return (int)((t_dmadev.given - 1) & UINT16_MAX);
}

/* Complete copies, up to the first that fails if *ok, else one that fails. */
static uint16_t
dev_take(uint16_t n, bool ok)
{
	uint16_t k = 0;

	while (k < n && t_dmadev.taken != t_dmadev.made &&
			t_dmadev.copy[t_dmadev.taken % T_DMADEV_QUEUE].fails != ok) {
		t_dmadev.taken++;
		k++;
	}
	return k;
}

static uint16_t
dev_completed(void *priv, uint16_t vchan, const uint16_t n, uint16_t *last, bool *has_error)
{
	uint16_t k;

	RTE_SET_USED(priv);
	T_EQ(vchan, 0);
	if (t_dmadev.on_completed != NULL)
		t_dmadev.on_completed();
	k = dev_take(n, true);
	*last = (uint16_t)(t_dmadev.taken - 1);
	*has_error = k < n && t_dmadev.taken != t_dmadev.made;
	return k;
}

static uint16_t
dev_status(void *priv, uint16_t vchan, const uint16_t n, uint16_t *last,
		enum rte_dma_status_code *status)
{
	RTE_SET_USED(priv);
	T_EQ(vchan, 0);
	T_EQ(n, 1);
	*last = (uint16_t)t_dmadev.taken;
	*status = RTE_DMA_STATUS_BUS_READ_ERROR;
	return dev_take(1, false);
}

static uint16_t
dev_capacity(const void *priv, uint16_t vchan)
{
	RTE_SET_USED(priv);
	T_EQ(vchan, 0);
	if (t_dmadev.on_look != NULL)
		t_dmadev.on_look();
	return (uint16_t)(T_DMADEV_QUEUE - (t_dmadev.given - t_dmadev.taken));
}

void
t_dmadev_attach(int16_t id)
{
	struct rte_dma_fp_object *fp = &rte_dma_fp_objs[id];

	memset(&t_dmadev, 0, sizeof(t_dmadev));
	fp->copy = dev_copy;
	fp->submit = dev_submit;
	fp->completed = dev_completed;
	fp->completed_status = dev_status;
	fp->burst_capacity = dev_capacity;
}
