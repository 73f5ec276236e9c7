/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Errors and versions, built for each generation: GENERATION_VERSION. */

#include <criterion/criterion.h>

#include <doca_error.h>

#include "t.h"

/* As the interface counts them: a program may be built elsewhere. */
static const char *const names[] = {
	"SUCCESS", "ERROR_UNKNOWN", "ERROR_NOT_PERMITTED", "ERROR_IN_USE",
	"ERROR_NOT_SUPPORTED", "ERROR_AGAIN", "ERROR_INVALID_VALUE", "ERROR_NO_MEMORY",
	"ERROR_INITIALIZATION", "ERROR_TIME_OUT", "ERROR_SHUTDOWN", "ERROR_CONNECTION_RESET",
	"ERROR_CONNECTION_ABORTED", "ERROR_CONNECTION_INPROGRESS", "ERROR_NOT_CONNECTED",
	"ERROR_NO_LOCK", "ERROR_NOT_FOUND", "ERROR_IO_FAILED", "ERROR_BAD_STATE",
	"ERROR_UNSUPPORTED_VERSION", "ERROR_OPERATING_SYSTEM", "ERROR_DRIVER",
	"ERROR_UNEXPECTED", "ERROR_ALREADY_EXIST", "ERROR_FULL", "ERROR_EMPTY",
	"ERROR_IN_PROGRESS", "ERROR_TOO_BIG", "ERROR_AUTHENTICATION", "ERROR_BAD_CONFIG",
	"ERROR_SKIPPED",
};

/* behaviour: G1 */
Test(doca_error, values_have_names)
{
	char name[64];

	T_EQ(RTE_DIM(names), 31);
	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		snprintf(name, sizeof(name), "DOCA_%s", names[i]);
		T_STR_EQ(doca_error_get_name(i), name);
		T_STR_EQ(doca_get_error_name(i), name);
		T_STR_EQ(doca_get_error_string(i), doca_error_get_descr(i));
		for (unsigned int j = 0; j < i; j++)
			T_CHECK(strcmp(doca_error_get_descr(i), doca_error_get_descr(j)) != 0);
	}
	T_EQ(DOCA_ERROR_AGAIN, 5);
	T_EQ(DOCA_ERROR_CONNECTION_INPROGRESS, 13);
	T_EQ(DOCA_ERROR_SKIPPED, 30);
}

/* behaviour: G1 */
Test(doca_error, other_values_have_a_text)
{
	const int others[] = { -1, 31, 1000, INT32_MAX, INT32_MIN };

	for (unsigned int i = 0; i < RTE_DIM(others); i++) {
		const char *name = doca_error_get_name((doca_error_t)others[i]);
		const char *descr = doca_error_get_descr((doca_error_t)others[i]);

		T_CHECK(name != NULL && name[0] != '\0');
		T_CHECK(descr != NULL && descr[0] != '\0');
		for (unsigned int j = 0; j < RTE_DIM(names); j++)
			T_CHECK(strcmp(name, doca_error_get_name(j)) != 0);
	}
}

/* behaviour: G2 */
Test(doca_error, propagate_keeps_the_first)
{
	doca_error_t result = DOCA_SUCCESS;

	T_CHECK(!DOCA_IS_ERROR(result));
	DOCA_ERROR_PROPAGATE(result, DOCA_SUCCESS);
	T_EQ(result, DOCA_SUCCESS);
	DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_AGAIN);
	DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_IN_USE);
	DOCA_ERROR_PROPAGATE(result, DOCA_SUCCESS);
	T_EQ(result, DOCA_ERROR_AGAIN);
	T_CHECK(DOCA_IS_ERROR(result));
}

/* behaviour: G12 */
Test(doca_version, header_and_library)
{
	char parts[32];
	char runtime[64];

	T_STR_EQ(doca_version(), GENERATION_VERSION);
	T_STR_EQ(doca_version(), DOCA_VERSION_STRING);
	snprintf(parts, sizeof(parts), "%d.%d.%04d", DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR,
		DOCA_VERSION_PATCH);
	T_STR_EQ(doca_version(), parts);
	snprintf(runtime, sizeof(runtime), "comch %s", COMCH_VERSION);
	T_STR_EQ(doca_version_runtime(), runtime);
}

/* 2.10 is newer than 2.9, and 3.0 than both. */
Test(doca_version, compare)
{
	T_CHECK(DOCA_VERSION_CALC(2, 9, 0) < DOCA_VERSION_CALC(2, 10, 0));
	T_CHECK(DOCA_VERSION_CALC(2, 10, 0) < DOCA_VERSION_CALC(3, 0, 0));
	T_CHECK(DOCA_VERSION_EQ_CURRENT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR,
		DOCA_VERSION_PATCH));
	T_CHECK(DOCA_VERSION_LTE_CURRENT(2, 5, 0));
	T_CHECK(!DOCA_VERSION_LTE_CURRENT(4, 0, 0));
	T_EQ(DOCA_VERSION_EXACT, DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR,
		DOCA_VERSION_MINOR, DOCA_VERSION_PATCH));
}
