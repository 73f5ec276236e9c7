/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The table of tests: their parameters, variants, checks and API backends. */

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/api.h"
#include "app_mem.h"
#include "engine/accel.h"
#include "engine/cost.h"
#include "floor/lines.h"
#include "plan/plan.h"

/* Limit for the buffers of one consumer, bytes. */
#define MAX_POSTED  (UINT64_C(4) << 30)
/* Largest payload of an mbuf: its 16-bit data room, less the headroom, in whole lines. */
#define MBUF_MAX    65344
/* Largest block of compress-bw. */
#define MAX_COMPRESSED (UINT64_C(16) << 20)

static int
check_mbuf(const struct perf_params *p, char *error)
{
	if (p->imm > 0)
		return perf_refuse(error, "--imm: mbufs carry no immediate data");
	if (p->stride > 0)
		return perf_refuse(error, "--stride: the pool places mbufs");
	if (p->size < 1 || p->size > MBUF_MAX)
		return perf_refuse(error, "--size: an mbuf carries 1 to "
				RTE_STR(MBUF_MAX) " bytes");
	if (p->memory == APP_MEMORY_HEAP)
		return perf_refuse(error, "--memory heap: mbuf pools need shared or eal memory");
	return 0;
}

static int
check_device(const struct perf_params *p, const struct rte_comch_dev_info *info, char *error)
{
	if ((info->capa & RTE_COMCH_CAPA_DATA) == 0)
		return perf_refuse(error, "the device has no fast path");
	if (p->imm > info->max_imm_len)
		return perf_refuse(error, "--imm: %u exceeds the device limit of %u", p->imm,
				info->max_imm_len);
	if (p->size > info->max_buf_len)
		return perf_refuse(error, "--size: %llu exceeds the device limit of %llu",
				(unsigned long long)p->size,
				(unsigned long long)info->max_buf_len);
	if (p->queue > info->max_dp_queue)
		return perf_refuse(error, "--queue: %u exceeds the device limit of %u", p->queue,
				info->max_dp_queue);
	if (p->producers > info->max_producers)
		return perf_refuse(error, "--producers: %u exceeds the device limit of %u",
				p->producers, info->max_producers);
	if (p->consumers > info->max_consumers)
		return perf_refuse(error, "--consumers: %u exceeds the device limit of %u",
				p->consumers, info->max_consumers);
	return 0;
}

static int
data_check(const struct perf_params *p, const struct rte_comch_dev_info *info, char *error)
{
	uint64_t stamp_len = p->size > 0 ? p->size : p->imm;

	if (p->api == PERF_API_MBUF && check_mbuf(p, error) != 0)
		return -EINVAL;
	if (p->api == PERF_API_COMM_CHANNEL)
		return perf_refuse(error, "--api comm_channel: supports control messages only");
	if (p->api == PERF_API_DOCA && p->size == 0 && p->imm == 0)
		return perf_refuse(error, "--api doca: a message needs at least one byte of --size "
				"or --imm");
	if (p->connections > 1 && p->producers != p->consumers)
		return perf_refuse(error, "--connections: with more than one, --producers and "
				"--consumers must be equal: each pair has one connection");
	if (p->verify && p->producers > p->consumers && stamp_len < sizeof(uint64_t))
		return perf_refuse(error, "--verify: with more producers than consumers, the "
				"payload (or else the immediate data) needs at least 8 bytes");
	if (p->stride > 0 && p->stride < p->size)
		return perf_refuse(error, "--stride: %llu is less than --size: buffers overlap",
				(unsigned long long)p->stride);
	if (p->burst > p->queue)
		return perf_refuse(error, "--burst: %u exceeds --queue %u", p->burst, p->queue);
	if ((uint64_t)p->queue * data_stride(p) > MAX_POSTED)
		return perf_refuse(error, "--queue times %s exceeds 4 GiB",
				p->stride > 0 ? "--stride" : "--size");
	return info == NULL ? 0 : check_device(p, info, error);
}

