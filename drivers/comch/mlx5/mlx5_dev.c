/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Devices: finding the RDMA device that a string names, asynchronous events, and the
 * amount of memory that is pinned.
 *
 * A context belongs to librdmacm, is one per RDMA device and process, and stays open.
 * Several comch devices may use it. Its asynchronous events are read by any link's poll
 * that finds the descriptor readable; the list of all devices leads to the link that an
 * event is for.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "sdk/comch_compat.h"
#include "mlx5_private.h"

#define CM_FILE "/dev/infiniband/rdma_cm"
#define MAX_GIDS 256
/* What the trial of a queue pair asks for. */
#define TRIAL_WRS 16

static pthread_mutex_t devs_lock = PTHREAD_MUTEX_INITIALIZER;
static TAILQ_HEAD(, mlx5_dev) devs = TAILQ_HEAD_INITIALIZER(devs); /* guarded by devs_lock */

uint64_t
mlx5_dev_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Search */

/* The PCI address of a device: the last part of what its "device" points to. */
static bool
pci_address(struct ibv_device *device, char *pci, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/device", mlx5_glue->get_device_path(device));
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/');
	return rte_strscpy(pci, last != NULL ? last + 1 : target, size) > 0;
}

/* "0000:03:00.0", "03:00.0" or "mlx5_0" */
static bool
is_named(struct ibv_context *ctx, const char *name)
{
	char pci[64];

	if (strcmp(mlx5_glue->get_device_name(ctx->device), name) == 0)
		return true;
	if (!pci_address(ctx->device, pci, sizeof(pci)))
		return false;
	return strcmp(pci, name) == 0 ||
		(strncmp(pci, "0000:", 5) == 0 && strcmp(pci + 5, name) == 0);
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
			mlx5_glue->get_device_name(list[i]->device));
		if (used < size && pci_address(list[i]->device, pci, sizeof(pci)))
			used += (size_t)snprintf(text + used, size - used, " (%s)", pci);
	}
}

static int
no_devices(const char *name)
{
	if (access(CM_FILE, R_OK | W_OK) != 0 && errno == EACCES) {
		MLX5_LOG(ERR, "device %s: no permission for %s: the user must be able to read "
			"and write it", name, CM_FILE);
		return -EACCES;
	}
	MLX5_LOG(ERR, "device %s: this machine has no RDMA device%s", name,
		access(CM_FILE, F_OK) != 0 ? ", or the kernel module rdma_ucm is not loaded" : "");
	return -ENODEV;
}

/* Set ctx and ibdev. */
static int
find_context(struct mlx5_dev *dev)
{
	const char *name = dev->dev->info.name;
	struct ibv_context **list;
	char names[512];
	int i, n = 0;

	list = mlx5_glue->get_devices(&n);
	if (list == NULL || n == 0) {
		if (list != NULL)
			mlx5_glue->free_devices(list);
		return no_devices(name);
	}
	for (i = 0; i < n && dev->ctx == NULL; i++)
		if (dev->ibdev[0] == '\0' ? n == 1 : is_named(list[i], dev->ibdev))
			dev->ctx = list[i];
	list_names(list, n, names, sizeof(names));
	if (dev->ctx == NULL && dev->ibdev[0] == '\0')
		MLX5_LOG(ERR, "device %s: dev=DEVICE is required; there are: %s", name, names);
	else if (dev->ctx == NULL)
		MLX5_LOG(ERR, "device %s: no RDMA device %s; there are: %s", name, dev->ibdev,
			names);
	else
		rte_strscpy(dev->ibdev, mlx5_glue->get_device_name(dev->ctx->device),
			sizeof(dev->ibdev));
	mlx5_glue->free_devices(list);
	return dev->ctx != NULL ? 0 : -ENODEV;
}

/* Port, address, partition */

