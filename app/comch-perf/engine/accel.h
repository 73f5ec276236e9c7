/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_ACCEL_H
#define ENGINE_ACCEL_H

/**
 * @file
 * Accelerators under test: one thread submits tasks, and runs the progress engine that works on
 * them. Where one of the buffers is memory of the other side, that side exports it, and sleeps.
 */

#include "engine/run.h"

/** What a task does: perf_params.kind of these tests. */
enum accel_work {
	ACCEL_COPY,      /**< DMA within memory of this process. */
	ACCEL_COPY_FROM, /**< ... from memory of the other side. */
	ACCEL_COPY_TO,   /**< ... to it. */
	ACCEL_SHA1,
	ACCEL_SHA256,
	ACCEL_SHA512,
	ACCEL_DEFLATE,
	ACCEL_INFLATE,
	ACCEL_LZ4,
	ACCEL_NB_WORKS,
};

/** Names of enum accel_work; the last one is NULL. */
extern const char *const accel_work_names[];

/** What the row of a latency is compared with, and that of a bandwidth. */
enum floor_kind accel_floor(const struct perf_test *test, const struct perf_params *params);

/** Is one of the buffers memory of the other side? */
static inline bool
accel_has_peer(const struct perf_params *p)
{
	return p->kind == ACCEL_COPY_FROM || p->kind == ACCEL_COPY_TO;
}

/** Longest descriptor of an export. */
#define ACCEL_MAX_DESC 256

/** Memory of the other side. */
struct accel_export {
	uint64_t addr;
	uint64_t stride;
	uint32_t nb_slots;
	uint32_t desc_len;
	uint8_t desc[ACCEL_MAX_DESC];
};
static_assert(sizeof(struct accel_export) == 280, "wire");
static_assert(offsetof(struct accel_export, nb_slots) == 16, "wire");
static_assert(offsetof(struct accel_export, desc) == 24, "wire");

/** An accelerator; each API extends it. */
struct accel {
	struct perf_run *run;
	struct link *link;
	uint32_t nb_slots;       /**< Tasks in flight; each has buffers of its own. */
	uint64_t submitted;
	uint64_t done;           /**< With or without an error. */
	uint64_t torn;           /**< Results that are not as expected, of those looked at. */
	struct accel_export peer; /**< Memory of the other side, if accel_has_peer(). */
};

/** The operations of an API. Those with a result return 0 or perf_run_fail(). */
struct accel_ops {
	size_t size;
	/** Follower: make the memory that `peer` describes. */
	int (*lend)(struct accel *accel);
	/** Follower, with --verify: count slots below *nb* whose bytes are not as expected. */
	uint64_t (*check_lent)(struct accel *accel, uint32_t nb);
	/** Leader: create the accelerator, and a task for each slot. */
	int (*open)(struct accel *accel);
	/** Submit the task of the next slot; accel_done() reports its end. */
	int (*submit)(struct accel *accel);
	/** Free all resources, also after a failed open. */
	void (*close)(struct accel *accel);
};

/** A task has completed. One with an error has failed the run before. */
static inline void
accel_done(struct accel *accel, bool torn)
{
	accel->done++;
	accel->torn += torn;
}

#endif /* ENGINE_ACCEL_H */
