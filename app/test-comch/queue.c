/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers: start, stop, and what happens in between. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include <rte_comch_mbuf.h>

#include "stream.h"
#include "tc.h"

#define BURST      32
/** mbufs beyond the queue: bursts, and what a port keeps. */
#define SPARE      1023
#define POOL_CACHE 64

int
tc_producer_start(struct tc_producer *p)
{
	const struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf),
		.queue_size = p->queue,
		.user_data = (uintptr_t)p,
	};
	int ret;

	if (p->producer != NULL)
		return -EBADFD;
	if (p->conn->conn == NULL)
		return -ECONNRESET;
	p->producer = rte_comch_producer_create(p->conn->conn, &conf);
	if (p->producer == NULL)
		return -rte_errno;
	ret = rte_comch_producer_start(p->producer);
	if (ret == 0)
		return 0;
	rte_comch_producer_destroy(p->producer);
	p->producer = NULL;
	return ret;
}

int
tc_producer_stop(struct tc_producer *p)
{
	int ret = p->producer == NULL ? -EBADFD : rte_comch_producer_stop(p->producer);

	return ret == -EINPROGRESS ? 0 : ret;
}

uint16_t
tc_producer_reap(struct tc_producer *p, uint32_t target, uint64_t *errors, int *last_error)
{
	struct rte_comch_cpl cpls[BURST];
	struct rte_mbuf *none = NULL;
	uint16_t n, i;

	if (p->api == TC_API_MBUF) {
		rte_comch_tx_burst(p->producer, target, &none, 0);
		return 0;
	}
	n = rte_comch_producer_done_burst(p->producer, cpls, BURST);
	for (i = 0; i < n; i++) {
		/* An operation without payload has no slot. */
		if (cpls[i].cookie != 0)
			tc_slot_put((struct tc_slot *)(uintptr_t)cpls[i].cookie);
		if (cpls[i].status < 0) {
			tc_count(errors, 1);
			*last_error = cpls[i].status;
		}
	}
	return n;
}

void
tc_producer_stats(const struct tc_producer *p, struct rte_comch_producer_stats *stats)
{
	*stats = p->last;
	if (p->producer != NULL)
		rte_comch_producer_stats_get(p->producer, stats);
}

/* IDLE: destroy the library's object and its send buffers. */
static void
producer_finish(struct tc_producer *p)
{
	uint64_t errors = 0;
	int last = 0;

	while (p->api == TC_API_DESC && tc_producer_reap(p, 0, &errors, &last) > 0)
		;
	tc_producer_stats(p, &p->last);
	rte_comch_producer_destroy(p->producer);
	p->producer = NULL;
	p->api = TC_API_NONE;
	tc_bufs_close(&p->bufs);
	if (p->pool != NULL) {
		rte_comch_mempool_unregister(p->pool);
		rte_mempool_free(p->pool);
		p->pool = NULL;
	}
	if (!p->destroy)
		tc_notice("%s: IDLE", p->obj.name);
}

static void
producer_free(struct tc_producer *p)
{
	struct tc_conn *conn = p->conn;

	tc_stream_end(p->stream, p->obj.name);
	tc_obj_free(&p->obj);
	tc_conn_reap(conn);
}

/* @return whether it is about to change */
static bool
producer_step(struct tc_producer *p)
{
	enum rte_comch_state state = rte_comch_producer_state(p->producer);
	uint64_t errors = 0;
	int last = 0;

	if (p->stream != NULL && p->stream->running && !p->destroy)
		return false;
	if (p->destroy)
		tc_stream_end(p->stream, p->obj.name);
	if (state == RTE_COMCH_STATE_RUNNING && p->destroy) {
		rte_comch_producer_stop(p->producer);
		state = rte_comch_producer_state(p->producer);
	}
	if (state != RTE_COMCH_STATE_IDLE) {
		if (p->api != TC_API_NONE)
			tc_producer_reap(p, 0, &errors, &last);
		return state == RTE_COMCH_STATE_STOPPING;
	}
	if (p->producer != NULL)
		producer_finish(p);
	if (p->destroy)
		producer_free(p);
	return false;
}

