/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_CORE_H
#define RTE_COMCH_CORE_H

/**
 * @file
 * The part of a producer and a consumer that the inline bursts of rte_comch_dp.h use:
 * two functions, which the driver sets when the object is created, and which report errors
 * while it is not running. Do not use it directly.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_comch_op;
struct rte_comch_buf;
struct rte_comch_cpl;

/** @internal */
typedef uint16_t (*rte_comch_send_t)(void *queue, const struct rte_comch_op *ops,
		uint16_t n);
/** @internal */
typedef uint16_t (*rte_comch_post_t)(void *queue, const struct rte_comch_buf *bufs,
		uint16_t n);
/** @internal For done and recv. */
typedef uint16_t (*rte_comch_take_t)(void *queue, struct rte_comch_cpl *cpls,
		uint16_t n);

/** @internal First fields of a struct rte_comch_producer. */
struct rte_comch_producer_core {
	rte_comch_send_t send;
	rte_comch_take_t done;
	void *queue; /**< First argument of both. */
};

/** @internal First fields of a struct rte_comch_consumer. */
struct rte_comch_consumer_core {
	rte_comch_post_t post;
	rte_comch_take_t recv;
	void *queue; /**< First argument of both. */
};

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_CORE_H */
