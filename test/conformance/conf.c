/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "conf.h"

static void
dpu_info(struct rte_comch_dev_info *info)
{
	int16_t dev = t_dev_open(0, "role=dpu,rep=pf0");

	T_EQ(rte_comch_dev_info_get(dev, info), 0);
	T_EQ(rte_comch_dev_close(dev), 0);
}

uint64_t
conf_capa(void)
{
	struct rte_comch_dev_info info;

	dpu_info(&info);
	return info.capa;
}

void
conf_need(uint64_t needs)
{
	struct rte_comch_dev_info info;

	if (needs == 0)
		return;
	dpu_info(&info);
	t_need(&info, needs);
}

void
conf_run(const struct t_driver *driver, void (*fn)(void), uint64_t needs)
{
	t_driver = driver;
	t_eal_start(1);
	conf_need(needs);
	fn();
	T_EQ(rte_comch_dev_count(), 0);
	t_eal_stop();
}

void
conf_fini(void)
{
	t_dir_remove();
}

const char *
conf_dev_name(unsigned int number)
{
	static char buf[RTE_COMCH_DEV_NAME_SIZE];

	snprintf(buf, sizeof(buf), "%s%u", t_driver->name, number);
	return buf;
}

int
conf_sent_status(const struct t_node *node, uint64_t cookie)
{
	const struct t_ev *ev;
	unsigned int i;

	for (i = 0; ; i++) {
		ev = t_find(node, RTE_COMCH_EVENT_SENT, NULL, i);
		if (ev == NULL)
			return 1;
		if (ev->e.sent.cookie == cookie)
			return ev->e.status;
	}
}

void
conf_check_counting(const struct t_node *node)
{
	uint32_t want = 0, val;
	unsigned int i;

	for (i = 0; i < node->nb_evs; i++) {
		if (node->evs[i].e.type != RTE_COMCH_EVENT_MSG)
			continue;
		T_EQ(node->evs[i].len, sizeof(val));
		memcpy(&val, node->evs[i].data, sizeof(val));
		T_EQ(val, want);
		want++;
	}
}

const struct t_ev *
conf_check_last(const struct t_node *node, const struct rte_comch_conn *conn)
{
	const struct t_ev *ev;
	unsigned int i;

	T_EQ(t_count(node, RTE_COMCH_EVENT_DISCONNECTED, conn), 1);
	ev = t_find(node, RTE_COMCH_EVENT_DISCONNECTED, conn, 0);
	for (i = t_pos(node, ev) + 1; i < node->nb_evs; i++)
		if (node->evs[i].e.conn == conn &&
				node->evs[i].e.obj_type == RTE_COMCH_OBJ_CONN)
			T_FAIL("%s after DISCONNECTED",
					rte_comch_event_name(node->evs[i].e.type));
	return ev;
}
