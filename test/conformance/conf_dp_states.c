/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* How producers and consumers come and go; group dp. */

#include "conf.h"

/* Stop a producer with nothing under way: IDLE on return, or an event says so. */
static void
stop_idle(struct t_node *node, struct rte_comch_producer *prod)
{
	int rc = rte_comch_producer_stop(prod);

	if (rc != 0) {
		T_EQ(rc, -EINPROGRESS);
		T_CHECK(!t_driver->maps_memory);
		T_UNTIL(t_state_is(node, prod, RTE_COMCH_STATE_IDLE));
		T_EQ(t_count(node, RTE_COMCH_EVENT_STATE, NULL), 1);
	}
	T_EQ(rte_comch_producer_state(prod), RTE_COMCH_STATE_IDLE);
	t_settle();
	T_EQ(node->nb_evs, rc == 0 ? 0 : 1);
	t_forget(node);
}

void
conf_dp_producer_states(void)
{
	struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf), .user_data = 5,
	};
	struct rte_comch_producer *a, *b;
	struct t_pair p;
	unsigned int i;

	T_EQ(rte_comch_producer_start(NULL), -EINVAL);
	T_EQ(rte_comch_producer_stop(NULL), -EINVAL);
	T_EQ(rte_comch_producer_destroy(NULL), -EINVAL);
	T_EQ(rte_comch_producer_state(NULL), RTE_COMCH_STATE_IDLE);
	t_pair_open(&p, NULL);
	a = rte_comch_producer_create(p.cconn, &conf);
	b = rte_comch_producer_create(p.cconn, &conf);
	T_CHECK(a != NULL && b != NULL);
	T_NE(rte_comch_producer_id(a), rte_comch_producer_id(b));
	T_CHECK(rte_comch_producer_conn(a) == p.cconn);
	T_EQ(rte_comch_producer_state(a), RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_producer_stop(a), -EBADFD);
	T_EQ(rte_comch_producer_start(a), 0);
	T_EQ(rte_comch_producer_state(a), RTE_COMCH_STATE_RUNNING);
	T_EQ(rte_comch_producer_start(a), -EBADFD);
	T_EQ(rte_comch_producer_destroy(a), -EBUSY);
	for (i = 0; i < 2; i++) {
		stop_idle(p.host, a);
		T_EQ(rte_comch_producer_stop(a), -EBADFD);
		T_EQ(rte_comch_producer_start(a), 0);
	}
	stop_idle(p.host, a);
	T_EQ(rte_comch_producer_destroy(a), 0);
	T_EQ(rte_comch_producer_destroy(b), 0);
	t_settle();
	T_EQ(p.host->nb_evs, 0);
	t_pair_close(&p);
}

