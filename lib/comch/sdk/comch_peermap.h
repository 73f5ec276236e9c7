/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_PEERMAP_H
#define COMCH_PEERMAP_H

/*
 * The mappings of peers' payload memory.
 *
 * Memory that a peer exports to one process is not sealed against writes. The
 * importing process maps it and then seals it: after that the peer cannot punch holes,
 * which our stores would fill with pages that are charged to this process. The seal
 * also refuses later mappings. So a file is mapped once, as a whole, for all
 * connections and registrations.
 *
 * Any thread. Does not access connections.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct comch_peermap {
	uint8_t *addr;   /* of the byte at `offset` of the file */
	uint64_t offset; /* 0, but for trusted memory that is not a sealed file */
	size_t len;
};

/* The limit of peers' memory that a device maps. */
struct comch_peermap_limit {
	uint64_t *used;
	uint64_t max;
	uint64_t max_file; /* limit of one file; 0: none */
	bool trusted;      /* accept memory that is not sealed */
	bool no_wait;      /* only mapped or sealed files: sealing can block */
};

/*
 * Map the file of fd, or take a reference to its mapping. The caller keeps fd. Without
 * no_wait, can block on a file operation of the peer: see comch_memfd_adopt().
 * Returns 0, -EPERM (not sealed, a hole, too short, another process has it),
 * -EDQUOT (over the limit) or -ENOMEM.
 */
int comch_peermap_get(int fd, uint64_t offset, uint64_t len,
		const struct comch_peermap_limit *limit, struct comch_peermap **map);

/* Drop a reference; the last one unmaps the file asynchronously. */
void comch_peermap_put(struct comch_peermap *map);

#endif /* COMCH_PEERMAP_H */