static const char *
port_state_text(enum ibv_port_state state)
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
check_port(struct mlx5_dev *dev)
{
	const char *name = dev->dev->info.name;

	if (mlx5_glue->query_device(dev->ctx, &dev->attr) != 0) {
		MLX5_LOG(ERR, "device %s: query %s: %s", name, dev->ibdev, strerror(errno));
		return -EIO;
	}
	if (dev->port > dev->attr.phys_port_cnt ||
			mlx5_glue->query_port(dev->ctx, dev->port, &dev->port_attr) != 0) {
		MLX5_LOG(ERR, "device %s: port=%u: %s has %u ports", name, dev->port, dev->ibdev,
			dev->attr.phys_port_cnt);
		return -EINVAL;
	}
	if (dev->port_attr.link_layer != IBV_LINK_LAYER_ETHERNET) {
		MLX5_LOG(ERR, "device %s: port %u of %s is an InfiniBand port, which is not "
			"supported: set it to Ethernet (RoCE)", name, dev->port, dev->ibdev);
		return -ENOTSUP;
	}
	if (dev->port_attr.state == IBV_PORT_ACTIVE)
		return 0;
	MLX5_LOG(ERR, "device %s: port %u of %s is %s, expected active: check its cable and "
		"network interface", name, dev->port, dev->ibdev,
		port_state_text(dev->port_attr.state));
	return -ENETDOWN;
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
choose_gid(struct mlx5_dev *dev)
{
	struct ibv_gid_entry *e;
	struct mlx5_addr addr;
	int best = 0, rate;
	ssize_t i, n;

	e = calloc(MAX_GIDS, sizeof(*e));
	if (e == NULL)
		return -ENOMEM;
	n = mlx5_glue->query_gid_table(dev->ctx, e, MAX_GIDS, 0);
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
		MLX5_LOG(ERR, "device %s: gid=%u is not a RoCEv2 GID with an IP address on port %u "
			"of %s", dev->dev->info.name, dev->gid_index, dev->port, dev->ibdev);
	else
		MLX5_LOG(ERR, "device %s: port %u of %s has no RoCEv2 GID with an IP address: "
			"give its network interface an address", dev->dev->info.name, dev->port,
			dev->ibdev);
	return -EADDRNOTAVAIL;
}

static int
find_pkey(struct mlx5_dev *dev)
{
	__be16 pkey;
	int i;

	if (dev->pkey == 0)
		return 0;
	for (i = 0; i < dev->port_attr.pkey_tbl_len; i++) {
		if (mlx5_glue->query_pkey(dev->ctx, dev->port, i, &pkey) != 0)
			break;
		/* The highest bit is the kind of membership. */
		if ((be16toh(pkey) & 0x7fff) == (dev->pkey & 0x7fff)) {
			dev->pkey_index = (uint16_t)i;
			return 0;
		}
	}
	MLX5_LOG(ERR, "device %s: pkey=%#x is not in the table of port %u of %s",
		dev->dev->info.name, dev->pkey, dev->port, dev->ibdev);
	return -EINVAL;
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

	cq = mlx5_glue->create_cq(dev->ctx, 2 * TRIAL_WRS, NULL, NULL, 0);
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
		qp = mlx5_glue->create_qp(pd, &attr);
		err = qp == NULL ? -errno : 0;
		dev->max_inline = inline_sizes[i];
	}
	if (qp != NULL)
		mlx5_glue->destroy_qp(qp);
	mlx5_glue->destroy_cq(cq);
	return err;
}

/* Can the slots of a link be registered? Otherwise say so here, not at the first link. */
static int
try_memory(struct mlx5_dev *dev, struct ibv_pd *pd)
{
	size_t len = RTE_ALIGN_CEIL((size_t)3 * dev->nb_slots * dev->slot, (size_t)4096);
	struct ibv_mr *mr;
	struct rlimit lim;
	void *mem;
	int err;

	mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -ENOMEM;
	mr = mlx5_glue->reg_mr(pd, mem, len, IBV_ACCESS_LOCAL_WRITE);
	err = errno;
	if (mr != NULL)
		mlx5_glue->dereg_mr(mr);
	munmap(mem, len);
	if (mr != NULL)
		return 0;
	if (err == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &lim) == 0 && lim.rlim_cur != RLIM_INFINITY)
		MLX5_LOG(ERR, "device %s: cannot register the %zu KiB of a link: the limit of "
			"locked memory is %llu KiB (ulimit -l)", dev->dev->info.name, len / 1024,
			(unsigned long long)lim.rlim_cur / 1024);
	else
		MLX5_LOG(ERR, "device %s: cannot register the %zu KiB of a link: %s",
			dev->dev->info.name, len / 1024, strerror(err));
	return -err;
}

static int
try_resources(struct mlx5_dev *dev)
{
	struct ibv_pd *pd;
	int ret;

	pd = mlx5_glue->alloc_pd(dev->ctx);
	ret = pd != NULL ? try_queue_pair(dev, pd) : -errno;
	if (ret != 0)
		MLX5_LOG(ERR, "device %s: cannot create a queue pair on %s: %s",
			dev->dev->info.name, dev->ibdev, strerror(-ret));
	if (ret == 0)
		ret = try_memory(dev, pd);
	if (pd != NULL)
		mlx5_glue->dealloc_pd(pd);
	return ret;
}

int
mlx5_dev_open(struct mlx5_dev *dev)
{
	int ret;

	ret = find_context(dev);
	if (ret == 0)
		ret = check_port(dev);
	if (ret == 0)
		ret = choose_gid(dev);
	if (ret == 0)
		ret = find_pkey(dev);
	if (ret == 0)
		ret = try_resources(dev);
	if (ret != 0)
		return ret;
	(void)mlx5_fd_set_flags(dev->ctx->async_fd);
	TAILQ_INIT(&dev->links);
	TAILQ_INIT(&dev->qps);
	pthread_mutex_init(&dev->lock, NULL);
	pthread_mutex_lock(&devs_lock);
	TAILQ_INSERT_TAIL(&devs, dev, next);
	pthread_mutex_unlock(&devs_lock);
	return 0;
}

void
mlx5_dev_close(struct mlx5_dev *dev)
{
	pthread_mutex_lock(&devs_lock);
	TAILQ_REMOVE(&devs, dev, next);
	pthread_mutex_unlock(&devs_lock);
	pthread_mutex_destroy(&dev->lock);
}

