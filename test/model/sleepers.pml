/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Two producers' threads sleep on the completions of one queue: its completion channel
 * is readable for both, but its event can be taken once, and takes the arming with it.
 * The thread that takes the event wakes the other one by that one's event descriptor.
 *
 *   arm                          device
 *   armed = true                 completion: if the queue is armed,
 *   request an event               event in the channel, not armed
 *   look: nothing? sleep until
 *     channel or own event
 *   awake: take the event; if there was one,
 *     write the own event of each other armed one
 *
 * NO_FORWARD:  broken: the taker does not wake the other.
 * NO_LOOK:     broken: no look after the request.
 * NO_ARM:      broken: armed after the request.
 */

#define SLEEPERS 2

byte mine[SLEEPERS];    /* completions for this sleeper, of one each */
bool requested;         /* the queue is armed */
byte channel;           /* events in the channel */
bool own[SLEEPERS];     /* own event descriptors are readable */
bool armed[SLEEPERS];

inline complete(who)
{
	mine[who] = 1;
	atomic {
		if
		:: requested -> requested = false; channel++
		:: else
		fi
	}
}

active proctype device()
{
	/* In either order. */
	if
	:: complete(0); complete(1)
	:: complete(1); complete(0)
	fi
}

active [SLEEPERS] proctype sleeper()
{
	byte me = _pid - 1, other = 2 - _pid;
	bool took;

	do
	:: mine[me] > 0 -> break
	:: else ->
#ifndef NO_ARM
arm:		armed[me] = true;
		requested = true;
#else
		requested = true;
		armed[me] = true;
#endif
#ifndef NO_LOOK
		if
		:: mine[me] > 0 -> break
		:: else
		fi;
#endif
		/* Asleep. A lost wake-up is an invalid end state here. */
		(channel > 0 || own[me]);
		own[me] = false;
		armed[me] = false;
		atomic {
			took = channel > 0;
			channel = 0
		}
#ifndef NO_FORWARD
		if
		:: took && armed[other] ->
forward:		own[other] = true
		:: else
		fi
#endif
	od
}
