/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The flow of doca-cost, the cost of the calls alone: both sides run in one thread,
 * so nothing waits. It times an idle progress call on the DPU side's engine with
 * one, two and three contexts; a message in bursts, from the send to its
 * completion, receive included; and one message alone, without what the receiver does.
 */

#include <errno.h>

#include "engine/cost.h"
#include "engine/data.h"

/* Bytes per message. */
#define SIZE  64
/* Idle calls per measurement. */
#define CALLS 64

/* Idle tests are bidirectional: the third context of the DPU side is a producer. */
static int
cost_setup(struct perf_run *run)
{
	run->params.size = SIZE;
	run->params.queue = COST_BURST_LEN;
	run->params.bidir = run->params.kind == COST_IDLE;
	return data_setup(run);
}

/* What is timed. Each returns how often it was done, in *cycles*; 0: the run is over. */

static uint32_t
idle_once(struct perf_run *run, uint64_t *cycles)
{
	const struct link *dpu = &run->links[1];
	uint16_t (*poll_run)(struct link_poll *poll) = dpu->ops->poll_run;
	const uint64_t begin = clock_tsc();
	uint32_t i;

	for (i = 0; i < CALLS; i++)
		poll_run(dpu->poll);
	*cycles = clock_tsc() - begin;
	return CALLS;
}

static uint32_t
burst_once(struct perf_run *run, uint64_t *cycles)
{
	struct data *d = run->priv;
	const struct data_ops *ops = d->ops;
	struct data_tx *tx = d->txs[0];
	struct data_rx *rx = d->rxs[0];
	uint64_t sent = tx->sent + COST_BURST_LEN;
	uint64_t received = rx->count + COST_BURST_LEN;
	const uint64_t begin = clock_tsc();

	while (tx->sent < sent || tx->in_flight > 0 || rx->count < received) {
		if (tx->sent < sent)
			ops->send(tx, (uint16_t)(sent - tx->sent));
		ops->recv(rx, COST_BURST_LEN);
		ops->reap(tx);
		if (perf_run_over(run))
			return 0;
	}
	if (rx->unposted > 0)
		ops->repost(rx);
	*cycles = clock_tsc() - begin;
	return COST_BURST_LEN;
}

static uint32_t
send_once(struct perf_run *run, uint64_t *cycles)
{
	struct data *d = run->priv;
	const struct data_ops *ops = d->ops;
	struct data_tx *tx = d->txs[0];
	struct data_rx *rx = d->rxs[0];
	const uint64_t received = rx->count + 1;
	uint64_t begin;

	ops->prepare(tx, 1);
	begin = clock_tsc();
	if (ops->send(tx, 1) == 0)
		return 0;
	while (tx->in_flight > 0 && !perf_run_over(run))
		ops->reap(tx);
	*cycles = clock_tsc() - begin;
	while (rx->count < received && !perf_run_over(run))
		ops->recv(rx, 1);
	if (rx->unposted > 0)
		ops->repost(rx);
	return perf_run_over(run) ? 0 : 1;
}

static int
cost_launch(struct perf_run *run)
{
	static uint32_t (*const kinds[])(struct perf_run *run, uint64_t *cycles) = {
		[COST_IDLE] = idle_once,
		[COST_BURST] = burst_once,
		[COST_SEND] = send_once,
	};
	uint64_t now = clock_tsc(), cycles;
	struct window w;
	uint32_t n;

	/* Deliver all pending events first. */
	while (perf_run_poll(run) != 0)
		;
	hist_reset(run->hist);
	window_init(&w, now, run->params.duration_us, false);
	while (now < w.close_tsc && !perf_run_over(run)) {
		n = kinds[run->params.kind](run, &cycles);
		now = clock_tsc();
		if (n == 0 || now < w.open_tsc)
			continue;
		hist_add(run->hist, cycles / n);
		run->result.messages += n;
	}
	run->result.window_ns = run->params.duration_us * 1000;
	data_collect(run);
	run->result.copied_msgs = 0; /* includes messages before the window */
	return perf_run_end(run);
}

const struct perf_flow perf_flow_cost = {
	.setup = cost_setup, .launch = cost_launch, .teardown = data_teardown,
	.connects = true,
};
