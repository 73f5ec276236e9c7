/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Memory: allocation, registration, kinds, trust; large and staged messages. */

#include <stdlib.h>
#include <unistd.h>

#include <rte_memory.h>

#include "conf.h"

void
conf_mem_alloc(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int fds, i;
	uint8_t *a, *b;

	T_NULL_ERRNO(rte_comch_mem_alloc(0, SOCKET_ID_ANY), EINVAL);
	T_EQ(rte_comch_mem_free(NULL), 0);
	T_EQ(rte_comch_mem_free(&fds), -EINVAL);
	fds = t_fd_count();
	a = rte_comch_mem_alloc(1, SOCKET_ID_ANY);
	b = rte_comch_mem_alloc(3 * page + 1, 0);
	T_CHECK(a != NULL && b != NULL);
	T_EQ((uintptr_t)a % page, 0);
	T_EQ((uintptr_t)b % page, 0);
	for (i = 0; i < 4 * page; i++)
		T_EQ(b[i], 0);
	memset(b, 1, 4 * page);
	T_EQ(rte_comch_mem_free(b + page), -EINVAL);
	T_EQ(rte_comch_mem_free(b), 0);
	T_EQ(rte_comch_mem_free(b), -EINVAL);
	T_EQ(rte_comch_mem_free(a), 0);
	T_UNTIL(t_fd_count() == fds);
}

void
conf_mem_register(void)
{
	static uint8_t bss[4096];
	struct rte_comch_mr_info ia, ib;
	struct rte_comch_mr *a, *b;
	uint8_t *s;

	T_NULL_ERRNO(rte_comch_mem_register(NULL, 100, 0), EINVAL);
	T_NULL_ERRNO(rte_comch_mem_register(bss, 0, 0), EINVAL);
	T_NULL_ERRNO(rte_comch_mem_register(bss, SIZE_MAX, 0), EINVAL);
	T_NULL_ERRNO(rte_comch_mem_register(bss, 100, UINT32_C(1) << 31), EINVAL);
	T_EQ(rte_comch_mem_unregister(NULL), -EINVAL);
	a = rte_comch_mem_register(bss + 1, 100, 0);
	b = rte_comch_mem_register(bss, sizeof(bss), RTE_COMCH_MEM_F_SHARED);
	T_CHECK(a != NULL && b != NULL);
	T_EQ(rte_comch_mem_info_get(NULL, &ia), -EINVAL);
	T_EQ(rte_comch_mem_info_get(a, NULL), -EINVAL);
	T_EQ(rte_comch_mem_info_get(a, &ia), 0);
	T_EQ(rte_comch_mem_info_get(b, &ib), 0);
	T_CHECK(ia.addr == bss + 1);
	T_EQ(ia.len, 100);
	T_EQ(ia.kind, RTE_COMCH_MEM_HEAP);
	T_EQ(ia.flags, 0);
	T_EQ(ib.flags, RTE_COMCH_MEM_F_SHARED);
	T_NE(ia.id, ib.id);
	T_EQ(ia.nb_users, 0);
	T_EQ(rte_comch_mem_unregister(a), 0);
	T_EQ(rte_comch_mem_unregister(b), 0);
	/* A part of an allocation is as sealed as the whole; it keeps it busy. */
	s = rte_comch_mem_alloc(8192, SOCKET_ID_ANY);
	T_CHECK(s != NULL);
	a = rte_comch_mem_register(s + 100, 5000, 0);
	T_CHECK(a != NULL);
	T_EQ(rte_comch_mem_info_get(a, &ia), 0);
	T_EQ(ia.kind, RTE_COMCH_MEM_SEALED);
	T_EQ(rte_comch_mem_free(s), -EBUSY);
	T_EQ(rte_comch_mem_unregister(a), 0);
	T_EQ(rte_comch_mem_free(s), 0);
}

void
conf_mem_kind_names(void)
{
	T_STR_EQ(rte_comch_mem_kind_name(RTE_COMCH_MEM_SEALED), "sealed");
	T_STR_EQ(rte_comch_mem_kind_name(RTE_COMCH_MEM_EAL), "eal");
	T_STR_EQ(rte_comch_mem_kind_name(RTE_COMCH_MEM_HEAP), "heap");
}

