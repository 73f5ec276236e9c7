/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMM_CHANNEL_ENDPOINT_102_H
#define COMM_CHANNEL_ENDPOINT_102_H

/*
 * Endpoints of DOCA 1.2 to 1.4, for tests of any generation: their functions have
 * the names of those of later ones, and other arguments.
 */

#include <stddef.h>
#include <stdint.h>

struct doca_comm_channel_ep_t;
struct doca_comm_channel_addr_t;

/* One with messages of up to 4080 bytes, whose calls wait; and one whose do not. */
struct doca_comm_channel_ep_t *endpoint_102_create(uint32_t maxmsgs, uint32_t cookie);
struct doca_comm_channel_ep_t *endpoint_102_create_nonblock(uint32_t maxmsgs, uint32_t cookie);
/* A message of at most *size* bytes: its length. Waits in either case. */
size_t endpoint_102_recv(struct doca_comm_channel_ep_t *ep, void *msg, size_t size,
		struct doca_comm_channel_addr_t **peer);
/* Messages of one number. */
void endpoint_102_send_number(struct doca_comm_channel_ep_t *ep,
		struct doca_comm_channel_addr_t *peer, uint32_t number);
uint32_t endpoint_102_recv_number(struct doca_comm_channel_ep_t *ep,
		struct doca_comm_channel_addr_t **peer);

#endif /* COMM_CHANNEL_ENDPOINT_102_H */
