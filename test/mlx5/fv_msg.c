/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Messages of the connection manager, which take their time and get lost. */

#include "fv_private.h"

static struct fv_msg *
msg_alloc(enum fv_msg_type type)
{
	struct fv_msg *m = calloc(1, sizeof(*m));

	if (m == NULL)
		FV_DIE("out of memory");
	m->type = type;
	TAILQ_INSERT_TAIL(&fv.msgs, m, next);
	return m;
}

struct fv_msg *
fv_msg_new(struct fv_id *from, enum fv_msg_type type)
{
	struct fv_msg *m = msg_alloc(type);

	m->due = fv_wire_due(&from->last_due);
	m->from = from->num;
	m->to = from->peer;
	m->sgid = from->sgid;
	m->dgid = from->dgid;
	return m;
}

void
fv_msg_local(struct fv_id *id, enum rdma_cm_event_type type, int status, uint64_t in_ms)
{
	struct fv_msg *m = fv_msg_new(id, FV_MSG_LOCAL);

	if (in_ms > 0)
		m->due = fv_now() + in_ms * 1000;
	m->to = id->num;
	m->event = type;
	m->status = status;
}

void
fv_msgs_forget(void)
{
	struct fv_msg *m;

	while ((m = TAILQ_FIRST(&fv.msgs)) != NULL) {
		TAILQ_REMOVE(&fv.msgs, m, next);
		free(m);
	}
}

void
fv_send_rej(struct fv_id *id, int reason, const void *data, uint8_t len)
{
	struct fv_msg *m = fv_msg_new(id, FV_MSG_REJ);

	m->status = reason;
	m->len = FV_REJ_DATA;
	if (len > 0)
		memcpy(m->data, data, len);
}

/* What the kernel tells the other end for an id that goes away. */
void
fv_conn_destroy(struct fv_id *id)
{
	switch (id->state) {
	case FV_ID_REQ_SENT:
		fv_send_rej(id, FV_REJ_TIMEOUT, NULL, 0);
		break;
	case FV_ID_REQ_RCVD:
	case FV_ID_REP_SENT:
	case FV_ID_REP_RCVD:
		fv_send_rej(id, FV_REJ_CONSUMER, NULL, 0);
		break;
	case FV_ID_UP:
		fv_msg_new(id, FV_MSG_DREQ);
		break;
	case FV_ID_DREQ_RCVD:
		fv_msg_new(id, FV_MSG_DREP);
		break;
	default:
		break;
	}
	id->state = FV_ID_OVER;
}

static void
event(struct fv_id *id, enum rdma_cm_event_type type, int status)
{
	fv_cm_event_put(fv_cm_event(id, type, status));
}

static void
event_conn(struct fv_id *id, enum rdma_cm_event_type type, const struct fv_msg *m)
{
	struct fv_cm_ev *ev = fv_cm_event(id, type, m->status);
	struct rdma_conn_param *p = &ev->rdma.param.conn;

	memcpy(ev->data, m->data, sizeof(ev->data));
	p->private_data = ev->data;
	p->private_data_len = m->len;
	p->responder_resources = m->param.responder_resources;
	p->initiator_depth = m->param.initiator_depth;
	p->flow_control = m->param.flow_control;
	p->retry_count = m->param.retry_count;
	p->rnr_retry_count = m->param.rnr_retry_count;
	p->srq = m->param.srq;
	p->qp_num = m->param.qpn;
	fv_cm_event_put(ev);
}

/* The connection has ended; later nothing of it is in flight. */
static void
disconnected(struct fv_id *id, enum fv_id_state state)
{
	id->state = state;
	event(id, RDMA_CM_EVENT_DISCONNECTED, 0);
	if (state == FV_ID_OVER)
		fv_msg_local(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, fv.conf.timewait_ms);
}

static struct fv_id *
find_listener(const struct fv_msg *m)
{
	struct fv_id *id;

	TAILQ_FOREACH(id, &fv.ids, next)
		if (id->state == FV_ID_LISTEN &&
				fv_id_port(&id->rdma.route.addr.src_storage) == m->dport &&
				(id->any_addr || memcmp(&id->sgid, &m->dgid,
					sizeof(id->sgid)) == 0))
			return id;
	return NULL;
}

