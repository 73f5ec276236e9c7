/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMM_CHANNEL_H
#define DOCA_COMM_CHANNEL_H

/**
 * @file
 * DOCA Comm Channel, of DOCA 1.5 to 2.8: messages between endpoints.
 *
 * An endpoint on the DPU is a service and may have many connections. An endpoint on the
 * host is a client and has one. A peer address stands for a connection.
 *
 *     host                                    DPU
 *     doca_comm_channel_ep_create()           doca_comm_channel_ep_create()
 *     ..._ep_set_device()                     ..._ep_set_device()
 *                                             ..._ep_set_device_rep()
 *                                             ..._ep_listen()
 *     ..._ep_connect()          ---------->   ..._ep_recvfrom(): AGAIN, and the
 *     ..._peer_addr_update_info(): SUCCESS <- client is accepted
 *     ..._ep_sendto()           ---------->   ..._ep_recvfrom(): SUCCESS, peer
 *     ..._ep_recvfrom()         <----------   ..._ep_sendto(peer)
 *     ..._ep_disconnect(), ..._ep_destroy()   ..._ep_disconnect(), ..._ep_destroy()
 *
 * With comch an endpoint makes progress only during calls on it, and no call blocks: it
 * returns DOCA_ERROR_AGAIN instead.
 *
 * Waiting
 * -------
 *
 * An endpoint has three descriptors for poll, select and epoll: for messages to
 * receive, for room to send, and (services only) for clients that connect or leave. A
 * descriptor becomes readable once each time it is armed. Anything that happened
 * between the call that returned AGAIN and the arming makes it readable at once, so no
 * event is lost:
 *
 *     while (ep_recvfrom(...) == DOCA_ERROR_AGAIN) {
 *         ep_event_handle_arm_recv(ep);
 *         poll() on the descriptor
 *     }
 *
 * A call that finds work disarms the descriptor and drops its event, so arm last, after
 * AGAIN. One event wakes one sleeper.
 *
 * Threads: any thread may use an endpoint and its peer addresses, since each call takes
 * the endpoint's lock. Destroy it only when all other calls have returned.
 *
 * Generations: a program built for DOCA 1.2 to 1.4 gets comch_doca_comm_channel_102.h,
 * where endpoints are created differently and calls may block. DOCA 2.9 and later have
 * doca_comch.h only. Services and clients of all these generations can exchange control
 * messages.
 *
 * Errors: functions return DOCA_ERROR_INVALID_VALUE for a NULL argument unless they say
 * otherwise; each names its other errors.
 *
 * Reference: DOCA Comm Channel Programming Guide (2022 and 2023).
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#if COMCH_DOCA_GENERATION > 208 && !defined(COMCH_DOCA_ANY_GENERATION)
#error "DOCA 2.9 and later have no Comm Channel: use doca_comch.h, or build for an older generation"
#elif COMCH_DOCA_GENERATION < 105
#include <comch_doca_comm_channel_102.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_comm_channel_ep_t;
struct doca_comm_channel_addr_t;

#if COMCH_DOCA_GENERATION >= 105

/** Flags of doca_comm_channel_ep_sendto() and doca_comm_channel_ep_recvfrom(). */
enum doca_comm_channel_msg_flags {
	DOCA_CC_MSG_FLAG_NONE = 0, /**< No other flag is defined. */
};

/** A file descriptor. Only poll it: do not read, write or close it. */
typedef doca_event_handle_t doca_event_channel_t;

/** @name Capabilities
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, section 3.2.
 * @{
 */

/** Longest service name, in bytes with its NUL: 120. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len);

/** Largest value of doca_comm_channel_ep_set_max_msg_size(), in bytes: 4080. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_message_size(struct doca_devinfo *devinfo,
		uint32_t *max_message_size);

/** Largest value of doca_comm_channel_ep_set_send_queue_size(), in messages. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_send_queue_size(struct doca_devinfo *devinfo,
		uint32_t *max_send_queue_size);

/** Largest value of doca_comm_channel_ep_set_recv_queue_size(), in messages. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_recv_queue_size(struct doca_devinfo *devinfo,
		uint32_t *max_recv_queue_size);

/**
 * Maximum number of clients of a service; 0 means unlimited.
 *
 * @return DOCA_ERROR_NOT_SUPPORTED: a device of the host.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo,
		uint32_t *max_num_connections);

/** @} */
/** @name Endpoints: creation and properties
 * Properties can be set until the endpoint listens or connects. Small values are
 * raised: a message size to 256 bytes, a queue size to a power of two of at least 16.
 * The getters return the values in use.
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, sections 3.3 and 4.1.
 * @{
 */

