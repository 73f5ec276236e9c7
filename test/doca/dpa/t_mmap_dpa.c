/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* mmaps for the DPA: handles, the memory behind them, and bufs that are copied. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <doca_dpa_dev_buf.h>

#include "t_main.h"
#include "dpa/call.h"

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
mmap_create(struct tdp *t, void *addr, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	TD_OK(doca_mmap_create(&mmap));
	TD_OK(doca_mmap_set_memrange(mmap, addr, len));
	TD_OK(doca_mmap_set_permissions(mmap, permissions));
	TD_OK(doca_mmap_add_dev(mmap, t->dev));
	return mmap;
}

static struct doca_mmap *
mmap_start(struct tdp *t, uint32_t permissions, doca_dpa_dev_mmap_t *handle)
{
	struct doca_mmap *mmap = mmap_create(t, mem, LEN, permissions);

	TD_OK(doca_mmap_start(mmap));
	TD_OK(doca_mmap_dev_get_dpa_handle(mmap, t->dev, handle));
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

static void
handle_errors(void)
{
	doca_dpa_dev_mmap_t handle = 0, again = 0;
	struct doca_dev *other;
	struct doca_mmap *m;
	struct tdp t;

	tdp_open(&t);
	other = tdpa_dev(1);
	m = mmap_create(&t, mem, LEN, RW);
	TD_IS(doca_mmap_dev_get_dpa_handle(NULL, t.dev, &handle), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_mmap_dev_get_dpa_handle(m, NULL, &handle), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_mmap_dev_get_dpa_handle(m, t.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_mmap_dev_get_dpa_handle(m, t.dev, &handle), DOCA_ERROR_NOT_PERMITTED);
	TD_OK(doca_mmap_start(m));
	TD_IS(doca_mmap_dev_get_dpa_handle(m, other, &handle), DOCA_ERROR_NOT_FOUND);
	T_EQ(handle, 0);
	TD_OK(doca_mmap_dev_get_dpa_handle(m, t.dev, &handle));
	T_NE(handle, 0);
	TD_OK(doca_mmap_dev_get_dpa_handle(m, t.dev, &again));
	T_EQ(again, handle);
	TD_OK(doca_mmap_stop(m));
	TD_IS(doca_mmap_dev_get_dpa_handle(m, t.dev, &again), DOCA_ERROR_NOT_PERMITTED);
	TD_OK(doca_mmap_start(m));
	TD_OK(doca_mmap_dev_get_dpa_handle(m, t.dev, &again));
	T_NE(again, handle);
	TD_OK(doca_mmap_destroy(m));
	TD_OK(doca_dev_close(other));
	tdp_close(&t);
}

static void
pointers(void)
{
	struct doca_mmap *m;
	struct ask ask;
	struct tdp t;

	tdp_open(&t);
	m = mmap_start(&t, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &ask.mmap);
	ask.addr = (uintptr_t)mem;
	ask.len = LEN;
	T_EQ(tdp_rpc(&t, ptr_of_mmap, &ask), (uintptr_t)mem);
	T_EQ(tdp_rpc(&t, ptr_of_buf, &ask), (uintptr_t)mem);
	ask.addr += LEN - 64;
	ask.len = 64;
	T_EQ(tdp_rpc(&t, ptr_of_mmap, &ask), (uintptr_t)mem + LEN - 64);
	T_EQ(tdp_rpc(&t, ptr_of_buf, &ask), (uintptr_t)mem + LEN - 64);
	/* A buf without bytes may be at the end. */
	ask.addr += 64;
	ask.len = 0;
	T_EQ(tdp_rpc(&t, ptr_of_buf, &ask), (uintptr_t)mem + LEN);
	TD_OK(doca_mmap_destroy(m));
	tdp_close(&t);
}

/* Here it works, but a card could not. */
static void
unaligned(void)
{
	struct doca_mmap *m;
	struct ask ask;
	size_t before;
	struct tdp t;

	tdp_open(&t);
	m = mmap_start(&t, RW, &ask.mmap);
	ask.addr = (uintptr_t)mem + LEN - 1;
	T_EQ(tdp_rpc(&t, ptr_of_mmap, &ask), (uintptr_t)mem + LEN - 1);
	T_STR_HAS(tdpa_log(), "doca_dpa_dev_mmap_get_external_ptr");
	T_STR_HAS(tdpa_log(), "alignment to 64 bytes");
	before = strlen(tdpa_log());
	ask.addr = (uintptr_t)mem + 64;
	T_EQ(tdp_rpc(&t, ptr_of_mmap, &ask), (uintptr_t)mem + 64);
	T_STR_EQ(tdpa_log() + before, "");
	TD_OK(doca_mmap_destroy(m));
	tdp_close(&t);
}

#define BEHIND ((uintptr_t)mem + LEN)

static void
wrong_ranges(void)
{
	const struct {
		tdp_rpc_t fn;
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
	struct tdp t;

	for (i = 0; i < RTE_DIM(wrongs); i++) {
		tdp_open(&t);
		m = mmap_start(&t, RW, &ask.mmap);
		ask.addr = wrongs[i].addr;
		ask.len = wrongs[i].len;
		tdp_rpc_faults(&t, wrongs[i].fn, &ask, "+256): without [0x");
		TD_OK(doca_mmap_destroy(m));
		tdp_close(&t);
	}
}

static void
wrong_handles(void)
{
	const doca_dpa_dev_mmap_t wrongs[] = { 0, 2, 0x7777, UINT32_MAX };
	struct ask ask = { .addr = (uintptr_t)mem, .len = 1 };
	unsigned int i;
	struct tdp t;

	for (i = 0; i < RTE_DIM(wrongs); i++) {
		ask.mmap = wrongs[i];
		tdp_open(&t);
		tdp_rpc_faults(&t, ptr_of_buf, &ask, "is no handle of a started mmap");
		tdp_close(&t);
	}
	ask.mmap = 1;
	tdp_open(&t);
	tdp_rpc_faults(&t, ptr_of_buf, &ask, "get_external_ptr: 0 is no buf");
	tdp_close(&t);
}

static void
handles_die(void)
{
	doca_dpa_dev_mmap_t next;
	struct doca_mmap *m, *n;
	struct ask ask;
	struct tdp t;

	tdp_open(&t);
	ask.addr = (uintptr_t)mem;
	m = mmap_start(&t, RW, &ask.mmap);
	TD_OK(doca_mmap_stop(m));
	tdp_rpc_faults(&t, ptr_of_mmap, &ask, "is no handle of a started mmap");
	TD_OK(doca_mmap_rm_dev(m, t.dev));
	tdp_close(&t);
	tdp_open(&t);
	n = mmap_start(&t, RW, &next);
	T_NE(next, ask.mmap);
	tdp_rpc_faults(&t, ptr_of_mmap, &ask, "is no handle of a started mmap");
	ask.mmap = next;
	TD_OK(doca_mmap_destroy(n));
	TD_OK(doca_mmap_destroy(m));
	tdp_close(&t);
	tdp_open(&t);
	tdp_rpc_faults(&t, ptr_of_mmap, &ask, "is no handle of a started mmap");
	tdp_close(&t);
}

/* All entries of the table, more often than it is long, and no handle twice in a row. */
static void
many_handles(void)
{
	enum { NB = 4000, ROUNDS = 3 };
	doca_dpa_dev_mmap_t handles[NB];
	struct doca_mmap *mmaps[NB];
	unsigned int i, round;
	struct ask ask = { .addr = (uintptr_t)mem };
	struct tdp t;

	tdp_open(&t);
	memset(handles, 0, sizeof(handles));
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < NB; i++) {
			ask.mmap = handles[i];
			mmaps[i] = mmap_start(&t, RW, &handles[i]);
			T_NE(handles[i], ask.mmap);
			ask.mmap = handles[i];
			T_EQ(ptr_of_mmap(&ask), (uintptr_t)mem);
		}
		for (i = 0; i < NB; i++) {
			TD_OK(doca_mmap_destroy(mmaps[i]));
			ask.mmap = handles[i];
		}
		T_EQ(ptr_of_mmap(&ask), 0);
	}
	tdp_close(&t);
}

/* Imported: handles without end, until there are none. */
static void
imports(void)
{
	enum { NB = 4096 };
	struct doca_mmap *exporter, *mmaps[NB + 1];
	doca_dpa_dev_mmap_t handle = 0;
	struct ask ask = { .addr = (uintptr_t)mem };
	const void *desc;
	unsigned int i;
	struct tdp t;
	size_t len;

	tdp_open(&t);
	exporter = mmap_create(&t, mem, LEN, RW | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	TD_OK(doca_mmap_start(exporter));
	TD_OK(doca_mmap_export_pci(exporter, t.dev, &desc, &len));
	for (i = 0; i <= NB; i++)
		TD_OK(doca_mmap_create_from_export(NULL, desc, len, t.dev, &mmaps[i]));
	for (i = 0; i < NB; i++)
		TD_OK(doca_mmap_dev_get_dpa_handle(mmaps[i], t.dev, &handle));
	TD_IS(doca_mmap_dev_get_dpa_handle(mmaps[NB], t.dev, &handle), DOCA_ERROR_NO_MEMORY);
	TD_OK(doca_mmap_dev_get_dpa_handle(mmaps[0], t.dev, &ask.mmap));
	tdp_rpc_faults(&t, ptr_of_mmap, &ask, "imported, its memory is another process's");
	TD_OK(doca_mmap_destroy(mmaps[7]));
	TD_OK(doca_mmap_dev_get_dpa_handle(mmaps[NB], t.dev, &handle));
	for (i = 0; i <= NB; i++)
		if (i != 7)
			TD_OK(doca_mmap_destroy(mmaps[i]));
	TD_OK(doca_mmap_destroy(exporter));
	tdp_close(&t);
}

/* Memory of the DPA is memory for an mmap. */
static void
dpa_memory(void)
{
	struct doca_mmap *m;
	struct ask ask;
	struct tdp t;

	tdp_open(&t);
	TD_OK(doca_dpa_mem_alloc(t.dpa, LEN, &ask.addr));
	TD_OK(doca_mmap_create(&m));
	TD_IS(doca_mmap_set_dpa_memrange(NULL, t.dpa, ask.addr, LEN), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_mmap_set_dpa_memrange(m, NULL, ask.addr, LEN), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_mmap_set_dpa_memrange(m, t.dpa, 0, LEN), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_mmap_set_dpa_memrange(m, t.dpa, ask.addr, 0), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_mmap_set_dpa_memrange(m, t.dpa, ask.addr, SIZE_MAX),
		DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_mmap_set_dpa_memrange(m, t.dpa, ask.addr, LEN));
	TD_IS(doca_mmap_set_dpa_memrange(m, t.dpa, ask.addr, LEN), DOCA_ERROR_NOT_PERMITTED);
	TD_OK(doca_mmap_add_dev(m, t.dev));
	TD_OK(doca_mmap_start(m));
	TD_IS(doca_mmap_set_dpa_memrange(m, t.dpa, ask.addr, LEN), DOCA_ERROR_BAD_STATE);
	TD_OK(doca_mmap_dev_get_dpa_handle(m, t.dev, &ask.mmap));
	T_EQ(tdp_rpc(&t, ptr_of_mmap, &ask), ask.addr);
	TD_OK(doca_mmap_destroy(m));
	TD_OK(doca_dpa_mem_free(t.dpa, ask.addr));
	tdp_close(&t);
}

/* Bufs of an mmap, in an inventory. */
struct bufs {
	struct tdp t;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	doca_dpa_dev_uintptr_t dev;
};

static void
bufs_open(struct bufs *b, uint32_t permissions)
{
	tdp_open(&b->t);
	b->mmap = mmap_create(&b->t, mem, LEN, permissions);
	TD_OK(doca_mmap_start(b->mmap));
	TD_OK(doca_buf_inventory_create(8, &b->inventory));
	TD_OK(doca_buf_inventory_start(b->inventory));
	TD_OK(doca_dpa_mem_alloc(b->t.dpa, LEN, &b->dev));
}

static struct doca_buf *
buf_get(struct bufs *b, size_t at, size_t len, size_t data_at, size_t data_len)
{
	struct doca_buf *buf;

	TD_OK(doca_buf_inventory_buf_get_by_args(b->inventory, b->mmap, mem + at, len,
		mem + data_at, data_len, &buf));
	return buf;
}

static void
bufs_close(struct bufs *b)
{
	TD_OK(doca_buf_inventory_stop(b->inventory));
	TD_OK(doca_buf_inventory_destroy(b->inventory));
	TD_OK(doca_mmap_destroy(b->mmap));
	tdp_close(&b->t);
}

static size_t
data_len(const struct doca_buf *buf)
{
	size_t len;

	TD_OK(doca_buf_get_data_len(buf, &len));
	return len;
}

static void
bufs_to_and_from(void)
{
	uint8_t got[LEN] = { 0 };
	struct doca_buf *buf;
	struct bufs b;
	unsigned int i;

	bufs_open(&b, RW);
	for (i = 0; i < LEN; i++)
		mem[i] = (uint8_t)i;
	buf = buf_get(&b, 10, 50, 20, 30);
	TD_OK(doca_dpa_memset(b.t.dpa, b.dev, 0xff, LEN));
	TD_OK(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev + 1, buf, 30));
	TD_OK(doca_dpa_d2h_memcpy(b.t.dpa, got, b.dev, LEN));
	T_EQ(got[0], 0xff);
	T_CHECK(memcmp(got + 1, mem + 20, 30) == 0);
	T_EQ(got[31], 0xff);
	T_EQ(data_len(buf), 30);
	/* Back: the data grows with what is copied. */
	TD_OK(doca_dpa_memset(b.t.dpa, b.dev, 0x55, LEN));
	TD_OK(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 10));
	T_EQ(mem[19], 19);
	T_EQ(mem[20], 0x55);
	T_EQ(mem[29], 0x55);
	T_EQ(mem[30], 30);
	T_EQ(data_len(buf), 30);
	TD_OK(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 40));
	T_EQ(mem[59], 0x55);
	T_EQ(mem[60], 60);
	T_EQ(data_len(buf), 40);
	TD_OK(doca_buf_dec_refcount(buf, NULL));
	bufs_close(&b);
}

