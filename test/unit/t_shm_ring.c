/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Our ring becomes a larger one, or stays what it is. shm_ring.c. */

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "u_shm_link.h"

static int sock[2];

static void
open_links(void)
{
	u_shm_links_open();
	T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	a.sock = sock[0];
	b.sock = sock[1];
	shm_out_begin(&a.out, a.sock, comch_quota_get(1, 2));
	shm_out_begin(&b.out, b.sock, comch_quota_get(1, 3));
	a.grows = a.peer_may_offer = b.grows = b.peer_may_offer = true;
}

static void
close_links(void)
{
	shm_ring_free(&a);
	shm_ring_free(&b);
	close(sock[0]);
	close(sock[1]);
	u_shm_links_close();
}

TestSuite(shm_ring, .init = open_links, .fini = close_links);

/* Of all links of this process. */
static uint32_t
nb_rings(void)
{
	struct comch_quota_info info;

	comch_quota_info(COMCH_QUOTA_RINGS, &info);
	return info.used;
}

/* a makes an offer, if it can. */
static void
prepare(void)
{
	shm_ring_prepare(&a.base, 64, 4080);
	T_CHECK(!a.base.needs_setup);
}

/* b gets the offer. */
static void
receive_offer(void)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control;
	char what = 0;
	struct iovec iov = { .iov_base = &what, .iov_len = 1 };
	struct msghdr hdr = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	struct comch_foreign_msg msg = { .len = 1, .nb_fds = 1 };

	T_EQ(recvmsg(sock[1], &hdr, MSG_DONTWAIT), 1);
	T_EQ(what, SHM_SOCK_RING);
	memcpy(&msg.fds[0], CMSG_DATA(CMSG_FIRSTHDR(&hdr)), sizeof(int));
	shm_ring_offered(&b, &msg);
	T_EQ(msg.nb_fds, 0);
}

/* Send frames of one cell until the ring is full. */
static uint32_t
fill(void)
{
	static uint64_t nb;
	uint64_t hdr[HDR / sizeof(uint64_t)] = { 0 };
	const struct rte_comch_frame f = { .hdr = hdr, .hdr_len = HDR };
	uint32_t n = 0;

	for (;; n++, nb++) {
		hdr[0] = nb;
		if (shm_frame_tx(&a.base, &f) != 0)
			return n;
	}
}

/* b reads a frame, which is the next one. Returns its length or the error. */
static int
take(void)
{
	static uint64_t nb;
	uint64_t buf[HDR / sizeof(uint64_t)];
	int fds[RTE_COMCH_FRAME_FDS], ret;
	uint32_t nb_fds = 0;

	ret = shm_frame_rx(&b.base, buf, sizeof(buf), fds, &nb_fds);
	if (ret > 0)
		T_EQ(buf[0], nb++);
	return ret;
}

static uint32_t
drain(void)
{
	uint32_t n;

	for (n = 0; shm_frame_pending(&b.base); n++)
		T_EQ(take(), (int)HDR);
	return n;
}

/* Pages of it that are there. */
static size_t
nb_pages(void *addr)
{
	unsigned char vec[SHM_GROWN_CELLS * sizeof(struct shm_cell) / 4096];
	size_t i, n = 0;

	T_EQ(mincore(addr, sizeof(vec) * 4096, vec), 0);
	for (i = 0; i < sizeof(vec); i++)
		n += vec[i] & 1;
	return n;
}

Test(shm_ring, grows)
{
	unsigned int i;

	prepare();
	T_EQ(a.growth, SHM_GROWTH_OFFERED);
	receive_offer();
	/* Each side counts it, and it has no page. */
	T_EQ(nb_rings(), 2);
	T_EQ(nb_pages(a.own_grown), 0);
	/* One cell is kept for the frame that says where the next ones are. */
	T_EQ(fill(), CELLS - 1);
	T_EQ(a.growth, SHM_GROWTH_DUE);
	T_CHECK(a.base.needs_setup);
	shm_ring_step(&a);
	T_GT(nb_pages(a.own_grown), 0);
	T_EQ(fill(), SHM_GROWN_CELLS - CELLS);
	T_EQ(drain(), SHM_GROWN_CELLS - 1);
	for (i = 0; i < 3; i++) {
		T_EQ(fill(), SHM_GROWN_CELLS);
		T_EQ(drain(), SHM_GROWN_CELLS);
	}
	/* Once. */
	T_EQ(a.growth, SHM_GROWTH_NO);
	shm_ring_free(&a);
	shm_ring_free(&b);
	T_EQ(nb_rings(), 0);
}

