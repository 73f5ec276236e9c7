/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* MsgQ from the CPU to the emulated DPA. */

#include "msgq/ends.h"
#include "t_main.h"

/* What kernels and tests share: one address space. */
static struct msgq m;
static atomic_uint nb_activations;
static _Atomic uint64_t nb_seen;
static atomic_bool in_order;

/* Kernels */

static void
count(uint64_t arg __rte_unused)
{
	nb_activations++;
}

/* Messages are 1, 2, 3 and so on: take all, ask to be told of more, end. */
static void
echo_none(uint64_t arg __rte_unused)
{
	doca_dpa_dev_comch_consumer_completion_element_t el;
	uint32_t len, n = 0;
	uint64_t val;

	nb_activations++;
	while (doca_dpa_dev_comch_consumer_get_completion(m.c.comp_handle, &el) == 1) {
		memcpy(&val, doca_dpa_dev_comch_consumer_get_completion_imm(el, &len), sizeof(val));
		if (len != sizeof(val) || val != nb_seen + 1)
			in_order = false;
		nb_seen++;
		doca_dpa_dev_comch_consumer_completion_ack(m.c.comp_handle, 1);
		n++;
	}
	if (n > 0)
		doca_dpa_dev_comch_consumer_ack(m.c.handle, n);
	doca_dpa_dev_comch_consumer_completion_request_notification(m.c.comp_handle);
	doca_dpa_dev_thread_reschedule();
}

/* Take for ever. */
static void
poll_for_ever(uint64_t arg __rte_unused)
{
	doca_dpa_dev_comch_consumer_completion_element_t el;

	for (;;) {
		if (doca_dpa_dev_comch_consumer_get_completion(m.c.comp_handle, &el) == 0)
			continue;
		nb_seen++;
		doca_dpa_dev_comch_consumer_completion_ack(m.c.comp_handle, 1);
	}
}

DPA_KERNEL(count)
DPA_KERNEL(poll_for_ever)
DPA_KERNEL(echo_none)
DPA_RPC(msgq_rpc)

static const struct comch_doca_dpa_func funcs[] = {
	DPA_FUNC(count, 0), DPA_FUNC(echo_none, 0), DPA_FUNC(poll_for_ever, 0),
	DPA_FUNC(msgq_rpc, 1),
};
DPA_APP(app, funcs);

/* Device code in RPCs */

static uint64_t
dev_ack(void *arg)
{
	doca_dpa_dev_comch_consumer_ack(m.c.handle, *(uint32_t *)arg);
	return 0;
}

static void
give(uint32_t n)
{
	MSGQ_RUN(m.dpa, dev_ack, &n);
}

struct element {
	uint32_t len, producer_id;
	uint8_t imm[32];
	const uint8_t *at;
};

static uint64_t
dev_take(void *arg)
{
	doca_dpa_dev_comch_consumer_completion_element_t el;
	struct element *e = arg;

	if (doca_dpa_dev_comch_consumer_get_completion(m.c.comp_handle, &el) == 0)
		return 0;
	e->at = doca_dpa_dev_comch_consumer_get_completion_imm(el, &e->len);
	memcpy(e->imm, e->at, e->len);
	e->producer_id = doca_dpa_dev_comch_consumer_get_completion_producer_id(el);
	return 1;
}

static uint64_t
dev_comp_ack(void *arg)
{
	doca_dpa_dev_comch_consumer_completion_ack(m.c.comp_handle, *(uint64_t *)arg);
	return 0;
}

static uint64_t
dev_request(void *arg __rte_unused)
{
	doca_dpa_dev_comch_consumer_completion_request_notification(m.c.comp_handle);
	return 0;
}

