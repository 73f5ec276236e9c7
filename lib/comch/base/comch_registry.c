/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The lists of all objects of this process. */

#include "base/comch_registry.h"

struct comch_registry comch_registry = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.types = SLIST_HEAD_INITIALIZER(comch_registry.types),
};
