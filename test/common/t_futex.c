/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t_futex.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
/* Of both calls: FUTEX_WAIT of the first. */
#define ARG_OP 1
#define ARG_TIMEOUT 3

bool t_futex_never_looks;
atomic_uint t_futex_nb_waits;

/* It takes six arguments, as libc does, though the caller may have passed less. */
__attribute__((no_sanitize("address")))
long
syscall(long number, ...)
{
	long arg[6];
	va_list list;
	int i;

	va_start(list, number);
	for (i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_futex_waitv || (number == SYS_futex && arg[ARG_OP] == FUTEX_WAIT)) {
		t_futex_nb_waits++;
		if (t_futex_never_looks)
			arg[ARG_TIMEOUT] = 0;
	}
	return ((long (*)(long number, ...))dlsym(RTLD_NEXT, "syscall"))(number, arg[0], arg[1],
		arg[2], arg[3], arg[4], arg[5]);
}
