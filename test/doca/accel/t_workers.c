/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Accelerators whose tasks are done by worker threads: workers = N of the device table. The tasks
 * hash; a worker that begins on the message at `held` waits.
 */

#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include <doca_pe.h>
#include <doca_sha.h>

#include "common/context.h"
#include "common/device.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/result.h"
#include "t_main.h"
#include "t_proc.h"

#define NB 8
/* A message that a worker hashes, and one that it does not. */
#define LONG 65536
#define SHORT 100
#define DIGEST 32

static _Atomic(const void *) held;
static atomic_uint nb_entered;   /* pieces that workers have begun */
static atomic_uint other_was;    /* then the first one of this length */
static pthread_t engine;         /* the thread of the case, the first one of its process */
static atomic_bool engine_goes_on;

/* That of libcrypto, but in a worker. */
int
EVP_DigestUpdate(EVP_MD_CTX *md, const void *data, size_t len)
{
	int (*update)(EVP_MD_CTX *md, const void *data, size_t len);

	*(void **)&update = dlsym(RTLD_NEXT, "EVP_DigestUpdate");
	if (!pthread_equal(pthread_self(), engine)) {
		nb_entered++;
		if (len == LONG && other_was == 0)
			other_was = nb_entered;
		T_AWAIT(held != data);
	}
	return update(md, data, len);
}

struct hasher {
	struct state_log states; /* first */
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_sha *sha;
	struct doca_ctx *ctx;
	struct memory src, dst;
	struct doca_buf *in[NB], *out[NB];
	struct doca_sha_task_hash *task[NB];
	unsigned int nb_submitted, nb_done, nb_errors;
	doca_error_t status[NB];
};

static void
on_end(struct doca_sha_task_hash *task, union doca_data task_data, union doca_data ctx_data)
{
	struct hasher *h = ctx_data.ptr;

	/* In the order of the submits. */
	T_EQ(task_data.u64, h->nb_done + h->nb_errors);
	h->status[task_data.u64] = doca_task_get_status(doca_sha_task_hash_as_task(task));
	if (h->status[task_data.u64] == DOCA_SUCCESS)
		h->nb_done++;
	else
		h->nb_errors++;
	doca_task_free(doca_sha_task_hash_as_task(task));
}

static void
hasher_create(struct hasher *h)
{
	memset(h, 0, sizeof(*h));
	engine = pthread_self();
	h->dev = dev_open("dpu", "03:00.0");
	T_OK(doca_sha_create(h->dev, &h->sha));
	h->ctx = doca_sha_as_ctx(h->sha);
	T_OK(doca_pe_create(&h->pe));
	T_OK(doca_pe_connect_ctx(h->pe, h->ctx));
	T_OK(doca_ctx_set_user_data(h->ctx, (union doca_data){ .ptr = h }));
	T_OK(doca_ctx_set_state_changed_cb(h->ctx, state_log_note));
	T_OK(doca_sha_task_hash_set_conf(h->sha, on_end, on_end, NB));
	memory_create_new(&h->src, h->dev, NB * LONG);
	memory_create_new(&h->dst, h->dev, NB * DIGEST);
	t_fill(h->src.addr, NB * LONG, 1);
	T_OK(doca_ctx_start(h->ctx));
}

static void
open_with(struct hasher *h, unsigned int workers)
{
	char table[128];

	snprintf(table, sizeof(table), "[device dpu]\npci = 03:00.0\nworkers = %u\n"
		"[function pf0]\npci = b1:00.0\n", workers);
	device_table_write(table);
	hasher_create(h);
}

static void
stop(struct hasher *h)
{
	doca_error_t ret = doca_ctx_stop(h->ctx);

	if (ret != DOCA_SUCCESS)
		T_IS(ret, DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(h->pe), ctx_is_idle(h->ctx));
}

static void
hasher_close(struct hasher *h)
{
	unsigned int i;

	if (!ctx_is_idle(h->ctx))
		stop(h);
	for (i = 0; i < h->nb_submitted; i++) {
		T_OK(doca_buf_dec_refcount(h->in[i], NULL));
		T_OK(doca_buf_dec_refcount(h->out[i], NULL));
	}
	T_OK(doca_sha_destroy(h->sha));
	T_OK(doca_pe_destroy(h->pe));
	memory_destroy(&h->src);
	memory_destroy(&h->dst);
	T_OK(doca_dev_close(h->dev));
}

static uint8_t *
message(const struct hasher *h, unsigned int i)
{
	return h->src.addr + i * LONG;
}

