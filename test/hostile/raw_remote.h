/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RAW_REMOTE_H
#define RAW_REMOTE_H

/* Exporters and importers of memory by hand: what lib/comch/remote says, and what it would not. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "remote/comch_remote_wire.h"

/* Send a message with descriptors; as sendmsg(), or so that it must be sent. */
ssize_t raw_remote_try_send(int fd, void *data, size_t len, const int *fds, unsigned int nb_fds);
void raw_remote_send(int fd, void *data, size_t len, const int *fds, unsigned int nb_fds);
/*
 * Receive a message; the length is that of all of it. A signal does not end the wait: libFuzzer has
 * some.
 */
ssize_t raw_remote_recv(int fd, void *data, size_t len);
/* A memfd with its pages; sealed as a window is, or not. */
int raw_remote_memfd(size_t len, bool is_sealed);

/* An importer */

/* A socket to an exporter; it has said nothing. */
int raw_remote_connect(const char *path);
/* Show a key of this kind. */
void raw_remote_hello(int fd, const uint8_t *key, uint32_t kind);
/* Send a window, or whatever these descriptors are. */
void raw_remote_window(int fd, const int *fds, unsigned int nb_fds);
/* What the answer to that says: 0 or a negative errno; -EPIPE: the exporter has closed. */
int raw_remote_hear(int fd);
/* All of that as it should be, with a window, which is returned. */
uint8_t *raw_remote_up(int fd, const uint8_t *key);
/* Ask for a piece. */
void raw_remote_request(int fd, uint32_t op, uint32_t slot, uint64_t addr, uint32_t len);
/* The same; what the answer says, or -EPIPE: the exporter has closed. */
int raw_remote_ask(int fd, uint32_t op, uint32_t slot, uint64_t addr, uint32_t len);
/* Wait until the exporter has closed. */
void raw_remote_closed(int fd);
/* Take the welcome of an owner of a counter. Returns the page's descriptor. */
int raw_remote_take_page(int fd);

/* An exporter */

/* A socket that listens at a path as an exporter's. */
int raw_remote_listen(char *path, size_t size);
/* Take hello and window of an importer. Returns the window's descriptor. */
int raw_remote_take(int fd);
/* Seal a window as an exporter does. */
void raw_remote_seal(int window);
/* Welcome an importer, with these descriptors: there should be none. */
void raw_remote_welcome(int fd, const int *fds, unsigned int nb_fds);

#endif /* RAW_REMOTE_H */
