/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Shareable allocations and registrations: control path only. */

#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_memory.h>
#include <rte_string_fns.h>

#include <bsd/sys/queue.h>

#include "rte_comch_driver.h"
#include "sdk/comch_log.h"
#include "sdk/comch_memfd.h"
#include "mem/comch_mem.h"
#include "base/comch_trace.h"

struct comch_mem_block {
	uint8_t *addr;
	size_t len;
	int fd;
	uint32_t nb_mrs;
	uint32_t nb_live;     /* uses by consumers that are not IDLE */
	bool for_several;     /* may be exported to several processes */
	TAILQ_ENTRY(comch_mem_block) next;
};

static TAILQ_HEAD(, comch_mem_block) blocks = TAILQ_HEAD_INITIALIZER(blocks);
static struct rte_comch_mr *mrs[COMCH_MAX_MRS];
/* Guards the tables above. Polls take it: no system call that may take long, no driver. */
static pthread_mutex_t mem_lock = PTHREAD_MUTEX_INITIALIZER;
/*
 * Taken before mem_lock, and not by polls: it may be held for long. Meanwhile no block and
 * no registration ends, no pages are replaced, and no consumer begins to use a block.
 */
static pthread_mutex_t change_lock = PTHREAD_MUTEX_INITIALIZER;

const char *
rte_comch_mem_kind_name(enum rte_comch_mem_kind kind)
{
	static const char *const names[] = {
		[RTE_COMCH_MEM_SEALED] = "sealed",
		[RTE_COMCH_MEM_EAL] = "eal",
		[RTE_COMCH_MEM_HEAP] = "heap",
	};

	return (unsigned int)kind < RTE_DIM(names) ? names[kind] : "?";
}

/* Move allocated pages to the requested socket. */
static void
prefer_node(void *addr, size_t len, int socket_id)
{
	unsigned long mask[4] = { 0 };
	unsigned int bits = 8 * sizeof(mask[0]);

	if (socket_id < 0 || (size_t)socket_id >= RTE_DIM(mask) * bits)
		return;
	mask[(unsigned int)socket_id / bits] = 1UL << ((unsigned int)socket_id % bits);
	/* Best effort: memory on another socket works as well. */
	(void)syscall(SYS_mbind, addr, len, MPOL_PREFERRED, mask, RTE_DIM(mask) * bits,
		MPOL_MF_MOVE);
}

