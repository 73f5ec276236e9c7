/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_QUOTA_H
#define COMCH_QUOTA_H

/*
 * Limits of scarce resources that this process uses on behalf of peers. A peer (a process), and all
 * processes of a user together, may have at most a multiple of what is left: with a multiple of 7,
 * seven eighths of the total. So something is left for each new user and, in smaller amounts, for
 * other processes of the same user.
 *
 * Processes of other pid namespaces have the pid 0; all of a user's are one peer.
 */

#include <stdbool.h>
#include <stdint.h>

enum comch_quota_of {
	/* Descriptors in flight: sent, not yet received. The kernel limits them per user. */
	COMCH_QUOTA_FDS_OUT,
	/* Descriptors: admitted connections, the peer's wake sockets, and those not used yet. */
	COMCH_QUOTA_FDS,
	/* Mappings of the peer's memory: links, and payload. */
	COMCH_QUOTA_MAPS,
	/* Larger rings, ours and the peer's: shm_ring.c. */
	COMCH_QUOTA_RINGS,
	COMCH_NB_QUOTAS,
};

/* What one peer uses. */
struct comch_quota;

/* Any thread. */

/* The quota of a peer, with a reference; NULL: no memory. */
struct comch_quota *comch_quota_get(int32_t uid, int32_t pid);
/* One more reference. */
void comch_quota_ref(struct comch_quota *quota);
/* Drop a reference, after giving back what was taken with it. */
void comch_quota_put(struct comch_quota *quota);
/* May the peer use n more? They are taken. */
bool comch_quota_take(struct comch_quota *quota, enum comch_quota_of of, uint32_t n);
void comch_quota_give(struct comch_quota *quota, enum comch_quota_of of, uint32_t n);

/* Limit and usage, for telemetry. */
struct comch_quota_info {
	uint32_t max;      /* for all peers together */
	uint32_t used;
	uint32_t most;     /* of one process */
	int32_t most_uid;  /* that process; -1, 0: none */
	int32_t most_pid;
};

void comch_quota_info(enum comch_quota_of of, struct comch_quota_info *info);
/* For fork(): a child has no peers. */
void comch_quota_lock(void);
void comch_quota_unlock(void);
/* With the lock. */
void comch_quota_forget(void);
/* The limit of all peers together. */
uint32_t comch_quota_max(enum comch_quota_of of);

#endif /* COMCH_QUOTA_H */
