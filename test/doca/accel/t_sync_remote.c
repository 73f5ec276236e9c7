/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA sync events on both sides: an exporter that does as it is told; the test imports. */

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <doca_pe.h>
#include <doca_sync_event.h>

#include "common/context.h"
#include "common/device.h"
#include "common/result.h"
#include "t_main.h"
#include "t_proc.h"

#define ALL UINT64_MAX
#define ADDS 100000

struct shared {
	uint8_t desc[256];
	size_t desc_len;
};

struct pair {
	const char *role, *pci;           /* of the exporter */
	struct t_proc exporter;
	struct shared *shared;
	struct doca_dev *dev;
	struct doca_sync_event *event;    /* imported */
	/* Of a context */
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	unsigned int nb_done, nb_errors;
};

/* 'W': wait, then set; 'P': wait, then add 1; 'A': add many times; 'X': stop, destroy and exit. */
static void
serve(int fd, struct doca_sync_event *event)
{
	struct t_step step;
	unsigned int i;

	for (;;) {
		T_AWAIT(t_listen(fd, &step));
		t_say(fd, (char)step.code, 0);
		if (step.code == 'X')
			break;
		for (i = 0; step.code == 'A' && i < ADDS; i++)
			T_OK(doca_sync_event_update_add(event, 1, NULL));
		if (step.code == 'A')
			t_say(fd, 'D', 0);
		if (step.code != 'W' && step.code != 'P')
			continue;
		T_OK(doca_sync_event_wait_eq_yield(event, step.value, ALL));
		if (step.code == 'W')
			T_OK(doca_sync_event_update_set(event, step.value + 1));
		else
			T_OK(doca_sync_event_update_add(event, 1, NULL));
	}
}

static int
export_event(int fd, void *arg)
{
	struct pair *p = arg;
	struct doca_dev *dev = dev_open(p->role, p->pci);
	struct doca_sync_event *event;
	const uint8_t *data;

	T_OK(doca_sync_event_create(&event));
	T_OK(doca_sync_event_add_publisher_location_remote_pci(event));
	T_OK(doca_sync_event_add_subscriber_location_cpu(event, dev));
	T_OK(doca_sync_event_start(event));
	T_OK(doca_sync_event_export_to_remote_pci(event, dev, &data, &p->shared->desc_len));
	T_LE(p->shared->desc_len, sizeof(p->shared->desc));
	memcpy(p->shared->desc, data, p->shared->desc_len);
	t_say(fd, 'R', 0);
	serve(fd, event);
	T_OK(doca_sync_event_stop(event));
	T_OK(doca_sync_event_destroy(event));
	T_OK(doca_dev_close(dev));
	return 0;
}

static void
pair_start(struct pair *p, bool host_exports)
{
	uint8_t desc[256];

	*p = (struct pair){
		.role = host_exports ? "host" : "dpu",
		.pci = host_exports ? "b1:00.0" : "03:00.0",
	};
	p->shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_CHECK(p->shared != MAP_FAILED);
	t_proc_start(&p->exporter, "exporter", export_event, p);
	t_hear(p->exporter.fd, 'R');
	p->dev = host_exports ? dev_open("dpu", "03:00.0") : dev_open("host", "b1:00.0");
	/* From memory that is gone afterwards. */
	memcpy(desc, p->shared->desc, p->shared->desc_len);
	T_OK(doca_sync_event_create_from_export(p->dev, desc, p->shared->desc_len, &p->event));
	memset(desc, 0, sizeof(desc));
}

static void
exporter_ends(struct pair *p)
{
	t_say(p->exporter.fd, 'X', 0);
	t_hear(p->exporter.fd, 'X');
	t_proc_join(&p->exporter);
	p->exporter.pid = 0;
}

static void
pair_end(struct pair *p)
{
	T_OK(doca_sync_event_destroy(p->event));
	if (p->exporter.pid > 0)
		exporter_ends(p);
	T_EQ(munmap(p->shared, sizeof(*p->shared)), 0);
	if (p->pe != NULL)
		T_OK(doca_pe_destroy(p->pe));
	T_OK(doca_dev_close(p->dev));
}

static void
exporter_do(struct pair *p, char what, uint64_t value)
{
	t_say(p->exporter.fd, what, value);
	t_hear(p->exporter.fd, what);
}

static void
handshake(bool host_exports)
{
	struct pair p;

	pair_start(&p, host_exports);
	T_OK(doca_sync_event_start(p.event));
	exporter_do(&p, 'W', 1);
	T_OK(doca_sync_event_update_set(p.event, 1));
	T_OK(doca_sync_event_wait_eq(p.event, 2, ALL));
	exporter_do(&p, 'P', 3);
	T_OK(doca_sync_event_update_add(p.event, 1, NULL));
	T_OK(doca_sync_event_wait_eq_yield(p.event, 4, ALL));
	/* It is gone, and nothing is lost. */
	exporter_ends(&p);
	T_OK(doca_sync_event_wait_eq_yield(p.event, 4, ALL));
	T_OK(doca_sync_event_stop(p.event));
	pair_end(&p);
}

