/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include <doca_argp.h>
#include <doca_dev.h>

#include "argp_life.h"

/* What the callbacks were called with. */
struct calls {
	unsigned int nb_texts, nb_numbers, nb_devs, nb_cmds;
	int nb_dpdk;
};

static const char *step_text;

static int
failed(const char *step, doca_error_t err)
{
	T_EQ(err, DOCA_ERROR_NO_MEMORY);
	step_text = step;
	return -(int)err;
}

#define A_TRY(call) \
	do { \
		const doca_error_t err_ = (call); \
		if (err_ != DOCA_SUCCESS) \
			return failed(#call, err_); \
	} while (0)

static doca_error_t
on_text(void *value, void *config)
{
	T_STR_EQ(value, "text");
	((struct calls *)config)->nb_texts++;
	return DOCA_SUCCESS;
}

static doca_error_t
on_number(void *value, void *config)
{
	T_EQ(*(int *)value, 7);
	((struct calls *)config)->nb_numbers++;
	return DOCA_SUCCESS;
}

static doca_error_t
on_rep(void *value, void *config)
{
	const struct doca_argp_device_rep_ctx *ctx = value;

	T_EQ(doca_dev_rep_close(ctx->dev_rep), DOCA_SUCCESS);
	T_EQ(doca_dev_close(ctx->dev_ctx.dev), DOCA_SUCCESS);
	((struct calls *)config)->nb_devs++;
	return DOCA_SUCCESS;
}

static doca_error_t
on_dev(void *value, void *config)
{
	const struct doca_argp_device_ctx *ctx = value;

	T_STR_EQ(ctx->devargs, "args=1");
	T_EQ(doca_dev_close(ctx->dev), DOCA_SUCCESS);
	((struct calls *)config)->nb_devs++;
	return DOCA_SUCCESS;
}

static doca_error_t
on_cmd(void *config)
{
	((struct calls *)config)->nb_cmds++;
	return DOCA_SUCCESS;
}

static struct calls calls;

static doca_error_t
on_dpdk(int argc, char **argv)
{
	T_CHECK(argv[argc] == NULL);
	calls.nb_dpdk = argc;
	return DOCA_SUCCESS;
}

/* Of the program, or of a command. */
static int
add_param(struct doca_argp_cmd *cmd, const char *short_name, const char *long_name,
		enum doca_argp_type type, doca_argp_param_cb_t callback)
{
	struct doca_argp_param *param;

	A_TRY(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_arguments(param, "<value>");
	doca_argp_param_set_description(param, "A flag");
	doca_argp_param_set_callback(param, callback);
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_multiplicity(param);
	A_TRY(cmd == NULL ? doca_argp_register_param(param) :
		doca_argp_cmd_register_param(cmd, param));
	return 0;
}

/* A command that could not be registered is still the caller's: free it. */
static int
add_cmd(void)
{
	struct doca_argp_cmd *cmd;
	int ret;

	A_TRY(doca_argp_cmd_create(&cmd));
	doca_argp_cmd_set_name(cmd, "cmd");
	doca_argp_cmd_set_description(cmd, "A command");
	doca_argp_cmd_set_callback(cmd, on_cmd);
	ret = add_param(cmd, "n", NULL, DOCA_ARGP_TYPE_INT, on_number);
	if (ret == 0)
		A_TRY(doca_argp_register_cmd(cmd));
	else
		T_EQ(doca_argp_cmd_destroy(cmd), DOCA_SUCCESS);
	return ret;
}

static const char *
json_path(void)
{
	static char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/flags.json", t_dir());
	f = fopen(path, "w");
	T_CHECK(f != NULL);
	T_GT(fprintf(f, "{ \"doca_dpdk_flags\": { \"-a\": \"none\", \"in-memory\": true },"
		" \"doca_program_flags\": { \"text\": [\"text\", \"text\"] } }\n"), 0);
	T_EQ(fclose(f), 0);
	return path;
}

static int
use(const char *json)
{
	/* argp may change their order. */
	char *argv[] = {
		strdup("prog"), strdup("--json"), strdup(json), strdup("--rep"),
		strdup("03:00.0,b1:00.0"), strdup("--dev=03:00.0,args=1"), strdup("cmd"),
		strdup("-n7"), strdup("-n"), strdup("7"), NULL,
	};
	const int argc = RTE_DIM(argv) - 1;
	char *copy[RTE_DIM(argv)];
	doca_error_t err;
	unsigned int i;
	int ret;

	memcpy(copy, argv, sizeof(copy));
	ret = add_param(NULL, "t", "text", DOCA_ARGP_TYPE_STRING, on_text);
	if (ret == 0)
		ret = add_param(NULL, NULL, "rep", DOCA_ARGP_TYPE_DEVICE_REP, on_rep);
	if (ret == 0)
		ret = add_param(NULL, NULL, "dev", DOCA_ARGP_TYPE_DEVICE, on_dev);
	if (ret == 0)
		ret = add_cmd();
	err = ret == 0 ? doca_argp_start(argc, argv) : DOCA_SUCCESS;
	if (err != DOCA_SUCCESS)
		ret = failed("start", err);
	for (i = 0; i < RTE_DIM(copy); i++)
		free(copy[i]);
	return ret;
}

int
argp_life_run(const struct life_conf *conf, const char **step)
{
	doca_error_t err;
	int ret;

	RTE_SET_USED(conf);
	setenv("COMCH_ROLE", "dpu", 1);
	calls = (struct calls){ 0 };
	err = doca_argp_init("prog", &calls);
	if (err != DOCA_SUCCESS) {
		ret = failed("init", err);
	} else {
		doca_argp_set_dpdk_program(on_dpdk);
		ret = use(json_path());
		T_EQ(doca_argp_destroy(), DOCA_SUCCESS);
	}
	*step = step_text;
	if (ret != 0)
		return ret;
	T_EQ(calls.nb_texts, 2);
	T_EQ(calls.nb_numbers, 2);
	T_EQ(calls.nb_devs, 2);
	T_EQ(calls.nb_cmds, 1);
	/* prog -a none --in-memory */
	T_EQ(calls.nb_dpdk, 4);
	return 0;
}
