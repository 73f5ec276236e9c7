/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_QUOTA_H
#define COMCH_QUOTA_H

/*
 * What this process has few of and uses on the word of peers. All peers share what there is.
 * A peer, which is a process, and all of a user's together may have no more than a multiple of
 * what is left for others: seven eighths at most if the multiple is 7. So there is something
 * left for each user that comes, and for other processes of the same user, if less.
 *
 * Processes of other pid namespaces have the number 0; all of a user's are one peer.
 */

#include <stdbool.h>
#include <stdint.h>

enum comch_quota_of {
	/* Descriptors under way: sent, and not received yet. The kernel counts them, too. */
	COMCH_QUOTA_FDS_OUT,
	/* Descriptors: connections that are admitted, and the peer's wake sockets. */
	COMCH_QUOTA_FDS,
	/* Mappings of the peer's memory. */
	COMCH_QUOTA_MAPS,
	COMCH_NB_QUOTAS,
};

/* Of one peer. */
struct comch_quota;

/* Any thread. */

/* The quota of a peer, with a reference; NULL: no memory. */
struct comch_quota *comch_quota_get(int32_t uid, int32_t pid);
/* One more reference. */
void comch_quota_ref(struct comch_quota *quota);
/* Drop a reference, after all that was taken with it is given back. */
void comch_quota_put(struct comch_quota *quota);
/* May the peer use n more? They are taken. */
bool comch_quota_take(struct comch_quota *quota, enum comch_quota_of of, uint32_t n);
void comch_quota_give(struct comch_quota *quota, enum comch_quota_of of, uint32_t n);
/* For fork(): a child has no peers. */
void comch_quota_lock(void);
void comch_quota_unlock(void);
/* With the lock. */
void comch_quota_forget(void);
/* The limit of all peers together. */
uint32_t comch_quota_max(enum comch_quota_of of);

#endif /* COMCH_QUOTA_H */
