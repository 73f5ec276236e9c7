/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MEMFD_H
#define COMCH_MEMFD_H

/*
 * Sealed memory: made here, and checked here when it comes from a peer.
 *
 * Any of it is sealed against SHRINK (else a later truncation kills the reader
 * by SIGBUS) and GROW. What else depends on who writes:
 *
 * - A control region has one writer. FUTURE_WRITE lets that one's mapping,
 *   made before, go on writing, and the peer cannot make one; SEAL makes it
 *   final. FUTURE_WRITE also refuses to punch holes, which the reader would
 *   have to fill with pages of its own.
 * - Payload for one process is left open: the importing process maps it for
 *   writing, and then adds FUTURE_WRITE and SEAL itself (comch_shown.h).
 * - Payload for several processes is made final by SEAL alone.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocated blocks, not holes: a store into a hole can fail by SIGBUS. */
#define COMCH_MEMFD_ONE_WRITER true
#define COMCH_MEMFD_PAYLOAD    false

/*
 * Make memory of len bytes (a multiple of the page size), mapped read-write at
 * *addr; if *addr is not NULL, exactly there. Payload is open: see above.
 * Returns the descriptor, or a negative errno.
 */
int comch_memfd_create(const char *name, size_t len, bool one_writer, void **addr);

/* Make payload final that may go to several processes. Again is allowed. */
void comch_memfd_seal(int fd);

/*
 * Has it these seals? To be asked first of a descriptor that a peer sent: only
 * a memfd answers, and anything else may block in fstat() and the like.
 */
bool comch_memfd_has_seals(int fd, int want);

/* Did a process that imported it seal it for itself? */
bool comch_memfd_is_taken(int fd);

/*
 * Check a control region that a peer sent: a tmpfs memfd of len bytes, no more,
 * with all seals that this kernel has, and no hole. Returns 0 or -EPERM.
 */
int comch_memfd_check_control(int fd, uint64_t len);

/*
 * Check payload that a peer sent: a tmpfs memfd with SHRINK, GROW and SEAL
 * that reaches to offset + len and has no hole anywhere. trusted: anything
 * mappable that reaches so far. Returns 0 or -EPERM.
 */
int comch_memfd_check(int fd, uint64_t offset, uint64_t len, bool trusted);

/*
 * Map all of a peer's payload for writing, then seal what it left open, and
 * check it. May wait for a file operation of the peer's on it (as fallocate).
 * Returns 0 or a negative errno: -EPERM if it cannot be used.
 */
int comch_memfd_adopt(int fd, size_t size, void **addr);

/*
 * Map len bytes at offset of a checked descriptor.
 * Returns 0 or a negative errno.
 */
int comch_memfd_map(int fd, uint64_t offset, size_t len, bool writable, void **addr);

/* len rounded up to whole pages; 0 if that overflows. */
size_t comch_memfd_round(size_t len);

#endif /* COMCH_MEMFD_H */
