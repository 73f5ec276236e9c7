/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Makes the rows to measure from tests and options, and sums up what they need. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "app_mem.h"
#include "floor/lines.h"
#include "plan/plan.h"

/* EAL memory per MsgQ queue slot, upper bound, bytes. */
#define MSGQ_SLOT_BYTES 256

/* Add a row, unless it exists; *error* has the reason of a refusal. */
static int
add_row(struct plan *plan, const struct perf_test *test,
		const struct perf_params *params, char *error)
{
	struct plan_row *row;
	uint32_t i;

	if (test->check != NULL && test->check(params, NULL, error) != 0)
		return -EINVAL;
	if (params->wait == PERF_WAIT_RECEIVER && (test->hops != 0 || params->bidir))
		return perf_refuse(error, "--wait receiver: only for rate and bandwidth tests in "
				"which one side sends");
	for (i = 0; i < plan->nb_rows; i++) {
		row = &plan->rows[i];
		if (row->test == test && memcmp(&row->params, params, sizeof(*params)) == 0)
			return 0;
	}
	if (plan->nb_rows == plan->capacity) {
		uint32_t capacity = plan->capacity * 2 + 16;

		row = realloc(plan->rows, capacity * sizeof(*row));
		if (row == NULL)
			return perf_refuse(error, "not enough memory for %u rows", capacity);
		plan->rows = row;
		plan->capacity = capacity;
	}
	row = &plan->rows[plan->nb_rows++];
	row->test = test;
	row->params = *params;
	return 0;
}

/* Add a row. Unless the user sets them, limit the queue to FLOOR_WINDOW of payload
 * and the burst to the queue: full queues of large messages would take gigabytes,
 * and minutes to allocate.
 */
static int
add_fitted(struct plan *plan, const struct perf_test *test, const struct options *opts,
		struct perf_params params, char *error)
{
	bool own_queue = (opts->set & PERF_OPT_QUEUE) != 0;
	bool own_burst = (opts->set & PERF_OPT_BURST) != 0;

	if (opts->same_process && test->place == PERF_TWO_SIDES &&
			params.api >= PERF_API_DOCA)
		return perf_refuse(error, "--api %s: supports one side per process only",
				perf_api_names[params.api]);
	/* The mean: their lengths differ if the number of lines has a fraction. */
	if (perf_test_is_floor(test) && params.kind == FLOOR_SLOT)
		params.size = (uint64_t)FLOOR_LINE_SIZE * params.lines / FLOOR_ONE_LINE;
	if ((test->options & PERF_OPT_QUEUE) != 0) {
		if (!own_queue)
			params.queue = RTE_MIN(params.queue,
				floor_window_msgs(RTE_MAX(params.size, params.stride)));
		if (!own_burst)
			params.burst = RTE_MIN(params.burst, params.queue);
		else if (!own_queue)
			params.queue = RTE_MAX(params.queue, params.burst);
	}
	return add_row(plan, test, &params, error);
}

/* Add the rows of one variant: one per size. */
static int
add_sizes(struct plan *plan, const struct perf_test *test,
		const struct options *opts, const struct perf_variant *variant, char *error)
{
	uint32_t fixed = variant != NULL ? variant->fixed : 0;
	struct perf_params params = test->base;
	uint32_t i;
	int rc = 0;

	if (variant != NULL)
		options_copy(&params, &variant->params, variant->mask | fixed);
	options_copy(&params, &opts->params, opts->set & ~(PERF_OPT_SIZE | fixed));
	if ((opts->set & PERF_OPT_ITERS) != 0)
		params.duration_us = 0;
	if (opts->nb_sizes == 0 || (fixed & PERF_OPT_SIZE) != 0)
		return add_fitted(plan, test, opts, params, error);
	for (i = 0; i < opts->nb_sizes && rc == 0; i++) {
		params.size = opts->sizes[i];
		rc = add_fitted(plan, test, opts, params, error);
	}
	return rc;
}

/* Options given that not all variants have. */
static uint32_t
own_options(const struct perf_test *test, uint32_t set)
{
	uint32_t own = 0;
	uint32_t i;

	for (i = 0; i < test->nb_variants; i++)
		own |= test->variants[i].own;
	return own & set;
}

/* Add the rows of all variants that the options allow: --imm, for example, excludes
 * the variant for mbufs. An option that a variant sets replaces all variants; one that only
 * some have leaves out the others.
 */
