/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What accelerators show to telemetry, and comch-info of it. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_compress.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "accel/copier.h"
#include "common/file.h"
#include "t_main.h"
#include "t_proc.h"
#include "t_tel.h"

#define LEN 100

static void
has_state(int fd, unsigned int id, const char *kind, const char *device, const char *state)
{
	char question[64];
	json_t *info;

	snprintf(question, sizeof(question), "/comch/accel/info,%u", id);
	info = t_tel_ask(fd, question);
	T_EQ(t_tel_number(info, "id"), id);
	t_tel_is_text(info, "kind", kind);
	t_tel_is_text(info, "device", device);
	t_tel_is_text(info, "state", state);
	json_decref(info);
}

static void
has_counted(int fd, unsigned int submitted, unsigned int done, unsigned int failed, size_t bytes)
{
	json_t *stats = t_tel_ask(fd, "/comch/accel/stats,0");

	T_EQ(t_tel_number(stats, "submitted"), submitted);
	T_EQ(t_tel_number(stats, "done"), done);
	T_EQ(t_tel_number(stats, "failed"), failed);
	T_EQ(t_tel_number(stats, "bytes"), bytes);
	json_decref(stats);
}

/* Submit a copy, of memory that is in one piece or cannot be copied. */
static void
submit(struct copier *c, struct doca_buf **bufs, bool is_good)
{
	bufs[0] = memory_buf(&c->src, 0, LEN, true);
	bufs[1] = memory_buf(&c->dst, 0, is_good ? LEN : LEN - 1, false);
	copier_submit(c, bufs[0], bufs[1]);
}

T_CASE(tasks)
{
	struct doca_buf *bufs[8];
	struct copier c;
	int fd, i;

	copier_create(&c, "dpu", "03:00.0");
	fd = t_tel_open();
	T_EQ(t_tel_first(fd, "/comch/accel/list", 1), 0);
	has_state(fd, 0, "DMA", "0000:03:00.0", "IDLE");
	T_OK(doca_ctx_start(c.ctx));
	has_state(fd, 0, "DMA", "0000:03:00.0", "RUNNING");
	has_counted(fd, 0, 0, 0, 0);
	for (i = 0; i < 3; i++)
		submit(&c, bufs + 2 * i, true);
	has_counted(fd, 3, 0, 0, 0);
	copier_wait(&c, 3);
	has_counted(fd, 3, 3, 0, 3 * LEN);
	/* It fails before it begins, and with it those behind it. */
	submit(&c, bufs + 6, false);
	copier_wait(&c, 4);
	has_counted(fd, 4, 3, 1, 3 * LEN);
	T_WAIT(doca_pe_progress(c.pe), ctx_is_idle(c.ctx));
	has_state(fd, 0, "DMA", "0000:03:00.0", "IDLE");
	for (i = 0; i < 4; i++)
		free_bufs(bufs[2 * i], bufs[2 * i + 1]);
	copier_close(&c);
	T_EQ(t_tel_first(fd, "/comch/accel/list", 0), -1);
	T_CHECK(json_is_null(t_tel_ask(fd, "/comch/accel/info,0")));
	T_EQ(close(fd), 0);
}

/* A task that the program frees while it waits for its turn ends as well. */
T_CASE(freed_task)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	struct copier c;
	int fd;

	copier_open(&c);
	fd = t_tel_open();
	src = memory_buf(&c.src, 0, LEN, true);
	dst = memory_buf(&c.dst, 0, LEN, false);
	task = copier_submit(&c, src, dst);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	has_counted(fd, 1, 0, 0, 0);
	T_SETTLE(doca_pe_progress(c.pe));
	has_counted(fd, 1, 0, 1, 0);
	free_bufs(src, dst);
	copier_close(&c);
	T_EQ(close(fd), 0);
}

/* Tasks that never come to their turn count as well. */
T_CASE(failures)
{
	struct doca_buf *bufs[6];
	struct copier c;
	int fd, i;

	device_table_write("[device dpu]\npci = 03:00.0\nfault.error = 1\n"
		"[function pf0]\npci = b1:00.0\n");
	copier_open(&c);
	fd = t_tel_open();
	submit(&c, bufs, true);
	T_WAIT(doca_pe_progress(c.pe), ctx_is_idle(c.ctx));
	T_EQ(c.nb_errors, 1);
	has_counted(fd, 1, 0, 1, 0);
	T_OK(doca_ctx_start(c.ctx));
	submit(&c, bufs + 2, true);
	T_IS(doca_ctx_stop(c.ctx), DOCA_ERROR_IN_PROGRESS);
	submit(&c, bufs + 4, true);
	T_WAIT(doca_pe_progress(c.pe), ctx_is_idle(c.ctx));
	T_EQ(c.nb_errors, 3);
	has_counted(fd, 3, 0, 3, 0);
	for (i = 0; i < 3; i++)
		free_bufs(bufs[2 * i], bufs[2 * i + 1]);
	copier_close(&c);
	T_EQ(close(fd), 0);
}

