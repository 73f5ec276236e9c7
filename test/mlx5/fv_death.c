/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * An end that is gone. Its half still runs in this process, and nothing that it does gets
 * out: to its peers it has died at that step.
 */

#include "fv_private.h"

static struct {
	union ibv_gid gid;
	unsigned int left;      /* 0: none is to die */
	bool hangs_up, gone;
	unsigned int nb_steps;
} death;

void
fv_death_at(const char *addr, unsigned int nth, bool hangs_up)
{
	fv_lock();
	memset(&death, 0, sizeof(death));
	if (addr != NULL && !fv_gid_parse(&death.gid, addr))
		FV_DIE("not an address: %s", addr);
	death.left = addr == NULL ? 0 : nth;
	death.hangs_up = hangs_up;
	/* What was blocked gets through again. */
	fv_wire_run();
	fv_unlock();
}

unsigned int
fv_death_steps(bool *gone)
{
	unsigned int n;

	fv_lock();
	n = death.nb_steps;
	*gone = death.gone;
	fv_unlock();
	return n;
}

bool
fv_is_gone(const union ibv_gid *gid)
{
	return death.gone && memcmp(gid, &death.gid, sizeof(*gid)) == 0;
}

/* The kernel of a process that dies ends its connections. */
static void
hang_up(void)
{
	struct fv_msg *last;
	struct fv_id *id;

	TAILQ_FOREACH(id, &fv.ids, next) {
		if (id->state < FV_ID_REQ_SENT || id->state == FV_ID_OVER ||
				memcmp(&id->sgid, &death.gid, sizeof(id->sgid)) != 0)
			continue;
		last = TAILQ_LAST(&fv.msgs, fv_msgs);
		fv_conn_destroy(id);
		if (TAILQ_LAST(&fv.msgs, fv_msgs) != last)
			TAILQ_LAST(&fv.msgs, fv_msgs)->is_last = true;
	}
}

void
fv_death_step(void)
{
	death.nb_steps++;
	if (death.left == 0 || --death.left > 0)
		return;
	death.gone = true;
	if (death.hangs_up)
		hang_up();
}
