/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Names and descriptions of the floors. */

#include "floor/floor.h"

static const struct {
	const char *name;
	const char *what;
} kinds[] = {
	[FLOOR_LINE] = { "line",
		"one 64-byte line written, seen by the other CPU, answered; one way" },
	[FLOOR_SLOT] = { "slot",
		"64-byte slots {56 bytes, sequence} through a ring of 4,096" },
	[FLOOR_MEMCPY] = { "memcpy",
		"copies of this size between shared mappings, warm source, 16 MiB window" },
	[FLOOR_WAKE] = { "wake",
		"eventfd and epoll ping-pong between sleeping processes; one way" },
	[FLOOR_NONE] = { "none", "no floor" },
};

uint32_t
floor_window_msgs(uint64_t size)
{
	uint64_t n = size == 0 ? FLOOR_WINDOW : FLOOR_WINDOW / size;

	return n < 2 ? 2 : (uint32_t)n;
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
