/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Kills one side at system calls of its life (entry and exit) and at instructions, half of the
 * time after a stop. Delivered messages have arrived, others are served, nothing leaks.
 *
 * T_DEATHS=1000: number of deaths per side; T_SEED repeats the choice of steps; T_PHASE=post: only
 * phases whose names contain this.
 */

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "deaths.h"
#include "steps.h"
#include "t_main.h"

#define NB_DEATHS 30
/* System calls of a phase that are eligible: the rest mostly wait. */
#define MAX_CALLS 400
/* Instructions after one of these, or after the beginning of a phase. */
#define MAX_INSNS 4000
#define MAX_PHASES 32

struct director {
	struct deaths d;
	struct t_proc survivor, mortal;
	unsigned int at;        /* marks of the mortal */
	unsigned int nb_phases;
	uint64_t calls[MAX_PHASES];
	uint64_t nb_calls;      /* of all phases */
	uint64_t seed;
};

/** Where a life ends. */
struct death {
	unsigned int phase;
	uint64_t calls, insns;  /* from its beginning; then */
	bool stop;              /* first */
};

/* It reports its own time-outs first. */
static void
hear_survivor(struct director *dir, char code)
{
	t_readable(dir->survivor.fd, 2 * T_TIMEOUT_MS * (int)t_patience());
	t_hear(dir->survivor.fd, code);
}

static void
begin_life(struct director *dir)
{
	memset(dir->d.books, 0, sizeof(*dir->d.books));
	dir->at = 0;
	t_proc_start(&dir->mortal, "mortal", mortal_run, &dir->d);
	steps_begin(&dir->mortal);
	t_say(dir->survivor.fd, 'N', 0);
	t_say(dir->mortal.fd, 'G', 0);
}

static void
end_life(struct director *dir, bool stop)
{
	if (stop) {
		/* The first thread stands still already. */
		t_proc_signal(&dir->mortal, SIGSTOP);
		t_say(dir->survivor.fd, 'S', 0);
		hear_survivor(dir, 'O');
	}
	t_proc_kill(&dir->mortal);
	t_say(dir->survivor.fd, 'K', 0);
	hear_survivor(dir, 'D');
}

/* A life to its end: how many system calls each phase takes. */
static void
measure(struct director *dir)
{
	unsigned int i;

	begin_life(dir);
	for (i = 0; i < dir->nb_phases; i++) {
		dir->calls[i] = steps_run(&dir->mortal, &dir->at, i, STEPS_CALLS, MAX_CALLS);
		T_GT(dir->calls[i], 0);
		dir->nb_calls += dir->calls[i];
		printf("   %u calls: %s\n", (unsigned int)dir->calls[i], mortal_phase(i));
	}
	steps_run(&dir->mortal, &dir->at, dir->nb_phases, STEPS_CALLS, 0);
	end_life(dir, false);
}

/* splitmix64: deaths are repeated by the seed. */
static uint64_t
below(struct director *dir, uint64_t end)
{
	uint64_t x = dir->seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) % end;
}

/* The calls of all phases are one line. */
static struct death
death_at_call(struct director *dir, uint64_t call)
{
	struct death death = { 0 };

	while (call >= dir->calls[death.phase])
		call -= dir->calls[death.phase++];
	death.calls = call + 1;
	return death;
}

/* After any call of a phase; every second time at its beginning, where bursts are. */
static struct death
death_at_insn(struct director *dir, uint64_t n)
{
	struct death death = { .phase = (unsigned int)(n % dir->nb_phases) };

	if (below(dir, 2) == 1)
		death.calls = below(dir, dir->calls[death.phase]);
	death.insns = 1 + below(dir, MAX_INSNS);
	return death;
}

static void
die(struct director *dir, const struct death *death)
{
	uint64_t calls, insns;

	printf("   \"%s\": %u calls, %u instructions%s", mortal_phase(death->phase),
		(unsigned int)death->calls, (unsigned int)death->insns,
		death->stop ? ", stopped first" : "");
	fflush(stdout);
	begin_life(dir);
	calls = steps_run(&dir->mortal, &dir->at, death->phase, STEPS_CALLS, death->calls);
	insns = steps_run(&dir->mortal, &dir->at, death->phase, STEPS_INSNS, death->insns);
	/* Each life waits as long as it takes. */
	printf(": %u, %u\n", (unsigned int)calls, (unsigned int)insns);
	end_life(dir, death->stop);
}

static bool
is_wanted(const struct death *death)
{
	const char *want = getenv("T_PHASE");

	return want == NULL || strstr(mortal_phase(death->phase), want) != NULL;
}

static void
die_often(struct director *dir, uint64_t nb)
{
	const uint64_t first = below(dir, dir->nb_calls);
	struct death death;
	uint64_t i;

	for (i = 0; i < nb; i++) {
		if (i % 2 == 0)
			death = death_at_call(dir, (first + i * dir->nb_calls / nb) %
				dir->nb_calls);
		else
			death = death_at_insn(dir, i / 2);
		death.stop = i / 2 % 2 == 1;
		if (is_wanted(&death))
			die(dir, &death);
	}
}

static void
deaths(bool server_dies)
{
	struct director dir = { .d = { .server_dies = server_dies } };
	const uint64_t nb = t_env_number("T_DEATHS", NB_DEATHS);

	dir.seed = t_env_number("T_SEED", (uint64_t)time(NULL));
	/* A case of t_main.c has less time than a long run needs. */
	alarm((unsigned int)(120 + nb * 2) * t_patience());
	printf("   T_DEATHS=%u T_SEED=%llu\n", (unsigned int)nb, (unsigned long long)dir.seed);
	dir.d.books = mmap(NULL, sizeof(*dir.d.books), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_CHECK(dir.d.books != MAP_FAILED);
	/* The last one only waits. */
	while (mortal_phase(dir.nb_phases + 1) != NULL)
		dir.nb_phases++;
	T_LE(dir.nb_phases, MAX_PHASES);
	t_proc_start(&dir.survivor, "survivor", survivor_run, &dir.d);
	t_hear(dir.survivor.fd, 'R');
	measure(&dir);
	die_often(&dir, nb);
	t_say(dir.survivor.fd, 'E', 0);
	t_proc_join(&dir.survivor);
	munmap(dir.d.books, sizeof(*dir.d.books));
}

T_CASE(client_dies)
{
	deaths(false);
}

T_CASE(server_dies)
{
	deaths(true);
}
