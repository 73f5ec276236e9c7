/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMM_CHANNEL_H
#define DOCA_COMM_CHANNEL_H

/**
 * @file
 * DOCA Comm Channel, of DOCA 1.5 to 2.8: messages between endpoints.
 *
 * An endpoint on the DPU is a service; one on the host is a client, with one
 * connection. A peer address stands for one connection.
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
 * With comch an endpoint advances only within the calls that are made for it. No
 * call of this generation waits: it returns DOCA_ERROR_AGAIN instead.
 *
 * Waiting
 * -------
 *
 * An endpoint has a descriptor, for poll, select and epoll, for each of three kinds
 * of event: a message to receive, room to send, and, of a service, clients that
 * come and go. It becomes readable once for each time that it was armed. What
 * happened between the call that returned AGAIN and the arming makes it readable at
 * once, so no event is lost:
 *
 *     while (ep_recvfrom(...) == DOCA_ERROR_AGAIN) {
 *         ep_event_handle_arm_recv(ep);
 *         poll() on the descriptor
 *     }
 *
 * A call that finds something to do disarms the descriptor and drops its event, so
 * arm last, after AGAIN. One event wakes one sleeper.
 *
 * Threads: any may call for an endpoint and its peer addresses, since each call
 * takes the endpoint's lock. Only destroying it has to wait for all other calls.
 *
 * Generations: a program that is built for DOCA 1.2 to 1.4 gets
 * comch_doca_comm_channel_102.h, where endpoints are created in another way and
 * calls may wait. DOCA 2.9 and later have doca_comch.h only. A service of any of
 * these and a client of any other can exchange control messages.
 *
 * Reference: DOCA Comm Channel Programming Guide (2022 and 2023); errors of
 * each function also from what the interface documents.
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
	DOCA_CC_MSG_FLAG_NONE = 0, /**< The only one. */
};

/** A file descriptor; never to be read, written or closed. */
typedef doca_event_handle_t doca_event_channel_t;

/** @name Capabilities
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, section 3.2.
 * @{
 */

/**
 * The longest name of a service, bytes with its NUL: 120.
 *
 * @return
 *   DOCA_ERROR_INVALID_VALUE: no result.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len);

/**
 * The longest message that an endpoint of the device can be set to, bytes: 4080.
 *
 * @return
 *   DOCA_ERROR_INVALID_VALUE: no device or no result.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_message_size(struct doca_devinfo *devinfo,
		uint32_t *max_message_size);

/** The largest send queue, messages. As doca_comm_channel_get_max_message_size(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_send_queue_size(struct doca_devinfo *devinfo,
		uint32_t *max_send_queue_size);

/** The largest receive queue, messages. As doca_comm_channel_get_max_message_size(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_recv_queue_size(struct doca_devinfo *devinfo,
		uint32_t *max_recv_queue_size);

/**
 * How many clients a service can have; 0 would be: any number.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no device or no result.
 *   - DOCA_ERROR_NOT_SUPPORTED: a device of the host.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo,
		uint32_t *max_num_connections);

/** @} */
/** @name Endpoints: creation and properties
 *
 * A property can be set until the endpoint listens or connects. Sizes may be
 * raised: a message size to 256 bytes, a queue to a power of two of at least
 * 16; the getters say what counts.
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, sections 3.3 and 4.1.
 * @{
 */

