/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RELEASE_H
#define RELEASE_H

/*
 * What differs in the common part of DOCA between the releases that a program
 * may be built for.
 */

#include <doca_version.h>

#define RELEASE (DOCA_VERSION_MAJOR * 100 + DOCA_VERSION_MINOR)

#if RELEASE < 205
#define DEVICES_CREATE doca_devinfo_list_create
#define DEVICES_DESTROY doca_devinfo_list_destroy
#define REPS_CREATE doca_devinfo_rep_list_create
#define REPS_DESTROY doca_devinfo_rep_list_destroy
#define REPS_NET DOCA_DEV_REP_FILTER_NET
#define ERROR_TEXT doca_get_error_string
#else
#define DEVICES_CREATE doca_devinfo_create_list
#define DEVICES_DESTROY doca_devinfo_destroy_list
#define REPS_CREATE doca_devinfo_rep_create_list
#define REPS_DESTROY doca_devinfo_rep_destroy_list
#define REPS_NET DOCA_DEVINFO_REP_FILTER_NET
#define ERROR_TEXT doca_error_get_descr
#endif

#if RELEASE < 200
/* Addresses are numbers; these are functions of our own, in base.c. */
#define DEVICE_IS_AT device_is_at
#define REP_IS_AT rep_is_at
#elif RELEASE < 205
#define DEVICE_IS_AT doca_devinfo_get_is_pci_addr_equal
#define REP_IS_AT doca_devinfo_rep_get_is_pci_addr_equal
#else
#define DEVICE_IS_AT doca_devinfo_is_equal_pci_addr
#define REP_IS_AT doca_devinfo_rep_is_equal_pci_addr
#endif

#endif /* RELEASE_H */
