/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The process of a side, or of both: EAL, device, session; and the loop of the follower. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "api/api.h"
#include "app_text.h"
#include "plan/device.h"
#include "side/side.h"

#define DEVARGS_SIZE 512
/* Session timeout if the supervisor starts both sides. */
#define BOTH_MS      15000
/* Session timeout of a host side that is started alone. */
#define HOST_MS      30000

void
side_run_init(const struct side *side, struct perf_run *run,
		const struct perf_test *test, const struct perf_params *params)
{
	*run = (struct perf_run){
		.test = test,
		.params = *params,
		.leader = side->host,
		.same_process = side->same_process,
		.self = &side->hello,
		.dev_id = side->dev_id,
		.info = side->info,
		.sync = side->sync,
	};
}

static int
open_device(struct side *side)
{
	const struct device_side device = {
		.host = side->host, .shares_eal = side->plan->shares_eal, .dir = side->dir,
	};
	char devargs[DEVARGS_SIZE];
	int rc;

	device_string(side->opts, &device, devargs, sizeof(devargs));
	rc = rte_comch_dev_probe(devargs, &side->dev_id);
	if (rc == 0)
		rc = rte_comch_dev_info_get(side->dev_id, &side->info);
	if (rc != 0) {
		fprintf(stderr, "comch-perf: %s: open device %s: %s\n",
				side_name(side), devargs, strerror(-rc));
		return rc;
	}
	if (side->info.role == (side->host ? RTE_COMCH_ROLE_HOST : RTE_COMCH_ROLE_DPU))
		return 0;
	fprintf(stderr, "comch-perf: device %s: expected role %s, found the other\n", devargs,
			side_name(side));
	rte_comch_dev_close(side->dev_id);
	return -EINVAL;
}

/* The CPU of an lcore. */
static uint16_t
cpu_of(unsigned int lcore)
{
	rte_cpuset_t set = rte_lcore_cpuset(lcore);
	uint16_t cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set))
			return cpu;
	}
	return 0;
}

/* Fill in HELLO, the description of this side. The main thread is worker 0. */
static void
fill_hello(struct sync_hello *hello)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	unsigned int lcore = rte_lcore_id();
	uint32_t i;

	snprintf(hello->version, sizeof(hello->version), "%s", RTE_COMCH_VERSION_STRING);
	if (fd >= 0) {
		if (read(fd, hello->boot_id, sizeof(hello->boot_id) - 1) < 0)
			hello->boot_id[0] = '\0';
		close(fd);
	}
	hello->nb_workers = RTE_MIN(rte_lcore_count(), (uint32_t)PERF_MAX_WORKERS);
	hello->cpus[0] = cpu_of(lcore);
	for (i = 1; i < hello->nb_workers; i++) {
		lcore = rte_get_next_lcore(lcore, 1, 1);
		hello->cpus[i] = cpu_of(lcore);
	}
}

