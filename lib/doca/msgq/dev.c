/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* MsgQ functions for device code. */

#include <errno.h>
#include <string.h>

#include <doca_dpa_dev_comch_msgq.h>

#include "ctx/yield.h"
#include "msgq/msgq.h"

/* Device code until DOCA 2.8: a flag requests the completion element. */
void doca_dpa_dev_comch_producer_post_send_imm_only_207(
		doca_dpa_dev_comch_producer_t producer, uint32_t consumer_id, const uint8_t *imm,
		uint32_t imm_length, uint32_t completion_requested);
void doca_dpa_dev_comch_producer_dma_copy_207(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, doca_dpa_dev_mmap_t dst_mmap, uint64_t dst_addr,
		doca_dpa_dev_mmap_t src_mmap, uint64_t src_addr, size_t length,
		const uint8_t *imm, uint32_t imm_length, uint32_t completion_requested);

/* Consumers */

/* Elements neither in use nor reserved for messages in flight. lock held. */
static uint64_t
elements_free(const struct doca_comch_consumer_completion *comp)
{
	return comp->mask + UINT64_C(1) - (comp->filled - comp->acked) - comp->nb_credits;
}

void
doca_dpa_dev_comch_consumer_ack(doca_dpa_dev_comch_consumer_t consumer, uint32_t num_msg)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct impl_msgq_consumer *c;
	bool has_room;
	uint32_t n;

	c = impl_dpa_object(self, IMPL_DPA_CONSUMER, consumer, __func__);
	if (c == NULL)
		return;
	rte_spinlock_lock(&c->dpa.comp->lock);
	has_room = elements_free(c->dpa.comp) >= num_msg;
	n = has_room ? rte_comch_msgq_credit(c->base.ctx.native, num_msg) : 0;
	c->dpa.comp->nb_credits += n;
	rte_spinlock_unlock(&c->dpa.comp->lock);
	if (n < num_msg) {
		impl_dpa_fault(self, __func__, has_room ?
			"consumer %u: %u more messages exceed its limit of %u" :
			"consumer %u: no room for %u more messages (limit %u) until elements of "
			"stopped consumers are taken", c->base.id, num_msg, c->dpa.max_recv);
		return;
	}
	impl_dpa_leave(self);
}

enum take {
	TAKE_NONE,
	TAKE_ONE,
	TAKE_FULL, /* too many elements are not acknowledged */
};

/* The next element. lock held. */
static enum take
take_element(struct doca_comch_consumer_completion *comp, struct rte_comch_cpl **element)
{
	if (comp->taken == comp->filled)
		impl_consumer_completion_fill(comp);
	if (comp->taken == comp->filled)
		return TAKE_NONE;
	if (comp->taken - comp->acked == comp->size)
		return TAKE_FULL;
	*element = &comp->elements[comp->taken++ & comp->mask];
	return TAKE_ONE;
}

int
doca_dpa_dev_comch_consumer_get_completion(
		doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle,
		doca_dpa_dev_comch_consumer_completion_element_t *comp_element)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct doca_comch_consumer_completion *comp;
	struct rte_comch_cpl *element = NULL;
	enum take take;

	comp = impl_dpa_object(self, IMPL_DPA_CONSUMER_COMPLETION, consumer_comp_handle,
		__func__);
	if (comp == NULL)
		return 0;
	rte_spinlock_lock(&comp->lock);
	take = take_element(comp, &element);
	rte_spinlock_unlock(&comp->lock);
	if (take == TAKE_FULL) {
		impl_dpa_fault(self, __func__, "limit of %u unacknowledged elements reached",
			comp->size);
		return 0;
	}
	impl_dpa_leave(self);
	/* Idle kernels share their CPU. */
	if (take == TAKE_NONE) {
		impl_yield_idle();
		return 0;
	}
	impl_yield_busy();
	*comp_element = (uintptr_t)element;
	return 1;
}

const uint8_t *
doca_dpa_dev_comch_consumer_get_completion_imm(
		doca_dpa_dev_comch_consumer_completion_element_t comp_element, uint32_t *imm_length)
{
	const struct rte_comch_cpl *cpl = (const struct rte_comch_cpl *)(uintptr_t)comp_element;

	*imm_length = cpl->imm_len;
	return cpl->imm;
}

uint32_t
doca_dpa_dev_comch_consumer_get_completion_producer_id(
		doca_dpa_dev_comch_consumer_completion_element_t comp_element)
{
	return ((const struct rte_comch_cpl *)(uintptr_t)comp_element)->peer_id;
}

