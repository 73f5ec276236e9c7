/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "app_text.h"

int
app_number(const char **text, uint64_t *value)
{
	static const char suffixes[] = "kmg";
	const char *suffix;
	char *end;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	errno = 0;
	*value = strtoull(*text, &end, 0);
	if (errno != 0)
		return -EINVAL;
	suffix = *end == '\0' ? NULL : strchr(suffixes, tolower((unsigned char)*end));
	if (suffix != NULL) {
		unsigned int shift = 10 * (unsigned int)(suffix - suffixes + 1);

		if (*value > UINT64_MAX >> shift)
			return -EINVAL;
		*value <<= shift;
		end++;
	}
	*text = end;
	return 0;
}

int
app_seconds(const char *text, double min, double max, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	/* NaN compares false. */
	return end != text && *end == '\0' && *seconds >= min && *seconds <= max ? 0 : -EINVAL;
}

const char *
app_si(double value, char *buf, size_t size)
{
	static const char *const units[] = { "", "k", "M", "G", "T" };
	uint32_t i = 0;

	while (value >= 999.5 && i < RTE_DIM(units) - 1) {
		value /= 1000;
		i++;
	}
	snprintf(buf, size, "%.3g %s", value, units[i]);
	return buf;
}

const char *
app_size(uint64_t size, char *buf, size_t len)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	uint32_t i = 0;

	while (i < 3 && size != 0 && size % 1024 == 0) {
		size /= 1024;
		i++;
	}
	snprintf(buf, len, "%llu %s", (unsigned long long)size, units[i]);
	return buf;
}

const char *
app_printable(const void *data, size_t len, char *buf, size_t size)
{
	const unsigned char *p = data;
	size_t i, used = 0;

	for (i = 0; i < len && used + 5 < size; i++) {
		if (p[i] < 0x80 && isprint(p[i]) && p[i] != '\\')
			buf[used++] = (char)p[i];
		else
			used += (size_t)snprintf(buf + used, size - used, "\\x%02x", p[i]);
	}
	buf[used] = '\0';
	return buf;
}
