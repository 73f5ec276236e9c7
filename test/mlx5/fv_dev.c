/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Devices with their ports and GIDs, asynchronous events, protection domains, cuts. */

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fv_private.h"

static const struct fv_dev_conf default_devs[] = {
	{ .name = "fv0", .addrs = { "127.0.0.1", "10.0.0.1", "10.0.0.2" } },
	{ .name = "fv1", .addrs = { "10.0.1.1", "10.0.1.2" } },
};

bool
fv_gid_parse(union ibv_gid *gid, const char *text)
{
	struct in_addr v4;

	if (inet_pton(AF_INET6, text, gid->raw) == 1)
		return true;
	if (inet_pton(AF_INET, text, &v4) != 1)
		return false;
	memset(gid->raw, 0, sizeof(gid->raw));
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	memcpy(&gid->raw[12], &v4, sizeof(v4));
	return true;
}

/* Indexes have gaps, as when an address was removed. */
static void
add_gid(struct fv_dev *dev, const union ibv_gid *gid, unsigned int ifindex)
{
	const bool ib = dev->link_layer == IBV_LINK_LAYER_INFINIBAND;
	unsigned int i;

	for (i = 0; i < (ib ? 1 : 2); i++) {
		struct ibv_gid_entry *e;

		if (dev->nb_gids == FV_MAX_GIDS)
			FV_DIE("more than %d GIDs", FV_MAX_GIDS);
		e = &dev->gids[dev->nb_gids];
		e->gid = *gid;
		e->gid_index = dev->nb_gids < 2 ? dev->nb_gids : dev->nb_gids + 1;
		e->port_num = 1;
		e->gid_type = ib ? IBV_GID_TYPE_IB :
			i == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
		e->ndev_ifindex = ib ? 0 : ifindex;
		dev->nb_gids++;
	}
}

static void
add_dev(const struct fv_dev_conf *conf, unsigned int nr)
{
	struct fv_dev *dev = calloc(1, sizeof(*dev));
	union ibv_gid gid = { .raw = { 0xfe, 0x80, [8] = 0x02, 0, 0, 0xff, 0xfe } };
	unsigned int i;

	if (dev == NULL || fv_evq_open(&dev->async) != 0)
		FV_DIE("device %s: %s", conf->name, strerror(errno));
	dev->link_layer = conf->link_layer != 0 ? conf->link_layer : IBV_LINK_LAYER_ETHERNET;
	dev->ibv.node_type = IBV_NODE_CA;
	dev->ibv.transport_type = IBV_TRANSPORT_IB;
	snprintf(dev->ibv.name, sizeof(dev->ibv.name), "%s", conf->name);
	snprintf(dev->ibv.dev_name, sizeof(dev->ibv.dev_name), "uverbs%u", nr);
	snprintf(dev->ibv.dev_path, sizeof(dev->ibv.dev_path),
			"/sys/class/infiniband_verbs/uverbs%u", nr);
	if (conf->path != NULL)
		snprintf(dev->ibv.ibdev_path, sizeof(dev->ibv.ibdev_path), "%s", conf->path);
	else
		snprintf(dev->ibv.ibdev_path, sizeof(dev->ibv.ibdev_path),
				"/sys/class/infiniband/%s", conf->name);
	dev->ctx.device = &dev->ibv;
	dev->ctx.cmd_fd = eventfd(0, EFD_CLOEXEC);
	if (dev->ctx.cmd_fd < 0)
		FV_DIE("device %s: %s", conf->name, strerror(errno));
	dev->ctx.async_fd = dev->async.fd;
	dev->ctx.num_comp_vectors = 2;
	gid.raw[15] = (uint8_t)(nr + 1);
	add_gid(dev, &gid, nr + 2);
	for (i = 0; i < FV_MAX_ADDRS && conf->addrs[i] != NULL; i++) {
		if (!fv_gid_parse(&gid, conf->addrs[i]))
			FV_DIE("%s: '%s' is not an address", conf->name, conf->addrs[i]);
		add_gid(dev, &gid, nr + 2);
	}
	TAILQ_INSERT_TAIL(&fv.devs, dev, next);
}

