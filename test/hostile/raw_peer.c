/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "raw_peer.h"
#include "t_node.h"
#include "t.h"

static size_t
round_page(size_t len)
{
	return (len + 4095) & ~(size_t)4095;
}

void
raw_path(char *buf, size_t size, const char *dir, const char *func, const char *name)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	char hex[33];
	SHA2_CTX ctx;
	int i;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)name, strlen(name));
	SHA256Final(digest, &ctx);
	for (i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	snprintf(buf, size, "%s/%s/%s.sock", dir, func, hex);
}

static int
sock_new(struct sockaddr_un *addr, const char *dir, const char *func, const char *name)
{
	int sock;

	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	raw_path(addr->sun_path, sizeof(addr->sun_path), dir, func, name);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		T_FAIL("socket: %s", strerror(errno));
	return sock;
}

int
raw_dial(const char *dir, const char *func, const char *name)
{
	struct sockaddr_un addr;
	int sock = sock_new(&addr, dir, func, name);

	if (connect(sock, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return sock;
	close(sock);
	return -1;
}

int
raw_listen(const char *dir, const char *func, const char *name)
{
	struct sockaddr_un addr;
	int sock = sock_new(&addr, dir, func, name);

	unlink(addr.sun_path);
	if (bind(sock, (struct sockaddr *)&addr, sizeof(addr)) != 0 || listen(sock, 16) != 0)
		T_FAIL("listen %s: %s", addr.sun_path, strerror(errno));
	return sock;
}

void
raw_mem_new(struct raw_mem *m, size_t len, unsigned int flags, unsigned int seals)
{
	m->len = len;
	m->fd = memfd_create("raw", MFD_CLOEXEC | flags);
	if (m->fd < 0 || fallocate(m->fd, 0, 0, (off_t)len) != 0)
		T_FAIL("memfd: %s", strerror(errno));
	m->addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (m->addr == MAP_FAILED)
		T_FAIL("mmap: %s", strerror(errno));
	if (seals != 0)
		T_EQ(fcntl(m->fd, F_ADD_SEALS, seals), 0);
}

void
raw_mem_free(struct raw_mem *m)
{
	if (m->addr != NULL)
		munmap(m->addr, m->len);
	if (m->fd >= 0)
		close(m->fd);
	m->addr = NULL;
	m->fd = -1;
}

ssize_t
raw_sock_send(int sock, const void *data, size_t len, const int *fds, uint32_t nb)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * RAW_MAX_FDS)];
	} control;
	struct iovec iov = { .iov_base = (void *)(uintptr_t)data, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (nb > 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * nb);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * nb);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * nb);
	}
	return sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
raw_wake(struct raw_peer *p)
{
	raw_sock_send(p->sock, "w", 1, NULL, 0);
}

void
raw_leave(struct raw_peer *p, enum raw_scrap scrap)
{
	static const uint8_t half[SHM_CELL_DATA] = { 200 };

	if (scrap == RAW_HALF_HELLO)
		raw_sock_send(p->sock, "hell", 4, NULL, 0);
	else if (scrap == RAW_HALF_FRAME && p->vic != NULL)
		raw_put(p, half, sizeof(half));
	else if (scrap == RAW_STRAY_FD)
		raw_sock_send(p->sock, &(char){ SHM_SOCK_FDS }, 1, &p->own_fd, 1);
}

void
raw_prepare(struct raw_peer *p, int sock, uint32_t cells)
{
	struct raw_mem m;

	T_GE(sock, 0);
	memset(p, 0, sizeof(*p));
	p->sock = sock;
	p->cells = cells;
	raw_mem_new(&m, round_page(shm_link_len(cells)), MFD_ALLOW_SEALING, RAW_SEALS);
	p->own = m.addr;
	p->own_cell = p->own->cell;
	p->own_len = m.len;
	p->own_fd = m.fd;
}

