/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef VICTIM_H
#define VICTIM_H

/*
 * What is attacked: a server of the library, with an honest client beside the
 * attacker. Whatever the attacker does, the honest connection has to go on
 * working, and memory that was never exported must stay unchanged.
 */

#include <criterion/criterion.h>

#include "attacks.h"
#include "raw_peer.h"
#include "runs.h"
#include "t_log.h"
#include "t_pair.h"

/* Runs of the victim until a message of the honest client has arrived, at most. */
#define V_MAX_TRIP_RUNS 10

struct victim {
	struct t_pair p;
	struct t_flow flow;      /* honest: host to DPU */
	uint8_t *canary;         /* private memory of the victim */
	uint64_t seed;
	unsigned int nb_fds;     /* when all was honest */
	struct runs runs;
	unsigned int longest_trip; /* runs that a message of the honest client took */
};

void v_start(void);
void v_stop(void);
#define V_SUITE(name) TestSuite(name, .init = v_start, .fini = v_stop)

/* The server and its honest client. */
void v_open(struct victim *v, const struct t_pair_conf *conf);
/* The honest connection works, and nothing was written where it should not be. */
void v_check(struct victim *v);
/* Check, and that no descriptor is left over; then close. */
void v_close(struct victim *v);

/* A socket to the victim's server. */
int v_dial(void);
/* Step until the attacker's link is up. */
void v_link(struct raw_peer *a, uint32_t cells);
/* Until its connection is established; the victim's end of it. */
struct rte_comch_conn *v_connect(struct victim *v, struct raw_peer *a);
struct rte_comch_conn *v_connect_cells(struct victim *v, struct raw_peer *a, uint32_t cells);
/* Step until a frame of this type comes; others are thrown away. */
void v_hear(struct raw_peer *a, struct raw_frame *f, uint32_t type);
/* The same for an MR_ACK or CONSUMER_ACK; its status. */
int32_t v_hear_status(struct raw_peer *a, uint32_t type);

/* Make the victim answer until it has frames that found no room. */
void v_clog(struct victim *v, struct raw_peer *a, unsigned int extra);

/* The victim ends the attacker's connection with -EPROTO and a sentence. */
void v_expect_end(struct victim *v, const struct rte_comch_conn *conn);
/* The same with any error. */
const struct t_ev *v_expect_down(struct victim *v, const struct rte_comch_conn *conn);
/* It was never established: the victim hangs up. */
void v_expect_hangup(struct raw_peer *a);
/* Nothing comes of it: the connection lives. */
void v_expect_alive(struct victim *v, struct raw_peer *a, const struct rte_comch_conn *conn);

/* Run the victim's poll once, and remember how long it took. */
void v_run(struct victim *v);
/* Run it until a message of the honest client has arrived, and count the runs. */
void v_trip(struct victim *v);
/* Did no run block, and was the honest client served soon? */
void v_check_runs(struct victim *v);

/* A thread of the attacker's: fn(arg) again and again until stopped. */
struct v_thread {
	pthread_t id;
	void (*fn)(void *arg);
	void *arg;
	uint32_t stop;
};
void v_thread_start(struct v_thread *t, void (*fn)(void *arg), void *arg);
void v_thread_stop(struct v_thread *t);

#endif /* VICTIM_H */
