/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_DESC_H
#define ACCEL_DESC_H

/* Descriptors of exporters, as they are within, for peers by hand. */

#include "accel/exporter.h"

const uint8_t *desc_key(const struct exporter *e);
char *desc_path(const struct exporter *e);
/* Make a descriptor that was changed a valid one. */
void desc_seal(uint8_t *desc);
/* A socket that listens as an exporter does, and a descriptor that leads to it. */
int desc_listen(struct exporter_shared *shared);
/* Have the descriptor lead to a link to that socket instead. */
void desc_replace_by_link(struct exporter_shared *shared);
/* The exporter serves an importer that keeps to the rules. */
void desc_still_served(const struct exporter *e);

#endif /* ACCEL_DESC_H */
