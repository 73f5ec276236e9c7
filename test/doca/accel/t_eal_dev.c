/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dlfcn.h>

#include <rte_common.h>
#include <rte_compressdev.h>
#include <rte_cryptodev.h>

#include "accel/t_eal_dev.h"
#include "t.h"

struct t_eal_dev t_eal_dev;

/* Whether something may come back now. */
static bool
may_dequeue(void)
{
	if (t_eal_dev.is_slow && t_eal_dev.looks > 0)
		t_eal_dev.is_slow = --t_eal_dev.looks > 0;
	return !t_eal_dev.is_slow;
}

/* Crypto devices: EAL's table of functions has those of a test. */

static enqueue_pkt_burst_t crypto_enqueue;
static dequeue_pkt_burst_t crypto_dequeue;

static uint16_t
enqueue_crypto(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	if (t_eal_dev.refuses)
		return 0;
	n = crypto_enqueue(qp, ops, n);
	t_eal_dev.enqueued += n;
	return n;
}

static uint16_t
dequeue_crypto(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	uint16_t i;

	if (!may_dequeue())
		return 0;
	n = crypto_dequeue(qp, ops, n);
	for (i = 0; i < n && t_eal_dev.fails; i++)
		ops[i]->status = RTE_CRYPTO_OP_STATUS_ERROR;
	t_eal_dev.dequeued += n;
	return n;
}

void
t_eal_dev_take_crypto(const char *name)
{
	struct rte_crypto_fp_ops *fp = &rte_crypto_fp_ops[rte_cryptodev_get_dev_id(name)];

	if (fp->enqueue_burst != enqueue_crypto) {
		crypto_enqueue = fp->enqueue_burst;
		crypto_dequeue = fp->dequeue_burst;
		fp->enqueue_burst = enqueue_crypto;
		fp->dequeue_burst = dequeue_crypto;
	}
}

/* Compression devices: these functions come before those of EAL. */

typedef uint16_t (*comp_burst_t)(uint8_t id, uint16_t qp, struct rte_comp_op **ops, uint16_t n);

static comp_burst_t
comp_burst(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	T_CHECK(function != NULL);
	return (comp_burst_t)(uintptr_t)function;
}

uint16_t
rte_compressdev_enqueue_burst(uint8_t id, uint16_t qp, struct rte_comp_op **ops, uint16_t n)
{
	if (t_eal_dev.refuses)
		return 0;
	n = comp_burst("rte_compressdev_enqueue_burst")(id, qp, ops, n);
	t_eal_dev.enqueued += n;
	return n;
}

uint16_t
rte_compressdev_dequeue_burst(uint8_t id, uint16_t qp, struct rte_comp_op **ops, uint16_t n)
{
	uint16_t i;

	if (!may_dequeue())
		return 0;
	n = comp_burst("rte_compressdev_dequeue_burst")(id, qp, ops, n);
	for (i = 0; i < n; i++) {
		if (t_eal_dev.fails)
			ops[i]->status = RTE_COMP_OP_STATUS_ERROR;
		if (t_eal_dev.has_no_room)
			ops[i]->status = RTE_COMP_OP_STATUS_OUT_OF_SPACE_TERMINATED;
	}
	t_eal_dev.dequeued += n;
	return n;
}