/* behaviour: Q4, Q17 */
T_CASE(credits_to_the_dpa)
{
	enum doca_ctx_states state;
	struct element e;
	uint64_t val, n;

	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	T_GETS(doca_ctx_get_state(m.c.ctx, &state), state, DOCA_CTX_STATE_RUNNING);
	T_GETS(doca_ctx_get_state(m.p.ctx, &state), state, DOCA_CTX_STATE_RUNNING);
	T_IS(msgq_send_u64(&m.p, 1, 1), DOCA_ERROR_AGAIN);
	give(3);
	for (val = 1; val <= 3; val++)
		T_OK(msgq_send_u64(&m.p, 1, val));
	T_IS(msgq_send_u64(&m.p, 1, 4), DOCA_ERROR_AGAIN);
	T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
	/* The element is taken; its place is the consumer's to give. */
	T_IS(msgq_send_u64(&m.p, 1, 4), DOCA_ERROR_AGAIN);
	give(1);
	T_OK(msgq_send_u64(&m.p, 1, 4));
	for (n = 0; n < 3; n++)
		T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
	T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 0);
	MSGQ_RUN(m.dpa, dev_comp_ack, &(uint64_t){ 4 });
	T_WAIT(doca_pe_progress(m.p.pe), m.p.nb_sent == 4);
	msgq_close(&m);
}

/* behaviour: Q6 */
T_CASE(elements)
{
	struct element e[3];
	uint8_t imm[32];
	int i;

	t_fill(imm, sizeof(imm), 9);
	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	give(3);
	T_OK(msgq_send(&m.p, 1, imm, 32));
	T_OK(msgq_send(&m.p, 1, imm, 5));
	T_OK(msgq_send(&m.p, 1, imm + 7, 1));
	for (i = 0; i < 3; i++) {
		T_EQ(MSGQ_RUN(m.dpa, dev_take, &e[i]), 1);
		T_EQ(e[i].producer_id, m.p.id);
	}
	/* Until they are acknowledged. */
	T_EQ(e[0].len, 32);
	T_CHECK(memcmp(e[0].at, imm, 32) == 0);
	T_EQ(e[1].len, 5);
	T_CHECK(memcmp(e[1].at, imm, 5) == 0);
	T_EQ(e[2].len, 1);
	T_EQ(e[2].at[0], imm[7]);
	MSGQ_RUN(m.dpa, dev_comp_ack, &(uint64_t){ 2 });
	T_EQ(e[2].at[0], imm[7]);
	MSGQ_RUN(m.dpa, dev_comp_ack, &(uint64_t){ 1 });
	msgq_close(&m);
}

/* behaviour: Q7 */
T_CASE(activation)
{
	struct element e;

	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	give(8);
	T_EQ(nb_activations, 0);
	/* The first one activates by itself, the next only when asked for. */
	T_OK(msgq_send_u64(&m.p, 1, 1));
	T_AWAIT(nb_activations == 1);
	T_OK(msgq_send_u64(&m.p, 1, 2));
	T_OK(msgq_send_u64(&m.p, 1, 3));
	T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
	T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
	T_EQ(nb_activations, 1);
	/* One is there already. */
	MSGQ_RUN(m.dpa, dev_request, NULL);
	T_AWAIT(nb_activations == 2);
	T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
	MSGQ_RUN(m.dpa, dev_request, NULL);
	T_EQ(nb_activations, 2);
	T_OK(msgq_send_u64(&m.p, 1, 4));
	T_AWAIT(nb_activations == 3);
	msgq_close(&m);
}

/* Messages against requests, many times: each is seen. */
T_CASE(no_message_is_missed)
{
	const uint64_t n = t_sanitized() ? 3000 : 30000;
	uint64_t val;

	in_order = true;
	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(echo_none), 0);
	give(4);
	for (val = 1; val <= n; val++) {
		msgq_send_all(&m.p, 1, val);
		/* Now and then the kernel gets time to fall asleep. */
		if (val % 3 == 0)
			T_AWAIT(nb_seen == val);
	}
	T_AWAIT(nb_seen == n);
	T_CHECK(in_order);
	/* It did fall asleep; how often is the scheduler's. */
	T_GT(nb_activations, 1);
	msgq_close(&m);
}

