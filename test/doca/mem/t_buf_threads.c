/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* One mmap, taken from by threads with an inventory each: runs under TSan. */

#include <pthread.h>

#include "mem/mem.h"
#include "mem/stand_ins.h"
#include "t_main.h"

#define NB_THREADS 4
#define ROUNDS 2000

static uint8_t mem[4096];

static void *
take_and_give(void *arg)
{
	struct doca_buf_inventory *inv = started_inventory(8);
	struct doca_mmap *m = arg;
	struct doca_buf *bufs[8], *b;
	unsigned int round, i;

	for (round = 0; round < ROUNDS; round++) {
		impl_mmap_hold(m);
		for (i = 0; i < 8; i++)
			T_OK(doca_buf_inventory_buf_get_by_data(inv, m, mem + i, 8, &bufs[i]));
		T_IS(doca_buf_inventory_buf_get_by_data(inv, m, mem, 8, &b), DOCA_ERROR_NO_MEMORY);
		for (i = 0; i < 8; i++) {
			T_CHECK(bufs[i]->mr == impl_mmap_mr(m));
			T_OK(doca_buf_dec_refcount(bufs[i], NULL));
		}
		impl_mmap_drop(m);
	}
	T_OK(doca_buf_inventory_destroy(inv));
	return NULL;
}

/* behaviour: M9 */
T_CASE(thread_safe_mmap)
{
	pthread_t threads[NB_THREADS];
	struct doca_mmap *m;
	unsigned int i;

	T_OK(doca_mmap_create(&m));
	T_OK(doca_mmap_set_memrange(m, mem, sizeof(mem)));
	T_OK(doca_mmap_enable_thread_safety(m));
	T_OK(doca_mmap_start(m));
	for (i = 0; i < NB_THREADS; i++)
		T_EQ(pthread_create(&threads[i], NULL, take_and_give, m), 0);
	for (i = 0; i < NB_THREADS; i++)
		T_EQ(pthread_join(threads[i], NULL), 0);
	T_EQ(mmap_nb_bufs(m), 0);
	/* All holds are gone. */
	T_OK(doca_mmap_destroy(m));
}
