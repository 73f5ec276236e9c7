/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

/**
 * @file
 * One run of one test: a ladder of steps that both sides climb together and
 * come down in reverse.
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
 * An error on either side travels as ERROR; both then come down and are ready
 * for the next run. A test within one process takes the steps without messages.
 */

#include <stdatomic.h>

#include <rte_common.h>

#include "base/hist.h"
#include "engine/link.h"
#include "engine/params.h"
#include "floor/floor.h"

struct data_ops;
struct perf_run;
struct sync;

/** Messages that did not arrive as they should. */
struct perf_faults {
	uint64_t lost;        /**< Never arrived. */
	uint64_t disorder;    /**< Arrived too early, too late or twice. */
	uint64_t torn;        /**< Wrong bytes, length or immediate data. */
	uint64_t failed;      /**< Operations that came back with an error. */
};

/** What one side has measured; the follower's travels to the leader. */
struct perf_result {
	uint64_t messages;    /**< In the measured window. */
	uint64_t window_ns;   /**< How long it was. */
	uint64_t copies;      /**< CPU copies of payload, from all statistics. */
	uint64_t copied_msgs; /**< Messages sent in that time. */
	struct perf_faults faults;
};

/** A set of parameters that a test has instead of its base ones. */
struct perf_variant {
	uint32_t mask;  /**< PERF_OPT_* that it sets. */
	uint32_t fixed; /**< ... and that the command line does not change. */
	struct perf_params params;
};

/** Where a test runs. */
enum perf_place {
	PERF_TWO_SIDES, /**< Two processes, or machines. */
	PERF_PROCESS,   /**< One process, with EAL. */
	PERF_BARE,      /**< No EAL: it measures a floor. */
};

/** The steps of a test; 0, or negative after perf_run_fail(). */
struct perf_flow {
	int (*setup)(struct perf_run *run);
	int (*launch)(struct perf_run *run);
	void (*teardown)(struct perf_run *run); /**< Also after a failed setup. */
	bool connects; /**< `connections` clients are connected before setup. */
	bool control;  /**< Control messages are what is measured. */
};

extern const struct perf_flow perf_flow_ctrl;
extern const struct perf_flow perf_flow_data;
extern const struct perf_flow perf_flow_local;
extern const struct perf_flow perf_flow_conn;
extern const struct perf_flow perf_flow_cost;
extern const struct perf_flow perf_flow_floor;

/** The calls under test. */
struct perf_calls {
	const struct link_ops *link;
	const struct data_ops *data;
};

/** A test: a row of the table in tests.c. */
struct perf_test {
	const char *name;
	const char *what;            /**< A sentence for people. */
	bool by_default;             /**< In the default set. */
	enum perf_place place;
	const struct perf_flow *flow;
	const struct perf_calls *calls; /**< By enum perf_api. */
	uint32_t hops;               /**< Latency: trips in a time of the histogram; else 0. */
	uint32_t options;            /**< PERF_OPT_* that make sense. */
	struct perf_params base;
	const struct perf_variant *variants; /**< One run each, in place of base. */
	uint32_t nb_variants;
	/** What sets its rows apart, in a word; NULL: their parameters do. */
	const char *(*label)(const struct perf_params *params);
	enum floor_kind floor;       /**< To compare with: see perf_test_floor(). */
	/**
	 * Refuse what makes no sense; *info* is NULL while no device is open.
	 * @return 0, or -EINVAL with a sentence in error.
	 */
	int (*check)(const struct perf_params *params,
			const struct rte_comch_dev_info *info, char *error);
};

/** Does it measure a floor? */
static inline bool
perf_test_is_floor(const struct perf_test *test)
{
	return test->place == PERF_BARE;
}

/** The floor to compare with. */
static inline enum floor_kind
perf_test_floor(const struct perf_test *test, const struct perf_params *params)
{
	if (perf_test_is_floor(test))
		return (enum floor_kind)params->kind;
	return test->hops == 2 && params->wait == PERF_WAIT_EVENT ? FLOOR_WAKE : test->floor;
}

/** One run of one test, on one side. */
struct perf_run {
	const struct perf_test *test;
	struct perf_params params;
	bool leader;                  /**< The host side. */
	int16_t dev_id;
	struct rte_comch_dev_info info;
	struct sync *sync;
	struct floor_req floor_req;
	struct link links[2];         /**< This side's; in one process host's and DPU's. */
	uint32_t nb_links;
	void *priv;                   /**< The flow's. */
	struct hist *hist;            /**< Latencies of round trips, cycles. */
	struct perf_result result;
	struct perf_result peer;      /**< Leader: of the follower. */
	double floor_value;           /**< Tests that measure a floor. */
	_Atomic bool abort;           /**< Workers: give up. */
	bool error_sent;
	char error[PERF_ERROR_SIZE];  /**< Why it failed; empty if it did not. */
};

/** A signal asked this process to end: unwind. Any thread. */
bool perf_quit(void);
void perf_quit_set(void);

/** Write a sentence to *error*, PERF_ERROR_SIZE bytes. @return -EINVAL */
int perf_refuse(char *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * Note why a run failed; the first reason counts. Main thread.
 *
 * @return
 *   -ECANCELED, for `return perf_run_fail(...)`.
 */
int perf_run_fail(struct perf_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Should this run be given up? Any thread. */
bool perf_run_over(struct perf_run *run);

/** What a launch ends with: 0, or perf_run_fail() if it was interrupted or failed. */
int perf_run_end(struct perf_run *run);

/** Run the polls of all links. @return events */
uint16_t perf_run_poll(struct perf_run *run);

/**
 * Wait for a session message (enum sync_type), running the connections.
 *
 * @return
 *   0, or perf_run_fail() with a sentence that names *what*.
 */
int perf_run_await(struct perf_run *run, int type, void *data, size_t size, const char *what);

/** How long a step may take: longer if memory is got for large messages. */
int perf_run_step_ms(const struct perf_run *run);

/**
 * Look at the session, while something else is waited for; a failure of the
 * other side is one of the run. Main thread.
 */
void perf_run_sync(struct perf_run *run);

/** Does this side's device have what the run asks for? 0 or perf_run_fail(). */
int perf_run_check(struct perf_run *run);

/**
 * Run a test as the leader, after perf_run_check(): floors not included.
 *
 * @return
 *   0; negative: failed, run->error says why; -EPIPE: and so will any other.
 */
int perf_run_lead(struct perf_run *run);

/** Run as the follower, whose parameters came with RUN. @return as above. */
int perf_run_follow(struct perf_run *run);

#endif /* ENGINE_RUN_H */
