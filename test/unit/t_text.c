/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What a peer says is printed as printable ASCII: by the tools, and by the examples. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app_text.h"
#include "t_main.h"
#include "text.h"

/* How a byte is printed. */
static const char *
printed(unsigned int byte, char text[8])
{
	const bool plain = byte >= ' ' && byte <= '~' && byte != '\\';

	snprintf(text, 8, plain ? "%c" : "\\x%02x", byte);
	return text;
}

T_CASE(of_the_tools)
{
	char buf[16], text[8];
	unsigned int i;
	uint8_t byte;

	for (i = 0; i < 256; i++) {
		byte = (uint8_t)i;
		T_EQ(strcmp(app_printable(&byte, 1, buf, sizeof(buf)), printed(i, text)), 0);
	}
}

/* What does not fit is left out, whole. */
T_CASE(of_the_tools_in_little_room)
{
	const uint8_t bytes[] = { 0x1b, ']', 0x9b, 0x07 };
	char buf[32];
	size_t size, i;

	for (size = 6; size <= sizeof(buf); size++) {
		memset(buf, 0xee, sizeof(buf));
		app_printable(bytes, sizeof(bytes), buf, size);
		T_LT(strlen(buf), size);
		T_EQ(strncmp(buf, "\\x1b]\\x9b\\x07", strlen(buf)), 0);
		for (i = size; i < sizeof(buf); i++)
			T_EQ((uint8_t)buf[i], 0xee);
	}
	T_EQ(strcmp(buf, "\\x1b]\\x9b\\x07"), 0);
}

T_CASE(of_the_examples)
{
	char text[8], expected[2048] = "before", *out = NULL;
	FILE *memory, *before = stdout;
	uint8_t bytes[256];
	unsigned int i;
	size_t len;

	for (i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)i;
		strcat(expected, printed(i, text));
	}
	strcat(expected, "after");
	memory = open_memstream(&out, &len);
	T_CHECK(memory != NULL);
	stdout = memory;
	text_print("before", bytes, sizeof(bytes), "after");
	stdout = before;
	fclose(memory);
	T_EQ(strcmp(out, expected), 0);
	free(out);
}
