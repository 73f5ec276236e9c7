/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Hash tables of device code. */

#include <pthread.h>
#include <stdlib.h>

#include "dpa/call.h"
#include "t_main.h"

#define NB_THREADS 4
#define NB_KEYS 1000

struct table {
	doca_dpa_dev_hash_table_t handle;
	unsigned int size;
};

static struct doca_dpa_hash_table *
create(struct dpa_calls *t, struct table *table, unsigned int size)
{
	struct doca_dpa_hash_table *ht;

	T_OK(doca_dpa_hash_table_create(t->dpa, size, &ht));
	T_OK(doca_dpa_hash_table_get_dpa_handle(ht, &table->handle));
	T_NE(table->handle, 0);
	table->size = size;
	return ht;
}

static uint64_t
add_find_remove(void *arg)
{
	doca_dpa_dev_hash_table_t ht = ((struct table *)arg)->handle;
	uint64_t value = 77;

	T_EQ(doca_dpa_dev_hash_table_find(ht, 1, &value), 0);
	T_EQ(value, 77);
	doca_dpa_dev_hash_table_remove(ht, 1);
	doca_dpa_dev_hash_table_add(ht, 1, 10);
	doca_dpa_dev_hash_table_add(ht, UINT32_MAX, UINT64_MAX);
	doca_dpa_dev_hash_table_add(ht, 0, 0);
	T_EQ(doca_dpa_dev_hash_table_find(ht, 1, &value), 1);
	T_EQ(value, 10);
	T_EQ(doca_dpa_dev_hash_table_find(ht, UINT32_MAX, &value), 1);
	T_CHECK(value == UINT64_MAX);
	T_EQ(doca_dpa_dev_hash_table_find(ht, 0, &value), 1);
	T_EQ(value, 0);
	T_EQ(doca_dpa_dev_hash_table_find(ht, 0, NULL), 1);
	/* A key that is there gets another value. */
	doca_dpa_dev_hash_table_add(ht, 1, 11);
	T_EQ(doca_dpa_dev_hash_table_find(ht, 1, &value), 1);
	T_EQ(value, 11);
	doca_dpa_dev_hash_table_remove(ht, 1);
	T_EQ(doca_dpa_dev_hash_table_find(ht, 1, &value), 0);
	T_EQ(doca_dpa_dev_hash_table_find(ht, 0, &value), 1);
	return 1;
}

DPA_CALLS_CASE(device_code_uses_it, t)
{
	struct doca_dpa_hash_table *ht;
	struct table table;

	ht = create(t, &table, 3);
	T_EQ(dpa_call(t, add_find_remove, &table), 1);
	T_OK(doca_dpa_hash_table_destroy(ht));
}

/* As many as it has room for, and again in the room of those removed. */
static uint64_t
fill(void *arg)
{
	struct table *table = arg;
	uint64_t value;
	uint32_t i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < table->size; i++)
			doca_dpa_dev_hash_table_add(table->handle, i * 0x9e3779b1u, i + round);
		for (i = 0; i < table->size; i++) {
			T_EQ(doca_dpa_dev_hash_table_find(table->handle, i * 0x9e3779b1u, &value),
				1);
			T_EQ(value, i + round);
		}
		/* One that is there does not need room. */
		doca_dpa_dev_hash_table_add(table->handle, 0, 5);
		if (round == 2)
			return 1;
		for (i = 0; i < table->size; i++)
			doca_dpa_dev_hash_table_remove(table->handle, i * 0x9e3779b1u);
	}
	return 0;
}

static uint64_t
add_one_more(void *arg)
{
	doca_dpa_dev_hash_table_add(((struct table *)arg)->handle, 3, 1);
	T_FAIL("goes on after a fault");
	return 0;
}

DPA_CALLS_CASE(full, t)
{
	struct doca_dpa_hash_table *ht;
	struct table table;

	ht = create(t, &table, NB_KEYS);
	T_EQ(dpa_call(t, fill, &table), 1);
	dpa_call_faults(t, add_one_more, &table,
		"doca_dpa_dev_hash_table_add: the table is full (1000 keys)");
	T_OK(doca_dpa_hash_table_destroy(ht));
}

