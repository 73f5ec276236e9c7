/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SIDE_H
#define SIDE_H

/*
 * Code shared by all DOCA examples: options, the device, on the DPU its representor,
 * and Ctrl-C. Both sides are built from the same source; doca_build_config.h defines
 * DOCA_ARCH_DPU for the DPU side.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include <doca_argp.h>
#include <doca_build_config.h>
#include <doca_dev.h>
#include <doca_error.h>

#ifdef DOCA_ARCH_DPU
#define SIDE_IS_DPU true
#define SIDE_NAME "DPU"
#else
#define SIDE_IS_DPU false
#define SIDE_NAME "host"
#endif

struct side {
	/* Set by the options of side_options(). */
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char rep_pci[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	/* Server name; empty: no server and no representor. */
	char name[120];

	struct doca_dev *dev;
	struct doca_dev_rep *rep; /* DPU: representor of the host's function */
	doca_error_t error;       /* the first error */
};

/*
 * Register the option -p and, if there is a server name, -r and -n with doca_argp. The
 * application can add its own. The configuration passed to doca_argp_init() must begin
 * with a struct side.
 */
doca_error_t side_options(struct side *side);

/* Register one option. */
doca_error_t side_option(const char *letter, const char *name, const char *arguments,
		const char *help, enum doca_argp_type type, doca_argp_param_cb_t callback);

/* Copy an option's value, which must have 1 to size - 1 characters. */
doca_error_t side_take_text(char *to, size_t size, const char *text);

/* Log a failure, and keep the first one in side->error. Returns whether result is SUCCESS. */
bool side_check(struct side *side, doca_error_t result, const char *what);

/*
 * Open the device and, on the DPU, the representor. From now on Ctrl-C is delivered only
 * while the program sleeps with side_sleep_mask, and makes side_is_ending() true. So no
 * signal is lost between checking for it and sleeping.
 */
doca_error_t side_open(struct side *side);
extern const sigset_t *const side_sleep_mask;
bool side_is_ending(void);

/* Close what side_open() opened. */
void side_close(struct side *side);

#endif /* SIDE_H */
