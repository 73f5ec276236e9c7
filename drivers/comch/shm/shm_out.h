/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SHM_OUT_H
#define SHM_OUT_H

/*
 * Descriptors under way: sent, and not yet received. The kernel counts them against our user
 * (its limit is RLIMIT_NOFILE), so peers that do not receive could keep us from sending any
 * to others. A link may have SHM_OUT_PER_LINK under way, a process COMCH_QUOTA_FDS_OUT; what
 * is over that waits. Only the kernel knows what a peer has received: it is asked when a limit
 * is reached. A link that ends does not change what is under way, so a server's socket stays
 * open until the client has received it or has closed its own end. A client closes its socket at
 * once: a server can collect as many descriptors as the client dials again.
 */

#include <stdbool.h>
#include <stdint.h>
#include <bsd/sys/queue.h>

#include "sdk/comch_quota.h"

#define SHM_OUT_PER_LINK 32

/* Of one link. */
struct shm_out {
	struct comch_quota *quota;
	int sock;
	bool is_left;            /* by its link; freed here */
	uint32_t nb;
	TAILQ_ENTRY(shm_out) next; /* while nb > 0 */
};

/* One thread per link, any link. */

/* The quota is that of the peer; the caller's reference lasts until the end, at least. */
void shm_out_begin(struct shm_out *out, int sock, struct comch_quota *quota);
/* May n descriptors be sent? If so, one of the next two follows. */
bool shm_out_take(struct shm_out *out, uint32_t n);
/* They are under way. */
void shm_out_sent(struct shm_out *out, uint32_t n);
/* They were not sent. */
void shm_out_give(struct shm_out *out, uint32_t n);
/*
 * Closes the socket, which is shut down: now, or, if it may stay, when nothing is under way any
 * more. Of the two ends of a link only one may stay, or each could wait for the other.
 */
void shm_out_end(struct shm_out *out, bool may_stay);

#endif /* SHM_OUT_H */
