/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_HELLO_H
#define COMCH_HELLO_H

/*
 * The port's HELLO, the only control message that a port sends: it describes its receive
 * queues, which run by then. It is payload for the connection, which has a frame HELLO of
 * its own. Little-endian:
 *
 *     0  u32  magic "NETC"
 *     4  u16  version, 1
 *     6  u16  number of receive queues, 1 to 64
 *     8  u32  longest frame, bytes
 *    12  u32  longest message (room), bytes
 *    16  u32  consumer ids, one for each receive queue
 *
 * A frame shorter than room is one message. A longer one is sent as messages of exactly
 * room bytes, and a shorter one, which may be empty, ends it.
 */

#include <stdint.h>

#define COMCH_HELLO_MAX_QUEUES 64
#define COMCH_HELLO_MAX_SIZE (16 + 4 * COMCH_HELLO_MAX_QUEUES)

struct comch_hello {
	uint16_t nb_queues;
	uint32_t max_frame;
	uint32_t room;
	uint32_t ids[COMCH_HELLO_MAX_QUEUES];
};

/* Encode to a buffer of COMCH_HELLO_MAX_SIZE bytes. Returns the length. */
uint32_t comch_hello_write(const struct comch_hello *hello, void *buf);

/* Decode a message of a peer. Returns 0 or -EPROTO. */
int comch_hello_read(struct comch_hello *hello, const void *buf, uint32_t len);

#endif /* COMCH_HELLO_H */
