/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Commands: creation, fields, registration. Each has its own flags and inner commands. */

#include <stdlib.h>
#include <string.h>

#include "argp/argp.h"

void
impl_argp_init_cmd(struct doca_argp_cmd *cmd)
{
	TAILQ_INIT(&cmd->params);
	TAILQ_INIT(&cmd->cmds);
}

void
impl_argp_clear_cmd(struct doca_argp_cmd *cmd)
{
	impl_argp_free_params(&cmd->params);
	impl_argp_free_cmds(&cmd->cmds);
	free(cmd->name);
	free(cmd->description);
}

void
impl_argp_free_cmds(struct impl_argp_cmds *cmds)
{
	struct doca_argp_cmd *cmd;

	while ((cmd = TAILQ_FIRST(cmds)) != NULL) {
		TAILQ_REMOVE(cmds, cmd, next);
		impl_argp_clear_cmd(cmd);
		free(cmd);
	}
}

doca_error_t
doca_argp_cmd_create(struct doca_argp_cmd **cmd)
{
	if (cmd == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	*cmd = calloc(1, sizeof(**cmd));
	if (*cmd == NULL)
		return DOCA_ERROR_NO_MEMORY;
	impl_argp_init_cmd(*cmd);
	return DOCA_SUCCESS;
}

doca_error_t
doca_argp_cmd_destroy(struct doca_argp_cmd *cmd)
{
	if (cmd == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (cmd->registered)
		return DOCA_ERROR_BAD_STATE;
	impl_argp_clear_cmd(cmd);
	free(cmd);
	return DOCA_SUCCESS;
}

/* Setters return nothing, so the registration reports their errors. */
static bool
may_set(const struct doca_argp_cmd *cmd)
{
	if (cmd != NULL && !cmd->registered)
		return true;
	ARGP_ERR("a command's field is set of %s",
		cmd == NULL ? "NULL" : "a command that is registered");
	return false;
}

void
doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name)
{
	if (may_set(cmd) && !impl_argp_set_text(&cmd->name, name))
		cmd->no_memory = true;
}

void
doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description)
{
	if (may_set(cmd) && !impl_argp_set_text(&cmd->description, description))
		cmd->no_memory = true;
}

void
doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback)
{
	if (may_set(cmd))
		cmd->callback = callback;
}

void
doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd)
{
	if (may_set(cmd))
		cmd->hidden = true;
}

static doca_error_t
check(const struct doca_argp_cmd *outer, const struct doca_argp_cmd *cmd)
{
	const struct doca_argp_cmd *c;

	if (cmd->no_memory)
		return DOCA_ERROR_NO_MEMORY;
	if (cmd->name == NULL || cmd->description == NULL) {
		ARGP_ERR("command '%s' has no %s", cmd->name != NULL ? cmd->name : "?",
			cmd->name == NULL ? "name" : "description");
		return DOCA_ERROR_INITIALIZATION;
	}
	if (!impl_argp_name_is_valid(cmd->name)) {
		ARGP_ERR("command '%s': invalid name: expected letters, digits, '-' and '_'",
			cmd->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	TAILQ_FOREACH(c, &outer->cmds, next) {
		if (strcmp(c->name, cmd->name) == 0) {
			ARGP_ERR("command '%s' exists already", cmd->name);
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	for (c = outer; c != NULL; c = c->outer) {
		if (c == cmd) {
			ARGP_ERR("command '%s' would contain itself", cmd->name);
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	return DOCA_SUCCESS;
}

static doca_error_t
add_cmd(struct doca_argp_cmd *outer, struct doca_argp_cmd *cmd)
{
	doca_error_t result;

	if (cmd->registered)
		return DOCA_ERROR_BAD_STATE;
	/* The parser owns it from now on. */
	cmd->registered = true;
	result = impl_argp->started ? DOCA_ERROR_BAD_STATE : check(outer, cmd);
	if (result != DOCA_SUCCESS) {
		TAILQ_INSERT_TAIL(&impl_argp->refused_cmds, cmd, next);
	} else {
		TAILQ_INSERT_TAIL(&outer->cmds, cmd, next);
		cmd->outer = outer;
	}
	return result;
}

doca_error_t
doca_argp_register_cmd(struct doca_argp_cmd *input_cmd)
{
	if (input_cmd == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	return add_cmd(&impl_argp->program, input_cmd);
}

doca_error_t
doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd)
{
	if (cmd == NULL || input_cmd == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	return add_cmd(cmd, input_cmd);
}
