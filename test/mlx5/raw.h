/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RAW_H
#define RAW_H

/*
 * A raw verbs peer. It stands between the driver and its verbs, real or fake ones: the
 * driver makes connections as always, then a test posts what it likes on the queue pairs
 * of one end, takes its receives away, or lets it tell wrong keys.
 */

#include <stdbool.h>
#include <stdint.h>

#include "mlx5_glue.h"

/* Before the first device is opened. */
void raw_open(const struct mlx5_glue *verbs);

/* The control queue pair of the client that connected last. */
struct ibv_qp *raw_ctrl_qp(void);
/* The newest of the client's other queue pairs: of its consumer, or to the peer's. */
struct ibv_qp *raw_data_qp(void);

/* Post a SEND, or an RDMA WRITE, of bytes that are copied. */
void raw_send(struct ibv_qp *qp, const void *msg, uint32_t len);
void raw_write(struct ibv_qp *qp, const void *bytes, uint32_t len, uint64_t addr, uint32_t rkey);
/* Has a work request of any queue pair failed with this status? Its driver polls. */
bool raw_failed(enum ibv_wc_status status);

/* The key of memory that was registered last to be written by a peer, also if it is not
 * any more.
 */
uint32_t raw_rkey_of(const void *addr);
/* Is memory with this key registered? */
bool raw_is_shown(uint32_t rkey);
/* Keys of memory that is registered from now on are wrong. */
void raw_lie(bool on);
/* The queue pair posts no receives any more. */
void raw_mute(struct ibv_qp *qp);

#endif /* RAW_H */
