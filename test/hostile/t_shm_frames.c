/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Frames that cannot be, and frames when they are not due. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "victim.h"

V_SUITE(frames);

/* One frame on an established connection, which it ends. */
static void
bad_frame(const struct raw_send *s)
{
	const struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_send(&a, s);
	v_expect_end(&v, conn);
	raw_close(&a);
	v_close(&v);
}

static void
bad_prefix(uint32_t len, uint32_t nb_fds)
{
	bad_frame(&(struct raw_send){
		.type = COMCH_WIRE_MSG, .body = "x", .len = 1, .lie = true, .say_body = 1,
		.say_len = len, .say_fds = nb_fds,
	});
}

Test(frames, length_0)
{
	bad_prefix(0, 0);
}

Test(frames, length_15)
{
	bad_prefix(15, 0);
}

Test(frames, length_body_less)
{
	bad_prefix(16, 0);
}

Test(frames, length_over_agreed)
{
	bad_prefix(16 + 4081, 0);
}

Test(frames, length_over_ring)
{
	bad_prefix(RAW_CELLS * SHM_CELL_DATA, 0);
}

Test(frames, length_huge)
{
	bad_prefix(UINT32_MAX, 0);
}

Test(frames, length_wraps)
{
	bad_prefix(UINT32_MAX - 7, 0);
}

Test(frames, fds_that_never_came)
{
	bad_prefix(17, 1);
}

Test(frames, fds_too_many)
{
	bad_prefix(17, 4);
}

Test(frames, fds_huge)
{
	bad_prefix(17, UINT32_MAX);
}

Test(frames, body_length_lie)
{
	bad_frame(&(struct raw_send){
		.type = COMCH_WIRE_MSG, .body = "x", .len = 1, .lie = true, .say_len = 17,
		.say_body = UINT32_MAX,
	});
}

Test(frames, header_junk)
{
	bad_frame(&(struct raw_send){ .type = COMCH_WIRE_MSG, .junk = 1 });
}

Test(frames, ring_smaller_than_frame)
{
	const struct rte_comch_conn *conn;
	struct raw_send s = {
		.type = COMCH_WIRE_MSG, .body = "x", .len = 1, .lie = true,
		.say_len = 16 + 4000, .say_body = 4000,
	};
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect_cells(&v, &a, SHM_MIN_CELLS);
	raw_send(&a, &s);
	v_expect_end(&v, conn);
	raw_close(&a);
	v_close(&v);
}

/* A descriptor with a message: not asked for, thrown away. */
Test(frames, msg_with_fds)
{
	struct rte_comch_conn *conn;
	struct raw_send s = { .type = COMCH_WIRE_MSG, .body = "x", .len = 1, .nb_fds = 3 };
	struct raw_peer a;
	struct victim v;
	int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	for (i = 0; i < 3; i++)
		s.fds[i] = a.own_fd;
	for (i = 0; i < 100; i++) {
		raw_send(&a, &s);
		t_step_all();
	}
	T_UNTIL(t_count(v.p.dpu, RTE_COMCH_EVENT_MSG, conn) == 100);
	v_expect_alive(&v, &a, conn);
	raw_close(&a);
	v_close(&v);
}

/* Types and phases */

/* Is this frame welcome to a server that waits for HELLO, or is up? */
static bool
is_due(uint32_t type, bool up)
{
	if (!up)
		return type == COMCH_WIRE_HELLO || type == COMCH_WIRE_DISCONNECT;
	return type == COMCH_WIRE_MSG || type == COMCH_WIRE_CREDIT ||
		type == COMCH_WIRE_DISCONNECT;
}

