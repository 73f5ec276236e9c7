/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Sending and receiving. */

#include <stdlib.h>

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_memcpy.h>

#include <doca_comm_channel.h>

#include "base/alias.h"
#include "comm_channel/cchan.h"
#include "ctx/yield.h"

/* A sender that never blocks runs its poll after this number of messages. */
#define SENDS_PER_RUN 16
/* It also checks the clock after this number of messages, for slow senders. */
#define SENDS_PER_LOOK 4

/* Flags of 1.2; later generations have none. */
#define FLAG_DONTWAIT 0x1
#define FLAG_MORE 0x2

static doca_error_t
check_flags(const struct doca_comm_channel_ep_t *ep, int flags)
{
	if (likely(flags == 0))
		return DOCA_SUCCESS;
	if (!ep->is_102 || (flags & ~(FLAG_DONTWAIT | FLAG_MORE)) != 0)
		return DOCA_ERROR_INVALID_VALUE;
	return (flags & FLAG_MORE) != 0 ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS;
}

static bool
may_wait(const struct doca_comm_channel_ep_t *ep, int flags)
{
	return ep->is_102 && !ep->nonblock && (flags & FLAG_DONTWAIT) == 0;
}

/* Sending */

static doca_error_t
check_send(const struct doca_comm_channel_ep_t *ep, const void *msg, size_t len, int flags,
		const struct doca_comm_channel_addr_t *peer)
{
	doca_error_t ret;

	if (unlikely(!impl_cchan_is_peer(ep, peer)))
		return DOCA_ERROR_NOT_CONNECTED;
	ret = check_flags(ep, flags);
	if (unlikely(ret != DOCA_SUCCESS))
		return ret;
	return msg == NULL || len > ep->max_msg_size ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
}

/*
 * Whether the poll must run before a send. Runs bring credits and the loss of the peer.
 * Not while a program sleeps on a channel, which then gets both itself: each run would
 * have to wake it or arm the poll again.
 */
static bool
run_is_due(const struct doca_comm_channel_ep_t *ep)
{
	if (ep->nb_sends % SENDS_PER_LOOK != 0 || ep->nb_active > 0 || ep->nb_unread > 0)
		return false;
	return ep->nb_sends >= SENDS_PER_RUN || rte_rdtsc() - ep->last_run > ep->run_cycles;
}

static doca_error_t
send_now(struct doca_comm_channel_ep_t *ep, const void *msg, size_t len,
		struct doca_comm_channel_addr_t *peer)
{
	struct rte_comch_msg m = {
		.data = msg, .len = (uint32_t)len, .flags = RTE_COMCH_MSG_F_SILENT,
	};

	if (unlikely(peer->state != CCHAN_UP))
		return peer->state >= CCHAN_LOST ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_AGAIN;
	if (unlikely(len > peer->max_msg_size))
		return DOCA_ERROR_INVALID_VALUE;
	/* Send the credit of a message along with the answer to it. */
	if (ep->nb_uncredited > 0)
		impl_cchan_return_credits(ep);
	if (rte_comch_conn_send_burst(peer->native, &m, 1) == 0)
		return DOCA_ERROR_AGAIN;
	ep->nb_sends++;
	ep->was_sent = ep->again_after_send;
	peer->now.send_msgs++;
	peer->now.send_bytes += len;
	return DOCA_SUCCESS;
}

/* Send; with wait, block until there is room. NOT_CONNECTED: disconnected meanwhile. */
static doca_error_t
send_or_wait(struct doca_comm_channel_ep_t *ep, const void *msg, size_t len, bool wait,
		struct doca_comm_channel_addr_t *peer)
{
	doca_error_t ret;

	if (run_is_due(ep))
		impl_cchan_run(ep);
	ret = send_now(ep, msg, len, peer);
	if (ret == DOCA_ERROR_AGAIN) {
		impl_cchan_run(ep);
		ret = send_now(ep, msg, len, peer);
	}
	while (unlikely(ret == DOCA_ERROR_AGAIN && wait)) {
		if (!impl_cchan_wait(ep, peer))
			return DOCA_ERROR_NOT_CONNECTED;
		ret = send_now(ep, msg, len, peer);
	}
	return ret;
}

/* Of a device that has faults: count a message, which may end its connection. */
static bool
reset_is_due(const struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer)
{
	if (!impl_fault_hits(ep->faults, IMPL_FAULT_RESET, "message"))
		return false;
	if (peer->native != NULL)
		rte_comch_conn_abort(peer->native);
	return true;
}

