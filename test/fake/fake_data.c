/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Data operations of the driver in memory: links, memory, sending ends, wake-ups. */

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake_private.h"

static TAILQ_HEAD(, fake_data) links = TAILQ_HEAD_INITIALIZER(links);
/* All producers. A producer may outlive its link. */
static TAILQ_HEAD(, fake_dq) prods = TAILQ_HEAD_INITIALIZER(prods);

/* Operations that take their time */

static struct fake_late *
late_find(const struct fake_data *data, const void *op, uint64_t arg)
{
	struct fake_late *late;

	TAILQ_FOREACH(late, &data->late_ops, next)
		if (late->op == op && late->arg == arg)
			return late;
	return NULL;
}

static void
late_free(struct fake_data *data, struct fake_late *late)
{
	if (late != NULL)
		TAILQ_REMOVE(&data->late_ops, late, next);
	free(late);
}

int
fake_late(struct rte_comch_link *link, const void *op, uint64_t arg)
{
	struct fake_data *data = link->data;
	struct fake_late *late = late_find(data, op, arg);

	if (fake_dev_of(link)->delay == 0 || link->state == RTE_COMCH_LINK_DOWN ||
			(late != NULL && late->told)) {
		late_free(data, late);
		return 0;
	}
	if (late == NULL) {
		late = calloc(1, sizeof(*late));
		if (late == NULL)
			return -ENOMEM;
		late->op = op;
		late->arg = arg;
		late->due = fake_due(link);
		TAILQ_INSERT_TAIL(&data->late_ops, late, next);
		fake_signal(link->ops->link_fd(link));
	}
	return -EINPROGRESS;
}

void
fake_late_cancel(struct rte_comch_link *link, const void *op, uint64_t arg)
{
	late_free(link->data, late_find(link->data, op, arg));
}

bool
fake_late_any(const struct rte_comch_link *link)
{
	const struct fake_data *data = link->data;

	return data != NULL && !TAILQ_EMPTY(&data->late_ops);
}

/* An operation has ended: once, so that a core that ignores the news waits for ever. */
static void
late_run(struct fake_data *data)
{
	struct fake_late *late;

	TAILQ_FOREACH(late, &data->late_ops, next) {
		if (late->told || late->due > fake_now)
			continue;
		late->told = true;
		comch_link_tell(data->link, true);
	}
}

void
fake_data_run(void)
{
	struct fake_data *data;
	struct fake_remote *r;

	TAILQ_FOREACH(data, &links, next) {
		TAILQ_FOREACH(r, &data->remotes, next)
			fake_net_run(r);
		late_run(data);
	}
}

/* Tickets contain keys of tables, as pointers from a peer would be unsafe to follow. */

void
fake_ticket_put(struct rte_comch_ticket *ticket, uint64_t key)
{
	memcpy(ticket->data, &key, sizeof(key));
	ticket->len = sizeof(key);
}

uint64_t
fake_ticket_get(const struct rte_comch_ticket *ticket)
{
	uint64_t key = 0;

	if (ticket->len == sizeof(key))
		memcpy(&key, ticket->data, sizeof(key));
	return key;
}

/* Links */

static int
data_open(struct rte_comch_link *link)
{
	struct fake_data *data = calloc(1, sizeof(*data));

	if (data == NULL)
		return -ENOMEM;
	data->link = link;
	TAILQ_INIT(&data->remotes);
	TAILQ_INIT(&data->mems);
	TAILQ_INIT(&data->late_ops);
	pthread_mutex_lock(&fake_lock);
	TAILQ_INSERT_TAIL(&links, data, next);
	pthread_mutex_unlock(&fake_lock);
	link->data = data;
	return 0;
}

static void
data_close(struct rte_comch_link *link)
{
	struct fake_data *data = link->data;

	pthread_mutex_lock(&fake_lock);
	TAILQ_REMOVE(&links, data, next);
	while (!TAILQ_EMPTY(&data->late_ops))
		late_free(data, TAILQ_FIRST(&data->late_ops));
	pthread_mutex_unlock(&fake_lock);
	RTE_VERIFY(TAILQ_EMPTY(&data->remotes) && TAILQ_EMPTY(&data->mems));
	free(data);
	link->data = NULL;
}

/* Consumers and producers */

static struct fake_dq *
dq_of(struct rte_comch_dq *dq)
{
	return container_of(dq, struct fake_dq, base);
}

