/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Compression devices, and what they do with deflate. */

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_compressdev.h>
#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#include "accel/deflate_dev.h"
#include "sdk/comch_eal_dev.h"

/* Of a queue, in flight: a task needs one, and drivers want more, such as 128. */
#define MAX_OPS 128
/* Of a pool: as many as there are queues; pools like 2^n - 1. */
#define OPS 63
static_assert(OPS >= COMCH_EAL_DEV_MAX_QUEUES, "a queue has an operation");
/* Any compressor of deflate has a window of at most that, 2^15 bytes. */
#define WINDOW 15
/* Behind a source. */
#define GUARD_BYTE 0xff
/* For a device to answer, when it is started. */
#define ANSWER_S 2

/* What was found out about a device when it was started; by its number. */
static struct answer {
	bool has[2];   /* as in struct impl_deflate_dev */
	uint8_t guard;
} answers[RTE_COMPRESS_MAX_DEVS];

/* Operations */

static bool
create_pools(struct rte_mempool **ops, struct rte_mempool **chains)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	*chains = impl_chains_create();
	impl_offload_name_pool("deflate", name, sizeof(name));
	*ops = rte_comp_op_pool_create(name, OPS, 0, 0, SOCKET_ID_ANY);
	return *chains != NULL && *ops != NULL;
}

/* A task has its own: not all drivers can share one. */
static void *
xform_create(uint8_t id, bool is_inflate)
{
	const struct rte_comp_xform compress = {
		.type = RTE_COMP_COMPRESS,
		.compress = {
			.algo = RTE_COMP_ALGO_DEFLATE,
			.deflate.huffman = RTE_COMP_HUFFMAN_DEFAULT,
			.level = RTE_COMP_LEVEL_PMD_DEFAULT,
			.window_size = WINDOW,
			.chksum = RTE_COMP_CHECKSUM_NONE,
			.hash_algo = RTE_COMP_HASH_ALGO_NONE,
		},
	};
	const struct rte_comp_xform decompress = {
		.type = RTE_COMP_DECOMPRESS,
		.decompress = {
			.algo = RTE_COMP_ALGO_DEFLATE,
			.chksum = RTE_COMP_CHECKSUM_NONE,
			.window_size = WINDOW,
			.hash_algo = RTE_COMP_HASH_ALGO_NONE,
		},
	};
	void *xform = NULL;

	return rte_compressdev_private_xform_create(id, is_inflate ? &decompress : &compress,
		&xform) == 0 ? xform : NULL;
}

/* For len bytes of a source, as yet without them. NULL: there is no memory at the moment. */
static struct rte_comp_op *
op_create(struct rte_mempool *ops, struct rte_mempool *chains, size_t len, size_t room)
{
	struct rte_comp_op *op = rte_comp_op_alloc(ops);

	if (op == NULL)
		return NULL;
	op->op_type = RTE_COMP_OP_STATELESS;
	op->flush_flag = RTE_COMP_FLUSH_FINAL;
	op->src.length = (uint32_t)len;
	op->m_src = impl_chain_new(chains, len);
	op->m_dst = impl_chain_new(chains, room);
	return op;
}

static void
op_free(struct rte_comp_op *op)
{
	if (op == NULL)
		return;
	rte_pktmbuf_free(op->m_src);
	rte_pktmbuf_free(op->m_dst);
	rte_comp_op_free(op);
}

static bool
is_complete(const struct rte_comp_op *op)
{
	return op != NULL && op->m_src != NULL && op->m_dst != NULL;
}

/* Devices */

static int
compress_find(const char *name)
{
	return rte_compressdev_get_dev_id(name);
}

static const char *
compress_next(int *id)
{
	return *id < rte_compressdev_count() ? rte_compressdev_name_get((uint8_t)*id) : NULL;
}

/* A compressed source that a device is asked about. */
struct question {
	uint8_t len;
	uint8_t data[7];
};

/*
 * Decompress it, by the first queue. Returns the status, or a negative errno. What a device that
 * does not answer has is never freed.
 */
