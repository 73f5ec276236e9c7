/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* mmaps for the DPA: handles, the memory behind them, and bufs that are copied. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dpa_dev_buf.h>
#include <doca_mmap.h>

#include "dpa/call.h"
#include "t_main.h"

#define LEN 256
#define RW DOCA_ACCESS_FLAG_LOCAL_READ_WRITE

static uint8_t mem[LEN] __attribute__((aligned(64)));

/* What device code asks for. */
struct ask {
	doca_dpa_dev_mmap_t mmap;
	uint64_t addr;
	uint64_t len;
};

static struct doca_mmap *
mmap_create(struct dpa_calls *t, void *addr, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	T_OK(doca_mmap_create(&mmap));
	T_OK(doca_mmap_set_memrange(mmap, addr, len));
	T_OK(doca_mmap_set_permissions(mmap, permissions));
	T_OK(doca_mmap_add_dev(mmap, t->dev));
	return mmap;
}

static struct doca_mmap *
mmap_start(struct dpa_calls *t, uint32_t permissions, doca_dpa_dev_mmap_t *handle)
{
	struct doca_mmap *mmap = mmap_create(t, mem, LEN, permissions);

	T_OK(doca_mmap_start(mmap));
	T_OK(doca_mmap_dev_get_dpa_handle(mmap, t->dev, handle));
	return mmap;
}

static uint64_t
ptr_of_mmap(void *arg)
{
	const struct ask *ask = arg;

	return doca_dpa_dev_mmap_get_external_ptr(ask->mmap, ask->addr);
}

static uint64_t
ptr_of_buf(void *arg)
{
	const struct ask *ask = arg;
	struct doca_dpa_dev_buf buf = { 0 };
	doca_dpa_dev_buf_t handle = (uintptr_t)&buf;

	if (ask->mmap == 1)
		handle = 0;
	doca_dpa_dev_buf_set_mmap((uintptr_t)&buf, ask->mmap);
	doca_dpa_dev_buf_set_addr((uintptr_t)&buf, ask->addr);
	doca_dpa_dev_buf_set_len((uintptr_t)&buf, ask->len);
	return doca_dpa_dev_buf_get_external_ptr(handle);
}

DPA_CALLS_CASE(handle_errors, t)
{
	doca_dpa_dev_mmap_t handle = 0, again = 0;
	struct doca_dev *other;
	struct doca_mmap *m;

	other = host_dev(1);
	m = mmap_create(t, mem, LEN, RW);
	T_REFUSES_NULLS(doca_mmap_dev_get_dpa_handle, m, t->dev, &handle);
	T_IS(doca_mmap_dev_get_dpa_handle(m, t->dev, &handle), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_start(m));
	T_IS(doca_mmap_dev_get_dpa_handle(m, other, &handle), DOCA_ERROR_NOT_FOUND);
	T_EQ(handle, 0);
	T_OK(doca_mmap_dev_get_dpa_handle(m, t->dev, &handle));
	T_NE(handle, 0);
	T_GETS(doca_mmap_dev_get_dpa_handle(m, t->dev, &again), again, handle);
	T_OK(doca_mmap_stop(m));
	T_IS(doca_mmap_dev_get_dpa_handle(m, t->dev, &again), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_start(m));
	T_OK(doca_mmap_dev_get_dpa_handle(m, t->dev, &again));
	T_NE(again, handle);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_dev_close(other));
}

DPA_CALLS_CASE(pointers, t)
{
	struct doca_mmap *m;
	struct ask ask;

	m = mmap_start(t, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &ask.mmap);
	ask.addr = (uintptr_t)mem;
	ask.len = LEN;
	T_EQ(dpa_call(t, ptr_of_mmap, &ask), (uintptr_t)mem);
	T_EQ(dpa_call(t, ptr_of_buf, &ask), (uintptr_t)mem);
	ask.addr += LEN - 64;
	ask.len = 64;
	T_EQ(dpa_call(t, ptr_of_mmap, &ask), (uintptr_t)mem + LEN - 64);
	T_EQ(dpa_call(t, ptr_of_buf, &ask), (uintptr_t)mem + LEN - 64);
	/* A buf without bytes may be at the end. */
	ask.addr += 64;
	ask.len = 0;
	T_EQ(dpa_call(t, ptr_of_buf, &ask), (uintptr_t)mem + LEN);
	T_OK(doca_mmap_destroy(m));
}