static int
data_check_bw(const struct perf_params *p, const struct rte_comch_dev_info *info, char *error)
{
	if (p->size == 0)
		return perf_refuse(error, "--size: bandwidth tests need at least one byte");
	return data_check(p, info, error);
}

static int
ctrl_check(const struct perf_params *p, const struct rte_comch_dev_info *info, char *error)
{
	if (p->api == PERF_API_MBUF)
		return perf_refuse(error, "--api mbuf: unsupported for control messages");
	return info == NULL || p->size <= info->max_msg_size ? 0 :
		perf_refuse(error, "--size: %llu exceeds the control message limit of the device, "
				"%u", (unsigned long long)p->size, info->max_msg_size);
}

/* Containers and Yama may refuse to let a process read its parent, as the floor does. */
static bool
has_vm_readv(void)
{
	char from = 1, to = 0;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };
	const pid_t self = getpid();
	int status = -1;
	pid_t pid;

	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	pid = fork();
	if (pid == 0)
		_exit(process_vm_readv(self, &local, 1, &remote, 1, 0) == 1 ? 0 : 1);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	return status == 0;
}

static int
floor_check(const struct perf_params *p, const struct rte_comch_dev_info *info, char *error)
{
	const enum floor_kind kind = (enum floor_kind)p->kind;

	(void)info;
	if (floor_has_size(kind) && p->size == 0)
		return perf_refuse(error, "--size: %s needs at least one byte", floor_name(kind));
	return kind != FLOOR_VM_READV || has_vm_readv() ? 0 :
		perf_refuse(error, "floor vm_readv: the system call process_vm_readv fails");
}

#ifdef COMCH_APP_DOCA
/* One of these kinds of work, which follow each other. */
static int
accel_check(const struct perf_params *p, enum accel_work first, enum accel_work last, char *error)
{
	if (p->api != PERF_API_DOCA)
		return perf_refuse(error, "--api %s: unsupported for accelerators",
				perf_api_names[p->api]);
	if (p->kind < first || p->kind > last)
		return perf_refuse(error, "--work %s: this test supports %s to %s",
				accel_work_names[p->kind], accel_work_names[first],
				accel_work_names[last]);
	if (p->size < 1 || p->size > PERF_MAX_SIZE)
		return perf_refuse(error, "--size: a task works on 1 byte to 1 GiB");
	if (p->queue < 1 || p->queue > MAX_POSTED / data_stride(p))
		return perf_refuse(error, "--queue times --size exceeds 4 GiB");
	return 0;
}

static int
dma_check(const struct perf_params *p, const struct rte_comch_dev_info *info, char *error)
{
	(void)info;
	return accel_check(p, ACCEL_COPY, ACCEL_COPY_TO, error);
}

static int
sha_check(const struct perf_params *p, const struct rte_comch_dev_info *info, char *error)
{
	(void)info;
	return accel_check(p, ACCEL_SHA1, ACCEL_SHA512, error);
}

static int
compress_check(const struct perf_params *p, const struct rte_comch_dev_info *info, char *error)
{
	(void)info;
	/* deflate takes 0.07 s for a MiB, and a row some rounds of its floor and its queue. */
	if (p->size > MAX_COMPRESSED)
		return perf_refuse(error, "--size: this test supports up to 16 MiB");
	return accel_check(p, ACCEL_DEFLATE, ACCEL_LZ4, error);
}

static const char *
work_label(const struct perf_params *p)
{
	return accel_work_names[p->kind];
}
#endif

static const char *
floor_label(const struct perf_params *p)
{
	return floor_name((enum floor_kind)p->kind);
}

/* The API backends of a test, by enum perf_api. */

static const struct perf_calls ctrl_calls[] = {
	[PERF_API_DESC] = { &link_ops_native, &data_ops_ctrl },
#ifdef COMCH_APP_DOCA
	[PERF_API_DOCA] = { &link_ops_doca, &data_ops_ctrl },
	[PERF_API_COMM_CHANNEL] = { &link_ops_cchan, &data_ops_ctrl },
#endif
};