void
fv_dev_init(void)
{
	unsigned int i;

	for (i = 0; i < FV_DIM(default_devs); i++)
		add_dev(&default_devs[i], i);
}

void
fv_dev_fini(void)
{
	struct fv_dev *dev;

	while ((dev = TAILQ_FIRST(&fv.devs)) != NULL) {
		fv_async_drop(dev, NULL);
		fv_evq_close(&dev->async);
		close(dev->ctx.cmd_fd);
		TAILQ_REMOVE(&fv.devs, dev, next);
		free(dev);
	}
}

void
fv_set_devices(const struct fv_dev_conf *confs, unsigned int nb)
{
	unsigned int i;

	fv_lock();
	for (i = 0; i < FV_NB_KINDS; i++)
		if (fv.live[i] > 0)
			FV_DIE("objects live on the devices");
	fv_dev_fini();
	for (i = 0; i < nb; i++)
		add_dev(&confs[i], i);
	fv_unlock();
}

struct fv_dev *
fv_dev_find(const char *name)
{
	struct fv_dev *dev;

	TAILQ_FOREACH(dev, &fv.devs, next)
		if (strcmp(dev->ibv.name, name) == 0)
			return dev;
	FV_DIE("there is no device '%s'", name);
}

struct ibv_context *
fv_ctx(const char *name)
{
	struct ibv_context *ctx;

	fv_lock();
	ctx = &fv_dev_find(name)->ctx;
	fv_unlock();
	return ctx;
}

const struct ibv_gid_entry *
fv_gid_at(const struct fv_dev *dev, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < dev->nb_gids; i++)
		if (dev->gids[i].gid_index == index)
			return &dev->gids[i];
	return NULL;
}

struct fv_dev *
fv_dev_of_gid(const union ibv_gid *gid, int *index)
{
	struct fv_dev *dev;
	unsigned int i;

	TAILQ_FOREACH(dev, &fv.devs, next)
		for (i = dev->nb_gids; i-- > 0; )
			if (memcmp(&dev->gids[i].gid, gid, sizeof(*gid)) == 0) {
				if (index != NULL)
					*index = (int)dev->gids[i].gid_index;
				return dev;
			}
	return NULL;
}

static bool
cut_side(const union ibv_gid *gid, const union ibv_gid *side, bool any)
{
	return any || memcmp(gid, side, sizeof(*gid)) == 0;
}

static bool
answers(const struct fv_dev *dev, bool of_cm)
{
	return dev != NULL && !dev->port_down && (!dev->dead || (of_cm && dev->kernel_lives));
}

static bool
path_ok(const union ibv_gid *a, const union ibv_gid *b, bool of_cm)
{
	unsigned int i;

	if (!answers(fv_dev_of_gid(a, NULL), of_cm) || !answers(fv_dev_of_gid(b, NULL), of_cm) ||
			fv_is_gone(a) || fv_is_gone(b))
		return false;
	for (i = 0; i < FV_MAX_CUTS; i++) {
		const struct fv_cut_pair *c = &fv.cuts[i];

		if (!c->used)
			continue;
		if ((cut_side(a, &c->a, c->any_a) && cut_side(b, &c->b, c->any_b)) ||
				(cut_side(b, &c->a, c->any_a) && cut_side(a, &c->b, c->any_b)))
			return false;
	}
	return true;
}

bool
fv_path_ok(const union ibv_gid *a, const union ibv_gid *b)
{
	return path_ok(a, b, false);
}

bool
fv_cm_path_ok(const union ibv_gid *a, const union ibv_gid *b)
{
	return path_ok(a, b, true);
}

static void
cut_pair(struct fv_cut_pair *c, const char *a, const char *b)
{
	memset(c, 0, sizeof(*c));
	c->used = true;
	c->any_a = a == NULL;
	c->any_b = b == NULL;
	if ((a != NULL && !fv_gid_parse(&c->a, a)) || (b != NULL && !fv_gid_parse(&c->b, b)))
		FV_DIE("not an address");
}

