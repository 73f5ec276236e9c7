/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_LOG_SOURCE_H
#define IMPL_LOG_SOURCE_H

/*
 * Sources of messages: numbers and names.
 */

/* Copy of the name, which the caller frees. NULL with errno: EINVAL (unknown), ENOMEM. */
char *impl_source_name(int source);

#endif /* IMPL_LOG_SOURCE_H */