/* Here it works, but a card could not. */
DPA_CALLS_CASE(unaligned, t)
{
	struct doca_mmap *m;
	struct ask ask;
	size_t before;

	m = mmap_start(t, RW, &ask.mmap);
	ask.addr = (uintptr_t)mem + LEN - 1;
	T_EQ(dpa_call(t, ptr_of_mmap, &ask), (uintptr_t)mem + LEN - 1);
	T_STR_HAS(log_kept(), "doca_dpa_dev_mmap_get_external_ptr");
	T_STR_HAS(log_kept(), "alignment to 64 bytes");
	before = strlen(log_kept());
	ask.addr = (uintptr_t)mem + 64;
	T_EQ(dpa_call(t, ptr_of_mmap, &ask), (uintptr_t)mem + 64);
	T_STR_EQ(log_kept() + before, "");
	T_OK(doca_mmap_destroy(m));
}

#define BEHIND ((uintptr_t)mem + LEN)

T_CASE(wrong_ranges)
{
	const struct {
		dpa_call_t fn;
		uint64_t addr, len;
	} wrongs[] = {
		{ ptr_of_mmap, BEHIND, 0 },
		{ ptr_of_mmap, (uintptr_t)mem - 1, 0 },
		{ ptr_of_mmap, 0, 0 },
		{ ptr_of_mmap, UINT64_MAX, 0 },
		{ ptr_of_buf, (uintptr_t)mem, LEN + 1 },
		{ ptr_of_buf, (uintptr_t)mem + 1, LEN },
		{ ptr_of_buf, (uintptr_t)mem - 1, 1 },
		{ ptr_of_buf, BEHIND, 1 },
		{ ptr_of_buf, BEHIND + 1, 0 },
		{ ptr_of_buf, (uintptr_t)mem, UINT64_MAX },
		/* The sum is an address in it. */
		{ ptr_of_buf, (uintptr_t)mem + 8, UINT64_MAX - 3 },
		{ ptr_of_buf, UINT64_MAX, 2 },
		{ ptr_of_buf, (uintptr_t)mem - 8, UINT64_MAX },
	};
	struct doca_mmap *m;
	struct ask ask;
	unsigned int i;
	struct dpa_calls t;

	for (i = 0; i < RTE_DIM(wrongs); i++) {
		dpa_calls_open(&t);
		m = mmap_start(&t, RW, &ask.mmap);
		ask.addr = wrongs[i].addr;
		ask.len = wrongs[i].len;
		dpa_call_faults(&t, wrongs[i].fn, &ask, "+256): [0x");
		T_OK(doca_mmap_destroy(m));
		dpa_calls_close(&t);
	}
}

T_CASE(wrong_handles)
{
	const doca_dpa_dev_mmap_t wrongs[] = { 0, 2, 0x7777, UINT32_MAX };
	struct ask ask = { .addr = (uintptr_t)mem, .len = 1 };
	unsigned int i;
	struct dpa_calls t;

	for (i = 0; i < RTE_DIM(wrongs); i++) {
		ask.mmap = wrongs[i];
		dpa_calls_open(&t);
		dpa_call_faults(&t, ptr_of_buf, &ask, "is not the handle of a started mmap");
		dpa_calls_close(&t);
	}
	ask.mmap = 1;
	dpa_calls_open(&t);
	dpa_call_faults(&t, ptr_of_buf, &ask, "get_external_ptr: buffer handle is 0");
	dpa_calls_close(&t);
}

T_CASE(handles_die)
{
	doca_dpa_dev_mmap_t next;
	struct doca_mmap *m, *n;
	struct ask ask;
	struct dpa_calls t;

	dpa_calls_open(&t);
	ask.addr = (uintptr_t)mem;
	m = mmap_start(&t, RW, &ask.mmap);
	T_OK(doca_mmap_stop(m));
	dpa_call_faults(&t, ptr_of_mmap, &ask, "is not the handle of a started mmap");
	T_OK(doca_mmap_rm_dev(m, t.dev));
	dpa_calls_close(&t);
	dpa_calls_open(&t);
	n = mmap_start(&t, RW, &next);
	T_NE(next, ask.mmap);
	dpa_call_faults(&t, ptr_of_mmap, &ask, "is not the handle of a started mmap");
	ask.mmap = next;
	T_OK(doca_mmap_destroy(n));
	T_OK(doca_mmap_destroy(m));
	dpa_calls_close(&t);
	dpa_calls_open(&t);
	dpa_call_faults(&t, ptr_of_mmap, &ask, "is not the handle of a started mmap");
	dpa_calls_close(&t);
}