/** Create an endpoint; doca_comm_channel_ep_destroy() frees it. @return DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep);

/** The device that was set; NULL at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep,
		struct doca_dev **device);

/** The representor that was set; NULL at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep,
		struct doca_dev_rep **device_rep);

/** Longest message in bytes; default 4080. A peer with a smaller limit lowers it. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep,
		uint16_t *max_msg_size);

/** Maximum number of messages in flight to each peer; default 64. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t *send_queue_size);

/** Maximum number of unreceived messages per peer; default 64. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t *recv_queue_size);

/**
 * Set the device, which must stay open as long as the endpoint exists.
 *
 * @return DOCA_ERROR_BAD_STATE: the endpoint listens or has connected.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep,
		struct doca_dev *device);

/** Set the representor of a service. As doca_comm_channel_ep_set_device(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep,
		struct doca_dev_rep *device_rep);

/**
 * Set the longest message, in bytes.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: 0, or over doca_comm_channel_get_max_message_size().
 *   - DOCA_ERROR_BAD_STATE: the endpoint listens or has connected.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep,
		uint16_t max_msg_size);

/** Set the send queue size, in messages. As doca_comm_channel_ep_set_max_msg_size(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t send_queue_size);

/** Set the receive queue size, in messages. As doca_comm_channel_ep_set_max_msg_size(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t recv_queue_size);

/** @} */
/** @name Events
 * The endpoint owns the descriptors; they live as long as it does. If several kinds are
 * armed, an event of one kind may wake a sleeper of another. That call then returns
 * DOCA_ERROR_AGAIN, and the descriptor stays armed.
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, sections 3.5, 3.9, 5.5.
 * @{
 */

/**
 * The descriptors for room to send and for something to receive. One of them may be
 * NULL.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the endpoint neither listens nor has connected.
 *   - DOCA_ERROR_NOT_FOUND: no free file descriptor.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
		doca_event_channel_t *send_event_channel,
		doca_event_channel_t *recv_event_channel);

/**
 * The descriptor for clients that connect or leave, and for the end of the service
 * itself. doca_comm_channel_ep_update_service_state_info() arms it.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the endpoint does not listen yet.
 *   - DOCA_ERROR_NOT_SUPPORTED: a client.
 *   - DOCA_ERROR_NOT_FOUND: no free file descriptor.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_service_event_channel(
		struct doca_comm_channel_ep_t *local_ep,
		doca_event_channel_t *service_event_channel);

/**
 * Arm the send descriptor: it becomes readable when a message now in flight has been
 * received or its peer is lost, and at once if there is room and nothing is in flight.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the endpoint neither listens nor has connected.
 *   - DOCA_ERROR_NOT_FOUND: no free file descriptor.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep);

/**
 * Arm the receive descriptor: it becomes readable when doca_comm_channel_ep_recvfrom()
 * would find a message, a client to accept, or the loss of a client's service. Errors
 * as doca_comm_channel_ep_event_handle_arm_send().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *local_ep);

/** @} */

#endif /* COMCH_DOCA_GENERATION >= 105 */

/** @name Connections and messages
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, sections 3.4, 3.6, 3.7,
 * 3.10, 3.11 and 5.3 to 5.10.
 * @{
 */

