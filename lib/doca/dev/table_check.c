/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Checks that need the whole table: resolve the devices of functions, fill in defaults,
 * and refuse invalid sections, naming their line.
 */

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <rte_string_fns.h>

#include "dev/table.h"
#include "sdk/comch_dma_dev.h"

#define DEFAULT_DRIVER "comch_shm"
/** Informational. */
#define DEFAULT_RATE UINT64_C(100000000000)
/** Maximum in a native device string. */
#define MAX_REPS 256
/** As on hardware: 12 s. */
#define DEFAULT_DPA_MAX_RUN_MS 12000
/** Controllers: 0 is the DPU itself. */
#define DEFAULT_HOST_INDEX 1
/* What a core does in some 10 and 100 microseconds, bytes: less is not worth asking a device. */
#define DEFAULT_CRYPTO_MIN 16384
#define DEFAULT_COMPRESS_MIN 4096

static const char *
kind(const struct impl_entry *e)
{
	return e->is_func ? "function" : "device";
}

/* Whether an entry has its own PCI address: all but SFs. */
static bool
owns_pci(const struct impl_entry *e)
{
	return e->info.type != DOCA_PCI_FUNC_TYPE_SF;
}

/* Devices and functions have separate labels, host and DPU separate PCI buses. */
static doca_error_t
check_unique(struct impl_table *table, const struct impl_entry *e)
{
	const struct impl_entry *o;

	for (o = TAILQ_FIRST(&table->entries); o != e; o = TAILQ_NEXT(o, next)) {
		if (o->is_func != e->is_func)
			continue;
		if (strcmp(o->label, e->label) == 0)
			return impl_table_wrong(table, e->line,
				"[%s %s] is also defined in line %u", kind(e), e->label, o->line);
		if (owns_pci(o) && owns_pci(e) &&
				rte_pci_addr_cmp(&o->info.pci, &e->info.pci) == 0)
			return impl_table_wrong(table, e->line,
				"[%s %s] has the PCI address of [%s %s]", kind(e), e->label,
				kind(o), o->label);
	}
	return DOCA_SUCCESS;
}

/* Accepts only names such as "pf0", "pf0vf3" and "pf0sf7". */
static bool
parse_func(const char *func, struct doca_devinfo *info)
{
	char text[RTE_COMCH_DEV_NAME_SIZE], kind_of[2] = "";
	unsigned int pf = 0, index = 0;
	int n;

	n = sscanf(func, "pf%5u%1[vs]f%5u", &pf, kind_of, &index);
	if (n == 3)
		snprintf(text, sizeof(text), "pf%u%sf%u", pf, kind_of, index);
	else
		snprintf(text, sizeof(text), "pf%u", pf);
	if (n < 1 || strcmp(text, func) != 0 || pf > UINT16_MAX || index > UINT16_MAX)
		return false;
	info->type = kind_of[0] == 'v' ? DOCA_PCI_FUNC_TYPE_VF :
		kind_of[0] == 's' ? DOCA_PCI_FUNC_TYPE_SF : DOCA_PCI_FUNC_TYPE_PF;
	info->pf = (uint16_t)pf;
	info->index = (uint16_t)index;
	return true;
}

/* The device of a function; by default the only one. */
static struct impl_entry *
find_device(struct impl_table *table, const struct impl_entry *func)
{
	struct impl_entry *e;

	IMPL_TABLE_FOREACH(e, table)
		if (!e->is_func && (impl_entry_has(func, IMPL_KEY_DEVICE) ?
				strcmp(e->label, func->device) == 0 : table->nb_devs == 1))
			return e;
	return NULL;
}

