/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The mapped channel's consumers and producers: creation, wake-up and end. */

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "sdk/comch_foreign.h"
#include "sdk/comch_guard.h"
#include "sdk/comch_mbuf.h"
#include "comch_map.h"
#include "sdk/comch_memfd.h"

/*
 * Wake-ups read at once: more than a socket holds. A valid peer sends one for each arm of any
 * producer to all of them, and a thread may come late to look. The size is set, as the kernel's
 * default is up to the machine: the kernel doubles it, and takes 768 bytes for a message.
 */
#define DRAIN_MAX 512
#define DRAIN_AT_ONCE 32
/*
 * Wake-ups of a consumer are read when it was woken for this many messages, or for none. A valid
 * peer sends one for each arm at most, so they have room, and any new one makes the socket readable
 * again, as it is edge-triggered.
 */
#define UNREAD_WAKES 16
#define WAKE_SNDBUF (64 << 10)
/* ns; look_cycles of a consumer. Longer than between two messages of a stream. */
#define LOOK_AFTER 50

static struct comch_map_dq *
map_dq(struct rte_comch_dq *dq)
{
	return container_of(dq, struct comch_map_dq, base);
}

static struct comch_map_cons *
map_cons(struct rte_comch_dq *dq)
{
	return container_of(map_dq(dq), struct comch_map_cons, dq);
}

static struct comch_map_prod *
map_prod(struct rte_comch_dq *dq)
{
	return container_of(map_dq(dq), struct comch_map_prod, dq);
}

/* Wake-up */

static int
wake_open(struct comch_map_wake *w)
{
	const int size = WAKE_SNDBUF;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0)
		return -errno;
	/* Of the peer's end: what it sends waits there. It does not fail for a valid size. */
	(void)setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	w->fd = fds[0];
	w->peer_fd = fds[1];
	w->refuses_fds = comch_foreign_refuse(fds[0]);
	return 0;
}

/* Closing the local end drops all that the peer sent to it. */
static void
close_local(const struct comch_map_wake *w, int fd)
{
	if (w->refuses_fds)
		close(fd);
	else
		comch_foreign_hang_up(fd);
}

/*
 * A peer shuts down the end that it was given when it drops it, so each start needs another
 * pair. The local end keeps its number.
 */
static int
wake_renew(struct comch_map_wake *w)
{
	const int old = fcntl(w->fd, F_DUPFD_CLOEXEC, 0);
	struct comch_map_wake next = { .fd = -1, .peer_fd = -1 };
	int ret;

	if (old < 0)
		return -errno;
	ret = wake_open(&next);
	if (ret != 0) {
		close(old);
		return ret;
	}
	/* Drops nothing: the old socket has another descriptor. */
	dup3(next.fd, w->fd, O_CLOEXEC);
	close(next.fd);
	close_local(w, old);
	/* The rest stays: the thread of the queue's poll reads it. */
	w->peer_fd = next.peer_fd;
	return 0;
}

static void
wake_close(struct comch_map_wake *w)
{
	close_local(w, w->fd);
	if (w->peer_fd >= 0)
		close(w->peer_fd);
	w->peer_fd = -1;
}

int
comch_map_dq_fd(const struct rte_comch_dq *dq)
{
	return container_of(dq, const struct comch_map_dq, base)->wake.fd;
}

