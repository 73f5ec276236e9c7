/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Can a wake-up between two machines be lost? The sender publishes, then looks whether the
 * receiver sleeps; the receiver says that it sleeps, then looks for what was published. If
 * neither sees the other, the receiver sleeps for ever. Both words are mirrors: each machine
 * writes that of the other by RDMA WRITE.
 *
 *   fence   each side posts its WRITE, executes a full fence and looks: it may be lost,
 *           because a fence does not order a WRITE that is under way
 *   cqe     each side looks after its WRITE completed: never lost
 *   notify  publishing is a SEND; the receiver arms its completion queue, looks into it, and
 *           sleeps until the event: never lost
 *
 * usage: litmus_wake server|client IP PEER [COUNT]
 *
 * Start both; they meet by TCP. Exit status: 0, or 1 if a wake-up was lost with cqe or notify.
 */

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "rc.h"

#define TCP_PORT 7777
#define CONNECT_TRIES 300
#define MEM_LEN 8192
/* The word that the peer writes, and where ours is sent from. */
#define MIRROR_OFF 0
#define SRC_OFF 4096
/* A sleeper that gets no event in this time looks whether it should have. */
#define SLEEP_MS 3000

struct run {
	struct rc_dev dev;
	struct rc_end end;
	struct rc_addr peer;
	int sock;
	bool server;
	uint64_t count;
	uint64_t round;
};

static int
accept_one(const struct sockaddr_in *addr)
{
	const int on = 1;
	int sock, conn;

	sock = socket(AF_INET, SOCK_STREAM, 0);
	rc_check(sock >= 0, "socket");
	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	rc_check(bind(sock, (const struct sockaddr *)addr, sizeof(*addr)) == 0, "bind");
	rc_check(listen(sock, 1) == 0, "listen");
	conn = accept(sock, NULL, NULL);
	rc_check(conn >= 0, "accept");
	close(sock);
	return conn;
}

static int
connect_one(const struct sockaddr_in *addr)
{
	int i, sock;

	for (i = 0; i < CONNECT_TRIES; i++) {
		sock = socket(AF_INET, SOCK_STREAM, 0);
		rc_check(sock >= 0, "socket");
		if (connect(sock, (const struct sockaddr *)addr, sizeof(*addr)) == 0)
			return sock;
		close(sock);
		usleep(100 * 1000);
	}
	rc_check(0, "connect");
	return -1;
}

/* Send to the peer, and receive as many bytes from it. */
static void
exchange(struct run *run, const void *out, void *in, size_t len)
{
	uint8_t *to = in;
	size_t got;
	ssize_t n;

	rc_check(write(run->sock, out, len) == (ssize_t)len, "write to the peer");
	for (got = 0; got < len; got += n) {
		n = read(run->sock, to + got, len - got);
		rc_check(n > 0, "read from the peer");
	}
}

static void
meet(struct run *run)
{
	uint8_t mine = 0, theirs;

	exchange(run, &mine, &theirs, sizeof(mine));
}

static void
set_up(struct run *run, const char *ip, const char *peer)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(TCP_PORT) };
	const int on = 1;
	struct rc_addr mine;

	rc_check(inet_pton(AF_INET, run->server ? ip : peer, &addr.sin_addr) == 1, "inet_pton");
	run->sock = run->server ? accept_one(&addr) : connect_one(&addr);
	setsockopt(run->sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	rc_open(&run->dev, ip, MEM_LEN);
	rc_create(&run->dev, &run->end);
	mine = rc_addr(&run->dev, &run->end);
	exchange(run, &mine, &run->peer, sizeof(mine));
	rc_connect(&run->dev, &run->end, &run->peer);
	meet(run);
}