/* All entries of the table, more often than it is long, and no handle twice in a row. */
DPA_CALLS_CASE(many_handles, t)
{
	enum { NB = 4000, ROUNDS = 3 };
	doca_dpa_dev_mmap_t handles[NB];
	struct doca_mmap *mmaps[NB];
	unsigned int i, round;
	struct ask ask = { .addr = (uintptr_t)mem };

	memset(handles, 0, sizeof(handles));
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < NB; i++) {
			ask.mmap = handles[i];
			mmaps[i] = mmap_start(t, RW, &handles[i]);
			T_NE(handles[i], ask.mmap);
			ask.mmap = handles[i];
			T_EQ(ptr_of_mmap(&ask), (uintptr_t)mem);
		}
		for (i = 0; i < NB; i++) {
			T_OK(doca_mmap_destroy(mmaps[i]));
			ask.mmap = handles[i];
		}
		T_EQ(ptr_of_mmap(&ask), 0);
	}
}

/* Imported: handles without end, until there are none. */
DPA_CALLS_CASE(imports, t)
{
	enum { NB = 4096 };
	struct doca_mmap *exporter, *mmaps[NB + 1];
	doca_dpa_dev_mmap_t handle = 0;
	struct ask ask = { .addr = (uintptr_t)mem };
	const void *desc;
	unsigned int i;
	size_t len;

	exporter = mmap_create(t, mem, LEN, RW | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	T_OK(doca_mmap_start(exporter));
	T_OK(doca_mmap_export_pci(exporter, t->dev, &desc, &len));
	for (i = 0; i <= NB; i++)
		T_OK(doca_mmap_create_from_export(NULL, desc, len, t->dev, &mmaps[i]));
	for (i = 0; i < NB; i++)
		T_OK(doca_mmap_dev_get_dpa_handle(mmaps[i], t->dev, &handle));
	T_IS(doca_mmap_dev_get_dpa_handle(mmaps[NB], t->dev, &handle), DOCA_ERROR_NO_MEMORY);
	T_OK(doca_mmap_dev_get_dpa_handle(mmaps[0], t->dev, &ask.mmap));
	dpa_call_faults(t, ptr_of_mmap, &ask, "imported: memory of another process");
	T_OK(doca_mmap_destroy(mmaps[7]));
	T_OK(doca_mmap_dev_get_dpa_handle(mmaps[NB], t->dev, &handle));
	for (i = 0; i <= NB; i++)
		if (i != 7)
			T_OK(doca_mmap_destroy(mmaps[i]));
	T_OK(doca_mmap_destroy(exporter));
}

/* Memory of the DPA is memory for an mmap. */
DPA_CALLS_CASE(dpa_memory, t)
{
	struct doca_mmap *m;
	struct ask ask;

	T_OK(doca_dpa_mem_alloc(t->dpa, LEN, &ask.addr));
	T_OK(doca_mmap_create(&m));
	T_INVALID(doca_mmap_set_dpa_memrange(NULL, t->dpa, ask.addr, LEN));
	T_INVALID(doca_mmap_set_dpa_memrange(m, NULL, ask.addr, LEN));
	T_INVALID(doca_mmap_set_dpa_memrange(m, t->dpa, 0, LEN));
	T_INVALID(doca_mmap_set_dpa_memrange(m, t->dpa, ask.addr, 0));
	T_INVALID(doca_mmap_set_dpa_memrange(m, t->dpa, ask.addr, SIZE_MAX));
	T_OK(doca_mmap_set_dpa_memrange(m, t->dpa, ask.addr, LEN));
	T_IS(doca_mmap_set_dpa_memrange(m, t->dpa, ask.addr, LEN), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_add_dev(m, t->dev));
	T_OK(doca_mmap_start(m));
	T_IS(doca_mmap_set_dpa_memrange(m, t->dpa, ask.addr, LEN), DOCA_ERROR_BAD_STATE);
	T_OK(doca_mmap_dev_get_dpa_handle(m, t->dev, &ask.mmap));
	T_EQ(dpa_call(t, ptr_of_mmap, &ask), ask.addr);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_dpa_mem_free(t->dpa, ask.addr));
}

/* Bufs of an mmap, in an inventory. */
struct bufs {
	struct dpa_calls t;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	doca_dpa_dev_uintptr_t dev;
};

static void
bufs_open(struct bufs *b, uint32_t permissions)
{
	dpa_calls_open(&b->t);
	b->mmap = mmap_create(&b->t, mem, LEN, permissions);
	T_OK(doca_mmap_start(b->mmap));
	T_OK(doca_buf_inventory_create(8, &b->inventory));
	T_OK(doca_buf_inventory_start(b->inventory));
	T_OK(doca_dpa_mem_alloc(b->t.dpa, LEN, &b->dev));
}

