/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_H
#define COMCH_DOCA_H

/**
 * @file
 * What the DOCA face has beyond DOCA, for comch's own programs and objects.
 * Not installed.
 */

#ifdef __cplusplus
extern "C" {
#endif

/** Which side a program is. */
enum comch_doca_role {
	COMCH_DOCA_ROLE_HOST = 1,
	COMCH_DOCA_ROLE_DPU = 2,
};

/**
 * Say which side this program is, before main(): of enum comch_doca_role. The
 * first to say so counts. $COMCH_ROLE goes before all.
 */
__attribute__((visibility("default"))) void comch_doca_role_set(int role);

/** The built-in device table, an INI text. */
__attribute__((visibility("default"))) const char *comch_doca_default_devices(void);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_H */
