/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SOAK_MSG_H
#define SOAK_MSG_H

/*
 * Messages. All of one follows from its place: the run, the connection, the stream and the
 * sequence number. So the receiver knows length, immediate data and bytes of the next
 * message beforehand. One with room for a header also says what it is.
 */

#include "books.h"

uint64_t soak_rnd(struct soak_rnd *r);
/* 0 to n - 1. */
uint32_t soak_rnd_below(struct soak_rnd *r, uint32_t n);
/* Is it one case in n? */
bool soak_rnd_one_in(struct soak_rnd *r, uint32_t n);

/** The place of a message. */
struct soak_place {
	uint64_t serial;  /* of the connection */
	uint32_t stream;  /* soak_stream_number() */
	uint64_t seq;
};

/** What follows from it. */
struct soak_msg {
	uint32_t len;
	uint16_t imm_len;
	bool is_silent;
	uint64_t pattern;
};

#define SOAK_IMM 32

/* A number for the stream of an end, unique in its connection. */
uint32_t soak_stream_number(const struct soak_end *e, enum soak_side side,
		const struct soak_stream *s);
void soak_msg(const struct soak_books *b, const struct soak_place *at,
		const struct soak_stream *s, struct soak_msg *m);
void soak_msg_fill(const struct soak_books *b, const struct soak_place *at,
		const struct soak_msg *m, uint8_t *data, uint8_t *imm);
/* True, or a fault is in the books. */
bool soak_msg_check(struct soak_books *b, const struct soak_place *at,
		const struct soak_msg *m, const uint8_t *data, uint32_t len,
		const uint8_t *imm, uint16_t imm_len);
#endif /* SOAK_MSG_H */
