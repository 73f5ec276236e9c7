/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Descriptors of frames. They arrive on the socket before their frame, and other threads receive
 * them, so they are stashed until it is read.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "sdk/comch_foreign.h"
#include "sdk/comch_peermap.h"
#include "sdk/comch_quota.h"
#include "shm_private.h"

uint32_t
shm_fds_nb(const struct shm_link *l)
{
	return l->stash != NULL ? l->stash->tail - l->stash->head : 0;
}

static void
unmap(struct shm_link *l, struct comch_peermap **map)
{
	if (*map == NULL)
		return;
	shm_mem_give(l, (*map)->len);
	comch_peermap_put(*map);
	*map = NULL;
}

void
shm_fds_unmap(struct shm_link *l)
{
	uint32_t i;

	for (i = 0; l->stash != NULL && i < RTE_DIM(l->stash->map); i++)
		unmap(l, &l->stash->map[i]);
}

/* Count memory against the connection's limit; over the limit, the import is refused. */
static struct comch_peermap *
count_map(struct shm_link *l, struct comch_peermap *map)
{
	if (map == NULL || shm_mem_take(l, map->len))
		return map;
	comch_peermap_put(map);
	l->map_err = -EDQUOT;
	return NULL;
}

/* Stashed descriptors count against the peer's share, as those do that are kept afterwards. */
static struct shm_stashed
pop_stashed(struct shm_link *l)
{
	comch_quota_give(l->out.quota, COMCH_QUOTA_FDS, 1);
	return l->stash->at[l->stash->head++ % SHM_MAX_STASH];
}

/* Stash descriptors until their frame is read. */
void
shm_fds_arrived(struct shm_link *l, struct comch_foreign_msg *msg)
{
	uint32_t i;

	if (msg->len != 1 || msg->data[0] != SHM_SOCK_FDS ||
			shm_fds_nb(l) + msg->nb_fds > SHM_MAX_STASH) {
		shm_link_down(l, -EPROTO, "unexpected descriptors from peer");
		goto err_drop;
	}
	if (l->stash == NULL)
		l->stash = calloc(1, sizeof(*l->stash));
	if (l->stash == NULL) {
		shm_link_down(l, -ENOMEM, "no memory for descriptors from peer");
		goto err_drop;
	}
	if (!comch_quota_take(l->out.quota, COMCH_QUOTA_FDS, msg->nb_fds)) {
		shm_link_down(l, -EMFILE,
			"peer has used up its share of this process's descriptors");
		goto err_drop;
	}
	if (msg->map_err != 0)
		l->map_err = msg->map_err;
	for (i = 0; i < msg->nb_fds; i++)
		l->stash->at[l->stash->tail++ % SHM_MAX_STASH] = (struct shm_stashed){
			.fd = msg->fds[i], .map = count_map(l, msg->map[i]),
		};
	return;

err_drop:
	comch_foreign_drop(msg);
}

bool
shm_fds_are_many(const struct shm_link *l)
{
	return shm_fds_nb(l) > SHM_MAX_STASH - RTE_COMCH_FRAME_FDS;
}

int
shm_fds_take(struct shm_link *l, int *fds, uint32_t nb_fds)
{
	bool was_full = shm_fds_are_many(l);
	struct shm_stashed s;
	uint32_t i;

	if (shm_fds_nb(l) < nb_fds && l->sock >= 0)
		shm_link_read_sock(l);
	if (shm_fds_nb(l) < nb_fds) {
		/* Receiving them failed here: not a protocol error. */
		if (l->base.state == RTE_COMCH_LINK_DOWN)
			return l->base.error;
		/* They are sent before their frame: if none is in flight, they are missing. */
		if (l->job == NULL && !l->must_read)
			return -EPROTO;
		l->awaits_fds = nb_fds;
		return -EAGAIN;
	}
	shm_fds_unmap(l);
	for (i = 0; i < nb_fds; i++) {
		s = pop_stashed(l);
		fds[i] = s.fd;
		l->stash->map[i] = s.map;
	}
	/* The socket is edge-triggered: read what was left while the stash was full. */
	if (was_full && l->sock >= 0)
		shm_link_read_sock(l);
	return 0;
}

void
shm_fds_drop(struct shm_link *l)
{
	struct shm_stashed s;

	shm_fds_unmap(l);
	while (shm_fds_nb(l) > 0) {
		s = pop_stashed(l);
		comch_foreign_close(s.fd);
		unmap(l, &s.map);
	}
}
