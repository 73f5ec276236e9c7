/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_CHAN_H
#define U_CHAN_H

/*
 * One channel without a connection: both ends in one process, over regions
 * that are plain memory, so that each end sees the very bytes of the other.
 * No EAL. A test that plays a hostile peer writes into post, rec or claim.
 */

#include "t.h"

#include "comch_chan.h"
#include "sdk/comch_dir.h"
#include "mem/comch_mem.h"
#include "ctrl/comch_wire.h"

#define U_MAX_PRODS 8
#define U_CONS_ID 7
/* Where the memory of each kind is in the table of imports. */
#define U_REGION 3
/* Position of each kind in u->mrs.mr. */
#define U_MR_DIRECT 0
#define U_MR_STAGED 1

struct u_conf {
	uint32_t depth;
	uint32_t staging_size;
	uint32_t imm_size;   /* 0: all */
	uint32_t nb_prods;   /* 0: one */
	uint32_t done_size;  /* 0: 64 */
	size_t mem_size;     /* of each kind; 0: depth * 256 */
	uint64_t timeout_cycles;
};

struct u_chan {
	struct comch_chan_cons c;
	struct comch_chan_remote rc;
	struct comch_dir dir;
	struct rte_comch_region import;
	struct rte_comch_region *imports[COMCH_MAX_IMPORTS];
	struct comch_chan_prod prod[U_MAX_PRODS];
	uint32_t nb_prods;
	struct comch_post_shared *post;
	struct comch_rec_shared *rec;
	struct comch_cons_mrs mrs;
	struct rte_comch_mr direct;  /* the consumer's, imported */
	struct rte_comch_mr staged;  /* the consumer's, not shown */
	struct rte_comch_mr src;     /* the producers' */
	size_t mem_size;
	int wake_fd;                 /* the consumer's end */
	/* what the callbacks saw; atomic */
	uint32_t cons_faults;
	uint32_t prod_faults;
	int last_fault;
	uint32_t prod_wakes;         /* the consumer wanted to wake producers */
	uint32_t others_woken;       /* a producer freed the ring for which another one waited */
	uint32_t copies_started;     /* bursts that began copies by a DMA device */
	uint32_t nb_drained;
};

struct u_chan *u_chan_create(const struct u_conf *conf);
void u_chan_free(struct u_chan *u);

/* Post one buffer; false: the queue is full. */
bool u_post(struct u_chan *u, uint32_t kind, size_t off, uint32_t len, uint64_t cookie);
/* Post n buffers of len bytes each, one behind the other, cookies from 0. */
void u_post_many(struct u_chan *u, uint32_t kind, uint32_t n, uint32_t len);
/* An operation that sends len bytes of src. */
struct rte_comch_op u_op(const struct u_chan *u, size_t off, uint32_t len, uint64_t cookie);
/* Send one message from src; the returned count of the burst. */
uint16_t u_send(struct u_chan *u, size_t off, uint32_t len, uint64_t cookie);
/* Take one completion of producer 0; fails the test if there is none. */
int u_done_status(struct u_chan *u);
/* Receive one; false: there is none. */
bool u_recv(struct u_chan *u, struct rte_comch_cpl *cpl);
/* Receive everything as single completions; how many, all of which had that status. */
uint32_t u_recv_all(struct u_chan *u, int status);

/* A peer's record at a position, as an honest one would write it. */
struct comch_rec *u_rec(struct u_chan *u, uint64_t pos);
void u_publish(struct u_chan *u, uint64_t pos, uint8_t kind, uint8_t count, uint32_t len);

#endif /* U_CHAN_H */
