/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_log.h>

#include "common/file.h"
#include "dpa/program.h"

static int log_fd = -1;

void
dpa_program_table(const char *keys)
{
	char text[1024];

	snprintf(text, sizeof(text), "[device d]\npci = 03:00.0\nargs = dir=%s\n%s"
		"[function pf0]\npci = b1:00.0\n[function pf1]\npci = b1:00.1\n", t_dir(), keys);
	device_table_write(text);
}

struct doca_dev *
host_dev(unsigned int i)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t nb;

	if (getenv("COMCH_DEVICES") == NULL)
		dpa_program_table("");
	setenv("COMCH_ROLE", "host", 1);
	T_OK(doca_devinfo_create_list(&list, &nb));
	T_LT(i, nb);
	T_OK(doca_dev_open(list[i], &dev));
	T_OK(doca_devinfo_destroy_list(list));
	return dev;
}

static struct doca_dev *dev;

struct doca_dpa *
dpa_program_start(struct doca_dpa_app *app)
{
	struct doca_dpa *dpa;

	dev = host_dev(0);
	T_OK(doca_dpa_create(dev, &dpa));
	T_OK(doca_dpa_set_app(dpa, app));
	T_OK(doca_dpa_start(dpa));
	return dpa;
}

void
dpa_program_end(struct doca_dpa *dpa)
{
	T_OK(doca_dpa_stop(dpa));
	T_OK(doca_dpa_destroy(dpa));
	T_OK(doca_dev_close(dev));
}

void
kernel_thread_start(struct kernel_thread *t, struct doca_dpa *dpa, doca_dpa_func_t *func,
		uint64_t arg)
{
	T_OK(doca_dpa_thread_create(dpa, &t->thread));
	T_OK(doca_dpa_thread_set_func_arg(t->thread, func, arg));
	T_OK(doca_dpa_thread_start(t->thread));
	T_OK(doca_dpa_notification_completion_create(dpa, t->thread, &t->comp));
	T_OK(doca_dpa_notification_completion_start(t->comp));
	T_OK(doca_dpa_notification_completion_get_dpa_handle(t->comp, &t->handle));
}

void
kernel_thread_end(struct kernel_thread *t)
{
	T_OK(doca_dpa_notification_completion_stop(t->comp));
	T_OK(doca_dpa_notification_completion_destroy(t->comp));
	T_OK(doca_dpa_thread_stop(t->thread));
	T_OK(doca_dpa_thread_destroy(t->thread));
}

void
log_keep(void)
{
	struct doca_log_backend *backend;

	log_fd = memfd_create("log", MFD_CLOEXEC);
	T_GE(log_fd, 0);
	T_OK(doca_log_backend_create_with_fd_sdk(log_fd, &backend));
	T_OK(doca_log_backend_create_with_fd(log_fd, &backend));
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG));
}

const char *
log_kept(void)
{
	static char text[1 << 16];
	ssize_t len = pread(log_fd, text, sizeof(text) - 1, 0);

	T_GE(len, 0);
	text[len] = '\0';
	return text;
}
