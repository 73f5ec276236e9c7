/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_BITFIELD_H
#define DOCA_BITFIELD_H

/**
 * @file
 * Bits and byte order.
 */

#include <arpa/inet.h>

/** Index of the lowest bit that is set in *x*. */
#define DOCA_SHIFT(x) (__builtin_ctzll(x))
/** 16 bits, from the host's byte order to the network's. */
#define DOCA_HTOBE16(x) (htons(x))
/** 32 bits, from the host's byte order to the network's. */
#define DOCA_HTOBE32(x) (htonl(x))
/** 16 bits, from the network's byte order to the host's. */
#define DOCA_BETOH16(x) (ntohs(x))
/** 32 bits, from the network's byte order to the host's. */
#define DOCA_BETOH32(x) (ntohl(x))

#endif /* DOCA_BITFIELD_H */
