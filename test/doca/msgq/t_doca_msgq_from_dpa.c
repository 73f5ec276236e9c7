/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* MsgQ from the emulated DPA to the CPU. */

#include <pthread.h>

#include <doca_mmap.h>

#include "msgq/device_207.h"
#include "msgq/ends.h"
#include "t_main.h"

/* What kernels and tests share: one address space. */
static struct msgq m;
static atomic_uint nb_activations;
static _Atomic uint64_t nb_seen, sum;
static atomic_bool is_released;

/* The kernel */

static void
count(uint64_t arg __rte_unused)
{
	nb_activations++;
}

DPA_KERNEL(count)
DPA_RPC(msgq_rpc)

static const struct comch_doca_dpa_func funcs[] = {
	DPA_FUNC(count, 0), DPA_FUNC(msgq_rpc, 1),
};
DPA_APP(app, funcs);

/* Device code in RPCs */

static uint64_t
dev_is_empty(void *arg)
{
	return (uint64_t)doca_dpa_dev_comch_producer_is_consumer_empty(m.p.handle,
		*(uint32_t *)arg);
}

struct dev_send {
	uint32_t consumer_id, len, flags;
	const void *imm;
	/* of a copy */
	doca_dpa_dev_mmap_t dst_mmap, src_mmap;
	const void *dst, *src;
	size_t size;
};

static uint64_t
dev_send(void *arg)
{
	const struct dev_send *s = arg;

	doca_dpa_dev_comch_producer_post_send_imm_only(m.p.handle, s->consumer_id, s->imm, s->len,
		s->flags);
	return 0;
}

static uint64_t
dev_copy(void *arg)
{
	const struct dev_send *s = arg;

	doca_dpa_dev_comch_producer_dma_copy(m.p.handle, s->consumer_id, s->dst_mmap,
		(uintptr_t)s->dst, s->src_mmap, (uintptr_t)s->src, s->size, s->imm, s->len,
		s->flags);
	return 0;
}

/* The next element of the producer's completion: type << 32 | user data, plus 1 << 63. */
static uint64_t
dev_done(void *arg __rte_unused)
{
	doca_dpa_dev_completion_element_t el;
	uint64_t ret;

	if (doca_dpa_dev_get_completion(m.p.comp_handle, &el) == 0)
		return 0;
	ret = UINT64_C(1) << 63 | (uint64_t)doca_dpa_dev_get_completion_type(el) << 32 |
		doca_dpa_dev_get_completion_user_data(el);
	doca_dpa_dev_completion_ack(m.p.comp_handle, 1);
	return ret;
}

#define DONE(type) (UINT64_C(1) << 63 | (uint64_t)(type) << 32 | 0xabcdef)

static void
recv_until(unsigned int n)
{
	T_WAIT(doca_pe_progress(m.c.pe), m.c.nb_recv >= n);
	T_EQ(m.c.nb_recv, n);
}

/* behaviour: Q5, Q8, Q9, Q11 */
T_CASE(from_the_dpa)
{
	struct dev_send s = { .consumer_id = 1, .flags = DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH };
	uint8_t imm[33];

	t_fill(imm, sizeof(imm), 4);
	msgq_open(&m, &app, MSGQ_FROM_DPA, DPA_HOST_FUNC(count), 0);
	T_EQ(MSGQ_RUN(m.dpa, dev_is_empty, &(uint32_t){ 1 }), 1);
	T_EQ(MSGQ_RUN(m.dpa, dev_is_empty, &(uint32_t){ 2 }), 1);
	msgq_post(&m.c, 2);
	T_EQ(MSGQ_RUN(m.dpa, dev_is_empty, &(uint32_t){ 1 }), 0);
	s.imm = imm;
	s.len = 32;
	MSGQ_RUN(m.dpa, dev_send, &s);
	recv_until(1);
	T_EQ(m.c.imm_len, 32);
	T_CHECK(memcmp(m.c.imm, imm, 32) == 0);
	T_EQ(m.c.producer_id, m.p.id);
	T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), DONE(DOCA_DPA_DEV_COMP_SEND));
	T_AWAIT(nb_activations == 1);
	T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), 0);
	s.len = 3;
	MSGQ_RUN(m.dpa, dev_send, &s);
	recv_until(2);
	T_EQ(m.c.imm_len, 3);
	T_EQ(MSGQ_RUN(m.dpa, dev_is_empty, &(uint32_t){ 1 }), 1);
	/* No consumer has that id. */
	T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), DONE(DOCA_DPA_DEV_COMP_SEND));
	s.consumer_id = 2;
	MSGQ_RUN(m.dpa, dev_send, &s);
	T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), DONE(DOCA_DPA_DEV_COMP_SEND_ERR));
	/* Thirty-three bytes are a fault. */
	s.len = 33;
	T_OK(doca_dpa_peek_at_last_error(m.dpa));
	T_IS(msgq_run(m.dpa, dev_send, &s, &(uint64_t){ 0 }), DOCA_ERROR_DRIVER);
	T_IS(doca_dpa_peek_at_last_error(m.dpa), DOCA_ERROR_BAD_STATE);
	T_EQ(m.c.nb_recv, 2);
	msgq_close(&m);
}

