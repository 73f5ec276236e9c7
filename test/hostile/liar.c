/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "liar.h"

#define MEM_LEN 65536

void
liar_begin(struct liar *l)
{
	memset(l, 0, sizeof(*l));
	v_open(&l->v, NULL);
	t_mem_new(&l->mem, RTE_COMCH_MEM_SEALED, MEM_LEN, 0);
	l->listener = raw_listen(t_dir(), "pf0", LIAR);
	/* That of the memory, and the listener's. */
	l->v.nb_fds += 2;
}

void
liar_end(struct liar *l)
{
	/* Some are closed by another thread. */
	T_UNTIL(t_fd_count() == l->v.nb_fds);
	close(l->listener);
	t_mem_free(&l->mem);
	l->v.nb_fds -= 2;
	v_close(&l->v);
}

void
liar_connect(struct liar *l)
{
	int sock;

	l->client = t_client_new(l->v.p.host, l->v.p.host_dev, LIAR, NULL);
	l->conn = NULL;
	l->cons = NULL;
	T_EQ(rte_comch_client_start(l->client), -EINPROGRESS);
	T_UNTIL((sock = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
	raw_prepare(&l->a, sock, RAW_CELLS);
}

void
liar_link(struct liar *l)
{
	struct raw_frame f;

	liar_connect(l);
	raw_hello(&l->a);
	T_UNTIL(raw_is_up(&l->a));
	v_hear(&l->a, &f, COMCH_WIRE_HELLO);
}

void
liar_up(struct liar *l)
{
	liar_link(l);
	raw_send_accept(&l->a, 4080, 64);
	T_UNTIL(t_state_is(l->v.p.host, l->client, RTE_COMCH_STATE_RUNNING));
	l->conn = rte_comch_client_conn(l->client);
	T_CHECK(l->conn != NULL);
}

void
liar_shown(struct liar *l)
{
	struct raw_frame f;

	liar_up(l);
	l->cons = t_consumer_new(l->conn, NULL, l->mem.mr);
	T_EQ(rte_comch_consumer_start(l->cons), -EINPROGRESS);
	v_hear(&l->a, &f, COMCH_WIRE_MR_ADD);
	raw_frame_free(&f);
}

void
liar_offered(struct liar *l)
{
	struct raw_frame f;

	liar_shown(l);
	raw_send_status(&l->a, COMCH_WIRE_MR_ACK, 0, 0, -1);
	v_hear(&l->a, &f, COMCH_WIRE_CONSUMER_NEW);
	raw_frame_free(&f);
}

bool
liar_is_over(const struct liar *l)
{
	if (l->conn != NULL)
		return t_count(l->v.p.host, RTE_COMCH_EVENT_DISCONNECTED, l->conn) > 0;
	return t_state_is(l->v.p.host, l->client, RTE_COMCH_STATE_IDLE);
}

int
liar_close(struct liar *l)
{
	const struct t_node *host = l->v.p.host;
	const struct t_ev *ev;
	int status;

	raw_close(&l->a);
	T_UNTIL(liar_is_over(l));
	if (l->cons != NULL)
		t_consumer_end(l->cons);
	T_UNTIL(t_state_is(host, l->client, RTE_COMCH_STATE_IDLE));
	ev = t_state_ev(host, l->client);
	status = ev->e.status;
	T_LT(status, 0);
	T_GE(strlen(ev->text), 1);
	if (l->conn != NULL)
		T_EQ(t_find(host, RTE_COMCH_EVENT_DISCONNECTED, l->conn, 0)->e.status, status);
	t_client_end(l->client);
	/* The honest one is not concerned. */
	t_no_end(host, l->v.p.cconn);
	t_forget(l->v.p.host);
	t_forget(l->v.p.dpu);
	return status;
}

void
liar_check_honest(struct liar *l)
{
	struct t_pair *p = &l->v.p;
	const unsigned int before = t_count(p->host, RTE_COMCH_EVENT_MSG, p->cconn);
	unsigned int i;

	T_UNTIL(t_offer(p->sconn, "honest", 6, 0, RTE_COMCH_MSG_F_SILENT));
	for (i = 0; t_count(p->host, RTE_COMCH_EVENT_MSG, p->cconn) == before; i++) {
		T_LT(i, LIAR_MAX_RUNS);
		t_step(p->host);
	}
	/* Its credit. */
	t_step(p->dpu);
}
