/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What all export descriptors have in common. */

#include <string.h>

#include <rte_jhash.h>

#include "log/log.h"
#include "mem/desc.h"

/* What is behind all else. */
static uint8_t *
check_of(const struct impl_desc_kind *kind, void *desc)
{
	return (uint8_t *)desc + kind->size - sizeof(rte_le32_t);
}

static rte_le32_t
checksum(const struct impl_desc_kind *kind, const void *desc)
{
	return rte_cpu_to_le_32(rte_jhash(desc, (uint32_t)(kind->size - sizeof(rte_le32_t)),
		kind->version));
}

void
impl_desc_seal(const struct impl_desc_kind *kind, void *desc)
{
	struct impl_desc_head *head = desc;
	rte_le32_t check;

	memcpy(head->magic, kind->magic, sizeof(head->magic));
	head->version = rte_cpu_to_le_32(kind->version);
	head->len = rte_cpu_to_le_32((uint32_t)kind->size);
	check = checksum(kind, desc);
	memcpy(check_of(kind, desc), &check, sizeof(check));
}

/* Why it is not a descriptor, or NULL. */
static const char *
fault_of(const struct impl_desc_kind *kind, void *desc)
{
	const struct impl_desc_head *head = desc;
	rte_le32_t check = checksum(kind, desc);

	if (memcmp(head->magic, kind->magic, sizeof(head->magic)) != 0)
		return "invalid magic";
	if (rte_le_to_cpu_32(head->version) != kind->version)
		return "unsupported version";
	if (rte_le_to_cpu_32(head->len) != kind->size)
		return "invalid length";
	return memcmp(check_of(kind, desc), &check, sizeof(check)) != 0 ? "corrupt" : NULL;
}

doca_error_t
impl_desc_read(const struct impl_desc_kind *kind, const void *from, size_t len, void *desc)
{
	const char *fault;

	if (len != kind->size) {
		IMPL_ERR("%s descriptor: %zu bytes, expected %zu", kind->what, len, kind->size);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(desc, from, len);
	fault = fault_of(kind, desc);
	if (fault == NULL)
		return DOCA_SUCCESS;
	IMPL_ERR("%s descriptor: %s", kind->what, fault);
	return DOCA_ERROR_INVALID_VALUE;
}
