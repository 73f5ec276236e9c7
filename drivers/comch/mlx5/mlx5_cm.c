/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Servers: a listener owns an event channel with the id that listens, and the lock file
 * of its name. It belongs to the thread of the server's poll.
 *
 * A request's event is acknowledged before anything else happens, since the id cannot
 * leave the listener's channel earlier. Then the request is refused, or the id moves to
 * the channel of a link, which owns it from there on.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "mlx5_private.h"

#define BACKLOG 1024
/* Requests that one call refuses. */
#define MAX_REFUSED 64

struct mlx5_listener {
	struct rte_comch_listener base; /* first */
	struct mlx5_dev *dev;
	const struct mlx5_rep *rep;
	struct rdma_event_channel *cm;
	struct rdma_cm_id *id;
	uint8_t hash[16];
	int lock_fd;
	struct comch_watch watch;       /* of the lock file */
	bool refusal_logged;
	char name[RTE_COMCH_NAME_SIZE];
	char lock_path[PATH_MAX];
};

/* A connection request, copied. */
struct request {
	struct rdma_cm_id *id;
	struct mlx5_hello hello;
	struct mlx5_addr addr;
	bool has_hello;
};

static struct mlx5_listener *
listener_of(const struct rte_comch_listener *listener)
{
	return (struct mlx5_listener *)(uintptr_t)listener;
}

/* The queue pair */

static int
to_init(struct mlx5_link *l)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask = 0, ret;

	ret = mlx5_verbs->init_qp_attr(l->id, &attr, &mask);
	if (ret != 0)
		return ret;
	if (l->dev->pkey != 0)
		attr.pkey_index = l->dev->pkey_index;
	l->path.pkey_index = attr.pkey_index;
	l->path.port = attr.port_num;
	/* librdmacm enables remote writes: the peer's probes are writes, see mlx5_frame_probe(). */
	return mlx5_verbs->modify_qp(l->ctrl.qp, &attr, mask);
}

static int
to_rtr(struct mlx5_link *l)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask = 0, ret;

	ret = mlx5_verbs->init_qp_attr(l->id, &attr, &mask);
	if (ret != 0)
		return ret;
	if (l->dev->has_sl)
		attr.ah_attr.sl = l->dev->sl;
	if (l->dev->has_tclass)
		attr.ah_attr.grh.traffic_class = l->dev->tclass;
	l->path.ah = attr.ah_attr;
	l->path.mtu = (uint8_t)attr.path_mtu;
	return mlx5_verbs->modify_qp(l->ctrl.qp, &attr, mask);
}

static int
to_rts(struct mlx5_link *l)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	int mask = 0, ret;

	ret = mlx5_verbs->init_qp_attr(l->id, &attr, &mask);
	if (ret != 0)
		return ret;
	attr.timeout = l->path.timeout = l->dev->timeout;
	attr.retry_cnt = l->path.retry = l->dev->retry;
	attr.rnr_retry = l->path.rnr_retry = MLX5_RNR_RETRY;
	return mlx5_verbs->modify_qp(l->ctrl.qp, &attr, mask | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY);
}

int
mlx5_cm_to_rts(struct mlx5_link *l)
{
	int ret = to_init(l);

	if (ret == 0)
		ret = mlx5_qp_post_slots(&l->ctrl);
	if (ret == 0)
		ret = to_rtr(l);
	if (ret == 0)
		ret = to_rts(l);
	return mlx5_glue_error(ret);
}

/* An id, and the channel of a link that was shut down; either may be NULL. */
struct dropped {
	struct mlx5_job job; /* first */
	struct rdma_cm_id *id;
	struct rdma_event_channel *cm;
};

static void
destroy_both(struct rdma_cm_id *id, struct rdma_event_channel *cm)
{
	if (id != NULL)
		mlx5_verbs->destroy_id(id);
	if (cm != NULL)
		mlx5_verbs->destroy_event_channel(cm);
}

static void
end_dropped(struct mlx5_job *job)
{
	struct dropped *d = (struct dropped *)job;

	destroy_both(d->id, d->cm);
	free(d);
}

