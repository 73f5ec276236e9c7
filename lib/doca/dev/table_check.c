/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What needs the whole table: functions find their devices, what was left out
 * gets its default, and what cannot be is refused with the line of its section.
 */

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <rte_string_fns.h>

#include "dev/table.h"

#define DEFAULT_DRIVER "comch_shm"
/** As fast ports go; nothing is limited to it. */
#define DEFAULT_RATE UINT64_C(100000000000)
/** What the native device strings take. */
#define MAX_REPS 256
/** What a card grants a kernel of the DPA: 12 s. */
#define DEFAULT_DPA_MAX_RUN_MS 12000

static const char *
kind(const struct impl_entry *e)
{
	return e->is_func ? "function" : "device";
}

/* An entry has a PCI address of its own: all but an SF have one. */
static bool
owns_pci(const struct impl_entry *e)
{
	return e->info.type != DOCA_PCI_FUNC_TYPE_SF;
}

/* Labels of devices and of functions are apart; host and DPU have each their own PCI bus. */
static doca_error_t
check_unique(struct impl_table *table, const struct impl_entry *e)
{
	const struct impl_entry *o;

	for (o = TAILQ_FIRST(&table->entries); o != e; o = TAILQ_NEXT(o, next)) {
		if (o->is_func != e->is_func)
			continue;
		if (strcmp(o->label, e->label) == 0)
			return impl_table_wrong(table, e->line,
				"[%s %s] is in line %u already", kind(e), e->label, o->line);
		if (owns_pci(o) && owns_pci(e) &&
				rte_pci_addr_cmp(&o->info.pci, &e->info.pci) == 0)
			return impl_table_wrong(table, e->line,
				"[%s %s] has the PCI address of [%s %s]", kind(e), e->label,
				kind(o), o->label);
	}
	return DOCA_SUCCESS;
}

/* "pf0", "pf0vf3", "pf0sf7", and nothing that only looks like it. */
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

/* The device that a function names, or the only one. */
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
		return impl_table_wrong(table, e->line, "[function %s] lacks device = LABEL",
			e->label);
	if (dev == NULL)
		return impl_table_wrong(table, e->line, "[function %s]: there is no [device %s]",
			e->label, e->device);
	if (!impl_entry_has(e, IMPL_KEY_FUNC))
		snprintf(e->func, sizeof(e->func), "%s", e->label);
	if (!parse_func(e->func, &e->info))
		return impl_table_wrong(table, e->line,
			"[function %s]: '%s' is no function: give func = pf0, pf0vf3 or pf0sf7",
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

/* An SF is found through its PF. */
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

/* Two functions of the host must not be one for the driver. */
static doca_error_t
check_apart(struct impl_table *table, const struct impl_entry *e)
{
	const struct impl_entry *o;

	for (o = TAILQ_FIRST(&table->entries); o != e; o = TAILQ_NEXT(o, next)) {
		if (!o->is_func || strcmp(o->func, e->func) != 0)
			continue;
		if (o->rep.owner == e->rep.owner)
			return impl_table_wrong(table, e->line,
				"[function %s] is the function %s of its device, and so is "
				"[function %s]", e->label, e->func, o->label);
		if (strcmp(o->info.driver, e->info.driver) == 0 &&
				strcmp(o->info.args, e->info.args) == 0)
			return impl_table_wrong(table, e->line,
				"[function %s] and [function %s] are %s of two devices, and the "
				"driver could not tell them apart: give one device other args, "
				"say, args = dir=/run/comch-%s", o->label, e->label, e->func,
				e->device);
	}
	return DOCA_SUCCESS;
}

/* Local by its second bit; unique for an address, and for an SF of it. */
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

/* Link-local, of the MAC address: RFC 4291, appendix A. */
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

/* As Linux names interfaces by their place. */
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

/* The DPA, which a function has of its device. */
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
}

/* rep.owner is an info; the label is its entry's. */
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
}

static doca_error_t
check_entry(struct impl_table *table, struct impl_entry *e)
{
	doca_error_t ret;

	if (!impl_entry_has(e, IMPL_KEY_PCI))
		return impl_table_wrong(table, e->line, "[%s %s] lacks pci = ADDRESS", kind(e),
			e->label);
	ret = check_unique(table, e);
	if (ret != DOCA_SUCCESS)
		return ret;
	if (e->is_func)
		return check_apart(table, e);
	/* Without one, the native driver would make one up. */
	return e->info.nb_reps > 0 ? DOCA_SUCCESS : impl_table_wrong(table, e->line,
		"[device %s] has no function", e->label);
}

doca_error_t
impl_table_check(struct impl_table *table)
{
	uint16_t nb_devs = 0, nb_funcs = 0;
	doca_error_t ret = DOCA_SUCCESS;
	struct impl_entry *e;

	if (table->nb_devs == 0)
		return impl_table_wrong(table, 1, "there is no [device LABEL]");
	IMPL_TABLE_FOREACH(e, table)
		if (e->is_func && ret == DOCA_SUCCESS)
			ret = resolve_func(table, e);
	if (ret != DOCA_SUCCESS)
		return ret;
	IMPL_TABLE_FOREACH(e, table)
		if (e->info.type == DOCA_PCI_FUNC_TYPE_SF && !impl_entry_has(e, IMPL_KEY_PCI))
			take_pci_of_pf(table, e);
	/* Functions inherit: devices first. */
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
