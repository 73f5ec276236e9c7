/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Clients that fail again and again: which failures are worth a line. */

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_string_fns.h>

#include "ctrl/comch_client.h"
#include "ctrl/comch_retry.h"

/* One server, by its name and our device; nb is 0: a free place. */
struct failing {
	int16_t dev_id;
	char name[RTE_COMCH_NAME_SIZE];
	int err;
	uint64_t nb;      /* failures with this error, in a row */
	uint64_t last_at; /* of all failures, the number of its last one */
};

static struct {
	pthread_mutex_t lock;
	struct failing of[COMCH_RETRY_NB];
	uint64_t nb;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Under the lock. The one of the client; else the one that has not failed for longest. */
static struct failing *
find(const struct rte_comch_client *client, bool *is_its)
{
	struct failing *f, *oldest = &all.of[0];

	for (f = all.of; f < all.of + RTE_DIM(all.of); f++) {
		*is_its = f->nb > 0 && f->dev_id == client->dev->id &&
			strcmp(f->name, client->name) == 0;
		if (*is_its)
			return f;
		if (f->last_at < oldest->last_at)
			oldest = f;
	}
	return oldest;
}

static bool
is_power_of_10(uint64_t n)
{
	while (n % 10 == 0)
		n /= 10;
	return n == 1;
}

uint64_t
comch_retry_failed(const struct rte_comch_client *client, int err)
{
	struct failing *f;
	bool is_its;
	uint64_t nb;

	pthread_mutex_lock(&all.lock);
	f = find(client, &is_its);
	if (!is_its || f->err != err)
		f->nb = 0;
	f->dev_id = client->dev->id;
	rte_strscpy(f->name, client->name, sizeof(f->name));
	f->err = err;
	nb = ++f->nb;
	f->last_at = ++all.nb;
	pthread_mutex_unlock(&all.lock);
	return is_power_of_10(nb) ? nb : 0;
}

void
comch_retry_over(const struct rte_comch_client *client)
{
	struct failing *f;
	bool is_its;

	pthread_mutex_lock(&all.lock);
	f = find(client, &is_its);
	if (is_its)
		*f = (struct failing){ 0 };
	pthread_mutex_unlock(&all.lock);
}

const char *
comch_retry_text(uint64_t times, char text[COMCH_RETRY_TEXT])
{
	text[0] = '\0';
	if (times > 1)
		snprintf(text, COMCH_RETRY_TEXT, " (%" PRIu64 " times in a row)", times);
	return text;
}
