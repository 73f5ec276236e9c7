/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Finds the RDMA device that a device string names, and checks that it can be used: its
 * port, GID and partition, a queue pair, and memory for a link. Each refusal is a sentence
 * that says what to do.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_string_fns.h>

#include "mlx5_host.h"
#include "mlx5_open.h"

#define MAX_GIDS 256
/* What the trial of a queue pair asks for. */
#define TRIAL_WRS 16

static int __rte_format_printf(3, 4)
fail_why(struct mlx5_why *why, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return error;
}

/* Search */

/* "0000:03:00.0", "03:00.0" or "mlx5_0" */
static bool
is_named(struct ibv_context *ctx, const char *name)
{
	char pci[64];

	if (strcmp(mlx5_verbs->get_device_name(ctx->device), name) == 0)
		return true;
	if (!mlx5_open_pci(ctx, pci, sizeof(pci)))
		return false;
	return strcmp(pci, name) == 0 ||
		(strncmp(pci, "0000:", 5) == 0 && strcmp(pci + 5, name) == 0);
}

bool
mlx5_open_pci(struct ibv_context *ctx, char *pci, size_t size)
{
	return mlx5_host_pci(mlx5_verbs->get_device_path(ctx->device), pci, size);
}

/* "mlx5_0 (0000:03:00.0), rxe0" */
static void
list_names(struct ibv_context **list, int n, char *text, size_t size)
{
	char pci[64];
	size_t used = 0;
	int i;

	text[0] = '\0';
	for (i = 0; i < n && used < size; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
			mlx5_verbs->get_device_name(list[i]->device));
		if (used < size && mlx5_open_pci(list[i], pci, sizeof(pci)))
			used += (size_t)snprintf(text + used, size - used, " (%s)", pci);
	}
}

static int
no_devices(struct mlx5_why *why)
{
	int ret = mlx5_host_no_device(why->text, sizeof(why->text));

	return ret != 0 ? ret : fail_why(why, -ENODEV, "libibverbs lists no RDMA device: see "
		"comch-info --scan");
}

static int
not_found(const struct mlx5_dev *dev, struct ibv_context **list, int n, struct mlx5_why *why)
{
	char names[256], reason[256];
	int ret;

	list_names(list, n, names, sizeof(names));
	if (dev->ibdev[0] == '\0')
		return fail_why(why, -ENODEV, "dev=DEVICE is required; there are: %s", names);
	ret = mlx5_host_blocked(dev->ibdev, reason, sizeof(reason));
	if (ret != -ENOENT)
		return fail_why(why, ret, "%s: %s", dev->ibdev, reason);
	return fail_why(why, -ENODEV, "no RDMA device %s; there are: %s", dev->ibdev, names);
}

/* Set ctx and ibdev. */
static int
find_context(struct mlx5_dev *dev, struct mlx5_why *why)
{
	struct ibv_context **list;
	int i, ret = 0, n = 0;

	list = mlx5_verbs->get_devices(&n);
	if (list == NULL)
		return no_devices(why);
	for (i = 0; i < n && dev->ctx == NULL; i++)
		if (dev->ibdev[0] == '\0' ? n == 1 : is_named(list[i], dev->ibdev))
			dev->ctx = list[i];
	if (dev->ctx != NULL)
		rte_strscpy(dev->ibdev, mlx5_verbs->get_device_name(dev->ctx->device),
			sizeof(dev->ibdev));
	else
		ret = n > 0 ? not_found(dev, list, n, why) : no_devices(why);
	mlx5_verbs->free_devices(list);
	return ret;
}

/* Port, address, partition */

const char *
mlx5_open_state_text(enum ibv_port_state state)
{
	switch (state) {
	case IBV_PORT_DOWN:
		return "down";
	case IBV_PORT_INIT:
		return "initializing";
	case IBV_PORT_ARMED:
		return "armed";
	case IBV_PORT_ACTIVE:
	case IBV_PORT_ACTIVE_DEFER:
		return "active";
	default:
		return "not present";
	}
}

