/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FAKE_PRIVATE_H
#define FAKE_PRIVATE_H

/*
 * The driver in memory, for tests of the core. Both ends of a link are objects of this
 * process, frames are queues of private copies, and a call that polls a queue copies its
 * messages. Nothing is mapped, and the driver does only what the core requires of one.
 * Device keys inject failures:
 *
 *   delay=N         actions of one end are visible to the other after N ticks, the
 *                   device lacks RTE_COMCH_CAPA_ORDERED, and operations that may return
 *                   -EINPROGRESS do so for N ticks
 *   mbufs=1         provide send_mbufs and recv_mbufs
 *   eagain_every=N  refuse every Nth frame with -EAGAIN
 *   drop_at=N       break the link at its Nth frame
 *   slow_accept=N   hide a waiting client from N calls of accept
 *   short_import=1  refuse memory of the peer
 *   no_event_fd=1   have no event descriptors
 *   no_queue=1      no memory for a consumer or its sending end: -ENOMEM
 *
 * It behaves like a network card: it reads a payload when it delivers the message, not
 * within the send; it drops frames that have not arrived when their sender closes the
 * link; and only the final position of a halted consumer says which messages arrived.
 *
 * Time is counted in ticks. A tick passes when the same queue is found empty twice in a
 * row: about once a run. All links of a device see the same time.
 *
 * One lock protects everything, so that two threads can run the two ends.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>

#include "rte_comch_driver.h"
#include "sdk/comch_recv_post.h"
#include "sdk/comch_gather.h"
#include "sdk/comch_link.h"
#include "sdk/comch_send.h"

struct fake_dev {
	uint64_t now;      /* the time that its links see */
	uint64_t nb_ticks; /* number of updates of now */
	uint64_t nb_frames; /* sent */
	uint32_t delay;
	uint32_t eagain_every;
	uint32_t drop_at;
	uint32_t slow_accept;
	bool short_import;
	bool no_queue;
	bool no_event_fd;
	bool mbufs;
};

/* While true, every frame is refused with -EAGAIN. */
extern bool fake_full;

/* Called after each frame_pending() has determined its result; or NULL. */
extern void (*fake_after_pending)(void);

/* Called when a consumer or producer is created; or NULL. */
extern void (*fake_in_create)(void);

/* Called by mem_gone(), as a driver that waits for its device; or NULL. */
extern void (*fake_in_gone)(void);

/* The driver's registered table of operations. */
const struct rte_comch_driver_ops *fake_driver_ops(void);

/* Remove a server's place, which its listener_check() then reports. */
void fake_listener_lose(const char *func, const char *name);

/* Number of mbufs that send_mbufs accepted and recv_mbufs returned so far. */
uint64_t fake_mbufs_sent(void);
uint64_t fake_mbufs_received(void);

/* Number of calls of mem_gone, for all devices, and the registration of the last one. */
uint64_t fake_mems_gone(const struct rte_comch_mr **last);

/* Number of registrations that peers can reach, of all links. */
unsigned int fake_mems_shown(void);

/* fake_dev.c */
extern const char *const fake_keys[];
int fake_dev_probe(struct rte_comch_dev *dev, struct rte_kvargs *args);
void fake_dev_remove(struct rte_comch_dev *dev);
/* Called, if set, while the counters of a device are read. */
extern void (*fake_on_xstats)(void);
unsigned int fake_dev_xstats(struct rte_comch_dev *dev, struct rte_comch_xstat *xstats,
		unsigned int n);

/* fake_driver.c; call the functions below with the lock held. */
extern pthread_mutex_t fake_lock;
extern uint64_t fake_now;
/*
 * Report whether a poll of a queue found anything. *empty belongs to the queue.
 * Returns true if not and a tick has passed: the caller may poll again.
 */
bool fake_poll_again(struct fake_dev *fake, uint64_t *empty, bool found);
/* Make a descriptor readable. */
void fake_signal(int fd);
/* Are these the two ends of one link? */
bool fake_are_paired(const struct rte_comch_link *a, const struct rte_comch_link *b);

static inline struct fake_dev *
fake_dev_of(const struct rte_comch_link *link)
{
	return link->dev->priv;
}

/* The time at which an action of this end is visible to the other; 0 without delay. */
static inline uint64_t
fake_due(const struct rte_comch_link *link)
{
	uint32_t delay = fake_dev_of(link)->delay;

	return delay == 0 ? 0 : fake_now + delay;
}

/* Consumers and producers */

struct fake_dq {
	struct rte_comch_dq base; /* first */
	TAILQ_ENTRY(fake_dq) next; /* in a list of producers, or of offered consumers */
	int event_fd;
	bool armed;
	bool is_cons;
	uint64_t empty[3];        /* recv, or send and done; pending: see fake_poll_again() */
};

struct fake_cons {
	struct fake_dq dq;        /* first */
	struct comch_recv rx;
	uint64_t key;             /* of this start; 0: not offered to the peer */
	struct fake_remote *remote; /* its sending end; NULL: none */
	struct comch_rec *rec;    /* records that arrived, by position */
	uint8_t **staged;         /* their payloads, if the buffer is not exported */
	uint64_t nb_arrived;
	bool closed;              /* nothing more arrives */
	uint64_t flush_at;        /* when a stop returns posted buffers */
	struct fake_mbuf_queue *mbufs; /* NULL without the key mbufs */
};

