/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Clients: a dial tries the ports on which a server of the name could listen, one after
 * the other. Each has an id of its own, on the channel of the link, and all of them
 * share its control queue pair.
 *
 *   ADDR_RESOLVED, ROUTE_RESOLVED   connect
 *   CONNECT_RESPONSE                the server, or a stranger without our magic: next
 *   REJECTED                        no listener, or another name: next; else a refusal
 *   UNREACHABLE, or PATIENCE_MS     next
 *
 * A server may be slow, so that an id whose port did not answer in PATIENCE_MS is kept
 * while the dial goes on: the answer of any id counts.
 *
 * The dial belongs to the connection's thread, and ends with the link UP or DOWN.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mlx5_private.h"

#define PEER_GONE "peer disconnected during the handshake"
/* How long the address and the route of the peer may take. */
#define RESOLVE_MS 2000
/* How long the dial waits for a port's answer before it tries the next one, too. */
#define PATIENCE_MS 1000
/* Attempts with a fresh queue pair, if the peer remembers an old one of that number. */
#define STALE_TRIES 4
/* Reasons of a refusal by the peer's connection manager. */
#define REJ_STALE_CONN 10

enum next_step {
	STEP_WAIT,   /* for an event */
	STEP_NEXT,   /* not this port */
	STEP_AGAIN,  /* begin again, with a fresh queue pair */
	STEP_OVER,   /* the link is UP or DOWN */
};

struct mlx5_dial {
	uint8_t hash[16];
	uint16_t ports[MLX5_CANDIDATES];
	uint32_t nb_ports;
	uint32_t at;          /* the next port to try */
	uint32_t nb_stale;
	bool has_route;       /* to the peer; waits for the queue pair */
	bool is_unanswered;   /* the connection manager gave up on a port */
	uint64_t asked_ms;    /* when the last port was; 0: not yet */
	struct rdma_cm_id *silent[MLX5_CANDIDATES]; /* ids of ports before that */
	uint32_t nb_silent;
	enum next_step step;
};

static int
fail(struct mlx5_link *l, int error, const char *text)
{
	l->dial->step = STEP_OVER;
	mlx5_link_down(l, error, text);
	return error;
}

/* Try the next port. There is one. */
static int
try_port(struct mlx5_link *l)
{
	struct mlx5_dial *d = l->dial;
	struct mlx5_addr from = l->dev->addr, to = l->peer;
	uint8_t tos = l->dev->tclass;
	int ret;

	d->step = STEP_WAIT;
	d->has_route = false;
	d->asked_ms = 0;
	if (mlx5_verbs->create_id(l->cm, &l->id, l, RDMA_PS_TCP) != 0)
		return -errno;
	if (l->dev->has_tclass)
		(void)mlx5_verbs->set_option(l->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos,
			sizeof(tos));
	mlx5_name_set_port(&to, d->ports[d->at++]);
	ret = mlx5_verbs->resolve_addr(l->id, &from.sa, &to.sa, RESOLVE_MS);
	return mlx5_glue_error(ret);
}

/* The queue pair is there, and the way to the peer. */
static void
connect_to(struct mlx5_link *l)
{
	struct mlx5_hello hello = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION,
		.slot_size = l->dev->slot, .nb_slots = l->dev->nb_slots,
	};
	struct rdma_conn_param param = {
		.private_data = &hello, .private_data_len = sizeof(hello),
		.retry_count = l->dev->retry, .rnr_retry_count = MLX5_RNR_RETRY,
		.qp_num = l->ctrl.qp->qp_num,
	};

	if (l->id->verbs != l->dev->ctx) {
		fail(l, -ENODEV, "the route to the peer's address uses another device");
		return;
	}
	memcpy(hello.name_hash, l->dial->hash, sizeof(hello.name_hash));
	l->dial->asked_ms = mlx5_dev_now_ms();
	if (mlx5_verbs->connect(l->id, &param) != 0)
		fail(l, -errno, "connection request failed");
}