/* Each type with a body of zeroes and nb_fds descriptors. */
static void
send_type(struct victim *v, uint32_t type, bool up, uint32_t nb_fds)
{
	static const uint8_t zero[64];
	struct raw_send s = { .type = type, .body = zero, .len = 64, .nb_fds = nb_fds };
	const struct rte_comch_conn *conn = NULL;
	struct raw_peer a;
	uint32_t i;

	if (up)
		conn = v_connect(v, &a);
	else
		v_link(&a, RAW_CELLS);
	for (i = 0; i < nb_fds; i++)
		s.fds[i] = a.own_fd;
	raw_send(&a, &s);
	t_settle();
	if (!up)
		T_UNTIL(rte_comch_server_nb_conns(v->p.server) == 1);
	else if (!is_due(type, true) && type != COMCH_WIRE_MR_ACK &&
			type != COMCH_WIRE_MR_DEL && type != COMCH_WIRE_CONSUMER_ACK)
		v_expect_down(v, conn);
	raw_close(&a);
	if (conn != NULL)
		v_expect_down(v, conn);
}

static void
all_types(bool up, uint32_t nb_fds)
{
	struct victim v;
	uint32_t type;

	v_open(&v, NULL);
	for (type = 0; type < COMCH_WIRE_NB_TYPES + 3; type++) {
		send_type(&v, type, up, nb_fds);
		v_check(&v);
	}
	send_type(&v, 0xff, up, nb_fds);
	v_close(&v);
}

Test(frames, types_before_hello)
{
	all_types(false, 0);
}

Test(frames, types_before_hello_fds)
{
	all_types(false, 2);
}

Test(frames, types_up)
{
	all_types(true, 0);
}

Test(frames, types_up_one_fd)
{
	all_types(true, 1);
}

Test(frames, types_up_three_fds)
{
	all_types(true, 3);
}

/* No client's messages arrive before the application has accepted it. */
Test(frames, pending)
{
	struct t_pair_conf conf = { .server.flags = RTE_COMCH_SERVER_F_MANUAL_ACCEPT };
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct t_pair p;

	conf.name = V_NAME;
	t_pair_ends(&p, &conf);
	v_link(&a, RAW_CELLS);
	raw_send_hello(&a, V_NAME, 4080, 64);
	raw_send_msg(&a, "early", 5);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_CONNECT_REQUEST, NULL) == 1);
	conn = t_find(p.dpu, RTE_COMCH_EVENT_CONNECT_REQUEST, NULL, 0)->e.conn;
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) == 1);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), 0);
	T_EQ(t_find(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn, 0)->e.status, -EPROTO);
	raw_close(&a);
	t_pair_close(&p);
}

Test(frames, hello_twice)
{
	const struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_send_hello(&a, V_NAME, 4080, 64);
	v_expect_end(&v, conn);
	raw_close(&a);
	v_close(&v);
}

/* Hellos that are refused with a reason. */
static void
refused(const char *name, uint32_t max_msg, uint32_t queue)
{
	struct raw_peer a;
	struct raw_frame f;
	struct victim v;

	v_open(&v, NULL);
	v_link(&a, RAW_CELLS);
	raw_send_hello(&a, name, max_msg, queue);
	v_hear(&a, &f, COMCH_WIRE_REJECT);
	v_expect_hangup(&a);
	raw_close(&a);
	v_close(&v);
}

Test(frames, hello_other_name)
{
	refused("somebody else", 4080, 64);
}

Test(frames, hello_no_name)
{
	refused("", 4080, 64);
}

Test(frames, hello_no_size)
{
	refused(V_NAME, 0, 64);
}

Test(frames, hello_no_queue)
{
	refused(V_NAME, 4080, 0);
}

Test(frames, hello_long_name)
{
	char name[300];
	struct raw_peer a;
	struct victim v;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	v_open(&v, NULL);
	v_link(&a, RAW_CELLS);
	raw_send_hello(&a, name, 4080, 64);
	v_expect_hangup(&a);
	raw_close(&a);
	v_close(&v);
}

/* Reasons go to logs and terminals. */
static const struct t_ev *
last_words(struct victim *v, const char *text, uint16_t len)
{
	const struct rte_comch_conn *conn;
	struct raw_peer a;

	v_open(v, NULL);
	conn = v_connect(v, &a);
	raw_send_reason(&a, COMCH_WIRE_DISCONNECT, -ECONNRESET, text, len);
	v_expect_down(v, conn);
	raw_close(&a);
	return t_find(v->p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn, 0);
}