/* Execute one RUN. @return negative: the session is lost */
static int
follow_one(struct side *side, const struct sync_run *msg)
{
	const struct perf_test *test;
	char name[sizeof(msg->test)], text[4 * sizeof(name)];
	struct perf_run run;
	int rc;

	memcpy(name, msg->test, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	test = tests_find(name);
	if (test == NULL || test->place != PERF_TWO_SIDES) {
		fprintf(stderr, "comch-perf: dpu: peer requested unknown test '%s'\n",
			app_printable(name, strlen(name), text, sizeof(text)));
		return -EPROTO;
	}
	side_run_init(side, &run, test, &msg->params);
	rc = perf_run_follow(&run);
	if (run.error[0] != '\0' && !run.error_sent)
		fprintf(stderr, "comch-perf: dpu: %s: %s\n", name, run.error);
	return rc == -EPIPE ? rc : 0;
}

/* The follower: execute runs until BYE. @return exit status */
static int
follow_all(struct side *side)
{
	struct sync_run msg;
	int rc = 0;

	while (rc >= 0) {
		if (sync_take(side->sync, SYNC_BYE, NULL, 0) >= 0)
			return 0;
		/* The host side may report a failed run after this side closed it. */
		sync_forgive(side->sync);
		rc = sync_wait(side->sync, SYNC_RUN, &msg, sizeof(msg), 1000, NULL, NULL);
		if (rc == (int)sizeof(msg))
			rc = follow_one(side, &msg);
		else if (rc == -ETIMEDOUT || rc == -ECANCELED)
			rc = 0;
		else if (rc >= 0)
			rc = -EPROTO;
	}
	/* BYE is the last message before the host side disconnects. */
	if (sync_take(side->sync, SYNC_BYE, NULL, 0) >= 0)
		return 0;
	if (rc != -EINTR)
		fprintf(stderr, "comch-perf: dpu: session ended before BYE: %s\n",
				side->sync->error);
	return 1;
}

static int
with_session(struct side *side)
{
	bool both = side->opts->role == PERF_ROLE_BOTH;
	int timeout_ms = both ? BOTH_MS : side->host ? HOST_MS : -1;
	int status;

	side->sync = sync_open(&link_ops_native, side->dev_id, side->host, &side->hello,
			timeout_ms);
	if (side->sync == NULL)
		return 1;
	status = side->host ? lead_all(side) : follow_all(side);
	if (side->host)
		sync_send(side->sync, SYNC_BYE, NULL, 0);
	sync_close(side->sync);
	side->sync = NULL;
	return status;
}

static int
with_device(struct side *side)
{
	int status;
	int rc;

	if (open_device(side) != 0)
		return 1;
	status = with_session(side);
	rc = rte_comch_dev_close(side->dev_id);
	if (rc == 0 || perf_quit())
		return status;
	fprintf(stderr, "comch-perf: %s: close the device: %s\n",
			side_name(side), strerror(-rc));
	return 1;
}

/* The main thread of a DPU side in the host side's process. */
static void *
run_dpu(void *arg)
{
	struct side *side = arg;

	if (rte_thread_register() == 0) {
		side->status = with_device(side);
		rte_thread_unregister();
	} else {
		fprintf(stderr, "comch-perf: dpu: register the thread with EAL: %s\n",
				rte_strerror(rte_errno));
		side->status = 1;
	}
	/* The host side has no one else to wait for. */
	if (side->status != 0)
		perf_quit_set();
	return NULL;
}

/* Describe a DPU side in this process, whose threads are not lcores. */
static void
fill_hello_dpu(struct side *side, const struct side *host)
{
	uint32_t i;

	side->hello = host->hello;
	side->hello.nb_workers = side->plan->workers[0];
	for (i = 0; i < side->hello.nb_workers; i++)
		side->hello.cpus[i] = eal_worker_cpu(side->cpus, false, i);
}

static int
start_dpu(struct side *side, pthread_t *thread)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	CPU_ZERO(&set);
	CPU_SET(side->hello.cpus[0], &set);
	rc = pthread_attr_init(&attr);
	if (rc != 0)
		return rc;
	rc = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (rc == 0)
		rc = pthread_create(thread, &attr, run_dpu, side);
	pthread_attr_destroy(&attr);
	return rc;
}

/* Run both sides, the DPU's by a thread. */
static int
with_both(struct side *side)
{
	pthread_t thread;
	int status;
	int rc;

	fill_hello_dpu(side->dpu, side);
	rc = start_dpu(side->dpu, &thread);
	if (rc != 0) {
		fprintf(stderr, "comch-perf: start the thread of the DPU side: %s\n",
				strerror(rc));
		return 1;
	}
	status = with_device(side);
	/* It may still wait for this side to connect. */
	if (status != 0)
		perf_quit_set();
	pthread_join(thread, NULL);
	return status != 0 ? status : side->dpu->status;
}

int
side_run(struct side *side)
{
	int status;
	int rc;

	if (side->plan->place == PERF_BARE)
		return lead_all(side); /* no EAL */
	rc = eal_start(side);
	if (rc != 0) {
		fprintf(stderr, "comch-perf: %s: start EAL: %s\n",
				side_name(side), rte_strerror(-rc));
		return 1;
	}
	fill_hello(&side->hello);
	/* The device table of the DOCA APIs has no directory key. */
	if (side->dir != NULL)
		setenv("COMCH_DIR", side->dir, 1);
	if (side->plan->place != PERF_TWO_SIDES)
		status = lead_all(side);
	else
		status = side->dpu != NULL ? with_both(side) : with_device(side);
	rte_eal_cleanup();
	return status;
}
