/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The engine: events of the poll, and peer addresses. */

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "comm_channel/cchan.h"
#include "log/log.h"

/* Peer addresses */

static bool
slab_create(struct doca_comm_channel_ep_t *ep)
{
	struct cchan_slab *slab = calloc(1, sizeof(*slab));
	unsigned int i;

	if (slab == NULL)
		return false;
	SLIST_INSERT_HEAD(&ep->slabs, slab, next);
	for (i = 0; i < CCHAN_SLAB; i++) {
		slab->addrs[i].ep = ep;
		TAILQ_INSERT_TAIL(&ep->free_addrs, &slab->addrs[i], next);
	}
	return true;
}

struct doca_comm_channel_addr_t *
impl_cchan_addr_get(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *addr;

	if (TAILQ_EMPTY(&ep->free_addrs) && !slab_create(ep))
		return NULL;
	/* Use the one freed first: stale pointers are then detected for longest. */
	addr = TAILQ_FIRST(&ep->free_addrs);
	TAILQ_REMOVE(&ep->free_addrs, addr, next);
	/* Keep ep, which calls with a stale pointer read without the lock. */
	memset((uint8_t *)addr + sizeof(addr->ep), 0, sizeof(*addr) - sizeof(addr->ep));
	addr->state = CCHAN_CONNECTING;
	addr->serial = ++ep->serial;
	TAILQ_INSERT_TAIL(&ep->addrs, addr, next);
	return addr;
}

/* Drop the unreceived messages of an address. */
static void
drop_unread(struct doca_comm_channel_addr_t *addr)
{
	struct doca_comm_channel_ep_t *ep = addr->ep;
	struct cchan_kept *k, *tmp;
	uint16_t i;

	if (addr->nb_unread == 0)
		return;
	ep->nb_unread -= addr->nb_unread;
	addr->nb_unread = 0;
	/* recvfrom skips events without an address. */
	for (i = ep->next_ev; i < ep->nb_ev; i++)
		if (impl_cchan_addr_of(&ep->ev[i]) == addr)
			ep->ev[i].user_data = 0;
	STAILQ_FOREACH_SAFE(k, &ep->kept, next, tmp) {
		if (k->addr != addr)
			continue;
		STAILQ_REMOVE(&ep->kept, k, cchan_kept, next);
		free(k);
	}
}

void
impl_cchan_addr_put(struct doca_comm_channel_addr_t *addr)
{
	struct doca_comm_channel_ep_t *ep = addr->ep;

	drop_unread(addr);
	/* Return its credits before the connection closes. */
	impl_cchan_return_credits(ep);
	if (addr->native != NULL)
		rte_comch_conn_user_data_set(addr->native, 0);
	if (addr->state == CCHAN_PENDING)
		ep->nb_pending--;
	if (addr->is_blocked)
		ep->nb_blocked--;
	addr->is_blocked = false;
	addr->native = NULL;
	addr->state = CCHAN_FREE;
	/* Wake calls that wait for room. */
	ep->ticks++;
	TAILQ_REMOVE(&ep->addrs, addr, next);
	TAILQ_INSERT_TAIL(&ep->free_addrs, addr, next);
}

uint64_t
impl_cchan_in_flight(const struct doca_comm_channel_addr_t *addr)
{
	struct rte_comch_conn_stats stats;

	if (addr->native == NULL || rte_comch_conn_stats_get(addr->native, &stats) != 0)
		return addr->now.in_flight;
	return stats.in_flight;
}

/* Events */

static void
on_request(struct doca_comm_channel_ep_t *ep, struct rte_comch_conn *conn)
{
	struct doca_comm_channel_addr_t *addr = impl_cchan_addr_get(ep);
	struct rte_comch_conn_info info;

	if (addr == NULL) {
		IMPL_ERR("service: out of memory, refusing a client");
		rte_comch_conn_reject(conn, "no memory");
		return;
	}
	addr->native = conn;
	addr->state = CCHAN_PENDING;
	if (rte_comch_conn_info_get(conn, &info) == 0)
		addr->vport = info.rep;
	rte_comch_conn_user_data_set(conn, (uintptr_t)addr);
	ep->nb_pending++;
	ep->service_changed = true;
}

static void
on_connected(struct doca_comm_channel_addr_t *addr, struct rte_comch_conn *conn)
{
	struct rte_comch_conn_info info;

	addr->native = conn;
	addr->state = CCHAN_UP;
	addr->max_msg_size = addr->ep->max_msg_size;
	if (rte_comch_conn_info_get(conn, &info) == 0)
		addr->max_msg_size = info.max_msg_size;
	addr->ep->ticks++;
	addr->ep->service_changed = true;
}

/* A connection has ended: keep its last statistics. */
static void
on_gone(struct doca_comm_channel_addr_t *addr)
{
	struct doca_comm_channel_ep_t *ep = addr->ep;

	addr->now.in_flight = impl_cchan_in_flight(addr);
	if (addr->state == CCHAN_PENDING)
		ep->nb_pending--;
	addr->state = addr->state == CCHAN_UP ? CCHAN_LOST : CCHAN_REFUSED;
	addr->native = NULL;
	ep->ticks++;
	ep->service_changed = true;
	/* The program never saw it, so it will not disconnect it. */
	if (!addr->is_exposed && addr->nb_unread == 0)
		impl_cchan_addr_put(addr);
}

