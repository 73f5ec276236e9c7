/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_FAST_PATH_H
#define COMCH_FAST_PATH_H

/*
 * What a connection asks of its fast path, which lib/comch/data implements: a
 * connection has none (conn->fast is NULL) before its first producer or consumer, or
 * the peer's, appears. All are called by the connection's thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct comch_run;
struct comch_wire_frame;
struct rte_comch_conn;
struct rte_comch_ticket;

struct comch_fast_path_ops {
	/* How many descriptors a frame of its has. No fast path is needed for that. */
	uint32_t (*nb_fds)(const struct rte_comch_conn *conn, const struct comch_wire_frame *f);
	/*
	 * A frame of its, which the connection allows now. The ticket is closed by the
	 * caller, but for descriptors whose place has -1. 0, or an error that ends the
	 * connection.
	 */
	int (*on_frame)(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
			struct rte_comch_ticket *ticket, struct comch_run *run);
	/* Go on with all that starts, stops or is reclaimed. True: there is more to do. */
	bool (*step)(struct rte_comch_conn *conn, struct comch_run *run);
	/* The connection has ended: nothing is sent or received any more. */
	void (*halt)(struct rte_comch_conn *conn);
	/* After halt(): go on winding up, until no producer or consumer is left. */
	void (*wind_up)(struct rte_comch_conn *conn);
	/* Regions of the peer that free() frees, at most. */
	uint32_t (*nb_regions)(const struct rte_comch_conn *conn);
	void (*free)(struct rte_comch_conn *conn);
};

extern const struct comch_fast_path_ops comch_fast_path_ops;

#endif /* COMCH_FAST_PATH_H */
