/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* rdma_cm of the fake verbs, as a driver with queue pairs of its own uses it. */

#include <fcntl.h>

#include "u_fv.h"

#define PORT 4711

/** A server's and a client's channel, and their ids. */
struct u_cm {
	struct rdma_event_channel *sch, *cch;
	struct rdma_cm_id *listen, *server, *client;
	struct ibv_qp *sqp, *cqp;
	struct u_ends ends;
};

static struct sockaddr *
addr_of(const char *text, uint16_t port)
{
	static struct sockaddr_in sin[4];
	static unsigned int next;
	struct sockaddr_in *s = &sin[next++ % 4];

	memset(s, 0, sizeof(*s));
	s->sin_family = AF_INET;
	s->sin_port = htons(port);
	T_EQ(inet_pton(AF_INET, text, &s->sin_addr), 1);
	return (struct sockaddr *)s;
}

static struct rdma_event_channel *
channel(void)
{
	struct rdma_event_channel *ch = fv_glue.create_event_channel();

	T_CHECK(ch != NULL);
	T_EQ(fcntl(ch->fd, F_SETFL, fcntl(ch->fd, F_GETFL) | O_NONBLOCK), 0);
	return ch;
}

/* The next event, which must be of this type. */
static struct rdma_cm_event *
event(struct rdma_event_channel *ch, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event *ev;

	T_CHECK(t_readable(ch->fd, T_TIMEOUT_MS));
	T_EQ(fv_glue.get_cm_event(ch, &ev), 0);
	T_EQ(ev->event, type);
	T_EQ(ev->status, status);
	return ev;
}

static void
ack(struct rdma_cm_event *ev)
{
	T_EQ(fv_glue.ack_cm_event(ev), 0);
}

static void
expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type, int status)
{
	ack(event(ch, type, status));
}

static bool
is_silent(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *ev;

	return fv_glue.get_cm_event(ch, &ev) == -1 && errno == EAGAIN;
}

