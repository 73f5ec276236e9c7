/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Opening devices of the RDMA driver: what keys do, what hinders, and who may connect. */

#include <arpa/inet.h>
#include <sys/stat.h>

#include "mlx5_host.h"
#include "mlx5_private.h"
#include "u_ctrl.h"

/* Properties, "unit/key=value" a line. */
struct props {
	char text[8192];
	size_t len;
};

static void
add_prop(void *ctx, const char *unit, const char *key, const char *value)
{
	struct props *p = ctx;

	p->len += (size_t)snprintf(p->text + p->len, sizeof(p->text) - p->len, "%s/%s=%s\n",
			unit != NULL ? unit : "", key, value);
	T_LT(p->len, sizeof(p->text));
}

static void
scan(struct props *p)
{
	p->len = 0;
	T_EQ(rte_comch_dev_scan("comch_mlx5", add_prop, p), 0);
}

/* Devices of which one is usable, one is down, one is InfiniBand, one has no address. */
CTRL_CASE(scan_of_devices)
{
	static const struct fv_dev_conf devs[] = {
		{ .name = "good", .addrs = { "10.0.0.9" } },
		{ .name = "down", .addrs = { "10.0.0.8" } },
		{ .name = "ib", .link_layer = IBV_LINK_LAYER_INFINIBAND, .addrs = { "10.0.0.7" } },
		{ .name = "bare" },
	};
	struct props props;

	RTE_SET_USED(p);
	fv_reset();
	fv_set_devices(devs, RTE_DIM(devs));
	fv_event_port("down", IBV_EVENT_PORT_ERR);
	scan(&props);
	T_STR_HAS(props.text, "/memlock=");
	T_STR_HAS(props.text, "good/port=1: active, Ethernet, MTU 1024\n");
	T_STR_HAS(props.text, ": 10.0.0.9 (RoCEv2)\ngood/usable=yes: dev=good,port=1\n");
	T_STR_HAS(props.text, "good/max_qp=");
	T_STR_HAS(props.text, "down/usable=no: port 1 of down is down");
	T_STR_HAS(props.text, "ib/usable=no: port 1 of ib is an InfiniBand port");
	T_STR_HAS(props.text, "bare/usable=no: port 1 of bare has no RoCEv2 GID");
	T_EQ(rte_comch_dev_scan("comch_mlx5", NULL, NULL), -EINVAL);
	T_EQ(rte_comch_dev_scan(NULL, add_prop, &props), -EINVAL);
	T_EQ(rte_comch_dev_scan("comch_none", add_prop, &props), -ENODEV);
	T_EQ(rte_comch_dev_scan("comch_shm", add_prop, &props), -ENOTSUP);
}

/* A machine's /sys and /dev. */

static char root[256];

static void
make_dir(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	T_EQ(mkdir(full, 0755), 0);
}

static void
make_file(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "w");
	T_CHECK(f != NULL);
	T_GE(fputs(text, f), 0);
	T_EQ(fclose(f), 0);
}

static void
make_machine(void)
{
	snprintf(root, sizeof(root), "%s/machine", t_dir());
	mlx5_host_root = root;
	make_dir("");
	make_dir("/sys");
	make_dir("/sys/class");
	make_dir("/dev");
}

/* The kernel has mlx5_7, which libibverbs does not list. */
CTRL_CASE(device_is_blocked)
{
	struct props props;
	char why[512];

	RTE_SET_USED(p);
	make_machine();
	T_EQ(mlx5_host_no_device(why, sizeof(why)), -ENODEV);
	T_STR_HAS(why, "this machine has no RDMA device");
	make_dir("/sys/class/infiniband");
	T_EQ(mlx5_host_no_device(why, sizeof(why)), -ENODEV);
	T_EQ(mlx5_host_blocked("mlx5_7", why, sizeof(why)), -ENOENT);
	make_dir("/sys/class/infiniband/mlx5_7");
	T_EQ(mlx5_host_no_device(why, sizeof(why)), -ENODEV);
	T_STR_HAS(why, "modprobe rdma_ucm");
	scan(&props);
	T_STR_HAS(props.text, "mlx5_7/usable=no: the kernel module ib_uverbs is not loaded");
	make_dir("/sys/class/infiniband_verbs");
	make_dir("/sys/class/infiniband_verbs/uverbs3");
	make_file("/sys/class/infiniband_verbs/uverbs3/ibdev", "mlx5_7\n");
	scan(&props);
	T_STR_HAS(props.text, "mlx5_7/usable=no: /dev/infiniband/uverbs3 does not exist");
	make_dir("/dev/infiniband");
	make_file("/dev/infiniband/uverbs3", "");
	scan(&props);
	T_STR_HAS(props.text, "mlx5_7/usable=no: /dev/infiniband/rdma_cm does not exist: "
		"the kernel module rdma_ucm is not loaded");
	make_file("/dev/infiniband/rdma_cm", "");
	scan(&props);
	T_STR_HAS(props.text, "mlx5_7/usable=no: libibverbs cannot use it");
	T_STR_HAS(props.text, "fv0/usable=yes");
	mlx5_host_root = "";
}

/* Keys */

/* What the keys of one side say of its queue pairs. */
struct wants {
	const char *ibdev;
	uint8_t tclass, sl, timeout, retry;
};

