/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Memory that the peer exports: producers write into it. */

#include <errno.h>
#include <string.h>

#include "sdk/comch_log.h"
#include "data/comch_import.h"
#include "data/comch_reclaim.h"

/* A free entry. Regions are separate from numbers: producers may use one after MR_DEL. */
static struct rte_comch_region *
free_import(struct rte_comch_conn *conn)
{
	uint32_t i;

	for (i = 0; i < COMCH_MAX_IMPORT_REGIONS; i++)
		if (conn->fast->import_region[i].addr == NULL)
			return &conn->fast->import_region[i];
	return NULL;
}

static int
import_add(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket)
{
	struct rte_comch_mem_desc desc = {
		.kind = f->kind, .offset = f->offset, .len = f->size, .fd = -1,
	};
	struct rte_comch_region *region;
	int ret;

	region = conn->fast->imports[f->id] == NULL ? free_import(conn) : NULL;
	if (region == NULL)
		return -EBUSY;
	ret = conn->ops->data->mem_take(conn->link, &desc, ticket, region);
	if (ret != 0) {
		region->addr = NULL;
		return ret;
	}
	/*
	 * Release: pairs with the acquire in comch_send_check_desc(), which reads the region.
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&conn->fast->imports[f->id], region);
	return 0;
}

int
comch_import_on_add(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run __rte_unused)
{
	struct comch_wire_frame ack = { .type = COMCH_WIRE_MR_ACK, .id = f->id };

	if (f->id >= COMCH_MAX_IMPORTS || f->size == 0)
		return -EPROTO;
	pthread_mutex_lock(&conn->lock);
	ack.status = import_add(conn, f, ticket);
	pthread_mutex_unlock(&conn->lock);
	if (ack.status == -EPROTO || (ack.status != 0 &&
			comch_fast_path_refused(conn, "registration", f->id, ack.status) != 0))
		return -EPROTO;
	comch_tx_frame(conn, &ack, NULL, 0);
	return 0;
}

int
comch_import_on_del(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket __rte_unused, struct comch_run *run __rte_unused)
{
	struct rte_comch_region *region;

	if (f->id >= COMCH_MAX_IMPORTS)
		return -EPROTO;
	pthread_mutex_lock(&conn->lock);
	region = conn->fast->imports[f->id];
	if (region != NULL) {
		/*
		 * Release: pairs with the acquire in comch_send_check_desc(). A producer
		 * that misses the import finds the consumers that went before it gone.
		 * Model: publish.pml, publish.
		 */
		comch_store_release(&conn->fast->imports[f->id], NULL);
		comch_reclaim_later(conn, NULL, region);
	}
	pthread_mutex_unlock(&conn->lock);
	return 0;
}

void
comch_import_free_all(struct rte_comch_conn *conn)
{
	uint32_t i;

	for (i = 0; i < COMCH_MAX_IMPORTS; i++)
		comch_store_relaxed(&conn->fast->imports[i], NULL);
	for (i = 0; i < COMCH_MAX_IMPORT_REGIONS; i++) {
		if (conn->fast->import_region[i].addr == NULL)
			continue;
		conn->ops->data->mem_drop(conn->link, &conn->fast->import_region[i]);
		conn->fast->import_region[i].addr = NULL;
	}
}

uint32_t
comch_import_nb_regions(const struct rte_comch_conn *conn)
{
	uint32_t i, n = COMCH_REMOTE_REGIONS * conn->fast->nb_remotes;

	for (i = 0; i < COMCH_MAX_IMPORT_REGIONS; i++)
		n += conn->fast->import_region[i].addr != NULL;
	return n;
}
