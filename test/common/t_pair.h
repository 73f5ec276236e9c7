/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_PAIR_H
#define T_PAIR_H

/*
 * A DPU device with a server and a host device with a client, connected, each
 * end on a node of its own, both in this process; and a flow: memory, a
 * producer and a consumer over such a connection.
 */

#include <rte_comch.h>
#include <rte_comch_dp.h>
#include <rte_comch_mem.h>
#include <rte_comch_stats.h>

#include "t_node.h"

/** What the helpers have to know about the driver under test. */
struct t_driver {
	const char *name;     /**< "comch_shm" */
	bool has_dir;         /**< Takes the key dir=. */
	bool has_total_import; /**< Takes the key total_import=. */
	bool has_kernel_peer; /**< Knows pid, uid and gid of the peer. */
	bool has_export_eal;  /**< Takes the key export_eal=1, which EAL memory needs. */
	/** Maps memory: a message is copied as the table in rte_comch_mem.h says,
	 * and one to memory that is not shareable goes through a staging ring.
	 */
	bool maps_memory;
	bool has_dma;         /**< Direct messages are copied by a DMA device, not by the core. */
	bool shows_heap;      /**< A peer can write heap memory that is posted. */
	bool wakes_itself;    /**< A NIC wakes the sleeper, which counts its wake-ups. */
	/** Write the driver's form of args, with the keys that only this driver needs;
	 * NULL: they are as they are.
	 */
	void (*args)(char *buf, size_t size, const char *args);
	/** Have all arrive that was sent; false: it takes its time. NULL: it has arrived. */
	bool (*deliver)(void);
	/** Take a server's place away, as another process could; for conformance only. */
	void (*lose)(const char *func, const char *name);
	/** If that leaves something in its place: remove it. */
	void (*give_back)(void);
};

/** The driver under test. */
extern const struct t_driver *t_driver;

/** Does a message to heap memory go through a staging ring? */
static inline bool
t_stages_heap(void)
{
	return t_driver->maps_memory && !t_driver->shows_heap;
}

/** Copies that the core makes of a message to memory that is mapped. */
static inline unsigned int
t_direct_copies(void)
{
	return t_driver->has_dma ? 0 : 1;
}

#define T_NAME "conformance"

/* Remove the files *.SUFFIX of a function, in t_dir(): whose is whose does not matter. */
void t_place_lose(const char *func, const char *suffix);
/* Lock the name of the only server of a function, in its place; and let it go. */
void t_place_take(const char *func, const char *name);
void t_place_give_back(void);
/* Device string of device *number*: driver, directory, args, and the keys in the
 * environment variable T_KEYS, "delay=3", and in T_KEYS_DPU or T_KEYS_HOST, by the role
 * in args.
 */
const char *t_dev_string(unsigned int number, const char *args);
/* For t_driver.args: addr, "@10.0.0.2", follows the name of each representor in args. */
void t_args_rep_addr(char *buf, size_t size, const char *args, const char *addr);
int16_t t_dev_open(unsigned int number, const char *args);

/** Choices for a pair; zero means default. */
struct t_pair_conf {
	const char *dpu_args;   /**< More keys, ",export_eal=1". */
	const char *host_args;
	const char *name;       /**< Of the server. */
	struct rte_comch_server_conf server; /**< Sizes, depths and flags. */
	struct rte_comch_client_conf client;
};

struct t_pair {
	struct t_node *dpu;
	struct t_node *host;
	int16_t dpu_dev;
	int16_t host_dev;
	const char *name;
	struct rte_comch_server *server;
	struct rte_comch_client *client;
	struct rte_comch_conn *sconn; /**< The server's end. */
	struct rte_comch_conn *cconn; /**< The client's end. */
};

/* Devices (0: DPU, pf0; 1: host) and nodes only. */
void t_pair_devs(struct t_pair *p, const struct t_pair_conf *conf);
/* A server that runs and a client that does not yet. */
void t_pair_ends(struct t_pair *p, const struct t_pair_conf *conf);
/* The same, connected. */
void t_pair_open(struct t_pair *p, const struct t_pair_conf *conf);
/* Start the client and step until both ends are connected. */
void t_pair_connect(struct t_pair *p);
/* Stop the client, if it runs, and step until both ends know. */
void t_pair_disconnect(struct t_pair *p);
/* Bring all down and close the devices, whatever is up. */
void t_pair_close(struct t_pair *p);

/* Create and start a server or client with the name and poll of the pair. */
struct rte_comch_server *t_server_new(struct t_node *node, int16_t dev,
		const char *name, uint16_t rep, const struct rte_comch_server_conf *base);
