/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boss.h"
#include "world.h"

#define TICK_US 2000
/* Limit until all are idle or have ended. */
#define REST_MS 60000

/** What happens in a phase. */
struct phase {
	const char *name;
	uint32_t kill_server; /* weights */
	uint32_t kill_client;
	uint32_t stall;
	uint32_t quit;
};

static const struct phase phases[] = {
	{ "calm", 0, 0, 0, 0 },
	{ "clients are killed", 0, 4, 0, 0 },
	{ "the server is killed", 4, 0, 0, 0 },
	{ "stalls", 0, 0, 4, 0 },
	{ "stalls, clients are killed", 0, 3, 2, 0 },
	{ "all", 1, 3, 2, 2 },
};

struct boss {
	const struct soak_options *o;
	struct soak_books *books;
	struct worker workers[SOAK_PROCS];
	uint32_t nb_workers;
	struct soak_rnd rnd;
	uint64_t begin_ms;
	uint64_t judge_ms;
	uint32_t nb_phases;
	uint32_t nb_kills, nb_stalls, nb_quits;
	uint64_t nb_rests;
	struct soak_figures base; /* of a world that does not count each */
};

static volatile sig_atomic_t is_interrupted;

static void
interrupt(int sig)
{
	is_interrupted = sig;
}

static void
worker_start(struct boss *boss, uint32_t i)
{
	struct worker *w = &boss->workers[i];
	struct soak_proc *p = &boss->books->procs[i];

	p->life++;
	p->nb_rests = 0;
	soak_set(&p->is_resting, 0);
	soak_set(&p->is_open, 0);
	soak_set(&p->is_stopped, 0);
	soak_set(&p->is_killed, 0);
	soak_set(&p->is_dead, 0);
	soak_set(&p->is_buried, 0);
	soak_set(&p->has_ended, 0);
	soak_set(&p->order, SOAK_GO);
	soak_world.start(w);
	w->is_running = true;
	w->cont_ms = 0;
}

static void
worker_gone(struct boss *boss, uint32_t i, uint32_t pause_ms)
{
	struct worker *w = &boss->workers[i];

	soak_set(&boss->books->procs[i].pid, 0);
	w->is_running = false;
	w->start_ms = t_now_ms() + pause_ms;
}

static void
worker_kill(struct boss *boss, uint32_t i)
{
	struct worker *w = &boss->workers[i];

	if (!w->is_running)
		return;
	soak_world.kill(w, &boss->rnd);
	w->dying_ms = t_now_ms();
	boss->nb_kills++;
	worker_gone(boss, i, soak_rnd_one_in(&boss->rnd, 2) ? 0 :
		soak_rnd_below(&boss->rnd, 300));
}

static void
worker_stall(struct boss *boss, uint32_t i)
{
	struct worker *w = &boss->workers[i];
	uint32_t ms;

	if (!w->is_running || w->cont_ms != 0)
		return;
	soak_world.stop(w);
	/* The library gives a peer a second. */
	ms = soak_rnd_one_in(&boss->rnd, 6) ? 2500 : 200;
	w->cont_ms = t_now_ms() + 1 + soak_rnd_below(&boss->rnd, ms);
	boss->nb_stalls++;
}

