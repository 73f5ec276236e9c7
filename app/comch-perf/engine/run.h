/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

/**
 * @file
 * One run of one test: both sides take the same steps together, and undo them in
 * reverse order.
 *
 *     leader (host)                          follower (DPU)
 *     RUN {parameters} --------------------> check
 *                                            link_open()
 *                        <------------------ READY
 *     link_open(), link_up()                 link_up()
 *     flow->setup()                          flow->setup()
 *     GO <---------------------------------> GO
 *     flow->launch()                         flow->launch()
 *                        <------------------ RESULT
 *     flow->teardown()                       flow->teardown()
 *     GO <---------------------------------> GO
 *     link_close()                           link_close()
 *                        <------------------ CLOSED
 *
 * Either side may be a process or, with --same-process, a group of threads; its main thread
 * runs the engine. Either side reports an error to the other as ERROR; both then undo their steps
 * and are ready for the next run. A test within one process takes the steps
 * without messages.
 */

#include <stdatomic.h>

#include <rte_common.h>

#include "base/hist.h"
#include "engine/counters.h"
#include "engine/link.h"
#include "engine/params.h"
#include "floor/floor.h"

struct accel_ops;
struct data_ops;
struct perf_run;
struct sync;
struct sync_hello;

/** Counts of messages that did not arrive intact and in order. */
struct perf_faults {
	uint64_t lost;        /**< Never arrived. */
	uint64_t disorder;    /**< Arrived too early, too late or twice. */
	uint64_t torn;        /**< Wrong bytes, length or immediate data. */
	uint64_t failed;      /**< Operations completed with an error. */
};

/** Result of one side; the follower sends its own to the leader. */
struct perf_result {
	uint64_t messages;    /**< In the measured window. */
	uint64_t window_ns;   /**< Its length. */
	uint64_t copies;      /**< CPU copies of payload, from all statistics. */
	uint64_t copied_msgs; /**< Messages that `copies` covers. */
	struct perf_faults faults;
	struct counters counters; /**< Counted by the driver from launch to result. */
};
static_assert(sizeof(struct perf_result) == 328, "wire");
static_assert(offsetof(struct perf_result, counters) == 64, "wire");
static_assert(offsetof(struct perf_result, faults) == 32, "wire");

/** Parameters that replace some base ones of a test. */
struct perf_variant {
	uint32_t mask;  /**< PERF_OPT_* that it sets. */
	uint32_t fixed; /**< ... and that the command line does not override. */
	struct perf_params params;
	uint32_t own;   /**< Only this one has them: if given, the others are left out. */
};

/** Where a test runs. */
enum perf_place {
	PERF_TWO_SIDES, /**< Two processes, maybe on two machines. */
	PERF_PROCESS,   /**< One process, with EAL. */
	PERF_BARE,      /**< No EAL: it measures a floor. */
};

/** The steps of a test; 0, or negative after perf_run_fail(). */
struct perf_flow {
	int (*setup)(struct perf_run *run);
	int (*launch)(struct perf_run *run);
	void (*teardown)(struct perf_run *run); /**< Also after a failed setup. */
	bool connects; /**< `connections` clients are connected before setup. */
	bool control;  /**< Control messages are under test. */
};

extern const struct perf_flow perf_flow_ctrl;
extern const struct perf_flow perf_flow_data;
extern const struct perf_flow perf_flow_local;
extern const struct perf_flow perf_flow_conn;
extern const struct perf_flow perf_flow_cost;
extern const struct perf_flow perf_flow_floor;
extern const struct perf_flow perf_flow_accel;

/** The API under test. */
struct perf_calls {
	const struct link_ops *link;
	const struct data_ops *data;
	const struct accel_ops *accel;
};

/** A test: a row of the table in tests.c. */
struct perf_test {
	const char *name;
	const char *what;            /**< Description for the help and the table. */
	bool by_default;             /**< In the default set. */
	enum perf_place place;
	const struct perf_flow *flow;
	const struct perf_calls *calls; /**< By enum perf_api. */
	uint32_t hops;               /**< Latency tests: one-way trips per value; else 0. */
	uint32_t options;            /**< PERF_OPT_* that apply. */
	struct perf_params base;
	const struct perf_variant *variants; /**< One run each, instead of base. */
	uint32_t nb_variants;
	/** Name of a row; NULL: its parameters identify it. */
	const char *(*label)(const struct perf_params *params);
	bool has_helpers;            /**< Threads of the library use the CPUs as well. */
	enum floor_kind floor;       /**< Floor to compare with; see perf_test_floor(). */
	/** The same, where it depends on the parameters; NULL: it does not. */
	enum floor_kind (*floor_of)(const struct perf_test *test,
			const struct perf_params *params);
	/**
	 * Check the parameters; *info* is NULL while no device is open.
	 * @return 0, or -EINVAL with a message in error.
	 */
	int (*check)(const struct perf_params *params,
			const struct rte_comch_dev_info *info, char *error);
};

