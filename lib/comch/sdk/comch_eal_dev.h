/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_EAL_DEV_H
#define COMCH_EAL_DEV_H

/*
 * Devices of EAL that do work for this process: of a class, such as DMA devices. A device is
 * found by its name, configured and started once for all users of the process that name it, and
 * stopped after the last one, if its class says how. libcomch_doca has a copy of its own of this
 * file: a device is for one of the two libraries.
 *
 * Its queues are not thread-safe, so a user takes one before it starts work, and gives it back when
 * none is in flight. While all are taken, the others work by their cores.
 */

#include <stddef.h>
#include <stdint.h>

/* More queues than that are not used. */
#define COMCH_EAL_DEV_MAX_QUEUES 32

struct comch_eal_dev;

struct comch_eal_dev_class {
	const char *what;                    /* "DMA device" */
	int (*find)(const char *name);       /* its number, or negative */
	/* The next one from that number on: its name, and its number in *id. NULL: none. */
	const char *(*next)(int *id);
	/*
	 * Configure and start it with *nb_queues queues, or fewer: their number is in *nb_queues.
	 * 0; or a negative errno, and the reason in why if there is more to say.
	 */
	int (*start)(int id, uint16_t *nb_queues, char *why, size_t size);
	/* NULL: it stays as it is for later users. Not all drivers can be configured twice. */
	void (*stop)(int id);
};

/*
 * Open a device. Not thread-safe against a fork, else any thread. 0; or a negative errno, and the
 * reason, and what to do about it, in why.
 */
int comch_eal_dev_open(const struct comch_eal_dev_class *dev_class, const char *name,
		struct comch_eal_dev **dev, char *why, size_t size);
/* No work is in flight. */
void comch_eal_dev_close(struct comch_eal_dev *dev);
/* Its number among EAL's devices of its class. */
int comch_eal_dev_id(const struct comch_eal_dev *dev);
/* Returns a queue for the caller alone, or -EBUSY. */
int comch_eal_dev_take_queue(struct comch_eal_dev *dev);
void comch_eal_dev_give_queue(struct comch_eal_dev *dev, int queue);

#endif /* COMCH_EAL_DEV_H */
