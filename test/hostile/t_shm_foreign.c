/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Descriptors that block the thread that drops them, at each place where a victim
 * may drop one. A TCP socket with SO_LINGER and unsent data waits in close()
 * for LINGER_S seconds; the attacker's copy is closed before the victim's.
 */

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "victim.h"

V_SUITE(foreign);

#define LINGER_S 3
#define BUSY_LEN (UINT64_C(256) << 20)

/* The other ends, which read nothing. */
static int sinks[64];
static unsigned int nb_sinks;

static int
tcp_listen(struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int fd, one = 1;

	*addr = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	T_GE(fd, 0);
	T_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &one, sizeof(one)), 0);
	T_EQ(bind(fd, (struct sockaddr *)addr, sizeof(*addr)), 0);
	T_EQ(listen(fd, 1), 0);
	T_EQ(getsockname(fd, (struct sockaddr *)addr, &len), 0);
	return fd;
}

/* A socket whose last close() takes LINGER_S seconds. */
static int
lingering(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };
	static char junk[65536];
	struct sockaddr_in addr;
	int listener, fd;

	listener = tcp_listen(&addr);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	T_GE(fd, 0);
	T_EQ(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	T_LT(nb_sinks, RTE_DIM(sinks));
	sinks[nb_sinks] = accept(listener, NULL, NULL);
	T_GE(sinks[nb_sinks++], 0);
	close(listener);
	T_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(fd, junk, sizeof(junk), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* Instead of a hello: such a socket, of which the victim then has the last copy. */
static void
hello_lingers(int sock)
{
	int fd = lingering();

	T_EQ(raw_sock_send(sock, "hello", 5, &fd, 1), 5);
	close(fd);
}

/* No thread lingers any more, and nothing of this counts against the victim. */
static void
close_sinks(void)
{
	while (nb_sinks > 0)
		close(sinks[--nb_sinks]);
}

/* Run the victim for a while; each run must be short. */
static void
runs(struct victim *v)
{
	uint64_t end = t_now_ms() + 300;

	while (t_now_ms() < end)
		v_trip(v);
	v_check_runs(v);
}

static void
finish(struct victim *v)
{
	runs(v);
	v_check(v);
	close_sinks();
	v_close(v);
}

/* Instead of the first message. */
static void
first_message(uint32_t nb_fds, bool accepted)
{
	struct victim v;
	int fds[8], sock;
	uint32_t i;

	v_open(&v, NULL);
	sock = v_dial();
	if (accepted)
		t_settle();
	for (i = 0; i < nb_fds; i++)
		fds[i] = lingering();
	T_EQ(raw_sock_send(sock, "hello", 5, fds, nb_fds), 5);
	for (i = 0; i < nb_fds; i++)
		close(fds[i]);
	runs(&v);
	close(sock);
	finish(&v);
}

Test(foreign, hello)
{
	first_message(1, true);
}

/* More than a message may carry: the kernel drops them in recvmsg(). */
Test(foreign, hello_truncated)
{
	first_message(8, true);
}

/* Each with a connection of its own: two may block at once, the others are refused. */
Test(foreign, hellos)
{
	enum { NB = 12 };
	int sock[NB], i;
	struct victim v;

	v_open(&v, NULL);
	for (i = 0; i < NB; i++) {
		sock[i] = v_dial();
		hello_lingers(sock[i]);
		runs(&v);
	}
	for (i = 0; i < NB; i++)
		close(sock[i]);
	finish(&v);
}

/* A server ends before it accepted any client: they are in its queue. */
Test(foreign, never_accepted)
{
	struct rte_comch_server *server;
	struct victim v;
	uint64_t ns;
	int sock;

	v_open(&v, NULL);
	server = t_server_new(v.p.dpu, v.p.dpu_dev, "other", 0, NULL);
	sock = raw_dial(t_dir(), "pf0", "other");
	T_GE(sock, 0);
	hello_lingers(sock);
	ns = t_own_ns();
	t_server_end(server);
	T_TIME_LE(t_own_since(ns) / 1000000, RUNS_ONE_MS);
	close(sock);
	finish(&v);
}

/* An established connection. */
static void
on_link(void (*attack)(struct raw_peer *a, int fd))
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	int fd;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	fd = lingering();
	attack(&a, fd);
	close(fd);
	runs(&v);
	v_expect_end(&v, conn);
	raw_close(&a);
	finish(&v);
}

static void
by_mr_add(struct raw_peer *a, int fd)
{
	raw_send_mr_add(a, 1, 0, 4096, fd);
}

Test(foreign, mr_add)
{
	on_link(by_mr_add);
}

static void
by_mr_ack(struct raw_peer *a, int fd)
{
	raw_send_status(a, COMCH_WIRE_MR_ACK, 1, 0, fd);
}

Test(foreign, unexpected)
{
	on_link(by_mr_ack);
}

static int busy_file;

/* Holds the file's lock in the kernel for most of the time. */
static void
hold_file(void *arg)
{
	RTE_SET_USED(arg);
	(void)fallocate(busy_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BUSY_LEN);
	(void)fallocate(busy_file, 0, 0, BUSY_LEN);
}

/* Payload memory left open for the victim, which has to seal it, and the sealing waits. */
Test(foreign, sealing_waits)
{
	struct v_thread t[2];
	struct raw_peer a;
	struct raw_mem m;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	v_connect(&v, &a);
	raw_mem_new(&m, BUSY_LEN, MFD_ALLOW_SEALING, F_SEAL_SHRINK | F_SEAL_GROW);
	busy_file = m.fd;
	for (i = 0; i < RTE_DIM(t); i++)
		v_thread_start(&t[i], hold_file, NULL);
	for (i = 0; i < 4; i++) {
		raw_send_mr_add(&a, i, 0, 4096, m.fd);
		runs(&v);
	}
	for (i = 0; i < RTE_DIM(t); i++)
		v_thread_stop(&t[i]);
	raw_mem_free(&m);
	raw_close(&a);
	finish(&v);
}

static void
without_frame(struct raw_peer *a, int fd)
{
	raw_sock_send(a->sock, "f", 1, &fd, 1);
}

Test(foreign, without_frame)
{
	struct raw_peer a;
	struct victim v;
	int fd;

	v_open(&v, NULL);
	v_connect(&v, &a);
	fd = lingering();
	without_frame(&a, fd);
	close(fd);
	runs(&v);
	raw_close(&a);
	finish(&v);
}

/* The link is ended for another reason, and these are never received. */
static void
behind_nonsense(struct raw_peer *a, int fd)
{
	int i;

	raw_sock_send(a->sock, "?", 1, NULL, 0);
	for (i = 0; i < 4; i++)
		raw_sock_send(a->sock, "f", 1, &fd, 1);
}

Test(foreign, never_received)
{
	on_link(behind_nonsense);
}

/* More than there are threads to close them: none of those waits. */
Test(foreign, many_never_received)
{
	enum { NB = 24 };
	struct raw_peer a[NB];
	struct victim v;
	uint64_t begin;
	int i, fd;

	v_open(&v, NULL);
	for (i = 0; i < NB; i++) {
		v_connect(&v, &a[i]);
		fd = lingering();
		behind_nonsense(&a[i], fd);
		close(fd);
	}
	begin = t_now_ms();
	for (i = 0; i < NB; i++)
		raw_close(&a[i]);
	T_UNTIL(t_fd_count() == v.nb_fds + nb_sinks);
	T_TIME_LE(t_now_ms() - begin, LINGER_S * 1000);
	finish(&v);
}

/* All at once: before any of them is known to be stuck. */
Test(foreign, hellos_at_once)
{
	enum { NB = 40 };
	int sock[NB], i;
	struct victim v;

	v_open(&v, NULL);
	for (i = 0; i < NB; i++) {
		sock[i] = v_dial();
		hello_lingers(sock[i]);
	}
	for (i = 0; i < 6; i++)
		runs(&v);
	for (i = 0; i < NB; i++)
		close(sock[i]);
	finish(&v);
}

/* In the queue of a wake socket that the victim was given. */
Test(foreign, in_wake_socket)
{
	struct rte_comch_conn *conn;
	struct raw_frame f;
	struct raw_cons c;
	struct raw_peer a;
	struct victim v;
	int fd;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_cons_new(&c, 1, 64, 64, 0);
	fd = lingering();
	T_EQ(raw_sock_send(c.wake[0], "", 1, &fd, 1), 1);
	close(fd);
	raw_cons_announce(&a, &c);
	v_hear(&a, &f, COMCH_WIRE_CONSUMER_ACK);
	raw_frame_free(&f);
	/* Only the victim keeps it open. */
	raw_cons_free(&c);
	raw_send_id(&a, COMCH_WIRE_CONSUMER_GONE, 1);
	runs(&v);
	v_expect_alive(&v, &a, conn);
	raw_close(&a);
	finish(&v);
}

/* Into the wake socket that the victim listens on, if its kernel allows that. */
Test(foreign, into_wake_socket)
{
	struct rte_comch_producer *prod;
	struct rte_comch_conn *conn;
	struct raw_frame f;
	struct raw_peer a;
	struct victim v;
	ssize_t sent;
	int fd;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	prod = t_producer_new(conn, NULL);
	v_hear(&a, &f, COMCH_WIRE_PRODUCER_NEW);
	T_EQ(f.nb_fds, 1);
	fd = lingering();
	sent = raw_sock_send(f.fds[0], "", 1, &fd, 1);
	close(fd);
	runs(&v);
	if (sent == 1)
		v_expect_end(&v, conn);
	else
		v_expect_alive(&v, &a, conn);
	raw_frame_free(&f);
	t_producer_end(prod);
	raw_close(&a);
	finish(&v);
}