void
raw_hello(struct raw_peer *p)
{
	const struct shm_hello hello = {
		.magic = SHM_HELLO_MAGIC, .version = SHM_HELLO_VERSION, .cells = p->cells,
		.flags = p->link_flags,
	};

	raw_sock_send(p->sock, &hello, sizeof(hello), &p->own_fd, 1);
}

void
raw_open(struct raw_peer *p, int sock, uint32_t cells)
{
	raw_prepare(p, sock, cells);
	raw_hello(p);
}

#define GROWN_LEN (SHM_GROWN_CELLS * sizeof(struct shm_cell))

/* The victim offers a larger ring, with the last descriptor. */
static void
take_offer(struct raw_peer *p)
{
	int fd;

	T_GT(p->nb_fds, 0);
	T_CHECK(p->vic_grown == NULL);
	fd = p->fds[--p->nb_fds];
	p->vic_grown = mmap(NULL, GROWN_LEN, PROT_READ, MAP_SHARED, fd, 0);
	T_CHECK(p->vic_grown != MAP_FAILED);
	T_CHECK(mmap(NULL, GROWN_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	T_NE(ftruncate(fd, 0), 0);
	close(fd);
	__atomic_store_n(&p->own->has_ring, SHM_HAS_RING, __ATOMIC_RELAXED);
}

/* Take what lies on the socket; its length, 0 at the end, -1: nothing. */
static ssize_t
sock_take(struct raw_peer *p, void *data, size_t size)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * RAW_MAX_FDS)];
	} control;
	struct iovec iov = { .iov_base = data, .iov_len = size };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c;
	uint32_t n, i;
	ssize_t len;
	int fd;

	/* A victim that closes without reading all resets us, once, before its last data. */
	do {
		len = recvmsg(p->sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (len < 0 && errno == ECONNRESET);
	if (len < 0)
		return errno == EAGAIN ? -1 : 0;
	for (c = CMSG_FIRSTHDR(&msg); c != NULL; c = CMSG_NXTHDR(&msg, c)) {
		n = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (p->nb_fds < RAW_MAX_FDS)
				p->fds[p->nb_fds++] = fd;
			else
				close(fd);
		}
	}
	if (len == 1 && *(const char *)data == SHM_SOCK_RING)
		take_offer(p);
	return len;
}

static int
take_fd(struct raw_peer *p)
{
	int fd = p->fds[0];

	p->nb_fds--;
	memmove(&p->fds[0], &p->fds[1], p->nb_fds * sizeof(fd));
	return fd;
}

