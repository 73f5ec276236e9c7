/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef CONF_H
#define CONF_H

/*
 * The conformance suite: what every driver has to pass, written against the
 * public headers only. A driver's file, inst_DRIVER.c, includes Criterion's header,
 * says
 *
 *     static const struct t_driver driver_fake = { .name = "comch_fake", ... };
 *     COMCH_CONFORMANCE(fake, &driver_fake)
 *
 * and has all cases as Criterion tests, in suites fake_lifecycle, fake_dp...
 * Both ends of each connection are in the test's process, on two polls that
 * the test steps by hand. test/agent runs the same cases with one end in another
 * process, or on another machine.
 *
 * The headers promise no more than an asynchronous transport can give, and the
 * cases test no more: see t_pair.h on waiting. The driver in memory has that timing
 * with the key delay=N; T_KEYS=delay=3 in the environment adds it to each device.
 *
 * A case that needs what some drivers lack says so in the lists below, after its name,
 * and is skipped elsewhere: see t_need.h. All drivers have the same cases.
 */

#include "t_need.h"
#include "t_pair.h"

/* The drivers, with a device of their own: keys are in the environment. */
extern const struct t_driver conf_driver_shm;
extern const struct t_driver conf_driver_shm_dma;
extern const struct t_driver conf_driver_ring;
extern const struct t_driver conf_driver_mlx5;

/* Skip the case, unless the driver meets all of its needs. EAL runs. */
void conf_need(uint64_t needs);
/* Run one case: EAL, the case, and nothing left open; skip it if needs are not met. */
void conf_run(const struct t_driver *driver, void (*fn)(void), uint64_t needs);
/* After the case, also after one that failed. */
void conf_fini(void);

/* RTE_COMCH_CAPA_* of a device on the DPU. No device 0 is open. */
uint64_t conf_capa(void);
/* "comch_shm0" */
const char *conf_dev_name(unsigned int number);
/* Status of the SENT event with this cookie; 1 if there is none. */
int conf_sent_status(const struct t_node *node, uint64_t cookie);
/* The payloads of all MSG events are 0, 1, 2... as u32, in this order. */
void conf_check_counting(const struct t_node *node);
/*
 * DISCONNECTED is there once, and is the last event of the connection itself.
 * Its client follows, and its consumers when the application has drained them.
 */
const struct t_ev *conf_check_last(const struct t_node *node, const struct rte_comch_conn *conn);

/* Devices, representors, names, states. */
#define CONF_LIFECYCLE(X, inst) \
	X(inst, lifecycle, dev_probe_close) \
	X(inst, lifecycle, dev_bad_strings) \
	X(inst, lifecycle, dev_log_lists_keys) \
	X(inst, lifecycle, dev_double_name) \
	X(inst, lifecycle, dev_too_many) \
	X(inst, lifecycle, dev_close_busy) \
	X(inst, lifecycle, dev_info) \
	X(inst, lifecycle, reps) \
	X(inst, lifecycle, rep_isolation) \
	X(inst, lifecycle, names) \
	X(inst, lifecycle, odd_names) \
	X(inst, lifecycle, addrinuse) \
	X(inst, lifecycle, wrong_side) \
	X(inst, lifecycle, server_states) \
	X(inst, lifecycle, client_states) \
	X(inst, lifecycle, client_stop_starting) \
	X(inst, lifecycle, connect_events) \
	X(inst, lifecycle, conn_info) \
	X(inst, lifecycle, peer_ids, T_NEED_PEER_IDS) \
	X(inst, lifecycle, connect_absent) \
	X(inst, lifecycle, connect_waits) \
	X(inst, lifecycle, connect_timeout) \
	X(inst, lifecycle, reconnect) \
	X(inst, lifecycle, server_restart) \
	X(inst, lifecycle, server_lost) \
	X(inst, lifecycle, server_lost_busy) \
	X(inst, lifecycle, lock_removed, T_NEED_DIR) \
	X(inst, lifecycle, texts)

