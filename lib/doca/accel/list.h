/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_LIST_H
#define IMPL_ACCEL_LIST_H

/*
 * Lists of buffers, as a source and as a destination. A source is the data of its buffers, one
 * after the other; a destination is the room behind their data.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "mem/mem.h"

/* Bytes of the data, or of the room, and buffers of a list. */
size_t impl_list_data(const struct doca_buf *list);
size_t impl_list_room(const struct doca_buf *list);
uint32_t impl_list_len(const struct doca_buf *list);

/*
 * Whether a list can be read, or written behind its data as far as *len*. Either memory of this
 * process, or, where it says so, also of the other side.
 */
doca_error_t impl_list_check_source(const struct doca_buf *list, bool also_remote);
doca_error_t impl_list_check_room(const struct doca_buf *list, size_t len, bool also_remote);
/* Whether the data of *src* has one of the first *most* bytes of the room of *dst*. */
bool impl_list_overlaps(const struct doca_buf *src, const struct doca_buf *dst, size_t most);

/* Whether some of it is memory of the other side. */
bool impl_list_has_remote(const struct doca_buf *list);

/* A place in a list; {list, 0} is its begin. */
struct impl_place {
	const struct doca_buf *buf; /* NULL: the end */
	size_t off;                 /* in its data, or its room */
};

/* Bytes that lie in one piece there, after empty buffers were passed; 0: the end. */
size_t impl_place_data(struct impl_place *place, const uint8_t **data);
size_t impl_place_room(struct impl_place *place, uint8_t **room);

/* The first bytes of the room were filled: make them data. */
void impl_list_fill(struct doca_buf *list, size_t len);

#endif /* IMPL_ACCEL_LIST_H */