/* Asynchronous events */

void
mlx5_dev_add_link(struct mlx5_dev *dev, struct mlx5_link *l)
{
	pthread_mutex_lock(&dev->lock);
	TAILQ_INSERT_TAIL(&dev->links, l, next);
	pthread_mutex_unlock(&dev->lock);
}

void
mlx5_dev_del_link(struct mlx5_dev *dev, struct mlx5_link *l)
{
	pthread_mutex_lock(&dev->lock);
	TAILQ_REMOVE(&dev->links, l, next);
	pthread_mutex_unlock(&dev->lock);
}

/* What an event means for the links that it is about. error 0: nothing. */
struct verdict {
	int error;
	const char *text;
	const struct ibv_pd *pd;  /* the link with this protection domain */
	const struct ibv_cq *cq;  /* the link that this completion queue is of */
	uint8_t port;             /* the links of this port; 0: of all */
};

static struct verdict
judge(const struct ibv_async_event *e)
{
	switch (e->event_type) {
	case IBV_EVENT_QP_FATAL:
		return (struct verdict){ .error = -EIO, .pd = e->element.qp->pd,
			.text = "the device reports a fatal error of a queue pair" };
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		return (struct verdict){ .error = -EPROTO, .pd = e->element.qp->pd,
			.text = "the device refused an invalid request of the peer" };
	case IBV_EVENT_PATH_MIG_ERR:
		return (struct verdict){ .error = -EIO, .pd = e->element.qp->pd,
			.text = "the device cannot use the path to the peer any more" };
	case IBV_EVENT_CQ_ERR:
		return (struct verdict){ .error = -EIO, .cq = e->element.cq,
			.text = "the device reports an error of a completion queue" };
	case IBV_EVENT_PORT_ERR:
		return (struct verdict){ .error = -ENETDOWN, .port = (uint8_t)e->element.port_num,
			.text = "the device's port went down" };
	case IBV_EVENT_DEVICE_FATAL:
		return (struct verdict){ .error = -ENODEV,
			.text = "the device failed or was removed" };
	default:
		return (struct verdict){ .error = 0 };
	}
}

static bool
concerns(const struct verdict *v, const struct mlx5_dev *dev, const struct mlx5_link *l)
{
	if (v->cq != NULL || v->pd != NULL)
		return v->pd != NULL && l->event_pd == v->pd;
	return v->port == 0 || v->port == dev->port;
}

/* A completion queue has one queue pair: the control one of a link, or one of its data. */
static const struct ibv_pd *
pd_of_cq(const struct mlx5_dev *dev, const struct ibv_cq *cq)
{
	const struct mlx5_qp *qp;

	TAILQ_FOREACH(qp, &dev->qps, next)
		if (qp->cq == cq)
			return qp->pd;
	return NULL;
}

/* The event is not acknowledged yet, so its completion queue or queue pair exists. */
static void
deliver(const struct ibv_context *ctx, struct verdict *v)
{
	struct mlx5_link *l;
	struct mlx5_dev *dev;

	pthread_mutex_lock(&devs_lock);
	TAILQ_FOREACH(dev, &devs, next) {
		if (dev->ctx != ctx)
			continue;
		pthread_mutex_lock(&dev->lock);
		if (v->cq != NULL)
			v->pd = pd_of_cq(dev, v->cq);
		TAILQ_FOREACH(l, &dev->links, next)
			if (concerns(v, dev, l))
				mlx5_link_fault(l, v->error, v->text);
		pthread_mutex_unlock(&dev->lock);
	}
	pthread_mutex_unlock(&devs_lock);
}

void
mlx5_dev_events(struct mlx5_dev *dev)
{
	struct ibv_async_event event;
	struct verdict v;

	while (mlx5_glue->get_async_event(dev->ctx, &event) == 0) {
		v = judge(&event);
		if (v.error != 0) {
			MLX5_LOG(WARNING, "device %s: asynchronous event %d of %s: %s",
				dev->dev->info.name, (int)event.event_type, dev->ibdev, v.text);
			deliver(dev->ctx, &v);
		}
		mlx5_glue->ack_async_event(&event);
	}
}

/* Pinned memory */

int
mlx5_dev_pin(struct mlx5_dev *dev, uint64_t len)
{
	uint64_t pinned = atomic_load_explicit(&dev->pinned, memory_order_relaxed);

	do {
		if (len > dev->max_pinned || pinned > dev->max_pinned - len) {
			MLX5_LOG(WARNING, "device %s: %llu bytes refused: %llu of max_pinned=%llu "
				"are registered", dev->dev->info.name, (unsigned long long)len,
				(unsigned long long)pinned, (unsigned long long)dev->max_pinned);
			return -EDQUOT;
		}
	} while (!atomic_compare_exchange_weak_explicit(&dev->pinned, &pinned, pinned + len,
			memory_order_relaxed, memory_order_relaxed));
	return 0;
}

void
mlx5_dev_unpin(struct mlx5_dev *dev, uint64_t len)
{
	atomic_fetch_sub_explicit(&dev->pinned, len, memory_order_relaxed);
}
