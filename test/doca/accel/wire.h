/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_WIRE_H
#define ACCEL_WIRE_H

/* Exporters and importers of memory by hand. */

#include "accel/exporter.h"
#include "remote/comch_remote_wire.h"

/* An importer's socket to an exporter; it has said nothing. */
int wire_connect(const struct exporter *e);
/* Show a key; NULL: that of the export. */
void wire_hello(int fd, const struct exporter *e, const uint8_t *key);
/* Send a window, or whatever these descriptors are. */
void wire_window(int fd, const int *fds, unsigned int nb_fds);
/* What the answer to that says: 0 or a negative errno; -EPIPE: the exporter has closed. */
int wire_hear(int fd);
/* All of that as it should be, with a window, which is returned. */
uint8_t *wire_up(int fd, const struct exporter *e);
/* Ask for a piece; what the answer says, or -EPIPE: the exporter has closed. */
int wire_ask(int fd, uint32_t op, uint32_t slot, uint64_t addr, uint32_t len);
/* Wait until the exporter has closed. */
void wire_closed(int fd);

/* Make a descriptor that was changed a valid one. */
void wire_seal(uint8_t *desc);
/* A socket that listens as an exporter does, and a descriptor that leads to it. */
int wire_listen(struct exporter_shared *shared);
/* Have the descriptor lead to a link to that socket instead. */
void wire_replace_by_link(struct exporter_shared *shared);
/* Take hello and window of an importer. Returns the window's descriptor. */
int wire_take(int fd);
/* Take the welcome of an owner of a counter. Returns the page's descriptor. */
int wire_take_page(int fd);
/* Seal a window as an exporter does. */
void wire_seal_window(int window);
/* Welcome an importer, with these descriptors: there should be none. */
void wire_welcome(int fd, const int *fds, unsigned int nb_fds);
/* A memfd with its pages; sealed as a window is, or not. */
int wire_memfd(size_t len, bool is_sealed);

#endif /* ACCEL_WIRE_H */
