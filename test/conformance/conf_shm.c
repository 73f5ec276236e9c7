/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What the conformance suite has to know of the shared-memory driver. */

#include <glob.h>
#include <limits.h>
#include <unistd.h>

#include "conf.h"

/* All sockets of a function: which is whose does not matter here. */
static void
unlink_sockets(const char *func, const char *name)
{
	char path[PATH_MAX];
	glob_t found;
	size_t i;

	RTE_SET_USED(name);
	snprintf(path, sizeof(path), "%s/%s/*.sock", t_dir(), func);
	T_EQ(glob(path, 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++)
		T_EQ(unlink(found.gl_pathv[i]), 0);
	globfree(&found);
}

const struct t_driver conf_driver_shm = {
	.lose = unlink_sockets,
	.name = "comch_shm",
	.has_dir = true,
	.has_kernel_peer = true,
	.has_export_eal = true,
	.maps_memory = true,
};
