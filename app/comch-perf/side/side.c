/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The process of a side: EAL, device, session; and the loop of the follower. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "api/api.h"
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
		.dev_id = side->dev_id,
		.info = side->info,
		.sync = side->sync,
	};
}

/* Add `,KEY=VALUE` unless the key is present. */
static void
add_key(char *devargs, const char *key, const char *value)
{
	size_t len = strlen(devargs);
	char pattern[32];

	snprintf(pattern, sizeof(pattern), ",%s=", key);
	if (value != NULL && strstr(devargs, pattern) == NULL)
		snprintf(devargs + len, DEVARGS_SIZE - len, "%s%s", pattern, value);
}

static int
open_device(struct side *side)
{
	const struct options *opts = side->opts;
	char devargs[DEVARGS_SIZE];
	int rc;

	snprintf(devargs, sizeof(devargs), "%s", opts->dev != NULL ? opts->dev : "comch_shm0");
	if (opts->role == PERF_ROLE_BOTH || opts->dev == NULL) {
		add_key(devargs, "role", side_name(side));
		add_key(devargs, side->host ? "func" : "rep", "pf0");
	}
	if (opts->role == PERF_ROLE_BOTH) {
		add_key(devargs, "dir", side->dir);
		if (side->plan->shares_eal) {
			add_key(devargs, "export_eal", "1");
			add_key(devargs, "trust_peer", "1");
		}
	}
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
	char name[sizeof(msg->test)];
	struct perf_run run;
	int rc;

	memcpy(name, msg->test, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	test = tests_find(name);
	if (test == NULL || test->place != PERF_TWO_SIDES) {
		fprintf(stderr, "comch-perf: dpu: peer requested unknown test '%s'\n", name);
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
	status = side->plan->place != PERF_TWO_SIDES ? lead_all(side) : with_device(side);
	rte_eal_cleanup();
	return status;
}
