/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What the machine's RDMA devices are, and which ports a device could use; for operators. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_string_fns.h>

#include "mlx5_host.h"
#include "mlx5_open.h"

struct scan {
	rte_comch_dev_prop_t prop;
	void *ctx;
	const char *unit;           /* "mlx5_0"; NULL: the device itself, or the machine */
	struct ibv_context **list;
	int nb;
};

static void __rte_format_printf(3, 4)
say(const struct scan *s, const char *key, const char *fmt, ...)
{
	char value[768];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	s->prop(s->ctx, s->unit, key, value);
}

static const char *
layer_text(uint8_t link_layer)
{
	return link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" :
		link_layer == IBV_LINK_LAYER_INFINIBAND ? "InfiniBand" : "unknown link layer";
}

static void
say_pci(const struct scan *s, struct ibv_context *ctx)
{
	char pci[64];

	if (mlx5_open_pci(ctx, pci, sizeof(pci)))
		say(s, "pci", "%s", pci);
}

static void
say_port(const struct scan *s, const struct mlx5_dev *dev)
{
	say(s, "port", "%u: %s, %s, MTU %u", dev->port,
		mlx5_open_state_text(dev->port_attr.state),
		layer_text(dev->port_attr.link_layer), 128u << dev->port_attr.active_mtu);
}

static void
say_gid(const struct scan *s, const struct mlx5_dev *dev)
{
	char addr[INET6_ADDRSTRLEN];

	mlx5_name_format_addr(&dev->addr, addr, sizeof(addr));
	say(s, "gid", "%u: %s (RoCEv2)", dev->gid_index, addr);
}

static void
say_limits(const struct scan *s, const struct ibv_device_attr *attr)
{
	say(s, "firmware", "%s", attr->fw_ver);
	say(s, "max_qp", "%d", attr->max_qp);
	say(s, "max_qp_wr", "%d", attr->max_qp_wr);
	say(s, "max_cqe", "%d", attr->max_cqe);
	say(s, "max_mr", "%d", attr->max_mr);
	say(s, "max_mr_size", "%" PRIu64, attr->max_mr_size);
}

/* A port, with the defaults of the keys. */
static void
scan_port(const struct scan *s, struct ibv_context *ctx, uint8_t port)
{
	struct mlx5_dev dev = { .ctx = ctx };
	struct mlx5_why why;
	int ret;

	mlx5_args_default(&dev);
	dev.port = port;
	rte_strscpy(dev.ibdev, s->unit, sizeof(dev.ibdev));
	ret = mlx5_open_check(&dev, &why);
	if (dev.port_attr.state != 0)
		say_port(s, &dev);
	if (dev.addr.sa.sa_family != 0)
		say_gid(s, &dev);
	if (ret == 0)
		say(s, "usable", "yes: dev=%s,port=%u", s->unit, port);
	else
		say(s, "usable", "no: %s", why.text);
}

static void
scan_ibdev(struct scan *s, struct ibv_context *ctx)
{
	struct ibv_device_attr attr;
	uint8_t port;

	s->unit = mlx5_verbs->get_device_name(ctx->device);
	say_pci(s, ctx);
	if (mlx5_verbs->query_device(ctx, &attr) != 0) {
		say(s, "usable", "no: the device does not answer: %s", strerror(errno));
		return;
	}
	say_limits(s, &attr);
	for (port = 1; port <= attr.phys_port_cnt; port++)
		scan_port(s, ctx, port);
}

/* A device of the kernel: what hinders libibverbs, unless it lists the device. */
static void
scan_other(const char *ibdev, void *arg)
{
	struct scan *s = arg;
	char why[512];
	int i;

	for (i = 0; i < s->nb; i++)
		if (strcmp(mlx5_verbs->get_device_name(s->list[i]->device), ibdev) == 0)
			return;
	s->unit = ibdev;
	if (mlx5_host_blocked(ibdev, why, sizeof(why)) != -ENOENT)
		say(s, "usable", "no: %s", why);
}

static void
scan_all(struct scan *s)
{
	char text[512];
	int i;

	mlx5_host_memlock(text, sizeof(text));
	say(s, "memlock", "%s", text);
	s->list = mlx5_verbs->get_devices(&s->nb);
	if (s->list == NULL)
		s->nb = 0;
	if (s->nb == 0 && mlx5_host_no_device(text, sizeof(text)) != 0)
		say(s, "usable", "no: %s", text);
	for (i = 0; i < s->nb; i++)
		scan_ibdev(s, s->list[i]);
	mlx5_host_each(scan_other, s);
	if (s->list != NULL)
		mlx5_verbs->free_devices(s->list);
}

/* What an open device has chosen, or was told. */
static void
describe(const struct scan *s, const struct mlx5_dev *dev)
{
	say(s, "ibdev", "%s", dev->ibdev);
	say_pci(s, dev->ctx);
	say_port(s, dev);
	say_gid(s, dev);
	say(s, "ports", "%u-%u", dev->first_port, dev->last_port);
	say(s, "slot", "%u", dev->slot);
	say(s, "eager", "%u", dev->eager);
	say(s, "inline", "%u", dev->max_inline);
	say(s, "dead_ms", "%u", dev->dead_ms);
	say(s, "timeout", "%u", dev->timeout);
	say(s, "retry", "%u", dev->retry);
	if (dev->has_tclass)
		say(s, "tclass", "%u", dev->tclass);
	if (dev->has_sl)
		say(s, "sl", "%u", dev->sl);
	if (dev->pkey != 0)
		say(s, "pkey", "%#x", dev->pkey);
	if (dev->max_pinned != UINT64_MAX)
		say(s, "max_pinned", "%" PRIu64, dev->max_pinned);
}

void
mlx5_scan_props(const struct rte_comch_dev *dev, rte_comch_dev_prop_t prop, void *ctx)
{
	struct scan s = { .prop = prop, .ctx = ctx };

	if (dev != NULL)
		describe(&s, dev->priv);
	else
		scan_all(&s);
}
