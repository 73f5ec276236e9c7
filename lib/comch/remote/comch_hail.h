/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_HAIL_H
#define COMCH_HAIL_H

/*
 * How importers begin: they connect to an exporter, and show a key.
 *
 * Descriptors of objects that a fork looks at are set with the registry's lock.
 */

#include <stdbool.h>

#include "remote/comch_remote_wire.h"

/* Whether a descriptor that may come from a peer is one. */
bool comch_hail_is_valid(const struct comch_remote_desc *desc);

/* Set the descriptor of an object. Returns the one before. */
int comch_hail_set_fd(int *place, int fd);
/* Create a socket for it. 0 or a negative errno. */
int comch_hail_open(int *place);
/*
 * Connect it. 0; -EAGAIN (many others connect as well); another negative errno:
 * comch_hail_is_of_us() tells whether this process has not what it needs, or the exporter is gone.
 */
int comch_hail_connect(int sock, const struct comch_remote_desc *desc);
bool comch_hail_is_of_us(int error);
/* Show the key. False: the exporter does not take it. */
bool comch_hail_greet(int sock, const struct comch_remote_desc *desc, enum comch_remote_kind kind);
/* Why the exporter of a descriptor cannot be reached, for the log. */
const char *comch_hail_reason(int error);

#endif /* COMCH_HAIL_H */