static void
buf_errors(void)
{
	struct doca_buf *buf, *other;
	struct bufs b;

	bufs_open(&b, RW);
	buf = buf_get(&b, 10, 50, 20, 30);
	other = buf_get(&b, 100, 50, 100, 50);
	TD_IS(doca_dpa_h2d_buf_memcpy(NULL, b.dev, buf, 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, 0, buf, 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, 0), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, 31), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev + LEN - 1, buf, 2), DOCA_ERROR_DRIVER);
	TD_IS(doca_dpa_d2h_buf_memcpy(NULL, buf, b.dev, 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, NULL, b.dev, 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, 0, 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 0), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 41), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev + LEN - 1, 40), DOCA_ERROR_DRIVER);
	T_EQ(data_len(buf), 30);
	/* Chains. */
	TD_OK(doca_buf_chain_list(buf, other));
	TD_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, other, 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, other, b.dev, 1), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_buf_dec_refcount(buf, NULL));
	TD_OK(doca_dpa_mem_free(b.t.dpa, b.dev));
	bufs_close(&b);
	/* An mmap that is not to be written to. */
	bufs_open(&b, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	buf = buf_get(&b, 0, LEN, 0, LEN);
	TD_OK(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, LEN));
	TD_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 1), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_dpa_mem_free(b.t.dpa, b.dev));
	TD_OK(doca_dpa_stop(b.t.dpa));
	TD_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, LEN), DOCA_ERROR_BAD_STATE);
	TD_OK(doca_buf_dec_refcount(buf, NULL));
	bufs_close(&b);
}

