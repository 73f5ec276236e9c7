/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_LOCK_H
#define IMPL_DEV_LOCK_H

#include <pthread.h>

/* Protects the open and use counts of devices and representors. */
extern pthread_mutex_t impl_dev_lock;

#endif /* IMPL_DEV_LOCK_H */
