/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Another process connects without end, and does not go on from there. */

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attacks.h"
#include "victim.h"

V_SUITE(connects);

/* A loaded machine needs longer than the 200 ms that a quiet one may. */
#define MAX_CONNECT_MS (t_sanitized() ? 20000 : 5000)
#define NB_CONNECTS 20

static void
connect_once(struct victim *v)
{
	const uint64_t ns = t_own_ns();
	struct rte_comch_client *c;

	c = t_client_new(v->p.host, v->p.host_dev, V_NAME, NULL);
	T_EQ(rte_comch_client_start(c), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(c) == RTE_COMCH_STATE_RUNNING);
	T_TIME_LE(t_own_since(ns) / 1000000, MAX_CONNECT_MS);
	t_client_end(c);
	t_forget(v->p.dpu);
	t_forget(v->p.host);
}

static void
siege(const struct attack *attack)
{
	struct rte_comch_server_stats stats;
	struct t_step step;
	struct victim v;
	unsigned int i, k;
	struct t_proc p;
	struct t_log log;

	/* So it has 1,024 places. */
	T_CHECK(t_nofile_set(4096));
	v_open(&v, NULL);
	t_log_begin_at(&log, RTE_LOG_WARNING);
	t_proc_start(&p, attack->name, attack_run, (void *)(uintptr_t)attack);
	T_UNTIL(t_listen(p.fd, &step));
	for (i = 0; i < NB_CONNECTS; i++) {
		connect_once(&v);
		for (k = 0; k < 50; k++)
			v_trip(&v);
	}
	t_say(p.fd, 'E', 0);
	T_UNTIL(t_proc_has_ended(&p));
	t_proc_join(&p);
	t_log_stop(&log);
	T_EQ(rte_comch_server_stats_get(v.p.server, &stats), 0);
	if (!attack->lets_go)
		T_GT(stats.refused, 0);
	else
		T_EQ(stats.refused, 0);
	T_CHECK(attack->lets_go || strstr(log.text, "replaces the oldest handshake") != NULL);
	free(log.text);
	/*
	 * To receive what they greet with takes threads, which share the attacker's CPU and a
	 * lock with the victim: it may wait for one of them to run.
	 */
	if (!attack->greets)
		v_check_runs(&v);
	v_close(&v);
}

Test(connects, silent)
{
	siege(&attack_silent);
}

Test(connects, greets)
{
	siege(&attack_greets);
}

Test(connects, lets_go)
{
	siege(&attack_lets_go);
}

/* Another client of this process. Returns why it was refused, or an empty text. */
static const char *
try_connect(struct victim *v, struct rte_comch_client *c)
{
	T_EQ(rte_comch_client_start(c), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(c) != RTE_COMCH_STATE_STARTING &&
		t_state_ev(v->p.host, c) != NULL);
	return t_state_ev(v->p.host, c)->text;
}

/* A client of another process, and perhaps of another user: does it get in? */
static int
outsider(int fd, void *arg)
{
	const uid_t *uid = arg;
	struct raw_peer a = { .own_fd = -1 };
	struct raw_frame f;

	if (chdir(t_dir()) != 0 || setuid(*uid) != 0)
		return T_EXIT_SKIP;
	raw_open(&a, raw_dial(".", "pf0", V_NAME), RAW_CELLS);
	while (!raw_is_up(&a))
		usleep(1000);
	raw_send_hello(&a, V_NAME, 4080, 64);
	while (!raw_recv(&a, &f))
		usleep(1000);
	t_say(fd, f.type == COMCH_WIRE_ACCEPT ? 'Y' : 'N', 0);
	t_hear(fd, 'E');
	return 0;
}

static bool
lets_in(struct t_proc *p, uid_t uid)
{
	struct t_step step;

	t_proc_start(p, "outsider", outsider, &uid);
	T_UNTIL(t_listen(p->fd, &step));
	return step.code == 'Y';
}

static void
leave(struct t_proc *p)
{
	t_say(p->fd, 'E', 0);
	t_proc_join(p);
}

/* One process cannot have all places, nor can one user. */
Test(connects, reserve)
{
	const struct t_pair_conf conf = { .server.max_clients = 32, .server.reserve = 2 };
	struct rte_comch_client *c[30];
	struct t_proc same, other[2];
	struct victim v;
	char path[PATH_MAX];
	unsigned int i;

	if (geteuid() != 0)
		t_skip("only root can be another user");
	v_open(&v, &conf);
	T_EQ(chmod(t_dir(), 0711), 0);
	snprintf(path, sizeof(path), "%s/pf0", t_dir());
	T_EQ(chmod(path, 0711), 0);
	for (i = 0; i < RTE_DIM(c); i++) {
		c[i] = t_client_new(v.p.host, v.p.host_dev, V_NAME, NULL);
		T_STR_HAS(try_connect(&v, c[i]), i < 29 ? "" : "other processes");
	}
	T_CHECK(lets_in(&same, 0));
	T_CHECK(!lets_in(&other[0], 0));
	leave(&other[0]);
	T_CHECK(lets_in(&other[0], 65534));
	T_CHECK(!lets_in(&other[1], 65533));
	leave(&other[1]);
	leave(&other[0]);
	leave(&same);
	for (i = 0; i < RTE_DIM(c); i++)
		t_client_end(c[i]);
	v_close(&v);
}