static void
check_qps(const struct wants *w)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	unsigned int i, nb = 0;
	struct ibv_qp *qp;

	for (i = 0; (qp = fv_qp(i)) != NULL; i++) {
		if (qp->context != fv_ctx(w->ibdev))
			continue;
		T_EQ(fv_glue.query_qp(qp, &attr, IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT,
			&init), 0);
		T_EQ(attr.ah_attr.grh.traffic_class, w->tclass);
		T_EQ(attr.ah_attr.sl, w->sl);
		T_EQ(attr.timeout, w->timeout);
		T_EQ(attr.retry_cnt, w->retry);
		nb++;
	}
	/* Of the link, and of the consumer. */
	T_EQ(nb, 2);
}

/* Each side's keys reach all its queue pairs, also those that were accepted. */
CTRL_CASE(keys_of_both_sides)
{
	const struct t_pair_conf conf = {
		.dpu_args = ",tclass=32,sl=1,timeout=10,retry=4,pkey=0xffff,ports=50000-50007",
		.host_args = ",tclass=96,sl=3,timeout=9,retry=5,ports=50000-50007,eager=0,"
			"slot=1024",
	};
	struct rte_comch_client *client;
	struct props props = { .len = 0 };
	struct t_flow f;
	int16_t dev;

	t_pair_open(p, &conf);
	t_flow_open(&f, p, NULL);
	t_flow_once(&f, 64, 1);
	/* eager=0: it was written. */
	T_EQ(u_counter(p->host_dev, "writes"), 1);
	check_qps(&(struct wants){ .ibdev = "fv0", .tclass = 32, .sl = 1, .timeout = 10,
		.retry = 4 });
	check_qps(&(struct wants){ .ibdev = "fv1", .tclass = 96, .sl = 3, .timeout = 9,
		.retry = 5 });
	T_EQ(rte_comch_dev_props(p->host_dev, add_prop, &props), 0);
	T_STR_HAS(props.text, "/ibdev=fv1\n");
	T_STR_HAS(props.text, "/gid=4: 10.0.1.1 (RoCEv2)\n");
	T_STR_HAS(props.text, "/slot=1024\n");
	T_STR_HAS(props.text, "/ports=50000-50007\n");
	t_flow_close(&f);
	/* The server is on none of the other ports. */
	dev = t_dev_open(2, "role=host,func=pf0");
	client = t_client_new(p->host, dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p->host, client) != NULL);
	T_EQ(t_state_ev(p->host, client)->e.status, -ENOENT);
	t_client_end(client);
	T_EQ(rte_comch_dev_close(dev), 0);
}

/* 0 is a service level, too. */
CTRL_CASE(service_level_0)
{
	const struct t_pair_conf conf = { .host_args = ",tclass=96,sl=0" };

	t_pair_open(p, &conf);
	T_EQ(fv_nb_live(FV_QP), 2);
	for (unsigned int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr init;
		struct ibv_qp_attr attr;

		T_EQ(fv_glue.query_qp(fv_qp(i), &attr, IBV_QP_AV, &init), 0);
		T_EQ(attr.ah_attr.sl, 0);
	}
}

/* A completion queue has the completions of both directions, and 128 in reserve for each. */
CTRL_CASE(depth_that_completion_queues_allow)
{
	struct rte_comch_dev_info info;
	struct fv_conf conf;
	int16_t dev;

	RTE_SET_USED(p);
	fv_conf_default(&conf);
	conf.max_qp_wr = 4096;
	conf.max_cqe = 1024;
	fv_configure(&conf);
	dev = t_dev_open(2, "role=host,func=pf0");
	T_EQ(rte_comch_dev_info_get(dev, &info), 0);
	T_EQ(info.max_dp_queue, 256);
	T_EQ(rte_comch_dev_close(dev), 0);
}

/* Who may connect */

static bool is_forging;
static unsigned int nb_forged;

/* A request whose address is pf0's, from a GID that is not. */
static int
forge(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	int ret = fv_glue.get_cm_event(channel, event);
	struct rdma_cm_id *id;

	if (!is_forging || ret != 0 || (*event)->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return ret;
	id = (*event)->id;
	T_EQ(inet_pton(AF_INET, "10.0.1.1", &id->route.addr.dst_sin.sin_addr), 1);
	nb_forged++;
	return 0;
}

CTRL_CASE(gid_of_another_function)
{
	static struct mlx5_glue forged;
	struct rte_comch_client *client;
	int16_t dev;

	/* Before the devices, whose helper threads use it, too. */
	forged = fv_glue;
	forged.get_cm_event = forge;
	mlx5_verbs = &forged;
	t_pair_ends(p, NULL);
	dev = t_dev_open(2, "role=host,func=pf0,gid=6");
	client = t_client_new(p->host, dev, T_NAME, NULL);
	is_forging = true;
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p->host, client) != NULL);
	T_EQ(t_state_ev(p->host, client)->e.status, -EACCES);
	T_GT(nb_forged, 0);
	is_forging = false;
	T_EQ(t_count(p->dpu, RTE_COMCH_EVENT_CONNECTED, NULL), 0);
	t_client_end(client);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_pair_connect(p);
}