static struct doca_buf *
buf_get(struct bufs *b, size_t at, size_t len, size_t data_at, size_t data_len)
{
	struct doca_buf *buf;

	T_OK(doca_buf_inventory_buf_get_by_args(b->inventory, b->mmap, mem + at, len,
		mem + data_at, data_len, &buf));
	return buf;
}

static void
bufs_close(struct bufs *b)
{
	T_OK(doca_buf_inventory_stop(b->inventory));
	T_OK(doca_buf_inventory_destroy(b->inventory));
	T_OK(doca_mmap_destroy(b->mmap));
	dpa_calls_close(&b->t);
}

static size_t
data_len(const struct doca_buf *buf)
{
	size_t len;

	T_OK(doca_buf_get_data_len(buf, &len));
	return len;
}

T_CASE(bufs_to_and_from)
{
	uint8_t got[LEN] = { 0 };
	struct doca_buf *buf;
	struct bufs b;
	unsigned int i;

	bufs_open(&b, RW);
	for (i = 0; i < LEN; i++)
		mem[i] = (uint8_t)i;
	buf = buf_get(&b, 10, 50, 20, 30);
	T_OK(doca_dpa_memset(b.t.dpa, b.dev, 0xff, LEN));
	T_OK(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev + 1, buf, 30));
	T_OK(doca_dpa_d2h_memcpy(b.t.dpa, got, b.dev, LEN));
	T_EQ(got[0], 0xff);
	T_CHECK(memcmp(got + 1, mem + 20, 30) == 0);
	T_EQ(got[31], 0xff);
	T_EQ(data_len(buf), 30);
	/* Back: the data grows with what is copied. */
	T_OK(doca_dpa_memset(b.t.dpa, b.dev, 0x55, LEN));
	T_OK(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 10));
	T_EQ(mem[19], 19);
	T_EQ(mem[20], 0x55);
	T_EQ(mem[29], 0x55);
	T_EQ(mem[30], 30);
	T_EQ(data_len(buf), 30);
	T_OK(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 40));
	T_EQ(mem[59], 0x55);
	T_EQ(mem[60], 60);
	T_EQ(data_len(buf), 40);
	T_OK(doca_buf_dec_refcount(buf, NULL));
	bufs_close(&b);
}

T_CASE(buf_errors)
{
	struct doca_buf *buf, *other;
	struct bufs b;

	bufs_open(&b, RW);
	buf = buf_get(&b, 10, 50, 20, 30);
	other = buf_get(&b, 100, 50, 100, 50);
	T_INVALID(doca_dpa_h2d_buf_memcpy(NULL, b.dev, buf, 1));
	T_INVALID(doca_dpa_h2d_buf_memcpy(b.t.dpa, 0, buf, 1));
	T_INVALID(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, NULL, 1));
	T_INVALID(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, 0));
	T_INVALID(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, 31));
	T_INVALID(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, SIZE_MAX));
	T_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev + LEN - 1, buf, 2), DOCA_ERROR_DRIVER);
	T_INVALID(doca_dpa_d2h_buf_memcpy(NULL, buf, b.dev, 1));
	T_INVALID(doca_dpa_d2h_buf_memcpy(b.t.dpa, NULL, b.dev, 1));
	T_INVALID(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, 0, 1));
	T_INVALID(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 0));
	T_INVALID(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 41));
	T_INVALID(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, SIZE_MAX));
	T_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev + LEN - 1, 40), DOCA_ERROR_DRIVER);
	T_EQ(data_len(buf), 30);
	/* Chains. */
	T_OK(doca_buf_chain_list(buf, other));
	T_INVALID(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, 1));
	T_INVALID(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, other, 1));
	T_INVALID(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 1));
	T_INVALID(doca_dpa_d2h_buf_memcpy(b.t.dpa, other, b.dev, 1));
	T_OK(doca_buf_dec_refcount(buf, NULL));
	T_OK(doca_dpa_mem_free(b.t.dpa, b.dev));
	bufs_close(&b);
	/* An mmap that is not to be written to. */
	bufs_open(&b, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	buf = buf_get(&b, 0, LEN, 0, LEN);
	T_OK(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, LEN));
	T_INVALID(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 1));
	T_OK(doca_dpa_mem_free(b.t.dpa, b.dev));
	T_OK(doca_dpa_stop(b.t.dpa));
	T_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, LEN), DOCA_ERROR_BAD_STATE);
	T_OK(doca_buf_dec_refcount(buf, NULL));
	bufs_close(&b);
}

