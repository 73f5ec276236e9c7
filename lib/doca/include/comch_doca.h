/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_H
#define COMCH_DOCA_H

/**
 * @file
 * What comch's own programs and objects need beyond DOCA. Not installed.
 */

#ifdef __cplusplus
extern "C" {
#endif

/** Side that a program runs on. */
enum comch_doca_role {
	COMCH_DOCA_ROLE_HOST = 1,
	COMCH_DOCA_ROLE_DPU = 2,
};

/**
 * Set the side of this program (enum comch_doca_role), before main(). The first call
 * wins; the environment variable COMCH_ROLE overrides it.
 */
__attribute__((visibility("default"))) void comch_doca_role_set(int role);

/** The built-in device table, as INI text. */
__attribute__((visibility("default"))) const char *comch_doca_default_devices(void);

/**
 * What is wrong in a file with a device table, with the place; NULL: nothing. Of one thread at a
 * time.
 */
__attribute__((visibility("default"))) const char *comch_doca_devices_fault(const char *path);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_H */
