/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Devices and representors; group lifecycle. */

#include <stdlib.h>

#include <rte_log.h>

#include "conf.h"

void
conf_lifecycle_dev_probe_close(void)
{
	int16_t a, b, id, seen = 0;

	T_EQ(rte_comch_dev_count(), 0);
	T_EQ(rte_comch_dev_next(0), -1);
	a = t_dev_open(0, "role=dpu,rep=pf0");
	b = t_dev_open(1, "role=host,func=pf0");
	T_NE(a, b);
	T_EQ(rte_comch_dev_count(), 2);
	RTE_COMCH_DEV_FOREACH(id) {
		T_CHECK(id == a || id == b);
		seen++;
	}
	T_EQ(seen, 2);
	T_EQ(rte_comch_dev_by_name(conf_dev_name(0)), a);
	T_EQ(rte_comch_dev_by_name(conf_dev_name(1)), b);
	T_EQ(rte_comch_dev_by_name("nobody0"), -ENODEV);
	T_EQ(rte_comch_dev_by_name(NULL), -EINVAL);
	T_EQ(rte_comch_dev_close(a), 0);
	T_EQ(rte_comch_dev_by_name(conf_dev_name(0)), -ENODEV);
	T_EQ(rte_comch_dev_close(a), -ENODEV);
	T_EQ(rte_comch_dev_close(-1), -ENODEV);
	T_EQ(rte_comch_dev_close(INT16_MAX), -ENODEV);
	T_EQ(rte_comch_dev_count(), 1);
	T_EQ(rte_comch_dev_next(0), b);
	T_EQ(rte_comch_dev_close(b), 0);
	T_EQ(rte_comch_dev_count(), 0);
}

void
conf_lifecycle_dev_bad_strings(void)
{
	static const char *const bad[] = {
		"role=elephant,rep=pf0",
		"role=dpu,rep=pf0,elephant=1",
		"role=dpu,rep=elephant",
		"role=dpu,rep=pf",
		"role=dpu,rep=pf0vf",
		"role=dpu,rep=pf0vfx",
		"role=dpu,rep=pf0sf",
		"role=dpu,rep=pf0xx1",
		"role=dpu,rep=pf0/../x",
		"role=host,func=elephant",
		"role=host,func=",
		"role",
		"rep=pf0",
		"role=dpu,rep=pf0,func=pf0",
		"role=host,func=pf0,rep=pf0",
		"role=host,func=pf0,func=pf1",
		"role=dpu,rep=pf0,rep=pf0",
		"role=dpu,rep=[pf0vf1,pf0,pf0vf1]",
		"role=dpu,rep=pf65536",
		"role=dpu,rep=pf0vf65536",
		"role=dpu,rep=pf0,max_clients=0",
		"role=dpu,rep=pf0,max_clients=-1",
		"role=dpu,rep=pf0,max_msg_size=1e3",
	};
	char name[256];
	int16_t dev = 77;
	unsigned int i;
	int rc;

	for (i = 0; i < RTE_DIM(bad); i++) {
		rc = rte_comch_dev_probe(t_dev_string(0, bad[i]), &dev);
		if (rc != -EINVAL)
			T_FAIL("%s: %d", bad[i], rc);
	}
	T_EQ(rte_comch_dev_probe(NULL, &dev), -EINVAL);
	T_EQ(rte_comch_dev_probe(t_dev_string(0, "role=dpu,rep=pf0"), NULL), -EINVAL);
	T_EQ(rte_comch_dev_probe("nosuchdriver0,role=dpu,rep=pf0", &dev), -ENODEV);
	rc = rte_comch_dev_probe("", &dev);
	T_CHECK(rc == -EINVAL || rc == -ENODEV);
	rc = rte_comch_dev_probe(",role=dpu", &dev);
	T_CHECK(rc == -EINVAL || rc == -ENODEV);
	/* A device name that does not fit: refused, never cut. */
	snprintf(name, sizeof(name), "%s%0100d,role=dpu,rep=pf0", t_driver->name, 1);
	T_EQ(rte_comch_dev_probe(name, &dev), -EINVAL);
	T_EQ(rte_comch_dev_count(), 0);
}