/* Copies on each side: as the header's table says, and as they are counted. */
static void
check_copies(const struct t_flow *f, const struct rte_comch_cpl *in,
		const struct rte_comch_cpl *out, bool direct)
{
	struct rte_comch_producer_stats ps;
	struct rte_comch_consumer_stats cs;

	T_EQ(rte_comch_producer_stats_get(f->prod, &ps), 0);
	T_EQ(rte_comch_consumer_stats_get(f->cons, &cs), 0);
	T_EQ(ps.copies, out->copies);
	T_EQ(cs.copies, in->copies);
	if (direct) {
		T_EQ(in->copies, 0);
		T_EQ(ps.staged, 0);
		T_EQ(cs.staged, 0);
	}
	if (!t_driver->maps_memory)
		return;
	T_EQ(out->copies, direct ? t_direct_copies() : 1);
	if (direct)
		return;
	T_EQ(in->copies, 1);
	T_EQ(ps.staged, 1);
	T_EQ(cs.staged, 1);
}

static void
one_message(const struct t_pair_conf *pc, const struct t_flow_conf *fc, bool direct)
{
	struct rte_comch_cpl in, out;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, pc);
	t_flow_open(&f, &p, fc);
	t_fill(f.src.addr, 5000, 3);
	T_EQ(t_post(&f, 64, 5000, 1), 1);
	t_submit(&f, 0, 5000, 2);
	t_both(&f, &in, &out);
	T_EQ(in.status, 0);
	T_EQ(out.status, 0);
	T_VERIFY(f.dst.addr + 64, 5000, 3);
	check_copies(&f, &in, &out, direct);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* Within a process a peer's memory needs no mapping of its own. */
static bool
is_by_address(void)
{
	return t_driver->maps_memory && t_driver->shows_heap;
}

CONF_CASE(mem, sealed, one_message(NULL, &(struct t_flow_conf){
	.kind = RTE_COMCH_MEM_SEALED }, true))
CONF_CASE(mem, heap, one_message(NULL, &(struct t_flow_conf){
	.kind = RTE_COMCH_MEM_HEAP }, is_by_address()))
CONF_CASE(mem, snapshot, one_message(NULL, &(struct t_flow_conf){
	.kind = RTE_COMCH_MEM_SEALED, .to_host = true,
	.cons.flags = RTE_COMCH_CONSUMER_F_SNAPSHOT }, false))
CONF_CASE(mem, eal_not_shown, one_message(NULL, &(struct t_flow_conf){
	.kind = RTE_COMCH_MEM_EAL }, is_by_address()))

/* Where the peer maps memory, both ends have to agree. A NIC writes to what is posted. */
void
conf_mem_eal_shown(void)
{
	const char *args = t_driver->has_export_eal ? ",export_eal=1,trust_peer=1" : NULL;
	struct t_pair_conf pc = { .dpu_args = args, .host_args = args };
	struct t_flow_conf fc = { .kind = RTE_COMCH_MEM_EAL };

	one_message(&pc, &fc, true);
}

/* Longer than the staging ring, to memory that is not shareable. */
static void
stream(uint32_t staging, uint32_t len, enum rte_comch_mem_kind kind, uint32_t flags)
{
	struct t_flow_conf fc = {
		.kind = kind, .size = len,
		.cons = { .staging_size = staging, .flags = flags },
	};
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	for (i = 0; i < t_repeat(5); i++)
		t_flow_once(&f, len - i * 1000, i);
	/* And short ones after it. */
	for (i = 0; i < 50; i++)
		t_flow_once(&f, i, i);
	t_flow_close(&f);
	t_pair_close(&p);
}

CONF_CASE(mem, stream, stream(64 * 1024, 1024 * 1024, RTE_COMCH_MEM_HEAP, 0))
CONF_CASE(mem, stream_tiny_ring, stream(4096, 300000, RTE_COMCH_MEM_HEAP, 0))
CONF_CASE(mem, stream_snapshot, stream(
	0, 5 * 1024 * 1024, RTE_COMCH_MEM_SEALED, RTE_COMCH_CONSUMER_F_SNAPSHOT))

