/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Keys of the device table for limits, see limit.h. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <rte_common.h>

#include "dev/limit.h"
#include "dev/table.h"

static const struct {
	const char *name;
	size_t offset;
	uint32_t min;
	uint32_t max;
} keys[] = {
#define KEY(name, min, max) { #name, IMPL_LIMIT(name), min, max }
	KEY(max_msg_size, 1, IMPL_MAX_MSG_SIZE),
	KEY(max_recv_queue_size, 1, IMPL_MAX_RECV_QUEUE),
	KEY(max_send_tasks, 1, IMPL_MAX_SEND_TASKS),
	KEY(max_clients, 1, IMPL_MAX_CLIENTS),
	KEY(max_num_tasks, 1, IMPL_MAX_DP_TASKS),
	KEY(max_buf_size, 1, IMPL_MAX_BUF_SIZE),
	KEY(max_imm_data_len, 1, IMPL_MAX_IMM),
	KEY(max_consumers, 1, IMPL_MAX_DP_QUEUES),
	KEY(max_producers, 1, IMPL_MAX_DP_QUEUES),
	KEY(dma_max_buf_size, 1, IMPL_MAX_DMA_SIZE),
	KEY(dma_max_buf_list_len, 2, IMPL_MAX_DMA_LIST),
	KEY(dma_max_num_tasks, 1, IMPL_MAX_ACCEL_TASKS),
	KEY(sha_max_src_buf_size, 1, IMPL_MAX_SHA_SIZE),
	KEY(compress_max_buf_size, 1, IMPL_MAX_COMPRESS_SIZE),
	KEY(compress_max_buf_list_len, 1, IMPL_MAX_COMPRESS_LIST),
#undef KEY
};

/*
 * What NVIDIA's public guides say of a card; 0: nothing. They say little: what doca_caps prints on
 * the card goes into keys of its own.
 */
static const struct {
	const char *name;
	struct impl_limits stated;
} profiles[] = {
	/* "This value must be between 256 and 4080 bytes": DOCA Comm Channel 1.2, Limitations. */
	{ "bf2", { .max_msg_size = 4080 } },
	/* The same, and immediate data of 32 bytes: DOCA Comch 2.10, MsgQ, Limitations. */
	{ "bf3", { .max_msg_size = 4080, .max_imm_data_len = 32 } },
};

static uint32_t *
field(struct impl_limits *limits, unsigned int i)
{
	return (uint32_t *)(void *)((char *)limits + keys[i].offset);
}

static doca_error_t
unknown_limit(struct impl_table *table, unsigned int line, const char *name)
{
	char valid[512] = "";
	unsigned int i;

	for (i = 0; i < RTE_DIM(keys); i++) {
		strlcat(valid, i == 0 ? "" : ", ", sizeof(valid));
		strlcat(valid, keys[i].name, sizeof(valid));
	}
	return impl_table_wrong(table, line, "unknown limit '%s'; known limits: %s", name, valid);
}

doca_error_t
impl_limits_set(struct impl_table *table, struct impl_entry *entry, unsigned int line,
		const char *name, const char *value)
{
	uint64_t number;
	unsigned int i;

	for (i = 0; i < RTE_DIM(keys) && strcmp(name, keys[i].name) != 0; i++)
		;
	if (i == RTE_DIM(keys))
		return unknown_limit(table, line, name);
	if ((entry->given_limits >> i & 1) != 0)
		return impl_table_wrong(table, line, "limit.%s is given twice", name);
	if (!impl_table_number(value, keys[i].min, keys[i].max, &number))
		return impl_table_wrong(table, line, "limit.%s = %s: expected a number from %u to "
			"%u, which is the channel's own limit", name, value, keys[i].min,
			keys[i].max);
	*field(&entry->info.manners.limits, i) = (uint32_t)number;
	entry->given_limits |= UINT32_C(1) << i;
	return DOCA_SUCCESS;
}

const char *
impl_limits_parse_profile(const char *value, void *dst, size_t size)
{
	static char expected[64];
	unsigned int i;

	RTE_SET_USED(size);
	expected[0] = '\0';
	for (i = 0; i < RTE_DIM(profiles); i++) {
		if (strcmp(value, profiles[i].name) == 0) {
			*(uint32_t *)dst = i;
			return NULL;
		}
		strlcat(expected, i == 0 ? "one of " : ", ", sizeof(expected));
		strlcat(expected, profiles[i].name, sizeof(expected));
	}
	return expected;
}

void
impl_limits_fill(struct impl_entry *entry, const struct impl_limits *owner)
{
	struct impl_limits stated = { 0 };
	unsigned int i;
	uint32_t *value;

	if (impl_entry_has(entry, IMPL_KEY_PROFILE))
		stated = profiles[entry->profile].stated;
	for (i = 0; i < RTE_DIM(keys); i++) {
		value = field(&entry->info.manners.limits, i);
		if ((entry->given_limits >> i & 1) != 0)
			continue;
		*value = impl_limit_at(&stated, keys[i].offset);
		if (*value == 0 && owner != NULL)
			*value = impl_limit_at(owner, keys[i].offset);
		else if (*value == 0)
			*value = keys[i].max;
	}
}
