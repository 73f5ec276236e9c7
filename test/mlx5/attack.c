/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "attack.h"

#define MEM_LEN 65536
#define DEPTH 64
/* What the victim's memory holds where nothing is to be written. */
#define CANARY_SEED 99
/* Connections that make what is allocated once. */
#define NB_WARM 6
/* Lines of the log about one offender: its end, and which objects were refused before. */
#define MAX_LINES 4
/* Runs of a connection that works, and of one that does not: the rest settles. */
#define CALM_RUNS 10
#define MAX_RUNS 200
/* Nothing has happened for this long: a helper thread may have the next step, and no CPU. */
#define QUIET_MS 500

static uint8_t canary[MEM_LEN];

/* Begin, end */

static void
begin(struct attack *t, bool by_server)
{
	const struct t_pair_conf conf = { .name = ATTACK_NAME };
	unsigned int i;

	memset(t, 0, sizeof(*t));
	u_ctrl_begin(&t->p);
	u_dead_ms = DEAD_MS;
	t->by_server = by_server;
	t_pair_open(&t->p, &conf);
	t->node = by_server ? t->p.host : t->p.dpu;
	t_mem_new(&t->mem, RTE_COMCH_MEM_HEAP, MEM_LEN, 0);
	t_fill(canary, MEM_LEN, CANARY_SEED);
	memcpy(t->mem.addr, canary, MEM_LEN);
	if (by_server)
		vp_listen(&t->place, ATTACK_LIAR);
	/*
	 * Connected: the helper threads have made all that the honest ones need. They may still
	 * have to drop the channel that a server makes before it asks for a client; those that
	 * stay have an id each.
	 */
	t_settle();
	T_UNTIL(fv_nb_live(FV_EVENT_CHANNEL) == fv_nb_live(FV_ID));
	t->nb_live = fv_nb_live(FV_ALL);
	for (i = 0; i < NB_WARM; i++) {
		attack_reach(t, i % 2 == 0 ? ATTACK_FED : ATTACK_FEEDS);
		T_EQ(attack_judge(t), 0);
	}
	/* What was destroyed is freed by runs to come, and its descriptors by other threads. */
	t_settle();
	t->figures = t_figures_least();
	t->nb_fds = t->figures.fds;
	t->nb_ended = t->nb_alive = t->nb_quiet = 0;
}

void
attack_begin_by_client(struct attack *t)
{
	begin(t, false);
}

void
attack_begin_by_server(struct attack *t)
{
	begin(t, true);
}

void
attack_end(struct attack *t)
{
	printf("   %u ended, %u lived, %u waited\n", t->nb_ended, t->nb_alive, t->nb_quiet);
	t_figures_wait(&t->figures);
	t_mem_free(&t->mem);
	if (t->by_server)
		vp_close(&t->place);
	u_ctrl_end(&t->p);
}

/* Steps */

/* The victim has no part yet; its client looks for the malicious server. */
static void
begin_link(struct attack *t)
{
	memset(&t->a, 0, sizeof(t->a));
	t->a.is_over = true;
	t->client = NULL;
	t->conn = NULL;
	t->cons = NULL;
	t->prod = NULL;
	t->sends = false;
	t->nb_received = t->nb_sent = t->nb_done = t->nb_completed = 0;
	t_log_begin(&t->log);
	if (!t->by_server)
		return;
	t->client = t_client_new(t->p.host, t->p.host_dev, ATTACK_LIAR, NULL);
	T_EQ(rte_comch_client_start(t->client), -EINPROGRESS);
}

void
attack_link(struct attack *t, const void *data, uint8_t len)
{
	unsigned int why;

	begin_link(t);
	if (t->by_server)
		vp_accept(&t->place, &t->a, data, len);
	else
		(void)vp_dial(&t->a, ATTACK_NAME, data, len, &why);
}

void
attack_refuse(struct attack *t, const void *data, uint8_t len)
{
	begin_link(t);
	vp_reject(&t->place, data, len);
}

