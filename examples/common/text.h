/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef EXAMPLE_TEXT_H
#define EXAMPLE_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Print a peer's bytes, what is not printable ASCII as \xNN: the other side must not control
 * this side's terminal.
 */
static inline void
text_print(const char *before, const void *data, size_t len, const char *after)
{
	const unsigned char *p = data;
	size_t i;

	fputs(before, stdout);
	for (i = 0; i < len; i++) {
		if (p[i] >= ' ' && p[i] <= '~' && p[i] != '\\')
			putchar(p[i]);
		else
			printf("\\x%02x", p[i]);
	}
	fputs(after, stdout);
}

#endif /* EXAMPLE_TEXT_H */
