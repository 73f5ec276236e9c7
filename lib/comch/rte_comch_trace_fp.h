/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_TRACE_FP_H
#define RTE_COMCH_TRACE_FP_H

/**
 * @file
 * Trace points of the fast path and of control messages, lib.comch.*. They
 * are compiled in by -DRTE_ENABLE_TRACE_FP only (with
 * -DALLOW_EXPERIMENTAL_API, as EAL's trace points are experimental);
 * otherwise they cost nothing. EAL's --trace turns them on. Not to be used
 * directly.
 *
 * A burst is traced with how many it was offered and how many it took.
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

/** @internal A control message was sent. */
RTE_TRACE_POINT_FP(
	rte_comch_trace_msg_tx,
	RTE_TRACE_POINT_ARGS(uint32_t conn_id, uint32_t len, uint32_t seq),
	rte_trace_point_emit_u32(conn_id);
	rte_trace_point_emit_u32(len);
	rte_trace_point_emit_u32(seq);
)

/** @internal A control message is returned to the application. */
RTE_TRACE_POINT_FP(
	rte_comch_trace_msg_rx,
	RTE_TRACE_POINT_ARGS(uint32_t conn_id, uint32_t len, uint32_t seq),
	rte_trace_point_emit_u32(conn_id);
	rte_trace_point_emit_u32(len);
	rte_trace_point_emit_u32(seq);
)

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_TRACE_FP_H */
