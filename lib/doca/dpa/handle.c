/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Handles: 8 bits of kind, 24 of generation, 32 of index into a table that grows
 * by chunks and never shrinks or moves, so that device calls look objects up
 * without a lock. An entry is reused only after the calls that could have found
 * its previous handle have ended, and with another generation.
 */

#include <stdlib.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "dpa/core.h"
#include "log/log.h"

#define CHUNK 256
#define MAX_CHUNKS 1024

struct entry {
	_Atomic uint64_t handle;   /* 0: free, or being destroyed */
	void *_Atomic obj;
	uint32_t generation;
	uint32_t next_free;        /* index + 1; 0: none */
};

static struct {
	pthread_mutex_t lock;
	uint32_t nb_chunks, free;  /* first free entry: index + 1 */
	struct entry *_Atomic chunks[MAX_CHUNKS];
} table = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static uint64_t
make(enum impl_dpa_kind kind, uint32_t generation, uint32_t index)
{
	return (uint64_t)kind << 56 | (uint64_t)(generation & 0xffffff) << 32 | index;
}

/* NULL: out of range. */
static struct entry *
entry_at(uint32_t index)
{
	struct entry *chunk;

	if (unlikely(index >= CHUNK * MAX_CHUNKS))
		return NULL;
	chunk = atomic_load_explicit(&table.chunks[index / CHUNK], memory_order_acquire);
	return unlikely(chunk == NULL) ? NULL : &chunk[index % CHUNK];
}

static bool
grow(void)
{
	uint32_t i, first = table.nb_chunks * CHUNK;
	struct entry *chunk;

	if (table.nb_chunks == MAX_CHUNKS)
		return false;
	chunk = calloc(CHUNK, sizeof(*chunk));
	if (chunk == NULL)
		return false;
	for (i = 0; i < CHUNK; i++)
		chunk[i].next_free = i + 1 < CHUNK ? first + i + 2 : 0;
	atomic_store_explicit(&table.chunks[table.nb_chunks++], chunk, memory_order_release);
	table.free = first + 1;
	return true;
}

uint64_t
impl_dpa_handle_create(enum impl_dpa_kind kind, void *obj)
{
	uint64_t handle = 0;
	struct entry *e;

	pthread_mutex_lock(&table.lock);
	if (table.free != 0 || grow()) {
		e = entry_at(table.free - 1);
		handle = make(kind, ++e->generation, table.free - 1);
		table.free = e->next_free;
		atomic_store_explicit(&e->obj, obj, memory_order_relaxed);
		atomic_store_explicit(&e->handle, handle, memory_order_release);
	}
	pthread_mutex_unlock(&table.lock);
	if (handle == 0)
		IMPL_ERR("DPA: handle table is full or out of memory");
	return handle;
}

void
impl_dpa_handle_destroy(uint64_t handle)
{
	struct entry *e = entry_at((uint32_t)handle);

	if (handle == 0 || e == NULL || atomic_load(&e->handle) != handle)
		return;
	atomic_store_explicit(&e->handle, 0, memory_order_relaxed);
	impl_dpa_gate_wait();
	pthread_mutex_lock(&table.lock);
	e->next_free = table.free;
	table.free = (uint32_t)handle + 1;
	pthread_mutex_unlock(&table.lock);
}

void *
impl_dpa_handle_find(enum impl_dpa_kind kind, uint64_t handle)
{
	struct entry *e = entry_at((uint32_t)handle);

	if (unlikely(e == NULL || handle == 0 || handle >> 56 != (uint64_t)kind ||
			atomic_load_explicit(&e->handle, memory_order_acquire) != handle))
		return NULL;
	return atomic_load_explicit(&e->obj, memory_order_relaxed);
}

void *
impl_dpa_object(struct impl_dpa_self *self, enum impl_dpa_kind kind, uint64_t handle,
		const char *what)
{
	static const char *const names[IMPL_DPA_NB_KINDS] = {
		[IMPL_DPA_CONTEXT] = "context",
		[IMPL_DPA_COMPLETION] = "completion",
		[IMPL_DPA_NOTIFICATION] = "notification completion",
		[IMPL_DPA_ASYNC_OPS] = "async ops",
		[IMPL_DPA_HASH_TABLE] = "hash table",
		[IMPL_DPA_CONSUMER] = "consumer",
		[IMPL_DPA_CONSUMER_COMPLETION] = "consumer completion",
		[IMPL_DPA_PRODUCER] = "producer",
		[IMPL_DPA_SYNC_EVENT] = "sync event",
	};
	void *obj = impl_dpa_handle_find(kind, handle);
	unsigned int is;

	if (likely(obj != NULL))
		return obj;
	is = (unsigned int)(handle >> 56);
	if (is == (unsigned int)kind)
		impl_dpa_fault(self, what, "handle 0x%llx: the %s is stopped or destroyed",
			(unsigned long long)handle, names[kind]);
	else if (is > 0 && is < IMPL_DPA_NB_KINDS)
		impl_dpa_fault(self, what, "handle 0x%llx is of a %s, expected a %s",
			(unsigned long long)handle, names[is], names[kind]);
	else
		impl_dpa_fault(self, what, "0x%llx is not a valid %s handle",
			(unsigned long long)handle, names[kind]);
	return NULL;
}
