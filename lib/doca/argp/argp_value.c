/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Values of flags: conversion from text to the type of the flag, and calls of callbacks. */

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <rte_common.h>

#include "argp/argp.h"

static bool
look_string(const char *text, struct impl_argp_value *value)
{
	RTE_SET_USED(text);
	RTE_SET_USED(value);
	return true;
}

static bool
look_int(const char *text, struct impl_argp_value *value)
{
	const char *digits = *text == '-' ? text + 1 : text;
	const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *end;
	long n;

	/* strtol() would accept spaces and a second sign. */
	if (strchr("0123456789", *digits) == NULL || *digits == '\0')
		return false;
	errno = 0;
	n = strtol(text, &end, hex ? 16 : 10);
	value->i = (int)n;
	return errno == 0 && *end == '\0' && n >= INT_MIN && n <= INT_MAX;
}

static bool
look_bool(const char *text, struct impl_argp_value *value)
{
	value->b = true;
	return text == NULL;
}

static bool
look_double(const char *text, struct impl_argp_value *value)
{
	char *end;

	value->d = strtod(text, &end);
	return end != text && *end == '\0' && isfinite(value->d);
}

static bool
look_json(const char *text, struct impl_argp_value *value)
{
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	const bool good = json_is_object(root);

	RTE_SET_USED(value);
	json_decref(root);
	return good;
}

static const struct {
	const char *what;
	bool (*look)(const char *text, struct impl_argp_value *value);
} types[IMPL_ARGP_NB_TYPES] = {
	[DOCA_ARGP_TYPE_STRING] = { "a string", look_string },
	[DOCA_ARGP_TYPE_INT] = { "a 32-bit integer", look_int },
	[DOCA_ARGP_TYPE_BOOLEAN] = { "without a value", look_bool },
	[DOCA_ARGP_TYPE_DEVICE] = { "a device", look_string },
	[DOCA_ARGP_TYPE_DEVICE_REP] = { "a representor", look_string },
	[DOCA_ARGP_TYPE_DOUBLE] = { "a finite number", look_double },
	[IMPL_ARGP_TYPE_JSON_OBJ] = { "a JSON object", look_json },
};

bool
impl_argp_takes_value(const struct doca_argp_param *param)
{
	return param->type != DOCA_ARGP_TYPE_BOOLEAN;
}

static doca_error_t
call(struct impl_argp_value *value)
{
	const struct doca_argp_param *param = value->param;

	switch (param->type) {
	case DOCA_ARGP_TYPE_INT:
		return param->callback(&value->i, impl_argp->config);
	case DOCA_ARGP_TYPE_BOOLEAN:
		return param->callback(&value->b, impl_argp->config);
	case DOCA_ARGP_TYPE_DOUBLE:
		return param->callback(&value->d, impl_argp->config);
	case DOCA_ARGP_TYPE_DEVICE:
		return impl_argp_call_dev(param, value->text);
	case DOCA_ARGP_TYPE_DEVICE_REP:
		return impl_argp_call_rep(param, value->text);
	default:
		return param->callback(value->text, impl_argp->config);
	}
}

static void
free_value(struct impl_argp_value *value)
{
	free(value->text);
	free(value);
}

static struct impl_argp_value *
create_value(struct doca_argp_param *param, const char *text)
{
	struct impl_argp_value *value = calloc(1, sizeof(*value));

	if (value == NULL)
		return NULL;
	value->param = param;
	if (!impl_argp_set_text(&value->text, text)) {
		free(value);
		return NULL;
	}
	return value;
}

doca_error_t
impl_argp_give(struct doca_argp_param *param, const char *text)
{
	struct impl_argp_value *value;
	doca_error_t result;

	if (param->nb_given > 0 && !param->multiplicity) {
		ARGP_ERR("flag '%s' was given twice", impl_argp_flag(param));
		return DOCA_ERROR_INVALID_VALUE;
	}
	value = create_value(param, text);
	if (value == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (!types[param->type].look(text, value)) {
		ARGP_ERR("flag '%s': '%s' is not %s", impl_argp_flag(param), text,
			types[param->type].what);
		free_value(value);
		return DOCA_ERROR_INVALID_VALUE;
	}
	param->nb_given++;
	if (!param->builtin) {
		STAILQ_INSERT_TAIL(&impl_argp->values, value, next);
		return DOCA_SUCCESS;
	}
	result = call(value);
	free_value(value);
	return result;
}

doca_error_t
impl_argp_call_values(void)
{
	struct impl_argp_value *value;
	doca_error_t result;

	STAILQ_FOREACH(value, &impl_argp->values, next) {
		result = call(value);
		if (result != DOCA_SUCCESS) {
			ARGP_ERR("flag '%s'%s%s: %s", impl_argp_flag(value->param),
				value->text != NULL ? ", " : "",
				value->text != NULL ? value->text : "",
				doca_error_get_descr(result));
			return result;
		}
	}
	return DOCA_SUCCESS;
}

void
impl_argp_free_values(void)
{
	struct impl_argp_value *value;

	while ((value = STAILQ_FIRST(&impl_argp->values)) != NULL) {
		STAILQ_REMOVE_HEAD(&impl_argp->values, next);
		free_value(value);
	}
}