/**
 * Start a service, on the DPU. Clients may connect from now on; each waits until
 * doca_comm_channel_ep_recvfrom() accepts it.
 *
 * @param local_ep
 *   The endpoint, with a device and a representor. Before DOCA 1.5 it has neither and
 *   listens on each representor of each device.
 * @param name
 *   Service name, 1 to 119 bytes, unique on the representor; copied.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: the name is empty or too long, or the representor
 *     belongs to another device.
 *   - DOCA_ERROR_BAD_STATE: no device or no representor was set.
 *   - DOCA_ERROR_NOT_PERMITTED: on the host; or it listens or has connected.
 *   - DOCA_ERROR_CONNECTION_ABORTED: the name is in use.
 *   - DOCA_ERROR_INITIALIZATION: the device failed to start.
 *   - DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *local_ep,
		const char *name);

/**
 * Connect to a service, on the host. An endpoint has one connection; after
 * doca_comm_channel_ep_disconnect() it may make another.
 *
 * From DOCA 1.5 on the call does not wait for the connection:
 * doca_comm_channel_peer_addr_update_info() reports when it is established. A service
 * has ten seconds to accept. Before 1.5 the call waits.
 *
 * @param local_ep
 *   The endpoint, with a device. Before DOCA 1.5 it uses the first device.
 * @param name
 *   Name of the service.
 * @param[out] peer_addr
 *   The connection; NULL on failure.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: the name is empty or too long.
 *   - DOCA_ERROR_BAD_STATE: no device was set.
 *   - DOCA_ERROR_NOT_PERMITTED: on the DPU; or it listens or has connected.
 *   - DOCA_ERROR_CONNECTION_ABORTED: no service of that name, or it refused.
 *   - DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep,
		const char *name, struct doca_comm_channel_addr_t **peer_addr);

/**
 * Send a message. Messages to one peer arrive whole, once and in order. SUCCESS means
 * queued, not delivered: see doca_comm_channel_peer_addr_get_send_in_flight_messages().
 *
 * @param local_ep
 *   The endpoint.
 * @param msg
 *   The message; copied.
 * @param len
 *   Its length in bytes.
 * @param flags
 *   DOCA_CC_MSG_FLAG_NONE. Before DOCA 1.5: 0 or DOCA_CC_MSG_FLAG_DONTWAIT.
 * @param peer_addr
 *   Destination.
 * @return
 *   - DOCA_ERROR_AGAIN: the send queue or the peer's receive queue is full, or the
 *     connection is not established yet.
 *   - DOCA_ERROR_NOT_CONNECTED: the peer is NULL, disconnected, or of another endpoint.
 *   - DOCA_ERROR_CONNECTION_RESET: the peer is lost; disconnect it.
 *   - DOCA_ERROR_INVALID_VALUE: unknown flags, or longer than both sides allow.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep,
		const void *msg, size_t len, int flags,
		struct doca_comm_channel_addr_t *peer_addr);

/**
 * Receive the oldest message of all peers: if one client's sendto returned before
 * another's began, its message comes first. On a service this also accepts waiting
 * clients.
 *
 * @param local_ep
 *   The endpoint.
 * @param[out] msg
 *   Buffer for the message.
 * @param[in,out] len
 *   Size of the buffer in bytes; on return, length of the message. A message that does
 *   not fit stays queued; *len* is its length.
 * @param flags
 *   As for doca_comm_channel_ep_sendto().
 * @param[out] peer_addr
 *   The sender: the same pointer for all messages of a connection.
 * @return
 *   - DOCA_ERROR_AGAIN: no message; nothing was written.
 *   - DOCA_ERROR_NOT_CONNECTED: the endpoint neither listens nor has connected.
 *   - DOCA_ERROR_CONNECTION_RESET: a client has received everything and its service is
 *     lost: disconnect *peer_addr*. A service gets no such error for a client that
 *     left. Before DOCA 1.5 also: the service itself is lost, see
 *     doca_comm_channel_ep_update_service_state_info().
 *   - DOCA_ERROR_CONNECTION_ABORTED: the service did not accept this client, or (DOCA
 *     1.2 to 1.4) this service refused a second client of a function.
 *   - DOCA_ERROR_INVALID_VALUE: unknown flags, or the message does not fit.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg,
		size_t *len, int flags, struct doca_comm_channel_addr_t **peer_addr);

/**
 * Close a connection and free its peer address. The peer still receives what was sent
 * before; then its calls on this connection fail. Unreceived messages of the peer are
 * dropped. Both sides may connect again.
 *
 * @return DOCA_ERROR_NOT_CONNECTED: as of doca_comm_channel_ep_sendto().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *local_ep,
		struct doca_comm_channel_addr_t *peer_addr);

/**
 * Close all connections, then free the endpoint, its peer addresses and its
 * descriptors. Takes up to a second if a peer does not read and its queue is full.
 * Before DOCA 1.5 it first waits up to a second for peers to receive what was sent.
 *
 * @return DOCA_ERROR_NOT_CONNECTED: NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *local_ep);

/** Alias of doca_comm_channel_ep_recvfrom() that the guides use. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_rcvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg,
		size_t *len, int flags, struct doca_comm_channel_addr_t **peer_addr);

/** Alias of doca_comm_channel_ep_recvfrom() that the guides use. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_rp_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg,
		size_t *len, int flags, struct doca_comm_channel_addr_t **peer_addr);

/** User data of a peer address; 0 at first. Guide of 2023, section 3.8.1. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_user_data_get(
		struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_context);

/** Set the user data of a peer address. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_user_data_set(
		struct doca_comm_channel_addr_t *peer_addr, uint64_t user_context);

/** @} */