static int
ask(uint8_t id, struct rte_mempool *ops, struct rte_mempool *chains, const struct question *q,
		uint32_t *consumed)
{
	const uint64_t end = rte_get_timer_cycles() + ANSWER_S * rte_get_timer_hz();
	struct rte_comp_op *op = op_create(ops, chains, q->len, 64), *done;
	void *xform = xform_create(id, true);
	int ret = -ENOMEM;

	if (is_complete(op) && xform != NULL) {
		memcpy(rte_pktmbuf_mtod(op->m_src, void *), q->data, q->len);
		op->private_xform = xform;
		ret = rte_compressdev_enqueue_burst(id, 0, &op, 1) == 1 ? 0 : -EIO;
	}
	while (ret == 0 && rte_compressdev_dequeue_burst(id, 0, &done, 1) == 0) {
		if (rte_get_timer_cycles() > end)
			return -ETIMEDOUT;
		rte_pause();
	}
	if (ret == 0) {
		*consumed = op->consumed;
		ret = op->status;
	}
	op_free(op);
	if (xform != NULL)
		rte_compressdev_private_xform_free(id, xform);
	return ret;
}

/*
 * Find out whether a device can be trusted with sources: some drivers take one whose end is missing
 * for whole, and its task would succeed with a part of its result. A device that refuses such
 * sources can; and one that says where a source ends, so that it shows in the byte behind it.
 */
static int
ask_about_ends(uint8_t id, struct rte_mempool *ops, struct rte_mempool *chains,
		struct answer *answer)
{
	static const struct question whole = { 4, { 0x4b, 0x04, 0x00, GUARD_BYTE } };
	/* Without a last block; in the middle of a code; in the middle of a stored block. */
	static const struct question parts[] = {
		{ 3, { 0x4a, 0x04, 0x00 } },
		{ 2, { 0x4b, 0x04 } },
		{ 6, { 0x01, 0x05, 0x00, 0xfa, 0xff, 0x61 } },
	};
	bool refuses = true;
	uint32_t consumed;
	unsigned int i;
	int ret;

	for (i = 0; i < RTE_DIM(parts); i++) {
		ret = ask(id, ops, chains, &parts[i], &consumed);
		if (ret == -ETIMEDOUT)
			return ret;
		refuses &= ret != RTE_COMP_OP_STATUS_SUCCESS;
	}
	ret = ask(id, ops, chains, &whole, &consumed);
	if (ret == -ETIMEDOUT)
		return ret;
	if (ret != RTE_COMP_OP_STATUS_SUCCESS)
		refuses = false;
	answer->guard = refuses ? 0 : 1;
	answer->has[true] = refuses || (ret == RTE_COMP_OP_STATUS_SUCCESS &&
		consumed == whole.len - 1u);
	return 0;
}

/* Whether a transformation can be had: drivers are of several devices, which differ. */
static bool
has_xform(uint8_t id, bool is_inflate)
{
	void *xform = xform_create(id, is_inflate);

	if (xform != NULL)
		rte_compressdev_private_xform_free(id, xform);
	return xform != NULL;
}

static int
find_answers(uint8_t id, struct answer *answer)
{
	struct rte_mempool *ops, *chains;
	int ret = -ENOMEM;

	answer->has[false] = has_xform(id, false);
	if (create_pools(&ops, &chains))
		ret = has_xform(id, true) ? ask_about_ends(id, ops, chains, answer) : 0;
	/* It may still write to them. */
	if (ret == -ETIMEDOUT)
		return ret;
	rte_mempool_free(ops);
	rte_mempool_free(chains);
	return ret;
}

static int
setup_queues(uint8_t id, uint16_t nb_queues)
{
	struct rte_compressdev_config conf = {
		.socket_id = rte_compressdev_socket_id(id),
		.nb_queue_pairs = nb_queues,
		/* A task has a queue, and one. */
		.max_nb_priv_xforms = nb_queues,
	};
	int ret = rte_compressdev_configure(id, &conf);
	uint16_t i;

	for (i = 0; i < nb_queues && ret == 0; i++)
		ret = rte_compressdev_queue_pair_setup(id, i, MAX_OPS, conf.socket_id);
	return ret != 0 ? ret : rte_compressdev_start(id);
}

static bool
has_deflate(const struct rte_compressdev_capabilities *capa)
{
	return capa != NULL && (capa->comp_feature_flags &
		(RTE_COMP_FF_HUFFMAN_DYNAMIC | RTE_COMP_FF_HUFFMAN_FIXED)) != 0;
}