static void
submit(struct hasher *h, size_t len)
{
	const unsigned int i = h->nb_submitted++;

	h->in[i] = memory_buf(&h->src, i * LONG, len, true);
	h->out[i] = memory_buf(&h->dst, i * DIGEST, DIGEST, false);
	T_OK(doca_sha_task_hash_alloc_init(h->sha, DOCA_SHA_ALGORITHM_SHA256, h->in[i], h->out[i],
		(union doca_data){ .u64 = i }, &h->task[i]));
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(h->task[i])));
}

static void
is_hashed(const struct hasher *h, unsigned int i)
{
	unsigned char want[DIGEST];
	size_t len;

	T_GETS(doca_buf_get_data_len(h->in[i], &len), len, len);
	T_EQ(EVP_Digest(message(h, i), len, want, NULL, EVP_sha256(), NULL), 1);
	T_EQ(memcmp(h->dst.addr + i * DIGEST, want, DIGEST), 0);
}

static void
all_are_hashed(struct hasher *h)
{
	unsigned int i;

	T_WAIT(doca_pe_progress(h->pe), h->nb_done + h->nb_errors == h->nb_submitted);
	T_EQ(h->nb_errors, 0);
	for (i = 0; i < h->nb_submitted; i++)
		is_hashed(h, i);
}

static void
nothing_is_done(struct hasher *h)
{
	T_SETTLE(doca_pe_progress(h->pe));
	T_EQ(h->nb_done + h->nb_errors, 0);
}

/* Whether the thread of the case sleeps. */
static bool
engine_waits(void)
{
	char path[64], text[64] = "";
	const char *name_end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	f = fopen(path, "r");
	T_CHECK(f != NULL);
	T_CHECK(fgets(text, sizeof(text), f) != NULL);
	fclose(f);
	name_end = strrchr(text, ')');
	T_CHECK(name_end != NULL);
	return name_end[2] == 'S';
}

/* Let it go, when the thread of the case waits for it. */
static void *
release_later(void *arg)
{
	T_CHECK(arg == NULL);
	T_AWAIT(engine_goes_on);
	T_AWAIT(engine_waits());
	held = NULL;
	return NULL;
}

/* From here on, this thread sleeps only where it waits for a worker. */
static pthread_t
release_by_thread(void)
{
	pthread_t thread;

	T_EQ(pthread_create(&thread, NULL, release_later, NULL), 0);
	engine_goes_on = true;
	return thread;
}

/* An engine with tasks that workers have sleeps until one has ended. */
T_CASE(engine_sleeps)
{
	struct pollfd fd = { .events = POLLIN };
	struct hasher h;

	open_with(&h, 1);
	T_OK(doca_pe_get_notification_handle(h.pe, &fd.fd));
	held = message(&h, 0);
	submit(&h, LONG);
	T_AWAIT(nb_entered == 1);
	nothing_is_done(&h);
	T_OK(doca_pe_request_notification(h.pe));
	T_EQ(poll(&fd, 1, 0), 0);
	held = NULL;
	T_AWAIT(poll(&fd, 1, 0) == 1);
	T_OK(doca_pe_clear_notification(h.pe, fd.fd));
	all_are_hashed(&h);
	hasher_close(&h);
}

T_CASE(reports_in_order)
{
	struct hasher h;

	open_with(&h, 2);
	held = message(&h, 0);
	submit(&h, LONG);
	submit(&h, LONG);
	submit(&h, SHORT);
	T_AWAIT(nb_entered == 2);
	nothing_is_done(&h);
	held = NULL;
	all_are_hashed(&h);
	/* The short one is not worth it. */
	T_EQ(nb_entered, 2);
	hasher_close(&h);
}

T_CASE(more_tasks_than_workers)
{
	struct hasher h;
	unsigned int i;

	open_with(&h, 3);
	for (i = 0; i < NB; i++)
		submit(&h, LONG - i);
	all_are_hashed(&h);
	T_EQ(nb_entered, NB);
	hasher_close(&h);
}

/* What a worker is at ends, what none has begun is not begun. */
T_CASE(stop_while_workers_have_tasks)
{
	struct hasher h;
	pthread_t thread;
	unsigned int i;

	open_with(&h, 1);
	held = message(&h, 0);
	for (i = 0; i < 3; i++)
		submit(&h, LONG);
	T_AWAIT(nb_entered == 1);
	T_IS(doca_ctx_stop(h.ctx), DOCA_ERROR_IN_PROGRESS);
	thread = release_by_thread();
	T_WAIT(doca_pe_progress(h.pe), h.nb_errors == 3);
	for (i = 0; i < 3; i++)
		T_IS(h.status[i], DOCA_ERROR_SHUTDOWN);
	T_WAIT(doca_pe_progress(h.pe), ctx_is_idle(h.ctx));
	T_EQ(pthread_join(thread, NULL), 0);
	T_EQ(nb_entered, 1);
	for (i = 0; i < 2 * DIGEST; i++)
		T_EQ(h.dst.addr[DIGEST + i], 0);
	/* It can start again. */
	memset(&h.states, 0, sizeof(h.states));
	T_OK(doca_ctx_start(h.ctx));
	hasher_close(&h);
}

