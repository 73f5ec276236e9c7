/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_mmap: descriptors for the other side, good ones and hostile ones. */

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <rte_jhash.h>

#include "mem/mem.h"
#include "mem/stand_ins.h"

#define RW DOCA_ACCESS_FLAG_PCI_READ_WRITE

static uint8_t mem[4096];
static struct doca_dev dev = STAND_IN_DEV("0000:03:00.0");
static struct doca_dev other = STAND_IN_DEV("0000:03:00.1");

static struct doca_mmap *
create(uint32_t permissions)
{
	struct doca_mmap *m;

	T_OK(doca_mmap_create(&m));
	T_OK(doca_mmap_add_dev(m, &dev));
	T_OK(doca_mmap_set_memrange(m, mem, sizeof(mem)));
	T_OK(doca_mmap_set_permissions(m, permissions));
	return m;
}

static struct doca_mmap *
start(uint32_t permissions)
{
	struct doca_mmap *m = create(permissions);

	T_OK(doca_mmap_start(m));
	return m;
}

static uint8_t
is_exported(const struct doca_mmap *m)
{
	uint8_t yes = 77;

	T_OK(doca_mmap_get_exported(m, &yes));
	return yes;
}

static uint8_t
is_from_export(const struct doca_mmap *m)
{
	uint8_t yes = 77;

	T_OK(doca_mmap_get_from_export(m, &yes));
	return yes;
}

Test(mmap_export, null_arguments)
{
	struct doca_mmap *m = start(RW), *n;
	doca_dpa_dev_mmap_t dpa;
	const void *desc;
	uint8_t yes;
	size_t len;

	T_INVALID(doca_mmap_export_pci(NULL, &dev, &desc, &len));
	T_INVALID(doca_mmap_export_pci(m, NULL, &desc, &len));
	T_INVALID(doca_mmap_export_pci(m, &dev, NULL, &len));
	T_INVALID(doca_mmap_export_pci(m, &dev, &desc, NULL));
	T_INVALID(doca_mmap_export_rdma(NULL, &dev, &desc, &len));
	T_INVALID(doca_mmap_export_rdma(m, NULL, &desc, &len));
	T_INVALID(doca_mmap_export_rdma(m, &dev, NULL, &len));
	T_INVALID(doca_mmap_export_rdma(m, &dev, &desc, NULL));
	T_REFUSES_NULLS(doca_mmap_dev_get_dpa_handle, m, &dev, &dpa);
	T_OK(doca_mmap_export_pci(m, &dev, &desc, &len));
	T_INVALID(doca_mmap_create_from_export(NULL, NULL, len, &dev, &n));
	T_INVALID(doca_mmap_create_from_export(NULL, desc, len, NULL, &n));
	T_INVALID(doca_mmap_create_from_export(NULL, desc, len, &dev, NULL));
	T_REFUSES_NULL(doca_mmap_cap_is_export_pci_supported, doca_dev_as_devinfo(&dev), &yes);
	T_REFUSES_NULL(doca_mmap_cap_is_create_from_export_pci_supported, doca_dev_as_devinfo(&dev),
		&yes);
	T_OK(doca_mmap_destroy(m));
}

Test(mmap_export, capabilities)
{
	uint8_t yes = 0;

	T_GETS(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(&dev), &yes), yes, 1);
	yes = 0;
	T_OK(doca_mmap_cap_is_create_from_export_pci_supported(doca_dev_as_devinfo(&dev), &yes));
	T_EQ(yes, 1);
}

