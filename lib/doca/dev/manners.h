/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_MANNERS_H
#define IMPL_DEV_MANNERS_H

/*
 * How a device behaves towards programs that count on more than DOCA promises, or on more than a
 * card gives. Keys of the device table set it.
 */

#include <stdbool.h>

#include "dev/fault.h"
#include "dev/limit.h"

/* Size of the name of a device of EAL. */
#define IMPL_EAL_NAME_SIZE 64

/* What a device of EAL can do for accelerators. */
enum impl_offload_kind {
	IMPL_OFFLOAD_DMA,      /* dma = NAME, dma_min: copies */
	IMPL_OFFLOAD_CRYPTO,   /* crypto = NAME, crypto_min: digests */
	IMPL_OFFLOAD_COMPRESS, /* compress = NAME, compress_min: deflate both ways */
	IMPL_OFFLOAD_KINDS,
};

struct impl_offload_conf {
	char name[IMPL_EAL_NAME_SIZE]; /* "": none */
	uint32_t min;                  /* shorter work is the core's, bytes */
};

#define IMPL_MAX_WORKERS 64

struct impl_manners {
	bool single_progress;  /* progress = single: a progress reports one completion */
	bool keeps_freed_tasks;      /* lenient = freed_tasks: they can be submitted */
	bool again_after_send; /* the first receive call after a send returns AGAIN */
	struct impl_limits limits;
	struct impl_faults *faults; /* NULL: none */
	struct impl_offload_conf offload[IMPL_OFFLOAD_KINDS];
	uint32_t workers; /* workers = N: threads that do the work of accelerators */
};

#endif /* IMPL_DEV_MANNERS_H */
