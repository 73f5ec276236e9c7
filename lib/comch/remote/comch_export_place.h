/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_EXPORT_PLACE_H
#define COMCH_EXPORT_PLACE_H

/*
 * Files of exporters' sockets. The directory is that of the device, where its two sides meet; or,
 * if this user cannot create files there, $XDG_RUNTIME_DIR or /tmp. The file is accessible to
 * processes of this user and of root.
 */

#include <stdbool.h>
#include <stddef.h>

/* A listening socket in the directory or one of the others: its descriptor, or an errno, logged. */
int comch_export_place_listen(const char *dir, char *path, size_t size);
/* Whether a path from a peer can be one of these files. */
bool comch_export_place_is_valid(const char *path);

#endif /* COMCH_EXPORT_PLACE_H */
