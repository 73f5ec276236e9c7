/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Parses lists and ranges of sizes. */

#include <errno.h>
#include <string.h>

#include "app_text.h"
#include "plan/options.h"

/* Parse the step after `A:B`: nothing, `:xM` or `:+N`. */
static int
parse_step(const char **text, uint64_t *mul, uint64_t *add)
{
	bool adds = strncmp(*text, ":+", 2) == 0;
	uint64_t *step = adds ? add : mul;

	*mul = adds ? 1 : 2;
	*add = 0;
	if (!adds && strncmp(*text, ":x", 2) != 0)
		return 0;
	*text += 2;
	return app_number(text, step) != 0 || *step < (adds ? 1 : 2) ||
			*step > PERF_MAX_SIZE ? -EINVAL : 0;
}

/* Parse a list element, `A` or a range. @return the new number of sizes */
static int
parse_range(const char **text, uint64_t *sizes, int nb)
{
	uint64_t first, last, mul = 1, add = 1;

	if (app_number(text, &first) != 0)
		return -EINVAL;
	last = first;
	if (**text == ':') {
		(*text)++;
		if (app_number(text, &last) != 0 || last < first ||
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
			first = 1; /* doubling continues from 1 */
	}
	return nb;
}

int
sizes_parse(const char *text, uint64_t *sizes)
{
	int nb = parse_range(&text, sizes, 0);

	while (nb > 0 && *text == ',') {
		text++;
		nb = parse_range(&text, sizes, nb);
	}
	return nb > 0 && *text == '\0' ? nb : -EINVAL;
}
