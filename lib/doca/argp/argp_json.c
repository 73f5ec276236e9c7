/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Flags from a JSON file, for those that the command line does not set. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "argp/argp.h"

/* Replace comments, which JSON does not have, by spaces. Newlines stay. */
static void
blank_comments(char *text)
{
	char *end;

	while ((text = strpbrk(text, "\"/")) != NULL) {
		if (*text == '"') {
			for (text++; *text != '\0' && *text != '"'; text++)
				if (*text == '\\' && text[1] != '\0')
					text++;
			end = *text == '"' ? text + 1 : text;
		} else if (text[1] == '/') {
			end = text + strcspn(text, "\n");
			memset(text, ' ', end - text);
		} else if (text[1] == '*' && (end = strstr(text + 2, "*/")) != NULL) {
			for (end += 2; text < end; text++)
				if (*text != '\n')
					*text = ' ';
		} else {
			end = text + 1;
		}
		text = end;
	}
}

/* Read the whole file into a string, which the caller frees; NULL with errno. */
static char *
read_file(const char *path)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *file;
	int err;

	file = fopen(path, "re");
	if (file == NULL)
		return NULL;
	errno = 0;
	/* Text has no NUL, so this reads the whole file. */
	len = getdelim(&text, &size, '\0', file);
	err = errno != 0 ? errno : ENODATA;
	fclose(file);
	if (len > 0)
		return text;
	free(text);
	errno = err;
	return NULL;
}

static json_t *
load(const char *path)
{
	json_error_t error;
	json_t *root;
	char *text;

	text = read_file(path);
	if (text == NULL) {
		ARGP_ERR("%s: %s", path, strerror(errno));
		return NULL;
	}
	blank_comments(text);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (root == NULL) {
		ARGP_ERR("%s:%d: %s", path, error.line, error.text);
		return NULL;
	}
	if (!json_is_object(root)) {
		ARGP_ERR("%s: not a JSON object", path);
		json_decref(root);
		return NULL;
	}
	return root;
}

/* Value as on the command line; the caller frees it. */
static char *
as_text(const json_t *value)
{
	if (json_is_string(value))
		return strdup(json_string_value(value));
	return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
}

/* Whether the value has the flag's type. Strings are checked later. */
static bool
fits(const struct doca_argp_param *param, const json_t *value)
{
	switch (param->type) {
	case DOCA_ARGP_TYPE_BOOLEAN:
		return json_is_boolean(value);
	case DOCA_ARGP_TYPE_INT:
		return json_is_integer(value) || json_is_string(value);
	case DOCA_ARGP_TYPE_DOUBLE:
		return json_is_number(value) || json_is_string(value);
	case IMPL_ARGP_TYPE_JSON_OBJ:
		return json_is_object(value);
	default:
		return json_is_string(value);
	}
}

static doca_error_t
give_one(struct doca_argp_param *param, const json_t *value)
{
	doca_error_t result;
	char *text;

	if (json_is_false(value) && !impl_argp_takes_value(param))
		return DOCA_SUCCESS; /* same as not given */
	if (json_is_true(value) && !impl_argp_takes_value(param))
		return impl_argp_give(param, NULL);
	text = as_text(value);
	if (text == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (fits(param, value)) {
		result = impl_argp_give(param, text);
	} else {
		ARGP_ERR("%s: key '%s': %s has the wrong type for this flag",
			impl_argp->json_path, param->long_name, text);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	free(text);
	return result;
}

static doca_error_t
give(struct doca_argp_param *param, const json_t *value)
{
	doca_error_t result = DOCA_SUCCESS;
	const json_t *item;
	size_t i;

	if (param->nb_given > 0)
		return DOCA_SUCCESS; /* overridden by the command line */
	if (!json_is_array(value))
		return give_one(param, value);
	json_array_foreach(value, i, item) {
		result = give_one(param, item);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

static doca_error_t
unknown(const char *key)
{
	ARGP_ERR("%s: key '%s' is not a flag for a JSON file", impl_argp->json_path, key);
	return DOCA_ERROR_NOT_SUPPORTED;
}

static bool
is_named(const struct doca_argp_param *param, const char *key)
{
	return !param->cli_only && param->long_name != NULL &&
		strcmp(param->long_name, key) == 0;
}

static struct doca_argp_param *
find_general(const char *key)
{
	unsigned int i;

	for (i = 0; i < IMPL_ARGP_NB_BUILTINS; i++)
		if (is_named(&impl_argp->builtins[i], key))
			return &impl_argp->builtins[i];
	return NULL;
}

static struct doca_argp_param *
find_program(const char *key)
{
	struct doca_argp_param *param;

	TAILQ_FOREACH(param, &impl_argp->program.params, next)
		if (is_named(param, key))
			return param;
	return NULL;
}

static doca_error_t
add_dpdk(const char *key, const json_t *value)
{
	char flag[128];
	doca_error_t result;
	char *text;

	if (json_is_false(value))
		return DOCA_SUCCESS;
	snprintf(flag, sizeof(flag), "%s%s",
		key[0] == '-' ? "" : strlen(key) == 1 ? "-" : "--", key);
	result = impl_argp_add_dpdk(flag);
	if (result != DOCA_SUCCESS || json_is_true(value))
		return result;
	text = as_text(value);
	if (text == NULL)
		return DOCA_ERROR_NO_MEMORY;
	result = impl_argp_add_dpdk(text);
	free(text);
	return result;
}

static doca_error_t
give_dpdk(const char *key, const json_t *value)
{
	doca_error_t result = DOCA_SUCCESS;
	const json_t *item;
	size_t i;

	if (impl_argp->dpdk == NULL) {
		ARGP_WARN("%s: ignoring '%s': the program does not use DPDK",
			impl_argp->json_path, key);
		return DOCA_SUCCESS;
	}
	if (!json_is_array(value))
		return add_dpdk(key, value);
	json_array_foreach(value, i, item) {
		result = add_dpdk(key, item);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

static doca_error_t
give_general(const char *key, const json_t *value)
{
	struct doca_argp_param *param = find_general(key);

	return param != NULL ? give(param, value) : unknown(key);
}

static doca_error_t
give_program(const char *key, const json_t *value)
{
	struct doca_argp_param *param = find_program(key);

	return param != NULL ? give(param, value) : unknown(key);
}

static const struct {
	const char *name;
	doca_error_t (*give)(const char *key, const json_t *value);
} sections[] = {
	{ "doca_dpdk_flags", give_dpdk },
	{ "doca_general_flags", give_general },
	{ "doca_program_flags", give_program },
};

static doca_error_t
give_section(json_t *section, const char *name,
		doca_error_t (*give_key)(const char *key, const json_t *value))
{
	doca_error_t result;
	const char *key;
	json_t *value;

	if (!json_is_object(section)) {
		ARGP_ERR("%s: '%s' is not an object", impl_argp->json_path, name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	json_object_foreach(section, key, value) {
		result = give_key(key, value);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}

static doca_error_t
give_outer(const char *key, json_t *value)
{
	unsigned int i;

	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strcmp(sections[i].name, key) == 0)
			return give_section(value, key, sections[i].give);
	return find_general(key) != NULL ? give_general(key, value) : give_program(key, value);
}

doca_error_t
impl_argp_load_json(const char *path)
{
	doca_error_t result = DOCA_SUCCESS;
	const char *key;
	json_t *root, *value;

	root = load(path);
	if (root == NULL)
		return DOCA_ERROR_IO_FAILED;
	json_object_foreach(root, key, value) {
		result = give_outer(key, value);
		if (result != DOCA_SUCCESS)
			break;
	}
	json_decref(root);
	return result;
}