bool
raw_is_up(struct raw_peer *p)
{
	struct shm_hello hello;
	int fd;

	if (p->vic != NULL)
		return true;
	if (sock_take(p, &hello, sizeof(hello)) != sizeof(hello) || p->nb_fds != 1)
		return false;
	fd = take_fd(p);
	p->vic_cells = hello.cells;
	p->vic_len = round_page(shm_link_len(hello.cells));
	p->vic = mmap(NULL, p->vic_len, PROT_READ, MAP_SHARED, fd, 0);
	T_CHECK(p->vic != MAP_FAILED);
	p->vic_cell = p->vic->cell;
	/* Ours to read, never to write: the kernel says so. */
	T_CHECK(mmap(NULL, p->vic_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
		MAP_FAILED);
	T_NE(ftruncate(fd, 0), 0);
	close(fd);
	return true;
}

bool
raw_is_hung_up(struct raw_peer *p)
{
	char c;
	ssize_t len;

	do {
		len = sock_take(p, &c, 1);
	} while (len > 0);
	return len == 0;
}

bool
raw_has_ring(struct raw_peer *p)
{
	char c;

	return p->vic_grown != NULL || (sock_take(p, &c, 1) > 0 && p->vic_grown != NULL);
}

void
raw_close(struct raw_peer *p)
{
	if (p->sock >= 0)
		close(p->sock);
	if (p->own != NULL)
		munmap(p->own, p->own_len);
	if (p->own_fd >= 0)
		close(p->own_fd);
	if (p->vic != NULL)
		munmap(p->vic, p->vic_len);
	if (p->vic_grown != NULL)
		munmap(p->vic_grown, GROWN_LEN);
	while (p->nb_fds > 0)
		close(take_fd(p));
	p->sock = p->own_fd = -1;
	p->own = p->vic = NULL;
}

/* Copy into the cells from tx_pos on, and publish. */
void
raw_put(struct raw_peer *p, const void *bytes, uint32_t len)
{
	uint32_t n = (len + SHM_CELL_DATA - 1) / SHM_CELL_DATA, i, k;
	struct shm_cell *cell;

	for (i = n; i-- > 0; ) {
		cell = &p->own_cell[(p->tx_pos + i) & (p->cells - 1)];
		k = RTE_MIN(len - i * SHM_CELL_DATA, (uint32_t)SHM_CELL_DATA);
		memcpy(cell->data, (const uint8_t *)bytes + i * SHM_CELL_DATA, k);
		__atomic_store_n(&cell->seq, p->tx_pos + i + 1, __ATOMIC_RELEASE);
	}
	p->tx_pos += n;
}

bool
raw_try(struct raw_peer *p, const struct raw_send *s)
{
	uint8_t buf[8 + COMCH_WIRE_HDR_SIZE + 8192] = { 0 };
	struct shm_frame_prefix prefix = {
		.len = COMCH_WIRE_HDR_SIZE + s->len, .nb_fds = s->nb_fds,
	};
	uint64_t word = s->type | (uint64_t)s->junk << 8, acked = p->acked;
	uint32_t total = sizeof(prefix) + COMCH_WIRE_HDR_SIZE + s->len;
	uint32_t n = (total + SHM_CELL_DATA - 1) / SHM_CELL_DATA;

	T_LE(total, sizeof(buf));
	if (p->vic != NULL && p->tx_pos + n - __atomic_load_n(&p->vic->rx_pos,
			__ATOMIC_ACQUIRE) > p->cells)
		return false;
	if (s->nb_fds > 0 && raw_sock_send(p->sock, "f", 1, s->fds, s->nb_fds) != 1)
		return false;
	word |= (uint64_t)(s->lie ? s->say_body : s->len) << 32;
	if (s->lie) {
		prefix.len = s->say_len;
		prefix.nb_fds = s->say_fds;
	}
	memcpy(buf, &prefix, sizeof(prefix));
	memcpy(buf + 8, &word, sizeof(word));
	memcpy(buf + 16, &acked, sizeof(acked));
	if (s->len > 0)
		memcpy(buf + 24, s->body, s->len);
	raw_put(p, buf, total);
	return true;
}

void
raw_send(struct raw_peer *p, const struct raw_send *s)
{
	T_UNTIL(raw_try(p, s));
}

static void
get_cells(const struct raw_peer *p, uint8_t *bytes, uint32_t len)
{
	uint32_t i, k;

	for (i = 0; i * SHM_CELL_DATA < len; i++) {
		k = RTE_MIN(len - i * SHM_CELL_DATA, (uint32_t)SHM_CELL_DATA);
		memcpy(bytes + i * SHM_CELL_DATA,
			p->vic_cell[(p->rx_pos + i) & (p->vic_cells - 1)].data, k);
	}
}

/* The victim's ring has grown: read on in the one that it offered. */
static void
take_ring(struct raw_peer *p, const struct shm_frame_prefix *prefix)
{
	T_EQ(prefix->len, SHM_RING_FRAME);
	T_CHECK(p->vic_grown != NULL);
	T_CHECK(p->vic_cell != p->vic_grown);
	p->vic_cell = p->vic_grown;
	p->vic_cells = SHM_GROWN_CELLS;
	p->rx_pos++;
}

bool
raw_recv(struct raw_peer *p, struct raw_frame *f)
{
	uint8_t buf[8192];
	struct shm_frame_prefix prefix;
	uint64_t word;
	char c;

	if (p->vic == NULL || __atomic_load_n(&p->vic_cell[p->rx_pos & (p->vic_cells - 1)].seq,
			__ATOMIC_ACQUIRE) != p->rx_pos + 1)
		return false;
	get_cells(p, buf, sizeof(prefix));
	memcpy(&prefix, buf, sizeof(prefix));
	if (prefix.nb_fds == SHM_PREFIX_RING) {
		take_ring(p, &prefix);
		return raw_recv(p, f);
	}
	T_LE(prefix.len, sizeof(buf) - sizeof(prefix));
	if (p->deaf)
		prefix.nb_fds = 0;
	while (p->nb_fds < prefix.nb_fds && sock_take(p, &c, 1) > 0)
		;
	T_GE(p->nb_fds, prefix.nb_fds);
	get_cells(p, buf, prefix.len + (uint32_t)sizeof(prefix));
	p->rx_pos += (prefix.len + sizeof(prefix) + SHM_CELL_DATA - 1) / SHM_CELL_DATA;
	if (!p->mute)
		__atomic_store_n(&p->own->rx_pos, p->rx_pos, __ATOMIC_RELEASE);
	memcpy(&word, buf + 8, sizeof(word));
	f->type = (uint32_t)word;
	f->len = prefix.len - COMCH_WIRE_HDR_SIZE;
	memcpy(&f->acked, buf + 16, sizeof(f->acked));
	memcpy(f->body, buf + 24, RTE_MIN(f->len, (uint32_t)sizeof(f->body)));
	for (f->nb_fds = 0; f->nb_fds < prefix.nb_fds; f->nb_fds++)
		f->fds[f->nb_fds] = take_fd(p);
	return true;
}

void
raw_frame_free(struct raw_frame *f)
{
	while (f->nb_fds > 0)
		close(f->fds[--f->nb_fds]);
}

static uint32_t
put32(uint8_t *at, uint32_t v)
{
	memcpy(at, &v, sizeof(v));
	return sizeof(v);
}

void
raw_send_hello(struct raw_peer *p, const char *name, uint32_t max_msg, uint32_t queue)
{
	uint16_t len = (uint16_t)strlen(name);
	uint8_t body[512];
	struct raw_send s = { .type = COMCH_WIRE_HELLO, .body = body, .len = 22u + len };

	put32(body, COMCH_WIRE_MAGIC);
	put32(body + 4, COMCH_WIRE_MAJOR | COMCH_WIRE_MINOR << 16);
	put32(body + 8, max_msg);
	put32(body + 12, queue);
	memcpy(body + 16, &len, sizeof(len));
	memcpy(body + 18, name, len);
	put32(body + 18 + len, p->flags);
	raw_send(p, &s);
}

void
raw_send_accept(struct raw_peer *p, uint32_t max_msg, uint32_t queue)
{
	uint8_t body[16];
	struct raw_send s = { .type = COMCH_WIRE_ACCEPT, .body = body, .len = sizeof(body) };

	put32(body, COMCH_WIRE_MAJOR | COMCH_WIRE_MINOR << 16);
	put32(body + 4, max_msg);
	put32(body + 8, queue);
	put32(body + 12, p->flags);
	raw_send(p, &s);
}

void
raw_send_msg(struct raw_peer *p, const void *data, uint32_t len)
{
	struct raw_send s = { .type = COMCH_WIRE_MSG, .body = data, .len = len };

	raw_send(p, &s);
}

void
raw_send_status(struct raw_peer *p, uint32_t type, uint32_t id, int32_t status, int fd)
{
	uint8_t body[8];
	struct raw_send s = {
		.type = type, .body = body, .len = sizeof(body),
		.fds = { fd }, .nb_fds = fd >= 0,
	};

	put32(body, id);
	put32(body + 4, (uint32_t)status);
	raw_send(p, &s);
}

void
raw_send_id(struct raw_peer *p, uint32_t type, uint32_t id)
{
	struct raw_send s = { .type = type, .body = &id, .len = sizeof(id) };

	raw_send(p, &s);
}

void
raw_send_reason(struct raw_peer *p, uint32_t type, int32_t status, const char *text,
		uint16_t len)
{
	uint8_t body[512];
	struct raw_send s = { .type = type, .body = body, .len = 6u + len };

	put32(body, (uint32_t)status);
	memcpy(body + 4, &len, sizeof(len));
	memcpy(body + 6, text, len);
	raw_send(p, &s);
}

void
raw_send_mr_add(struct raw_peer *p, uint32_t id, uint64_t offset, uint64_t size, int fd)
{
	uint8_t body[24];
	struct raw_send s = {
		.type = COMCH_WIRE_MR_ADD, .body = body, .len = sizeof(body),
		.fds = { fd }, .nb_fds = fd >= 0,
	};

	put32(body, id);
	put32(body + 4, 0);
	memcpy(body + 8, &offset, sizeof(offset));
	memcpy(body + 16, &size, sizeof(size));
	raw_send(p, &s);
}

void
raw_send_producer(struct raw_peer *p, uint32_t id, int fd)
{
	struct raw_send s = {
		.type = COMCH_WIRE_PRODUCER_NEW, .body = &id, .len = sizeof(id),
		.fds = { fd }, .nb_fds = fd >= 0,
	};

	raw_send(p, &s);
}

void
raw_cons_new(struct raw_cons *c, uint32_t id, uint32_t depth, uint32_t room,
		uint32_t staging_size)
{
	*c = (struct raw_cons){
		.id = id, .depth = depth, .imm_size = RTE_COMCH_IMM_SIZE,
		.staging_size = staging_size, .rec.fd = -1,
	};
	raw_mem_new(&c->post, round_page(comch_chan_post_len(room)), MFD_ALLOW_SEALING,
		RAW_SEALS);
	c->shared = c->post.addr;
	T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, c->wake), 0);
}

