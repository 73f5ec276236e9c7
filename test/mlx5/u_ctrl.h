/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_CTRL_H
#define U_CTRL_H

/* Cases with a pair of devices of the RDMA driver, and what they look at. */

#include "mlx5_private.h"
#include "t_log.h"
#include "t_main.h"
#include "u_driver.h"

#define DEAD_MS 800

/* Both ends hear that the connection is over, with one of two reasons. */
void u_both_end(struct t_pair *p, int status, const char *text);
/* After an end of any kind, the same two ends connect again. */
void u_connect_again(struct t_pair *p);
/* The control queue pair of the host, which is on fv1. */
struct ibv_qp *u_ctrl_qp(void);

/* One of the MLX5_CANDIDATES places where a server of pf0 with this name may listen. */
struct mlx5_addr u_addr_of_port(const char *name, unsigned int candidate);

void u_ctrl_begin(struct t_pair *p);
void u_ctrl_end(struct t_pair *p);

#define CTRL_CASE(name) T_CASE_OF(struct t_pair, u_ctrl_begin, u_ctrl_end, name, p)

#endif /* U_CTRL_H */
