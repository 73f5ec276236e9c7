/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_log.h>

#include "dpa/program.h"

static int log_fd = -1;

void
tdpa_table(const char *keys)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/devices.ini", t_dir());
	f = fopen(path, "w");
	T_CHECK(f != NULL);
	fprintf(f, "[device d]\npci = 03:00.0\nargs = dir=%s\n%s[function pf0]\npci = b1:00.0\n"
		"[function pf1]\npci = b1:00.1\n", t_dir(), keys);
	fclose(f);
	setenv("COMCH_DEVICES", path, 1);
}

struct doca_dev *
tdpa_dev(unsigned int i)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t nb;

	if (getenv("COMCH_DEVICES") == NULL)
		tdpa_table("");
	setenv("COMCH_ROLE", "host", 1);
	TD_OK(doca_devinfo_create_list(&list, &nb));
	T_LT(i, nb);
	TD_OK(doca_dev_open(list[i], &dev));
	TD_OK(doca_devinfo_destroy_list(list));
	return dev;
}

static struct doca_dev *dev;

struct doca_dpa *
tdpa_start(struct doca_dpa_app *app)
{
	struct doca_dpa *dpa;

	dev = tdpa_dev(0);
	TD_OK(doca_dpa_create(dev, &dpa));
	TD_OK(doca_dpa_set_app(dpa, app));
	TD_OK(doca_dpa_start(dpa));
	return dpa;
}

void
tdpa_end(struct doca_dpa *dpa)
{
	TD_OK(doca_dpa_stop(dpa));
	TD_OK(doca_dpa_destroy(dpa));
	TD_OK(doca_dev_close(dev));
}

void
tdpa_thread_start(struct tdpa_thread *t, struct doca_dpa *dpa, doca_dpa_func_t *func, uint64_t arg)
{
	TD_OK(doca_dpa_thread_create(dpa, &t->thread));
	TD_OK(doca_dpa_thread_set_func_arg(t->thread, func, arg));
	TD_OK(doca_dpa_thread_start(t->thread));
	TD_OK(doca_dpa_notification_completion_create(dpa, t->thread, &t->comp));
	TD_OK(doca_dpa_notification_completion_start(t->comp));
	TD_OK(doca_dpa_notification_completion_get_dpa_handle(t->comp, &t->handle));
}

void
tdpa_thread_end(struct tdpa_thread *t)
{
	TD_OK(doca_dpa_notification_completion_stop(t->comp));
	TD_OK(doca_dpa_notification_completion_destroy(t->comp));
	TD_OK(doca_dpa_thread_stop(t->thread));
	TD_OK(doca_dpa_thread_destroy(t->thread));
}

void
tdpa_log_begin(void)
{
	struct doca_log_backend *backend;

	log_fd = memfd_create("log", MFD_CLOEXEC);
	T_GE(log_fd, 0);
	TD_OK(doca_log_backend_create_with_fd_sdk(log_fd, &backend));
	TD_OK(doca_log_backend_create_with_fd(log_fd, &backend));
	TD_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG));
}

const char *
tdpa_log(void)
{
	static char text[1 << 16];
	ssize_t len = pread(log_fd, text, sizeof(text) - 1, 0);

	T_GE(len, 0);
	text[len] = '\0';
	return text;
}
