/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_TYPES_H
#define DOCA_TYPES_H

/**
 * @file
 * Common types.
 */

#include <stdint.h>
#include <linux/types.h>

#include <doca_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A file descriptor to sleep on: poll(), select(), epoll. */
typedef int doca_event_handle_t;
/** Invalid descriptor. */
#define doca_event_invalid_handle -1
/** Size of an RDMA address, in bytes. */
#define DOCA_GID_BYTE_LENGTH 16
/** The descriptor of a progress engine. */
typedef doca_event_handle_t doca_notification_handle_t;

/** Application data, stored with an object. */
union doca_data {
	void *ptr;
	uint64_t u64;
};

/** A list of pieces of memory. */
struct doca_gather_list {
	void *addr;
	uint64_t len;
	struct doca_gather_list *next;
};

/** Access rights to memory. This side may always read it. */
enum doca_access_flag {
	DOCA_ACCESS_FLAG_LOCAL_READ_ONLY = 0, /**< This side may read. */
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE = (1 << 0), /**< This side may write, too. */
	DOCA_ACCESS_FLAG_RDMA_READ = (1 << 1), /**< RDMA: accepted; no effect. */
	DOCA_ACCESS_FLAG_RDMA_WRITE = (1 << 2), /**< RDMA: accepted; no effect. */
	DOCA_ACCESS_FLAG_RDMA_ATOMIC = (1 << 3), /**< RDMA: accepted; no effect. */
	DOCA_ACCESS_FLAG_PCI_READ_ONLY = (1 << 4),  /**< The other side may read. */
	DOCA_ACCESS_FLAG_PCI_READ_WRITE = (1 << 5), /**< The other side may read and write. */
	DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING = (1 << 6), /**< Accepted; no effect. */
};

#if COMCH_DOCA_GENERATION < 205
/** Names of enum doca_access_flag until DOCA 1.5 (first), and from 2.0 to 2.2. */
enum doca_access_flags {
	DOCA_ACCESS_LOCAL_READ = 0,
	DOCA_ACCESS_LOCAL_WRITE = 1,
	DOCA_ACCESS_REMOTE_WRITE = 2, /**< RDMA: accepted; no effect. */
	DOCA_ACCESS_REMOTE_READ = 4,  /**< RDMA: accepted; no effect. */
	DOCA_ACCESS_REMOTE_ATOMIC = 8,

	DOCA_ACCESS_LOCAL_READ_ONLY = 0,
	DOCA_ACCESS_LOCAL_READ_WRITE = 1,
	DOCA_ACCESS_RDMA_READ = 2,
	DOCA_ACCESS_RDMA_WRITE = 4,
	DOCA_ACCESS_RDMA_ATOMIC = 8,
	DOCA_ACCESS_DPU_READ_ONLY = 16,
	DOCA_ACCESS_DPU_READ_WRITE = 32,
};
#endif

/** Type of a PCI function. */
enum doca_pci_func_type {
	DOCA_PCI_FUNC_TYPE_PF = 0, /**< Physical function. */
	DOCA_PCI_FUNC_TYPE_VF = 1, /**< Virtual function. */
	DOCA_PCI_FUNC_TYPE_SF = 2, /**< Scalable function. */
#if COMCH_DOCA_GENERATION < 205
	DOCA_PCI_FUNC_PF = DOCA_PCI_FUNC_TYPE_PF,
	DOCA_PCI_FUNC_VF = DOCA_PCI_FUNC_TYPE_VF,
	DOCA_PCI_FUNC_SF = DOCA_PCI_FUNC_TYPE_SF,
#endif
};

typedef __be16 doca_be16_t;
typedef __be32 doca_be32_t;
typedef __be64 doca_be64_t;

/** Memory of a GPU. Unused; defined for programs that name it. */
enum doca_gpu_mem_type {
	DOCA_GPU_MEM_TYPE_GPU = 0,
	DOCA_GPU_MEM_TYPE_GPU_CPU = 1,
	DOCA_GPU_MEM_TYPE_CPU_GPU = 2,
};

/** Timed sending. Unused; defined for programs that name it. */
enum doca_eth_wait_on_time_type {
	DOCA_ETH_WAIT_ON_TIME_TYPE_NONE = 0,
	DOCA_ETH_WAIT_ON_TIME_TYPE_NATIVE = 1,
	DOCA_ETH_WAIT_ON_TIME_TYPE_DPDK = 2,
};

/** Packet sizes. Unused; defined for programs that name it. */
enum doca_mtu_size {
	DOCA_MTU_SIZE_256_BYTES = 0x0,
	DOCA_MTU_SIZE_512_BYTES = 0x1,
	DOCA_MTU_SIZE_1K_BYTES = 0x2,
	DOCA_MTU_SIZE_2K_BYTES = 0x3,
	DOCA_MTU_SIZE_4K_BYTES = 0x4,
	DOCA_MTU_SIZE_RAW_ETHERNET = 0x5,
};

#ifdef __cplusplus
}
#endif

#endif /* DOCA_TYPES_H */