Test(frames, reason_control_bytes)
{
	static const char text[] = "\x1b[2J\r\n\x07ok\x7f\xff";
	const struct t_ev *ev;
	struct victim v;
	size_t i;

	ev = last_words(&v, text, sizeof(text) - 1);
	for (i = 0; ev->text[i] != '\0'; i++)
		T_CHECK(ev->text[i] >= ' ' && ev->text[i] <= '~');
	T_STR_HAS(ev->text, "ok");
	v_close(&v);
}

Test(frames, reason_format)
{
	struct victim v;

	T_STR_EQ(last_words(&v, "%n%s%s%s", 8)->text, "%n%s%s%s");
	v_close(&v);
}

Test(frames, reason_with_nul)
{
	struct victim v;

	T_EQ(last_words(&v, "a\0b", 3)->e.status, -EPROTO);
	v_close(&v);
}

Test(frames, reason_too_long)
{
	char text[RTE_COMCH_REASON_SIZE + 1];
	struct victim v;

	memset(text, 'x', sizeof(text));
	T_EQ(last_words(&v, text, sizeof(text))->e.status, -EPROTO);
	v_close(&v);
}

Test(frames, acked_ahead)
{
	const struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	a.acked = 1;
	raw_send_msg(&a, "x", 1);
	v_expect_end(&v, conn);
	raw_close(&a);
	v_close(&v);
}

Test(frames, acked_behind)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	t_send(conn, "x", 1, 1);
	a.acked = 1;
	raw_send_msg(&a, "x", 1);
	T_UNTIL(t_count(v.p.dpu, RTE_COMCH_EVENT_SENT, conn) == 1);
	a.acked = 0;
	raw_send_msg(&a, "x", 1);
	v_expect_end(&v, conn);
	raw_close(&a);
	v_close(&v);
}

