/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The mapped channel's operations, and what this driver adds: a queue of mbufs for each
 * consumer, and memory by address. EAL memory has the same address in all processes;
 * other memory without a file has it within a process. No descriptor is needed then.
 *
 * A consumer of such memory waits after a disconnect, too, until no send is in progress:
 * its buffers are not a mapping of their own that the producer can keep.
 */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "ring_private.h"

/* region->priv of memory by address. */
static char by_address;

static pid_t
peer_pid(const struct rte_comch_link *link)
{
	const struct shm_link *l = container_of(link, const struct shm_link, base);

	return l->peer_id.pid;
}

/* Consumers */

static int
cons_create(struct rte_comch_link *link, const struct rte_comch_cons_args *args,
		struct rte_comch_consumer_core *core, struct rte_comch_dq **dq)
{
	struct ring_cons *rc = calloc(1, sizeof(*rc));
	struct comch_map_cons *c;
	int ret;

	if (rc == NULL)
		return -ENOMEM;
	ret = comch_map_cons_create(link, args, core, dq);
	if (ret != 0) {
		free(rc);
		return ret;
	}
	rc->socket_id = args->socket_id;
	c = ring_map_cons(*dq);
	c->dq.ext = rc;
	c->chan.rx.awaits_peer = true;
	return 0;
}

static int
cons_offer(struct rte_comch_dq *dq, uint32_t staging_size, struct rte_comch_ticket *mine)
{
	struct comch_map_cons *c = ring_map_cons(dq);
	struct ring_cons *rc = c->dq.ext;
	struct ring_ticket t;
	int ret;

	if (rc->hand == NULL)
		rc->hand = ring_hand_get(c->chan.rx.depth, peer_pid(dq->link), rc->socket_id,
				&rc->gen);
	if (rc->hand == NULL)
		return -ENOMEM;
	ret = comch_map_cons_offer(dq, staging_size, mine);
	if (ret != 0)
		return ret;
	t = (struct ring_ticket){ .hand = (uintptr_t)rc->hand, .gen = rc->gen };
	memcpy(mine->data, &t, sizeof(t));
	mine->len = sizeof(t);
	return 0;
}

static void
cons_halt(struct rte_comch_dq *dq, enum rte_comch_halt why)
{
	struct comch_map_cons *c = ring_map_cons(dq);
	struct ring_cons *rc = c->dq.ext;

	if (!rc->is_open) {
		comch_map_cons_halt(dq, why);
		return;
	}
	rc->deadline = rte_rdtsc() + c->chan.timeout_cycles;
	/* No model: the fence of the halt orders it. */
	comch_store_release(&rc->hand->state, RING_CLOSED);
	/* C of ring_mbuf.c: its fence comes before `busy` is looked at. */
	comch_chan_cons_halt(&c->chan, why);
	if (why == RTE_COMCH_HALT_STOP)
		ring_recv_end(c);
}

static void
put_hand(struct ring_cons *rc)
{
	if (rc->hand == NULL)
		return;
	/* No model: ring_hand_put() releases it. */
	comch_store_release(&rc->hand->state, RING_CLOSED);
	ring_hand_put(rc->hand);
	rc->hand = NULL;
	rc->is_open = false;
}

static bool
cons_retire(struct rte_comch_dq *dq, uint64_t *final)
{
	put_hand(ring_map_cons(dq)->dq.ext);
	return comch_map_cons_retire(dq, final);
}

static uint32_t
cons_room(const struct rte_comch_dq *dq)
{
	const struct ring_cons *rc = ring_map_cons(dq)->dq.ext;

	/* In mbuf mode nothing is posted. */
	return rc->is_open ? 0 : comch_map_cons_room(dq);
}

/* Producers */

static int
prod_create(struct rte_comch_link *link, const struct rte_comch_prod_args *args,
		struct rte_comch_producer_core *core, struct rte_comch_dq **dq)
{
	struct ring_prod *rp = calloc(1, sizeof(*rp));
	int ret;

	if (rp == NULL)
		return -ENOMEM;
	ret = comch_map_prod_create(link, args, core, dq);
	if (ret != 0) {
		free(rp);
		return ret;
	}
	rp->same_process = peer_pid(link) == getpid();
	rp->send = core->send;
	core->send = ring_send;
	ring_map_prod(*dq)->dq.ext = rp;
	return 0;
}

static void
dq_destroy(struct rte_comch_dq *dq)
{
	struct comch_map_dq *mdq = container_of(dq, struct comch_map_dq, base);

	if (mdq->is_cons)
		put_hand(mdq->ext);
	free(mdq->ext);
	comch_map_dq_destroy(dq);
}

/* Remotes */

static int
remote_create(struct rte_comch_link *link, const struct rte_comch_remote_args *args,
		struct rte_comch_ticket *peers, struct rte_comch_ticket *mine,
		struct rte_comch_remote **remote)
{
	struct ring_ticket t;
	struct ring_hand *h;
	int ret;

