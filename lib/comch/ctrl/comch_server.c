/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Servers: create, start, stop and destroy, and accepting clients. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_string_fns.h>

#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "base/comch_fork_notes.h"
#include "base/comch_trace.h"
#include "ctrl/comch_conf.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_dev.h"
#include "ctrl/comch_handshake.h"
#include "ctrl/comch_sched.h"
#include "ctrl/comch_server.h"

#define SERVER_FLAGS (RTE_COMCH_SERVER_F_MANUAL_ACCEPT | RTE_COMCH_SERVER_F_EXACT | \
	RTE_COMCH_SERVER_F_ORDERED | RTE_COMCH_SERVER_F_CTRL_ONLY | \
	RTE_COMCH_SERVER_F_MANUAL_CREDIT)
/* The part of a default max_clients that is reserved for processes without a connection. */
#define RESERVE_SHARE 16
/*
 * Limits of one scan: clients, and microseconds. The other clients wait in the listener's
 * queue. A client costs several system calls, more if it displaces another one.
 */
#define ACCEPT_BURST 64
#define ACCEPT_US 250
/* Stop accepting while this many ended handshakes are not freed yet. */
#define MAX_TO_FREE 256

static void
listener_forked(void *arg)
{
	struct rte_comch_listener *listener = arg;

	listener->ops->listener_forked(listener);
}

static void
server_before_fork(struct comch_registry_entry *entry)
{
	struct rte_comch_server *server = container_of(entry, struct rte_comch_server, entry);

	if (server->listener != NULL)
		comch_fork_note_call(listener_forked, server->listener);
}

COMCH_REGISTRY_TYPE(comch_server_registry, server_before_fork)

static bool
server_service(struct comch_obj *obj, struct comch_run *run)
{
	struct rte_comch_server *server = COMCH_OBJ_OF(rte_comch_server, obj);

	if (comch_obj_state(obj) == RTE_COMCH_STATE_STOPPING && server->nb_conns == 0)
		comch_obj_state_event(obj, RTE_COMCH_STATE_IDLE, server->end_status,
			server->end_status != 0 ? server->reason : NULL);
	return !comch_obj_events(obj, run, NULL);
}

static void
server_free(struct comch_obj *obj)
{
	struct rte_comch_server *server = COMCH_OBJ_OF(rte_comch_server, obj);

	comch_holders_free(&server->holders);
	free(server);
}

static int
server_conf_check(struct rte_comch_dev *dev, struct rte_comch_server_conf *c)
{
	if (c->poll == NULL) {
		COMCH_LOG(ERR, "server: no poll given");
		return -EINVAL;
	}
	if (comch_conf_check_name(c->name, "server") != 0)
		return -EINVAL;
	if ((c->flags & ~SERVER_FLAGS) != 0) {
		COMCH_LOG(ERR, "server %s: unknown flag in %#x", c->name, c->flags);
		return -EINVAL;
	}
	if ((dev->info.capa & RTE_COMCH_CAPA_SERVER) == 0) {
		COMCH_LOG(ERR, "server %s: device %s is on the host side; servers need role=dpu",
			c->name, dev->info.name);
		return -ENOTSUP;
	}
	if (c->rep >= dev->info.nb_reps) {
		COMCH_LOG(ERR, "server %s: device %s has no representor %u", c->name,
			dev->info.name, c->rep);
		return -ENOENT;
	}
	if (c->reserve == 0 && c->max_clients == 0)
		c->reserve = dev->info.max_clients / RESERVE_SHARE;
	if (c->reserve == RTE_COMCH_RESERVE_NONE)
		c->reserve = 0;
	if (comch_conf_check_size(c->name, "max_clients", &c->max_clients, dev->info.max_clients,
			dev->info.max_clients) != 0)
		return -EINVAL;
	if (c->reserve >= c->max_clients) {
		COMCH_LOG(ERR, "server %s: reserve of %u: expected less than max_clients, which is "
			"%u", c->name, c->reserve, c->max_clients);
		return -EINVAL;
	}
	return comch_conf_check_sizes(dev, c->name, &c->max_msg_size, &c->recv_queue,
			&c->send_queue);
}