/* The queue pair was made. */
static void
opened(struct mlx5_link *l, int ret)
{
	if (l->dial == NULL || l->dial->step == STEP_OVER)
		return;
	if (ret != 0)
		fail(l, ret, "the device could not create a queue pair");
	else if (l->dial->has_route)
		connect_to(l);
	if (l->dial->step == STEP_OVER)
		mlx5_dial_free(l);
}

static void
on_route(struct mlx5_link *l)
{
	l->dial->has_route = true;
	if (l->is_open)
		connect_to(l);
}

int
mlx5_dial_connect(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_link **link)
{
	struct mlx5_dev *mdev = dev->priv;
	struct mlx5_link *l;
	int ret;

	ret = mlx5_link_create(mdev, &l);
	if (ret != 0)
		return ret;
	l->dial = calloc(1, sizeof(*l->dial));
	ret = l->dial != NULL ? mlx5_link_open(l, opened) : -ENOMEM;
	if (ret != 0)
		goto err_close;
	l->peer = mdev->reps[rep].addr[0];
	mlx5_name_hash(dev->reps[rep].name, name, l->dial->hash);
	l->dial->nb_ports = mlx5_name_ports(mdev, l->dial->hash, l->dial->ports);
	ret = try_port(l);
	if (ret != 0)
		goto err_close;
	*link = &l->base;
	return 0;

err_close:
	mlx5_link_close(&l->base);
	return ret;
}

static void
drop_silent(struct mlx5_link *l)
{
	struct mlx5_dial *d = l->dial;

	while (d->nb_silent > 0)
		mlx5_cm_drop(l, d->silent[--d->nb_silent]);
}

void
mlx5_dial_free(struct mlx5_link *l)
{
	if (l->dial == NULL)
		return;
	drop_silent(l);
	free(l->dial);
	l->dial = NULL;
}

/* Events */

static void
on_response(struct mlx5_link *l, const struct rdma_conn_param *p)
{
	struct mlx5_welcome welcome = { .magic = 0 };

	if (p->private_data != NULL && p->private_data_len >= sizeof(welcome))
		memcpy(&welcome, p->private_data, sizeof(welcome));
	/* A stranger that happens to use the port. */
	if (welcome.magic != MLX5_MAGIC) {
		l->dial->step = STEP_NEXT;
		return;
	}
	if (welcome.version != MLX5_WIRE_VERSION) {
		fail(l, -EPROTO, "peer's driver version does not match");
		return;
	}
	if (!mlx5_frame_set_peer(l, welcome.slot_size, welcome.nb_slots)) {
		fail(l, -EPROTO, "peer's receive slots are too few or too small: set slot= and "
			"max_msg_size= alike on both sides");
		return;
	}
	if (mlx5_cm_to_rts(l) != 0) {
		fail(l, -EIO, "the device could not connect its queue pair");
		return;
	}
	if (mlx5_verbs->establish(l->id) != 0) {
		/* EINVAL: the peer disconnected after its response. */
		if (errno == EINVAL)
			fail(l, -ECONNRESET, PEER_GONE);
		else
			fail(l, -EIO, "the device could not connect its queue pair");
		return;
	}
	l->dial->step = STEP_OVER;
	mlx5_link_up(l);
}

static void
on_refusal(struct mlx5_link *l, enum mlx5_refusal reason)
{
	switch (reason) {
	case MLX5_REFUSE_NAME:
		l->dial->step = STEP_NEXT;
		return;
	case MLX5_REFUSE_VERSION:
		fail(l, -EPROTO, "driver version or slot sizes do not match the peer's");
		return;
	case MLX5_REFUSE_FUNCTION:
		fail(l, -EACCES, "peer refused: address not listed for the host function (rep=)");
		return;
	default:
		fail(l, -EAGAIN, "peer refused: it has no resources for another connection");
		return;
	}
}