Test(frames, msg_over_agreed)
{
	const struct rte_comch_conn *conn;
	struct raw_frame f;
	struct t_log log;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	v_link(&a, RAW_CELLS);
	raw_send_hello(&a, V_NAME, 100, 64);
	v_hear(&a, &f, COMCH_WIRE_ACCEPT);
	T_UNTIL(t_count(v.p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	conn = t_find(v.p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
	t_log_begin_at(&log, RTE_LOG_WARNING);
	raw_send_msg(&a, f.body, 101);
	v_expect_end(&v, conn);
	t_log_stop(&log);
	T_STR_HAS(log.text, "message of 101 bytes exceeds the agreed 100");
	free(log.text);
	raw_close(&a);
	v_close(&v);
}

/* One run of the victim reads more messages than it has given credit for. */
Test(frames, msg_over_credit)
{
	const struct t_pair_conf conf = { .server.recv_queue = 4 };
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	struct t_log log;
	unsigned int i;

	v_open(&v, &conf);
	conn = v_connect(&v, &a);
	t_log_begin_at(&log, RTE_LOG_WARNING);
	for (i = 0; i < 5; i++)
		raw_send_msg(&a, "x", 1);
	v_expect_end(&v, conn);
	t_log_stop(&log);
	T_STR_HAS(log.text, "message exceeds the credit of 4 messages");
	free(log.text);
	T_EQ(t_count(v.p.dpu, RTE_COMCH_EVENT_MSG, conn), 4);
	raw_close(&a);
	v_close(&v);
}

/* Messages beyond all credit: delivered or refused, but never kept for later. */
Test(frames, credit_overrun)
{
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	v_connect(&v, &a);
	for (i = 0; i < 5000; i++) {
		while (raw_try(&a, &(struct raw_send){ .type = COMCH_WIRE_MSG }))
			;
		v_run(&v);
		if (i % 100 == 0)
			t_forget(v.p.dpu);
	}
	v_check(&v);
	raw_close(&a);
	v_check_runs(&v);
	v_close(&v);
}

/* Ring positions that cannot be: found out, told, and the end. */
static void
rx_pos_lie(uint64_t pos)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	__atomic_store_n(&a.own->rx_pos, pos, __ATOMIC_RELEASE);
	/* Make it answer more than its ring holds. */
	for (i = 0; i < 2000 && t_count(v.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) == 0; i++) {
		if (raw_try(&a, &(struct raw_send){ .type = COMCH_WIRE_MSG }))
			t_step_all();
	}
	v_expect_end(&v, conn);
	raw_close(&a);
	v_close(&v);
}

Test(frames, rx_pos_ahead)
{
	rx_pos_lie(UINT64_C(1) << 40);
}

Test(frames, rx_pos_behind)
{
	rx_pos_lie(UINT64_MAX - 5);
}

/* Memory and queues that cannot be shown; the connection may live, told why. */

/* What the victim says to an MR_ADD; it must be a refusal or the end. */
static void
bad_mr(uint32_t id, uint64_t offset, uint64_t size, int fd, bool ends)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	int32_t status;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_send_mr_add(&a, id, offset, size, fd);
	if (ends) {
		v_expect_end(&v, conn);
	} else {
		status = v_hear_status(&a, COMCH_WIRE_MR_ACK);
		T_LT(status, 0);
		v_expect_alive(&v, &a, conn);
	}
	raw_close(&a);
	v_close(&v);
}

static void
bad_mr_mem(uint32_t id, uint64_t offset, uint64_t size, unsigned int seals, bool ends)
{
	struct raw_mem m;

	raw_mem_new(&m, 65536, MFD_ALLOW_SEALING, seals);
	bad_mr(id, offset, size, m.fd, ends);
	raw_mem_free(&m);
}

Test(frames, mr_bad_id)
{
	bad_mr_mem(COMCH_MAX_IMPORTS, 0, 65536, RAW_SEALS_PAYLOAD, true);
}

Test(frames, mr_huge_id)
{
	bad_mr_mem(UINT32_MAX, 0, 65536, RAW_SEALS_PAYLOAD, true);
}

Test(frames, mr_empty)
{
	bad_mr_mem(0, 0, 0, RAW_SEALS_PAYLOAD, true);
}

Test(frames, mr_overflow)
{
	bad_mr_mem(0, UINT64_MAX - 4095, 65536, RAW_SEALS_PAYLOAD, false);
}

Test(frames, mr_offset_behind)
{
	bad_mr_mem(0, 65536, 4096, RAW_SEALS_PAYLOAD, false);
}

Test(frames, mr_too_long)
{
	bad_mr_mem(0, 1, 65536, RAW_SEALS_PAYLOAD, false);
}

Test(frames, mr_huge)
{
	bad_mr_mem(0, 0, UINT64_MAX, RAW_SEALS_PAYLOAD, false);
}

/* Sealed for a process that mapped it, or for none: it is not ours. */
Test(frames, mr_taken)
{
	bad_mr_mem(0, 0, 65536, RAW_SEALS, false);
}

Test(frames, mr_not_memory)
{
	int fds[2];

	T_EQ(pipe2(fds, O_CLOEXEC), 0);
	bad_mr(0, 0, 4096, fds[1], true);
	close(fds[0]);
	close(fds[1]);
}

Test(frames, mr_twice_del_unknown)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	struct raw_mem m;
	int32_t status;
	int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_mem_new(&m, 65536, MFD_ALLOW_SEALING, RAW_SEALS_PAYLOAD);
	for (i = 0; i < 2; i++) {
		raw_send_mr_add(&a, 5, 0, 65536, m.fd);
		status = v_hear_status(&a, COMCH_WIRE_MR_ACK);
		T_CHECK(i == 0 ? status == 0 : status < 0);
	}
	for (i = 0; i < 100; i++) {
		raw_send_id(&a, COMCH_WIRE_MR_DEL, (uint32_t)i % COMCH_MAX_IMPORTS);
		t_step_all();
	}
	v_expect_alive(&v, &a, conn);
	raw_send_id(&a, COMCH_WIRE_MR_DEL, COMCH_MAX_IMPORTS);
	v_expect_end(&v, conn);
	raw_mem_free(&m);
	raw_close(&a);
	v_close(&v);
}

