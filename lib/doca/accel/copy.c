/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Copies between lists of buffers. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "accel/copy.h"
#include "base/err.h"

/* Memory in one piece at both ends. */
struct span {
	const uint8_t *src;
	uint8_t *dst;
	struct rte_comch_import *from, *to; /* NULL: of this process */
	size_t len;
};

void
impl_copy_begin(struct impl_copy *copy, const struct doca_buf *src, struct doca_buf *dst,
		struct impl_offload *dev)
{
	*copy = (struct impl_copy){ .src = src, .dst = dst, .from.buf = src, .to.buf = dst };
	impl_dev_copies_begin(&copy->by_dev, dev, impl_list_data(src));
}

void
impl_copy_end(struct impl_copy *copy)
{
	for (; copy->nb > 0; copy->nb--, copy->first++)
		rte_comch_piece_cancel(&copy->pieces[copy->first % RTE_COMCH_MAX_PIECES]);
	impl_dev_copies_end(&copy->by_dev);
	free(copy->buffer);
	copy->buffer = NULL;
}

/*
 * What comes next. The room was found to be large enough, and the program may have changed it.
 * DOCA_ERROR_EMPTY: nothing is left.
 */
static doca_error_t
next_span(struct impl_copy *copy, struct span *span)
{
	size_t len = impl_place_data(&copy->from, &span->src);

	if (len == 0)
		return DOCA_ERROR_EMPTY;
	span->len = RTE_MIN(len, impl_place_room(&copy->to, &span->dst));
	if (span->len == 0)
		return DOCA_ERROR_INVALID_VALUE;
	span->from = impl_mmap_import(copy->from.buf->mmap);
	span->to = impl_mmap_import(copy->to.buf->mmap);
	return DOCA_SUCCESS;
}

static void
advance(struct impl_copy *copy, size_t len)
{
	copy->from.off += len;
	copy->to.off += len;
	copy->len += len;
}

/* Pieces of the other side */

static doca_error_t
status_of(int ret)
{
	return ret == -EFAULT || ret == -EIO ? DOCA_ERROR_IO_FAILED : impl_err(ret);
}

static doca_error_t
start(struct impl_copy *copy, const struct rte_comch_piece *piece)
{
	struct rte_comch_piece *p = &copy->pieces[(copy->first + copy->nb) % RTE_COMCH_MAX_PIECES];
	int ret;

	*p = *piece;
	ret = rte_comch_piece_start(p);
	if (ret == 0)
		copy->nb++;
	return status_of(ret);
}

/* Read into the buffer now, and write from it when that is done. */
static doca_error_t
start_relay(struct impl_copy *copy, const struct span *span, uint32_t len)
{
	const struct rte_comch_piece piece = {
		.imp = span->from,
		.addr = (uintptr_t)span->src,
		.local = copy->buffer,
		.len = len,
	};
	doca_error_t ret = start(copy, &piece);

	if (ret != DOCA_SUCCESS)
		return ret;
	copy->is_relayed = true;
	copy->next = (struct rte_comch_piece){
		.imp = span->to,
		.addr = (uintptr_t)span->dst,
		.local = copy->buffer,
		.len = len,
		.is_write = true,
	};
	return DOCA_SUCCESS;
}

/* One after the other: there is one buffer. */
static doca_error_t
relay_span(struct impl_copy *copy, const struct span *span, uint32_t len)
{
	if (copy->nb > 0 || copy->is_relayed)
		return DOCA_ERROR_AGAIN;
	if (copy->buffer == NULL)
		copy->buffer = malloc(RTE_COMCH_PIECE_MAX);
	return copy->buffer == NULL ? DOCA_ERROR_NO_MEMORY : start_relay(copy, span, len);
}

/* Start a piece of a span that is not of this process. DOCA_ERROR_AGAIN: not now. */
static doca_error_t
start_span(struct impl_copy *copy, const struct span *span)
{
	const uint32_t len = (uint32_t)RTE_MIN(span->len, (size_t)RTE_COMCH_PIECE_MAX);
	const struct rte_comch_piece piece = {
		.imp = span->to != NULL ? span->to : span->from,
		.addr = span->to != NULL ? (uintptr_t)span->dst : (uintptr_t)span->src,
		.local = span->to != NULL ? (uint8_t *)(uintptr_t)span->src : span->dst,
		.len = len,
		.is_write = span->to != NULL,
	};
	doca_error_t ret;

	if (span->from != NULL && span->to != NULL)
		ret = relay_span(copy, span, len);
	else
		ret = copy->nb == RTE_COMCH_MAX_PIECES || copy->is_relayed ? DOCA_ERROR_AGAIN :
			start(copy, &piece);
	if (ret == DOCA_SUCCESS)
		advance(copy, len);
	return ret;
}

