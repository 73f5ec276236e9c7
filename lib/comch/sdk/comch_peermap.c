/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The table of mappings of peers' payload memory. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include <bsd/sys/queue.h>

#include "sdk/comch_budget.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_peermap.h"
#include "sdk/comch_memfd.h"
#include "sdk/comch_reaper.h"

struct mapping {
	struct comch_peermap base;
	dev_t dev;
	ino_t ino;
	bool is_private;   /* not in the table: trusted, and mapped without seals */
	uint64_t *used;    /* counter of the device */
	uint32_t refs;     /* guarded by the lock */
	LIST_ENTRY(mapping) next;
};

/* Hashed by inode number; memfds have consecutive ones. */
#define BUCKETS 4096
static LIST_HEAD(mapping_list, mapping) files[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct mapping_list *
bucket_of(const struct stat *st)
{
	return &files[st->st_ino % BUCKETS];
}

/* Find the mapping of a file by a device, or by any if used is NULL. lock held. */
static struct mapping *
find(const struct stat *st, const uint64_t *used)
{
	struct mapping *f;

	LIST_FOREACH(f, bucket_of(st), next)
		if (f->ino == st->st_ino && f->dev == st->st_dev &&
				(used == NULL || f->used == used))
			return f;
	return NULL;
}

/*
 * Make a second view of a file that another device has mapped. lock held. *st may be from
 * before the seals, when the file had another size.
 */
static int
map_again(const struct stat *st, void **addr)
{
	const struct mapping *f = find(st, NULL);
	void *map;

	if (f == NULL)
		return -ENOENT;
	if (f->base.len != (size_t)st->st_size)
		return -EPERM;
	map = mremap(f->base.addr, 0, f->base.len, MREMAP_MAYMOVE);
	if (map == MAP_FAILED)
		return -ENOMEM;
	madvise(map, f->base.len, MADV_DONTFORK);
	*addr = map;
	return 0;
}

/* Take a reference to a mapped file; NULL: not mapped. */
static struct mapping *
use_file(const struct stat *st, const uint64_t *used)
{
	struct mapping *f;

	pthread_mutex_lock(&lock);
	f = find(st, used);
	if (f != NULL)
		f->refs++;
	pthread_mutex_unlock(&lock);
	return f;
}

/* Add a file to the table, unless another thread has added it meanwhile. */
static struct mapping *
add_file(const struct stat *st, struct mapping *new)
{
	struct mapping *f;

	pthread_mutex_lock(&lock);
	f = find(st, new->used);
	if (f == NULL) {
		f = new;
		LIST_INSERT_HEAD(bucket_of(st), f, next);
	}
	f->refs++;
	pthread_mutex_unlock(&lock);
	return f;
}

/* Map a new file. Without the lock: the peer may delay it. */
static int
map_file(int fd, const struct stat *st, void **addr)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = map_again(st, addr);
	pthread_mutex_unlock(&lock);
	/* Also if the second view fails: a file for several processes can be mapped again. */
	return ret != 0 ? comch_memfd_adopt(fd, (size_t)st->st_size, addr) : 0;
}

static bool
is_over(const struct comch_peermap_limit *limit, uint64_t len)
{
	return len > limit->max || comch_load_relaxed(limit->used) > limit->max - len;
}

/* Counted once mapped: the peer can delay sealing for any time. */
static int
new_file(int fd, const struct stat *st, const struct comch_peermap_limit *limit,
		struct mapping **map)
{
	size_t len = (size_t)st->st_size;
	struct mapping *f;
	void *addr = NULL;
	int ret;

