/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FLOOR_FLOOR_H
#define FLOOR_FLOOR_H

/**
 * @file
 * Floors: what two CPUs currently reach on this machine without this library.
 * Absolute figures of a channel vary with the machine, above all on a virtual
 * machine whose CPUs migrate; their ratio to a floor measured at the same time is
 * comparable.
 *
 * A program measures and prints one floor; comch-perf starts it. comch-perf-floor
 * has two pinned processes that share memory, and links no library but the C
 * library; comch-perf-floor-mbuf has two lcores, and uses DPDK's rings and pools;
 * comch-perf-floor-library has one thread, and calls what accelerators call.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hist.h"

/** Kinds of floors. */
enum floor_kind {
	/** Ping-pong of a 64-byte line, one way; p50, ns. */
	FLOOR_LINE,
	/** Messages of 64-byte lines streamed through a ring of 4,096; messages per second. */
	FLOOR_SLOT,
	/** Copies of a size into a shared window of 16 MiB; bytes per second. */
	FLOOR_MEMCPY,
	/** Two copies, in pieces: to a shared ring, and by the receiver to memory of its own. */
	FLOOR_COPIES,
	/** Only the receiver copies, by process_vm_readv(), into the shared window. */
	FLOOR_VM_READV,
	/** Ping-pong over eventfd and epoll, one way; p50, ns. */
	FLOOR_WAKE,
	/** Connections over a unix socket that share memory, see floor/connect.h; p50, ns. */
	FLOOR_CONNECT,
	/** Rounds of instructions that wait for nothing, see floor/core.h; a second, slower CPU. */
	FLOOR_CORE,
	/** Mbufs streamed through an rte_ring; mbufs per second. */
	FLOOR_RING,
	/** Ping-pong of mbufs over two of them, one way; p50, ns. */
	FLOOR_RING_LAT,
	/** Digests by libcrypto; bytes of a message per second. */
	FLOOR_SHA1,
	FLOOR_SHA256,
	FLOOR_SHA512,
	/** Compression by zlib, decompression by zlib, liblz4; bytes not compressed per second. */
	FLOOR_DEFLATE,
	FLOOR_INFLATE,
	FLOOR_LZ4,
	FLOOR_NONE,
};

/** What a floor is, and the figure to compare with it. */
enum floor_unit {
	FLOOR_NS,
	FLOOR_MSGS,  /**< Messages or rounds per second. */
	FLOOR_BYTES, /**< Per second. */
};

/** A measurement: the arguments of the program. */
struct floor_req {
	enum floor_kind kind;
	int cpu_a;       /**< CPU of the sender. */
	int cpu_b;       /**< CPU of the receiver. */
	uint32_t ms;     /**< Duration. */
	uint64_t size;   /**< Bytes per copy (floor_has_size()) or mbuf (FLOOR_RING*). */
	uint32_t burst;  /**< FLOOR_RING: mbufs per call. */
	uint32_t queue;  /**< FLOOR_RING*: size of the ring. */
	uint32_t lines;  /**< FLOOR_SLOT: lines per message, see floor/lines.h. */
};

/** Memory that large messages cycle through, here and in the tests. */
#define FLOOR_WINDOW (UINT64_C(16) << 20)

/** Does the floor depend on a size, which is not 0? */
static inline bool
floor_has_size(enum floor_kind kind)
{
	return kind == FLOOR_MEMCPY || kind == FLOOR_COPIES || kind == FLOOR_VM_READV ||
		(kind >= FLOOR_SHA1 && kind <= FLOOR_LZ4);
}

/** Messages of a size that fit into FLOOR_WINDOW, at least 2. */
uint32_t floor_window_msgs(uint64_t size);

/** What FLOOR_COPIES copies at a time, at most. */
#define FLOOR_PIECE (UINT64_C(64) << 10)

/** Messages of a measurement, or pieces, that the shared memory holds. */
uint64_t floor_shared_msgs(const struct floor_req *req);

/** "line", "slot", "memcpy", "copies", "vm_readv", "wake", "connect", "core", "ring",
 * "ring-lat", "sha1", "sha256", "sha512", "deflate", "inflate", "lz4", "none". */
const char *floor_name(enum floor_kind kind);

/** Description for the table. */
const char *floor_what(enum floor_kind kind);

enum floor_unit floor_unit(enum floor_kind kind);

/** Name of the program that measures this kind. */
const char *floor_program(enum floor_kind kind);

/** What a program prints. */
struct floor_figure {
	double value;   /**< In the unit of its kind; a latency is the median. Negative: failed. */
	double p999_ns; /**< Of a latency; NaN: it is none. */
};

/** Half of a median round trip, ns. floor_main() prints the 99.9th percentile as well. */
double floor_one_way(const struct hist *hist);

/** A median of one-way times, ns. floor_main() prints the 99.9th percentile as well. */
double floor_whole(const struct hist *hist);

/**
 * Start the program and sleep until it ends, so that both CPUs are free for it.
 *
 * @return
 *   The figure.
 */
struct floor_figure floor_measure(const struct floor_req *req);

/** Pin a process to a CPU; pid 0: this one. A failure is printed, and counts for nothing else. */
void floor_pin(pid_t pid, int cpu);

/**
 * main() of a program: parse the arguments, measure, and print the figure.
 *
 * @return
 *   Exit status.
 */
int floor_main(int argc, char **argv, const char *program,
		double (*measure)(const struct floor_req *req));

#endif /* FLOOR_FLOOR_H */