/*
 * Before a send that may go out. DOCA_SUCCESS: go on. A call that waits for room is never told to
 * try again.
 */
static __rte_noinline doca_error_t
count_send(struct doca_comm_channel_ep_t *ep, bool wait, struct doca_comm_channel_addr_t *peer)
{
	doca_error_t ret = DOCA_SUCCESS;

	if (peer->state != CCHAN_UP)
		impl_cchan_run(ep);
	if (peer->state != CCHAN_UP)
		return DOCA_SUCCESS;
	impl_fault_step(ep->faults, "submit or message");
	if (!wait && impl_fault_hits(ep->faults, IMPL_FAULT_AGAIN, "submit"))
		return DOCA_ERROR_AGAIN;
	/* Each is counted, whatever the other says. */
	if (impl_fault_hits(ep->faults, IMPL_FAULT_ERROR, "submit"))
		ret = DOCA_ERROR_IO_FAILED;
	return reset_is_due(ep, peer) ? DOCA_ERROR_CONNECTION_RESET : ret;
}

/* Another thread that uses the endpoint waits with a slow one. */
static __rte_noinline void
count_recv(const struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer)
{
	impl_fault_slow(ep->faults);
	impl_fault_step(ep->faults, "submit or message");
	reset_is_due(ep, peer);
}

static doca_error_t
send_locked(struct doca_comm_channel_ep_t *ep, const void *msg, size_t len, int flags,
		struct doca_comm_channel_addr_t *peer)
{
	doca_error_t ret;

	ret = check_send(ep, msg, len, flags, peer);
	if (unlikely(ret != DOCA_SUCCESS))
		return ret;
	if (unlikely(ep->faults != NULL))
		ret = count_send(ep, may_wait(ep, flags), peer);
	if (likely(ret == DOCA_SUCCESS))
		ret = send_or_wait(ep, msg, len, may_wait(ep, flags), peer);
	if (unlikely(ret == DOCA_ERROR_AGAIN || peer->is_blocked))
		impl_cchan_set_blocked(peer, ret == DOCA_ERROR_AGAIN);
	/* The event is not used up while another peer is blocked. */
	if (ret == DOCA_ERROR_AGAIN || ep->nb_blocked == 0)
		impl_cchan_checked(ep, CCHAN_EVENT_SEND, ret != DOCA_ERROR_AGAIN);
	impl_cchan_settle(ep);
	return ret;
}

/* Call this without the lock, so that other threads can use the endpoint. */
static inline void
yield_after(doca_error_t ret)
{
	if (ret == DOCA_ERROR_AGAIN)
		impl_yield_idle();
	else
		impl_yield_busy();
}