/* An answer of the kernel to a request that no id is for. */
static void
refuse_req(const struct fv_msg *req, int reason)
{
	struct fv_msg *m = msg_alloc(FV_MSG_REJ);

	m->due = req->due;
	m->to = req->from;
	m->sgid = req->dgid;
	m->dgid = req->sgid;
	m->status = reason;
	m->len = FV_REJ_DATA;
}

static void
on_req(const struct fv_msg *m)
{
	struct fv_id *listener = find_listener(m);
	struct rdma_cm_event *rdma;
	struct fv_event_channel *ch;
	struct fv_dev *dev;
	struct fv_id *id;
	struct fv_cm_ev *ev;
	int index;

	if (listener == NULL) {
		refuse_req(m, FV_REJ_NO_LISTENER);
		return;
	}
	if (listener->nb_requests >= listener->backlog) {
		refuse_req(m, FV_REJ_CONSUMER);
		return;
	}
	ch = FV_OF(listener->rdma.channel, struct fv_event_channel, rdma);
	id = fv_id_new(ch, listener->rdma.context, listener->rdma.ps);
	dev = fv_dev_of_gid(&m->dgid, &index);
	fv_id_set_dev(id, dev, index);
	id->dgid = m->sgid;
	id->rdma.route.addr.addr.ibaddr.dgid = m->sgid;
	fv_sockaddr_of_gid(&id->rdma.route.addr.src_storage, &m->dgid, m->dport);
	fv_sockaddr_of_gid(&id->rdma.route.addr.dst_storage, &m->sgid, m->sport);
	id->peer = m->from;
	id->theirs = m->param;
	id->tos = listener->tos;
	id->state = FV_ID_REQ_RCVD;
	listener->nb_requests++;
	event_conn(listener, RDMA_CM_EVENT_CONNECT_REQUEST, m);
	/* It is the listener's event, about the new id. */
	ev = FV_OF(TAILQ_LAST(&ch->events.list, fv_ev_list), struct fv_cm_ev, ev);
	ev->made = id->num;
	rdma = &ev->rdma;
	rdma->listen_id = &listener->rdma;
	rdma->id = &id->rdma;
}

static void
on_rej(struct fv_id *id, const struct fv_msg *m)
{
	if (id->state < FV_ID_REQ_SENT || id->state > FV_ID_UP)
		return;
	id->state = FV_ID_OVER;
	event_conn(id, RDMA_CM_EVENT_REJECTED, m);
}

static void
on_dreq(struct fv_id *id)
{
	if (id->state == FV_ID_DREQ_SENT) {
		/* Both ask at once. */
		fv_msg_new(id, FV_MSG_DREP);
		disconnected(id, FV_ID_OVER);
	} else if (id->state == FV_ID_UP || id->state == FV_ID_REP_SENT) {
		disconnected(id, FV_ID_DREQ_RCVD);
	}
}

static void
on_local(struct fv_id *id, const struct fv_msg *m)
{
	switch (m->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		id->state = FV_ID_ADDR;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		id->state = FV_ID_ROUTE;
		id->rdma.route.num_paths = 1;
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		id->state = FV_ID_IDLE;
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		id->state = FV_ID_ADDR;
		break;
	default:
		break;
	}
	event(id, m->event, m->status);
}

/* Whom a message is for. A requester that gave up does not know the other's number. */
static struct fv_id *
addressee(const struct fv_msg *m)
{
	struct fv_id *id;

	if (m->to != 0)
		return fv_id_by_num(m->to);
	TAILQ_FOREACH(id, &fv.ids, next)
		if (id->peer == m->from)
			return id;
	return NULL;
}