/* Too many credits, too many acknowledgements, elements that are not given back. */
T_CASE(consumers_faults)
{
	struct element e;
	uint64_t i;

	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	give(16);
	msgq_is_fault(m.dpa, dev_ack, &(uint32_t){ 1 });
	msgq_close(&m);
	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	msgq_is_fault(m.dpa, dev_comp_ack, &(uint64_t){ 1 });
	msgq_close(&m);
	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	give(16);
	for (i = 0; i < 16; i++) {
		T_OK(msgq_send_u64(&m.p, 1, i));
		T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
	}
	MSGQ_RUN(m.dpa, dev_comp_ack, &(uint64_t){ 1 });
	give(2);
	T_OK(msgq_send_u64(&m.p, 1, i));
	T_OK(msgq_send_u64(&m.p, 1, i));
	T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
	msgq_is_fault(m.dpa, dev_take, &e);
	msgq_close(&m);
}

/* Handles die with their objects, and the next ones are others. */
T_CASE(after_destroy)
{
	doca_dpa_dev_comch_consumer_t old;
	struct element e;
	int i;

	for (i = 0; i < 4; i++) {
		msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
		old = m.c.handle;
		T_OK(doca_ctx_stop(m.c.ctx));
		if (i == 0)
			msgq_is_fault(m.dpa, dev_ack, &(uint32_t){ 1 });
		T_OK(doca_comch_consumer_completion_stop(m.c.comp));
		if (i == 1)
			msgq_is_fault(m.dpa, dev_take, &e);
		if (i == 2)
			msgq_is_fault(m.dpa, dev_request, NULL);
		T_OK(doca_comch_consumer_completion_start(m.c.comp));
		T_OK(doca_ctx_start(m.c.ctx));
		T_OK(doca_comch_consumer_get_dpa_handle(m.c.consumer, &m.c.handle));
		T_CHECK(m.c.handle != old);
		if (i == 3) {
			give(1);
			m.c.handle = old;
			msgq_is_fault(m.dpa, dev_ack, &(uint32_t){ 1 });
		}
		msgq_close(&m);
	}
	/* One of another kind. */
	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	m.c.handle = m.c.comp_handle;
	msgq_is_fault(m.dpa, dev_ack, &(uint32_t){ 1 });
	msgq_close(&m);
}

/* What has arrived is there to be taken when its consumer has stopped. */
T_CASE(stop_with_messages)
{
	struct element e;
	uint64_t val;

	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	give(16);
	for (val = 1; val <= 5; val++)
		T_OK(msgq_send_u64(&m.p, 1, val));
	T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
	T_OK(doca_ctx_stop(m.c.ctx));
	T_OK(msgq_send_u64(&m.p, 1, 6));
	T_WAIT(doca_pe_progress(m.p.pe), m.p.nb_sent == 5 && m.p.nb_errors == 1);
	for (val = 2; val <= 5; val++) {
		T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
		T_CHECK(memcmp(e.imm, &val, sizeof(val)) == 0);
	}
	T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 0);
	MSGQ_RUN(m.dpa, dev_comp_ack, &(uint64_t){ 5 });
	T_OK(doca_ctx_start(m.c.ctx));
	msgq_close(&m);
}

/* All that may come has come and was taken, before any of it is acknowledged. */
T_CASE(full_window)
{
	struct element e;
	uint64_t val;
	int round;

	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	for (round = 0; round < 3; round++) {
		give(16);
		for (val = 1; val <= 16; val++) {
			T_OK(msgq_send_u64(&m.p, 1, val));
			T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
		}
		T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 0);
		MSGQ_RUN(m.dpa, dev_comp_ack, &(uint64_t){ 16 });
		T_WAIT(doca_pe_progress(m.p.pe), m.p.nb_sent == 16u * (1 + round));
	}
	msgq_close(&m);
}

