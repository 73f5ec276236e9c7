/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Execution units: the CPUs of DPA threads, all in one core. */

#include <sched.h>
#include <stdlib.h>

#include <rte_common.h>

#include "dev/cpus.h"
#include "dev/dev.h"
#include "dpa/core.h"
#include "log/log.h"

struct doca_dpa_eu_affinity {
	struct doca_dpa *dpa;
	int eu; /* -1: not set */
};

static const cpu_set_t *
cpus_of(const struct doca_dpa *dpa)
{
	const cpu_set_t *cpus = impl_dev_dpa_cpus(impl_dpa_dev(dpa));

	return CPU_COUNT(cpus) > 0 ? cpus : impl_process_cpus();
}

unsigned int
impl_dpa_nb_eus(const struct doca_dpa *dpa)
{
	int nb = CPU_COUNT(cpus_of(dpa));

	/* With more CPUs than a cpu_set_t can hold there is one unit, on any CPU. */
	return nb > 0 ? (unsigned int)nb : 1;
}

int
impl_dpa_eu_cpu(const struct doca_dpa *dpa, unsigned int eu)
{
	const cpu_set_t *cpus = cpus_of(dpa);
	int cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus) && eu-- == 0)
			return cpu;
	return -1;
}

int
impl_dpa_affinity_eu(const struct doca_dpa_eu_affinity *affinity)
{
	return affinity->eu;
}

doca_error_t
doca_dpa_get_core_num(struct doca_dpa *dpa, unsigned int *num_cores)
{
	if (dpa == NULL || num_cores == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*num_cores = 1;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_get_num_eus_per_core(struct doca_dpa *dpa, unsigned int *eus_per_core)
{
	return doca_dpa_get_total_num_eus_available(dpa, eus_per_core);
}

doca_error_t
doca_dpa_get_total_num_eus_available(struct doca_dpa *dpa, unsigned int *total_num_eus)
{
	if (dpa == NULL || total_num_eus == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*total_num_eus = impl_dpa_nb_eus(dpa);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_eu_affinity_create(struct doca_dpa *dpa, struct doca_dpa_eu_affinity **affinity)
{
	struct doca_dpa_eu_affinity *a;

	if (dpa == NULL || affinity == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	a = malloc(sizeof(*a));
	if (a == NULL)
		return DOCA_ERROR_NO_MEMORY;
	impl_dpa_hold(dpa);
	a->dpa = dpa;
	a->eu = -1;
	*affinity = a;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_eu_affinity_destroy(struct doca_dpa_eu_affinity *affinity)
{
	if (affinity == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_dpa_drop(affinity->dpa);
	free(affinity);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_eu_affinity_set(struct doca_dpa_eu_affinity *affinity, unsigned int eu_id)
{
	unsigned int nb;

	if (affinity == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	nb = impl_dpa_nb_eus(affinity->dpa);
	if (eu_id >= nb) {
		IMPL_ERR("DPA affinity: execution unit %u out of range (0 to %u)", eu_id, nb - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	affinity->eu = (int)eu_id;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_eu_affinity_clear(struct doca_dpa_eu_affinity *affinity)
{
	if (affinity == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	affinity->eu = -1;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_eu_affinity_get(struct doca_dpa_eu_affinity *affinity, unsigned int *eu_id)
{
	if (affinity == NULL || eu_id == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (affinity->eu < 0) {
		IMPL_ERR("DPA affinity: execution unit is not set");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*eu_id = (unsigned int)affinity->eu;
	return DOCA_SUCCESS;
}
