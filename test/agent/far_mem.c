/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Registrations and their twins. */

#include <pthread.h>
#include <stdlib.h>

#include "far.h"
#include "far_wrap.h"

/*
 * An operation is offered again and again until it is taken. What was copied to the
 * twin already is not copied again: sums of pages tell.
 */
#define PAGE 4096
/** Messages are not longer, and bytes of a longer one are not looked at. */
#define MAX_MSG ((uint64_t)1 << 30)

struct far_mem {
	struct far_mem *next;
	struct rte_comch_mr *mr; /**< The near one. */
	uint8_t *addr;
	size_t len;
	uint64_t handle;
	uint64_t far_addr;
	uint64_t *sums;          /**< Of the twin's pages; 0: not known. */
	bool is_pool;            /**< The twin is a pool's. */
};

static struct far_mem *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct far_mem *
find(const struct rte_comch_mr *mr)
{
	struct far_mem *m;

	pthread_mutex_lock(&lock);
	for (m = all; m != NULL && m->mr != mr; m = m->next)
		;
	pthread_mutex_unlock(&lock);
	return m;
}

static void
make_twin(struct far_mem *m, const struct rte_comch_mr_info *info)
{
	struct wire *w;

	m->handle = far_pool_mr(m->mr);
	if (m->handle != 0) {
		/* The bytes of mbufs are copied by their own calls. */
		m->is_pool = true;
		return;
	}
	w = far_begin(CALL_MEM_NEW);
	wire_u64(w, info->kind);
	wire_u64(w, info->len);
	wire_u64(w, info->flags);
	m->handle = (uint64_t)far_do(w);
	m->far_addr = wire_get_u64(w);
	far_end();
}

int __real_rte_comch_mem_info_get(const struct rte_comch_mr *mr, struct rte_comch_mr_info *info);

struct far_mem *
far_mem(struct rte_comch_mr *mr)
{
	struct rte_comch_mr_info info;
	struct far_mem *m;

	if (mr == NULL)
		return NULL;
	m = find(mr);
	if (m != NULL)
		return m;
	T_EQ(__real_rte_comch_mem_info_get(mr, &info), 0);
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		T_FAIL("no memory");
	m->mr = mr;
	m->addr = info.addr;
	m->len = info.len;
	m->sums = calloc(m->len / PAGE + 1, sizeof(m->sums[0]));
	if (m->sums == NULL)
		T_FAIL("no memory");
	make_twin(m, &info);
	pthread_mutex_lock(&lock);
	m->next = all;
	all = m;
	pthread_mutex_unlock(&lock);
	return m;
}

struct rte_comch_mr *
far_mem_by_handle(uint64_t handle)
{
	struct far_mem *m;

	pthread_mutex_lock(&lock);
	for (m = all; m != NULL && m->handle != handle; m = m->next)
		;
	pthread_mutex_unlock(&lock);
	return m == NULL ? NULL : m->mr;
}

uint64_t
far_mem_handle(const struct far_mem *m)
{
	return m == NULL ? 0 : m->handle;
}

uint64_t
far_mem_addr(const struct far_mem *m, const void *addr)
{
	/* One that is outside stays outside. */
	return m == NULL || addr == NULL ? (uintptr_t)addr :
		(uintptr_t)addr - (uintptr_t)m->addr + m->far_addr;
}

static bool
is_within(const struct far_mem *m, const uint8_t *addr, uint64_t len)
{
	return m != NULL && !m->is_pool && len > 0 && len <= MAX_MSG &&
		(uintptr_t)addr >= (uintptr_t)m->addr && len <= m->len &&
		(uintptr_t)addr - (uintptr_t)m->addr <= m->len - len;
}

