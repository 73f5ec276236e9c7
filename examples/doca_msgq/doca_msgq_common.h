/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_MSGQ_COMMON_H
#define DOCA_MSGQ_COMMON_H

/* Shared by the host program (doca_msgq.c) and its DPA code (doca_msgq_dev.c). */

#include <stdint.h>

/* A message, in either direction: at most 32 bytes. */
struct msg {
	enum { NUMBER, COPY } kind;
	uint32_t seq;
	uint64_t value; /* NUMBER: input of value_for(); COPY: bytes */
};

/* The DPA's answer to a number. */
static inline uint64_t
value_for(uint64_t value)
{
	return value * 3 + 1;
}

/* Argument of the kernel, in DPA memory. The kernel has no access to host variables. */
struct thread_arg {
	/* From the CPU. */
	uint64_t consumer;
	uint64_t consumer_completion;
	/* To the CPU. */
	uint64_t producer;
	uint64_t producer_completion;
	uint32_t to; /* id of the consumer on the CPU */
	/* The copied block. */
	uint32_t source_mmap;
	uint32_t copy_mmap;
	uint64_t source;
	uint64_t copy;
	/* Written by the kernel. */
	uint64_t nb_msgs;
	uint64_t nb_activations;
	uint64_t nb_failed;
};

#endif /* DOCA_MSGQ_COMMON_H */