/**
 * Create an endpoint.
 *
 * @param[out] ep
 *   The endpoint; doca_comm_channel_ep_destroy() ends it.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no result.
 *   - DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep);

/**
 * The device, as it was set; NULL before.
 *
 * @return
 *   DOCA_ERROR_INVALID_VALUE: no endpoint or no result. So for each getter.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep,
		struct doca_dev **device);

/** The representor, as it was set; NULL before. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep,
		struct doca_dev_rep **device_rep);

/** The longest message, bytes; 4080 unless set. A peer with a smaller one lowers it. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep,
		uint16_t *max_msg_size);

/** Messages on their way to each peer; 64 unless set. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t *send_queue_size);

/** Messages of each peer that wait to be received; 64 unless set. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t *recv_queue_size);

/**
 * Set the device. It has to stay open as long as the endpoint.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint or no device.
 *   - DOCA_ERROR_BAD_STATE: it listens or has connected.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep,
		struct doca_dev *device);

/** Set the representor of a service. As doca_comm_channel_ep_set_device(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep,
		struct doca_dev_rep *device_rep);

/**
 * Set the longest message, bytes.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint; 0, or more than
 *     doca_comm_channel_get_max_message_size().
 *   - DOCA_ERROR_BAD_STATE: it listens or has connected.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep,
		uint16_t max_msg_size);

/** Set the send queue, messages. As doca_comm_channel_ep_set_max_msg_size(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t send_queue_size);

/** Set the receive queue, messages. As doca_comm_channel_ep_set_max_msg_size(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep,
		uint16_t recv_queue_size);

/** @} */
/** @name Events
 *
 * Descriptors belong to the endpoint and live as long. When several kinds are
 * armed, what happens of one may wake a sleeper of another: its call says
 * DOCA_ERROR_AGAIN then, and the arming still counts.
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, sections 3.5, 3.9, 5.5.
 * @{
 */