static void
on_state(struct doca_comm_channel_ep_t *ep, const struct rte_comch_event *event)
{
	struct doca_comm_channel_addr_t *addr;

	/* link.c waits for the ends it requested; those are not reported. */
	if (event->state.next != RTE_COMCH_STATE_IDLE &&
			event->state.next != RTE_COMCH_STATE_STOPPING)
		return;
	if (event->obj_type == RTE_COMCH_OBJ_SERVER) {
		ep->service_lost = true;
		ep->service_changed = true;
		return;
	}
	addr = TAILQ_FIRST(&ep->addrs);
	if (ep->kind != CCHAN_CLIENT || addr == NULL || addr->state != CCHAN_CONNECTING)
		return;
	IMPL_INFO("connect: %s", event->text != NULL ? event->text : "failed");
	on_gone(addr);
}

static void
on_event(struct doca_comm_channel_ep_t *ep, struct rte_comch_event *event)
{
	struct doca_comm_channel_addr_t *addr;

	if (event->type == RTE_COMCH_EVENT_STATE) {
		on_state(ep, event);
		return;
	}
	if (event->type == RTE_COMCH_EVENT_CONNECT_REQUEST) {
		on_request(ep, event->conn);
		return;
	}
	/* An earlier event of this run may have set the connection's address. */
	if (ep->kind == CCHAN_CLIENT)
		event->user_data = (uintptr_t)TAILQ_FIRST(&ep->addrs);
	else if (event->type != RTE_COMCH_EVENT_MSG)
		event->user_data = rte_comch_conn_user_data_get(event->conn);
	addr = impl_cchan_addr_of(event);
	if (addr == NULL)
		return;
	if (event->type == RTE_COMCH_EVENT_MSG) {
		addr->nb_unread++;
		ep->nb_unread++;
	} else if (event->type == RTE_COMCH_EVENT_CONNECTED) {
		on_connected(addr, event->conn);
	} else if (event->type == RTE_COMCH_EVENT_DISCONNECTED) {
		on_gone(addr);
	}
}

/* Copy the messages that the next run would overwrite. */
static bool
keep_rest(struct doca_comm_channel_ep_t *ep)
{
	const struct rte_comch_event *event;
	struct doca_comm_channel_addr_t *addr;
	struct cchan_kept *k;

	for (; ep->next_ev < ep->nb_ev; ep->next_ev++) {
		event = &ep->ev[ep->next_ev];
		if (event->type != RTE_COMCH_EVENT_MSG)
			continue;
		addr = impl_cchan_addr_of(event);
		if (addr == NULL)
			continue;
		k = malloc(sizeof(*k) + event->msg.len);
		if (k == NULL)
			return false;
		k->addr = addr;
		k->len = event->msg.len;
		memcpy(k->data, event->msg.data, event->msg.len);
		STAILQ_INSERT_TAIL(&ep->kept, k, next);
	}
	return true;
}

void
impl_cchan_return_credits(struct doca_comm_channel_ep_t *ep)
{
	if (ep->nb_uncredited > 0 && ep->uncredited->native != NULL)
		rte_comch_conn_msgs_done(ep->uncredited->native, ep->nb_uncredited);
	ep->nb_uncredited = 0;
}

bool
impl_cchan_run(struct doca_comm_channel_ep_t *ep)
{
	uint16_t i;

	if (unlikely(ep->next_ev < ep->nb_ev) && !keep_rest(ep))
		return false;
	impl_cchan_return_credits(ep);
	ep->next_ev = 0;
	ep->nb_sends = 0;
	ep->last_run = rte_rdtsc();
	ep->nb_ev = rte_comch_poll_run(ep->poll, ep->ev, CCHAN_BURST);
	for (i = 0; i < ep->nb_ev; i++)
		on_event(ep, &ep->ev[i]);
	return true;
}

/* Whether the representor has a client already. */
static bool
has_client(const struct doca_comm_channel_addr_t *addr)
{
	const struct rte_comch_server *server = rte_comch_conn_server(addr->native);
	const struct doca_comm_channel_addr_t *a;

	TAILQ_FOREACH(a, &addr->ep->addrs, next)
		if (a != addr && a->native != NULL && a->state != CCHAN_PENDING &&
				rte_comch_conn_server(a->native) == server)
			return true;
	return false;
}

void
impl_cchan_accept(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *addr, *tmp;

	TAILQ_FOREACH_SAFE(addr, &ep->addrs, next, tmp) {
		if (ep->nb_pending == 0)
			return;
		if (addr->state != CCHAN_PENDING)
			continue;
		if (ep->is_102 && has_client(addr)) {
			rte_comch_conn_reject(addr->native, "the function already has a client");
			impl_cchan_addr_put(addr);
			ep->refused = true;
			continue;
		}
		ep->nb_pending--;
		addr->state = CCHAN_CONNECTING;
		/* Fails if the client has given up; the next run reports its end. */
		rte_comch_conn_accept(addr->native);
	}
}