/* A stalled stream holds its consumer only; the order is kept. */
void
conf_mem_stream_stalled(void)
{
	struct t_flow_conf fc = {
		.kind = RTE_COMCH_MEM_HEAP, .size = 512 * 1024,
		.cons.staging_size = 16 * 1024,
	};
	struct rte_comch_cpl cpl, out;
	struct t_flow f, g;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	t_flow_open(&g, &p, NULL);
	t_fill(f.src.addr, 400000, 1);
	t_fill(f.src.addr + 400000, 100, 2);
	T_EQ(t_post(&f, 0, 400000, 1), 1);
	T_EQ(t_post(&f, 400000, 100, 2), 1);
	t_submit(&f, 0, 400000, 1);
	/* Its receiver does nothing: no completion, and others go on. */
	for (i = 0; i < 100; i++) {
		if (t_stages_heap())
			T_EQ(rte_comch_producer_done_burst(f.prod, &cpl, 1), 0);
		t_flow_once(&g, 1000, i);
	}
	t_both(&f, &cpl, &out);
	T_EQ(cpl.cookie, 1);
	T_EQ(cpl.len, 400000);
	T_VERIFY(f.dst.addr, 400000, 1);
	T_EQ(out.cookie, 1);
	T_EQ(out.status, 0);
	t_submit(&f, 400000, 100, 2);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.cookie, 2);
	T_VERIFY(f.dst.addr + 400000, 100, 2);
	t_flow_close(&g);
	t_flow_close(&f);
	t_pair_close(&p);
}

static void
large(enum rte_comch_mem_kind kind, uint32_t len)
{
	struct t_flow_conf fc = { .kind = kind, .size = len };
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	t_flow_once(&f, len, 1);
	t_flow_once(&f, len - 1, 2);
	t_flow_close(&f);
	t_pair_close(&p);
}

CONF_CASE(mem, large, large(RTE_COMCH_MEM_SEALED, 64 * 1024 * 1024))
CONF_CASE(mem, large_heap, large(RTE_COMCH_MEM_HEAP, 64 * 1024 * 1024))

void
conf_mem_busy(void)
{
	struct rte_comch_mr_info info;
	struct rte_comch_consumer *second;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	T_EQ(rte_comch_mem_info_get(f.dst.mr, &info), 0);
	T_GE(info.nb_users, 1);
	T_EQ(rte_comch_mem_unregister(f.dst.mr), -EBUSY);
	T_EQ(rte_comch_mem_free(f.dst.addr), -EBUSY);
	T_EQ(rte_comch_mem_renew(f.dst.addr), -EBUSY);
	/* One registration serves many consumers: busy until the last is gone. */
	second = t_consumer_new(f.cons_conn, NULL, f.dst.mr);
	t_consumer_run(second);
	t_consumer_end(f.cons);
	f.cons = NULL;
	T_EQ(rte_comch_mem_unregister(f.dst.mr), -EBUSY);
	t_consumer_end(second);
	t_flow_close(&f); /* unregisters */
	t_pair_close(&p);
}

