/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "u_path.h"

/* What the control path would provide */

int comch_mlx5_logtype;

uint64_t
mlx5_dev_now_ms(void)
{
	return t_now_ms();
}

int
mlx5_dev_pin(struct mlx5_dev *dev, uint64_t len)
{
	dev->pinned += len;
	return 0;
}

void
mlx5_dev_unpin(struct mlx5_dev *dev, uint64_t len)
{
	dev->pinned -= len;
}

void
mlx5_link_fault(struct mlx5_link *l, int error, const char *text)
{
	struct u_side *side = container_of(l, struct u_side, link);
	int none = 0;

	if (__atomic_compare_exchange_n(&side->fault, &none, error, false, __ATOMIC_RELAXED,
			__ATOMIC_RELAXED))
		side->fault_text = text;
}

void
mlx5_link_down(struct mlx5_link *l, int error, const char *text)
{
	mlx5_link_fault(l, error, text);
}

/* Links */

static const char *const addrs[2] = { "10.0.0.1", "10.0.1.1" };

static void
make_path(struct mlx5_path *path, struct ibv_context *ctx, const char *mine, const char *peers)
{
	struct ibv_gid_entry table[64];
	ssize_t i, nb = mlx5_verbs->query_gid_table(ctx, table, 64, 0);
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	*path = (struct mlx5_path){
		.ah = { .is_global = 1, .port_num = 1, .grh.hop_limit = 64 },
		.port = 1, .mtu = IBV_MTU_1024, .timeout = 8, .retry = 7, .rnr_retry = 6,
	};
	T_EQ(inet_pton(AF_INET, peers, &gid.raw[12]), 1);
	path->ah.grh.dgid = gid;
	T_EQ(inet_pton(AF_INET, mine, &gid.raw[12]), 1);
	for (i = 0; i < nb; i++)
		if (table[i].gid_type == IBV_GID_TYPE_ROCE_V2 &&
				memcmp(&table[i].gid, &gid, sizeof(gid)) == 0)
			path->ah.grh.sgid_index = (uint8_t)table[i].gid_index;
}

static bool
on_link_news(void *ctx __rte_unused, bool can_wake __rte_unused)
{
	return false;
}

static void
side_open(struct u_side *s, uint32_t i, const struct u_path_conf *conf)
{
	struct mlx5_dev *dev = &s->dev;

	snprintf(s->cdev.info.name, sizeof(s->cdev.info.name), "comch_mlx5_%u", i);
	s->cdev.priv = dev;
	s->cdev.info.max_staging = s->cdev.info.total_staging = UINT64_C(1) << 30;
	s->cdev.staged = &s->staged;
	dev->dev = &s->cdev;
	dev->ctx = fv_ctx(i == 0 ? "fv0" : "fv1");
	T_EQ(mlx5_verbs->query_device(dev->ctx, &dev->attr), 0);
	T_EQ(mlx5_verbs->query_port(dev->ctx, 1, &dev->port_attr), 0);
	dev->port = 1;
	if (i == 1 && conf->max_tx != 0)
		dev->attr.max_qp_wr = conf->max_tx;
	dev->slot = conf->slot != 0 ? conf->slot : 512;
	dev->eager = 256;
	dev->dead_ms = 500;
	dev->max_inline = 128;
	dev->max_pinned = UINT64_MAX;
	pthread_mutex_init(&dev->lock, NULL);
	TAILQ_INIT(&dev->links);
	TAILQ_INIT(&dev->qps);
	mlx5_job_open(dev);
	s->link.base.dev = &s->cdev;
	s->link.base.state = RTE_COMCH_LINK_UP;
	s->link.base.news = on_link_news;
	s->link.base.conn_id = i;
	s->link.dev = dev;
	s->link.pd = mlx5_verbs->alloc_pd(dev->ctx);
	T_CHECK(s->link.pd != NULL);
	make_path(&s->link.path, dev->ctx, addrs[i], addrs[1 - i]);
	T_EQ(mlx5_data_ops.open(&s->link.base), 0);
}

static void
side_close(struct u_side *s)
{
	mlx5_data_ops.close(&s->link.base);
	mlx5_job_close(&s->dev);
	T_EQ(mlx5_verbs->dealloc_pd(s->link.pd), 0);
	T_EQ(s->dev.pinned, 0);
	pthread_mutex_destroy(&s->dev.lock);
}

/* Objects */

static void
on_fault(void *ctx, int err, const char *text)
{
	struct u_path *u = ctx;

	mlx5_link_fault(&u->side[1].link, err, text);
}

static void
on_rest(void *ctx __rte_unused)
{
}

