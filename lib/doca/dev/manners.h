/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_MANNERS_H
#define IMPL_DEV_MANNERS_H

/*
 * How a device behaves towards programs that count on more than DOCA promises, or on more than a
 * card gives. Keys of the device table set it.
 */

#include <stdbool.h>

#include "dev/fault.h"
#include "dev/limit.h"

struct impl_manners {
	bool single_progress;  /* progress = single: a progress reports one completion */
	bool keeps_freed_tasks;      /* lenient = freed_tasks: they can be submitted */
	bool again_after_send; /* the first receive call after a send returns AGAIN */
	struct impl_limits limits;
	struct impl_faults *faults; /* NULL: none */
};

#endif /* IMPL_DEV_MANNERS_H */
