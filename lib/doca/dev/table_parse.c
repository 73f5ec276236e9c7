/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Keys of a section: their names, fields and values.
 */

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_string_fns.h>

#include "dev/table.h"

#define LIMIT "limit."
#define FAULT "fault."

bool
impl_pci_parse(const char *text, struct rte_pci_addr *pci)
{
	static const char shape[] = "xxxx:xx:xx.x";
	const char *want = shape;
	size_t i, len = strlen(text);

	/* EAL's parser accepts numbers of any length, so check it first. */
	if (len == DOCA_DEVINFO_PCI_BDF_SIZE - 1)
		want += strlen("xxxx:");
	else if (len != DOCA_DEVINFO_PCI_ADDR_SIZE - 1)
		return false;
	for (i = 0; i < len; i++)
		if (want[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != want[i])
			return false;
	return rte_pci_addr_parse(text, pci) == 0 && pci->devid < 32 && pci->function < 8;
}

/* Parsers of a value. They return NULL, or what was expected. */

static const char *
parse_pci(const char *value, void *dst, size_t size)
{
	RTE_SET_USED(size);
	return impl_pci_parse(value, dst) ? NULL : "a PCI address such as 0000:03:00.0";
}

static const char *
parse_text(const char *value, void *dst, size_t size)
{
	if (value[0] == '\0')
		return "a text";
	return rte_strscpy(dst, value, size) < 0 ? "a shorter text" : NULL;
}

/* May be empty: no arguments. */
static const char *
parse_args(const char *value, void *dst, size_t size)
{
	return rte_strscpy(dst, value, size) < 0 ? "a shorter text" : NULL;
}

static const char *
parse_mac(const char *value, void *dst, size_t size)
{
	struct rte_ether_addr mac;

	if (rte_ether_unformat_addr(value, &mac) != 0)
		return "a MAC address such as 02:00:00:00:00:01";
	memcpy(dst, mac.addr_bytes, size);
	return NULL;
}

static const char *
parse_ipv4(const char *value, void *dst, size_t size)
{
	RTE_SET_USED(size);
	return inet_pton(AF_INET, value, dst) == 1 ? NULL :
		"an IPv4 address such as 192.168.100.2";
}

static const char *
parse_ipv6(const char *value, void *dst, size_t size)
{
	RTE_SET_USED(size);
	return inet_pton(AF_INET6, value, dst) == 1 ? NULL :
		"an IPv6 address such as fe80::1";
}

/* Parse a number up to max. Returns the rest of the text; NULL: not a number. */
static const char *
parse_number(const char *text, unsigned long max, unsigned long *number)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return NULL;
	errno = 0;
	*number = strtoul(text, &end, 10);
	return errno != 0 || *number > max ? NULL : end;
}

bool
impl_table_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	unsigned long value;

	text = parse_number(text, max, &value);
	if (text == NULL || text[0] != '\0' || value < min)
		return false;
	*number = value;
	return true;
}

static const char *
parse_rate(const char *value, void *dst, size_t size)
{
	RTE_SET_USED(size);
	return impl_table_number(value, 0, UINT64_MAX, dst) ? NULL :
		"a number, in bits per second";
}

static const char *
parse_u32(const char *value, void *dst, const char *expected)
{
	uint64_t number;

	if (!impl_table_number(value, 0, UINT32_MAX, &number))
		return expected;
	*(uint32_t *)dst = (uint32_t)number;
	return NULL;
}

/* May be empty: any CPU. */
static const char *
parse_cpus(const char *value, void *dst, size_t size)
{
	static const char want[] = "a list of CPUs such as 2-5,7, each below 1024";
	unsigned long first, last;
	cpu_set_t *set = dst;

	RTE_SET_USED(size);
	CPU_ZERO(set);
	while (value[0] != '\0') {
		value = parse_number(value, CPU_SETSIZE - 1, &first);
		if (value == NULL)
			return want;
		last = first;
		if (value[0] == '-')
			value = parse_number(value + 1, CPU_SETSIZE - 1, &last);
		if (value == NULL || last < first || (value[0] != '\0' && value[0] != ','))
			return want;
		for (; first <= last; first++)
			CPU_SET(first, set);
		if (value[0] == ',' && *++value == '\0')
			return want;
	}
	return NULL;
}

