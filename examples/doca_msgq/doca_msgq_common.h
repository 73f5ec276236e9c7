/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_MSGQ_COMMON_H
#define DOCA_MSGQ_COMMON_H

/* What the program (doca_msgq.c) and its code on the DPA (doca_msgq_dev.c) share. */

#include <stdint.h>

/* A message, in either direction: at most 32 bytes. */
struct msg {
	enum { NUMBER, COPY } kind;
	uint32_t seq;
	uint64_t value; /* NUMBER: to be answered by value_for(); COPY: bytes */
};

/* What the DPA makes of a number. */
static inline uint64_t
value_for(uint64_t value)
{
	return value * 3 + 1;
}

/* The argument of the kernel, in memory of the DPA: it cannot see other variables. */
struct thread_arg {
	/* From the CPU. */
	uint64_t consumer;
	uint64_t consumer_completion;
	/* To the CPU. */
	uint64_t producer;
	uint64_t producer_completion;
	uint32_t to; /* id of the consumer on the CPU */
	/* The block that is copied. */
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
