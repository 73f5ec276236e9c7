/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "u_ctrl.h"

void
u_ctrl_begin(struct t_pair *p)
{
	static bool is_started;

	if (!is_started)
		t_eal_start(1);
	is_started = true;
	t_driver = &u_driver;
	u_dead_ms = 300000;
	memset(p, 0, sizeof(*p));
}

void
u_ctrl_end(struct t_pair *p)
{
	if (p->dpu != NULL)
		t_pair_close(p);
	T_EQ(rte_comch_dev_count(), 0);
	T_EQ(fv_nb_live(FV_ALL), 0);
	fv_reset();
	t_dir_remove();
}

void
u_both_end(struct t_pair *p, int status, const char *text)
{
	const struct t_ev *ev;

	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1 &&
			t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	ev = t_find(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0);
	T_EQ(ev->e.status, status);
	T_STR_HAS(ev->text, text);
}

void
u_connect_again(struct t_pair *p)
{
	T_UNTIL(rte_comch_client_state(p->client) == RTE_COMCH_STATE_IDLE);
	t_forget(p->dpu);
	t_forget(p->host);
	t_pair_connect(p);
	t_send(p->cconn, "again", 5, 1);
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_MSG, NULL) == 1);
}

struct ibv_qp *
u_ctrl_qp(void)
{
	struct ibv_qp *qp;
	unsigned int i;

	for (i = 0; (qp = fv_qp(i)) != NULL; i++)
		if (qp->context == fv_ctx("fv1"))
			return qp;
	T_FAIL("no queue pair on fv1");
}

struct mlx5_addr
u_addr_of_port(const char *name, unsigned int candidate)
{
	const struct mlx5_dev dev = { .first_port = 47000, .last_port = 47999 };
	uint16_t ports[MLX5_CANDIDATES];
	struct mlx5_addr addr;
	uint8_t hash[16];

	mlx5_name_hash("pf0", name, hash);
	T_EQ(mlx5_name_ports(&dev, hash, ports), MLX5_CANDIDATES);
	T_EQ(mlx5_name_parse_addr("10.0.0.1", &addr), 0);
	mlx5_name_set_port(&addr, ports[candidate]);
	return addr;
}
