/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* main() of comch-perf-floor, which measures one floor between this process and a
 * child, and prints the figure. It links no library except the C library.
 */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/window.h"
#include "floor/connect.h"
#include "floor/core.h"
#include "floor/floor.h"
#include "floor/lines.h"
#include "floor/wake.h"

/* Exchanges use several pairs of lines in turn, LINE_TURN exchanges each: the
 * latency of a single line depends on its place in the caches.
 */
#define LINE_PAIRS   64
#define LINE_TURN    512
#define RING_SLOTS   4096
/* Slots between two updates of the read position, by whole messages. */
#define RING_REPORT  256
/* The sequence number that ends a measurement. */
#define SEQ_END      UINT64_MAX
/* B's sequence number once it has told its rate; job_sync() leaves 1. */
#define CORE_DONE    2
/* Slots or copies between two clock reads, by whole messages. */
#define CLOCK_EVERY  1024
/* Bytes of the smallest page. */
#define PAGE_BYTES   4096
/* Idle spins before a process that shares its CPU yields. */
#define SPINS        64

/* One cache line: seven words and a sequence number. Both processes share this layout,
 * whatever the cache line size of the CPU.
 */
struct slot {
	uint64_t payload[7];
	_Atomic uint64_t seq;
} __attribute__((aligned(FLOOR_LINE_SIZE)));

/* Shared by the two processes; each line has one writer. */
struct shared {
	struct slot a; /* Written by process A. */
	struct slot b; /* Written by process B. */
	struct slot sink; /* Keeps the compiler from removing reads. */
};

/* One measurement. */
struct job {
	struct floor_req req;
	bool crowded;                /* Both processes share a CPU: yield. */
	struct shared *shared;
	void *window;                /* Ring or destination, shared. */
	void *source;                /* floor_has_size(): what A sends. */
	void *copies;                /* FLOOR_COPIES: B's own window. */
	pid_t pid_a, pid_b;
	int event[2];                /* Eventfds that wake A and B. */
	int listener;                /* FLOOR_CONNECT: B's socket; -1: another kind */
};

/* A process's first access to a page is slow, mapped or not, where the hypervisor follows its
 * page table: 8 us instead of 0.2 us for a copy to a page.
 */
static void
touch(void *memory, size_t len)
{
	volatile uint8_t *p = memory;

	for (size_t i = 0; i < len; i += PAGE_BYTES)
		p[i] = p[i];
}

static void *
map_memory(size_t len, int kind)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			kind | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	touch(p, len);
	return p;
}

/* Size of the shared window, bytes. */
static size_t
window_size(const struct floor_req *req)
{
	switch (req->kind) {
	case FLOOR_LINE:
		return 2 * LINE_PAIRS * sizeof(struct slot);
	case FLOOR_SLOT:
		return RING_SLOTS * sizeof(struct slot);
	case FLOOR_MEMCPY:
	case FLOOR_COPIES:
	case FLOOR_VM_READV:
		return req->size * floor_shared_msgs(req);
	default:
		return 1;
	}
}

/* Map the memory of a measurement and open its eventfds; the exit frees them. */
static int
job_open(struct job *job, const struct floor_req *req)
{
	*job = (struct job){
		.req = *req,
		.crowded = req->cpu_a == req->cpu_b,
		.shared = map_memory(sizeof(*job->shared), MAP_SHARED),
		.window = map_memory(window_size(req), MAP_SHARED),
		.source = map_memory(floor_has_size(req->kind) ? req->size : 1,
			req->kind == FLOOR_VM_READV ? MAP_PRIVATE : MAP_SHARED),
		.pid_a = getpid(),
		.event = { eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK) },
		.listener = req->kind == FLOOR_CONNECT ? floor_connect_listen() : -1,
	};
	return job->shared == NULL || job->window == NULL || job->source == NULL ||
		job->event[0] < 0 || job->event[1] < 0 ||
		(req->kind == FLOOR_CONNECT && job->listener < 0) ? -ENOMEM : 0;
}

/* Store a result that the compiler must then compute. */
static void
sink(struct job *job, uint64_t sum)
{
	*(volatile uint64_t *)&job->shared->sink.payload[0] = sum;
}

static double
per_second(const struct window *w)
{
	return (double)window_msgs(w) * 1e9 / (double)window_ns(w);
}

/* Spin; if the CPU is shared, yield from time to time. */
static inline void
relax(bool crowded, uint32_t *spins)
{
	if (crowded && ++*spins % SPINS == 0)
		sched_yield();
}

/* Wait until the sequence number of a slot is *seq* or SEQ_END. @return it */
static inline uint64_t
slot_wait(struct slot *slot, uint64_t seq, bool crowded)
{
	uint32_t spins = 0;
	uint64_t now;

	for (;;) {
		now = atomic_load_explicit(&slot->seq, memory_order_acquire);
		if (now == seq || now == SEQ_END)
			return now;
		relax(crowded, &spins);
	}
}