/* An id waits for the kernel's handlers when it is destroyed. */
static void
drop(struct mlx5_dev *dev, struct rdma_cm_id *id, struct rdma_event_channel *cm)
{
	struct dropped *d = malloc(sizeof(*d));

	if (d == NULL) {
		/* Ids that were dropped before use the channel. */
		if (cm != NULL)
			comch_worker_wait(&dev->worker);
		destroy_both(id, cm);
		return;
	}
	mlx5_job_init(&d->job, dev, NULL, end_dropped);
	d->id = id;
	d->cm = cm;
	mlx5_job_end(&d->job);
}

void
mlx5_cm_drop(struct mlx5_link *l, struct rdma_cm_id *id)
{
	/* Fails if it is not connected. */
	(void)mlx5_verbs->disconnect(id);
	drop(l->dev, id, NULL);
}

void
mlx5_cm_drop_id(struct mlx5_link *l)
{
	if (l->id != NULL)
		mlx5_cm_drop(l, l->id);
	l->id = NULL;
}

void
mlx5_cm_close(struct mlx5_link *l)
{
	mlx5_cm_drop_id(l);
	if (l->cm != NULL)
		drop(l->dev, NULL, l->cm);
	l->cm = NULL;
}

/* Listen */

/* Listen on the first candidate that is free. */
static int
bind_and_listen(struct mlx5_listener *l)
{
	uint16_t ports[MLX5_CANDIDATES];
	struct mlx5_addr addr = l->dev->addr;
	uint32_t i, n = mlx5_name_ports(l->dev, l->hash, ports);
	int ret = -EADDRINUSE;

	for (i = 0; i < n && ret == -EADDRINUSE; i++) {
		/* An id whose bind failed may not be bound again. */
		if (mlx5_verbs->create_id(l->cm, &l->id, l, RDMA_PS_TCP) != 0)
			return -errno;
		mlx5_name_set_port(&addr, ports[i]);
		ret = mlx5_glue_error(mlx5_verbs->bind_addr(l->id, &addr.sa));
		if (ret == 0)
			ret = mlx5_glue_error(mlx5_verbs->listen(l->id, BACKLOG));
		if (ret == 0)
			return 0;
		mlx5_verbs->destroy_id(l->id);
		l->id = NULL;
	}
	if (ret == -EADDRINUSE)
		MLX5_LOG(ERR, "device %s: the %u ports of name %s from ports=%u-%u are in use by "
			"other servers", l->dev->dev->info.name, n, l->name, l->dev->first_port,
			l->dev->last_port);
	return ret;
}

static void
close_channel(struct mlx5_listener *l)
{
	/* This also drops the clients that are not accepted. */
	if (l->id != NULL)
		mlx5_verbs->destroy_id(l->id);
	mlx5_event_close_cm(&l->cm);
}

int
mlx5_cm_listen(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_listener **listener)
{
	struct mlx5_dev *mdev = dev->priv;
	const char *func = dev->reps[rep].name;
	char suffix[sizeof(mdev->ibdev) + sizeof(".lock")];
	const char *why = NULL;
	struct mlx5_listener *l;
	int ret;

	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return -ENOMEM;
	l->base.ops = dev->ops;
	l->base.dev = dev;
	l->dev = mdev;
	l->rep = &mdev->reps[rep];
	rte_strscpy(l->name, name, sizeof(l->name));
	mlx5_name_hash(func, name, l->hash);
	snprintf(suffix, sizeof(suffix), "%s.lock", mdev->ibdev);
	ret = comch_place_path(&mdev->place, func, name, suffix, l->lock_path,
			sizeof(l->lock_path));
	if (ret != 0)
		goto err_free;
	ret = comch_place_lock(&mdev->place, l->lock_path);
	if (ret < 0) {
		/* Ports in use have the same errno, and a line of their own. */
		why = ret == -EADDRINUSE ? "name is in use" : NULL;
		goto err_free;
	}
	l->lock_fd = ret;
	comch_watch_open(&l->watch, &mdev->place, "lock file", l->lock_path);
	ret = mlx5_event_open_cm(&l->cm);
	if (ret == 0)
		ret = bind_and_listen(l);
	if (ret != 0)
		goto err_unlock;
	comch_watch_start(&l->watch, &mdev->place);
	*listener = &l->base;
	return 0;

err_unlock:
	close_channel(l);
	comch_watch_close(&l->watch);
	unlink(l->lock_path);
	close(l->lock_fd);
err_free:
	MLX5_LOG(ERR, "server %s on %s of %s: %s", name, func, dev->info.name,
		why != NULL ? why : strerror(-ret));
	free(l);
	return ret;
}

