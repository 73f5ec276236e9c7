/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA errors: names, descriptions, and their mapping from errno values of librte_comch. */

#include <errno.h>

#include <rte_common.h>

#include "base/alias.h"
#include "base/err.h"

static const struct {
	const char *name;
	const char *descr;
} errors[] = {
#define ERROR(name, descr) [DOCA_##name] = { "DOCA_" #name, descr }
	ERROR(SUCCESS, "Success"),
	ERROR(ERROR_UNKNOWN, "Unknown error"),
	ERROR(ERROR_NOT_PERMITTED, "Operation not permitted"),
	ERROR(ERROR_IN_USE, "Resource is in use"),
	ERROR(ERROR_NOT_SUPPORTED, "Operation not supported"),
	ERROR(ERROR_AGAIN, "Resource temporarily unavailable, try again"),
	ERROR(ERROR_INVALID_VALUE, "Invalid argument"),
	ERROR(ERROR_NO_MEMORY, "Out of memory, or a pool is exhausted"),
	ERROR(ERROR_INITIALIZATION, "Initialization failed"),
	ERROR(ERROR_TIME_OUT, "Timed out"),
	ERROR(ERROR_SHUTDOWN, "Canceled by a stop"),
	ERROR(ERROR_CONNECTION_RESET, "Connection reset by the peer"),
	ERROR(ERROR_CONNECTION_ABORTED, "Connection not established"),
	ERROR(ERROR_CONNECTION_INPROGRESS, "Connection is being established"),
	ERROR(ERROR_NOT_CONNECTED, "Not connected"),
	ERROR(ERROR_NO_LOCK, "Lock not acquired"),
	ERROR(ERROR_NOT_FOUND, "Not found"),
	ERROR(ERROR_IO_FAILED, "I/O failed"),
	ERROR(ERROR_BAD_STATE, "Object is in the wrong state"),
	ERROR(ERROR_UNSUPPORTED_VERSION, "Unsupported version"),
	ERROR(ERROR_OPERATING_SYSTEM, "Operating system call failed"),
	ERROR(ERROR_DRIVER, "Driver call failed"),
	ERROR(ERROR_UNEXPECTED, "Unexpected internal condition"),
	ERROR(ERROR_ALREADY_EXIST, "Already exists"),
	ERROR(ERROR_FULL, "Full"),
	ERROR(ERROR_EMPTY, "Empty"),
	ERROR(ERROR_IN_PROGRESS, "Operation in progress"),
	ERROR(ERROR_TOO_BIG, "Too big"),
	ERROR(ERROR_AUTHENTICATION, "Authentication failed"),
	ERROR(ERROR_BAD_CONFIG, "Invalid configuration"),
	ERROR(ERROR_SKIPPED, "Success, but an earlier result was lost"),
#undef ERROR
};

const char *
doca_error_get_name(doca_error_t error)
{
	return (unsigned int)error < RTE_DIM(errors) ? errors[error].name : "DOCA_ERROR_?";
}

const char *
doca_error_get_descr(doca_error_t error)
{
	return (unsigned int)error < RTE_DIM(errors) ? errors[error].descr :
		"Not a DOCA error";
}

IMPL_ALIAS(doca_get_error_name, doca_error_get_name);

IMPL_ALIAS(doca_get_error_string, doca_error_get_descr);

static const struct {
	int err;
	doca_error_t error;
} natives[] = {
	{ EINPROGRESS, DOCA_ERROR_IN_PROGRESS },
	{ EAGAIN, DOCA_ERROR_AGAIN },
	{ EINVAL, DOCA_ERROR_INVALID_VALUE },
	{ EFAULT, DOCA_ERROR_INVALID_VALUE },
	{ EMSGSIZE, DOCA_ERROR_INVALID_VALUE },
	{ ENOENT, DOCA_ERROR_NOT_FOUND },
	{ ENODEV, DOCA_ERROR_NOT_FOUND },
	{ EBADFD, DOCA_ERROR_BAD_STATE },
	{ EBUSY, DOCA_ERROR_IN_USE },
	{ EADDRINUSE, DOCA_ERROR_IN_USE },
	{ EEXIST, DOCA_ERROR_ALREADY_EXIST },
	{ ENOTSUP, DOCA_ERROR_NOT_SUPPORTED },
	{ ENOMEM, DOCA_ERROR_NO_MEMORY },
	{ ENOSPC, DOCA_ERROR_NO_MEMORY },
	{ EPERM, DOCA_ERROR_NOT_PERMITTED },
	{ EACCES, DOCA_ERROR_NOT_PERMITTED },
	{ ETIMEDOUT, DOCA_ERROR_TIME_OUT },
	{ ECANCELED, DOCA_ERROR_SHUTDOWN },
	{ ECONNREFUSED, DOCA_ERROR_CONNECTION_ABORTED },
	{ ECONNRESET, DOCA_ERROR_CONNECTION_RESET },
	{ ENOTCONN, DOCA_ERROR_NOT_CONNECTED },
	{ EPROTO, DOCA_ERROR_CONNECTION_RESET },
	{ EMFILE, DOCA_ERROR_OPERATING_SYSTEM },
	{ ENFILE, DOCA_ERROR_OPERATING_SYSTEM },
};

doca_error_t
impl_err_of(int ret)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(natives); i++)
		if (natives[i].err == -ret)
			return natives[i].error;
	return DOCA_ERROR_DRIVER;
}
