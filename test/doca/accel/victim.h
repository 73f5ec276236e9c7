/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_VICTIM_H
#define ACCEL_VICTIM_H

/*
 * An importer whose exporter is the test, by hand. It has one task, which reads into the middle of
 * its memory. The test leads the two to a step of what they say to each other, and goes on as it
 * likes.
 */

#include "accel/desc.h"
#include "accel/importer.h"
#include "raw_remote.h"

/* What has been done last. */
enum victim_step {
	VICTIM_CONNECTED,  /* it waits for an exporter that has not looked yet */
	VICTIM_ACCEPTED,
	VICTIM_GREETED,    /* its hello and its window were taken */
	VICTIM_SEALED,
	VICTIM_WELCOMED,
	VICTIM_ASKED,      /* its first request was taken */
	VICTIM_ANSWERED,   /* the answer to that was sent */
	NB_VICTIM_STEPS
};

struct victim {
	struct importer i;
	struct exporter e;
	struct doca_buf *src, *dst;
	size_t len;                  /* of the task */
	size_t answered;             /* of its bytes */
	int listener;
	enum victim_step step;
	int fd;                      /* -1: not accepted */
	int window;                  /* -1: not taken */
	struct comch_remote_request request;
};

/* It has no task yet. */
void victim_open(struct victim *v);
/* The same, with a descriptor that leads to a link to the socket. */
void victim_open_by_link(struct victim *v);
void victim_close(struct victim *v);
/* Begin a task. */
void victim_submit(struct victim *v, size_t len);
/* Go on to a step. */
void victim_advance(struct victim *v, enum victim_step step);
/* All of these: one with a task of 100 bytes. */
void victim_begin(struct victim *v, enum victim_step step);
/* Send an answer. */
void victim_answer(struct victim *v, uint32_t slot, uint32_t number, int32_t status);
/* Go on as an exporter should until its task is done. */
void victim_serve(struct victim *v);
/* Close what the exporter has of the connection, as if it was killed. */
void victim_hang_up(struct victim *v);
/* Its task fails, and no byte but those of its buffer is written; then it can go on. */
void victim_fails(struct victim *v, doca_error_t error);
/* victim_fails() with NOT_CONNECTED, then victim_close(). */
void victim_end(struct victim *v);

#endif /* ACCEL_VICTIM_H */