/* behaviour: H12, H13 */
T_CASE(host_exports)
{
	handshake(true);
}

/* behaviour: H12, H13 */
T_CASE(dpu_exports)
{
	handshake(false);
}

/* behaviour: H14 */
T_CASE(adds)
{
	struct pair p;
	uint64_t value;
	unsigned int i;

	pair_start(&p, true);
	T_OK(doca_sync_event_start(p.event));
	exporter_do(&p, 'A', 0);
	for (i = 0; i < ADDS; i++)
		T_OK(doca_sync_event_update_add(p.event, 1, NULL));
	t_hear(p.exporter.fd, 'D');
	T_GETS(doca_sync_event_get(p.event, &value), value, 2 * ADDS);
	T_OK(doca_sync_event_stop(p.event));
	pair_end(&p);
}

static void
on_wait(struct doca_sync_event_task_wait_eq *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct doca_task *t = doca_sync_event_task_wait_eq_as_doca_task(task);
	struct pair *p = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	if (doca_task_get_status(t) == DOCA_SUCCESS)
		p->nb_done++;
	else
		p->nb_errors++;
	doca_task_free(t);
}

/* behaviour: H7, H12 */
T_CASE(waits_as_tasks)
{
	struct doca_sync_event_task_wait_eq *task;
	struct pair p;

	pair_start(&p, true);
	p.ctx = doca_sync_event_as_ctx(p.event);
	T_OK(doca_pe_create(&p.pe));
	T_OK(doca_pe_connect_ctx(p.pe, p.ctx));
	T_OK(doca_ctx_set_user_data(p.ctx, (union doca_data){ .ptr = &p }));
	T_OK(doca_sync_event_task_wait_eq_set_conf(p.event, on_wait, on_wait, 2));
	T_OK(doca_ctx_start(p.ctx));
	T_OK(doca_sync_event_task_wait_eq_alloc_init(p.event, 2, ALL, (union doca_data){ 0 },
		&task));
	T_OK(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)));
	T_EQ(doca_pe_progress(p.pe), 0);
	exporter_do(&p, 'W', 1);
	T_EQ(doca_pe_progress(p.pe), 0);
	T_OK(doca_sync_event_update_set(p.event, 1));
	T_WAIT(0, doca_pe_progress(p.pe) == 1);
	T_EQ(p.nb_done, 1);
	T_OK(doca_ctx_stop(p.ctx));
	T_WAIT(doca_pe_progress(p.pe), ctx_is_idle(p.ctx));
	pair_end(&p);
}

/* behaviour: H15 */
T_CASE(exporter_gone)
{
	struct pair p;

	pair_start(&p, true);
	T_EQ(kill(p.exporter.pid, SIGKILL), 0);
	T_EQ(waitpid(p.exporter.pid, NULL, 0), p.exporter.pid);
	p.exporter.pid = 0;
	T_IS(doca_sync_event_start(p.event), DOCA_ERROR_NOT_CONNECTED);
	T_IS(doca_sync_event_stop(p.event), DOCA_ERROR_BAD_STATE);
	pair_end(&p);
}

/* behaviour: H16 */
T_CASE(bad_descriptors)
{
	struct doca_sync_event *event;
	struct pair p;
	size_t i;

	pair_start(&p, true);
	T_INVALID(doca_sync_event_create_from_export(NULL, p.shared->desc, p.shared->desc_len,
		&event));
	T_INVALID(doca_sync_event_create_from_export(p.dev, NULL, p.shared->desc_len, &event));
	T_INVALID(doca_sync_event_create_from_export(p.dev, p.shared->desc, p.shared->desc_len,
		NULL));
	T_INVALID(doca_sync_event_create_from_export(p.dev, p.shared->desc,
		p.shared->desc_len - 1, &event));
	for (i = 0; i < p.shared->desc_len; i++) {
		p.shared->desc[i] ^= 0x40;
		T_INVALID(doca_sync_event_create_from_export(p.dev, p.shared->desc,
			p.shared->desc_len, &event));
		p.shared->desc[i] ^= 0x40;
	}
	/* It is not exported again, and has no locations of its own. */
	T_IS(doca_sync_event_add_publisher_location_remote_pci(p.event), DOCA_ERROR_BAD_STATE);
	T_OK(doca_sync_event_start(p.event));
	T_IS(doca_sync_event_export_to_remote_pci(p.event, p.dev, &(const uint8_t *){ NULL },
		&(size_t){ 0 }), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_sync_event_stop(p.event));
	pair_end(&p);
}