static const struct perf_calls data_calls[] = {
	[PERF_API_DESC] = { &link_ops_native, &data_ops_desc },
	[PERF_API_MBUF] = { &link_ops_native, &data_ops_mbuf },
#ifdef COMCH_APP_DOCA
	[PERF_API_DOCA] = { &link_ops_doca, &data_ops_doca },
#endif
};

#ifdef COMCH_APP_DOCA
static const struct perf_calls accel_calls[] = {
	[PERF_API_DOCA] = { .link = &link_ops_doca, .accel = &accel_ops_doca },
};
#endif

static const struct perf_calls msgq_calls[] = {
	[PERF_API_DESC] = { &link_ops_native, &data_ops_msgq },
};

static const struct perf_calls msgq_copy_calls[] = {
	[PERF_API_DESC] = { &link_ops_native, &data_ops_msgq_copy },
};

/* Variants: rows of a test that differ in some parameters. */

static const struct perf_variant floor_variants[] = {
	{ PERF_OPT_KIND, PERF_OPT_SIZE, { .kind = FLOOR_LINE, .size = 64 } },
	{ PERF_OPT_KIND, PERF_OPT_SIZE, { .kind = FLOOR_SLOT, .size = 64 }, PERF_OPT_LINES },
	{ PERF_OPT_KIND, 0, { .kind = FLOOR_MEMCPY } },
	{ PERF_OPT_KIND, 0, { .kind = FLOOR_COPIES } },
	{ PERF_OPT_KIND, 0, { .kind = FLOOR_VM_READV } },
	{ PERF_OPT_KIND, PERF_OPT_SIZE, { .kind = FLOOR_WAKE, .size = 0 } },
	{ PERF_OPT_KIND, PERF_OPT_SIZE, { .kind = FLOOR_CONNECT, .size = 0 } },
	{ PERF_OPT_KIND, PERF_OPT_SIZE, { .kind = FLOOR_CORE, .size = 0 } },
	{ PERF_OPT_KIND | PERF_OPT_BURST | PERF_OPT_QUEUE, PERF_OPT_SIZE,
		{ .kind = FLOOR_RING, .size = 64, .burst = 32, .queue = 1024 } },
	{ PERF_OPT_KIND | PERF_OPT_QUEUE, PERF_OPT_SIZE,
		{ .kind = FLOOR_RING_LAT, .size = 64, .queue = 64 } },
};

static const struct perf_variant data_lat_variants[] = {
	{ PERF_OPT_SIZE | PERF_OPT_IMM, 0, { .size = 0, .imm = 32 } },
	{ PERF_OPT_SIZE | PERF_OPT_IMM, 0, { .size = 64, .imm = 0 } },
};

static const struct perf_variant data_rate_variants[] = {
	{ PERF_OPT_API, 0, { .api = PERF_API_DESC } },
	{ PERF_OPT_API, 0, { .api = PERF_API_MBUF } },
#ifdef COMCH_APP_DOCA
	{ PERF_OPT_API, 0, { .api = PERF_API_DOCA } },
#endif
};

static const struct perf_variant data_bw_variants[] = {
	{ PERF_OPT_MEMORY, 0, { .memory = APP_MEMORY_SHARED } },
	{ PERF_OPT_MEMORY, 0, { .memory = APP_MEMORY_HEAP } },
};

static const struct perf_variant msgq_rate_variants[] = {
	{ PERF_OPT_BURST, 0, { .burst = 32 } },
	{ PERF_OPT_BURST, 0, { .burst = 1 } },
};

static const struct perf_variant msgq_copy_variants[] = {
	{ PERF_OPT_SIZE, 0, { .size = 64 << 10 } },
	{ PERF_OPT_SIZE, 0, { .size = 1 << 20 } },
};

#ifdef COMCH_APP_DOCA
static const char *
cost_label(const struct perf_params *p)
{
	if (p->kind != COST_IDLE)
		return p->kind == COST_BURST ? "task" : "send task alone";
	return p->producers > 0 ? "idle server+consumer+producer" :
		p->consumers > 0 ? "idle server+consumer" : "idle server";
}

