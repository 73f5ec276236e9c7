/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* No header of C here: those of DOCA bring what they bring. behaviour: G11 */
#include "base.h"

#if RELEASE < 200
#include <stdio.h>
#endif

DOCA_LOG_REGISTER(PROGRAM::BASE);

bool
base_fails(const char *what, doca_error_t ret)
{
	if (ret == DOCA_SUCCESS)
		return false;
	DOCA_LOG_ERR("%s: %s", what, ERROR_TEXT(ret));
	return true;
}

static doca_error_t
start_log(void)
{
#if RELEASE < 200
	struct doca_logger_backend *backend;

	return doca_log_create_file_backend(stdout, &backend);
#elif RELEASE < 205
	return doca_log_create_standard_backend();
#else
	return doca_log_backend_create_standard();
#endif
}

bool
base_start(struct options *options, const char *program, int argc, char **argv)
{
	memset(options, 0, sizeof(*options));
	options->name = program;
	options->text = "text";
	if (FAILS(start_log()) || FAILS(options_parse(options, program, argc, argv)))
		return false;
	DOCA_LOG_INFO("DOCA %s", doca_version());
	return true;
}

/* Devices */

#if RELEASE < 200 && RELEASE >= 105

/* "0000:b1:00.0", with or without the domain. */
static bool
is_bdf(const struct doca_pci_bdf *bdf, const char *pci)
{
	unsigned int bus, device, function;
	const size_t len = strlen(pci);

	return len >= 7 && sscanf(pci + len - 7, "%x:%x.%x", &bus, &device, &function) == 3 &&
		bdf->bus == bus && bdf->device == device && bdf->function == function;
}

static doca_error_t
device_is_at(const struct doca_devinfo *info, const char *pci, uint8_t *equal)
{
	struct doca_pci_bdf bdf;
	const doca_error_t ret = doca_devinfo_get_pci_addr(info, &bdf);

	*equal = ret == DOCA_SUCCESS && is_bdf(&bdf, pci);
	return ret;
}

#ifdef DOCA_ARCH_DPU
static doca_error_t
rep_is_at(const struct doca_devinfo_rep *info, const char *pci, uint8_t *equal)
{
	struct doca_pci_bdf bdf;
	const doca_error_t ret = doca_devinfo_rep_get_pci_addr(info, &bdf);

	*equal = ret == DOCA_SUCCESS && is_bdf(&bdf, pci);
	return ret;
}
#endif

#endif /* 1.5 */

#if RELEASE >= 105

bool
base_open_dev(const char *pci, struct doca_dev **dev)
{
	struct doca_devinfo **list;
	uint8_t equal = 0;
	uint32_t i, nb;

	if (FAILS(DEVICES_CREATE(&list, &nb)))
		return false;
	for (i = 0; i < nb && *dev == NULL; i++) {
		if (FAILS(DEVICE_IS_AT(list[i], pci, &equal)))
			break;
		if (equal && FAILS(doca_dev_open(list[i], dev)))
			break;
	}
	(void)DEVICES_DESTROY(list);
	return *dev != NULL;
}

#ifdef DOCA_ARCH_DPU

bool
base_open_rep(struct doca_dev *dev, const char *pci, struct doca_dev_rep **rep)
{
	struct doca_devinfo_rep **list;
	uint8_t equal = 0;
	uint32_t i, nb;

	if (FAILS(REPS_CREATE(dev, REPS_NET, &list, &nb)))
		return false;
	for (i = 0; i < nb && *rep == NULL; i++) {
		if (FAILS(REP_IS_AT(list[i], pci, &equal)))
			break;
		if (equal && FAILS(doca_dev_rep_open(list[i], rep)))
			break;
	}
	(void)REPS_DESTROY(list);
	return *rep != NULL;
}

#endif /* DOCA_ARCH_DPU */

#endif /* RELEASE >= 105 */
