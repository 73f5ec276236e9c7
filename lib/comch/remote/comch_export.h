/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_EXPORT_H
#define COMCH_EXPORT_H

/*
 * Exports, and the thread that serves their importers.
 *
 * comch_export.c has the exports; a lock is held while a piece of one is copied, so that no byte
 * is read or written once it is destroyed. comch_export_serve.c has the thread and the sockets on
 * which it listens, comch_export_peer.c the importers, which the thread alone touches. They meet
 * by number: an importer that has shown a key names an export by a number that is never used again.
 *
 * A child of fork() that may use the library begins anew: its parent's thread is not there, another
 * one may have held a lock, and descriptors are closed. Each file forgets its own by ..._reset().
 */

#include <stdbool.h>

#include "remote/comch_remote_wire.h"

/* comch_export_serve.c */

/* Serve in the directory of the device, if that is not done yet, and say where. 0 or an errno. */
int comch_export_serve(int16_t dev_id, char *path, size_t size);

/* For the thread: watch a descriptor for these events, by epoll_ctl(). */
int comch_export_watch(int op, int fd, uint32_t events, void *peer);
/* For threads that have received what an importer sent: have the thread look. */
void comch_export_wake(void);

/* comch_export_peer.c, for the thread */

/* Accept one that connects. False: no descriptor is left. */
bool comch_export_peer_accept(int listener);
/* Its socket has an event; is_alone: no other has one. It may be freed. */
void comch_export_peer_serve(void *peer, bool is_alone);
/* What some importer sent may have been received. */
void comch_export_peer_look(void);
void comch_export_peer_reset(void);

/* comch_export.c, for counters */

/* Export a counter: its file, which the caller keeps. NULL: rte_errno is set. */
struct rte_comch_export *comch_export_create_counter(int16_t dev_id, int fd);

/* comch_export.c, for the thread */

/* An export by its key and kind; 0: none. Of a counter, *fd is a descriptor of its file, or -1. */
uint64_t comch_export_find(const uint8_t *key, uint32_t kind, int *fd);
/*
 * Copy between the memory of an export and a slot, as a checked request asks. 0 or a negative
 * errno: -ENOTCONN (it is gone), -EACCES (not its range, or not its permission), -EFAULT.
 */
int comch_export_copy(uint64_t number, const struct comch_remote_request *request, uint8_t *slot);
void comch_export_reset(void);

/* comch_export_pages.c */

/* Have the kernel move what is in memory into huge pages, as far as it can. */
void comch_export_pages_huge(uint8_t *addr, size_t len);

/* comch_export_copy.c, for the thread */

/*
 * Copy by the kernel, which returns -EFAULT where memory is not there; it raises no signal. The
 * slot is memory that a peer has as well.
 */
int comch_export_copy_bytes(uint8_t *addr, uint8_t *slot, size_t len, bool to_slot);
/* A descriptor that it needs; -1: none. */
int comch_export_copy_fd(void);
void comch_export_copy_reset(void);

#endif /* COMCH_EXPORT_H */
