/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_jhash.h>

#include "accel/desc.h"
#include "raw_remote.h"
#include "t.h"

/* Of a descriptor, which is little-endian. */
#define LEN 224
#define VERSION 2
#define KEY 76
#define PATH 108
#define PATH_LEN (sizeof(((struct comch_remote_desc *)0)->path))
#define CHECK 220

const uint8_t *
desc_key(const struct exporter *e)
{
	return e->shared->desc + KEY;
}

char *
desc_path(const struct exporter *e)
{
	return (char *)e->shared->desc + PATH;
}

void
desc_seal(uint8_t *desc)
{
	uint32_t check = rte_jhash(desc, CHECK, VERSION);

	memcpy(desc + CHECK, &check, sizeof(check));
}

int
desc_listen(struct exporter_shared *shared)
{
	char *path = (char *)shared->desc + PATH;
	int fd;

	T_EQ(shared->desc_len, LEN);
	memset(path, 0, PATH_LEN);
	fd = raw_remote_listen(path, PATH_LEN);
	desc_seal(shared->desc);
	return fd;
}

void
desc_replace_by_link(struct exporter_shared *shared)
{
	char *path = (char *)shared->desc + PATH, link[PATH_LEN];

	/* Another name of the same form: the first digit is 0. */
	strcpy(link, path);
	strrchr(link, '-')[1] = 'f';
	T_EQ(symlink(path, link), 0);
	strcpy(path, link);
	desc_seal(shared->desc);
}

void
desc_still_served(const struct exporter *e)
{
	const uint64_t addr = (uintptr_t)e->shared->addr + 3;
	int fd = raw_remote_connect(desc_path(e));
	uint8_t *window = raw_remote_up(fd, desc_key(e));
	size_t i;

	T_EQ(raw_remote_ask(fd, COMCH_REMOTE_READ, 1, addr, 16), 0);
	for (i = 0; i < 16; i++)
		T_EQ(window[comch_remote_at(1, addr) + i], exporter_byte(3 + i));
	T_EQ(close(fd), 0);
	T_EQ(munmap(window, COMCH_REMOTE_WINDOW), 0);
}