/**
 * The descriptors that tell of room to send, and of something to receive. Either
 * may be left out (NULL), not both.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint, or neither result.
 *   - DOCA_ERROR_BAD_STATE: it neither listens nor has connected.
 *   - DOCA_ERROR_NOT_FOUND: the system has no descriptor left.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
		doca_event_channel_t *send_event_channel,
		doca_event_channel_t *recv_event_channel);

/**
 * The descriptor that tells of clients that come and go, and of the service's
 * own end. Armed by doca_comm_channel_ep_update_service_state_info().
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint or no result.
 *   - DOCA_ERROR_BAD_STATE: it does not listen yet.
 *   - DOCA_ERROR_NOT_SUPPORTED: a client.
 *   - DOCA_ERROR_NOT_FOUND: the system has no descriptor left.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_service_event_channel(
		struct doca_comm_channel_ep_t *local_ep,
		doca_event_channel_t *service_event_channel);

/**
 * Make the send descriptor readable when a message that is on its way now has
 * been received, or when its peer is lost. Readable at once if there is room
 * and nothing is on its way.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint.
 *   - DOCA_ERROR_BAD_STATE: it neither listens nor has connected.
 *   - DOCA_ERROR_NOT_FOUND: the system has no descriptor left.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep);

/**
 * Make the receive descriptor readable when a call of
 * doca_comm_channel_ep_recvfrom() has something to do: a message, a client that
 * wants to be accepted, or a client's service that is lost. As
 * doca_comm_channel_ep_event_handle_arm_send().
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
 * Become a service, on the DPU. Clients may connect from now on; each waits
 * until doca_comm_channel_ep_recvfrom() has accepted it.
 *
 * @param local_ep
 *   The endpoint; needs a device and a representor (from DOCA 1.5 on; before, it
 *   listens on each representor of each device).
 * @param name
 *   Its name, 1 to 119 bytes: unique on the representor. Copied.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint; no name, an empty or too long one;
 *     the representor is not one of the device.
 *   - DOCA_ERROR_BAD_STATE: no device or no representor was set.
 *   - DOCA_ERROR_NOT_PERMITTED: on the host; it listens or has connected.
 *   - DOCA_ERROR_CONNECTION_ABORTED: the name is taken.
 *   - DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION (the device does not
 *     start), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *local_ep,
		const char *name);

/**
 * Connect to a service, on the host. An endpoint has one connection; after
 * doca_comm_channel_ep_disconnect() it may make another.
 *
 * From DOCA 1.5 on the connection may not be established on return:
 * doca_comm_channel_peer_addr_update_info() says. A service has ten seconds to
 * accept. Before 1.5 the call waits for it.
 *
 * @param local_ep
 *   The endpoint; needs a device (before DOCA 1.5, it takes the first one).
 * @param name
 *   The service's name.
 * @param[out] peer_addr
 *   The connection; NULL on failure.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint, no result, or a name that none can
 *     have.
 *   - DOCA_ERROR_BAD_STATE: no device was set.
 *   - DOCA_ERROR_NOT_PERMITTED: on the DPU; it listens or has connected.
 *   - DOCA_ERROR_CONNECTION_ABORTED: no service listens on that name, or the service
 *     refuses.
 *   - DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep,
		const char *name, struct doca_comm_channel_addr_t **peer_addr);

/**
 * Send a message. Messages to one peer arrive whole, once and in order.
 * SUCCESS says that it is on its way, not that it arrived: see
 * doca_comm_channel_peer_addr_get_send_in_flight_messages().
 *
 * @param local_ep
 *   The endpoint.
 * @param msg
 *   The message; copied.
 * @param len
 *   Bytes.
 * @param flags
 *   DOCA_CC_MSG_FLAG_NONE. Before DOCA 1.5: 0 or DOCA_CC_MSG_FLAG_DONTWAIT.
 * @param peer_addr
 *   To whom.
 * @return
 *   - DOCA_ERROR_AGAIN: the send queue, or the peer's receive queue, is full, or the
 *     connection is not established yet.
 *   - DOCA_ERROR_NOT_CONNECTED: no peer, a peer of another endpoint, or one that
 *     was disconnected.
 *   - DOCA_ERROR_CONNECTION_RESET: the peer is lost; disconnect it.
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint or no message, unknown flags, or
 *     longer than both sides allow.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep,
		const void *msg, size_t len, int flags,
		struct doca_comm_channel_addr_t *peer_addr);

/**
 * Receive a message, the oldest of all clients': if one client's sendto had
 * returned before another's began, its message comes first. A service also
 * accepts the clients that wait for that.
 *
 * @param local_ep
 *   The endpoint.
 * @param[out] msg
 *   Room for the message.
 * @param[in,out] len
 *   The room's size, bytes; then the message's length. A message that does not
 *   fit stays the next one, with its length in *len*.
 * @param flags
 *   As of doca_comm_channel_ep_sendto().
 * @param[out] peer_addr
 *   Whose it is: the same pointer for all messages of a connection.
 * @return
 *   - DOCA_ERROR_AGAIN: there is none; no result was touched.
 *   - DOCA_ERROR_NOT_CONNECTED: it neither listens nor has connected.
 *   - DOCA_ERROR_CONNECTION_RESET: a client's service is lost, and all its
 *     messages were received: *peer_addr* is to be disconnected. A service is
 *     not told here of a client that left. Before DOCA 1.5 also: the service
 *     itself is lost, see doca_comm_channel_ep_update_service_state_info().
 *   - DOCA_ERROR_CONNECTION_ABORTED: a client's service did not accept it; a
 *     service of DOCA 1.2 to 1.4 has refused a second client of a function.
 *   - DOCA_ERROR_INVALID_VALUE: an argument is missing, unknown flags, or the
 *     message does not fit.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg,
		size_t *len, int flags, struct doca_comm_channel_addr_t **peer_addr);

/**
 * End a connection and free its peer address. The peer is not asked: it still
 * gets what was sent, and then its calls for this connection fail. Messages of
 * the peer that were not received yet are dropped. Both sides may connect anew.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint.
 *   - DOCA_ERROR_NOT_CONNECTED: no peer, one of another endpoint, or one that was
 *     disconnected.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *local_ep,
		struct doca_comm_channel_addr_t *peer_addr);

/**
 * End all connections of an endpoint and free it, its peer addresses and its
 * descriptors, at once; a peer that does not read, and whose queue is full, may
 * take a second. (Before DOCA 1.5: first waits up to a second until
 * peers have received what was sent.)
 *
 * @return
 *   DOCA_ERROR_NOT_CONNECTED: no endpoint.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *local_ep);

/** Another spelling of doca_comm_channel_ep_recvfrom(), of the guides. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_rcvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg,
		size_t *len, int flags, struct doca_comm_channel_addr_t **peer_addr);

/** Another spelling of doca_comm_channel_ep_recvfrom(), of the guides. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_rp_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg,
		size_t *len, int flags, struct doca_comm_channel_addr_t **peer_addr);

/**
 * A peer address's user data; 0 unless set.
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, section 3.8.1.
 *
 * @return
 *   DOCA_ERROR_INVALID_VALUE: no peer address or no result.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_user_data_get(
		struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_context);

/** Set a peer address's user data. DOCA_ERROR_INVALID_VALUE: no peer address. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_user_data_set(
		struct doca_comm_channel_addr_t *peer_addr, uint64_t user_context);

/** @} */