void
fv_cut(const char *a, const char *b)
{
	unsigned int i;

	fv_lock();
	for (i = 0; i < FV_MAX_CUTS; i++)
		if (!fv.cuts[i].used)
			break;
	if (i == FV_MAX_CUTS)
		FV_DIE("more than %d cuts", FV_MAX_CUTS);
	cut_pair(&fv.cuts[i], a, b);
	fv_unlock();
}

void
fv_restore(const char *a, const char *b)
{
	struct fv_cut_pair c;
	unsigned int i;

	fv_lock();
	cut_pair(&c, a, b);
	for (i = 0; i < FV_MAX_CUTS; i++)
		if (memcmp(&fv.cuts[i], &c, sizeof(c)) == 0)
			fv.cuts[i].used = false;
	fv_wire_run();
	fv_unlock();
}

struct ibv_context **
fv_get_devices(int *num)
{
	struct ibv_context **list;
	struct fv_dev *dev;
	int nb = 0;

	fv_lock();
	TAILQ_FOREACH(dev, &fv.devs, next)
		nb++;
	list = calloc((size_t)nb + 1, sizeof(*list));
	if (list == NULL)
		FV_DIE("out of memory");
	nb = 0;
	TAILQ_FOREACH(dev, &fv.devs, next)
		list[nb++] = &dev->ctx;
	fv_unlock();
	if (num != NULL)
		*num = nb;
	return list;
}

void
fv_free_devices(struct ibv_context **list)
{
	free(list);
}

const char *
fv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

const char *
fv_get_device_path(struct ibv_device *device)
{
	return device->ibdev_path;
}

int
fv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	const struct fv_dev *dev = fv_dev_of(ctx);
	int ret = 0;

	fv_lock();
	memset(attr, 0, sizeof(*attr));
	*attr = (struct ibv_device_attr) {
		.fw_ver = "1.0",
		.node_guid = dev->gids[0].gid.global.interface_id,
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffff000,
		.vendor_id = 0xffffff,
		.max_qp = fv.conf.max_qp,
		.max_qp_wr = fv.conf.max_qp_wr,
		.max_sge = fv.conf.max_sge,
		.max_sge_rd = fv.conf.max_sge,
		.max_cq = fv.conf.max_cq,
		.max_cqe = fv.conf.max_cqe,
		.max_mr = fv.conf.max_mr,
		.max_pd = fv.conf.max_pd,
		.max_qp_rd_atom = 128,
		.max_res_rd_atom = 0x3f000,
		.max_qp_init_rd_atom = 128,
		.max_pkeys = 64,
		.local_ca_ack_delay = 15,
		.phys_port_cnt = 1,
	};
	if (dev->dead)
		ret = EIO;
	fv_unlock();
	return ret;
}

int
fv_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr)
{
	const struct fv_dev *dev = fv_dev_of(ctx);

	if (port != 1)
		return EINVAL;
	fv_lock();
	*attr = (struct ibv_port_attr) {
		.state = dev->port_down || dev->dead ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_1024,
		.gid_tbl_len = FV_MAX_GIDS + 1,
		.max_msg_sz = fv.conf.max_msg_sz,
		.pkey_tbl_len = 1,
		.lid = dev->link_layer == IBV_LINK_LAYER_INFINIBAND ? 1 : 0,
		.max_vl_num = 1,
		.active_width = 1,
		.active_speed = 1,
		.phys_state = dev->port_down ? 3 : 5,
		.link_layer = dev->link_layer,
	};
	fv_unlock();
	return 0;
}

int
fv_query_pkey(struct ibv_context *ctx, uint8_t port, int index, __be16 *pkey)
{
	(void)ctx;
	if (port != 1 || index != 0) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(0xffff);
	return 0;
}

ssize_t
fv_query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *entries, size_t max,
		uint32_t flags)
{
	const struct fv_dev *dev = fv_dev_of(ctx);

	if (flags != 0)
		return -EOPNOTSUPP;
	if (max < dev->nb_gids)
		return -EINVAL;
	memcpy(entries, dev->gids, dev->nb_gids * sizeof(*entries));
	return dev->nb_gids;
}
