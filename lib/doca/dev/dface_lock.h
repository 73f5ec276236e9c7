/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DFACE_LOCK_H
#define DFACE_LOCK_H

#include <pthread.h>

/* Counts of opens and users, of devices and of representors. */
extern pthread_mutex_t dface_dev_lock;

#endif /* DFACE_LOCK_H */