/* Defaults, limits, agreement of both ends. */
#define CONF_LIMITS(X, inst) \
	X(inst, limits, defaults) \
	X(inst, limits, server_conf) \
	X(inst, limits, client_conf) \
	X(inst, limits, greatest) \
	X(inst, limits, smaller_size) \
	X(inst, limits, depths) \
	X(inst, limits, exact) \
	X(inst, limits, max_clients) \
	X(inst, limits, room_of_one_that_left) \
	X(inst, limits, many_clients) \
	X(inst, limits, many_servers) \
	X(inst, limits, producer_conf) \
	X(inst, limits, consumer_conf) \
	X(inst, limits, all_at_once)

/* Control messages; accepting by hand. */
#define CONF_CTRL(X, inst) \
	X(inst, ctrl, sizes) \
	X(inst, ctrl, too_long) \
	X(inst, ctrl, bad_msg) \
	X(inst, ctrl, burst) \
	X(inst, ctrl, sent_is_delivered) \
	X(inst, ctrl, sent_is_returned) \
	X(inst, ctrl, sent_of_one) \
	X(inst, ctrl, silent) \
	X(inst, ctrl, no_sent) \
	X(inst, ctrl, order_both_ways) \
	X(inst, ctrl, not_established) \
	X(inst, ctrl, borrowed_data) \
	X(inst, ctrl, manual_accept) \
	X(inst, ctrl, manual_reject) \
	X(inst, ctrl, manual_several) \
	X(inst, ctrl, manual_given_up) \
	X(inst, ctrl, manual_server_stop) \
	X(inst, ctrl, manual_stop_at_once) \
	X(inst, ctrl, stats)

/* Full queues. */
#define CONF_CREDIT(X, inst) \
	X(inst, credit, full_queue) \
	X(inst, credit, flood_one_deep) \
	X(inst, credit, flood_odd_depth) \
	X(inst, credit, flood_default) \
	X(inst, credit, silent_flood) \
	X(inst, credit, big_messages) \
	X(inst, credit, depth_of_big) \
	X(inst, credit, slow_receiver) \
	X(inst, credit, sender_asleep) \
	X(inst, credit, fair) \
	X(inst, credit, idle_among_busy)

/* Flags of servers and clients. */
#define CONF_FLAGS(X, inst) \
	X(inst, flags, ctrl_only_server) \
	X(inst, flags, ctrl_only_client) \
	X(inst, flags, ctrl_only_both) \
	X(inst, flags, ctrl_only_not) \
	X(inst, flags, manual_credit_server) \
	X(inst, flags, manual_credit_client) \
	X(inst, flags, manual_credit_errors) \
	X(inst, flags, manual_credit_after_end) \
	X(inst, flags, manual_credit_asleep)

/* Order of messages across clients. */
#define CONF_ORDER(X, inst) \
	X(inst, order, capability) \
	X(inst, order, each_client) \
	X(inst, order, by_sending, RTE_COMCH_CAPA_ORDERED) \
	X(inst, order, one_at_a_time, RTE_COMCH_CAPA_ORDERED) \
	X(inst, order, ctrl_only, RTE_COMCH_CAPA_ORDERED) \
	X(inst, order, manual_credit, RTE_COMCH_CAPA_ORDERED) \
	X(inst, order, sizes, RTE_COMCH_CAPA_ORDERED) \
	X(inst, order, leaving, RTE_COMCH_CAPA_ORDERED) \
	X(inst, order, asleep, RTE_COMCH_CAPA_ORDERED) \
	X(inst, order, and_all_the_rest) \
	X(inst, order, token, RTE_COMCH_CAPA_ORDERED) \
	X(inst, order, token_two_servers, RTE_COMCH_CAPA_ORDERED) \
	X(inst, order, token_asleep, RTE_COMCH_CAPA_ORDERED) \
	X(inst, order, token_unordered) \
	X(inst, order, token_unordered_asleep)