/* behaviour: M5 */
Test(mmap_export, conditions)
{
	struct doca_mmap *m = create(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	const void *desc;
	size_t len;

	T_IS(doca_mmap_export_pci(m, &dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_start(m));
	T_IS(doca_mmap_export_pci(m, &dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_set_permissions(m, DOCA_ACCESS_FLAG_PCI_READ_ONLY));
	T_IS(doca_mmap_export_pci(m, &dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_start(m));
	T_IS(doca_mmap_export_pci(m, &other, &desc, &len), DOCA_ERROR_NOT_FOUND);
	dev.pci_error = DOCA_ERROR_OPERATING_SYSTEM;
	T_IS(doca_mmap_export_pci(m, &dev, &desc, &len), DOCA_ERROR_DRIVER);
	dev.pci_error = DOCA_SUCCESS;
	T_EQ(is_exported(m), 0);
	T_OK(doca_mmap_export_pci(m, &dev, &desc, &len));
	T_EQ(is_exported(m), 1);
	T_EQ(is_from_export(m), 0);
	T_LT(len, 4080);
	T_IS(doca_mmap_start(m), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_add_dev(m, &other), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_stop(m));
	T_EQ(is_exported(m), 0);
	T_OK(doca_mmap_destroy(m));
}

Test(mmap_export, one_descriptor_for_each_device)
{
	struct doca_mmap *m = create(RW);
	const void *a, *b, *again;
	size_t len, again_len;

	T_OK(doca_mmap_add_dev(m, &other));
	T_OK(doca_mmap_start(m));
	T_OK(doca_mmap_export_pci(m, &dev, &a, &len));
	T_OK(doca_mmap_export_pci(m, &other, &b, &len));
	T_CHECK(a != b);
	T_NE(memcmp(a, b, len), 0);
	T_OK(doca_mmap_export_pci(m, &dev, &again, &again_len));
	T_CHECK(a == again);
	T_EQ(len, again_len);
	T_OK(doca_mmap_destroy(m));
	T_EQ(dev.nb_holds, 0);
}

/* The process that exports, until its standard input ends. */
static void
exporter(int out, int in)
{
	struct doca_mmap *m;
	const void *desc;
	void *addr;
	size_t len;
	char c;

	addr = malloc(100000);
	m = NULL;
	if (doca_mmap_create(&m) != DOCA_SUCCESS || doca_mmap_add_dev(m, &dev) != DOCA_SUCCESS ||
			doca_mmap_set_memrange(m, addr, 100000) != DOCA_SUCCESS ||
			doca_mmap_set_permissions(m, RW) != DOCA_SUCCESS ||
			doca_mmap_start(m) != DOCA_SUCCESS ||
			doca_mmap_export_pci(m, &dev, &desc, &len) != DOCA_SUCCESS ||
			write(out, &addr, sizeof(addr)) != sizeof(addr) ||
			write(out, desc, len) != (ssize_t)len)
		_exit(1);
	close(out);
	if (read(in, &c, 1) != 0)
		_exit(2);
	doca_mmap_destroy(m);
	free(addr);
	_exit(0);
}

static void
check_import(struct doca_mmap *m, const void *addr)
{
	struct doca_buf_inventory *inv = started_inventory(1);
	struct doca_buf *buf;
	union doca_data got;
	void *got_addr;
	size_t got_len;

	T_OK(doca_mmap_get_memrange(m, &got_addr, &got_len));
	T_CHECK(got_addr == addr);
	T_EQ(got_len, 100000);
	T_EQ(is_from_export(m), 1);
	T_EQ(is_exported(m), 0);
	T_OK(doca_mmap_get_user_data(m, &got));
	T_EQ(got.u64, 5);
	/* Bufs can be made; tasks see that there is nothing behind them. */
	T_CHECK(impl_mmap_mr(m) == NULL);
	T_CHECK(impl_mmap_is_started(m));
	T_OK(doca_buf_inventory_buf_get_by_data(inv, m, got_addr, got_len, &buf));
	T_CHECK(buf->mr == NULL);
	T_IS(doca_mmap_stop(m), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_buf_dec_refcount(buf, NULL));
	T_OK(doca_buf_inventory_destroy(inv));
}

/* behaviour: M6 */
Test(mmap_export, to_another_process)
{
	const union doca_data five = { .u64 = 5 };
	int to[2], from[2], status;
	struct doca_mmap *m;
	uint8_t blob[4080];
	ssize_t n, got = 0;
	void *addr;
	pid_t pid;

	T_EQ(pipe(to), 0);
	T_EQ(pipe(from), 0);
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		close(from[0]);
		exporter(from[1], to[0]);
	}
	close(to[0]);
	close(from[1]);
	T_EQ(read(from[0], &addr, sizeof(addr)), sizeof(addr));
	while ((n = read(from[0], blob + got, sizeof(blob) - (size_t)got)) > 0)
		got += n;
	T_OK(doca_mmap_create_from_export(&five, blob, (size_t)got, &other, &m));
	memset(blob, 0, sizeof(blob)); /* it was copied */
	T_EQ(other.nb_holds, 1);
	check_import(m, addr);
	close(to[1]);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	/* An importer does not notice. */
	T_OK(doca_mmap_destroy(m));
	T_EQ(other.nb_holds, 0);
	close(from[0]);
}

static void
ignore_free(void *addr __rte_unused, size_t len __rte_unused, void *cookie __rte_unused)
{
}

/* behaviour: M7 */
Test(mmap_export, an_import_is_fixed)
{
	struct doca_mmap *m = start(RW), *n;
	const union doca_data data = { .u64 = 1 };
	union doca_data got = data;
	doca_dpa_dev_mmap_t dpa;
	const void *desc;
	size_t len;
	int i;

	T_OK(doca_mmap_export_pci(m, &dev, &desc, &len));
	T_OK(doca_mmap_create_from_export(NULL, desc, len, &dev, &n));
	T_OK(doca_mmap_get_user_data(n, &got));
	T_EQ(got.u64, 0);
	for (i = 0; i < 2; i++) {
		T_IS(doca_mmap_start(n), DOCA_ERROR_NOT_PERMITTED);
		T_IS(doca_mmap_add_dev(n, &other), DOCA_ERROR_NOT_PERMITTED);
		T_IS(doca_mmap_rm_dev(n, &dev), DOCA_ERROR_NOT_PERMITTED);
		T_IS(doca_mmap_export_pci(n, &dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
		T_IS(doca_mmap_export_rdma(n, &dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
		if (i == 0)
			T_OK(doca_mmap_dev_get_dpa_handle(n, &dev, &dpa));
		else
			T_IS(doca_mmap_dev_get_dpa_handle(n, &dev, &dpa), DOCA_ERROR_NOT_PERMITTED);
		T_IS(doca_mmap_set_max_num_devices(n, 2), DOCA_ERROR_NOT_PERMITTED);
		T_IS(doca_mmap_enable_thread_safety(n), DOCA_ERROR_NOT_PERMITTED);
		T_IS(doca_mmap_set_memrange(n, mem, 1), DOCA_ERROR_BAD_STATE);
		T_IS(doca_mmap_set_permissions(n, 0), DOCA_ERROR_BAD_STATE);
		T_IS(doca_mmap_set_free_cb(n, ignore_free, NULL), DOCA_ERROR_BAD_STATE);
		T_IS(doca_mmap_set_user_data(n, data), DOCA_ERROR_BAD_STATE);
		/* Again after a stop, which is for good. */
		T_OK(doca_mmap_stop(n));
	}
	T_OK(doca_mmap_destroy(n));
	T_OK(doca_mmap_destroy(m));
}

/* What the descriptor looks like: see struct mmap_desc. */
enum {
	AT_VERSION = 8, AT_LEN = 12, AT_ADDR = 32, AT_RANGE_LEN = 40, AT_PERMISSIONS = 48,
	AT_PCI = 56, AT_REMOTE = 72, AT_ZERO = 216, AT_CHECK = 220, DESC_LEN = 224,
};

static void
export_to(uint8_t *blob)
{
	struct doca_mmap *m = start(RW);
	const void *desc;
	size_t len;

	T_GETS(doca_mmap_export_pci(m, &dev, &desc, &len), len, DESC_LEN);
	memcpy(blob, desc, len);
	T_OK(doca_mmap_destroy(m));
}

/* behaviour: M8 */
Test(mmap_export, truncated_and_extended)
{
	struct doca_mmap *m = NULL;
	uint8_t blob[DESC_LEN + 64] = { 0 };
	uint8_t *exact;
	size_t len;

	export_to(blob);
	for (len = 0; len < sizeof(blob); len++) {
		if (len == DESC_LEN)
			continue;
		/* Of its own size, so that a sanitizer sees each byte too many. */
		exact = malloc(len);
		memcpy(exact, blob, len);
		T_INVALID(doca_mmap_create_from_export(NULL, exact, len, &dev, &m));
		free(exact);
	}
	T_INVALID(doca_mmap_create_from_export(NULL, blob, SIZE_MAX, &dev, &m));
	T_CHECK(m == NULL);
	T_EQ(dev.nb_holds, 0);
}

/* behaviour: M8 */
Test(mmap_export, any_wrong_bit)
{
	struct doca_mmap *m = NULL;
	uint8_t blob[DESC_LEN];
	unsigned int bit;

	export_to(blob);
	for (bit = 0; bit < 8 * DESC_LEN; bit++) {
		blob[bit / 8] ^= (uint8_t)(1 << bit % 8);
		T_INVALID(doca_mmap_create_from_export(NULL, blob, DESC_LEN, &dev, &m));
		blob[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	T_OK(doca_mmap_create_from_export(NULL, blob, DESC_LEN, &dev, &m));
	T_OK(doca_mmap_destroy(m));
}

/* behaviour: M8 */
Test(mmap_export, forged_with_a_right_checksum)
{
	static const struct {
		unsigned int at;
		unsigned int nb;
		uint64_t value;
		const char *says;
	} forged[] = {
		{ 0, 1, 'C', "magic" },
		{ AT_VERSION, 4, 1, "version" },
		{ AT_LEN, 4, DESC_LEN + 4, "length" },
		{ AT_ADDR, 8, 0, "range" },
		{ AT_ADDR, 8, UINT64_MAX, "range" },
		{ AT_RANGE_LEN, 8, 0, "range" },
		{ AT_RANGE_LEN, 8, UINT64_MAX, "range" },
		{ AT_PERMISSIONS, 4, 0, "permissions" },
		{ AT_PERMISSIONS, 4, 0x30, "permissions" },
		{ AT_PERMISSIONS, 4, 0xa0, "permissions" },
		{ AT_PCI + 8, 8, UINT64_C(0x3131313131313131), "device" },
		{ AT_ZERO, 4, 1, "device" },
	};
	uint8_t good[DESC_LEN], blob[DESC_LEN], odd[DESC_LEN + 1];
	struct doca_mmap *m = NULL;
	uint32_t check;
	unsigned int i;

	export_to(good);
	for (i = 0; i < RTE_DIM(forged); i++) {
		memcpy(blob, good, DESC_LEN);
		memcpy(blob + forged[i].at, &forged[i].value, forged[i].nb);
		if (forged[i].at == AT_PCI + 8)
			memset(blob + AT_PCI, '1', 8);
		check = rte_jhash(blob, AT_CHECK, 2);
		memcpy(blob + AT_CHECK, &check, sizeof(check));
		memcpy(odd + 1, blob, DESC_LEN);
		T_INVALID(doca_mmap_create_from_export(NULL, odd + 1, DESC_LEN, &dev, &m));
		T_STR_HAS(stand_in_log, forged[i].says);
	}
	memcpy(odd + 1, good, DESC_LEN);
	T_OK(doca_mmap_create_from_export(NULL, odd + 1, DESC_LEN, &dev, &m));
	T_OK(doca_mmap_destroy(m));
}

Test(mmap_export, rdma_and_dpa)
{
	struct doca_mmap *m = create(RW);
	doca_dpa_dev_mmap_t dpa;
	const void *desc;
	size_t len;

	T_IS(doca_mmap_export_rdma(m, &dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_dev_get_dpa_handle(m, &dev, &dpa), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_start(m));
	T_IS(doca_mmap_export_rdma(m, &dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_dev_get_dpa_handle(m, &other, &dpa), DOCA_ERROR_NOT_FOUND);
	T_OK(doca_mmap_dev_get_dpa_handle(m, &dev, &dpa));
	T_NE(dpa, 0);
	T_OK(doca_mmap_destroy(m));
	m = start(DOCA_ACCESS_FLAG_RDMA_READ);
	T_IS(doca_mmap_export_rdma(m, &other, &desc, &len), DOCA_ERROR_NOT_FOUND);
	T_IS(doca_mmap_export_rdma(m, &dev, &desc, &len), DOCA_ERROR_NOT_SUPPORTED);
	T_EQ(is_exported(m), 0);
	T_OK(doca_mmap_destroy(m));
}
