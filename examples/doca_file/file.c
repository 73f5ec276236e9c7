/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A file goes from the host to the DPU in pieces, which the DPU fetches by itself: DOCA Comch says
 * what there is to fetch, DOCA Compress makes it smaller, DOCA DMA copies it out of the host's
 * memory, and DOCA SHA finds out whether it is what the host had.
 *
 *     doca_file_dpu  -p 03:00.0 -r b1:00.0 -f copy &
 *     doca_file_host -p b1:00.0 -f original
 *
 *     host                                     DPU
 *     connected, HELLO ----------------------> size; import the host's memory
 *     read a piece; compress and hash it
 *     PIECE: its digest, and where it is ----> copy, decompress, hash, compare; write
 *     read the next one into its memory <----- TAKEN
 *     ...
 *                        <-------------------- VERDICT
 *
 * Many pieces are under way at a time, each with memory of its own, so all stages work at once.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_log.h>

#include "../doca_common/blocks.h"
#include "../doca_common/link.h"
#include "stages.h"

DOCA_LOG_REGISTER(FILE);

#define PIECE_SIZE BLOCK_SIZE
/* What does not get smaller gets larger by a few bytes. */
#define PACKED_SIZE (PIECE_SIZE + 1024)
#define MAX_DESC 256
/* Of a file. */
#define MAX_SIZE (UINT64_C(1) << 40)
/* What is done on which side. */
#define HOST_STAGES (1u << STAGE_PACK | 1u << STAGE_HASH)
#define DPU_STAGES (1u << STAGE_COPY | 1u << STAGE_UNPACK | 1u << STAGE_HASH)

/* Messages. */
enum kind { HELLO, PIECE, TAKEN, VERDICT };

struct hello {
	uint32_t kind;
	uint32_t desc_len;
	uint64_t size;         /* of the file */
	uint8_t desc[MAX_DESC]; /* of the memory with packed pieces: doca_mmap_export_pci() */
};

struct piece {
	uint32_t kind;
	uint32_t slot;         /* where it is: the number of its block */
	uint64_t number;       /* in the file */
	uint32_t len;
	uint32_t packed_len;
	uint8_t digest[DIGEST_SIZE];
};

struct word {
	uint32_t kind;
	uint32_t slot;         /* TAKEN */
	uint64_t bytes;        /* VERDICT: that are in the file and as they should be */
};

/* The two sides may be of different architectures: both read these as they are. */
_Static_assert(sizeof(struct hello) == 272 && sizeof(struct piece) == 56 &&
		sizeof(struct word) == 16, "wire");

/* Memory of a piece, and what is done with it. Both sides have as many, with the same numbers. */
struct slot {
	bool is_busy;
	uint32_t to_begin;     /* stages: bits 1 << STAGE_... */
	uint32_t nb_stages;    /* under way */
	struct piece piece;
	struct word taken;     /* the DPU's answer */
	bool has_news;         /* the message above is to be sent: of the host, of the DPU */
	struct doca_buf *remote; /* on the DPU: the packed piece in the host's memory */
};

struct app {
	struct link link;      /* first: see side_options() */
	struct stages stages;
	FILE *file;            /* NULL: generated data on the host, nowhere on the DPU */
	uint64_t size;
	uint64_t bytes;        /* of pieces that are done */
	double begin, seconds;
	/* A block of each for each slot. */
	struct blocks raw, packed, digests;
	struct slot slots[NB_BLOCKS];
	/* Host. */
	uint64_t next;         /* number of the next piece */
	struct hello hello;
	/* DPU. */
	struct doca_mmap *remote;         /* the host's packed pieces */
	struct doca_buf_inventory *inventory; /* of bufs there */
	bool *is_known;        /* by number: the host has told of that piece */
	struct word verdict;   /* of the DPU, on both sides */
	bool has_verdict;
	bool is_closing;
};

static uint64_t
nb_pieces(const struct app *app)
{
	return (app->size + PIECE_SIZE - 1) / PIECE_SIZE;
}