void
conf_lifecycle_dev_log_lists_keys(void)
{
	char *text = NULL;
	size_t size = 0;
	int16_t dev;
	FILE *f;

	f = open_memstream(&text, &size);
	T_CHECK(f != NULL);
	rte_log_set_level_pattern("*comch*", RTE_LOG_ERR);
	rte_log_set_global_level(RTE_LOG_ERR);
	T_EQ(rte_openlog_stream(f), 0);
	T_EQ(rte_comch_dev_probe(t_dev_string(0, "role=dpu,rep=pf0,elephant=1"), &dev),
			-EINVAL);
	T_EQ(rte_openlog_stream(NULL), 0);
	fclose(f);
	T_STR_HAS(text, "elephant");
	T_STR_HAS(text, "role");
	T_STR_HAS(text, "rep");
	free(text);
}

void
conf_lifecycle_dev_double_name(void)
{
	int16_t a, b;

	a = t_dev_open(0, "role=dpu,rep=pf0");
	T_EQ(rte_comch_dev_probe(t_dev_string(0, "role=host,func=pf0"), &b), -EEXIST);
	T_EQ(rte_comch_dev_close(a), 0);
	b = t_dev_open(0, "role=host,func=pf0");
	T_EQ(rte_comch_dev_close(b), 0);
}

void
conf_lifecycle_dev_too_many(void)
{
	unsigned int i;
	int16_t dev;
	int rc = 0;

	T_CHECK(t_nofile_set(20000));
	for (i = 0; i < 5000 && rc == 0; i++)
		rc = rte_comch_dev_probe(t_dev_string(i, "role=host,func=pf0"), &dev);
	T_EQ(rc, -ENOSPC);
	T_GT(i, 2);
	T_EQ(rte_comch_dev_count(), i - 1);
	while ((dev = rte_comch_dev_next(0)) >= 0)
		T_EQ(rte_comch_dev_close(dev), 0);
	T_EQ(rte_comch_dev_count(), 0);
}

void
conf_lifecycle_dev_close_busy(void)
{
	struct t_pair p;

	t_pair_ends(&p, NULL);
	T_EQ(rte_comch_dev_close(p.dpu_dev), -EBUSY);
	T_EQ(rte_comch_dev_close(p.host_dev), -EBUSY);
	T_EQ(rte_comch_dev_count(), 2);
	/* Nothing has changed: they still connect. */
	t_pair_connect(&p);
	T_EQ(rte_comch_dev_close(p.dpu_dev), -EBUSY);
	t_pair_close(&p);
}

void
conf_lifecycle_dev_info(void)
{
	struct rte_comch_dev_info info;
	struct t_pair p;

	t_pair_devs(&p, NULL);
	T_EQ(rte_comch_dev_info_get(p.dpu_dev, NULL), -EINVAL);
	T_EQ(rte_comch_dev_info_get(-1, &info), -ENODEV);
	T_EQ(rte_comch_dev_info_get(INT16_MAX, &info), -ENODEV);
	T_EQ(rte_comch_dev_info_get(p.dpu_dev, &info), 0);
	T_STR_EQ(info.name, conf_dev_name(0));
	T_STR_EQ(info.driver, t_driver->name);
	T_EQ(info.role, RTE_COMCH_ROLE_DPU);
	T_CHECK((info.capa & RTE_COMCH_CAPA_SERVER) != 0);
	T_CHECK((info.capa & RTE_COMCH_CAPA_CLIENT) == 0);
	T_EQ(info.nb_reps, 1);
	T_EQ(rte_comch_dev_info_get(p.host_dev, &info), 0);
	T_STR_EQ(info.name, conf_dev_name(1));
	T_EQ(info.role, RTE_COMCH_ROLE_HOST);
	T_CHECK((info.capa & RTE_COMCH_CAPA_CLIENT) != 0);
	T_CHECK((info.capa & RTE_COMCH_CAPA_SERVER) == 0);
	T_EQ(info.nb_reps, 1);
	T_EQ(info.max_name_size, RTE_COMCH_NAME_SIZE);
	T_GE(info.max_msg_size, 256);
	T_GE(info.max_recv_queue, 64);
	T_GE(info.max_send_queue, 64);
	T_GE(info.max_clients, 1);
	T_CHECK((info.capa & RTE_COMCH_CAPA_DATA) != 0);
	T_GE(info.max_producers, 4);
	T_GE(info.max_consumers, 4);
	T_GE(info.max_dp_queue, 1024);
	T_GE(info.max_imm_len, RTE_COMCH_IMM_SIZE);
	T_GE(info.max_buf_len, 1024 * 1024 * 1024);
	t_pair_close(&p);
}

static void
check_rep(int16_t dev, uint16_t rep, const char *name,
		enum rte_comch_func_type type, uint16_t pf, uint16_t index)
{
	struct rte_comch_rep_info info;