/* A message arrives. */
static void
arrive(const struct fv_msg *m)
{
	struct fv_id *id = addressee(m);

	if (m->type == FV_MSG_REQ) {
		on_req(m);
		return;
	}
	if (id == NULL) {
		struct fv_id *from = fv_id_by_num(m->from);

		/* The kernel of a process that is gone agrees to the end. */
		if (m->type == FV_MSG_DREQ && from != NULL && from->state == FV_ID_DREQ_SENT)
			disconnected(from, FV_ID_OVER);
		return;
	}
	if (m->type == FV_MSG_LOCAL) {
		on_local(id, m);
	} else if (m->type == FV_MSG_REP && id->state == FV_ID_REQ_SENT) {
		id->state = FV_ID_REP_RCVD;
		id->peer = m->from;
		id->theirs = m->param;
		event_conn(id, RDMA_CM_EVENT_CONNECT_RESPONSE, m);
	} else if (m->type == FV_MSG_RTU && id->state == FV_ID_REP_SENT) {
		id->state = FV_ID_UP;
		event(id, RDMA_CM_EVENT_ESTABLISHED, 0);
	} else if (m->type == FV_MSG_REJ) {
		on_rej(id, m);
	} else if (m->type == FV_MSG_DREQ) {
		on_dreq(id);
	} else if (m->type == FV_MSG_DREP && id->state == FV_ID_DREQ_SENT) {
		disconnected(id, FV_ID_OVER);
	}
}

static void
unreachable(struct fv_id *id, enum fv_id_state state)
{
	if (id == NULL || id->state != state)
		return;
	id->state = FV_ID_OVER;
	event(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

/* A message did not arrive in time. */
static void
give_up(const struct fv_msg *m)
{
	struct fv_id *from = m->from == 0 ? NULL : fv_id_by_num(m->from);
	struct fv_id *to = m->to == 0 ? NULL : fv_id_by_num(m->to);

	switch (m->type) {
	case FV_MSG_REQ:
		unreachable(from, FV_ID_REQ_SENT);
		break;
	case FV_MSG_REP:
		unreachable(from, FV_ID_REP_SENT);
		break;
	case FV_MSG_RTU:
		unreachable(to, FV_ID_REP_SENT);
		break;
	case FV_MSG_REJ:
		unreachable(to, FV_ID_REQ_SENT);
		unreachable(to, FV_ID_REP_SENT);
		break;
	case FV_MSG_DREQ:
		if (from != NULL && from->state == FV_ID_DREQ_SENT)
			disconnected(from, FV_ID_OVER);
		break;
	case FV_MSG_DREP:
		if (to != NULL && to->state == FV_ID_DREQ_SENT)
			disconnected(to, FV_ID_OVER);
		break;
	default:
		break;
	}
}

/* Can it arrive? A reply to an id that is gone is lost, too. */
static bool
gets_through(const struct fv_msg *m)
{
	if (m->type == FV_MSG_LOCAL || m->is_last)
		return true;
	if (m->type == FV_MSG_REP && fv_id_by_num(m->to) == NULL)
		return false;
	return fv_cm_path_ok(&m->sgid, &m->dgid);
}

/* True: the message is dealt with. */
static bool
run_msg(struct fv_msg *m, uint64_t now, uint64_t *next)
{
	const uint64_t us = fv.conf.cm_timeout_ms * 1000ull;

	if (m->due > now) {
		*next = FV_MIN(*next, m->due);
		return false;
	}
	if (fv_wire_is_held())
		return false;
	if (gets_through(m)) {
		fv_step_take();
		arrive(m);
		return true;
	}
	if (m->blocked_since == 0)
		m->blocked_since = now;
	if (now - m->blocked_since >= us) {
		give_up(m);
		return true;
	}
	*next = FV_MIN(*next, m->blocked_since + us);
	return false;
}

bool
fv_cm_run(uint64_t now, uint64_t *next)
{
	struct fv_msg *m, *tmp;
	bool moved = false;

	FV_FOREACH_SAFE(m, &fv.msgs, next, tmp) {
		if (!run_msg(m, now, next))
			continue;
		/* It may have added others. */
		tmp = TAILQ_NEXT(m, next);
		TAILQ_REMOVE(&fv.msgs, m, next);
		free(m);
		moved = true;
	}
	return moved;
}