static const char *
parse_ms(const char *value, void *dst, size_t size)
{
	RTE_SET_USED(size);
	return parse_u32(value, dst, "a number, in milliseconds");
}

static const char *
parse_index(const char *value, void *dst, size_t size)
{
	RTE_SET_USED(size);
	return parse_u32(value, dst, "a number below 4294967296");
}

static const char *
parse_progress(const char *value, void *dst, size_t size)
{
	RTE_SET_USED(size);
	if (strcmp(value, "single") != 0 && strcmp(value, "burst") != 0)
		return "single or burst";
	*(bool *)dst = value[0] == 's';
	return NULL;
}

/* May be empty: not lenient. */
static const char *
parse_lenient(const char *value, void *dst, size_t size)
{
	RTE_SET_USED(size);
	if (value[0] != '\0' && strcmp(value, "freed_tasks") != 0)
		return "freed_tasks, or nothing";
	*(bool *)dst = value[0] != '\0';
	return NULL;
}

static const char *
parse_bool(const char *value, void *dst, size_t size)
{
	RTE_SET_USED(size);
	if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
		return "0 or 1";
	*(bool *)dst = value[0] == '1';
	return NULL;
}

/* Commas and equal signs separate the arguments in device strings. */
static const char *
parse_name(const char *value, void *dst, size_t size)
{
	if (value[0] == '\0' || strpbrk(value, ",= \t[]") != NULL)
		return "a single word";
	return parse_text(value, dst, size);
}

/* Of a device of EAL. May be empty: none. */
static const char *
parse_eal_name(const char *value, void *dst, size_t size)
{
	return value[0] == '\0' ? parse_args(value, dst, size) : parse_name(value, dst, size);
}

static const char *
parse_bytes(const char *value, void *dst, size_t size)
{
	RTE_SET_USED(size);
	return parse_u32(value, dst, "a number below 4294967296, in bytes");
}

static const char *
parse_workers(const char *value, void *dst, size_t size)
{
	uint64_t number;

	RTE_SET_USED(size);
	if (!impl_table_number(value, 0, IMPL_MAX_WORKERS, &number))
		return "a number up to 64, of threads";
	*(uint32_t *)dst = (uint32_t)number;
	return NULL;
}