/* Runs, descriptors, arming, waking. */
#define CONF_POLL(X, inst) \
	X(inst, poll, create) \
	X(inst, poll, max) \
	X(inst, poll, max_zero_connects) \
	X(inst, poll, fds) \
	X(inst, poll, wake_message) \
	X(inst, poll, message_before_arm) \
	X(inst, poll, wake_once) \
	X(inst, poll, epoll_edge) \
	X(inst, poll, clear) \
	X(inst, poll, wait) \
	X(inst, poll, notify) \
	X(inst, poll, wake_credit) \
	X(inst, poll, credit_lets_sleep) \
	X(inst, poll, wake_connect) \
	X(inst, poll, wake_disconnect) \
	X(inst, poll, wake_consumer) \
	X(inst, poll, wake_data, T_NEED_SENDS_ALONE) \
	X(inst, poll, wake_data_staged) \
	X(inst, poll, wake_gone) \
	X(inst, poll, wake_stopped) \
	X(inst, poll, posts_let_sleep) \
	X(inst, poll, wake_restarted, T_NEED_SENDS_ALONE) \
	X(inst, poll, sleepy_life) \
	X(inst, poll, sleepy_timeout) \
	X(inst, poll, sleepy_data) \
	X(inst, poll, stats) \
	X(inst, poll, handover)

/* Fast path. */
#define CONF_DP(X, inst) \
	X(inst, dp, producer_states) \
	X(inst, dp, consumer_states) \
	X(inst, dp, consumer_never_started) \
	X(inst, dp, ids) \
	X(inst, dp, new_before_message) \
	X(inst, dp, sizes_to_dpu) \
	X(inst, dp, sizes_to_host) \
	X(inst, dp, sizes_staged) \
	X(inst, dp, exact_place) \
	X(inst, dp, wrap) \
	X(inst, dp, wrap_staged) \
	X(inst, dp, nothing_posted) \
	X(inst, dp, full_queues) \
	X(inst, dp, imm) \
	X(inst, dp, sgl) \
	X(inst, dp, silent) \
	X(inst, dp, several_consumers) \
	X(inst, dp, both_ways) \
	X(inst, dp, plain_functions) \
	X(inst, dp, done_is_delivered) \
	X(inst, dp, post_then_message) \
	X(inst, dp, stats)

/* Fast path: operations that can never succeed. */
#define CONF_DPERR(X, inst) \
	X(inst, dperr, longer_than_buffer) \
	X(inst, dperr, longer_than_buffer_staged) \
	X(inst, dperr, over_device_limit) \
	X(inst, dperr, imm_too_long) \
	X(inst, dperr, no_such_consumer) \
	X(inst, dperr, retired_consumer) \
	X(inst, dperr, producer_memory) \
	X(inst, dperr, segments) \
	X(inst, dperr, in_order) \
	X(inst, dperr, flood) \
	X(inst, dperr, post) \
	X(inst, dperr, post_flood) \
	X(inst, dperr, not_running) \
	X(inst, dperr, not_established) \
	X(inst, dperr, not_announced)

/* Memory of all kinds. */
#define CONF_MEM(X, inst) \
	X(inst, mem, alloc) \
	X(inst, mem, register) \
	X(inst, mem, kind_names) \
	X(inst, mem, sealed) \
	X(inst, mem, heap) \
	X(inst, mem, snapshot) \
	X(inst, mem, eal_not_shown) \
	X(inst, mem, eal_shown) \
	X(inst, mem, stream) \
	X(inst, mem, stream_tiny_ring) \
	X(inst, mem, stream_snapshot) \
	X(inst, mem, stream_stalled) \
	X(inst, mem, large) \
	X(inst, mem, large_heap) \
	X(inst, mem, busy) \
	X(inst, mem, renew) \
	X(inst, mem, mr_add) \
	X(inst, mem, mr_add_then_stop) \
	X(inst, mem, mixed) \
	X(inst, mem, trust) \
	X(inst, mem, trust_heap) \
	X(inst, mem, pool_of_64_links)

