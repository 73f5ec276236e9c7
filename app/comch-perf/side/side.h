/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SIDE_H
#define SIDE_H

/**
 * @file
 * Processes. A supervisor starts the sides, passes signals on, and cleans up
 * after them however they end. A side is a process with an EAL, a device and
 * a session of its own; the host side leads, the DPU side follows.
 */

#include "engine/sync.h"
#include "plan/plan.h"

/** CPUs that may be used. */
struct side_cpus {
	uint16_t ids[2 * PERF_MAX_WORKERS];
	uint32_t nb;
};

/** What a side is made of. */
struct side {
	const struct options *opts;
	const struct plan *plan;
	const struct side_cpus *cpus;
	bool host;
	const char *dir;            /**< Private directory; NULL: none. */
	char prefix[64];            /**< EAL's --file-prefix. */
	/* While it runs: */
	int16_t dev_id;
	struct rte_comch_dev_info info;
	struct sync_hello hello;
	struct sync *sync;          /**< NULL: nothing needs the other side. */
};

static inline const char *
side_name(const struct side *side)
{
	return side->host ? "host" : "dpu";
}

/** proc.c: start the side or sides, wait for them, clean up. @return exit status */
int proc_supervise(const struct options *opts, const struct plan *plan,
		const struct side_cpus *cpus);

/** side.c: run a side from beginning to end. @return the exit status of its process */
int side_run(struct side *side);

/** Fill in what a run on this side begins with. */
void side_run_init(const struct side *side, struct perf_run *run,
		const struct perf_test *test, const struct perf_params *params);

/** lead.c: be the leader, measure all rows of the plan. @return exit status */
int lead_all(struct side *side);

/** @name eal.c: EAL of a side; its arguments are made up as far as they are not given
 * @{
 */
/**
 * Find the CPUs that may be used: those that -l names for both sides, or those
 * of the process, which has only one left once EAL has started.
 *
 * @return 0, or -EINVAL with words on stderr
 */
int eal_cpus_find(const struct options *opts, struct side_cpus *cpus);
/**
 * The CPU of a worker: those of the host on every other one from the first,
 * those of the DPU on the ones in between, so that each faces its peer.
 */
uint16_t eal_worker_cpu(const struct side_cpus *cpus, bool host, uint32_t worker);
/**
 * Make the file prefix of a side, unique to this process; a prefix of the
 * user's gets the side's name behind it when both sides run.
 */
void eal_prefix(struct side *side);
/** Start EAL. @return 0 or a negative errno; EAL has said why. */
int eal_start(const struct side *side);
/** Remove what EAL leaves in the file system. */
void eal_clean(const struct side *side);
/** Remove a directory and all in it. */
void eal_remove_tree(const char *path);
/** @} */

#endif /* SIDE_H */