static void
mem_open(struct u_path *u, const struct u_path_conf *conf)
{
	struct rte_comch_ticket ticket = { 0 };
	struct rte_comch_mem_desc desc;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		u->mr[i] = (struct rte_comch_mr){
			.addr = mmap(NULL, U_MEM, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			.len = U_MEM, .kind = RTE_COMCH_MEM_HEAP, .id = i + 1,
		};
		T_CHECK(u->mr[i].addr != MAP_FAILED);
	}
	u->mrs.nb = 1;
	u->mrs.mr[0] = (struct comch_cons_mr){
		.mr = &u->mr[0], .ready = 1, .addr = u->mr[0].addr, .len = U_MEM,
		.region = conf->hides_memory ? COMCH_REGION_STAGED : 0,
	};
	if (conf->hides_memory)
		return;
	T_EQ(u_late(mlx5_data_ops.mem_show(&u->side[0].link.base, &u->mr[0], &desc, &ticket)), 0);
	T_EQ(mlx5_data_ops.mem_take(&u->side[1].link.base, &desc, &ticket, &u->region), 0);
	u->imports[0] = &u->region;
}

static void
raw_open(struct u_path *u, uint32_t side, uint32_t pieces, struct rte_comch_ticket *ticket)
{
	struct mlx5_link *l = &u->side[side].link;
	struct mlx5_qp_ticket t = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION, .mtu = l->path.mtu,
		.slot_size = RTE_MAX(l->dev->slot, (uint32_t)MLX5_POST_SLOT),
		.nb_slots = u->depth + MLX5_QP_REPOST + pieces,
		.nb_pieces = pieces,
	};

	T_EQ(mlx5_qp_begin(&u->raw, l, &(struct mlx5_qp_conf){
		.nb_rx = t.nb_slots, .rx_size = t.slot_size, .nb_tx = 64, .tx_size = 1024 },
		NULL), 0);
	T_EQ(u_late(mlx5_qp_poll_step(&u->raw)), 0);
	t.qpn = u->raw.qp->qp_num;
	t.psn = u->raw.psn;
	memcpy(ticket->data, &t, sizeof(t));
	ticket->len = sizeof(t);
}

/* Connect u->raw to the other end's ticket. */
static void
raw_connect(struct u_path *u, uint32_t side, const struct rte_comch_ticket *ticket)
{
	struct mlx5_qp_ticket t;

	memcpy(&t, ticket->data, sizeof(t));
	mlx5_qp_begin_connect(&u->raw, &(struct mlx5_qp_to){ .path = u->side[side].link.path,
		.qpn = t.qpn, .psn = t.psn });
	T_EQ(u_late(mlx5_qp_poll_step(&u->raw)), 0);
}

static void
u_bind(struct u_path *u, struct rte_comch_ticket *ack)
{
	int ret = mlx5_data_ops.cons_bind(u->cons, ack);

	T_EQ(ret == -EINPROGRESS ? u_late(mlx5_data_ops.cons_bind(u->cons, NULL)) : ret, 0);
}

static void
cons_open(struct u_path *u, const struct u_path_conf *conf)
{
	struct rte_comch_ticket offer = { 0 }, ack = { 0 };
	const struct rte_comch_remote_args args = {
		.id = U_CONS_ID, .depth = u->depth, .imm_size = RTE_COMCH_IMM_SIZE,
		.staging_size = conf->staging_size, .imports = u->imports,
	};
	const struct rte_comch_cons_args cons_args = {
		.depth = u->depth, .imm_size = RTE_COMCH_IMM_SIZE, .stop_ms = 1000,
		.socket_id = SOCKET_ID_ANY, .mrs = &u->mrs, .fault = on_fault,
		.drained_cb = on_rest, .ctx = u,
	};

	if (conf->no_consumer) {
		raw_open(u, 0, conf->staging_size > 0 ? 4 : 0, &offer);
	} else {
		T_EQ(mlx5_data_ops.cons_create(&u->side[0].link.base, &cons_args, &u->cons_core,
			&u->cons), 0);
		u->cons->id = U_CONS_ID;
		T_EQ(u_late(mlx5_data_ops.cons_offer(u->cons, conf->staging_size, &offer)), 0);
	}
	if (conf->no_remote) {
		raw_open(u, 1, 0, &ack);
		raw_connect(u, 1, &offer);
		u_bind(u, &ack);
		return;
	}
	T_EQ(u_late(mlx5_data_ops.remote_create(&u->side[1].link.base, &args, &offer, &ack,
		&u->remote)), 0);
	T_EQ(comch_dir_add(&u->dir, u->remote), 0);
	if (u->cons != NULL) {
		u_bind(u, &ack);
		return;
	}
	raw_connect(u, 0, &ack);
}

