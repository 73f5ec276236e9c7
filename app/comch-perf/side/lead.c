/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The leader: measures all rows of the plan, with their floors, and reports them. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "floor/lines.h"
#include "plot/plot.h"
#include "report/repeat.h"
#include "side/side.h"

#define FLOOR_MS     150
#define CORE_MS      20
/* Maximum difference of the two floors of a stable row. */
#define STABLE       0.15
/* Time limit of the default set, s: late rows get fewer attempts. */
#define DEFAULT_S    50.0
/* Maximum fraction of the time that other programs have the CPU of a stable row. */
#define STOLEN       0.10
/* Minimum speed of the cores in a stable row, as a fraction of the best that was seen. */
#define CORE_SPEED   0.85

/* State of the leader. */
struct lead {
	struct side *side;
	struct report *report;
	struct plot *plot;       /* or NULL */
	struct hist *hist;       /* of the current attempt */
	struct hist *best_hist;  /* of the attempt to report */
	int cpu_a;
	int cpu_b;               /* -1: on another machine, or none */
	bool tty;
	double core;             /* best speed of the cores so far, see floor/core.h */
	double stolen;           /* worst fraction of a row that other programs had the CPU */
	uint64_t start_ns;
	uint32_t nb_attempts;
	uint32_t row;
	uint32_t repeat;         /* measurement of this row, from 0 */
	struct report_row *rows; /* all measurements of this row */
};

static double
elapsed_s(const struct lead *lead)
{
	return (double)(clock_mono_ns() - lead->start_ns) / 1e9;
}

/* Run-queue wait of this thread, ns. */
static uint64_t
waited_ns(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	unsigned long long ran = 0;
	unsigned long long waited = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	fclose(f);
	return waited;
}

/* CPU of a worker of the DPU side, or of its stand-in if this is the only process. */
static uint16_t
peer_cpu(const struct side *side, uint32_t worker)
{
	return side->sync == NULL ? eal_worker_cpu(side->cpus, false, worker) :
			side->sync->peer.cpus[worker];
}

/* Find the CPUs of the floors: those of worker 0 of each side. */
static void
find_cpus(struct lead *lead)
{
	const struct side *side = lead->side;

	lead->cpu_a = side->hello.nb_workers > 0 ? side->hello.cpus[0] :
			eal_worker_cpu(side->cpus, true, 0);
	lead->cpu_b = peer_cpu(side, 0);
	if (side->sync != NULL &&
			strcmp(side->sync->peer.boot_id, side->hello.boot_id) != 0)
		lead->cpu_b = -1;
}

/* Do workers share a CPU, on either machine? */
static bool
is_crowded(const struct lead *lead, const struct perf_params *p)
{
	const struct side *side = lead->side;
	const struct sync_hello *mine = &side->hello;
	uint32_t nb_mine = RTE_MIN(plan_workers(p, true), mine->nb_workers);
	uint32_t nb_peer = RTE_MIN(plan_workers(p, false), side->sync == NULL ?
			PERF_MAX_WORKERS : side->sync->peer.nb_workers);
	bool used[2][UINT16_MAX + 1] = { 0 };
	bool same = lead->cpu_b >= 0;
	uint32_t i;

	if (lead->cpu_a == lead->cpu_b)
		return true;
	for (i = 0; i < nb_mine; i++) {
		if (used[0][mine->cpus[i]])
			return true;
		used[0][mine->cpus[i]] = true;
	}
	for (i = 0; i < nb_peer; i++) {
		uint16_t cpu = peer_cpu(side, i);

		if (used[!same][cpu])
			return true;
		used[!same][cpu] = true;
	}
	return false;
}

static void
progress(const struct lead *lead, uint32_t attempt)
{
	const struct plan *plan = lead->side->plan;
	char run[32] = "", again[32] = "";

	if (!lead->tty)
		return;
	if (lead->side->opts->repeat > 1)
		snprintf(run, sizeof(run), ", run %u of %u", lead->repeat + 1,
			lead->side->opts->repeat);
	if (attempt > 1)
		snprintf(again, sizeof(again), ", attempt %u", attempt);
	fprintf(stderr, "\r\033[K[%u/%u] %s%s%s, %.0f s", lead->row + 1, plan->nb_rows,
			plan->rows[lead->row].test->name, run, again, elapsed_s(lead));
}

