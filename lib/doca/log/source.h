/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_LOG_SOURCE_H
#define IMPL_LOG_SOURCE_H

/*
 * Sources of messages: names by number.
 */

/* A copy of the name, to be freed. NULL with errno: EINVAL (no such source), ENOMEM. */
char *impl_source_name(int source);

#endif /* IMPL_LOG_SOURCE_H */
