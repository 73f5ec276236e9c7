/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SIDE_H
#define SIDE_H

/**
 * @file
 * Processes. A supervisor starts the sides, forwards signals, and cleans up after
 * them even if they crash. A side is a process with its own EAL, device and
 * session; the host side leads, the DPU side follows. With --same-process, the DPU side is
 * a thread of the host side's process, and uses its EAL.
 */

#include "engine/sync.h"
#include "plan/plan.h"

/** Usable CPUs. */
struct side_cpus {
	uint16_t ids[2 * PERF_MAX_WORKERS];
	uint32_t nb;
};

/** A side. */
struct side {
	const struct options *opts;
	const struct plan *plan;
	const struct side_cpus *cpus;
	bool host;
	struct side *dpu;           /**< The DPU side, in the same process; NULL: elsewhere. */
	bool same_process;          /**< The other side is in this process. */
	const char *dir;            /**< Private directory; NULL: none. */
	char prefix[64];            /**< EAL's --file-prefix. */
	/* While it runs: */
	int16_t dev_id;
	struct rte_comch_dev_info info;
	struct sync_hello hello;
	int status;                 /**< Of a DPU side in the host side's process. */
	struct sync *sync;          /**< NULL: no test needs the other side. */
};

static inline const char *
side_name(const struct side *side)
{
	return side->host ? "host" : "dpu";
}

/** proc.c: start the sides, wait for them, clean up. @return exit status */
int proc_supervise(const struct options *opts, const struct plan *plan,
		const struct side_cpus *cpus);

/** side.c: run a side. @return exit status of its process */
int side_run(struct side *side);

/** Initialise a run on this side. */
void side_run_init(const struct side *side, struct perf_run *run,
		const struct perf_test *test, const struct perf_params *params);

/** lead.c: measure all rows of the plan as the leader. @return exit status */
int lead_all(struct side *side);

/** @name eal.c: EAL of a side, with defaults for the arguments that the user omits
 * @{
 */
/**
 * Find the usable CPUs: those of -l for both sides, or those of the process. Call
 * before EAL starts, which pins the process to one CPU.
 *
 * @return 0, or -EINVAL with the reason on stderr
 */
int eal_cpus_find(const struct options *opts, struct side_cpus *cpus);
/**
 * The CPU of a worker. The CPUs alternate between host and DPU, starting with the
 * host, so that each worker is next to its peer.
 */
uint16_t eal_worker_cpu(const struct side_cpus *cpus, bool host, uint32_t worker);
/**
 * Set the file prefix of a side, unique to this process. With both sides, a prefix
 * of the user gets the side's name appended.
 */
void eal_prefix(struct side *side);
/** Start EAL. @return 0 or a negative errno; EAL logs the reason */
int eal_start(const struct side *side);
/** Remove EAL's runtime directory of this side. */
void eal_clean(const struct side *side);
/** @} */

#endif /* SIDE_H */
