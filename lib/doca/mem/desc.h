/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_MEM_DESC_H
#define IMPL_MEM_DESC_H

/*
 * Descriptors that programs carry to the other side. All begin with a struct impl_desc_head and end
 * with a checksum of 32 bits, which detects corruption, not forgery. Numbers are little-endian.
 */

#include <stddef.h>
#include <stdint.h>

#include <rte_byteorder.h>

#include <doca_error.h>

struct impl_desc_head {
	char magic[8];
	rte_le32_t version;
	rte_le32_t len; /* of all */
};

struct impl_desc_kind {
	const char *what; /* for the log */
	char magic[8];
	uint32_t version;
	size_t size;
};

/* Fill in the head and the checksum of a descriptor. */
void impl_desc_seal(const struct impl_desc_kind *kind, void *desc);
/*
 * Copy a descriptor of the other side, which may still write to the memory it is in, and check the
 * head and the checksum. DOCA_ERROR_INVALID_VALUE: logged.
 */
doca_error_t impl_desc_read(const struct impl_desc_kind *kind, const void *from, size_t len,
		void *desc);

#endif /* IMPL_MEM_DESC_H */
