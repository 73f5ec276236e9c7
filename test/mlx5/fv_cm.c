/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connection manager: event channels, events, ids, addresses. */

#include "fv_private.h"

static struct fv_event_channel *
channel_of(const struct rdma_event_channel *channel)
{
	return FV_OF(channel, struct fv_event_channel, rdma);
}

/* All functions of rdma_cm that fail return -1 and set errno. */
int
fv_cm_ret(int err)
{
	if (err == 0)
		return 0;
	errno = err;
	return -1;
}

struct rdma_event_channel *
fv_create_event_channel(void)
{
	struct fv_event_channel *ch;
	int err;

	fv_lock();
	err = fv_call_err(FV_CALL_CREATE_EVENT_CHANNEL);
	if (err != 0)
		goto fail;
	ch = fv_new(FV_EVENT_CHANNEL, sizeof(*ch));
	if (fv_evq_open(&ch->events) != 0) {
		err = errno;
		fv_free(ch, sizeof(*ch));
		goto fail;
	}
	ch->rdma.fd = ch->events.fd;
	fv_unlock();
	return &ch->rdma;
fail:
	fv_unlock();
	errno = err;
	return NULL;
}

void
fv_destroy_event_channel(struct rdma_event_channel *rdma)
{
	struct fv_event_channel *ch = channel_of(rdma);

	fv_lock();
	FV_CHECK(ch, FV_EVENT_CHANNEL);
	if (ch->nb_ids > 0 || ch->unacked > 0)
		FV_DIE("%u ids are on the channel, %u events of it are not acknowledged",
				ch->nb_ids, ch->unacked);
	fv_evq_close(&ch->events);
	fv_free(ch, sizeof(*ch));
	fv_unlock();
}

struct fv_id *
fv_id_by_num(uint32_t num)
{
	struct fv_id *id;

	TAILQ_FOREACH(id, &fv.ids, next)
		if (id->num == num)
			return id;
	return NULL;
}

struct fv_id *
fv_id_new(struct fv_event_channel *ch, void *ctx, enum rdma_port_space ps)
{
	struct fv_id *id = fv_new(FV_ID, sizeof(*id));

	id->rdma.channel = &ch->rdma;
	id->rdma.context = ctx;
	id->rdma.ps = ps;
	id->rdma.qp_type = IBV_QPT_RC;
	id->num = fv.next_id++;
	id->mine.psn = fv.next_psn = (fv.next_psn * 5 + 3) & 0xffffff;
	id->ack_timeout = 17;
	ch->nb_ids++;
	TAILQ_INSERT_TAIL(&fv.ids, id, next);
	return id;
}

int
fv_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *ctx,
		enum rdma_port_space ps)
{
	int err;

	if (channel == NULL)
		FV_DIE("ids without an event channel are not made here");
	fv_lock();
	FV_CHECK(channel_of(channel), FV_EVENT_CHANNEL);
	err = fv_call_err(FV_CALL_CREATE_ID);
	if (err == 0 && ps != RDMA_PS_TCP)
		err = EOPNOTSUPP;
	if (err == 0) {
		*id = &fv_id_new(channel_of(channel), ctx, ps)->rdma;
		fv_wire_start();
	}
	fv_unlock();
	return fv_cm_ret(err);
}

struct fv_cm_ev *
fv_cm_event(struct fv_id *id, enum rdma_cm_event_type type, int status)
{
	struct fv_cm_ev *ev = fv_new(FV_CM_EVENT, sizeof(*ev));

	/* Counted when it is got. */
	fv.live[FV_CM_EVENT]--;
	ev->id = id;
	ev->rdma.id = &id->rdma;
	ev->rdma.event = type;
	ev->rdma.status = status;
	return ev;
}

void
fv_cm_event_put(struct fv_cm_ev *ev)
{
	fv_evq_put(&channel_of(ev->id->rdma.channel)->events, &ev->ev);
}

int
fv_get_cm_event(struct rdma_event_channel *rdma, struct rdma_cm_event **event)
{
	struct fv_event_channel *ch = channel_of(rdma);
	struct fv_cm_ev *ev;
	struct fv_ev *e;

	fv_lock();
	FV_CHECK(ch, FV_EVENT_CHANNEL);
	e = fv_evq_take(&ch->events);
	if (e == NULL) {
		fv_unlock();
		return -1;
	}
	ev = FV_OF(e, struct fv_cm_ev, ev);
	ev->channel = ch;
	ch->unacked++;
	ev->id->unacked++;
	fv.live[FV_CM_EVENT]++;
	if (ev->rdma.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		ev->id->nb_requests--;
		fv_id_of(ev->rdma.id)->unacked_request = 1;
	}
	*event = &ev->rdma;
	fv_unlock();
	return 0;
}

