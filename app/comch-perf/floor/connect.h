/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FLOOR_CONNECT_H
#define FLOOR_CONNECT_H

/**
 * @file
 * What the kernel does for a connection over shared memory, and nothing else: a unix socket is
 * connected and accepted, each side makes a sealed region of memory and maps that of the other,
 * and all of it is closed. Both sides spin.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** @return a listening socket, which both processes have; negative: failed */
int floor_connect_listen(void);

/**
 * Connect again and again.
 *
 * @return
 *   Median from the start of a client to its map of the server's memory, ns; negative: failed.
 */
double floor_connect_ask(int listener, uint32_t ms, bool crowded);

/** Accept until *over is not 0. *crowded*: both share a CPU */
void floor_connect_serve(int listener, const _Atomic uint64_t *over, bool crowded);

#endif /* FLOOR_CONNECT_H */