/* Pools whose mbufs a port or a ring still had when their consumer ended. */
static struct rte_mempool *left[TC_MAX_OBJS];

unsigned int
tc_pools_reap(void)
{
	unsigned int i, nb = 0;

	for (i = 0; i < RTE_DIM(left); i++) {
		if (left[i] != NULL && rte_comch_pktmbuf_pool_free(left[i]) == 0)
			left[i] = NULL;
		nb += left[i] != NULL;
	}
	return nb;
}

static void
pool_leave(const struct tc_consumer *c)
{
	unsigned int i;

	tc_notice("%s: %u mbufs of its pool are still in use, so the pool is freed later",
		c->obj.name, rte_mempool_in_use_count(c->pool));
	for (i = 0; i < RTE_DIM(left); i++)
		if (left[i] == NULL) {
			left[i] = c->pool;
			return;
		}
}

/* Memory for the messages of a consumer. @return its registration, or NULL */
static struct rte_comch_mr *
consumer_memory(struct tc_consumer *c)
{
	static unsigned int nb_pools;
	char name[RTE_MEMPOOL_NAMESIZE];
	int ret;

	if (c->api == TC_API_MBUF) {
		tc_pools_reap();
		/* An earlier pool of this consumer may still exist. */
		snprintf(name, sizeof(name), "%s_%u", c->obj.name, nb_pools++);
		c->dma_mapped = false;
		c->pool = rte_comch_pktmbuf_pool_create(name, c->queue + SPARE, POOL_CACHE,
				0, (uint16_t)(RTE_PKTMBUF_HEADROOM + c->size), SOCKET_ID_ANY);
		return c->pool == NULL ? NULL : rte_comch_mempool_mr(c->pool);
	}
	ret = tc_bufs_open(&c->bufs, c->queue, c->size, c->memory);
	rte_errno = -ret;
	return ret == 0 ? c->bufs.mem.mr : NULL;
}

static void
consumer_memory_free(struct tc_consumer *c)
{
	tc_bufs_close(&c->bufs);
	if (c->pool != NULL && rte_comch_pktmbuf_pool_free(c->pool) != 0)
		pool_leave(c);
	c->pool = NULL;
}

int
tc_consumer_start(struct tc_consumer *c)
{
	struct rte_comch_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.queue_size = c->queue,
		.imm_size = c->imm,
		.staging_size = c->staging,
		.flags = c->snapshot ? RTE_COMCH_CONSUMER_F_SNAPSHOT : 0,
		.nb_mrs = 1,
		.user_data = (uintptr_t)c,
	};
	struct rte_comch_mr *mr;
	int ret;

	if (c->consumer != NULL)
		return -EBADFD;
	if (c->conn->conn == NULL)
		return -ECONNRESET;
	mr = consumer_memory(c);
	if (mr == NULL)
		return -rte_errno;
	conf.mrs = &mr;
	c->ready = false;
	c->consumer = rte_comch_consumer_create(c->conn->conn, &conf);
	ret = c->consumer == NULL ? -rte_errno : rte_comch_consumer_start(c->consumer);
	if (ret == -EINPROGRESS)
		return 0;
	if (c->consumer != NULL)
		rte_comch_consumer_destroy(c->consumer);
	c->consumer = NULL;
	consumer_memory_free(c);
	return ret;
}

int
tc_consumer_stop(struct tc_consumer *c)
{
	int ret = c->consumer == NULL ? -EBADFD : rte_comch_consumer_stop(c->consumer);

	return ret == -EINPROGRESS ? 0 : ret;
}

void
tc_consumer_stats(const struct tc_consumer *c, struct rte_comch_consumer_stats *stats)
{
	*stats = c->last;
	if (c->consumer != NULL)
		rte_comch_consumer_stats_get(c->consumer, stats);
}