int
fv_ack_cm_event(struct rdma_cm_event *event)
{
	struct fv_cm_ev *ev = FV_OF(event, struct fv_cm_ev, rdma);
	struct fv_id *made;

	fv_lock();
	FV_CHECK(ev, FV_CM_EVENT);
	made = ev->made == 0 ? NULL : fv_id_by_num(ev->made);
	if (made != NULL)
		made->unacked_request = 0;
	ev->id->unacked--;
	ev->channel->unacked--;
	fv_free(ev, sizeof(*ev));
	fv_unlock();
	return 0;
}

static struct fv_cm_ev *
first_event(const struct fv_event_channel *ch, const struct fv_id *id)
{
	struct fv_ev *e;

	TAILQ_FOREACH(e, &ch->events.list, next) {
		struct fv_cm_ev *ev = FV_OF(e, struct fv_cm_ev, ev);

		if (ev->id == id)
			return ev;
	}
	return NULL;
}

/* Events that were not got go with their id, and so do ids that only they know. */
static void
drop_events(struct fv_id *id)
{
	struct fv_event_channel *ch = channel_of(id->rdma.channel);
	struct fv_cm_ev *ev;

	while ((ev = first_event(ch, id)) != NULL) {
		fv_evq_remove(&ch->events, &ev->ev);
		if (ev->made != 0)
			fv_id_free(fv_id_of(ev->rdma.id));
		fv.live[FV_CM_EVENT]++;
		fv_free(ev, sizeof(*ev));
	}
}

static void
id_move(struct fv_id *id, struct fv_event_channel *to)
{
	struct fv_event_channel *ch = channel_of(id->rdma.channel);
	struct fv_cm_ev *ev;

	ch->nb_ids--;
	to->nb_ids++;
	while (ch != to && (ev = first_event(ch, id)) != NULL) {
		fv_evq_remove(&ch->events, &ev->ev);
		fv_evq_put(&to->events, &ev->ev);
		if (ev->made != 0)
			id_move(fv_id_of(ev->rdma.id), to);
	}
	id->rdma.channel = &to->rdma;
}

void
fv_id_free(struct fv_id *id)
{
	fv_conn_destroy(id);
	drop_events(id);
	channel_of(id->rdma.channel)->nb_ids--;
	TAILQ_REMOVE(&fv.ids, id, next);
	fv_free(id, sizeof(*id));
}

int
fv_destroy_id(struct rdma_cm_id *rdma)
{
	struct fv_id *id = fv_id_of(rdma);

	fv_call_wait(FV_CALL_DESTROY_ID);
	fv_lock();
	FV_CHECK(id, FV_ID);
	if (!fv_await_acks(&id->unacked))
		FV_DIE("blocks for ever: %u events of the id are not acknowledged", id->unacked);
	fv_id_free(id);
	fv_wire_run();
	fv_unlock();
	return 0;
}

int
fv_migrate_id(struct rdma_cm_id *rdma, struct rdma_event_channel *channel)
{
	struct fv_id *id = fv_id_of(rdma);
	int err;

	if (channel == NULL)
		FV_DIE("ids without an event channel are not made here");
	fv_lock();
	FV_CHECK(id, FV_ID);
	FV_CHECK(channel_of(channel), FV_EVENT_CHANNEL);
	if (id->unacked > 0 || id->unacked_request > 0)
		FV_DIE("blocks for ever: %u events of the id are not acknowledged",
				id->unacked + id->unacked_request);
	err = fv_call_err(FV_CALL_MIGRATE_ID);
	if (err == 0)
		id_move(id, channel_of(channel));
	fv_unlock();
	return fv_cm_ret(err);
}

int
fv_set_option(struct rdma_cm_id *rdma, int level, int name, void *val, size_t len)
{
	struct fv_id *id = fv_id_of(rdma);
	int err = 0;

	fv_lock();
	FV_CHECK(id, FV_ID);
	if (level != RDMA_OPTION_ID)
		err = ENOSYS;
	else if (name == RDMA_OPTION_ID_TOS && len == sizeof(uint8_t))
		id->tos = *(uint8_t *)val;
	else if (name == RDMA_OPTION_ID_REUSEADDR && len == sizeof(int))
		id->reuse = *(int *)val != 0;
	else if (name == RDMA_OPTION_ID_ACK_TIMEOUT && len == sizeof(uint8_t))
		id->ack_timeout = *(uint8_t *)val & 31;
	else if (name != RDMA_OPTION_ID_AFONLY || len != sizeof(int))
		err = EINVAL;
	fv_unlock();
	return fv_cm_ret(err);
}

