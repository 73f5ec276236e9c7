/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The ring of frames changes between any two instructions of its reader: u_flip.h. */

#include "u_flip.h"
#include "u_shm_link.h"

#define PAYLOAD 200u
/* Of the receiver; memory behind it must stay unchanged. */
#define ROOM 256u

static unsigned int fine, refused;

static int
tx(void)
{
	static const uint8_t bytes[HDR + PAYLOAD];
	const struct rte_comch_frame f = {
		.hdr = bytes, .hdr_len = HDR, .payload = bytes + HDR, .payload_len = PAYLOAD,
	};

	return shm_frame_tx(&a.base, &f);
}

static void
setup(void)
{
	u_shm_links_open();
	cr_assert_eq(tx(), 0);
}

TestSuite(shm_flips, .init = setup, .fini = u_shm_links_close);

/* Receive the first frame once more: whole, or not at all. */
static void
receive(void *arg)
{
	int fds[RTE_COMCH_FRAME_FDS + 1] = { -2, -2, -2, -2 };
	uint8_t buf[2 * ROOM];
	uint32_t nb_fds = 0, i;
	int len;

	RTE_SET_USED(arg);
	memset(buf, 0xab, sizeof(buf));
	b.rx_pos = 0;
	b.base.state = RTE_COMCH_LINK_UP;
	u_flip_begin();
	len = shm_frame_rx(&b.base, buf, ROOM, fds, &nb_fds);
	u_flip_end();
	fine += len == (int)(HDR + PAYLOAD);
	refused += len != (int)(HDR + PAYLOAD);
	T_CHECK(len == -EAGAIN || len == -EPROTO || (len >= (int)HDR && len <= (int)ROOM));
	T_EQ(b.base.state == RTE_COMCH_LINK_DOWN, len == -EPROTO);
	T_EQ(nb_fds, 0);
	T_EQ(fds[0], -2);
	for (i = len > 0 ? (uint32_t)len : 0; i < sizeof(buf); i++)
		T_EQ(buf[i], 0xab);
	T_LE(b.rx_pos, CELLS);
}

/* Send another one, with no room but what the peer's position says. */
static void
send_one(void *arg)
{
	int ret;

	RTE_SET_USED(arg);
	a.tx_pos = 0;
	a.tx_limit = 0;
	a.base.state = RTE_COMCH_LINK_UP;
	u_flip_begin();
	ret = tx();
	u_flip_end();
	fine += ret == 0;
	refused += ret != 0;
	T_CHECK(ret == 0 || ret == -EAGAIN || ret == -ENOTCONN);
	T_EQ(a.base.state == RTE_COMCH_LINK_DOWN, ret == -ENOTCONN);
}

static void
flip(const struct u_flip *f, void *field, void (*trial)(void *arg), bool is_harmless)
{
	fine = refused = 0;
	u_flip(f, field, trial, NULL);
	fprintf(stderr, "%s: %u trials went well, %u did not\n", f->name, fine, refused);
	T_CHECK(is_harmless || (fine > 0 && refused > 0));
}

Test(shm_flips, frames)
{
	static const struct u_flip seq = { "seq", 8, { 1, CELLS + 1 } };
	static const struct u_flip of_len[] = {
		{ "length over the room", 4, { HDR + PAYLOAD, ROOM + 1 } },
		{ "length over the ring", 4, { HDR + PAYLOAD, CELLS * SHM_CELL_DATA } },
		{ "huge length", 4, { HDR + PAYLOAD, UINT32_MAX } },
		{ "no length", 4, { HDR + PAYLOAD, 0 } },
		{ "another length", 4, { HDR + PAYLOAD, ROOM } },
	};
	static const struct u_flip of_fds[] = {
		{ "descriptors", 4, { 0, 1 } },
		{ "too many descriptors", 4, { 0, UINT32_MAX } },
	};
	struct shm_cell *cell = &a.own->cell[0];
	unsigned int i;

	u_flip_or_skip();
	flip(&seq, &cell->seq, receive, false);
	for (i = 0; i < RTE_DIM(of_len); i++)
		flip(&of_len[i], cell->data, receive, false);
	for (i = 0; i < RTE_DIM(of_fds); i++)
		flip(&of_fds[i], cell->data + 4, receive, false);
}

Test(shm_flips, positions)
{
	static const struct u_flip of_pos[] = {
		{ "position ahead", 8, { 0, 1 } },
		{ "position far ahead", 8, { 0, UINT64_C(1) << 40 } },
		{ "position behind", 8, { 0, UINT64_MAX - CELLS } },
	};
	static const struct u_flip armed = { "armed", 4, { 1, 2 } };
	unsigned int i;

	u_flip_or_skip();
	for (i = 0; i < RTE_DIM(of_pos); i++)
		flip(&of_pos[i], &b.own->rx_pos, send_one, false);
	flip(&armed, &b.own->armed, send_one, true);
}