/* Unrolled by hand, as slot_read() is: loops would cost more than the memory
 * accesses.
 */
static inline void
slot_fill(struct slot *slot, uint64_t seq, memory_order order)
{
	slot->payload[0] = seq;
	slot->payload[1] = seq;
	slot->payload[2] = seq;
	slot->payload[3] = seq;
	slot->payload[4] = seq;
	slot->payload[5] = seq;
	slot->payload[6] = seq;
	atomic_store_explicit(&slot->seq, seq, order);
}

/* Publish a slot, and those filled before it. */
static inline void
slot_write(struct slot *slot, uint64_t seq)
{
	/* Pairs with the acquire in slot_wait(). */
	slot_fill(slot, seq, memory_order_release);
}

static inline uint64_t
slot_read(const struct slot *slot)
{
	const uint64_t *p = slot->payload;

	return ((p[0] ^ p[1]) | (p[2] ^ p[3])) | ((p[4] ^ p[5]) | p[6]);
}

/* A waits until B runs before it starts its clock. */
static void
job_sync(struct job *job, bool is_a)
{
	if (is_a) {
		slot_wait(&job->shared->b, 1, job->crowded);
	} else {
		atomic_store_explicit(&job->shared->b.seq, 1, memory_order_release);
	}
}

/* A's line for exchange *seq*; B's line is LINE_PAIRS after it. */
static inline struct slot *
line_at(const struct job *job, uint64_t seq)
{
	return (struct slot *)job->window + seq / LINE_TURN % LINE_PAIRS;
}

static double
line_a(struct job *job)
{
	struct slot *line = line_at(job, 2);
	bool crowded = job->crowded;
	static struct hist hist;
	struct laps laps;
	uint64_t sum = 0;
	uint64_t seq = 2;

	laps_init(&laps, &hist, job->req.ms * UINT64_C(1000), 0);
	do {
		slot_write(line, seq);
		slot_wait(line + LINE_PAIRS, seq, crowded);
		sum += slot_read(line + LINE_PAIRS);
		if (++seq % LINE_TURN == 0)
			line = line_at(job, seq);
	} while (!laps_round(&laps));
	atomic_store_explicit(&line->seq, SEQ_END, memory_order_release);
	sink(job, sum);
	return floor_one_way(&hist);
}

static void
line_b(struct job *job)
{
	struct slot *line = line_at(job, 2);
	bool crowded = job->crowded;
	uint64_t sum = 0;
	uint64_t seq;

	for (seq = 2; slot_wait(line, seq, crowded) != SEQ_END; seq++) {
		sum += slot_read(line);
		slot_write(line + LINE_PAIRS, seq);
		if ((seq + 1) % LINE_TURN == 0)
			line = line_at(job, seq + 1);
	}
	sink(job, sum);
}

/* Wait until the reader is less than *depth* behind. @return its position; SEQ_END: it failed */
static uint64_t
reader_wait(struct job *job, uint64_t pos, uint64_t depth)
{
	_Atomic uint64_t *read_pos = &job->shared->b.seq;
	uint32_t spins = 0;
	uint64_t seen;

	for (;;) {
		/* Pairs with the release in stream_b() and messages_b(). */
		seen = atomic_load_explicit(read_pos, memory_order_acquire);
		if (pos - seen < depth || seen == SEQ_END)
			return seen;
		relax(job->crowded, &spins);
	}
}

/* Update the window; not inlined, to keep the loop tight. @return true: time is up */
static __attribute__((noinline)) bool
window_is_over(struct window *w, uint64_t pos)
{
	window_update(w, clock_tsc(), pos);
	return w->closed;
}

/* A message of n slots ends at position pos; pos % EVERY < n: it passed a multiple of EVERY.
 * Only the last slot of a message publishes it. Positions start at 1, the value that
 * job_sync() leaves in the reader's line. *lines* is a constant where that is faster.
 */
static inline __attribute__((always_inline)) double
stream_a(struct job *job, uint32_t lines)
{
	struct floor_lengths lengths = floor_lengths_init(lines);
	struct slot *ring = job->window;
	uint64_t pos = 0, end, seen = 1;
	struct window w;
	uint32_t n;

	window_init(&w, clock_tsc(), job->req.ms * UINT64_C(1000), false);
	do {
		n = floor_lengths_next(&lengths);
		end = pos + n;
		if (end - seen >= RING_SLOTS)
			seen = reader_wait(job, end, RING_SLOTS);
		while (++pos < end)
			slot_fill(&ring[pos % RING_SLOTS], pos, memory_order_relaxed);
		slot_write(&ring[pos % RING_SLOTS], pos);
	} while (pos % CLOCK_EVERY >= n || !window_is_over(&w, pos));
	end = pos + floor_lengths_next(&lengths);
	reader_wait(job, end, RING_SLOTS);
	atomic_store_explicit(&ring[end % RING_SLOTS].seq, SEQ_END, memory_order_release);
	return per_second(&w) * FLOOR_ONE_LINE / lines;
}