DPA_CALLS_CASE(arguments, t)
{
	doca_dpa_dev_hash_table_t handle;
	struct doca_dpa_hash_table *ht;
	struct doca_dpa *idle;

	T_OK(doca_dpa_create(t->dev, &idle));
	T_IS(doca_dpa_hash_table_create(idle, 1, &ht), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_destroy(idle));
	T_INVALID(doca_dpa_hash_table_create(NULL, 1, &ht));
	T_INVALID(doca_dpa_hash_table_create(t->dpa, 0, &ht));
	T_INVALID(doca_dpa_hash_table_create(t->dpa, (1u << 24) + 1, &ht));
	T_INVALID(doca_dpa_hash_table_create(t->dpa, 1, NULL));
	/* The most, of which nothing is touched; but a sanitizer marks all of it. */
	T_OK(doca_dpa_hash_table_create(t->dpa, t_sanitized() ? 1 : 1u << 24, &ht));
	T_REFUSES_NULL(doca_dpa_hash_table_get_dpa_handle, ht, &handle);
	T_IS(doca_dpa_stop(t->dpa), DOCA_ERROR_IN_USE);
	T_INVALID(doca_dpa_hash_table_destroy(NULL));
	T_OK(doca_dpa_hash_table_destroy(ht));
}

static uint64_t
add(void *arg)
{
	doca_dpa_dev_hash_table_add(((struct table *)arg)->handle, 1, 1);
	return 0;
}

static uint64_t
take_out(void *arg)
{
	doca_dpa_dev_hash_table_remove(((struct table *)arg)->handle, 1);
	return 0;
}

static uint64_t
find(void *arg)
{
	uint64_t value;

	return (uint64_t)doca_dpa_dev_hash_table_find(((struct table *)arg)->handle, 1, &value);
}

/* A handle is of one table and dies with it, although another takes its place. */
T_CASE(handles)
{
	static const dpa_call_t fns[] = { add, take_out, find };
	struct doca_dpa_hash_table *ht, *next;
	struct table gone, here;
	unsigned int i;
	struct dpa_calls t;

	for (i = 0; i < RTE_DIM(fns); i++) {
		dpa_calls_open(&t);
		ht = create(&t, &gone, 1);
		T_OK(doca_dpa_hash_table_destroy(ht));
		next = create(&t, &here, 1);
		T_CHECK(here.handle != gone.handle);
		dpa_call(&t, fns[i], &here);
		dpa_call_faults(&t, fns[i], &gone, ": the hash table is stopped or");
		T_OK(doca_dpa_hash_table_destroy(next));
		dpa_calls_close(&t);
		gone.handle = 0;
		dpa_calls_open(&t);
		dpa_call_faults(&t, fns[i], &gone, "0x0 is not a valid hash table handle");
		dpa_calls_close(&t);
	}
}

/* A host thread may call as well: then a fault returns. */
DPA_CALLS_CASE(host_threads_call, t)
{
	struct doca_dpa_hash_table *ht;
	struct table table;
	uint64_t value = 3;

	ht = create(t, &table, 1);
	doca_dpa_dev_hash_table_add(table.handle, 1, 2);
	doca_dpa_dev_hash_table_add(table.handle, 2, 2);
	T_EQ(doca_dpa_dev_hash_table_find(table.handle, 1, &value), 1);
	T_EQ(doca_dpa_dev_hash_table_find(table.handle, 2, &value), 0);
	T_EQ(value, 2);
	T_OK(doca_dpa_hash_table_destroy(ht));
	T_EQ(doca_dpa_dev_hash_table_find(table.handle, 1, &value), 0);
	doca_dpa_dev_hash_table_add(table.handle, 1, 2);
	doca_dpa_dev_hash_table_remove(table.handle, 1);
	T_OK(doca_dpa_peek_at_last_error(t->dpa));
}

struct user {
	struct dpa_calls *t;
	struct table *table;
	uint32_t first;
};

static uint64_t
use(void *arg)
{
	const struct user *u = arg;
	uint64_t value;
	uint32_t i;

	for (i = 0; i < NB_KEYS; i++) {
		doca_dpa_dev_hash_table_add(u->table->handle, u->first + i % 64, i);
		T_EQ(doca_dpa_dev_hash_table_find(u->table->handle, u->first + i % 64, &value), 1);
		T_EQ(value, i);
		if (i % 3 == 0)
			doca_dpa_dev_hash_table_remove(u->table->handle, u->first + i % 64);
	}
	return 1;
}

static void *
run_use(void *arg)
{
	struct user *u = arg;

	T_EQ(dpa_call(u->t, use, u), 1);
	return NULL;
}

DPA_CALLS_CASE(several_at_once, t)
{
	struct user users[NB_THREADS];
	pthread_t threads[NB_THREADS];
	struct doca_dpa_hash_table *ht;
	struct table table;
	unsigned int i;

	ht = create(t, &table, NB_THREADS * 64);
	for (i = 0; i < NB_THREADS; i++) {
		users[i] = (struct user){ t, &table, i * 64 };
		T_EQ(pthread_create(&threads[i], NULL, run_use, &users[i]), 0);
	}
	for (i = 0; i < NB_THREADS; i++)
		T_EQ(pthread_join(threads[i], NULL), 0);
	T_OK(doca_dpa_hash_table_destroy(ht));
}
