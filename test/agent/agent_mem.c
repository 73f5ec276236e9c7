/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Calls about memory: each registration of the run that an object here uses has a twin
 * of the same kind and size.
 */

#include <stdlib.h>
#include <sys/mman.h>

#include <rte_malloc.h>
#include <rte_memory.h>

#include "agent.h"

/* A twin. Its address is what the run knows. */
struct twin {
	struct twin *next;
	enum rte_comch_mem_kind kind;
	uint8_t *addr;
	size_t len;
	struct rte_comch_mr *mr;
};

static struct twin *twins;

static void *
get_memory(enum rte_comch_mem_kind kind, size_t len)
{
	void *addr;

	if (kind == RTE_COMCH_MEM_SEALED)
		return rte_comch_mem_alloc(len, SOCKET_ID_ANY);
	if (kind == RTE_COMCH_MEM_EAL)
		return rte_zmalloc("twin", len, RTE_CACHE_LINE_SIZE);
	/* Only what is touched takes memory: some registrations are huge, and not used. */
	addr = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return addr == MAP_FAILED ? NULL : addr;
}

static int
put_memory(struct twin *t)
{
	if (t->kind == RTE_COMCH_MEM_SEALED)
		return rte_comch_mem_free(t->addr);
	if (t->kind == RTE_COMCH_MEM_EAL)
		rte_free(t->addr);
	else
		munmap(t->addr, t->len);
	return 0;
}

static struct twin **
twin_of(const void *mr)
{
	struct twin **t;

	for (t = &twins; *t != NULL; t = &(*t)->next)
		if ((*t)->mr == mr)
			return t;
	T_FAIL("no twin has registration %p", mr);
}

static void
mem_new(struct wire *w)
{
	const enum rte_comch_mem_kind kind = (enum rte_comch_mem_kind)wire_get_u64(w);
	const size_t len = wire_get_u64(w);
	const uint32_t flags = (uint32_t)wire_get_u64(w);
	struct twin *t = calloc(1, sizeof(*t));

	if (t == NULL)
		T_FAIL("no memory");
	t->kind = kind;
	t->len = len;
	t->addr = get_memory(kind, len);
	if (t->addr == NULL)
		T_FAIL("no %s memory of %zu bytes", rte_comch_mem_kind_name(kind), len);
	t->mr = rte_comch_mem_register(t->addr, len, flags);
	if (t->mr == NULL)
		T_FAIL("mem_register: %s", strerror(rte_errno));
	t->next = twins;
	twins = t;
	wire_reply(w, (int64_t)(uintptr_t)t->mr);
	wire_ptr(w, t->addr);
}

static void
mem_free(struct wire *w)
{
	struct twin **at = twin_of(wire_get_ptr(w)), *t = *at;
	int rc;

	rc = rte_comch_mem_unregister(t->mr);
	if (rc == 0) {
		rc = put_memory(t);
		*at = t->next;
		free(t);
	}
	wire_reply(w, rc);
}

static void
mem_renew(struct wire *w)
{
	wire_reply(w, rte_comch_mem_renew((*twin_of(wire_get_ptr(w)))->addr));
}

static void
mem_users(struct wire *w)
{
	struct rte_comch_mr_info info;

	T_EQ(rte_comch_mem_info_get(wire_get_ptr(w), &info), 0);
	wire_reply(w, info.nb_users);
}

static void
mem_read(struct wire *w)
{
	const void *addr = wire_get_ptr(w);
	const uint64_t len = wire_get_u64(w);

	T_LE(len, WIRE_CHUNK);
	wire_reply(w, 0);
	wire_put(w, addr, len);
}

static void
mem_write(struct wire *w)
{
	void *addr = wire_get_ptr(w);
	uint32_t len;
	const void *data = wire_get_bytes(w, &len);

	memcpy(addr, data, len);
}

const agent_handler agent_mem_calls[NB_CALLS] = {
	[CALL_MEM_NEW] = mem_new,
	[CALL_MEM_FREE] = mem_free,
	[CALL_MEM_RENEW] = mem_renew,
	[CALL_MEM_USERS] = mem_users,
	[CALL_MEM_READ] = mem_read,
	[CALL_MEM_WRITE] = mem_write,
};