static inline __attribute__((always_inline)) void
stream_b(struct job *job, uint32_t lines)
{
	struct floor_lengths lengths = floor_lengths_init(lines);
	_Atomic uint64_t *read_pos = &job->shared->b.seq;
	struct slot *ring = job->window;
	bool crowded = job->crowded;
	uint64_t pos = 0, end, sum = 0;
	uint32_t n;

	for (;;) {
		n = floor_lengths_next(&lengths);
		end = pos + n;
		if (slot_wait(&ring[end % RING_SLOTS], end, crowded) == SEQ_END)
			break;
		while (pos < end)
			sum += slot_read(&ring[++pos % RING_SLOTS]);
		if (pos % RING_REPORT < n)
			atomic_store_explicit(read_pos, pos, memory_order_release);
	}
	atomic_store_explicit(read_pos, end, memory_order_release);
	sink(job, sum);
}

static double
slot_a(struct job *job)
{
	return job->req.lines == FLOOR_ONE_LINE ? stream_a(job, FLOOR_ONE_LINE) :
		stream_a(job, job->req.lines);
}

static void
slot_b(struct job *job)
{
	if (job->req.lines == FLOOR_ONE_LINE)
		stream_b(job, FLOOR_ONE_LINE);
	else
		stream_b(job, job->req.lines);
}

static double
memcpy_a(struct job *job)
{
	uint64_t size = job->req.size;
	uint64_t nb = floor_shared_msgs(&job->req);
	uint64_t every = size < CLOCK_EVERY ? CLOCK_EVERY : 1;
	uint8_t *window = job->window;
	struct window w;
	uint64_t pos;

	memset(job->source, 1, size);
	window_init(&w, clock_tsc(), job->req.ms * UINT64_C(1000), false);
	for (pos = 2; ; pos++) {
		if (reader_wait(job, pos, nb) == SEQ_END)
			return -1;
		memcpy(window + pos % nb * size, job->source, size);
		/* Pairs with the acquire in messages_b(). */
		atomic_store_explicit(&job->shared->a.seq, pos, memory_order_release);
		if (pos % every == 0 && window_is_over(&w, pos))
			break;
	}
	atomic_store_explicit(&job->shared->a.seq, SEQ_END, memory_order_release);
	return per_second(&w) * (double)size;
}

/* What the receiver does with a message, beside reading its first and last line. */
enum take {
	TAKE_NOTHING,
	TAKE_COPY,   /* copy it to memory of its own */
	TAKE_READV,  /* copy it from the memory of process A */
};

/* False: there is no right to, for instance. */
static inline bool
take_message(struct job *job, enum take take, void *msg, uint64_t at)
{
	struct iovec local = { .iov_base = msg, .iov_len = job->req.size };
	struct iovec remote = { .iov_base = job->source, .iov_len = job->req.size };

	if (take == TAKE_COPY)
		memcpy((uint8_t *)job->copies + at, msg, job->req.size);
	if (take != TAKE_READV || process_vm_readv(job->pid_a, &local, 1, &remote, 1, 0) ==
			(ssize_t)job->req.size)
		return true;
	perror("comch-perf-floor: process_vm_readv");
	return false;
}

static inline __attribute__((always_inline)) void
messages_b(struct job *job, enum take take)
{
	uint64_t nb = floor_shared_msgs(&job->req), nb_own = floor_window_msgs(job->req.size);
	uint64_t size = job->req.size;
	volatile uint8_t *window = job->window;
	uint32_t spins = 0;
	uint64_t pos = 1;
	uint64_t seen;

	for (;;) {
		seen = atomic_load_explicit(&job->shared->a.seq, memory_order_acquire);
		if (seen == SEQ_END)
			break;
		if (seen <= pos) {
			relax(job->crowded, &spins);
			continue;
		}
		for (; pos < seen; pos++) {
			volatile uint8_t *msg = window + (pos + 1) % nb * size;

			if (!take_message(job, take, (void *)(uintptr_t)msg,
					(pos + 1) % nb_own * size)) {
				seen = SEQ_END;
				break;
			}
			(void)msg[0];
			(void)msg[size - 1];
			/* Thousands of copies would keep A waiting. */
			if (take != TAKE_NOTHING)
				atomic_store_explicit(&job->shared->b.seq, pos,
						memory_order_release);
		}
		if (seen == SEQ_END)
			break;
		atomic_store_explicit(&job->shared->b.seq, pos, memory_order_release);
	}
	atomic_store_explicit(&job->shared->b.seq, SEQ_END, memory_order_release);
}