int
fake_dq_init(struct fake_dq *dq, struct rte_comch_link *link, bool is_cons)
{
	dq->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (dq->event_fd < 0)
		return -EMFILE;
	dq->base.ops = fake_dev_of(link)->mbufs ? &fake_data_ops_mbufs : &fake_data_ops;
	dq->base.link = link;
	dq->is_cons = is_cons;
	dq->empty[0] = dq->empty[1] = dq->empty[2] = UINT64_MAX;
	pthread_mutex_lock(&fake_lock);
	/* A consumer is in a list while it is offered to the peer. */
	if (!is_cons)
		TAILQ_INSERT_TAIL(&prods, dq, next);
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

void
fake_dq_wake_producers(const struct rte_comch_link *link)
{
	struct fake_dq *dq;

	TAILQ_FOREACH(dq, &prods, next)
		if (dq->base.link == link)
			fake_net_wake(dq);
}

static void
dq_destroy(struct rte_comch_dq *dq)
{
	struct fake_dq *d = dq_of(dq);

	close(d->event_fd);
	if (d->is_cons) {
		fake_cons_free(container_of(d, struct fake_cons, dq));
		return;
	}
	pthread_mutex_lock(&fake_lock);
	TAILQ_REMOVE(&prods, d, next);
	pthread_mutex_unlock(&fake_lock);
	fake_prod_free(container_of(d, struct fake_prod, dq));
}

static int
dq_fd(const struct rte_comch_dq *dq)
{
	return container_of(dq, const struct fake_dq, base)->event_fd;
}

static void
dq_clear(struct rte_comch_dq *dq)
{
	uint64_t count;

	if (read(dq_of(dq)->event_fd, &count, sizeof(count)) < 0)
		return; /* was clear already */
}

static bool
dq_arm(struct rte_comch_dq *dq)
{
	struct fake_dq *d = dq_of(dq);

	pthread_mutex_lock(&fake_lock);
	if (d->is_cons)
		fake_cons_arm(container_of(d, struct fake_cons, dq));
	else
		fake_prod_arm(container_of(d, struct fake_prod, dq));
	pthread_mutex_unlock(&fake_lock);
	return false;
}

static bool
dq_pending(struct rte_comch_dq *dq)
{
	struct fake_dq *d = dq_of(dq);
	bool pending;

	pthread_mutex_lock(&fake_lock);
	if (d->is_cons)
		pending = fake_cons_pending(container_of(d, struct fake_cons, dq));
	else
		pending = fake_prod_pending(container_of(d, struct fake_prod, dq));
	fake_poll_again(fake_dev_of(dq->link), &d->empty[2], pending);
	pthread_mutex_unlock(&fake_lock);
	return pending;
}

/* prod_offer() announces no producers, so these frames are invalid. */

static int
peer_prod_add(struct rte_comch_link *link __rte_unused, uint32_t id __rte_unused,
		struct rte_comch_ticket *peers __rte_unused)
{
	return -EPROTO;
}

static int
peer_prod_del(struct rte_comch_link *link __rte_unused, uint32_t id __rte_unused)
{
	return -EPROTO;
}

/* Sending ends */

static uint64_t
remote_size(const struct rte_comch_remote_args *args)
{
	return sizeof(struct fake_remote) + sizeof(struct comch_post_shared) + args->depth *
		(sizeof(struct comch_desc) + sizeof(struct fake_post) + sizeof(struct fake_work));
}

static void
remote_destroy(struct fake_remote *r)
{
	free(r->work);
	free(r->wire);
	free(r->post);
	free(r);
}

static struct fake_remote *
remote_new(struct rte_comch_link *link, const struct rte_comch_remote_args *args)
{
	struct fake_remote *r = aligned_alloc(COMCH_LINE, sizeof(*r));

	if (r == NULL)
		return NULL;
	*r = (struct fake_remote){
		.data = link->data,
		.post = calloc(1, sizeof(*r->post) + args->depth * sizeof(r->post->desc[0])),
		.wire = calloc(args->depth, sizeof(*r->wire)),
		.work = calloc(args->depth, sizeof(*r->work)),
		.to = {
			.base = {
				.ops = &fake_data_ops, .id = args->id, .depth = args->depth,
				.imm_size = args->imm_size, .staging_size = args->staging_size,
			},
			.imports = args->imports, .mask = args->depth - 1,
		},
	};
	if (r->post == NULL || r->wire == NULL || r->work == NULL) {
		remote_destroy(r);
		return NULL;
	}
	r->to.post_shared = r->post;
	r->to.claim = &r->claim;
	return r;
}

static const char op_create[] = "remote_create";

static int
remote_create(struct rte_comch_link *link, const struct rte_comch_remote_args *args,
		struct rte_comch_ticket *peers, struct rte_comch_ticket *mine,
		struct rte_comch_remote **remote)
{
	uint64_t key = fake_ticket_get(peers);
	struct fake_remote *r = NULL;
	struct fake_cons *c;
	int ret = 0;

	if (fake_dev_of(link)->no_queue)
		return -ENOMEM;
	pthread_mutex_lock(&fake_lock);
	c = fake_cons_find(key);
	/* c is NULL if the consumer was stopped meanwhile. */
	if (key == 0 || (c != NULL && (c->rx.depth != args->depth || c->remote != NULL ||
			!fake_are_paired(link, c->dq.base.link))))
		ret = -EPROTO;
	if (ret == 0)
		ret = fake_late(link, op_create, key);
	if (ret == 0)
		r = remote_new(link, args);
	if (ret == 0 && r == NULL)
		ret = -ENOMEM;
	if (ret == 0) {
		r->cons = c;
		if (c != NULL)
			c->remote = r;
		TAILQ_INSERT_TAIL(&r->data->remotes, r, next);
		fake_ticket_put(mine, key);
		*remote = &r->to.base;
	}
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

static void
remote_retire(struct rte_comch_remote *remote, uint64_t final)
{
	pthread_mutex_lock(&fake_lock);
	fake_net_settle(container_of(remote, struct fake_remote, to.base), final);
	pthread_mutex_unlock(&fake_lock);
}

static int
remote_free(struct rte_comch_link *link __rte_unused, struct rte_comch_remote *remote)
{
	struct fake_remote *r = container_of(remote, struct fake_remote, to.base);
	bool busy;

	pthread_mutex_lock(&fake_lock);
	fake_net_run(r);
	busy = r->completed != r->claim;
	if (!busy) {
		if (r->cons != NULL)
			r->cons->remote = NULL;
		TAILQ_REMOVE(&r->data->remotes, r, next);
	}
	pthread_mutex_unlock(&fake_lock);
	if (busy)
		return -EBUSY;
	remote_destroy(r);
	return 0;
}

/* Memory */

static const char op_show[] = "mem_show";
static const char op_hide[] = "mem_hide";

static int
mem_late(struct rte_comch_link *link, const char *op, const struct rte_comch_mr *mr)
{
	int ret;

	pthread_mutex_lock(&fake_lock);
	ret = fake_late(link, op, (uintptr_t)mr);
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

static int
mem_show(struct rte_comch_link *link, const struct rte_comch_mr *mr,
		struct rte_comch_mem_desc *desc, struct rte_comch_ticket *mine)
{
	struct fake_data *data = link->data;
	struct rte_comch_mr_info info;
	struct fake_mem *m;
	int ret;

	ret = mem_late(link, op_show, mr);
	if (ret != 0)
		return ret;
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return -ENOMEM;
	rte_comch_mem_info_get(mr, &info);
	m->mr = mr;
	m->addr = info.addr;
	m->len = info.len;
	desc->kind = info.kind;
	desc->len = info.len;
	desc->fd = -1;
	pthread_mutex_lock(&fake_lock);
	m->key = fake_new_key();
	TAILQ_INSERT_TAIL(&data->mems, m, next);
	fake_ticket_put(mine, m->key);
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

/* The peer reaches the memory until it is hidden. */
static int
mem_hide(struct rte_comch_link *link, const struct rte_comch_mr *mr)
{
	struct fake_data *data = link->data;
	struct fake_mem *m;
	int ret;

	ret = mem_late(link, op_hide, mr);
	if (ret == -EINPROGRESS)
		return ret;
	pthread_mutex_lock(&fake_lock);
	fake_late_cancel(link, op_show, (uintptr_t)mr);
	TAILQ_FOREACH(m, &data->mems, next)
		if (m->mr == mr)
			break;
	if (m != NULL)
		TAILQ_REMOVE(&data->mems, m, next);
	pthread_mutex_unlock(&fake_lock);
	free(m);
	return 0;
}

bool
fake_mem_is_exported(const struct rte_comch_link *link, const uint8_t *addr, size_t len)
{
	const struct fake_data *data = link->data;
	const struct fake_mem *m;
	uintptr_t off;

	TAILQ_FOREACH(m, &data->mems, next) {
		off = (uintptr_t)addr - (uintptr_t)m->addr;
		if (off <= m->len && len <= m->len - off)
			return true;
	}
	return false;
}

static const struct fake_mem *
find_mem(uint64_t key)
{
	const struct fake_data *data;
	const struct fake_mem *m;

	TAILQ_FOREACH(data, &links, next)
		TAILQ_FOREACH(m, &data->mems, next)
			if (m->key == key)
				return m;
	return NULL;
}

unsigned int
fake_mems_shown(void)
{
	const struct fake_data *data;
	const struct fake_mem *m;
	unsigned int n = 0;

	pthread_mutex_lock(&fake_lock);
	TAILQ_FOREACH(data, &links, next)
		TAILQ_FOREACH(m, &data->mems, next)
			n++;
	pthread_mutex_unlock(&fake_lock);
	return n;
}

static int
mem_take(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
		struct rte_comch_ticket *peers, struct rte_comch_region *region)
{
	const struct fake_mem *m;
	int ret = 0;

	if (fake_dev_of(link)->short_import)
		return -EPERM;
	pthread_mutex_lock(&fake_lock);
	m = find_mem(fake_ticket_get(peers));
	/* m is NULL if the peer has withdrawn the memory meanwhile. */
	if (m == NULL || m->len != desc->len)
		ret = -EPERM;
	else
		*region = (struct rte_comch_region){ .addr = m->addr, .len = m->len, .fd = -1 };
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

static void
mem_drop(struct rte_comch_link *link __rte_unused, struct rte_comch_region *region)
{
	region->addr = NULL;
}

void (*fake_in_create)(void);
void (*fake_in_gone)(void);
static uint64_t nb_gone;
static const struct rte_comch_mr *last_gone;

/* It keeps nothing that it could forget. */
static void
mem_gone(struct rte_comch_dev *dev __rte_unused, const struct rte_comch_mr *mr)
{
	pthread_mutex_lock(&fake_lock);
	nb_gone++;
	last_gone = mr;
	pthread_mutex_unlock(&fake_lock);
	if (fake_in_gone != NULL)
		fake_in_gone();
}

uint64_t
fake_mems_gone(const struct rte_comch_mr **last)
{
	uint64_t n;

	pthread_mutex_lock(&fake_lock);
	n = nb_gone;
	*last = last_gone;
	pthread_mutex_unlock(&fake_lock);
	return n;
}

#define FAKE_DATA_OPS \
	.has_tickets = true, \
	.shows_heap = true, \
	.open = data_open, \
	.close = data_close, \
	.cons_create = fake_cons_create, \
	.cons_offer = fake_cons_offer, \
	.cons_bind = fake_cons_bind, \
	.cons_halt = fake_cons_halt, \
	.cons_drained = fake_cons_drained, \
	.cons_retire = fake_cons_retire, \
	.cons_room = fake_cons_room, \
	.prod_create = fake_prod_create, \
	.prod_begin = fake_prod_begin, \
	.prod_offer = fake_prod_offer, \
	.prod_halt = fake_prod_halt, \
	.prod_idle = fake_prod_idle, \
	.prod_abort = fake_prod_abort, \
	.prod_epoch = fake_prod_epoch, \
	.peer_prod_add = peer_prod_add, \
	.peer_prod_del = peer_prod_del, \
	.remote_size = remote_size, \
	.remote_create = remote_create, \
	.remote_retire = remote_retire, \
	.remote_free = remote_free, \
	.dq_destroy = dq_destroy, \
	.dq_fd = dq_fd, \
	.dq_clear = dq_clear, \
	.dq_arm = dq_arm, \
	.dq_pending = dq_pending, \
	.mem_show = mem_show, \
	.mem_hide = mem_hide, \
	.mem_take = mem_take, \
	.mem_drop = mem_drop, \
	.mem_gone = mem_gone

const struct rte_comch_data_ops fake_data_ops = { FAKE_DATA_OPS };

const struct rte_comch_data_ops fake_data_ops_mbufs = {
	FAKE_DATA_OPS,
	.rx_setup = fake_rx_setup,
	.send_mbufs = fake_send_mbufs,
	.recv_mbufs = fake_recv_mbufs,
};
