/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Importers that do what the input says, at the thread that serves exports. Each answer is what
 * the rules say; the exporter's memory changes only where a valid request wrote, and an importer's
 * window only where a valid request read. Afterwards an honest importer is served as before, and no
 * descriptor is left over.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_comch_dev.h>
#include <rte_comch_remote.h>

#include "fuzz.h"
#include "raw_remote.h"

#define MAX_STEPS 60
#define NB_PEERS 3
#define PAGE 4096
/* Of an export: not at the begin of a page, with bytes before it. */
#define BEFORE 77
#define LEN (3 * PAGE - 2 * BEFORE)
/* Its last page cannot be accessed. */
#define GONE (2 * PAGE)
/* Longer than any message. */
#define MAX_MESSAGE 64

enum { READABLE, WRITABLE, HONEST, NB_EXPORTS };

struct export {
	struct rte_comch_export *exp;
	struct comch_remote_desc desc;
	uint32_t nth;            /* it has been created so often */
	uint32_t flags;
	uint8_t *mem;            /* 3 pages */
	uint8_t should[GONE];    /* what it should have */
};

enum state { CLOSED, NEW, KEYED, UP };

/* An importer. */
struct peer {
	enum state state;
	int fd;
	const struct export *of;
	uint32_t nth;            /* of the export, when it showed its key */
	uint8_t *window;
	uint8_t *should;         /* what the window should have */
};

enum step { HELLO, WINDOW, REQUEST, BYTES, FILL, HANG_UP, DESTROY, FDS, NB_STEPS };

static int16_t dev;
static struct export exports[NB_EXPORTS];
static struct peer peers[NB_PEERS];

static void
export_new(struct export *e)
{
	e->exp = rte_comch_export_create(dev, e->mem + BEFORE, LEN, e->flags);
	T_CHECK(e->exp != NULL);
	T_EQ(rte_comch_export_desc(e->exp, (uint8_t *)&e->desc), 0);
	e->nth++;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct export *e;

	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	setenv("COMCH_DIR", t_dir(), 1);
	fuzz_eal_start();
	T_EQ(rte_comch_dev_probe("comch_shm0,role=host,func=pf0", &dev), 0);
	exports[WRITABLE].flags = RTE_COMCH_EXPORT_F_WRITE;
	for (e = exports; e < exports + NB_EXPORTS; e++) {
		e->mem = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		T_CHECK(e->mem != MAP_FAILED);
		t_fill(e->should, GONE, (uint64_t)(e - exports));
		memcpy(e->mem, e->should, GONE);
		T_EQ(mprotect(e->mem + GONE, PAGE, PROT_NONE), 0);
		export_new(e);
	}
	return 0;
}

/* What the exporter does with a message */

/*
 * It has shown the key of an export that has ended since: before the exporter looked, which refuses
 * it then, or afterwards.
 */
static bool
is_late(const struct peer *p)
{
	return p->state == KEYED && p->nth != p->of->nth;
}

/* All that it sends has been looked at: it closes. */
static void
is_closed(struct peer *p)
{
	struct comch_remote_welcome text;
	ssize_t n = raw_remote_recv(p->fd, &text, sizeof(text));

	if (n > 0 && is_late(p)) {
		T_EQ(text.status, -ENOTCONN);
		n = raw_remote_recv(p->fd, &text, sizeof(text));
	}
	T_LE(n, 0);
	T_EQ(close(p->fd), 0);
	if (p->window != NULL) {
		T_EQ(memcmp(p->window, p->should, COMCH_REMOTE_WINDOW), 0);
		T_EQ(munmap(p->window, COMCH_REMOTE_WINDOW), 0);
		free(p->should);
	}
	memset(p, 0, sizeof(*p));
}

static const struct export *
find(const uint8_t *key)
{
	const struct export *e;

	for (e = exports; e < exports + NB_EXPORTS; e++)
		if (memcmp(e->desc.key, key, COMCH_REMOTE_KEY) == 0)
			return e;
	return NULL;
}

