/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include "common/file.h"
#include "t.h"

const char *
file_write(const char *name, const char *text)
{
	static char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", t_dir(), name);
	f = fopen(path, "w");
	T_CHECK(f != NULL);
	fputs(text, f);
	fclose(f);
	return path;
}

void
device_table_write(const char *text)
{
	setenv("COMCH_DEVICES", file_write("devices.ini", text), 1);
}
