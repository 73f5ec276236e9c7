/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef EXHAUST_H
#define EXHAUST_H

/* Each call of these kinds that a library makes fails in turn, each in a life of its own. */

#include "fault.h"
#include "trial.h"

/* With from, all calls from the one on. */
void exhaust_run(int (*run)(const struct life_conf *conf, const char **step),
		const struct life_conf *life, const char *file, unsigned int kinds, bool from);

#endif /* EXHAUST_H */
