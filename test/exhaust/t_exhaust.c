/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Memory, descriptors, mappings and threads run out: each call of the library that asks for
 * one fails in turn, in a life of its own, until a life has no further call.
 */

#include "exhaust.h"
#include "t_main.h"

static const struct t_driver shm = { .name = "comch_shm", .has_dir = true };
static const struct t_driver ring = { .name = "comch_ring", .has_dir = true };

static void
exhaust(const struct t_driver *driver, const struct life_conf *life, unsigned int kinds, bool from)
{
	struct life_conf conf = *life;

	t_driver = driver;
	/* Calls that look at a descriptor. */
	conf.misleads = (kinds & (FAULT_SEAL | FAULT_WATCH)) != 0;
	exhaust_run(life_run, &conf, "librte_comch.so", kinds, from);
}

static const struct life_conf sealed = { .kind = RTE_COMCH_MEM_SEALED, .mbufs = true };
static const struct life_conf heap = { .kind = RTE_COMCH_MEM_HEAP };
static const struct life_conf asleep = { .kind = RTE_COMCH_MEM_SEALED, .sleeps = true };
static const struct life_conf heap_asleep = { .kind = RTE_COMCH_MEM_HEAP, .sleeps = true };
/* All of these calls fail from one on, also those of a stop. */
static const struct life_conf resigned = {
	.kind = RTE_COMCH_MEM_SEALED, .gives_up = fault_is_felt,
};

T_CASE(memory_sealed)
{
	exhaust(&shm, &sealed, FAULT_MEMORY, false);
}

T_CASE(memory_heap)
{
	exhaust(&shm, &heap, FAULT_MEMORY, false);
}

T_CASE(memory_ring)
{
	exhaust(&ring, &sealed, FAULT_MEMORY, false);
}

T_CASE(memory_for_good)
{
	exhaust(&shm, &resigned, FAULT_MEMORY, true);
}

T_CASE(mappings)
{
	exhaust(&shm, &sealed, FAULT_MAP, false);
}

T_CASE(mappings_for_good)
{
	exhaust(&shm, &resigned, FAULT_MAP, true);
}

T_CASE(seals)
{
	exhaust(&shm, &sealed, FAULT_SEAL, false);
}

T_CASE(seals_for_good)
{
	exhaust(&shm, &resigned, FAULT_SEAL, true);
}

T_CASE(descriptors)
{
	exhaust(&shm, &asleep, FAULT_FD, false);
}

T_CASE(descriptors_for_good)
{
	exhaust(&shm, &resigned, FAULT_FD, true);
}

T_CASE(watches)
{
	exhaust(&shm, &asleep, FAULT_WATCH, false);
}

T_CASE(sends)
{
	exhaust(&shm, &heap_asleep, FAULT_SEND, false);
}

T_CASE(sends_for_good)
{
	exhaust(&shm, &resigned, FAULT_SEND, true);
}

T_CASE(threads)
{
	exhaust(&shm, &sealed, FAULT_THREAD, false);
}

T_CASE(threads_for_good)
{
	exhaust(&shm, &resigned, FAULT_THREAD, true);
}
