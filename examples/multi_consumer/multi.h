/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MULTI_H
#define MULTI_H

/*
 * Protocol between consumers.c and producers.c.
 *
 * Control messages, all text: the consumers' side sends "ready" when all its consumers
 * run. The producers' side sends "end N" after N messages. The consumers' side answers
 * "complete".
 *
 * Data: each message has 8 bytes of immediate data, its sequence number from this
 * producer to this consumer, from 0.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <rte_comch.h>

#define MULTI_READY    "ready"
#define MULTI_END      "end "
#define MULTI_COMPLETE "complete"

#define MAX_WORKERS 16
#define BURST 32

/* Messages are not NUL-terminated. */
static inline bool
multi_says(const struct rte_comch_event *ev, const char *text)
{
	return ev->msg.len >= strlen(text) && memcmp(ev->msg.data, text, strlen(text)) == 0;
}

/* Return the number after text. */
static inline uint64_t
multi_number(const struct rte_comch_event *ev, const char *text)
{
	char number[24] = "";
	size_t skip = strlen(text);

	memcpy(number, (const char *)ev->msg.data + skip,
			RTE_MIN(ev->msg.len - skip, sizeof(number) - 1));
	return strtoull(number, NULL, 10);
}

static inline bool
multi_say(struct rte_comch_conn *conn, const char *text)
{
	const struct rte_comch_msg msg = { .data = text, .len = strlen(text) };

	return rte_comch_conn_send_burst(conn, &msg, 1) == 1;
}

/* Counters that one thread writes and another reads. */
static inline void
multi_add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_ACQ_REL);
}

static inline uint64_t
multi_get(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

#endif /* MULTI_H */
