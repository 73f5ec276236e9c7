/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Keys of the device table for faults, and when these come; see fault.h. */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bsd/string.h>
#include <rte_common.h>

#include "dev/fault.h"
#include "dev/report.h"
#include "dev/table.h"

#define DEFAULT_LATE_MS 100
#define DEFAULT_SEED 1
#define WHEN "N (the Nth), N-M, N- (from the Nth on) or 1/N (one of N, at random)"

/* How each is named, what it counts, and what it does. */
static const struct {
	const char *name;
	const char *counts;
	const char *effect;
} faults_of[IMPL_NB_FAULTS] = {
	[IMPL_FAULT_AGAIN] = { "again", "submits", "returns AGAIN" },
	[IMPL_FAULT_ERROR] = { "error", "submits", "fails with IO_FAILED, unsent" },
	[IMPL_FAULT_LATE] = { "late", "submits", "is late" },
	[IMPL_FAULT_RESET] = { "reset", "control messages", "ends its connection" },
	[IMPL_FAULT_EXIT] = { "exit", "submits and messages", "kills this process" },
};

/* Numbers. */
enum { LATE_MS, SLOW_MS, SEED, NB_NUMBERS };
static const struct {
	const char *name;
	uint64_t max;
} numbers[NB_NUMBERS] = {
	[LATE_MS] = { "late_ms", 3600000 },
	[SLOW_MS] = { "slow_ms", 60000 },
	[SEED] = { "seed", UINT64_MAX },
};

/* What precedes `end`, as a number from 1 on. */
static bool
part(const char *text, const char *end, uint64_t *number)
{
	char digits[24];

	if ((size_t)(end - text) >= sizeof(digits))
		return false;
	strlcpy(digits, text, (size_t)(end - text) + 1);
	return impl_table_number(digits, 1, UINT64_MAX, number);
}

static bool
parse_when(const char *value, struct impl_fault_when *when)
{
	const char *end = value + strlen(value), *dash = strchr(value, '-');

	if (strncmp(value, "1/", 2) == 0)
		return part(value + 2, end, &when->one_of);
	when->last = UINT64_MAX;
	if (dash == NULL)
		return part(value, end, &when->first) && part(value, end, &when->last);
	return part(value, dash, &when->first) &&
		(dash + 1 == end || part(dash + 1, end, &when->last)) &&
		when->first <= when->last;
}

static doca_error_t
unknown_fault(struct impl_table *table, unsigned int line, const char *name)
{
	char valid[128] = "";
	unsigned int i;

	for (i = 0; i < IMPL_NB_FAULTS; i++) {
		strlcat(valid, faults_of[i].name, sizeof(valid));
		strlcat(valid, ", ", sizeof(valid));
	}
	for (i = 0; i < NB_NUMBERS; i++) {
		strlcat(valid, i == 0 ? "" : ", ", sizeof(valid));
		strlcat(valid, numbers[i].name, sizeof(valid));
	}
	return impl_table_wrong(table, line, "unknown fault '%s'; known faults: %s", name, valid);
}

static doca_error_t
set_number(struct impl_table *table, struct impl_entry *entry, unsigned int line, unsigned int i,
		const char *value)
{
	struct impl_faults *faults = &entry->info.faults;
	uint64_t number;

	if (!impl_table_number(value, 0, numbers[i].max, &number))
		return impl_table_wrong(table, line, "fault.%s = %s: expected a number up to %"
			PRIu64, numbers[i].name, value, numbers[i].max);
	if (i == LATE_MS)
		faults->late_ms = (uint32_t)number;
	else if (i == SLOW_MS)
		faults->slow_ms = (uint32_t)number;
	else
		faults->seed = number;
	return DOCA_SUCCESS;
}

