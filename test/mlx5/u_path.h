/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_PATH_H
#define U_PATH_H

/*
 * The fast path of the driver for RDMA without its control path: two links on fake
 * verbs, a consumer on one end, producers on the other. The tests carry the tickets.
 */

#include "fv.h"
#include "mlx5_cons.h"
#include "mlx5_send.h"
#include "t_main.h"

#define U_CONS_ID 7
#define U_MAX_PRODS 4
#define U_MEM (UINT32_C(4) << 20)

struct u_side {
	struct rte_comch_dev cdev;
	struct mlx5_dev dev;
	struct mlx5_link link;
	uint64_t staged;      /* total */
	int fault;            /* the first; atomic */
	const char *fault_text;
};

struct u_path_conf {
	uint32_t depth;       /* 0: 64 */
	uint32_t staging_size;
	bool hides_memory;    /* the consumer's: messages are staged */
	uint32_t nb_prods;    /* 0: 1 */
	uint32_t slot;        /* 0: 512 */
	int max_tx;           /* work requests of the producers' end; 0: the device's limit */
	bool no_consumer;     /* u->raw instead */
	bool no_remote;       /* u->raw instead */
};

struct u_path {
	struct u_side side[2];          /* consumer, producers */
	struct comch_dir dir;
	struct rte_comch_region region;
	struct rte_comch_region *imports[COMCH_MAX_IMPORTS];
	struct comch_cons_mrs mrs;
	struct rte_comch_mr mr[2];      /* by side */
	struct rte_comch_consumer_core cons_core;
	struct rte_comch_dq *cons;
	struct rte_comch_producer_core core[U_MAX_PRODS];
	struct rte_comch_dq *prod[U_MAX_PRODS];
	uint32_t nb_prods;
	struct rte_comch_remote *remote; /* NULL: freed */
	uint32_t depth;
	struct mlx5_qp raw;             /* a queue pair without a consumer or a remote */
};

void u_path_open(struct u_path *u, const struct u_path_conf *conf);
/* Frees what is left. The links are UP, or DOWN by u_path_down(). */
void u_path_close(struct u_path *u);
void u_path_down(struct u_path *u);

/* What an operation returns in the end: the helper thread does it. */
#define u_late(call) \
	({ \
		int late_ret_; \
		T_AWAIT((late_ret_ = (call)) != -EINPROGRESS); \
		late_ret_; \
	})

/* The remote. */
struct mlx5_remote *u_remote(struct u_path *u);
/* Post a buffer of the consumer's memory. */
uint16_t u_post(struct u_path *u, uint32_t off, uint32_t len, uint64_t cookie);
uint16_t u_recv(struct u_path *u, struct rte_comch_cpl *cpls, uint16_t n);
uint16_t u_send(struct u_path *u, uint32_t prod, const struct rte_comch_op *ops, uint16_t n);
uint16_t u_done(struct u_path *u, uint32_t prod, struct rte_comch_cpl *cpls, uint16_t n);
/* An operation on the producers' memory. */
struct rte_comch_op u_op(struct u_path *u, uint32_t off, uint32_t len, uint64_t cookie);
/* Stop the consumer, receive the rest, and retire its remote. Returns the final position. */
uint64_t u_stop_cons(struct u_path *u);

#endif /* U_PATH_H */