static void
memcpy_b(struct job *job)
{
	messages_b(job, TAKE_NOTHING);
}

static void
copies_b(struct job *job)
{
	if (job->copies != NULL)
		messages_b(job, TAKE_COPY);
	else
		atomic_store_explicit(&job->shared->b.seq, SEQ_END, memory_order_release);
}

static void
vm_readv_b(struct job *job)
{
	messages_b(job, TAKE_READV);
}

/* A only says that there is one more message: the receiver copies. Yama lets it, if told. */
static double
vm_readv_a(struct job *job)
{
	uint64_t size = job->req.size;
	uint64_t nb = floor_window_msgs(size), every = size < CLOCK_EVERY ? CLOCK_EVERY : 1;
	struct window w;
	uint64_t pos, seen;

	memset(job->source, 1, size);
	(void)prctl(PR_SET_PTRACER, job->pid_b, 0, 0, 0);
	window_init(&w, clock_tsc(), job->req.ms * UINT64_C(1000), false);
	for (pos = 2; ; pos++) {
		seen = reader_wait(job, pos, nb);
		if (seen == SEQ_END)
			return -1;
		/* Pairs with the acquire in messages_b(). */
		atomic_store_explicit(&job->shared->a.seq, pos, memory_order_release);
		if (pos % every == 0 && window_is_over(&w, seen))
			break;
	}
	atomic_store_explicit(&job->shared->a.seq, SEQ_END, memory_order_release);
	return per_second(&w) * (double)size;
}

static double
wake_a(struct job *job)
{
	return floor_wake_ask(job->event, job->req.ms, &job->shared->a.seq);
}

static void
wake_b(struct job *job)
{
	floor_wake_answer(job->event, &job->shared->a.seq);
}

static double
connect_a(struct job *job)
{
	double value = floor_connect_ask(job->listener, job->req.ms, job->crowded);

	atomic_store_explicit(&job->shared->a.seq, SEQ_END, memory_order_relaxed);
	return value;
}

static void
connect_b(struct job *job)
{
	floor_connect_serve(job->listener, &job->shared->a.seq, job->crowded);
}

/* Both work at the same time. @return the rate of the slower one */
static double
core_a(struct job *job)
{
	double mine = floor_core_rounds(job->req.ms), other;

	slot_wait(&job->shared->b, CORE_DONE, job->crowded);
	other = (double)job->shared->b.payload[0];
	return mine < other ? mine : other;
}

static void
core_b(struct job *job)
{
	job->shared->b.payload[0] = (uint64_t)floor_core_rounds(job->req.ms);
	/* Pairs with the acquire in slot_wait(). */
	atomic_store_explicit(&job->shared->b.seq, CORE_DONE, memory_order_release);
}

/* A sends and returns the figure, B receives. */
static const struct {
	double (*a)(struct job *job);
	void (*b)(struct job *job);
} bodies[] = {
	[FLOOR_LINE] = { line_a, line_b },
	[FLOOR_SLOT] = { slot_a, slot_b },
	[FLOOR_MEMCPY] = { memcpy_a, memcpy_b },
	[FLOOR_COPIES] = { memcpy_a, copies_b },
	[FLOOR_VM_READV] = { vm_readv_a, vm_readv_b },
	[FLOOR_WAKE] = { wake_a, wake_b },
	[FLOOR_CONNECT] = { connect_a, connect_b },
	[FLOOR_CORE] = { core_a, core_b },
};

/* Exit with the parent, which may be killed while this process spins. */
static void
die_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

/* Fork process B and run both halves. @return the figure, or negative */
static double
measure(const struct floor_req *req)
{
	struct job job;
	pid_t self = getpid();
	double value;
	pid_t pid;

	if (job_open(&job, req) != 0)
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		die_with_parent(self);
		/* Before A's clock starts. */
		touch(job.window, window_size(req));
		if (req->kind == FLOOR_COPIES)
			job.copies = map_memory(FLOOR_WINDOW, MAP_PRIVATE);
		job_sync(&job, false);
		bodies[req->kind].b(&job);
		_exit(0);
	}
	job.pid_b = pid;
	/* The child starts on the CPU that this process is about to spin on. */
	floor_pin(pid, req->cpu_b);
	floor_pin(0, req->cpu_a);
	job_sync(&job, true);
	value = bodies[req->kind].a(&job);
	waitpid(pid, NULL, 0);
	return value;
}

int
main(int argc, char **argv)
{
	return floor_main(argc, argv, "comch-perf-floor", measure);
}
