/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MEMFD_H
#define COMCH_MEMFD_H

/*
 * Sealed memory: made here, and checked here when it comes from a peer.
 *
 * Seals that a file must have before anybody maps it: SHRINK (else a later
 * truncation kills the reader by SIGBUS), GROW and SEAL (its state is final).
 * A control region, which one side writes, is sealed with FUTURE_WRITE as
 * well: our mapping, made before, goes on writing; the peer cannot make one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocated blocks, not holes: a store into a hole can fail by SIGBUS. */
#define COMCH_MEMFD_ONE_WRITER true
#define COMCH_MEMFD_PAYLOAD    false

/*
 * Make sealed memory of len bytes (a multiple of the page size), mapped
 * read-write at *addr; if *addr is not NULL, exactly there.
 * Returns the descriptor, or a negative errno.
 */
int comch_memfd_create(const char *name, size_t len, bool one_writer, void **addr);

/*
 * Check a descriptor that a peer sent: a tmpfs memfd with its seals, that
 * reaches to offset + len and has no hole anywhere. trusted: anything
 * mappable that reaches so far. Returns 0 or -EPERM.
 */
int comch_memfd_check(int fd, uint64_t offset, uint64_t len, bool trusted);

/*
 * Map len bytes at offset of a checked descriptor.
 * Returns 0 or a negative errno.
 */
int comch_memfd_map(int fd, uint64_t offset, size_t len, bool writable, void **addr);

/* len rounded up to whole pages; 0 if that overflows. */
size_t comch_memfd_round(size_t len);

#endif /* COMCH_MEMFD_H */