void
doca_dpa_dev_comch_consumer_completion_ack(
		doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle, uint64_t num_comp)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct doca_comch_consumer_completion *comp;
	uint64_t taken;

	comp = impl_dpa_object(self, IMPL_DPA_CONSUMER_COMPLETION, consumer_comp_handle,
		__func__);
	if (comp == NULL)
		return;
	rte_spinlock_lock(&comp->lock);
	taken = comp->taken - comp->acked;
	if (num_comp <= taken)
		comp->acked += num_comp;
	rte_spinlock_unlock(&comp->lock);
	if (num_comp > taken) {
		impl_dpa_fault(self, __func__, "acknowledged %llu elements, only %llu were taken",
			(unsigned long long)num_comp, (unsigned long long)taken);
		return;
	}
	impl_dpa_leave(self);
}

void
doca_dpa_dev_comch_consumer_completion_request_notification(
		doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct doca_comch_consumer_completion *comp;
	bool has_some;

	comp = impl_dpa_object(self, IMPL_DPA_CONSUMER_COMPLETION, consumer_comp_handle,
		__func__);
	if (comp == NULL)
		return;
	/* Either the arming succeeds or a message is there: none is missed. */
	rte_spinlock_lock(&comp->lock);
	has_some = comp->taken != comp->filled || rte_comch_msgq_cq_arm(comp->cq) == -EAGAIN;
	rte_spinlock_unlock(&comp->lock);
	if (has_some)
		impl_dpa_thread_activate(comp->thread);
	impl_dpa_leave(self);
}

/* Producers */

int
doca_dpa_dev_comch_producer_is_consumer_empty(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id)
{
	struct impl_dpa_self *self = impl_dpa_enter();
	struct impl_msgq_producer *p;
	int ret;

	p = impl_dpa_object(self, IMPL_DPA_PRODUCER, producer, __func__);
	if (p == NULL)
		return 1;
	ret = rte_comch_msgq_consumer_empty(p->base.ctx.native, consumer_id);
	impl_dpa_leave(self);
	/* A consumer that does not exist counts as empty. */
	return ret != 0;
}

/* Arguments of a send. */
struct send {
	const char *what;            /* name of the function */
	doca_dpa_dev_comch_producer_t producer;
	uint32_t consumer_id;
	const uint8_t *imm;
	uint32_t imm_len;
	const uint32_t *flags;       /* NULL: an element on failure only */
	bool has_copy;               /* a copy is still to be made */
	doca_dpa_dev_mmap_t dst_mmap, src_mmap;
	uint64_t dst_addr, src_addr;
	size_t len;
};

/* False: a fault. */
static bool
send_check(struct impl_dpa_self *self, const struct send *s)
{
	if (s->imm_len > IMPL_MAX_IMM)
		impl_dpa_fault(self, s->what, "message of %u bytes exceeds %u",
			s->imm_len, IMPL_MAX_IMM);
	else if (s->imm == NULL && s->imm_len > 0)
		impl_dpa_fault(self, s->what, "message of %u bytes at NULL", s->imm_len);
	else if (s->len > IMPL_MAX_BUF_SIZE)
		impl_dpa_fault(self, s->what, "copy of %zu bytes exceeds %u", s->len,
			IMPL_MAX_BUF_SIZE);
	else
		return true;
	return false;
}

/* Copy the memory if there is a receive for the message. False: a fault. */
static bool
try_copy(struct impl_dpa_self *self, struct impl_msgq_producer *p, struct send *s)
{
	const char *src;
	char *dst;

	if (rte_comch_msgq_consumer_empty(p->base.ctx.native, s->consumer_id) == 1)
		return true;
	dst = impl_dpa_mmap_range(self, s->dst_mmap, s->dst_addr, s->len, true, s->what);
	if (dst == NULL)
		return false;
	src = impl_dpa_mmap_range(self, s->src_mmap, s->src_addr, s->len, false, s->what);
	if (src == NULL)
		return false;
	if (dst < src + s->len && src < dst + s->len) {
		impl_dpa_fault(self, s->what, "source and destination overlap");
		return false;
	}
	memcpy(dst, src, s->len);
	s->has_copy = false;
	return true;
}

/* False: the consumer has nothing posted. */
static bool
try_send(struct impl_msgq_producer *p, const struct send *s)
{
	const struct rte_comch_op op = {
		.consumer_id = s->consumer_id, .imm = s->imm, .imm_len = (uint16_t)s->imm_len,
	};

	return !s->has_copy && rte_comch_msgq_send_burst(p->base.ctx.native, &op, 1) == 1;
}

