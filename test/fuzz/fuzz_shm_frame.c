/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The ring of cells that carries frames between processes: the peer writes what the input
 * says into its own ring, at any time, and we send and receive meanwhile.
 */

#include <stdlib.h>

#include "fuzz.h"

#include "shm_private.h"

#define HDR 16u
#define MAX_CELLS 64u
#define MAX_FRAME 512u
#define PAGE 4096u

enum op {
	OP_SCRIBBLE,  /* bytes into the peer's ring */
	OP_SEQ,       /* the sequence of the cell that is read next, or of one close to it */
	OP_PREFIX,    /* the prefix of the frame that is read next, and its sequence */
	OP_ROOM,      /* the peer's read position, close to what we sent */
	OP_ARMED,
	OP_RX,
	OP_TX,
	OP_DOWN,
	NB_OPS
};

struct rings {
	struct shm_link l;
	struct shm_link_shared *peer; /* the same as l.peer, to write */
};

static void *
ring_new(size_t align, size_t len)
{
	void *ring = aligned_alloc(align, len);

	T_CHECK(ring != NULL);
	memset(ring, 0, len);
	return ring;
}

static void
begin(struct rings *r, struct fuzz_in *in)
{
	const uint32_t own = 1u << (2 + fuzz_u8(in) % 5), peer = 1u << (2 + fuzz_u8(in) % 5);

	memset(r, 0, sizeof(*r));
	r->l.own = ring_new(SHM_LINE, shm_link_len(own));
	r->peer = ring_new(SHM_LINE, shm_link_len(peer));
	r->l.peer = r->peer;
	r->l.own_cell = r->l.own->cell;
	r->l.peer_cell = r->peer->cell;
	/* A ring that was offered, or none: pages, for which its receiver asks the kernel. */
	if (own == 4)
		r->l.peer_grown = ring_new(PAGE, SHM_GROWN_CELLS * sizeof(struct shm_cell));
	r->l.own_cells = r->l.tx_limit = own;
	r->l.own_mask = own - 1;
	r->l.peer_cells = peer;
	r->l.peer_mask = peer - 1;
	/* No socket: a frame that says that descriptors came is a lie. */
	r->l.sock = -1;
	r->l.base.state = RTE_COMCH_LINK_UP;
}

static bool
has_grown(const struct rings *r)
{
	return r->l.peer_cell == r->l.peer_grown;
}

/* The peer's cell number pos. */
static struct shm_cell *
cell_of(struct rings *r, uint64_t pos)
{
	struct shm_cell *cells = has_grown(r) ? r->l.peer_grown : r->peer->cell;

	return &cells[pos & r->l.peer_mask];
}

static void
scribble(struct rings *r, struct fuzz_in *in)
{
	const size_t len = has_grown(r) ? SHM_GROWN_CELLS * sizeof(struct shm_cell) :
		shm_link_len(r->l.peer_cells);
	const size_t off = fuzz_u16(in) % len;
	uint8_t *at = has_grown(r) ? r->l.peer_grown : (void *)r->peer;

	fuzz_take(in, at + off, RTE_MIN(len - off, (size_t)fuzz_u8(in)));
}

static void
set_prefix(struct rings *r, struct fuzz_in *in)
{
	struct shm_cell *cell = cell_of(r, r->l.rx_pos);
	struct shm_frame_prefix prefix = {
		.len = (uint32_t)fuzz_number(in), .nb_fds = (uint32_t)(fuzz_number(in) >> 4),
	};

	if (prefix.len == SHM_RING_FRAME || prefix.nb_fds == 16)
		prefix.nb_fds = SHM_PREFIX_RING;
	memcpy(cell->data, &prefix, sizeof(prefix));
	cell->seq = r->l.rx_pos + 1;
}

static void
rx(struct rings *r, struct fuzz_in *in)
{
	const uint32_t size = HDR + fuzz_u16(in) % MAX_FRAME;
	const uint64_t before = r->l.rx_pos;
	int fds[RTE_COMCH_FRAME_FDS], len;
	uint8_t *buf = malloc(size);
	uint32_t nb_fds = 0;

	T_CHECK(buf != NULL);
	/* The core reads no link that is down. */
	if (r->l.base.state == RTE_COMCH_LINK_UP) {
		len = shm_frame_rx(&r->l.base, buf, size, fds, &nb_fds);
		T_CHECK(len == -EAGAIN || len == -EPROTO || (len >= (int)HDR && len <= (int)size));
		T_EQ(nb_fds, 0);
		/* And the frame that says where the next ones are. */
		T_LE(r->l.rx_pos - before, 1 + r->l.peer_cells);
		T_EQ(r->l.base.state == RTE_COMCH_LINK_UP, len != -EPROTO);
	}
	free(buf);
}

static void
tx(struct rings *r, struct fuzz_in *in)
{
	static const uint8_t bytes[MAX_FRAME];
	const struct rte_comch_frame frame = {
		.hdr = bytes, .hdr_len = HDR, .payload = bytes,
		.payload_len = fuzz_u16(in) % MAX_FRAME, .is_credit = fuzz_u8(in) & 1,
	};
	const uint64_t before = r->l.tx_pos;
	int ret = shm_frame_tx(&r->l.base, &frame);

	T_CHECK(ret == 0 || ret == -EAGAIN || ret == -ENOTCONN);
	T_EQ(r->l.tx_pos > before, ret == 0);
	if (ret == 0)
		T_LE(r->l.tx_pos - before, r->l.own_cells);
}

static void
step(struct rings *r, struct fuzz_in *in)
{
	switch ((enum op)(fuzz_u8(in) % NB_OPS)) {
	case OP_SCRIBBLE:
		scribble(r, in);
		break;
	case OP_SEQ:
		cell_of(r, r->l.rx_pos + fuzz_u8(in))->seq = r->l.rx_pos + fuzz_number(in);
		break;
	case OP_PREFIX:
		set_prefix(r, in);
		break;
	case OP_ROOM:
		r->peer->rx_pos = r->l.tx_pos - fuzz_number(in);
		break;
	case OP_ARMED:
		r->peer->armed = fuzz_u8(in);
		break;
	case OP_RX:
		rx(r, in);
		break;
	case OP_TX:
		tx(r, in);
		break;
	default:
		shm_link_down(&r->l, -EPROTO, "asked for");
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	struct rings r;

	begin(&r, &in);
	while (in.left > 0)
		step(&r, &in);
	free(r.l.own);
	free(r.peer);
	free(r.l.peer_grown);
	return 0;
}