static void
client_open(struct u_cm *u, const char *from, const char *to, uint16_t port)
{
	T_EQ(fv_glue.create_id(u->cch, &u->client, u, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.resolve_addr(u->client, addr_of(from, 0), addr_of(to, port), 1000), 0);
	expect(u->cch, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	T_EQ(fv_glue.resolve_route(u->client, 1000), 0);
	expect(u->cch, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

static int
client_connect(struct u_cm *u, const void *data, uint8_t len)
{
	struct rdma_conn_param param = {
		.private_data = data, .private_data_len = len, .qp_num = u->cqp->qp_num,
		.responder_resources = 3, .initiator_depth = 2, .retry_count = 5,
		.rnr_retry_count = 6,
	};

	return fv_glue.connect(u->client, &param);
}

static int
server_accept(struct u_cm *u, const void *data, uint8_t len)
{
	struct rdma_conn_param param = {
		.private_data = data, .private_data_len = len, .qp_num = u->sqp->qp_num,
		.responder_resources = 2, .initiator_depth = 3, .rnr_retry_count = 4,
	};

	return fv_glue.accept(u->server, &param);
}

static void
move_qp(struct rdma_cm_id *id, struct ibv_qp *qp)
{
	const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS };
	struct ibv_qp_attr attr;
	unsigned int i;
	int mask;

	for (i = 0; i < RTE_DIM(states); i++) {
		memset(&attr, 0, sizeof(attr));
		attr.qp_state = states[i];
		T_EQ(fv_glue.init_qp_attr(id, &attr, &mask), 0);
		T_EQ(fv_glue.modify_qp(qp, &attr, mask), 0);
	}
}

static void
cm_open(struct u_cm *u)
{
	memset(u, 0, sizeof(*u));
	u_end_open(&u->ends.a, "fv0");
	u_end_open(&u->ends.b, "fv1");
	u->cqp = u->ends.a.qp;
	u->sqp = u->ends.b.qp;
	u->sch = channel();
	u->cch = channel();
	T_EQ(fv_glue.create_id(u->sch, &u->listen, u, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.bind_addr(u->listen, addr_of("10.0.1.1", PORT)), 0);
	T_CHECK(u->listen->verbs == fv_ctx("fv1"));
	T_EQ(fv_glue.listen(u->listen, 2), 0);
}

static void
cm_close(struct u_cm *u)
{
	if (u->client != NULL)
		T_EQ(fv_glue.destroy_id(u->client), 0);
	if (u->server != NULL)
		T_EQ(fv_glue.destroy_id(u->server), 0);
	if (u->listen != NULL)
		T_EQ(fv_glue.destroy_id(u->listen), 0);
	fv_glue.destroy_event_channel(u->sch);
	fv_glue.destroy_event_channel(u->cch);
	u_close(&u->ends);
}

/* The request that the server sees. */
static void
take_request(struct u_cm *u)
{
	struct rdma_cm_event *ev = event(u->sch, RDMA_CM_EVENT_CONNECT_REQUEST, 0);

	T_CHECK(ev->listen_id == u->listen);
	T_CHECK(ev->id->context == u);
	u->server = ev->id;
	ack(ev);
}

static void
connect_both(struct u_cm *u)
{
	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(client_connect(u, NULL, 0), 0);
	take_request(u);
	move_qp(u->server, u->sqp);
	T_EQ(server_accept(u, NULL, 0), 0);
	expect(u->cch, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	move_qp(u->client, u->cqp);
	T_EQ(fv_glue.establish(u->client), 0);
	expect(u->sch, RDMA_CM_EVENT_ESTABLISHED, 0);
}

#define CM_CASE(name) T_CASE_OF(struct u_cm, cm_open, cm_close, name, u)

CM_CASE(connecting_tells_both_ends_of_each_other)
{
	const struct sockaddr_in *sin;
	struct rdma_cm_event *ev;

	client_open(u, "10.0.0.2", "10.0.1.1", PORT);
	T_EQ(client_connect(u, "hello", 5), 0);
	ev = event(u->sch, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	u->server = ev->id;
	/* Always of the full size. */
	T_EQ(ev->param.conn.private_data_len, 56);
	T_EQ(memcmp(ev->param.conn.private_data, "hello\0", 6), 0);
	T_EQ(ev->param.conn.qp_num, u->cqp->qp_num);
	T_EQ(ev->param.conn.retry_count, 5);
	ack(ev);
	sin = (const void *)&u->server->route.addr.dst_addr;
	T_EQ(sin->sin_addr.s_addr, inet_addr("10.0.0.2"));
	T_NE(sin->sin_port, 0);
	sin = (const void *)&u->server->route.addr.src_addr;
	T_EQ(sin->sin_addr.s_addr, inet_addr("10.0.1.1"));
	T_EQ(sin->sin_port, htons(PORT));
	T_CHECK(u->server->verbs == fv_ctx("fv1"));
	move_qp(u->server, u->sqp);
	T_EQ(server_accept(u, "hi", 2), 0);
	ev = event(u->cch, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	T_EQ(ev->param.conn.private_data_len, 196);
	T_EQ(ev->param.conn.qp_num, u->sqp->qp_num);
	ack(ev);
	/* Not before the client has said so. */
	T_CHECK(is_silent(u->sch));
	move_qp(u->client, u->cqp);
	T_EQ(fv_glue.establish(u->client), 0);
	expect(u->sch, RDMA_CM_EVENT_ESTABLISHED, 0);

	T_EQ(u_recv(&u->ends.b, 1, 0, 8), 0);
	T_EQ(u_send(&u->ends.a, 2, 0, 8, IBV_SEND_SIGNALED), 0);
	u_expect(&u->ends.b, 1, IBV_WC_SUCCESS);
	u_expect(&u->ends.a, 2, IBV_WC_SUCCESS);
	T_EQ(u_recv(&u->ends.a, 1, 0, 8), 0);
	T_EQ(u_send(&u->ends.b, 2, 0, 8, IBV_SEND_SIGNALED), 0);
	u_expect(&u->ends.a, 1, IBV_WC_SUCCESS);
}

CM_CASE(attributes_are_those_of_the_kernel)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	uint8_t tos = 0x68;
	int mask;

	T_EQ(fv_glue.create_id(u->cch, &u->client, u, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.init_qp_attr(u->client, &attr, &mask), -1);
	T_EQ(fv_glue.destroy_id(u->client), 0);
	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(fv_glue.set_option(u->client, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	T_EQ(fv_glue.init_qp_attr(u->client, &attr, &mask), 0);
	T_EQ(attr.qp_access_flags, 0);
	attr.qp_state = IBV_QPS_RTR;
	T_EQ(fv_glue.init_qp_attr(u->client, &attr, &mask), -1);
	T_EQ(errno, EINVAL);
	T_EQ(client_connect(u, NULL, 0), 0);
	take_request(u);
	attr.qp_state = IBV_QPS_INIT;
	T_EQ(fv_glue.init_qp_attr(u->server, &attr, &mask), 0);
	T_EQ(attr.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	T_EQ(server_accept(u, NULL, 0), 0);
	expect(u->cch, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	attr.qp_state = IBV_QPS_RTR;
	T_EQ(fv_glue.init_qp_attr(u->client, &attr, &mask), 0);
	T_EQ(attr.ah_attr.grh.traffic_class, tos);
	T_EQ(attr.dest_qp_num, u->sqp->qp_num);
	T_EQ(attr.min_rnr_timer, 0);
	attr.qp_state = IBV_QPS_RTS;
	T_EQ(fv_glue.init_qp_attr(u->client, &attr, &mask), 0);
	T_EQ(attr.rnr_retry, 4);
	T_EQ(attr.retry_cnt, 5);
}

CM_CASE(addresses_and_ports_are_taken_once)
{
	struct rdma_cm_id *id, *other;
	int on = 1;

	T_EQ(fv_glue.create_id(u->sch, &id, NULL, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.bind_addr(id, addr_of("10.5.5.5", PORT)), -1);
	T_EQ(errno, EADDRNOTAVAIL);
	T_EQ(fv_glue.bind_addr(id, addr_of("10.0.1.1", PORT)), -1);
	T_EQ(errno, EADDRINUSE);
	T_EQ(fv_glue.bind_addr(id, addr_of("0.0.0.0", PORT)), -1);
	T_EQ(errno, EADDRINUSE);
	T_EQ(fv_glue.listen(id, 1), -1);
	T_EQ(errno, EINVAL);
	/* Another function on the same device. */
	T_EQ(fv_glue.bind_addr(id, addr_of("10.0.1.2", PORT)), 0);
	T_EQ(fv_glue.listen(id, 1), 0);
	T_EQ(fv_glue.destroy_id(id), 0);
	/* Free at once. */
	T_EQ(fv_glue.create_id(u->sch, &id, NULL, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.bind_addr(id, addr_of("0.0.0.0", PORT + 1)), 0);
	T_CHECK(id->verbs == NULL);
	T_EQ(fv_glue.create_id(u->sch, &other, NULL, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.set_option(other, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on,
			sizeof(on)), 0);
	T_EQ(fv_glue.bind_addr(other, addr_of("10.0.1.2", PORT + 1)), -1);
	T_EQ(errno, EADDRINUSE);
	T_EQ(fv_glue.destroy_id(other), 0);
	T_EQ(fv_glue.destroy_id(id), 0);
}

CM_CASE(private_data_has_limits)
{
	char data[200] = "";

	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(client_connect(u, data, 57), -1);
	T_EQ(errno, EINVAL);
	T_EQ(client_connect(u, data, 56), 0);
	take_request(u);
	T_EQ(server_accept(u, data, 197), -1);
	T_EQ(fv_glue.reject(u->server, data, 149), -1);
	T_EQ(errno, EINVAL);
	T_EQ(server_accept(u, data, 196), 0);
	expect(u->cch, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
}

CM_CASE(rejections_tell_the_reason)
{
	struct rdma_cm_event *ev;

	client_open(u, "10.0.0.1", "10.0.1.1", PORT + 1);
	T_EQ(client_connect(u, NULL, 0), 0);
	expect(u->cch, RDMA_CM_EVENT_REJECTED, 8);
	T_EQ(fv_glue.destroy_id(u->client), 0);

	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(client_connect(u, NULL, 0), 0);
	take_request(u);
	T_EQ(fv_glue.reject(u->server, "no", 2), 0);
	ev = event(u->cch, RDMA_CM_EVENT_REJECTED, 28);
	T_EQ(ev->param.conn.private_data_len, 148);
	T_EQ(memcmp(ev->param.conn.private_data, "no", 3), 0);
	ack(ev);
	T_EQ(fv_glue.destroy_id(u->client), 0);
	T_EQ(fv_glue.destroy_id(u->server), 0);

	/* Also by going away. */
	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(client_connect(u, NULL, 0), 0);
	take_request(u);
	T_EQ(fv_glue.destroy_id(u->server), 0);
	u->server = NULL;
	expect(u->cch, RDMA_CM_EVENT_REJECTED, 28);
}

CM_CASE(requests_go_with_their_listener)
{
	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(client_connect(u, NULL, 0), 0);
	T_CHECK(t_readable(u->sch->fd, 0));
	T_EQ(fv_glue.destroy_id(u->listen), 0);
	u->listen = NULL;
	T_CHECK(is_silent(u->sch));
	expect(u->cch, RDMA_CM_EVENT_REJECTED, 28);
	T_EQ(fv_nb_live(FV_ID), 1);
}

CM_CASE(backlog_counts_requests_that_were_not_got)
{
	struct rdma_cm_id *ids[3], *made;
	struct rdma_cm_event *ev;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		client_open(u, "10.0.0.1", "10.0.1.1", PORT);
		ids[i] = u->client;
		T_EQ(client_connect(u, NULL, 0), 0);
	}
	u->client = NULL;
	ev = event(u->cch, RDMA_CM_EVENT_REJECTED, 28);
	T_CHECK(ev->id == ids[2]);
	ack(ev);
	ev = event(u->sch, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	made = ev->id;
	ack(ev);
	T_EQ(fv_glue.destroy_id(made), 0);
	expect(u->cch, RDMA_CM_EVENT_REJECTED, 28);
	for (i = 0; i < 3; i++)
		T_EQ(fv_glue.destroy_id(ids[i]), 0);
}

CM_CASE(disconnecting_takes_both)
{
	connect_both(u);
	T_EQ(fv_glue.disconnect(u->client), 0);
	expect(u->sch, RDMA_CM_EVENT_DISCONNECTED, 0);
	/* The other end has not agreed yet. */
	T_CHECK(is_silent(u->cch));
	T_EQ(fv_glue.disconnect(u->server), 0);
	expect(u->cch, RDMA_CM_EVENT_DISCONNECTED, 0);
	expect(u->cch, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	expect(u->sch, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	/* Once more changes nothing. */
	T_EQ(fv_glue.disconnect(u->client), 0);
	T_CHECK(is_silent(u->sch));
}

/* As the kernel does for a process that was killed. */
CM_CASE(destroying_disconnects)
{
	connect_both(u);
	T_EQ(fv_glue.destroy_id(u->server), 0);
	u->server = NULL;
	expect(u->cch, RDMA_CM_EVENT_DISCONNECTED, 0);
	T_EQ(fv_glue.disconnect(u->client), 0);
	T_CHECK(t_readable(u->cch->fd, T_TIMEOUT_MS));
	expect(u->cch, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
}

CM_CASE(giving_up_before_the_answer)
{
	connect_both(u);
	T_EQ(fv_glue.destroy_id(u->client), 0);
	T_EQ(fv_glue.destroy_id(u->server), 0);
	u->server = NULL;
	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(client_connect(u, NULL, 0), 0);
	T_EQ(fv_glue.destroy_id(u->client), 0);
	u->client = NULL;
	take_request(u);
	expect(u->sch, RDMA_CM_EVENT_REJECTED, 4);
	T_EQ(server_accept(u, NULL, 0), -1);
	T_EQ(errno, EINVAL);
	T_EQ(fv_glue.destroy_id(u->server), 0);
	u->server = NULL;

	/* With the answer on its way, and after it. */
	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(client_connect(u, NULL, 0), 0);
	take_request(u);
	T_EQ(server_accept(u, NULL, 0), 0);
	T_EQ(fv_glue.destroy_id(u->client), 0);
	u->client = NULL;
	expect(u->sch, RDMA_CM_EVENT_REJECTED, 28);
}

CM_CASE(resolving_fails_by_an_event)
{
	struct rdma_cm_id *id;

	T_EQ(fv_glue.create_id(u->cch, &id, NULL, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.resolve_addr(id, addr_of("10.7.7.7", 0), addr_of("10.0.1.1", 1), 10), -1);
	T_EQ(errno, EADDRNOTAVAIL);
	T_EQ(fv_glue.resolve_addr(id, addr_of("10.0.0.1", 0), addr_of("10.7.7.7", 1), 10), 0);
	expect(u->cch, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	fv_fail_call(FV_CALL_ADDR_RESOLVED, 0, ENETUNREACH);
	T_EQ(fv_glue.resolve_addr(id, NULL, addr_of("10.0.1.1", 1), 10), 0);
	expect(u->cch, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
	T_EQ(fv_glue.resolve_route(id, 10), -1);
	T_EQ(fv_glue.resolve_addr(id, NULL, addr_of("10.0.1.1", 1), 10), 0);
	expect(u->cch, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	fv_fail_call(FV_CALL_ROUTE_RESOLVED, 0, EIO);
	T_EQ(fv_glue.resolve_route(id, 10), 0);
	expect(u->cch, RDMA_CM_EVENT_ROUTE_ERROR, -EIO);
	T_EQ(fv_glue.destroy_id(id), 0);
}

CM_CASE(cut_wire_makes_all_unreachable)
{
	struct fv_conf conf;

	fv_conf_default(&conf);
	conf.cm_timeout_ms = 20;
	fv_configure(&conf);
	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	fv_cut("10.0.1.1", "10.0.0.1");
	T_EQ(client_connect(u, NULL, 0), 0);
	expect(u->cch, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	T_CHECK(is_silent(u->sch));
	T_EQ(fv_glue.destroy_id(u->client), 0);
	/* Another address of the same device gets through. */
	client_open(u, "10.0.0.2", "10.0.1.1", PORT);
	T_EQ(client_connect(u, NULL, 0), 0);
	take_request(u);
	/* The answer is lost. */
	fv_cut(NULL, "10.0.1.1");
	T_EQ(server_accept(u, NULL, 0), 0);
	expect(u->sch, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	T_EQ(fv_glue.destroy_id(u->server), 0);
	T_EQ(fv_glue.destroy_id(u->client), 0);
	fv_restore(NULL, "10.0.1.1");
	fv_restore("10.0.1.1", "10.0.0.1");
	connect_both(u);
	/* Its end is not heard of there; here it is after a time. */
	fv_cut(NULL, NULL);
	T_EQ(fv_glue.disconnect(u->client), 0);
	expect(u->cch, RDMA_CM_EVENT_DISCONNECTED, 0);
	T_CHECK(is_silent(u->sch));
}

CM_CASE(ids_migrate_with_their_events)
{
	struct rdma_event_channel *ch = channel();

	connect_both(u);
	T_EQ(fv_glue.disconnect(u->client), 0);
	T_EQ(fv_glue.migrate_id(u->server, ch), 0);
	T_CHECK(u->server->channel == ch);
	T_CHECK(is_silent(u->sch));
	expect(ch, RDMA_CM_EVENT_DISCONNECTED, 0);
	T_EQ(fv_glue.destroy_id(u->server), 0);
	u->server = NULL;
	fv_glue.destroy_event_channel(ch);

	/* A listener takes requests with it that were not got. */
	T_EQ(fv_glue.destroy_id(u->client), 0);
	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(client_connect(u, NULL, 0), 0);
	ch = channel();
	T_EQ(fv_glue.migrate_id(u->listen, ch), 0);
	fv_glue.destroy_event_channel(u->sch);
	u->sch = ch;
	take_request(u);
	T_CHECK(u->server->channel == ch);
}

CM_CASE(removed_device_tells_its_ids)
{
	connect_both(u);
	fv_remove_dev("fv1");
	expect(u->sch, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	expect(u->sch, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	T_CHECK(is_silent(u->sch));
	T_CHECK(is_silent(u->cch));
	T_NE(u_set_state(u->sqp, IBV_QPS_ERR), 0);
	/* What is of it can be destroyed. */
}

/* Connected, and a receive is posted, but what is sent to a killed process does not arrive. */
static void
kill_server(struct u_cm *u, bool kernel_lives)
{
	struct fv_conf conf;

	fv_conf_default(&conf);
	conf.cm_timeout_ms = 20;
	fv_configure(&conf);
	connect_both(u);
	T_EQ(u_recv(&u->ends.b, 1, 0, 8), 0);
	fv_kill("fv1", kernel_lives);
	T_EQ(u_send(&u->ends.a, 2, 0, 8, 0), 0);
	T_CHECK(is_silent(u->sch));
	T_CHECK(u_is_empty(&u->ends.b));
}

CM_CASE(kernel_ends_what_a_killed_process_had)
{
	kill_server(u, true);
	expect(u->cch, RDMA_CM_EVENT_DISCONNECTED, 0);
	T_EQ(fv_glue.destroy_id(u->client), 0);
	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(client_connect(u, NULL, 0), 0);
	expect(u->cch, RDMA_CM_EVENT_REJECTED, 8);
}

CM_CASE(machine_that_is_gone_is_silent)
{
	kill_server(u, false);
	T_CHECK(is_silent(u->cch));
	/* Nothing answers this end's end either. */
	T_EQ(fv_glue.disconnect(u->client), 0);
	T_CHECK(is_silent(u->cch));
	expect(u->cch, RDMA_CM_EVENT_DISCONNECTED, 0);
	T_EQ(fv_glue.destroy_id(u->client), 0);
	T_EQ(fv_glue.create_id(u->cch, &u->client, u, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.resolve_addr(u->client, NULL, addr_of("10.0.1.1", PORT), 20), 0);
	expect(u->cch, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
}

CM_CASE(device_of_a_killed_process_is_used_again)
{
	kill_server(u, true);
	expect(u->cch, RDMA_CM_EVENT_DISCONNECTED, 0);
	T_EQ(fv_glue.destroy_id(u->client), 0);
	T_EQ(fv_glue.destroy_id(u->server), 0);
	T_EQ(fv_glue.destroy_id(u->listen), 0);
	U_DIES(fv_revive("fv1"));
	u_end_close(&u->ends.b);
	fv_revive("fv1");
	u_end_open(&u->ends.b, "fv1");
	u->sqp = u->ends.b.qp;
	T_EQ(fv_glue.create_id(u->sch, &u->listen, u, RDMA_PS_TCP), 0);
	T_EQ(fv_glue.bind_addr(u->listen, addr_of("10.0.1.1", PORT)), 0);
	T_EQ(fv_glue.listen(u->listen, 2), 0);
	u_expect(&u->ends.a, 2, IBV_WC_RETRY_EXC_ERR);
	T_EQ(u_set_state(u->cqp, IBV_QPS_RESET), 0);
	connect_both(u);
	T_EQ(u_recv(&u->ends.b, 3, 0, 8), 0);
	T_EQ(u_send(&u->ends.a, 4, 0, 8, IBV_SEND_SIGNALED), 0);
	u_expect(&u->ends.b, 3, IBV_WC_SUCCESS);
}

CM_CASE(delayed_messages_arrive_in_order)
{
	struct fv_conf conf;
	unsigned int i;

	fv_conf_default(&conf);
	conf.delay_us = 300;
	conf.jitter_us = 1000;
	fv_configure(&conf);
	for (i = 0; i < 10; i++) {
		u_set_state(u->cqp, IBV_QPS_RESET);
		u_set_state(u->sqp, IBV_QPS_RESET);
		connect_both(u);
		T_EQ(fv_glue.destroy_id(u->client), 0);
		expect(u->sch, RDMA_CM_EVENT_DISCONNECTED, 0);
		T_EQ(fv_glue.destroy_id(u->server), 0);
	}
	u->client = u->server = NULL;
}

/* The end of a connection does not overtake its beginning. */
CM_CASE(messages_of_one_end_keep_their_order)
{
	struct fv_conf conf;
	unsigned int i;

	fv_conf_default(&conf);
	conf.jitter_us = 3000;
	fv_configure(&conf);
	for (i = 0; i < 20; i++) {
		client_open(u, "10.0.0.1", "10.0.1.1", PORT);
		T_EQ(client_connect(u, NULL, 0), 0);
		T_CHECK(t_readable(u->sch->fd, T_TIMEOUT_MS));
		take_request(u);
		T_EQ(server_accept(u, NULL, 0), 0);
		expect(u->cch, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
		T_EQ(fv_glue.establish(u->client), 0);
		T_EQ(fv_glue.destroy_id(u->client), 0);
		expect(u->sch, RDMA_CM_EVENT_ESTABLISHED, 0);
		expect(u->sch, RDMA_CM_EVENT_DISCONNECTED, 0);
		T_EQ(fv_glue.destroy_id(u->server), 0);
	}
	u->client = u->server = NULL;
}

/* What would block for ever ends the program. */
CM_CASE(forgotten_acknowledgements_are_loud)
{
	struct rdma_cm_event *ev;

	client_open(u, "10.0.0.1", "10.0.1.1", PORT);
	T_EQ(client_connect(u, NULL, 0), 0);
	ev = event(u->sch, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	u->server = ev->id;
	U_DIES(fv_glue.migrate_id(u->server, u->cch));
	U_DIES(fv_glue.destroy_id(u->listen));
	ack(ev);
	T_EQ(fv_glue.reject(u->server, NULL, 0), 0);
	ev = event(u->cch, RDMA_CM_EVENT_REJECTED, 28);
	U_DIES(fv_glue.destroy_id(u->client));
	ack(ev);
	U_DIES(fv_glue.destroy_event_channel(u->cch));
	U_DIES(fv_reset());
}