static int
check_port(struct mlx5_dev *dev, struct mlx5_why *why)
{
	if (mlx5_verbs->query_device(dev->ctx, &dev->attr) != 0)
		return fail_why(why, -EIO, "cannot query %s: %s", dev->ibdev, strerror(errno));
	if (dev->port > dev->attr.phys_port_cnt ||
			mlx5_verbs->query_port(dev->ctx, dev->port, &dev->port_attr) != 0)
		return fail_why(why, -EINVAL, "port=%u: %s has %u ports", dev->port, dev->ibdev,
			dev->attr.phys_port_cnt);
	if (dev->port_attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		return fail_why(why, -ENOTSUP, "port %u of %s is an InfiniBand port, which is not "
			"supported: set it to Ethernet (mlxconfig, LINK_TYPE_P%u=2)", dev->port,
			dev->ibdev, dev->port);
	if (dev->port_attr.state != IBV_PORT_ACTIVE)
		return fail_why(why, -ENETDOWN, "port %u of %s is %s, expected active: check its "
			"cable, and set its network interface up", dev->port, dev->ibdev,
			mlx5_open_state_text(dev->port_attr.state));
	return 0;
}

/* The better, the greater; 0: unusable. */
static int
rate_gid(const struct mlx5_dev *dev, const struct ibv_gid_entry *e, struct mlx5_addr *addr)
{
	if (e->port_num != dev->port || e->gid_type != IBV_GID_TYPE_ROCE_V2 ||
			(dev->has_gid && e->gid_index != dev->gid_index) ||
			!mlx5_name_gid_to_addr(&e->gid, addr))
		return 0;
	return addr->sa.sa_family == AF_INET ? 2 : 1;
}

static int
choose_gid(struct mlx5_dev *dev, struct mlx5_why *why)
{
	struct ibv_gid_entry *e;
	struct mlx5_addr addr;
	int best = 0, rate;
	ssize_t i, n;

	e = calloc(MAX_GIDS, sizeof(*e));
	if (e == NULL)
		return fail_why(why, -ENOMEM, "no memory for %u GIDs", MAX_GIDS);
	n = mlx5_verbs->query_gid_table(dev->ctx, e, MAX_GIDS, 0);
	for (i = 0; i < n; i++) {
		rate = rate_gid(dev, &e[i], &addr);
		if (rate <= best)
			continue;
		best = rate;
		dev->gid = e[i].gid;
		dev->gid_index = (uint8_t)e[i].gid_index;
		dev->addr = addr;
	}
	free(e);
	if (best > 0)
		return 0;
	if (dev->has_gid)
		return fail_why(why, -EADDRNOTAVAIL, "gid=%u is not a RoCEv2 GID with an IP "
			"address on port %u of %s", dev->gid_index, dev->port, dev->ibdev);
	return fail_why(why, -EADDRNOTAVAIL, "port %u of %s has no RoCEv2 GID with an IP address: "
		"give its network interface an address", dev->port, dev->ibdev);
}

static int
find_pkey(struct mlx5_dev *dev, struct mlx5_why *why)
{
	__be16 pkey;
	int i;

	if (dev->pkey == 0)
		return 0;
	for (i = 0; i < dev->port_attr.pkey_tbl_len; i++) {
		if (mlx5_verbs->query_pkey(dev->ctx, dev->port, i, &pkey) != 0)
			break;
		/* The highest bit is the kind of membership. */
		if ((be16toh(pkey) & 0x7fff) == (dev->pkey & 0x7fff)) {
			dev->pkey_index = (uint16_t)i;
			return 0;
		}
	}
	return fail_why(why, -EINVAL, "pkey=%#x is not in the table of port %u of %s", dev->pkey,
		dev->port, dev->ibdev);
}

/* Trial */

/* Find the longest inline data that a queue pair of ours can have. */
static int
try_queue_pair(struct mlx5_dev *dev, struct ibv_pd *pd)
{
	static const uint16_t inline_sizes[] = { 256, 192, 128, 64, 0 };
	struct ibv_qp_init_attr attr;
	struct ibv_qp *qp = NULL;
	struct ibv_cq *cq;
	int err = 0;
	size_t i;

	cq = mlx5_verbs->create_cq(dev->ctx, 2 * TRIAL_WRS, NULL, NULL, 0);
	if (cq == NULL)
		return -errno;
	for (i = 0; i < RTE_DIM(inline_sizes) && qp == NULL; i++) {
		attr = (struct ibv_qp_init_attr){
			.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
			.cap = {
				.max_send_wr = TRIAL_WRS, .max_recv_wr = TRIAL_WRS,
				.max_send_sge = RTE_MIN(MLX5_QP_SGES, dev->attr.max_sge),
				.max_recv_sge = 1, .max_inline_data = inline_sizes[i],
			},
		};
		qp = mlx5_verbs->create_qp(pd, &attr);
		err = qp == NULL ? -errno : 0;
		dev->max_inline = inline_sizes[i];
	}
	if (qp != NULL)
		mlx5_verbs->destroy_qp(qp);
	mlx5_verbs->destroy_cq(cq);
	return err;
}

/* Register what a link needs, and give it back. */
static int
try_memory(struct mlx5_dev *dev, struct ibv_pd *pd, struct mlx5_why *why)
{
	size_t len = RTE_ALIGN_CEIL((size_t)3 * dev->nb_slots * dev->slot, (size_t)4096);
	char limit[32];
	struct ibv_mr *mr;
	void *mem;
	int err;

	mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return fail_why(why, -ENOMEM, "no memory to test registrations: %zu bytes",
			len);
	mr = mlx5_verbs->reg_mr(pd, mem, len, IBV_ACCESS_LOCAL_WRITE);
	err = errno;
	if (mr != NULL)
		mlx5_verbs->dereg_mr(mr);
	munmap(mem, len);
	if (mr != NULL)
		return 0;
	mlx5_host_memlock(limit, sizeof(limit));
	return fail_why(why, -err, "cannot register the %zu KiB of a link: %s%s%s%s", len / 1024,
		strerror(err), err == ENOMEM ? "; the limit of locked memory is " : "",
		err == ENOMEM ? limit : "", err == ENOMEM ? " (ulimit -l)" : "");
}

/* Say now what would fail at the first connection. */
static int
try_resources(struct mlx5_dev *dev, struct mlx5_why *why)
{
	struct ibv_pd *pd;
	int ret;

	pd = mlx5_verbs->alloc_pd(dev->ctx);
	ret = pd != NULL ? try_queue_pair(dev, pd) : -errno;
	if (ret != 0)
		fail_why(why, ret, "cannot create a queue pair on %s: %s", dev->ibdev,
			strerror(-ret));
	else
		ret = try_memory(dev, pd, why);
	if (pd != NULL)
		mlx5_verbs->dealloc_pd(pd);
	return ret;
}

int
mlx5_open_check(struct mlx5_dev *dev, struct mlx5_why *why)
{
	int ret = check_port(dev, why);

	if (ret == 0)
		ret = choose_gid(dev, why);
	if (ret == 0)
		ret = find_pkey(dev, why);
	return ret == 0 ? try_resources(dev, why) : ret;
}

int
mlx5_open_find(struct mlx5_dev *dev)
{
	struct mlx5_why why;
	int ret = find_context(dev, &why);

	if (ret == 0)
		ret = mlx5_open_check(dev, &why);
	if (ret != 0)
		MLX5_LOG(ERR, "device %s: %s", dev->dev->info.name, why.text);
	return ret;
}