static void
takes_hello(struct peer *p, const void *msg, size_t len)
{
	struct comch_remote_hello hello;

	if (len != sizeof(hello)) {
		is_closed(p);
		return;
	}
	memcpy(&hello, msg, len);
	if (hello.magic != COMCH_REMOTE_MAGIC || hello.version != COMCH_REMOTE_VERSION) {
		is_closed(p);
		return;
	}
	p->of = hello.kind == COMCH_REMOTE_MEMORY ? find(hello.key) : NULL;
	if (p->of == NULL) {
		T_EQ(raw_remote_hear(p->fd), -ENOTCONN);
		is_closed(p);
		return;
	}
	p->nth = p->of->nth;
	p->state = KEYED;
}

static bool
is_within(const struct export *e, uint64_t addr, uint64_t len)
{
	const uint64_t first = (uintptr_t)e->mem + BEFORE, end = first + LEN;

	return addr >= first && addr <= end && len <= end - addr;
}

static int
status_of(const struct peer *p, const struct comch_remote_request *r)
{
	if (p->nth != p->of->nth)
		return -ENOTCONN;
	if (r->op == COMCH_REMOTE_WRITE && (p->of->flags & RTE_COMCH_EXPORT_F_WRITE) == 0)
		return -EACCES;
	if (!is_within(p->of, r->addr, r->len))
		return -EACCES;
	return r->len > 0 && r->addr + r->len > (uintptr_t)p->of->mem + GONE ? -EFAULT : 0;
}

/* Bytes of a request that is done; or that is not, as some of them may be copied then. */
static void
is_copied(struct peer *p, const struct comch_remote_request *r, bool all)
{
	const size_t off = r->addr - (uintptr_t)p->of->mem;
	/* What is gone was not. */
	const size_t len = all ? r->len : off < GONE ? GONE - off : 0;
	uint8_t *at, *window, *should;

	if (len == 0)
		return;
	at = p->window + comch_remote_at(r->slot, r->addr);
	window = p->should + (at - p->window);
	should = exports[p->of - exports].should + off;
	if (r->op == COMCH_REMOTE_READ)
		memcpy(window, all ? should : at, len);
	else
		memcpy(should, all ? window : p->of->mem + off, len);
}

static void
takes_request(struct peer *p, const void *msg, size_t len)
{
	struct comch_remote_request r;
	struct comch_remote_reply reply;

	memcpy(&r, msg, RTE_MIN(len, sizeof(r)));
	if (len != sizeof(r) || r.slot >= COMCH_REMOTE_SLOTS || r.len > RTE_COMCH_PIECE_MAX ||
			(r.op != COMCH_REMOTE_READ && r.op != COMCH_REMOTE_WRITE)) {
		is_closed(p);
		return;
	}
	T_EQ(raw_remote_recv(p->fd, &reply, sizeof(reply)), sizeof(reply));
	T_EQ(reply.slot, r.slot);
	T_EQ(reply.number, r.number);
	T_EQ(reply.zero, 0);
	T_EQ(reply.status, status_of(p, &r));
	if (reply.status == 0 || reply.status == -EFAULT)
		is_copied(p, &r, reply.status == 0);
	if (reply.status == -ENOTCONN)
		is_closed(p);
}

/* A message without descriptors. */
static void
send_plain(struct peer *p, void *msg, size_t len)
{
	const ssize_t n = send(p->fd, msg, len, MSG_NOSIGNAL);

	T_CHECK(n == (ssize_t)len || is_late(p));
	if (p->state == NEW)
		takes_hello(p, msg, len);
	else if (p->state == UP)
		takes_request(p, msg, len);
	else
		is_closed(p);
}

/* Descriptors that come in any other place than that of a window. */
static void
send_fds(struct peer *p, void *msg, size_t len, const int *fds, unsigned int nb)
{
	/* The kernel keeps them away, from 6.16 on. */
	if (raw_remote_try_send(p->fd, msg, len, fds, nb) < 0)
		T_EQ(errno, EPERM);
	else
		is_closed(p);
}

/* Steps */

static void
step_hello(struct peer *p, struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in), at = fuzz_u8(in);
	struct comch_remote_hello hello = {
		.magic = COMCH_REMOTE_MAGIC,
		.version = COMCH_REMOTE_VERSION,
		.kind = COMCH_REMOTE_MEMORY,
	};
	uint8_t *bytes = (uint8_t *)&hello;

	memcpy(hello.key, exports[how % NB_EXPORTS].desc.key, COMCH_REMOTE_KEY);
	if (how >= 192)
		bytes[at % sizeof(hello)] ^= fuzz_u8(in);
	send_plain(p, &hello, how >= 240 ? at % sizeof(hello) : sizeof(hello));
}

