/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_CORE_H
#define RTE_COMCH_CORE_H

/**
 * @file
 * What the inline burst calls of rte_comch_dp.h see of a producer and a
 * consumer: two functions, which the driver sets when the object starts and
 * which refuse politely before and after. Not to be used directly.
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
/** @internal Shared by done and recv. */
typedef uint16_t (*rte_comch_take_t)(void *queue, struct rte_comch_cpl *cpls,
		uint16_t n);

/** @internal First words of a struct rte_comch_producer. */
struct rte_comch_producer_core {
	rte_comch_send_t send;
	rte_comch_take_t done;
	void *queue; /**< First argument of both. */
};

/** @internal First words of a struct rte_comch_consumer. */
struct rte_comch_consumer_core {
	rte_comch_post_t post;
	rte_comch_take_t recv;
	void *queue; /**< First argument of both. */
};

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_CORE_H */
