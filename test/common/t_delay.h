/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_DELAY_H
#define T_DELAY_H

/*
 * T_DELAY=N in the environment gives any driver the timing of an asynchronous
 * transport. The bursts of consumers and producers made by t_consumer_new()
 * and t_producer_new() are wrapped:
 *
 *   send  takes nothing until N runs of a poll and N calls after the last post
 *   recv  returns nothing until N runs and N calls after the last send
 *   done  the same
 *
 * A post is still visible to a peer that received a control message sent after
 * it, as the drivers guarantee.
 *
 * The wrapper also checks, with N = 0 too, that the test leaves the payload
 * alone until done_burst() returned the operation, and that each posted buffer
 * and each operation came back by the time its queue is destroyed.
 */

#include <stdbool.h>

#include <rte_comch_dp.h>

/* Wrap the bursts, if T_DELAY is set. */
void t_delay_consumer(struct rte_comch_consumer *cons);
void t_delay_producer(struct rte_comch_producer *prod);
/* Before the destroy of an IDLE one: check that all came back, and unwrap. */
void t_delay_consumer_end(struct rte_comch_consumer *cons);
void t_delay_producer_end(struct rte_comch_producer *prod);

/* Was a call too early since the last time that this was asked? The library
 * knows of nothing to wait for then, so its polls must not sleep.
 */
bool t_delay_held(void);

/* This thread ran a poll. */
void t_delay_on_run(void);
/* This thread received a control message. */
void t_delay_on_msg(void);

#endif /* T_DELAY_H */
