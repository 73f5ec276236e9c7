/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_LAYOUT_H
#define MLX5_LAYOUT_H

/*
 * What the two ends exchange: private data of the connection manager, tickets, and the
 * messages of queue pairs. All messages are SENDs into receive slots, and all integers
 * are little-endian. Only payloads are written into memory of the peer.
 *
 *   control    of a link, both ways     header, lists, a frame or a part of it
 *   post       consumer to producers    header, descriptors of posted buffers
 *   records    producers to consumer    one or more records, each with its payloads
 *
 * A record is a struct comch_rec (comch_rec.h), here within a message; its sequence is
 * its position + 1, and it covers head.count positions. Its kind says where the payload is.
 */

#include <assert.h>
#include <stdint.h>

#include "sdk/comch_rec.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire is little-endian");

#define MLX5_MAGIC UINT32_C(0x636d6368) /* "hcmc" */
#define MLX5_WIRE_VERSION 1

/* Limits of a receive slot, bytes. */
#define MLX5_SLOT_MIN 256
#define MLX5_SLOT_MAX 4096

/* The link hello: private data of a connection request, at most 56 bytes. */
struct mlx5_hello {
	uint32_t magic;
	uint16_t version;
	uint16_t reserved;
	uint8_t name_hash[16]; /* of function and name: see mlx5_name.c */
	uint32_t slot_size;    /* receive slots of the sender's control QP, bytes */
	uint32_t nb_slots;
	uint32_t reserved2[2];
};
static_assert(sizeof(struct mlx5_hello) == 40, "wire");

/* Private data of an acceptance. */
struct mlx5_welcome {
	uint32_t magic;
	uint16_t version;
	uint16_t reserved;
	uint32_t slot_size;
	uint32_t nb_slots;
};
static_assert(sizeof(struct mlx5_welcome) == 16, "wire");

enum mlx5_refusal {
	MLX5_REFUSE_NAME = 1,     /* another server listens here: try the next port */
	MLX5_REFUSE_VERSION = 2,
	MLX5_REFUSE_FUNCTION = 3, /* the address does not belong to the function */
	MLX5_REFUSE_BUSY = 4,     /* no resources */
};

/* Private data of a refusal. */
struct mlx5_refuse {
	uint32_t magic;
	uint16_t version;
	uint16_t reason; /* enum mlx5_refusal */
};
static_assert(sizeof(struct mlx5_refuse) == 8, "wire");

/*
 * A control message: this header, nb_need struct mlx5_need, nb_halted struct mlx5_halted,
 * then bytes of a frame. A frame longer than a slot continues in the next messages, which
 * have the same frame_len and a fragment number that counts up. frame_len 0: none, the
 * message only returns slots or announces halted consumers.
 */
struct mlx5_ctrl_hdr {
	uint32_t frame_len;
	uint32_t returned;  /* slots that the sender has posted again, cumulative */
	uint16_t fragment;
	uint8_t nb_need;
	uint8_t nb_halted;
	uint32_t reserved;
};
static_assert(sizeof(struct mlx5_ctrl_hdr) == 16, "wire");

/* The frame must wait until buffers of this consumer are posted up to tail. */
struct mlx5_need {
	uint32_t consumer;
	uint32_t reserved;
	uint64_t tail;
};
static_assert(sizeof(struct mlx5_need) == 16, "wire");

/* The consumer accepts no more messages: do not wait for its posts. */
struct mlx5_halted {
	uint32_t consumer;
	uint32_t reserved;
};
static_assert(sizeof(struct mlx5_halted) == 8, "wire");

/* Lists in one control message. */
#define MLX5_MAX_NEED 8
#define MLX5_MAX_HALTED 8

/* A post: this header and count struct comch_desc. */
struct mlx5_post_hdr {
	uint64_t first;     /* position of the first */
	uint16_t count;
	uint16_t reserved;
	uint32_t taken;     /* pieces that the consumer has taken, cumulative */
};
static_assert(sizeof(struct mlx5_post_hdr) == 16, "wire");

#define MLX5_POST_MAX 32
#define MLX5_POST_SLOT (sizeof(struct mlx5_post_hdr) + MLX5_POST_MAX * sizeof(struct comch_desc))

/* Kinds of records beside those of comch_rec.h. */
enum mlx5_rec_kind {
	MLX5_REC_EAGER = 3, /* payloads follow the record, each from a multiple of 8 on */
	MLX5_REC_PIECE = 4, /* len0 bytes of the staged message follow; seq of its record */
};
static_assert((int)MLX5_REC_EAGER > (int)COMCH_REC_ABORT, "a kind of its own");

#define MLX5_EAGER_ALIGN 8

/* Ticket of a consumer (cons_offer) and of its sending end (remote_create). */
struct mlx5_qp_ticket {
	uint32_t magic;
	uint16_t version;
	uint8_t mtu;         /* enum ibv_mtu */
	uint8_t reserved;
	uint32_t qpn;
	uint32_t psn;
	uint32_t slot_size;  /* of the sender's receive slots, bytes */
	uint32_t nb_slots;
	uint32_t nb_pieces;  /* pieces that may be under way */
	uint32_t reserved2;
};
static_assert(sizeof(struct mlx5_qp_ticket) == 32, "wire");

/* Ticket of a registration. */
struct mlx5_mem_ticket {
	uint32_t magic;
	uint32_t rkey;
	uint64_t addr;
	uint64_t len;
};
static_assert(sizeof(struct mlx5_mem_ticket) == 24, "wire");

#endif /* MLX5_LAYOUT_H */