static void
worker_order(struct boss *boss, uint32_t i, enum soak_order order)
{
	soak_set(&boss->books->procs[i].order, order);
	/* It may sleep. */
	if (boss->workers[i].is_running)
		send(boss->workers[i].proc.fd, "k", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Are the resources of a killed actor released? */
static bool
worker_is_gone(struct boss *boss, uint32_t i)
{
	struct worker *w = &boss->workers[i];

	if (w->dying_ms == 0)
		return true;
	if (soak_world.is_gone(w)) {
		w->dying_ms = 0;
		return true;
	}
	if (t_now_ms() > w->dying_ms + REST_MS * t_patience()) {
		soak_fault(boss->books, "%s was killed and its resources were not released",
			w->name);
		is_interrupted = SIGALRM;
	}
	return false;
}

/* Once round: ended ones, stopped ones, ended connections. */
static void
tick(struct boss *boss, bool may_start)
{
	const uint64_t now = t_now_ms();
	struct worker *w;
	uint32_t i;

	for (i = 0; i < boss->nb_workers; i++) {
		w = &boss->workers[i];
		if (w->is_running && soak_world.has_ended(w))
			worker_gone(boss, i, 0);
		else if (!w->is_running && worker_is_gone(boss, i) && may_start &&
				w->start_ms <= now)
			worker_start(boss, i);
		if (!w->is_running || w->cont_ms == 0)
			continue;
		if (w->cont_ms <= now) {
			soak_world.cont(w);
			w->cont_ms = 0;
		}
	}
	if (boss->judge_ms + 20 <= now) {
		boss->judge_ms = now;
		judge_all(boss->books);
	}
	journal_faults(boss->books);
	usleep(TICK_US);
}

static void
act(struct boss *boss, const struct phase *ph)
{
	const uint32_t client = 1 + soak_rnd_below(&boss->rnd, boss->nb_workers - 1);
	const uint32_t any = soak_rnd_below(&boss->rnd, boss->nb_workers);
	uint32_t x;

	x = soak_rnd_below(&boss->rnd, ph->kill_server + ph->kill_client + ph->stall + ph->quit);
	if (x < ph->kill_server) {
		worker_kill(boss, 0);
	} else if (x < ph->kill_server + ph->kill_client) {
		worker_kill(boss, client);
	} else if (x < ph->kill_server + ph->kill_client + ph->stall) {
		worker_stall(boss, any);
	} else {
		worker_order(boss, any, SOAK_QUIT);
		boss->nb_quits++;
	}
}

/* More kills were asked for than there have been in this part of the time. */
static bool
is_behind(const struct boss *boss)
{
	return (uint64_t)boss->nb_kills * boss->o->seconds * 1000 <
		(t_now_ms() - boss->begin_ms) * (uint64_t)boss->o->kills;
}

/* Milliseconds until the next action. */
static uint32_t
act_pause(struct boss *boss)
{
	uint64_t mean = 400;

	/* Rests take time, too. */
	if (boss->nb_kills < boss->o->kills)
		mean = RTE_MIN(mean, boss->o->seconds * UINT64_C(1000) / boss->o->kills / 3);
	return (uint32_t)soak_rnd_below(&boss->rnd, (uint32_t)(2 * mean) + 1);
}

static bool
all_rest(const struct boss *boss)
{
	uint32_t i;

	for (i = 0; i < boss->nb_workers; i++)
		if (!boss->workers[i].is_running ||
				soak_get(&boss->books->procs[i].is_resting) == 0)
			return false;
	return true;
}

static void
measure_step(void *arg)
{
	RTE_SET_USED(arg);
	usleep(TICK_US);
}

/* All actors are one process: check its resources. */
static void
measure(struct boss *boss)
{
	struct soak_figures now;
	const char *more;
	char text[200];

	more = figures_settle(&boss->base, boss->nb_rests == 0, &now, measure_step, NULL);
	if (more == NULL)
		return;
	figures_text(text, sizeof(text), &boss->base, &now);
	soak_fault(boss->books, "idle resources grew: %s: %s", more, text);
}

/* Each actor ends its connections. Resources are compared with those before. */
static void
rest(struct boss *boss)
{
	const uint32_t first = soak_rnd_below(&boss->rnd, 2);
	const uint64_t deadline = t_now_ms() + REST_MS * t_patience();
	uint64_t second = t_now_ms() + soak_rnd_below(&boss->rnd, 100);
	uint32_t i;

	/* One that quits ends first, and is started again: below. */
	for (i = 0; i < boss->nb_workers; i++)
		if ((i == 0) == (first == 0) && boss->books->procs[i].order == SOAK_GO)
			worker_order(boss, i, SOAK_REST);
	while (t_now_ms() < second)
		tick(boss, true);
	while (!all_rest(boss) || judge_left(boss->books) > 0) {
		for (i = 0; i < boss->nb_workers; i++)
			if (boss->workers[i].is_running &&
					boss->books->procs[i].order == SOAK_GO)
				worker_order(boss, i, SOAK_REST);
		tick(boss, true);
		if (t_now_ms() < deadline)
			continue;
		for (i = 0; i < boss->nb_workers; i++)
			if (soak_get(&boss->books->procs[i].is_resting) == 0)
				soak_fault(boss->books, "%s does not become idle",
					boss->workers[i].name);
		soak_fault(boss->books, "%u connections are left", judge_left(boss->books));
		is_interrupted = SIGALRM;
		return;
	}
	if (!soak_world.counts_each)
		measure(boss);
	boss->nb_rests += boss->nb_workers;
}

/* The actors go on counting. */
static struct soak_counts
counts_get(struct soak_books *b)
{
	struct soak_counts c;
	uint64_t *to = (uint64_t *)&c, *from = (uint64_t *)&b->counts;
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(*to); i++)
		to[i] = soak_get(&from[i]);
	return c;
}

static void
phase_run(struct boss *boss, const struct phase *ph)
{
	const struct soak_counts before = counts_get(boss->books);
	const uint64_t begin = t_now_ms(), passed = judge_passed();
	const uint32_t kills = boss->nb_kills, stalls = boss->nb_stalls, quits = boss->nb_quits;
	const bool acts = ph->kill_server + ph->kill_client + ph->stall + ph->quit > 0;
	const char *faults = soak_world.draw == NULL ? "" : soak_world.draw(&boss->rnd);
	struct soak_counts c;
	uint64_t end, next;
	uint32_t i;

	/* They rest, so that no message meets two kinds of faults. */
	for (i = 0; i < boss->nb_workers; i++)
		worker_order(boss, i, SOAK_GO);
	end = begin + 500 + soak_rnd_below(&boss->rnd, RTE_MIN(boss->o->seconds * 100, 5000U));
	next = begin + act_pause(boss);
	while (t_now_ms() < end && is_interrupted == 0) {
		if (acts && next <= t_now_ms()) {
			act(boss, ph);
			next = t_now_ms() + act_pause(boss);
		}
		tick(boss, true);
		c = counts_get(boss->books);
		journal_progress("%llu s, phase %u (%s), %u kills, %llu connections, %llu messages",
			(unsigned long long)((t_now_ms() - boss->begin_ms) / 1000),
			boss->nb_phases, ph->name, boss->nb_kills,
			(unsigned long long)judge_passed(),
			(unsigned long long)(c.ctrl + c.data));
	}
	rest(boss);
	c = counts_get(boss->books);
	journal_line("seed %llu, phase %u, %s%s, %.1f s: %u kills, %u stalls, %u quits, "
		"%llu connections, %llu control messages, %llu fast messages, %.1f MB, "
		"%u failures", (unsigned long long)boss->books->seed, boss->nb_phases, ph->name,
		faults, (double)(t_now_ms() - begin) / 1000, boss->nb_kills - kills,
		boss->nb_stalls - stalls, boss->nb_quits - quits,
		(unsigned long long)(judge_passed() - passed),
		(unsigned long long)(c.ctrl - before.ctrl),
		(unsigned long long)(c.data - before.data),
		(double)(c.bytes - before.bytes) / 1e6, soak_get(&boss->books->nb_faults));
	boss->nb_phases++;
}

/* All end by themselves. */
static void
quit(struct boss *boss)
{
	const uint64_t deadline = t_now_ms() + REST_MS * t_patience();
	uint32_t i, left;

	do {
		left = 0;
		for (i = 0; i < boss->nb_workers; i++) {
			left += boss->workers[i].is_running || boss->workers[i].dying_ms != 0;
			worker_order(boss, i, SOAK_QUIT);
		}
		tick(boss, false);
	} while (left > 0 && t_now_ms() < deadline);
	for (i = 0; i < boss->nb_workers; i++) {
		if (!boss->workers[i].is_running)
			continue;
		soak_fault(boss->books, "%s does not end", boss->workers[i].name);
		worker_kill(boss, i);
	}
	judge_all(boss->books);
}

static void
boss_open(struct boss *boss, const struct soak_options *o)
{
	uint32_t i;

	memset(boss, 0, sizeof(*boss));
	boss->o = o;
	boss->books = soak_books_new(o->seed);
	boss->nb_workers = 1 + o->clients;
	boss->books->nb_procs = boss->nb_workers;
	boss->rnd.state = o->seed;
	boss->begin_ms = t_now_ms();
	for (i = 0; i < boss->nb_workers; i++) {
		boss->workers[i].conf.books = boss->books;
		boss->workers[i].conf.number = i;
		boss->workers[i].conf.name = "soak";
		snprintf(boss->workers[i].name, sizeof(boss->workers[i].name),
			i == 0 ? "server" : "client %u", i);
	}
	/* Before the first fork: all share it. */
	t_dir();
	soak_world.open(boss->books);
}

static bool
is_over(const struct boss *boss)
{
	const uint64_t lasted = t_now_ms() - boss->begin_ms;

	if (is_interrupted != 0 || soak_get(&boss->books->nb_faults) >= SOAK_FAULTS / 2)
		return true;
	/* A machine with much else to do gets longer to connect for once. */
	if (judge_passed() == 0 && lasted < 10 * boss->o->seconds * UINT64_C(1000))
		return false;
	return lasted >= boss->o->seconds * UINT64_C(1000) && boss->nb_kills >= boss->o->kills;
}

int
soak_run(const struct soak_options *o)
{
	const struct phase *ph;
	struct soak_counts *c;
	static struct boss boss;
	uint32_t failed;

	boss_open(&boss, o);
	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	c = &boss.books->counts;
	while (!is_over(&boss)) {
		ph = &phases[soak_rnd_below(&boss.rnd, RTE_DIM(phases))];
		if (ph->kill_client + ph->kill_server == 0 && boss.nb_kills < o->kills &&
				is_behind(&boss))
			continue;
		phase_run(&boss, ph);
	}
	quit(&boss);
	soak_world.close(boss.books);
	journal_faults(boss.books);
	t_dir_remove();
	journal_line("seed %llu, %.0f s, %u phases: %u kills, %u stalls, %u quits; %llu "
		"connections, %llu connects refused, %llu orphans; %llu consumers (%llu not "
		"started), %llu producers; %llu control messages, %llu fast messages (%llu "
		"failed), %.1f MB; %llu sleeps", (unsigned long long)o->seed,
		(double)(t_now_ms() - boss.begin_ms) / 1000, boss.nb_phases, boss.nb_kills,
		boss.nb_stalls, boss.nb_quits, (unsigned long long)judge_passed(),
		(unsigned long long)c->refused, (unsigned long long)c->orphans,
		(unsigned long long)c->consumers, (unsigned long long)c->not_started,
		(unsigned long long)c->producers, (unsigned long long)c->ctrl,
		(unsigned long long)c->data, (unsigned long long)c->failed_ops,
		(double)c->bytes / 1e6, (unsigned long long)c->sleeps);
	failed = soak_get(&boss.books->nb_faults);
	printf("%llu passed, %u failed, 0 skipped\n",
		(unsigned long long)(judge_passed() + boss.nb_rests), failed);
	return failed == 0 && judge_passed() > 0 ? 0 : 1;
}
