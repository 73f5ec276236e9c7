/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_PREY_H
#define COMCH_PREY_H

/* A consumer of doca_comch, and the region of records that an attacker owns as its producer. */

#include "comch/queue.h"
#include "raw_peer.h"

struct prey {
	struct raw_mem rec;
	struct comch_rec_shared *shared;
};

/*
 * Answer what a consumer that was started asks until it runs. is_shown: the attacker has its
 * memory, and writes into it; else messages are staged.
 */
void prey_run(struct prey *p, struct pair *t, struct raw_peer *a, struct queue *q, bool is_shown);
void prey_free(struct prey *p);
/* Publish a record at this position, and where the staging ring is written up to. */
void prey_write(struct prey *p, uint64_t pos, const struct comch_rec *rec, uint64_t staging_head);

/* Records that cannot be, of a consumer that has posted buffers of 256 bytes. */
struct prey_record {
	struct comch_rec rec;
	uint64_t staging_head;
	uint8_t when;            /* PREY_* */
};
#define PREY_STAGED 1
#define PREY_SHOWN 2
#define PREY_ANY (PREY_STAGED | PREY_SHOWN)
extern const struct prey_record prey_records[];
extern const unsigned int prey_nb_records;

#endif /* COMCH_PREY_H */
