/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_TRACE_H
#define COMCH_TRACE_H

/*
 * Trace points of the control path, lib.comch.*; one branch each while they
 * are off. EAL's --trace turns them on; strings are cut at 31 bytes. Those of
 * messages are compiled in by -Dtrace_fp=true only: see rte_comch_trace_fp.h.
 */

#include <rte_trace_point.h>

RTE_TRACE_POINT(
	comch_trace_server_start,
	RTE_TRACE_POINT_ARGS(const char *name, uint16_t rep),
	rte_trace_point_emit_string(name);
	rte_trace_point_emit_u16(rep);
)

RTE_TRACE_POINT(
	comch_trace_server_stop,
	RTE_TRACE_POINT_ARGS(const char *name, uint32_t nb_conns),
	rte_trace_point_emit_string(name);
	rte_trace_point_emit_u32(nb_conns);
)

RTE_TRACE_POINT(
	comch_trace_client_start,
	RTE_TRACE_POINT_ARGS(const char *name, uint32_t conn_id),
	rte_trace_point_emit_string(name);
	rte_trace_point_emit_u32(conn_id);
)

RTE_TRACE_POINT(
	comch_trace_client_stop,
	RTE_TRACE_POINT_ARGS(const char *name, uint32_t conn_id),
	rte_trace_point_emit_string(name);
	rte_trace_point_emit_u32(conn_id);
)

RTE_TRACE_POINT(
	comch_trace_conn_up,
	RTE_TRACE_POINT_ARGS(uint32_t conn_id, const char *name, uint32_t max_msg_size),
	rte_trace_point_emit_u32(conn_id);
	rte_trace_point_emit_string(name);
	rte_trace_point_emit_u32(max_msg_size);
)

RTE_TRACE_POINT(
	comch_trace_conn_end,
	RTE_TRACE_POINT_ARGS(uint32_t conn_id, const char *name, int status, const char *reason),
	rte_trace_point_emit_u32(conn_id);
	rte_trace_point_emit_string(name);
	rte_trace_point_emit_int(status);
	rte_trace_point_emit_string(reason);
)

RTE_TRACE_POINT(
	comch_trace_consumer_start,
	RTE_TRACE_POINT_ARGS(uint32_t conn_id, uint32_t id, uint32_t depth),
	rte_trace_point_emit_u32(conn_id);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_u32(depth);
)

RTE_TRACE_POINT(
	comch_trace_consumer_stop,
	RTE_TRACE_POINT_ARGS(uint32_t conn_id, uint32_t id),
	rte_trace_point_emit_u32(conn_id);
	rte_trace_point_emit_u32(id);
)

RTE_TRACE_POINT(
	comch_trace_producer_start,
	RTE_TRACE_POINT_ARGS(uint32_t conn_id, uint32_t id),
	rte_trace_point_emit_u32(conn_id);
	rte_trace_point_emit_u32(id);
)

RTE_TRACE_POINT(
	comch_trace_producer_stop,
	RTE_TRACE_POINT_ARGS(uint32_t conn_id, uint32_t id, int ret),
	rte_trace_point_emit_u32(conn_id);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_int(ret);
)

RTE_TRACE_POINT(
	comch_trace_mem_register,
	RTE_TRACE_POINT_ARGS(uint32_t id, const void *addr, size_t len, uint32_t kind),
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_ptr(addr);
	rte_trace_point_emit_size_t(len);
	rte_trace_point_emit_u32(kind);
)

/* A control message was sent. */
RTE_TRACE_POINT_FP(
	comch_trace_msg_tx,
	RTE_TRACE_POINT_ARGS(uint32_t conn_id, uint32_t len, uint32_t seq),
	rte_trace_point_emit_u32(conn_id);
	rte_trace_point_emit_u32(len);
	rte_trace_point_emit_u32(seq);
)

/* A control message is returned to the application. */
RTE_TRACE_POINT_FP(
	comch_trace_msg_rx,
	RTE_TRACE_POINT_ARGS(uint32_t conn_id, uint32_t len, uint32_t seq),
	rte_trace_point_emit_u32(conn_id);
	rte_trace_point_emit_u32(len);
	rte_trace_point_emit_u32(seq);
)

#endif /* COMCH_TRACE_H */
