/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_COMM_CHANNEL_102_H
#define COMCH_DOCA_COMM_CHANNEL_102_H

/**
 * @file
 * DOCA Comm Channel of DOCA 1.2 to 1.4: the part of doca_comm_channel.h that differs
 * for programs built for these releases. Do not include it directly.
 *
 * An endpoint gets all its properties at creation. It has no device: a service listens
 * on each representor of each device, a client uses the first device. Calls block:
 *
 *     host                                    DPU
 *     doca_comm_channel_ep_create(&attr)      doca_comm_channel_ep_create(&attr)
 *                                             ..._ep_listen()
 *     ..._ep_connect(), blocks  ---------->   ..._ep_recvfrom(), blocks
 *     ..._ep_sendto()           ---------->   ... and returns the message
 *     ..._ep_recvfrom(), blocks <----------   ..._ep_sendto(peer)
 *     ..._ep_destroy()                        ..._ep_destroy()
 *
 * With DOCA_CC_INIT_FLAG_NONBLOCK at creation or DOCA_CC_MSG_FLAG_DONTWAIT in a call
 * they return DOCA_ERROR_AGAIN instead. A blocked call sleeps until there is a message
 * or room to send, or the peer is lost.
 *
 * Reference: DOCA Comm Channel Programming Guide 1.3.
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_comm_channel_ep_t;
struct doca_comm_channel_addr_t;

/** Flags of an endpoint. */
enum doca_comm_channel_init_flags {
	/** sendto and recvfrom do not block; connect, disconnect and destroy still do. */
	DOCA_COMM_CHANNEL_INIT_FLAG_NONBLOCK = 0x1,
};

/** DOCA_COMM_CHANNEL_INIT_FLAG_NONBLOCK */
#define DOCA_CC_INIT_FLAG_NONBLOCK DOCA_COMM_CHANNEL_INIT_FLAG_NONBLOCK

/** Flags of doca_comm_channel_ep_sendto() and doca_comm_channel_ep_recvfrom(). */
enum doca_comm_channel_msg_flags {
	/** This call does not block. */
	DOCA_CC_MSG_FLAG_DONTWAIT = 0x1,
	/** More will follow. DOCA_ERROR_NOT_SUPPORTED, as on hardware. */
	DOCA_CC_MSG_FLAG_MORE = 0x2,
};

/** Properties of an endpoint. */
struct doca_comm_channel_init_attr {
	uint32_t cookie;  /**< data.u32 of epoll_wait() on the event channel. */
	uint32_t flags;   /**< 0 or DOCA_CC_INIT_FLAG_NONBLOCK. */
	uint32_t maxmsgs; /**< Queue sizes in messages, up to 8191; raised to 16. */
	uint32_t msgsize; /**< Longest message in bytes, up to 4080; raised to 256. */
};

/** A file descriptor. Only poll it: do not read, write or close it. */
typedef int doca_event_channel_t;

/** Properties and counters of a connection. */
struct doca_comm_channel_peer_addr_info {
	uint16_t vport;    /**< Number of the host function. */
	uint32_t msgsize;  /**< Longest message, in bytes. */
	uint32_t maxmsgs;  /**< Size of the send queue, in messages. */
	uint32_t curmsgs;  /**< Messages in flight. */
	uint64_t rx_msgs;  /**< Messages received. */
	uint64_t tx_msgs;  /**< Messages sent. */
	uint64_t rx_bytes; /**< Bytes received. */
	uint64_t tx_bytes; /**< Bytes sent. */
};

/**
 * Create an endpoint; doca_comm_channel_ep_destroy() frees it.
 *
 * Reference: DOCA Comm Channel Programming Guide 1.3, sections 3.3, 4.1, 4.2.
 *
 * @param attr
 *   Its properties; copied.
 * @param[out] ep
 *   The endpoint.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: NULL, unknown flags, or more than 8191 messages.
 *   - DOCA_ERROR_NOT_PERMITTED: messages of more than 4080 bytes.
 *   - DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_init_attr *attr,
		struct doca_comm_channel_ep_t **ep)
	COMCH_DOCA_SYMBOL(doca_comm_channel_ep_create_102);

/**
 * The event descriptor of an endpoint: readable while doca_comm_channel_ep_recvfrom()
 * would not return AGAIN, and when there is room to send after
 * doca_comm_channel_ep_sendto() has returned AGAIN. It needs no arming. It is an epoll
 * descriptor: epoll_wait() on it returns the endpoint's cookie in data.u32. poll,
 * select and other epoll descriptors work with it, too.
 *
 * @return
 *   The descriptor, which the endpoint owns; -1: NULL, the endpoint neither listens nor
 *   has connected, or no free file descriptor.
 */
DOCA_EXPERIMENTAL
doca_event_channel_t doca_comm_channel_ep_event_channel_get(
		struct doca_comm_channel_ep_t *local_ep);

/**
 * Current properties and counters of a connection.
 *
 * @return
 *   - DOCA_SUCCESS: established.
 *   - DOCA_ERROR_CONNECTION_RESET: lost; *info* has the last values.
 *   - DOCA_ERROR_INVALID_VALUE: NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_info_get(struct doca_comm_channel_addr_t *peer_addr,
		struct doca_comm_channel_peer_addr_info *info);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_COMM_CHANNEL_102_H */