/* Push the elements of a send that has completed or failed. False: a fault. */
static bool
send_report(struct impl_dpa_self *self, struct impl_msgq_producer *p, const struct send *s)
{
	doca_dpa_dev_completion_type_t type = DOCA_DPA_DEV_COMP_SEND;
	struct rte_comch_cpl cpl = { .status = 0 };
	uint32_t nb;

	rte_comch_msgq_done_burst(p->base.ctx.native, &cpl, 1);
	nb = s->flags == NULL ? 0 :
		impl_dpa_nb_elements(&p->dpa.nb_deferred, *s->flags, p->dpa.max_send);
	if (cpl.status != 0) {
		impl_dpa_warn(self, s->what, "consumer %u: %s", s->consumer_id,
			cpl.status == -ENOENT ? "unknown id" : "accepts less immediate data");
		type = DOCA_DPA_DEV_COMP_SEND_ERR;
		nb = RTE_MAX(nb, 1u);
	}
	for (; nb > 0; nb--) {
		/* The last element is that of this send. */
		if (impl_dpa_completion_push(p->dpa.comp, nb == 1 ? type : DOCA_DPA_DEV_COMP_SEND,
				p->dpa.user_data, 0))
			continue;
		impl_dpa_fault(self, s->what, "the completion is full: acknowledge "
			"elements or create it with more");
		return false;
	}
	return true;
}

static void
send(struct send *s)
{
	struct impl_dpa_self *self;
	struct impl_msgq_producer *p;

	for (;;) {
		self = impl_dpa_enter();
		p = impl_dpa_object(self, IMPL_DPA_PRODUCER, s->producer, s->what);
		if (p == NULL || !send_check(self, s))
			return;
		if (s->has_copy && !try_copy(self, p, s))
			return;
		if (try_send(p, s))
			break;
		if (!p->dpa.has_warned)
			impl_dpa_warn(self, s->what, "consumer %u has no receive posted: waiting "
				"(hardware does not)", s->consumer_id);
		p->dpa.has_warned = true;
		impl_dpa_pause(self);
		/* Let the producer or the kernel be stopped. */
		impl_dpa_leave(self);
	}
	if (send_report(self, p, s))
		impl_dpa_leave(self);
}

void
doca_dpa_dev_comch_producer_post_send_imm_only(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, const uint8_t *imm, uint32_t imm_length, uint32_t flags)
{
	struct send s = {
		.what = __func__, .producer = producer, .consumer_id = consumer_id,
		.imm = imm, .imm_len = imm_length, .flags = &flags,
	};

	send(&s);
}

void
doca_dpa_dev_comch_producer_post_send_imm_only_207(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, const uint8_t *imm, uint32_t imm_length,
		uint32_t completion_requested)
{
	const uint32_t flags = DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH;
	struct send s = {
		.what = "doca_dpa_dev_comch_producer_post_send_imm_only", .producer = producer,
		.consumer_id = consumer_id, .imm = imm, .imm_len = imm_length,
		.flags = completion_requested != 0 ? &flags : NULL,
	};

	send(&s);
}

void
doca_dpa_dev_comch_producer_dma_copy(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, doca_dpa_dev_mmap_t dst_mmap, uint64_t dst_addr,
		doca_dpa_dev_mmap_t src_mmap, uint64_t src_addr, size_t length, const uint8_t *imm,
		uint32_t imm_length, uint32_t flags)
{
	struct send s = {
		.what = __func__, .producer = producer, .consumer_id = consumer_id,
		.imm = imm, .imm_len = imm_length, .flags = &flags, .has_copy = length > 0,
		.dst_mmap = dst_mmap, .dst_addr = dst_addr, .src_mmap = src_mmap,
		.src_addr = src_addr, .len = length,
	};

	send(&s);
}

void
doca_dpa_dev_comch_producer_dma_copy_207(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, doca_dpa_dev_mmap_t dst_mmap, uint64_t dst_addr,
		doca_dpa_dev_mmap_t src_mmap, uint64_t src_addr, size_t length, const uint8_t *imm,
		uint32_t imm_length, uint32_t completion_requested)
{
	const uint32_t flags = DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH;
	struct send s = {
		.what = "doca_dpa_dev_comch_producer_dma_copy", .producer = producer,
		.consumer_id = consumer_id, .imm = imm, .imm_len = imm_length,
		.flags = completion_requested != 0 ? &flags : NULL, .has_copy = length > 0,
		.dst_mmap = dst_mmap, .dst_addr = dst_addr, .src_mmap = src_mmap,
		.src_addr = src_addr, .len = length,
	};

	send(&s);
}