static uint32_t
piece_len(const struct app *app, uint64_t number)
{
	uint64_t left = app->size - number * PIECE_SIZE;

	return left < PIECE_SIZE ? (uint32_t)left : PIECE_SIZE;
}

/* The source and the result of each stage are what the slot has for that. */
static doca_error_t
begin_stage(struct app *app, uint32_t i, enum stage stage)
{
	struct doca_buf *raw = app->raw.buf[i], *packed = app->packed.buf[i];

	switch (stage) {
	case STAGE_COPY:
		return stages_begin(&app->stages, i, stage, app->slots[i].remote, packed);
	case STAGE_UNPACK:
		return stages_begin(&app->stages, i, stage, packed, raw);
	case STAGE_PACK:
		return stages_begin(&app->stages, i, stage, raw, packed);
	default:
		return stages_begin(&app->stages, i, stage, raw, app->digests.buf[i]);
	}
}

/* Begin what is to be begun. What an accelerator does not take now, it does in a later turn. */
static void
begin_stages(struct app *app, uint32_t i)
{
	struct slot *slot = &app->slots[i];
	enum stage stage;
	doca_error_t result;

	for (stage = 0; stage < NB_STAGES; stage++) {
		if ((slot->to_begin & 1u << stage) == 0)
			continue;
		result = begin_stage(app, i, stage);
		if (result == DOCA_ERROR_AGAIN)
			continue;
		slot->to_begin &= ~(1u << stage);
		if (side_check(&app->link.side, result, "begin stage"))
			slot->nb_stages++;
	}
}

/* Host: read, compress and hash pieces, and tell the DPU of them */

static bool
read_piece(struct app *app, uint32_t i, uint64_t number)
{
	struct doca_buf *raw = app->raw.buf[i];
	uint32_t len = piece_len(app, number);
	void *data;
	doca_error_t result;

	result = doca_buf_get_head(raw, &data);
	if (result == DOCA_SUCCESS)
		result = blocks_fill(data, len, app->file, number);
	if (result == DOCA_SUCCESS)
		result = doca_buf_set_data(raw, data, len);
	return side_check(&app->link.side, result, "read piece");
}

/* Begin with as many pieces as there is memory for. */
static void
read_pieces(struct app *app)
{
	struct slot *slot;
	uint32_t i;

	for (i = 0; i < NB_BLOCKS && app->next < nb_pieces(app); i++) {
		slot = &app->slots[i];
		if (slot->is_busy)
			continue;
		if (!read_piece(app, i, app->next))
			return;
		slot->is_busy = true;
		slot->piece = (struct piece){ .kind = PIECE, .slot = i, .number = app->next,
			.len = piece_len(app, app->next) };
		app->next++;
		slot->to_begin = HOST_STAGES;
	}
}

/* It is compressed, and has a digest. */
static void
offer_piece(struct app *app, uint32_t i)
{
	struct piece *piece = &app->slots[i].piece;
	void *digest = NULL;
	doca_error_t result;
	size_t len = 0;

	result = doca_buf_get_data_len(app->packed.buf[i], &len);
	if (result == DOCA_SUCCESS)
		result = doca_buf_get_data(app->digests.buf[i], &digest);
	if (!side_check(&app->link.side, result, "get digest"))
		return;
	piece->packed_len = (uint32_t)len;
	memcpy(piece->digest, digest, DIGEST_SIZE);
	app->slots[i].has_news = true;
}

/* Whether the DPU has been told of a piece there. */
static bool
is_offered(const struct slot *slot)
{
	return slot->is_busy && slot->to_begin == 0 && slot->nb_stages == 0 && !slot->has_news;
}

static void
on_taken(struct app *app, const struct word *word)
{
	struct slot *slot;

	if (word->slot >= NB_BLOCKS || !is_offered(&app->slots[word->slot])) {
		side_check(&app->link.side, DOCA_ERROR_UNEXPECTED, "TAKEN");
		return;
	}
	slot = &app->slots[word->slot];
	app->bytes += slot->piece.len;
	/* The DPU has the message, so its memory can be used again. */
	slot->is_busy = false;
}

