/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SHM_LAYOUT_H
#define SHM_LAYOUT_H

/*
 * What two processes share of a link, and what they say on its socket.
 *
 * Each end has one region, which it alone writes and the other maps
 * read-only:
 *
 *   +------------------------------+
 *   | rx_pos: cells of the peer's  |  64 bytes
 *   |         ring that we took    |
 *   +------------------------------+
 *   | armed: wake us               |  64 bytes
 *   +------------------------------+
 *   | cells[n]: frames we send     |  64 bytes each
 *   +------------------------------+
 *
 * A frame takes one cell or several: {seq, 56 bytes} each. The bytes of all
 * its cells together are {length, descriptors, the frame}. Cell number p,
 * counted from 0, lies at p & (n - 1). The first cell's seq becomes p + 1
 * last; that publishes the frame. The reader waits for just that value: it
 * needs no other line, and a small frame is one line in all.
 *
 *   P  sender stores first cell.seq (release) -> receiver loads it (acquire)
 *   X  receiver stores rx_pos (release)       -> sender loads it (acquire)
 *   W  sender: P, fence, armed                | sleeper: armed, fence, P
 */

#include <assert.h>
#include <stdint.h>

#define SHM_LINE 64
#define SHM_CELL_DATA 56
#define SHM_MIN_CELLS 64
#define SHM_MAX_CELLS 65536

struct shm_cell {
	uint64_t seq;
	uint8_t data[SHM_CELL_DATA];
};
static_assert(sizeof(struct shm_cell) == SHM_LINE, "wire");

/* The first bytes of a frame's first cell. */
struct shm_frame_prefix {
	uint32_t len;    /* of the frame */
	uint32_t nb_fds; /* descriptors that were sent on the socket before */
};
static_assert(sizeof(struct shm_frame_prefix) == 8, "wire");

struct shm_link_shared {
	uint64_t rx_pos;
	uint8_t pad0[SHM_LINE - 8];
	uint32_t armed;
	uint8_t pad1[SHM_LINE - 4];
	struct shm_cell cell[];
};
static_assert(sizeof(struct shm_link_shared) == 2 * SHM_LINE, "wire");

static inline uint64_t
shm_link_len(uint32_t cells)
{
	return sizeof(struct shm_link_shared) + (uint64_t)cells * sizeof(struct shm_cell);
}

/* First message each way, with the region's descriptor. Little endian. */
#define SHM_HELLO_MAGIC UINT32_C(0x6d687363) /* "cshm" */
#define SHM_HELLO_VERSION 1

struct shm_hello {
	uint32_t magic;
	uint32_t version;
	uint32_t cells;
	uint32_t flags;
};

/* My sleepers can fence for your publishers (membarrier). */
#define SHM_HELLO_F_MEMBARRIER UINT32_C(1)
/* My armed word says by its lowest bit whether credits are to wake me. */
#define SHM_HELLO_F_CREDIT_BIT UINT32_C(2)
#define SHM_ARMED_CREDITS UINT32_C(1)

/* All later messages are one byte. */
#define SHM_SOCK_WAKE 'w' /* look at your rings */
#define SHM_SOCK_FDS  'f' /* descriptors of a frame to come */

#endif /* SHM_LAYOUT_H */
