/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The server, an honest client that is connected, and one that connects again and again. */

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_log.h>

#include "siege.h"
#include "t_pair.h"

/* Runs without a message before each: the honest client has become an idle one. */
#define IDLE_RUNS 100
/* Events of a run: a server whose clients want answers soon asks for few. */
#define BURST 16
/* Messages between two connects. */
#define TRIPS 50
/* An honest client may wait this long; then it gives up. */
#define MAX_WAIT_MS 20000

struct watch {
	struct t_pair p;
	struct figures *f;
	struct times trip, connect, run;
	/* The longest run of this millisecond. */
	uint64_t ms_end, ms_cycles, ms_wait;
	/* What the server has seen; not kept as the nodes of tests do, which takes longer. */
	unsigned int nb_msgs;    /* of the honest client */
	unsigned int nb_ended;   /* connections */
	bool is_cut;             /* the honest client's connection */
};

/* By an honest client; those of attackers are longer. */
static bool
is_asked(const struct rte_comch_event *e)
{
	return e->msg.len == sizeof(ASK) && memcmp(e->msg.data, ASK, sizeof(ASK)) == 0;
}

static void
serve(struct watch *w)
{
	struct rte_comch_event evs[BURST];
	uint16_t i, n = rte_comch_poll_run(w->p.dpu->poll, evs, BURST);

	for (i = 0; i < n; i++) {
		if (evs[i].type == RTE_COMCH_EVENT_MSG) {
			w->nb_msgs += evs[i].conn == w->p.sconn;
			if (is_asked(&evs[i]))
				t_send(evs[i].conn, ASK, sizeof(ASK), 0);
		} else if (evs[i].type == RTE_COMCH_EVENT_DISCONNECTED) {
			w->nb_ended++;
			w->is_cut |= evs[i].conn == w->p.sconn;
		}
	}
}

/* One run of the server. */
static void
run_server(struct watch *w)
{
	uint64_t begin = rte_rdtsc(), now, ns, wait;

	serve(w);
	now = rte_rdtsc();
	w->ms_cycles = RTE_MAX(w->ms_cycles, now - begin);
	if (now < w->ms_end)
		return;
	wait = t_cpu_wait_ns();
	ns = times_ns_of(w->ms_cycles);
	times_add(&w->run, ns - RTE_MIN(ns, wait - w->ms_wait));
	w->ms_wait = wait;
	w->ms_cycles = 0;
	w->ms_end = rte_rdtsc() + rte_get_tsc_hz() / 1000;
}

static void
forget(struct watch *w)
{
	w->f->nb_cut += w->is_cut ||
		t_count(w->p.host, RTE_COMCH_EVENT_DISCONNECTED, w->p.cconn) > 0;
	w->is_cut = false;
	t_forget(w->p.host);
	/* What it served while the client that connects was destroyed. */
	w->nb_ended += t_count(w->p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL);
	t_forget(w->p.dpu);
}

/* A message to the server, which has not heard of this client for a while. */
static void
trip(struct watch *w)
{
	const uint64_t end = t_now_ms() + MAX_WAIT_MS;
	unsigned int i, seen;
	struct span s;

	for (i = 0; i < IDLE_RUNS; i++) {
		run_server(w);
		forget(w);
	}
	seen = w->nb_msgs;
	s = span_begin();
	t_send(w->p.cconn, "trip", 4, 0);
	while (w->nb_msgs == seen && !w->is_cut && t_now_ms() < end)
		run_server(w);
	times_add(&w->trip, span_end(&s));
	t_step(w->p.host);
	forget(w);
}

static void
connect_once(struct watch *w)
{
	const uint64_t end = t_now_ms() + MAX_WAIT_MS;
	struct rte_comch_client *c;
	struct span s;

	c = t_client_new(w->p.host, w->p.host_dev, V_NAME, NULL);
	s = span_begin();
	T_EQ(rte_comch_client_start(c), -EINPROGRESS);
	while (rte_comch_client_state(c) == RTE_COMCH_STATE_STARTING && t_now_ms() < end) {
		run_server(w);
		t_step(w->p.host);
	}
	times_add(&w->connect, span_end(&s));
	if (rte_comch_client_state(c) != RTE_COMCH_STATE_RUNNING)
		w->f->nb_refused++;
	t_client_end(c);
	forget(w);
}

