/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The stop of a consumer over RDMA: its queue pair goes to state ERR, it receives what
 * was placed before, and its final position settles what the producer does not know.
 *
 *   producer                    network             consumer
 *   send position by position   place, acknowledge  halt: state ERR
 *   completion: done, success   (each may be lost   receive what was placed
 *   error: wait for the final   after ERR)          tell the final position
 *   final: below it success,
 *          else not delivered
 *
 * A message is acknowledged after it is placed, and the acknowledgement may be lost.
 *
 * NO_FINAL:    broken: the producer takes an error for "not delivered".
 * NO_DRAIN:    broken: the consumer tells its position without receiving the rest.
 * EARLY_ACK:   broken: success is told when the message leaves.
 */

#define MSGS 3

byte sent;              /* by the producer */
byte placed;            /* in the consumer's slots */
byte acked;             /* acknowledgements that the producer's device has */
bool is_err;            /* the consumer's queue pair */
bool told;              /* the final position is at the producer */
byte final;
byte received;
byte status[MSGS];      /* 0: open, 1: success, 2: failure */

active proctype network()
{
end:	do
	:: atomic { placed < sent && !is_err -> placed++ }
	:: atomic { acked < placed -> acked++ }
	od
}

active proctype producer()
{
	byte i, done = 0;

	do
	:: atomic { sent < MSGS && !told -> sent++ }
#ifdef EARLY_ACK
	:: atomic { done < sent -> status[done] = 1; done++ }
#else
	:: atomic { done < acked -> status[done] = 1; done++ }
#endif
#ifdef NO_FINAL
	:: is_err && done < sent -> status[done] = 2; done++
#endif
	:: told -> break
	od;
	for (i : 0 .. MSGS - 1) {
		if
		:: i < sent && status[i] == 0 -> status[i] = (i < final -> 1 : 2)
		:: else
		fi
	}
	for (i : 0 .. MSGS - 1) {
		/* Each is settled, and as the consumer saw it. */
		assert(i >= sent || status[i] != 0);
		assert(i >= sent || (status[i] == 1) == (i < received))
	}
}

active proctype consumer()
{
	do
	:: atomic { received < placed -> received++ }
	:: break
	od;
	is_err = true;
#ifdef NO_DRAIN
	final = received;
	do
	:: received < placed -> received++
	:: else -> break
	od;
#else
	do
	:: received < placed -> received++
	:: else -> break
	od;
	final = received;
#endif
	told = true
}
