/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The table of floors. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "floor/floor.h"
#include "floor/lines.h"

#define BARE "comch-perf-floor"
#define MBUF "comch-perf-floor-mbuf"
#define LIBRARY "comch-perf-floor-library"

/* What the shared memory of FLOOR_COPIES holds, as much as a staging ring. */
#define COPIES_RING (UINT64_C(1) << 20)

static const struct {
	const char *name;
	const char *what;
	const char *program;
	enum floor_unit unit;
} kinds[] = {
	[FLOOR_LINE] = { "line",
		"one 64-byte line written, seen by the other CPU, answered; one way",
		BARE, FLOOR_NS },
	[FLOOR_SLOT] = { "slot",
		"messages of 64-byte lines, one by default, through a ring of 4,096",
		BARE, FLOOR_MSGS },
	[FLOOR_MEMCPY] = { "memcpy",
		"copies of this size between shared mappings, warm source, 16 MiB window",
		BARE, FLOOR_BYTES },
	[FLOOR_COPIES] = { "copies",
		"two copies: in pieces of at most 64 KiB through 1 MiB, to 16 MiB of the receiver",
		BARE, FLOOR_BYTES },
	[FLOOR_VM_READV] = { "vm_readv",
		"copies of this size by the receiver, by process_vm_readv() from private memory",
		BARE, FLOOR_BYTES },
	[FLOOR_WAKE] = { "wake",
		"eventfd and epoll ping-pong between sleeping processes; one way",
		BARE, FLOOR_NS },
	[FLOOR_CONNECT] = { "connect",
		"a unix socket connected; each side makes sealed memory, sends and maps it",
		BARE, FLOOR_NS },
	[FLOOR_CORE] = { "core",
		"rounds of 8 instructions that wait for nothing, both CPUs at once; the slower one",
		BARE, FLOOR_MSGS },
	[FLOOR_RING] = { "ring",
		"mbufs through a bare rte_ring: allocated, stamped; read, freed",
		MBUF, FLOOR_MSGS },
	[FLOOR_RING_LAT] = { "ring-lat",
		"the same, ping-pong of one mbuf at a time over two rings; one way",
		MBUF, FLOOR_NS },
	[FLOOR_SHA1] = { "sha1", "SHA-1 by libcrypto, called directly",
		LIBRARY, FLOOR_BYTES },
	[FLOOR_SHA256] = { "sha256", "SHA-256 by libcrypto, called directly",
		LIBRARY, FLOOR_BYTES },
	[FLOOR_SHA512] = { "sha512", "SHA-512 by libcrypto, called directly",
		LIBRARY, FLOOR_BYTES },
	[FLOOR_DEFLATE] = { "deflate", "deflate by zlib, level 6, called directly",
		LIBRARY, FLOOR_BYTES },
	[FLOOR_INFLATE] = { "inflate", "inflate by zlib, called directly",
		LIBRARY, FLOOR_BYTES },
	[FLOOR_LZ4] = { "lz4", "blocks of LZ4 decompressed by liblz4, called directly",
		LIBRARY, FLOOR_BYTES },
	[FLOOR_NONE] = { "none", "no floor", "", FLOOR_NS },
};

uint32_t
floor_window_msgs(uint64_t size)
{
	uint64_t n = size == 0 ? FLOOR_WINDOW : FLOOR_WINDOW / size;

	return n < 2 ? 2 : (uint32_t)n;
}

uint64_t
floor_shared_msgs(const struct floor_req *req)
{
	return req->kind == FLOOR_COPIES ? COPIES_RING / req->size : floor_window_msgs(req->size);
}

int
floor_lines_parse(const char *text, uint32_t *lines)
{
	char *end;
	double value = strtod(text, &end), scaled = value * FLOOR_ONE_LINE;

	/* NaN compares false. */
	if (end == text || *end != '\0' || !(value >= 1 && value <= FLOOR_MAX_LINES))
		return -EINVAL;
	*lines = (uint32_t)(scaled + 0.5);
	return fabs(scaled - *lines) < 1e-6 ? 0 : -EINVAL;
}

const char *
floor_name(enum floor_kind kind)
{
	return kinds[kind].name;
}

const char *
floor_what(enum floor_kind kind)
{
	return kinds[kind].what;
}

const char *
floor_program(enum floor_kind kind)
{
	return kinds[kind].program;
}

enum floor_unit
floor_unit(enum floor_kind kind)
{
	return kinds[kind].unit;
}