/* When elements come, by the flags. */
T_CASE(reports)
{
	const uint32_t later = DOCA_DPA_DEV_SUBMIT_FLAG_OPTIMIZE_REPORTS;
	struct dev_send s = { .consumer_id = 1, .flags = later };
	int i;

	msgq_open(&m, &app, MSGQ_FROM_DPA, DPA_HOST_FUNC(count), 0);
	msgq_post(&m.c, 6);
	for (i = 0; i < 3; i++)
		MSGQ_RUN(m.dpa, dev_send, &s);
	T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), 0);
	s.flags = DOCA_DPA_DEV_SUBMIT_FLAG_NONE;
	MSGQ_RUN(m.dpa, dev_send, &s);
	for (i = 0; i < 4; i++)
		T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), DONE(DOCA_DPA_DEV_COMP_SEND));
	T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), 0);
	recv_until(4);
	msgq_close(&m);
}

static void *
send_one(void *arg)
{
	MSGQ_RUN(m.dpa, dev_send, arg);
	is_released = true;
	return NULL;
}

/* Nothing is posted: the message waits, and the log says that a card would not. */
T_CASE(without_a_receive)
{
	struct dev_send s = { .consumer_id = 1, .imm = "late", .len = 4 };
	pthread_t thread;

	msgq_open(&m, &app, MSGQ_FROM_DPA, DPA_HOST_FUNC(count), 0);
	log_keep();
	T_EQ(pthread_create(&thread, NULL, send_one, &s), 0);
	T_AWAIT(strstr(log_kept(), "no receive posted") != NULL);
	T_CHECK(!is_released);
	msgq_post(&m.c, 1);
	recv_until(1);
	T_EQ(pthread_join(thread, NULL), 0);
	T_CHECK(memcmp(m.c.imm, "late", 4) == 0);
	msgq_close(&m);
}

static struct doca_mmap *
mmap_of(void *addr, size_t len, uint32_t access, doca_dpa_dev_mmap_t *handle)
{
	struct doca_dev *dev = host_dev(0);
	struct doca_mmap *mmap;

	T_OK(doca_mmap_create(&mmap));
	T_OK(doca_mmap_set_memrange(mmap, addr, len));
	T_OK(doca_mmap_set_permissions(mmap, access));
	T_OK(doca_mmap_add_dev(mmap, dev));
	T_OK(doca_mmap_start(mmap));
	T_OK(doca_mmap_dev_get_dpa_handle(mmap, dev, handle));
	return mmap;
}

static void
mmap_end(struct doca_mmap *mmap)
{
	T_OK(doca_mmap_stop(mmap));
	T_OK(doca_mmap_destroy(mmap));
	T_OK(doca_dev_close(host_dev(0)));
	T_OK(doca_dev_close(host_dev(0)));
	T_OK(doca_dev_close(host_dev(0)));
}

#define SIZE 65536

static uint8_t src[SIZE], dst[SIZE];

static void
check_copy(struct msgq_consumer *c)
{
	/* The data are there when the message is. */
	T_VERIFY(dst, SIZE, c->imm[0]);
	sum++;
}

/* behaviour: Q10 */
T_CASE(copies)
{
	struct dev_send s = { .consumer_id = 1, .dst = dst, .src = src, .size = SIZE, .len = 1 };
	struct doca_mmap *mmaps[2];
	uint8_t i;

	msgq_open(&m, &app, MSGQ_FROM_DPA, DPA_HOST_FUNC(count), 0);
	mmaps[0] = mmap_of(dst, SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &s.dst_mmap);
	mmaps[1] = mmap_of(src, SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &s.src_mmap);
	m.c.on_recv = check_copy;
	for (i = 1; i <= 20; i++) {
		msgq_post(&m.c, 1);
		t_fill(src, SIZE, i);
		s.imm = &i;
		MSGQ_RUN(m.dpa, dev_copy, &s);
		T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), DONE(DOCA_DPA_DEV_COMP_SEND));
		recv_until(i);
	}
	T_EQ(sum, 20);
	/* A copy of 0 bytes is valid. */
	msgq_post(&m.c, 1);
	s.size = 0;
	s.dst = NULL;
	m.c.on_recv = NULL;
	MSGQ_RUN(m.dpa, dev_copy, &s);
	recv_until(21);
	mmap_end(mmaps[0]);
	mmap_end(mmaps[1]);
	msgq_close(&m);
}

