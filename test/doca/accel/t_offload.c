/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * DOCA SHA and DOCA Compress by devices of EAL that the device table names, which are software:
 * crypto_openssl, and compress_zlib, which takes no chains of mbufs, or compress_isal. Where the
 * case decides what a device does, it goes through t_eal_dev.h. The suites of both libraries run on
 * these devices as well.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_compressdev.h>
#include <rte_cryptodev.h>

#include "accel/hasher.h"
#include "accel/packer.h"
#include "accel/t_eal_dev.h"
#include "accel/text.h"
#include "common/file.h"
#include "common/logged.h"
#include "t_main.h"
#include "t_tel.h"

#define CRYPTO "crypto_openssl0"
#define COMPRESS "compress_zlib0"
#define CHAINS "compress_isal0"
#define DEVICE "[device dpu]\npci = 03:00.0\n"
#define FUNCTION "[function pf0]\npci = b1:00.0\n"
#define SHA256 DOCA_SHA_ALGORITHM_SHA256
/* The longest source, or result, of a device; of one without chains. */
#define SEGMENT ((size_t)63 << 10)
#define MOST (16 * SEGMENT)

static void
write_table(const char *keys, const char *vdevs)
{
	char table[256];

	snprintf(table, sizeof(table), DEVICE "%s" FUNCTION, keys);
	device_table_write(table);
	setenv("COMCH_EAL_ARGS", vdevs, 1);
	memset(&t_eal_dev, 0, sizeof(t_eal_dev));
}

/* What accelerator 0 of the process has given to its device. */
static void
has_offloaded(size_t bytes)
{
	int fd = t_tel_open();
	json_t *stats = t_tel_ask(fd, "/comch/accel/stats,0");

	T_EQ(t_tel_number(stats, "offloaded"), bytes);
	json_decref(stats);
	T_EQ(close(fd), 0);
}

/* SHA */

static void
open_hasher(struct hasher *h)
{
	write_table("crypto = " CRYPTO "\ncrypto_min = 1000\n", "--vdev=" CRYPTO);
	hasher_open(h);
	t_eal_dev_take_crypto(CRYPTO);
}

#define HASH_CASE(name) T_CASE_OF(struct hasher, open_hasher, hasher_close, name, h)

/* The digest of as many bytes, by a device or not, is that of parts, which the core hashes. */
static void
hashes(struct hasher *h, size_t len)
{
	char digest[2 * HASHER_MAX_DIGEST + 1];
	struct doca_sha_task_partial_hash *task;
	unsigned int before = h->nb_done;

	strcpy(digest, hasher_hash(h, SHA256, len));
	h->part = len;
	h->off = 0;
	h->len = len;
	task = hasher_part(h, SHA256, h->out);
	hasher_next_part(h, task);
	hasher_wait(h, before + 2);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	T_STR_EQ(hasher_hex(h->out), digest);
}

HASH_CASE(hashes_what_is_long_enough)
{
	hashes(h, 999);
	has_offloaded(0);
	hashes(h, 1000);
	has_offloaded(1000);
	/* Of two segments. */
	hashes(h, HASHER_SIZE);
	has_offloaded(1000 + HASHER_SIZE);
	T_EQ(t_eal_dev.dequeued, 2);
}

/* A message that is too long for a device is the core's. */
HASH_CASE(hashes_what_is_not_too_long)
{
	const struct memory src = h->src;
	struct doca_buf *in = h->in;

	memory_create_new(&h->src, h->dev, MOST + 1);
	t_fill(h->src.addr, MOST + 1, 1);
	h->in = memory_buf(&h->src, 0, MOST + 1, true);
	hashes(h, MOST);
	has_offloaded(MOST);
	hashes(h, MOST + 1);
	has_offloaded(MOST);
	T_OK(doca_buf_dec_refcount(h->in, NULL));
	memory_destroy(&h->src);
	h->src = src;
	h->in = in;
}

