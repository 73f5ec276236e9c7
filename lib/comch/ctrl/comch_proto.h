/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_PROTO_H
#define COMCH_PROTO_H

/* Which frame is allowed when, and what handles it. The poll's thread. */

#include <stdint.h>

struct comch_run;
struct comch_wire_frame;
struct rte_comch_conn;

/* A frame that was parsed; its descriptors are closed. 0, or an error that ends the connection. */
int comch_proto_dispatch(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		int *fds, uint32_t nb_fds, struct comch_run *run);

#endif /* COMCH_PROTO_H */
