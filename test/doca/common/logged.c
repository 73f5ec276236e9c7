/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <doca_log.h>

#include "common/logged.h"
#include "common/result.h"

static char text[1 << 18];
static FILE *file;

void
logged_begin(void)
{
	struct doca_log_backend *backend;

	file = fmemopen(text, sizeof(text), "w");
	T_CHECK(file != NULL);
	T_OK(doca_log_backend_create_with_file_sdk(file, &backend));
	T_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_TRACE));
}

const char *
logged_end(void)
{
	const char *c;

	T_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DISABLE));
	T_EQ(fflush(file), 0);
	T_EQ(ferror(file), 0);
	for (c = text; *c != '\0'; c++)
		if (*c != '\n' && (*c < ' ' || *c > '~'))
			T_FAIL("byte %#x in the log, after \"%.*s\"", (unsigned char)*c,
				(int)(c - text), text);
	return text;
}