doca_error_t
doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg, size_t len,
		int flags, struct doca_comm_channel_addr_t *peer_addr)
{
	doca_error_t ret;

	if (unlikely(local_ep == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(local_ep);
	ret = send_locked(local_ep, msg, len, flags, peer_addr);
	impl_cchan_unlock(local_ep);
	yield_after(ret);
	return ret;
}

/* Receiving */

/* The oldest unreceived message. False: there is none. */
static bool
oldest(struct doca_comm_channel_ep_t *ep, struct cchan_msg *m)
{
	const struct rte_comch_event *event;
	struct cchan_kept *k = STAILQ_FIRST(&ep->kept);

	if (unlikely(k != NULL)) {
		*m = (struct cchan_msg){ k->addr, k->data, k->len };
		return true;
	}
	for (; ep->next_ev < ep->nb_ev; ep->next_ev++) {
		event = &ep->ev[ep->next_ev];
		if (event->type != RTE_COMCH_EVENT_MSG)
			continue;
		m->addr = impl_cchan_addr_of(event);
		if (unlikely(m->addr == NULL))
			continue;
		m->data = event->msg.data;
		m->len = event->msg.len;
		return true;
	}
	return false;
}

/* Account for a received message: the peer may send another. */
static void
on_received(struct doca_comm_channel_ep_t *ep, const struct cchan_msg *m)
{
	struct doca_comm_channel_addr_t *addr = m->addr;
	struct cchan_kept *k = STAILQ_FIRST(&ep->kept);

	addr->is_exposed = true;
	addr->now.recv_msgs++;
	addr->now.recv_bytes += m->len;
	addr->nb_unread--;
	ep->nb_unread--;
	/* Credits are returned for many messages at once. */
	if (unlikely(ep->uncredited != addr)) {
		impl_cchan_return_credits(ep);
		ep->uncredited = addr;
	}
	ep->nb_uncredited++;
	if (likely(k == NULL)) {
		ep->next_ev++;
		return;
	}
	STAILQ_REMOVE_HEAD(&ep->kept, next);
	free(k);
}

static doca_error_t
take(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len,
		struct doca_comm_channel_addr_t **peer)
{
	size_t room = *len;
	struct cchan_msg m;

	if (ep->nb_unread == 0 || !oldest(ep, &m))
		return DOCA_ERROR_AGAIN;
	*len = m.len;
	*peer = m.addr;
	if (unlikely(m.len > room))
		return DOCA_ERROR_INVALID_VALUE;
	rte_memcpy(msg, m.data, m.len);
	on_received(ep, &m);
	return DOCA_SUCCESS;
}

/* Without a message, report changes of connections. */
static doca_error_t
no_message(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t **peer)
{
	struct doca_comm_channel_addr_t *addr = TAILQ_FIRST(&ep->addrs);

	if (unlikely(ep->refused)) {
		ep->refused = false;
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	/* Later generations report it with the state of the service. */
	if (ep->is_102 && ep->service_lost)
		return DOCA_ERROR_CONNECTION_RESET;
	if (ep->kind != CCHAN_CLIENT || addr->state < CCHAN_LOST)
		return DOCA_ERROR_AGAIN;
	*peer = addr;
	return addr->state == CCHAN_LOST ? DOCA_ERROR_CONNECTION_RESET :
		DOCA_ERROR_CONNECTION_ABORTED;
}

/* Run the poll and accept clients; then check for messages again. */
static void
advance(struct doca_comm_channel_ep_t *ep)
{
	impl_cchan_run(ep);
	if (unlikely(ep->nb_pending > 0)) {
		impl_cchan_accept(ep);
		impl_cchan_run(ep);
	}
}

static doca_error_t
receive(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len, bool wait,
		struct doca_comm_channel_addr_t **peer)
{
	doca_error_t ret;

	ret = take(ep, msg, len, peer);
	if (ret != DOCA_ERROR_AGAIN)
		return ret;
	for (;;) {
		advance(ep);
		ret = take(ep, msg, len, peer);
		if (ret == DOCA_ERROR_AGAIN)
			ret = no_message(ep, peer);
		if (ret != DOCA_ERROR_AGAIN || !wait)
			return ret;
		if (!impl_cchan_wait(ep, NULL))
			return DOCA_ERROR_NOT_CONNECTED;
	}
}

static doca_error_t
recv_locked(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len, int flags,
		struct doca_comm_channel_addr_t **peer)
{
	doca_error_t ret;

	ret = check_flags(ep, flags);
	if (unlikely(ret != DOCA_SUCCESS))
		return ret;
	if (unlikely(ep->kind == CCHAN_NONE))
		return DOCA_ERROR_NOT_CONNECTED;
	/* The event of a message that is there is not used up. */
	if (unlikely(ep->was_sent) && !may_wait(ep, flags)) {
		ep->was_sent = false;
		impl_cchan_settle(ep);
		return DOCA_ERROR_AGAIN;
	}
	ret = receive(ep, msg, len, may_wait(ep, flags), peer);
	if (unlikely(ep->faults != NULL) && ret == DOCA_SUCCESS)
		count_recv(ep, *peer);
	impl_cchan_checked(ep, CCHAN_EVENT_RECV, ret != DOCA_ERROR_AGAIN);
	impl_cchan_settle(ep);
	return ret;
}

doca_error_t
doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg, size_t *len,
		int flags, struct doca_comm_channel_addr_t **peer_addr)
{
	doca_error_t ret;

	if (unlikely(local_ep == NULL || msg == NULL || len == NULL || peer_addr == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(local_ep);
	ret = recv_locked(local_ep, msg, len, flags, peer_addr);
	impl_cchan_unlock(local_ep);
	yield_after(ret);
	return ret;
}

IMPL_ALIAS(doca_comm_channel_ep_rcvfrom, doca_comm_channel_ep_recvfrom);

IMPL_ALIAS(doca_comm_channel_rp_recvfrom, doca_comm_channel_ep_recvfrom);
