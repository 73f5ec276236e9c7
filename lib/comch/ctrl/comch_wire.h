/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_WIRE_H
#define COMCH_WIRE_H

/*
 * Frames of the control path: conversion between bytes and checked structures.
 *
 * A frame is a 16-byte header and a body, little endian, no padding:
 *
 *   0      1      2        4          8            12         16
 *   | type | 0    | 0      | body len | acked msgs | reserved | body ...
 *
 * acked counts the received messages that the application of the frame's sender has
 * processed, modulo 2^32: credits for the other side. Every frame carries it; CREDIT
 * carries nothing else.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

#include "rte_comch_driver.h"

#define COMCH_WIRE_MAGIC     UINT32_C(0x68636d63) /* "cmch" */
#define COMCH_WIRE_MAJOR     1
#define COMCH_WIRE_MINOR     2
#define COMCH_WIRE_HDR_SIZE  RTE_COMCH_FRAME_MIN_HDR
/* Longest frame other than MSG and MSG_AT. */
#define COMCH_WIRE_MAX_FRAME 256
/* Flags of HELLO and ACCEPT, since 1.1; unknown ones are ignored. */
#define COMCH_WIRE_F_CTRL_ONLY UINT32_C(1) /* no producers, no consumers */
#define COMCH_WIRE_F_CLOCKS    UINT32_C(2) /* ACCEPT: send MSG_AT instead of MSG */
/* Size of the clock at the start of a MSG_AT's body. */
#define COMCH_WIRE_CLOCK_SIZE 8
static_assert(COMCH_WIRE_HDR_SIZE == 16 && COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE ==
	RTE_COMCH_FRAME_HDR, "wire");

enum comch_wire_type {
	COMCH_WIRE_HELLO = 1,    /* client: server name, version, sizes */
	COMCH_WIRE_ACCEPT,       /* server: agreed sizes */
	COMCH_WIRE_REJECT,       /* server: reason */
	COMCH_WIRE_MSG,          /* a control message */
	COMCH_WIRE_CREDIT,       /* only the header's acked count */
	COMCH_WIRE_DISCONNECT,   /* the last frame of a link */
	COMCH_WIRE_MR_ADD,       /* exported memory, with the driver's ticket */
	COMCH_WIRE_MR_ACK,       /* imported, or the error */
	COMCH_WIRE_MR_DEL,       /* the memory is no longer exported */
	COMCH_WIRE_CONSUMER_NEW, /* sizes, and the driver's ticket */
	COMCH_WIRE_CONSUMER_ACK, /* the sending end's ticket, or the error */
	COMCH_WIRE_CONSUMER_GONE,
	COMCH_WIRE_PRODUCER_NEW, /* the driver's ticket */
	COMCH_WIRE_PRODUCER_GONE,
	COMCH_WIRE_MSG_AT,       /* a control message with its clock */
	COMCH_WIRE_NB_TYPES
};
static_assert(COMCH_WIRE_MSG == 4 && COMCH_WIRE_MR_ADD == 7 && COMCH_WIRE_CONSUMER_NEW == 10 &&
	COMCH_WIRE_PRODUCER_NEW == 13 && COMCH_WIRE_MSG_AT == 15, "wire");

/* A frame in host form. Only the members of its type are set or sent. */
struct comch_wire_frame {
	enum comch_wire_type type;
	uint32_t acked;
	uint32_t len;               /* MSG: payload bytes; MSG_AT: clock and payload bytes */
	uint32_t magic;             /* HELLO */
	uint16_t major, minor;      /* HELLO, ACCEPT */
	uint32_t max_msg_size;      /* HELLO, ACCEPT */
	uint32_t recv_queue;        /* HELLO, ACCEPT */
	uint32_t flags;             /* HELLO, ACCEPT: COMCH_WIRE_F_* */
	int32_t status;             /* REJECT, DISCONNECT, MR_ACK, CONSUMER_ACK */
	uint32_t id;                /* MR_*, CONSUMER_*, PRODUCER_* */
	uint32_t kind;              /* MR_ADD */
	uint64_t offset;            /* MR_ADD */
	uint64_t size;              /* MR_ADD */
	uint32_t depth;             /* CONSUMER_NEW: a power of two */
	uint32_t imm_size;          /* CONSUMER_NEW */
	uint32_t staging_size;      /* CONSUMER_NEW: 0 or a power of two */
	char text[RTE_COMCH_REASON_SIZE]; /* HELLO: the name; REJECT, DISCONNECT */
	bool has_final;             /* CONSUMER_GONE, since 1.2 */
	uint64_t final;
	/*
	 * MR_ADD, CONSUMER_NEW, CONSUMER_ACK, PRODUCER_NEW, since 1.2: the driver's ticket.
	 * In a parsed frame it points into the bytes of that frame.
	 */
	uint32_t ticket_len;
	const uint8_t *ticket;
};

static_assert(RTE_COMCH_NAME_SIZE <= RTE_COMCH_REASON_SIZE, "a name fits into text");

/* Write the header of a message of len bytes. */
static inline void
comch_wire_msg_hdr(void *buf, uint32_t len, uint32_t acked)
{
	uint64_t *w = buf;

	w[0] = rte_cpu_to_le_64((uint64_t)COMCH_WIRE_MSG | (uint64_t)len << 32);
	w[1] = rte_cpu_to_le_64(acked);
}

/* Write the header of a MSG_AT and its clock: COMCH_WIRE_CLOCK_SIZE bytes more. */
static inline void
comch_wire_msg_at_hdr(void *buf, uint32_t len, uint32_t acked, uint64_t clock)
{
	uint64_t *w = buf;

	w[0] = rte_cpu_to_le_64((uint64_t)COMCH_WIRE_MSG_AT |
		(uint64_t)(len + COMCH_WIRE_CLOCK_SIZE) << 32);
	w[1] = rte_cpu_to_le_64(acked);
	w[2] = rte_cpu_to_le_64(clock);
}

/* The type of a frame that this process built. */
static inline unsigned int
comch_wire_type_of(const void *frame)
{
	return *(const uint8_t *)frame;
}

/* The clock of a parsed MSG_AT. */
static inline uint64_t
comch_wire_clock(const uint8_t *frame)
{
	uint64_t le;

	memcpy(&le, frame + COMCH_WIRE_HDR_SIZE, sizeof(le));
	return rte_le_to_cpu_64(le);
}

/*
 * Write a frame other than MSG and MSG_AT.
 * Returns its length, at most COMCH_WIRE_MAX_FRAME.
 */
uint32_t comch_wire_build(const struct comch_wire_frame *frame, void *buf);

/*
 * Read a frame of len bytes from private memory.
 * Returns 0 or -EPROTO. For a MSG the payload follows the header; for a MSG_AT
 * clock and payload do.
 */
int comch_wire_parse(const void *buf, uint32_t len, struct comch_wire_frame *frame);

/* Name of a frame type, for logs. */
const char *comch_wire_name(unsigned int type);

#endif /* COMCH_WIRE_H */