/* Drop up to DRAIN_AT_ONCE wake-ups in one call. Returns their number: fewer, none is left. */
static int
drain_plain(int fd)
{
	char bytes[DRAIN_AT_ONCE];
	struct iovec iov[DRAIN_AT_ONCE];
	struct mmsghdr msgs[DRAIN_AT_ONCE] = { 0 };
	int i, n;

	for (i = 0; i < DRAIN_AT_ONCE; i++) {
		iov[i] = (struct iovec){ .iov_base = &bytes[i], .iov_len = 1 };
		msgs[i].msg_hdr.msg_iov = &iov[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	/* peer-read: no message has descriptors, since the socket refuses them. */
	n = recvmmsg(fd, msgs, DRAIN_AT_ONCE, MSG_DONTWAIT, NULL);
	/* The end of the stream looks like empty messages without end. */
	for (i = 0; i < n && msgs[i].msg_len > 0; i++)
		;
	return i;
}

/* The same, one at a time: 1, 0, or -1 for a message with descriptors. */
static int
drain_checked(int fd)
{
	char byte;

	switch (comch_foreign_next(fd)) {
	case COMCH_FOREIGN_PLAIN:
		/* peer-read: the message has no descriptors, as checked above. */
		return recv(fd, &byte, 1, MSG_DONTWAIT) > 0;
	case COMCH_FOREIGN_FDS_NEXT:
		return -1;
	default:
		return 0;
	}
}

void
comch_map_dq_clear(struct rte_comch_dq *dq)
{
	struct comch_map_wake *w = &map_dq(dq)->wake;
	const int at_once = w->refuses_fds ? DRAIN_AT_ONCE : 1;
	int n, total;

	if (map_dq(dq)->is_cons && comch_chan_cons_pending(&map_cons(dq)->chan) &&
			++w->unread < UNREAD_WAKES)
		return;
	w->unread = 0;
	for (total = 0; total < DRAIN_MAX; total += n) {
		n = w->refuses_fds ? drain_plain(w->fd) : drain_checked(w->fd);
		if (n < 0 && !w->refuses_fds) {
			dq->fault(dq->ctx, -EPROTO, "peer sent descriptors on a wake socket");
			return;
		}
		if (n < at_once)
			return;
	}
	dq->fault(dq->ctx, -EPROTO, "peer floods a wake socket");
}

bool
comch_map_dq_arm(struct rte_comch_dq *dq)
{
	return map_dq(dq)->is_cons ? comch_chan_cons_arm(&map_cons(dq)->chan) :
		comch_chan_prod_arm(&map_prod(dq)->chan);
}

void
comch_map_dq_rest(struct rte_comch_dq *dq)
{
	if (map_dq(dq)->is_cons)
		comch_chan_cons_rest(&map_cons(dq)->chan);
}

bool
comch_map_dq_pending(struct rte_comch_dq *dq)
{
	return map_dq(dq)->is_cons ? comch_chan_cons_pending(&map_cons(dq)->chan) :
		comch_chan_prod_pending(&map_prod(dq)->chan);
}

static void
prod_fini(struct comch_chan_prod *chan)
{
	comch_chan_dma_detach(chan);
	comch_send_fini(&chan->tx);
}

void
comch_map_dq_destroy(struct rte_comch_dq *dq)
{
	wake_close(&map_dq(dq)->wake);
	if (map_dq(dq)->is_cons)
		comch_recv_fini(&map_cons(dq)->chan.rx);
	else
		prod_fini(&map_prod(dq)->chan);
	rte_free(dq);
}

/* Consumers */

static uint16_t
guarded_post(void *queue, const struct rte_comch_buf *bufs, uint16_t n)
{
	struct comch_chan_cons *chan = queue;

	comch_guard_enter(&chan->rx.guard, "bursts of a consumer");
	n = comch_chan_post(chan, bufs, n);
	comch_guard_leave(&chan->rx.guard);
	return n;
}

static uint16_t
guarded_recv(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct comch_chan_cons *chan = queue;

	comch_guard_enter(&chan->rx.guard, "bursts of a consumer");
	n = comch_chan_recv(chan, cpls, n);
	comch_guard_leave(&chan->rx.guard);
	return n;
}

int
comch_map_recv_mbufs(struct rte_comch_dq *dq, struct rte_mbuf **mbufs, uint16_t n, uint16_t *done)
{
	struct comch_chan_cons *chan = &map_cons(dq)->chan;
	int ret;

	comch_guard_enter(&chan->rx.guard, "bursts of a consumer");
	ret = comch_chan_recv_mbufs(chan, mbufs, n, done);
	comch_guard_leave(&chan->rx.guard);
	return ret;
}

/* Wake the peer's producers. Called in a burst. */
static void
on_wake_peer(struct comch_chan_cons *chan)
{
	comch_map_wake_producers(container_of(chan, struct comch_map_cons, chan)->dq.base.link);
}

int
comch_map_cons_create(struct rte_comch_link *link, const struct rte_comch_cons_args *args,
		struct rte_comch_consumer_core *core, struct rte_comch_dq **dq)
{
	struct comch_map_cons *c;
	int ret;

	c = rte_zmalloc_socket("comch_map_cons", sizeof(*c), COMCH_LINE, args->socket_id);
	if (c == NULL)
		return -ENOMEM;
	c->dq.base.ops = link->ops->data;
	c->dq.base.link = link;
	c->dq.is_cons = true;
	ret = comch_recv_init(&c->chan.rx, &c->dq.base, args);
	if (ret != 0)
		goto err_free;
	ret = wake_open(&c->dq.wake);
	if (ret != 0)
		goto err_fini;
	c->chan.timeout_cycles = rte_get_tsc_hz() / 1000 * args->stop_ms;
	c->chan.look_cycles = rte_get_tsc_hz() / (NS_PER_S / LOOK_AFTER);
	c->chan.wake_peer = on_wake_peer;
	core->post = COMCH_GUARDS ? guarded_post : comch_chan_post;
	core->recv = COMCH_GUARDS ? guarded_recv : comch_chan_recv;
	core->queue = &c->chan;
	*dq = &c->dq.base;
	return 0;

err_fini:
	comch_recv_fini(&c->chan.rx);
err_free:
	rte_free(c);
	return ret;
}

static void
free_regions(struct comch_map_cons *c)
{
	struct rte_comch_link *link = c->dq.base.link;

	if (c->post.addr != NULL)
		comch_map_regions(link)->region_free(link, &c->post);
	if (c->rec.addr != NULL)
		comch_map_regions(link)->region_free(link, &c->rec);
	c->post.addr = NULL;
	c->rec.addr = NULL;
}

int
comch_map_cons_offer(struct rte_comch_dq *dq, uint32_t staging_size,
		struct rte_comch_ticket *mine)
{
	struct comch_map_cons *c = map_cons(dq);
	struct comch_map_wake *w = &c->dq.wake;
	int ret = w->peer_fd < 0 ? wake_renew(w) : 0;

	if (ret != 0)
		return ret;
	free_regions(c);
	ret = comch_map_regions(dq->link)->region_create(dq->link,
		comch_memfd_round(comch_chan_post_len(c->chan.rx.depth)), &c->post);
	if (ret != 0)
		return ret;
	c->staging_size = staging_size;
	mine->fds[0] = c->post.fd;
	mine->fds[1] = w->peer_fd;
	mine->nb_fds = 2;
	mine->to_close = 3;
	c->post.fd = -1;
	w->peer_fd = -1;
	return 0;
}

int
comch_map_cons_bind(struct rte_comch_dq *dq, struct rte_comch_ticket *peers)
{
	struct comch_map_cons *c = map_cons(dq);
	int ret;

	ret = comch_map_regions(dq->link)->region_map(dq->link, peers->fds[0],
		comch_memfd_round(comch_chan_rec_len(c->chan.rx.depth, c->staging_size)), &c->rec);
	if (ret != 0)
		return ret == -EPERM ? -EPROTO : ret;
	c->chan.fences = dq->link->fences;
	comch_chan_cons_bind(&c->chan, c->post.addr, c->rec.addr, c->staging_size);
	return 0;
}

void
comch_map_cons_halt(struct rte_comch_dq *dq, enum rte_comch_halt why)
{
	struct comch_map_cons *c = map_cons(dq);

	comch_chan_cons_halt(&c->chan, why);
	if (why == RTE_COMCH_HALT_STOP)
		comch_chan_cons_drain_empty(&c->chan);
}

bool
comch_map_cons_drained(const struct rte_comch_dq *dq)
{
	const struct comch_map_cons *c = container_of(dq, const struct comch_map_cons, dq.base);

	/*
	 * Acquire: pairs with comch_recv_drain(); the regions may be freed. Model: leave.pml, left.
	 */
	return comch_load_acquire(&c->chan.rx.drained) != 0;
}

bool
comch_map_cons_retire(struct rte_comch_dq *dq, uint64_t *final)
{
	/* Unused: the peer's sends complete when their records are committed. */
	*final = 0;
	free_regions(map_cons(dq));
	return false;
}

uint32_t
comch_map_cons_room(const struct rte_comch_dq *dq)
{
	return comch_recv_room(&container_of(dq, const struct comch_map_cons, dq.base)->chan.rx);
}

/* Producers */

static const struct comch_map_bursts plain_bursts = { comch_chan_send, comch_chan_done };
static const struct comch_map_bursts dma_bursts = { comch_chan_dma_send, comch_chan_dma_done };

static uint16_t
guarded_send(void *queue, const struct rte_comch_op *ops, uint16_t n)
{
	struct comch_chan_prod *chan = queue;

	comch_guard_enter(&chan->tx.guard, "bursts of a producer");
	n = container_of(chan, struct comch_map_prod, chan)->bursts->send(chan, ops, n);
	comch_guard_leave(&chan->tx.guard);
	return n;
}

static uint16_t
guarded_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct comch_chan_prod *chan = queue;

	comch_guard_enter(&chan->tx.guard, "bursts of a producer");
	n = container_of(chan, struct comch_map_prod, chan)->bursts->done(chan, cpls, n);
	comch_guard_leave(&chan->tx.guard);
	return n;
}

int
comch_map_send_mbufs(struct rte_comch_dq *dq, uint32_t consumer_id, struct rte_comch_mr *mr,
		struct rte_mbuf **mbufs, uint16_t n, uint16_t *done)
{
	struct comch_chan_prod *chan = &map_prod(dq)->chan;
	int ret;

	/* Its mbufs are needed until the copies are made. */
	if (chan->dma != NULL)
		return -ENOTSUP;
	comch_guard_enter(&chan->tx.guard, "bursts of a producer");
	ret = comch_chan_send_mbufs(chan, consumer_id, mr, mbufs, n, done);
	comch_guard_leave(&chan->tx.guard);
	comch_mbuf_free_bulk(mbufs, *done);
	return ret;
}

static void
set_started(struct comch_map_prod *p, bool is_started)
{
	struct comch_map *map = p->dq.base.link->data;

	if (p->is_started == is_started)
		return;
	p->is_started = is_started;
	rte_spinlock_lock(&map->lock);
	if (is_started)
		LIST_INSERT_HEAD(&map->prods, p, next);
	else
		LIST_REMOVE(p, next);
	rte_spinlock_unlock(&map->lock);
}

/* The polls of the others look again whether they can send. Called in a burst. */
static void
on_wake_others(struct comch_chan_prod *chan)
{
	struct comch_map_prod *me = container_of(chan, struct comch_map_prod, chan), *p;
	struct comch_map *map = me->dq.base.link->data;

	rte_spinlock_lock(&map->lock);
	LIST_FOREACH(p, &map->prods, next)
		if (p != me)
			p->dq.base.idle_cb(p->dq.base.ctx);
	rte_spinlock_unlock(&map->lock);
}

static void
set_bursts(struct comch_map_prod *p, struct rte_comch_producer_core *core)
{
	p->bursts = p->chan.dma != NULL ? &dma_bursts : &plain_bursts;
	core->send = COMCH_GUARDS ? guarded_send : p->bursts->send;
	core->done = COMCH_GUARDS ? guarded_done : p->bursts->done;
	core->queue = &p->chan;
}

/* If the device has a DMA device. */
static int
attach_dma(struct comch_map_prod *p, int socket_id)
{
	struct rte_comch_link *link = p->dq.base.link;
	struct comch_dma *dma = comch_map_regions(link)->dma != NULL ?
		comch_map_regions(link)->dma(link) : NULL;

	return dma != NULL ? comch_chan_dma_attach(&p->chan, dma, socket_id) : 0;
}

/* The poll runs prod_step until they are complete. Called in a burst. */
static void
on_copies_started(struct comch_chan_prod *chan)
{
	struct rte_comch_dq *dq = &container_of(chan, struct comch_map_prod, chan)->dq.base;

	dq->idle_cb(dq->ctx);
}

int
comch_map_prod_create(struct rte_comch_link *link, const struct rte_comch_prod_args *args,
		struct rte_comch_producer_core *core, struct rte_comch_dq **dq)
{
	struct comch_map_prod *p;
	int ret;

	p = rte_zmalloc_socket("comch_map_prod", sizeof(*p), COMCH_LINE, args->socket_id);
	if (p == NULL)
		return -ENOMEM;
	p->dq.base.ops = link->ops->data;
	p->dq.base.link = link;
	ret = comch_send_init(&p->chan.tx, &p->dq.base, args);
	if (ret != 0)
		goto err_free;
	ret = attach_dma(p, args->socket_id);
	if (ret != 0)
		goto err_fini;
	ret = wake_open(&p->dq.wake);
	if (ret != 0)
		goto err_detach;
	p->chan.wake_others = on_wake_others;
	p->chan.copies_started = on_copies_started;
	set_bursts(p, core);
	*dq = &p->dq.base;
	return 0;

err_detach:
	comch_chan_dma_detach(&p->chan);
err_fini:
	comch_send_fini(&p->chan.tx);
err_free:
	rte_free(p);
	return ret;
}

void
comch_map_prod_begin(struct rte_comch_dq *dq, uint32_t id)
{
	struct comch_chan_prod *chan = &map_prod(dq)->chan;

	chan->tx.id = id;
	chan->tx.ahead.id = 0;
	set_started(map_prod(dq), true);
	/* Pairs with comch_send_burst(). Model: publish.pml, publish. */
	comch_store_release(&chan->tx.halt, RTE_COMCH_HALT_NONE);
}

bool
comch_map_prod_offer(struct rte_comch_dq *dq, struct rte_comch_ticket *mine)
{
	struct comch_map_wake *w = &map_dq(dq)->wake;

	mine->fds[0] = w->peer_fd;
	mine->nb_fds = 1;
	mine->to_close = 1;
	w->peer_fd = -1;
	return true;
}

void
comch_map_prod_halt(struct rte_comch_dq *dq, enum rte_comch_halt why)
{
	set_started(map_prod(dq), false);
	/* Pairs with comch_send_burst(). Model: publish.pml, publish. */
	comch_store_release(&map_prod(dq)->chan.tx.halt, why);
}

bool
comch_map_prod_idle(const struct rte_comch_dq *dq)
{
	/* Const but for the copies of a DMA device, which end in a look at them. */
	return comch_chan_prod_idle(&map_prod((struct rte_comch_dq *)(uintptr_t)dq)->chan);
}

bool
comch_map_prod_step(struct rte_comch_dq *dq)
{
	struct comch_chan_prod *chan = &map_prod(dq)->chan;

	return comch_chan_is_copying(chan) && !comch_chan_dma_idle(chan);
}

bool
comch_map_prod_abort(struct rte_comch_dq *dq, int err)
{
	return comch_chan_prod_abort(&map_prod(dq)->chan, err);
}

struct comch_epoch *
comch_map_prod_epoch(struct rte_comch_dq *dq)
{
	return &map_prod(dq)->chan.tx.epoch;
}