/* It stays as it is, and the cell that was kept is for frames; later it does not grow either. */
static void
stays(void)
{
	T_EQ(fill(), a.growth == SHM_GROWTH_NO ? CELLS : CELLS - 1);
	shm_ring_step(&a);
	T_EQ(drain(), a.growth == SHM_GROWTH_NO ? CELLS : CELLS - 1);
	T_CHECK(a.own_cell == a.own->cell);
	T_EQ(a.own_cells, CELLS);
	T_EQ(a.base.state, RTE_COMCH_LINK_UP);
	T_EQ(b.base.state, RTE_COMCH_LINK_UP);
}

/* The peer has not looked at its socket yet: when it has, the ring grows. */
Test(shm_ring, offer_is_not_received)
{
	prepare();
	stays();
	receive_offer();
	T_EQ(fill(), CELLS - 1);
	T_EQ(a.growth, SHM_GROWTH_DUE);
}

Test(shm_ring, over_our_share)
{
	while (comch_quota_take(a.out.quota, COMCH_QUOTA_RINGS, 1))
		;
	prepare();
	T_EQ(a.growth, SHM_GROWTH_NO);
	T_CHECK(a.own_grown == NULL);
	stays();
}

Test(shm_ring, over_the_receivers_share)
{
	prepare();
	while (comch_quota_take(b.out.quota, COMCH_QUOTA_RINGS, 1))
		;
	receive_offer();
	T_CHECK(b.peer_grown == NULL);
	stays();
}

Test(shm_ring, no_file)
{
	struct rlimit before, limit;

	T_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 4096;
	T_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	prepare();
	T_EQ(nb_rings(), 0);
	stays();
	/* A program that is measured writes files when it ends. */
	T_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

Test(shm_ring, descriptors_in_flight)
{
	int fd = dup(sock[1]);
	uint32_t i;

	/* Sent, and not received. */
	for (i = 0; i < SHM_OUT_PER_LINK; i++)
		T_EQ(shm_link_send_fds(&a, SHM_SOCK_FDS, &fd, 1), 0);
	prepare();
	T_EQ(nb_rings(), 0);
	stays();
	close(fd);
}

Test(shm_ring, peer_is_gone)
{
	close(sock[1]);
	prepare();
	T_EQ(nb_rings(), 0);
	stays();
}

/* No pages when they are needed: those of a mapping that is not there. */
Test(shm_ring, no_pages)
{
	void *addr;

	prepare();
	receive_offer();
	addr = a.own_grown;
	munmap(addr, SHM_GROWN_CELLS * sizeof(struct shm_cell));
	T_EQ(fill(), CELLS - 1);
	shm_ring_step(&a);
	T_EQ(a.growth, SHM_GROWTH_NO);
	T_EQ(fill(), 1);
	T_EQ(drain(), CELLS);
	a.own_grown = NULL;
}

/* The peer's ring lacks pages, and there are none for them. */
Test(shm_ring, no_pages_at_the_receiver)
{
	uint32_t i;

	prepare();
	receive_offer();
	fill();
	shm_ring_step(&a);
	munmap(b.peer_grown, SHM_GROWN_CELLS * sizeof(struct shm_cell));
	/* What was sent before is read. */
	for (i = 0; i < CELLS - 1; i++)
		T_EQ(take(), (int)HDR);
	T_EQ(take(), -ENOMEM);
	T_EQ(b.base.state, RTE_COMCH_LINK_DOWN);
	T_EQ(b.base.error, -ENOMEM);
	b.peer_grown = NULL;
}

/* The link went down between the full ring and the run. */
Test(shm_ring, link_is_down)
{
	prepare();
	receive_offer();
	fill();
	T_EQ(a.growth, SHM_GROWTH_DUE);
	shm_link_down(&a, -ECONNRESET, "test");
	shm_ring_step(&a);
	T_CHECK(a.own_cell == a.own->cell);
	T_CHECK(!a.base.needs_setup);
}

/* None of them needs it, or knows of it. */
Test(shm_ring, not_wanted)
{
	shm_ring_prepare(&a.base, 1, 1000);
	T_EQ(a.growth, SHM_GROWTH_NO);
	shm_ring_prepare(&a.base, 64, 8);
	T_EQ(a.growth, SHM_GROWTH_NO);
	a.grows = false;
	shm_ring_prepare(&a.base, 64, 4080);
	T_EQ(a.growth, SHM_GROWTH_NO);
	T_CHECK(!a.base.needs_setup);
	T_EQ(fill(), CELLS);
}
