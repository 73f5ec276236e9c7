/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_STATS_H
#define RTE_COMCH_STATS_H

/**
 * @file
 * Counters. Each is written by the thread that owns the object, without atomic
 * read-modify-write, and may be read by any thread at any time without tearing. They
 * count from the creation of the object.
 *
 * Telemetry serves the same counters: /comch/conn/stats,ID, /comch/dev/xstats,ID...
 */

#include <stdbool.h>

#include <rte_comch_dp.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Counters of a server. */
struct rte_comch_server_stats {
	uint64_t accepted;     /**< Connections established. */
	uint64_t refused;      /**< Requests refused, for any reason. */
	uint64_t disconnected; /**< Connections ended. */
	uint64_t accept_errors;/**< Clients not accepted for lack of a file descriptor. */
};

/** Counters of a connection's control path. */
struct rte_comch_conn_stats {
	uint64_t tx_msgs;      /**< Messages sent. */
	uint64_t tx_bytes;     /**< Payload bytes sent. */
	uint64_t rx_msgs;      /**< Messages received. */
	uint64_t rx_bytes;     /**< Payload bytes received. */
	uint64_t tx_full;      /**< Short sends for lack of credit or room. */
	uint64_t tx_errors;    /**< Messages that failed. */
	uint64_t in_flight;    /**< Messages sent and not yet delivered. */
	/** Wake-ups written to a sleeping peer; received, if a device wakes (RDMA). */
	uint64_t wakes;
	/**
	 * Consumers and registrations of the peer that were refused. The first is logged; a
	 * connection ends at 2,048 if they come faster than 100 a second.
	 */
	uint64_t refused;
};

/** Counters of a producer. */
struct rte_comch_producer_stats {
	uint64_t msgs;     /**< Messages sent. */
	uint64_t bytes;    /**< Payload bytes sent. */
	uint64_t imm_msgs; /**< Messages with immediate data. */
	uint64_t copies;   /**< Payload copies made on this side. */
	uint64_t staged;   /**< Messages sent through a staging ring. */
	uint64_t later;    /**< Short sends: nothing posted, or queue full. */
	uint64_t errors;   /**< Operations that failed. */
	uint64_t wakes;    /**< Wake-ups written to sleeping consumers. */
	/** Of the errors: mbufs that asked for an offload, see RTE_COMCH_MBUF_TX_OFFLOADS. */
	uint64_t offload_errors;
};

/** Counters of a consumer. */
struct rte_comch_consumer_stats {
	uint64_t posted;   /**< Buffers posted. */
	uint64_t msgs;     /**< Messages received. */
	uint64_t bytes;    /**< Payload bytes received. */
	uint64_t imm_msgs; /**< Messages with immediate data. */
	uint64_t copies;   /**< Payload copies made on this side. */
	uint64_t staged;   /**< Messages received through the staging ring. */
	uint64_t errors;   /**< Buffers returned with an error. */
	uint64_t no_mbuf;  /**< Refills limited by an empty mempool. */
	uint64_t wakes;    /**< Wake-ups written to sleeping producers. */
};

/** Any thread. @return 0, -EINVAL. */
int rte_comch_server_stats_get(const struct rte_comch_server *server,
		struct rte_comch_server_stats *stats);
/** Any thread. @return 0, -EINVAL. */
int rte_comch_conn_stats_get(const struct rte_comch_conn *conn,
		struct rte_comch_conn_stats *stats);
/** Any thread. @return 0, -EINVAL. */
int rte_comch_producer_stats_get(const struct rte_comch_producer *producer,
		struct rte_comch_producer_stats *stats);
/** Any thread. @return 0, -EINVAL. */
int rte_comch_consumer_stats_get(const struct rte_comch_consumer *consumer,
		struct rte_comch_consumer_stats *stats);

/** A counter of a driver. */
struct rte_comch_xstat {
	const char *name; /**< Static: "work_requests". */
	uint64_t value;
	bool is_level;    /**< How much there is now: bytes registered. Else it only grows. */
};

/**
 * Get the counters of a device's transport, the sums over its connections, also those
 * that have ended. Which there are depends on the driver: comch_mlx5 counts
 * work requests, doorbells and completions; comch_shm the copies of a DMA device, if it has one.
 *
 * Any thread; not in a burst, as it locks, and waits while another thread closes a device.
 *
 * @param dev_id Number of the device.
 * @param[out] xstats Array of *n* elements; may be NULL if *n* is 0.
 * @param n Number of elements.
 * @return the number of counters, which may be more than *n*: the first *n* are stored.
 *   -ENODEV: no such device. -EINVAL: xstats is NULL and n is not 0.
 */
int rte_comch_dev_xstats_get(int16_t dev_id, struct rte_comch_xstat *xstats, unsigned int n);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_STATS_H */
