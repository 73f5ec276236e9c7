/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The device of EAL that a context has, and memory for its work. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_mbuf.h>

#include "accel/list.h"
#include "accel/offload.h"
#include "dev/eal.h"
#include "log/log.h"
#include "sdk/comch_eal_dev.h"

/* Of a pool: for a source and a result of a task, and some more; pools like 2^n - 1. */
#define SEGMENTS 127

/* Indexed by enum impl_offload_kind: keys of the device table. */
static const char *const keys[IMPL_OFFLOAD_KINDS] = {
	[IMPL_OFFLOAD_DMA] = "dma",
	[IMPL_OFFLOAD_CRYPTO] = "crypto",
	[IMPL_OFFLOAD_COMPRESS] = "compress",
};

static bool is_child;

static void
in_child(void)
{
	is_child = true;
}

static void
watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

bool
impl_offload_is_parents(void)
{
	return is_child;
}

doca_error_t
impl_offload_open(struct impl_offload *o, const struct doca_ctx *ctx,
		enum impl_offload_kind kind, const struct comch_eal_dev_class *dev_class)
{
	const struct impl_offload_conf *conf = &ctx->manners->offload[kind];
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	doca_error_t ret;
	char why[512];

	*o = (struct impl_offload){ .ctx = ctx, .name = conf->name, .min = conf->min };
	if (conf->name[0] == '\0')
		return DOCA_SUCCESS;
	/* Not in a child of fork(). */
	ret = impl_eal_start();
	if (ret != DOCA_SUCCESS)
		return ret;
	pthread_once(&once, watch_forks);
	if (comch_eal_dev_open(dev_class, o->name, &o->dev, why, sizeof(why)) == 0)
		return DOCA_SUCCESS;
	IMPL_ERR("%s: cannot start: %s = %s in the device table: %s", ctx->ops->name, keys[kind],
		o->name, why);
	return DOCA_ERROR_INITIALIZATION;
}

void
impl_offload_close(struct impl_offload *o)
{
	if (o->dev != NULL && !is_child)
		comch_eal_dev_close(o->dev);
	o->dev = NULL;
}

doca_error_t
impl_offload_no_memory(const struct impl_offload *o)
{
	IMPL_ERR("%s: cannot start: EAL has no memory for work of %s (-m512 in COMCH_EAL_ARGS "
		"gives it 512 MiB)", o->ctx->ops->name, o->name);
	return DOCA_ERROR_NO_MEMORY;
}

int
impl_offload_id(const struct impl_offload *o)
{
	return comch_eal_dev_id(o->dev);
}

bool
impl_offload_wants(const struct impl_offload *o, size_t len)
{
	return o->dev != NULL && len >= o->min && !is_child;
}

int
impl_offload_take_queue(struct impl_offload *o)
{
	return comch_eal_dev_take_queue(o->dev);
}

void
impl_offload_give_queue(struct impl_offload *o, int queue)
{
	if (!is_child)
		comch_eal_dev_give_queue(o->dev, queue);
}

void
impl_offload_tell(struct impl_offload *o)
{
	if (!is_child && !__atomic_exchange_n(&o->has_told, true, __ATOMIC_RELAXED))
		IMPL_WARN("%s: %s has not done a task; the core does it, and others like it",
			o->ctx->ops->name, o->name);
}

/* Chains */

void
impl_offload_name_pool(const char *what, char *name, size_t size)
{
	static unsigned int number;

	snprintf(name, size, "comch_%s%u", what,
		__atomic_fetch_add(&number, 1, __ATOMIC_RELAXED));
}

struct rte_mempool *
impl_chains_create(void)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	impl_offload_name_pool("chains", name, sizeof(name));
	/* Without caches: the program's threads are not EAL's. */
	return rte_pktmbuf_pool_create(name, SEGMENTS, 0, 0,
		RTE_PKTMBUF_HEADROOM + IMPL_OFFLOAD_SEGMENT, SOCKET_ID_ANY);
}

/* NULL: there is none at the moment. */
static struct rte_mbuf *
new_segment(struct rte_mempool *chains, size_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(chains);

	if (m != NULL)
		rte_pktmbuf_append(m, (uint16_t)RTE_MIN(len, (size_t)IMPL_OFFLOAD_SEGMENT));
	return m;
}

struct rte_mbuf *
impl_chain_new(struct rte_mempool *chains, size_t len)
{
	struct rte_mbuf *chain = new_segment(chains, len), *m;

	while (chain != NULL && rte_pktmbuf_pkt_len(chain) < len) {
		m = new_segment(chains, len - rte_pktmbuf_pkt_len(chain));
		if (m == NULL || rte_pktmbuf_chain(chain, m) != 0) {
			rte_pktmbuf_free(m);
			rte_pktmbuf_free(chain);
			return NULL;
		}
	}
	return chain;
}

/* Fill a segment with what comes next. */
static void
fill_segment(struct rte_mbuf *m, struct impl_place *place)
{
	uint16_t done = 0;
	const uint8_t *data;
	size_t n;

	while (done < m->data_len && (n = impl_place_data(place, &data)) > 0) {
		n = RTE_MIN(n, (size_t)(m->data_len - done));
		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, done), data, n);
		place->off += n;
		done = (uint16_t)(done + n);
	}
}

void
impl_chain_fill(struct rte_mbuf *chain, struct impl_place place)
{
	for (; chain != NULL; chain = chain->next)
		fill_segment(chain, &place);
}

void
impl_chain_read(const struct rte_mbuf *chain, uint8_t *dst, size_t len)
{
	size_t n;

	for (; chain != NULL && len > 0; chain = chain->next) {
		n = RTE_MIN(len, (size_t)chain->data_len);
		memcpy(dst, rte_pktmbuf_mtod(chain, const uint8_t *), n);
		dst += n;
		len -= n;
	}
}
