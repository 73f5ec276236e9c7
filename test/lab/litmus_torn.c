/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What a reader sees of 64-byte cells that a peer fills by RDMA. A reader that polls the
 * memory itself may find cells that are partly old, or words of which some bytes are old. A
 * reader behind a completion must find neither. Both ends are threads of this process, on
 * two CPUs.
 *
 * usage: litmus_torn IP [COUNT]
 *
 * Prints a row for each way of writing and reading. Exit status: 0, or 1 if a completion was
 * reported before its data was there.
 */

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rc.h"

#define CELL 64
#define NB_CELLS 64
#define WORDS (CELL / sizeof(uint64_t))
#define LONG_LEN 16384
/* The memory: cells, the long message, and what is sent. */
#define LONG_OFF (NB_CELLS * CELL)
#define SRC_OFF (LONG_OFF + LONG_LEN)
#define MEM_LEN (SRC_OFF + LONG_LEN)

struct row {
	const char *name;
	enum ibv_wr_opcode opcode;
	bool behind_cqe;   /* else it polls the word 'key' */
	bool sequence;     /* the first word follows in a WRITE of its own */
	unsigned int key;
};

static const struct row rows[] = {
	{ .name = "WRITE, poll the first word", .opcode = IBV_WR_RDMA_WRITE },
	{ .name = "WRITE, poll the last word", .opcode = IBV_WR_RDMA_WRITE, .key = WORDS - 1 },
	{ .name = "WRITE, then WRITE a sequence, poll it", .opcode = IBV_WR_RDMA_WRITE,
		.sequence = true },
	{ .name = "SEND, behind its completion", .opcode = IBV_WR_SEND, .behind_cqe = true },
	{ .name = "WRITE_WITH_IMM, behind its completion",
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .behind_cqe = true },
};

struct run {
	struct rc_dev dev;
	struct rc_end writer;
	struct rc_end reader;
	const struct row *row;
	uint64_t count;
	uint64_t nb_read;     /* atomic: cells that the reader is done with */
	uint64_t torn_cells;
	uint64_t torn_words;
};

/* All bytes of a cell have one value, never 0 and never that of the cell's previous use. */
static uint64_t
pattern(uint64_t number)
{
	return (number % 251 + 1) * UINT64_C(0x0101010101010101);
}

static uint64_t *
cell(struct run *run, uint64_t number)
{
	return (uint64_t *)(run->dev.mem + number % NB_CELLS * CELL);
}

/* A single load, as the device may write at the same time. */
static uint64_t
load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void
post_recv(struct run *run, uint64_t number)
{
	rc_post_recv(&run->dev, &run->reader, cell(run, number),
			run->row->opcode == IBV_WR_SEND ? CELL : 0);
}

/* Wait until the reader may look at a cell. */
static void
await_cell(struct run *run, const uint64_t *words, uint64_t want, uint64_t old)
{
	const uint64_t *key = &words[run->row->key];
	bool seen = false;
	uint64_t word;

	if (run->row->behind_cqe) {
		rc_wait(run->reader.recv_cq);
		return;
	}
	for (word = load(key); word != want; word = load(key)) {
		if (word == old || seen)
			continue;
		run->torn_words++;
		seen = true;
	}
}

static void
read_cell(struct run *run, uint64_t number)
{
	const uint64_t want = pattern(number);
	const uint64_t old = number < NB_CELLS ? 0 : pattern(number - NB_CELLS);
	const uint64_t *words = cell(run, number);
	bool torn = false;
	uint64_t word;
	size_t i;

	await_cell(run, words, want, old);
	for (i = 0; i < WORDS; i++) {
		word = load(&words[i]);
		torn |= word != want;
		run->torn_words += word != want && word != old;
	}
	run->torn_cells += torn;
	/* Before the cell is used again, all of it must have arrived. */
	for (i = 0; i < WORDS; i++)
		while (load(&words[i]) != want)
			;
}

