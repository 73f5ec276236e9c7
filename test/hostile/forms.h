/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FORMS_H
#define FORMS_H

/*
 * Messages as lists of fields, any of which can be replaced by an invalid value; and each
 * control frame in this form, whatever the transport.
 */

#include <stdbool.h>
#include <stdint.h>

/* How far the other end is when it hears a frame. */
enum lie_step {
	LIE_LINKED,
	LIE_UP,
	LIE_SHOWN,   /* it has shown memory */
	LIE_OFFERED, /* it has announced a consumer */
	LIE_NB_STEPS
};

#define LIE_BY_CLIENT 1
#define LIE_BY_SERVER 2
#define LIE_BY_ANY 3
#define LIE_NB_WHICH 8
#define LIE_DEPTH 64
#define LIE_MEM_ID 3
#define LIE_MEM_LEN 65536
#define LIE_STAGING 4096

/* A true frame; how its body is divided, in bytes. */
struct lie_frame {
	const char *name;
	uint8_t by;
	enum lie_step step;
	uint32_t type;
	uint8_t width[8];
	uint64_t value[8];
	uint32_t nb_fds;
};

extern const struct lie_frame lie_frames[];
extern const unsigned int lie_nb_frames;

/* The one of a type, which must exist. */
const struct lie_frame *lie_frame_of(uint32_t type);

#define FORM_MAX_FIELDS 48
/* The longest message of fields. */
#define FORM_MAX_LEN 256

/* A true message: fields of 1, 2, 4 or 8 bytes, without gaps. */
struct form {
	unsigned int nb;
	uint8_t width[FORM_MAX_FIELDS];
	uint64_t value[FORM_MAX_FIELDS];
};

void form_add(struct form *f, uint8_t width, uint64_t value);
/* The header of a frame and its body; the caller adds `more` bytes to the body. */
void form_add_frame(struct form *f, const struct lie_frame *frame, uint32_t more);

uint32_t form_off(const struct form *f, unsigned int field);
/* The length of all fields. */
uint32_t form_len(const struct form *f);
/* Write all fields, true; returns their length, at most FORM_MAX_LEN. */
uint32_t form_put(const struct form *f, void *bytes);
/* One of LIE_NB_WHICH values in place of the truth. */
uint64_t lie_value(uint64_t truth, uint32_t width, unsigned int which);
/* Replace a field that was written by one of these values. */
void form_lie(const struct form *f, unsigned int field, unsigned int which, void *bytes);

/* Values that a field may have, beside the true one. */
struct form_limit {
	uint32_t what;  /* the message, by a number of the test's */
	uint8_t field;
	uint64_t min, max;
};

/* No value but the true one. */
#define FORM_ONLY_TRUTH 1, 0

/* Is a lie within the limits? Fields without a limit may have any value. */
bool form_is_valid(const struct form *f, unsigned int field, unsigned int which,
		const struct form_limit *limits, unsigned int nb, uint32_t what);

/* Choices at random, from the seed T_SEED of the environment or a new one; it is printed. */
void lie_seed(void);
uint32_t lie_draw(uint32_t below);

#endif /* FORMS_H */