T_CASE(freed_while_a_worker_has_it)
{
	struct hasher h;
	pthread_t thread;

	open_with(&h, 1);
	held = message(&h, 0);
	submit(&h, LONG);
	T_AWAIT(nb_entered == 1);
	thread = release_by_thread();
	/* Its memory is left alone from now on. */
	doca_task_free(doca_sha_task_hash_as_task(h.task[0]));
	T_CHECK(held == NULL);
	T_EQ(pthread_join(thread, NULL), 0);
	nothing_is_done(&h);
	/* As the next one's number is 1. */
	h.nb_done = 1;
	submit(&h, LONG);
	T_WAIT(doca_pe_progress(h.pe), h.nb_done == 2);
	is_hashed(&h, 1);
	hasher_close(&h);
}

/* A long task lets others have their turn: there are 256 KiB of it at a time. */
T_CASE(turns)
{
	const unsigned int nb = NB * LONG / (256 << 10);
	struct hasher h, other;

	open_with(&h, 1);
	hasher_create(&other);
	held = message(&h, 0);
	submit(&h, NB * LONG);
	T_AWAIT(nb_entered == 1);
	submit(&other, LONG);
	held = NULL;
	T_WAIT(doca_pe_progress(other.pe), other.nb_done == 1);
	is_hashed(&other, 0);
	T_WAIT(doca_pe_progress(h.pe), h.nb_done == 1);
	is_hashed(&h, 0);
	T_EQ(nb_entered, nb + 1);
	/* Its second piece was not begun before the other task. */
	T_EQ(other_was, 2);
	hasher_close(&h);
	hasher_close(&other);
}

/* The buffers of a freed task are the program's, also before it would have been its turn. */
T_CASE(buffers_of_a_freed_task)
{
	struct doca_buf_inventory *inv;
	struct hasher h;
	struct doca_buf *in, *out;

	open_with(&h, 1);
	held = message(&h, 0);
	submit(&h, LONG);
	T_AWAIT(nb_entered == 1);
	T_OK(doca_buf_inventory_create(2, &inv));
	T_OK(doca_buf_inventory_start(inv));
	T_OK(doca_buf_inventory_buf_get_by_data(inv, h.src.mmap, message(&h, 1), LONG, &in));
	T_OK(doca_buf_inventory_buf_get_by_addr(inv, h.dst.mmap, h.dst.addr + DIGEST, DIGEST,
		&out));
	T_OK(doca_sha_task_hash_alloc_init(h.sha, DOCA_SHA_ALGORITHM_SHA256, in, out,
		(union doca_data){ .u64 = 9 }, &h.task[1]));
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(h.task[1])));
	doca_task_free(doca_sha_task_hash_as_task(h.task[1]));
	T_OK(doca_buf_dec_refcount(in, NULL));
	T_OK(doca_buf_dec_refcount(out, NULL));
	T_OK(doca_buf_inventory_stop(inv));
	T_OK(doca_buf_inventory_destroy(inv));
	submit(&h, LONG);
	held = NULL;
	all_are_hashed(&h);
	hasher_close(&h);
}

/* A freed task's worker is free for the next, also of an engine that sleeps. */
T_CASE(freed_while_the_engine_sleeps)
{
	struct pollfd fd = { .events = POLLIN };
	struct hasher h, other;

	open_with(&h, 1);
	hasher_create(&other);
	held = message(&other, 0);
	submit(&other, LONG);
	T_AWAIT(nb_entered == 1);
	submit(&h, LONG);
	submit(&h, SHORT);
	T_OK(doca_pe_get_notification_handle(h.pe, &fd.fd));
	T_OK(doca_pe_request_notification(h.pe));
	T_EQ(poll(&fd, 1, 0), 0);
	doca_task_free(doca_sha_task_hash_as_task(h.task[0]));
	T_EQ(poll(&fd, 1, 0), 1);
	T_OK(doca_pe_clear_notification(h.pe, fd.fd));
	h.nb_done = 1;
	T_WAIT(doca_pe_progress(h.pe), h.nb_done == 2);
	is_hashed(&h, 1);
	held = NULL;
	all_are_hashed(&other);
	hasher_close(&h);
	hasher_close(&other);
}

