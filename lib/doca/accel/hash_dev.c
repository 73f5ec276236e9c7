/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Crypto devices, and the digests that they compute. */

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include <openssl/sha.h>

#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_cryptodev.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#include "accel/hash_dev.h"
#include "sdk/comch_eal_dev.h"

/* Descriptors of a queue: a task needs one, and drivers want more, such as 128. */
#define DESCS 128
/* Of a pool: as many as there are queues; pools like 2^n - 1. */
#define OPS 63
static_assert(OPS >= COMCH_EAL_DEV_MAX_QUEUES, "a queue has an operation");

/* Indexed by enum doca_sha_algorithm. */
static const struct {
	enum rte_crypto_auth_algorithm algo;
	uint16_t digest; /* bytes */
} algorithms[] = {
	[DOCA_SHA_ALGORITHM_SHA1] = { RTE_CRYPTO_AUTH_SHA1, SHA_DIGEST_LENGTH },
	[DOCA_SHA_ALGORITHM_SHA256] = { RTE_CRYPTO_AUTH_SHA256, SHA256_DIGEST_LENGTH },
	[DOCA_SHA_ALGORITHM_SHA512] = { RTE_CRYPTO_AUTH_SHA512, SHA512_DIGEST_LENGTH },
};

/* Behind an operation, in memory that the device reaches. */
#define DIGEST_OFFSET (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))

/* Devices */

static int
crypto_find(const char *name)
{
	return rte_cryptodev_get_dev_id(name);
}

static const char *
crypto_next(int *id)
{
	for (; *id < RTE_CRYPTO_MAX_DEVS; ++*id)
		if (rte_cryptodev_is_valid_dev((uint8_t)*id))
			return rte_cryptodev_name_get((uint8_t)*id);
	return NULL;
}

static bool
has_algorithm(uint8_t id, unsigned int algorithm)
{
	const struct rte_cryptodev_sym_capability_idx idx = {
		.type = RTE_CRYPTO_SYM_XFORM_AUTH,
		.algo.auth = algorithms[algorithm].algo,
	};
	const struct rte_cryptodev_symmetric_capability *cap =
		rte_cryptodev_sym_capability_get(id, &idx);

	return cap != NULL && rte_cryptodev_sym_capability_check_auth(cap, 0,
		algorithms[algorithm].digest, 0) == 0;
}

static uint32_t
algorithms_of(uint8_t id)
{
	uint32_t mask = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(algorithms); i++)
		if (has_algorithm(id, i))
			mask |= RTE_BIT32(i);
	return mask;
}

static int
setup_queues(uint8_t id, uint16_t nb_queues)
{
	const struct rte_cryptodev_qp_conf qp_conf = { .nb_descriptors = DESCS };
	struct rte_cryptodev_config conf = {
		.socket_id = rte_cryptodev_socket_id(id),
		.nb_queue_pairs = nb_queues,
		.ff_disable = RTE_CRYPTODEV_FF_ASYMMETRIC_CRYPTO | RTE_CRYPTODEV_FF_SECURITY,
	};
	int ret = rte_cryptodev_configure(id, &conf);
	uint16_t i;

	for (i = 0; i < nb_queues && ret == 0; i++)
		ret = rte_cryptodev_queue_pair_setup(id, i, &qp_conf, conf.socket_id);
	return ret != 0 ? ret : rte_cryptodev_start(id);
}

static int
crypto_start(int id, uint16_t *nb_queues, char *why, size_t size)
{
	struct rte_cryptodev_info info;

	if (algorithms_of((uint8_t)id) == 0) {
		snprintf(why, size, "it has none of SHA-1, SHA-256 and SHA-512");
		return -ENOTSUP;
	}
	rte_cryptodev_info_get((uint8_t)id, &info);
	*nb_queues = (uint16_t)RTE_MIN((unsigned int)*nb_queues, info.max_nb_queue_pairs);
	return setup_queues((uint8_t)id, *nb_queues);
}

static const struct comch_eal_dev_class crypto_class = {
	.what = "crypto device",
	.find = crypto_find,
	.next = crypto_next,
	.start = crypto_start,
};

/* Contexts */

static uint8_t
id_of(const struct impl_hash_dev *dev)
{
	/* There are RTE_CRYPTO_MAX_DEVS. */
	return (uint8_t)impl_offload_id(&dev->offload);
}

static bool
create_pools(struct impl_hash_dev *dev, uint8_t id)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	dev->chains = impl_chains_create();
	impl_offload_name_pool("hashes", name, sizeof(name));
	dev->ops = rte_crypto_op_pool_create(name, RTE_CRYPTO_OP_TYPE_SYMMETRIC, OPS, 0,
		SHA512_DIGEST_LENGTH, SOCKET_ID_ANY);
	impl_offload_name_pool("sessions", name, sizeof(name));
	dev->sessions = rte_cryptodev_sym_session_pool_create(name, OPS,
		rte_cryptodev_sym_get_private_session_size(id), 0, 0, SOCKET_ID_ANY);
	return dev->chains != NULL && dev->ops != NULL && dev->sessions != NULL;
}

