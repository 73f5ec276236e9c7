/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>

#include "accel/exporter.h"
#include "common/device.h"

static int
export_memory(int fd, void *arg)
{
	struct exporter *e = arg;
	struct exporter_shared *shared = e->shared;
	struct doca_dev *dev = dev_open("host", "b1:00.0");
	const size_t size = RTE_ALIGN_CEIL(EXPORT_LEN + 100, 4096UL);
	struct doca_mmap *mmap_obj;
	const void *desc;
	struct t_step step;
	uint8_t *mem;
	size_t i;

	/* Not at the begin of a page. */
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T_CHECK(mem != MAP_FAILED);
	shared->addr = mem + 13;
	for (i = 0; i < EXPORT_LEN; i++)
		shared->addr[i] = exporter_byte(i);
	T_OK(doca_mmap_create(&mmap_obj));
	T_OK(doca_mmap_add_dev(mmap_obj, dev));
	T_OK(doca_mmap_set_permissions(mmap_obj, e->access));
	T_OK(doca_mmap_set_memrange(mmap_obj, shared->addr, EXPORT_LEN));
	T_OK(doca_mmap_start(mmap_obj));
	T_OK(doca_mmap_export_pci(mmap_obj, dev, &desc, &shared->desc_len));
	T_LE(shared->desc_len, sizeof(shared->desc));
	memcpy(shared->desc, desc, shared->desc_len);
	t_say(fd, 'R', 0);
	for (;;) {
		/* As a program that waits in getchar(). */
		T_AWAIT(t_listen(fd, &step));
		if (step.code == 'C')
			memcpy(shared->copy, shared->addr, EXPORT_LEN);
		else if (step.code == 'U')
			T_EQ(munmap(mem, size), 0);
		else if (step.code == 'S')
			T_OK(doca_mmap_stop(mmap_obj));
		else
			break;
		t_say(fd, (char)step.code, 0);
	}
	/* Without a stop, as the programs do. */
	T_OK(doca_mmap_destroy(mmap_obj));
	T_OK(doca_dev_close(dev));
	return 0;
}

void
exporter_share(struct exporter *e, uint32_t access)
{
	e->access = access;
	e->shared = mmap(NULL, sizeof(*e->shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_CHECK(e->shared != MAP_FAILED);
}

void
exporter_run(struct exporter *e)
{
	t_proc_start(&e->proc, "exporter", export_memory, e);
	t_hear(e->proc.fd, 'R');
}

void
exporter_start(struct exporter *e, uint32_t access)
{
	exporter_share(e, access);
	exporter_run(e);
}

void
exporter_do(struct exporter *e, char what)
{
	t_say(e->proc.fd, what, 0);
	t_hear(e->proc.fd, what);
}

void
exporter_end(struct exporter *e)
{
	t_say(e->proc.fd, 'X', 0);
	t_proc_join(&e->proc);
	T_EQ(munmap(e->shared, sizeof(*e->shared)), 0);
}

struct doca_mmap *
exporter_import(const struct exporter *e, struct doca_dev *dev)
{
	struct doca_mmap *mmap_obj;
	uint8_t desc[256];

	/* From memory that is gone afterwards. */
	memcpy(desc, e->shared->desc, e->shared->desc_len);
	T_OK(doca_mmap_create_from_export(NULL, desc, e->shared->desc_len, dev, &mmap_obj));
	memset(desc, 0, sizeof(desc));
	return mmap_obj;
}