void
tc_consumer_post(struct tc_consumer *c)
{
	struct rte_comch_buf bufs[BURST];
	uint16_t n, i, taken;

	do {
		n = (uint16_t)RTE_MIN(c->bufs.nb_free, (uint32_t)BURST);
		for (i = 0; i < n; i++) {
			struct tc_slot *slot = c->bufs.free[c->bufs.nb_free - 1 - i];

			bufs[i] = (struct rte_comch_buf){
				.addr = slot->addr,
				.mr = c->bufs.mem.mr,
				.cookie = (uintptr_t)slot,
				.len = c->bufs.size,
			};
		}
		/* The queue has room for all buffers, unless it has just ended. */
		taken = n == 0 ? 0 : rte_comch_consumer_post_burst(c->consumer, bufs, n);
		c->bufs.nb_free -= taken;
	} while (taken == BURST);
}

/* It is RUNNING: post its buffers. */
static void
consumer_ready(struct tc_consumer *c)
{
	int ret;

	c->ready = true;
	if (c->api == TC_API_MBUF) {
		ret = rte_comch_consumer_rx_setup(c->consumer, c->pool);
		if (ret != 0)
			tc_notice("%s: cannot receive mbufs: %s", c->obj.name, rte_strerror(-ret));
	} else {
		tc_consumer_post(c);
	}
	tc_notice("%s: RUNNING, consumer %u of %s", c->obj.name,
		rte_comch_consumer_id(c->consumer), c->conn->obj.name);
}

/* Take back posted buffers. Messages that no stream received are dropped. */
static uint16_t
consumer_drain(struct tc_consumer *c)
{
	struct rte_comch_cpl cpls[BURST];
	struct rte_mbuf *mbufs[BURST];
	uint16_t n, i;

	if (c->api == TC_API_MBUF) {
		n = rte_comch_rx_burst(c->consumer, mbufs, BURST);
		rte_pktmbuf_free_bulk(mbufs, n);
		return n;
	}
	n = rte_comch_consumer_recv_burst(c->consumer, cpls, BURST);
	for (i = 0; i < n; i++)
		tc_slot_put((struct tc_slot *)(uintptr_t)cpls[i].cookie);
	return n;
}

/* It is IDLE. @return whether it has to wait for buffers that are being sent */
static bool
consumer_finish(struct tc_consumer *c)
{
	while (c->ready && consumer_drain(c) > 0)
		;
	if (c->ready && c->bufs.nb_free < c->bufs.nb)
		return true;
	tc_consumer_stats(c, &c->last);
	rte_comch_consumer_destroy(c->consumer);
	c->consumer = NULL;
	consumer_memory_free(c);
	if (!c->destroy)
		tc_notice("%s: IDLE", c->obj.name);
	return false;
}

static void
consumer_free(struct tc_consumer *c)
{
	struct tc_conn *conn = c->conn;

	tc_stream_end(c->stream, c->obj.name);
	tc_obj_free(&c->obj);
	tc_conn_reap(conn);
}

/* @return whether it is about to change */
static bool
consumer_step(struct tc_consumer *c)
{
	enum rte_comch_state state = rte_comch_consumer_state(c->consumer);

	if (c->destroy)
		tc_stream_end(c->stream, c->obj.name);
	else if (c->stream != NULL && c->stream->running)
		return false;
	if (state == RTE_COMCH_STATE_RUNNING && !c->ready)
		consumer_ready(c);
	if (c->destroy && (state == RTE_COMCH_STATE_RUNNING || state == RTE_COMCH_STATE_STARTING)) {
		rte_comch_consumer_stop(c->consumer);
		state = rte_comch_consumer_state(c->consumer);
	}
	if (state == RTE_COMCH_STATE_STOPPING && c->ready)
		consumer_drain(c);
	if (state != RTE_COMCH_STATE_IDLE)
		return state == RTE_COMCH_STATE_STOPPING || c->destroy;
	if (c->consumer != NULL && consumer_finish(c))
		return true;
	if (c->destroy)
		consumer_free(c);
	return false;
}

bool
tc_queues_step(void)
{
	struct tc_producer *p;
	struct tc_consumer *c;
	bool moving = false;

	TC_FOREACH(TC_PRODUCER, p)
		moving |= producer_step(p);
	TC_FOREACH(TC_CONSUMER, c)
		moving |= consumer_step(c);
	return moving;
}
