/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMM_CHANNEL_ENDPOINT_102_H
#define COMM_CHANNEL_ENDPOINT_102_H

/*
 * An endpoint of DOCA 1.2 for a test that is built for a later one: its
 * functions have the names of those of later ones, and other arguments.
 */

#include <stddef.h>

struct doca_comm_channel_ep_t;
struct doca_comm_channel_addr_t;

/* One that does not wait. */
struct doca_comm_channel_ep_t *endpoint_102_create(void);
/* Wait for a message of at most *size* bytes: its length. */
size_t endpoint_102_recv(struct doca_comm_channel_ep_t *ep, void *msg, size_t size,
		struct doca_comm_channel_addr_t **peer);

#endif /* COMM_CHANNEL_ENDPOINT_102_H */