/* The victim's end of a connection that is up. */
static struct rte_comch_conn *
find_conn(const struct attack *t)
{
	const struct rte_comch_conn *honest = t->by_server ? t->p.cconn : t->p.sconn;
	const struct t_ev *ev;
	unsigned int i;

	for (i = 0; ; i++) {
		ev = t_find(t->node, RTE_COMCH_EVENT_CONNECTED, NULL, i);
		if (ev == NULL || ev->e.conn != honest)
			return ev != NULL ? ev->e.conn : NULL;
	}
}

static void
go_linked(struct attack *t)
{
	struct form f = { 0 };
	uint8_t data[56];
	struct vp_frame frame;

	if (t->by_server)
		vp_welcome(&f);
	else
		vp_hello(&f, ATTACK_NAME);
	attack_link(t, data, (uint8_t)form_put(&f, data));
	T_CHECK(!t->a.is_over);
	if (t->by_server)
		vp_hear(&t->a, &frame, COMCH_WIRE_HELLO);
}

static void
go_up(struct attack *t)
{
	struct vp_frame frame;

	go_linked(t);
	vp_say(&t->a, t->by_server ? COMCH_WIRE_ACCEPT : COMCH_WIRE_HELLO);
	if (!t->by_server)
		vp_hear(&t->a, &frame, COMCH_WIRE_ACCEPT);
	T_UNTIL((t->conn = find_conn(t)) != NULL &&
		(!t->by_server || t_state_is(t->node, t->client, RTE_COMCH_STATE_RUNNING)));
}

static void
go_shown(struct attack *t)
{
	const struct rte_comch_consumer_conf conf = {
		.queue_size = DEPTH, .staging_size = LIE_STAGING,
	};
	struct vp_frame frame;

	go_up(t);
	t->cons = t_consumer_new(t->conn, &conf, t->mem.mr);
	T_EQ(rte_comch_consumer_start(t->cons), -EINPROGRESS);
	vp_hear(&t->a, &frame, COMCH_WIRE_MR_ADD);
}

static void
go_offered(struct attack *t, struct vp_frame *offer)
{
	const struct lie_frame *frame = lie_frame_of(COMCH_WIRE_MR_ACK);
	uint8_t bytes[FORM_MAX_LEN];
	struct form f = { 0 };

	go_shown(t);
	form_add_frame(&f, frame, 0);
	if (t->refuses_memory)
		f.value[f.nb - 1] = (uint32_t)-ENOTSUP;
	vp_put(&t->a, bytes, form_put(&f, bytes));
	vp_hear(&t->a, offer, COMCH_WIRE_CONSUMER_NEW);
}

static void
go_fed(struct attack *t)
{
	struct rte_comch_buf buf = { .mr = t->mem.mr, .len = ATTACK_BUF };
	struct vp_frame offer;
	unsigned int i;

	go_offered(t, &offer);
	vp_join(&t->a, &offer);
	vp_say(&t->a, COMCH_WIRE_CONSUMER_ACK);
	T_UNTIL(rte_comch_consumer_state(t->cons) == RTE_COMCH_STATE_RUNNING);
	for (i = 0; i < 2; i++) {
		buf.addr = t->mem.addr + i * ATTACK_BUF;
		buf.cookie = i;
		T_EQ(rte_comch_consumer_post_burst(t->cons, &buf, 1), 1);
	}
}

void
attack_feed_from(struct attack *t)
{
	struct vp_frame answer = { .type = 0 };

	T_UNTIL(attack_is_over(t) ||
		(vp_recv(&t->a, &answer) && answer.type == COMCH_WIRE_CONSUMER_ACK));
	if (answer.type != COMCH_WIRE_CONSUMER_ACK)
		return;
	vp_join(&t->a, &answer);
	T_UNTIL(t_knows_consumer(t->node, t->conn, 1));
	t->prod = t_producer_new(t->conn, &(struct rte_comch_producer_conf){
		.queue_size = DEPTH,
	});
	t->sends = true;
}

