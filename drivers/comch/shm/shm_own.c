/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The region of our end of a link, until the link has it. */

#include <sys/mman.h>
#include <unistd.h>

#include "sdk/comch_memfd.h"
#include "shm_private.h"

int
shm_own_create(const struct rte_comch_dev *dev, struct shm_own *own)
{
	const struct shm_dev *shm = dev->priv;

	own->addr = NULL;
	own->fd = comch_memfd_create("comch_link", shm_region_len(shm->cells),
			COMCH_MEMFD_ONE_WRITER, &own->addr);
	if (own->fd < 0)
		return own->fd;
	(void)comch_memfd_populate(own->addr, SHM_FIRST_FRAMES, true);
	return 0;
}

void
shm_own_close(struct shm_own *own)
{
	close(own->fd);
	own->fd = -1;
}

void
shm_own_unmap(const struct rte_comch_dev *dev, void *addr)
{
	munmap(addr, shm_region_len(((const struct shm_dev *)dev->priv)->cells));
}

void
shm_own_free(const struct rte_comch_dev *dev, struct shm_own *own)
{
	shm_own_close(own);
	shm_own_unmap(dev, own->addr);
}
