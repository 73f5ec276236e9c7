/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Exported memory, and a peer that does not keep to the rules: an importer reaches nothing but
 * what was exported, and an exporter nothing of the importer.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "accel/victim.h"
#include "t_main.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/* Sockets cannot refuse descriptors: Linux before 6.16. */
static bool is_old_kernel;

/* That of libc, but for the library in this process. */
int
setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
	if (is_old_kernel && level == SOL_SOCKET && option == SO_PASSRIGHTS) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return (int)syscall(SYS_setsockopt, fd, level, option, value, len);
}

/* A hostile importer */

T_CASE(key)
{
	uint8_t key[COMCH_REMOTE_KEY];
	struct exporter e;
	unsigned int i;
	int fd;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	memcpy(key, desc_key(&e), sizeof(key));
	for (i = 0; i < COMCH_REMOTE_KEY; i += 31) {
		fd = raw_remote_connect(desc_path(&e));
		key[i] ^= 1;
		raw_remote_hello(fd, key, COMCH_REMOTE_MEMORY);
		T_EQ(raw_remote_hear(fd), -ENOTCONN);
		key[i] ^= 1;
		raw_remote_closed(fd);
	}
	/* A request without a key. */
	fd = raw_remote_connect(desc_path(&e));
	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 0, (uintptr_t)e.shared->addr, 1), -EPIPE);
	close(fd);
	/* Something else. */
	fd = raw_remote_connect(desc_path(&e));
	T_EQ(send(fd, "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL), 16);
	raw_remote_closed(fd);
	desc_still_served(&e);
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
	fd = raw_remote_connect(desc_path(&e));
	window = raw_remote_up(fd, desc_key(&e));
	at = (uintptr_t)e.shared->addr;
	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 0, at - 1, 1), -EACCES);
	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 0, at - 1, 2), -EACCES);
	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 0, at + EXPORT_LEN, 1), -EACCES);
	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 0, at + EXPORT_LEN - 1, 2), -EACCES);
	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 0, 0, 1), -EACCES);
	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 0, UINT64_MAX - 9, 100), -EACCES);
	/* Into memory that is read-only. */
	memcpy(window + comch_remote_at(0, at), "evil", 4);
	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_WRITE, 0, at, 4), -EACCES);
	exporter_do(&e, 'C');
	T_EQ(e.shared->copy[0], exporter_byte(0));
	/* All of that did no harm to it. */
	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 7, at + EXPORT_LEN - 1, 1), 0);
	close(fd);
	T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	desc_still_served(&e);
	exporter_end(&e);
}

/* Ask for a byte, with the descriptor of a file that may block when it is closed. */
static ssize_t
ask_with_descriptor(int fd, const struct exporter *e)
{
	struct comch_remote_request request = {
		.op = COMCH_REMOTE_READ, .addr = (uintptr_t)e->shared->addr, .len = 1,
	};
	int file = raw_remote_memfd(4096, true);
	ssize_t n = raw_remote_try_send(fd, &request, sizeof(request), &file, 1);

	T_EQ(close(file), 0);
	return n;
}

static void
sends_descriptors(bool old_kernel)
{
	struct exporter e;
	bool asked;
	uint8_t *window;
	int fd, file;

	is_old_kernel = old_kernel;
	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	fd = raw_remote_connect(desc_path(&e));
	window = raw_remote_up(fd, desc_key(&e));
	if (ask_with_descriptor(fd, &e) > 0)
		raw_remote_closed(fd);
	else
		T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 0, (uintptr_t)e.shared->addr, 1), 0);
	T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	/* Before the exporter has said that it can ask. */
	fd = raw_remote_connect(desc_path(&e));
	raw_remote_hello(fd, desc_key(&e), COMCH_REMOTE_MEMORY);
	file = raw_remote_memfd(COMCH_REMOTE_WINDOW, false);
	raw_remote_window(fd, &file, 1);
	T_EQ(close(file), 0);
	asked = ask_with_descriptor(fd, &e) > 0;
	T_EQ(raw_remote_hear(fd), 0);
	if (asked)
		raw_remote_closed(fd);
	else
		T_EQ(close(fd), 0);
	desc_still_served(&e);
	exporter_end(&e);
}

T_CASE(requests_with_descriptors)
{
	sends_descriptors(true);
}

T_CASE(requests_whose_descriptors_are_refused)
{
	sends_descriptors(false);
}

