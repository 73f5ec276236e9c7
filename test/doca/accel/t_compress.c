/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA Compress: deflate and LZ4, beside zlib and liblz4. */

#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <zlib.h>

#include <rte_byteorder.h>

#include "accel/packer.h"
#include "accel/text.h"
#include "t_main.h"

/* behaviour: Z1, Z3 */
PACKER_CASE(compresses)
{
	packer_set_source(p, TEXT, strlen(TEXT));
	T_LT(packer_compresses(p, strlen(TEXT)), strlen(TEXT));
	T_EQ(p->crc, TEXT_CRC);
	T_EQ(p->adler, TEXT_ADLER);
	T_EQ(packer_compresses(p, 1), 3);
	packer_compresses(p, 0);
	fill_half(p->src.addr, PACKER_SIZE);
	T_LT(packer_compresses(p, 3 * PACKER_SIZE / 4), PACKER_SIZE / 2);
	/* What does not get less. behaviour: Z4 */
	t_fill(p->src.addr, PACKER_SIZE / 4, 1);
	T_GE(packer_compresses(p, PACKER_SIZE / 4), PACKER_SIZE / 4);
	T_LE(packer_out_len(p), PACKER_SIZE / 2);
}

/* behaviour: Z2, Z3 */
PACKER_CASE(decompresses)
{
	static const int levels[] = { 0, 1, 9 };
	uint8_t *data = malloc(PACKER_SIZE / 2);
	unsigned int i;
	size_t len;

	T_CHECK(data != NULL);
	fill_half(data, PACKER_SIZE / 2);
	for (i = 0; i < RTE_DIM(levels); i++) {
		len = zlib_pack(data, PACKER_SIZE / 2, p->src.addr, PACKER_SIZE, levels[i]);
		packer_set_source(p, NULL, len);
		T_OK(packer_finish(p, packer_decompress(p)));
		T_EQ(packer_out_len(p), PACKER_SIZE / 2);
		T_EQ(memcmp(p->dst.addr, data, PACKER_SIZE / 2), 0);
		T_EQ(p->crc, crc32(0, data, PACKER_SIZE / 2));
		T_EQ(p->adler, adler32(1, data, PACKER_SIZE / 2));
	}
	/* What comes behind it is ignored. */
	len = zlib_pack(TEXT, strlen(TEXT), p->src.addr, PACKER_SIZE, 6);
	memset(p->src.addr + len, 0x5a, 10);
	packer_set_source(p, NULL, len + 10);
	T_OK(packer_finish(p, packer_decompress(p)));
	T_EQ(packer_out_len(p), strlen(TEXT));
	T_EQ(p->crc, TEXT_CRC);
	free(data);
}

/* The result is appended to the destination's data. behaviour: Z5 */
PACKER_CASE(appends)
{
	uint8_t back[256];

	packer_set_source(p, TEXT, strlen(TEXT));
	memset(p->dst.addr, 0xee, 8);
	T_OK(doca_buf_set_data(p->out, p->dst.addr + 2, 0));
	T_OK(packer_finish(p, packer_compress(p)));
	T_EQ(p->dst.addr[0], 0xee);
	T_EQ(p->dst.addr[1], 0xee);
	T_EQ(zlib_unpack(p->dst.addr + 2, packer_out_len(p), back, sizeof(back)), strlen(TEXT));
	/* With the header and the trailer of zlib around it. */
	{
		const rte_be32_t adler = rte_cpu_to_be_32(p->adler);
		uLongf n = sizeof(back);

		memcpy(p->dst.addr, "\x78\x9c", 2);
		memcpy(p->dst.addr + 2 + packer_out_len(p), &adler, sizeof(adler));
		T_EQ(uncompress(back, &n, p->dst.addr, 2 + packer_out_len(p) + 4), Z_OK);
		T_EQ(n, strlen(TEXT));
		T_EQ(memcmp(back, TEXT, n), 0);
	}
	/* Behind data. */
	packer_set_source(p, TEXT, strlen(TEXT));
	T_OK(doca_buf_set_data(p->out, p->dst.addr, 100));
	T_OK(packer_finish(p, packer_compress(p)));
	T_EQ(zlib_unpack(p->dst.addr + 100, packer_out_len(p) - 100, back, sizeof(back)),
		strlen(TEXT));
}