struct rte_comch_client *t_client_new(struct t_node *node, int16_t dev,
		const char *name, const struct rte_comch_client_conf *base);
/* Stop, if it is not, and step until IDLE. */
void t_client_stop(struct rte_comch_client *client);
/* Stop, step until IDLE, destroy. NULL is allowed. */
void t_server_end(struct rte_comch_server *server);
void t_client_end(struct rte_comch_client *client);

/* Process of the peer of a connection, as the kernel knows it. */
int32_t t_peer_pid(const struct rte_comch_conn *conn);

/* Send one message: all of it must be taken. */
void t_send(struct rte_comch_conn *conn, const void *data, uint32_t len,
		uint64_t cookie);
/* Offer one message; was it taken? */
bool t_offer(struct rte_comch_conn *conn, const void *data, uint32_t len,
		uint64_t cookie, uint32_t flags);

/** Memory with its registration. */
struct t_mem {
	uint8_t *addr;
	size_t len;
	enum rte_comch_mem_kind kind;
	struct rte_comch_mr *mr;
};

void t_mem_new(struct t_mem *m, enum rte_comch_mem_kind kind, size_t len,
		uint32_t flags);
void t_mem_free(struct t_mem *m);

/** Choices for a flow; zero means default. */
struct t_flow_conf {
	bool to_host;           /**< Producer on the DPU; else on the host. */
	enum rte_comch_mem_kind kind; /**< Of the consumer's memory. */
	size_t size;            /**< Of each memory; default 64 KiB. */
	struct rte_comch_consumer_conf cons;
	struct rte_comch_producer_conf prod;
};

struct t_flow {
	struct t_node *cons_node; /**< Of the consumer's connection. */
	struct t_node *prod_node;
	struct rte_comch_conn *cons_conn;
	struct rte_comch_conn *prod_conn;
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;
	struct t_mem dst;
	struct t_mem src;
	uint32_t id; /**< Of the consumer. */
};

void t_flow_open(struct t_flow *f, const struct t_pair *p,
		const struct t_flow_conf *conf);
/* Stop and destroy both, taking whatever is left in the queues. */
void t_flow_close(struct t_flow *f);

struct rte_comch_consumer *t_consumer_new(struct rte_comch_conn *conn,
		const struct rte_comch_consumer_conf *base, struct rte_comch_mr *mr);
struct rte_comch_producer *t_producer_new(struct rte_comch_conn *conn,
		const struct rte_comch_producer_conf *base);
/* Start and step until RUNNING. */
void t_consumer_run(struct rte_comch_consumer *cons);
/* Stop, take what is left, destroy. */
void t_consumer_end(struct rte_comch_consumer *cons);
/* Stop one with nothing under way, and step until IDLE. */
void t_producer_stop(struct rte_comch_producer *prod);
void t_producer_end(struct rte_comch_producer *prod);
/* Has this side been told of the peer's consumer? */
bool t_knows_consumer(const struct t_node *node, const struct rte_comch_conn *conn,
		uint32_t id);

/*
 * A transport may be asynchronous: a posted buffer, a message and a completion
 * are visible to the other side, or the caller, some runs and burst calls
 * later. So tests wait for what has to come, and settle before they count.
 */

/* Offer one buffer or operation: how many were taken, 0 or 1. */
uint16_t t_post(struct t_flow *f, size_t off, uint32_t len, uint64_t cookie);
uint16_t t_put(struct t_flow *f, size_t off, uint32_t len, uint64_t cookie);
/* Offer operations and step all nodes until they are taken. */
void t_submit(struct t_flow *f, size_t off, uint32_t len, uint64_t cookie);
void t_submit_ops(struct rte_comch_producer *prod, const struct rte_comch_op *ops, uint16_t n);
/* Step all nodes until n completions came. */
void t_recv_n(struct rte_comch_consumer *cons, struct rte_comch_cpl *cpls, uint16_t n);
void t_done_n(struct rte_comch_producer *prod, struct rte_comch_cpl *cpls, uint16_t n);
/* One completion. */
void t_recv(struct rte_comch_consumer *cons, struct rte_comch_cpl *cpl);
void t_done(struct rte_comch_producer *prod, struct rte_comch_cpl *cpl);
/* One completion on each side: both push a streamed message on. */
void t_both(struct t_flow *f, struct rte_comch_cpl *in, struct rte_comch_cpl *out);
/* Does none come, for as long as it takes to settle? */
bool t_no_recv(struct rte_comch_consumer *cons);
bool t_no_done(struct rte_comch_producer *prod);

/* One whole message of len bytes through a flow, verified. */
void t_flow_once(struct t_flow *f, uint32_t len, uint64_t seed);

#endif /* T_PAIR_H */
