/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * An exporter that does what the input says, and a program that imports from it. A piece ends as
 * documented: well only if it was answered so, and with what was in the window; no byte but its own
 * is written. Afterwards an honest exporter serves the same program, and no descriptor is left.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_comch_remote.h>

#include "fuzz.h"
#include "raw_remote.h"

#define MAX_STEPS 80
#define NB_PIECES (RTE_COMCH_MAX_PIECES + 1)
/* Of a piece, but for a few; with as much between two. */
#define ROOM 3000
/* More than there are steps. */
#define MAX_REQUESTS (MAX_STEPS + 2)
#define MAX_MESSAGE 64U
#define WINDOW_LEN COMCH_REMOTE_WINDOW

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
/* Of an exporter that keeps to the rules. */
#define SEALS (F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

enum step {
	START, POLL, CANCEL, RENEW,                            /* program */
	ACCEPT, TAKE, SEAL, WELCOME, HEAR, ANSWER, FILL, SPOIL, HANG_UP, /* exporter */
	NB_STEPS
};

/* A request that the exporter has heard. */
struct request {
	struct comch_remote_request r;
	unsigned int conn;       /* on which connection */
};

/* An answer that says that a piece is done. It may come before the request. */
struct done {
	uint32_t slot, number;
	unsigned int conn;
};

struct piece {
	struct rte_comch_piece p;
	bool is_under_way;
};

static int listener;
static struct comch_remote_desc desc;

/* Of an input */
static struct rte_comch_import *imp;
static struct piece pieces[NB_PIECES];
static uint64_t next_addr;          /* no two pieces have the same one */
static uint8_t mem[(2 * NB_PIECES + 1) * ROOM], should[sizeof(mem)];
/* What it wrote, longer than ROOM. */
static uint8_t much[RTE_COMCH_PIECE_MAX];
static int fd, window_fd;           /* -1: none */
static uint8_t *window;             /* NULL: none */
static unsigned int conn;           /* number of connections */
static struct request requests[MAX_REQUESTS];
static unsigned int nb_requests;
static struct done dones[MAX_STEPS + 2];
static unsigned int nb_dones;

/* Program */

static void
import(void)
{
	imp = rte_comch_import_create((const uint8_t *)&desc);
	T_CHECK(imp != NULL);
}

static void
start(struct fuzz_in *in, unsigned int i)
{
	const uint8_t how = fuzz_u8(in), at = fuzz_u8(in);
	struct piece *p = &pieces[i];
	int ret;

	if (p->is_under_way)
		return;
	p->p = (struct rte_comch_piece){
		.imp = imp,
		.local = mem + (2 * i + 1) * ROOM,
		.addr = next_addr + at,
		.len = (uint32_t)(fuzz_number(in) % (ROOM + 1)),
		.is_write = how & 1,
	};
	if (p->p.is_write && how >= 224) {
		p->p.local = much;
		p->p.len = sizeof(much) + (how & 2) / 2;
	}
	next_addr += 1000;
	ret = rte_comch_piece_start(&p->p);
	p->is_under_way = ret == 0;
	if (p->p.len > RTE_COMCH_PIECE_MAX)
		T_EQ(ret, -EINVAL);
	else
		T_CHECK(ret == 0 || ret == -EAGAIN || ret == -ENOTCONN);
}

/* Whether there was a request. */
static bool
hear(void)
{
	struct request *r = &requests[nb_requests];

	T_LT(nb_requests, MAX_REQUESTS);
	if (fd < 0 || window_fd < 0)
		return false;
	if (recv(fd, &r->r, sizeof(r->r), MSG_DONTWAIT) != (ssize_t)sizeof(r->r))
		return false;
	T_CHECK(r->r.op == COMCH_REMOTE_READ || r->r.op == COMCH_REMOTE_WRITE);
	T_LT(r->r.slot, COMCH_REMOTE_SLOTS);
	T_LE(r->r.len, RTE_COMCH_PIECE_MAX);
	/* Nobody can make holes into a window that is used. */
	T_EQ(fcntl(window_fd, F_GET_SEALS) & SEALS, SEALS);
	r->conn = conn;
	nb_requests++;
	return true;
}

static const struct request *
find(uint64_t addr)
{
	unsigned int i;

	while (hear())
		;
	for (i = 0; i < nb_requests && requests[i].r.addr != addr; i++)
		;
	return i < nb_requests ? &requests[i] : NULL;
}

