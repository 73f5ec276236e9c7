/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/**
 * Reliable connections on plain verbs, for programs that look at what an RDMA device does.
 * All functions end the program with a message if something fails.
 */

#ifndef TEST_LAB_RC_H
#define TEST_LAB_RC_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/** The first RDMA device, its port 1, and registered memory. */
struct rc_dev {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *mem;
	union ibv_gid gid;
	int gid_index;
	enum ibv_mtu mtu;
};

/** One end of a connection. */
struct rc_end {
	struct ibv_qp *qp;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_comp_channel *channel; /* of recv_cq */
};

/** What the other end must know of one. */
struct rc_addr {
	union ibv_gid gid;
	uint64_t mem;
	uint32_t qpn;
	uint32_t rkey;
};

/** Work requests that fit into each queue. */
#define RC_DEPTH 256

void
rc_check(int ok, const char *what);

/** Open the first device, with the GID of this IPv4 address, and register zeroed memory. */
void
rc_open(struct rc_dev *dev, const char *ip, size_t len);

void
rc_close(struct rc_dev *dev);

void
rc_create(const struct rc_dev *dev, struct rc_end *end);

void
rc_destroy(struct rc_end *end);

struct rc_addr
rc_addr(const struct rc_dev *dev, const struct rc_end *end);

/** Move an end to RTS. Both ends do this before either sends. */
void
rc_connect(const struct rc_dev *dev, struct rc_end *end, const struct rc_addr *peer);

/** Post a receive into this memory of the device; len may be 0. */
void
rc_post_recv(const struct rc_dev *dev, struct rc_end *end, void *buf, uint32_t len);

/** Post a chain of sends. */
void
rc_post_send(struct rc_end *end, struct ibv_send_wr *wrs);

/** Wait, spinning, for a successful completion. */
void
rc_wait(struct ibv_cq *cq);

/** Run the calling thread on this CPU. */
void
rc_pin(unsigned int cpu);

#endif /* TEST_LAB_RC_H */
