/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <sys/mman.h>
#include <unistd.h>

#include "common/capture.h"
#include "t.h"

static int file = -1, saved = -1;

void
t_capture_begin(void)
{
	fflush(stderr);
	saved = dup(STDERR_FILENO);
	file = memfd_create("stderr", MFD_CLOEXEC);
	T_GE(saved, 0);
	T_GE(file, 0);
	T_GE(dup2(file, STDERR_FILENO), 0);
}

const char *
t_capture_end(void)
{
	static char text[8192];
	ssize_t len;

	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	len = pread(file, text, sizeof(text) - 1, 0);
	close(file);
	T_GE(len, 0);
	text[len] = '\0';
	return text;
}