static int
add_variants(struct plan *plan, const struct perf_test *test,
		const struct options *opts, char *error)
{
	char why[PERF_ERROR_SIZE];
	uint32_t own = own_options(test, opts->set);
	uint32_t before = plan->nb_rows;
	uint32_t nb = 0, nb_refused = 0;
	uint32_t i;

	for (i = 0; i < test->nb_variants; i++) {
		const struct perf_variant *variant = &test->variants[i];
		uint32_t kept = plan->nb_rows;

		if ((variant->mask & opts->set) != 0)
			break;
		if ((own & ~variant->own) != 0)
			continue;
		if (add_sizes(plan, test, opts, variant, why) == 0) {
			nb++;
			continue;
		}
		plan->nb_rows = kept;
		/* The first variant is the plainest: its error applies to all. */
		if (nb_refused++ == 0)
			memcpy(error, why, sizeof(why));
	}
	if (nb > 0)
		return 0;
	plan->nb_rows = before;
	/* All variants refused: error. No variants, or replaced: use the base. */
	return i == test->nb_variants && i > 0 ? -EINVAL :
			add_sizes(plan, test, opts, NULL, error);
}

int
plan_add(struct plan *plan, const struct perf_test *test, const struct options *opts)
{
	uint32_t wrong = opts->set & ~test->options;
	char text[PERF_ERROR_SIZE];

	if (wrong != 0) {
		fprintf(stderr, "comch-perf: unsupported %s for test %s",
				options_names(wrong, text, sizeof(text)), test->name);
		fprintf(stderr, "; supported: %s\n",
				options_names(test->options, text, sizeof(text)));
		return -EINVAL;
	}
	if (add_variants(plan, test, opts, text) == 0)
		return 0;
	fprintf(stderr, "comch-perf: %s: %s\n", test->name, text);
	return -EINVAL;
}

uint32_t
plan_workers(const struct perf_params *params, bool host)
{
	uint32_t both = RTE_MAX(params->producers, params->consumers);
	uint32_t nb = params->bidir ? both :
			host ? params->producers : params->consumers;

	return RTE_MAX(nb, 1u);
}

/* EAL memory for the buffers, mbufs and MsgQs of one row, bytes. */
static uint64_t
eal_bytes(const struct plan_row *row)
{
	const struct perf_params *p = &row->params;
	uint64_t nb = RTE_MAX(p->producers, p->consumers);
	uint64_t queue = p->queue;
	uint64_t bytes = 0;

	if (row->test->place == PERF_PROCESS)
		bytes += (nb + 1) * rte_align64pow2(queue) * MSGQ_SLOT_BYTES;
	if (p->api == PERF_API_MBUF)
		bytes += 3 * nb * queue * (p->size + 512);
	if (p->memory == APP_MEMORY_EAL)
		bytes += nb * 2 * queue * (p->size + 256);
	return bytes;
}

/* Find the maximum of each resource over all rows. */
static void
find_needs(struct plan *plan)
{
	uint64_t bytes = 0;
	uint32_t i;

	plan->place = PERF_BARE;
	for (i = 0; i < plan->nb_rows; i++) {
		const struct plan_row *row = &plan->rows[i];
		const struct perf_params *p = &row->params;

		plan->place = RTE_MIN(plan->place, row->test->place);
		plan->workers[0] = RTE_MAX(plan->workers[0], plan_workers(p, false));
		plan->workers[1] = RTE_MAX(plan->workers[1], plan_workers(p, true));
		plan->shares_eal |= p->memory == APP_MEMORY_EAL;
		bytes = RTE_MAX(bytes, eal_bytes(row));
	}
	plan->eal_mb = (uint32_t)(bytes >> 20) + 64;
}

int
plan_make(struct plan *plan, const struct options *opts)
{
	const struct perf_test *test = NULL;
	uint32_t i;
	int rc = 0;

	*plan = (struct plan){ .workers = { 1, 1 } };
	if (opts->role == PERF_ROLE_DPU) {
		plan->workers[0] = plan_workers(&opts->params, false);
		plan->workers[0] = RTE_MAX(plan->workers[0], opts->params.producers);
		plan->eal_mb = 64;
		return 0; /* place stays PERF_TWO_SIDES */
	}
	if (opts->sweep != NULL)
		rc = sweep_load(plan, opts);
	for (i = 0; i < opts->nb_tests && rc == 0; i++)
		rc = plan_add(plan, tests_find(opts->tests[i]), opts);
	if (opts->plot != NULL && opts->sweep == NULL && opts->nb_tests == 0)
		rc = sweep_pictures(plan, opts);
	plan->by_default = opts->nb_tests == 0 && opts->sweep == NULL && opts->plot == NULL;
	while (plan->by_default && rc == 0 && (test = tests_next(test)) != NULL) {
		if (test->by_default)
			rc = plan_add(plan, test, opts);
	}
	find_needs(plan);
	return rc;
}
