/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_LOCK_H
#define IMPL_DEV_LOCK_H

#include <pthread.h>

/* Counts of opens and users, of devices and of representors. */
extern pthread_mutex_t impl_dev_lock;

#endif /* IMPL_DEV_LOCK_H */