static doca_error_t
send_hello(struct app *app)
{
	struct hello *hello = &app->hello;
	const void *desc;
	size_t len;
	doca_error_t result;

	/* From now on the DPU can read this memory, and no other memory of this process. */
	result = doca_mmap_export_pci(app->packed.mmap, app->link.side.dev, &desc, &len);
	if (result != DOCA_SUCCESS)
		return result;
	if (len > sizeof(hello->desc))
		return DOCA_ERROR_TOO_BIG;
	hello->kind = HELLO;
	hello->desc_len = (uint32_t)len;
	hello->size = app->size;
	memcpy(hello->desc, desc, len);
	return link_send(&app->link, hello, sizeof(*hello));
}

/* DPU: copy, decompress, hash and compare pieces, and write them */

static doca_error_t
take_hello(struct app *app, const struct hello *hello)
{
	doca_error_t result;
	void *head = NULL;
	uint32_t i;
	size_t len;

	if (hello->kind != HELLO || app->remote != NULL || hello->size == 0 ||
			hello->size > MAX_SIZE || hello->desc_len > MAX_DESC)
		return DOCA_ERROR_UNEXPECTED;
	app->size = hello->size;
	app->is_known = calloc(nb_pieces(app), sizeof(*app->is_known));
	if (app->is_known == NULL)
		return DOCA_ERROR_NO_MEMORY;
	app->begin = blocks_now();
	result = doca_mmap_create_from_export(NULL, hello->desc, hello->desc_len,
			app->link.side.dev, &app->remote);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_get_memrange(app->remote, &head, &len);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create(NB_BLOCKS, &app->inventory);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(app->inventory);
	for (i = 0; i < NB_BLOCKS && result == DOCA_SUCCESS; i++)
		result = doca_buf_inventory_buf_get_by_addr(app->inventory, app->remote,
				(uint8_t *)head + (size_t)i * PACKED_SIZE, PACKED_SIZE,
				&app->slots[i].remote);
	return result;
}

/* What the host says is checked: it is another program, on another machine with a card. */
static bool
is_possible(const struct app *app, const struct piece *piece)
{
	return piece->kind == PIECE && app->remote != NULL && piece->slot < NB_BLOCKS &&
		!app->slots[piece->slot].is_busy &&
		piece->number < nb_pieces(app) && !app->is_known[piece->number] &&
		piece->len == piece_len(app, piece->number) &&
		piece->packed_len > 0 && piece->packed_len <= PACKED_SIZE;
}

static void
fetch_piece(struct app *app, const struct piece *piece)
{
	struct slot *slot;
	void *head = NULL;

	if (!is_possible(app, piece)) {
		side_check(&app->link.side, DOCA_ERROR_UNEXPECTED, "PIECE");
		return;
	}
	slot = &app->slots[piece->slot];
	slot->is_busy = true;
	slot->piece = *piece;
	app->is_known[piece->number] = true;
	doca_buf_get_head(slot->remote, &head);
	if (side_check(&app->link.side, doca_buf_set_data(slot->remote, head, piece->packed_len),
			"PIECE"))
		slot->to_begin = 1u << STAGE_COPY;
}

static bool
is_intact(const struct app *app, uint32_t i)
{
	const struct piece *piece = &app->slots[i].piece;
	void *digest = NULL;
	size_t len = 0;

	doca_buf_get_data_len(app->raw.buf[i], &len);
	doca_buf_get_data(app->digests.buf[i], &digest);
	return len == piece->len && memcmp(digest, piece->digest, DIGEST_SIZE) == 0;
}

