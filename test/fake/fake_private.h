/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FAKE_PRIVATE_H
#define FAKE_PRIVATE_H

/*
 * A driver without a system behind it: both ends of a link are objects of
 * this process, frames are queues of private copies, regions are memfds. It
 * shows what the core asks of a driver and nothing else; and it can be told
 * to fail, by device keys:
 *
 *   eagain_every=N  every Nth frame finds no room
 *   drop_at=N       the link breaks when the Nth frame is sent over it
 *   slow_accept=N   N times nobody seems to wait at the listener
 *   short_import=1  memory of the peer cannot be mapped
 *   no_region=1     control regions cannot be made
 *
 * One lock guards all links: two ends may be driven by two threads.
 */

#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>

#include "rte_comch_driver.h"

struct fake_dev {
	uint32_t eagain_every;
	uint32_t drop_at;
	uint32_t slow_accept;
	bool short_import;
	bool no_region;
};

/* Called after each look at a link, which has its answer already. NULL: nobody cares. */
extern void (*fake_looked)(void);

/* Take a server's place away: it finds out. */
void fake_listener_lose(const char *func, const char *name);

/* Fill a device from its keys; in fake_dev.c. */
extern const char *const fake_keys[];
int fake_dev_probe(struct rte_comch_dev *dev, struct rte_kvargs *args);
void fake_dev_remove(struct rte_comch_dev *dev);

#endif /* FAKE_PRIVATE_H */
