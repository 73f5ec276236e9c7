/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TC_H
#define TC_H

/**
 * @file
 * test-comch: a prompt that drives a channel by hand, in the manner of dpdk-testpmd.
 *
 * Objects
 * -------
 *
 * Every object that a command makes is in a table (objects.c) under a kind and the
 * smallest free number: server0, client0, conn0, producer0, consumer0, stream0. Scripts
 * can rely on these names. Connections enter the table with their CONNECTED (or
 * CONNECT_REQUEST) event and leave it when they have ended and their producers and
 * consumers are gone. Devices keep the names of their device strings; ports are numbered
 * by ethdev. The library's producer or consumer exists from "start" until it is IDLE
 * again, so that "set" can change each property in between.
 *
 * Threads
 * -------
 *
 * The main lcore runs the one poll of the program (loop.c). It sleeps on the poll's
 * descriptor, on stdin and on signals together, so the prompt never keeps the poll
 * waiting, and each key is handled when it is typed. A command that waits ("wait",
 * "sleep", "quit") runs the same loop inside, without the keys.
 *
 * A stream (stream.c) forwards messages: it calls the bursts of its producer, consumer or
 * port on the lcore of its choice. Each lcore has an array of streams and counts its
 * passes over it (lcore.c). To start a stream, the main lcore stores it in the array; to
 * stop it, it removes it and waits until the lcore has begun another pass. From then on
 * the producer and the consumer belong to the main lcore again. A worker lcore is
 * launched for its first stream and joined after its last. Streams on the main lcore are
 * run by the main loop, which then does not sleep.
 *
 * A stream whose work is done sets a flag and notifies the poll; the main lcore stops it
 * and prints its totals.
 *
 * The peer dies
 * -------------
 *
 * The DISCONNECTED event comes to the main lcore. In every mode, it stops the streams of
 * the connection's producers and consumers, prints their totals, and destroys them. What
 * the producers still had in flight is returned with an error and counted. A sink, a drop
 * and a file first receive what the peer had sent before; the other modes do not, as they
 * would have to send it on. Other streams go on: a relay ends with either of its
 * connections, but the producer or consumer on the other one stays and can be used by a
 * new stream. The port of an io stream stays started. A file that was being received
 * is kept, incomplete, and counts as a failure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_comch.h>
#include <rte_comch_poll.h>
#include <rte_comch_stats.h>

#include "app_mem.h"

/** Exit statuses. */
#define TC_EXIT_FAILED 1 /**< A command failed. */
#define TC_EXIT_USAGE  2

#define TC_NAME_SIZE   16
#define TC_MAX_OBJS    64
#define TC_MAX_TARGETS 64

/** @name options.c
 * @{
 */
struct tc_options {
	char *const *eal_args;
	int nb_eal_args;
	const char *file;       /**< --commands */
	char *const *commands;  /**< After the options. */
	int nb_commands;
	double period;          /**< --stats-period, seconds; 0: none */
	bool plain;             /**< --plain: no colours, no line editing */
	bool interactive;       /**< --interactive: go on after the commands */
};

/** @return 0; 1: done (--help); negative: reported on stderr */
int tc_options_parse(struct tc_options *opts, int argc, char **argv);
/** @} */

/** @name objects.c: the table
 * @{
 */
enum tc_kind {
	TC_SERVER,
	TC_CLIENT,
	TC_CONN,
	TC_PRODUCER,
	TC_CONSUMER,
	TC_STREAM,
	TC_NB_KINDS,
};

/** What all objects have in common; their first member. */
struct tc_obj {
	enum tc_kind kind;
	uint16_t number;
	char name[TC_NAME_SIZE];
};

/** Name of a kind: "server". */
const char *tc_kind_name(enum tc_kind kind);

/** Allocate a zeroed object and enter it. @return NULL after reporting why */
void *tc_obj_new(enum tc_kind kind, size_t size);

/** Remove an object and free it. */
void tc_obj_free(struct tc_obj *obj);

/** The object with the smallest number not below *from*, or NULL. */
struct tc_obj *tc_obj_next(enum tc_kind kind, unsigned int from);

/** Find by name; NULL without a report. */
void *tc_obj_lookup(enum tc_kind kind, const char *name);

