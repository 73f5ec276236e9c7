/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SHM_LAYOUT_H
#define SHM_LAYOUT_H

/*
 * The memory that two processes share for a link, and the messages on its socket.
 *
 * Each end has one region, which only this end writes, and which the other end maps
 * read-only:
 *
 *   +------------------------------+
 *   | rx_pos: cells that we read   |  64 bytes
 *   |         of the peer's ring   |
 *   +------------------------------+
 *   | armed: request for a wake-up |  64 bytes
 *   | has_ring                     |
 *   +------------------------------+
 *   | cells[n]: frames that we send|  64 bytes each
 *   +------------------------------+
 *
 * A frame takes one or more cells of {seq, 56 bytes}. The bytes of its cells
 * together are {length, number of descriptors, the frame}. Cell number p, counted
 * from 0, is at index p & (n - 1). Storing p + 1 to the first cell's seq, after all
 * other bytes, publishes the frame. The reader checks only that value, so a small
 * frame costs one cache line.
 *
 *   P  sender stores first cell.seq (release) -> receiver loads it (acquire)
 *   X  receiver stores rx_pos (release)       -> sender loads it (acquire)
 *   W  sender: P, fence, armed                | sleeper: armed, fence, P
 *
 * A ring may grow once, if both hellos have the flag for it. Before its first frame, its
 * sender may offer another memory file, which has nothing but cells; the receiver maps it and
 * stores has_ring before it reads that frame. After a frame with SHM_PREFIX_RING the cells with the
 * numbers from there on are in that file. Cells before it stay where they are until they
 * are read, so a ring that is full of them can grow.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_byteorder.h>

static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "integers are shared as they are");

/* Not RTE_CACHE_LINE_SIZE, which differs between machines. */
#define SHM_LINE 64
#define SHM_CELL_DATA 56
#define SHM_MIN_CELLS 64
#define SHM_MAX_CELLS 65536
/* Of a ring that has grown. */
#define SHM_GROWN_CELLS 4096

struct shm_cell {
	uint64_t seq;
	uint8_t data[SHM_CELL_DATA];
};
static_assert(sizeof(struct shm_cell) == SHM_LINE, "wire");
static_assert(offsetof(struct shm_cell, data) == 8, "wire");

/* The first bytes of a frame's first cell. */
struct shm_frame_prefix {
	uint32_t len;    /* of the frame */
	uint32_t nb_fds; /* descriptors that were sent on the socket before */
};
static_assert(sizeof(struct shm_frame_prefix) == 8, "wire");
static_assert(offsetof(struct shm_frame_prefix, nb_fds) == 4, "wire");

/* nb_fds of the frame after which the ring is the one that was offered: 16 bytes, all 0. */
#define SHM_PREFIX_RING UINT32_C(0x80000000)
#define SHM_RING_FRAME 16

struct shm_link_shared {
	uint64_t rx_pos;
	uint8_t pad0[SHM_LINE - 8];
	uint32_t armed;
	uint32_t has_ring; /* SHM_HAS_RING: we have mapped the peer's larger ring */
	uint8_t pad1[SHM_LINE - 8];
	struct shm_cell cell[];
};
static_assert(sizeof(struct shm_link_shared) == 2 * SHM_LINE, "wire");
static_assert(offsetof(struct shm_link_shared, armed) == 64, "wire");
static_assert(offsetof(struct shm_link_shared, has_ring) == 68, "wire");
static_assert(offsetof(struct shm_link_shared, cell) == 128, "wire");

#define SHM_HAS_RING UINT32_C(1)

static inline uint64_t
shm_link_len(uint32_t cells)
{
	return sizeof(struct shm_link_shared) + (uint64_t)cells * sizeof(struct shm_cell);
}

/*
 * The link hello: the first message in each direction, with the region's descriptor. Little
 * endian.
 */
#define SHM_HELLO_MAGIC UINT32_C(0x6d687363) /* "cshm" */
#define SHM_HELLO_VERSION 1

struct shm_hello {
	uint32_t magic;
	uint32_t version;
	uint32_t cells;
	uint32_t flags;
};
static_assert(sizeof(struct shm_hello) == 16, "wire");
static_assert(offsetof(struct shm_hello, version) == 4, "wire");
static_assert(offsetof(struct shm_hello, cells) == 8, "wire");
static_assert(offsetof(struct shm_hello, flags) == 12, "wire");

/* A sleeper of the sending process can fence for publishers of the other (membarrier). */
#define SHM_HELLO_F_MEMBARRIER UINT32_C(1)
/* COMCH_ARMED_CREDITS of the sender's armed word is valid. */
#define SHM_HELLO_F_CREDIT_BIT UINT32_C(2)
/* The sender of the hello knows SHM_SOCK_RING and SHM_PREFIX_RING. */
#define SHM_HELLO_F_GROWS UINT32_C(4)
/* It knows COMCH_ARMED_FENCE, and its armed words change by COMCH_ARMED_STEP. */
#define SHM_HELLO_F_FENCE_BIT UINT32_C(8)

/* All later messages are one byte. */
#define SHM_SOCK_WAKE 'w' /* wake-up */
#define SHM_SOCK_FDS  'f' /* carries the descriptors of a following frame */
#define SHM_SOCK_RING 'r' /* carries the descriptor of a larger ring */

#endif /* SHM_LAYOUT_H */