void
mlx5_cm_unlisten(struct rte_comch_listener *listener)
{
	struct mlx5_listener *l = listener_of(listener);

	close_channel(l);
	comch_watch_close(&l->watch);
	/* The port first: the next owner of the lock finds it free. */
	if (comch_place_is_ours(l->lock_fd, l->lock_path))
		unlink(l->lock_path);
	close(l->lock_fd);
	free(l);
}

void
mlx5_cm_listener_forked(struct rte_comch_listener *listener)
{
	/* The child shares the lock while this is open. The poll closes the channel. */
	close(listener_of(listener)->lock_fd);
}

int
mlx5_cm_listener_fd(const struct rte_comch_listener *listener)
{
	return listener_of(listener)->cm->fd;
}

int
mlx5_cm_watch_fd(const struct rte_comch_listener *listener)
{
	return listener_of(listener)->watch.fd;
}

/* A cleanup may have removed the lock file: the name is lost only if another server has it now. */
int
mlx5_cm_check(struct rte_comch_listener *listener, char *text, size_t size)
{
	struct mlx5_listener *l = listener_of(listener);
	int ret = comch_watch_check(&l->watch, text, size);

	if (ret == 0 || comch_place_relock(&l->dev->place, &l->lock_fd, l->lock_path) != 0)
		return ret;
	comch_watch_start(&l->watch, &l->dev->place);
	return 0;
}

/* Accept */

/* Take the next request. 0, -EAGAIN or an errno. */
static int
take_request(struct mlx5_listener *l, struct request *r)
{
	struct rdma_cm_event *event;
	const struct rdma_conn_param *p;

	for (;;) {
		if (mlx5_verbs->get_cm_event(l->cm, &event) != 0)
			return errno == EWOULDBLOCK ? -EAGAIN : -errno;
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			break;
		mlx5_verbs->ack_cm_event(event);
	}
	p = &event->param.conn;
	memset(r, 0, sizeof(*r));
	r->id = event->id;
	r->has_hello = p->private_data != NULL && p->private_data_len >= sizeof(r->hello);
	if (r->has_hello)
		memcpy(&r->hello, p->private_data, sizeof(r->hello));
	if (r->id->route.addr.dst_addr.sa_family == AF_INET6)
		r->addr.in6 = r->id->route.addr.dst_sin6;
	else
		r->addr.in = r->id->route.addr.dst_sin;
	mlx5_verbs->ack_cm_event(event);
	return 0;
}

static void
refuse(struct rdma_cm_id *id, enum mlx5_refusal reason)
{
	const struct mlx5_refuse why = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION, .reason = (uint16_t)reason,
	};

	(void)mlx5_verbs->reject(id, &why, sizeof(why));
}

static bool
is_of_function(const struct mlx5_listener *l, const struct mlx5_addr *addr)
{
	uint32_t i;

	for (i = 0; i < l->rep->nb_addrs; i++)
		if (mlx5_name_same_addr(&l->rep->addr[i], addr))
			return true;
	return false;
}

/* 0: accept it. Else an enum mlx5_refusal. */
static int
check_request(struct mlx5_listener *l, const struct request *r)
{
	char text[INET6_ADDRSTRLEN];

	if (!r->has_hello || r->hello.magic != MLX5_MAGIC)
		return MLX5_REFUSE_NAME;
	if (r->hello.version != MLX5_WIRE_VERSION)
		return MLX5_REFUSE_VERSION;
	if (memcmp(r->hello.name_hash, l->hash, sizeof(l->hash)) != 0)
		return MLX5_REFUSE_NAME;
	if (is_of_function(l, &r->addr))
		return 0;
	mlx5_name_format_addr(&r->addr, text, sizeof(text));
	/* Once: any host can send requests. */
	if (!l->refusal_logged)
		MLX5_LOG(WARNING, "server %s of %s: client at %s refused: address not listed for "
			"the function (rep=)", l->name, l->dev->dev->info.name, text);
	l->refusal_logged = true;
	return MLX5_REFUSE_FUNCTION;
}