/* A buf of another process's memory. */
static void
imported_buf(void)
{
	struct doca_mmap *imported, *mmap;
	struct doca_buf *buf;
	const void *desc;
	struct bufs b;
	size_t len;

	bufs_open(&b, RW | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	TD_OK(doca_mmap_export_pci(b.mmap, b.t.dev, &desc, &len));
	TD_OK(doca_mmap_create_from_export(NULL, desc, len, b.t.dev, &imported));
	mmap = b.mmap;
	b.mmap = imported;
	buf = buf_get(&b, 0, LEN, 0, LEN);
	TD_IS(doca_dpa_h2d_buf_memcpy(b.t.dpa, b.dev, buf, 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_d2h_buf_memcpy(b.t.dpa, buf, b.dev, 1), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_buf_dec_refcount(buf, NULL));
	TD_OK(doca_mmap_destroy(imported));
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

	TDPA_UNTIL(atomic_load(&c->nb) >= nb + 2);
}

static void
stop_and_look(struct tdp *t, struct copier *c, bool destroy)
{
	struct doca_mmap *m = mmap_create(t, c->from, 2 * COPY_LEN, RW);
	doca_dpa_dev_mmap_t handle;
	size_t i;

	TD_OK(doca_mmap_start(m));
	TD_OK(doca_mmap_dev_get_dpa_handle(m, t->dev, &handle));
	atomic_store(&c->mmap, handle);
	let_copy(c);
	TD_OK(destroy ? doca_mmap_destroy(m) : doca_mmap_stop(m));
	memset(c->to, 0x77, COPY_LEN);
	let_copy(c);
	atomic_store(&c->mmap, 0);
	let_copy(c);
	for (i = 0; i < COPY_LEN && c->to[i] == 0x77; i++)
		;
	T_EQ(i, COPY_LEN);
	if (!destroy)
		TD_OK(doca_mmap_destroy(m));
}

static void
stops_wait_for_copies(void)
{
	doca_dpa_dev_completion_t comp_handle;
	struct doca_dpa_completion *comp;
	struct doca_dpa_async_ops *ops;
	struct copier c = { 0 };
	pthread_t thread;
	unsigned int i;
	struct tdp t;

	tdp_open(&t);
	c.from = calloc(2, COPY_LEN);
	T_CHECK(c.from != NULL);
	c.to = c.from + COPY_LEN;
	comp = tdp_completion(&t, 4, NULL, &comp_handle);
	TD_OK(doca_dpa_async_ops_create(t.dpa, 1u << 20, 1, &ops));
	TD_OK(doca_dpa_async_ops_attach(ops, comp));
	TD_OK(doca_dpa_async_ops_start(ops));
	TD_OK(doca_dpa_async_ops_get_dpa_handle(ops, &c.ops));
	T_EQ(pthread_create(&thread, NULL, run_copier, &c), 0);
	for (i = 0; i < 40; i++)
		stop_and_look(&t, &c, i % 2 == 0);
	atomic_store(&c.ends, true);
	T_EQ(pthread_join(thread, NULL), 0);
	TD_OK(doca_dpa_async_ops_destroy(ops));
	tdp_completion_destroy(comp);
	free(c.from);
	tdp_close(&t);
}

static const struct t_case cases[] = {
	{ "handle_errors", handle_errors },
	{ "pointers", pointers },
	{ "unaligned", unaligned },
	{ "wrong_ranges", wrong_ranges },
	{ "wrong_handles", wrong_handles },
	{ "handles_die", handles_die },
	{ "many_handles", many_handles },
	{ "imports", imports },
	{ "dpa_memory", dpa_memory },
	{ "bufs_to_and_from", bufs_to_and_from },
	{ "buf_errors", buf_errors },
	{ "imported_buf", imported_buf },
	{ "stops_wait_for_copies", stops_wait_for_copies },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