static int
compress_start(int dev, uint16_t *nb_queues, char *why, size_t size)
{
	const uint8_t id = (uint8_t)dev;
	const struct rte_compressdev_capabilities *capa =
		rte_compressdev_capability_get(id, RTE_COMP_ALGO_DEFLATE);
	struct rte_compressdev_info info;
	int ret;

	if (!has_deflate(capa)) {
		snprintf(why, size, "it has no deflate");
		return -ENOTSUP;
	}
	rte_compressdev_info_get(id, &info);
	/* 0: any number. */
	if (info.max_nb_queue_pairs > 0)
		*nb_queues = RTE_MIN(*nb_queues, info.max_nb_queue_pairs);
	ret = setup_queues(id, *nb_queues);
	if (ret != 0)
		return ret;
	ret = find_answers(id, &answers[id]);
	if (ret == -ETIMEDOUT)
		snprintf(why, size, "it does not answer within %u s", ANSWER_S);
	if (ret != 0)
		rte_compressdev_stop(id);
	return ret;
}

static const struct comch_eal_dev_class compress_class = {
	.what = "compression device",
	.find = compress_find,
	.next = compress_next,
	.start = compress_start,
};

/* Contexts */

static uint8_t
id_of(const struct impl_deflate_dev *dev)
{
	/* There are RTE_COMPRESS_MAX_DEVS. */
	return (uint8_t)impl_offload_id(&dev->offload);
}

static bool
takes_chains(const struct rte_compressdev_capabilities *capa)
{
	const uint64_t need = RTE_COMP_FF_OOP_SGL_IN_SGL_OUT | RTE_COMP_FF_OOP_SGL_IN_LB_OUT |
		RTE_COMP_FF_OOP_LB_IN_SGL_OUT;

	return (capa->comp_feature_flags & need) == need;
}

/* All that a source may have. */
static bool
can_decompress(const struct rte_compressdev_capabilities *capa)
{
	const uint64_t need = RTE_COMP_FF_HUFFMAN_DYNAMIC | RTE_COMP_FF_HUFFMAN_FIXED;

	return (capa->comp_feature_flags & need) == need && capa->window_size.max >= WINDOW;
}

doca_error_t
impl_deflate_dev_open(struct impl_deflate_dev *dev, const struct doca_ctx *ctx)
{
	const struct rte_compressdev_capabilities *capa;
	const struct answer *answer;
	doca_error_t ret;

	*dev = (struct impl_deflate_dev){ .max = IMPL_OFFLOAD_SEGMENT };
	ret = impl_offload_open(&dev->offload, ctx, IMPL_OFFLOAD_COMPRESS, &compress_class);
	if (ret != DOCA_SUCCESS || dev->offload.dev == NULL)
		return ret;
	capa = rte_compressdev_capability_get(id_of(dev), RTE_COMP_ALGO_DEFLATE);
	answer = &answers[id_of(dev)];
	if (takes_chains(capa))
		dev->max = IMPL_OFFLOAD_MAX;
	dev->has[false] = answer->has[false];
	dev->has[true] = answer->has[true] && can_decompress(capa);
	dev->guard = answer->guard;
	if (create_pools(&dev->ops, &dev->chains))
		return DOCA_SUCCESS;
	ret = impl_offload_no_memory(&dev->offload);
	impl_deflate_dev_close(dev);
	return ret;
}

void
impl_deflate_dev_close(struct impl_deflate_dev *dev)
{
	impl_offload_close(&dev->offload);
	if (impl_offload_is_parents())
		return;
	rte_mempool_free(dev->ops);
	rte_mempool_free(dev->chains);
}

static size_t
guard_of(const struct impl_deflate_dev *dev, bool is_inflate)
{
	return is_inflate ? dev->guard : 0;
}

bool
impl_deflate_dev_wants(const struct impl_deflate_dev *dev, bool is_inflate, size_t len)
{
	return dev->has[is_inflate] && len > 0 && len + guard_of(dev, is_inflate) <= dev->max &&
		impl_offload_wants(&dev->offload, len);
}

/* Tasks */

/* The most that a source can become; of a compressed one, whatever there is room for. */
static size_t
most_of(const struct impl_dev_deflate *d, size_t room)
{
	const size_t bound = d->is_inflate ? SIZE_MAX : d->len + d->len / 8 + 1024;

	return RTE_MIN(RTE_MIN(room, bound), d->dev->max);
}

