/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Frames through the rings of two links over plain memory. shm_frame.c. */

#include <sys/socket.h>
#include <unistd.h>

#include "u_shm_link.h"

/* The longest frame that CELLS cells hold. */
#define MAX_PAYLOAD (CELLS * SHM_CELL_DATA - sizeof(struct shm_frame_prefix) - HDR)

TestSuite(shm_frame, .init = u_shm_links_open, .fini = u_shm_links_close);

static int
tx(struct shm_link *l, uint64_t seed, uint32_t len)
{
	uint8_t hdr[HDR], payload[MAX_PAYLOAD + SHM_CELL_DATA];
	const struct rte_comch_frame f = {
		.hdr = hdr, .hdr_len = HDR, .payload = payload, .payload_len = len,
	};

	t_fill(hdr, sizeof(hdr), seed);
	t_fill(payload, len, ~seed);
	return shm_frame_tx(&l->base, &f);
}

static int
rx(struct shm_link *l, uint8_t *buf, uint32_t size)
{
	int fds[RTE_COMCH_FRAME_FDS];
	uint32_t nb_fds = 0;
	int len = shm_frame_rx(&l->base, buf, size, fds, &nb_fds);

	cr_assert_eq(nb_fds, 0u);
	return len;
}

static void
check_rx(struct shm_link *l, uint64_t seed, uint32_t len)
{
	uint8_t want[HDR + MAX_PAYLOAD], buf[HDR + MAX_PAYLOAD];

	t_fill(want, HDR, seed);
	t_fill(want + HDR, len, ~seed);
	cr_assert(shm_frame_pending(&l->base));
	cr_assert_eq(rx(l, buf, sizeof(buf)), (int)(HDR + len));
	cr_assert_arr_eq(buf, want, HDR + len);
}

/* Every length, at every place of the ring that it comes to lie at. */
Test(shm_frame, all_lengths)
{
	uint32_t len;

	for (len = 0; len <= MAX_PAYLOAD; len++) {
		cr_assert_eq(tx(&a, len, len), 0, "%u", len);
		check_rx(&b, len, len);
		cr_assert(!shm_frame_pending(&b.base));
	}
}

Test(shm_frame, many_in_flight_both_ways)
{
	uint64_t sent = 0, got = 0;

	while (got < 5000) {
		while (tx(&a, sent, (uint32_t)(sent * 37 % 300)) == 0) {
			cr_assert_eq(tx(&b, sent, (uint32_t)(sent * 37 % 300)), 0);
			sent++;
		}
		cr_assert_gt(sent, got, "an empty ring has room");
		/* Leave some in the ring. */
		while (got + 2 < sent) {
			check_rx(&b, got, (uint32_t)(got * 37 % 300));
			check_rx(&a, got, (uint32_t)(got * 37 % 300));
			got++;
		}
	}
}

Test(shm_frame, full)
{
	uint8_t buf[HDR];
	uint32_t i;

	cr_assert_eq(tx(&a, 0, MAX_PAYLOAD + 1), -EAGAIN, "more than the whole ring");
	for (i = 0; i < CELLS; i++)
		cr_assert_eq(tx(&a, i, 0), 0);
	cr_assert_eq(tx(&a, i, 0), -EAGAIN);
	cr_assert_eq(a.base.state, RTE_COMCH_LINK_UP);
	cr_assert_eq(rx(&b, buf, sizeof(buf)), (int)HDR);
	cr_assert_eq(tx(&a, i, SHM_CELL_DATA), -EAGAIN, "one cell is free, it wants two");
	cr_assert_eq(tx(&a, i, 0), 0);
	cr_assert_eq(tx(&a, i, 0), -EAGAIN);
}

/* Payload that looks like a cell with the next sequence is payload. */
Test(shm_frame, payload_is_no_cell)
{
	uint64_t payload[4 * SHM_LINE / sizeof(uint64_t)];
	const struct rte_comch_frame f = {
		.hdr = payload, .hdr_len = HDR, .payload = payload, .payload_len = sizeof(payload),
	};
	uint8_t buf[HDR + sizeof(payload)];
	unsigned int i, n;

	for (n = 0; n < 3 * CELLS; n++) {
		for (i = 0; i < RTE_DIM(payload); i++)
			payload[i] = b.rx_pos + i % 8 + 1;
		cr_assert_eq(shm_frame_tx(&a.base, &f), 0);
		cr_assert_eq(rx(&b, buf, sizeof(buf)), (int)sizeof(buf));
		cr_assert_arr_eq(buf + HDR, payload, sizeof(payload));
		cr_assert(!shm_frame_pending(&b.base), "%u", n);
	}
}

Test(shm_frame, not_up)
{
	a.base.state = RTE_COMCH_LINK_CONNECTING;
	cr_assert_eq(tx(&a, 0, 0), -ENOTCONN);
	a.base.state = RTE_COMCH_LINK_DOWN;
	cr_assert_eq(tx(&a, 0, 0), -ENOTCONN);
	a.peer = NULL;
	cr_assert(!shm_frame_pending(&a.base));
}

/* A server that dies between connect() and the client's hello. */
Test(shm_frame, socket_of_a_dead_peer)
{
	int sv[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv), 0);
	close(sv[1]);
	cr_assert_eq(shm_sock_send(sv[0], "x", 1, NULL, 0), -ECONNRESET);
	close(sv[0]);
}

/* Lies */

static void
check_position(uint64_t rx_pos)
{
	uint32_t i;

	for (i = 0; i < CELLS; i++)
		cr_assert_eq(tx(&a, i, 0), 0);
	b.own->rx_pos = rx_pos;
	cr_assert_eq(tx(&a, 0, 0), -ENOTCONN);
	cr_assert_eq(a.base.state, RTE_COMCH_LINK_DOWN);
	cr_assert_eq(a.base.error, -EPROTO);
}

Test(shm_frame, position_ahead)
{
	check_position(CELLS + 1);
}

Test(shm_frame, position_behind)
{
	check_position(UINT64_MAX);
}

static void
check_prefix(uint32_t len, uint32_t nb_fds, uint32_t size)
{
	const struct shm_frame_prefix prefix = { .len = len, .nb_fds = nb_fds };
	uint8_t buf[HDR + MAX_PAYLOAD];

	cr_assert_eq(tx(&a, 0, 100), 0);
	memcpy(a.own->cell[0].data, &prefix, sizeof(prefix));
	memset(buf, 0x5a, sizeof(buf));
	cr_assert_eq(rx(&b, buf, size), -EPROTO);
	cr_assert_eq(b.base.state, RTE_COMCH_LINK_DOWN);
	cr_assert_eq(buf[0], 0x5a, "nothing is delivered of a lie");
	cr_assert_eq(buf[size], 0x5a);
}

Test(shm_frame, prefix_short)
{
	check_prefix(HDR - 1, 0, 200);
}

Test(shm_frame, prefix_longer_than_the_buffer)
{
	check_prefix(201, 0, 200);
}

Test(shm_frame, prefix_longer_than_the_ring)
{
	b.peer_cells = 4;
	b.peer_mask = 3;
	check_prefix(4 * SHM_CELL_DATA, 0, HDR + MAX_PAYLOAD - 1);
}

Test(shm_frame, prefix_huge)
{
	check_prefix(UINT32_MAX, 0, 200);
}

Test(shm_frame, prefix_too_many_descriptors)
{
	check_prefix(116, RTE_COMCH_FRAME_FDS + 1, 200);
}

Test(shm_frame, prefix_descriptors_that_never_came)
{
	check_prefix(116, 1, 200);
}
