/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DFACE_SOURCE_H
#define DFACE_SOURCE_H

/*
 * Sources of messages: names by number.
 */

/* A copy of the name, to be freed. NULL with errno: EINVAL (no such source), ENOMEM. */
char *dface_source_name(int source);

#endif /* DFACE_SOURCE_H */
