/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_REAPER_H
#define COMCH_REAPER_H

/*
 * Unmapping takes long for large memory, above all where ours is its last use:
 * then its pages are freed, some 60 ms a GiB. A thread of its own does it, so
 * that a peer cannot have a poll's thread do it.
 */

#include <stddef.h>
#include <stdint.h>

/* Unmap, soon; then take len from *used, which may be NULL. Any thread. */
void comch_reaper_unmap(void *addr, size_t len, uint64_t *used);
/* Wait until all that was handed over is unmapped. */
void comch_reaper_wait(void);

#endif /* COMCH_REAPER_H */
