/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The exports of this process. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>
#include <rte_errno.h>

#include "base/comch_registry.h"
#include "remote/comch_export.h"
#include "sdk/comch_fork.h"

struct rte_comch_export {
	struct comch_registry_entry entry;
	uint64_t number;
	enum comch_remote_kind kind;
	uint8_t *addr;         /* memory */
	size_t len;
	uint32_t flags;
	int fd;                /* counter: its file, of the owner */
	struct comch_remote_desc desc;
};

static COMCH_REGISTRY_TYPE(export_type, NULL)
/*
 * `lock` is held while an export is looked up and used: before the lock of the registry. The
 * thread, which may take it again at once, passes the gate each time; others hold the gate until
 * they have the lock, so they wait for one piece.
 */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_number;

static void
lock_all(void)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_lock(&lock);
}

static void
unlock_all(void)
{
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&gate);
}

/* The thread's way to the lock: see above. */
static void
lock_as_thread(void)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&gate);
}

void
comch_export_reset(void)
{
	pthread_mutex_init(&gate, NULL);
	pthread_mutex_init(&lock, NULL);
}

static int
create(int16_t dev_id, struct rte_comch_export *exp)
{
	int ret = comch_export_serve(dev_id, exp->desc.path, sizeof(exp->desc.path));

	if (ret != 0)
		return ret;
	exp->desc.version = COMCH_REMOTE_VERSION;
	arc4random_buf(exp->desc.key, sizeof(exp->desc.key));
	lock_all();
	exp->number = ++last_number;
	comch_registry_add(&export_type, &exp->entry);
	unlock_all();
	return 0;
}

/* Export what is described. NULL: rte_errno is set. */
static struct rte_comch_export *
create_as(int16_t dev_id, const struct rte_comch_export *what)
{
	struct rte_comch_export *exp = malloc(sizeof(*exp));
	int ret;

	if (exp == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	*exp = *what;
	ret = comch_forked ? -EBADFD : create(dev_id, exp);
	if (ret == 0)
		return exp;
	free(exp);
	rte_errno = -ret;
	return NULL;
}

struct rte_comch_export *
rte_comch_export_create(int16_t dev_id, void *addr, size_t len, uint32_t flags)
{
	const struct rte_comch_export memory = {
		.kind = COMCH_REMOTE_MEMORY, .addr = addr, .len = len, .flags = flags, .fd = -1,
	};
	struct rte_comch_export *exp;

	if (addr == NULL || len == 0 || len > UINTPTR_MAX - (uintptr_t)addr ||
			(flags & ~RTE_COMCH_EXPORT_F_WRITE) != 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	exp = create_as(dev_id, &memory);
	if (exp != NULL)
		comch_export_pages_huge(addr, len);
	return exp;
}

struct rte_comch_export *
comch_export_create_counter(int16_t dev_id, int fd)
{
	const struct rte_comch_export counter = { .kind = COMCH_REMOTE_COUNTER, .fd = fd };

	return create_as(dev_id, &counter);
}

int
rte_comch_export_desc(const struct rte_comch_export *exp, uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN])
{
	if (exp == NULL || desc == NULL)
		return -EINVAL;
	memcpy(desc, &exp->desc, sizeof(exp->desc));
	return 0;
}

int
rte_comch_export_destroy(struct rte_comch_export *exp)
{
	if (exp == NULL)
		return -EINVAL;
	if (comch_forked)
		return 0;
	lock_all();
	comch_registry_del(&export_type, &exp->entry);
	unlock_all();
	explicit_bzero(&exp->desc, sizeof(exp->desc));
	free(exp);
	return 0;
}

/* In the same time, whatever the keys have in common. */
static bool
is_same(const uint8_t *a, const uint8_t *b)
{
	volatile uint8_t diff = 0;
	size_t i;

	for (i = 0; i < COMCH_REMOTE_KEY; i++)
		diff |= a[i] ^ b[i];
	return diff == 0;
}

uint64_t
comch_export_find(const uint8_t *key, uint32_t kind, int *fd)
{
	const struct rte_comch_export *exp;
	uint64_t number = 0;

	*fd = -1;
	lock_as_thread();
	COMCH_REGISTRY_FOREACH(exp, &export_type)
		if (is_same(exp->desc.key, key) && exp->kind == kind) {
			number = exp->number;
			if (exp->fd >= 0)
				*fd = fcntl(exp->fd, F_DUPFD_CLOEXEC, 0);
		}
	pthread_mutex_unlock(&lock);
	return number;
}

static int
check(const struct rte_comch_export *exp, const struct comch_remote_request *request)
{
	/* Of an address below it, this wraps to more than any length. */
	const uint64_t at = request->addr - (uintptr_t)exp->addr;

	if (request->op == COMCH_REMOTE_WRITE && (exp->flags & RTE_COMCH_EXPORT_F_WRITE) == 0)
		return -EACCES;
	return at <= exp->len && request->len <= exp->len - at ? 0 : -EACCES;
}

static int
copy_of(const struct rte_comch_export *exp, const struct comch_remote_request *request,
		uint8_t *slot)
{
	int ret = check(exp, request);

	return ret != 0 ? ret : comch_export_copy_bytes((uint8_t *)(uintptr_t)request->addr, slot,
		request->len, request->op == COMCH_REMOTE_READ);
}

int
comch_export_copy(uint64_t number, const struct comch_remote_request *request, uint8_t *slot)
{
	const struct rte_comch_export *exp;
	int ret = -ENOTCONN;

	lock_as_thread();
	COMCH_REGISTRY_FOREACH(exp, &export_type)
		if (exp->number == number) {
			ret = copy_of(exp, request, slot);
			break;
		}
	pthread_mutex_unlock(&lock);
	return ret;
}
