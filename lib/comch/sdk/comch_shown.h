/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_SHOWN_H
#define COMCH_SHOWN_H

/*
 * Payload memory of peers that this process maps.
 *
 * A peer that shows memory to one process leaves it open. Then the importing
 * process seals it once it has mapped it: the peer's own descriptor cannot
 * punch holes into it any more, which our stores would fill with pages that we
 * pay for. The seal shuts out every later mapping as well. So a file is mapped
 * once, whole, however many connections and registrations lead to it.
 *
 * Any thread. No state of a connection is touched.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct comch_shown {
	uint8_t *addr;   /* of the byte at `offset` of the file */
	uint64_t offset; /* 0, but for trusted memory that is not a sealed file */
	size_t len;
};

/* What a device may map of its peers, all in all. */
struct comch_shown_limit {
	uint64_t *used;
	uint64_t max;
	uint64_t max_file; /* and one file; 0: no limit of its own */
	bool trusted;    /* accept memory that is not sealed */
	bool no_wait;    /* only what is mapped or sealed already: sealing may wait */
};

/*
 * Map the file behind fd, or find it mapped. fd stays the caller's. Unless the
 * limit says no_wait, it may wait for a file operation of the peer's, see
 * comch_memfd_adopt().
 * Returns 0, -EPERM (not sealed, a hole, too short, another process has it),
 * -EDQUOT (over the limit) or -ENOMEM.
 */
int comch_shown_get(int fd, uint64_t offset, uint64_t len,
		const struct comch_shown_limit *limit, struct comch_shown **foreign);

/* One use less; with the last it is unmapped, soon, and counts no more. */
void comch_shown_put(struct comch_shown *foreign);

#endif /* COMCH_SHOWN_H */