static doca_error_t
resolve_func(struct impl_table *table, struct impl_entry *e)
{
	struct impl_entry *dev = find_device(table, e);

	if (dev == NULL && !impl_entry_has(e, IMPL_KEY_DEVICE))
		return impl_table_wrong(table, e->line, "[function %s] needs device = LABEL",
			e->label);
	if (dev == NULL)
		return impl_table_wrong(table, e->line, "[function %s]: unknown [device %s]",
			e->label, e->device);
	if (!impl_entry_has(e, IMPL_KEY_FUNC))
		snprintf(e->func, sizeof(e->func), "%s", e->label);
	if (!parse_func(e->func, &e->info))
		return impl_table_wrong(table, e->line,
			"[function %s]: invalid function '%s': expected pf0, pf0vf3 or pf0sf7",
			e->label, e->func);
	if (dev->info.nb_reps == MAX_REPS)
		return impl_table_wrong(table, e->line,
			"[function %s]: [device %s] has %u functions already", e->label,
			dev->label, MAX_REPS);
	e->rep.owner = &dev->info;
	e->rep.host = &e->info;
	e->rep.id = dev->info.nb_reps++;
	e->rep.rep.info = &e->rep;
	return DOCA_SUCCESS;
}

/* An SF has the PCI address of its PF. */
static void
take_pci_of_pf(struct impl_table *table, struct impl_entry *sf)
{
	const struct impl_entry *e;

	IMPL_TABLE_FOREACH(e, table) {
		if (!e->is_func || e->info.type != DOCA_PCI_FUNC_TYPE_PF ||
				e->rep.owner != sf->rep.owner || e->info.pf != sf->info.pf ||
				!impl_entry_has(e, IMPL_KEY_PCI))
			continue;
		sf->info.pci = e->info.pci;
		sf->given |= UINT32_C(1) << IMPL_KEY_PCI;
		return;
	}
}

/* The driver must be able to tell two functions of the host apart. */
static doca_error_t
check_apart(struct impl_table *table, const struct impl_entry *e)
{
	const struct impl_entry *o;

	for (o = TAILQ_FIRST(&table->entries); o != e; o = TAILQ_NEXT(o, next)) {
		if (!o->is_func || strcmp(o->func, e->func) != 0)
			continue;
		if (o->rep.owner == e->rep.owner)
			return impl_table_wrong(table, e->line,
				"[function %s] is function %s of its device, as is "
				"[function %s]", e->label, e->func, o->label);
		if (strcmp(o->info.driver, e->info.driver) == 0 &&
				strcmp(o->info.args, e->info.args) == 0)
			return impl_table_wrong(table, e->line,
				"[function %s] and [function %s] are %s of two devices with the "
				"same args: set others for one device, such as args = "
				"dir=/run/comch-%s", o->label, e->label, e->func,
				e->device);
	}
	return DOCA_SUCCESS;
}

/* Locally administered (second bit), and unique per PCI address and SF. */
static void
make_mac(struct doca_devinfo *info)
{
	bool is_sf = info->type == DOCA_PCI_FUNC_TYPE_SF;

	info->mac[0] = 0x02;
	info->mac[1] = (uint8_t)(info->is_dpu ? 0xd0 : 0xb0) ^ (uint8_t)info->pci.domain;
	info->mac[2] = info->pci.bus;
	info->mac[3] = (uint8_t)(info->pci.devid << 3 | info->pci.function);
	info->mac[4] = is_sf ? (uint8_t)((info->index + 1u) >> 8) : 0;
	info->mac[5] = is_sf ? (uint8_t)(info->index + 1u) : 0;
}

/* Link-local, derived from the MAC address: RFC 4291, appendix A. */
static void
make_ipv6(struct doca_devinfo *info)
{
	const uint8_t *mac = info->mac;
	const uint8_t ipv6[] = {
		0xfe, 0x80, 0, 0, 0, 0, 0, 0,
		mac[0] ^ 0x02, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5],
	};

	memcpy(info->ipv6, ipv6, sizeof(info->ipv6));
}

/* As Linux names interfaces by their slot. */
static void
make_iface(struct doca_devinfo *info)
{
	int len;

	if (info->is_dpu) {
		snprintf(info->iface, sizeof(info->iface), "p%u", info->number);
		return;
	}
	len = snprintf(info->iface, sizeof(info->iface), "enp%us%uf%u", info->pci.bus,
		info->pci.devid, info->pci.function);
	if (info->type == DOCA_PCI_FUNC_TYPE_SF)
		snprintf(info->iface + len, sizeof(info->iface) - (size_t)len, "s%u",
			info->index);
}

