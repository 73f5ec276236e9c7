/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SIEGE_H
#define SIEGE_H

/*
 * What an attack costs honest clients: figures, not a test. A server and honest clients share
 * a thread, the attacker is a process on another CPU. How long an answer takes is measured by
 * another honest client, the asker, in a process on the attacker's CPU. All times are wall
 * clock less what the thread waited for its CPU.
 */

#include "attacks.h"

/* A message of the asker, which the server sends back. */
#define ASK "ask"

/* Times of one kind, ns, sorted once all are there. */
struct times {
	uint64_t *ns;
	unsigned int nb;
	unsigned int cap;
};

void times_add(struct times *t, uint64_t ns);
void times_sort(struct times *t);
/* 0 to 1,000: 999 is p99.9. 0 if there are none. */
uint64_t times_at(const struct times *t, unsigned int permille);
uint64_t times_ns_of(uint64_t cycles);

/* A span of time, measured outside of it where that is slow. */
struct span {
	uint64_t wait;
	uint64_t tsc;
};

struct span span_begin(void);
/* Returns ns. */
uint64_t span_end(const struct span *s);

void siege_driver(void);
void siege_pin(unsigned int cpu);

/* What the honest ones saw; shared by the processes that measure and print. */
struct figures {
	/* One way within a thread; with an asker: until the answer. */
	uint64_t trip_p50, trip_p99, trip_p999;
	uint64_t connect_p50, connect_p999;
	uint64_t run_p999;       /* the longest run of each millisecond */
	uint32_t nb_trips, nb_connects;
	uint32_t nb_refused;     /* connects */
	uint32_t nb_cut;         /* established honest connections that ended */
	uint32_t nb_lines;       /* that the library logged */
	uint32_t nb_ended;       /* connections of the attacker that were ended */
};

struct conf {
	unsigned int seconds;
	unsigned int cpu;        /* of the victim */
	unsigned int nofile;     /* of the victim */
	bool asks;               /* there is an asker: the victim only serves, until told to end */
	unsigned int asker_cpu;
};

/* In a process of its own: measure alone and, between 'A' and 'E' on fd, under attack. */
int victim_run(int fd, const struct conf *conf, struct figures *alone, struct figures *f);
/* The same for the asker, when the victim serves. */
int asker_run(int fd, const struct conf *conf, struct figures *alone, struct figures *f);

#endif /* SIEGE_H */
