/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Streams of a file: one that sends, one that receives.
 *
 * Each message is a piece of the file, without a header. The last one has no payload but
 * immediate data, struct trailer, so that the receiver detects the end and a missing piece.
 */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "stream.h"

struct trailer {
	uint64_t magic;
	uint64_t bytes;
};
#define TRAILER_MAGIC UINT64_C(0x444e4548434d4f43)

static uint32_t
fail(struct tc_stream *s, int err)
{
	tc_count(&s->n.errors, 1);
	s->last_error = err;
	s->failed = true;
	tc_stream_done(s);
	return 0;
}

/* Read the next piece into a buffer. @return its length; 0: end; or a negative errno */
static ssize_t
read_piece(int fd, uint8_t *buf, uint32_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size) {
		n = read(fd, buf + len, size - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)len;
}

static struct rte_comch_op *
op_add(struct tc_stream *s)
{
	struct rte_comch_op *op = &s->ops[s->nb_ops++];

	*op = (struct rte_comch_op){ .consumer_id = s->target_id };
	return op;
}

/* The end of the file, as the last operation. */
static void
add_trailer(struct tc_stream *s)
{
	/* The library copies it when it accepts the operation. */
	const struct trailer end = { .magic = TRAILER_MAGIC, .bytes = s->file_bytes };
	struct rte_comch_op *op = op_add(s);

	memcpy(s->cpls[0].imm, &end, sizeof(end));
	op->imm = s->cpls[0].imm;
	op->imm_len = sizeof(end);
	s->end_of_file = true;
}

/* @return 0 or a negative errno */
static int
send_fill(struct tc_stream *s)
{
	struct tc_bufs *bufs = &s->tx->bufs;

	s->head = 0;
	while (!s->end_of_file && s->nb_ops < s->burst && bufs->nb_free > 0) {
		struct tc_slot *slot = bufs->free[bufs->nb_free - 1];
		ssize_t len = read_piece(s->fd, slot->addr, bufs->size);
		struct rte_comch_op *op;

		if (len < 0)
			return (int)len;
		if (len == 0) {
			add_trailer(s);
			break;
		}
		bufs->nb_free--;
		op = op_add(s);
		op->addr = slot->addr;
		op->mr = bufs->mem.mr;
		op->cookie = (uintptr_t)slot;
		op->len = (uint32_t)len;
		s->file_bytes += (uint64_t)len;
	}
	return 0;
}

static uint32_t
send_pass(struct tc_stream *s)
{
	uint16_t done = tc_producer_reap(s->tx, s->target_id, &s->n.errors, &s->last_error);
	int ret;

	if (s->n.errors > 0)
		return fail(s, s->last_error);
	if (s->nb_ops == 0) {
		ret = send_fill(s);
		if (ret < 0)
			return fail(s, ret);
	}
	if (s->nb_ops == 0 && s->end_of_file && s->tx->bufs.nb_free == s->tx->bufs.nb)
		tc_stream_done(s);
	return tc_ops_send(s) + done;
}

static int
write_all(int fd, const uint8_t *data, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(fd, data, len);
		if (n < 0 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* @return 0, or a negative errno */
static int
take_piece(struct tc_stream *s, const struct rte_comch_cpl *cpl)
{
	const struct tc_slot *slot = (const struct tc_slot *)(uintptr_t)cpl->cookie;
	struct trailer end = { .magic = 0 };

	if (cpl->status < 0)
		return cpl->status;
	tc_count(&s->n.rx_msgs, 1);
	tc_count(&s->n.rx_bytes, cpl->len);
	if (cpl->imm_len == sizeof(end))
		memcpy(&end, cpl->imm, sizeof(end));
	if (cpl->len == 0 && end.magic == TRAILER_MAGIC) {
		s->end_of_file = true;
		return end.bytes == s->file_bytes ? 0 : -EBADMSG;
	}
	s->file_bytes += cpl->len;
	return write_all(s->fd, slot->addr, cpl->len);
}

static uint32_t
receive_pass(struct tc_stream *s)
{
	int err = 0;
	uint16_t n, i;

	n = rte_comch_consumer_recv_burst(s->rx->consumer, s->cpls, (uint16_t)s->burst);
	for (i = 0; i < n; i++) {
		/* Drop messages after the end or an error. */
		if (err == 0 && !s->end_of_file)
			err = take_piece(s, &s->cpls[i]);
		tc_slot_put((struct tc_slot *)(uintptr_t)s->cpls[i].cookie);
	}
	if (err < 0 && err != -ECANCELED)
		return fail(s, err);
	if (n > 0 && err == 0)
		tc_consumer_post(s->rx);
	if (s->end_of_file)
		tc_stream_done(s);
	return n;
}

const struct tc_engine tc_engine_send = { send_pass, tc_ops_stop };
const struct tc_engine tc_engine_receive = { receive_pass, tc_ops_stop };
