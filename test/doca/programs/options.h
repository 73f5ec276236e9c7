/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef OPTIONS_H
#define OPTIONS_H

#include <doca_error.h>

/* Texts are good until the end. */
struct options {
	const char *pci, *rep_pci, *text, *name;
};

/* -p, -r (DPU), -t, -n. */
doca_error_t options_parse(struct options *opt, const char *program, int argc, char **argv);
void options_end(void);

#endif /* OPTIONS_H */
