/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TRANSFER_H
#define TRANSFER_H

/*
 * Shared by consumer.c and producer.c: the control messages between them, as text (the
 * producer's totals at the end, and the consumer's verdict), how many buffers to allocate,
 * and the progress of a long transfer.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#define TRANSFER_GOOD "complete"
#define TRANSFER_BAD  "damaged"
/* Longest message: the limit of all drivers. */
#define TRANSFER_MAX_LEN (UINT64_C(1) << 30)
/* Number of buffers, and their memory unless a single one needs more. */
#define TRANSFER_BUFS 64
#define TRANSFER_MEMORY (UINT64_C(64) << 20)

struct transfer {
	uint64_t msgs;
	uint64_t bytes;
	uint64_t sum; /* 0: not summed */
};

static inline int
transfer_format(const struct transfer *t, char *text, size_t size)
{
	return snprintf(text, size, "end %" PRIu64 " %" PRIu64 " %" PRIx64,
			t->msgs, t->bytes, t->sum);
}

/* The message comes from another process and is not NUL-terminated. */
static inline int
transfer_parse(const void *data, uint32_t len, struct transfer *t)
{
	char text[80] = "";

	memcpy(text, data, RTE_MIN(len, sizeof(text) - 1));
	return sscanf(text, "end %" SCNu64 " %" SCNu64 " %" SCNx64,
			&t->msgs, &t->bytes, &t->sum) == 3 ? 0 : -1;
}

/* Compare the sums only if both ends computed one. */
static inline bool
transfer_equal(const struct transfer *a, const struct transfer *b)
{
	return a->msgs == b->msgs && a->bytes == b->bytes &&
		(a->sum == b->sum || a->sum == 0 || b->sum == 0);
}

static inline void
transfer_print(const char *verb, const struct transfer *t, double seconds)
{
	printf("%s %" PRIu64 " bytes in %" PRIu64 " messages, %.3f s, %.2f GB/s", verb, t->bytes,
			t->msgs, seconds, seconds > 0 ? (double)t->bytes / seconds / 1e9 : 0.0);
	if (t->sum != 0)
		printf(", checksum %016" PRIx64, t->sum);
	printf("\n");
}

/* Buffers of this size: as many as fit in the memory, at least one. */
static inline uint64_t
transfer_nb_bufs(uint64_t size)
{
	return RTE_MAX(RTE_MIN(TRANSFER_MEMORY / size, (uint64_t)TRANSFER_BUFS), UINT64_C(1));
}

/* A line on stderr each interval; on a terminal, always the same line. */
struct transfer_progress {
	uint64_t interval_ms; /* 0: none */
	double last;
	bool is_open;         /* the terminal's line is to be cleared */
};

static inline void
transfer_progress_end(struct transfer_progress *p)
{
	if (p->is_open)
		fprintf(stderr, "\r%*s\r", 70, "");
	p->is_open = false;
}

/* bytes: so far; total: in all (UINT64_MAX: unknown); seconds: since the beginning. */
static inline void
transfer_progress_show(struct transfer_progress *p, const char *verb, uint64_t bytes,
		uint64_t total, double seconds)
{
	char of[32] = "";

	if (p->interval_ms == 0 || seconds < p->last + (double)p->interval_ms / 1e3)
		return;
	p->last = seconds;
	p->is_open = isatty(STDERR_FILENO);
	if (total != UINT64_MAX)
		snprintf(of, sizeof(of), " of %.1f", (double)total / (1 << 20));
	fprintf(stderr, "%s%s %.1f%s MiB, %.2f GB/s%s", p->is_open ? "\r" : "", verb,
			(double)bytes / (1 << 20), of, (double)bytes / seconds / 1e9,
			p->is_open ? "    " : "\n");
}

#endif /* TRANSFER_H */