/* Of lists as of one buffer. */
PACKER_CASE(lists)
{
	static const size_t lens[] = { 1, 0, 100, 54 };
	struct doca_compress_task_compress_deflate *task;
	struct doca_buf *bufs[RTE_DIM(lens)];
	size_t i, off = 0;
	uint8_t back[256];

	packer_set_source(p, TEXT, strlen(TEXT));
	for (i = 0; i < RTE_DIM(lens); off += lens[i++]) {
		bufs[i] = memory_buf(&p->src, off, lens[i] + 1, true);
		T_OK(doca_buf_set_data(bufs[i], p->src.addr + off, lens[i]));
		if (i > 0)
			T_OK(doca_buf_chain_list(bufs[0], bufs[i]));
	}
	T_OK(doca_compress_task_compress_deflate_alloc_init(p->compress, bufs[0], p->out, USER_DATA,
		&task));
	T_OK(packer_finish(p, doca_compress_task_compress_deflate_as_task(task)));
	T_EQ(p->crc, TEXT_CRC);
	T_EQ(zlib_unpack(p->dst.addr, packer_out_len(p), back, sizeof(back)), strlen(TEXT));
	T_EQ(memcmp(back, TEXT, strlen(TEXT)), 0);
	T_OK(doca_buf_dec_refcount(bufs[0], NULL));
}

/* behaviour: Z6 */
PACKER_CASE(room_of_deflate)
{
	uint8_t packed[256];
	size_t len = zlib_pack(TEXT, strlen(TEXT), packed, sizeof(packed), 6);

	/* Just enough. */
	packer_set_room(p, strlen(TEXT));
	packer_set_source(p, packed, len);
	T_OK(packer_finish(p, packer_decompress(p)));
	T_EQ(packer_out_len(p), strlen(TEXT));
	packer_set_room(p, strlen(TEXT) - 1);
	packer_set_source(p, packed, len);
	packer_fails(p, packer_decompress(p), strlen(TEXT) - 1, DOCA_ERROR_TOO_BIG);
	packer_set_room(p, len);
	packer_set_source(p, TEXT, strlen(TEXT));
	T_OK(packer_finish(p, packer_compress(p)));
	packer_set_room(p, len - 1);
	packer_set_source(p, TEXT, strlen(TEXT));
	packer_fails(p, packer_compress(p), len - 1, DOCA_ERROR_TOO_BIG);
	/* Without any. */
	packer_set_room(p, 1);
	packer_set_source(p, packed, len);
	T_OK(doca_buf_set_data(p->out, p->dst.addr, 1));
	T_IS(packer_finish(p, packer_decompress(p)), DOCA_ERROR_TOO_BIG);
}

/* Equal bytes, of which the last code of the stream makes many: whatever the room, it is told. */
PACKER_CASE(rooms_of_equal_bytes)
{
	uint8_t data[1000], packed[64];
	size_t len, room;

	memset(data, 'x', sizeof(data));
	len = zlib_pack(data, sizeof(data), packed, sizeof(packed), 9);
	for (room = 1; room < sizeof(data); room += 37) {
		packer_set_room(p, room);
		packer_set_source(p, packed, len);
		packer_fails(p, packer_decompress(p), room, DOCA_ERROR_TOO_BIG);
	}
	/* The room is full, and then the stream ends too early. */
	packer_set_room(p, sizeof(data));
	packer_set_source(p, packed, len - 1);
	packer_fails(p, packer_decompress(p), sizeof(data), DOCA_ERROR_IO_FAILED);
}

/* Blocks of nothing: a task that makes nothing takes turns as others do. */
PACKER_CASE(empty_blocks_of_deflate)
{
	/* Stored, not the last one, of no bytes. */
	static const uint8_t empty[] = { 0, 0, 0, 0xff, 0xff };
	unsigned int turns = 0;
	size_t i;

	for (i = 0; i + sizeof(empty) <= PACKER_SIZE; i += sizeof(empty))
		memcpy(p->src.addr + i, empty, sizeof(empty));
	packer_set_source(p, NULL, i);
	T_OK(doca_task_submit(packer_decompress(p)));
	T_WAIT((turns++, doca_pe_progress(p->pe)), p->nb_errors > 0);
	T_IS(p->status, DOCA_ERROR_IO_FAILED);
	/* Of 16 KiB each. */
	T_EQ(turns, PACKER_SIZE / (16 * 1024));
}

