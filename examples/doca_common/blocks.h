/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef BLOCKS_H
#define BLOCKS_H

/*
 * Code shared by the DOCA examples with a data path: memory in blocks, and what goes through
 * it, a file or generated data.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>

#define BLOCK_SIZE (64 * 1024)
/* Per producer or consumer, each with its own task. */
#define NB_BLOCKS 32

/* Memory of a producer or consumer: blocks, each with a buf. */
struct blocks {
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t *memory;
	struct doca_buf *buf[NB_BLOCKS];
};

/*
 * Allocate memory, register it for the device with these permissions, and create a buf for each
 * block, of this size.
 */
doca_error_t blocks_open(struct blocks *blocks, struct doca_dev *dev, size_t size,
		uint32_t permissions);
/* Also after a failed blocks_open(), and of blocks that were never opened. */
void blocks_close(struct blocks *blocks);

/* Fill memory from a file, or without one (NULL) with a pattern that depends on the number. */
doca_error_t blocks_fill(void *data, size_t len, FILE *file, uint64_t number);
uint64_t blocks_checksum(const uint8_t *data, size_t len);

/* Seconds of a monotonic clock. */
double blocks_now(void);
/* On a terminal: show how far it is, from time to time. */
void blocks_progress(uint64_t bytes, uint64_t size, double begin);
/* Print amount and speed. */
void blocks_report(const char *what, uint64_t bytes, double seconds);

/*
 * Register the option -f, a file: opened on the DPU for writing, on the host for reading, with its
 * size. On the host also the option -s, the size of generated data in MiB.
 */
doca_error_t blocks_options(FILE **file, uint64_t *size);

#endif /* BLOCKS_H */