static uint64_t
count_faults(const struct perf_faults *f)
{
	return f->lost + f->disorder + f->torn + f->failed;
}

/* Compute the figures of an attempt from the results of both sides. */
static void
fill_figures(struct report_row *r, const struct perf_run *run)
{
	const struct perf_result *mine = &run->result;
	const struct perf_result *peer = &run->peer;
	uint64_t copied = mine->copied_msgs + peer->copied_msgs;
	uint64_t window_ns = RTE_MAX(mine->window_ns, peer->window_ns);
	double scale;

	r->messages = mine->messages;
	if (run->test->hops == 0)
		r->messages += peer->messages;
	else
		window_ns = mine->window_ns;
	r->seconds = (double)window_ns / 1e9;
	if (!perf_test_is_floor(run->test) && window_ns > 0) {
		r->msgs_per_s = (double)r->messages / r->seconds;
		r->bytes_per_s = r->msgs_per_s *
				(double)(r->params.size + r->params.imm);
	}
	if (copied > 0)
		r->copies = (double)(mine->copies + peer->copies) / (double)copied;
	r->errors = count_faults(&mine->faults) + count_faults(&peer->faults);
	if (run->test->place == PERF_TWO_SIDES) {
		r->counters[0] = mine->counters;
		r->counters[1] = peer->counters;
		/* The names are those of our driver. */
		r->counters[1].nb = RTE_MIN(peer->counters.nb, mine->counters.nb);
		r->counted = copied;
	}
	if (run->test->hops == 0)
		return;
	scale = clock_cycles_to_ns(1) / run->test->hops;
	r->p50_ns = hist_quantile(run->hist, 0.5) * scale;
	r->p90_ns = hist_quantile(run->hist, 0.9) * scale;
	r->p99_ns = hist_quantile(run->hist, 0.99) * scale;
	r->p999_ns = hist_quantile(run->hist, 0.999) * scale;
	r->max_ns = (double)run->hist->max * scale;
}

/* The figure to compare with the floor. */
static double
figure(const struct report_row *r, const struct perf_run *run)
{
	if (perf_test_is_floor(r->test))
		return run->floor_value;
	switch (floor_unit(r->floor)) {
	case FLOOR_MSGS:
		return r->msgs_per_s;
	case FLOOR_BYTES:
		return r->bytes_per_s;
	default:
		return r->p50_ns;
	}
}

/* Did a CPU share its core with a busy one, as far as is known by now? */
static bool
shares_core(const struct lead *lead, const struct report_row *r)
{
	return r->core < CORE_SPEED * lead->core;
}

static void
fill_ratio(const struct lead *lead, struct report_row *r, const struct perf_run *run)
{
	double mean = (r->floor_value + r->floor_after) / 2;

	if (r->floor == FLOOR_NONE || r->error[0] != '\0')
		return;
	r->ratio = figure(r, run) / mean;
	r->stable = fabs(r->floor_value - r->floor_after) <=
			STABLE * RTE_MIN(r->floor_value, r->floor_after) &&
			r->stolen <= STOLEN && !r->crowded && !shares_core(lead, r);
}

static void
row_init(const struct lead *lead, const struct plan_row *row, struct report_row *r)
{
	memset(r, 0, sizeof(*r));
	r->test = row->test;
	r->params = row->params;
	r->driver = row->test->place != PERF_TWO_SIDES ? NULL : lead->side->info.driver;
	r->msgs_per_s = r->bytes_per_s = NAN;
	r->p50_ns = r->p90_ns = r->p99_ns = r->p999_ns = r->max_ns = NAN;
	r->copies = NAN;
	r->floor_value = r->floor_after = r->floor_p999_ns = r->core = NAN;
	r->ratio = r->ratio_min = r->ratio_max = NAN;
	r->crowded = is_crowded(lead, &row->params);
	r->stable = !r->crowded;
	r->floor = lead->cpu_b < 0 ? FLOOR_NONE : perf_test_floor(row->test, &row->params,
			lead->side->info.capa);
}

/* Measure the floor of a row, and the speed of the cores: the row has the slowest. */
static struct floor_figure
measure_floor(struct lead *lead, const struct floor_req *req, struct report_row *r)
{
	struct floor_req core = *req;
	double speed;

	core.kind = FLOOR_CORE;
	core.ms = CORE_MS;
	speed = floor_measure(&core).value;
	if (speed > 0 && !r->crowded) {
		r->core = isnan(r->core) ? speed : RTE_MIN(r->core, speed);
		lead->core = RTE_MAX(lead->core, speed);
	}
	return floor_measure(req);
}

