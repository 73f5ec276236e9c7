/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_TRACE_FP_H
#define RTE_COMCH_TRACE_FP_H

/**
 * @file
 * Trace points of the fast path: lib.comch.send, .done, .post and .recv. They are
 * compiled in only if RTE_ENABLE_TRACE_FP is defined, and cost nothing otherwise. As
 * the bursts are inline, the program must define it, and also needs
 * -DALLOW_EXPERIMENTAL_API, since EAL's trace points are experimental. The
 * configuration of an installed DPDK undoes -DRTE_ENABLE_TRACE_FP, so define it after
 * that:
 *
 *     #define RTE_ENABLE_TRACE_FP 1    first line; pkg-config's flags include
 *     #include <rte_comch_dp.h>        rte_config.h before it
 *
 * rte_comch_rx_burst(), rte_comch_tx_burst() and the non-inline bursts are traced by a
 * library built with -Dtrace_fp=true.
 *
 * EAL's --trace enables trace points that are compiled in. Do not use them directly.
 *
 * A burst is traced with its object, the number of items offered (or room for them),
 * and the number accepted or returned. Empty bursts are traced, too: they are most of
 * what a polling loop does, and show what delays it.
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