/* DPA settings; a function inherits those of its device. */
static void
fill_dpa(struct impl_entry *e)
{
	struct doca_devinfo *info = &e->info;
	const struct doca_devinfo *owner = e->is_func ? e->rep.owner : NULL;

	if (owner != NULL && !impl_entry_has(e, IMPL_KEY_DPA_CPUS))
		info->dpa_cpus = owner->dpa_cpus;
	if (!impl_entry_has(e, IMPL_KEY_DPA_MAX_RUN_MS))
		info->dpa_max_run_ms = owner != NULL ? owner->dpa_max_run_ms :
			DEFAULT_DPA_MAX_RUN_MS;
}

/* Devices of EAL, by enum impl_offload_kind. */
static const struct {
	const char *key, *what;
	uint32_t min;
} offloads[IMPL_OFFLOAD_KINDS] = {
	[IMPL_OFFLOAD_DMA] = { "dma", "a DMA device", COMCH_DMA_DEFAULT_MIN },
	[IMPL_OFFLOAD_CRYPTO] = { "crypto", "a crypto device", DEFAULT_CRYPTO_MIN },
	[IMPL_OFFLOAD_COMPRESS] = { "compress", "a compression device", DEFAULT_COMPRESS_MIN },
};

static enum impl_key
name_key(unsigned int kind)
{
	return (enum impl_key)(IMPL_KEY_DMA + 2 * kind);
}

static enum impl_key
min_key(unsigned int kind)
{
	return (enum impl_key)(IMPL_KEY_DMA_MIN + 2 * kind);
}

static void
fill_offloads(struct impl_entry *e, const struct impl_manners *of_dev)
{
	struct impl_offload_conf *conf;
	unsigned int i;

	for (i = 0; i < IMPL_OFFLOAD_KINDS; i++) {
		conf = &e->info.manners.offload[i];
		if (!impl_entry_has(e, min_key(i)))
			conf->min = of_dev != NULL ? of_dev->offload[i].min : offloads[i].min;
		if (of_dev != NULL && !impl_entry_has(e, name_key(i)))
			memcpy(conf->name, of_dev->offload[i].name, sizeof(conf->name));
	}
}

static doca_error_t
check_offloads(struct impl_table *table, const struct impl_entry *e)
{
	unsigned int i;

	for (i = 0; i < IMPL_OFFLOAD_KINDS; i++)
		if (impl_entry_has(e, min_key(i)) && e->info.manners.offload[i].name[0] == '\0')
			return impl_table_wrong(table, e->line, "[%s %s]: %s_min needs %s = NAME, "
				"%s", kind(e), e->label, offloads[i].key, offloads[i].key,
				offloads[i].what);
	return DOCA_SUCCESS;
}

/* A function inherits those of its device. */
static void
fill_manners(struct impl_entry *e)
{
	struct impl_manners *m = &e->info.manners;
	const struct impl_manners *of_dev = e->is_func ? &e->rep.owner->manners : NULL;

	m->faults = impl_faults_fill(e);
	fill_offloads(e, of_dev);
	impl_limits_fill(e, of_dev != NULL ? &of_dev->limits : NULL);
	if (of_dev == NULL)
		return;
	if (!impl_entry_has(e, IMPL_KEY_PROGRESS))
		m->single_progress = of_dev->single_progress;
	if (!impl_entry_has(e, IMPL_KEY_LENIENT))
		m->keeps_freed_tasks = of_dev->keeps_freed_tasks;
	if (!impl_entry_has(e, IMPL_KEY_AGAIN_AFTER_SEND))
		m->again_after_send = of_dev->again_after_send;
	if (!impl_entry_has(e, IMPL_KEY_WORKERS))
		m->workers = of_dev->workers;
}