/* Submit a hash of all the source to a device that does not end it. */
static struct doca_sha_task_hash *
begin_slow_hash(struct hasher *h)
{
	struct doca_sha_task_hash *task = hasher_task(h, SHA256);

	t_eal_dev.is_slow = true;
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(task)));
	T_EQ(doca_pe_progress(h->pe), 0);
	T_EQ(doca_pe_progress(h->pe), 0);
	T_EQ(t_eal_dev.enqueued, 1);
	T_EQ(h->nb_done, 0);
	return task;
}

HASH_CASE(waits_for_the_crypto_device)
{
	struct doca_sha_task_hash *task = begin_slow_hash(h);

	t_eal_dev.is_slow = false;
	T_EQ(doca_pe_progress(h->pe), 1);
	hasher_wait(h, 1);
	doca_task_free(doca_sha_task_hash_as_task(task));
}

HASH_CASE(a_stop_waits_for_the_crypto_device)
{
	begin_slow_hash(h);
	t_eal_dev.looks = 5;
	T_IS(doca_ctx_stop(h->ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(h->pe), ctx_is_idle(h->ctx));
	T_EQ(t_eal_dev.dequeued, 1);
	T_EQ(h->nb_errors, 1);
	T_IS(h->status, DOCA_ERROR_SHUTDOWN);
	/* It can be started again. */
	h->nb_errors = 0;
	T_OK(doca_ctx_start(h->ctx));
	t_eal_dev_take_crypto(CRYPTO);
	hashes(h, 2000);
	T_EQ(t_eal_dev.dequeued, 2);
}

HASH_CASE(a_freed_task_waits_for_the_crypto_device)
{
	struct doca_sha_task_hash *task = begin_slow_hash(h);

	t_eal_dev.looks = 5;
	doca_task_free(doca_sha_task_hash_as_task(task));
	T_EQ(t_eal_dev.dequeued, 1);
	T_SETTLE(doca_pe_progress(h->pe));
	T_EQ(h->nb_done + h->nb_errors, 0);
	hashes(h, 2000);
	T_EQ(t_eal_dev.dequeued, 2);
}

/* What the device does not do, the core does; and says so, if it has tried. */
HASH_CASE(a_crypto_device_fails)
{
	t_eal_dev.fails = true;
	logged_begin();
	hashes(h, 5000);
	hashes(h, 5000);
	T_STR_HAS(logged_end(), "SHA: " CRYPTO " has not done a task; the core does it");
	T_EQ(t_eal_dev.dequeued, 2);
	has_offloaded(0);
}

HASH_CASE(a_crypto_device_refuses)
{
	unsigned int i;

	t_eal_dev.refuses = true;
	/* More often than it has queues, or memory. */
	for (i = 0; i < 200; i++)
		hashes(h, HASHER_SIZE);
	has_offloaded(0);
	t_eal_dev.refuses = false;
	hashes(h, HASHER_SIZE);
	has_offloaded(HASHER_SIZE);
}

/* Compress */

static void
open_packer(struct packer *p)
{
	write_table("compress = " COMPRESS "\ncompress_min = 100\n", "--vdev=" COMPRESS);
	packer_open(p);
	/* It was asked something. */
	T_LT(0, t_eal_dev.dequeued);
	memset(&t_eal_dev, 0, sizeof(t_eal_dev));
}

#define PACK_CASE(name) T_CASE_OF(struct packer, open_packer, packer_close, name, p)

/* Decompress what zlib has made of *len* bytes. */
static void
unpacks(struct packer *p, size_t len)
{
	uint8_t *data = malloc(len);

	T_CHECK(data != NULL);
	fill_half(data, len);
	packer_set_source(p, NULL, zlib_pack(data, len, p->src.addr, PACKER_SIZE, 6));
	T_OK(packer_finish(p, packer_decompress(p)));
	T_EQ(packer_out_len(p), len);
	T_EQ(memcmp(p->dst.addr, data, len), 0);
	free(data);
}

/* Of sources, the device gets those that are not too short and not too long. */
static void
packs_up_to(struct packer *p, size_t most)
{
	fill_half(p->src.addr, PACKER_SIZE);
	packer_compresses(p, 99);
	has_offloaded(0);
	packer_compresses(p, 100);
	has_offloaded(100);
	packer_compresses(p, most);
	has_offloaded(100 + most);
	packer_compresses(p, most + 1);
	has_offloaded(100 + most);
}

PACK_CASE(packs_a_segment)
{
	packs_up_to(p, SEGMENT);
}

/* Nor of results. */
PACK_CASE(unpacks_a_segment)
{
	size_t len;

	unpacks(p, SEGMENT);
	T_OK(doca_buf_get_data_len(p->in, &len));
	has_offloaded(len);
	unpacks(p, SEGMENT + 1);
	has_offloaded(len);
	T_EQ(t_eal_dev.dequeued, 2);
}

T_CASE(packs_chains)
{
	struct packer p;

	write_table("compress = " CHAINS "\ncompress_min = 100\n", "--vdev=" CHAINS);
	packer_open(&p);
	packs_up_to(&p, MOST);
	/* It does not say where a source ends, so the core decompresses. */
	t_eal_dev.enqueued = 0;
	unpacks(&p, MOST);
	T_EQ(t_eal_dev.enqueued, 0);
	packer_close(&p);
}

/* Submit a compression of 10,000 bytes to a device that does not end it. */
static void
begin_slow_pack(struct packer *p)
{
	packer_set_source(p, NULL, 10000);
	t_eal_dev.is_slow = true;
	p->keep_tasks = true;
	T_OK(doca_task_submit(packer_compress(p)));
	T_EQ(doca_pe_progress(p->pe), 0);
	T_EQ(doca_pe_progress(p->pe), 0);
	T_EQ(t_eal_dev.enqueued, 1);
	T_EQ(packer_out_len(p), 0);
	p->keep_tasks = false;
}

PACK_CASE(waits_for_the_compression_device)
{
	begin_slow_pack(p);
	t_eal_dev.is_slow = false;
	T_EQ(doca_pe_progress(p->pe), 1);
	T_EQ(p->nb_done, 1);
	T_LT(0, packer_out_len(p));
}

PACK_CASE(a_stop_waits_for_the_compression_device)
{
	begin_slow_pack(p);
	t_eal_dev.looks = 5;
	T_IS(doca_ctx_stop(p->ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(p->pe), ctx_is_idle(p->ctx));
	T_EQ(t_eal_dev.dequeued, 1);
	T_EQ(p->nb_errors, 1);
	T_EQ(packer_out_len(p), 0);
	T_OK(doca_ctx_start(p->ctx));
	t_eal_dev.dequeued = 0;
	packer_compresses(p, 10000);
	T_EQ(t_eal_dev.dequeued, 1);
}

PACK_CASE(a_compression_device_fails)
{
	t_eal_dev.fails = true;
	logged_begin();
	packer_compresses(p, 5000);
	unpacks(p, 5000);
	T_STR_HAS(logged_end(), "compress: " COMPRESS " has not done a task; the core does it");
	T_EQ(t_eal_dev.dequeued, 2);
	has_offloaded(0);
}

/* Which is common, and nothing to report. */
PACK_CASE(a_compression_device_has_no_room)
{
	t_eal_dev.has_no_room = true;
	logged_begin();
	unpacks(p, 5000);
	T_STR_EQ(logged_end(), "");
	T_EQ(t_eal_dev.dequeued, 1);
	has_offloaded(0);
}

/* The core cannot decompress that either, so that the device is not to blame. */
PACK_CASE(a_compression_device_gets_corrupt_data)
{
	logged_begin();
	memset(p->src.addr, 0xff, 1000);
	packer_set_source(p, NULL, 1000);
	T_IS(packer_finish(p, packer_decompress(p)), DOCA_ERROR_IO_FAILED);
	T_CHECK(strstr(logged_end(), "has not done a task") == NULL);
	T_EQ(t_eal_dev.dequeued, 1);
}

PACK_CASE(a_compression_device_refuses)
{
	unsigned int i;

	t_eal_dev.refuses = true;
	for (i = 0; i < 200; i++)
		packer_compresses(p, 1000);
	has_offloaded(0);
	t_eal_dev.refuses = false;
	packer_compresses(p, 1000);
	has_offloaded(1000);
}

/* Starts that fail, and say why. */

static void
cannot_hash(const char *keys, const char *why)
{
	struct hasher h;

	write_table(keys, "--vdev=" CRYPTO " --vdev=crypto_null0");
	hasher_create(&h);
	T_OK(doca_sha_task_hash_set_conf(h.sha, hasher_on_hash, hasher_on_hash, 2));
	logged_begin();
	T_IS(doca_ctx_start(h.ctx), DOCA_ERROR_INITIALIZATION);
	T_STR_HAS(logged_end(), why);
	T_CHECK(ctx_is_idle(h.ctx));
	hasher_close(&h);
}

T_CASE(there_is_no_such_crypto_device)
{
	cannot_hash("crypto = qat0\n", "SHA: cannot start: crypto = qat0 in the device table: no "
		"such crypto device; there are: " CRYPTO ", crypto_null0");
}

static void
cannot_pack(const char *vdevs, const char *why)
{
	struct packer p;

	write_table("compress = qat0\n", vdevs);
	packer_create(&p);
	T_OK(doca_compress_task_compress_deflate_set_conf(p.compress,
		(doca_compress_task_compress_deflate_completion_cb_t)abort,
		(doca_compress_task_compress_deflate_completion_cb_t)abort, 2));
	logged_begin();
	T_IS(doca_ctx_start(p.ctx), DOCA_ERROR_INITIALIZATION);
	T_STR_HAS(logged_end(), why);
	T_CHECK(ctx_is_idle(p.ctx));
	packer_close(&p);
}

T_CASE(there_is_no_such_compression_device)
{
	cannot_pack("--vdev=" COMPRESS, "compress: cannot start: compress = qat0 in the device "
		"table: no such compression device; there are: " COMPRESS);
}

T_CASE(there_is_no_compression_device)
{
	cannot_pack("", "no such compression device; there are: none: have EAL open it");
}

/* A program's own. */
T_CASE(a_crypto_device_is_busy)
{
	struct rte_cryptodev_config conf = { .nb_queue_pairs = 1 };
	struct rte_cryptodev_qp_conf qp = { .nb_descriptors = 128 };
	struct hasher h;
	int id;

	write_table("crypto = " CRYPTO "\n", "--vdev=" CRYPTO);
	hasher_create(&h);
	T_OK(doca_sha_task_hash_set_conf(h.sha, hasher_on_hash, hasher_on_hash, 2));
	id = rte_cryptodev_get_dev_id(CRYPTO);
	T_GE(id, 0);
	T_EQ(rte_cryptodev_configure((uint8_t)id, &conf), 0);
	T_EQ(rte_cryptodev_queue_pair_setup((uint8_t)id, 0, &qp, 0), 0);
	T_EQ(rte_cryptodev_start((uint8_t)id), 0);
	logged_begin();
	T_IS(doca_ctx_start(h.ctx), DOCA_ERROR_INITIALIZATION);
	T_STR_HAS(logged_end(), "this process uses it for something else");
	hasher_close(&h);
}

T_CASE(a_crypto_device_has_no_digests)
{
	cannot_hash("crypto = crypto_null0\n", "crypto = crypto_null0 in the device table: it has "
		"none of SHA-1, SHA-256 and SHA-512");
}
