/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The quotas of peers: a tree of processes and users, and what each of them uses of this
 * process's limits.
 */

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <rte_common.h>

#include <bsd/sys/tree.h>

#include "sdk/comch_quota.h"

/*
 * Shares of RLIMIT_NOFILE. A socket may stay open for as long as a descriptor is in flight on
 * it; a quarter is for clients in the handshake of one server, the rest for the program.
 */
#define FDS_SHARE(nofile) ((nofile) / 2)
#define FDS_OUT_SHARE(nofile) ((nofile) / 8)
/* More would not help, and each may have to be checked. */
#define MAX_FDS_OUT 1024
/*
 * The kernel's default limit, and the share for mapped peer memory: each of a peer's consumers, and
 * each link, also has a mapping of our own memory, which is not counted.
 */
#define DEFAULT_MAPS 65530
#define MAPS_SHARE(maps) ((maps) / 3)
/* 128 MiB, at 256 KiB each. */
#define MAX_RINGS 512

/* A process, and a user, may have this multiple of what is left. */
static const struct multiple {
	uint32_t process;
	uint32_t user;
} multiple[COMCH_NB_QUOTAS] = {
	[COMCH_QUOTA_FDS_OUT] = { 1, 3 },
	[COMCH_QUOTA_FDS] = { 5, 7 },
	[COMCH_QUOTA_MAPS] = { 5, 7 },
	[COMCH_QUOTA_RINGS] = { 5, 7 },
};

/* The pid of all processes of a user. */
#define USER INT32_MIN

struct comch_quota {
	int32_t uid;
	int32_t pid;
	struct comch_quota *user; /* NULL: it is one */
	uint32_t refs;
	uint32_t used[COMCH_NB_QUOTAS];
	RB_ENTRY(comch_quota) next;
};

static struct {
	pthread_mutex_t lock;
	RB_HEAD(comch_quota_tree, comch_quota) peers;
	uint32_t used[COMCH_NB_QUOTAS];
	uint32_t max[COMCH_NB_QUOTAS];
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int
compare(const struct comch_quota *a, const struct comch_quota *b)
{
	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* RB_GENERATE_STATIC() needs a macro that only BSD has. */
RB_GENERATE_INTERNAL(comch_quota_tree, comch_quota, next, compare, __rte_unused static)

static uint32_t
max_maps(void)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
	uint32_t n = 0;

	if (f != NULL) {
		if (fscanf(f, "%" SCNu32, &n) != 1)
			n = 0;
		fclose(f);
	}
	return n > 0 ? n : DEFAULT_MAPS;
}

/* Limits may change: a program raises its own. */
static void
set_max(void)
{
	struct rlimit limit;
	uint32_t n = UINT32_MAX;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		n = (uint32_t)RTE_MIN(limit.rlim_cur, (rlim_t)UINT32_MAX);
	all.max[COMCH_QUOTA_FDS] = FDS_SHARE(n);
	all.max[COMCH_QUOTA_RINGS] = MAX_RINGS;
	all.max[COMCH_QUOTA_FDS_OUT] = RTE_MIN(FDS_OUT_SHARE(n), (uint32_t)MAX_FDS_OUT);
	if (all.max[COMCH_QUOTA_MAPS] == 0)
		all.max[COMCH_QUOTA_MAPS] = MAPS_SHARE(max_maps());
}

/* Under the lock. */
static struct comch_quota *
get(int32_t uid, int32_t pid)
{
	struct comch_quota key = { .uid = uid, .pid = pid };
	struct comch_quota *quota;

	quota = RB_FIND(comch_quota_tree, &all.peers, &key);
	if (quota == NULL) {
		quota = malloc(sizeof(*quota));
		if (quota == NULL)
			return NULL;
		*quota = key;
		RB_INSERT(comch_quota_tree, &all.peers, quota);
	}
	quota->refs++;
	return quota;
}

/* Under the lock. */
static void
put(struct comch_quota *quota)
{
	if (--quota->refs > 0)
		return;
	RB_REMOVE(comch_quota_tree, &all.peers, quota);
	free(quota);
}

/* Each reference to a process is one to its user. */
struct comch_quota *
comch_quota_get(int32_t uid, int32_t pid)
{
	struct comch_quota *user, *quota = NULL;

	pthread_mutex_lock(&all.lock);
	set_max();
	user = get(uid, USER);
	if (user == NULL)
		goto unlock;
	quota = get(uid, pid);
	if (quota != NULL)
		quota->user = user;
	else
		put(user);
unlock:
	pthread_mutex_unlock(&all.lock);
	return quota;
}

void
comch_quota_ref(struct comch_quota *quota)
{
	pthread_mutex_lock(&all.lock);
	quota->refs++;
	quota->user->refs++;
	pthread_mutex_unlock(&all.lock);
}

void
comch_quota_put(struct comch_quota *quota)
{
	pthread_mutex_lock(&all.lock);
	put(quota->user);
	put(quota);
	pthread_mutex_unlock(&all.lock);
}

/* The first request is limited only by what is left. */
static bool
may_have(uint32_t used, uint32_t n, uint64_t left, uint32_t times)
{
	return used == 0 || (uint64_t)used + n <= left * times;
}

bool
comch_quota_take(struct comch_quota *quota, enum comch_quota_of of, uint32_t n)
{
	const struct multiple *times = &multiple[of];
	uint64_t used, left;
	bool ok;

	pthread_mutex_lock(&all.lock);
	used = (uint64_t)all.used[of] + n;
	left = all.max[of] - RTE_MIN(used, (uint64_t)all.max[of]);
	ok = used <= all.max[of] && may_have(quota->used[of], n, left, times->process) &&
		may_have(quota->user->used[of], n, left, times->user);
	if (ok) {
		quota->used[of] += n;
		quota->user->used[of] += n;
		all.used[of] += n;
	}
	pthread_mutex_unlock(&all.lock);
	return ok;
}

void
comch_quota_give(struct comch_quota *quota, enum comch_quota_of of, uint32_t n)
{
	pthread_mutex_lock(&all.lock);
	quota->used[of] -= n;
	quota->user->used[of] -= n;
	all.used[of] -= n;
	pthread_mutex_unlock(&all.lock);
}

uint32_t
comch_quota_max(enum comch_quota_of of)
{
	uint32_t max;

	pthread_mutex_lock(&all.lock);
	if (all.max[of] == 0)
		set_max();
	max = all.max[of];
	pthread_mutex_unlock(&all.lock);
	return max;
}

void
comch_quota_info(enum comch_quota_of of, struct comch_quota_info *info)
{
	struct comch_quota *quota;

	pthread_mutex_lock(&all.lock);
	set_max();
	*info = (struct comch_quota_info){
		.max = all.max[of], .used = all.used[of], .most_uid = -1,
	};
	RB_FOREACH(quota, comch_quota_tree, &all.peers) {
		if (quota->user == NULL || quota->used[of] <= info->most)
			continue;
		info->most = quota->used[of];
		info->most_uid = quota->uid;
		info->most_pid = quota->pid;
	}
	pthread_mutex_unlock(&all.lock);
}

void
comch_quota_lock(void)
{
	pthread_mutex_lock(&all.lock);
}

void
comch_quota_unlock(void)
{
	pthread_mutex_unlock(&all.lock);
}

void
comch_quota_forget(void)
{
	RB_INIT(&all.peers);
	memset(all.used, 0, sizeof(all.used));
}