/* Pieces may come in any order. */
static doca_error_t
write_piece(const struct app *app, uint32_t i)
{
	const struct piece *piece = &app->slots[i].piece;
	void *data = NULL;

	if (!is_intact(app, i)) {
		DOCA_LOG_ERR("Piece %llu is damaged", (unsigned long long)piece->number);
		return DOCA_ERROR_IO_FAILED;
	}
	doca_buf_get_data(app->raw.buf[i], &data);
	if (app->file == NULL)
		return DOCA_SUCCESS;
	return pwrite(fileno(app->file), data, piece->len, (off_t)(piece->number * PIECE_SIZE)) ==
		(ssize_t)piece->len ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

static void
take_piece(struct app *app, uint32_t i)
{
	struct slot *slot = &app->slots[i];

	if (!side_check(&app->link.side, write_piece(app, i), "write piece"))
		return;
	app->bytes += slot->piece.len;
	slot->is_busy = false;
	slot->taken = (struct word){ .kind = TAKEN, .slot = i };
	slot->has_news = true;
}

/* All pieces are written. */
static doca_error_t
send_verdict(struct app *app)
{
	doca_error_t result;

	app->seconds = blocks_now() - app->begin;
	app->verdict = (struct word){ .kind = VERDICT, .bytes = app->bytes };
	result = link_send(&app->link, &app->verdict, sizeof(app->verdict));
	app->has_verdict = result == DOCA_SUCCESS;
	return result;
}

/* Both */

static doca_error_t
send_slot(struct app *app, struct slot *slot)
{
	doca_error_t result;

	result = SIDE_IS_DPU ? link_send(&app->link, &slot->taken, sizeof(slot->taken)) :
		link_send(&app->link, &slot->piece, sizeof(slot->piece));
	slot->has_news = result != DOCA_SUCCESS;
	return result;
}

/* Send what there is, as far as there are tasks for it. The next turn goes on. */
static void
send_news(struct app *app)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t i;

	for (i = 0; i < NB_BLOCKS && result == DOCA_SUCCESS; i++)
		if (app->slots[i].has_news)
			result = send_slot(app, &app->slots[i]);
	if (SIDE_IS_DPU && result == DOCA_SUCCESS && !app->has_verdict && app->size > 0 &&
			app->bytes == app->size)
		result = send_verdict(app);
	if (result != DOCA_ERROR_NO_MEMORY && result != DOCA_ERROR_AGAIN)
		side_check(&app->link.side, result, "send message");
}

static void
on_stage(void *user, uint32_t i, enum stage stage, doca_error_t status)
{
	struct app *app = user;
	struct slot *slot = &app->slots[i];

	slot->nb_stages--;
	/* When one has failed, those behind it do as well. */
	if (app->is_closing || app->link.side.error != DOCA_SUCCESS ||
			!side_check(&app->link.side, status, "stage"))
		return;
	if (stage == STAGE_COPY)
		slot->to_begin = 1u << STAGE_UNPACK;
	else if (stage == STAGE_UNPACK)
		slot->to_begin = 1u << STAGE_HASH;
	else if (SIDE_IS_DPU)
		take_piece(app, i);
	else if (slot->nb_stages == 0 && slot->to_begin == 0)
		offer_piece(app, i);
}

static void
on_turn(struct link *link)
{
	struct app *app = (struct app *)link;
	uint32_t i;

	if (link->conn == NULL || link->side.error != DOCA_SUCCESS)
		return;
	if (!SIDE_IS_DPU)
		read_pieces(app);
	for (i = 0; i < NB_BLOCKS; i++)
		begin_stages(app, i);
	send_news(app);
	blocks_progress(app->bytes, app->size, app->begin);
}

