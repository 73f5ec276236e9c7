/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_EXPORTER_H
#define ACCEL_EXPORTER_H

/*
 * A process on the host that exports memory, and does nothing else unless it is told to; the
 * test is the DPU, which imports it.
 */

#include <doca_mmap.h>

#include "common/result.h"
#include "t_proc.h"

#define EXPORT_LEN (5 * 1024 * 1024 + 3)

/* Memory that both processes of the test see. */
struct exporter_shared {
	uint8_t desc[256];
	size_t desc_len;
	uint8_t *addr;         /* in the exporter */
	uint8_t copy[EXPORT_LEN]; /* what the exporter sees in it: 'C' */
};

struct exporter {
	struct t_proc proc;
	uint32_t access;
	struct exporter_shared *shared;
};

/*
 * What it does when it is told so; it answers with the same letter:
 *   'C' copy its memory to `copy`
 *   'U' unmap its memory
 *   'S' stop its mmap
 *   'X' exit
 */
void exporter_start(struct exporter *e, uint32_t access);
/* Its two parts: memory that other processes may share, and the process, any number of times. */
void exporter_share(struct exporter *e, uint32_t access);
void exporter_run(struct exporter *e);
void exporter_do(struct exporter *e, char what);
/* It exits, and its memory is gone. */
void exporter_end(struct exporter *e);
/* Byte i of its memory at first. */
static inline uint8_t
exporter_byte(size_t i)
{
	return (uint8_t)(i * 7 + i / 255);
}

/* Import it. */
struct doca_mmap *exporter_import(const struct exporter *e, struct doca_dev *dev);

#endif /* ACCEL_EXPORTER_H */
