/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "mp.h"

static const struct t_driver driver = {
	.name = "comch_shm", .has_dir = true, .has_kernel_peer = true,
};

void
mp_node_open(struct mp_end *e, unsigned int number, const char *args)
{
	memset(e, 0, sizeof(*e));
	/* It is set if this process has joined an EAL: mp_eal.h. */
	if (t_driver == NULL) {
		t_driver = &driver;
		t_eal_start(1);
	}
	e->node = t_node_new();
	e->dev = t_dev_open(number, args);
}

void
mp_server_open(struct mp_end *e, const struct rte_comch_server_conf *conf)
{
	mp_node_open(e, 0, "role=dpu,rep=pf0");
	e->server = t_server_new(e->node, e->dev, MP_NAME, 0, conf);
}

struct rte_comch_conn *
mp_server_accept(struct mp_end *e, unsigned int before)
{
	T_UNTIL(t_count(e->node, RTE_COMCH_EVENT_CONNECTED, NULL) > before);
	return t_find(e->node, RTE_COMCH_EVENT_CONNECTED, NULL, before)->e.conn;
}

void
mp_client_connect(struct mp_end *e)
{
	const struct t_ev *ev;

	T_EQ(rte_comch_client_start(e->client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(e->client) != RTE_COMCH_STATE_STARTING);
	if (rte_comch_client_state(e->client) != RTE_COMCH_STATE_RUNNING) {
		T_UNTIL(t_state_ev(e->node, e->client) != NULL);
		ev = t_state_ev(e->node, e->client);
		T_FAIL("connect: %d %s", ev == NULL ? 0 : ev->e.status,
				ev == NULL ? "" : ev->text);
	}
	e->conn = rte_comch_client_conn(e->client);
}

void
mp_client_open(struct mp_end *e, const struct rte_comch_client_conf *conf)
{
	struct rte_comch_client_conf c = { 0 };

	if (conf != NULL)
		c = *conf;
	/* The server's process may need some time to start. */
	c.connect_timeout_ms = T_TIMEOUT_MS;
	mp_node_open(e, 1, "role=host,func=pf0");
	e->client = t_client_new(e->node, e->dev, MP_NAME, &c);
	mp_client_connect(e);
}

void
mp_end_open(struct mp_end *e, bool is_server)
{
	if (is_server) {
		mp_server_open(e, NULL);
		e->conn = mp_server_accept(e, 0);
	} else {
		mp_client_open(e, NULL);
	}
}

void
mp_close(struct mp_end *e)
{
	t_client_end(e->client);
	t_server_end(e->server);
	t_settle();
	T_EQ(rte_comch_dev_close(e->dev), 0);
	t_node_free(e->node);
	t_eal_stop();
}

uint64_t
mp_hear(int fd, char code)
{
	struct t_step step;

	T_UNTIL(t_listen(fd, &step));
	if (step.code != (uint32_t)code)
		T_FAIL("heard '%c', not '%c'", (char)step.code, code);
	return step.value;
}

void
mp_count_up(struct rte_comch_conn *conn, uint32_t *next, uint32_t end)
{
	while (*next < end && t_offer(conn, next, sizeof(*next), *next, 0))
		(*next)++;
}

uint32_t
mp_counted(const struct t_node *node, const struct rte_comch_conn *conn)
{
	uint32_t want = 0, val;
	unsigned int i;

	for (i = 0; i < node->nb_evs; i++) {
		if (node->evs[i].e.type != RTE_COMCH_EVENT_MSG ||
				(conn != NULL && node->evs[i].e.conn != conn))
			continue;
		T_EQ(node->evs[i].len, sizeof(val));
		memcpy(&val, node->evs[i].data, sizeof(val));
		T_SEQ(val, want);
		want++;
	}
	return want;
}

uint32_t
mp_check_sent(const struct t_node *node, const struct rte_comch_conn *conn, uint32_t taken)
{
	uint32_t n = 0, sent = 0;
	const struct t_ev *ev;
	unsigned int i;

	for (i = 0; i < node->nb_evs; i++) {
		ev = &node->evs[i];
		if (ev->e.type != RTE_COMCH_EVENT_SENT || (conn != NULL && ev->e.conn != conn))
			continue;
		T_EQ(ev->e.sent.cookie, n);
		T_CHECK(ev->e.status == 0 || ev->e.status == -ECONNRESET ||
			ev->e.status == -EBADFD);
		n++;
		sent += ev->e.status == 0;
	}
	T_EQ(n, taken);
	return sent;
}

void
mp_consumer_open(struct mp_data *d, struct mp_end *e, enum rte_comch_mem_kind kind,
		uint32_t len, uint32_t depth)
{
	struct rte_comch_consumer_conf conf = {
		.queue_size = depth, .staging_size = 65536,
	};

	memset(d, 0, sizeof(*d));
	d->len = len;
	d->depth = depth;
	t_mem_new(&d->mem, kind, (size_t)len * depth, 0);
	d->cons = t_consumer_new(e->conn, &conf, d->mem.mr);
	t_consumer_run(d->cons);
}

void
mp_producer_open_to(struct mp_data *d, struct mp_end *e, uint32_t len, uint32_t id)
{
	struct rte_comch_producer_conf conf = { .queue_size = 16 };

	memset(d, 0, sizeof(*d));
	d->len = len;
	d->depth = 16;
	t_mem_new(&d->mem, RTE_COMCH_MEM_HEAP, (size_t)len * d->depth, 0);
	d->prod = t_producer_new(e->conn, &conf);
	T_UNTIL(t_knows_consumer(e->node, e->conn, id));
	d->id = id;
}

void
mp_producer_open(struct mp_data *d, struct mp_end *e, uint32_t len)
{
	T_UNTIL(t_find(e->node, RTE_COMCH_EVENT_CONSUMER_NEW, e->conn, 0) != NULL);
	mp_producer_open_to(d, e, len,
		t_find(e->node, RTE_COMCH_EVENT_CONSUMER_NEW, e->conn, 0)->e.consumer.id);
}

static uint8_t *
slot(const struct mp_data *d, uint64_t i)
{
	return d->mem.addr + i % d->depth * d->len;
}

#define MP_IMM 24

/* In a mixed stream: immediate data alone, a byte, both, and a long one. */
static uint32_t
len_of(const struct mp_data *d, uint64_t i)
{
	static const uint32_t lens[] = { 0, 1, 100 };

	return d->mixed && i % 4 < RTE_DIM(lens) ? lens[i % 4] : d->len;
}

static uint16_t
imm_of(const struct mp_data *d, uint64_t i)
{
	return d->mixed && i % 2 == 0 ? MP_IMM : 0;
}

static void
verify(const struct mp_data *d, const struct rte_comch_cpl *cpl)
{
	T_EQ(cpl->len, len_of(d, d->got));
	T_VERIFY(slot(d, d->got), cpl->len, d->got);
	T_EQ(cpl->imm_len, imm_of(d, d->got));
	T_VERIFY(cpl->imm, cpl->imm_len, d->got);
}

static void
post_more(struct mp_data *d, uint64_t end)
{
	struct rte_comch_buf buf = { .mr = d->mem.mr, .len = d->len };

	while (d->posted < end && d->posted - d->got < d->depth) {
		buf.addr = slot(d, d->posted);
		buf.cookie = d->posted;
		if (rte_comch_consumer_post_burst(d->cons, &buf, 1) == 0)
			break;
		d->posted++;
	}
}

void
mp_consume(struct mp_data *d, uint64_t end)
{
	struct rte_comch_cpl cpl;

	if (rte_comch_consumer_state(d->cons) == RTE_COMCH_STATE_RUNNING)
		post_more(d, end);
	while (rte_comch_consumer_recv_burst(d->cons, &cpl, 1) == 1) {
		T_SEQ(cpl.cookie, d->got + d->flushed);
		if (cpl.status == -ECANCELED || cpl.status == -EBADFD) {
			d->flushed++;
			continue;
		}
		T_EQ(cpl.status, 0);
		/* What was flushed once is flushed to the end. */
		T_EQ(d->flushed, 0);
		verify(d, &cpl);
		d->got++;
	}
}

void
mp_fill(struct mp_data *d, uint64_t end)
{
	while (d->filled < end && d->filled - d->done - d->failed < d->depth) {
		t_fill(slot(d, d->filled), len_of(d, d->filled), d->filled);
		d->filled++;
	}
}

void
mp_produce(struct mp_data *d, uint64_t end)
{
	struct rte_comch_op op = { .mr = d->mem.mr, .consumer_id = d->id };
	struct rte_comch_cpl cpl;
	uint8_t imm[MP_IMM];

	while (d->sent < end && d->sent - d->done - d->failed < d->depth) {
		mp_fill(d, d->sent + 1);
		op.addr = slot(d, d->sent);
		op.len = len_of(d, d->sent);
		op.cookie = d->sent;
		op.imm = imm;
		op.imm_len = imm_of(d, d->sent);
		t_fill(imm, op.imm_len, d->sent);
		if (rte_comch_producer_send_burst(d->prod, &op, 1) == 0)
			break;
		d->sent++;
	}
	while (rte_comch_producer_done_burst(d->prod, &cpl, 1) == 1) {
		T_SEQ(cpl.cookie, d->done + d->failed);
		if (cpl.status != 0) {
			T_CHECK(cpl.status == -ECONNRESET || cpl.status == -ENOENT ||
				cpl.status == -EBADFD);
			d->failed++;
			continue;
		}
		T_EQ(d->failed, 0);
		d->done++;
	}
}

void
mp_data_close(struct mp_data *d)
{
	if (d->prod != NULL)
		t_producer_end(d->prod);
	if (d->cons != NULL)
		t_consumer_end(d->cons);
	t_mem_free(&d->mem);
}
