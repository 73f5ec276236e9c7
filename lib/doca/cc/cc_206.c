/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Functions of doca_cc in DOCA 2.6 that differ from doca_comch in more than their names. */

#include "cc/types.h"

#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "comch/cc_names.h"

#define CHECK_SAME(name, of) IMPL_CC_CHECK(name, of)
#define CHECK_NEARLY(name, of)
#define CHECK_OLD_SAME(name, of)
#define CHECK_OLD_NEARLY(name, of)
#define CHECK(how, name, of) CHECK_##how(name, of)

IMPL_CC_NAMES(CHECK)

/* doca_cc has no immediate data. */
doca_error_t
doca_cc_producer_task_send_alloc_init(struct doca_comch_producer *producer, struct doca_buf *buf,
		uint32_t consumer_id, struct doca_comch_producer_task_send **task)
{
	return doca_comch_producer_task_send_alloc_init(producer, buf, NULL, 0, consumer_id, task);
}
