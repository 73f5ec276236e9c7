/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_REMOTE_WIRE_H
#define COMCH_REMOTE_WIRE_H

/*
 * What an exporter of memory and an importer say to each other, over a SOCK_SEQPACKET socket on
 * which the exporter listens. Both are on one machine, so numbers have its byte order.
 *
 *     importer                          exporter
 *     hello: the key of an export       finds it
 *     window, with a memfd              maps it, and seals it: it keeps its size and its pages
 *                                       welcome
 *     request: read or write a piece    copies between its memory and the window
 *                                       reply: done, or why not
 *
 * Of a counter, the key is all that the exporter needs: its welcome brings the memory, and the
 * importer closes.
 *
 * The window is the importer's memory, so that it pays for it. It has a fixed number of slots. The
 * importer chooses the slot of a request, and uses it again after the reply only. A hello or a
 * window that is refused is answered by a welcome that says so, then the exporter closes.
 */

#include <stdint.h>
#include <sys/un.h>

#include <rte_comch_remote.h>

#define COMCH_REMOTE_MAGIC UINT64_C(0x6d656d6863636f00)
#define COMCH_REMOTE_VERSION 1
#define COMCH_REMOTE_KEY 32
#define COMCH_REMOTE_SLOTS RTE_COMCH_MAX_PIECES
#define COMCH_REMOTE_ALIGN UINT32_C(64)
#define COMCH_REMOTE_SLOT (RTE_COMCH_PIECE_MAX + COMCH_REMOTE_ALIGN)
/* Whole pages, of 64 KiB as well. */
#define COMCH_REMOTE_WINDOW ((UINT32_C(1) << 20) + (UINT32_C(64) << 10))

_Static_assert(COMCH_REMOTE_SLOTS * COMCH_REMOTE_SLOT <= COMCH_REMOTE_WINDOW, "has all slots");

/* A descriptor. Nothing but the key and the path: all else is the importer's business. */
struct comch_remote_desc {
	uint32_t version;
	uint8_t key[COMCH_REMOTE_KEY];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

_Static_assert(sizeof(struct comch_remote_desc) == RTE_COMCH_EXPORT_DESC_LEN, "is documented");

enum comch_remote_op {
	COMCH_REMOTE_READ = 1, /* of the exporter's memory */
	COMCH_REMOTE_WRITE,
};

/* What a key is of. */
enum comch_remote_kind {
	COMCH_REMOTE_MEMORY,
	COMCH_REMOTE_COUNTER,
};

struct comch_remote_hello {
	uint64_t magic;
	uint32_t version;
	uint32_t kind;    /* enum comch_remote_kind */
	uint8_t key[COMCH_REMOTE_KEY];
};

struct comch_remote_window {
	uint64_t magic;
};

struct comch_remote_welcome {
	int32_t status;   /* 0, or a negative errno */
	uint32_t version;
};

struct comch_remote_request {
	uint32_t op;      /* enum comch_remote_op */
	uint32_t slot;
	uint32_t number;  /* for the reply */
	uint32_t len;
	uint64_t addr;    /* in the exporter */
};

/*
 * Where the bytes of a piece are in the window: at the same place of a cache line as in the
 * exporter's memory, since the kernel copies much slower otherwise (rep movsb).
 */
static inline uint32_t
comch_remote_at(uint32_t slot, uint64_t addr)
{
	return slot * COMCH_REMOTE_SLOT + (uint32_t)(addr % COMCH_REMOTE_ALIGN);
}

struct comch_remote_reply {
	uint32_t slot;
	uint32_t number;
	int32_t status;   /* 0 or a negative errno */
	uint32_t zero;
};

#endif /* COMCH_REMOTE_WIRE_H */
