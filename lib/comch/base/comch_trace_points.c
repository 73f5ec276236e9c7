/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <rte_trace_point_register.h>

#include "base/comch_trace.h"
#include "rte_comch_trace_fp.h"

RTE_TRACE_POINT_REGISTER(comch_trace_server_start,
	lib.comch.server.start)

RTE_TRACE_POINT_REGISTER(comch_trace_server_stop,
	lib.comch.server.stop)

RTE_TRACE_POINT_REGISTER(comch_trace_client_start,
	lib.comch.client.start)

RTE_TRACE_POINT_REGISTER(comch_trace_client_stop,
	lib.comch.client.stop)

RTE_TRACE_POINT_REGISTER(comch_trace_conn_up,
	lib.comch.conn.up)

RTE_TRACE_POINT_REGISTER(comch_trace_conn_end,
	lib.comch.conn.end)

RTE_TRACE_POINT_REGISTER(comch_trace_consumer_start,
	lib.comch.consumer.start)

RTE_TRACE_POINT_REGISTER(comch_trace_consumer_stop,
	lib.comch.consumer.stop)

RTE_TRACE_POINT_REGISTER(comch_trace_producer_start,
	lib.comch.producer.start)

RTE_TRACE_POINT_REGISTER(comch_trace_producer_stop,
	lib.comch.producer.stop)

RTE_TRACE_POINT_REGISTER(comch_trace_mem_register,
	lib.comch.mem.register)

RTE_TRACE_POINT_REGISTER(rte_comch_trace_send,
	lib.comch.send)

RTE_TRACE_POINT_REGISTER(rte_comch_trace_done,
	lib.comch.done)

RTE_TRACE_POINT_REGISTER(rte_comch_trace_post,
	lib.comch.post)

RTE_TRACE_POINT_REGISTER(rte_comch_trace_recv,
	lib.comch.recv)

RTE_TRACE_POINT_REGISTER(comch_trace_msg_tx,
	lib.comch.msg.tx)

RTE_TRACE_POINT_REGISTER(comch_trace_msg_rx,
	lib.comch.msg.rx)
