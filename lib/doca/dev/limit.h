/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_LIMIT_H
#define IMPL_DEV_LIMIT_H

/*
 * Limits of a device: what its capabilities say, and what its setters accept. The largest are those
 * of the channel, which every driver supports. Keys of the device table set lower ones, so that a
 * program meets here what a card would refuse.
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>
#include <rte_comch.h>

#define IMPL_MAX_NAME RTE_COMCH_NAME_SIZE
#define IMPL_MAX_MSG_SIZE 4080
#define IMPL_MAX_RECV_QUEUE 8192
#define IMPL_MAX_SEND_TASKS 8192
#define IMPL_MAX_CLIENTS 4096
#define IMPL_MAX_DP_TASKS 65536
#define IMPL_MAX_DP_QUEUES 256
#define IMPL_MAX_BUF_SIZE (UINT32_C(1) << 30)
#define IMPL_MAX_IMM RTE_COMCH_IMM_SIZE
#define IMPL_MAX_ACCEL_TASKS 65536
#define IMPL_MAX_DMA_SIZE (UINT32_C(1) << 31)
#define IMPL_MAX_DMA_LIST 64
#define IMPL_MAX_SHA_SIZE (UINT32_C(1) << 31)
#define IMPL_MAX_COMPRESS_SIZE (UINT32_C(1) << 27)
#define IMPL_MAX_COMPRESS_LIST 64

/* Named as the capabilities in the DOCA guides, those of accelerators with their library. */
struct impl_limits {
	uint32_t max_msg_size;
	uint32_t max_recv_queue_size;
	uint32_t max_send_tasks;
	uint32_t max_clients;
	uint32_t max_num_tasks;    /* of a consumer or producer */
	uint32_t max_buf_size;
	uint32_t max_imm_data_len; /* of a consumer of a connection */
	uint32_t max_consumers;    /* of a connection */
	uint32_t max_producers;
	uint32_t dma_max_buf_size; /* bytes of a copy */
	uint32_t dma_max_buf_list_len; /* of source and destination together */
	uint32_t dma_max_num_tasks;
	uint32_t sha_max_src_buf_size; /* bytes of a message, or of a part of one */
	uint32_t compress_max_buf_size; /* bytes of a source */
	uint32_t compress_max_buf_list_len; /* of a source */
};

#define IMPL_LIMIT(name) offsetof(struct impl_limits, name)

static inline uint32_t
impl_limit_at(const struct impl_limits *limits, size_t offset)
{
	return *(const uint32_t *)(const void *)((const char *)limits + offset);
}

struct impl_table;
struct impl_entry;

/* Parse a line, limit.NAME = VALUE, of a section. */
doca_error_t impl_limits_set(struct impl_table *table, struct impl_entry *entry,
		unsigned int line, const char *name, const char *value);
/* The value of the key `profile`. NULL, or what was expected. */
const char *impl_limits_parse_profile(const char *value, void *dst, size_t size);
/* Fill in those that are not given: of the profile, of the owner (NULL: none), of the channel. */
void impl_limits_fill(struct impl_entry *entry, const struct impl_limits *owner);

#endif /* IMPL_DEV_LIMIT_H */