/* Consumers that come and go leave what has arrived, each message once. */
T_CASE(restarts_with_messages)
{
	struct element e;
	uint64_t val, sent = 0;
	int round;

	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	for (round = 0; round < 4; round++) {
		give(16);
		for (val = 0; val < 16; val++)
			T_OK(msgq_send_u64(&m.p, 1, ++sent));
		T_OK(doca_ctx_stop(m.c.ctx));
		T_OK(doca_ctx_start(m.c.ctx));
		T_OK(doca_comch_consumer_get_dpa_handle(m.c.consumer, &m.c.handle));
		T_WAIT(doca_pe_progress(m.p.pe), m.p.nb_sent == sent);
	}
	/* They are as many as there is room for: no more may come. */
	for (val = 1; val <= sent; val++) {
		T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
		T_CHECK(memcmp(e.imm, &val, sizeof(val)) == 0);
		MSGQ_RUN(m.dpa, dev_comp_ack, &(uint64_t){ 1 });
	}
	T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 0);
	give(16);
	T_OK(msgq_send_u64(&m.p, 1, ++sent));
	T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
	msgq_close(&m);
}

/* A consumer stops and starts under a kernel that polls. */
T_CASE(stops_under_a_kernel)
{
	const int rounds = t_sanitized() ? 200 : 3000;
	uint64_t sent;
	int i, k;

	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(poll_for_ever), 0);
	for (i = 0, sent = 0; i < rounds; i++) {
		give(16);
		for (k = 0; k < 1 + i % 16; k++)
			msgq_send_all(&m.p, 1, ++sent);
		T_OK(doca_ctx_stop(m.c.ctx));
		T_OK(doca_ctx_start(m.c.ctx));
		T_OK(doca_comch_consumer_get_dpa_handle(m.c.consumer, &m.c.handle));
		T_AWAIT(nb_seen == sent);
	}
	T_WAIT(doca_pe_progress(m.p.pe), m.p.nb_sent == sent);
	T_OK(doca_dpa_peek_at_last_error(m.dpa));
	msgq_close(&m);
}

/* Two consumers of one completion, and three producers: the order of arrival. */
T_CASE(many_ends)
{
	struct msgq_consumer c[2] = { { .pe = NULL } };
	struct msgq_producer p[3] = { { .pe = NULL } };
	struct doca_comch_consumer_completion *comp;
	struct doca_comch_msgq *msgq;
	struct element e;
	uint64_t i, val;

	msgq_open(&m, &app, MSGQ_TO_DPA, DPA_HOST_FUNC(count), 0);
	comp = msgq_consumer_completion(m.thread, 2, 8);
	msgq = msgq_create(host_dev(0), m.dpa, MSGQ_TO_DPA, 2, 3);
	for (i = 0; i < 2; i++) {
		msgq_consumer_on_dpa(&c[i], msgq, m.dpa, comp, 8);
		T_EQ(c[i].id, i + 1);
	}
	for (i = 0; i < 3; i++) {
		msgq_producer_on_cpu(&p[i], msgq, m.p.pe);
		T_EQ(p[i].id, i + 1);
	}
	m.c.comp_handle = c[0].comp_handle;
	for (i = 0; i < 2; i++) {
		m.c.handle = c[i].handle;
		give(8);
	}
	for (val = 0; val < 12; val++)
		T_OK(msgq_send_u64(&p[val % 3], (uint32_t)(1 + val % 2), val));
	for (val = 0; val < 12; val++) {
		T_EQ(MSGQ_RUN(m.dpa, dev_take, &e), 1);
		T_CHECK(memcmp(e.imm, &val, sizeof(val)) == 0);
		T_EQ(e.producer_id, 1 + val % 3);
	}
	MSGQ_RUN(m.dpa, dev_comp_ack, &(uint64_t){ 12 });
	for (i = 0; i < 3; i++)
		msgq_producer_end(&p[i]);
	for (i = 0; i < 2; i++)
		msgq_consumer_end(&c[i]);
	T_OK(doca_comch_consumer_completion_stop(comp));
	T_OK(doca_comch_consumer_completion_destroy(comp));
	T_OK(doca_comch_msgq_stop(msgq));
	T_OK(doca_comch_msgq_destroy(msgq));
	T_OK(doca_dev_close(host_dev(0)));
	T_OK(doca_dev_close(host_dev(0)));
	msgq_close(&m);
}
