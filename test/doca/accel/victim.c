/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "accel/victim.h"
#include "t_main.h"

/* Where the task writes in the victim's memory. */
#define AT 1000
/* What the exporter fills the window with. */
#define FILL 0x5a

static void
open_at(struct victim *v, bool by_link)
{
	memset(v, 0, sizeof(*v));
	v->fd = v->window = -1;
	exporter_start(&v->e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	v->listener = desc_listen(v->e.shared);
	T_EQ(fcntl(v->listener, F_SETFL, O_NONBLOCK), 0);
	if (by_link)
		desc_replace_by_link(v->e.shared);
	importer_open(&v->i, &v->e);
}

void
victim_open(struct victim *v)
{
	open_at(v, false);
}

void
victim_open_by_link(struct victim *v)
{
	open_at(v, true);
}

void
victim_close(struct victim *v)
{
	victim_hang_up(v);
	T_EQ(close(v->listener), 0);
	importer_close(&v->i);
	exporter_end(&v->e);
}

void
victim_submit(struct victim *v, size_t len)
{
	memset(v->i.mem.addr, 0, EXPORT_LEN);
	v->len = len;
	v->answered = 0;
	v->src = importer_buf(&v->i, &v->e, 0, len, true);
	v->dst = memory_buf(&v->i.mem, AT, len, false);
	copier_submit(&v->i.c, v->src, v->dst);
	T_SETTLE(doca_pe_progress(v->i.c.pe));
}

static bool
hears_request(struct victim *v)
{
	return recv(v->fd, &v->request, sizeof(v->request), MSG_DONTWAIT) ==
		(ssize_t)sizeof(v->request);
}

/* Before it is sealed. */
static void
fill_window(int window)
{
	static uint8_t bytes[COMCH_REMOTE_WINDOW];

	memset(bytes, FILL, sizeof(bytes));
	T_EQ(pwrite(window, bytes, sizeof(bytes), 0), sizeof(bytes));
}

static void
step_to(struct victim *v, enum victim_step step)
{
	if (step == VICTIM_ACCEPTED) {
		v->fd = accept4(v->listener, NULL, NULL, SOCK_CLOEXEC);
		T_GE(v->fd, 0);
	} else if (step == VICTIM_GREETED) {
		v->window = raw_remote_take(v->fd);
		fill_window(v->window);
	} else if (step == VICTIM_SEALED) {
		raw_remote_seal(v->window);
	} else if (step == VICTIM_WELCOMED) {
		raw_remote_welcome(v->fd, NULL, 0);
	} else if (step == VICTIM_ASKED) {
		T_WAIT(doca_pe_progress(v->i.c.pe), hears_request(v));
		T_EQ(v->request.op, COMCH_REMOTE_READ);
		T_EQ(v->request.addr, (uintptr_t)v->e.shared->addr);
		T_EQ(v->request.len, RTE_MIN(v->len, RTE_COMCH_PIECE_MAX));
	} else {
		v->answered = v->request.len;
		victim_answer(v, v->request.slot, v->request.number, 0);
	}
}

void
victim_advance(struct victim *v, enum victim_step step)
{
	while (v->step < step)
		step_to(v, ++v->step);
	T_EQ(v->i.c.nb_done + v->i.c.nb_errors, 0);
}

void
victim_begin(struct victim *v, enum victim_step step)
{
	victim_open(v);
	victim_submit(v, 100);
	victim_advance(v, step);
}

void
victim_answer(struct victim *v, uint32_t slot, uint32_t number, int32_t status)
{
	const struct comch_remote_reply reply = {
		.slot = slot, .number = number, .status = status,
	};

	T_EQ(send(v->fd, &reply, sizeof(reply), MSG_NOSIGNAL), sizeof(reply));
}

static void
answer_next(struct victim *v)
{
	doca_pe_progress(v->i.c.pe);
	if (hears_request(v))
		victim_answer(v, v->request.slot, v->request.number, 0);
}

void
victim_serve(struct victim *v)
{
	size_t k;

	victim_advance(v, VICTIM_WELCOMED);
	if (v->step == VICTIM_ASKED)
		victim_advance(v, VICTIM_ANSWERED);
	T_WAIT(answer_next(v), v->i.c.nb_done + v->i.c.nb_errors == 1);
	T_EQ(v->i.c.nb_done, 1);
	T_EQ(data_len(v->dst), v->len);
	for (k = 0; k < EXPORT_LEN; k++)
		T_EQ(v->i.mem.addr[k], k >= AT && k < AT + v->len ? FILL : 0);
	v->i.c.nb_done = 0;
	free_bufs(v->src, v->dst);
}

void
victim_hang_up(struct victim *v)
{
	/* The death of an exporter also ends connections that it has not accepted yet. */
	if (v->fd < 0)
		v->fd = accept4(v->listener, NULL, NULL, SOCK_CLOEXEC);
	if (v->fd >= 0)
		T_EQ(close(v->fd), 0);
	if (v->window >= 0)
		T_EQ(close(v->window), 0);
	v->fd = v->window = -1;
	v->step = VICTIM_CONNECTED;
}

void
victim_fails(struct victim *v, doca_error_t error)
{
	size_t k;

	copier_wait(&v->i.c, 1);
	T_EQ(v->i.c.nb_errors, 1);
	T_IS(v->i.c.status, error);
	T_EQ(data_len(v->dst), 0);
	for (k = 0; k < EXPORT_LEN; k++)
		if (k < AT || k >= AT + v->answered)
			T_EQ(v->i.mem.addr[k], 0);
	free_bufs(v->src, v->dst);
	importer_restart(&v->i);
}

void
victim_end(struct victim *v)
{
	victim_fails(v, DOCA_ERROR_NOT_CONNECTED);
	victim_close(v);
}
