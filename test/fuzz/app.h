/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef APP_H
#define APP_H

/* An application at one end of a connection, which does what the input says. */

#include "fuzz.h"
#include "t_pair.h"

/* Objects of each kind. */
#define APP_MAX 3

struct app {
	struct fuzz_in *in;
	struct t_node *node;
	struct rte_comch_conn *conn;    /* NULL: not established, or over */
	struct rte_comch_conn *request; /* waits to be accepted */
	struct rte_comch_consumer *cons[APP_MAX];
	struct rte_comch_producer *prod[APP_MAX];
	uint32_t peer_cons;             /* the peer's newest consumer */
	struct t_mem mem[2];            /* that it can show, and that it cannot */
};

/* Its connection is the next of the node. */
void app_begin(struct app *a, struct t_node *node, struct fuzz_in *in);
/* Do something that an application may do. */
void app_step(struct app *a);
/* End its producers and consumers. */
void app_end_queues(struct app *a);
/* The connection is over, or about to be: end all that the application has. */
void app_end(struct app *a);

#endif /* APP_H */
