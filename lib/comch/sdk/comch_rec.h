/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_REC_H
#define COMCH_REC_H

/*
 * The shared layout of the fast path: limits, descriptors of posted buffers, and
 * records. Drivers whose ends map the same memory have both there (comch_chan.h has the
 * protocol); mlx5 sends them in messages (mlx5_layout.h).
 *
 * The ends may be of different architectures: both are little endian, and the asserts
 * fix where each member is.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_byteorder.h>

#include "rte_comch_dp.h"

static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "integers are shared as they are");
static_assert(RTE_COMCH_IMM_SIZE == 32, "wire");

/* Region of a buffer in memory that is not exported to the peer. */
#define COMCH_REGION_STAGED  UINT16_C(0xffff)
/* Region of an empty buffer. */
#define COMCH_REGION_NONE    UINT16_C(0xfffe)

/* Fixed on the wire: not RTE_CACHE_LINE_SIZE, which differs between machines. */
#define COMCH_LINE 64
#define COMCH_REC_BATCH 12
#define COMCH_MAX_MSG_LEN (UINT32_C(1) << 30)
/*
 * Maximum registrations exported over a connection, each way: imports of one end are
 * exports of the other. Also of a consumer, which may export all of its registrations.
 */
#define COMCH_MAX_IMPORTS 64
/* Maximum imports mapped at a time, with removed ones that producers may still use. */
#define COMCH_MAX_IMPORT_REGIONS (2 * COMCH_MAX_IMPORTS)

/* A posted buffer. where: region << 48 | offset. */
struct comch_desc {
	uint64_t where;
	uint32_t len;
	uint32_t reserved;
};
static_assert(sizeof(struct comch_desc) == 16, "wire");
static_assert(offsetof(struct comch_desc, len) == 8, "wire");

#define COMCH_DESC_OFF_BITS 48
#define COMCH_DESC_OFF_MASK ((UINT64_C(1) << COMCH_DESC_OFF_BITS) - 1)

struct comch_post_shared {
	uint64_t tail;
	uint8_t pad0[COMCH_LINE - 8];
	uint32_t armed;
	uint32_t closed;
	uint8_t pad1[COMCH_LINE - 8];
	uint64_t staging_tail;
	uint8_t pad2[COMCH_LINE - 8];
	struct comch_desc desc[];
};
static_assert(sizeof(struct comch_post_shared) == 3 * COMCH_LINE, "wire");
static_assert(offsetof(struct comch_post_shared, armed) == 64, "wire");
static_assert(offsetof(struct comch_post_shared, closed) == 68, "wire");
static_assert(offsetof(struct comch_post_shared, staging_tail) == 128, "wire");
static_assert(offsetof(struct comch_post_shared, desc) == 192, "wire");

/* A driver may add kinds: mlx5_layout.h does, from 3 on. */
enum comch_rec_kind {
	COMCH_REC_DIRECT, /* payload is in the buffer */
	COMCH_REC_STAGED, /* payload passes through the staging ring */
	COMCH_REC_ABORT,  /* claimed, but aborted: the consumer was closing */
};

struct comch_rec_head {
	uint32_t producer;
	uint8_t count;   /* positions that the record covers */
	uint8_t imm_len;
	uint8_t kind;
	uint8_t pad;
};
static_assert(sizeof(struct comch_rec_head) == sizeof(uint64_t), "one word");
static_assert(offsetof(struct comch_rec_head, count) == 4, "wire");
static_assert(offsetof(struct comch_rec_head, imm_len) == 5, "wire");
static_assert(offsetof(struct comch_rec_head, kind) == 6, "wire");

struct comch_rec {
	uint64_t seq;
	struct comch_rec_head head;
	union {
		uint32_t len[COMCH_REC_BATCH];
		struct {
			uint32_t len0;
			uint8_t pad2[4];
			uint8_t imm[RTE_COMCH_IMM_SIZE]; /* whole words: see comch_recv_imm() */
			uint64_t stop_at; /* aborted stream: where the next begins, | 1 */
		};
	};
};
static_assert(sizeof(struct comch_rec) == COMCH_LINE, "wire");
static_assert(offsetof(struct comch_rec, head) == 8, "wire");
static_assert(offsetof(struct comch_rec, len) == 16, "wire");
static_assert(offsetof(struct comch_rec, len0) == 16, "wire");
static_assert(offsetof(struct comch_rec, imm) == 24, "wire");
static_assert(offsetof(struct comch_rec, stop_at) == 56, "wire");
#define COMCH_REC_STOPPED UINT64_C(1)

struct comch_rec_shared {
	uint64_t claim;
	uint8_t pad0[COMCH_LINE - 8];
	uint32_t armed;
	uint8_t pad1[COMCH_LINE - 4];
	uint64_t staging_head;
	uint8_t pad2[COMCH_LINE - 8];
	struct comch_rec rec[];
};
static_assert(sizeof(struct comch_rec_shared) == 3 * COMCH_LINE, "wire");
static_assert(offsetof(struct comch_rec_shared, armed) == 64, "wire");
static_assert(offsetof(struct comch_rec_shared, staging_head) == 128, "wire");
static_assert(offsetof(struct comch_rec_shared, rec) == 192, "wire");

#endif /* COMCH_REC_H */
