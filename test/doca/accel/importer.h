/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_IMPORTER_H
#define ACCEL_IMPORTER_H

/* The DPU, with a DMA object, memory of its own, and the memory of an exporter. */

#include "accel/copier.h"
#include "accel/exporter.h"

struct importer {
	struct copier c;
	struct memory mem;   /* as long as the exporter's */
	struct doca_mmap *remote;
};

void importer_open(struct importer *i, const struct exporter *e);
void importer_close(struct importer *i);
/* A buf of the exporter's memory: a source, or a destination. */
struct doca_buf *importer_buf(struct importer *i, const struct exporter *e, size_t off, size_t len,
		bool data);
/* Read a part of the exporter's memory, and compare it. */
void importer_reads(struct importer *i, const struct exporter *e, size_t off, size_t len);
/* A read of 100 bytes fails. The context is started again. */
void importer_fails(struct importer *i, const struct exporter *e, doca_error_t error);
/* Start the context again after its end; what was counted begins again. */
void importer_restart(struct importer *i);

#endif /* ACCEL_IMPORTER_H */