static const struct {
	const char *name;
	bool func_only;
	const char *(*parse)(const char *value, void *dst, size_t size);
	size_t offset;
	size_t size;
} keys[] = {
#define FIELD(member) offsetof(struct impl_entry, member), \
		sizeof(((struct impl_entry *)NULL)->member)
	[IMPL_KEY_PCI] = { "pci", false, parse_pci, FIELD(info.pci) },
	[IMPL_KEY_IBDEV] = { "ibdev", false, parse_text, FIELD(info.ibdev) },
	[IMPL_KEY_IFACE] = { "iface", false, parse_text, FIELD(info.iface) },
	[IMPL_KEY_MAC] = { "mac", false, parse_mac, FIELD(info.mac) },
	[IMPL_KEY_IPV4] = { "ipv4", false, parse_ipv4, FIELD(info.ipv4) },
	[IMPL_KEY_IPV6] = { "ipv6", false, parse_ipv6, FIELD(info.ipv6) },
	[IMPL_KEY_ACTIVE_RATE] = { "active_rate", false, parse_rate, FIELD(info.active_rate) },
	[IMPL_KEY_DRIVER] = { "driver", false, parse_name, FIELD(info.driver) },
	[IMPL_KEY_ARGS] = { "args", false, parse_args, FIELD(info.args) },
	[IMPL_KEY_DPA_CPUS] = { "dpa_cpus", false, parse_cpus, FIELD(info.dpa_cpus) },
	[IMPL_KEY_DPA_MAX_RUN_MS] = { "dpa_max_run_ms", false, parse_ms,
		FIELD(info.dpa_max_run_ms) },
	[IMPL_KEY_PROGRESS] = { "progress", false, parse_progress,
		FIELD(info.manners.single_progress) },
	[IMPL_KEY_LENIENT] = { "lenient", false, parse_lenient,
		FIELD(info.manners.keeps_freed_tasks) },
	[IMPL_KEY_AGAIN_AFTER_SEND] = { "again_after_send", false, parse_bool,
		FIELD(info.manners.again_after_send) },
	[IMPL_KEY_PROFILE] = { "profile", false, impl_limits_parse_profile, FIELD(profile) },
#define OFFLOAD(key, word, kind) \
	[key] = { word, false, parse_eal_name, FIELD(info.manners.offload[kind].name) }, \
	[key##_MIN] = { word "_min", false, parse_bytes, FIELD(info.manners.offload[kind].min) }
	OFFLOAD(IMPL_KEY_DMA, "dma", IMPL_OFFLOAD_DMA),
	OFFLOAD(IMPL_KEY_CRYPTO, "crypto", IMPL_OFFLOAD_CRYPTO),
	OFFLOAD(IMPL_KEY_COMPRESS, "compress", IMPL_OFFLOAD_COMPRESS),
#undef OFFLOAD
	[IMPL_KEY_WORKERS] = { "workers", false, parse_workers, FIELD(info.manners.workers) },
	[IMPL_KEY_DEVICE] = { "device", true, parse_text, FIELD(device) },
	[IMPL_KEY_FUNC] = { "func", true, parse_name, FIELD(func) },
	[IMPL_KEY_ADDRESS] = { "address", true, parse_name, FIELD(address) },
	[IMPL_KEY_REP_IFACE] = { "rep_iface", true, parse_text, FIELD(rep.iface) },
	[IMPL_KEY_VUID] = { "vuid", true, parse_text, FIELD(rep.vuid) },
	[IMPL_KEY_HOST_INDEX] = { "host_index", true, parse_index, FIELD(rep.host_index) },
	[IMPL_KEY_REP_IFACE_INDEX] = { "rep_iface_index", true, parse_index,
		FIELD(rep.iface_index) },
#undef FIELD
};

static doca_error_t
unknown_key(struct impl_table *table, const struct impl_entry *entry, unsigned int line,
		const char *name)
{
	char valid[IMPL_WHY_SIZE] = "";
	unsigned int i;

	for (i = 0; i < RTE_DIM(keys); i++) {
		if (keys[i].func_only && !entry->is_func)
			continue;
		strlcat(valid, keys[i].name, sizeof(valid));
		strlcat(valid, ", ", sizeof(valid));
	}
	return impl_table_wrong(table, line, "unknown key '%s' of a %s; known keys: %s" LIMIT
		"NAME, " FAULT "NAME", name,
		entry->is_func ? "function" : "device", valid);
}

doca_error_t
impl_table_set(struct impl_table *table, struct impl_entry *entry, unsigned int line,
		const char *key, const char *value)
{
	const char *want;
	unsigned int i;

	if (strncmp(key, LIMIT, strlen(LIMIT)) == 0)
		return impl_limits_set(table, entry, line, key + strlen(LIMIT), value);
	if (strncmp(key, FAULT, strlen(FAULT)) == 0)
		return impl_faults_set(table, entry, line, key + strlen(FAULT), value);
	for (i = 0; i < RTE_DIM(keys); i++)
		if (strcmp(key, keys[i].name) == 0 && (entry->is_func || !keys[i].func_only))
			break;
	if (i == RTE_DIM(keys))
		return unknown_key(table, entry, line, key);
	if (impl_entry_has(entry, i))
		return impl_table_wrong(table, line, "%s is given twice", key);
	want = keys[i].parse(value, (char *)entry + keys[i].offset, keys[i].size);
	if (want != NULL)
		return impl_table_wrong(table, line, "%s = %s: expected %s", key, value, want);
	entry->given |= UINT32_C(1) << i;
	return DOCA_SUCCESS;
}