/* A buf of another process's memory. */
T_CASE(imported_buf)
{
	struct doca_mmap *imported, *mmap;
	struct doca_buf *buf;
	const void *desc;
	struct bufs b;
	size_t len;

	bufs_open(&b, RW | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	T_OK(doca_mmap_export_pci(b.mmap, b.t.dev, &desc, &len));
	T_OK(doca_mmap_create_from_export(NULL, desc, len, b.t.dev, &imported));
	mmap = b.mmap;
	b.mmap = imported;
	buf = buf_get(&b, 0, LEN, 0, LEN);
	T_INVALID(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, 1));
	T_INVALID(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 1));
	T_OK(doca_buf_dec_refcount(buf, NULL));
	T_OK(doca_mmap_destroy(imported));
	b.mmap = mmap;
	bufs_close(&b);
}

/* An mmap that stops while device code copies: afterwards, nothing is written. */
#define COPY_LEN (4u << 20)

struct copier {
	doca_dpa_dev_async_ops_t ops;
	uint8_t *from, *to;
	atomic_bool ends;
	_Atomic doca_dpa_dev_mmap_t mmap; /* 0: none */
	atomic_ulong nb;                  /* copies that began, or were nothing to do */
};

/* Not device code: there, a fault would be the end. */
static void *
run_copier(void *arg)
{
	struct copier *c = arg;
	doca_dpa_dev_mmap_t mmap;

	while (!atomic_load(&c->ends)) {
		atomic_fetch_add(&c->nb, 1);
		mmap = atomic_load(&c->mmap);
		if (mmap != 0)
			doca_dpa_dev_post_memcpy(c->ops, mmap, (uintptr_t)c->to, mmap,
				(uintptr_t)c->from, COPY_LEN,
				DOCA_DPA_DEV_SUBMIT_FLAG_OPTIMIZE_REPORTS);
	}
	return NULL;
}

/* Until it has begun anew, once it has seen what is there now. */
static void
let_copy(struct copier *c)
{
	const unsigned long nb = atomic_load(&c->nb);

	T_AWAIT(atomic_load(&c->nb) >= nb + 2);
}

static void
stop_and_look(struct dpa_calls *t, struct copier *c, bool destroy)
{
	struct doca_mmap *m = mmap_create(t, c->from, 2 * COPY_LEN, RW);
	doca_dpa_dev_mmap_t handle;
	size_t i;

	T_OK(doca_mmap_start(m));
	T_OK(doca_mmap_dev_get_dpa_handle(m, t->dev, &handle));
	atomic_store(&c->mmap, handle);
	let_copy(c);
	T_OK(destroy ? doca_mmap_destroy(m) : doca_mmap_stop(m));
	memset(c->to, 0x77, COPY_LEN);
	let_copy(c);
	atomic_store(&c->mmap, 0);
	let_copy(c);
	for (i = 0; i < COPY_LEN && c->to[i] == 0x77; i++)
		;
	T_EQ(i, COPY_LEN);
	if (!destroy)
		T_OK(doca_mmap_destroy(m));
}

DPA_CALLS_CASE(stops_wait_for_copies, t)
{
	doca_dpa_dev_completion_t comp_handle;
	struct doca_dpa_completion *comp;
	struct doca_dpa_async_ops *ops;
	struct copier c = { 0 };
	pthread_t thread;
	unsigned int i;

	c.from = calloc(2, COPY_LEN);
	T_CHECK(c.from != NULL);
	c.to = c.from + COPY_LEN;
	comp = dpa_call_completion(t, 4, NULL, &comp_handle);
	T_OK(doca_dpa_async_ops_create(t->dpa, 1u << 20, 1, &ops));
	T_OK(doca_dpa_async_ops_attach(ops, comp));
	T_OK(doca_dpa_async_ops_start(ops));
	T_OK(doca_dpa_async_ops_get_dpa_handle(ops, &c.ops));
	T_EQ(pthread_create(&thread, NULL, run_copier, &c), 0);
	for (i = 0; i < 40; i++)
		stop_and_look(t, &c, i % 2 == 0);
	atomic_store(&c.ends, true);
	T_EQ(pthread_join(thread, NULL), 0);
	T_OK(doca_dpa_async_ops_destroy(ops));
	dpa_call_completion_destroy(comp);
	free(c.from);
}