static void *
read_cells(void *arg)
{
	struct run *run = arg;
	uint64_t number;

	rc_pin(1);
	for (number = 0; number < run->count; number++) {
		read_cell(run, number);
		if (run->row->behind_cqe)
			post_recv(run, number);
		/* Pairs with the acquire in await_reader(). */
		__atomic_store_n(&run->nb_read, number + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Pairs with the releases of the readers. */
static void
await_reader(struct run *run, uint64_t number)
{
	while (__atomic_load_n(&run->nb_read, __ATOMIC_ACQUIRE) <= number)
		;
}

static void
write_cell(struct run *run, uint64_t number, unsigned int flags)
{
	uint64_t *src = (uint64_t *)(run->dev.mem + SRC_OFF);
	const uint64_t to = (uintptr_t)cell(run, number);
	struct ibv_sge sge[2] = {
		{ .addr = (uintptr_t)src, .length = CELL, .lkey = run->dev.mr->lkey },
		{ .addr = (uintptr_t)src, .length = sizeof(*src), .lkey = run->dev.mr->lkey },
	};
	struct ibv_send_wr wr[2] = {
		{ .sg_list = &sge[0], .num_sge = 1, .opcode = run->row->opcode,
			.wr.rdma = { .remote_addr = to, .rkey = run->dev.mr->rkey } },
		{ .sg_list = &sge[1], .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = { .remote_addr = to, .rkey = run->dev.mr->rkey } },
	};
	size_t i;

	for (i = 0; i < WORDS; i++)
		src[i] = pattern(number);
	wr[0].send_flags = flags | IBV_SEND_SIGNALED;
	if (run->row->sequence) {
		sge[0].addr += sizeof(*src);
		sge[0].length -= sizeof(*src);
		wr[0].wr.rdma.remote_addr += sizeof(*src);
		wr[0].send_flags = flags;
		wr[0].next = &wr[1];
		wr[1].send_flags = flags | IBV_SEND_SIGNALED;
	}
	rc_post_send(&run->writer, wr);
	rc_wait(run->writer.send_cq);
}

static void
start(struct run *run)
{
	struct rc_addr writer, reader;

	memset(run->dev.mem, 0, MEM_LEN);
	run->nb_read = 0;
	run->torn_cells = 0;
	run->torn_words = 0;
	rc_create(&run->dev, &run->writer);
	rc_create(&run->dev, &run->reader);
	writer = rc_addr(&run->dev, &run->writer);
	reader = rc_addr(&run->dev, &run->reader);
	rc_connect(&run->dev, &run->writer, &reader);
	rc_connect(&run->dev, &run->reader, &writer);
}

static void
stop(struct run *run, pthread_t thread)
{
	pthread_join(thread, NULL);
	rc_destroy(&run->writer);
	rc_destroy(&run->reader);
}

/* Returns whether the row is as it must be. */
static bool
run_row(struct run *run, const struct row *row, bool inlined)
{
	pthread_t thread;
	uint64_t i;

	run->row = row;
	start(run);
	for (i = 0; row->behind_cqe && i < NB_CELLS; i++)
		post_recv(run, i);
	rc_check(pthread_create(&thread, NULL, read_cells, run) == 0, "pthread_create");
	for (i = 0; i < run->count; i++) {
		write_cell(run, i, inlined ? IBV_SEND_INLINE : 0);
		await_reader(run, i);
	}
	stop(run, thread);
	printf("%-38s %-7s %" PRIu64 " cells, %" PRIu64 " torn, %" PRIu64 " words torn\n",
			row->name, inlined ? "inline" : "", run->count, run->torn_cells,
			run->torn_words);
	fflush(stdout);
	return !row->behind_cqe || (run->torn_cells == 0 && run->torn_words == 0);
}

static void *
read_long(void *arg)
{
	struct run *run = arg;
	const uint64_t *words = (const uint64_t *)(run->dev.mem + LONG_OFF);
	uint64_t number;
	bool torn;
	size_t i;

	rc_pin(1);
	for (number = 0; number < run->count; number++) {
		rc_wait(run->reader.recv_cq);
		torn = false;
		for (i = 0; i < LONG_LEN / sizeof(*words); i++)
			torn |= load(&words[i]) != pattern(number);
		run->torn_cells += torn;
		rc_post_recv(&run->dev, &run->reader, cell(run, number), CELL);
		/* Pairs with the acquire in await_reader(). */
		__atomic_store_n(&run->nb_read, number + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* A payload by WRITE, then its record by SEND: is all of it there at the SEND's completion? */
static bool
run_long(struct run *run)
{
	uint64_t *src = (uint64_t *)(run->dev.mem + SRC_OFF);
	struct ibv_sge sge = {
		.addr = (uintptr_t)src, .length = LONG_LEN, .lkey = run->dev.mr->lkey,
	};
	struct ibv_sge record = sge;
	struct ibv_send_wr wr[2] = {
		{ .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = { .remote_addr = (uintptr_t)run->dev.mem + LONG_OFF,
				.rkey = run->dev.mr->rkey } },
		{ .sg_list = &record, .num_sge = 1, .opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED },
	};
	pthread_t thread;
	uint64_t number;
	size_t i;

	record.length = CELL;
	start(run);
	for (i = 0; i < NB_CELLS; i++)
		rc_post_recv(&run->dev, &run->reader, cell(run, i), CELL);
	rc_check(pthread_create(&thread, NULL, read_long, run) == 0, "pthread_create");
	for (number = 0; number < run->count; number++) {
		for (i = 0; i < LONG_LEN / sizeof(*src); i++)
			src[i] = pattern(number);
		wr[0].next = &wr[1];
		rc_post_send(&run->writer, wr);
		rc_wait(run->writer.send_cq);
		await_reader(run, number);
	}
	stop(run, thread);
	printf("%-46s %" PRIu64 " payloads, %" PRIu64 " incomplete\n",
			"WRITE 16 KiB, then SEND, behind its completion", run->count,
			run->torn_cells);
	return run->torn_cells == 0;
}

int
main(int argc, char **argv)
{
	struct run run = { .count = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000 };
	bool ok = true;
	size_t i;

	if (argc < 2) {
		fprintf(stderr, "usage: litmus_torn IP [COUNT]\n");
		return 2;
	}
	rc_open(&run.dev, argv[1], MEM_LEN);
	rc_pin(0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ok &= run_row(&run, &rows[i], false);
		ok &= run_row(&run, &rows[i], true);
	}
	run.count /= 4;
	ok &= run_long(&run);
	rc_close(&run.dev);
	printf("%s\n", ok ? "no completion before its data" : "FAILED");
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
