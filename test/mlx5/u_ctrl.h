/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_CTRL_H
#define U_CTRL_H

/* Cases with a pair of devices of the RDMA driver, and what they look at. */

#include "t_main.h"
#include "u_driver.h"

#define DEAD_MS 800

/* What the driver logs while a case looks. */
struct u_log {
	char *text;
	size_t size;
	FILE *f;
};

void u_log_begin(struct u_log *l);
/* The log has this sentence. */
void u_log_end(struct u_log *l, const char *sentence);

/* Both ends hear that the connection is over, with one of two reasons. */
void u_both_end(struct t_pair *p, int status, const char *text);
/* After an end of any kind, the same two ends connect again. */
void u_connect_again(struct t_pair *p);
/* The control queue pair of the host, which is on fv1. */
struct ibv_qp *u_ctrl_qp(void);

void u_ctrl_begin(struct t_pair *p);
void u_ctrl_end(struct t_pair *p);

#define CTRL_CASE(name) T_CASE_OF(struct t_pair, u_ctrl_begin, u_ctrl_end, name, p)

#endif /* U_CTRL_H */
