/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * RPCs run in the calling host thread.
 */

#include <stdlib.h>

#include "dpa/core.h"
#include "log/log.h"

/* Run device code in this host thread. */
static doca_error_t
run(struct doca_dpa *dpa, const struct comch_doca_dpa_func *func, const void *args,
		uint64_t *retval)
{
	struct impl_dpa_self self = { .dpa = dpa, .role = IMPL_DPA_RPC, .func = func,
		.nb_threads = 1 };
	struct impl_dpa_self *before;
	enum impl_dpa_end end;

	impl_dpa_self_add(&self);
	before = impl_dpa_self_become(&self);
	end = impl_dpa_self_call(&self, args, retval);
	impl_dpa_self_become(before);
	impl_dpa_self_remove(&self);
	if (end == IMPL_DPA_RETURNED)
		return DOCA_SUCCESS;
	IMPL_ERR("RPC %s: ended by a fault", func->name);
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
	const struct impl_dpa_self *self = impl_dpa_self_now();

	return self != NULL && impl_dpa_self_is_device(self);
}

doca_error_t
doca_dpa_rpc(struct doca_dpa *dpa, doca_dpa_func_t *func, uint64_t *retval, ...)
{
	const struct comch_doca_dpa_func *found;
	doca_error_t ret;
	va_list list;

	if (dpa == NULL || func == NULL || retval == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_device_code() || impl_dpa_join(dpa) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	found = impl_dpa_func(dpa, func);
	if (found == NULL || found->is_rpc == 0) {
		IMPL_ERR("%s is not a __dpa_rpc__ function of the application",
			found == NULL ? "a function" : found->name);
		ret = DOCA_ERROR_INVALID_VALUE;
	} else if (!impl_dpa_is_usable(dpa)) {
		ret = DOCA_ERROR_DRIVER;
	} else {
		va_start(list, retval);
		ret = call(dpa, found, retval, &list);
		va_end(list);
	}
	impl_dpa_drop(dpa);
	return ret;
}
