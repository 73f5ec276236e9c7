/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MEMFD_H
#define COMCH_MEMFD_H

/*
 * Sealed memory: creates it, and checks memory of peers.
 *
 * All memory has the seals SHRINK (else a later truncation kills the reader by
 * SIGBUS) and GROW. The other seals depend on the writers:
 *
 * - A control region has one writer. FUTURE_WRITE allows only its existing mapping to
 *   write; SEAL makes the seals final. FUTURE_WRITE also refuses to punch holes, which
 *   the reader would fill with pages of its own.
 * - Payload for one process is not sealed further: the importing process maps it for
 *   writing, and then adds FUTURE_WRITE and SEAL itself (comch_peermap.h).
 * - Payload for several processes has SEAL only.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of one_writer. */
#define COMCH_MEMFD_ONE_WRITER true
#define COMCH_MEMFD_PAYLOAD    false

/*
 * Create memory of len bytes (a multiple of the page size), mapped read-write at
 * *addr; if *addr is not NULL, exactly there. Payload lacks SEAL: see above. The file
 * has allocated blocks, since a store into a hole can fail with SIGBUS.
 * Returns the descriptor, or a negative errno.
 */
int comch_memfd_create(const char *name, size_t len, bool one_writer, void **addr);

/*
 * The same, with one writer and without pages. Both ends have them allocated before the first
 * access, which would end the process by SIGBUS if there is no memory for one: its writer for
 * stores, its reader for loads. A reader counts such a file as its own memory, since it
 * allocates what a hostile writer left out.
 */
int comch_memfd_create_sparse(const char *name, size_t len, void **addr);
/* Returns 0, or a negative errno: -EFAULT or -ENOMEM. */
int comch_memfd_populate(void *addr, size_t len, bool writable);
/* Can it? From Linux 5.14 on. */
bool comch_memfd_can_populate(void);

/* Add SEAL to payload that may go to several processes. May be repeated. */
void comch_memfd_seal(int fd);

/*
 * Does a descriptor have these seals? Check this first for a peer's descriptor: only
 * memfds have seals, and other files may block in fstat() and similar calls.
 */
bool comch_memfd_has_seals(int fd, int want);

/* Has a process that imported it sealed it for itself? */
bool comch_memfd_is_taken(int fd);

/*
 * Check a peer's control region: a tmpfs memfd of exactly len bytes without holes,
 * with all seals that this kernel supports. Returns 0 or -EPERM.
 */
int comch_memfd_check_control(int fd, uint64_t len);

/* The same, with or without holes. */
int comch_memfd_check_sparse(int fd, uint64_t len);

/*
 * Check a peer's payload: a tmpfs memfd with SHRINK, GROW and SEAL, of at least
 * offset + len bytes, without holes. trusted: any mappable file of that size.
 * Returns 0 or -EPERM.
 */
int comch_memfd_check(int fd, uint64_t offset, uint64_t len, bool trusted);

/*
 * Map all of a peer's payload for writing, add missing seals, and check it. Can block
 * on a file operation of the peer, such as fallocate().
 * Returns 0 or a negative errno: -EPERM if the file is refused.
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
