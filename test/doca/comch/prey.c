/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <sys/mman.h>

#include "comch/prey.h"

const struct prey_record prey_records[] = {
	{ { .head.count = 0 }, 0, PREY_ANY },
	{ { .head.count = 9 }, 0, PREY_ANY },
	{ { .head.count = 255 }, 0, PREY_ANY },
	{ { .head.count = 1, .head.kind = 77 }, 0, PREY_ANY },
	{ { .head.count = 1, .head.imm_len = 33 }, 0, PREY_ANY },
	{ { .head.count = 1, .head.imm_len = 255 }, 0, PREY_ANY },
	{ { .head.count = 2, .head.imm_len = 4 }, 0, PREY_ANY },
	{ { .head.count = 1, .len0 = 257 }, 0, PREY_SHOWN },
	{ { .head.count = 1, .len0 = UINT32_MAX }, 0, PREY_SHOWN },
	{ { .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 64 }, 64, PREY_SHOWN },
	{ { .head.count = 1, .len0 = 64 }, 64, PREY_STAGED },
	{ { .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 257 }, 320, PREY_STAGED },
	{ { .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = UINT32_MAX }, 64,
		PREY_STAGED },
	{ { .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 64 }, UINT64_MAX,
		PREY_STAGED },
	{ { .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 64 }, UINT64_MAX - 63,
		PREY_STAGED },
	{ { .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 64, .stop_at = 33 }, 0,
		PREY_STAGED },
	{ { .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 64,
		.stop_at = UINT64_C(1) << 40 | COMCH_REC_STOPPED }, 0, PREY_STAGED },
};
const unsigned int prey_nb_records = RTE_DIM(prey_records);

void
prey_run(struct prey *p, struct pair *t, struct raw_peer *a, struct queue *q, bool is_shown)
{
	uint32_t id, depth, staging;
	struct raw_frame f;
	size_t len;

	do {
		T_WAIT((pair_progress(t), queue_progress(q)), raw_recv(a, &f));
		raw_frame_free(&f);
		memcpy(&id, f.body, sizeof(id));
		if (f.type == COMCH_WIRE_MR_ADD)
			raw_send_status(a, COMCH_WIRE_MR_ACK, id, is_shown ? 0 : -EPERM, -1);
	} while (f.type != COMCH_WIRE_CONSUMER_NEW);
	memcpy(&depth, f.body + 4, sizeof(depth));
	memcpy(&staging, f.body + 12, sizeof(staging));
	T_EQ(staging == 0, is_shown);
	len = (comch_chan_rec_len(depth, staging) + 4095) & ~(size_t)4095;
	raw_mem_new(&p->rec, len, MFD_ALLOW_SEALING, RAW_SEALS);
	p->shared = p->rec.addr;
	raw_send_status(a, COMCH_WIRE_CONSUMER_ACK, id, 0, p->rec.fd);
	T_WAIT((pair_progress(t), queue_progress(q)), ctx_is_running(q->ctx));
}

void
prey_free(struct prey *p)
{
	raw_mem_free(&p->rec);
}

void
prey_write(struct prey *p, uint64_t pos, const struct comch_rec *rec, uint64_t staging_head)
{
	struct comch_rec *to = &p->shared->rec[pos];

	/* All but the sequence, which publishes it. */
	memcpy((uint8_t *)to + sizeof(to->seq), (const uint8_t *)rec + sizeof(rec->seq),
		sizeof(*rec) - sizeof(rec->seq));
	__atomic_store_n(&p->shared->staging_head, staging_head, __ATOMIC_RELEASE);
	__atomic_store_n(&p->shared->claim, pos + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&to->seq, pos + 1, __ATOMIC_RELEASE);
}