/*
 * The address within a request is what the client says. The GID is where our packets go,
 * so that another host that claims the address receives nothing.
 */
static bool
gid_matches(const struct mlx5_link *l)
{
	union ibv_gid gid;

	mlx5_name_addr_to_gid(&l->peer, &gid);
	return l->path.ah.is_global &&
		memcmp(&gid, &l->path.ah.grh.dgid, sizeof(gid)) == 0;
}

/* Answer a request. 0, an enum mlx5_refusal, or a negative errno. */
static int
answer(struct mlx5_link *l)
{
	const struct mlx5_welcome welcome = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION,
		.slot_size = l->dev->slot, .nb_slots = l->dev->nb_slots,
	};
	struct rdma_conn_param param = {
		.private_data = &welcome, .private_data_len = sizeof(welcome),
		.rnr_retry_count = MLX5_RNR_RETRY,
	};
	int ret;

	if (!mlx5_frame_set_peer(l, l->peer_slot, l->peer_nb_slots))
		return MLX5_REFUSE_VERSION;
	ret = mlx5_cm_to_rts(l);
	if (ret != 0)
		return ret;
	if (!gid_matches(l))
		return MLX5_REFUSE_FUNCTION;
	param.qp_num = l->ctrl.qp->qp_num;
	return mlx5_glue_error(mlx5_verbs->accept(l->id, &param));
}

/* The queue pair of a request was made. */
static void
opened(struct mlx5_link *l, int ret)
{
	/* The client gave up meanwhile. */
	if (l->base.state != RTE_COMCH_LINK_CONNECTING)
		return;
	if (ret == 0)
		ret = answer(l);
	if (ret == 0)
		return;
	refuse(l->id, ret > 0 ? (enum mlx5_refusal)ret : MLX5_REFUSE_BUSY);
	mlx5_link_down(l, ret > 0 ? -EACCES : ret, ret > 0 ? "the client was refused" :
		"no resources for the client's connection");
}

/* Build a link on a request. 0 or a negative errno. */
static int
take_id(struct mlx5_link *l, const struct request *r)
{
	int ret;

	/* Does not wait, as all events of the id are acknowledged. */
	ret = mlx5_verbs->migrate_id(r->id, l->cm);
	if (ret != 0)
		return mlx5_glue_error(ret);
	l->id = r->id;
	l->id->context = l;
	l->peer = r->addr;
	l->peer_slot = r->hello.slot_size;
	l->peer_nb_slots = r->hello.nb_slots;
	return mlx5_link_open(l, opened);
}

/* Accept a request on a link. True: done. */
static bool
accept_request(struct mlx5_listener *listener, struct mlx5_link *l, const struct request *r,
		int *ret)
{
	int reason = check_request(listener, r);

	*ret = 0;
	if (reason == 0) {
		*ret = r->id->verbs == l->dev->ctx ? take_id(l, r) : MLX5_REFUSE_FUNCTION;
		if (*ret == 0)
			return true;
		reason = *ret > 0 ? *ret : MLX5_REFUSE_BUSY;
	}
	refuse(r->id, (enum mlx5_refusal)reason);
	if (l->id == NULL)
		mlx5_verbs->destroy_id(r->id);
	return false;
}

int
mlx5_cm_accept(struct rte_comch_listener *listener, struct rte_comch_link **link)
{
	struct mlx5_listener *l = listener_of(listener);
	struct mlx5_link *next;
	struct request r;
	unsigned int i;
	int ret;

	for (i = 0; i < MAX_REFUSED; i++) {
		/* Before the request: without descriptors, it stays in the queue. */
		ret = mlx5_link_create(l->dev, &next);
		if (ret != 0)
			return ret;
		ret = take_request(l, &r);
		if (ret == 0 && accept_request(l, next, &r, &ret)) {
			*link = &next->base;
			return 0;
		}
		mlx5_link_close(&next->base);
		if (ret < 0)
			return ret;
	}
	return -EBUSY;
}
