/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tests of drivers that lack a required operation, and of one without data operations. */

#include <criterion/criterion.h>

#include "t_log.h"
#include "t_pair.h"

#include "fake_private.h"

static void
start(void)
{
	t_eal_start(1);
}

static void
stop(void)
{
	t_eal_stop();
	t_dir_remove();
}

TestSuite(refused, .init = start, .fini = stop);

/* Register a driver, which is refused with a log line that names the operation. */
static void
is_refused(const struct rte_comch_driver_ops *ops, const char *operation)
{
	struct t_log log;
	char want[64];
	int16_t dev;

	t_log_begin(&log);
	rte_comch_driver_register_v9(ops);
	snprintf(want, sizeof(want), "driver %s", ops->name);
	t_log_has(&log, want);
	snprintf(want, sizeof(want), "operation %s\n", operation);
	t_log_end(&log, want);
	T_EQ(rte_comch_dev_probe("comch_broken0,role=dpu,rep=pf0", &dev), -ENODEV);
}

Test(refused, link_operation)
{
	struct rte_comch_driver_ops ops = *fake_driver_ops();

	ops.name = "comch_broken";
	ops.frame_tx = NULL;
	is_refused(&ops, "frame_tx");
	ops = *fake_driver_ops();
	ops.name = "comch_broken";
	ops.link_shutdown = NULL;
	is_refused(&ops, "link_shutdown");
}

Test(refused, data_operation)
{
	struct rte_comch_data_ops data = fake_data_ops;
	struct rte_comch_driver_ops ops = *fake_driver_ops();

	ops.name = "comch_broken";
	ops.data = &data;
	data.mem_hide = NULL;
	is_refused(&ops, "mem_hide");
	data = fake_data_ops;
	data.cons_halt = NULL;
	is_refused(&ops, "cons_halt");
}

/* Only the mapped channel requires regions. */
Test(refused, region_operation)
{
	struct rte_comch_region_ops regions = { 0 };
	struct rte_comch_driver_ops ops = *fake_driver_ops();

	ops.name = "comch_broken";
	ops.data = &rte_comch_data_mapped;
	is_refused(&ops, "regions");
	ops.regions = &regions;
	is_refused(&ops, "mem_export");
}

/* Without data operations: control messages work, and the capabilities omit DATA. */
Test(refused, no_fast_path)
{
	static const struct t_driver driver = { .name = "comch_plain" };
	struct rte_comch_driver_ops ops = *fake_driver_ops();
	struct rte_comch_dev_info info;
	struct t_pair p;

	t_driver = &driver;
	ops.name = driver.name;
	ops.data = NULL;
	rte_comch_driver_register_v9(&ops);
	t_pair_open(&p, NULL);
	T_EQ(rte_comch_dev_info_get(p.dpu_dev, &info), 0);
	T_EQ(info.capa, RTE_COMCH_CAPA_SERVER | RTE_COMCH_CAPA_EVENT_FD |
		RTE_COMCH_CAPA_ORDERED);
	T_NULL_ERRNO(rte_comch_producer_create(p.cconn, &(struct rte_comch_producer_conf){
		.conf_size = sizeof(struct rte_comch_producer_conf) }), ENOTSUP);
	T_NULL_ERRNO(rte_comch_consumer_create(p.sconn, &(struct rte_comch_consumer_conf){
		.conf_size = sizeof(struct rte_comch_consumer_conf) }), ENOTSUP);
	t_send(p.cconn, "x", 1, 1);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 1);
	t_pair_close(&p);
}