/* Rows that differ in what a task does. */
#define WORK(k) { PERF_OPT_WORK, 0, { .kind = (k) } }
static const struct perf_variant dma_variants[] = {
	WORK(ACCEL_COPY), WORK(ACCEL_COPY_FROM), WORK(ACCEL_COPY_TO),
};
static const struct perf_variant sha_variants[] = {
	WORK(ACCEL_SHA1), WORK(ACCEL_SHA256), WORK(ACCEL_SHA512),
};
static const struct perf_variant compress_variants[] = {
	WORK(ACCEL_DEFLATE), WORK(ACCEL_INFLATE), WORK(ACCEL_LZ4),
};

#define COST_FIXED (PERF_OPT_KIND | PERF_OPT_PRODUCERS | PERF_OPT_CONSUMERS | PERF_OPT_BURST | \
		PERF_OPT_API)
static const struct perf_variant cost_variants[] = {
	{ 0, COST_FIXED, { .api = PERF_API_DOCA, .burst = 1 } },
	{ 0, COST_FIXED, { .api = PERF_API_DOCA, .burst = 1, .consumers = 1 } },
	{ 0, COST_FIXED, { .api = PERF_API_DOCA, .burst = 1, .consumers = 1, .producers = 1 } },
	{ 0, COST_FIXED, { .api = PERF_API_DOCA, .burst = COST_BURST_LEN, .consumers = 1,
			.producers = 1, .kind = COST_BURST } },
	{ 0, COST_FIXED, { .api = PERF_API_DESC, .burst = COST_BURST_LEN, .consumers = 1,
			.producers = 1, .kind = COST_BURST } },
	{ 0, COST_FIXED, { .api = PERF_API_DOCA, .burst = 1, .consumers = 1, .producers = 1,
			.kind = COST_SEND } },
};
#endif

#define LENGTH    (PERF_OPT_ITERS | PERF_OPT_DURATION)
#define VARIANTS(v) .variants = v, .nb_variants = RTE_DIM(v)
#define PAIR      .producers = 1, .consumers = 1, .connections = 1
/* Accelerators, which need no connection. */
#define PAIR_ALONE .producers = 1, .consumers = 1
#define ACCEL .flow = &perf_flow_accel, .calls = accel_calls, .label = work_label, \
		.floor_of = accel_floor
#define ACCEL_OPTIONS (PERF_OPT_SIZE | LENGTH | PERF_OPT_VERIFY | PERF_OPT_WORK | PERF_OPT_API)
/* Options of the fast path tests. */
#define DATA_LAT  (PERF_OPT_SIZE | LENGTH | PERF_OPT_QUEUE | PERF_OPT_CONNECTIONS | \
		PERF_OPT_IMM | PERF_OPT_API | PERF_OPT_MEMORY | PERF_OPT_WAIT | \
		PERF_OPT_VERIFY | PERF_OPT_STRIDE)
#define DATA_RATE (DATA_LAT | PERF_OPT_BURST | PERF_OPT_PRODUCERS | PERF_OPT_CONSUMERS | \
		PERF_OPT_BIDIR)