	if (is_over(limit, len))
		return -EDQUOT;
	f = calloc(1, sizeof(*f));
	ret = f != NULL ? map_file(fd, st, &addr) : -ENOMEM;
	if (ret != 0)
		goto err_free;
	ret = -EDQUOT;
	if (!comch_budget_take(limit->used, limit->max, len))
		goto err_unmap;
	f->base.addr = addr;
	f->base.len = len;
	f->dev = st->st_dev;
	f->ino = st->st_ino;
	f->used = limit->used;
	*map = add_file(st, f);
	if (*map == f)
		return 0;
	/* Another thread was faster. */
	ret = 0;
	comch_budget_give(limit->used, len);
err_unmap:
	munmap(addr, len);
err_free:
	free(f);
	return ret;
}

/* Would mapping block? An unsealed file has to be sealed first. */
static bool
must_wait(int fd, const struct comch_peermap_limit *limit)
{
	return limit->no_wait && !comch_memfd_has_seals(fd, F_SEAL_SEAL);
}

/* Get the mapping of a file that is sealed or can be sealed. */
static int
get_file(int fd, uint64_t offset, uint64_t len, const struct comch_peermap_limit *limit,
		struct comch_peermap **map)
{
	struct mapping *f;
	struct stat st;
	int ret = 0;

	if (!comch_memfd_has_seals(fd, 0) || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
			st.st_size <= 0 || offset > (uint64_t)st.st_size ||
			len > (uint64_t)st.st_size - offset)
		return -EPERM;
	f = use_file(&st, limit->used);
	if (f == NULL && !limit->trusted && limit->max_file > 0 &&
			(uint64_t)st.st_size > limit->max_file)
		return -EDQUOT;
	if (f == NULL)
		ret = must_wait(fd, limit) ? (is_over(limit, (uint64_t)st.st_size) ? -EDQUOT :
			-EPERM) : new_file(fd, &st, limit, &f);
	/* Another thread may have mapped and sealed the file meanwhile. */
	if (ret == -EPERM) {
		f = use_file(&st, limit->used);
		ret = f != NULL ? 0 : -EPERM;
	}
	if (ret != 0)
		return ret;
	/* st may be from before the seals: the mapping has the final size. */
	if (offset > f->base.len || len > f->base.len - offset) {
		comch_peermap_put(&f->base);
		return -EPERM;
	}
	*map = &f->base;
	return 0;
}

/* Map any file, starting at the page of offset. */
static int
get_trusted(int fd, uint64_t offset, uint64_t len, const struct comch_peermap_limit *limit,
		struct comch_peermap **map)
{
	uint64_t part = offset & ((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	struct mapping *f;
	void *addr;
	int ret;

	ret = comch_memfd_check(fd, offset, len, true);
	if (ret != 0)
		return ret;
	if (!comch_budget_take(limit->used, limit->max, len + part))
		return -EDQUOT;
	f = calloc(1, sizeof(*f));
	ret = f != NULL ? comch_memfd_map(fd, offset - part, len + part, true, &addr) : -ENOMEM;
	if (ret != 0) {
		free(f);
		comch_budget_give(limit->used, len + part);
		return ret == -ENOMEM ? ret : -EPERM;
	}
	f->base = (struct comch_peermap){
		.addr = addr, .offset = offset - part, .len = len + part,
	};
	f->is_private = true;
	f->used = limit->used;
	f->refs = 1;
	*map = &f->base;
	return 0;
}

int
comch_peermap_get(int fd, uint64_t offset, uint64_t len,
		const struct comch_peermap_limit *limit, struct comch_peermap **map)
{
	int ret = get_file(fd, offset, len, limit, map);

	return ret == -EPERM && limit->trusted ?
		get_trusted(fd, offset, len, limit, map) : ret;
}

void
comch_peermap_put(struct comch_peermap *map)
{
	struct mapping *f = container_of(map, struct mapping, base);
	bool last;

	pthread_mutex_lock(&lock);
	last = --f->refs == 0;
	if (last && !f->is_private)
		LIST_REMOVE(f, next);
	pthread_mutex_unlock(&lock);
	if (!last)
		return;
	comch_reaper_unmap(f->base.addr, f->base.len, f->used);
	free(f);
}