/** Find by name; on failure, reports the names that exist. */
void *tc_obj_find(enum tc_kind kind, const char *name);

/**
 * Iterate; *o* points to a struct whose first member is struct tc_obj. The body may free
 * objects.
 */
#define TC_FOREACH(kind, o) \
	for (unsigned int o##_next = 0; \
			((o) = (void *)tc_obj_next((kind), o##_next)) != NULL && \
			(o##_next = ((const struct tc_obj *)(o))->number + 1u) != 0; )
/** @} */

/** @name link.c: servers, clients, connections
 * @{
 */
struct tc_server {
	struct tc_obj obj;
	int16_t dev_id;
	/** One word of a command; the library refuses what is too long. */
	char listen[RTE_COMCH_NAME_SIZE + 8];
	struct rte_comch_server_conf conf;
	struct rte_comch_server *server;
};

struct tc_client {
	struct tc_obj obj;
	int16_t dev_id;
	char connect[RTE_COMCH_NAME_SIZE + 8];
	struct rte_comch_client_conf conf;
	struct rte_comch_client *client;
	enum rte_comch_state told; /**< State in the last event; RUNNING follows CONNECTED. */
};

struct tc_conn {
	struct tc_obj obj;
	struct rte_comch_conn *conn; /**< NULL: ended */
	struct tc_obj *owner;        /**< Server or client; NULL: destroyed */
	bool pending;                /**< Waits for "conn accept". */
	uint32_t targets[TC_MAX_TARGETS]; /**< Ids of the peer's consumers. */
	uint32_t nb_targets;
	uint64_t rx_msgs;
};

int tc_server_make(struct tc_server *s);
int tc_client_make(struct tc_client *c);
/** The producer or consumer of a connection with the smallest number, or NULL. */
struct tc_obj *tc_conn_child(const struct tc_conn *c);
/** Destroy a connection that has ended and has no children left. */
void tc_conn_reap(struct tc_conn *c);
/** Handle one event of the poll. */
void tc_event(const struct rte_comch_event *ev);
/** @} */

/** @name bufs.c: buffers of descriptors
 * @{
 */
struct tc_slot {
	struct tc_bufs *bufs;
	uint8_t *addr;
};

/** Buffers of one size. A message's cookie is the address of its slot. */
struct tc_bufs {
	struct app_mem mem;
	uint32_t size;
	uint32_t nb;
	uint32_t nb_free;
	struct tc_slot *slots;
	struct tc_slot **free; /**< Neither posted nor being sent. */
};

/** @return 0 or a negative errno; *bufs* is empty then */
int tc_bufs_open(struct tc_bufs *bufs, uint32_t nb, uint32_t size, enum app_memory memory);
void tc_bufs_close(struct tc_bufs *bufs);
static inline void
tc_slot_put(struct tc_slot *slot)
{
	slot->bufs->free[slot->bufs->nb_free++] = slot;
}
/** @} */

/** @name queue.c: producers and consumers
 * @{
 */
/** What moves messages: descriptors or mbufs. A producer keeps it until it is IDLE. */
enum tc_api {
	TC_API_NONE,
	TC_API_DESC,
	TC_API_MBUF,
};

struct tc_producer {
	struct tc_obj obj;
	struct tc_conn *conn;
	struct rte_comch_producer *producer; /**< NULL: IDLE */
	struct tc_stream *stream;            /**< That uses it. */
	uint32_t queue;
	enum tc_api api;
	bool destroy;                        /**< As soon as it is IDLE. */
	struct tc_bufs bufs;                 /**< Of a source. */
	struct rte_mempool *pool;            /**< Of a source of mbufs. */
	struct rte_comch_producer_stats last;/**< Before it was IDLE. */
};

struct tc_consumer {
	struct tc_obj obj;
	struct tc_conn *conn;
	struct rte_comch_consumer *consumer; /**< NULL: IDLE */
	struct tc_stream *stream;
	uint32_t queue;
	uint32_t size;
	uint32_t imm;
	uint32_t staging;                    /**< 0: the library's default */
	enum app_memory memory;
	enum tc_api api;                     /**< DESC or MBUF. */
	bool snapshot;
	bool ready;                          /**< Its buffers were posted. */
	bool destroy;
	struct tc_bufs bufs;
	struct rte_mempool *pool;
	bool dma_mapped;                     /**< The pool, for the port of its stream. */
	struct rte_comch_consumer_stats last;
};

int tc_producer_start(struct tc_producer *p);
int tc_producer_stop(struct tc_producer *p);
int tc_consumer_start(struct tc_consumer *c);
int tc_consumer_stop(struct tc_consumer *c);
void tc_producer_stats(const struct tc_producer *p, struct rte_comch_producer_stats *stats);
void tc_consumer_stats(const struct tc_consumer *c, struct rte_comch_consumer_stats *stats);
/** Take back sent buffers. @return their number */
uint16_t tc_producer_reap(struct tc_producer *p, uint32_t target, uint64_t *errors,
		int *last_error);
/** Post the free buffers of a consumer of descriptors. */
void tc_consumer_post(struct tc_consumer *c);
/** Free the pools that were in use when their consumer ended. @return number still in use */
unsigned int tc_pools_reap(void);
/** Advance those that start or stop. @return whether some still do */
bool tc_queues_step(void);
/** @} */

/** @name dev.c
 * @{
 */
/** Find a device by name; reports those that are open. @return its number or -1 */
int tc_dev_find(const char *name);
void tc_dev_name(int16_t dev_id, char *name, size_t size);
/** @} */

/** @name out.c: everything that is printed
 * @{
 */
/** Styles of a cell or word, on terminals with colours. */
enum tc_style {
	TC_PLAIN,
	TC_BOLD,
	TC_GOOD,
	TC_BUSY,
	TC_BAD,
};

/** Choose colours and widths for stdout. */
void tc_out_open(bool plain);
/** Print to stdout. */
void tc_out(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Print a line about something that happened, above the line that is being typed. */
void tc_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Report that a command failed. */
void tc_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Start a table; *headings* are separated by spaces. */
void tc_table_begin(const char *title, const char *headings);
void tc_cell(enum tc_style style, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void tc_cell_number(uint64_t value);
/** A rate or figure such as "1.23 M". */
void tc_cell_rate(double value);
void tc_cell_state(enum rte_comch_state state);
/** Print the table: nothing if it has no rows. */
void tc_table_end(void);
/** @} */

/** @name prompt.c: the terminal
 * @{
 */
/** @return 0 or a negative errno */
int tc_prompt_open(bool plain);
void tc_prompt_close(void);
/** Read and handle what is typed. @return false at the end of the input */
bool tc_prompt_input(void);
/** Look for Ctrl-C only; keep the rest for later. @return whether there was one */
bool tc_prompt_interrupted(void);
/** Hide the line being typed, print *line*, and show it again. */
void tc_prompt_print(const char *line);
/** Hide the line being typed. */
void tc_prompt_hide(void);
/** Show it again. */
void tc_prompt_restore(void);
/** Show the prompt. */
void tc_prompt_show(void);
/** Was something typed ahead? */
bool tc_prompt_has_input(void);
/** Is there room for what is typed while a command runs? */
bool tc_prompt_watches(void);
/** Parse a line that ends with a newline, and run its command. @return negative: no match */
int tc_prompt_parse(const char *line);
/** @} */

/** @name run.c: commands
 * @{
 */
/** Run one command. @return 0, or -1 if it failed (reported) */
int tc_run(const char *line);
/** Run the commands of a file up to the first that fails. @return 0 or -1 */
int tc_run_file(const char *path);
/** @} */

/** @name loop.c
 * @{
 */
struct tc {
	struct rte_comch_poll *poll;
	bool quit;
	bool failed;       /**< The command that runs has failed. */
	bool any_failed;
	bool show_messages;
	double period;     /**< Seconds between statistics; 0: none */
	uint32_t piece;    /**< Bytes of a message of a file. */
};

extern struct tc tc;

int tc_loop_open(void);
void tc_loop_close(void);
double tc_now(void);
/** Run until "quit" or the end of the input. */
void tc_loop(bool input);
/**
 * Run the loop without input until *cond* is true.
 *
 * @return 0, -ETIMEDOUT, or -EINTR (Ctrl-C or a signal)
 */
int tc_loop_until(bool (*cond)(void *arg), void *arg, double seconds);
/** Stop and free everything. */
void tc_tear_down(void);
/** @} */

#endif /* TC_H */