/* The piece that was read is in the buffer: write it. */
static doca_error_t
go_on_relay(struct impl_copy *copy)
{
	doca_error_t ret;

	if (!copy->is_relayed || copy->nb > 0)
		return DOCA_SUCCESS;
	ret = start(copy, &copy->next);
	if (ret == DOCA_SUCCESS)
		copy->is_relayed = false;
	return ret;
}

/* Take what is done. DOCA_SUCCESS: nothing is under way. */
static doca_error_t
poll_pieces(struct impl_copy *copy)
{
	doca_error_t ret;

	while (copy->nb > 0) {
		ret = status_of(rte_comch_piece_poll(
			&copy->pieces[copy->first % RTE_COMCH_MAX_PIECES]));
		if (ret == DOCA_ERROR_IN_PROGRESS)
			return ret;
		copy->first++;
		copy->nb--;
		if (ret == DOCA_SUCCESS)
			ret = go_on_relay(copy);
		if (ret != DOCA_SUCCESS)
			return ret;
	}
	return go_on_relay(copy);
}

/* Copy, or start to copy, the first bytes of a span of this process. */
static doca_error_t
copy_span(struct impl_copy *copy, const struct span *span, size_t *budget)
{
	doca_error_t ret = DOCA_SUCCESS;
	size_t n;

	if (impl_dev_copies_wants(&copy->by_dev, span->len)) {
		ret = impl_dev_copies_start(&copy->by_dev, span->dst, span->src, span->len, &n);
	} else {
		n = RTE_MIN(span->len, *budget);
		memcpy(span->dst, span->src, n);
		*budget -= n;
	}
	if (ret == DOCA_SUCCESS)
		advance(copy, n);
	return ret;
}

/* Start as much as there is room for, and copy what is of this process. */
static doca_error_t
start_all(struct impl_copy *copy, size_t *budget)
{
	struct span span;
	doca_error_t ret;

	while ((ret = next_span(copy, &span)) == DOCA_SUCCESS && *budget > 0) {
		if (span.from != NULL || span.to != NULL)
			ret = start_span(copy, &span);
		else
			ret = copy_span(copy, &span, budget);
		if (ret != DOCA_SUCCESS)
			return ret;
	}
	return ret;
}

static bool
is_under_way(doca_error_t ret)
{
	return ret == DOCA_SUCCESS || ret == DOCA_ERROR_IN_PROGRESS || ret == DOCA_ERROR_AGAIN;
}

/* Go on. DOCA_ERROR_EMPTY: all is started. */
static doca_error_t
go_on(struct impl_copy *copy, size_t *budget)
{
	doca_error_t ret = poll_pieces(copy);

	return is_under_way(ret) ? start_all(copy, budget) : ret;
}

/* Let the core begin anew: the DMA device has not copied something. */
static void
begin_anew(struct impl_copy *copy)
{
	impl_dev_copies_fail(&copy->by_dev);
	copy->from = (struct impl_place){ .buf = copy->src };
	copy->to = (struct impl_place){ .buf = copy->dst };
	copy->len = 0;
}

doca_error_t
impl_copy_run(struct impl_copy *copy, size_t *budget)
{
	doca_error_t ret = impl_dev_copies_poll(&copy->by_dev);

	if (ret != DOCA_ERROR_IO_FAILED)
		ret = go_on(copy, budget);
	if (ret == DOCA_ERROR_IO_FAILED && copy->by_dev.queue >= 0) {
		begin_anew(copy);
		return DOCA_ERROR_IN_PROGRESS;
	}
	if (is_under_way(ret))
		return DOCA_ERROR_IN_PROGRESS;
	if (ret != DOCA_ERROR_EMPTY)
		return ret;
	return copy->nb > 0 || copy->is_relayed || copy->by_dev.nb > 0 ? DOCA_ERROR_IN_PROGRESS :
		DOCA_SUCCESS;
}