static uint32_t
count_lines(const char *text)
{
	uint32_t n = 0;

	for (text = strchr(text, '\n'); text != NULL; text = strchr(text + 1, '\n'))
		n++;
	return n;
}

static void
watch(struct watch *w, struct figures *f, unsigned int seconds)
{
	char *text = NULL;
	uint64_t end;
	size_t size;
	unsigned int i, honest;
	FILE *log;

	*f = (struct figures){ 0 };
	w->f = f;
	w->nb_ended = 0;
	w->trip.nb = w->connect.nb = w->run.nb = 0;
	log = open_memstream(&text, &size);
	T_CHECK(log != NULL);
	T_EQ(rte_openlog_stream(log), 0);
	end = t_now_ms() + UINT64_C(1000) * seconds;
	while (t_now_ms() < end) {
		for (i = 0; i < TRIPS && t_now_ms() < end; i++)
			trip(w);
		connect_once(w);
	}
	T_EQ(rte_openlog_stream(NULL), 0);
	fclose(log);
	f->nb_lines = count_lines(text);
	if (getenv("T_LOG") != NULL)
		fputs(text, stderr);
	free(text);
	times_sort(&w->trip);
	times_sort(&w->connect);
	times_sort(&w->run);
	f->trip_p50 = times_at(&w->trip, 500);
	f->trip_p99 = times_at(&w->trip, 990);
	f->trip_p999 = times_at(&w->trip, 999);
	f->connect_p50 = times_at(&w->connect, 500);
	f->connect_p999 = times_at(&w->connect, 999);
	f->run_p999 = times_at(&w->run, 999);
	f->nb_trips = w->trip.nb;
	f->nb_connects = w->connect.nb;
	/* Without those of the client that connects, the last of which may not be over yet. */
	honest = f->nb_connects - f->nb_refused;
	f->nb_ended = w->nb_ended - RTE_MIN(w->nb_ended, honest);
}

void
siege_driver(void)
{
	static const struct t_driver driver_shm = {
		.name = "comch_shm", .has_dir = true, .has_kernel_peer = true,
	};

	t_driver = &driver_shm;
}

void
siege_pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	T_EQ(pthread_setaffinity_np(pthread_self(), sizeof(set), &set), 0);
}

/* Until the director says more. The time is looked at now and then only: that takes longer. */
static void
serve_only(struct watch *w, int fd, struct figures *f)
{
	struct t_step step;
	unsigned int i;

	*f = (struct figures){ 0 };
	w->f = f;
	do {
		for (i = 0; i < 1000; i++)
			run_server(w);
		forget(w);
	} while (!t_listen(fd, &step));
	times_sort(&w->run);
	f->run_p999 = times_at(&w->run, 999);
}

int
victim_run(int fd, const struct conf *conf, struct figures *alone, struct figures *f)
{
	const struct t_pair_conf pair = {
		.name = V_NAME, .server.max_clients = 4096,
	};
	struct watch w = { 0 };
	struct t_step step;

	siege_driver();
	T_CHECK(t_nofile_set(conf->nofile));
	t_eal_start(1);
	rte_log_set_level_pattern("*comch*", RTE_LOG_WARNING);
	rte_log_set_global_level(RTE_LOG_WARNING);
	siege_pin(conf->cpu);
	t_pair_open(&w.p, &pair);
	if (conf->asks) {
		t_say(fd, 'A', 0);
		serve_only(&w, fd, f);
	} else {
		watch(&w, alone, 1);
		t_say(fd, 'A', 0);
		/* The attacker needs a server that runs. */
		T_UNTIL(t_listen(fd, &step));
		watch(&w, f, conf->seconds);
	}
	t_say(fd, 'E', 0);
	/* No orderly end: the attacker is still there. */
	free(w.trip.ns);
	free(w.connect.ns);
	free(w.run.ns);
	return 0;
}
