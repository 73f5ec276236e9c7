/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_DEV_H
#define RTE_COMCH_DEV_H

/**
 * @file
 * Devices and representors. Included by rte_comch.h, which describes the model.
 *
 * Threads: any, for all functions, which are meant for set-up.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Size of the name of a device or host function, with its NUL. */
#define RTE_COMCH_DEV_NAME_SIZE 64

/** End of the host/DPU pair that a device is. */
enum rte_comch_role {
	RTE_COMCH_ROLE_HOST, /**< Has clients. */
	RTE_COMCH_ROLE_DPU,  /**< Has servers. */
};

/** Type of PCI function of a representor. */
enum rte_comch_func_type {
	RTE_COMCH_FUNC_PF, /**< Physical function, `pf0`. */
	RTE_COMCH_FUNC_VF, /**< Virtual function, `pf0vf3`. */
	RTE_COMCH_FUNC_SF, /**< Scalable function, `pf0sf7`. */
};

/** The device supports servers. */
#define RTE_COMCH_CAPA_SERVER   (UINT64_C(1) << 0)
/** The device supports clients. */
#define RTE_COMCH_CAPA_CLIENT   (UINT64_C(1) << 1)
/** The device supports producers and consumers. */
#define RTE_COMCH_CAPA_DATA     (UINT64_C(1) << 2)
/** Producers write directly to sealed shareable memory. */
#define RTE_COMCH_CAPA_DIRECT   (UINT64_C(1) << 3)
/** The device supports sleeping on a poll's fd. */
#define RTE_COMCH_CAPA_EVENT_FD (UINT64_C(1) << 4)
/**
 * The payload of an operation belongs to the application when send_burst() returns; see
 * rte_comch_producer_send_burst() for the exception.
 */
#define RTE_COMCH_CAPA_SYNC_SEND (UINT64_C(1) << 5)
/**
 * The device supports ordered servers (RTE_COMCH_SERVER_F_ORDERED) and their clients. It
 * promises that both ends read one clock, which ticks for all processes alike, and that a
 * control message is visible to its receiver when the send returns. Set by the
 * shared-memory driver. A device that connects two machines promises neither: a
 * client's messages keep their order, and those of different clients have none.
 */
#define RTE_COMCH_CAPA_ORDERED  (UINT64_C(1) << 6)
/**
 * A consumer in mbuf mode receives the mbufs that were sent, not copies: rte_comch_mbuf.h.
 */
#define RTE_COMCH_CAPA_HANDOVER (UINT64_C(1) << 7)
/**
 * Consumers export EAL memory (device key export_eal=1): producers of a peer that trusts this
 * end write directly to it.
 */
#define RTE_COMCH_CAPA_EXPORT_EAL (UINT64_C(1) << 8)

/** Properties and limits of a device. */
struct rte_comch_dev_info {
	char name[RTE_COMCH_DEV_NAME_SIZE];   /**< From the device string. */
	char driver[RTE_COMCH_DEV_NAME_SIZE]; /**< "comch_shm". */
	enum rte_comch_role role;
	uint64_t capa;             /**< RTE_COMCH_CAPA_* */
	uint16_t nb_reps;          /**< Representors; on the host 1, the function itself. */
	uint32_t max_name_size;    /**< Server name with its NUL, bytes. */
	uint32_t max_msg_size;     /**< Control message, bytes. */
	uint32_t max_recv_queue;   /**< Unreceived control messages. */
	uint32_t max_send_queue;   /**< Control messages without a SENT event. */
	uint32_t max_clients;      /**< Connections per server. */
	uint32_t max_producers;    /**< Per connection, on this side. */
	uint32_t max_consumers;    /**< Per connection, on this side. */
	uint32_t max_dp_queue;     /**< Operations per producer or consumer. */
	uint32_t max_imm_len;      /**< Immediate data, bytes. */
	uint64_t max_buf_len;      /**< Fast-path message, bytes. */
	uint64_t max_import;       /**< Peer memory mapped per connection, bytes. */
	uint64_t total_import;     /**< Peer memory mapped in total, bytes. */
	uint64_t max_staging;      /**< Record regions and staging rings allocated per
				    * connection for the peer's consumers, bytes. */
	uint64_t total_staging;    /**< The same in total, bytes. */
};

/** A host function as seen by the DPU. */
struct rte_comch_rep_info {
	char name[RTE_COMCH_DEV_NAME_SIZE]; /**< "pf0", "pf0vf3", "pf0sf7". */
	enum rte_comch_func_type type;
	uint16_t pf;    /**< Number of the physical function. */
	uint16_t index; /**< Number of the VF or SF; 0 for a PF. */
};