/* mbufs. */
#define CONF_MBUF(X, inst) \
	X(inst, mbuf, pool) \
	X(inst, mbuf, register) \
	X(inst, mbuf, single) \
	X(inst, mbuf, bursts) \
	X(inst, mbuf, segments) \
	X(inst, mbuf, registered_again) \
	X(inst, mbuf, many_segments) \
	X(inst, mbuf, long_chain) \
	X(inst, mbuf, pool_exhausted) \
	X(inst, mbuf, rx_setup_errors) \
	X(inst, mbuf, tx_errors) \
	X(inst, mbuf, metadata) \
	X(inst, mbuf, reused) \
	X(inst, mbuf, mixed) \
	X(inst, mbuf, send_within_free) \
	X(inst, mbuf, disconnect)

/* Ends: drain before flush. */
#define CONF_DISCONNECT(X, inst) \
	X(inst, disconnect, by_server) \
	X(inst, disconnect, last_look) \
	X(inst, disconnect, last_word) \
	X(inst, disconnect, silent_last_word) \
	X(inst, disconnect, unsent_last_word) \
	X(inst, disconnect, deaf_peer) \
	X(inst, disconnect, by_client) \
	X(inst, disconnect, server_stop) \
	X(inst, disconnect, busy) \
	X(inst, disconnect, drains_messages) \
	X(inst, disconnect, aborted) \
	X(inst, disconnect, sent_of_all) \
	X(inst, disconnect, consumer_stop) \
	X(inst, disconnect, consumer_stop_staged) \
	X(inst, disconnect, consumer_restart) \
	X(inst, disconnect, peer_leaves_consumer) \
	X(inst, disconnect, peer_leaves_consumer_staged) \
	X(inst, disconnect, peer_leaves_producer) \
	X(inst, disconnect, idle_is_complete, T_NEED_SENDS_ALONE) \
	X(inst, disconnect, stream_cut) \
	X(inst, disconnect, producer_stop_large) \
	X(inst, disconnect, producer_stop_large_idle) \
	X(inst, disconnect, producer_stop_large_staged) \
	X(inst, disconnect, post_message_stop) \
	X(inst, disconnect, post_message_stop_used) \
	X(inst, disconnect, post_message_stop_asleep) \
	X(inst, disconnect, both) \
	X(inst, disconnect, no_leak)

#define CONF_ALL(X, inst) \
	CONF_LIFECYCLE(X, inst) \
	CONF_LIMITS(X, inst) \
	CONF_CTRL(X, inst) \
	CONF_CREDIT(X, inst) \
	CONF_FLAGS(X, inst) \
	CONF_ORDER(X, inst) \
	CONF_POLL(X, inst) \
	CONF_DP(X, inst) \
	CONF_DPERR(X, inst) \
	CONF_MEM(X, inst) \
	CONF_MBUF(X, inst) \
	CONF_DISCONNECT(X, inst)

/* A case that is one call, with values of its own. */
#define CONF_CASE(group, name, ...) \
	void conf_##group##_##name(void) \
	{ \
		__VA_ARGS__; \
	}

#define CONF_DECLARE(inst, group, name, ...) void conf_##group##_##name(void);
CONF_ALL(CONF_DECLARE, none)

/* The needs of a case, 0 if there are none. */
#define CONF_NEEDS(...) (__VA_ARGS__ + UINT64_C(0))

#define CONF_TEST(inst, group, name, ...) \
	Test(inst##_##group, name, .fini = conf_fini) \
	{ \
		conf_run(conf_driver_of_##inst, conf_##group##_##name, CONF_NEEDS(__VA_ARGS__)); \
	}

/* All cases on one driver, a pointer to its struct t_driver. */
#define COMCH_CONFORMANCE(inst, driver) \
	static const struct t_driver *const conf_driver_of_##inst = (driver); \
	CONF_ALL(CONF_TEST, inst)

#endif /* CONF_H */
