/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/params.h"
#include "values.h"

int
values_refuse(char *error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error, PERF_ERROR_SIZE, format, ap);
	va_end(ap);
	return -EINVAL;
}

int
values_number(const char **text, uint64_t *value)
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

/* What follows `A:B`: nothing, `:xM` or `:+N`. */
static int
parse_step(const char **text, uint64_t *mul, uint64_t *add)
{
	*mul = 2;
	*add = 0;
	if (strncmp(*text, ":x", 2) == 0) {
		*text += 2;
		return values_number(text, mul) != 0 || *mul < 2 ||
				*mul > PERF_MAX_SIZE ? -EINVAL : 0;
	}
	if (strncmp(*text, ":+", 2) == 0) {
		*text += 2;
		*mul = 1;
		return values_number(text, add) != 0 || *add == 0 ||
				*add > PERF_MAX_SIZE ? -EINVAL : 0;
	}
	return 0;
}

/* One element of a list of sizes: `A`, or a range. */
static int
parse_range(const char **text, uint64_t *sizes, int nb)
{
	uint64_t first;
	uint64_t last;
	uint64_t mul = 1;
	uint64_t add = 1;

	if (values_number(text, &first) != 0)
		return -EINVAL;
	last = first;
	if (**text == ':') {
		(*text)++;
		if (values_number(text, &last) != 0 || last < first ||
				parse_step(text, &mul, &add) != 0)
			return -EINVAL;
	}
	if (last > PERF_MAX_SIZE)
		return -EINVAL;
	for (; first <= last; first = first * mul + add) {
		if (nb == PERF_MAX_SIZES)
			return -EINVAL;
		sizes[nb++] = first;
		if (first == 0 && add == 0)
			first = 1; /* doubling goes on from 1 */
	}
	return nb;
}

int
values_sizes(const char *text, uint64_t *sizes, char *error)
{
	const char *p = text;
	int nb = 0;

	for (;;) {
		nb = parse_range(&p, sizes, nb);
		if (nb < 0 || (*p != ',' && *p != '\0'))
			return values_refuse(error, "--size: '%s' is not N, A,B,C, A:B, A:B:xM "
					"or A:B:+N with N from 0 to 1G (at most %d sizes)",
				text, PERF_MAX_SIZES);
		if (*p == '\0')
			return nb;
		p++;
	}
}
