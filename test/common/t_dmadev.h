/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_DMADEV_H
#define T_DMADEV_H

/*
 * The queue of a DMA device in the hands of a test: a copy is made when the case says so, and fails
 * when it says so.
 */

#include <stdbool.h>
#include <stdint.h>

#define T_DMADEV_QUEUE 40

struct t_dmadev_copy {
	const void *src;
	void *dst;
	uint32_t len;
	bool fails;
};

/* Copies from `taken` to `made` are complete, those up to `given` are not. */
extern struct t_dmadev {
	struct t_dmadev_copy copy[T_DMADEV_QUEUE];
	uint32_t taken, made, submitted, given;
	bool refuses;              /* to start a copy */
	bool instant;              /* a copy is complete when it is submitted */
	void (*on_look)(void);     /* NULL, or: the capacity is asked for */
	void (*on_completed)(void); /* NULL, or: completions are asked for */
} t_dmadev;

/* Replace the functions of the device's queue, which was started. */
void t_dmadev_attach(int16_t id);
/* Make the next n copies that were submitted, all successfully or none. */
void t_dmadev_make(uint32_t n, bool ok);

#endif /* T_DMADEV_H */