void
conf_mem_renew(void)
{
	struct t_flow f;
	struct t_pair p;
	uint8_t *a;

	T_EQ(rte_comch_mem_renew(NULL), -EINVAL);
	T_EQ(rte_comch_mem_renew(&f), -EINVAL);
	a = rte_comch_mem_alloc(100000, SOCKET_ID_ANY);
	T_CHECK(a != NULL);
	t_fill(a, 100000, 1);
	T_EQ(rte_comch_mem_renew(a + 4096), -EINVAL);
	T_EQ(rte_comch_mem_renew(a), 0);
	T_VERIFY(a, 100000, 1);
	T_EQ(rte_comch_mem_free(a), 0);
	/* A registration outlives it, and serves again. */
	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	t_flow_once(&f, 1000, 7);
	t_consumer_end(f.cons);
	T_EQ(rte_comch_mem_renew(f.dst.addr), 0);
	T_VERIFY(f.dst.addr, 1000, 7);
	f.cons = t_consumer_new(f.cons_conn, NULL, f.dst.mr);
	t_consumer_run(f.cons);
	f.id = rte_comch_consumer_id(f.cons);
	T_UNTIL(t_knows_consumer(f.prod_node, f.prod_conn, f.id));
	t_flow_once(&f, 2000, 8);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* The next start exports it with the others, and says nothing of its own. */
void
conf_mem_mr_add_then_stop(void)
{
	struct rte_comch_cpl cpl;
	unsigned int added;
	struct t_mem more;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	t_mem_new(&more, RTE_COMCH_MEM_SEALED, 65536, 0);
	T_EQ(rte_comch_consumer_mr_add(f.cons, more.mr), 0);
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	T_UNTIL(rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
	t_settle();
	added = t_count(f.cons_node, RTE_COMCH_EVENT_MR_ADDED, NULL);
	t_consumer_run(f.cons);
	f.id = rte_comch_consumer_id(f.cons);
	T_UNTIL(t_knows_consumer(f.prod_node, f.prod_conn, f.id));
	t_settle();
	T_EQ(t_count(f.cons_node, RTE_COMCH_EVENT_MR_ADDED, NULL), added);
	T_EQ(rte_comch_consumer_post_burst(f.cons, &(struct rte_comch_buf){
		.addr = more.addr, .mr = more.mr, .len = 5000, .cookie = 3 }, 1), 1);
	t_submit(&f, 0, 5000, 1);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.status, 0);
	t_done(f.prod, &cpl);
	t_flow_close(&f);
	t_mem_free(&more);
	t_pair_close(&p);
}

void
conf_mem_mr_add(void)
{
	struct rte_comch_cpl cpl;
	const struct t_ev *ev;
	struct t_mem more;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	t_mem_new(&more, RTE_COMCH_MEM_SEALED, 65536, 0);
	T_EQ(rte_comch_consumer_mr_add(NULL, more.mr), -EINVAL);
	T_EQ(rte_comch_consumer_mr_add(f.cons, NULL), -EINVAL);
	T_EQ(rte_comch_consumer_mr_add(f.cons, f.dst.mr), -EEXIST);
	T_EQ(rte_comch_consumer_mr_add(f.cons, more.mr), 0);
	T_UNTIL(t_count(f.cons_node, RTE_COMCH_EVENT_MR_ADDED, NULL) == 1);
	ev = t_find(f.cons_node, RTE_COMCH_EVENT_MR_ADDED, NULL, 0);
	T_EQ(ev->e.status, 0);
	T_CHECK(ev->e.mr.mr == more.mr);
	T_EQ(ev->e.obj_type, RTE_COMCH_OBJ_CONSUMER);
	T_CHECK(ev->e.obj.consumer == f.cons);
	T_EQ(rte_comch_consumer_mr_add(f.cons, more.mr), -EEXIST);
	T_EQ(rte_comch_mem_unregister(more.mr), -EBUSY);
	t_fill(f.src.addr, 5000, 5);
	T_EQ(rte_comch_consumer_post_burst(f.cons, &(struct rte_comch_buf){
		.addr = more.addr + 10, .mr = more.mr, .len = 5000, .cookie = 3 }, 1), 1);
	t_submit(&f, 0, 5000, 1);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.status, 0);
	T_EQ(cpl.cookie, 3);
	T_VERIFY(more.addr + 10, 5000, 5);
	t_done(f.prod, &cpl);
	t_flow_once(&f, 100, 9);
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	T_EQ(rte_comch_consumer_mr_add(f.cons, more.mr), -EBADFD);
	t_flow_close(&f);
	t_mem_free(&more);
	t_pair_close(&p);
}

/* Registrations of both kinds in one consumer, used in turn. */
void
conf_mem_mixed(void)
{
	struct rte_comch_consumer_conf cc = { 0 };
	struct rte_comch_mr *mrs[2];
	struct rte_comch_cpl cpl;
	struct t_mem m[2];
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	t_consumer_end(f.cons);
	t_mem_new(&m[0], RTE_COMCH_MEM_SEALED, 8192, 0);
	t_mem_new(&m[1], RTE_COMCH_MEM_HEAP, 8192, 0);
	mrs[0] = m[0].mr;
	mrs[1] = m[1].mr;
	cc.mrs = mrs;
	cc.nb_mrs = 2;
	f.cons = t_consumer_new(f.cons_conn, &cc, NULL);
	t_consumer_run(f.cons);
	f.id = rte_comch_consumer_id(f.cons);
	T_UNTIL(t_knows_consumer(f.prod_node, f.prod_conn, f.id));
	for (i = 0; i < 100; i++) {
		t_fill(f.src.addr, 3000, i);
		T_EQ(rte_comch_consumer_post_burst(f.cons, &(struct rte_comch_buf){
			.addr = m[i % 2].addr, .mr = mrs[i % 2], .len = 3000,
			.cookie = i }, 1), 1);
		t_submit(&f, 0, 3000, i);
		t_recv(f.cons, &cpl);
		T_EQ(cpl.cookie, i);
		if (t_driver->maps_memory)
			T_EQ(cpl.copies, t_stages_heap() ? i % 2 : 0);
		T_VERIFY(m[i % 2].addr, 3000, i);
		t_done(f.prod, &cpl);
	}
	t_flow_close(&f);
	t_mem_free(&m[0]);
	t_mem_free(&m[1]);
	t_pair_close(&p);
}