/* As they would be by one thread. */
T_CASE(common_buffers)
{
	unsigned char want[DIGEST];
	struct hasher h;

	open_with(&h, 2);
	held = message(&h, 0);
	submit(&h, LONG);
	T_AWAIT(nb_entered == 1);
	/* To the same destination. */
	h.in[1] = memory_buf(&h.src, LONG, LONG, true);
	h.out[1] = memory_buf(&h.dst, DIGEST, DIGEST, false);
	T_OK(doca_sha_task_hash_alloc_init(h.sha, DOCA_SHA_ALGORITHM_SHA256, h.in[1], h.out[0],
		(union doca_data){ .u64 = 1 }, &h.task[1]));
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(h.task[1])));
	h.nb_submitted = 2;
	nothing_is_done(&h);
	T_EQ(nb_entered, 1);
	held = NULL;
	T_WAIT(doca_pe_progress(h.pe), h.nb_done == 2);
	T_EQ(nb_entered, 2);
	T_EQ(EVP_Digest(message(&h, 1), LONG, want, NULL, EVP_sha256(), NULL), 1);
	T_EQ(memcmp(h.dst.addr, want, DIGEST), 0);
	hasher_close(&h);
}

/* A task that cannot begin fails when it is its turn, and the context stops. */
T_CASE(fails)
{
	struct hasher h;

	open_with(&h, 2);
	submit(&h, LONG);
	T_WAIT(doca_pe_progress(h.pe), h.nb_done == 1);
	held = message(&h, 1);
	submit(&h, LONG);
	T_AWAIT(nb_entered == 2);
	/* Its source is in the middle of a list. */
	h.in[2] = memory_buf(&h.src, 2 * LONG, LONG, true);
	h.out[2] = memory_buf(&h.dst, 2 * DIGEST, DIGEST, false);
	T_OK(doca_sha_task_hash_alloc_init(h.sha, DOCA_SHA_ALGORITHM_SHA256, h.in[2], h.out[2],
		(union doca_data){ .u64 = 2 }, &h.task[2]));
	T_OK(doca_buf_chain_list(h.in[0], h.in[2]));
	h.nb_submitted = 3;
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(h.task[2])));
	submit(&h, LONG);
	nothing_is_done(&(struct hasher){ .pe = h.pe });
	T_EQ(h.nb_errors, 0);
	held = NULL;
	T_WAIT(doca_pe_progress(h.pe), h.nb_done == 2 && h.nb_errors == 2);
	is_hashed(&h, 1);
	T_IS(h.status[2], DOCA_ERROR_INVALID_VALUE);
	T_IS(h.status[3], DOCA_ERROR_SHUTDOWN);
	T_WAIT(doca_pe_progress(h.pe), ctx_is_idle(h.ctx));
	T_OK(doca_buf_unchain_list(h.in[0], h.in[2]));
	hasher_close(&h);
}

/* Threads of the process that are workers. */
static unsigned int
nb_workers(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *d;
	char path[300], name[32];
	unsigned int nb = 0;
	FILE *f;

	T_CHECK(dir != NULL);
	while ((d = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		if (fgets(name, sizeof(name), f) != NULL)
			nb += strcmp(name, "comch-accel\n") == 0;
		fclose(f);
	}
	closedir(dir);
	return nb;
}

/* They are those of the process, while a context runs. */
T_CASE(threads)
{
	struct hasher h, other;

	open_with(&h, 3);
	T_AWAIT(nb_workers() == 3);
	hasher_create(&other);
	T_AWAIT(nb_workers() == 3);
	stop(&h);
	submit(&other, LONG);
	all_are_hashed(&other);
	T_EQ(nb_entered, 1);
	T_EQ(nb_workers(), 3);
	stop(&other);
	/* A thread that was joined may be listed for a moment. */
	T_AWAIT(nb_workers() == 0);
	memset(&h.states, 0, sizeof(h.states));
	T_OK(doca_ctx_start(h.ctx));
	T_AWAIT(nb_workers() == 3);
	hasher_close(&h);
	hasher_close(&other);
}

static int
in_child(int fd __rte_unused, void *arg)
{
	const struct hasher *h = arg;

	T_CHECK(ctx_is_idle(h->ctx));
	doca_task_free(doca_sha_task_hash_as_task(h->task[0]));
	T_IS(doca_ctx_start(h->ctx), DOCA_ERROR_NOT_SUPPORTED);
	T_EQ(nb_workers(), 0);
	return 0;
}

/* A child has none of the threads, and gets none; its parent goes on. */
T_CASE(fork_while_a_worker_has_a_task)
{
	struct t_proc child;
	struct hasher h;

	open_with(&h, 1);
	held = message(&h, 0);
	submit(&h, LONG);
	T_AWAIT(nb_entered == 1);
	t_proc_start(&child, "child", in_child, &h);
	t_proc_join(&child);
	held = NULL;
	all_are_hashed(&h);
	hasher_close(&h);
}