/* Those before a bad one may be served, those behind it are not. */
T_CASE(a_bad_request_among_others)
{
	struct comch_remote_reply reply;
	struct exporter e;
	uint8_t *window;
	unsigned int i;
	uint64_t at;
	int fd;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	at = (uintptr_t)e.shared->addr;
	fd = raw_remote_connect(desc_path(&e));
	window = raw_remote_up(fd, desc_key(&e));
	memset(window + comch_remote_at(2, at), 0xee, 1);
	T_EQ(kill(e.proc.pid, SIGSTOP), 0);
	for (i = 0; i < 3; i++)
		raw_remote_request(fd, i == 2 ? COMCH_REMOTE_WRITE : COMCH_REMOTE_READ,
			i == 1 ? COMCH_REMOTE_SLOTS : i, at, 1);
	T_EQ(kill(e.proc.pid, SIGCONT), 0);
	T_EQ(raw_remote_recv(fd, &reply, sizeof(reply)), sizeof(reply));
	T_EQ(reply.slot, 0);
	T_EQ(reply.status, 0);
	raw_remote_closed(fd);
	T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	exporter_do(&e, 'C');
	T_EQ(e.shared->copy[0], exporter_byte(0));
	desc_still_served(&e);
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
		fd = raw_remote_connect(desc_path(&e));
		window = raw_remote_up(fd, desc_key(&e));
		T_EQ(raw_remote_ask(fd, bad[i].op, bad[i].slot, (uintptr_t)e.shared->addr,
			bad[i].len), -EPIPE);
		close(fd);
		T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	}
	/* Too short, too long, much too long. */
	for (i = 23; i <= 64; i = i == 23 ? 25 : i + 39) {
		fd = raw_remote_connect(desc_path(&e));
		window = raw_remote_up(fd, desc_key(&e));
		T_EQ(send(fd, bytes, i, MSG_NOSIGNAL), i);
		raw_remote_closed(fd);
		T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	}
	desc_still_served(&e);
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
	fd = raw_remote_connect(desc_path(&e));
	window = raw_remote_up(fd, desc_key(&e));
	request.addr = (uintptr_t)e.shared->addr;
	/* Until the exporter has had enough of it. */
	while (send(fd, &request, sizeof(request), MSG_NOSIGNAL) > 0)
		;
	T_CHECK(errno == EPIPE || errno == ECONNRESET);
	close(fd);
	T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
	desc_still_served(&e);
	exporter_end(&e);
}

/* A window that an importer must not have: it is refused, with a reason or without. */
static void
refuses(const struct exporter *e, const int *fds, unsigned int nb_fds)
{
	int fd = raw_remote_connect(desc_path(e));

	raw_remote_hello(fd, desc_key(e), COMCH_REMOTE_MEMORY);
	raw_remote_window(fd, fds, nb_fds);
	T_LT(raw_remote_hear(fd), 0);
	raw_remote_closed(fd);
	while (nb_fds-- > 0)
		T_EQ(close(fds[nb_fds]), 0);
	desc_still_served(e);
}