/* Measure a row once. @return 0; -EPIPE: the session is lost */
static int
attempt(struct lead *lead, const struct plan_row *row, struct report_row *r)
{
	const struct side *side = lead->side;
	struct floor_req req = {
		.cpu_a = lead->cpu_a, .cpu_b = lead->cpu_b, .ms = FLOOR_MS,
		.size = row->params.size, .burst = row->params.burst, .queue = row->params.queue,
		/* Of tests that are no floors, it is 0. */
		.lines = RTE_MAX((uint32_t)row->params.lines, (uint32_t)FLOOR_ONE_LINE),
	};
	uint64_t begin_ns = clock_mono_ns();
	struct floor_figure before = { NAN, NAN }, after = { NAN, NAN };
	uint64_t waited = waited_ns();
	struct perf_run run;
	int rc;

	row_init(lead, row, r);
	side_run_init(side, &run, row->test, &row->params);
	run.hist = lead->hist;
	hist_reset(run.hist);
	req.kind = r->floor;
	run.floor_req = req;
	run.params.crowded = r->crowded;
	if (perf_run_check(&run) != 0) {
		r->floor = FLOOR_NONE;
		r->refused = true;
		snprintf(r->error, sizeof(r->error), "%s", run.error);
		return 0;
	}
	if (r->floor != FLOOR_NONE)
		before = measure_floor(lead, &req, r);
	rc = perf_run_lead(&run);
	if (r->floor != FLOOR_NONE && !perf_quit())
		after = measure_floor(lead, &req, r);
	r->floor_value = before.value;
	r->floor_after = after.value;
	r->floor_p999_ns = (before.p999_ns + after.p999_ns) / 2;
	if (r->floor_value < 0 || r->floor_after < 0) {
		r->floor = FLOOR_NONE;
		perf_run_fail(&run, "measure floor %s: no figure from %s", floor_name(req.kind),
				floor_program(req.kind));
	}
	fill_figures(r, &run);
	if (!perf_test_is_floor(row->test) && r->messages == 0)
		perf_run_fail(&run, "no message arrived in the measured time: "
				"increase --duration, or use --iters");
	snprintf(r->error, sizeof(r->error), "%s", run.error);
	if (!r->crowded && !row->test->has_helpers)
		r->stolen = (double)(waited_ns() - waited) /
				(double)(clock_mono_ns() - begin_ns);
	fill_ratio(lead, r, &run);
	return rc == -EPIPE ? rc : 0;
}

/* How unstable the machine was during an attempt. */
static double
instability(const struct report_row *r)
{
	return fabs(log(r->floor_value / r->floor_after)) + r->stolen;
}

static bool
may_repeat(const struct lead *lead)
{
	const struct plan *plan = lead->side->plan;
	const uint32_t repeat = lead->side->opts->repeat;
	double each = elapsed_s(lead) / lead->nb_attempts;
	uint32_t left = (plan->nb_rows - lead->row) * repeat - lead->repeat;

	return !plan->by_default || elapsed_s(lead) + each * left < DEFAULT_S * repeat;
}

/* Measure a row once, again while the machine is unstable. @return as attempt() */
static int
measure(struct lead *lead, const struct plan_row *row, struct report_row *best)
{
	struct report_row r;
	struct hist *spare;
	uint32_t i;
	int rc;

	for (i = 1; ; i++) {
		progress(lead, i);
		rc = attempt(lead, row, &r);
		lead->nb_attempts++;
		if (i == 1 || r.error[0] != '\0' || r.errors > 0 ||
				instability(&r) < instability(best)) {
			*best = r;
			spare = lead->best_hist;
			lead->best_hist = lead->hist;
			lead->hist = spare;
		}
		if (rc != 0 || r.error[0] != '\0' || r.errors > 0 || best->stable ||
				best->crowded || i == lead->side->opts->attempts ||
				perf_quit() || !may_repeat(lead))
			return rc;
	}
}

/* Keep the latencies of a measurement that may be the one to report. */
static void
keep_hist(const struct lead *lead, struct report_row *r)
{
	struct hist *copy;

	if ((!lead->side->opts->histogram && lead->plot == NULL) || r->test->hops == 0)
		return;
	copy = malloc(sizeof(*copy));
	if (copy != NULL)
		*copy = *lead->best_hist;
	r->hist = copy;
}