/* Consumers that cannot be. room: what its region has space for. */
static void
bad_consumer(uint32_t id, uint32_t depth, uint32_t room, uint32_t imm, uint32_t staging)
{
	const struct rte_comch_conn *conn;
	struct raw_cons c;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_cons_new(&c, id, depth, room, staging);
	c.imm_size = imm;
	raw_cons_announce(&a, &c);
	v_expect_end(&v, conn);
	T_EQ(t_count(v.p.dpu, RTE_COMCH_EVENT_CONSUMER_NEW, conn), 0);
	raw_cons_free(&c);
	raw_close(&a);
	v_close(&v);
}

Test(frames, consumer_id_0)
{
	bad_consumer(0, 64, 64, 32, 0);
}

Test(frames, consumer_depth_0)
{
	bad_consumer(1, 0, 64, 32, 0);
}

Test(frames, consumer_depth_odd)
{
	bad_consumer(1, 100, 128, 32, 0);
}

Test(frames, consumer_depth_huge)
{
	bad_consumer(1, UINT32_C(1) << 31, 64, 32, 0);
}

Test(frames, consumer_region_short)
{
	bad_consumer(1, 1024, 64, 32, 0);
}

Test(frames, consumer_imm_huge)
{
	bad_consumer(1, 64, 64, 33, 0);
}

Test(frames, consumer_staging_odd)
{
	bad_consumer(1, 64, 64, 32, 5000);
}

Test(frames, consumer_staging_tiny)
{
	bad_consumer(1, 64, 64, 32, 32);
}

Test(frames, consumer_staging_huge)
{
	bad_consumer(1, 64, 64, 32, UINT32_C(1) << 31);
}

Test(frames, consumer_wake_is_no_socket)
{
	const struct rte_comch_conn *conn;
	struct raw_cons c;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_cons_new(&c, 1, 64, 64, 0);
	close(c.wake[1]);
	c.wake[1] = open("/dev/null", O_RDWR | O_CLOEXEC);
	raw_cons_announce(&a, &c);
	v_expect_end(&v, conn);
	raw_cons_free(&c);
	raw_close(&a);
	v_close(&v);
}

Test(frames, consumer_twice)
{
	const struct rte_comch_conn *conn;
	struct raw_frame f;
	struct raw_cons c;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_cons_new(&c, 7, 64, 64, 0);
	raw_cons_announce(&a, &c);
	v_hear(&a, &f, COMCH_WIRE_CONSUMER_ACK);
	raw_frame_free(&f);
	raw_cons_announce(&a, &c);
	v_expect_end(&v, conn);
	raw_cons_free(&c);
	raw_close(&a);
	v_close(&v);
}

/* Answers to questions that were never asked. */
Test(frames, acks_unasked)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	uint32_t id;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	for (id = 0; id < 100; id++) {
		raw_send_status(&a, COMCH_WIRE_MR_ACK, id, 0, -1);
		t_step_all();
	}
	v_expect_alive(&v, &a, conn);
	raw_send_status(&a, COMCH_WIRE_CONSUMER_ACK, 1, 0, a.own_fd);
	v_expect_end(&v, conn);
	raw_close(&a);
	v_close(&v);
}

Test(frames, producer_flood)
{
	const struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	uint32_t id;
	int fds[2];

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	for (id = 1; id <= COMCH_MAX_PRODUCERS; id++) {
		raw_send_producer(&a, id, fds[0]);
		t_step_all();
	}
	t_settle();
	t_no_end(v.p.dpu, conn);
	raw_send_producer(&a, id, fds[0]);
	v_expect_end(&v, conn);
	close(fds[0]);
	close(fds[1]);
	raw_close(&a);
	v_close(&v);
}
