/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_SYNC_H
#define IMPL_ACCEL_SYNC_H

/*
 * Sync events: a native counter, and what DOCA has around it.
 *
 * sync_event.c has the object, its locations, and the functions that work at once; sync_task.c has
 * its tasks and jobs. The counter is there while the event is started, by itself or as a context.
 *
 * Launches of kernels (dpa/launch.c) use the counter from threads of their own, and hold it: then
 * the program cannot stop the event, and a context that fails leaves the counter to them.
 */

#include <rte_comch_counter.h>

#include <doca_sync_event.h>

#include "accel/accel.h"
#include "mem/desc.h"

/* Of export descriptors. */
struct impl_sync_desc {
	struct impl_desc_head head;
	uint8_t native[RTE_COMCH_EXPORT_DESC_LEN]; /* for rte_comch_counter_import() */
	rte_le32_t zero;
	rte_le32_t check;
};

/* A counter, for the event and for others that hold it. */
struct impl_sync_word {
	struct rte_comch_counter *counter;
	uint32_t nb_holders; /* sync_word.c */
};

/* What dpa/sync.c has added to an event. */
struct impl_sync_dpa_ops {
	void (*stopping)(struct doca_sync_event *event);   /* its counter is about to go */
	void (*destroying)(struct doca_sync_event *event);
};

struct doca_sync_event {
	struct impl_accel accel;
	struct impl_sync_word *word;       /* NULL: not started */
	bool is_alone;                     /* started, but not as a context */
	bool is_imported;
	bool has_publisher, has_subscriber, is_for_remote;
	struct impl_sync_desc desc;        /* of an export, or an import */
	const struct impl_sync_dpa_ops *dpa_ops;           /* NULL: no location on a DPA */
	struct doca_dpa *publisher_dpa, *subscriber_dpa;   /* NULL: none */
	uint64_t dpa_handle;               /* 0: none yet */
};

/* Make a new event one of the other side's. */
doca_error_t impl_sync_import(struct doca_dev *dev, const uint8_t *data, size_t sz,
		struct doca_sync_event *event);
/* Make the counter, or fetch it; free it. */
doca_error_t impl_sync_begin(struct doca_sync_event *event);
void impl_sync_end(struct doca_sync_event *event);
/* DOCA_ERROR_BAD_STATE if locations cannot be added any more. */
doca_error_t impl_sync_may_add(const struct doca_sync_event *event);

/* DOCA_ERROR_IN_USE, logged: somebody holds the counter. */
doca_error_t impl_sync_may_stop(const struct doca_sync_event *event);

/* sync_word.c */

/* Takes the counter over. NULL: out of memory. */
struct impl_sync_word *impl_sync_word_create(struct rte_comch_counter *counter);
/* One more holds it; and no more. The last one frees it. */
void impl_sync_word_hold(struct impl_sync_word *word);
void impl_sync_word_drop(struct impl_sync_word *word);
/* Set it or add to it, and drop it: who sees the update sees one holder less as well. */
void impl_sync_word_drop_set(struct impl_sync_word *word, uint64_t value);
void impl_sync_word_drop_add(struct impl_sync_word *word, uint64_t value);
uint32_t impl_sync_word_nb_holders(const struct impl_sync_word *word);

#endif /* IMPL_ACCEL_SYNC_H */