doca_error_t
impl_hash_dev_open(struct impl_hash_dev *dev, const struct doca_ctx *ctx)
{
	struct rte_cryptodev_info info;
	doca_error_t ret;
	uint8_t id;

	*dev = (struct impl_hash_dev){ .max = IMPL_OFFLOAD_SEGMENT };
	ret = impl_offload_open(&dev->offload, ctx, IMPL_OFFLOAD_CRYPTO, &crypto_class);
	if (ret != DOCA_SUCCESS || dev->offload.dev == NULL)
		return ret;
	id = id_of(dev);
	rte_cryptodev_info_get(id, &info);
	if (info.feature_flags & RTE_CRYPTODEV_FF_IN_PLACE_SGL)
		dev->max = IMPL_OFFLOAD_MAX;
	dev->algorithms = algorithms_of(id);
	if (create_pools(dev, id))
		return DOCA_SUCCESS;
	ret = impl_offload_no_memory(&dev->offload);
	impl_hash_dev_close(dev);
	return ret;
}

void
impl_hash_dev_close(struct impl_hash_dev *dev)
{
	impl_offload_close(&dev->offload);
	if (impl_offload_is_parents())
		return;
	rte_mempool_free(dev->sessions);
	rte_mempool_free(dev->ops);
	rte_mempool_free(dev->chains);
}

bool
impl_hash_dev_wants(const struct impl_hash_dev *dev, unsigned int algorithm, size_t len)
{
	/* Devices differ in what they make of an empty message. */
	return (dev->algorithms & RTE_BIT32(algorithm)) != 0 && len > 0 && len <= dev->max &&
		impl_offload_wants(&dev->offload, len);
}

/* Digests */

static uint8_t *
digest_of(const struct impl_dev_hash *h)
{
	return rte_crypto_op_ctod_offset(h->op, uint8_t *, DIGEST_OFFSET);
}

/* A session is one thread's at a time, so a task has its own. */
static void *
session_create(const struct impl_hash_dev *dev, unsigned int algorithm)
{
	struct rte_crypto_sym_xform xform = {
		.type = RTE_CRYPTO_SYM_XFORM_AUTH,
		.auth = {
			.op = RTE_CRYPTO_AUTH_OP_GENERATE,
			.algo = algorithms[algorithm].algo,
			.digest_length = algorithms[algorithm].digest,
		},
	};

	return rte_cryptodev_sym_session_create(id_of(dev), &xform, dev->sessions);
}

/* Prepare the operation. False: something of it is not to be had at the moment. */
static bool
prepare(struct impl_dev_hash *h, const struct doca_buf *src)
{
	struct rte_crypto_sym_op *sym;

	h->op = rte_crypto_op_alloc(h->dev->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	if (h->op == NULL)
		return false;
	sym = h->op->sym;
	sym->m_src = impl_chain_new(h->dev->chains, h->len);
	impl_chain_fill(sym->m_src, (struct impl_place){ .buf = src });
	sym->auth.data.length = (uint32_t)h->len;
	sym->auth.digest.data = digest_of(h);
	sym->auth.digest.phys_addr = rte_crypto_op_ctophys_offset(h->op, DIGEST_OFFSET);
	return sym->m_src != NULL;
}

/* Give it to the device. False: that refuses it. */
static bool
enqueue(struct impl_dev_hash *h, unsigned int algorithm)
{
	h->session = session_create(h->dev, algorithm);
	return h->session != NULL &&
		rte_crypto_op_attach_sym_session(h->op, h->session) == 0 &&
		rte_cryptodev_enqueue_burst(id_of(h->dev), (uint16_t)h->queue, &h->op, 1) == 1;
}

/* Free what an operation has, which is not in flight. */
static void
release(struct impl_dev_hash *h)
{
	if (h->op != NULL) {
		rte_pktmbuf_free(h->op->sym->m_src);
		rte_crypto_op_free(h->op);
	}
	if (h->session != NULL)
		rte_cryptodev_sym_session_free(id_of(h->dev), h->session);
	impl_offload_give_queue(&h->dev->offload, h->queue);
	*h = (struct impl_dev_hash){ .dev = NULL };
}

bool
impl_dev_hash_begin(struct impl_dev_hash *h, struct impl_hash_dev *dev, unsigned int algorithm,
		const struct doca_buf *src)
{
	const int queue = impl_offload_take_queue(&dev->offload);
	bool is_ready;

	if (queue < 0)
		return false;
	*h = (struct impl_dev_hash){ .dev = dev, .queue = queue, .len = impl_list_data(src) };
	is_ready = prepare(h, src);
	if (is_ready && enqueue(h, algorithm))
		return true;
	if (is_ready)
		impl_offload_tell(&dev->offload);
	release(h);
	return false;
}

doca_error_t
impl_dev_hash_poll(struct impl_dev_hash *h, const uint8_t **digest)
{
	struct rte_crypto_op *op;

	if (impl_offload_is_parents())
		return DOCA_ERROR_IO_FAILED;
	/* The queue has no other operation. */
	if (!h->is_done && rte_cryptodev_dequeue_burst(id_of(h->dev), (uint16_t)h->queue, &op,
			1) == 0)
		return DOCA_ERROR_IN_PROGRESS;
	h->is_done = true;
	*digest = digest_of(h);
	return h->op->status == RTE_CRYPTO_OP_STATUS_SUCCESS ? DOCA_SUCCESS :
		DOCA_ERROR_IO_FAILED;
}

void
impl_dev_hash_end(struct impl_dev_hash *h)
{
	const uint8_t *digest;

	if (h->dev == NULL)
		return;
	while (impl_dev_hash_poll(h, &digest) == DOCA_ERROR_IN_PROGRESS)
		rte_pause();
	if (impl_offload_is_parents())
		h->dev = NULL;
	else
		release(h);
}
