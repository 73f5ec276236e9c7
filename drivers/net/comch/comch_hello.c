/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The port's hello: to bytes, and back with all checks. */

#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "comch_ethdev.h"

#define HELLO_MAGIC 0x4354454eu /* "NETC" */
#define HELLO_VERSION 1

struct hello_wire {
	rte_le32_t magic;
	rte_le16_t version;
	rte_le16_t nb_queues;
	rte_le32_t max_frame;
	rte_le32_t room;
	rte_le32_t ids[COMCH_HELLO_MAX_QUEUES];
};

uint32_t
comch_hello_write(const struct comch_hello *hello, void *buf)
{
	struct hello_wire w = {
		.magic = rte_cpu_to_le_32(HELLO_MAGIC),
		.version = rte_cpu_to_le_16(HELLO_VERSION),
		.nb_queues = rte_cpu_to_le_16(hello->nb_queues),
		.max_frame = rte_cpu_to_le_32(hello->max_frame),
		.room = rte_cpu_to_le_32(hello->room),
	};
	uint32_t len = offsetof(struct hello_wire, ids) + 4u * hello->nb_queues;
	uint16_t i;

	for (i = 0; i < hello->nb_queues; i++)
		w.ids[i] = rte_cpu_to_le_32(hello->ids[i]);
	memcpy(buf, &w, len);
	return len;
}

int
comch_hello_read(struct comch_hello *hello, const void *buf, uint32_t len)
{
	struct hello_wire w = { 0 };
	uint16_t i;

	if (len < offsetof(struct hello_wire, ids) || len > sizeof(w))
		return -EPROTO;
	memcpy(&w, buf, len);
	hello->nb_queues = rte_le_to_cpu_16(w.nb_queues);
	hello->max_frame = rte_le_to_cpu_32(w.max_frame);
	hello->room = rte_le_to_cpu_32(w.room);
	if (w.magic != rte_cpu_to_le_32(HELLO_MAGIC) ||
			w.version != rte_cpu_to_le_16(HELLO_VERSION) ||
			hello->nb_queues == 0 || hello->nb_queues > COMCH_HELLO_MAX_QUEUES ||
			len != offsetof(struct hello_wire, ids) + 4u * hello->nb_queues ||
			hello->room < COMCH_ETHDEV_MIN_ROOM || hello->room > UINT16_MAX ||
			hello->max_frame > COMCH_ETHDEV_MAX_FRAME)
		return -EPROTO;
	for (i = 0; i < hello->nb_queues; i++)
		hello->ids[i] = rte_le_to_cpu_32(w.ids[i]);
	return 0;
}
