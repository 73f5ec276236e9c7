/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_FAST_PATH_OPS_H
#define COMCH_FAST_PATH_OPS_H

/*
 * Operations of a connection's fast path, which lib/comch/data implements. The fast
 * path (conn->fast) is created with the first producer or consumer of either side.
 * The connection's thread calls all operations.
 */

#include <stdbool.h>
#include <stdint.h>

struct comch_run;
struct comch_wire_frame;
struct rte_comch_conn;
struct rte_comch_ticket;

struct comch_fast_path_ops {
	/* Number of descriptors that a frame must have. conn->fast may be NULL. */
	uint32_t (*nb_fds)(const struct rte_comch_conn *conn, const struct comch_wire_frame *f);
	/*
	 * Handle a frame that is allowed in this phase. The caller closes the ticket's
	 * descriptors; the callee sets those that it keeps to -1. Returns 0, or a
	 * negative errno that ends the connection.
	 */
	int (*on_frame)(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
			struct rte_comch_ticket *ticket, struct comch_run *run);
	/* Continue starts, stops and reclaims. True: call again. */
	bool (*step)(struct rte_comch_conn *conn, struct comch_run *run);
	/* The connection has ended: stop sending and receiving. */
	void (*halt)(struct rte_comch_conn *conn);
	/* After halt(): continue stops, until no producer or consumer is left. */
	void (*wind_up)(struct rte_comch_conn *conn);
	/* Upper bound of the peer's regions that free() frees. */
	uint32_t (*nb_regions)(const struct rte_comch_conn *conn);
	void (*free)(struct rte_comch_conn *conn);
};

extern const struct comch_fast_path_ops comch_fast_path_ops;

#endif /* COMCH_FAST_PATH_OPS_H */