void *
rte_comch_mem_alloc(size_t len, int socket_id)
{
	struct comch_mem_block *b;
	void *addr = NULL;
	size_t size;

	size = comch_memfd_round(len);
	if (size == 0) {
		COMCH_LOG(ERR, "memory: cannot allocate %zu bytes", len);
		rte_errno = EINVAL;
		return NULL;
	}
	b = calloc(1, sizeof(*b));
	if (b == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	b->fd = comch_memfd_create("comch_mem", size, COMCH_MEMFD_PAYLOAD, &addr);
	if (b->fd < 0) {
		rte_errno = b->fd == -EMFILE || b->fd == -ENFILE ? EMFILE : ENOMEM;
		COMCH_LOG(ERR, "memory: cannot allocate %zu shareable bytes: %s", len,
			strerror(-b->fd));
		free(b);
		return NULL;
	}
	prefer_node(addr, size, socket_id);
	b->addr = addr;
	b->len = size;
	pthread_mutex_lock(&mem_lock);
	TAILQ_INSERT_TAIL(&blocks, b, next);
	pthread_mutex_unlock(&mem_lock);
	return addr;
}

/* The block that contains addr, or NULL. */
static struct comch_mem_block *
find_block(const void *addr)
{
	struct comch_mem_block *b;

	TAILQ_FOREACH(b, &blocks, next)
		if ((uintptr_t)addr - (uintptr_t)b->addr < b->len)
			return b;
	return NULL;
}

int
rte_comch_mem_free(void *addr)
{
	struct comch_mem_block *b;
	int ret = 0;

	if (addr == NULL)
		return 0;
	pthread_mutex_lock(&change_lock);
	pthread_mutex_lock(&mem_lock);
	b = find_block(addr);
	if (b == NULL || b->addr != addr) {
		COMCH_LOG(ERR, "memory: %p was not allocated by rte_comch_mem_alloc()", addr);
		ret = -EINVAL;
	} else if (b->nb_mrs > 0) {
		COMCH_LOG(ERR, "memory: %p is registered", addr);
		ret = -EBUSY;
	} else {
		TAILQ_REMOVE(&blocks, b, next);
	}
	pthread_mutex_unlock(&mem_lock);
	if (ret == 0) {
		munmap(b->addr, b->len);
		close(b->fd);
		free(b);
	}
	pthread_mutex_unlock(&change_lock);
	return ret;
}

/* change_lock and mem_lock held: until the former is released, no use begins. */
static bool
block_in_use(const struct comch_mem_block *b)
{
	unsigned int i;

	if (b->nb_live > 0)
		return true;
	for (i = 0; i < COMCH_MAX_MRS; i++)
		if (mrs[i] != NULL && mrs[i]->block == b && mrs[i]->nb_users > 0)
			return true;
	return false;
}

/* A device's keys refer to pages, not to addresses: those of the old pages go. change_lock held. */
static void
block_gone(const struct comch_mem_block *b)
{
	const struct rte_comch_mr *mr;
	unsigned int i;

	for (i = 0; i < COMCH_MAX_MRS; i++) {
		pthread_mutex_lock(&mem_lock);
		mr = mrs[i] != NULL && mrs[i]->block == b ? mrs[i] : NULL;
		pthread_mutex_unlock(&mem_lock);
		if (mr != NULL)
			comch_mem_gone(mr);
	}
}

/* Replace the pages of a block by a copy at the same address. change_lock held. */
static int
renew_block(struct comch_mem_block *b)
{
	void *addr = NULL;
	int fd, old;

	fd = comch_memfd_create("comch_mem", b->len, COMCH_MEMFD_PAYLOAD, &addr);
	if (fd < 0)
		return -ENOMEM;
	memcpy(addr, b->addr, b->len);
	/* Atomically replaces the old mapping. */
	if (mmap(b->addr, b->len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
			MAP_FAILED) {
		munmap(addr, b->len);
		close(fd);
		return -ENOMEM;
	}
	madvise(b->addr, b->len, MADV_DONTFORK);
	munmap(addr, b->len);
	pthread_mutex_lock(&mem_lock);
	old = b->fd;
	b->fd = fd;
	if (b->for_several)
		comch_memfd_seal(fd);
	pthread_mutex_unlock(&mem_lock);
	close(old);
	block_gone(b);
	return 0;
}

/*
 * Renewed pages are known to no peer, so the next peer may be in another trust domain. A
 * registration that was claimed meanwhile stays bound to the peer of the claim.
 */
static void
unbind_block(const struct comch_mem_block *b)
{
	unsigned int i;

	pthread_mutex_lock(&mem_lock);
	for (i = 0; i < COMCH_MAX_MRS; i++)
		if (mrs[i] != NULL && mrs[i]->block == b && mrs[i]->nb_users == 0)
			mrs[i]->bound = false;
	pthread_mutex_unlock(&mem_lock);
}

int
rte_comch_mem_renew(void *addr)
{
	struct comch_mem_block *b;
	int ret = 0;

	pthread_mutex_lock(&change_lock);
	pthread_mutex_lock(&mem_lock);
	b = find_block(addr);
	if (addr == NULL || b == NULL || b->addr != addr)
		ret = -EINVAL;
	else if (block_in_use(b))
		ret = -EBUSY;
	pthread_mutex_unlock(&mem_lock);
	if (ret == 0)
		ret = renew_block(b);
	if (ret == 0)
		unbind_block(b);
	pthread_mutex_unlock(&change_lock);
	if (ret != 0)
		COMCH_LOG(ERR, "memory: cannot renew %p: %s", addr, strerror(-ret));
	return ret;
}

/* Allow several processes to map it; then none can seal it for itself. mem_lock held. */
static void
share_block(struct comch_mem_block *b)
{
	if (b->for_several)
		return;
	b->for_several = true;
	comch_memfd_seal(b->fd);
}

void
comch_mem_share(const struct rte_comch_mr *mr)
{
	pthread_mutex_lock(&mem_lock);
	if (mr->block != NULL)
		share_block(mr->block);
	pthread_mutex_unlock(&mem_lock);
}

bool
comch_mem_is_taken(const struct rte_comch_mr *mr)
{
	return mr->block != NULL && comch_memfd_is_taken(mr->block->fd);
}

static void
set_kind(struct rte_comch_mr *mr)
{
	struct comch_mem_block *b = find_block(mr->addr);

	mr->kind = RTE_COMCH_MEM_HEAP;
	if (b != NULL && mr->len <= b->len - (size_t)(mr->addr - b->addr)) {
		mr->kind = RTE_COMCH_MEM_SEALED;
		mr->block = b;
		b->nb_mrs++;
		if ((mr->flags & RTE_COMCH_MEM_F_SHARED) != 0)
			share_block(b);
	} else if (rte_mem_virt2memseg_list(mr->addr) != NULL) {
		mr->kind = RTE_COMCH_MEM_EAL;
	}
}

static int
mr_insert(struct rte_comch_mr *mr)
{
	uint32_t i;
	int ret = -ENOSPC;

	pthread_mutex_lock(&mem_lock);
	for (i = 0; i < COMCH_MAX_MRS && ret != 0; i++) {
		if (mrs[i] != NULL)
			continue;
		mrs[i] = mr;
		mr->id = i;
		set_kind(mr);
		ret = 0;
	}
	pthread_mutex_unlock(&mem_lock);
	return ret;
}

struct rte_comch_mr *
rte_comch_mem_register(void *addr, size_t len, uint32_t flags)
{
	struct rte_comch_mr *mr;

	if (addr == NULL || len == 0 || len > UINTPTR_MAX - (uintptr_t)addr ||
			(flags & ~RTE_COMCH_MEM_F_SHARED) != 0) {
		COMCH_LOG(ERR, "memory: cannot register %zu bytes at %p, flags %#x", len, addr,
			flags);
		rte_errno = EINVAL;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	if (mr == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	mr->addr = addr;
	mr->len = len;
	mr->flags = flags;
	if (mr_insert(mr) != 0) {
		COMCH_LOG(ERR, "memory: limit of %u registrations reached", COMCH_MAX_MRS);
		free(mr);
		rte_errno = ENOSPC;
		return NULL;
	}
	comch_trace_mem_register(mr->id, addr, len, mr->kind);
	return mr;
}

int
rte_comch_mem_unregister(struct rte_comch_mr *mr)
{
	int ret = 0;

	if (mr == NULL)
		return -EINVAL;
	pthread_mutex_lock(&change_lock);
	pthread_mutex_lock(&mem_lock);
	if (mr->nb_users > 0) {
		COMCH_LOG(ERR, "memory: registration %u of %p has %u users", mr->id, mr->addr,
			mr->nb_users);
		ret = -EBUSY;
	}
	pthread_mutex_unlock(&mem_lock);
	if (ret != 0)
		goto unlock;
	/* Nothing gets the number or the address of the registration meanwhile. */
	comch_mem_gone(mr);
	pthread_mutex_lock(&mem_lock);
	mrs[mr->id] = NULL;
	if (mr->block != NULL)
		mr->block->nb_mrs--;
	pthread_mutex_unlock(&mem_lock);
	free(mr);
unlock:
	pthread_mutex_unlock(&change_lock);
	return ret;
}

int
rte_comch_mem_info_get(const struct rte_comch_mr *mr, struct rte_comch_mr_info *info)
{
	if (mr == NULL || info == NULL)
		return -EINVAL;
	pthread_mutex_lock(&mem_lock);
	*info = (struct rte_comch_mr_info){
		.addr = mr->addr, .len = mr->len, .kind = mr->kind, .flags = mr->flags,
		.id = mr->id, .nb_users = mr->nb_users,
	};
	pthread_mutex_unlock(&mem_lock);
	return 0;
}

int
comch_mem_claim(struct rte_comch_mr *mr, bool exported, int32_t uid, const char *func)
{
	int ret = 0;

	pthread_mutex_lock(&mem_lock);
	if (exported && (mr->flags & RTE_COMCH_MEM_F_SHARED) == 0) {
		if (mr->bound && (mr->bound_uid != uid || strcmp(mr->bound_func, func) != 0)) {
			COMCH_LOG(ERR, "memory: registration %u of %p is bound to uid %d on %s: "
				"refused for uid %d on %s (RTE_COMCH_MEM_F_SHARED allows it)",
				mr->id, mr->addr, mr->bound_uid, mr->bound_func, uid, func);
			ret = -EPERM;
		} else {
			mr->bound = true;
			mr->bound_uid = uid;
			rte_strscpy(mr->bound_func, func, sizeof(mr->bound_func));
		}
	}
	if (ret == 0)
		mr->nb_users++;
	pthread_mutex_unlock(&mem_lock);
	return ret;
}

void
comch_mem_release(struct rte_comch_mr *mr)
{
	pthread_mutex_lock(&mem_lock);
	mr->nb_users--;
	pthread_mutex_unlock(&mem_lock);
}

/* change_lock held: a block that is not in live use stays so. */
static bool
block_is_live(const struct comch_mem_block *b)
{
	bool is_live;

	pthread_mutex_lock(&mem_lock);
	is_live = b->nb_live > 0;
	pthread_mutex_unlock(&mem_lock);
	return is_live;
}

void
comch_mem_use_begin(const struct rte_comch_mr *mr, bool exported)
{
	struct comch_mem_block *b = mr->block;

	if (b == NULL)
		return;
	pthread_mutex_lock(&change_lock);
	/* Another process than the one that sealed the block could not map it. */
	if (exported && !block_is_live(b) && comch_memfd_is_taken(b->fd) && renew_block(b) != 0)
		COMCH_LOG(NOTICE, "memory: no pages to renew registration %u of %p: messages of "
			"a new peer process are staged", mr->id, mr->addr);
	pthread_mutex_lock(&mem_lock);
	b->nb_live++;
	pthread_mutex_unlock(&mem_lock);
	pthread_mutex_unlock(&change_lock);
}

void
comch_mem_use_end(const struct rte_comch_mr *mr)
{
	if (mr->block == NULL)
		return;
	pthread_mutex_lock(&mem_lock);
	mr->block->nb_live--;
	pthread_mutex_unlock(&mem_lock);
}

void
comch_mem_walk(int (*cb)(const struct rte_comch_mr *mr, void *arg), void *arg)
{
	unsigned int i;

	pthread_mutex_lock(&mem_lock);
	for (i = 0; i < COMCH_MAX_MRS; i++)
		if (mrs[i] != NULL && cb(mrs[i], arg) != 0)
			break;
	pthread_mutex_unlock(&mem_lock);
}

/* EAL memory has one descriptor, or one per page: a range must lie within one. */
static int
eal_fd(const struct rte_comch_mr *mr, uint64_t *offset)
{
	const uint8_t *last = mr->addr + mr->len - 1;
	struct rte_memseg_list *list = rte_mem_virt2memseg_list(mr->addr);
	struct rte_memseg *first_seg = rte_mem_virt2memseg(mr->addr, list);
	struct rte_memseg *last_seg = rte_mem_virt2memseg(last, list);
	size_t first_off, last_off;
	int fd;

	if (first_seg == NULL || last_seg == NULL)
		return -1;
	fd = rte_memseg_get_fd(first_seg);
	if (fd < 0 || rte_memseg_get_fd(last_seg) != fd ||
			rte_memseg_get_fd_offset(first_seg, &first_off) != 0 ||
			rte_memseg_get_fd_offset(last_seg, &last_off) != 0)
		return -1;
	first_off += (size_t)(mr->addr - (uint8_t *)first_seg->addr);
	last_off += (size_t)(last - (uint8_t *)last_seg->addr);
	if (last_off - first_off != mr->len - 1)
		return -1;
	*offset = first_off;
	return fd;
}

int
rte_comch_mr_fd(const struct rte_comch_mr *mr, uint64_t *offset)
{
	switch (mr->kind) {
	case RTE_COMCH_MEM_SEALED:
		*offset = (uint64_t)(mr->addr - mr->block->addr);
		return mr->block->fd;
	case RTE_COMCH_MEM_EAL:
		return eal_fd(mr, offset);
	default:
		return -1;
	}
}