static void
fill_info(struct impl_entry *e, uint16_t number, uint16_t vhca_id)
{
	struct doca_devinfo *info = &e->info;

	info->is_dpu = !e->is_func;
	info->number = number;
	info->vhca_id = vhca_id;
	info->has_ipv4 = impl_entry_has(e, IMPL_KEY_IPV4);
	info->dev.info = info;
	if (!impl_entry_has(e, IMPL_KEY_IBDEV))
		snprintf(info->ibdev, sizeof(info->ibdev), "mlx5_%u", number);
	if (!impl_entry_has(e, IMPL_KEY_IFACE))
		make_iface(info);
	if (!impl_entry_has(e, IMPL_KEY_MAC))
		make_mac(info);
	if (!impl_entry_has(e, IMPL_KEY_IPV6))
		make_ipv6(info);
	if (!impl_entry_has(e, IMPL_KEY_ACTIVE_RATE))
		info->active_rate = DEFAULT_RATE;
	if (!impl_entry_has(e, IMPL_KEY_DRIVER))
		snprintf(info->driver, sizeof(info->driver), "%s",
			e->is_func ? e->rep.owner->driver : DEFAULT_DRIVER);
	if (e->is_func && !impl_entry_has(e, IMPL_KEY_ARGS))
		memcpy(info->args, e->rep.owner->args, sizeof(info->args));
	fill_dpa(e);
	fill_manners(e);
}

/* rep.owner is an info; get the label of its entry. */
static const char *
owner_label(const struct impl_entry *func)
{
	const struct impl_entry *dev = (const void *)((const char *)func->rep.owner -
		offsetof(struct impl_entry, info));

	return dev->label;
}

static void
fill_rep(struct impl_entry *e)
{
	struct doca_devinfo_rep *rep = &e->rep;

	snprintf(e->device, sizeof(e->device), "%s", owner_label(e));
	if (!impl_entry_has(e, IMPL_KEY_REP_IFACE))
		snprintf(rep->iface, sizeof(rep->iface), "%.30s%s", e->func,
			e->info.type == DOCA_PCI_FUNC_TYPE_PF ? "hpf" : "");
	if (!impl_entry_has(e, IMPL_KEY_VUID))
		snprintf(rep->vuid, sizeof(rep->vuid), "COMCH-%s-%s", e->device, e->func);
	if (!impl_entry_has(e, IMPL_KEY_HOST_INDEX))
		rep->host_index = DEFAULT_HOST_INDEX;
	/* As Linux counts interfaces, from 1. */
	if (!impl_entry_has(e, IMPL_KEY_REP_IFACE_INDEX))
		rep->iface_index = rep->id + 1u;
}

static doca_error_t
check_entry(struct impl_table *table, struct impl_entry *e)
{
	doca_error_t ret;

	if (!impl_entry_has(e, IMPL_KEY_PCI))
		return impl_table_wrong(table, e->line, "[%s %s] needs pci = ADDRESS", kind(e),
			e->label);
	ret = check_unique(table, e);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = check_offloads(table, e);
	if (ret != DOCA_SUCCESS)
		return ret;
	if (e->is_func)
		return check_apart(table, e);
	/* The native driver would create a function by default. */
	return e->info.nb_reps > 0 ? DOCA_SUCCESS : impl_table_wrong(table, e->line,
		"[device %s] has no functions", e->label);
}

doca_error_t
impl_table_check(struct impl_table *table)
{
	uint16_t nb_devs = 0, nb_funcs = 0;
	doca_error_t ret = DOCA_SUCCESS;
	struct impl_entry *e;

	if (table->nb_devs == 0)
		return impl_table_wrong(table, 1, "no [device LABEL] found");
	IMPL_TABLE_FOREACH(e, table)
		if (e->is_func && ret == DOCA_SUCCESS)
			ret = resolve_func(table, e);
	if (ret != DOCA_SUCCESS)
		return ret;
	IMPL_TABLE_FOREACH(e, table)
		if (e->info.type == DOCA_PCI_FUNC_TYPE_SF && !impl_entry_has(e, IMPL_KEY_PCI))
			take_pci_of_pf(table, e);
	/* Devices first, since functions inherit from them. */
	IMPL_TABLE_FOREACH(e, table) {
		if (e->is_func)
			continue;
		fill_info(e, nb_devs, nb_devs);
		nb_devs++;
	}
	IMPL_TABLE_FOREACH(e, table) {
		if (!e->is_func)
			continue;
		fill_info(e, nb_funcs, (uint16_t)(nb_devs + nb_funcs));
		fill_rep(e);
		nb_funcs++;
	}
	IMPL_TABLE_FOREACH(e, table)
		if (ret == DOCA_SUCCESS)
			ret = check_entry(table, e);
	return ret;
}
