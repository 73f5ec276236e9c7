/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FAKE_PRIVATE_H
#define FAKE_PRIVATE_H

/*
 * A driver without a system behind it: both ends of a link are objects of
 * this process, frames are queues of private copies, and messages are copied by
 * whoever looks at a queue. Nothing is mapped. It shows what the core asks of a
 * driver and nothing else; and it can be told to fail, by device keys:
 *
 *   delay=N         all that one end does is visible to the other N moments later
 *   mbufs=1         mbufs are handed over, by send_mbufs and recv_mbufs
 *   eagain_every=N  every Nth frame finds no room
 *   drop_at=N       the link breaks when the Nth frame is sent over it
 *   slow_accept=N   N times nobody seems to wait at the listener
 *   short_import=1  memory of the peer is refused
 *   no_event_fd=1   the device has no event descriptors
 *   no_queue=1      there is no memory for a consumer, or its sending end
 *
 * As a network card would, it reads the payload of a message when it carries the
 * message out, not within the send; it forgets frames that have not arrived when their
 * sender closes the link; and of a consumer that halts nothing but its last position
 * tells what arrived there.
 *
 * Time is counted in moments. The next moment begins when one place was found empty
 * twice in a row: about once a run. All links of a device see the same moment until the
 * next one begins, so that what was sent earlier is found earlier on all of them.
 *
 * One lock guards all: two ends may be driven by two threads.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>

#include "rte_comch_driver.h"
#include "sdk/comch_entry.h"
#include "sdk/comch_gather.h"
#include "sdk/comch_plan.h"

struct fake_dev {
	uint64_t now;     /* the moment that its links see */
	uint64_t nb_looks; /* how often that changed */
	uint32_t delay;
	uint32_t eagain_every;
	uint32_t drop_at;
	uint32_t slow_accept;
	bool short_import;
	bool no_queue;
	bool no_event_fd;
	bool mbufs;
};

/* While it is true, no frame finds room. */
extern bool fake_full;

/* Called after each look at a link, which has its answer already. NULL: nobody cares. */
extern void (*fake_looked)(void);

/* The table that is registered. */
const struct rte_comch_driver_ops *fake_driver_ops(void);

/* Take a server's place away: it finds out. */
void fake_listener_lose(const char *func, const char *name);

/* What was handed over by send_mbufs and recv_mbufs so far. */
uint64_t fake_mbufs_sent(void);
uint64_t fake_mbufs_received(void);

/* fake_dev.c: fill a device from its keys. */
extern const char *const fake_keys[];
int fake_dev_probe(struct rte_comch_dev *dev, struct rte_kvargs *args);
void fake_dev_remove(struct rte_comch_dev *dev);

/* fake_driver.c; the lock is held for all that follows. */
extern pthread_mutex_t fake_lock;
extern uint64_t fake_now;
/*
 * Did a look at a place find something? *empty is the place's. True: it did not, and
 * the next moment has begun: look again.
 */
bool fake_look_again(struct fake_dev *fake, uint64_t *empty, bool found);
/* Make a descriptor readable. */
void fake_ring(int fd);
/* Are these the two ends of one link? */
bool fake_are_paired(const struct rte_comch_link *a, const struct rte_comch_link *b);

static inline struct fake_dev *
fake_dev_of(const struct rte_comch_link *link)
{
	return link->dev->priv;
}

/* When is what the link's end does now visible elsewhere? Without delay, always. */
static inline uint64_t
fake_due(const struct rte_comch_link *link)
{
	uint32_t delay = fake_dev_of(link)->delay;

	return delay == 0 ? 0 : fake_now + delay;
}

/* Consumers and producers */

struct fake_dq {
	struct rte_comch_dq base; /* first */
	TAILQ_ENTRY(fake_dq) next; /* producers; consumers that are shown */
	int event_fd;
	bool armed;
	bool is_cons;
	uint64_t empty[3];        /* recv, or send and done; pending: see fake_look_again() */
};

struct fake_cons {
	struct fake_dq dq;        /* first */
	struct comch_rx rx;
	uint64_t key;             /* of this start; 0: not shown to the peer */
	struct fake_remote *remote; /* NULL: it is not there, or not any more */
	struct comch_rec *rec;    /* what arrived, by position */
	uint8_t **staged;         /* payload of those, if their memory is not shown */
	uint64_t nb_arrived;
	bool closed;              /* nothing arrives any more */
	uint64_t flush_at;        /* when posted buffers come back after a stop */
	struct fake_mbuf_queue *mbufs; /* NULL: none are handed over */
};

struct fake_prod {
	struct fake_dq dq;        /* first */
	struct comch_tx tx;
	uint32_t nb_under_way;
};

/* Of a link. */
struct fake_data {
	struct rte_comch_link *link;
	TAILQ_HEAD(, fake_remote) remotes;
	TAILQ_HEAD(, fake_mem) mems; /* shown to the peer */
	TAILQ_ENTRY(fake_data) next;
};

/* Memory as it is shown to a peer. */
struct fake_mem {
	TAILQ_ENTRY(fake_mem) next;
	const struct rte_comch_mr *mr;
	uint64_t key;
	uint8_t *addr;
	size_t len;
};

enum fake_work_state {
	FAKE_WORK_WAITS,   /* nothing was read or written yet */
	FAKE_WORK_CARRIED, /* its status is known; the producer is not told yet */
	FAKE_WORK_OVER,    /* the producer was told: its payload must not be read */
};