/**
 * Open a device by its device string, `DRIVER[NUMBER][,KEY=VALUE...]`.
 *
 * For the shared-memory driver: `comch_shm0,role=dpu,rep=pf0,rep=pf0vf0` and
 * `comch_shm0,role=host,func=pf0`. The guide, chapter "The shm driver", has the other
 * keys.
 *
 * @param devargs
 *   The device string; copied.
 * @param[out] dev_id
 *   Number of the new device.
 * @return
 *   - 0: done.
 *   - -EINVAL: malformed string, or an unknown key or value; the log line lists the
 *     valid ones.
 *   - -ENODEV: unknown driver.
 *   - -EEXIST: a device of that name is open.
 *   - -ENOSPC: too many devices.
 *   - other: from the driver (for example, it cannot create a directory).
 */
int rte_comch_dev_probe(const char *devargs, int16_t *dev_id);

/**
 * Close a device.
 *
 * @return
 *   - 0: done.
 *   - -ENODEV: unknown device.
 *   - -EBUSY: servers, clients or connections of the device exist (a connection that has ended
 *     is freed by the next run of its poll), or rte_comch_dev_props() is under way.
 */
int rte_comch_dev_close(int16_t dev_id);

/** Number of open devices. */
uint16_t rte_comch_dev_count(void);

/**
 * The open device with the smallest number not below *from*.
 *
 * @return
 *   The device's number, or -1.
 */
int16_t rte_comch_dev_next(int16_t from);

/** Iterate over all open devices. */
#define RTE_COMCH_DEV_FOREACH(dev_id) \
	for ((dev_id) = rte_comch_dev_next(0); (dev_id) >= 0; \
			(dev_id) = rte_comch_dev_next((int16_t)((dev_id) + 1)))

/**
 * Find an open device by name.
 *
 * @return
 *   The device's number, -EINVAL (NULL), -ENODEV.
 */
int rte_comch_dev_by_name(const char *name);

/**
 * Get the properties and limits of a device.
 *
 * @return
 *   0, -EINVAL (NULL), -ENODEV.
 */
int rte_comch_dev_info_get(int16_t dev_id, struct rte_comch_dev_info *info);

/**
 * Receives one property of a device or of hardware.
 *
 * @param ctx
 *   As passed by the caller.
 * @param unit
 *   What has the property, such as "mlx5_0"; NULL: the device, or the machine. All
 *   properties of a unit come one after the other.
 * @param key
 *   For example "gid". A unit may have several of one key.
 * @param value
 *   For people to read. All strings are valid during the call only.
 */
typedef void (*rte_comch_dev_prop_t)(void *ctx, const char *unit, const char *key,
		const char *value);

/**
 * Report what a device has chosen by itself, or was told by its device string, beside
 * struct rte_comch_dev_info: for mlx5 the RDMA device, port and GID, for example. Drivers
 * without such properties report none.
 *
 * @return
 *   0, -EINVAL (NULL), -ENODEV.
 */
int rte_comch_dev_props(int16_t dev_id, rte_comch_dev_prop_t prop, void *ctx);

/**
 * Report the hardware that devices of a driver could use on this machine. The property
 * "usable" of a unit begins with "yes", or with "no" and the reason and remedy. No device
 * is opened.
 *
 * @param driver
 *   For example "comch_mlx5".
 * @param prop
 *   Called for each property.
 * @param ctx
 *   Passed to it.
 * @return
 *   - 0: done.
 *   - -EINVAL: NULL.
 *   - -ENODEV: unknown driver, or its plugin does not load; the log has the reason.
 *   - -ENOTSUP: the driver uses no hardware.
 */
int rte_comch_dev_scan(const char *driver, rte_comch_dev_prop_t prop, void *ctx);

/**
 * Describe representor number *rep* of a device (0 to nb_reps - 1).
 *
 * @return
 *   0, -EINVAL (NULL), -ENODEV, -ENOENT (unknown representor).
 */
int rte_comch_dev_rep_info_get(int16_t dev_id, uint16_t rep,
		struct rte_comch_rep_info *info);

/**
 * Find a representor by its name.
 *
 * @return
 *   The representor's number, -EINVAL (NULL), -ENODEV, -ENOENT.
 */
int rte_comch_dev_rep_by_name(int16_t dev_id, const char *name);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_DEV_H */
