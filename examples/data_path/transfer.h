/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TRANSFER_H
#define TRANSFER_H

/*
 * Control messages between consumer.c and producer.c, as text: the producer's totals
 * at the end, and the consumer's verdict.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#define TRANSFER_GOOD "complete"
#define TRANSFER_BAD  "damaged"

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

#endif /* TRANSFER_H */
