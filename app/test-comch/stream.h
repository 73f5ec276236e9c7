/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef STREAM_H
#define STREAM_H

/**
 * @file
 * Streams: what moves messages on an lcore. While it exists, its producer and
 * consumer are used by nothing else.
 */

#include <rte_comch_mbuf.h>

#include "tc.h"

#define TC_MAX_BURST 256

enum tc_mode {
	TC_SOURCE,  /**< Makes messages, each with a number. */
	TC_SINK,    /**< Checks the numbers of a source. */
	TC_DROP,    /**< Checks nothing. */
	TC_ECHO,    /**< Back to the same connection. */
	TC_RELAY,   /**< On to another connection. */
	TC_IO,      /**< Between a port and a connection, both ways. */
	TC_SEND,    /**< A file. */
	TC_RECEIVE, /**< A file. */
	TC_NB_MODES,
};

/** Counters, which the stream's lcore writes. */
struct tc_counters {
	uint64_t rx_msgs;
	uint64_t rx_bytes;
	uint64_t tx_msgs;
	uint64_t tx_bytes;
	uint64_t lost;   /**< Numbers that a sink missed. */
	uint64_t later;  /**< Bursts that were accepted in part, or not at all. */
	uint64_t errors; /**< Messages or buffers returned with an error. */
};

/** mbufs that wait to be accepted. */
struct tc_mbufs {
	struct rte_mbuf *m[TC_MAX_BURST];
	uint16_t head;
	uint16_t nb;
};

struct tc_stream {
	struct tc_obj obj;
	enum tc_mode mode;
	struct tc_consumer *rx; /**< NULL: source, send */
	struct tc_producer *tx; /**< NULL: sink, drop, receive */
	uint16_t port;          /**< Of io. */
	/* Set by commands while it is stopped. */
	uint32_t lcore;
	uint32_t burst;
	uint32_t size;          /**< Of a source, bytes. */
	uint32_t count;         /**< Messages until it is done; 0: no end. */
	uint32_t target;        /**< Consumer id; 0: the first one. */
	bool mbufs;             /**< Of a source: makes mbufs. */
	/* While it runs, its lcore's. */
	const struct tc_engine *engine;
	bool running;
	bool done;              /**< Release; read with acquire. */
	uint32_t target_id;
	uint64_t left;          /**< Messages until it is done. */
	uint64_t next;          /**< Number of the next message. */
	struct rte_comch_op ops[TC_MAX_BURST];   /**< Not accepted yet. */
	struct rte_comch_cpl cpls[TC_MAX_BURST]; /**< Received; ops point to their imm. */
	uint16_t head;
	uint16_t nb_ops;
	struct tc_mbufs to_tx;
	struct tc_mbufs to_port;
	int fd;                 /**< File; -1: none. */
	bool end_of_file;
	char path[256];
	uint64_t file_bytes;
	int last_error;         /**< Negative errno; 0: none. */
	struct tc_counters n;
	/* The main lcore's. */
	bool failed;
	struct tc_counters shown;    /**< When the rates were printed. */
	double shown_at;
};

/** How a mode works on one kind of memory. */
struct tc_engine {
	/** Forward a burst. @return messages moved */
	uint32_t (*pass)(struct tc_stream *s);
	/** Give back what the stream has taken, on the main lcore. */
	void (*stop)(struct tc_stream *s);
};

/** What a source writes into the first bytes of messages that have room for it. */
struct tc_stamp {
	uint64_t magic;
	uint64_t number;
};
#define TC_STAMP_MAGIC UINT64_C(0x31304843434d4f43)

/** Add to a counter that other threads read. */
static inline void
tc_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/** A sink checks the number of a message. */
static inline void
tc_stamp_check(struct tc_stream *s, const void *data, uint32_t len)
{
	struct tc_stamp stamp;

	if (len < sizeof(stamp))
		return;
	__builtin_memcpy(&stamp, data, sizeof(stamp));
	if (stamp.magic != TC_STAMP_MAGIC)
		return;
	if (stamp.number > s->next && s->next != 0)
		tc_count(&s->n.lost, stamp.number - s->next);
	s->next = stamp.number + 1;
}

static inline void
tc_stamp_write(struct tc_stream *s, void *data, uint32_t len)
{
	struct tc_stamp stamp = { .magic = TC_STAMP_MAGIC, .number = s->next++ };

	if (len >= sizeof(stamp))
		__builtin_memcpy(data, &stamp, sizeof(stamp));
}

const char *tc_mode_name(enum tc_mode mode);

/** Create a stopped stream. @return NULL after reporting why */
struct tc_stream *tc_stream_new(enum tc_mode mode, struct tc_consumer *rx,
		struct tc_producer *tx);
/** Is a producer, consumer or port free for a stream? @return 0, or -1 after reporting its user */
int tc_stream_check_unused(const char *name, const struct tc_stream *user);
/** @return 0, or -1 after reporting why */
int tc_stream_start(struct tc_stream *s);
void tc_stream_stop(struct tc_stream *s);
void tc_stream_destroy(struct tc_stream *s);
/** Stop and destroy it because of *why*; NULL is allowed. */
void tc_stream_end(struct tc_stream *s, const char *why);
/** A consumer of the peer is gone: stop those that send to it. */
void tc_stream_target_gone(const struct tc_conn *c, uint32_t id);
/** Its counters on one line. @return buf */
const char *tc_stream_totals(const struct tc_stream *s, char *buf, size_t size);
/** Its lcore: forward a burst. @return messages moved */
uint32_t tc_stream_pass(struct tc_stream *s);
/** Its lcore: nothing is left to do. */
void tc_stream_done(struct tc_stream *s);
/** Stop those that are done. */
void tc_streams_step(void);
void tc_streams_destroy(void);
/** Print counters and rates of all streams; *quiet*: nothing if there are none. */
void tc_stream_stats(bool quiet);

/** The engines: fwd_desc.c, fwd_mbuf.c, fwd_file.c. */
extern const struct tc_engine tc_engine_source, tc_engine_sink, tc_engine_drop,
	tc_engine_pass, tc_engine_source_mbuf, tc_engine_sink_mbuf, tc_engine_drop_mbuf,
	tc_engine_pass_mbuf, tc_engine_io, tc_engine_send, tc_engine_receive;

/** fwd_desc.c: send the operations that wait. @return messages accepted */
uint16_t tc_ops_send(struct tc_stream *s);
/** fwd_desc.c: return the slots of operations that wait. */
void tc_ops_stop(struct tc_stream *s);
/** fwd_desc.c: the buffers of a source. @return 0 or a negative errno */
int tc_source_bufs(struct tc_producer *p, uint32_t size);
/** fwd_mbuf.c: the pool of a source. @return 0 or a negative errno */
int tc_source_pool(struct tc_producer *p, uint32_t size);

/** cmd_port.c */
bool tc_port_started(uint16_t port);
void tc_ports_close(void);

#endif /* STREAM_H */
