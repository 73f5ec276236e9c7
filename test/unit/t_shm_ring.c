/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Our ring becomes a larger one, or stays what it is. shm_ring.c. */

#include <signal.h>
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
	shm_out_begin(&a.out, a.sock, comch_quota_get(1, 2));
	a.growth = SHM_GROWTH_POSSIBLE;
	a.tx_limit--;
}

static void
close_links(void)
{
	shm_ring_free(&a);
	close(sock[0]);
	close(sock[1]);
	u_shm_links_close();
}

TestSuite(shm_ring, .init = open_links, .fini = close_links);

static uint32_t
nb_rings(void)
{
	struct comch_quota_info info;

	comch_quota_info(COMCH_QUOTA_RINGS, &info);
	return info.used;
}

/* Send frames of one cell until the ring is full. */
static uint32_t
fill(void)
{
	const uint8_t hdr[HDR] = { 0 };
	const struct rte_comch_frame f = { .hdr = hdr, .hdr_len = HDR };
	uint32_t n = 0;

	while (shm_frame_tx(&a.base, &f) == 0)
		n++;
	return n;
}

/* One cell is kept for the frame that says where the new ones are. */
Test(shm_ring, grows)
{
	T_EQ(fill(), CELLS - 1);
	T_EQ(a.growth, SHM_GROWTH_DUE);
	T_CHECK(a.base.needs_setup);
	shm_ring_grow(&a);
	T_CHECK(!a.base.needs_setup);
	T_EQ(nb_rings(), 1);
	T_EQ(fill(), SHM_GROWN_CELLS - CELLS);
	/* Once. */
	T_EQ(a.growth, SHM_GROWTH_NO);
	shm_ring_free(&a);
	a.own_grown = NULL;
	T_EQ(nb_rings(), 0);
}

/* It stays as it is, and the cell that was kept is for frames. */
static void
stays(void)
{
	const uint32_t before = nb_rings();

	T_EQ(fill(), CELLS - 1);
	T_EQ(a.growth, SHM_GROWTH_DUE);
	shm_ring_grow(&a);
	T_CHECK(a.own_grown == NULL);
	T_CHECK(a.own_cell == a.own->cell);
	T_EQ(a.own_cells, CELLS);
	T_EQ(nb_rings(), before);
	T_EQ(fill(), 1);
	T_EQ(a.growth, SHM_GROWTH_NO);
	T_EQ(a.base.state, RTE_COMCH_LINK_UP);
}

Test(shm_ring, over_its_share)
{
	while (comch_quota_take(a.out.quota, COMCH_QUOTA_RINGS, 1))
		;
	stays();
}

Test(shm_ring, no_memory)
{
	struct rlimit limit;

	T_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 4096;
	T_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	stays();
}

Test(shm_ring, descriptors_in_flight)
{
	int fd = dup(sock[1]);
	uint32_t i;

	/* Sent, and not received. */
	for (i = 0; i < SHM_OUT_PER_LINK; i++)
		T_EQ(shm_link_send_fds(&a, &fd, 1), 0);
	stays();
	close(fd);
}

Test(shm_ring, peer_is_gone)
{
	signal(SIGPIPE, SIG_DFL);
	close(sock[1]);
	stays();
}

/* The link went down between the full ring and the run. */
Test(shm_ring, link_is_down)
{
	T_EQ(fill(), CELLS - 1);
	shm_link_down(&a, -ECONNRESET, "test");
	shm_ring_grow(&a);
	T_EQ(nb_rings(), 0);
	T_CHECK(!a.base.needs_setup);
}