static bool
gid_of_sockaddr(union ibv_gid *gid, const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)sa;

		memcpy(gid->raw, &in6->sin6_addr, sizeof(gid->raw));
		return true;
	}
	if (sa->sa_family != AF_INET)
		return false;
	memset(gid->raw, 0, sizeof(gid->raw));
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	memcpy(&gid->raw[12], &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
	return true;
}

static bool
is_any(const struct sockaddr *sa)
{
	static const uint8_t zero[16];
	union ibv_gid gid;

	return gid_of_sockaddr(&gid, sa) &&
			memcmp(sa->sa_family == AF_INET ? &gid.raw[12] : gid.raw, zero,
				sa->sa_family == AF_INET ? 4 : 16) == 0;
}

static size_t
sockaddr_size(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
			sizeof(struct sockaddr_in);
}

uint16_t
fv_id_port(const struct sockaddr_storage *sa)
{
	/* The port lies at the same place in both families. */
	return be16toh(((const struct sockaddr_in *)(const void *)sa)->sin_port);
}

static void
set_port(struct sockaddr_storage *sa, uint16_t port)
{
	((struct sockaddr_in *)(void *)sa)->sin_port = htobe16(port);
}

/* The address of a GID that was made of one. */
void
fv_sockaddr_of_gid(struct sockaddr_storage *sa, const union ibv_gid *gid, uint16_t port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memset(sa, 0, sizeof(*sa));
	if (memcmp(gid->raw, mapped, sizeof(mapped)) == 0) {
		sa->ss_family = AF_INET;
		memcpy(&((struct sockaddr_in *)(void *)sa)->sin_addr, &gid->raw[12], 4);
	} else {
		sa->ss_family = AF_INET6;
		memcpy(&((struct sockaddr_in6 *)(void *)sa)->sin6_addr, gid->raw, 16);
	}
	set_port(sa, port);
}

static bool
port_conflict(const struct fv_id *id, uint16_t port, const union ibv_gid *gid, bool any)
{
	const struct fv_id *o;

	TAILQ_FOREACH(o, &fv.ids, next) {
		if (o == id || !o->bound || fv_id_port(&o->rdma.route.addr.src_storage) != port)
			continue;
		if (o->reuse && id->reuse && o->state != FV_ID_LISTEN)
			continue;
		if (any || o->any_addr || memcmp(&o->sgid, gid, sizeof(*gid)) == 0)
			return true;
	}
	return false;
}

void
fv_id_set_dev(struct fv_id *id, struct fv_dev *dev, int gid_index)
{
	id->dev = dev;
	id->gid_index = gid_index;
	id->sgid = fv_gid_at(dev, (unsigned int)gid_index)->gid;
	id->rdma.verbs = &dev->ctx;
	id->rdma.port_num = 1;
	id->rdma.route.addr.addr.ibaddr.sgid = id->sgid;
	id->rdma.route.addr.addr.ibaddr.pkey = htobe16(0xffff);
}

static int
bind_id(struct fv_id *id, const struct sockaddr *sa)
{
	struct sockaddr_storage *src = &id->rdma.route.addr.src_storage;
	struct fv_dev *dev = NULL;
	union ibv_gid gid;
	int index = 0;
	uint16_t port;

	if (id->state != FV_ID_IDLE || id->bound)
		return EINVAL;
	if (!gid_of_sockaddr(&gid, sa))
		return EAFNOSUPPORT;
	if (!is_any(sa)) {
		dev = fv_dev_of_gid(&gid, &index);
		if (dev == NULL)
			return EADDRNOTAVAIL;
		if (dev->dead)
			return ENODEV;
	}
	memset(src, 0, sizeof(*src));
	memcpy(src, sa, sockaddr_size(sa));
	port = fv_id_port(src);
	if (port != 0 && port_conflict(id, port, &gid, dev == NULL))
		return EADDRINUSE;
	for (; port == 0 || port_conflict(id, port, &gid, dev == NULL); )
		port = (uint16_t)(32768 + fv_random(28232));
	set_port(src, port);
	if (dev != NULL)
		fv_id_set_dev(id, dev, index);
	id->any_addr = dev == NULL;
	id->bound = true;
	return 0;
}

int
fv_bind_addr(struct rdma_cm_id *rdma, struct sockaddr *addr)
{
	struct fv_id *id = fv_id_of(rdma);
	int err;

	fv_lock();
	FV_CHECK(id, FV_ID);
	err = fv_call_err(FV_CALL_BIND_ADDR);
	if (err == 0)
		err = bind_id(id, addr);
	fv_unlock();
	return fv_cm_ret(err);
}

