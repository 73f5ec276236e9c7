/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FAR_H
#define FAR_H

/*
 * One end of a conformance run in another process. The cases are the same objects as
 * those of a run in one process: the linker sends their calls here (--wrap, see
 * meson.build), and __wrap_FUNCTION() asks the agent if the call is about a far object,
 * else calls __real_FUNCTION().
 *
 *     devices     of the far role; their numbers have FAR_DEV added
 *     objects     of far devices: the cases hold a struct far_obj in their place
 *     polls       are near; a poll with far objects runs its twin, too
 *     memory      is near; a registration that a far object uses has a twin of the same
 *                 kind: bytes are copied there before a send, and back after a receive
 *     pools       likewise
 *
 * Calls may come from several threads; one at a time is under way.
 */

#include <rte_comch_dp.h>
#include <rte_comch_mbuf.h>
#include <rte_comch_poll.h>
#include <rte_comch_stats.h>

#include "t.h"
#include "wire.h"

/** Added to the numbers of far devices. */
#define FAR_DEV 0x4000
/** Added to the ids of far connections: ids are unique in one process only. */
#define FAR_CONN_ID UINT32_C(0x80000000)
/** Operations, buffers or completions of one call at most. */
#define FAR_BURST 64

/* Connect to the agent at ADDRESS:PORT, to be the end with that role. */
void far_connect(const char *address, enum rte_comch_role role);
void far_disconnect(void);
/* Is there an agent? */
bool far_on(void);
enum rte_comch_role far_role(void);
int32_t far_pid(void);
/* A connection for the wake-ups of a poll. */
int far_wake_connect(void);

/* A call: begin it, put its arguments, send it and wait for the reply, whose result is
 * returned; get what follows, and end it. Others wait from begin to end.
 */
struct wire *far_begin(enum call call);
int64_t far_do(struct wire *w);
/* Send a call that has no reply. */
void far_tell(struct wire *w);
void far_end(void);
/* All at once: a call with one number, or two, and nothing but a result. */
int64_t far_call(enum call call, uint64_t arg);
int64_t far_call2(enum call call, uint64_t arg, uint64_t arg2);

struct far_mem;

/** A buffer posted to a far consumer. */
struct far_buf {
	struct far_mem *mem; /**< NULL: none, or an invalid one. */
	uint8_t *addr;
};

/** In place of an object. */
struct far_obj {
	union {
		/** What the inline bursts read. */
		struct rte_comch_producer_core producer;
		struct rte_comch_consumer_core consumer;
	};
	uint64_t handle;         /**< The agent's pointer. */
	enum rte_comch_obj_type type;
	struct far_obj *next;
	struct far_buf *posted;  /**< A ring, in the order of posting. */
	uint32_t cap, head, nb_posted;
	struct rte_mempool *mp;  /**< Of a consumer in mbuf mode. */
};

/* Does the pointer stand for a far object? */
bool far_is(const void *ptr);
uint64_t far_handle(const void *ptr);
/* What stands for a handle of the agent; NULL for 0. */
void *far_obj(enum rte_comch_obj_type type, uint64_t handle);
/* The same for an object that was just created. */
struct far_obj *far_obj_new(enum rte_comch_obj_type type, uint64_t handle);

/* The handle of a poll's twin, which is made now if there is none; 0 for NULL. */
uint64_t far_poll(struct rte_comch_poll *poll);
/* A poll has near objects. */
void far_poll_near(struct rte_comch_poll *poll);

/* The twin of a registration, which is made now if there is none; NULL for NULL. */
struct far_mem *far_mem(struct rte_comch_mr *mr);
struct rte_comch_mr *far_mem_by_handle(uint64_t handle);
uint64_t far_mem_handle(const struct far_mem *m);
/* An address as the agent sees it, in the registration or beside it. */
uint64_t far_mem_addr(const struct far_mem *m, const void *addr);
/* Copy bytes to the twin, as far as they are in the registration. */
void far_mem_push(struct far_mem *m, const uint8_t *addr, uint64_t len);
void far_mem_pull(struct far_mem *m, uint8_t *addr, uint64_t len);
/* A pool's registration ends with the pool: the twin is freed. */
void far_mem_forget(const struct rte_comch_mr *mr);

/* The handle of the twin of a pool's registration; 0 if the registration is not a pool's. */
uint64_t far_pool_mr(const struct rte_comch_mr *mr);

/* The bursts of far producers and consumers. */
void far_data_init(struct far_obj *o);

#endif /* FAR_H */
