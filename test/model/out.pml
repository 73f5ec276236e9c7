/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Descriptors in flight, shm_out.c: those that a peer has not received count against the
 * quota of the sender, also after its link was closed. A server's socket stays until the
 * kernel says that all has arrived, so that a client that connects again and again, without
 * reading, never makes it exceed the quota.
 *
 *   sender                               watcher
 *   take from the quota                  socket empty? give back all that was sent
 *   send, count as sent
 *   close: count goes to the socket that stays
 *
 * NO_STAY:  broken: what a closed link sent is given back at once.
 * TAKEN:    broken: the watcher also gives back what was taken and is not sent yet.
 */

#define LIMIT 2
#define LINKS 2
#define PER_LINK 2

byte used;             /* of the quota */
byte queued[LINKS];    /* in the kernel */
byte nb[LINKS];        /* counted as sent */
bool taken[LINKS];     /* being sent */

#define IN_FLIGHT (queued[0] + queued[1])

active proctype sender()
{
	byte i, k;

	for (i : 0 .. LINKS - 1) {
		for (k : 1 .. PER_LINK) {
			if
			:: atomic { used < LIMIT -> used++; taken[i] = true };
				atomic { queued[i]++; assert(IN_FLIGHT <= LIMIT) };
				atomic { nb[i]++; taken[i] = false }
			:: atomic { used == LIMIT -> skip }
			:: true
			fi
		}
#ifdef NO_STAY
		/* The link is closed. */
		atomic { used = used - nb[i]; nb[i] = 0 }
#endif
	}
}

active proctype peer()
{
	do
	:: atomic { queued[0] > 0 -> queued[0]-- }
	:: atomic { queued[1] > 0 -> queued[1]-- }
	:: break
	od
}

active proctype watcher()
{
	byte i;

end:	do
	:: atomic { nb[0] > 0 && queued[0] == 0 -> used = used - nb[0]; nb[0] = 0 }
	:: atomic { nb[1] > 0 && queued[1] == 0 -> used = used - nb[1]; nb[1] = 0 }
#ifdef TAKEN
	:: atomic { taken[0] && queued[0] == 0 -> used--; taken[0] = false }
#endif
	od
}
