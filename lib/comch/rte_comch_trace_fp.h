/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_TRACE_FP_H
#define RTE_COMCH_TRACE_FP_H

/**
 * @file
 * Trace points of the fast path, lib.comch.send, .done, .post and .recv. They
 * are compiled in by -DRTE_ENABLE_TRACE_FP only (with
 * -DALLOW_EXPERIMENTAL_API, as EAL's trace points are experimental), and cost
 * nothing otherwise. The bursts are inline: the flags of the program that
 * calls them count. rte_comch_rx_burst(), rte_comch_tx_burst() and the
 * ordinary twins of the bursts have the flags of the library.
 *
 * EAL's --trace turns on what is compiled in. Not to be used directly.
 *
 * A burst is traced with its object, how many it was offered or had room for,
 * and how many it took or returned. Bursts of nothing are traced, too: they
 * are most of what a loop that polls does, and what delays it.
 */

#include <stdint.h>

#include <rte_trace_point.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @internal rte_comch_producer_send_burst() */
RTE_TRACE_POINT_FP(
	rte_comch_trace_send,
	RTE_TRACE_POINT_ARGS(const void *producer, uint16_t n, uint16_t taken),
	rte_trace_point_emit_ptr(producer);
	rte_trace_point_emit_u16(n);
	rte_trace_point_emit_u16(taken);
)

/** @internal rte_comch_producer_done_burst() */
RTE_TRACE_POINT_FP(
	rte_comch_trace_done,
	RTE_TRACE_POINT_ARGS(const void *producer, uint16_t n, uint16_t taken),
	rte_trace_point_emit_ptr(producer);
	rte_trace_point_emit_u16(n);
	rte_trace_point_emit_u16(taken);
)

/** @internal rte_comch_consumer_post_burst() */
RTE_TRACE_POINT_FP(
	rte_comch_trace_post,
	RTE_TRACE_POINT_ARGS(const void *consumer, uint16_t n, uint16_t taken),
	rte_trace_point_emit_ptr(consumer);
	rte_trace_point_emit_u16(n);
	rte_trace_point_emit_u16(taken);
)

/** @internal rte_comch_consumer_recv_burst() */
RTE_TRACE_POINT_FP(
	rte_comch_trace_recv,
	RTE_TRACE_POINT_ARGS(const void *consumer, uint16_t n, uint16_t taken),
	rte_trace_point_emit_ptr(consumer);
	rte_trace_point_emit_u16(n);
	rte_trace_point_emit_u16(taken);
)

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_TRACE_FP_H */