struct fake_prod {
	struct fake_dq dq;        /* first */
	struct comch_send tx;
	uint32_t nb_in_flight;
};

/* Data of a link. */
struct fake_data {
	struct rte_comch_link *link;
	TAILQ_HEAD(, fake_remote) remotes;
	TAILQ_HEAD(, fake_mem) mems; /* exported to the peer */
	TAILQ_HEAD(, fake_late) late_ops;
	TAILQ_ENTRY(fake_data) next;
};

/* An operation in progress. */
struct fake_late {
	TAILQ_ENTRY(fake_late) next;
	const void *op;           /* which operation: the address of its name */
	uint64_t arg;             /* what it is about */
	uint64_t due;
	bool told;                /* the news */
};

/* A registration exported to a peer. */
struct fake_mem {
	TAILQ_ENTRY(fake_mem) next;
	const struct rte_comch_mr *mr;
	uint64_t key;
	uint8_t *addr;
	size_t len;
};

enum fake_work_state {
	FAKE_WORK_PENDING,   /* nothing was read or written yet */
	FAKE_WORK_DELIVERED, /* its status is known, but not reported to the producer */
	FAKE_WORK_COMPLETED, /* reported to the producer: its payload must not be read */
};

/* A message in flight. */
struct fake_work {
	enum fake_work_state state;
	struct fake_prod *prod;
	struct comch_done *done;  /* NULL: silent */
	struct comch_gather from;
	uint8_t *to;              /* NULL: nothing to write, or staged */
	struct comch_rec rec;     /* as the consumer receives it */
	uint64_t due;             /* when it is delivered, then when it completes */
	int status;
};

/* A posted buffer on its way to the producers. */
struct fake_post {
	struct comch_desc desc;
	uint64_t due;
};

/* The sending end of a consumer. Arrays are indexed by position. */
struct fake_remote {
	struct comch_send_remote to;   /* first */
	TAILQ_ENTRY(fake_remote) next;
	struct fake_data *data;   /* of the producers' link */
	struct fake_cons *cons;   /* NULL: retired */
	struct fake_post *wire;
	struct comch_post_shared *post; /* descriptors that have arrived */
	struct fake_work *work;
	uint64_t posted;          /* positions posted by the consumer */
	uint64_t claim;           /* positions claimed by sends */
	uint64_t delivered;
	uint64_t completed;
};

/* fake_net.c */
uint64_t fake_new_key(void);
/* Perform all actions of r that are due. */
void fake_net_run(struct fake_remote *r);
/* Is anything in flight to the consumer; to the producers? */
bool fake_net_has_sends(const struct fake_remote *r);
bool fake_net_has_replies(const struct fake_remote *r);
void fake_net_post(struct fake_remote *r, uint64_t pos, uint64_t where, uint32_t len);
void fake_net_send(struct fake_prod *p, struct fake_remote *r, const struct rte_comch_op *op,
		uint8_t *to, bool staged);
/* The consumer has ended: messages below position final arrived, all others failed. */
void fake_net_settle(struct fake_remote *r, uint64_t final);
/* Complete all sends of a producer; those not delivered fail with err. */
void fake_net_abort(struct fake_prod *p, int err);
/* Wake a queue if it is armed. */
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
/* After a halt, with nothing posted: drain the consumer. */
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
/* Perform all actions that are due, on all links. */
void fake_data_run(void);
/*
 * The time that an operation takes: -EINPROGRESS until that has passed, then 0, once.
 * Without delay, or if the link is DOWN, 0 at once.
 */
int fake_late(struct rte_comch_link *link, const void *op, uint64_t arg);
/* Forget an operation that is undone. */
void fake_late_cancel(struct rte_comch_link *link, const void *op, uint64_t arg);
/* Is any in progress? */
bool fake_late_any(const struct rte_comch_link *link);
int fake_dq_init(struct fake_dq *dq, struct rte_comch_link *link, bool is_cons);
void fake_dq_wake_producers(const struct rte_comch_link *link);
void fake_ticket_put(struct rte_comch_ticket *ticket, uint64_t key);
/* The key in a ticket of the peer; 0: invalid. */
uint64_t fake_ticket_get(const struct rte_comch_ticket *ticket);
/* Has this end of the link exported the memory? */
bool fake_mem_is_exported(const struct rte_comch_link *link, const uint8_t *addr, size_t len);

/* fake_mbuf.c */
struct fake_mbuf_queue *fake_mbuf_queue_new(uint32_t depth);
void fake_mbuf_queue_free(struct fake_mbuf_queue *q);
bool fake_mbuf_queue_is_empty(const struct fake_mbuf_queue *q);
int fake_rx_setup(struct rte_comch_dq *dq, struct rte_mempool *mp, bool takes_chains);
int fake_send_mbufs(struct rte_comch_dq *dq, uint32_t consumer_id, struct rte_comch_mr *mr,
		struct rte_mbuf **mbufs, uint16_t n, uint16_t *done);
int fake_recv_mbufs(struct rte_comch_dq *dq, struct rte_mbuf **mbufs, uint16_t n, uint16_t *done);

#endif /* FAKE_PRIVATE_H */