/** Does the test measure a floor? */
static inline bool
perf_test_is_floor(const struct perf_test *test)
{
	return test->place == PERF_BARE;
}

/** The floor to compare with, on a device with these RTE_COMCH_CAPA_*. */
static inline enum floor_kind
perf_test_floor(const struct perf_test *test, const struct perf_params *params, uint64_t capa)
{
	if (perf_test_is_floor(test))
		return (enum floor_kind)params->kind;
	if (test->floor_of != NULL)
		return test->floor_of(test, params);
	if (test->hops == 2 && params->wait == PERF_WAIT_EVENT)
		return FLOOR_WAKE;
	if (params->api == PERF_API_MBUF && (capa & RTE_COMCH_CAPA_HANDOVER) != 0)
		return test->hops == 2 ? FLOOR_RING_LAT : FLOOR_RING;
	return test->floor;
}

/** One run of one test, on one side. */
struct perf_run {
	const struct perf_test *test;
	struct perf_params params;
	bool leader;                  /**< The host side. */
	bool same_process;            /**< The other side is in this process, too. */
	const struct sync_hello *self; /**< This side, with its threads. */
	int16_t dev_id;
	struct rte_comch_dev_info info;
	struct sync *sync;
	struct floor_req floor_req;
	struct link links[2];         /**< This side's, or both within one process. */
	uint32_t nb_links;
	void *priv;                   /**< State of the flow. */
	struct hist *hist;            /**< Latencies of round trips, cycles. */
	struct perf_result result;
	struct perf_result peer;      /**< Leader: result of the follower. */
	double floor_value;           /**< Result of a floor test. */
	_Atomic bool abort;           /**< Workers must stop. */
	bool error_sent;
	char error[PERF_ERROR_SIZE];  /**< Reason of the failure; empty: none. */
};

/** Did a signal ask this process to exit? Any thread. */
bool perf_quit(void);
void perf_quit_set(void);

/** Format a message into *error*, PERF_ERROR_SIZE bytes. @return -EINVAL */
int perf_refuse(char *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * Record why a run failed; only the first reason is kept. Main thread.
 *
 * @return
 *   -ECANCELED, for `return perf_run_fail(...)`.
 */
int perf_run_fail(struct perf_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Must this run stop? Any thread. */
bool perf_run_over(struct perf_run *run);

/** Result of a launch: 0, or -ECANCELED if it was interrupted or failed. */
int perf_run_end(struct perf_run *run);

/** Run the polls of all links. @return number of events */
uint16_t perf_run_poll(struct perf_run *run);

/**
 * Wait for a session message (enum sync_type); runs the polls meanwhile.
 *
 * @return
 *   0, or perf_run_fail() with a message that names *what*.
 */
int perf_run_await(struct perf_run *run, int type, void *data, size_t size, const char *what);

/** Time limit of a step; grows with the buffers to allocate. */
int perf_run_step_ms(const struct perf_run *run);

/** Without progress for so long, missing messages are lost; grows with their size. */
int perf_run_stuck_ms(const struct perf_run *run);

/**
 * Poll the session while waiting for something else; a failure of the peer fails
 * the run. Main thread.
 */
void perf_run_sync(struct perf_run *run);

/** Check the parameters against the device. @return 0 or perf_run_fail() */
int perf_run_check(struct perf_run *run);

/**
 * Run a test as the leader, after perf_run_check(). Does not measure its floor.
 *
 * @return
 *   0; negative: failed, run->error has the reason; -EPIPE: the session is lost.
 */
int perf_run_lead(struct perf_run *run);

/** Run as the follower, with the parameters of RUN. @return as perf_run_lead() */
int perf_run_follow(struct perf_run *run);

#endif /* ENGINE_RUN_H */