/* 0: this id may listen. */
static int
listen_err(const struct fv_id *id)
{
	const struct sockaddr_storage *src = &id->rdma.route.addr.src_storage;
	const struct fv_id *o;

	if (id->state != FV_ID_IDLE || !id->bound)
		return EINVAL;
	if (id->dev != NULL && id->dev->dead)
		return ENODEV;
	TAILQ_FOREACH(o, &fv.ids, next)
		if (o != id && o->state == FV_ID_LISTEN &&
				fv_id_port(&o->rdma.route.addr.src_storage) == fv_id_port(src) &&
				(o->any_addr || id->any_addr ||
				memcmp(&o->sgid, &id->sgid, sizeof(o->sgid)) == 0))
			return EADDRINUSE;
	return 0;
}

int
fv_listen(struct rdma_cm_id *rdma, int backlog)
{
	struct fv_id *id = fv_id_of(rdma);
	int err;

	fv_lock();
	FV_CHECK(id, FV_ID);
	err = fv_call_err(FV_CALL_LISTEN);
	if (err == 0)
		err = listen_err(id);
	if (err == 0) {
		id->state = FV_ID_LISTEN;
		id->backlog = backlog <= 0 ? 1024 : backlog;
	}
	fv_unlock();
	return fv_cm_ret(err);
}

/* As a kernel without a better route: loopback to itself, else the first address. */
static int
bind_by_route(struct fv_id *id, const struct sockaddr *dst)
{
	struct sockaddr_storage src;
	union ibv_gid loop, to;

	fv_gid_parse(&loop, "127.0.0.1");
	if (!gid_of_sockaddr(&to, dst))
		return EAFNOSUPPORT;
	fv_sockaddr_of_gid(&src, &to, 0);
	if (memcmp(&to, &loop, sizeof(to)) != 0) {
		const struct fv_dev *dev = TAILQ_FIRST(&fv.devs);

		fv_sockaddr_of_gid(&src, &dev->gids[dev->nb_gids > 4 ? 4 : 0].gid, 0);
	}
	return bind_id(id, (const struct sockaddr *)&src);
}

static int
resolve_addr(struct fv_id *id, const struct sockaddr *src, const struct sockaddr *dst,
		int timeout_ms)
{
	union ibv_gid dgid;
	int err = 0, status;

	if (id->state != FV_ID_IDLE)
		return EINVAL;
	if (!gid_of_sockaddr(&dgid, dst) || timeout_ms < 0)
		return EINVAL;
	if (src != NULL && !id->bound)
		err = bind_id(id, src);
	else if (!id->bound)
		err = bind_by_route(id, dst);
	if (err == 0 && id->dev == NULL)
		err = EINVAL;
	if (err != 0)
		return err;
	memset(&id->rdma.route.addr.dst_storage, 0, sizeof(id->rdma.route.addr.dst_storage));
	memcpy(&id->rdma.route.addr.dst_storage, dst, sockaddr_size(dst));
	id->dgid = dgid;
	id->rdma.route.addr.addr.ibaddr.dgid = dgid;
	id->state = FV_ID_ADDR_QUERY;
	status = fv_call_err(FV_CALL_ADDR_RESOLVED);
	if (status != 0)
		fv_msg_local(id, RDMA_CM_EVENT_ADDR_ERROR, -status, 0);
	else if (fv_dev_of_gid(&dgid, NULL) == NULL || !fv_cm_path_ok(&id->sgid, &dgid))
		fv_msg_local(id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT,
				FV_MIN((uint32_t)timeout_ms, fv.conf.cm_timeout_ms));
	else
		fv_msg_local(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0);
	return 0;
}

int
fv_resolve_addr(struct rdma_cm_id *rdma, struct sockaddr *src, struct sockaddr *dst,
		int timeout_ms)
{
	struct fv_id *id = fv_id_of(rdma);
	int err;

	fv_lock();
	FV_CHECK(id, FV_ID);
	err = fv_call_err(FV_CALL_RESOLVE_ADDR);
	if (err == 0)
		err = resolve_addr(id, src, dst, timeout_ms);
	fv_wire_run();
	fv_unlock();
	return fv_cm_ret(err);
}

int
fv_resolve_route(struct rdma_cm_id *rdma, int timeout_ms)
{
	struct fv_id *id = fv_id_of(rdma);
	int err, status;

	fv_lock();
	FV_CHECK(id, FV_ID);
	err = fv_call_err(FV_CALL_RESOLVE_ROUTE);
	if (err == 0 && (id->state != FV_ID_ADDR || timeout_ms < 0))
		err = EINVAL;
	if (err == 0) {
		id->state = FV_ID_ROUTE_QUERY;
		status = fv_call_err(FV_CALL_ROUTE_RESOLVED);
		fv_msg_local(id, status == 0 ? RDMA_CM_EVENT_ROUTE_RESOLVED :
				RDMA_CM_EVENT_ROUTE_ERROR, -status, 0);
		fv_wire_run();
	}
	fv_unlock();
	return fv_cm_ret(err);
}
