/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef STAGES_H
#define STAGES_H

/*
 * The accelerators of this example, all on one engine: a piece goes through them in stages, each
 * of which is a task.
 */

#include <stdint.h>

#include <doca_buf.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_sha.h>

#define DIGEST_SIZE 32 /* SHA-256 */

enum stage {
	STAGE_COPY,   /* DMA, from memory of the other side */
	STAGE_UNPACK, /* deflate */
	STAGE_PACK,
	STAGE_HASH,
	NB_STAGES
};

struct stages {
	struct doca_dma *dma;
	struct doca_compress *compress;
	struct doca_sha *sha;
	struct doca_pe *pe;
	/* Called in doca_pe_progress() when a stage of a piece has ended. */
	void (*on_end)(void *user, uint32_t piece, enum stage stage, doca_error_t status);
	void *user;
};

/* Start the contexts for these stages, bits 1 << STAGE_..., and this number of pieces at a time. */
doca_error_t stages_open(struct stages *stages, struct doca_dev *dev, uint32_t set,
		uint32_t nb_pieces);

/* Begin a stage of a piece. Its result replaces the data of *dst*. AGAIN: try it later. */
doca_error_t stages_begin(struct stages *stages, uint32_t piece, enum stage stage,
		const struct doca_buf *src, struct doca_buf *dst);

/* Also after a failed stages_open(). Stages that are under way end with an error. */
void stages_close(struct stages *stages);

#endif /* STAGES_H */
