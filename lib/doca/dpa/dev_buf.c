/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Pointers of device code to memory of mmaps, which is memory of this process. */

#include <doca_dpa_dev_buf.h>

#include "dpa/dpa.h"

/* Alignment that hardware needs to access host memory, in bytes. */
#define WINDOW_ALIGN 64

static doca_dpa_dev_uintptr_t
external_ptr(struct impl_dpa_self *self, doca_dpa_dev_mmap_t mmap, uint64_t addr, size_t len,
		const char *what)
{
	const void *ptr = impl_dpa_mmap_range(self, mmap, addr, len, false, what);

	if (ptr == NULL)
		return 0;
	if (addr % WINDOW_ALIGN != 0)
		impl_dpa_warn(self, what, "0x%llx: hardware needs alignment to %u bytes",
			(unsigned long long)addr, WINDOW_ALIGN);
	impl_dpa_leave(self);
	return (doca_dpa_dev_uintptr_t)(uintptr_t)ptr;
}

doca_dpa_dev_uintptr_t
doca_dpa_dev_mmap_get_external_ptr(doca_dpa_dev_mmap_t mmap_handle, uint64_t addr)
{
	/* At least one byte, so that the end of the mmap is out of range. */
	return external_ptr(impl_dpa_enter(), mmap_handle, addr, 1, __func__);
}

doca_dpa_dev_uintptr_t
doca_dpa_dev_buf_get_external_ptr(doca_dpa_dev_buf_t buf)
{
	struct impl_dpa_self *self = impl_dpa_enter();

	if (buf == 0) {
		impl_dpa_fault(self, __func__, "buffer handle is 0");
		return 0;
	}
	return external_ptr(self, doca_dpa_dev_buf_get_mmap(buf), doca_dpa_dev_buf_get_addr(buf),
		doca_dpa_dev_buf_get_len(buf), __func__);
}