/* Clients in the handshake use descriptors, a quarter at most: leave some for established ones. */
static uint32_t
max_half_open(const struct rte_comch_dev *dev)
{
	struct rlimit limit;
	rlim_t max;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return COMCH_MAX_HALF_OPEN;
	max = limit.rlim_cur / 4 / RTE_MAX(dev->link_fds, 1);
	return (uint32_t)RTE_MAX(RTE_MIN(max, (rlim_t)COMCH_MAX_HALF_OPEN), (rlim_t)16);
}

struct rte_comch_server *
rte_comch_server_create(int16_t dev_id, const struct rte_comch_server_conf *conf)
{
	struct rte_comch_server_conf c;
	struct rte_comch_server *server;
	struct rte_comch_dev *dev;
	int ret;

	ret = comch_obj_conf(&c, sizeof(c), conf, "server");
	if (ret != 0)
		goto err;
	dev = comch_dev_get(dev_id);
	if (dev == NULL) {
		COMCH_LOG(ERR, "server: no device %d", dev_id);
		ret = -ENODEV;
		goto err;
	}
	ret = server_conf_check(dev, &c);
	if (ret != 0)
		goto err_put;
	server = calloc(1, sizeof(*server));
	if (server == NULL) {
		ret = -ENOMEM;
		goto err_put;
	}
	server->sched = comch_sched_get(c.poll);
	ret = server->sched != NULL ?
		comch_holders_init(&server->holders, max_half_open(dev)) : -ENOMEM;
	if (ret != 0)
		goto err_free;
	comch_obj_init(&server->obj, RTE_COMCH_OBJ_SERVER, server, c.poll, c.user_data);
	server->obj.service = server_service;
	server->obj.free = server_free;
	server->dev = dev;
	server->conf = c;
	rte_strscpy(server->name, c.name, sizeof(server->name));
	server->conf.name = server->name;
	server->fd.fd = server->watch.fd = -1;
	TAILQ_INIT(&server->conns);
	comch_poll_attach(c.poll);
	comch_registry_add(&comch_server_registry, &server->entry);
	return server;

err_free:
	free(server);
err_put:
	comch_dev_put(dev);
err:
	rte_errno = -ret;
	return NULL;
}

static int
add_fd(struct rte_comch_server *server, struct comch_fd *cfd, int fd,
		void (*ready)(struct comch_fd *cfd))
{
	int ret;

	*cfd = (struct comch_fd){ .fd = fd, .classes = RTE_COMCH_POLL_LINK, .ready = ready };
	if (fd < 0)
		return 0;
	ret = comch_poll_fd_add(server->obj.poll, cfd);
	if (ret != 0)
		cfd->fd = -1;
	return ret;
}

static void
stop_listening(struct rte_comch_server *server)
{
	comch_poll_fd_del(server->obj.poll, &server->fd);
	comch_poll_fd_del(server->obj.poll, &server->watch);
	comch_sched_accept_end(server->sched, server);
	server->dev->ops->unlisten(server->listener);
	server->listener = NULL;
}

/* All handshake slots are taken: end the oldest handshake of the peer with the most. */
static void
make_room(struct rte_comch_server *server)
{
	struct rte_comch_conn *conn;

	if (!comch_holders_crowded(&server->holders)) {
		server->is_crowded &=
			server->holders.nb_half_open > server->holders.max_half_open / 2;
		return;
	}
	conn = comch_holders_first(&server->holders);
	if (!server->is_crowded)
		COMCH_LOG(WARNING, "server %s: all %u handshake slots are in use, %u of them by "
			"process %d (uid %d): each new client replaces the oldest handshake of the "
			"process with the most",
			server->name, server->holders.max_half_open, conn->holder->nb_half_open,
			conn->holder->id.pid, conn->holder->id.uid);
	server->is_crowded = true;
	comch_handshake_give_way(conn);
}

/* No descriptor is left for the next client: as above, although slots are free. */
static void
give_descriptor_back(struct rte_comch_server *server)
{
	struct rte_comch_conn *conn = comch_holders_first(&server->holders);

	if (conn != NULL)
		comch_handshake_give_way(conn);
}

