/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Clients that connect and say nothing: what they cost, in runs and system calls. */

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t_log.h"
#include "victim.h"

V_SUITE(dials);

#define NB_FILES 1024
#define NB_PLACES (NB_FILES / 4)
/* Clients that a scan of a server accepts at most. */
#define ACCEPT_BURST 64

/* Calls, and those that took a client. */
static unsigned int nb_accepts, nb_accepted;

/* Instead of libc's. */
int
accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	const int sock = (int)syscall(SYS_accept4, fd, addr, len, flags);

	nb_accepts++;
	nb_accepted += sock >= 0;
	return sock;
}

/* What the kernel's limit of mappings is for this library; 0: what it is. */
static unsigned int max_maps;

/* Instead of libc's. */
FILE *
fopen(const char *path, const char *mode)
{
	FILE *(*next)(const char *path, const char *mode);
	static char text[16];

	*(void **)&next = dlsym(RTLD_NEXT, "fopen");
	if (max_maps == 0 || strcmp(path, "/proc/sys/vm/max_map_count") != 0)
		return next(path, mode);
	snprintf(text, sizeof(text), "%u\n", max_maps);
	return fmemopen(text, strlen(text), mode);
}

static struct raw_peer
dial(void)
{
	return (struct raw_peer){ .sock = v_dial(), .own_fd = -1 };
}

static void
connect_one(struct victim *v)
{
	struct rte_comch_client *c = t_client_new(v->p.host, v->p.host_dev, V_NAME, NULL);

	T_EQ(rte_comch_client_start(c), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(c) == RTE_COMCH_STATE_RUNNING);
	t_client_end(c);
}

/* More of them than the server has places for: one connects all the same. */
Test(dials, half_open_flood)
{
	enum { NB = NB_PLACES + 50 };
	struct rte_comch_server_stats stats;
	struct raw_peer a[NB];
	struct victim v;
	unsigned int i, nb_lost = 0;

	T_CHECK(t_nofile_set(NB_FILES));
	v_open(&v, NULL);
	for (i = 0; i < NB; i++) {
		a[i] = dial();
		v_trip(&v);
	}
	v_check(&v);
	connect_one(&v);
	T_EQ(rte_comch_server_stats_get(v.p.server, &stats), 0);
	for (i = 0; i < NB; i++) {
		nb_lost += raw_is_hung_up(&a[i]);
		raw_close(&a[i]);
	}
	/* The others still have their places. */
	T_EQ(stats.refused, nb_lost);
	T_GE(nb_lost, NB - NB_PLACES);
	T_LE(nb_lost, NB - NB_PLACES + 1);
	v_check_runs(&v);
	v_close(&v);
}

/* All places are taken, and each that is lost is asked for again, for as long as it likes. */
Test(dials, renewed)
{
	enum { NB = NB_PLACES + 50, NB_ROUNDS = 50, NB_RENEWED = 16 };
	struct raw_peer a[NB];
	struct victim v;
	unsigned int i, k, next = 0;

	T_CHECK(t_nofile_set(NB_FILES));
	v_open(&v, NULL);
	for (i = 0; i < NB; i++) {
		a[i] = dial();
		v_run(&v);
	}
	for (i = 0; i < NB_ROUNDS; i++) {
		for (k = 0; k < NB_RENEWED; k++) {
			raw_close(&a[next]);
			a[next] = dial();
			next = (next + 1) % NB;
		}
		v_trip(&v);
		if (i % 10 == 0)
			connect_one(&v);
		t_forget(v.p.dpu);
		t_forget(v.p.host);
	}
	for (i = 0; i < NB; i++)
		raw_close(&a[i]);
	v_check_runs(&v);
	v_close(&v);
}

/* However many come between two runs, a run accepts few, and the honest client is heard. */
Test(dials, few_in_a_run)
{
	enum { NB = 200, NB_ROUNDS = 5 };
	unsigned int i, k, most = 0;
	struct raw_peer a[NB];
	struct victim v;

	T_CHECK(t_nofile_set(NB_FILES));
	v_open(&v, NULL);
	for (k = 0; k < NB_ROUNDS; k++) {
		for (i = 0; i < NB; i++)
			a[i] = dial();
		nb_accepted = 0;
		while (nb_accepted < NB) {
			nb_accepts = 0;
			v_run(&v);
			most = RTE_MAX(most, nb_accepts);
			v_trip(&v);
		}
		for (i = 0; i < NB; i++)
			raw_close(&a[i]);
		t_settle();
		t_forget(v.p.dpu);
	}
	fprintf(stderr, "up to %u accept4() in a run\n", most);
	T_LE(most, ACCEPT_BURST);
	v_check_runs(&v);
	v_close(&v);
}

/* A link has a mapping of the peer's memory, of which the peer has a share. */
Test(dials, share_of_mappings)
{
	/* 20 are for peers. One may have 16: 4 times what is left, and 17 would be 5.7 times. */
	enum { NB_MAPS = 60, NB_LINKS = 16 - 5 /* of the honest pair */ };
	struct raw_peer a[NB_LINKS], late;
	struct victim v;
	struct t_log log;
	unsigned int i;

	max_maps = NB_MAPS;
	v_open(&v, NULL);
	for (i = 0; i < NB_LINKS; i++)
		v_link(&a[i], RAW_CELLS);
	t_log_begin(&log);
	raw_open(&late, v_dial(), RAW_CELLS);
	v_expect_hangup(&late);
	raw_close(&late);
	t_log_end(&log, "peer has used up its share of this process's mappings");
	v_check(&v);
	/* One for one. */
	for (i = 0; i < 5; i++) {
		raw_close(&a[i]);
		t_settle();
		v_link(&a[i], RAW_CELLS);
	}
	for (i = 0; i < NB_LINKS; i++)
		raw_close(&a[i]);
	t_settle();
	connect_one(&v);
	v_close(&v);
}