	T_EQ(rte_comch_dev_rep_info_get(dev, rep, &info), 0);
	T_STR_EQ(info.name, name);
	T_EQ(info.type, type);
	T_EQ(info.pf, pf);
	T_EQ(info.index, index);
	T_EQ(rte_comch_dev_rep_by_name(dev, name), rep);
}

void
conf_lifecycle_reps(void)
{
	struct rte_comch_rep_info info;
	struct rte_comch_dev_info dinfo;
	int16_t dpu, host;

	dpu = t_dev_open(0, "role=dpu,rep=pf0,rep=pf0vf3,rep=pf0sf7,rep=pf1");
	T_EQ(rte_comch_dev_info_get(dpu, &dinfo), 0);
	T_EQ(dinfo.nb_reps, 4);
	check_rep(dpu, 0, "pf0", RTE_COMCH_FUNC_PF, 0, 0);
	check_rep(dpu, 1, "pf0vf3", RTE_COMCH_FUNC_VF, 0, 3);
	check_rep(dpu, 2, "pf0sf7", RTE_COMCH_FUNC_SF, 0, 7);
	check_rep(dpu, 3, "pf1", RTE_COMCH_FUNC_PF, 1, 0);
	T_EQ(rte_comch_dev_rep_info_get(dpu, 4, &info), -ENOENT);
	T_EQ(rte_comch_dev_rep_info_get(dpu, 0, NULL), -EINVAL);
	T_EQ(rte_comch_dev_rep_info_get(-1, 0, &info), -ENODEV);
	T_EQ(rte_comch_dev_rep_by_name(dpu, "pf0vf4"), -ENOENT);
	T_EQ(rte_comch_dev_rep_by_name(dpu, NULL), -EINVAL);
	T_EQ(rte_comch_dev_rep_by_name(INT16_MAX, "pf0"), -ENODEV);
	host = t_dev_open(1, "role=host,func=pf0vf3");
	check_rep(host, 0, "pf0vf3", RTE_COMCH_FUNC_VF, 0, 3);
	T_EQ(rte_comch_dev_rep_info_get(host, 1, &info), -ENOENT);
	T_EQ(rte_comch_dev_close(host), 0);
	T_EQ(rte_comch_dev_close(dpu), 0);
}

/* One name on three representors: each client reaches its own function only. */
void
conf_lifecycle_rep_isolation(void)
{
	static const char *const funcs[] = { "pf0", "pf0vf0", "pf0sf0" };
	struct rte_comch_server *server[RTE_DIM(funcs)];
	struct rte_comch_client *client;
	struct t_node *dpu = t_node_new(), *host = t_node_new();
	struct rte_comch_conn_info info;
	const struct t_ev *ev;
	int16_t dpu_dev, dev;
	char args[64];
	uint16_t i;

	dpu_dev = t_dev_open(0, "role=dpu,rep=pf0,rep=pf0vf0,rep=pf0sf0,rep=pf0vf1");
	for (i = 0; i < RTE_DIM(funcs); i++)
		server[i] = t_server_new(dpu, dpu_dev, T_NAME, i, NULL);
	for (i = 0; i < RTE_DIM(funcs); i++) {
		snprintf(args, sizeof(args), "role=host,func=%s", funcs[i]);
		dev = t_dev_open(1, args);
		client = t_client_new(host, dev, T_NAME, NULL);
		T_EQ(rte_comch_client_start(client), -EINPROGRESS);
		T_UNTIL(t_count(dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == i + 1U);
		ev = t_find(dpu, RTE_COMCH_EVENT_CONNECTED, NULL, i);
		T_CHECK(rte_comch_conn_server(ev->e.conn) == server[i]);
		T_EQ(rte_comch_conn_info_get(ev->e.conn, &info), 0);
		T_EQ(info.rep, i);
		t_client_end(client);
		T_EQ(rte_comch_dev_close(dev), 0);
	}
	/* Served by the same device, but no server listens there. */
	dev = t_dev_open(1, "role=host,func=pf0vf1");
	client = t_client_new(host, dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(client) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(t_state_ev(host, client) != NULL);
	T_EQ(t_state_ev(host, client)->e.status, -ENOENT);
	t_client_end(client);
	T_EQ(rte_comch_dev_close(dev), 0);
	for (i = 0; i < RTE_DIM(funcs); i++)
		t_server_end(server[i]);
	T_EQ(rte_comch_dev_close(dpu_dev), 0);
	t_node_free(dpu);
	t_node_free(host);
}