/* Both sides at once: write the peer's mirror, look at our own. Returns whether it was there. */
static bool
publish_and_look(struct run *run, bool await)
{
	const uint64_t *mirror = (const uint64_t *)(run->dev.mem + MIRROR_OFF);
	uint64_t *src = (uint64_t *)(run->dev.mem + SRC_OFF);
	struct ibv_sge sge = { .addr = (uintptr_t)src, .length = sizeof(*src) };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = run->peer.mem + MIRROR_OFF, .rkey = run->peer.rkey },
	};
	bool saw;

	*src = run->round;
	rc_post_send(&run->end, &wr);
	if (await)
		rc_wait(run->end.send_cq);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	saw = __atomic_load_n(mirror, __ATOMIC_RELAXED) == run->round;
	if (!await)
		rc_wait(run->end.send_cq);
	while (__atomic_load_n(mirror, __ATOMIC_ACQUIRE) != run->round)
		;
	return saw;
}

/* Returns how often neither side saw the other. */
static uint64_t
run_mirrors(struct run *run, bool await)
{
	uint64_t i, lost = 0;
	uint8_t saw, theirs;

	for (i = 0; i < run->count; i++) {
		run->round++;
		meet(run);
		saw = publish_and_look(run, await);
		exchange(run, &saw, &theirs, sizeof(saw));
		lost += !saw && !theirs;
	}
	return lost;
}

/* Take events that have come. */
static void
take_events(struct run *run)
{
	struct pollfd fd = { .fd = run->end.channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *ctx;

	while (poll(&fd, 1, 0) > 0) {
		rc_check(ibv_get_cq_event(run->end.channel, &cq, &ctx) == 0, "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
	}
}

/* Sleep until the completion queue has an entry. Returns false if no event came for it. */
static bool
sleep_armed(struct run *run)
{
	struct pollfd fd = { .fd = run->end.channel->fd, .events = POLLIN };
	struct ibv_wc wc;
	bool woken;
	int n;

	/* The event of an entry that was seen before sleeping. */
	take_events(run);
	rc_check(ibv_req_notify_cq(run->end.recv_cq, 0) == 0, "ibv_req_notify_cq");
	n = ibv_poll_cq(run->end.recv_cq, 1, &wc);
	rc_check(n >= 0, "ibv_poll_cq");
	if (n == 1) {
		rc_check(wc.status == IBV_WC_SUCCESS, "receiving");
		return true;
	}
	woken = poll(&fd, 1, SLEEP_MS) > 0;
	rc_wait(run->end.recv_cq);
	return woken;
}

/* The server sleeps, the client sends. Returns how often an event was missing. */
static uint64_t
run_notify(struct run *run)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	uint64_t i, lost = 0, theirs;

	for (i = 0; i < run->count; i++) {
		if (run->server)
			rc_post_recv(&run->dev, &run->end, NULL, 0);
		meet(run);
		if (run->server) {
			lost += !sleep_armed(run);
		} else {
			rc_post_send(&run->end, &wr);
			rc_wait(run->end.send_cq);
		}
	}
	exchange(run, &lost, &theirs, sizeof(lost));
	return lost + theirs;
}

static bool
report(const struct run *run, const char *name, uint64_t lost, bool may_lose)
{
	printf("%-7s %" PRIu64 " times, %" PRIu64 " lost\n", name, run->count, lost);
	fflush(stdout);
	return may_lose || lost == 0;
}

int
main(int argc, char **argv)
{
	struct run run = { .count = argc > 4 ? strtoull(argv[4], NULL, 10) : 300 };
	bool ok = true;

	if (argc < 4) {
		fprintf(stderr, "usage: litmus_wake server|client IP PEER [COUNT]\n");
		return 2;
	}
	run.server = strcmp(argv[1], "server") == 0;
	set_up(&run, argv[2], argv[3]);
	ok &= report(&run, "fence", run_mirrors(&run, false), true);
	ok &= report(&run, "cqe", run_mirrors(&run, true), false);
	ok &= report(&run, "notify", run_notify(&run), false);
	meet(&run);
	rc_destroy(&run.end);
	rc_close(&run.dev);
	close(run.sock);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