/* A window, or what could be taken for one. Whether it is one. */
static bool
make_window(uint8_t how, int *fds, unsigned int *nb)
{
	const size_t len = how == 1 ? COMCH_REMOTE_WINDOW - PAGE :
		how == 2 ? COMCH_REMOTE_WINDOW + PAGE : COMCH_REMOTE_WINDOW;

	*nb = how == 3 ? 2 : 1;
	if (how == 4)
		fds[0] = open("/dev/zero", O_RDWR | O_CLOEXEC);
	else if (how == 5)
		fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	else
		fds[0] = raw_remote_memfd(len, how != 6);
	T_GE(fds[0], 0);
	fds[1] = how == 3 ? raw_remote_memfd(len, true) : -1;
	if (how == 7)
		T_EQ(fcntl(fds[0], F_ADD_SEALS, F_SEAL_SEAL), 0);
	if (how == 8)
		T_EQ(fallocate(fds[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, PAGE), 0);
	/* An unsealed window is sealed by the exporter. */
	return how == 0 || how == 6 || how > 8;
}

static void
is_up(struct peer *p, int window)
{
	p->state = UP;
	p->should = calloc(1, COMCH_REMOTE_WINDOW);
	T_CHECK(p->should != NULL);
	/* Another mapping cannot be written any more. */
	T_CHECK(mmap(NULL, COMCH_REMOTE_WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, window, 0) ==
		MAP_FAILED);
}

/* Send a window in state KEYED. Returns whether the exporter accepts it. */
static bool
is_welcome(struct peer *p, struct comch_remote_window *text, const int *fds, unsigned int nb,
		bool is_good)
{
	int ret;

	if (raw_remote_try_send(p->fd, text, sizeof(*text), fds, nb) < 0)
		T_CHECK(is_late(p));
	ret = raw_remote_hear(p->fd);
	if (is_late(p) && ret == -ENOTCONN)
		return false;
	if (is_good)
		T_EQ(ret, 0);
	else
		T_LT(ret, 0);
	return is_good;
}

static void
step_window(struct peer *p, struct fuzz_in *in)
{
	struct comch_remote_window text = { .magic = COMCH_REMOTE_MAGIC };
	const uint8_t how = fuzz_u8(in) % 32, spoil = fuzz_u8(in);
	uint8_t *window = NULL;
	unsigned int nb, i;
	bool is_good;
	int fds[2];

	is_good = make_window(how, fds, &nb);
	if (spoil >= 224) {
		text.magic ^= spoil;
		is_good = false;
	}
	if (is_good)
		window = mmap(NULL, COMCH_REMOTE_WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED,
			fds[0], 0);
	if (p->state != KEYED) {
		send_fds(p, &text, sizeof(text), fds, nb);
	} else if (is_welcome(p, &text, fds, nb, is_good)) {
		p->window = window;
		window = NULL;
		is_up(p, fds[0]);
	} else {
		is_closed(p);
	}
	if (window != NULL)
		T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	for (i = 0; i < nb; i++)
		T_EQ(close(fds[i]), 0);
}

/* Often near a border. */
static uint64_t
pick_addr(struct fuzz_in *in, const struct export *e)
{
	const uint64_t borders[] = {
		0, (uintptr_t)e->mem + BEFORE, (uintptr_t)e->mem + BEFORE + LEN,
		(uintptr_t)e->mem + GONE,
	};
	const uint8_t how = fuzz_u8(in);

	return borders[how % RTE_DIM(borders)] + (how & 128 ? fuzz_number(in) : -fuzz_number(in));
}

static void
step_request(struct peer *p, struct fuzz_in *in)
{
	const struct export *e = p->of != NULL ? p->of : &exports[WRITABLE];
	const uint8_t how = fuzz_u8(in);
	struct comch_remote_request r = {
		.op = how & 1 ? COMCH_REMOTE_READ : COMCH_REMOTE_WRITE,
		.slot = how / 2 % COMCH_REMOTE_SLOTS,
	};

	/* In this order with each compiler. */
	r.number = fuzz_u8(in);
	r.addr = pick_addr(in, e);
	r.len = (uint32_t)fuzz_number(in);
	if (how >= 240)
		r.op = (uint32_t)fuzz_number(in);
	else if (how >= 224)
		r.slot = (uint32_t)fuzz_number(in);
	send_plain(p, &r, sizeof(r));
}

static void
step_bytes(struct peer *p, struct fuzz_in *in)
{
	uint8_t bytes[MAX_MESSAGE];
	const size_t len = fuzz_u8(in) % sizeof(bytes);

	fuzz_take(in, bytes, len);
	send_plain(p, bytes, len);
}

/* Into its window: what it would have written is not in the exporter before it asks. */
static void
step_fill(struct peer *p, struct fuzz_in *in)
{
	const uint32_t at = fuzz_u32(in) % (COMCH_REMOTE_WINDOW - PAGE);
	const size_t len = fuzz_u16(in) % PAGE;

	if (p->window == NULL)
		return;
	t_fill(p->window + at, len, at);
	memcpy(p->should + at, p->window + at, len);
}

static void
step_hang_up(struct peer *p)
{
	T_EQ(shutdown(p->fd, SHUT_RDWR), 0);
	is_closed(p);
}

/* An export ends, and its memory is exported anew. */
static void
step_destroy(struct fuzz_in *in)
{
	struct export *e = &exports[fuzz_u8(in) % HONEST];

	T_EQ(rte_comch_export_destroy(e->exp), 0);
	export_new(e);
}

static void
step_fds(struct peer *p, struct fuzz_in *in)
{
	uint8_t bytes[MAX_MESSAGE];
	const size_t len = 1 + fuzz_u8(in) % (sizeof(bytes) - 1);
	int fd;

	if (p->state == KEYED)
		return;
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	T_GE(fd, 0);
	fuzz_take(in, bytes, len);
	send_fds(p, bytes, len, &fd, 1);
	T_EQ(close(fd), 0);
}

static void
step(struct peer *p, enum step what, struct fuzz_in *in)
{
	if (p->state == CLOSED) {
		p->fd = raw_remote_connect(exports[READABLE].desc.path);
		p->state = NEW;
	}
	switch (what) {
	case HELLO:
		step_hello(p, in);
		break;
	case WINDOW:
		step_window(p, in);
		break;
	case REQUEST:
		step_request(p, in);
		break;
	case BYTES:
		step_bytes(p, in);
		break;
	case FILL:
		step_fill(p, in);
		break;
	case HANG_UP:
		step_hang_up(p);
		break;
	case DESTROY:
		step_destroy(in);
		break;
	default:
		step_fds(p, in);
	}
}

/* Afterwards */

static void
serves_honest(void)
{
	const struct export *e = &exports[HONEST];
	int fd = raw_remote_connect(e->desc.path);
	uint8_t *window = raw_remote_up(fd, e->desc.key);
	const uint64_t addr = (uintptr_t)e->mem + BEFORE;

	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 0, addr, GONE - BEFORE), 0);
	T_EQ(memcmp(window + comch_remote_at(0, addr), e->should + BEFORE, GONE - BEFORE), 0);
	T_EQ(close(fd), 0);
	T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	/* Not earlier: libFuzzer has some between two inputs. */
	const unsigned int nb_fds = t_fd_count();
	unsigned int i;
	uint8_t how;

	for (i = 0; i < MAX_STEPS && in.left > 0; i++) {
		how = fuzz_u8(&in);
		step(&peers[how / NB_STEPS % NB_PEERS], how % NB_STEPS, &in);
	}
	for (i = 0; i < NB_PEERS; i++)
		if (peers[i].state != CLOSED)
			step_hang_up(&peers[i]);
	serves_honest();
	for (i = 0; i < NB_EXPORTS; i++)
		T_EQ(memcmp(exports[i].mem, exports[i].should, GONE), 0);
	/* Another thread closes some. */
	T_AWAIT(t_fd_count() <= nb_fds);
	return 0;
}

void
fuzz_end(void)
{
	unsigned int i;

	for (i = 0; i < NB_EXPORTS; i++)
		T_EQ(rte_comch_export_destroy(exports[i].exp), 0);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_eal_stop();
}