/* behaviour: Z6, Y12 */
PACKER_CASE(corrupt_deflate)
{
	uint8_t packed[256], bad[256];
	size_t len = zlib_pack(TEXT, strlen(TEXT), packed, sizeof(packed), 6), i;

	/* Not whole. */
	for (i = 1; i < len; i += 13) {
		packer_set_source(p, packed, i);
		packer_fails(p, packer_decompress(p), PACKER_SIZE, DOCA_ERROR_IO_FAILED);
	}
	memset(bad, 0xff, sizeof(bad));
	packer_set_source(p, bad, sizeof(bad));
	packer_fails(p, packer_decompress(p), PACKER_SIZE, DOCA_ERROR_IO_FAILED);
	/* Nothing. */
	packer_set_source(p, packed, 0);
	packer_fails(p, packer_decompress(p), PACKER_SIZE, DOCA_ERROR_INVALID_VALUE);
}

/* behaviour: Z7, Z8 */
PACKER_CASE(lz4_streams)
{
	uint8_t *data = malloc(PACKER_SIZE / 2);
	uint32_t checksum;
	unsigned int i;

	T_CHECK(data != NULL);
	fill_half(data, PACKER_SIZE / 2);
	/* One block of them is stored as it is. */
	t_fill(data + 65536, 65536, 1);
	for (i = 0; i < 4; i++) {
		checksum = packer_set_frame(p, data, PACKER_SIZE / 2, i % 2 != 0, i / 2 != 0);
		T_OK(packer_finish(p, packer_stream(p, i % 2 != 0, i / 2 != 0)));
		T_EQ(packer_out_len(p), PACKER_SIZE / 2);
		T_EQ(memcmp(p->dst.addr, data, PACKER_SIZE / 2), 0);
		T_EQ(p->crc, crc32(0, data, PACKER_SIZE / 2));
		T_EQ(p->xxh, rte_bswap32(checksum));
	}
	free(data);
}

/* behaviour: Z9 */
PACKER_CASE(lz4_blocks)
{
	char packed[256];
	int len = LZ4_compress_default(TEXT TEXT, packed, 2 * strlen(TEXT), sizeof(packed));

	packer_set_source(p, packed, (size_t)len);
	T_OK(packer_finish(p, packer_block(p)));
	T_EQ(packer_out_len(p), 2 * strlen(TEXT));
	T_EQ(memcmp(p->dst.addr, TEXT TEXT, 2 * strlen(TEXT)), 0);
	packer_set_room(p, 2 * strlen(TEXT) - 1);
	packer_set_source(p, packed, (size_t)len);
	packer_fails(p, packer_block(p), 2 * strlen(TEXT) - 1, DOCA_ERROR_TOO_BIG);
	packer_set_room(p, PACKER_SIZE);
	packer_set_source(p, packed, (size_t)len - 3);
	packer_fails(p, packer_block(p), PACKER_SIZE, DOCA_ERROR_IO_FAILED);
}

/* behaviour: Z6 */
PACKER_CASE(corrupt_lz4)
{
	uint8_t *data = malloc(200000);
	size_t len;

	T_CHECK(data != NULL);
	fill_half(data, 200000);
	packer_set_frame(p, data, 200000, true, true);
	T_OK(doca_buf_get_data_len(p->in, &len));
	/* A byte of a block: its checksum shows it. */
	p->src.addr[1000] ^= 1;
	packer_fails(p, packer_stream(p, true, true), PACKER_SIZE, DOCA_ERROR_IO_FAILED);
	p->src.addr[1000] ^= 1;
	/* The checksums are taken for blocks. */
	packer_fails(p, packer_stream(p, false, true), PACKER_SIZE, DOCA_ERROR_IO_FAILED);
	/* Less than whole. */
	T_OK(doca_buf_set_data(p->in, p->src.addr, len - 1));
	packer_fails(p, packer_stream(p, true, true), PACKER_SIZE, DOCA_ERROR_IO_FAILED);
	T_OK(doca_buf_set_data(p->in, p->src.addr, 3));
	packer_fails(p, packer_stream(p, true, true), PACKER_SIZE, DOCA_ERROR_IO_FAILED);
	/* A block of 2 GB. */
	memset(p->src.addr, 0x7f, 4);
	T_OK(doca_buf_set_data(p->in, p->src.addr, len));
	packer_fails(p, packer_stream(p, true, true), PACKER_SIZE, DOCA_ERROR_IO_FAILED);
	/* Too little room. */
	packer_set_frame(p, data, 200000, false, false);
	packer_set_room(p, 150000);
	packer_fails(p, packer_stream(p, false, false), 150000, DOCA_ERROR_TOO_BIG);
	free(data);
}