#if COMCH_DOCA_GENERATION >= 105

/** @name Peer addresses: state and statistics
 * Statistics are those of the last doca_comm_channel_peer_addr_update_info(), as this
 * side sees them; 0 before the first.
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, sections 3.8, 5.6, 5.7.
 * @{
 */

/** Alias of doca_comm_channel_peer_addr_user_data_get(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_user_data(
		struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_data);

/** Alias of doca_comm_channel_peer_addr_user_data_set(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_set_user_data(
		struct doca_comm_channel_addr_t *peer_addr, uint64_t user_context);

/**
 * Return the state of a connection and take a snapshot of its statistics.
 *
 * @return
 *   - DOCA_SUCCESS: established.
 *   - DOCA_ERROR_CONNECTION_INPROGRESS: the service has not accepted it yet.
 *   - DOCA_ERROR_CONNECTION_ABORTED: never established: refused or timed out.
 *   - DOCA_ERROR_CONNECTION_RESET: established before, and lost.
 *   - DOCA_ERROR_INVALID_VALUE: disconnected.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_update_info(struct doca_comm_channel_addr_t *peer_addr);

/** Messages sent to the peer. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_messages(
		const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_messages);

/** Bytes sent to the peer. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_bytes(
		const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_bytes);

/** Messages received from the peer. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_recv_messages(
		const struct doca_comm_channel_addr_t *peer_addr, uint64_t *recv_messages);

/** Bytes received from the peer. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_recv_bytes(
		const struct doca_comm_channel_addr_t *peer_addr, uint64_t *recv_bytes);

/**
 * Messages that the peer has not acknowledged. Its endpoint acknowledges what its
 * program has received during the next call, or before the program sleeps.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_in_flight_messages(
		const struct doca_comm_channel_addr_t *peer_addr,
		uint64_t *send_in_flight_messages);

/** @} */
/** @name State of a service
 * Reference: DOCA Comm Channel Programming Guide 2023, sections 3.9 and 5.8.
 * @{
 */

/**
 * Take a snapshot of a service for the two functions below, and arm its event
 * descriptor.
 *
 * @return
 *   - DOCA_SUCCESS: the service runs.
 *   - DOCA_ERROR_CONNECTION_RESET: it was lost and clients cannot connect: destroy it.
 *   - DOCA_ERROR_NOT_SUPPORTED: the endpoint does not listen.
 *   - DOCA_ERROR_NO_MEMORY: the previous snapshot is kept.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_update_service_state_info(
		struct doca_comm_channel_ep_t *local_ep);

/**
 * The clients that were connected at the time of the snapshot.
 *
 * @param local_ep
 *   The endpoint.
 * @param[out] peer_addr_array
 *   The clients; the endpoint owns the array, until the next snapshot.
 * @param[out] peer_addr_array_len
 *   Number of clients.
 * @return DOCA_ERROR_NOT_SUPPORTED: the endpoint does not listen.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_peer_addr_list(
		const struct doca_comm_channel_ep_t *local_ep,
		struct doca_comm_channel_addr_t ***peer_addr_array,
		uint32_t *peer_addr_array_len);

/**
 * Number of clients that waited for doca_comm_channel_ep_recvfrom() to accept them at
 * the time of the snapshot. Errors as doca_comm_channel_ep_get_peer_addr_list().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_pending_connections(
		const struct doca_comm_channel_ep_t *local_ep, uint32_t *pending_connections);

/** @} */
/** @name Aliases
 * The guides write rcv in some names; each is the function with recv instead.
 * @{
 */

/** doca_comm_channel_get_max_recv_queue_size() */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_rcv_queue_size(struct doca_devinfo *devinfo,
		uint32_t *max_rcv_queue_size);

/** doca_comm_channel_ep_set_recv_queue_size() */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_rcv_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t rcv_queue_size);

/** doca_comm_channel_ep_get_recv_queue_size() */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_rcv_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t *rcv_queue_size);

/** doca_comm_channel_ep_event_handle_arm_recv() */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_rcv(struct doca_comm_channel_ep_t *local_ep);

/** doca_comm_channel_peer_addr_get_recv_messages() */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_rcv_messages(
		const struct doca_comm_channel_addr_t *peer_addr, uint64_t *rcv_messages);

/** doca_comm_channel_peer_addr_get_recv_bytes() */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_rcv_bytes(
		const struct doca_comm_channel_addr_t *peer_addr, uint64_t *rcv_bytes);

/** @} */

#endif /* COMCH_DOCA_GENERATION >= 105 */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMM_CHANNEL_H */
