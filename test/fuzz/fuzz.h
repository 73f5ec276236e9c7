/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FUZZ_H
#define FUZZ_H

/*
 * Fuzzers: each program calls LLVMFuzzerTestOneInput() for one input after the other.
 * With -Dfuzz=true libFuzzer makes the inputs (devtools/fuzz.sh); otherwise replay.c
 * reads those of corpus/.
 *
 * An input is a program for the code under test: the first bytes select an action, the next are
 * values. Missing bytes read as zero, so that each input is valid. A check that fails (T_EQ()
 * and its relatives) aborts, which libFuzzer reports.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>

#include "t.h"

/* Before the first input; optional. */
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
/* Returns 0; or -1: do not keep the input in a corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Optional, after the last input (not under libFuzzer): free what outlives an input. */
void fuzz_end(void) __attribute__((weak));

/* A stream that discards its output. */
FILE *fuzz_nowhere(void);
/* Have the log of EAL, which runs, be formatted and go nowhere. */
void fuzz_log_nowhere(void);
/* Start EAL with such a log. */
void fuzz_eal_start(void);

/* What is left of an input. */
struct fuzz_in {
	const uint8_t *at;
	size_t left;
};

/* Take up to len bytes; returns their number. The rest of buf is zero. */
static inline size_t
fuzz_take(struct fuzz_in *in, void *buf, size_t len)
{
	const size_t n = RTE_MIN(in->left, len);

	memset(buf, 0, len);
	if (n > 0)
		memcpy(buf, in->at, n);
	in->at += n;
	in->left -= n;
	return n;
}

static inline uint8_t
fuzz_u8(struct fuzz_in *in)
{
	uint8_t v;

	fuzz_take(in, &v, sizeof(v));
	return v;
}

static inline uint16_t
fuzz_u16(struct fuzz_in *in)
{
	uint16_t v;

	fuzz_take(in, &v, sizeof(v));
	return v;
}

static inline uint32_t
fuzz_u32(struct fuzz_in *in)
{
	uint32_t v;

	fuzz_take(in, &v, sizeof(v));
	return v;
}

static inline uint64_t
fuzz_u64(struct fuzz_in *in)
{
	uint64_t v;

	fuzz_take(in, &v, sizeof(v));
	return v;
}

/* A number that is often small, often a limit, and may be any. */
static inline uint64_t
fuzz_number(struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in);

	if (how < 192)
		return how;
	if (how < 224)
		return (UINT64_C(1) << (how & 31)) - 1;
	if (how < 240)
		return UINT64_C(1) << 2 * (how & 15);
	return how < 248 ? UINT64_MAX - (how & 7) : fuzz_u64(in);
}

#endif /* FUZZ_H */
