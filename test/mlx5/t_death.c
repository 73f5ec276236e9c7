/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Kills one side of a connection after any step of its life, half of the time with a DREQ of its
 * kernel, otherwise silently. Messages that the other side accepted complete, its other
 * connection is served, nothing leaks.
 *
 * T_DEATHS=1000: number of deaths per side; T_SEED repeats the choice of steps; T_STEP=1886: only
 * this step.
 */

#include <time.h>
#include <unistd.h>

#include "life.h"
#include "t_figures.h"
#include "t_main.h"
#include "u_driver.h"

#define NB_DEATHS 20
/* The shortest time that the driver accepts is 100 ms. */
#define DEAD_MS 200
#define SETTLED_MS 5000

struct world {
	struct t_pair pair;     /* undisturbed */
	struct t_flow flow;
	uint64_t seed;
	struct t_figures figures;
	unsigned int live[FV_NB_KINDS];
	unsigned int nb_steps;  /* of an undisturbed life */
};

/* The other pair has addresses of its own: the life's ends are at 10.0.0.1 and 10.0.1.1. */
static void
args(char *buf, size_t size, const char *args)
{
	if (strstr(args, "pf1") == NULL)
		u_driver.args(buf, size, args);
	else if (strstr(args, "role=dpu") != NULL)
		snprintf(buf, size, "role=dpu,rep=pf1@10.0.1.2,dev=fv0,gid=8");
	else
		snprintf(buf, size, "role=host,func=pf1,dev=fv1,peer=10.0.0.2,gid=6");
}

static void
serve(struct world *w)
{
	struct t_pair *p = &w->pair;

	t_forget(p->dpu);
	t_forget(p->host);
	T_UNTIL(t_offer(p->cconn, &w->seed, sizeof(w->seed), w->seed, 0));
	T_UNTIL(t_offer(p->sconn, &w->seed, sizeof(w->seed), w->seed, 0));
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_MSG, NULL) == 1 &&
		t_count(p->host, RTE_COMCH_EVENT_MSG, NULL) == 1);
	t_flow_once(&w->flow, (uint32_t)(1 + w->seed * 7919 % w->flow.dst.len), w->seed);
	w->seed++;
}

static bool
is_gone(void)
{
	bool gone;

	fv_death_steps(&gone);
	return gone;
}

/* A life, and the step at which an end of it is gone. */
static int
live(bool heap, const char *addr, unsigned int nth, bool hangs_up)
{
	const struct life_conf conf = {
		.kind = heap ? RTE_COMCH_MEM_HEAP : RTE_COMCH_MEM_SEALED, .mbufs = true,
		.gives_up = is_gone,
	};
	const char *step = "";
	int ret;

	fv_death_at(addr, nth, hangs_up);
	ret = life_run(&conf, &step);
	if (ret != 0 && !is_gone())
		T_FAIL("%s: %d, without a death", step, ret);
	return ret;
}

static bool
same_live(const struct world *w)
{
	enum fv_kind k;

	for (k = 0; k < FV_NB_KINDS; k++)
		if (fv_nb_live(k) != w->live[k])
			return false;
	return true;
}

static void
bury(struct world *w)
{
	const uint64_t end = t_now_ms() + SETTLED_MS * t_patience();
	enum fv_kind k;

	serve(w);
	fv_death_at(NULL, 0, false);
	t_forget(w->pair.dpu);
	t_forget(w->pair.host);
	/* The driver's thread destroys some of it. */
	while (!same_live(w) && t_now_ms() < end)
		t_step_all();
	for (k = 0; k < FV_NB_KINDS; k++)
		if (fv_nb_live(k) != w->live[k])
			T_FAIL("kind %d of verbs: %u, not %u", (int)k, fv_nb_live(k), w->live[k]);
	t_figures_wait(&w->figures);
}

static void
begin(struct world *w)
{
	static struct t_driver driver;
	struct t_pair *p = &w->pair;
	enum fv_kind k;
	bool gone;

	driver = u_driver;
	driver.args = args;
	t_driver = &driver;
	u_dead_ms = DEAD_MS;
	t_eal_start(1);
	p->dpu = t_node_new();
	p->host = t_node_new();
	p->dpu_dev = t_dev_open(2, "role=dpu,rep=pf1");
	p->host_dev = t_dev_open(3, "role=host,func=pf1");
	p->server = t_server_new(p->dpu, p->dpu_dev, "other", 0, NULL);
	p->client = t_client_new(p->host, p->host_dev, "other", NULL);
	t_pair_connect(p);
	t_flow_open(&w->flow, p, NULL);
	serve(w);
	t_figures_begin();
	T_EQ(live(false, NULL, 0, false), 0);
	w->nb_steps = fv_death_steps(&gone);
	/* Memory is registered when it is first used. */
	serve(w);
	serve(w);
	t_settle();
	w->figures = t_figures_least();
	for (k = 0; k < FV_NB_KINDS; k++)
		w->live[k] = fv_nb_live(k);
}

static void
end(struct world *w)
{
	t_flow_close(&w->flow);
	t_pair_close(&w->pair);
	T_EQ(fv_nb_live(FV_ALL), 0);
	fv_reset();
	t_eal_stop();
}

static void
deaths(struct world *w, const char *addr)
{
	const unsigned int nb = (unsigned int)t_env_number("T_DEATHS", NB_DEATHS);
	const unsigned int seed = (unsigned int)t_env_number("T_SEED", (uint64_t)time(NULL));
	unsigned int i, nth, nb_cut_short = 0;
	int ret;

	/* A case of t_main.c has less time than a long run needs. */
	alarm((120 + nb * 3) * t_patience());
	printf("   T_DEATHS=%u T_SEED=%u, %u steps\n", nb, seed, w->nb_steps);
	for (i = 0; i < nb; i++) {
		nth = 1 + (unsigned int)((seed + (uint64_t)i * w->nb_steps / nb) % w->nb_steps);
		nth = (unsigned int)t_env_number("T_STEP", nth);
		printf("   step %u, %s", nth, i % 2 == 0 ? "DREQ" : "silence");
		fflush(stdout);
		ret = live(i / 2 % 2 == 1, addr, nth, i % 2 == 0);
		printf(": %d\n", ret);
		nb_cut_short += ret != 0;
		bury(w);
	}
	T_GT(nb_cut_short, 0);
}

T_CASE_OF(struct world, begin, end, client_dies, w)
{
	deaths(w, "10.0.1.1");
}

T_CASE_OF(struct world, begin, end, server_dies, w)
{
	deaths(w, "10.0.0.1");
}
