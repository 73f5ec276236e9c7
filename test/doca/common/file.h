/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMMON_FILE_H
#define COMMON_FILE_H

/* A file of this test's own: its path, until the next call. */
const char *file_write(const char *name, const char *text);
/* A device table, for all that is listed from now on. */
void device_table_write(const char *text);

#endif /* COMMON_FILE_H */
