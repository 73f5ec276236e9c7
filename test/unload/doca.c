/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <doca_comch.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "unload.h"

#define OK(lib, function, ...) CHECK(LOADED(lib, function)(__VA_ARGS__) == DOCA_SUCCESS)

/* A device that is opened, with what is made for it. */
static void
use(void *lib, unsigned int round)
{
	struct doca_comch_client *client;
	struct doca_devinfo **list;
	struct doca_dev *dev;
	struct doca_pe *pe;
	uint32_t nb;

	(void)round;
	OK(lib, doca_devinfo_create_list, &list, &nb);
	OK(lib, doca_dev_open, list[0], &dev);
	OK(lib, doca_devinfo_destroy_list, list);
	OK(lib, doca_pe_create, &pe);
	OK(lib, doca_comch_client_create, dev, "unload", &client);
	OK(lib, doca_comch_client_destroy, client);
	OK(lib, doca_pe_destroy, pe);
	OK(lib, doca_dev_close, dev);
}

int
main(int argc, char **argv)
{
	return argc == 2 ? unload_main(argv[1], use) : 2;
}
