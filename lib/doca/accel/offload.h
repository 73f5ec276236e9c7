/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_OFFLOAD_H
#define IMPL_ACCEL_OFFLOAD_H

/*
 * Devices of EAL that do work for contexts, if the device table names one (dma, crypto, compress).
 *
 * A context has its device open while it runs. A task that is long enough takes one of the
 * device's queues while it runs; if none is free, the core works. What the device does not do, the
 * core does.
 *
 * A DMA device reaches all memory of the process. For others, the core copies a source into memory
 * of EAL, and a result out of it: chains of mbufs.
 *
 * Threads: a task is one thread's. Those of several work queues can run at once.
 *
 * In a child of fork(), devices and their memory are the parent's: there, the core does it all,
 * also what a device had begun.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "ctx/ctx.h"
#include "dev/manners.h"

struct comch_eal_dev;
struct comch_eal_dev_class;
struct impl_place;
struct rte_mbuf;
struct rte_mempool;

/* What a context has of its device. */
struct impl_offload {
	struct comch_eal_dev *dev; /* NULL: none */
	const struct doca_ctx *ctx;
	const char *name;
	uint32_t min;              /* the core does what is shorter */
	bool has_told;             /* atomic: that the device has not done something */
};

/*
 * Open the device that the context's device names, if it does. DOCA_ERROR_INITIALIZATION: logged.
 * DOCA_ERROR_NOT_SUPPORTED: in a child of fork().
 */
doca_error_t impl_offload_open(struct impl_offload *o, const struct doca_ctx *ctx,
		enum impl_offload_kind kind, const struct comch_eal_dev_class *dev_class);
void impl_offload_close(struct impl_offload *o);
/* The rest of opening it, a pool for instance, has failed: log that there is no memory. */
doca_error_t impl_offload_no_memory(const struct impl_offload *o);
/* Its number among EAL's devices of its class. */
int impl_offload_id(const struct impl_offload *o);
/* Whether this is a child of fork(), which leaves devices alone. */
bool impl_offload_is_parents(void);
/* Whether there is one, and a task of that length is for it. */
bool impl_offload_wants(const struct impl_offload *o, size_t len);
/* Take a queue. Negative: the core is to do the task. */
int impl_offload_take_queue(struct impl_offload *o);
void impl_offload_give_queue(struct impl_offload *o, int queue);
/* Say, the first time, that the device has not done a task that the core does. */
void impl_offload_tell(struct impl_offload *o);

/*
 * The longest source, or result, of a device that takes chains, and of one that does not. An mbuf
 * has less than 64 KiB, and some drivers take 16 of them.
 */
#define IMPL_OFFLOAD_SEGMENT (UINT32_C(63) << 10)
#define IMPL_OFFLOAD_MAX (16 * IMPL_OFFLOAD_SEGMENT)

/* Name a pool of EAL: "comch_WHAT" and a number that no other one has. */
void impl_offload_name_pool(const char *what, char *name, size_t size);
/* A pool of memory for chains. NULL: no memory. */
struct rte_mempool *impl_chains_create(void);
/* A chain of that many bytes, not 0. NULL: there is none at the moment. */
struct rte_mbuf *impl_chain_new(struct rte_mempool *chains, size_t len);
/* Fill it with the data of a list from a place on, as far as there is. */
void impl_chain_fill(struct rte_mbuf *chain, struct impl_place place);
/* Copy the first bytes of a chain. */
void impl_chain_read(const struct rte_mbuf *chain, uint8_t *dst, size_t len);

#endif /* IMPL_ACCEL_OFFLOAD_H */