/* The peer gets no access to the memory: it may serve any number of peers. */
static void
serve_another(struct rte_comch_consumer *cons, struct rte_comch_conn *conn,
		const struct rte_comch_consumer_conf *cc, struct rte_comch_mr *own)
{
	struct rte_comch_consumer *more = t_consumer_new(conn, cc, NULL);

	t_consumer_run(more);
	t_consumer_end(more);
	T_EQ(rte_comch_consumer_mr_add(cons, own), 0);
}

/* Two host functions: the same memory is not shown to both, unless shared. */
static void
trust(enum rte_comch_mem_kind kind, bool is_shown)
{
	struct rte_comch_consumer_conf cc = { .conf_size = sizeof(cc) };
	struct rte_comch_consumer *cons[2];
	struct rte_comch_conn *conn[2];
	struct rte_comch_server *server[2];
	struct rte_comch_client *client[2];
	struct t_node *dpu = t_node_new(), *host = t_node_new();
	struct rte_comch_mr *mr;
	struct t_mem own, shared;
	int16_t dev[3];
	unsigned int i;

	dev[0] = t_dev_open(0, "role=host,func=pf0");
	dev[1] = t_dev_open(1, "role=host,func=pf0vf0");
	dev[2] = t_dev_open(2, "role=dpu,rep=pf0,rep=pf0vf0");
	for (i = 0; i < 2; i++) {
		server[i] = t_server_new(dpu, dev[2], T_NAME, (uint16_t)i, NULL);
		client[i] = t_client_new(host, dev[i], T_NAME, NULL);
		T_EQ(rte_comch_client_start(client[i]), -EINPROGRESS);
		T_UNTIL(t_count(dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == i + 1);
		conn[i] = t_find(dpu, RTE_COMCH_EVENT_CONNECTED, NULL, i)->e.conn;
		T_UNTIL(rte_comch_client_state(client[i]) == RTE_COMCH_STATE_RUNNING);
	}
	t_mem_new(&own, kind, 4096, 0);
	t_mem_new(&shared, kind, 4096, RTE_COMCH_MEM_F_SHARED);
	cc.nb_mrs = 1;
	cc.mrs = &mr;
	mr = own.mr;
	cons[0] = t_consumer_new(conn[0], &cc, NULL);
	t_consumer_run(cons[0]);
	/* The same peer may see it twice. */
	cons[1] = t_consumer_new(conn[0], &cc, NULL);
	t_consumer_run(cons[1]);
	t_consumer_end(cons[1]);
	if (is_shown)
		T_NULL_ERRNO(rte_comch_consumer_create(conn[1], &cc), EPERM);
	mr = shared.mr;
	cons[1] = t_consumer_new(conn[1], &cc, NULL);
	t_consumer_run(cons[1]);
	T_EQ(rte_comch_consumer_mr_add(cons[0], shared.mr), 0);
	T_UNTIL(t_count(dpu, RTE_COMCH_EVENT_MR_ADDED, NULL) == 1);
	T_EQ(t_find(dpu, RTE_COMCH_EVENT_MR_ADDED, NULL, 0)->e.status, 0);
	mr = own.mr;
	if (is_shown)
		T_EQ(rte_comch_consumer_mr_add(cons[1], own.mr), -EPERM);
	else
		serve_another(cons[1], conn[1], &cc, own.mr);
	for (i = 0; i < 2; i++)
		t_consumer_end(cons[i]);
	t_mem_free(&own);
	t_mem_free(&shared);
	for (i = 0; i < 2; i++) {
		t_client_end(client[i]);
		t_server_end(server[i]);
	}
	for (i = 0; i < 3; i++)
		T_EQ(rte_comch_dev_close(dev[i]), 0);
	t_node_free(host);
	t_node_free(dpu);
}

CONF_CASE(mem, trust, trust(RTE_COMCH_MEM_SEALED, true))
CONF_CASE(mem, trust_heap, trust(RTE_COMCH_MEM_HEAP, t_driver->shows_heap))
