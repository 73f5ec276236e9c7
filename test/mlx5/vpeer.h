/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef VPEER_H
#define VPEER_H

/*
 * A peer of the RDMA driver written from scratch on verbs in memory: it knows the layouts and
 * nothing of the library, and may lie in each field. The addresses are those of u_driver.h.
 * While it waits, all nodes of the thread run.
 */

#include <stdbool.h>
#include <stdint.h>

#include "ctrl/comch_wire.h"
#include "forms.h"
#include "fv.h"
#include "mlx5_layout.h"

#define VP_SLOTS 64
#define VP_SLOT 512
/* Receive slots of the fast path; the pieces of a consumer with staging. */
#define VP_DATA_SLOTS 128
#define VP_PIECES 8

struct vp_qp {
	struct ibv_qp *qp;    /* NULL: none */
	struct ibv_cq *tx_cq, *rx_cq;
	struct ibv_mr *mr;
	uint8_t *slab;        /* receive slots, then buffers to send from */
	uint32_t nb_rx, rx_size;
	uint32_t psn;
	uint64_t nb_sent, nb_done;
};

struct vp {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_ah_attr ah;
	struct vp_qp ctrl, data;
	uint8_t *mem;         /* LIE_MEM_LEN bytes that the victim may write */
	struct ibv_mr *mem_mr;
	uint32_t returned;    /* slots posted again, told in each message */
	uint8_t rx[8192];     /* the frame that arrives */
	uint32_t rx_len;
	bool is_over;         /* the victim has hung up, or said that it will */
};

/* A frame of the victim. */
struct vp_frame {
	uint32_t type;
	uint32_t len;         /* of the body */
	uint8_t body[4096];
};

/* Private data without a lie, as fields. */
void vp_hello(struct form *f, const char *name);
void vp_welcome(struct form *f);
void vp_refuse(struct form *f, uint16_t reason);

/* Connect to a server, with this private data. False: refused; *why: its reason, or 0. */
bool vp_dial(struct vp *a, const char *name, const void *data, uint8_t len, unsigned int *why);
/* A place where clients of that name look for a server. */
void vp_listen(struct vp *place, const char *name);
/* Take the next client's request, and accept it with this private data, or refuse it. */
void vp_accept(struct vp *place, struct vp *a, const void *data, uint8_t len);
void vp_reject(struct vp *place, const void *data, uint8_t len);
/* Close all; the victim sees it disconnect. */
void vp_close(struct vp *a);
/* Has the victim hung up, or rejected or disconnected? */
bool vp_is_over(struct vp *a);

/* A SEND of bytes, and an RDMA WRITE; opcode chooses one with an immediate value. */
void vp_send(struct vp_qp *qp, const void *bytes, uint32_t len);
void vp_write(struct vp_qp *qp, enum ibv_wr_opcode opcode, const void *bytes, uint32_t len,
		uint64_t addr, uint32_t rkey);

/* The header of a control message with a frame of len bytes, without lists. */
void vp_add_ctrl(struct vp *a, struct form *f, uint32_t len);
/* A frame with the driver's ticket; makes what the ticket refers to. */
void vp_add_frame(struct vp *a, struct form *f, const struct lie_frame *frame);
/* Send the bytes as one frame. */
void vp_put(struct vp *a, const void *bytes, uint32_t len);
/* Send the frame of this type, true. */
void vp_say(struct vp *a, uint32_t type);
/* The next frame of the victim's; false: none. */
bool vp_recv(struct vp *a, struct vp_frame *f);
/* Wait for a frame of this type; others are dropped. */
void vp_hear(struct vp *a, struct vp_frame *f, uint32_t type);

/* Connect the queue pair of the fast path to that of the victim's ticket. */
void vp_join(struct vp *a, const struct vp_frame *f);
/* The next message of the victim's on it: its bytes, until the next call. NULL: none. */
const uint8_t *vp_data_recv(struct vp *a, uint32_t *len);

#endif /* VPEER_H */
