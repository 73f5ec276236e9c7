/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attacks.h"
#include "raw_peer.h"

/* Where the server is, for this process. */
static const char *dir;

static int
dial(void)
{
	return raw_dial(dir, "pf0", V_NAME);
}

/* Without reading: raw_is_hung_up() drops what has arrived. */
static bool
is_hung_up(int sock)
{
	struct pollfd p = { .fd = sock };

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR)) != 0;
}

/* Half open: twice as many as there are places, and each that is lost is renewed at once. */

/* Of a server with 4,096 descriptors. */
#define NB_PLACES 1024

static struct raw_peer half[2 * NB_PLACES];
static struct pollfd pfd[2 * NB_PLACES];
static bool has_half;

static void
half_close(unsigned int i)
{
	if (half[i].own != NULL)
		raw_close(&half[i]);
	else if (pfd[i].fd >= 0)
		close(pfd[i].fd);
	half[i] = (struct raw_peer){ .sock = -1, .own_fd = -1 };
	pfd[i].fd = -1;
}

static void
half_open(const struct attack *attack, unsigned int i)
{
	const int sock = dial();

	if (sock < 0)
		return;
	pfd[i] = (struct pollfd){ .fd = sock };
	if (attack->greets)
		raw_open(&half[i], sock, SHM_MIN_CELLS);
	if (attack->lets_go)
		half_close(i);
}

static bool
half_step(const struct attack *attack)
{
	unsigned int i;

	if (!has_half)
		for (i = 0; i < RTE_DIM(pfd); i++)
			pfd[i].fd = -1;
	has_half = true;
	poll(pfd, RTE_DIM(pfd), 0);
	for (i = 0; i < RTE_DIM(pfd); i++) {
		if (pfd[i].fd >= 0 && (pfd[i].revents & (POLLHUP | POLLERR)) != 0)
			half_close(i);
		if (pfd[i].fd < 0)
			half_open(attack, i);
	}
	return true;
}

const struct attack attack_silent = {
	.name = "silent", .about = "2,048 connections that say nothing, renewed",
	.nofile = 16384, .step = half_step,
};

const struct attack attack_greets = {
	.name = "greets", .about = "2,048 connections without a HELLO, renewed",
	.nofile = 16384, .step = half_step, .greets = true,
};

const struct attack attack_lets_go = {
	.name = "lets-go", .about = "connects and closes as fast as it can",
	.nofile = 16384, .step = half_step, .lets_go = true,
};

/* Connections, each a step further at a time. */

#define NB_LINKS 600
#define NB_PRODUCERS 256

struct link {
	struct raw_peer a;
	bool is_open;
	bool is_up;              /* the driver's hellos are said */
	bool is_accepted;
	uint32_t queue;          /* messages that the victim takes beyond its credits */
	uint32_t nb_sent;
	uint32_t acked;          /* of these, by the victim */
	uint32_t nb_producers;
	struct raw_cons c;       /* what it announces, if it has one */
};

static struct link links[NB_LINKS];
/* Open and not yet up. With more of them, the newest would displace the oldest. */
static unsigned int nb_dialing;
#define MAX_DIALING 16

static void
link_open(struct link *l)
{
	const int sock = nb_dialing < MAX_DIALING ? dial() : -1;

	if (sock < 0)
		return;
	*l = (struct link){ .is_open = true };
	nb_dialing++;
	raw_open(&l->a, sock, RAW_CELLS);
}

static void
link_close(struct link *l)
{
	raw_close(&l->a);
	if (l->c.shared != NULL)
		raw_cons_free(&l->c);
	nb_dialing -= !l->is_up;
	*l = (struct link){ 0 };
}

static void
link_hear(struct link *l)
{
	struct raw_frame f;

	while (l->is_up && raw_recv(&l->a, &f)) {
		l->acked = f.acked;
		if (f.type == COMCH_WIRE_ACCEPT) {
			l->is_accepted = true;
			memcpy(&l->queue, f.body + 8, sizeof(l->queue));
		}
		raw_frame_free(&f);
	}
}

/* Open it, or close it if the victim did. True: it is established. */
static bool
link_go_on(struct link *l)
{
	if (!l->is_open) {
		link_open(l);
	} else if (is_hung_up(l->a.sock)) {
		link_close(l);
	} else if (!l->is_up) {
		l->is_up = raw_is_up(&l->a);
		nb_dialing -= l->is_up;
		if (l->is_up)
			raw_send_hello(&l->a, V_NAME, 4080, 64);
	}
	link_hear(l);
	return l->is_accepted;
}

/* All connections that there may be. */
static bool
hoard_step(const struct attack *attack)
{
	static unsigned int next;
	static int wake[2];
	struct link *l = &links[next++ % NB_LINKS];
	struct raw_send s = {
		.type = COMCH_WIRE_PRODUCER_NEW, .len = sizeof(uint32_t), .nb_fds = 1,
	};
	uint32_t id = l->nb_producers + 1;
	bool is_up;

	if (wake[1] == 0)
		T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wake), 0);
	s.body = &id;
	s.fds[0] = wake[1];
	/* A dial may have to wait for the victim, so it is one link in a step. */
	is_up = link_go_on(l);
	if (is_up && attack->with_producers && l->nb_producers < NB_PRODUCERS)
		l->nb_producers += raw_try(&l->a, &s);
	if (is_up && attack->without_frames)
		raw_sock_send(l->a.sock, &(char){ SHM_SOCK_FDS }, 1, wake, RTE_DIM(wake));
	return next > 4 * NB_LINKS;
}