void
conf_dp_consumer_states(void)
{
	struct rte_comch_consumer_conf conf = {
		.user_data = 99, .queue_size = 100, .imm_size = 16,
	};
	struct rte_comch_consumer *c;
	const struct t_ev *ev;
	struct t_pair p;
	uint32_t id;

	T_EQ(rte_comch_consumer_start(NULL), -EINVAL);
	T_EQ(rte_comch_consumer_stop(NULL), -EINVAL);
	T_EQ(rte_comch_consumer_destroy(NULL), -EINVAL);
	T_EQ(rte_comch_consumer_state(NULL), RTE_COMCH_STATE_IDLE);
	t_pair_open(&p, NULL);
	c = t_consumer_new(p.sconn, &conf, NULL);
	T_CHECK(rte_comch_consumer_conn(c) == p.sconn);
	T_EQ(rte_comch_consumer_stop(c), -EBADFD);
	T_EQ(rte_comch_consumer_start(c), -EINPROGRESS);
	T_EQ(rte_comch_consumer_state(c), RTE_COMCH_STATE_STARTING);
	T_EQ(rte_comch_consumer_start(c), -EBADFD);
	T_EQ(rte_comch_consumer_destroy(c), -EBUSY);
	T_UNTIL(t_state_ev(p.dpu, c) != NULL);
	ev = t_state_ev(p.dpu, c);
	T_EQ(ev->e.obj_type, RTE_COMCH_OBJ_CONSUMER);
	T_EQ(ev->e.state.prev, RTE_COMCH_STATE_STARTING);
	T_EQ(ev->e.state.next, RTE_COMCH_STATE_RUNNING);
	T_EQ(ev->e.status, 0);
	T_EQ(ev->e.user_data, 99);
	T_CHECK(ev->e.conn == p.sconn);
	T_EQ(rte_comch_consumer_state(c), RTE_COMCH_STATE_RUNNING);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_CONSUMER_NEW, p.cconn) == 1);
	ev = t_find(p.host, RTE_COMCH_EVENT_CONSUMER_NEW, p.cconn, 0);
	T_EQ(ev->e.consumer.id, rte_comch_consumer_id(c));
	T_EQ(ev->e.consumer.imm_size, 16);
	T_EQ(ev->e.consumer.depth, 128);
	id = rte_comch_consumer_id(c);
	T_EQ(rte_comch_consumer_stop(c), -EINPROGRESS);
	T_EQ(rte_comch_consumer_stop(c), -EBADFD);
	T_UNTIL(rte_comch_consumer_state(c) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(t_state_is(p.dpu, c, RTE_COMCH_STATE_IDLE));
	T_EQ(t_state_ev(p.dpu, c)->e.status, 0);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_CONSUMER_GONE, p.cconn) == 1);
	ev = t_find(p.host, RTE_COMCH_EVENT_CONSUMER_GONE, p.cconn, 0);
	T_EQ(ev->e.consumer.id, id);
	t_consumer_end(c);
	t_pair_close(&p);
}

/* A consumer that was never started is never announced. */
void
conf_dp_consumer_never_started(void)
{
	struct rte_comch_consumer *c;
	struct t_pair p;

	t_pair_open(&p, NULL);
	c = t_consumer_new(p.sconn, NULL, NULL);
	t_settle();
	t_consumer_end(c);
	t_settle();
	T_EQ(p.host->nb_evs, 0);
	T_EQ(p.dpu->nb_evs, 0);
	t_pair_close(&p);
}

void
conf_dp_ids(void)
{
	struct rte_comch_consumer *c;
	uint32_t id, last = 0;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	for (i = 0; i < 10; i++) {
		c = t_consumer_new(p.sconn, NULL, NULL);
		t_consumer_run(c);
		id = rte_comch_consumer_id(c);
		if (i == 0)
			T_EQ(id, 1);
		T_GT(id, last);
		last = id;
		T_UNTIL(t_knows_consumer(p.host, p.cconn, id));
		t_consumer_end(c);
	}
	/* The other side counts by itself. */
	c = t_consumer_new(p.cconn, NULL, NULL);
	t_consumer_run(c);
	T_EQ(rte_comch_consumer_id(c), 1);
	t_consumer_end(c);
	t_pair_close(&p);
}

/* CONSUMER_NEW goes before any control message that was sent later. */
void
conf_dp_new_before_message(void)
{
	const struct t_ev *new, *msg;
	struct rte_comch_consumer *c;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	for (i = 0; i < 20; i++) {
		t_forget(p.host);
		c = t_consumer_new(p.sconn, NULL, NULL);
		t_consumer_run(c);
		t_send(p.sconn, "go", 2, 0);
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL) == 1);
		new = t_find(p.host, RTE_COMCH_EVENT_CONSUMER_NEW, NULL, 0);
		msg = t_find(p.host, RTE_COMCH_EVENT_MSG, NULL, 0);
		T_CHECK(new != NULL);
		T_EQ(new->e.consumer.id, rte_comch_consumer_id(c));
		T_LT(t_pos(p.host, new), t_pos(p.host, msg));
		t_consumer_end(c);
	}
	t_pair_close(&p);
}
