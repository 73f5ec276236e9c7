/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SHM_OUT_H
#define SHM_OUT_H

/*
 * Descriptors in flight: sent, not yet received. The kernel counts them against our user
 * (its limit is RLIMIT_NOFILE), so peers that do not receive could keep us from sending any
 * to others. A link may have SHM_OUT_PER_LINK in flight, a process COMCH_QUOTA_FDS_OUT; further
 * ones wait. Only the kernel knows what a peer has received: we ask it when a limit is reached.
 * The end of a link does not change what is in flight, so a server's socket stays open until the
 * client has received everything or has closed its own end. A client closes its socket at once:
 * a server can collect descriptors only as often as the client dials.
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
	bool is_abandoned;         /* by its link; freed here */
	uint32_t nb;
	TAILQ_ENTRY(shm_out) next; /* while nb > 0 */
};

/* One thread per link, any link. */

/* The quota is that of the peer; the caller's reference lasts until the end, at least. */
void shm_out_begin(struct shm_out *out, int sock, struct comch_quota *quota);
/* May n descriptors be sent? If so, one of the next two follows. */
bool shm_out_take(struct shm_out *out, uint32_t n);
/* They are in flight. */
void shm_out_sent(struct shm_out *out, uint32_t n);
/* They were not sent. */
void shm_out_give(struct shm_out *out, uint32_t n);
/*
 * Closes the socket, which is shut down: now, or, if it may stay, once nothing is in flight.
 * Only one end of a link may stay, or each could wait for the other.
 */
void shm_out_end(struct shm_out *out, bool may_stay);

#endif /* SHM_OUT_H */