const struct attack attack_connections = {
	.name = "connections", .about = "takes all the connections it can get",
	.nofile = 4096, .step = hoard_step,
};

const struct attack attack_producers = {
	.name = "producers", .about = "the same, and 256 producers on each",
	.nofile = 4096, .step = hoard_step, .with_producers = true,
};

const struct attack attack_frameless = {
	.name = "frameless", .about = "the same, and descriptors without frames on each",
	.nofile = 4096, .step = hoard_step, .without_frames = true,
};

/* Clients that always have messages under way, as many as their credits allow. */

#define NB_BUSY 16

static bool
busy_step(const struct attack *attack)
{
	static uint8_t data[4080];
	const struct raw_send s = { .type = COMCH_WIRE_MSG, .body = data, .len = attack->len };
	bool all = true;
	unsigned int i;

	for (i = 0; i < NB_BUSY; i++) {
		if (!link_go_on(&links[i])) {
			all = false;
			continue;
		}
		while (links[i].nb_sent - links[i].acked < links[i].queue &&
				raw_try(&links[i].a, &s))
			links[i].nb_sent++;
	}
	return all;
}

const struct attack attack_small = {
	.name = "small", .about = "16 clients that always send 16 bytes",
	.nofile = 1024, .step = busy_step, .len = 16,
};

const struct attack attack_large = {
	.name = "large", .about = "16 clients that always send 4,080 bytes",
	.nofile = 1024, .step = busy_step, .len = 4080,
};

/* Clients that have descriptors sent to them, and receive none. */

#define NB_DEAF 4

static void
deaf_announce(struct link *l)
{
	uint32_t body[4] = { l->nb_producers + 1, 16, 0, 4096 };
	struct raw_send s = {
		.type = COMCH_WIRE_CONSUMER_NEW, .body = body, .len = sizeof(body), .nb_fds = 2,
	};

	if (l->c.shared == NULL)
		raw_cons_new(&l->c, 1, 16, 16, 4096);
	s.fds[0] = l->c.post.fd;
	s.fds[1] = l->c.wake[1];
	if (l->nb_producers < COMCH_MAX_CONSUMERS)
		l->nb_producers += raw_try(&l->a, &s);
}

static bool
deaf_step(const struct attack *attack)
{
	bool all = true;
	unsigned int i;

	RTE_SET_USED(attack);
	for (i = 0; i < NB_DEAF; i++) {
		/* From then on, nothing is received from the socket. */
		links[i].a.deaf = links[i].is_accepted;
		if (link_go_on(&links[i]))
			deaf_announce(&links[i]);
		all &= links[i].nb_producers > 16;
	}
	return all;
}

const struct attack attack_deaf = {
	.name = "deaf", .about = "4 clients that leave descriptors in their sockets",
	.nofile = 1024, .step = deaf_step,
};

/* Memory that is refused, again and again. */
static bool
refused_step(const struct attack *attack)
{
	static struct raw_mem m;
	uint8_t body[24] = { [17] = 16 }; /* 4,096 bytes */
	struct raw_send s = { .type = COMCH_WIRE_MR_ADD, .body = body, .len = 24, .nb_fds = 1 };

	RTE_SET_USED(attack);
	if (m.addr == NULL)
		raw_mem_new(&m, 65536, 0, 0);
	s.fds[0] = m.fd;
	if (!link_go_on(&links[0]))
		return false;
	raw_try(&links[0].a, &s);
	return true;
}

const struct attack attack_refused = {
	.name = "refused", .about = "shows memory that must be refused",
	.nofile = 1024, .step = refused_step,
};

/* Connections all of whose sockets are full of wake-ups, at once. */

#define NB_WAKES 16

static bool
wakes_step(const struct attack *attack)
{
	static unsigned int nb_rounds;
	unsigned int i, nb_up = 0;

	RTE_SET_USED(attack);
	for (i = 0; i < NB_WAKES; i++)
		nb_up += link_go_on(&links[i]);
	if (nb_up < NB_WAKES)
		return nb_rounds > 0;
	for (i = 0; i < NB_WAKES; i++)
		while (raw_sock_send(links[i].a.sock, "w", 1, NULL, 0) == 1)
			;
	return ++nb_rounds > 0;
}

const struct attack attack_wakes = {
	.name = "wakes", .about = "fills 16 sockets with wake-ups, and connects again",
	.nofile = 1024, .step = wakes_step,
};

int
attack_run_as(int fd, const struct attack *attack, uid_t uid)
{
	struct t_step step;
	bool told = false;

	T_CHECK(t_nofile_set(attack->nofile));
	/* Another user cannot find the way from the root. */
	if (chdir(t_dir()) != 0 || (uid != 0 && setuid(uid) != 0))
		return T_EXIT_SKIP;
	dir = ".";
	while (!t_listen(fd, &step)) {
		if (attack->step(attack) && !told) {
			t_say(fd, 'R', 0);
			told = true;
		}
	}
	return 0;
}

int
attack_run(int fd, void *attack)
{
	return attack_run_as(fd, attack, 0);
}
