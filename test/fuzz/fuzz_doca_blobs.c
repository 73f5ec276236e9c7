/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Export descriptors, of mmaps and of sync events, that came from a peer: real ones, changed by the
 * input, and with a valid checksum again if the input says so. One is refused as documented, or
 * imported; then bufs can be had within what it describes only, and a sync event starts if its key
 * is that of an export. No descriptor is left over.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_jhash.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_sync_event.h>

#include "fuzz.h"

#define MAX_CHANGES 8
#define MAX_BLOB 256
#define MEM_LEN 5000

/* A kind of descriptors. */
struct kind {
	uint32_t version;     /* the seed of its checksum, which is at its end */
	size_t len;
	uint8_t real[MAX_BLOB];
};

static struct kind kinds[2];
static struct doca_dev *dev;
static uint8_t mem[MEM_LEN];
static struct doca_mmap *mmap_obj;
static struct doca_sync_event *event;
static struct doca_buf_inventory *inventory;

#define OK(call) T_EQ(call, DOCA_SUCCESS)

static void
set_real(struct kind *kind, const void *desc, size_t len)
{
	T_LE(len, MAX_BLOB);
	kind->len = len;
	memcpy(kind->real, desc, len);
	/* Behind the magic. */
	memcpy(&kind->version, kind->real + 8, sizeof(kind->version));
}

static void
export_mmap(void)
{
	const void *desc;
	size_t len;

	OK(doca_mmap_create(&mmap_obj));
	OK(doca_mmap_add_dev(mmap_obj, dev));
	OK(doca_mmap_set_permissions(mmap_obj, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	OK(doca_mmap_set_memrange(mmap_obj, mem, sizeof(mem)));
	OK(doca_mmap_start(mmap_obj));
	OK(doca_mmap_export_pci(mmap_obj, dev, &desc, &len));
	set_real(&kinds[0], desc, len);
}

static void
export_event(void)
{
	const uint8_t *desc;
	size_t len;

	OK(doca_sync_event_create(&event));
	OK(doca_sync_event_add_publisher_location_remote_pci(event));
	OK(doca_sync_event_add_subscriber_location_cpu(event, dev));
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_export_to_remote_pci(event, dev, &desc, &len));
	set_real(&kinds[1], desc, len);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct doca_devinfo **list;
	uint32_t nb;

	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	setenv("COMCH_DIR", t_dir(), 1);
	setenv("COMCH_ROLE", "host", 1);
	OK(doca_devinfo_create_list(&list, &nb));
	OK(doca_dev_open(list[0], &dev));
	OK(doca_devinfo_destroy_list(list));
	fuzz_log_nowhere();
	OK(doca_buf_inventory_create(2, &inventory));
	OK(doca_buf_inventory_start(inventory));
	export_mmap();
	export_event();
	return 0;
}

/* The number of bytes that is left of the blob. */
static size_t
change(struct fuzz_in *in, const struct kind *kind, uint8_t *blob)
{
	const uint8_t how = fuzz_u8(in);
	unsigned int i;
	uint32_t check;
	uint8_t at;

	memcpy(blob, kind->real, MAX_BLOB);
	for (i = 0; i < how % MAX_CHANGES; i++) {
		at = fuzz_u8(in);
		fuzz_take(in, blob + at, RTE_MIN(fuzz_u8(in) % 32U, (size_t)MAX_BLOB - at));
	}
	if (how & 0x40) {
		check = rte_jhash(blob, (uint32_t)(kind->len - sizeof(check)), kind->version);
		memcpy(blob + kind->len - sizeof(check), &check, sizeof(check));
	}
	return how & 0x80 ? fuzz_u8(in) : kind->len;
}

static bool
is_real(const struct kind *kind, const uint8_t *blob, size_t len)
{
	return len == kind->len && memcmp(blob, kind->real, len) == 0;
}

/* All of what it describes can be in a buf, and nothing else. */
static void
has_bufs(struct doca_mmap *m)
{
	struct doca_buf *buf;
	size_t len;
	void *addr;

	OK(doca_mmap_get_memrange(m, &addr, &len));
	T_CHECK(addr != NULL && len > 0 && len <= UINTPTR_MAX - (uintptr_t)addr);
	OK(doca_buf_inventory_buf_get_by_addr(inventory, m, addr, len, &buf));
	OK(doca_buf_dec_refcount(buf, NULL));
	T_EQ(doca_buf_inventory_buf_get_by_addr(inventory, m, (uint8_t *)addr + 1, len, &buf),
		DOCA_ERROR_INVALID_VALUE);
}

static void
import_mmap(const struct kind *kind, const uint8_t *blob, size_t len)
{
	struct doca_mmap *m = NULL;
	const void *desc;
	size_t desc_len;
	doca_error_t ret;

	ret = doca_mmap_create_from_export(NULL, blob, len, dev, &m);
	if (is_real(kind, blob, len))
		OK(ret);
	if (ret != DOCA_SUCCESS) {
		T_EQ(ret, DOCA_ERROR_INVALID_VALUE);
		T_CHECK(m == NULL);
		return;
	}
	has_bufs(m);
	/* It is not this process's to export. */
	T_EQ(doca_mmap_export_pci(m, dev, &desc, &desc_len), DOCA_ERROR_NOT_PERMITTED);
	OK(doca_mmap_destroy(m));
}

static void
import_event(const struct kind *kind, const uint8_t *blob, size_t len)
{
	struct doca_sync_event *e = NULL;
	doca_error_t ret;
	uint64_t value;

	ret = doca_sync_event_create_from_export(dev, blob, len, &e);
	if (is_real(kind, blob, len))
		OK(ret);
	if (ret != DOCA_SUCCESS) {
		T_EQ(ret, DOCA_ERROR_INVALID_VALUE);
		T_CHECK(e == NULL);
		return;
	}
	/* The key and the path are shown to an exporter now. */
	ret = doca_sync_event_start(e);
	if (is_real(kind, blob, len))
		OK(ret);
	if (ret == DOCA_SUCCESS) {
		OK(doca_sync_event_update_set(event, len));
		OK(doca_sync_event_get(e, &value));
		T_EQ(value, len);
		OK(doca_sync_event_stop(e));
	} else {
		T_EQ(ret, DOCA_ERROR_NOT_CONNECTED);
	}
	OK(doca_sync_event_destroy(e));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	const unsigned int which = fuzz_u8(&in) % RTE_DIM(kinds);
	const struct kind *kind = &kinds[which];
	/* Not earlier: libFuzzer has some between two inputs. */
	const unsigned int nb_fds = t_fd_count();
	uint8_t blob[MAX_BLOB], *copy;
	size_t len;

	len = change(&in, kind, blob);
	/* A copy that ends where the descriptor ends: a sanitizer sees a longer read. */
	copy = malloc(len);
	T_CHECK(copy != NULL || len == 0);
	memcpy(copy, blob, len);
	if (which == 0)
		import_mmap(kind, copy, len);
	else
		import_event(kind, copy, len);
	free(copy);
	/* Another thread closes some. */
	T_AWAIT(t_fd_count() <= nb_fds);
	return 0;
}

void
fuzz_end(void)
{
	OK(doca_sync_event_stop(event));
	OK(doca_sync_event_destroy(event));
	OK(doca_mmap_destroy(mmap_obj));
	OK(doca_buf_inventory_destroy(inventory));
	OK(doca_dev_close(dev));
}
