/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_PARAMS_H
#define ENGINE_PARAMS_H

/**
 * @file
 * The parameters of one test run; the leader sends them to the follower.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_MAX_BURST   256
/** Producers or consumers of one side, one thread each. */
#define PERF_MAX_WORKERS 64
#define PERF_ERROR_SIZE  256
/** Longest message of the fast path. */
#define PERF_MAX_SIZE    (UINT64_C(1) << 30)

enum perf_api {
	PERF_API_DESC,
	PERF_API_MBUF,
	PERF_API_DOCA,
	PERF_API_COMM_CHANNEL,
};

enum perf_wait {
	PERF_WAIT_POLL,
	PERF_WAIT_EVENT,
	PERF_WAIT_RECEIVER, /**< The receiving side sleeps, as with EVENT; the sender spins. */
};

/** Bits of the options that are test parameters. */
enum perf_opt {
	PERF_OPT_SIZE = 1 << 0,
	PERF_OPT_ITERS = 1 << 1,
	PERF_OPT_DURATION = 1 << 2,
	PERF_OPT_BURST = 1 << 3,
	PERF_OPT_QUEUE = 1 << 4,
	PERF_OPT_PRODUCERS = 1 << 5,
	PERF_OPT_CONSUMERS = 1 << 6,
	PERF_OPT_CONNECTIONS = 1 << 7,
	PERF_OPT_IMM = 1 << 8,
	PERF_OPT_API = 1 << 9,
	PERF_OPT_MEMORY = 1 << 10,
	PERF_OPT_WAIT = 1 << 11,
	PERF_OPT_BIDIR = 1 << 12,
	PERF_OPT_VERIFY = 1 << 13,
	PERF_OPT_HISTOGRAM = 1 << 14,
	PERF_OPT_KIND = 1 << 15, /**< Not an option: the floor to measure, or a cost. */
	PERF_OPT_LINES = 1 << 16,
	PERF_OPT_WORK = 1 << 17,
	PERF_OPT_STRIDE = 1 << 18,
};

/**
 * Parameters of one run. Also the wire layout: fixed widths, no holes.
 */
struct perf_params {
	uint64_t size;        /**< Payload of a message, bytes. */
	uint64_t iters;       /**< Messages per producer; 0: run by duration. */
	uint64_t duration_us; /**< Measured time. */
	uint32_t burst;
	uint32_t queue;       /**< Queue depth, capped for large messages in plan.c; 0: no queue. */
	uint32_t producers;
	uint32_t consumers;
	uint32_t connections;
	uint16_t imm;         /**< Immediate data of a message, bytes. */
	uint16_t lines;       /**< Test "floor": see floor/lines.h. */
	uint8_t api;          /**< enum perf_api */
	uint8_t memory;       /**< enum app_memory */
	uint8_t wait;         /**< enum perf_wait */
	uint8_t bidir;
	uint8_t verify;
	uint8_t crowded;      /**< Workers share a CPU: idle ones yield. */
	uint8_t kind;         /**< enum floor_kind ("floor"), cost_kind or accel_work. */
	uint8_t reserved;
	uint64_t stride;      /**< From one buffer to the next, bytes; 0: whole lines of size. */
};
static_assert(sizeof(struct perf_params) == 64, "wire");
static_assert(offsetof(struct perf_params, burst) == 24, "wire");
static_assert(offsetof(struct perf_params, imm) == 44, "wire");
static_assert(offsetof(struct perf_params, api) == 48, "wire");

#endif /* ENGINE_PARAMS_H */
