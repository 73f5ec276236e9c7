/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef PERF_TEST_H
#define PERF_TEST_H

/**
 * @file
 * Tests register themselves; perf_test.c runs one as a ladder of steps that
 * both sides climb together and come down in reverse:
 *
 *     leader (host)                          follower (DPU)
 *     floor
 *     RUN {parameters} --------------------> check
 *                                            link_listen()
 *                        <------------------ READY
 *     link_connect()                         link_wait_up()
 *     test->setup()                          test->setup()
 *     GO <---------------------------------> GO
 *     test->launch()                         test->launch()
 *                        <------------------ RESULT
 *     test->teardown()                       test->teardown()
 *     GO <---------------------------------> GO
 *     link_close()                           link_close()
 *                        <------------------ CLOSED
 *     floor
 *
 * An error on either side travels as ERROR; both then come down and are ready
 * for the next run. A test that needs no other side takes the three steps of
 * its own only.
 */

#include <stdatomic.h>

#include <rte_common.h>
#include <rte_comch.h>

#include "floor/floor.h"
#include "base/hist.h"
#include "link.h"
#include "options.h"

struct sync;
struct perf_run;

/** What one side has measured; the follower's travels to the leader. */
struct perf_result {
	uint64_t messages;    /**< In the measured window. */
	uint64_t window_ns;   /**< How long it was. */
	uint64_t copies;      /**< CPU copies of payload, from all statistics. */
	uint64_t copied_msgs; /**< Messages sent in that time. */
	uint64_t lost;        /**< Never arrived. */
	uint64_t disorder;    /**< Arrived too early, too late or twice. */
	uint64_t torn;        /**< Wrong bytes, length or immediate data. */
	uint64_t failed;      /**< Operations that came back with an error. */
};

/** A set of parameters that a test has instead of its base ones. */
struct perf_variant {
	uint32_t mask;  /**< PERF_OPT_* that it sets. */
	uint32_t fixed; /**< ... and that the command line does not change. */
	struct perf_params params;
};

/** A test. */
struct perf_test {
	const char *name;
	const char *what;            /**< A sentence for people. */
	uint32_t order;              /**< Place in the default set and in lists. */
	bool by_default;             /**< In the default set. */
	bool alone;                  /**< Needs no other side. */
	bool library;                /**< ... but the library, and EAL. */
	uint32_t ways;               /**< Latency: what a time in the histogram spans; else 0. */
	bool connects;               /**< The ladder connects `connections` clients. */
	uint32_t options;            /**< PERF_OPT_* that make sense. */
	struct perf_params base;
	const struct perf_variant *variants; /**< One run each, in place of base. */
	uint32_t nb_variants;
	/** What sets its rows apart, in a word; NULL: their parameters do. */
	const char *(*label)(const struct perf_params *params);
	/** The floor to compare with. */
	enum floor_kind (*floor)(const struct perf_params *params);
	/**
	 * Refuse what makes no sense; *info* is NULL while no device is open.
	 * @return 0, or -EINVAL with a sentence in error.
	 */
	int (*check)(const struct perf_params *params,
			const struct rte_comch_dev_info *info, char *error);
	/** Steps of the ladder; 0, or negative after perf_run_fail(). */
	int (*setup)(struct perf_run *run);
	int (*launch)(struct perf_run *run);
	void (*teardown)(struct perf_run *run); /**< Also after a failed setup. */
	struct perf_test *next;
};

/** Add a test; before main(). */
void perf_test_register(struct perf_test *test);

/** Register a test. */
#define PERF_TEST_REGISTER(test) \
	RTE_INIT(perf_test_init_##test) \
	{ \
		perf_test_register(&(test)); \
	}

/** The test behind *test* in order, the first for NULL; or NULL. */
const struct perf_test *perf_test_next(const struct perf_test *test);

/** Does it measure a floor: neither another side, nor the library? */
static inline bool
perf_test_is_floor(const struct perf_test *test)
{
	return test->alone && !test->library;
}

/** Find a test by name, or NULL. */
const struct perf_test *perf_test_find(const char *name);

/** One run of one test, on one side. */
struct perf_run {
	const struct perf_test *test;
	struct perf_params params;
	bool leader;                  /**< The host side. */
	int16_t dev_id;
	uint16_t rep;
	struct rte_comch_dev_info info;
	struct sync *sync;
	struct floor_req floor_req;
	struct link link;
	void *priv;                   /**< The test's. */
	struct hist *hist;            /**< Latencies of round trips, cycles. */
	struct perf_result result;
	struct perf_result peer;      /**< Leader: of the follower. */
	double floor_value;           /**< Tests that measure a floor. */
	_Atomic bool abort;           /**< Workers: give up. */
	bool error_sent;
	bool refused;                 /**< ... by this side's check. */
	char error[PERF_ERROR_SIZE];  /**< Why it failed; empty if it did not. */
};

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

/**
 * Wait for a session message (enum sync_type), running the connections.
 *
 * @return
 *   0, or perf_run_fail() with a sentence that names *what*.
 */
int perf_run_await(struct perf_run *run, int type, void *data, size_t size,
		const char *what);

/** How long a step may take: longer if memory is got for large messages. */
int perf_run_step_ms(const struct perf_run *run);

/**
 * Look at the session, while something else is waited for; a failure of the
 * other side is one of the run. Main thread.
 */
void perf_run_sync(struct perf_run *run);

/** Messages that did not arrive as they should, of both sides. */
uint64_t perf_run_errors(const struct perf_run *run);

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

#endif /* PERF_TEST_H */
