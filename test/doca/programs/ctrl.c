/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The client sends a text, the server answers with its own. */

#include "app.h"

int
main(int argc, char **argv)
{
	struct app app;

	if (!app_open(&app, "ctrl", argc, argv)) {
		app.failed = true;
		return app_close(&app);
	}
#ifdef DOCA_ARCH_HOST
	if (!app_send(&app, app.options.text))
		app.failed = true;
#endif
	app_until(&app, app.msg != NULL || app.ended);
	if (app.msg == NULL)
		app.failed = true;
#ifdef DOCA_ARCH_DPU
	if (!app.failed && !app_send(&app, app.options.text))
		app.failed = true;
#endif
	return app_close(&app);
}