/* A message under way. */
struct fake_work {
	enum fake_work_state state;
	struct fake_prod *prod;
	struct comch_done *done;  /* NULL: silent */
	struct comch_gather from;
	uint8_t *to;              /* NULL: nothing to write, or staged */
	struct comch_rec rec;     /* as it arrives */
	uint64_t due;             /* when it is carried out, and then told */
	int status;
};

/* A posted buffer under way. */
struct fake_post {
	struct comch_desc desc;
	uint64_t due;
};

/* The sending end of a consumer. All arrays are by position. */
struct fake_remote {
	struct comch_target to;   /* first */
	TAILQ_ENTRY(fake_remote) next;
	struct fake_data *data;   /* of the producers' link */
	struct fake_cons *cons;   /* NULL: it has gone */
	struct fake_post *wire;
	struct comch_post_shared *post; /* what has arrived of the wire */
	struct fake_work *work;
	uint64_t posted;          /* put on the wire */
	uint64_t claim;           /* taken by sends */
	uint64_t carried;
	uint64_t told;
};

/* fake_net.c: what moves between the ends. */
uint64_t fake_new_key(void);
/* Let what is due happen. */
void fake_net_run(struct fake_remote *r);
/* Is something on its way to the consumer; to the producers? */
bool fake_net_sends(const struct fake_remote *r);
bool fake_net_answers(const struct fake_remote *r);
void fake_net_post(struct fake_remote *r, uint64_t pos, uint64_t where, uint32_t len);
void fake_net_send(struct fake_prod *p, struct fake_remote *r, const struct rte_comch_op *op,
		uint8_t *to, bool staged);
/* Below final all arrived, and nothing else will. */
void fake_net_settle(struct fake_remote *r, uint64_t final);
/* Tell the producer of all that it sent: what did not arrive has failed with err. */
void fake_net_give_up(struct fake_prod *p, int err);
/* Wake whoever asked for it. */
void fake_net_wake(struct fake_dq *dq);

/* fake_cons.c */
struct fake_cons *fake_cons_find(uint64_t key);
int fake_cons_create(struct rte_comch_link *link, const struct rte_comch_cons_args *args,
		struct rte_comch_consumer_core *core, struct rte_comch_dq **dq);
int fake_cons_offer(struct rte_comch_dq *dq, uint32_t staging_size,
		struct rte_comch_ticket *mine);
int fake_cons_bind(struct rte_comch_dq *dq, struct rte_comch_ticket *peers);
void fake_cons_halt(struct rte_comch_dq *dq, enum rte_comch_halt why);
bool fake_cons_drained(const struct rte_comch_dq *dq);
bool fake_cons_retire(struct rte_comch_dq *dq, uint64_t *final);
uint32_t fake_cons_room(const struct rte_comch_dq *dq);
/* With nothing posted: end, if it halts. */
void fake_cons_drain(struct fake_cons *c);
void fake_cons_free(struct fake_cons *c);
void fake_cons_arm(struct fake_cons *c);
bool fake_cons_pending(struct fake_cons *c);

/* fake_prod.c */
int fake_prod_create(struct rte_comch_link *link, const struct rte_comch_prod_args *args,
		struct rte_comch_producer_core *core, struct rte_comch_dq **dq);
void fake_prod_begin(struct rte_comch_dq *dq, uint32_t id);
bool fake_prod_offer(struct rte_comch_dq *dq, struct rte_comch_ticket *mine);
void fake_prod_halt(struct rte_comch_dq *dq, enum rte_comch_halt why);
bool fake_prod_idle(const struct rte_comch_dq *dq);
bool fake_prod_abort(struct rte_comch_dq *dq, int err);
struct comch_epoch *fake_prod_epoch(struct rte_comch_dq *dq);
void fake_prod_free(struct fake_prod *p);
void fake_prod_arm(struct fake_prod *p);
bool fake_prod_pending(struct fake_prod *p);

/* fake_data.c */
extern const struct rte_comch_data_ops fake_data_ops;
extern const struct rte_comch_data_ops fake_data_ops_mbufs;
/* Let happen what is due, on all links. */
void fake_data_run(void);
int fake_dq_init(struct fake_dq *dq, struct rte_comch_link *link, bool is_cons);
void fake_dq_wake_producers(const struct rte_comch_link *link);
void fake_ticket_put(struct rte_comch_ticket *ticket, uint64_t key);
/* The key in a ticket of the peer; 0: it is none of ours. */
uint64_t fake_ticket_get(const struct rte_comch_ticket *ticket);
/* Is this shown by the link? */
bool fake_mem_is_shown(const struct rte_comch_link *link, const uint8_t *addr, size_t len);

/* fake_mbuf.c */
struct fake_mbuf_queue *fake_mbuf_queue_new(uint32_t depth);
void fake_mbuf_queue_free(struct fake_mbuf_queue *q);
bool fake_mbuf_queue_is_empty(const struct fake_mbuf_queue *q);
uint16_t fake_send_mbufs(struct rte_comch_dq *dq, uint32_t consumer_id, struct rte_mbuf **mbufs,
		uint16_t n);
uint16_t fake_recv_mbufs(struct rte_comch_dq *dq, struct rte_mbuf **mbufs, uint16_t n);

#endif /* FAKE_PRIVATE_H */