static bool
was_answered(const struct request *request)
{
	const struct done *d;

	for (d = dones; d < dones + nb_dones; d++)
		if (d->conn == request->conn && d->slot == request->r.slot &&
				d->number == request->r.number)
			return true;
	return false;
}

/* It is done, well: the exporter has said so. */
static void
is_done(const struct rte_comch_piece *p)
{
	const struct request *request = find(p->addr);

	T_CHECK(request != NULL && was_answered(request));
	T_EQ(request->r.len, p->len);
	if (p->is_write)
		return;
	/* The exporter has no longer the window of a connection that it has closed. */
	memcpy(should + ((uint8_t *)p->local - mem), request->conn == conn && window != NULL ?
		window + comch_remote_at(request->r.slot, p->addr) : p->local, p->len);
	T_EQ(memcmp(should, mem, sizeof(mem)), 0);
}

static void
poll_piece(unsigned int i)
{
	struct piece *p = &pieces[i];
	int ret;

	if (!p->is_under_way)
		return;
	ret = rte_comch_piece_poll(&p->p);
	p->is_under_way = ret == -EINPROGRESS;
	if (ret == 0)
		is_done(&p->p);
	else
		T_CHECK(ret == -EINPROGRESS || ret == -EACCES || ret == -EFAULT ||
			ret == -ENOTCONN || ret == -EIO);
}

static void
cancel(unsigned int i)
{
	if (pieces[i].is_under_way)
		rte_comch_piece_cancel(&pieces[i].p);
	pieces[i].is_under_way = false;
}

/* Pieces that are under way go on. */
static void
renew(void)
{
	rte_comch_import_destroy(imp);
	import();
}

/* Exporter */

static void
hang_up(void)
{
	while (hear())
		;
	if (window != NULL)
		T_EQ(munmap(window, WINDOW_LEN), 0);
	if (window_fd >= 0)
		T_EQ(close(window_fd), 0);
	if (fd >= 0)
		T_EQ(close(fd), 0);
	window = NULL;
	fd = window_fd = -1;
}

/* Another connection of the program, or of another import of it. */
static void
accept_next(void)
{
	const int next = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (next < 0)
		return;
	hang_up();
	fd = next;
	conn++;
}

/* Both messages are there, since an import sends them at once. */
static void
take(void)
{
	socklen_t len = sizeof(int);
	int error;

	if (fd < 0 || window_fd >= 0)
		return;
	/* The error of an import that has closed before it read what it got is not for recv(). */
	T_EQ(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len), 0);
	window_fd = raw_remote_take(fd);
	window = mmap(NULL, WINDOW_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, window_fd, 0);
	T_CHECK(window != MAP_FAILED);
}

static void
seal(struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in);
	int seals = SEALS;

	if (how >= 192)
		seals = how & (SEALS | F_SEAL_WRITE);
	if (window_fd >= 0)
		(void)fcntl(window_fd, F_ADD_SEALS, seals);
}

/* What a hostile exporter could do to the memory itself, if the kernel lets it. */
static void
spoil(struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in), page = fuzz_u8(in);

	if (window_fd < 0)
		return;
	if (how & 1)
		(void)fallocate(window_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, page * 4096,
			4096);
	else
		T_EQ(ftruncate(window_fd, (off_t)page * 8192), page * 8192 == WINDOW_LEN ? 0 : -1);
}

/*
 * Say this, with this length, and perhaps with a descriptor. The socket may be full, or the
 * program's end closed.
 */
static void
say(const void *text, size_t text_len, size_t len, bool with_fd)
{
	uint8_t msg[MAX_MESSAGE] = { 0 };
	const int zero = with_fd ? open("/dev/zero", O_RDONLY | O_CLOEXEC) : -1;

	memcpy(msg, text, text_len);
	if (fd >= 0)
		(void)raw_remote_try_send(fd, msg, len, &zero, with_fd);
	if (zero >= 0)
		T_EQ(close(zero), 0);
}

static void
welcome(struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in);
	struct comch_remote_welcome text = { .version = COMCH_REMOTE_VERSION };

	if (how >= 224)
		text.version ^= how;
	else if (how >= 192)
		text.status = -(int32_t)fuzz_u8(in);
	say(&text, sizeof(text), how >= 240 ? how - 240U : sizeof(text), how == 160);
}

