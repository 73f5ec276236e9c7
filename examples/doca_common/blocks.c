/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <doca_log.h>

#include "blocks.h"
#include "side.h"

DOCA_LOG_REGISTER(BLOCKS);

/* Seconds between two lines of progress. */
#define PROGRESS_S 0.2

doca_error_t
blocks_open(struct blocks *blocks, struct doca_dev *dev, size_t size, uint32_t permissions)
{
	doca_error_t result;
	int i;

	blocks->memory = malloc(NB_BLOCKS * size);
	if (blocks->memory == NULL)
		return DOCA_ERROR_NO_MEMORY;
	result = doca_mmap_create(&blocks->mmap);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(blocks->mmap, dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(blocks->mmap, permissions);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(blocks->mmap, blocks->memory, NB_BLOCKS * size);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(blocks->mmap);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create(NB_BLOCKS, &blocks->inventory);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(blocks->inventory);
	for (i = 0; i < NB_BLOCKS && result == DOCA_SUCCESS; i++)
		result = doca_buf_inventory_buf_get_by_addr(blocks->inventory, blocks->mmap,
				blocks->memory + (size_t)i * size, size, &blocks->buf[i]);
	return result;
}

void
blocks_close(struct blocks *blocks)
{
	int i;

	for (i = 0; i < NB_BLOCKS && blocks->buf[i] != NULL; i++)
		doca_buf_dec_refcount(blocks->buf[i], NULL);
	if (blocks->inventory != NULL)
		doca_buf_inventory_destroy(blocks->inventory);
	if (blocks->mmap != NULL)
		doca_mmap_destroy(blocks->mmap);
	free(blocks->memory);
}

doca_error_t
blocks_fill(void *data, size_t len, FILE *file, uint64_t number)
{
	size_t i;

	if (file != NULL)
		return fread(data, 1, len, file) == len ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
	for (i = 0; i < len; i += 64)
		((uint8_t *)data)[i] = (uint8_t)(number + i / 64);
	return DOCA_SUCCESS;
}

/* The rotation makes the sum depend on the order. */
uint64_t
blocks_checksum(const uint8_t *data, size_t len)
{
	uint64_t sum = len, word;

	for (; len >= sizeof(word); len -= sizeof(word), data += sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		sum = ((sum << 1) | (sum >> 63)) + word;
	}
	for (; len > 0; len--)
		sum = ((sum << 1) | (sum >> 63)) + *data++;
	return sum;
}

double
blocks_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void
blocks_progress(uint64_t bytes, uint64_t size, double begin)
{
	static double next;
	double now = blocks_now();

	if (now < next || bytes == 0)
		return;
	next = now + PROGRESS_S;
	if (!isatty(STDOUT_FILENO))
		return;
	/* What follows on the line is printed over the last one. */
	printf("%s: %.1f of %.1f MiB, %.0f %%, %.0f MB/s    \r", SIDE_NAME,
		(double)bytes / (1 << 20), (double)size / (1 << 20),
		100 * (double)bytes / (double)size, (double)bytes / (now - begin) / 1e6);
	fflush(stdout);
}

void
blocks_report(const char *what, uint64_t bytes, double seconds)
{
	printf("%s: %s %.1f MiB in %.3f s, %.0f MB/s\n", SIDE_NAME, what,
		(double)bytes / (1 << 20), seconds, (double)bytes / seconds / 1e6);
}

/* Where the values of the options go: a program has one command line. */
static struct {
	FILE **file;
	uint64_t *size;
} options;

static doca_error_t
take_file(void *value, void *config)
{
	const char *path = value;
	FILE *file = fopen(path, SIDE_IS_DPU ? "wb" : "rb");

	(void)config;
	*options.file = file;
	if (file == NULL || (!SIDE_IS_DPU && fseek(file, 0, SEEK_END) != 0)) {
		DOCA_LOG_ERR("open %s failed", path);
		return DOCA_ERROR_IO_FAILED;
	}
	if (SIDE_IS_DPU)
		return DOCA_SUCCESS;
	*options.size = (uint64_t)ftell(file);
	rewind(file);
	if (*options.size > 0)
		return DOCA_SUCCESS;
	DOCA_LOG_ERR("%s is empty", path);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t
take_size(void *value, void *config)
{
	int mib = *(const int *)value;

	(void)config;
	if (mib < 1) {
		DOCA_LOG_ERR("size is %d MiB, must be at least 1", mib);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*options.size = (uint64_t)mib << 20;
	return DOCA_SUCCESS;
}

doca_error_t
blocks_options(FILE **file, uint64_t *size)
{
	doca_error_t result;

	options.file = file;
	options.size = size;
	result = side_option("f", "file", "<path>", SIDE_IS_DPU ? "output file" : "file to send",
			DOCA_ARGP_TYPE_STRING, take_file);
	if (result == DOCA_SUCCESS && !SIDE_IS_DPU)
		result = side_option("s", "size", "<MiB>", "generated data to send instead (64)",
				DOCA_ARGP_TYPE_INT, take_size);
	return result;
}