static doca_error_t
open_memory(struct app *app)
{
	/* The DPU only reads what the host shows it. */
	const uint32_t access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_ONLY;
	struct doca_dev *dev = app->link.side.dev;
	doca_error_t result;

	result = blocks_open(&app->raw, dev, PIECE_SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (result == DOCA_SUCCESS)
		result = blocks_open(&app->packed, dev, PACKED_SIZE, access);
	if (result == DOCA_SUCCESS)
		result = blocks_open(&app->digests, dev, DIGEST_SIZE,
				DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	return result;
}

static doca_error_t
open_stages(struct app *app)
{
	app->stages.pe = app->link.pe;
	app->stages.on_end = on_stage;
	app->stages.user = app;
	return stages_open(&app->stages, app->link.side.dev, SIDE_IS_DPU ? DPU_STAGES : HOST_STAGES,
			NB_BLOCKS);
}

static void
on_up(struct link *link)
{
	struct app *app = (struct app *)link;

	if (app->is_closing)
		return;
	app->begin = blocks_now();
	if (side_check(&link->side, open_memory(app), "allocate memory") &&
			side_check(&link->side, open_stages(app), "start accelerators") &&
			!SIDE_IS_DPU)
		side_check(&link->side, send_hello(app), "send HELLO");
}

static void
on_word(struct app *app, const struct word *word)
{
	if (word->kind == TAKEN) {
		on_taken(app, word);
	} else if (word->kind == VERDICT) {
		app->seconds = blocks_now() - app->begin;
		app->verdict = *word;
		app->has_verdict = true;
	} else {
		side_check(&app->link.side, DOCA_ERROR_UNEXPECTED, "message");
	}
}

/* Messages differ in their length. */
static void
on_msg(struct link *link, const void *data, uint32_t len)
{
	struct app *app = (struct app *)link;
	struct hello hello;
	struct piece piece;
	struct word word;

	if (app->is_closing)
		return;
	if (SIDE_IS_DPU && len == sizeof(hello)) {
		memcpy(&hello, data, sizeof(hello));
		side_check(&link->side, take_hello(app, &hello), "HELLO");
	} else if (SIDE_IS_DPU && len == sizeof(piece)) {
		memcpy(&piece, data, sizeof(piece));
		fetch_piece(app, &piece);
	} else if (!SIDE_IS_DPU && len == sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		on_word(app, &word);
	} else {
		side_check(&link->side, DOCA_ERROR_UNEXPECTED, "message");
	}
}

/* The DPU runs until the host disconnects. */
static bool
is_done(const struct link *link)
{
	return !SIDE_IS_DPU && ((const struct app *)link)->has_verdict;
}

static void
close_all(struct app *app)
{
	int i;

	/* Tasks use the memory: first. */
	app->is_closing = true;
	stages_close(&app->stages);
	for (i = 0; i < NB_BLOCKS && app->slots[i].remote != NULL; i++)
		doca_buf_dec_refcount(app->slots[i].remote, NULL);
	if (app->inventory != NULL)
		doca_buf_inventory_destroy(app->inventory);
	if (app->remote != NULL)
		doca_mmap_destroy(app->remote);
	free(app->is_known);
	blocks_close(&app->raw);
	blocks_close(&app->packed);
	blocks_close(&app->digests);
	link_close(&app->link);
}

/* Options */

static doca_error_t
read_options(struct app *app, int argc, char **argv)
{
	doca_error_t result;

	result = doca_argp_init("doca_file", app);
	if (result != DOCA_SUCCESS)
		return result;
	result = side_options(&app->link.side);
	if (result == DOCA_SUCCESS)
		result = blocks_options(&app->file, &app->size);
	return result == DOCA_SUCCESS ? doca_argp_start(argc, argv) : result;
}

int
main(int argc, char **argv)
{
	static struct app app = {
		.link = {
			.side.name = "doca_file",
			.on_up = on_up,
			.on_msg = on_msg,
			.on_turn = on_turn,
			.is_done = is_done,
		},
		.size = SIDE_IS_DPU ? 0 : UINT64_C(64) << 20,
	};
	doca_error_t result = DOCA_ERROR_INITIALIZATION;
	bool is_good;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (doca_log_backend_create_standard() == DOCA_SUCCESS)
		result = read_options(&app, argc, argv);
	if (result == DOCA_SUCCESS && link_open(&app.link) == DOCA_SUCCESS)
		link_run(&app.link);
	is_good = result == DOCA_SUCCESS && app.link.side.error == DOCA_SUCCESS &&
		app.has_verdict && app.verdict.bytes == app.size;
	if (is_good)
		blocks_report(SIDE_IS_DPU ? "received" : "sent", app.bytes, app.seconds);
	close_all(&app);
	/* The last chance to hear that a write has failed. */
	if (app.file != NULL && fclose(app.file) != 0)
		is_good = false;
	doca_argp_destroy();
	if (result == DOCA_SUCCESS)
		printf("%s: %s\n", SIDE_NAME, is_good ? "all pieces are intact" :
			"some pieces are missing or damaged");
	return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
