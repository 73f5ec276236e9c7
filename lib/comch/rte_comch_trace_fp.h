/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_TRACE_FP_H
#define RTE_COMCH_TRACE_FP_H

/**
 * @file
 * Trace points of the fast path, lib.comch.send, .done, .post and .recv. They
 * are compiled in only where RTE_ENABLE_TRACE_FP is defined, and cost nothing
 * otherwise. The bursts are inline, so it is the program's definition that
 * counts, and the program needs -DALLOW_EXPERIMENTAL_API as well, as EAL's
 * trace points are experimental. The configuration of an installed DPDK takes
 * -DRTE_ENABLE_TRACE_FP back; it has to be defined after that:
 *
 *     #define RTE_ENABLE_TRACE_FP 1    first line; pkg-config's flags include
 *     #include <rte_comch_dp.h>        rte_config.h before it
 *
 * rte_comch_rx_burst(), rte_comch_tx_burst() and the ordinary twins of the
 * bursts are traced by a library that was built with -Dtrace_fp=true.
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