#if COMCH_DOCA_GENERATION >= 105

/** @name Peer addresses: state and statistics
 *
 * Statistics are those of the last doca_comm_channel_peer_addr_update_info(),
 * as this side sees them; 0 before the first. Each getter returns
 * DOCA_ERROR_INVALID_VALUE without a peer address or a result.
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, sections 3.8, 5.6, 5.7.
 * @{
 */

/** Another spelling of doca_comm_channel_peer_addr_user_data_get(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_user_data(
		struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_data);

/** Another spelling of doca_comm_channel_peer_addr_user_data_set(). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_set_user_data(
		struct doca_comm_channel_addr_t *peer_addr, uint64_t user_context);

/**
 * Say how a connection is, and take a snapshot of its statistics.
 *
 * @return
 *   - DOCA_SUCCESS: established.
 *   - DOCA_ERROR_CONNECTION_INPROGRESS: the service has not accepted it yet.
 *   - DOCA_ERROR_CONNECTION_ABORTED: it was never established: refused, or not
 *     accepted in time.
 *   - DOCA_ERROR_CONNECTION_RESET: it was established, and is lost.
 *   - DOCA_ERROR_INVALID_VALUE: no peer address, or one that was disconnected.
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
 * Messages sent to the peer that it has not confirmed. Its endpoint confirms
 * what its program has received with the next call, or before the program sleeps.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_in_flight_messages(
		const struct doca_comm_channel_addr_t *peer_addr,
		uint64_t *send_in_flight_messages);

/** @} */
/** @name The state of a service
 *
 * Reference: DOCA Comm Channel Programming Guide 2023, sections 3.9 and 5.8.
 * @{
 */

/**
 * Take a snapshot of a service, for the two functions below, and arm its event
 * descriptor.
 *
 * @return
 *   - DOCA_SUCCESS: the service runs.
 *   - DOCA_ERROR_CONNECTION_RESET: it does not any more, and clients cannot
 *     connect: destroy it.
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint.
 *   - DOCA_ERROR_NOT_SUPPORTED: a client, or nothing yet.
 *   - DOCA_ERROR_NO_MEMORY: the snapshot is the one before.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_update_service_state_info(
		struct doca_comm_channel_ep_t *local_ep);

/**
 * The clients of a service that were connected when the snapshot was taken.
 *
 * @param local_ep
 *   The endpoint.
 * @param[out] peer_addr_array
 *   The clients; the endpoint's, until the next snapshot.
 * @param[out] peer_addr_array_len
 *   How many.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no endpoint or no result.
 *   - DOCA_ERROR_NOT_SUPPORTED: a client, or nothing yet.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_peer_addr_list(
		const struct doca_comm_channel_ep_t *local_ep,
		struct doca_comm_channel_addr_t ***peer_addr_array,
		uint32_t *peer_addr_array_len);

/**
 * How many clients waited for doca_comm_channel_ep_recvfrom() to accept them
 * when the snapshot was taken. As doca_comm_channel_ep_get_peer_addr_list().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_pending_connections(
		const struct doca_comm_channel_ep_t *local_ep, uint32_t *pending_connections);

/** @} */
/** @name Other spellings
 * Of the guides; each is the function of the same name with recv for rcv.
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