T_CASE(windows_of_importers)
{
	struct exporter e;
	int fds[2];

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	refuses(&e, NULL, 0);
	fds[0] = raw_remote_memfd(COMCH_REMOTE_WINDOW, true);
	fds[1] = raw_remote_memfd(COMCH_REMOTE_WINDOW, true);
	refuses(&e, fds, 2);
	fds[0] = raw_remote_memfd(COMCH_REMOTE_WINDOW - 4096, true);
	refuses(&e, fds, 1);
	fds[0] = raw_remote_memfd(COMCH_REMOTE_WINDOW + 4096, true);
	refuses(&e, fds, 1);
	/* A hole, which the exporter would fill. */
	fds[0] = raw_remote_memfd(COMCH_REMOTE_WINDOW, true);
	T_EQ(fallocate(fds[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096), 0);
	refuses(&e, fds, 1);
	/* One that others may have mapped: its exporter could not keep them from making holes. */
	fds[0] = raw_remote_memfd(COMCH_REMOTE_WINDOW, true);
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
	const uint64_t addr = (uintptr_t)e->shared->addr;
	int fds[SHARE + 1];
	unsigned int i;
	char byte;

	for (i = 0; i < SHARE; i++) {
		fds[i] = raw_remote_connect(desc_path(e));
		windows[i] = raw_remote_up(fds[i], desc_key(e));
	}
	/* One too many: it is closed, and the others are served. */
	fds[SHARE] = raw_remote_connect(desc_path(e));
	T_LE(recv(fds[SHARE], &byte, 1, 0), 0);
	for (i = 0; i < SHARE; i++) {
		T_EQ(raw_remote_ask(fds[i], COMCH_REMOTE_READ, 0, addr, 1), 0);
		T_EQ(windows[i][comch_remote_at(0, addr)], exporter_byte(0));
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
	desc_still_served(&e);
	t_say(greedy.fd, 'X', 0);
	t_proc_join(&greedy);
	exporter_end(&e);
}

/* A hostile exporter */

/* A window that the exporter could make holes into, which the importer would fill. */
T_CASE(window_not_sealed)
{
	struct victim v;

	victim_begin(&v, VICTIM_GREETED);
	raw_remote_welcome(v.fd, NULL, 0);
	victim_end(&v);
}

/* A window that has holes already. */
T_CASE(window_with_holes)
{
	struct victim v;

	victim_begin(&v, VICTIM_GREETED);
	T_EQ(fallocate(v.window, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096), 0);
	victim_advance(&v, VICTIM_WELCOMED);
	victim_end(&v);
}

T_CASE(welcome_with_a_descriptor)
{
	struct victim v;

	is_old_kernel = true;
	victim_begin(&v, VICTIM_SEALED);
	raw_remote_welcome(v.fd, &v.window, 1);
	victim_end(&v);
}

T_CASE(welcome_too_short)
{
	struct victim v;

	victim_begin(&v, VICTIM_SEALED);
	T_EQ(send(v.fd, "hi", 2, MSG_NOSIGNAL), 2);
	victim_end(&v);
}

T_CASE(reply_to_another_slot)
{
	struct victim v;

	victim_begin(&v, VICTIM_ASKED);
	victim_answer(&v, v.request.slot + 1, v.request.number, 0);
	victim_end(&v);
}

T_CASE(reply_to_no_slot)
{
	struct victim v;

	victim_begin(&v, VICTIM_ASKED);
	victim_answer(&v, UINT32_MAX, v.request.number, 0);
	victim_end(&v);
}

T_CASE(reply_with_another_number)
{
	struct victim v;

	victim_begin(&v, VICTIM_ASKED);
	victim_answer(&v, v.request.slot, v.request.number + 1, 0);
	victim_end(&v);
}

T_CASE(reply_with_a_length)
{
	struct victim v;

	victim_begin(&v, VICTIM_ASKED);
	victim_answer(&v, v.request.slot, v.request.number, 1000000);
	victim_end(&v);
}

T_CASE(reply_that_is_longer)
{
	uint8_t bytes[200] = { 0 };
	struct victim v;

	victim_begin(&v, VICTIM_ASKED);
	T_EQ(send(v.fd, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
	victim_end(&v);
}

/* A status that would say that the piece goes on. */
T_CASE(reply_with_an_odd_status)
{
	struct victim v;

	victim_begin(&v, VICTIM_ASKED);
	victim_answer(&v, v.request.slot, v.request.number, -EINPROGRESS);
	victim_fails(&v, DOCA_ERROR_IO_FAILED);
	victim_close(&v);
}

/* A descriptor of a file that may block when it is closed. */
T_CASE(reply_with_descriptors)
{
	struct victim v;
	int fd;

	is_old_kernel = true;
	victim_begin(&v, VICTIM_ASKED);
	fd = raw_remote_memfd(4096, true);
	raw_remote_welcome(v.fd, &fd, 1);
	victim_end(&v);
	T_EQ(close(fd), 0);
}

/* The kernel refuses them, and the importer goes on. */
T_CASE(reply_whose_descriptors_are_refused)
{
	struct comch_remote_reply reply = { .slot = 0 };
	struct victim v;
	const int no = 0;
	int fd;

	victim_begin(&v, VICTIM_ASKED);
	fd = raw_remote_memfd(4096, true);
	/* If this kernel can; those above are for the others. */
	if (setsockopt(v.fd, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof(no)) == 0) {
		T_EQ(raw_remote_try_send(v.fd, &reply, sizeof(reply), &fd, 1), -1);
		T_EQ(errno, EPERM);
	}
	victim_serve(&v);
	victim_close(&v);
	T_EQ(close(fd), 0);
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
	fd = desc_listen(e.shared);
	copier_open(&c);
	/* The same file, but with a name that none of ours has, */
	name = strrchr(desc_path(&e), '/');
	T_EQ(strncmp(name, "/comch-mem-", 11), 0);
	name[1] = 'd';
	desc_seal(e.shared->desc);
	T_INVALID(doca_mmap_create_from_export(NULL, e.shared->desc, e.shared->desc_len, c.dev,
		&m));
	/* and one that would change the colours of the terminal that shows the log. */
	name[1] = 'c';
	desc_path(&e)[1] = '\x1b';
	desc_seal(e.shared->desc);
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

	victim_open_by_link(&v);
	victim_submit(&v, 100);
	T_EQ(accept(v.listener, NULL, NULL), -1);
	victim_end(&v);
}