struct bad_copy {
	ptrdiff_t dst, src;
	size_t size;
	uint32_t len;
	bool is_swapped; /* what may be written, and what may not */
	bool is_one;     /* both are in the memory that may be written */
};

static void
copy_is_fault(const struct bad_copy *bad)
{
	struct dev_send s = {
		.consumer_id = 1, .imm = src, .dst = dst + bad->dst, .src = src + bad->src,
		.size = bad->size, .len = bad->len,
	};
	doca_dpa_dev_mmap_t dst_mmap;
	struct doca_mmap *mmaps[2];
	unsigned int i;

	msgq_open(&m, &app, MSGQ_FROM_DPA, DPA_HOST_FUNC(count), 0);
	mmaps[0] = mmap_of(dst, SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &s.dst_mmap);
	mmaps[1] = mmap_of(src, SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &s.src_mmap);
	if (bad->is_swapped) {
		dst_mmap = s.dst_mmap;
		s.dst_mmap = s.src_mmap;
		s.src_mmap = dst_mmap;
		s.dst = src;
		s.src = dst;
	} else if (bad->is_one) {
		s.src_mmap = s.dst_mmap;
		s.src = dst + bad->src;
	}
	msgq_post(&m.c, 2);
	memset(src, 0xff, SIZE);
	msgq_is_fault(m.dpa, dev_copy, &s);
	for (i = 0; i < SIZE; i++)
		T_EQ(dst[i], 0);
	doca_pe_progress(m.c.pe);
	T_EQ(m.c.nb_recv, 0);
	mmap_end(mmaps[0]);
	mmap_end(mmaps[1]);
	msgq_close(&m);
}

/* Device code of DOCA 2.7: elements for whom asked for them. */
T_CASE(as_of_2_7)
{
	struct msgq_send_207 s = { .dst = (uintptr_t)dst, .src = (uintptr_t)src, .len = SIZE };
	struct doca_mmap *mmaps[2];

	msgq_open(&m, &app, MSGQ_FROM_DPA, DPA_HOST_FUNC(count), 0);
	mmaps[0] = mmap_of(dst, SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &s.dst_mmap);
	mmaps[1] = mmap_of(src, SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &s.src_mmap);
	t_fill(src, SIZE, 6);
	msgq_post(&m.c, 4);
	s.producer = m.p.handle;
	MSGQ_RUN(m.dpa, msgq_send_207, &s);
	MSGQ_RUN(m.dpa, msgq_copy_207, &s);
	T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), 0);
	s.completion_requested = 1;
	MSGQ_RUN(m.dpa, msgq_send_207, &s);
	T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), DONE(DOCA_DPA_DEV_COMP_SEND));
	MSGQ_RUN(m.dpa, msgq_copy_207, &s);
	T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), DONE(DOCA_DPA_DEV_COMP_SEND));
	T_EQ(MSGQ_RUN(m.dpa, dev_done, NULL), 0);
	recv_until(4);
	T_VERIFY(dst, SIZE, 6);
	mmap_end(mmaps[0]);
	mmap_end(mmaps[1]);
	msgq_close(&m);
}

/* What a copy must not do. */
T_CASE(copies_refused)
{
	static const struct bad_copy cases[] = {
		{ .dst = 1, .size = SIZE },
		{ .src = 1, .size = SIZE },
		{ .dst = -1, .size = 1 },
		{ .src = -1, .size = 1 },
		{ .size = SIZE_MAX },
		{ .size = (size_t)1 << 31 },
		{ .dst = SIZE, .size = 1 },
		{ .size = 1, .is_swapped = true },
		{ .size = 1, .len = 33 },
		{ .src = 1, .size = 2, .is_one = true },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(cases); i++)
		copy_is_fault(&cases[i]);
}

static uint64_t
dev_send_u64(void *arg)
{
	doca_dpa_dev_comch_producer_post_send_imm_only(m.p.handle, 1, arg, sizeof(uint64_t), 0);
	return 0;
}

static doca_dpa_dev_mmap_t copy_dst, copy_src;

struct copy_of {
	struct msgq_producer *p;
	uint64_t i;
};

