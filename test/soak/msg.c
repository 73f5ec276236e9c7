/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "msg.h"
#include "t.h"

#define MAGIC UINT32_C(0x6b616f73)

/** The beginning of each message with room for it. */
struct header {
	uint32_t magic;
	uint32_t run;
	uint64_t serial;
	uint64_t seq;
	uint32_t stream;
	uint32_t len;
};

static uint64_t
mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint64_t
soak_rnd(struct soak_rnd *r)
{
	r->state += UINT64_C(0x9e3779b97f4a7c15);
	return mix(r->state);
}

uint32_t
soak_rnd_below(struct soak_rnd *r, uint32_t n)
{
	return (uint32_t)(soak_rnd(r) % n);
}

bool
soak_rnd_one_in(struct soak_rnd *r, uint32_t n)
{
	return soak_rnd_below(r, n) == 0;
}

uint32_t
soak_stream_number(const struct soak_end *e, enum soak_side side, const struct soak_stream *s)
{
	if (s == &e->ctrl)
		return side;
	return SOAK_SIDES + (uint32_t)side * SOAK_STREAMS + (uint32_t)(s - e->streams);
}

/* Short ones are as frequent as long ones, and some are the longest. */
static uint32_t
length(uint64_t x, uint32_t max)
{
	unsigned int bits = 0;

	if (max == 0)
		return 0;
	if (x % 16 == 0)
		return max;
	while (bits < 31 && UINT32_C(1) << bits <= max)
		bits++;
	bits = (unsigned int)(x >> 8 & 0xffff) % (bits + 1);
	return (uint32_t)((x >> 24) % RTE_MIN(UINT64_C(1) << bits, (uint64_t)max + 1));
}

void
soak_msg(const struct soak_books *b, const struct soak_place *at, const struct soak_stream *s,
		struct soak_msg *m)
{
	uint64_t x;

	x = mix(mix(mix(b->seed ^ at->serial) ^ at->stream) ^ at->seq);
	m->pattern = x;
	x = mix(x);
	m->len = length(x, s->max_len);
	x = mix(x);
	m->imm_len = 0;
	if (s->prod_id != 0 && (x & 1) != 0)
		m->imm_len = (uint16_t)(1 + (x >> 8) % SOAK_IMM);
	/* Only short ones: they have their memory for long. */
	m->is_silent = (x >> 32) % 8 == 0 && m->len <= 512;
}

static void
header_fill(const struct soak_books *b, const struct soak_place *at, const struct soak_msg *m,
		struct header *h)
{
	memset(h, 0, sizeof(*h));
	h->magic = MAGIC;
	h->run = b->run;
	h->serial = at->serial;
	h->seq = at->seq;
	h->stream = at->stream;
	h->len = m->len;
}

static uint32_t
header_len(uint32_t len)
{
	return len >= sizeof(struct header) ? (uint32_t)sizeof(struct header) : 0;
}

void
soak_msg_fill(const struct soak_books *b, const struct soak_place *at,
		const struct soak_msg *m, uint8_t *data, uint8_t *imm)
{
	const uint32_t skip = header_len(m->len);
	struct header h;

	header_fill(b, at, m, &h);
	if (m->len > 0) {
		memcpy(data, &h, skip);
		t_fill(data + skip, m->len - skip, m->pattern);
	}
	t_fill(imm, m->imm_len, ~m->pattern);
}

/* What is wrong with the bytes: the message that it claims to be, or the first wrong byte. */
static void
explain(char *buf, size_t size, const struct header *want, const struct soak_msg *m,
		const uint8_t *data, uint32_t len)
{
	const uint32_t skip = header_len(len);
	struct header h;

	if (skip > 0) {
		memcpy(&h, data, sizeof(h));
		if (h.magic == MAGIC && memcmp(&h, want, sizeof(h)) != 0) {
			snprintf(buf, size, "it is message %llu of stream %u of connection "
				"%llu, %u bytes", (unsigned long long)h.seq, h.stream,
				(unsigned long long)h.serial, h.len);
			return;
		}
	}
	if (len != m->len)
		snprintf(buf, size, "the length differs");
	else
		snprintf(buf, size, "wrong from byte %lld of %u after the header",
			(long long)t_verify(data + skip, len - skip, m->pattern), len - skip);
}

bool
soak_msg_check(struct soak_books *b, const struct soak_place *at, const struct soak_msg *m,
		const uint8_t *data, uint32_t len, const uint8_t *imm, uint16_t imm_len)
{
	const uint32_t skip = header_len(len);
	struct header want;
	char text[160];
	bool good;

	header_fill(b, at, m, &want);
	good = len == m->len && imm_len == m->imm_len;
	if (good && imm_len > 0)
		good = t_verify(imm, imm_len, ~m->pattern) < 0;
	if (good && len > 0)
		good = memcmp(data, &want, skip) == 0 &&
			t_verify(data + skip, len - skip, m->pattern) < 0;
	if (good)
		return true;
	explain(text, sizeof(text), &want, m, data, len);
	soak_fault(b, "connection %llu, stream %u: message %llu of %u+%u bytes expected, "
		"%u+%u bytes received: %s", (unsigned long long)at->serial, at->stream,
		(unsigned long long)at->seq, m->len, m->imm_len, len, imm_len, text);
	return false;
}
