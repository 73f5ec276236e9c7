/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Flags: creation, fields, registration. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "argp/argp.h"

bool
impl_argp_name_is_valid(const char *name)
{
	if (!isalnum((unsigned char)*name))
		return false;
	while (isalnum((unsigned char)*name) || *name == '-' || *name == '_')
		name++;
	return *name == '\0';
}

const char *
impl_argp_flag(const struct doca_argp_param *param)
{
	/* Names are short, and a message has only one. */
	static char flag[64];

	if (param->long_name != NULL)
		snprintf(flag, sizeof(flag), "--%s", param->long_name);
	else
		snprintf(flag, sizeof(flag), "-%s", param->short_name);
	return flag;
}

bool
impl_argp_set_text(char **field, const char *text)
{
	char *copy = NULL;

	if (text != NULL) {
		copy = strdup(text);
		if (copy == NULL)
			return false;
	}
	free(*field);
	*field = copy;
	return true;
}

static void
free_param(struct doca_argp_param *param)
{
	free(param->short_name);
	free(param->long_name);
	free(param->arguments);
	free(param->description);
	free(param);
}

void
impl_argp_free_params(struct impl_argp_params *params)
{
	struct doca_argp_param *param;

	while ((param = TAILQ_FIRST(params)) != NULL) {
		TAILQ_REMOVE(params, param, next);
		free_param(param);
	}
}

doca_error_t
doca_argp_param_create(struct doca_argp_param **param)
{
	if (param == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	*param = calloc(1, sizeof(**param));
	return *param != NULL ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

doca_error_t
doca_argp_param_destroy(struct doca_argp_param *param)
{
	if (param == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (param->registered)
		return DOCA_ERROR_BAD_STATE;
	free_param(param);
	return DOCA_SUCCESS;
}

/* Setters return nothing, so the registration reports their errors. */
static bool
may_set(const struct doca_argp_param *param)
{
	if (param != NULL && !param->registered)
		return true;
	ARGP_ERR("a flag's field is set of %s",
		param == NULL ? "NULL" : "a flag that is registered");
	return false;
}

/* Set a text field. */
static void
set_text(struct doca_argp_param *param, char **field, const char *text)
{
	if (!impl_argp_set_text(field, text))
		param->no_memory = true;
}

void
doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name)
{
	if (may_set(param))
		set_text(param, &param->short_name, name);
}

void
doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name)
{
	if (may_set(param))
		set_text(param, &param->long_name, name);
}

void
doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments)
{
	if (may_set(param))
		set_text(param, &param->arguments, arguments);
}

void
doca_argp_param_set_description(struct doca_argp_param *param, const char *description)
{
	if (may_set(param))
		set_text(param, &param->description, description);
}

void
doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback)
{
	if (may_set(param))
		param->callback = callback;
}

void
doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type)
{
	const unsigned int value = (unsigned int)type;

	if (may_set(param))
		param->type = value <= DOCA_ARGP_TYPE_DOUBLE ? value : DOCA_ARGP_TYPE_UNKNOWN;
}

void doca_argp_param_set_type_205(struct doca_argp_param *param, unsigned int type);

/* doca_argp_param_set_type() until DOCA 2.10: 4 is a JSON object. */
void
doca_argp_param_set_type_205(struct doca_argp_param *param, unsigned int type)
{
	if (!may_set(param))
		return;
	if (type <= DOCA_ARGP_TYPE_BOOLEAN)
		param->type = type;
	else
		param->type = type == 4 ? IMPL_ARGP_TYPE_JSON_OBJ : DOCA_ARGP_TYPE_UNKNOWN;
}

void
doca_argp_param_set_mandatory(struct doca_argp_param *param)
{
	if (may_set(param))
		param->mandatory = true;
}

void
doca_argp_param_set_cli_only(struct doca_argp_param *param)
{
	if (may_set(param))
		param->cli_only = true;
}

void
doca_argp_param_set_multiplicity(struct doca_argp_param *param)
{
	if (may_set(param))
		param->multiplicity = true;
}

void
doca_argp_param_set_singular(struct doca_argp_param *param)
{
	if (may_set(param))
		param->singular = true;
}

void
doca_argp_param_set_inherited(struct doca_argp_param *param)
{
	if (may_set(param))
		param->inherited = true;
}

void
doca_argp_param_set_hidden(struct doca_argp_param *param)
{
	if (may_set(param))
		param->hidden = true;
}

static bool
same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool
is_taken(const struct doca_argp_cmd *cmd, const struct doca_argp_param *param)
{
	const struct doca_argp_param *p;
	unsigned int i;

	for (i = 0; i < IMPL_ARGP_NB_BUILTINS; i++) {
		p = &impl_argp->builtins[i];
		if (same(p->short_name, param->short_name) || same(p->long_name, param->long_name))
			return true;
	}
	TAILQ_FOREACH(p, &cmd->params, next)
		if (same(p->short_name, param->short_name) || same(p->long_name, param->long_name))
			return true;
	return false;
}

static doca_error_t
check(const struct doca_argp_cmd *cmd, const struct doca_argp_param *param)
{
	const char *const long_name = param->long_name, *const short_name = param->short_name;

	if (param->no_memory)
		return DOCA_ERROR_NO_MEMORY;
	if (long_name == NULL && short_name == NULL) {
		ARGP_ERR("a flag has neither a short nor a long name");
		return DOCA_ERROR_INITIALIZATION;
	}
	if (param->description == NULL || param->callback == NULL ||
			param->type == DOCA_ARGP_TYPE_UNKNOWN) {
		ARGP_ERR("flag '%s' has no %s", impl_argp_flag(param),
			param->description == NULL ? "description" :
			param->callback == NULL ? "callback" : "type");
		return DOCA_ERROR_INITIALIZATION;
	}
	if ((long_name != NULL && !impl_argp_name_is_valid(long_name)) ||
			(short_name != NULL && !impl_argp_name_is_valid(short_name))) {
		ARGP_ERR("flag '%s': invalid name: expected letters, digits, '-' and '_'",
			impl_argp_flag(param));
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (is_taken(cmd, param)) {
		ARGP_ERR("flag '%s': name is in use", impl_argp_flag(param));
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t
impl_argp_add_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param)
{
	doca_error_t result;

	if (param->registered)
		return DOCA_ERROR_BAD_STATE;
	/* The parser owns it from now on. */
	param->registered = true;
	result = impl_argp->started ? DOCA_ERROR_BAD_STATE : check(cmd, param);
	if (result != DOCA_SUCCESS)
		TAILQ_INSERT_TAIL(&impl_argp->refused, param, next);
	else
		TAILQ_INSERT_TAIL(&cmd->params, param, next);
	return result;
}

doca_error_t
doca_argp_register_param(struct doca_argp_param *input_param)
{
	if (input_param == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	return impl_argp_add_param(&impl_argp->program, input_param);
}

doca_error_t
doca_argp_cmd_register_param(struct doca_argp_cmd *cmd, struct doca_argp_param *input_param)
{
	if (cmd == NULL || input_param == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	return impl_argp_add_param(cmd, input_param);
}