static const struct perf_test tests[] = {
	{
		.name = "floor",
		.what = "two processes that share memory, or two lcores, without this library",
		.by_default = true, .place = PERF_BARE, .flow = &perf_flow_floor,
		.options = PERF_OPT_SIZE | PERF_OPT_DURATION | PERF_OPT_LINES,
		.base = { .size = 1 << 20, .duration_us = 150000, .burst = 1,
			.lines = FLOOR_ONE_LINE, PAIR },
		VARIANTS(floor_variants),
		.label = floor_label, .check = floor_check,
	}, {
		.name = "ctrl-lat",
		.what = "control message ping-pong; one way is half a round trip",
		.by_default = true, .flow = &perf_flow_ctrl, .calls = ctrl_calls, .hops = 2,
		.options = PERF_OPT_SIZE | LENGTH | PERF_OPT_QUEUE | PERF_OPT_CONNECTIONS |
			PERF_OPT_WAIT | PERF_OPT_VERIFY | PERF_OPT_HISTOGRAM | PERF_OPT_API,
		.base = { .size = 64, .duration_us = 1000000, .burst = 1, .queue = 64, PAIR },
		.floor = FLOOR_LINE, .check = ctrl_check,
	}, {
		.name = "ctrl-rate",
		.what = "control messages streamed from the host to the DPU",
		.by_default = true, .flow = &perf_flow_ctrl, .calls = ctrl_calls,
		.options = PERF_OPT_SIZE | LENGTH | PERF_OPT_BURST | PERF_OPT_QUEUE |
			PERF_OPT_CONNECTIONS | PERF_OPT_WAIT | PERF_OPT_BIDIR |
			PERF_OPT_VERIFY | PERF_OPT_API,
		.base = { .size = 64, .duration_us = 1000000, .burst = 32, .queue = 1024, PAIR },
		.floor = FLOOR_SLOT, .check = ctrl_check,
	}, {
		.name = "data-lat",
		.what = "fast-path ping-pong; one way is half a round trip",
		.by_default = true, .flow = &perf_flow_data, .calls = data_calls, .hops = 2,
		.options = DATA_LAT | PERF_OPT_HISTOGRAM,
		.base = { .size = 64, .duration_us = 1000000, .burst = 1, .queue = 64, PAIR },
		VARIANTS(data_lat_variants),
		.floor = FLOOR_LINE, .check = data_check,
	}, {
		.name = "data-rate",
		.what = "small fast-path messages from producers to consumers",
		.by_default = true, .flow = &perf_flow_data, .calls = data_calls,
		.options = DATA_RATE,
		.base = { .size = 64, .duration_us = 1000000, .burst = 32, .queue = 1024, PAIR },
		VARIANTS(data_rate_variants),
		.floor = FLOOR_SLOT, .check = data_check,
	}, {
		.name = "data-bw",
		.what = "large fast-path messages from producers to consumers",
		.by_default = true, .flow = &perf_flow_data, .calls = data_calls,
		.options = DATA_RATE,
		.base = { .size = 1 << 20, .duration_us = 1000000, .burst = 1, .queue = 1024,
			PAIR },
		VARIANTS(data_bw_variants),
		.floor = FLOOR_MEMCPY, .check = data_check_bw,
	}, {
		.name = "conn-rate",
		.what = "clients that connect and disconnect; times the connecting",
		.flow = &perf_flow_conn, .calls = ctrl_calls, .hops = 1,
		.options = LENGTH | PERF_OPT_CONNECTIONS | PERF_OPT_WAIT | PERF_OPT_HISTOGRAM,
		.base = { .duration_us = 1000000, .burst = 1, PAIR },
		.has_helpers = true, .floor = FLOOR_CONNECT,
	}, {
		.name = "msgq-lat",
		.what = "ping-pong of two threads over two MsgQs; one way is half a round trip",
		.by_default = true, .place = PERF_PROCESS, .flow = &perf_flow_local,
		.calls = msgq_calls, .hops = 2,
		.options = LENGTH | PERF_OPT_QUEUE | PERF_OPT_IMM | PERF_OPT_WAIT |
			PERF_OPT_VERIFY | PERF_OPT_HISTOGRAM,
		.base = { .imm = RTE_COMCH_IMM_SIZE, .duration_us = 500000, .burst = 1,
			.queue = 64, PAIR },
		.floor = FLOOR_LINE, .check = data_check,
	}, {
		.name = "msgq-rate",
		.what = "MsgQ messages from one or more threads to another",
		.by_default = true, .place = PERF_PROCESS, .flow = &perf_flow_local,
		.calls = msgq_calls,
		.options = LENGTH | PERF_OPT_BURST | PERF_OPT_QUEUE | PERF_OPT_PRODUCERS |
			PERF_OPT_IMM | PERF_OPT_WAIT | PERF_OPT_VERIFY,
		.base = { .imm = RTE_COMCH_IMM_SIZE, .duration_us = 500000, .burst = 32,
			.queue = 1024, PAIR },
		VARIANTS(msgq_rate_variants),
		.floor = FLOOR_SLOT, .check = data_check,
	}, {
		.name = "msgq-copy",
		.what = "blocks copied into a window of 16 MiB, each followed by a MsgQ message",
		.by_default = true, .place = PERF_PROCESS, .flow = &perf_flow_local,
		.calls = msgq_copy_calls,
		.options = PERF_OPT_SIZE | LENGTH | PERF_OPT_BURST | PERF_OPT_QUEUE |
			PERF_OPT_IMM | PERF_OPT_MEMORY | PERF_OPT_WAIT | PERF_OPT_VERIFY,
		.base = { .size = 1 << 20, .duration_us = 500000, .burst = 1, .queue = 1024,
			PAIR },
		VARIANTS(msgq_copy_variants),
		.floor = FLOOR_MEMCPY, .check = data_check_bw,
	},
#ifdef COMCH_APP_DOCA
	{
		.name = "doca-cost",
		.what = "one thread: an idle progress call; a message of 64 B, sent and received "
			"in bursts of " RTE_STR(COST_BURST_LEN) ", or its send task alone",
		.place = PERF_PROCESS, .flow = &perf_flow_cost, .calls = data_calls, .hops = 1,
		.options = PERF_OPT_DURATION | PERF_OPT_HISTOGRAM,
		.base = { .duration_us = 300000, .connections = 1 },
		VARIANTS(cost_variants),
		.label = cost_label, .floor = FLOOR_LINE,
	}, {
		.name = "dma-lat",
		.what = "copies by DOCA DMA, one at a time: from the submit to the callback",
		ACCEL, .place = PERF_TWO_SIDES, .hops = 1,
		.options = ACCEL_OPTIONS | PERF_OPT_HISTOGRAM,
		.base = { .api = PERF_API_DOCA, .size = 64, .duration_us = 500000, .burst = 1,
			.queue = 1, PAIR_ALONE },
		VARIANTS(dma_variants), .check = dma_check,
	}, {
		.name = "dma-bw",
		.what = "copies by DOCA DMA, as many at a time as the queue has",
		ACCEL, .place = PERF_TWO_SIDES,
		.options = ACCEL_OPTIONS | PERF_OPT_QUEUE,
		.base = { .api = PERF_API_DOCA, .size = 1 << 20, .duration_us = 500000,
			.burst = 1, .queue = 1024, PAIR_ALONE },
		VARIANTS(dma_variants), .check = dma_check,
	}, {
		.name = "sha-bw",
		.what = "digests by DOCA SHA",
		ACCEL, .place = PERF_PROCESS,
		.options = ACCEL_OPTIONS | PERF_OPT_QUEUE,
		.base = { .api = PERF_API_DOCA, .size = 1 << 20, .duration_us = 500000,
			.burst = 1, .queue = 4, PAIR_ALONE },
		VARIANTS(sha_variants), .check = sha_check,
	}, {
		.name = "compress-bw",
		.what = "deflate, inflate and LZ4 by DOCA Compress; bytes that are not compressed",
		ACCEL, .place = PERF_PROCESS,
		.options = ACCEL_OPTIONS | PERF_OPT_QUEUE,
		.base = { .api = PERF_API_DOCA, .size = 1 << 20, .duration_us = 500000,
			.burst = 1, .queue = 4, PAIR_ALONE },
		VARIANTS(compress_variants), .check = compress_check,
	},
#endif
};

const struct perf_test *
tests_next(const struct perf_test *test)
{
	test = test == NULL ? tests : test + 1;
	return test < tests + RTE_DIM(tests) ? test : NULL;
}

const struct perf_test *
tests_find(const char *name)
{
	const struct perf_test *test = tests_next(NULL);

	while (test != NULL && strcmp(test->name, name) != 0)
		test = tests_next(test);
	return test;
}
