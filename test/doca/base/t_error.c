/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_error, doca_version, doca_compat and the headers of a role: built for each. */

/* behaviour: G11 */
#include <doca_error.h>

static size_t
use_of_compat(const char *text)
{
	char *copy = malloc(strlen(text) + 1);
	uint32_t len;

	assert(copy != NULL);
	memcpy(copy, text, strlen(text) + 1);
	len = (uint32_t)strlen(copy);
	free(copy);
	return len;
}

#include <doca_bitfield.h>
#include <doca_types.h>
#include <doca_version.h>

#include "common/result.h"
#include "t_main.h"

/* behaviour: G1 */
T_CASE(names)
{
	static const char *const wanted[] = {
		"SUCCESS", "ERROR_UNKNOWN", "ERROR_NOT_PERMITTED", "ERROR_IN_USE",
		"ERROR_NOT_SUPPORTED", "ERROR_AGAIN", "ERROR_INVALID_VALUE", "ERROR_NO_MEMORY",
		"ERROR_INITIALIZATION", "ERROR_TIME_OUT", "ERROR_SHUTDOWN",
		"ERROR_CONNECTION_RESET", "ERROR_CONNECTION_ABORTED",
		"ERROR_CONNECTION_INPROGRESS", "ERROR_NOT_CONNECTED", "ERROR_NO_LOCK",
		"ERROR_NOT_FOUND", "ERROR_IO_FAILED", "ERROR_BAD_STATE",
		"ERROR_UNSUPPORTED_VERSION", "ERROR_OPERATING_SYSTEM", "ERROR_DRIVER",
		"ERROR_UNEXPECTED", "ERROR_ALREADY_EXIST", "ERROR_FULL", "ERROR_EMPTY",
		"ERROR_IN_PROGRESS", "ERROR_TOO_BIG", "ERROR_AUTHENTICATION", "ERROR_BAD_CONFIG",
		"ERROR_SKIPPED",
	};
	unsigned int i, j;

	T_EQ(DOCA_ERROR_SKIPPED, 30);
	T_EQ(RTE_DIM(wanted), 31);
	for (i = 0; i < RTE_DIM(wanted); i++) {
		T_EQ(strncmp(doca_error_get_name((doca_error_t)i), "DOCA_", 5), 0);
		T_STR_EQ(doca_error_get_name((doca_error_t)i) + 5, wanted[i]);
		T_CHECK(doca_error_get_descr((doca_error_t)i)[0] != '\0');
		for (j = 0; j < i; j++)
			T_NE(strcmp(doca_error_get_descr((doca_error_t)i),
				doca_error_get_descr((doca_error_t)j)), 0);
		T_STR_EQ(doca_get_error_name((doca_error_t)i),
			doca_error_get_name((doca_error_t)i));
		T_STR_EQ(doca_get_error_string((doca_error_t)i),
			doca_error_get_descr((doca_error_t)i));
	}
}

/* behaviour: G1 */
T_CASE(unknown)
{
	static const int values[] = { 31, 1000, -1, INT32_MIN, INT32_MAX };
	unsigned int i;

	for (i = 0; i < RTE_DIM(values); i++) {
		T_STR_EQ(doca_error_get_name((doca_error_t)values[i]), "DOCA_ERROR_?");
		T_STR_HAS(doca_error_get_descr((doca_error_t)values[i]), "Not a DOCA error");
	}
}

/* behaviour: G2 */
T_CASE(propagate)
{
	doca_error_t result = DOCA_SUCCESS;

	DOCA_ERROR_PROPAGATE(result, DOCA_SUCCESS);
	T_OK(result);
	DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_FULL);
	DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_EMPTY);
#if COMCH_DOCA_GENERATION < 200
	/* The macro has its semicolon. */
	DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_AGAIN)
#else
	if (result == DOCA_SUCCESS)
		DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_AGAIN);
	else
		DOCA_ERROR_PROPAGATE(result, DOCA_SUCCESS);
#endif
	T_IS(result, DOCA_ERROR_FULL);
	T_CHECK(DOCA_IS_ERROR(result));
	T_CHECK(!DOCA_IS_ERROR(DOCA_SUCCESS));
}

/* behaviour: G12 */
T_CASE(versions)
{
	char text[32];

	T_STR_EQ(doca_version(), DOCA_VERSION_STRING);
	snprintf(text, sizeof(text), "%d.%d.", DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR);
	T_EQ(strncmp(doca_version(), text, strlen(text)), 0);
	T_EQ(strncmp(doca_version_runtime(), "comch ", 6), 0);
	T_EQ(DOCA_VERSION_CALC_EXACT(1, 2, 3), 0x01020003);
	T_EQ(DOCA_VERSION_CALC(1, 2, 3), 0x01020000 + 3000);
	T_EQ(DOCA_VERSION_EXACT, DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR,
		DOCA_VERSION_MINOR, DOCA_VERSION_PATCH));
	T_CHECK(DOCA_VERSION_EQ_CURRENT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR,
		DOCA_VERSION_PATCH));
	T_CHECK(!DOCA_VERSION_EQ_CURRENT(1, 0, 0));
	T_CHECK(DOCA_VERSION_LTE_CURRENT(1, 2, 0));
	T_CHECK(!DOCA_VERSION_LTE_CURRENT(4, 0, 0));
	/* The number of the generation is not newer than the version. */
	T_CHECK(COMCH_DOCA_GENERATION <= DOCA_VERSION_MAJOR * 100 + DOCA_VERSION_MINOR);
	T_EQ(COMCH_DOCA_GENERATION, WANT_GENERATION);
}

/* behaviour: G10 */
T_CASE(role)
{
#ifdef WANT_DPU
#if !defined(DOCA_ARCH_DPU) || !defined(DOCA_ARCH_ARM) || defined(DOCA_ARCH_HOST) || \
		defined(DOCA_ARCH_X86)
#error "not for the DPU"
#endif
#else
#if defined(DOCA_ARCH_DPU) || defined(DOCA_ARCH_ARM) || !defined(DOCA_ARCH_HOST) || \
		!defined(DOCA_ARCH_X86)
#error "not for the host"
#endif
#endif
	T_EQ(use_of_compat("abc"), 3);
}

#if COMCH_DOCA_GENERATION < 200
/* The mark has an older name. */
__DOCA_EXPERIMENTAL int marked(void);

int
marked(void)
{
	return 1;
}
#endif

struct versioned {
	DOCA_STRUCT_START;
	int value;
};

T_CASE(helpers)
{
	DOCA_STRUCT_DEF(versioned, s);
	struct versioned t = { .value = 5 };

	T_EQ(DOCA_STRUCT_GET_VERSION(&s), DOCA_VERSION_EXACT);
	DOCA_STRUCT_CTOR(t);
	T_EQ(DOCA_STRUCT_GET_VERSION(&t), DOCA_VERSION_EXACT);
	T_EQ(t.value, 5);
	DOCA_STRUCT_MEMSET_CTOR(t);
	T_EQ(DOCA_STRUCT_GET_VERSION(&t), DOCA_VERSION_EXACT);
	T_EQ(t.value, 0);
#if COMCH_DOCA_GENERATION < 200
	T_EQ(marked(), 1);
#endif
	T_EQ(DOCA_SHIFT(0x40), 6);
	T_EQ(DOCA_BETOH16(DOCA_HTOBE16(0x1234)), 0x1234);
	T_EQ(DOCA_BETOH32(DOCA_HTOBE32(0x12345678)), 0x12345678);
	T_EQ(DOCA_HTOBE16(0x1234), htons(0x1234));
}
