/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Hash tables of device code.
 *
 * rte_hash needs EAL memory, of which DOCA programs have little (a table may have 16
 * million keys), and may be full before the requested number of keys. So this uses
 * libbsd's red-black tree over an array of nodes, which finds a key in a few dozen steps.
 * A mutex instead of a spinlock, since DPA threads may share a CPU.
 */

#include <pthread.h>
#include <stdlib.h>

#include <bsd/sys/tree.h>

#include <rte_common.h>

#include "dpa/dpa.h"
#include "log/log.h"

#define MAX_ENTRIES (1u << 24)

struct node {
	RB_ENTRY(node) entry; /* its left link is next in the list of free nodes */
	uint64_t value;
	uint32_t key;
};

RB_HEAD(tree, node);

struct doca_dpa_hash_table {
	struct doca_dpa *dpa;
	doca_dpa_dev_hash_table_t handle;
	pthread_mutex_t lock;  /* protects the fields below */
	struct tree tree;
	struct node *free;
	uint32_t nb_used;      /* nodes used so far: untouched memory costs nothing */
	uint32_t nb_nodes;
	struct node nodes[];
};

static int
compare(const struct node *a, const struct node *b)
{
	return (a->key > b->key) - (a->key < b->key);
}

/* RB_GENERATE_STATIC() needs a macro that only BSD has. */
RB_GENERATE_INTERNAL(tree, node, entry, compare, __rte_unused static)

static struct node *
find(struct doca_dpa_hash_table *ht, uint32_t key)
{
	struct node like = { .key = key };

	return RB_FIND(tree, &ht->tree, &like);
}

static struct node *
take_node(struct doca_dpa_hash_table *ht)
{
	struct node *node = ht->free;

	if (node != NULL)
		ht->free = RB_LEFT(node, entry);
	else if (ht->nb_used < ht->nb_nodes)
		node = &ht->nodes[ht->nb_used++];
	return node;
}

/* False: the table is full. */
static bool
add(struct doca_dpa_hash_table *ht, uint32_t key, uint64_t value)
{
	struct node *node = find(ht, key);

	if (node == NULL) {
		node = take_node(ht);
		if (node == NULL)
			return false;
		node->key = key;
		RB_INSERT(tree, &ht->tree, node);
	}
	node->value = value;
	return true;
}

doca_error_t
doca_dpa_hash_table_create(struct doca_dpa *dpa, unsigned int num_entries,
		struct doca_dpa_hash_table **ht)
{
	struct doca_dpa_hash_table *t;
	doca_error_t ret;

	if (dpa == NULL || ht == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (num_entries == 0 || num_entries > MAX_ENTRIES) {
		IMPL_ERR("DPA hash table: %u entries, expected 1 to %u", num_entries,
			MAX_ENTRIES);
		return DOCA_ERROR_INVALID_VALUE;
	}
	ret = impl_dpa_join(dpa);
	if (ret != DOCA_SUCCESS)
		return ret;
	t = calloc(1, sizeof(*t) + num_entries * sizeof(t->nodes[0]));
	if (t == NULL)
		goto leave_dpa;
	t->dpa = dpa;
	t->nb_nodes = num_entries;
	RB_INIT(&t->tree);
	pthread_mutex_init(&t->lock, NULL);
	t->handle = impl_dpa_handle_create(IMPL_DPA_HASH_TABLE, t);
	if (t->handle == 0)
		goto free_table;
	*ht = t;
	return DOCA_SUCCESS;

free_table:
	pthread_mutex_destroy(&t->lock);
	free(t);
leave_dpa:
	impl_dpa_drop(dpa);
	return DOCA_ERROR_NO_MEMORY;
}

doca_error_t
doca_dpa_hash_table_destroy(struct doca_dpa_hash_table *ht)
{
	if (ht == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_dpa_handle_destroy(ht->handle);
	pthread_mutex_destroy(&ht->lock);
	impl_dpa_drop(ht->dpa);
	free(ht);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_hash_table_get_dpa_handle(struct doca_dpa_hash_table *ht,
		doca_dpa_dev_hash_table_t *ht_handle)
{
	if (ht == NULL || ht_handle == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*ht_handle = ht->handle;
	return DOCA_SUCCESS;
}

void
doca_dpa_dev_hash_table_add(doca_dpa_dev_hash_table_t ht_handle, uint32_t key, uint64_t value)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct doca_dpa_hash_table *ht;
	bool is_added;

	ht = impl_dpa_object(self, IMPL_DPA_HASH_TABLE, ht_handle, __func__);
	if (ht == NULL)
		return;
	pthread_mutex_lock(&ht->lock);
	is_added = add(ht, key, value);
	pthread_mutex_unlock(&ht->lock);
	if (is_added)
		impl_dpa_leave(self);
	else
		impl_dpa_fault(self, __func__, "the table is full (%u keys)", ht->nb_nodes);
}

void
doca_dpa_dev_hash_table_remove(doca_dpa_dev_hash_table_t ht_handle, uint32_t key)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct doca_dpa_hash_table *ht;
	struct node *node;

	ht = impl_dpa_object(self, IMPL_DPA_HASH_TABLE, ht_handle, __func__);
	if (ht == NULL)
		return;
	pthread_mutex_lock(&ht->lock);
	node = find(ht, key);
	if (node != NULL) {
		RB_REMOVE(tree, &ht->tree, node);
		RB_LEFT(node, entry) = ht->free;
		ht->free = node;
	}
	pthread_mutex_unlock(&ht->lock);
	impl_dpa_leave(self);
}

int
doca_dpa_dev_hash_table_find(doca_dpa_dev_hash_table_t ht_handle, uint32_t key, uint64_t *value)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct doca_dpa_hash_table *ht;
	const struct node *node;

	ht = impl_dpa_object(self, IMPL_DPA_HASH_TABLE, ht_handle, __func__);
	if (ht == NULL)
		return 0;
	pthread_mutex_lock(&ht->lock);
	node = find(ht, key);
	if (node != NULL && value != NULL)
		*value = node->value;
	pthread_mutex_unlock(&ht->lock);
	impl_dpa_leave(self);
	return node != NULL;
}