void
raw_cons_announce(struct raw_peer *p, struct raw_cons *c)
{
	uint8_t body[16];
	struct raw_send s = {
		.type = COMCH_WIRE_CONSUMER_NEW, .body = body, .len = sizeof(body),
		.fds = { c->post.fd, c->wake[1] }, .nb_fds = 2,
	};

	put32(body, c->id);
	put32(body + 4, c->depth);
	put32(body + 8, c->imm_size);
	put32(body + 12, c->staging_size);
	raw_send(p, &s);
}

void
raw_cons_map(struct raw_cons *c, int fd)
{
	c->rec.len = round_page(comch_chan_rec_len(c->depth, c->staging_size));
	c->rec.addr = mmap(NULL, c->rec.len, PROT_READ, MAP_SHARED, fd, 0);
	T_CHECK(c->rec.addr != MAP_FAILED);
	T_CHECK(mmap(NULL, c->rec.len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
		MAP_FAILED);
}

void
raw_cons_free(struct raw_cons *c)
{
	raw_mem_free(&c->post);
	if (c->rec.addr != NULL)
		munmap(c->rec.addr, c->rec.len);
	c->rec.addr = NULL;
	close(c->wake[0]);
	close(c->wake[1]);
}

void
raw_cons_post(struct raw_cons *c, uint32_t region, uint64_t off, uint32_t len)
{
	struct comch_desc *d = &c->shared->desc[c->shared->tail & (c->depth - 1)];

	d->where = (uint64_t)region << COMCH_DESC_OFF_BITS | off;
	d->len = len;
	__atomic_store_n(&c->shared->tail, c->shared->tail + 1, __ATOMIC_RELEASE);
}