void
u_path_open(struct u_path *u, const struct u_path_conf *conf)
{
	struct rte_comch_prod_args args = {
		.queue_size = 256, .socket_id = SOCKET_ID_ANY, .dir = &u->dir, .fault = on_fault,
		.idle_cb = on_rest, .ctx = u,
	};
	uint32_t i;

	memset(u, 0, sizeof(*u));
	mlx5_verbs = &fv_glue;
	u->depth = conf->depth != 0 ? conf->depth : 64;
	u->nb_prods = conf->nb_prods != 0 ? conf->nb_prods : 1;
	side_open(&u->side[0], 0, conf);
	side_open(&u->side[1], 1, conf);
	mem_open(u, conf);
	cons_open(u, conf);
	for (i = 0; i < u->nb_prods; i++) {
		T_EQ(mlx5_data_ops.prod_create(&u->side[1].link.base, &args, &u->core[i],
			&u->prod[i]), 0);
		mlx5_data_ops.prod_begin(u->prod[i], i + 1);
	}
}

void
u_path_down(struct u_path *u)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		u->side[i].link.base.state = RTE_COMCH_LINK_DOWN;
		mlx5_data_down(&u->side[i].link);
	}
	for (i = 0; i < u->nb_prods; i++)
		if (u->prod[i] != NULL)
			mlx5_data_ops.prod_halt(u->prod[i], RTE_COMCH_HALT_DOWN);
}

void
u_path_close(struct u_path *u)
{
	struct rte_comch_link *cons_link = &u->side[0].link.base;
	struct rte_comch_link *prod_link = &u->side[1].link.base;
	uint64_t final;
	uint32_t i;

	for (i = 0; i < u->nb_prods; i++) {
		if (u->prod[i] == NULL)
			continue;
		T_CHECK(mlx5_data_ops.prod_abort(u->prod[i], -ECONNRESET));
		T_CHECK(mlx5_data_ops.prod_idle(u->prod[i]));
	}
	if (u->remote != NULL)
		T_EQ(mlx5_data_ops.remote_free(prod_link, u->remote), 0);
	if (u->cons != NULL) {
		mlx5_data_ops.cons_retire(u->cons, &final);
		mlx5_data_ops.dq_destroy(u->cons);
	}
	mlx5_qp_destroy(&u->raw);
	if (u->imports[0] != NULL) {
		mlx5_data_ops.mem_drop(prod_link, &u->region);
		T_EQ(u_late(mlx5_data_ops.mem_hide(cons_link, &u->mr[0])), 0);
	}
	side_close(&u->side[0]);
	side_close(&u->side[1]);
	/* After the link. */
	for (i = 0; i < u->nb_prods; i++)
		if (u->prod[i] != NULL)
			mlx5_data_ops.dq_destroy(u->prod[i]);
	munmap(u->mr[0].addr, U_MEM);
	munmap(u->mr[1].addr, U_MEM);
	T_EQ(fv_nb_live(FV_ALL), 0);
	fv_reset();
}

/* Bursts */

struct mlx5_remote *
u_remote(struct u_path *u)
{
	return container_of(u->remote, struct mlx5_remote, to.base);
}

uint16_t
u_post(struct u_path *u, uint32_t off, uint32_t len, uint64_t cookie)
{
	const struct rte_comch_buf buf = {
		.addr = len > 0 ? u->mr[0].addr + off : NULL, .mr = len > 0 ? &u->mr[0] : NULL,
		.len = len, .cookie = cookie,
	};

	return u->cons_core.post(u->cons_core.queue, &buf, 1);
}

uint16_t
u_recv(struct u_path *u, struct rte_comch_cpl *cpls, uint16_t n)
{
	return u->cons_core.recv(u->cons_core.queue, cpls, n);
}

uint16_t
u_send(struct u_path *u, uint32_t prod, const struct rte_comch_op *ops, uint16_t n)
{
	/* Memory is registered by the connection's thread. */
	mlx5_mem_service(mlx5_data_of(&u->side[1].link));
	return u->core[prod].send(u->core[prod].queue, ops, n);
}

uint16_t
u_done(struct u_path *u, uint32_t prod, struct rte_comch_cpl *cpls, uint16_t n)
{
	return u->core[prod].done(u->core[prod].queue, cpls, n);
}

struct rte_comch_op
u_op(struct u_path *u, uint32_t off, uint32_t len, uint64_t cookie)
{
	return (struct rte_comch_op){
		.addr = u->mr[1].addr + off, .mr = &u->mr[1], .len = len, .cookie = cookie,
		.consumer_id = U_CONS_ID,
	};
}

uint64_t
u_stop_cons(struct u_path *u)
{
	struct rte_comch_cpl cpl;
	uint64_t final = 0;

	mlx5_data_ops.cons_halt(u->cons, RTE_COMCH_HALT_STOP);
	T_AWAIT((u_recv(u, &cpl, 1), mlx5_data_ops.cons_drained(u->cons)));
	mlx5_data_ops.cons_retire(u->cons, &final);
	comch_dir_remove(&u->dir, U_CONS_ID);
	mlx5_data_ops.remote_retire(u->remote, final);
	return final;
}