static bool
has_failed(const struct report_row *r)
{
	return r->error[0] != '\0' || r->errors > 0;
}

/* Report a row, or the median of its measurements, and adapt the exit status. */
static void
conclude(struct lead *lead, uint32_t nb, int *status)
{
	struct report_row *r = &lead->rows[nb - 1];
	uint32_t i;

	/* The first ones did not know how fast the cores can be. */
	for (i = 0; i < nb; i++)
		lead->rows[i].stable &= !shares_core(lead, &lead->rows[i]);
	if (lead->tty)
		fprintf(stderr, "\r\033[K");
	if (r->error[0] != '\0')
		fprintf(stderr, "comch-perf: %s: %s\n", r->test->name, r->error);
	if (r->refused && *status == 0)
		*status = EXIT_USAGE;
	else if (!r->refused && has_failed(r))
		*status = 1;
	if (perf_quit())
		return;
	if (!has_failed(r))
		r = repeat_median(lead->rows, nb);
	report_row(lead->report, r);
	if (lead->plot != NULL)
		plot_row(lead->plot, r);
}

/* Measure a row as often as asked for, and report it. @return as attempt() */
static int
lead_row(struct lead *lead, const struct plan_row *row, int *status)
{
	struct report_row *r;
	uint32_t i, nb = 0;
	int rc;

	do {
		r = &lead->rows[nb];
		lead->repeat = nb++;
		rc = measure(lead, row, r);
		keep_hist(lead, r);
		lead->stolen = RTE_MAX(lead->stolen, r->stolen);
	} while (rc == 0 && !has_failed(r) && nb < lead->side->opts->repeat && !perf_quit());
	conclude(lead, nb, status);
	for (i = 0; i < nb; i++)
		free((void *)(uintptr_t)lead->rows[i].hist);
	return perf_quit() ? -EINTR : rc;
}

static int
lead_rows(struct lead *lead)
{
	const struct side *side = lead->side;
	int status = 0;
	int rc = 0;

	lead->start_ns = clock_mono_ns();
	for (lead->row = 0; lead->row < side->plan->nb_rows && rc == 0; lead->row++)
		rc = lead_row(lead, &side->plan->rows[lead->row], &status);
	return rc != 0 ? 1 : status;
}

static void
setting_text(const struct lead *lead, char *buf, size_t size)
{
	const struct side *side = lead->side;

	snprintf(buf, size, "comch-perf %s, %s%s, host side on CPU %d, DPU side on %s%d, "
			"TSC %.0f MHz", RTE_COMCH_VERSION_STRING,
			side->sync != NULL ? side->info.driver : "no device",
			side->same_process ? " within one process" : "",
			lead->cpu_a, lead->cpu_b >= 0 ? "CPU " : "another machine's CPU ",
			lead->cpu_b >= 0 || side->sync == NULL ? lead->cpu_b :
			side->sync->peer.cpus[0], (double)clock_hz() / 1e6);
}

int
lead_all(struct side *side)
{
	struct lead lead = { .side = side, .tty = isatty(STDERR_FILENO) != 0 };
	char setting[256];
	int status = 1;

	find_cpus(&lead);
	setting_text(&lead, setting, sizeof(setting));
	lead.hist = calloc(1, sizeof(*lead.hist));
	lead.best_hist = calloc(1, sizeof(*lead.best_hist));
	lead.rows = calloc(side->opts->repeat, sizeof(*lead.rows));
	if (side->opts->plot != NULL) {
		lead.plot = plot_open(side->opts->plot, setting);
		if (lead.plot == NULL)
			goto end;
	}
	lead.report = report_open(side->opts, setting);
	if (lead.hist != NULL && lead.best_hist != NULL && lead.rows != NULL &&
			lead.report != NULL)
		status = lead_rows(&lead);
	if (lead.report != NULL && report_close(lead.report) != 0)
		status = 1;
	if (lead.stolen > STOLEN)
		fprintf(stderr, "comch-perf: other programs had the CPU for up to %.0f %% of "
				"a row: its figures are unreliable\n", lead.stolen * 100);
	if (lead.plot != NULL && plot_close(lead.plot) != 0)
		status = 1;
end:
	free(lead.rows);
	free(lead.best_hist);
	free(lead.hist);
	return status;
}
