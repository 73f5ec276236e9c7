/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Memory over RDMA is withdrawn from the peer. Its registration is revoked when no consumer
 * uses it any more, whose queue pairs are in state ERR by then: a WRITE that is under way
 * ends there, and not as a violation by a peer that knows nothing yet. After the revocation,
 * nothing writes to it. What our own producers send from it has a registration of its own.
 *
 *   producer's device                 consumer's side
 *   WRITE: queue pair ERR? failed     halt: queue pair to ERR
 *          key revoked? violation     last consumer of the memory: revoke
 *          else the memory            the memory is the application's
 *
 * NO_ERR:  broken: revoked while the queue pair works.
 * NO_REFS: broken: the first consumer that stops revokes it.
 * ONE_KEY: broken: our sends use the registration that the peer has.
 */

#define CONSUMERS 2

bool is_err[CONSUMERS];
byte refs = CONSUMERS;
bool revoked;
bool given_back;

active [CONSUMERS] proctype producer()
{
	byte me = _pid, i;

	for (i : 1 .. 2) {
		atomic {
			if
			:: is_err[me]
			:: !is_err[me] ->
				assert(!revoked);
				assert(!given_back)
			fi
		}
	}
}

active [CONSUMERS] proctype consumer()
{
	byte me = _pid - CONSUMERS;
	bool last;

#ifndef NO_ERR
	is_err[me] = true;
#endif
#ifdef NO_REFS
	last = true;
#else
	atomic { refs--; last = refs == 0 };
#endif
	if
	:: last ->
		revoked = true;
		given_back = true
	:: else
	fi;
#ifdef NO_ERR
	is_err[me] = true
#endif
}

/* A send of ours from the same memory, which ends before the memory does. */
active proctype send()
{
#ifdef ONE_KEY
	assert(!revoked)
#else
	skip
#endif
}