static void
on_rejected(struct mlx5_link *l, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *p = &event->param.conn;
	struct mlx5_refuse why = { .magic = 0 };

	if (p->private_data != NULL && p->private_data_len >= sizeof(why))
		memcpy(&why, p->private_data, sizeof(why));
	if (why.magic == MLX5_MAGIC)
		on_refusal(l, (enum mlx5_refusal)why.reason);
	else if (event->status == REJ_STALE_CONN && l->dial->nb_stale++ < STALE_TRIES)
		l->dial->step = STEP_AGAIN;
	else
		l->dial->step = STEP_NEXT;
}

/* Make the id of a port that was silent the link's. False: it was given up. */
static bool
take_silent(struct mlx5_link *l, struct rdma_cm_id *id)
{
	struct mlx5_dial *d = l->dial;
	uint32_t i;

	for (i = 0; i < d->nb_silent; i++) {
		if (d->silent[i] != id)
			continue;
		d->silent[i] = l->id;
		l->id = id;
		return true;
	}
	return false;
}

void
mlx5_dial_event(struct mlx5_link *l, const struct rdma_cm_event *event)
{
	if (l->dial->step != STEP_WAIT || (event->id != l->id && !take_silent(l, event->id)))
		return;
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (mlx5_verbs->resolve_route(l->id, RESOLVE_MS) != 0)
			fail(l, -EHOSTUNREACH, "no route to the peer's address");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		on_route(l);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		on_response(l, &event->param.conn);
		break;
	case RDMA_CM_EVENT_REJECTED:
		on_rejected(l, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		fail(l, -EHOSTUNREACH, "the peer's address is not reachable from this device");
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		l->dial->is_unanswered = true;
		l->dial->step = STEP_NEXT;
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		fail(l, -ENODEV, "the device was removed");
		break;
	default:
		fail(l, -ECONNRESET, PEER_GONE);
		break;
	}
}

/* The link's id was refused: wait for one that is silent, or try the next port. */
static int
next_port(struct mlx5_link *l)
{
	struct mlx5_dial *d = l->dial;

	if (d->at < d->nb_ports)
		return try_port(l);
	if (d->nb_silent == 0)
		return d->is_unanswered ?
			fail(l, -ETIMEDOUT, "peer does not answer connection requests") :
			fail(l, -ENOENT, "no server listens on that name");
	l->id = d->silent[--d->nb_silent];
	d->step = STEP_WAIT;
	return 0;
}

/* With a queue pair of another number. Ids that are silent would offer the old one. */
static int
begin_again(struct mlx5_link *l)
{
	struct mlx5_dial *d = l->dial;
	int ret;

	d->at = 0;
	drop_silent(l);
	mlx5_link_close_qp(l);
	ret = mlx5_link_open(l, opened);
	return ret == 0 ? try_port(l) : ret;
}

void
mlx5_dial_next(struct mlx5_link *l)
{
	struct mlx5_dial *d = l->dial;
	int ret = 0;

	if (d->step == STEP_NEXT || d->step == STEP_AGAIN)
		mlx5_cm_drop_id(l);
	if (d->step == STEP_NEXT)
		ret = next_port(l);
	else if (d->step == STEP_AGAIN)
		ret = begin_again(l);
	if (ret != 0 && d->step != STEP_OVER)
		fail(l, ret, "connection request failed");
	if (d->step == STEP_OVER)
		mlx5_dial_free(l);
}

void
mlx5_dial_tick(struct mlx5_link *l)
{
	struct mlx5_dial *d = l->dial;

	if (d->step != STEP_WAIT || d->at == d->nb_ports || d->asked_ms == 0 ||
			mlx5_dev_now_ms() - d->asked_ms < PATIENCE_MS)
		return;
	d->silent[d->nb_silent++] = l->id;
	l->id = NULL;
	d->step = STEP_NEXT;
	mlx5_dial_next(l);
}