/* Each kind, with and without a device; ids are not used again. */
T_CASE(kinds)
{
	struct doca_compress *compress;
	struct doca_sync_event *event;
	struct doca_dev *dev;
	struct doca_sha *sha;
	int fd;

	dev = dev_open("host", "b1:00.0");
	fd = t_tel_open();
	T_OK(doca_sha_create(dev, &sha));
	T_OK(doca_compress_create(dev, &compress));
	T_OK(doca_sync_event_create(&event));
	T_EQ(t_tel_first(fd, "/comch/accel/list", 3), 0);
	has_state(fd, 0, "SHA", "0000:b1:00.0", "IDLE");
	has_state(fd, 1, "compress", "0000:b1:00.0", "IDLE");
	has_state(fd, 2, "sync event", "", "IDLE");
	T_OK(doca_sync_event_add_publisher_location_cpu(event, dev));
	has_state(fd, 2, "sync event", "0000:b1:00.0", "IDLE");
	T_OK(doca_compress_destroy(compress));
	T_EQ(t_tel_first(fd, "/comch/accel/list,1", 1), 2);
	T_OK(doca_compress_create(dev, &compress));
	T_EQ(t_tel_first(fd, "/comch/accel/list,3", 1), 3);
	T_EQ(t_tel_first(fd, "/comch/accel/list,4", 0), -1);
	T_OK(doca_sha_destroy(sha));
	T_OK(doca_compress_destroy(compress));
	T_OK(doca_sync_event_destroy(event));
	T_OK(doca_dev_close(dev));
	T_EQ(close(fd), 0);
}

T_CASE(bad_requests)
{
	static const char *const bad[] = {
		"/comch/accel/info", "/comch/accel/info,x", "/comch/accel/info,0x0",
		"/comch/accel/info,1", "/comch/accel/info,0,0", "/comch/accel/info,-0",
		"/comch/accel/info,4294967296", "/comch/accel/stats", "/comch/accel/stats,1",
		"/comch/accel/list,x",
	};
	struct copier c;
	json_t *none;
	size_t i;
	int fd;

	copier_open(&c);
	fd = t_tel_open();
	for (i = 0; i < RTE_DIM(bad); i++) {
		none = t_tel_ask(fd, bad[i]);
		if (!json_is_null(none))
			T_FAIL("%s: %s", bad[i], json_dumps(none, 0));
		json_decref(none);
	}
	copier_close(&c);
	T_EQ(close(fd), 0);
}

/* Somebody asks all the time. */
struct asker {
	pthread_t thread;
	atomic_bool is_over;
	atomic_uint nb;
};

/* Of the last one in the list, which may be gone by then. */
static void
ask_of_newest(int fd)
{
	json_t *list = t_tel_ask(fd, "/comch/accel/list");
	const size_t nb = json_array_size(list);
	const json_int_t id = json_integer_value(json_array_get(list, nb - 1));
	char question[64];

	T_GT(nb, 0);
	json_decref(list);
	snprintf(question, sizeof(question), "/comch/accel/info,%lld", (long long)id);
	json_decref(t_tel_ask(fd, question));
	snprintf(question, sizeof(question), "/comch/accel/stats,%lld", (long long)id);
	json_decref(t_tel_ask(fd, question));
}

static void *
ask(void *arg)
{
	struct asker *a = arg;
	int fd = t_tel_open();

	for (; !a->is_over; a->nb++)
		ask_of_newest(fd);
	T_EQ(close(fd), 0);
	return NULL;
}

static void
asker_begin(struct asker *a)
{
	a->is_over = false;
	a->nb = 0;
	T_EQ(pthread_create(&a->thread, NULL, ask, a), 0);
	T_AWAIT(a->nb > 0);
}

static void
asker_end(struct asker *a)
{
	a->is_over = true;
	T_EQ(pthread_join(a->thread, NULL), 0);
}

/* Objects come and go, and tasks are done, meanwhile. */
T_CASE(while_all_changes)
{
	struct doca_sync_event *event;
	struct doca_buf *bufs[2];
	struct asker a;
	struct copier c;
	unsigned int i;

	copier_open(&c);
	asker_begin(&a);
	for (i = 1; a.nb < 40; i++) {
		submit(&c, bufs, true);
		T_OK(doca_sync_event_create(&event));
		T_OK(doca_sync_event_add_subscriber_location_cpu(event, c.dev));
		copier_wait(&c, i);
		T_OK(doca_sync_event_destroy(event));
		free_bufs(bufs[0], bufs[1]);
	}
	asker_end(&a);
	copier_close(&c);
}

static int
destroy_in_child(int fd __rte_unused, void *arg)
{
	/* Its parent's telemetry thread, which is not here, may have been at it. */
	return doca_sync_event_destroy(arg) == DOCA_SUCCESS ? 0 : 1;
}

T_CASE(forks)
{
	struct doca_sync_event *event;
	struct t_proc child;
	struct asker a;
	struct copier c;
	unsigned int i;

	copier_open(&c);
	T_OK(doca_sync_event_create(&event));
	asker_begin(&a);
	for (i = 0; i < 20; i++) {
		t_proc_start(&child, "child", destroy_in_child, event);
		t_proc_join(&child);
	}
	asker_end(&a);
	T_OK(doca_sync_event_destroy(event));
	copier_close(&c);
}

/* The words of its table are there; T_INFO is the program. */
T_CASE(comch_info)
{
	static const char *const words[] = {
		"accelerators", "DMA", "0000:03:00.0", "RUNNING", "submitted",
	};
	const char *program = getenv("T_INFO");
	struct copier c;
	char text[1 << 16];
	size_t i, len;
	FILE *f;

	if (program == NULL)
		t_skip("no comch-info: T_INFO");
	copier_open(&c);
	f = popen(program, "re");
	T_CHECK(f != NULL);
	len = fread(text, 1, sizeof(text) - 1, f);
	T_EQ(pclose(f), 0);
	text[len] = '\0';
	for (i = 0; i < RTE_DIM(words); i++)
		T_STR_HAS(text, words[i]);
	copier_close(&c);
}