	if (peers->len != sizeof(t))
		return -EPROTO;
	memcpy(&t, peers->data, sizeof(t));
	ret = comch_map_remote_create(link, args, peers, mine, remote);
	if (ret != 0)
		return ret;
	h = (struct ring_hand *)(uintptr_t)t.hand;
	if (ring_hand_ref(h, t.gen))
		container_of(*remote, struct comch_chan_remote, to.base)->ext = h;
	return 0;
}

static int
remote_free(struct rte_comch_link *link, struct rte_comch_remote *remote)
{
	struct ring_hand *h = container_of(remote, struct comch_chan_remote, to.base)->ext;
	int ret = comch_map_remote_free(link, remote);

	if (ret == 0 && h != NULL)
		ring_hand_leave(h, peer_pid(link));
	return ret;
}

/* Wake-up */

static bool
cons_pending(struct comch_map_cons *c)
{
	const struct ring_cons *rc = c->dq.ext;

	if (!rc->is_open)
		return comch_chan_cons_pending(&c->chan);
	if (comch_load_acquire(&c->chan.rx.drained) != 0) /* leave.pml, left */
		return false;
	/* Model: stop.pml, halted. */
	return comch_load_acquire(&c->chan.rx.halt) != RTE_COMCH_HALT_NONE ||
		ring_hand_count(rc->hand) > 0;
}

/* Was the last send short because the queue of a consumer in mbuf mode was full? */
static bool
prod_pending(struct comch_chan_prod *p)
{
	struct comch_send_remote *to = NULL;
	struct ring_hand *h = NULL;
	uint32_t slot = 0;

	if (p->tx.short_id != 0)
		to = comch_send_find(&p->tx, p->tx.short_id, &slot);
	if (to != NULL)
		h = ring_hand_of(to);
	return (h != NULL && ring_hand_count(h) < h->depth) || comch_chan_prod_pending(p);
}

static bool
dq_pending(struct rte_comch_dq *dq)
{
	return container_of(dq, struct comch_map_dq, base)->is_cons ?
		cons_pending(ring_map_cons(dq)) : prod_pending(&ring_map_prod(dq)->chan);
}

/* Memory */

struct mem_ticket {
	uint64_t addr;
	uint64_t pid;  /* 0: any process of the EAL */
};

static int
mem_show(struct rte_comch_link *link, const struct rte_comch_mr *mr,
		struct rte_comch_mem_desc *desc, struct rte_comch_ticket *mine)
{
	struct rte_comch_mr_info info;
	struct mem_ticket t;
	int ret;

	ret = rte_comch_mem_info_get(mr, &info);
	if (ret != 0)
		return ret;
	if (info.kind == RTE_COMCH_MEM_SEALED)
		return rte_comch_data_mapped.mem_show(link, mr, desc, mine);
	t = (struct mem_ticket){
		.addr = (uintptr_t)info.addr,
		.pid = info.kind == RTE_COMCH_MEM_EAL ? 0 : (uint64_t)getpid(),
	};
	if (t.pid != 0 && peer_pid(link) != getpid())
		return -ENOTSUP;
	desc->kind = RTE_COMCH_MEM_HEAP;
	desc->len = info.len;
	memcpy(mine->data, &t, sizeof(t));
	mine->len = sizeof(t);
	return 0;
}

static int
mem_take(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
		struct rte_comch_ticket *peers, struct rte_comch_region *region)
{
	struct mem_ticket t;

	if (desc->kind != RTE_COMCH_MEM_HEAP)
		return rte_comch_data_mapped.mem_take(link, desc, peers, region);
	if (peers->len != sizeof(t))
		return -EPROTO;
	memcpy(&t, peers->data, sizeof(t));
	if (t.pid != 0 && t.pid != (uint64_t)getpid())
		return -EPROTO;
	*region = (struct rte_comch_region){
		.addr = (void *)(uintptr_t)t.addr, .len = desc->len, .fd = -1,
		.priv = &by_address,
	};
	return 0;
}

static void
mem_drop(struct rte_comch_link *link, struct rte_comch_region *region)
{
	if (region->priv == &by_address)
		*region = (struct rte_comch_region){ .fd = -1 };
	else
		rte_comch_data_mapped.mem_drop(link, region);
}

struct rte_comch_data_ops ring_data_ops;

void
ring_data_init(void)
{
	ring_data_ops = rte_comch_data_mapped;
	ring_data_ops.has_tickets = true;
	ring_data_ops.shows_heap = true;
	ring_data_ops.cons_create = cons_create;
	ring_data_ops.cons_offer = cons_offer;
	ring_data_ops.cons_halt = cons_halt;
	ring_data_ops.cons_retire = cons_retire;
	ring_data_ops.cons_room = cons_room;
	ring_data_ops.prod_create = prod_create;
	ring_data_ops.dq_destroy = dq_destroy;
	ring_data_ops.dq_pending = dq_pending;
	ring_data_ops.remote_create = remote_create;
	ring_data_ops.remote_free = remote_free;
	ring_data_ops.mem_show = mem_show;
	ring_data_ops.mem_take = mem_take;
	ring_data_ops.mem_drop = mem_drop;
	ring_data_ops.rx_setup = ring_rx_setup;
	ring_data_ops.recv_mbufs = ring_recv_mbufs;
	ring_data_ops.send_mbufs = ring_send_mbufs;
}
