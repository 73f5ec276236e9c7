/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_REAPER_H
#define COMCH_REAPER_H

/*
 * A thread that unmaps memory. Unmapping large memory takes long, above all if it
 * frees the pages: about 60 ms per GiB. A peer must not block the poll's thread by
 * that.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Unmap memory asynchronously; then subtract len from *used, unless NULL. Any thread. */
void comch_reaper_unmap(void *addr, size_t len, uint64_t *used);
/* Wait until all memory of earlier calls is unmapped. */
void comch_reaper_wait(void);
/* The same without waiting: what it was given so far, and is all of that unmapped? */
uint64_t comch_reaper_mark(void);
bool comch_reaper_passed(uint64_t mark);

#endif /* COMCH_REAPER_H */