static void
server_accept_one(struct rte_comch_server *server, struct rte_comch_link *link)
{
	struct rte_comch_conn *conn;

	make_room(server);
	conn = comch_conn_create(server->dev, server->conf.rep, server->obj.poll,
			server->conf.send_queue);
	if (conn == NULL) {
		link->ops->link_close(link);
		comch_count(&server->stats.refused, 1);
		return;
	}
	conn->server = server;
	conn->recv_queue = server->conf.recv_queue;
	conn->manual_credit = (server->conf.flags & RTE_COMCH_SERVER_F_MANUAL_CREDIT) != 0;
	comch_conn_set_ctrl_only(conn, (server->conf.flags & RTE_COMCH_SERVER_F_CTRL_ONLY) != 0);
	comch_count(&server->nb_conns, 1);
	TAILQ_INSERT_TAIL(&server->conns, conn, server_next);
	comch_registry_add(&comch_conn_registry, &conn->entry);
	comch_store_release(&conn->phase, COMCH_PHASE_LINKING); /* No model: only UP publishes */
	if (comch_conn_set_link(conn, link) != 0) {
		comch_conn_end(conn, -EMFILE, "no free file descriptor for the connection");
		return;
	}
	conn->ops->link_peer(link, &conn->peer);
	if (comch_holder_join(&server->holders, conn) != 0) {
		comch_conn_end(conn, -ENOMEM, "no memory for the connection");
		return;
	}
	conn->deadline = comch_conn_in_ms(COMCH_HANDSHAKE_MS);
	comch_sched_wait(conn);
	comch_conn_poll_link(conn);
}

static bool
may_accept(const struct rte_comch_server *server)
{
	return server->nb_to_free < MAX_TO_FREE && comch_holders_can_join(&server->holders);
}

void
comch_server_accept(struct rte_comch_server *server)
{
	const uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / US_PER_S * ACCEPT_US;
	struct rte_comch_link *link;
	unsigned int i;
	int ret = 0;

	if (server->listener == NULL)
		return;
	for (i = 0; i < ACCEPT_BURST && (i == 0 || rte_rdtsc() < end); i++) {
		if (!may_accept(server))
			break;
		ret = server->dev->ops->accept(server->listener, &link);
		if (ret != 0)
			break;
		server_accept_one(server, link);
	}
	if (ret == -EMFILE || ret == -ENFILE)
		give_descriptor_back(server);
	if (ret != 0 && ret != -EAGAIN && ret != -EBUSY) {
		/* Logged once; the clients stay queued until accept works again. */
		if (!server->accept_failed)
			COMCH_LOG(ERR, "server %s: cannot accept a client: %s", server->name,
				strerror(-ret));
		comch_count(&server->stats.accept_errors, 1);
	}
	/* The failure is over once every queued client can be accepted. */
	server->accept_failed = (ret != 0 && ret != -EAGAIN && ret != -EBUSY) ||
		(server->accept_failed && server->holders.nb_half_open > 0);
	/* The descriptor is edge-triggered: remember that clients may be left. */
	if (ret != -EAGAIN)
		comch_sched_accept_again(server->sched, server);
}

/* Later in this scan, with the servers that have clients left: a scan accepts once. */
static void
listener_ready(struct comch_fd *cfd)
{
	struct rte_comch_server *server = container_of(cfd, struct rte_comch_server, fd);

	comch_sched_accept_again(server->sched, server);
}

/* Stop the server if clients cannot find it any more. */
static void
watch_ready(struct comch_fd *cfd)
{
	struct rte_comch_server *server = container_of(cfd, struct rte_comch_server, watch);
	struct rte_comch_conn *conn;
	int ret;

	if (server->listener == NULL)
		return;
	ret = server->dev->ops->listener_check(server->listener, server->reason,
			sizeof(server->reason));
	if (ret == 0)
		return;
	COMCH_LOG(ERR, "server %s: stopping, clients cannot find it: %s", server->name,
		server->reason);
	comch_trace_server_stop(server->name, server->nb_conns);
	stop_listening(server);
	server->end_status = ret;
	comch_obj_state_event(&server->obj, RTE_COMCH_STATE_STOPPING, ret, server->reason);
	TAILQ_FOREACH(conn, &server->conns, server_next)
		comch_conn_close(conn, -ECONNRESET, server->reason);
}

static bool
can_order(const struct rte_comch_server *server)
{
	return (server->conf.flags & RTE_COMCH_SERVER_F_ORDERED) == 0 ||
		(server->dev->info.capa & RTE_COMCH_CAPA_ORDERED) != 0;
}

