/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef OPTIONS_H
#define OPTIONS_H

#include <doca_error.h>

struct app;

/* -p, -r (DPU), -t, -n. Texts are good until the end. */
doca_error_t options_parse(struct app *app, const char *program, int argc, char **argv);
void options_end(void);

#endif /* OPTIONS_H */