static void
answer(struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in), which = fuzz_u8(in);
	struct comch_remote_reply reply = { .status = 0 };
	const struct request *r;

	if (nb_requests > 0) {
		r = &requests[which % nb_requests];
		reply.slot = r->r.slot;
		reply.number = r->r.number;
	}
	if (how >= 128)
		reply.status = how & 1 ? -(int32_t)fuzz_u8(in) : (int32_t)fuzz_u32(in);
	if (how >= 224)
		reply.slot = (uint32_t)fuzz_number(in);
	else if (how >= 192)
		reply.number = (uint32_t)fuzz_number(in);
	if (reply.status == 0)
		dones[nb_dones++] = (struct done){ reply.slot, reply.number, conn };
	say(&reply, sizeof(reply), how == 250 ? fuzz_u8(in) % MAX_MESSAGE : sizeof(reply),
		how == 251);
}

static void
fill(struct fuzz_in *in)
{
	const uint32_t at = fuzz_u32(in) % (WINDOW_LEN - ROOM);

	if (window != NULL)
		t_fill(window + at, ROOM, at);
}

/* Both */

static void
step(uint8_t how, struct fuzz_in *in)
{
	const unsigned int piece = how / NB_STEPS % NB_PIECES;

	switch ((enum step)(how % NB_STEPS)) {
	case START:
		start(in, piece);
		break;
	case POLL:
		poll_piece(piece);
		break;
	case CANCEL:
		cancel(piece);
		break;
	case RENEW:
		renew();
		break;
	case ACCEPT:
		accept_next();
		break;
	case TAKE:
		take();
		break;
	case SEAL:
		seal(in);
		break;
	case WELCOME:
		welcome(in);
		break;
	case HEAR:
		(void)hear();
		break;
	case ANSWER:
		answer(in);
		break;
	case FILL:
		fill(in);
		break;
	case SPOIL:
		spoil(in);
		break;
	default:
		hang_up();
	}
}

/* One step of an exporter that keeps to the rules. */
static void
serve(void)
{
	struct request *r = &requests[nb_requests];
	struct fuzz_in none = { (const uint8_t *)"", 0 };

	accept_next();
	if (fd >= 0 && window_fd < 0) {
		take();
		seal(&none);
		welcome(&none);
	}
	if (!hear())
		return;
	t_fill(window + comch_remote_at(r->r.slot, r->r.addr), r->r.len, 5);
	answer(&none);
}

/* What is still in the listener's queue is of imports that are gone. */
static void
is_served(void)
{
	struct rte_comch_piece p;
	int ret = 0;

	hang_up();
	renew();
	nb_requests = nb_dones = 0;
	p = (struct rte_comch_piece){ .imp = imp, .local = mem + ROOM, .addr = 1, .len = ROOM };
	T_WAIT(serve(), (ret = rte_comch_piece_start(&p)) != -EAGAIN);
	T_EQ(ret, 0);
	T_WAIT(serve(), (ret = rte_comch_piece_poll(&p)) != -EINPROGRESS);
	T_EQ(ret, 0);
	T_VERIFY(p.local, ROOM, 5);
	T_EQ(memcmp(mem, should, ROOM), 0);
	T_EQ(memcmp(mem + 2 * ROOM, should + 2 * ROOM, sizeof(mem) - 2 * ROOM), 0);
}

static void
run(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	unsigned int i;

	t_fill(mem, sizeof(mem), 1);
	memcpy(should, mem, sizeof(mem));
	next_addr = UINT64_C(1) << 40;
	nb_requests = nb_dones = 0;
	import();
	for (i = 0; i < MAX_STEPS && in.left > 0; i++)
		step(fuzz_u8(&in), &in);
	T_EQ(memcmp(mem, should, sizeof(mem)), 0);
	for (i = 0; i < NB_PIECES; i++)
		cancel(i);
	is_served();
	rte_comch_import_destroy(imp);
	hang_up();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	setenv("COMCH_DIR", t_dir(), 1);
	fuzz_eal_start();
	listener = raw_remote_listen(desc.path, sizeof(desc.path));
	T_EQ(fcntl(listener, F_SETFL, O_NONBLOCK), 0);
	desc.version = COMCH_REMOTE_VERSION;
	memset(desc.key, 3, sizeof(desc.key));
	fd = window_fd = -1;
	/* What the first import begins stays. */
	run((const uint8_t *)"", 0);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Not earlier: libFuzzer has some between two inputs. */
	const unsigned int nb_fds = t_fd_count();

	run(data, size);
	/* Another thread closes some. */
	T_AWAIT(t_fd_count() <= nb_fds);
	return 0;
}

void
fuzz_end(void)
{
	T_EQ(close(listener), 0);
	t_eal_stop();
}