int
rte_comch_server_start(struct rte_comch_server *server)
{
	const struct rte_comch_driver_ops *ops;
	int ret;

	if (server == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (comch_obj_state(&server->obj) != RTE_COMCH_STATE_IDLE) {
		COMCH_LOG(ERR, "server %s: start while %s", server->name,
			rte_comch_state_name(comch_obj_state(&server->obj)));
		return -EBADFD;
	}
	if (!can_order(server)) {
		COMCH_LOG(ERR, "server %s: RTE_COMCH_SERVER_F_ORDERED needs "
			"RTE_COMCH_CAPA_ORDERED, which device %s lacks", server->name,
			server->dev->info.name);
		return -ENOTSUP;
	}
	ops = server->dev->ops;
	ret = ops->listen(server->dev, server->conf.rep, server->name, &server->listener);
	if (ret != 0)
		return ret;
	ret = add_fd(server, &server->fd, ops->listener_fd(server->listener), listener_ready);
	if (ret == 0)
		ret = add_fd(server, &server->watch, ops->listener_watch_fd(server->listener),
			watch_ready);
	if (ret != 0) {
		stop_listening(server);
		return ret;
	}
	server->end_status = 0;
	comch_obj_state_set(&server->obj, RTE_COMCH_STATE_RUNNING);
	comch_trace_server_start(server->name, server->conf.rep);
	return 0;
}

void
comch_server_conn_ending(struct rte_comch_conn *conn)
{
	if (conn->server == NULL || !conn->has_place || conn->is_ending)
		return;
	conn->is_ending = true;
	conn->server->nb_ending++;
}

void
comch_server_conn_ended(struct rte_comch_conn *conn)
{
	if (conn->server == NULL || conn->has_place)
		return;
	conn->is_to_free = true;
	conn->server->nb_to_free++;
}

void
comch_server_conn_freed(struct rte_comch_conn *conn)
{
	struct rte_comch_server *server = conn->server;

	if (conn->is_to_free)
		server->nb_to_free--;
	comch_holder_leave(&server->holders, conn);
	TAILQ_REMOVE(&server->conns, conn, server_next);
	comch_count(&server->nb_conns, -1);
	if (conn->is_ending)
		server->nb_ending--;
	if (comch_obj_state(&server->obj) == RTE_COMCH_STATE_STOPPING && server->nb_conns == 0)
		comch_poll_note(&server->obj);
}

int
rte_comch_server_stop(struct rte_comch_server *server)
{
	struct rte_comch_conn *conn;

	if (server == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (comch_obj_state(&server->obj) != RTE_COMCH_STATE_RUNNING) {
		COMCH_LOG(ERR, "server %s: stop while %s", server->name,
			rte_comch_state_name(comch_obj_state(&server->obj)));
		return -EBADFD;
	}
	TAILQ_FOREACH(conn, &server->conns, server_next) {
		if (comch_conn_nb_queues(conn) == 0)
			continue;
		COMCH_LOG(ERR, "server %s: stop while connection %u has producers or consumers",
			server->name, conn->id);
		return -EBUSY;
	}
	comch_trace_server_stop(server->name, server->nb_conns);
	stop_listening(server);
	if (server->nb_conns == 0) {
		comch_obj_state_set(&server->obj, RTE_COMCH_STATE_IDLE);
		return 0;
	}
	comch_obj_state_set(&server->obj, RTE_COMCH_STATE_STOPPING);
	TAILQ_FOREACH(conn, &server->conns, server_next)
		comch_conn_close(conn, -ECONNRESET, "server stopped");
	return -EINPROGRESS;
}

int
rte_comch_server_destroy(struct rte_comch_server *server)
{
	if (server == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (comch_obj_state(&server->obj) != RTE_COMCH_STATE_IDLE || server->nb_conns > 0) {
		COMCH_LOG(ERR, "server %s: destroy while not IDLE", server->name);
		return -EBUSY;
	}
	comch_registry_del(&comch_server_registry, &server->entry);
	comch_dev_put(server->dev);
	comch_obj_free_later(&server->obj);
	return 0;
}

enum rte_comch_state
rte_comch_server_state(const struct rte_comch_server *server)
{
	return server == NULL ? RTE_COMCH_STATE_IDLE : comch_obj_state(&server->obj);
}

uint32_t
rte_comch_server_nb_conns(const struct rte_comch_server *server)
{
	return server == NULL ? 0 : comch_load_relaxed(&server->holders.nb_places);
}

uint32_t
rte_comch_server_nb_pending(const struct rte_comch_server *server)
{
	return server == NULL ? 0 : server->nb_pending;
}
