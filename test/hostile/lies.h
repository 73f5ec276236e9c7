/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef LIES_H
#define LIES_H

/* The lies of forms.h as frames in a ring of the shm driver, and what such frames bring. */

#include "forms.h"
#include "raw_peer.h"

/* The longest frame here. */
#define LIE_MAX_LEN 128

/* Build the frame, true; its length with the prefix. */
uint32_t lie_build(const struct lie_frame *f, uint8_t *bytes);
/* Its fields, of the prefix and the header, too. */
unsigned int lie_nb_fields(const struct lie_frame *f);
/* Replace a field of a built frame by one of LIE_NB_WHICH values. */
void lie_in(const struct lie_frame *f, unsigned int field, unsigned int which, uint8_t *bytes);

/* What a truthful frame brings: regions of a channel, a socket, memory. */
struct lie_goods {
	struct raw_cons c;
	struct raw_mem rec;
	struct raw_mem m;
};

void lie_goods_new(struct lie_goods *g);
void lie_goods_free(struct lie_goods *g);
void lie_fds(const struct lie_goods *g, uint32_t type, int fds[2]);

/* Say it with f->nb_fds of these descriptors; there is room in the ring. */
void lie_send(struct raw_peer *p, const struct lie_frame *f, const uint8_t *bytes, uint32_t len,
		const int *fds);
/* Call fn with each field of a frame replaced by each lie. */
typedef void (*lie_fn)(void *arg, const struct lie_frame *f, const uint8_t *bytes, uint32_t len,
		const int *fds);
void lie_each(const struct lie_frame *f, const struct lie_goods *g, lie_fn fn, void *arg);

/*
 * After lie_seed(): a frame with several lies or wrong bytes, with and without its descriptors.
 * There is room in the ring.
 */
void lie_random_say(struct raw_peer *p, const struct lie_goods *g);

/* Reasons that no server should give. */
struct lie_reason {
	const char *text;
	uint16_t len;
};
extern const struct lie_reason lie_reasons[];
extern const unsigned int lie_nb_reasons;
/* The first two, as people may read them. */
#define LIE_REASON_PLAIN "a plain reason"
#define LIE_REASON_CLEAN "?[2J%s%n%s???]0;title?"

/* A true frame again and again. */
struct lie_flood {
	uint32_t type;
	bool counts_up;          /* each has the next id */
	uint32_t nb;             /* sent so far */
};
/* Fill the ring with it. */
void lie_pour(struct raw_peer *p, const struct lie_goods *g, struct lie_flood *flood);

#endif /* LIES_H */
