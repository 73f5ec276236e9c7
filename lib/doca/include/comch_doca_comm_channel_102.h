/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_COMM_CHANNEL_102_H
#define COMCH_DOCA_COMM_CHANNEL_102_H

/**
 * @file
 * DOCA Comm Channel as of DOCA 1.2 to 1.4: what doca_comm_channel.h has instead
 * for a program that is built for one of those. Not to be included by itself.
 *
 * An endpoint has all its properties from its creation. It knows no devices: a
 * service listens on each representor of each device, a client uses the first
 * device. Calls wait:
 *
 *     host                                    DPU
 *     doca_comm_channel_ep_create(&attr)      doca_comm_channel_ep_create(&attr)
 *                                             ..._ep_listen()
 *     ..._ep_connect(), waits   ---------->   ..._ep_recvfrom(), waits
 *     ..._ep_sendto()           ---------->   ... and returns the message
 *     ..._ep_recvfrom(), waits  <----------   ..._ep_sendto(peer)
 *     ..._ep_destroy()                        ..._ep_destroy()
 *
 * unless the endpoint was created with DOCA_CC_INIT_FLAG_NONBLOCK or the call is
 * made with DOCA_CC_MSG_FLAG_DONTWAIT: then they say DOCA_ERROR_AGAIN. A call
 * that waits sleeps; a message, room to send and the loss of the peer wake it.
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
	/** No sendto and no recvfrom waits; connect, disconnect and destroy do. */
	DOCA_COMM_CHANNEL_INIT_FLAG_NONBLOCK = 0x1,
};

/** DOCA_COMM_CHANNEL_INIT_FLAG_NONBLOCK */
#define DOCA_CC_INIT_FLAG_NONBLOCK DOCA_COMM_CHANNEL_INIT_FLAG_NONBLOCK

/** Flags of doca_comm_channel_ep_sendto() and doca_comm_channel_ep_recvfrom(). */
enum doca_comm_channel_msg_flags {
	/** This call does not wait. */
	DOCA_CC_MSG_FLAG_DONTWAIT = 0x1,
	/** More is to come; not supported, as on hardware: DOCA_ERROR_NOT_SUPPORTED. */
	DOCA_CC_MSG_FLAG_MORE = 0x2,
};

/** Properties of an endpoint. */
struct doca_comm_channel_init_attr {
	uint32_t cookie;  /**< What epoll_wait() on the event channel says in data.u32. */
	uint32_t flags;   /**< 0 or DOCA_CC_INIT_FLAG_NONBLOCK. */
	uint32_t maxmsgs; /**< Queues, messages: up to 8191; raised to 16 at least. */
	uint32_t msgsize; /**< Longest message, bytes: up to 4080; raised to 256 at least. */
};

/** A file descriptor; never to be read, written or closed. */
typedef int doca_event_channel_t;

/** What is known of a connection. */
struct doca_comm_channel_peer_addr_info {
	uint16_t vport;    /**< Number of the host function. */
	uint32_t msgsize;  /**< Longest message, bytes. */
	uint32_t maxmsgs;  /**< Size of the send queue, messages. */
	uint32_t curmsgs;  /**< Of them on their way. */
	uint64_t rx_msgs;  /**< Messages received. */
	uint64_t tx_msgs;  /**< Messages sent. */
	uint64_t rx_bytes; /**< Bytes received. */
	uint64_t tx_bytes; /**< Bytes sent. */
};

/**
 * Create an endpoint.
 *
 * Reference: DOCA Comm Channel Programming Guide 1.3, sections 3.3, 4.1, 4.2.
 *
 * @param attr
 *   Its properties; copied.
 * @param[out] ep
 *   The endpoint; doca_comm_channel_ep_destroy() ends it.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: an argument is missing, unknown flags, more than
 *     8191 messages.
 *   - DOCA_ERROR_NOT_PERMITTED: messages of more than 4080 bytes.
 *   - DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_init_attr *attr,
		struct doca_comm_channel_ep_t **ep)
	COMCH_DOCA_SYMBOL(doca_comm_channel_ep_create_102);

/**
 * The descriptor that tells of events of an endpoint: readable while a call of
 * doca_comm_channel_ep_recvfrom() would not say AGAIN, and when there is room
 * to send after doca_comm_channel_ep_sendto() said AGAIN. Needs no arming. It is
 * an epoll descriptor: epoll_wait() on it gives the endpoint's cookie in
 * data.u32; poll, select and other epoll descriptors take it as well.
 *
 * @return
 *   The descriptor, the endpoint's; -1: no endpoint, or it neither listens nor
 *   has connected, or the system has no descriptor left.
 */
DOCA_EXPERIMENTAL
doca_event_channel_t doca_comm_channel_ep_event_channel_get(
		struct doca_comm_channel_ep_t *local_ep);

/**
 * What is known of a connection now.
 *
 * @return
 *   - DOCA_SUCCESS: it is established.
 *   - DOCA_ERROR_CONNECTION_RESET: it is lost; *info* says what was.
 *   - DOCA_ERROR_INVALID_VALUE: no peer address or no result.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_info_get(struct doca_comm_channel_addr_t *peer_addr,
		struct doca_comm_channel_peer_addr_info *info);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_COMM_CHANNEL_102_H */