void
attack_reach(struct attack *t, unsigned int step)
{
	struct vp_frame frame;

	switch (step) {
	case LIE_LINKED:
		go_linked(t);
		break;
	case LIE_UP:
		go_up(t);
		break;
	case LIE_SHOWN:
		go_shown(t);
		break;
	case LIE_OFFERED:
		go_offered(t, &frame);
		break;
	case ATTACK_FED:
		go_fed(t);
		break;
	default:
		go_up(t);
		vp_say(&t->a, COMCH_WIRE_MR_ADD);
		vp_say(&t->a, COMCH_WIRE_CONSUMER_NEW);
		attack_feed_from(t);
	}
}

/* Checks */

bool
attack_is_over(struct attack *t)
{
	if (t->conn == NULL)
		t->conn = find_conn(t);
	if (t->conn != NULL)
		return t_count(t->node, RTE_COMCH_EVENT_DISCONNECTED, t->conn) > 0;
	if (t->by_server)
		return t_state_is(t->node, t->client, RTE_COMCH_STATE_IDLE);
	return vp_is_over(&t->a);
}

/* Send a short message, inside its record, then a long one, written into the buffer. */
static void
send_next(struct attack *t)
{
	const struct rte_comch_op op = {
		.addr = t->mem.addr, .mr = t->mem.mr, .consumer_id = 1,
		.len = t->nb_sent == 0 ? ATTACK_SHORT : ATTACK_LONG,
	};

	if (t->nb_sent < 2)
		t->nb_sent += rte_comch_producer_send_burst(t->prod, &op, 1);
}

/* What the victim's application does. */
static void
run_app(struct attack *t)
{
	struct rte_comch_cpl cpl;

	t_step_all();
	sched_yield();
	if (t->cons != NULL && rte_comch_consumer_recv_burst(t->cons, &cpl, 1) == 1) {
		T_LE(cpl.cookie, 1);
		T_LE(cpl.len, ATTACK_BUF);
		T_LE(cpl.imm_len, RTE_COMCH_IMM_SIZE);
		T_LE(cpl.status, 0);
		t->nb_received += cpl.status == 0;
	}
	if (!t->sends)
		return;
	send_next(t);
	if (rte_comch_producer_done_burst(t->prod, &cpl, 1) == 1) {
		t->nb_completed++;
		T_LE(cpl.status, 0);
		t->nb_done += cpl.status == 0;
	}
}

/* Messages both ways. */
static void
check_honest(struct attack *t)
{
	const struct t_pair *p = &t->p;
	const unsigned int in = t_count(p->dpu, RTE_COMCH_EVENT_MSG, p->sconn);
	const unsigned int out = t_count(p->host, RTE_COMCH_EVENT_MSG, p->cconn);

	T_UNTIL(t_offer(p->cconn, "there", 5, 0, RTE_COMCH_MSG_F_SILENT));
	T_UNTIL(t_offer(p->sconn, "back", 4, 0, RTE_COMCH_MSG_F_SILENT));
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_MSG, p->sconn) == in + 1 &&
		t_count(p->host, RTE_COMCH_EVENT_MSG, p->cconn) == out + 1);
	t_no_end(p->dpu, p->sconn);
	t_no_end(p->host, p->cconn);
}

/* Has it ended? Or it still carries messages, or waits for the rest of a frame. */
static bool
await_end(struct attack *t)
{
	const uint64_t quiet_at = t_now_ms() + QUIET_MS * t_patience();
	struct t_settling s = t_settle_begin();
	const unsigned int before = t->conn == NULL ? 0 :
		t_count(t->node, RTE_COMCH_EVENT_MSG, t->conn);
	unsigned int i, calm = 0;
	bool alive = false;

	if (!t->a.is_over)
		vp_say(&t->a, COMCH_WIRE_MSG);
	for (i = 0; !attack_is_over(t); i++) {
		run_app(t);
		alive = t->conn != NULL &&
			t_count(t->node, RTE_COMCH_EVENT_MSG, t->conn) > before;
		/* What was sent may fail later. */
		if (alive && (!t->sends || t->nb_completed >= 2) && ++calm == CALM_RUNS)
			break;
		if (i > MAX_RUNS && !t_settle_step(&s) && t_now_ms() > quiet_at)
			break;
	}
	if (attack_is_over(t)) {
		t->nb_ended++;
		return true;
	}
	t->nb_alive += alive;
	t->nb_quiet += !alive;
	return false;
}