doca_error_t
impl_faults_set(struct impl_table *table, struct impl_entry *entry, unsigned int line,
		const char *name, const char *value)
{
	unsigned int i, n;

	for (i = 0; i < IMPL_NB_FAULTS && strcmp(name, faults_of[i].name) != 0; i++)
		;
	for (n = 0; n < NB_NUMBERS && strcmp(name, numbers[n].name) != 0; n++)
		;
	if (i == IMPL_NB_FAULTS && n == NB_NUMBERS)
		return unknown_fault(table, line, name);
	if (i == IMPL_NB_FAULTS)
		i += n;
	if ((entry->given_faults >> i & 1) != 0)
		return impl_table_wrong(table, line, "fault.%s is given twice", name);
	entry->given_faults |= UINT32_C(1) << i;
	if (i >= IMPL_NB_FAULTS)
		return set_number(table, entry, line, n, value);
	if (!parse_when(value, &entry->info.faults.when[i]))
		return impl_table_wrong(table, line, "fault.%s = %s: expected " WHEN, name, value);
	return DOCA_SUCCESS;
}

struct impl_faults *
impl_faults_fill(struct impl_entry *entry)
{
	struct impl_faults *faults = &entry->info.faults;

	if (entry->given_faults == 0)
		return NULL;
	faults->side = entry->is_func ? "host" : "DPU";
	if ((entry->given_faults >> (IMPL_NB_FAULTS + LATE_MS) & 1) == 0)
		faults->late_ms = DEFAULT_LATE_MS;
	if ((entry->given_faults >> (IMPL_NB_FAULTS + SEED) & 1) == 0)
		faults->seed = DEFAULT_SEED;
	return faults;
}

/* The same number for the same arguments: the finalizer of splitmix64. */
static uint64_t
mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

bool
impl_fault_hits(struct impl_faults *faults, enum impl_fault fault, const char *what)
{
	struct impl_fault_when *when = &faults->when[fault];
	uint64_t n = __atomic_add_fetch(&when->count, 1, __ATOMIC_RELAXED);
	uint32_t told;

	if (when->one_of != 0 ? mix(faults->seed ^ mix(n * IMPL_NB_FAULTS + fault)) %
			when->one_of != 0 : n < when->first || n > when->last)
		return false;
	told = __atomic_fetch_add(&when->told, 1, __ATOMIC_RELAXED);
	if (told < IMPL_REPORTS)
		impl_report("fault.%s of the device table, %s side: %s %" PRIu64 " %s%s",
			faults_of[fault].name, faults->side, what, n, faults_of[fault].effect,
			told == IMPL_REPORTS - 1 ? "; further ones are not reported" : "");
	return true;
}

void
impl_fault_step(struct impl_faults *faults, const char *what)
{
	/* As by the system or another process: nothing is cleaned up. */
	if (impl_fault_hits(faults, IMPL_FAULT_EXIT, what))
		raise(SIGKILL);
}

void
impl_fault_slow(const struct impl_faults *faults)
{
	const struct timespec pause = {
		.tv_sec = faults->slow_ms / 1000,
		.tv_nsec = faults->slow_ms % 1000 * 1000000l,
	};

	if (faults->slow_ms > 0)
		nanosleep(&pause, NULL);
}

/*
 * A test whose fault did not come has tested nothing: say so at the end of the program. Its log may
 * be gone by then.
 */
static void __attribute__((destructor))
tell_of_absent(void)
{
	const struct impl_faults *faults;
	struct impl_table *table;
	struct impl_entry *e;
	unsigned int i;

	table = impl_table_if_read();
	if (table == NULL)
		return;
	IMPL_TABLE_FOREACH(e, table) {
		faults = &e->info.faults;
		for (i = 0; i < IMPL_NB_FAULTS; i++)
			if (faults->is_used && (e->given_faults >> i & 1) != 0 &&
					faults->when[i].told == 0)
				fprintf(stderr, "comch: fault.%s did not come: the %s side had %"
					PRIu64 " %s\n", faults_of[i].name, faults->side,
					faults->when[i].count, faults_of[i].counts);
	}
}