/* Four lanes, for speed; never 0. */
static uint64_t
sum_of(const uint8_t *page)
{
	uint64_t lane[4] = { 1, 2, 3, 4 }, word;
	unsigned int i, k;

	for (i = 0; i < PAGE; i += sizeof(lane))
		for (k = 0; k < RTE_DIM(lane); k++) {
			memcpy(&word, page + i + k * sizeof(word), sizeof(word));
			lane[k] = (lane[k] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
			lane[k] ^= lane[k] >> 29;
		}
	for (k = 1; k < RTE_DIM(lane); k++)
		lane[0] = (lane[0] ^ lane[k]) * UINT64_C(0xbf58476d1ce4e5b9);
	return lane[0] | 1;
}

static void
write_far(const struct far_mem *m, size_t off, size_t len)
{
	struct wire *w;
	uint32_t n;

	for (; len > 0; off += n, len -= n) {
		n = (uint32_t)RTE_MIN(len, (size_t)WIRE_CHUNK);
		w = far_begin(CALL_MEM_WRITE);
		wire_u64(w, m->far_addr + off);
		wire_bytes(w, m->addr + off, n);
		far_tell(w);
		far_end();
	}
}

/* Is the page the same as the one that the twin has? If not, it will be. */
static bool
is_same(struct far_mem *m, size_t page)
{
	const uint64_t sum = sum_of(m->addr + page * PAGE);

	if (m->sums[page] == sum)
		return true;
	m->sums[page] = sum;
	return false;
}

void
far_mem_push(struct far_mem *m, const uint8_t *addr, uint64_t len)
{
	size_t off, end, from, n;

	if (!is_within(m, addr, len))
		return;
	off = (size_t)(addr - m->addr);
	end = off + len;
	for (from = off; off < end; off += n) {
		n = RTE_MIN(end, (off / PAGE + 1) * PAGE) - off;
		/* Parts of pages are few bytes. */
		if (n < PAGE)
			m->sums[off / PAGE] = 0;
		else if (is_same(m, off / PAGE)) {
			write_far(m, from, off - from);
			from = off + n;
		}
	}
	write_far(m, from, end - from);
}

void
far_mem_pull(struct far_mem *m, uint8_t *addr, uint64_t len)
{
	struct wire *w;
	uint64_t n, off;

	if (!is_within(m, addr, len))
		return;
	for (off = 0; off < len; off += n) {
		n = RTE_MIN(len - off, (uint64_t)WIRE_CHUNK);
		w = far_begin(CALL_MEM_READ);
		wire_u64(w, far_mem_addr(m, addr + off));
		wire_u64(w, n);
		far_do(w);
		wire_get(w, addr + off, n);
		far_end();
	}
	for (off = (size_t)(addr - m->addr) / PAGE; off <= (size_t)(addr - m->addr + len) / PAGE;
			off++)
		m->sums[off] = 0;
}

static void
forget(struct far_mem *m)
{
	struct far_mem **at;

	pthread_mutex_lock(&lock);
	for (at = &all; *at != m; at = &(*at)->next)
		;
	*at = m->next;
	pthread_mutex_unlock(&lock);
	free(m->sums);
	free(m);
}

FAR_WRAP(int, rte_comch_mem_unregister, struct rte_comch_mr *mr)
{
	struct far_mem *m = far_on() && mr != NULL ? find(mr) : NULL;
	int rc;

	if (m != NULL) {
		rc = (int)far_call(CALL_MEM_FREE, m->handle);
		if (rc != 0)
			return rc;
		forget(m);
	}
	return __real_rte_comch_mem_unregister(mr);
}

FAR_WRAP(int, rte_comch_mem_info_get, const struct rte_comch_mr *mr,
		struct rte_comch_mr_info *info)
{
	const struct far_mem *m = far_on() && mr != NULL ? find(mr) : NULL;
	int rc = __real_rte_comch_mem_info_get(mr, info);

	if (rc == 0 && m != NULL)
		info->nb_users += (uint32_t)far_call(CALL_MEM_USERS, m->handle);
	return rc;
}

FAR_WRAP(int, rte_comch_mem_renew, void *addr)
{
	struct far_mem *m;
	int rc;

	for (m = addr == NULL ? NULL : all; m != NULL; m = m->next) {
		if (m->addr != addr || m->is_pool)
			continue;
		rc = (int)far_call(CALL_MEM_RENEW, m->handle);
		if (rc != 0)
			return rc;
	}
	return __real_rte_comch_mem_renew(addr);
}

/* A pool's registration ends with the pool, and that of its twin. */
void
far_mem_forget(const struct rte_comch_mr *mr)
{
	struct far_mem *m = find(mr);

	if (m != NULL)
		forget(m);
}
