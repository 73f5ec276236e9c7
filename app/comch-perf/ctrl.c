/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ctrl.h"
#include "proc.h"
#include "sync.h"
#include "verify.h"

#define SYNC_US  100
#define STUCK_US 5000000

int
ctrl_check(const struct perf_params *p, const struct rte_comch_dev_info *info,
		char *error)
{
	if (p->api == PERF_API_MBUF) {
		snprintf(error, PERF_ERROR_SIZE, "--api mbuf: control messages are no mbufs");
		return -EINVAL;
	}
	if (info == NULL || p->size <= info->max_msg_size)
		return 0;
	snprintf(error, PERF_ERROR_SIZE,
			"--size: a control message of this device has %u bytes at most",
			info->max_msg_size);
	return -EINVAL;
}

static void
on_msg(struct perf_run *run, const void *conn, const void *data,
		uint32_t len)
{
	const struct perf_params *p = &run->params;
	struct ctrl *c = run->priv;
	uint64_t mask = verify_stamp_mask(p->size);
	uint64_t want = verify_stamp(c->peer_sender, c->next++);
	uint64_t stamp;

	c->count++;
	if (unlikely(len != p->size || conn != c->conn)) {
		c->torn++;
		return;
	}
	stamp = verify_stamp_get(data, len);
	if (len > 0)
		(void)((const volatile uint8_t *)data)[len - 1];
	if (unlikely(((stamp ^ want) & mask) != 0)) {
		c->disorder++;
		c->next = mask == UINT64_MAX ? (stamp & VERIFY_SEQ_MASK) + 1 : c->next;
		want = mask == UINT64_MAX ? stamp : want;
	}
	if (p->verify && !verify_check(data, len, RTE_MIN(len, 8u),
			verify_seed(want, 0)))
		c->torn++;
}

int
ctrl_setup(struct perf_run *run)
{
	const struct perf_params *p = &run->params;
	uint64_t stride = RTE_ALIGN_CEIL(p->size + 1, UINT64_C(64));
	struct ctrl *c = calloc(1, sizeof(*c));
	uint32_t i;

	run->priv = c;
	if (c == NULL)
		return perf_run_fail(run, "no memory");
	/* DOCA's are to stay until they are sent, as many as there are tasks. */
	c->nb_msgs = p->api == PERF_API_DOCA ? p->queue + 2 * p->burst : p->burst;
	c->bufs = calloc(c->nb_msgs, stride);
	c->msgs = calloc(c->nb_msgs, sizeof(c->msgs[0]));
	if (c->bufs == NULL || c->msgs == NULL)
		return perf_run_fail(run, "no memory for %u messages", c->nb_msgs);
	for (i = 0; i < c->nb_msgs; i++) {
		c->msgs[i].data = c->bufs + i * stride;
		c->msgs[i].len = (uint32_t)p->size;
		c->msgs[i].flags = RTE_COMCH_MSG_F_SILENT;
	}
	c->conn = run->link.conns[0];
	c->sender = run->leader ? 0 : VERIFY_DPU_SENDER;
	c->peer_sender = run->leader ? VERIFY_DPU_SENDER : 0;
	c->expected = UINT64_MAX;
	run->link.on_msg = on_msg;
	return 0;
}

void
ctrl_teardown(struct perf_run *run)
{
	struct ctrl *c = run->priv;

	if (c == NULL)
		return;
	run->link.on_msg = NULL;
	free(c->msgs);
	free(c->bufs);
	free(c);
	run->priv = NULL;
}

void
ctrl_start(struct perf_run *run)
{
	const struct perf_params *p = &run->params;
	struct ctrl *c = run->priv;
	uint64_t now = clock_tsc();
	uint64_t length = clock_us_to_cycles(p->duration_us);

	window_init(&c->window, p, now);
	c->left = p->iters > 0 ? p->iters : UINT64_MAX;
	/* Go on for longer than the receiver measures, who may start later. */
	c->tx_end = p->iters > 0 ? UINT64_MAX :
			now + 2 * window_warm_cycles(p) + length + length / 20;
	c->progress_tsc = now;
}

static void
prepare(struct perf_run *run, struct ctrl *c, uint32_t n)
{
	const struct perf_params *p = &run->params;
	uint32_t i;

	n = (uint32_t)RTE_MIN(c->left, n);
	if (c->head + n > c->nb_msgs)
		c->head = 0;
	for (i = c->head; i < c->head + n; i++) {
		uint8_t *data = (uint8_t *)(uintptr_t)c->msgs[i].data;
		uint64_t stamp = verify_stamp(c->sender, c->seq++);

		verify_stamp_put(data, p->size, stamp);
		if (p->verify)
			verify_fill(data, p->size, RTE_MIN(p->size, UINT64_C(8)),
					verify_seed(stamp, 0));
	}
	c->ready = n;
	c->left -= n;
}

uint16_t
ctrl_send(struct perf_run *run, uint16_t n)
{
	struct ctrl *c = run->priv;
	uint16_t taken;

	if (c->ready == 0)
		prepare(run, c, n);
	if (c->ready == 0)
		return 0;
	taken = run->link.ops->send(run, c->conn, &c->msgs[c->head],
			(uint16_t)c->ready);
	c->head += taken;
	c->ready -= taken;
	c->sent += taken;
	return taken;
}

/* The session: their count of messages, and ours once all are out. */
static void
tick_sync(struct perf_run *run)
{
	struct ctrl *c = run->priv;

	perf_run_sync(run);
	sync_take(run->sync, SYNC_COUNTS, &c->expected, sizeof(c->expected));
	if (!c->tx_done || c->counts_sent || c->sent == 0)
		return;
	c->counts_sent = true;
	if (sync_send(run->sync, SYNC_COUNTS, &c->sent, sizeof(c->sent)) != 0)
		perf_run_fail(run, "the other side is gone");
}

void
ctrl_tick(struct perf_run *run, uint64_t now)
{
	struct ctrl *c = run->priv;
	bool stuck;

	c->over = perf_run_over(run);
	if (now >= c->next_sync) {
		c->next_sync = now + clock_us_to_cycles(SYNC_US);
		tick_sync(run);
	}
	if (c->sent + c->count != c->progress) {
		c->progress = c->sent + c->count;
		c->progress_tsc = now;
	}
	stuck = now - c->progress_tsc > clock_us_to_cycles(STUCK_US);
	if (now >= c->tx_end)
		c->left = 0;
	if (c->left == 0 && c->ready == 0)
		c->tx_done = true;
	window_update(&c->window, now, c->count);
	if (c->count >= c->expected || (stuck && c->expected != UINT64_MAX))
		c->rx_done = true;
	else if (stuck)
		perf_run_fail(run, "no message has moved for %d s", STUCK_US / 1000000);
}

int
ctrl_finish(struct perf_run *run)
{
	struct perf_result *r = &run->result;
	struct ctrl *c = run->priv;

	tick_sync(run);
	if (run->test->ways == 0) {
		r->messages = window_msgs(&c->window);
		r->window_ns = window_ns(&c->window);
	}
	r->disorder = c->disorder;
	r->torn = c->torn;
	r->failed = run->link.nb_unsent;
	if (c->expected != UINT64_MAX && c->count < c->expected)
		r->lost = c->expected - c->count;
	else if (c->expected != UINT64_MAX)
		r->disorder += c->count - c->expected;
	if (proc_quit())
		return perf_run_fail(run, "interrupted");
	return run->error[0] == '\0' ? 0 : -ECANCELED;
}
