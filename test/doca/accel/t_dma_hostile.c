/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Exported memory, and a peer that does not keep to the rules: an importer reaches nothing but
 * what was exported, and an exporter nothing of the importer.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "accel/copier.h"
#include "accel/wire.h"
#include "t_main.h"

/* A hostile importer */

/* Another importer, which keeps to the rules, is served. */
static void
still_serves(const struct exporter *e)
{
	const uint64_t addr = (uintptr_t)e->shared->addr + 3;
	int fd = wire_connect(e);
	uint8_t *window = wire_up(fd, e);
	size_t i;

	T_EQ(wire_ask(fd, COMCH_REMOTE_READ, 1, addr, 16), 0);
	for (i = 0; i < 16; i++)
		T_EQ(window[comch_remote_at(1, addr) + i], exporter_byte(3 + i));
	T_EQ(close(fd), 0);
	T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
}

T_CASE(key)
{
	uint8_t key[COMCH_REMOTE_KEY];
	struct exporter e;
	unsigned int i;
	int fd;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	memcpy(key, e.shared->desc + 76, sizeof(key));
	for (i = 0; i < COMCH_REMOTE_KEY; i += 31) {
		fd = wire_connect(&e);
		key[i] ^= 1;
		wire_hello(fd, &e, key);
		T_EQ(wire_hear(fd), -ENOTCONN);
		key[i] ^= 1;
		wire_closed(fd);
	}
	/* A request without a key. */
	fd = wire_connect(&e);
	T_EQ(wire_ask(fd, COMCH_REMOTE_READ, 0, (uintptr_t)e.shared->addr, 1), -EPIPE);
	close(fd);
	/* Something else. */
	fd = wire_connect(&e);
	T_EQ(send(fd, "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL), 16);
	wire_closed(fd);
	still_serves(&e);
	exporter_end(&e);
}

/* behaviour: B9, B11 */
T_CASE(requests)
{
	struct exporter e;
	uint8_t *window;
	uint64_t at;
	int fd;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	fd = wire_connect(&e);
	window = wire_up(fd, &e);
	at = (uintptr_t)e.shared->addr;
	T_EQ(wire_ask(fd, COMCH_REMOTE_READ, 0, at - 1, 1), -EACCES);
	T_EQ(wire_ask(fd, COMCH_REMOTE_READ, 0, at - 1, 2), -EACCES);
	T_EQ(wire_ask(fd, COMCH_REMOTE_READ, 0, at + EXPORT_LEN, 1), -EACCES);
	T_EQ(wire_ask(fd, COMCH_REMOTE_READ, 0, at + EXPORT_LEN - 1, 2), -EACCES);
	T_EQ(wire_ask(fd, COMCH_REMOTE_READ, 0, 0, 1), -EACCES);
	T_EQ(wire_ask(fd, COMCH_REMOTE_READ, 0, UINT64_MAX - 9, 100), -EACCES);
	/* Into memory that is read-only. */
	memcpy(window + comch_remote_at(0, at), "evil", 4);
	T_EQ(wire_ask(fd, COMCH_REMOTE_WRITE, 0, at, 4), -EACCES);
	exporter_do(&e, 'C');
	T_EQ(e.shared->copy[0], exporter_byte(0));
	/* All of that did no harm to it. */
	T_EQ(wire_ask(fd, COMCH_REMOTE_READ, 7, at + EXPORT_LEN - 1, 1), 0);
	close(fd);
	T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	still_serves(&e);
	exporter_end(&e);
}

/* What ends the connection. */
T_CASE(violations)
{
	static const struct {
		uint32_t op, slot, len;
	} bad[] = {
		{ COMCH_REMOTE_READ, COMCH_REMOTE_SLOTS, 1 },
		{ COMCH_REMOTE_READ, UINT32_MAX, 1 },
		{ COMCH_REMOTE_READ, 0, RTE_COMCH_PIECE_MAX + 1 },
		{ COMCH_REMOTE_READ, 0, UINT32_MAX },
		{ 0, 0, 1 },
		{ COMCH_REMOTE_WRITE + 1, 0, 1 },
	};
	uint8_t bytes[64] = { 0 };
	struct exporter e;
	uint8_t *window;
	unsigned int i;
	int fd;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (i = 0; i < RTE_DIM(bad); i++) {
		fd = wire_connect(&e);
		window = wire_up(fd, &e);
		T_EQ(wire_ask(fd, bad[i].op, bad[i].slot, (uintptr_t)e.shared->addr, bad[i].len),
			-EPIPE);
		close(fd);
		T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	}
	/* Too short, too long, much too long. */
	for (i = 23; i <= 64; i = i == 23 ? 25 : i + 39) {
		fd = wire_connect(&e);
		window = wire_up(fd, &e);
		T_EQ(send(fd, bytes, i, MSG_NOSIGNAL), i);
		wire_closed(fd);
		T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	}
	still_serves(&e);
	exporter_end(&e);
}

/* One that does not read the answers. */
T_CASE(flood)
{
	struct comch_remote_request request = { .op = COMCH_REMOTE_READ, .len = 1 };
	struct exporter e;
	uint8_t *window;
	int fd;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	fd = wire_connect(&e);
	window = wire_up(fd, &e);
	request.addr = (uintptr_t)e.shared->addr;
	/* Until the exporter has had enough of it. */
	while (send(fd, &request, sizeof(request), MSG_NOSIGNAL) > 0)
		;
	T_CHECK(errno == EPIPE || errno == ECONNRESET);
	close(fd);
	T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	still_serves(&e);
	exporter_end(&e);
}

/* A window that an importer must not have: it is refused, with a reason or without. */
static void
refuses(const struct exporter *e, const int *fds, unsigned int nb_fds)
{
	int fd = wire_connect(e);

	wire_hello(fd, e, NULL);
	wire_window(fd, fds, nb_fds);
	T_LT(wire_hear(fd), 0);
	wire_closed(fd);
	while (nb_fds-- > 0)
		T_EQ(close(fds[nb_fds]), 0);
	still_serves(e);
}

T_CASE(windows_of_importers)
{
	struct exporter e;
	int fds[2];

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	refuses(&e, NULL, 0);
	fds[0] = wire_memfd(COMCH_REMOTE_WINDOW, true);
	fds[1] = wire_memfd(COMCH_REMOTE_WINDOW, true);
	refuses(&e, fds, 2);
	fds[0] = wire_memfd(COMCH_REMOTE_WINDOW - 4096, true);
	refuses(&e, fds, 1);
	fds[0] = wire_memfd(COMCH_REMOTE_WINDOW + 4096, true);
	refuses(&e, fds, 1);
	/* A hole, which the exporter would fill. */
	fds[0] = wire_memfd(COMCH_REMOTE_WINDOW, true);
	T_EQ(fallocate(fds[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096), 0);
	refuses(&e, fds, 1);
	/* One that others may have mapped: its exporter could not keep them from making holes. */
	fds[0] = wire_memfd(COMCH_REMOTE_WINDOW, true);
	T_EQ(fcntl(fds[0], F_ADD_SEALS, F_SEAL_SEAL), 0);
	refuses(&e, fds, 1);
	fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	refuses(&e, fds, 1);
	fds[0] = open("/dev/zero", O_RDWR | O_CLOEXEC);
	refuses(&e, fds, 1);
	exporter_end(&e);
}

#define SHARE 128

static int
connect_often(int fd, void *arg)
{
	const struct exporter *e = arg;
	uint8_t *windows[SHARE];
	int fds[SHARE + 1];
	unsigned int i;
	char byte;

	for (i = 0; i < SHARE; i++) {
		fds[i] = wire_connect(e);
		windows[i] = wire_up(fds[i], e);
	}
	/* One too many: it is closed, and the others are served. */
	fds[SHARE] = wire_connect(e);
	T_LE(recv(fds[SHARE], &byte, 1, 0), 0);
	for (i = 0; i < SHARE; i++) {
		T_EQ(wire_ask(fds[i], COMCH_REMOTE_READ, 0, (uintptr_t)e->shared->addr, 1), 0);
		T_EQ(windows[i][comch_remote_at(0, (uintptr_t)e->shared->addr)], exporter_byte(0));
	}
	t_say(fd, 'F', 0);
	t_hear(fd, 'X');
	return 0;
}

/* What one process takes, others have nevertheless. */
T_CASE(shares)
{
	struct exporter e;
	struct t_proc greedy;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	t_proc_start(&greedy, "greedy", connect_often, &e);
	t_hear(greedy.fd, 'F');
	still_serves(&e);
	t_say(greedy.fd, 'X', 0);
	t_proc_join(&greedy);
	exporter_end(&e);
}

/* A hostile exporter */

struct victim {
	struct copier c;
	struct memory mem;
	struct doca_mmap *remote;
	struct doca_buf *src, *dst;
	struct exporter e;
	int listener;
};

static void
victim_submit(struct victim *v)
{
	copier_open(&v->c);
	memory_create_new(&v->mem, v->c.dev, 4096);
	v->remote = exporter_import(&v->e, v->c.dev);
	T_OK(doca_buf_inventory_buf_get_by_data(v->mem.inv, v->remote, v->e.shared->addr, 100,
		&v->src));
	v->dst = memory_buf(&v->mem, 1000, 100, false);
	copier_submit(&v->c, v->src, v->dst);
	T_SETTLE(doca_pe_progress(v->c.pe));
}

/* An importer whose task is under way; the exporter's socket is that of the test. */
static int
victim_open(struct victim *v)
{
	int fd;

	exporter_start(&v->e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	v->listener = wire_listen(v->e.shared);
	victim_submit(v);
	fd = accept(v->listener, NULL, NULL);
	T_CHECK(fd >= 0);
	return fd;
}

/* Its task fails, its memory is unchanged, and it can go on. */
static void
victim_close(struct victim *v, int fd)
{
	unsigned int i;

	T_WAIT(doca_pe_progress(v->c.pe), v->c.nb_errors == 1);
	T_EQ(v->c.nb_done, 0);
	T_IS(v->c.status, DOCA_ERROR_NOT_CONNECTED);
	for (i = 0; i < 4096; i++)
		T_EQ(v->mem.addr[i], 0);
	close(fd);
	close(v->listener);
	T_OK(doca_buf_dec_refcount(v->src, NULL));
	T_OK(doca_buf_dec_refcount(v->dst, NULL));
	T_OK(doca_mmap_destroy(v->remote));
	memory_destroy(&v->mem);
	copier_close(&v->c);
	exporter_end(&v->e);
}

/* A window that the exporter could make holes into, which the importer would fill. */
T_CASE(window_not_sealed)
{
	struct victim v;
	int fd = victim_open(&v), window = wire_take(fd);

	wire_welcome(fd, NULL, 0);
	victim_close(&v, fd);
	close(window);
}

/* A window that has holes already. */
T_CASE(window_with_holes)
{
	struct victim v;
	int fd = victim_open(&v), window = wire_take(fd);

	T_EQ(fallocate(window, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096), 0);
	wire_seal_window(window);
	wire_welcome(fd, NULL, 0);
	victim_close(&v, fd);
	close(window);
}

T_CASE(welcome_with_a_descriptor)
{
	struct victim v;
	int fd = victim_open(&v), window = wire_take(fd);

	wire_seal_window(window);
	wire_welcome(fd, &window, 1);
	victim_close(&v, fd);
	close(window);
}

T_CASE(welcome_too_short)
{
	struct victim v;
	int fd = victim_open(&v), window = wire_take(fd);

	wire_seal_window(window);
	T_EQ(send(fd, "hi", 2, MSG_NOSIGNAL), 2);
	victim_close(&v, fd);
	close(window);
}

/* The request of the task, with its number. */
static struct comch_remote_request
hear_request(struct victim *v, int fd)
{
	struct comch_remote_request request;
	int window = wire_take(fd);

	wire_seal_window(window);
	wire_welcome(fd, NULL, 0);
	close(window);
	T_WAIT(doca_pe_progress(v->c.pe), recv(fd, &request, sizeof(request), MSG_DONTWAIT) ==
		(ssize_t)sizeof(request));
	T_EQ(request.op, COMCH_REMOTE_READ);
	T_EQ(request.len, 100);
	T_EQ(v->c.nb_done + v->c.nb_errors, 0);
	return request;
}

static void
reply(int fd, uint32_t slot, uint32_t number, int32_t status)
{
	const struct comch_remote_reply r = { .slot = slot, .number = number, .status = status };

	T_EQ(send(fd, &r, sizeof(r), MSG_NOSIGNAL), sizeof(r));
}

T_CASE(reply_to_another_slot)
{
	struct comch_remote_request request;
	struct victim v;
	int fd = victim_open(&v);

	request = hear_request(&v, fd);
	reply(fd, request.slot + 1, request.number, 0);
	victim_close(&v, fd);
}

T_CASE(reply_to_no_slot)
{
	struct comch_remote_request request;
	struct victim v;
	int fd = victim_open(&v);

	request = hear_request(&v, fd);
	reply(fd, UINT32_MAX, request.number, 0);
	victim_close(&v, fd);
}

T_CASE(reply_with_another_number)
{
	struct comch_remote_request request;
	struct victim v;
	int fd = victim_open(&v);

	request = hear_request(&v, fd);
	reply(fd, request.slot, request.number + 1, 0);
	victim_close(&v, fd);
}

T_CASE(reply_with_a_length)
{
	struct comch_remote_request request;
	struct victim v;
	int fd = victim_open(&v);

	request = hear_request(&v, fd);
	reply(fd, request.slot, request.number, 1000000);
	victim_close(&v, fd);
}

T_CASE(reply_that_is_longer)
{
	uint8_t bytes[200] = { 0 };
	struct victim v;
	int fd = victim_open(&v);

	hear_request(&v, fd);
	T_EQ(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
	victim_close(&v, fd);
}

/* A status that would say that the piece goes on. */
T_CASE(reply_with_an_odd_status)
{
	struct comch_remote_request request;
	struct victim v;
	int fd = victim_open(&v);

	request = hear_request(&v, fd);
	reply(fd, request.slot, request.number, -EINPROGRESS);
	T_WAIT(doca_pe_progress(v.c.pe), v.c.nb_errors == 1);
	T_IS(v.c.status, DOCA_ERROR_IO_FAILED);
	v.c.status = DOCA_ERROR_NOT_CONNECTED;
	victim_close(&v, fd);
}

/* A descriptor of a file that may block when it is closed. */
T_CASE(reply_with_descriptors)
{
	struct victim v;
	int fd = victim_open(&v), zero;

	hear_request(&v, fd);
	zero = wire_memfd(4096, true);
	wire_welcome(fd, &zero, 1);
	victim_close(&v, fd);
}

/* A descriptor that leads to the socket of another service. */
T_CASE(path_of_another_service)
{
	struct exporter e;
	struct doca_mmap *m;
	struct copier c;
	char *name;
	int fd;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	fd = wire_listen(e.shared);
	copier_open(&c);
	/* The same file, but with a name that none of ours has, */
	name = strrchr((char *)e.shared->desc + 108, '/');
	T_EQ(strncmp(name, "/comch-mem-", 11), 0);
	name[1] = 'd';
	wire_seal(e.shared->desc);
	T_INVALID(doca_mmap_create_from_export(NULL, e.shared->desc, e.shared->desc_len, c.dev,
		&m));
	/* and one that would change the colours of the terminal that shows the log. */
	name[1] = 'c';
	((char *)e.shared->desc)[109] = '\x1b';
	wire_seal(e.shared->desc);
	T_INVALID(doca_mmap_create_from_export(NULL, e.shared->desc, e.shared->desc_len, c.dev,
		&m));
	close(fd);
	copier_close(&c);
	exporter_end(&e);
}

/* A link that leads there: its name is one of ours, and it is not followed. */
T_CASE(link_to_another_service)
{
	struct victim v;
	int fd;

	exporter_start(&v.e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	v.listener = wire_listen(v.e.shared);
	wire_replace_by_link(v.e.shared);
	victim_submit(&v);
	T_WAIT(doca_pe_progress(v.c.pe), v.c.nb_errors == 1);
	T_EQ(fcntl(v.listener, F_SETFL, O_NONBLOCK), 0);
	fd = accept(v.listener, NULL, NULL);
	T_EQ(fd, -1);
	victim_close(&v, fd);
}
