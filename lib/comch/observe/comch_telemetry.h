/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_TELEMETRY_H
#define COMCH_TELEMETRY_H

/* Shared by the telemetry callbacks. All need the registry's lock. */

#include <rte_telemetry.h>

#include "data/comch_consumer.h"
#include "msgq/comch_msgq.h"

#define COMCH_TEL_MAX_ARGS 2

struct comch_tel_args {
	uint32_t val[COMCH_TEL_MAX_ARGS];
	uint32_t nb;
};

/* Text of a peer or an application: characters other than printable ASCII become '?'. */
void comch_tel_text(struct rte_tel_data *d, const char *name, const char *text);
void comch_tel_state(struct rte_tel_data *d, const struct comch_obj *obj);
/* Add a dictionary to d; NULL: no memory, or d is full. */
struct rte_tel_data *comch_tel_dict(struct rte_tel_data *d, const char *name);
struct rte_tel_data *comch_tel_numbered(struct rte_tel_data *d, uint32_t number);
/* Add an array of strings to d; NULL: no memory, or d is full. */
struct rte_tel_data *comch_tel_strings(struct rte_tel_data *d, const char *name);
/* List the numbers up to nb - 1, starting at the first parameter. */
void comch_tel_places(const struct comch_tel_args *args, struct rte_tel_data *d, uint32_t nb);
/* NULL: unknown. */
struct rte_comch_conn *comch_tel_find_conn(uint32_t id);
/* The values that info and explain have in common for a connection, and for a consumer. */
void comch_tel_conn(struct rte_tel_data *d, const struct rte_comch_conn *conn);
void comch_tel_consumer(struct rte_tel_data *d, const struct rte_comch_consumer *c);

/* All counters of a producer, of a consumer. */
void comch_tel_producer_counters(struct rte_tel_data *d,
		const struct rte_comch_producer_stats *stats);
void comch_tel_consumer_counters(struct rte_tel_data *d,
		const struct rte_comch_consumer_stats *stats);

/* comch_telemetry_msgq.c */
void comch_tel_one_msgq_info(struct rte_comch_msgq *q, struct rte_tel_data *d);
void comch_tel_one_msgq_stats(struct rte_comch_msgq *q, struct rte_tel_data *d);

/* comch_telemetry_objects.c */
int comch_tel_server_list(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_server_info(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_server_stats(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_client_list(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_client_info(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_conn_list(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_conn_info(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_conn_stats(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_poll_list(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_poll_info(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_poll_stats(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_msgq_list(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_msgq_info(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_msgq_stats(const struct comch_tel_args *args, struct rte_tel_data *d);

/* comch_telemetry_queues.c */
int comch_tel_producer_list(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_producer_info(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_producer_stats(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_consumer_list(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_consumer_info(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_consumer_stats(const struct comch_tel_args *args, struct rte_tel_data *d);

/* comch_telemetry_dev.c */
int comch_tel_driver_list(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_driver_info(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_dev_list(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_dev_info(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_dev_xstats(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_mem_list(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_mem_info(const struct comch_tel_args *args, struct rte_tel_data *d);
int comch_tel_shares(const struct comch_tel_args *args, struct rte_tel_data *d);

/* comch_explain.c */
int comch_explain(const struct comch_tel_args *args, struct rte_tel_data *d);

#endif /* COMCH_TELEMETRY_H */
