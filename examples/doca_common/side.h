/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SIDE_H
#define SIDE_H

/*
 * What every example for DOCA has, on the DPU and on the host: options, a
 * device, on the DPU its representor, and an end by Ctrl-C. Both sides are built
 * from the same source; DOCA_ARCH_DPU, which doca_build_config.h defines, says
 * for which.
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
	/* Read by side_options(). */
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char rep_pci[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	/* Of the server; empty: there is none, nor a representor. */
	char name[120];

	struct doca_dev *dev;
	struct doca_dev_rep *rep; /* DPU: the function that the host sees */
	doca_error_t error;       /* the first thing that went wrong */
};

/*
 * Register -p, and with a name -r and -n, with doca_argp; more of the
 * application's may follow. The configuration that doca_argp_init() was given
 * begins with a struct side.
 */
doca_error_t side_options(struct side *side);

/* One more option. */
doca_error_t side_option(const char *letter, const char *name, const char *arguments,
		const char *help, enum doca_argp_type type, doca_argp_param_cb_t callback);

/* An option's value, 1 to size - 1 characters. */
doca_error_t side_take_text(char *to, size_t size, const char *text);

/* Note that something failed, and say so; the first time counts. True: it has not. */
bool side_check(struct side *side, doca_error_t result, const char *what);

/*
 * Open the device, on the DPU also the representor. From now on Ctrl-C comes
 * only while the program sleeps with this mask, and then makes side_is_ending()
 * true: none is lost between a look and a sleep.
 */
doca_error_t side_open(struct side *side);
extern const sigset_t *const side_sleep_mask;
bool side_is_ending(void);

/* Close what side_open() opened. */
void side_close(struct side *side);

#endif /* SIDE_H */
