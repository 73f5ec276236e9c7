/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_T_EAL_DEV_H
#define ACCEL_T_EAL_DEV_H

/*
 * Crypto and compression devices of EAL in the hands of a test: what they have done comes back when
 * the case says so.
 */

#include <stdbool.h>
#include <stdint.h>

extern struct t_eal_dev {
	unsigned int enqueued;  /* operations */
	unsigned int dequeued;
	bool refuses;           /* to begin an operation */
	bool is_slow;           /* nothing comes back, ... */
	unsigned int looks;     /* ... for this many further polls; 0: while is_slow is set */
	bool fails;             /* operations come back with an error, ... */
	bool has_no_room;       /* ... or, of compression devices, with that one */
} t_eal_dev;

/* From now on, of the crypto device of that name, which was started. */
void t_eal_dev_take_crypto(const char *name);

#endif /* ACCEL_T_EAL_DEV_H */
