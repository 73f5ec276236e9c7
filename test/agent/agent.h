/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef AGENT_H
#define AGENT_H

/*
 * comch-agent: makes and steps the objects of one end of a conformance run, by the
 * calls of another process, on this machine or another. It does what it is told: any
 * address in a call is used as it is. So it belongs on networks of tests only.
 *
 * The agent listens, and forks a session for each connection. A session has an EAL of
 * its own and ends with the connection, whatever is left open then.
 */

#include <rte_comch_dp.h>
#include <rte_comch_mem.h>
#include <rte_comch_poll.h>
#include <rte_comch_stats.h>

#include "t.h"
#include "wire.h"

/** Answer a call: read its arguments from w and write the reply into w. */
typedef void (*agent_handler)(struct wire *w);

/* One table per file, by call; those of other files are NULL. */
extern const agent_handler agent_dev_calls[NB_CALLS];
extern const agent_handler agent_obj_calls[NB_CALLS];
extern const agent_handler agent_poll_calls[NB_CALLS];
extern const agent_handler agent_data_calls[NB_CALLS];
extern const agent_handler agent_mem_calls[NB_CALLS];
extern const agent_handler agent_pool_calls[NB_CALLS];

/* Listen for the connections of CALL_POLL_WATCH where the session's connection came
 * in; the port.
 */
uint16_t agent_wake_listen(int session_fd);
/* Wait for the next call, telling of polls that wake meanwhile; false: closed. */
bool agent_wait(int session_fd);

#endif /* AGENT_H */