/* A copy, and what is told of it: 1 if that is its own element, and a good one. */
static uint64_t
dev_copy_of(void *arg)
{
	const struct copy_of *c = arg;
	doca_dpa_dev_completion_element_t el;
	const size_t at = (c->p->id - 1) * SIZE / 2;

	doca_dpa_dev_comch_producer_dma_copy(c->p->handle, 1, copy_dst, (uintptr_t)dst + at,
		copy_src, (uintptr_t)src + at, 64, (const uint8_t *)&c->i, sizeof(c->i), 0);
	if (doca_dpa_dev_get_completion(c->p->comp_handle, &el) == 0)
		return 0;
	doca_dpa_dev_completion_ack(c->p->comp_handle, 1);
	return doca_dpa_dev_get_completion_type(el) == DOCA_DPA_DEV_COMP_SEND;
}

static void
in_order_of_producer(struct msgq_consumer *c)
{
	static uint64_t last[3];
	uint64_t val;

	memcpy(&val, c->imm, sizeof(val));
	T_EQ(val, ++last[c->producer_id]);
}

/* Two producers on the DPA and one consumer with too few receives: each message that is
 * told as sent has arrived, and in the order in which it was.
 */
static void *
copy_often(void *arg)
{
	struct msgq_producer *p = arg;
	const uint64_t n = t_sanitized() ? 500 : 5000;
	struct copy_of c = { .p = p };
	uint64_t ret;

	for (c.i = 1; c.i <= n; c.i++) {
		T_GETS(msgq_run(m.dpa, dev_copy_of, &c, &ret), ret, 1);
	}
	nb_seen++;
	return NULL;
}

T_CASE(copies_of_two)
{
	struct msgq_producer p[2] = { { .pe = NULL } };
	struct doca_dpa_completion *comps[2];
	struct doca_mmap *mmaps[2];
	struct msgq_consumer c = { .pe = NULL };
	struct doca_comch_msgq *msgq;
	pthread_t threads[2];
	int i;

	msgq_open(&m, &app, MSGQ_FROM_DPA, DPA_HOST_FUNC(count), 0);
	mmaps[0] = mmap_of(dst, SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &copy_dst);
	mmaps[1] = mmap_of(src, SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &copy_src);
	msgq = msgq_create(host_dev(0), m.dpa, MSGQ_FROM_DPA, 1, 2);
	msgq_consumer_on_cpu(&c, msgq, m.c.pe);
	/* Posted again as they come. */
	c.arg = &c;
	c.on_recv = in_order_of_producer;
	for (i = 0; i < 2; i++) {
		comps[i] = msgq_completion(m.dpa, NULL);
		msgq_producer_on_dpa(&p[i], msgq, m.dpa, comps[i]);
	}
	msgq_post(&c, 1);
	for (i = 0; i < 2; i++)
		T_EQ(pthread_create(&threads[i], NULL, copy_often, &p[i]), 0);
	T_WAIT(doca_pe_progress(m.c.pe), nb_seen >= 2);
	for (i = 0; i < 2; i++)
		T_EQ(pthread_join(threads[i], NULL), 0);
	T_WAIT(doca_pe_progress(m.c.pe), c.nb_recv == (t_sanitized() ? 1000 : 10000));
	for (i = 0; i < 2; i++) {
		msgq_producer_end(&p[i]);
		T_OK(doca_dpa_completion_stop(comps[i]));
		T_OK(doca_dpa_completion_destroy(comps[i]));
	}
	c.arg = NULL;
	msgq_consumer_end(&c);
	T_OK(doca_comch_msgq_stop(msgq));
	T_OK(doca_comch_msgq_destroy(msgq));
	T_OK(doca_dev_close(host_dev(0)));
	T_OK(doca_dev_close(host_dev(0)));
	mmap_end(mmaps[0]);
	mmap_end(mmaps[1]);
	msgq_close(&m);
}

/* Handles die with their objects. */
T_CASE(after_destroy)
{
	uint64_t val = 0;

	msgq_open(&m, &app, MSGQ_FROM_DPA, DPA_HOST_FUNC(count), 0);
	T_OK(doca_ctx_stop(m.p.ctx));
	msgq_is_fault(m.dpa, dev_send_u64, &val);
	T_OK(doca_ctx_start(m.p.ctx));
	msgq_close(&m);
	msgq_open(&m, &app, MSGQ_FROM_DPA, DPA_HOST_FUNC(count), 0);
	m.p.handle = 0;
	msgq_is_fault(m.dpa, dev_is_empty, &(uint32_t){ 1 });
	msgq_close(&m);
}
