/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * RPCs run in the thread that calls them.
 */

#include <stdlib.h>

#include "dface_dpa_core.h"
#include "dface_log.h"

/* Device code, in place of the host's thread until it ends. */
static doca_error_t
run(struct doca_dpa *dpa, const struct comch_doca_dpa_func *func, const void *args,
		uint64_t *retval)
{
	struct dface_dpa_self self = { .dpa = dpa, .role = DFACE_DPA_RPC, .func = func,
		.nb_threads = 1 };
	struct dface_dpa_self *before;
	enum dface_dpa_end end;

	dface_dpa_self_add(&self);
	before = dface_dpa_self_become(&self);
	end = dface_dpa_self_call(&self, args, retval);
	dface_dpa_self_become(before);
	dface_dpa_self_remove(&self);
	if (end == DFACE_DPA_RETURNED)
		return DOCA_SUCCESS;
	DFACE_ERR("RPC %s was ended by a fault", func->name);
	return DOCA_ERROR_DRIVER;
}

static doca_error_t
call(struct doca_dpa *dpa, const struct comch_doca_dpa_func *func, uint64_t *retval,
		va_list *list)
{
	void *args = calloc(1, func->args_size + 1);
	doca_error_t ret;

	if (args == NULL)
		return DOCA_ERROR_DRIVER;
	func->pack(args, list);
	ret = run(dpa, func, args, retval);
	free(args);
	return ret;
}

static bool
is_device_code(void)
{
	const struct dface_dpa_self *self = dface_dpa_self_now();

	return self != NULL && dface_dpa_self_is_device(self);
}

doca_error_t
doca_dpa_rpc(struct doca_dpa *dpa, doca_dpa_func_t *func, uint64_t *retval, ...)
{
	const struct comch_doca_dpa_func *found;
	doca_error_t ret;
	va_list list;

	if (dpa == NULL || func == NULL || retval == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_device_code() || dface_dpa_join(dpa) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	found = dface_dpa_func(dpa, func);
	if (found == NULL || found->is_rpc == 0) {
		DFACE_ERR("%s is no __dpa_rpc__ function of the application",
			found == NULL ? "a function" : found->name);
		ret = DOCA_ERROR_INVALID_VALUE;
	} else if (!dface_dpa_is_usable(dpa)) {
		ret = DOCA_ERROR_DRIVER;
	} else {
		va_start(list, retval);
		ret = call(dpa, found, retval, &list);
		va_end(list);
	}
	dface_dpa_drop(dpa);
	return ret;
}