/* Nothing but the buffers was written. */
static void
check_canary(const struct attack *t)
{
	T_EQ(memcmp(t->mem.addr + 2 * ATTACK_BUF, canary + 2 * ATTACK_BUF,
		MEM_LEN - 2 * ATTACK_BUF), 0);
}

/* The reason, told once; 0: there is none. */
static int
reason_of(struct attack *t, char *text, size_t size)
{
	const struct t_ev *ev = NULL;

	text[0] = '\0';
	if (t->conn != NULL) {
		T_LE(t_count(t->node, RTE_COMCH_EVENT_DISCONNECTED, t->conn), 1);
		ev = t_find(t->node, RTE_COMCH_EVENT_DISCONNECTED, t->conn, 0);
	} else if (t->by_server && t_state_is(t->node, t->client, RTE_COMCH_STATE_IDLE)) {
		ev = t_state_ev(t->node, t->client);
	}
	if (ev == NULL)
		return 0;
	snprintf(text, size, "%s", ev->text);
	T_LT(ev->e.status, 0);
	T_GT(ev->e.status, -4096);
	T_GE(strlen(ev->text), 1);
	return ev->e.status;
}

static void
end_app(struct attack *t)
{
	t->sends = false;
	if (t->prod != NULL)
		t_producer_end(t->prod);
	if (t->cons != NULL)
		t_consumer_end(t->cons);
	if (t->client != NULL)
		t_client_end(t->client);
}

/* One line says that the connection has ended and why. */
static void
check_log(struct attack *t, bool was_up)
{
	unsigned int ends = t_log_count(&t->log, t->by_server ? " of " ATTACK_LIAR ": " :
		" of " ATTACK_NAME ": ");

	/* That it is not found names the device. */
	ends -= t_log_count(&t->log, "client of " ATTACK_LIAR ": cannot connect");
	if (ends > 1 || (was_up && ends == 0) || t_log_count(&t->log, "\n") > MAX_LINES)
		T_FAIL("unexpected log: \"%s\"", t->log.text);
	t_log_end(&t->log, "");
}

static int
judge(struct attack *t, char *text, size_t size)
{
	bool was_up, has_ended;
	int status;

	has_ended = await_end(t);
	check_honest(t);
	t_check_events(t->node, 4080);
	check_canary(t);
	status = reason_of(t, text, size);
	/* A server has no event for a client that never was connected. */
	if (has_ended && status == 0)
		status = -ECONNRESET;
	vp_close(&t->a);
	T_UNTIL((run_app(t), attack_is_over(t)));
	was_up = t->conn != NULL;
	T_CHECK(!was_up || reason_of(t, text, size) != 0);
	end_app(t);
	T_UNTIL(rte_comch_server_nb_conns(t->p.server) == 1);
	/* The helper threads destroy them. What is allocated once is not known at first. */
	T_UNTIL(fv_nb_live(FV_ALL) == t->nb_live);
	T_UNTIL(t->nb_fds == 0 || t_fd_count() == t->nb_fds);
	check_log(t, was_up);
	t_forget(t->p.dpu);
	t_forget(t->p.host);
	return status;
}

int
attack_judge(struct attack *t)
{
	char text[RTE_COMCH_REASON_SIZE * 2];

	return judge(t, text, sizeof(text));
}

void
attack_expect(struct attack *t, int status, const char *text)
{
	char found[RTE_COMCH_REASON_SIZE * 2];

	T_EQ(judge(t, found, sizeof(found)), status);
	T_STR_HAS(found, text);
}

void
attack_tell_lies(struct attack *t,
		unsigned int (*tell)(struct attack *t, unsigned int field, unsigned int which),
		unsigned int from, unsigned int nb)
{
	unsigned int field, which;

	for (field = from; field < nb; field++)
		for (which = 0; which < LIE_NB_WHICH; which++)
			tell(t, field, which);
}
