/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MSGQ_H
#define MSGQ_H

/**
 * @file
 * Producers and consumers of MsgQs. A MsgQ has no other side, so both ends are
 * of this process, on the CPUs on which the two sides of other tests would be:
 *
 *     CPUs of the host side                    first CPU of the DPU side
 *     worker 0, the main thread --- MsgQ ----> the last worker, a thread that
 *     workers 1 ..., lcores     ---'           is not an lcore
 *
 * With `bidir` there is one worker at each end, and a MsgQ each way. Workers,
 * their loops and what they check are those of data.h.
 */

#include "data.h"

/** Step of the ladder: producers to one consumer, or `bidir`. */
int msgq_setup(struct perf_run *run);

/** The same for blocks that are copied into a window before each message. */
int msgq_setup_copy(struct perf_run *run);

#endif /* MSGQ_H */
