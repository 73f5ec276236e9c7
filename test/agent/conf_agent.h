/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef CONF_AGENT_H
#define CONF_AGENT_H

#include "t_pair.h"

struct conf_agent_options {
	struct t_driver driver;
	const char *agent;            /**< HOST:PORT; NULL: both ends in this process. */
	enum rte_comch_role far_role; /**< Of the agent's end. */
};

/* Read the options, start an agent if one is to be started; the first argument that is
 * no option, or negative after a message.
 */
int conf_agent_options(struct conf_agent_options *opt, int argc, char **argv);
/* End the agent that was started, if one was; false: a session of it failed. */
bool conf_agent_spawned_end(void);

/* Why a case cannot run with an agent; NULL if it can. */
const char *conf_agent_excluded(const char *group, const char *name);

#endif /* CONF_AGENT_H */
