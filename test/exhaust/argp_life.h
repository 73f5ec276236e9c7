/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ARGP_LIFE_H
#define ARGP_LIFE_H

/* A command line of a DOCA program, from its flags' creation to the end of argp. */

#include "life.h"

int argp_life_run(const struct life_conf *conf, const char **step);

#endif /* ARGP_LIFE_H */
