/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <string.h>

#include <doca_log.h>

#include "side.h"

DOCA_LOG_REGISTER(SIDE);

static sigset_t no_signals;
const sigset_t *const side_sleep_mask = &no_signals;
static volatile sig_atomic_t quit;

bool
side_check(struct side *side, doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return true;
	DOCA_LOG_ERR("%s: %s", what, doca_error_get_descr(result));
	if (side->error == DOCA_SUCCESS)
		side->error = result;
	return false;
}

/* Options */

doca_error_t
side_take_text(char *to, size_t size, const char *text)
{
	if (*text == '\0' || strlen(text) >= size) {
		DOCA_LOG_ERR("'%.64s' does not have 1 to %zu characters", text, size - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(to, text, strlen(text) + 1);
	return DOCA_SUCCESS;
}

static doca_error_t
take_pci(void *value, void *config)
{
	struct side *side = config;

	return side_take_text(side->pci, sizeof(side->pci), value);
}

static doca_error_t
take_rep_pci(void *value, void *config)
{
	struct side *side = config;

	return side_take_text(side->rep_pci, sizeof(side->rep_pci), value);
}

static doca_error_t
take_name(void *value, void *config)
{
	struct side *side = config;

	return side_take_text(side->name, sizeof(side->name), value);
}

doca_error_t
side_option(const char *letter, const char *name, const char *arguments, const char *help,
		enum doca_argp_type type, doca_argp_param_cb_t callback)
{
	struct doca_argp_param *param;
	doca_error_t result;

	result = doca_argp_param_create(&param);
	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, letter);
	doca_argp_param_set_long_name(param, name);
	if (arguments != NULL)
		doca_argp_param_set_arguments(param, arguments);
	doca_argp_param_set_description(param, help);
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, callback);
	/* Passes ownership to the parser. */
	return doca_argp_register_param(param);
}

doca_error_t
side_options(struct side *side)
{
	doca_error_t result;

	/* Addresses of the built-in device table. */
	strcpy(side->pci, SIDE_IS_DPU ? "03:00.0" : "b1:00.0");
	strcpy(side->rep_pci, "b1:00.0");
	result = side_option("p", "pci-addr", "<address>", "PCI address of the device",
			DOCA_ARGP_TYPE_STRING, take_pci);
	if (side->name[0] == '\0')
		return result;
	if (result == DOCA_SUCCESS && SIDE_IS_DPU)
		result = side_option("r", "rep-pci", "<address>",
				"PCI address of the host function",
				DOCA_ARGP_TYPE_STRING, take_rep_pci);
	if (result == DOCA_SUCCESS)
		result = side_option("n", "name", "<name>", "server name",
				DOCA_ARGP_TYPE_STRING, take_name);
	return result;
}

/* Devices */

/* Opened devices stay valid after the list is destroyed. */
static doca_error_t
open_device(struct side *side)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint8_t is_it;
	uint32_t n, i;

	result = doca_devinfo_create_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (i = 0; i < n && result == DOCA_ERROR_NOT_FOUND; i++)
		if (doca_devinfo_is_equal_pci_addr(list[i], side->pci, &is_it) == DOCA_SUCCESS &&
				is_it)
			result = doca_dev_open(list[i], &side->dev);
	doca_devinfo_destroy_list(list);
	return result;
}

#ifdef DOCA_ARCH_DPU
static doca_error_t
open_representor(struct side *side)
{
	struct doca_devinfo_rep **list;
	doca_error_t result;
	uint8_t is_it;
	uint32_t n, i;

	result = doca_devinfo_rep_create_list(side->dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (i = 0; i < n && result == DOCA_ERROR_NOT_FOUND; i++)
		if (doca_devinfo_rep_is_equal_pci_addr(list[i], side->rep_pci, &is_it) ==
				DOCA_SUCCESS && is_it)
			result = doca_dev_rep_open(list[i], &side->rep);
	doca_devinfo_rep_destroy_list(list);
	return result;
}
#endif

static void
on_signal(int sig)
{
	(void)sig;
	quit = 1;
}

static void
catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t set;

	sigemptyset(&no_signals);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool
side_is_ending(void)
{
	return quit != 0;
}

/* Report NOT_FOUND with the address from the command line. */
static bool
found(struct side *side, doca_error_t result, const char *what, const char *pci)
{
	if (result != DOCA_ERROR_NOT_FOUND)
		return side_check(side, result, what);
	DOCA_LOG_ERR("There is no %s %s", what, pci);
	side->error = result;
	return false;
}

doca_error_t
side_open(struct side *side)
{
	catch_signals();
	if (!found(side, open_device(side), "device", side->pci))
		return side->error;
#ifdef DOCA_ARCH_DPU
	if (side->name[0] != '\0')
		found(side, open_representor(side), "representor", side->rep_pci);
#endif
	return side->error;
}

void
side_close(struct side *side)
{
	if (side->rep != NULL)
		doca_dev_rep_close(side->rep);
	if (side->dev != NULL)
		doca_dev_close(side->dev);
}
