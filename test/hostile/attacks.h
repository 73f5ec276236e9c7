/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ATTACKS_H
#define ATTACKS_H

/*
 * Processes that besiege a server, each in one way and without end. Tests check that others
 * are served meanwhile; test/siege measures how.
 */

#include "t_proc.h"

/* Of the server under attack, on function pf0. */
#define V_NAME "hostile"

/* Of one process only: attacks keep their state in static variables. */
struct attack {
	const char *name;
	const char *about;
	unsigned int nofile;     /* descriptors that the attacker needs */
	/* A step that does not wait. True: the attack has come to its full strength. */
	bool (*step)(const struct attack *attack);
	/* What differs between attacks with the same step. */
	bool greets;             /* says the driver's hello, but sends no HELLO */
	bool lets_go;            /* closes each connection at once */
	bool with_producers;     /* as many as it may have, on each connection */
	bool without_frames;     /* sends the descriptors of frames that it never writes */
	uint32_t len;            /* of messages */
};

extern const struct attack attack_silent;
extern const struct attack attack_greets;
extern const struct attack attack_lets_go;
extern const struct attack attack_connections;
extern const struct attack attack_producers;
extern const struct attack attack_frameless;
extern const struct attack attack_small;
extern const struct attack attack_large;
extern const struct attack attack_deaf;
extern const struct attack attack_refused;
extern const struct attack attack_wakes;

/*
 * For t_proc_start(), with the attack as its argument: says 'R' when it has come to its full
 * strength, and ends when it is told anything. The directory is t_dir().
 */
int attack_run(int fd, void *attack);
/* The same as another user (0: the same one), who may only connect. */
int attack_run_as(int fd, const struct attack *attack, uid_t uid);

#endif /* ATTACKS_H */
