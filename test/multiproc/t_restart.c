/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A server's process ends and another takes its name, again and again. */

#include <unistd.h>

#include "mp.h"

#define NB_RESTARTS 20

static int
server(int fd, void *arg)
{
	bool stop = *(bool *)arg;
	struct mp_end e;
	uint32_t i = 0;

	mp_server_open(&e, NULL);
	t_say(fd, 'R', 0);
	e.conn = mp_server_accept(&e, 0);
	mp_count_up(e.conn, &i, 1);
	T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_MSG, NULL) == 1);
	T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_SENT, NULL) == 1);
	mp_hear(fd, 'E');
	if (!stop)
		_exit(0); /* without a disconnect */
	mp_close(&e);
	return 0;
}

static int
client(int fd, void *arg)
{
	unsigned int i, n = *(unsigned int *)arg;
	uint32_t next;
	struct mp_end e;

	memset(&e, 0, sizeof(e));
	for (i = 0; i < n; i++) {
		t_hear(fd, 'G');
		if (i == 0)
			mp_client_open(&e, NULL);
		else
			mp_client_connect(&e);
		next = 0;
		mp_count_up(e.conn, &next, 1);
		T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_MSG, NULL) == 1);
		T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_SENT, NULL) == 1);
		t_say(fd, 'M', 0);
		T_UNTIL(rte_comch_client_state(e.client) == RTE_COMCH_STATE_IDLE);
		T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
		t_forget(e.node);
		t_say(fd, 'I', 0);
	}
	mp_close(&e);
	return 0;
}

static void
restart(bool stop)
{
	unsigned int i, n = NB_RESTARTS;
	struct t_proc s, c;

	t_proc_start(&c, "client", client, &n);
	for (i = 0; i < n; i++) {
		t_proc_start(&s, "server", server, &stop);
		t_hear(s.fd, 'R');
		t_say(c.fd, 'G', 0);
		t_hear(c.fd, 'M');
		t_say(s.fd, 'E', 0);
		t_hear(c.fd, 'I');
		t_proc_join(&s);
	}
	t_proc_join(&c);
}

static void
stopped(void)
{
	restart(true);
}

static void
exited(void)
{
	restart(false);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "stopped", stopped },
		{ "exited", exited },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