/* Prepare the operation. False: something of it is not to be had at the moment. */
static bool
prepare(struct impl_dev_deflate *d, const struct doca_buf *src, size_t room)
{
	const size_t guard = guard_of(d->dev, d->is_inflate);
	struct rte_mbuf *last;

	d->op = op_create(d->dev->ops, d->dev->chains, d->len + guard, most_of(d, room));
	if (!is_complete(d->op))
		return false;
	impl_chain_fill(d->op->m_src, (struct impl_place){ .buf = src });
	last = rte_pktmbuf_lastseg(d->op->m_src);
	if (guard > 0)
		*rte_pktmbuf_mtod_offset(last, uint8_t *, last->data_len - 1) = GUARD_BYTE;
	return true;
}

/* Give it to the device. False: that refuses it. */
static bool
enqueue(struct impl_dev_deflate *d)
{
	d->xform = xform_create(id_of(d->dev), d->is_inflate);
	d->op->private_xform = d->xform;
	return d->xform != NULL && rte_compressdev_enqueue_burst(id_of(d->dev),
		(uint16_t)d->queue, &d->op, 1) == 1;
}

/* Free what an operation has, which is not in flight. */
static void
release(struct impl_dev_deflate *d)
{
	op_free(d->op);
	if (d->xform != NULL)
		rte_compressdev_private_xform_free(id_of(d->dev), d->xform);
	impl_offload_give_queue(&d->dev->offload, d->queue);
	*d = (struct impl_dev_deflate){ .dev = NULL };
}

bool
impl_dev_deflate_begin(struct impl_dev_deflate *d, struct impl_deflate_dev *dev, bool is_inflate,
		const struct doca_buf *src, size_t room)
{
	const int queue = room == 0 ? -1 : impl_offload_take_queue(&dev->offload);
	bool is_ready;

	if (queue < 0)
		return false;
	*d = (struct impl_dev_deflate){
		.dev = dev,
		.queue = queue,
		.len = impl_list_data(src),
		.is_inflate = is_inflate,
	};
	is_ready = prepare(d, src, room);
	if (is_ready && enqueue(d))
		return true;
	if (is_ready)
		impl_offload_tell(&dev->offload);
	release(d);
	return false;
}

/* Whether it has taken what it was to take, and made what there is room for. */
static bool
is_right(const struct impl_dev_deflate *d)
{
	if (d->op->produced > rte_pktmbuf_pkt_len(d->op->m_dst))
		return false;
	if (!d->is_inflate)
		return d->op->consumed == d->len;
	return d->dev->guard == 0 || d->op->consumed <= d->len;
}

doca_error_t
impl_dev_deflate_poll(struct impl_dev_deflate *d)
{
	struct rte_comp_op *op;

	if (impl_offload_is_parents())
		return DOCA_ERROR_IO_FAILED;
	/* The queue has no other operation. */
	if (!d->is_done && rte_compressdev_dequeue_burst(id_of(d->dev), (uint16_t)d->queue, &op,
			1) == 0)
		return DOCA_ERROR_IN_PROGRESS;
	d->is_done = true;
	switch (d->op->status) {
	case RTE_COMP_OP_STATUS_SUCCESS:
		return is_right(d) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
	case RTE_COMP_OP_STATUS_OUT_OF_SPACE_TERMINATED:
	case RTE_COMP_OP_STATUS_OUT_OF_SPACE_RECOVERABLE:
		return DOCA_ERROR_TOO_BIG;
	default:
		return DOCA_ERROR_IO_FAILED;
	}
}

const struct rte_mbuf *
impl_dev_deflate_source(const struct impl_dev_deflate *d)
{
	return d->op->m_src;
}

const struct rte_mbuf *
impl_dev_deflate_result(const struct impl_dev_deflate *d, size_t *len)
{
	*len = d->op->produced;
	return d->op->m_dst;
}

void
impl_dev_deflate_end(struct impl_dev_deflate *d)
{
	if (d->dev == NULL)
		return;
	while (impl_dev_deflate_poll(d) == DOCA_ERROR_IN_PROGRESS)
		rte_pause();
	if (impl_offload_is_parents())
		d->dev = NULL;
	else
		release(d);
}
