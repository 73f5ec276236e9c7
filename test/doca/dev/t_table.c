/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The device table: what a file may say, what is filled in, what is refused
 * and how, and which file counts. The program names both roles' objects.
 */

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <comch_doca.h>
#include <doca_dev.h>

#include "common/capture.h"
#include "common/result.h"
#include "dev/dev.h"
#include "dev/table.h"
#include "t_main.h"

#define DEV "[device d]\npci = 03:00.0\n"
#define PF0 "[function pf0]\npci = b1:00.0\n"

static const struct {
	const char *text;
	const char *why;
} wrongs[] = {
	{ "", "t:1: no [device LABEL] found" },
	{ "; nothing\n", "t:1: no [device LABEL] found" },
	{ "pci = 03:00.0\n", "t:1: pci: key before the first section" },
	{ DEV PF0 "[port p]\npci = 1:2\n", "t:5: [port p]: expected [device LABEL] or" },
	{ DEV PF0 "[device]\npci = 1:2\n", "t:5: [device]: expected [device LABEL] or" },
	{ DEV PF0 "[device  ]\npci = 1:2\n", "t:5: [device  ]: expected a label of 1 to 39 bytes" },
	{ "[device d234567890123456789012345678901234567890]\npci = 03:00.0\n",
		"t:1: [device d234567890123456789012345678901234567890]: expected a label" },
	{ DEV "[function pf0]\n" DEV, "t:3: section has no keys" },
	{ DEV PF0 "[function pf1]\n", "t:5: section has no keys" },
	{ DEV PF0 "what is this\n", "t:5: expected [SECTION], KEY = VALUE or a comment" },
	{ DEV PF0 "[function pf1\npci = b1:00.1\n", "t:5: expected [SECTION], KEY" },
	{ DEV PF0 "colour = red\n", "t:5: unknown key 'colour' of a function; known keys: pci, " },
	{ DEV "vuid = x\n" PF0, "t:3: unknown key 'vuid' of a device; known keys: pci, ibdev" },
	{ DEV "address = 10.0.0.2\n" PF0, "t:3: unknown key 'address' of a device" },
	{ DEV PF0 "address = 10.0.0.2,10.0.0.3\n", "t:5: address = 10.0.0.2,10.0.0.3: expected a" },
	{ DEV "\n  pci = 03:00.1\n" PF0, "t:4: pci is given twice" },
	{ "[device d]\npci = 03:00\n", "t:2: pci = 03:00: expected a PCI address such as" },
	{ "[device d]\npci = 03:00.8\n", "t:2: pci = 03:00.8: expected a PCI address" },
	{ "[device d]\npci = 03:20.0\n", "t:2: pci = 03:20.0: expected a PCI address" },
	{ "[device d]\npci = 0003:0:00.0\n", "expected a PCI address" },
	{ "[device d]\npci = 000g:03:00.0\n", "expected a PCI address" },
	{ DEV "mac = 02:00:00:00:00\n", "t:3: mac = 02:00:00:00:00: expected a MAC address" },
	{ DEV "ipv4 = 1.2.3.400\n", "t:3: ipv4 = 1.2.3.400: expected an IPv4 address" },
	{ DEV "ipv6 = fe80::x\n", "t:3: ipv6 = fe80::x: expected an IPv6 address" },
	{ DEV "active_rate = fast\n", "t:3: active_rate = fast: expected a number" },
	{ DEV "active_rate = -1\n", "t:3: active_rate = -1: expected a number" },
	{ DEV "active_rate = 99999999999999999999999\n", "expected a number" },
	{ DEV "driver = a,b\n", "t:3: driver = a,b: expected a single word" },
	{ DEV "iface =\n", "t:3: iface = : expected a text" },
	{ DEV "iface = i234567890123456789012345678901234567890\n", "expected a shorter text" },
	{ DEV "dpa_cpus = x\n", "t:3: dpa_cpus = x: expected a list of CPUs such as 2-5,7" },
	{ DEV "dpa_cpus = 3-\n", "t:3: dpa_cpus = 3-: expected a list of CPUs" },
	{ DEV "dpa_cpus = 5-3\n", "t:3: dpa_cpus = 5-3: expected a list of CPUs" },
	{ DEV "dpa_cpus = 1,\n", "t:3: dpa_cpus = 1,: expected a list of CPUs" },
	{ DEV "dpa_cpus = ,1\n", "t:3: dpa_cpus = ,1: expected a list of CPUs" },
	{ DEV "dpa_cpus = 1 2\n", "t:3: dpa_cpus = 1 2: expected a list of CPUs" },
	{ DEV "dpa_cpus = 1-2-3\n", "t:3: dpa_cpus = 1-2-3: expected a list of CPUs" },
	{ DEV "dpa_cpus = -1\n", "t:3: dpa_cpus = -1: expected a list of CPUs" },
	{ DEV "dpa_cpus = 1024\n", "t:3: dpa_cpus = 1024: expected a list of CPUs" },
	{ DEV "dpa_max_run_ms = -1\n", "t:3: dpa_max_run_ms = -1: expected a number, in millisec" },
	{ DEV "dpa_max_run_ms =\n", "t:3: dpa_max_run_ms = : expected a number, in milliseconds" },
	{ DEV "dpa_max_run_ms = 1s\n", "t:3: dpa_max_run_ms = 1s: expected a number" },
	{ DEV "dpa_max_run_ms = 4294967296\n", "t:3: dpa_max_run_ms = 4294967296: expected" },
	{ DEV "dma = a b\n", "t:3: dma = a b: expected a single word" },
	{ DEV "dma_min = -1\n", "t:3: dma_min = -1: expected a number below 4294967296, in bytes" },
	{ DEV "dma_min = 1\n" PF0, "t:1: [device d]: dma_min needs dma = NAME, a DMA device" },
	{ DEV "dma = x\n" PF0 "dma =\ndma_min = 1\n", "[function pf0]: dma_min needs dma = NAME" },
	{ DEV "crypto_min = 1\n" PF0, "crypto_min needs crypto = NAME, a crypto device" },
	{ DEV "compress_min = 1\n" PF0, "compress_min needs compress = NAME, a compression dev" },
	{ DEV "crypto = a b\n", "t:3: crypto = a b: expected a single word" },
	{ DEV "workers = 65\n", "t:3: workers = 65: expected a number up to 64, of threads" },
	{ DEV "workers = -1\n", "t:3: workers = -1: expected a number up to 64" },
	{ DEV "progress = 1\n", "t:3: progress = 1: expected single or burst" },
	{ DEV "lenient = all\n", "t:3: lenient = all: expected freed_tasks, or nothing" },
	{ DEV "again_after_send = yes\n", "t:3: again_after_send = yes: expected 0 or 1" },
	{ DEV "limit.colour = 1\n", "t:3: unknown limit 'colour'; known limits: max_msg_size, " },
	{ DEV "limit.max_msg_size = 4081\n", "t:3: limit.max_msg_size = 4081: expected a number "
		"from 1 to 4080, which is the channel's own limit" },
	{ DEV "limit.max_clients = 0\n", "t:3: limit.max_clients = 0: expected a number from 1" },
	{ DEV "limit.max_clients = 1\nlimit.max_clients = 1\n", "t:4: limit.max_clients is given" },
	{ DEV "profile = bf1\n", "t:3: profile = bf1: expected one of bf2, bf3" },
	{ DEV "fault.fire = 1\n", "t:3: unknown fault 'fire'; known faults: again, error, late, " },
	{ DEV "fault.again = 0\n", "t:3: fault.again = 0: expected N (the Nth), N-M, N- (from" },
	{ DEV "fault.again = 3-2\n", "t:3: fault.again = 3-2: expected N (the Nth)" },
	{ DEV "fault.again = 1/0\n", "t:3: fault.again = 1/0: expected N (the Nth)" },
	{ DEV "fault.again = 2/3\n", "t:3: fault.again = 2/3: expected N (the Nth)" },
	{ DEV "fault.again = -3\n", "t:3: fault.again = -3: expected N (the Nth)" },
	{ DEV "fault.again = 1-2-3\n", "t:3: fault.again = 1-2-3: expected N (the Nth)" },
	{ DEV "fault.again = 1\nfault.again = 1\n", "t:4: fault.again is given twice" },
	{ DEV "fault.slow_ms = 60001\n", "fault.slow_ms = 60001: expected a number up to 60000" },
	{ DEV PF0 "host_index = -1\n", "t:5: host_index = -1: expected a number below" },
	{ DEV PF0 "rep_iface_index = 4294967296\n", "rep_iface_index = 4294967296: expected" },
	{ DEV PF0 "device = e\n", "t:3: [function pf0]: unknown [device e]" },
	{ DEV "[device e]\npci = 04:00.0\n" PF0, "t:5: [function pf0] needs device = LABEL" },
	{ DEV "[function x]\npci = b1:00.0\n", "t:3: [function x]: invalid function 'x'" },
	{ DEV "[function pf0vf]\npci = b1:00.0\n", "invalid function 'pf0vf'" },
	{ DEV "[function pf00]\npci = b1:00.0\n", "invalid function 'pf00'" },
	{ DEV "[function pf0vf70000]\npci = b1:00.0\n", "invalid function 'pf0vf70000'" },
	{ DEV "[function a]\nfunc = pf0xf1\npci = b1:00.0\n", "invalid function 'pf0xf1'" },
	{ DEV, "t:1: [device d] has no function" },
	{ "[device d]\nibdev = x\n" PF0, "t:1: [device d] needs pci = ADDRESS" },
	{ DEV "[function pf0]\niface = x\n", "t:3: [function pf0] needs pci = ADDRESS" },
	{ DEV "[function pf0sf0]\niface = x\n", "t:3: [function pf0sf0] needs pci" },
	{ DEV PF0 PF0, "t:5: [function pf0] is also defined in line 3" },
	{ DEV DEV PF0 "device = d\n", "t:3: [device d] is also defined in line 1" },
	{ DEV PF0 "[function pf1]\npci = 0000:B1:00.0\n",
		"t:5: [function pf1] has the PCI address of [function pf0]" },
	{ DEV PF0 "[function b]\nfunc = pf0\npci = b1:00.1\n",
		"t:5: [function b] is function pf0 of its device, as is [function pf0]" },
	{ DEV "[device e]\npci = 04:00.0\n" PF0 "device = d\n"
		"[function b]\nfunc = pf0\npci = b2:00.0\ndevice = e\n",
		"t:8: [function pf0] and [function b] are pf0 of two devices" },
};

T_CASE(each_mistake_has_its_line)
{
	struct impl_table t;
	unsigned int i;

	for (i = 0; i < RTE_DIM(wrongs); i++) {
		memset(&t, 0, sizeof(t));
		if (impl_table_read_text(&t, "t", wrongs[i].text) == DOCA_SUCCESS)
			T_FAIL("taken: %s", wrongs[i].text);
		T_STR_HAS(t.why, wrongs[i].why);
		impl_table_free(&t);
	}
}

T_CASE(a_long_line_is_refused)
{
	char text[512] = DEV "args = ";
	struct impl_table t = { .nb_devs = 0 };

	memset(text + strlen(text), 'x', 300);
	T_IS(impl_table_read_text(&t, "t", text), DOCA_ERROR_BAD_CONFIG);
	T_STR_HAS(t.why, "t:3: line is longer than 198 bytes");
	impl_table_free(&t);
}

/* The limit of the representors of a native device: the function beyond it is named. */
T_CASE(a_device_has_256_functions)
{
	char text[16384] = DEV;
	struct impl_table t = { .nb_devs = 0 };
	size_t len = strlen(text);
	unsigned int i;

	for (i = 0; i <= 256; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len,
			"[function pf0vf%u]\npci = b%u:%02x.%u\n", i, i / 256, i / 8 % 32, i % 8);
		T_CHECK(len < sizeof(text));
		if (i < 255)
			continue;
		T_EQ(impl_table_read_text(&t, "t", text),
			i == 255 ? DOCA_SUCCESS : DOCA_ERROR_BAD_CONFIG);
		if (i == 256)
			T_STR_HAS(t.why, "[function pf0vf256]: [device d] has 256 functions");
		else
			T_EQ(t.nb_funcs, 256);
		impl_table_free(&t);
	}
}

static const struct impl_entry *
entry(const struct impl_table *t, const char *label)
{
	const struct impl_entry *e;

	IMPL_TABLE_FOREACH(e, t)
		if (strcmp(e->label, label) == 0)
			return e;
	T_FAIL("no entry %s", label);
}

T_CASE(what_is_left_out_is_filled_in)
{
	/* A byte order mark, indented lines, ends of lines of another system. */
	static const char text[] = "\xef\xbb\xbf[function pf0sf7]\r\n  device = d\r\n"
		DEV "args = dir=/x\nactive_rate = 25\n"
		"[function pf0]\npci = 0001:b1:00.0 ; the PF\n"
		"[function v]\nfunc = pf0vf12\npci = 0001:b1:01.2\nargs =\nvuid = V\n"
		"address = 10.0.0.2+10.0.0.3\n"
		"rep_iface = r\n";
	static const uint8_t mac[] = { 0x02, 0xb1, 0xb1, 0x0a, 0, 0 };
	static const uint8_t sf_mac[] = { 0x02, 0xb1, 0xb1, 0x00, 0, 8 };
	static const uint8_t ipv6[] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0,
		0x00, 0xb1, 0xb1, 0xff, 0xfe, 0x0a, 0, 0 };
	const struct impl_entry *d, *sf, *pf, *vf;
	struct impl_table t = { .nb_devs = 0 };

	if (impl_table_read_text(&t, "t", text) != DOCA_SUCCESS)
		T_FAIL("%s", t.why);
	T_EQ(t.nb_devs, 1);
	T_EQ(t.nb_funcs, 3);
	d = entry(&t, "d");
	sf = entry(&t, "pf0sf7");
	pf = entry(&t, "pf0");
	vf = entry(&t, "v");
	T_STR_EQ(d->info.ibdev, "mlx5_0");
	T_STR_EQ(d->info.iface, "p0");
	T_STR_EQ(d->info.driver, "comch_shm");
	T_EQ(d->info.active_rate, 25);
	T_EQ(pf->info.active_rate, 100000000000);
	T_CHECK(!d->info.has_ipv4);
	/* What an SF has of its PF; what functions have of their device. */
	T_EQ(rte_pci_addr_cmp(&sf->info.pci, &pf->info.pci), 0);
	T_STR_EQ(pf->info.args, "dir=/x");
	T_STR_EQ(vf->info.args, "");
	T_STR_EQ(vf->info.driver, "comch_shm");
	/* In the order of the file. */
	T_EQ(sf->rep.id, 0);
	T_EQ(vf->rep.id, 2);
	T_EQ(vf->info.number, 2);
	T_EQ(vf->info.vhca_id, 3);
	T_STR_EQ(vf->info.ibdev, "mlx5_2");
	T_STR_EQ(vf->info.iface, "enp177s1f2");
	T_STR_EQ(sf->info.iface, "enp177s0f0s7");
	T_STR_EQ(pf->rep.iface, "pf0hpf");
	T_STR_EQ(sf->rep.iface, "pf0sf7");
	T_STR_EQ(vf->rep.iface, "r");
	T_STR_EQ(pf->rep.vuid, "COMCH-d-pf0");
	T_STR_EQ(vf->rep.vuid, "V");
	T_STR_EQ(pf->address, "");
	T_STR_EQ(vf->address, "10.0.0.2+10.0.0.3");
	T_EQ(vf->info.type, DOCA_PCI_FUNC_TYPE_VF);
	T_EQ(vf->info.index, 12);
	T_EQ(memcmp(vf->info.mac, mac, sizeof(mac)), 0);
	T_EQ(memcmp(sf->info.mac, sf_mac, sizeof(sf_mac)), 0);
	T_EQ(memcmp(vf->info.ipv6, ipv6, sizeof(ipv6)), 0);
	impl_table_free(&t);
}

T_CASE(the_dpa_is_of_the_device)
{
	static const char text[] = DEV "dpa_cpus = 2-4,7\ndpa_max_run_ms = 4294967295\n"
		PF0 "[function pf1]\npci = b1:00.1\ndpa_cpus =\ndpa_max_run_ms = 0\n";
	struct impl_table t = { .nb_devs = 0 };
	const struct impl_entry *e;

	if (impl_table_read_text(&t, "t", text) != DOCA_SUCCESS)
		T_FAIL("%s", t.why);
	e = entry(&t, "pf0");
	T_EQ(CPU_COUNT(&e->info.dpa_cpus), 4);
	T_CHECK(CPU_ISSET(2, &e->info.dpa_cpus) && CPU_ISSET(7, &e->info.dpa_cpus));
	T_EQ(e->info.dpa_max_run_ms, UINT32_MAX);
	T_EQ(impl_dev_dpa_max_run_ms(&e->info.dev), UINT32_MAX);
	T_CHECK(impl_dev_dpa_cpus(&e->info.dev) == &e->info.dpa_cpus);
	e = entry(&t, "pf1");
	T_EQ(CPU_COUNT(&e->info.dpa_cpus), 0);
	T_EQ(e->info.dpa_max_run_ms, 0);
	impl_table_free(&t);
	if (impl_table_read_text(&t, "t", DEV PF0) != DOCA_SUCCESS)
		T_FAIL("%s", t.why);
	e = entry(&t, "pf0");
	T_EQ(CPU_COUNT(&e->info.dpa_cpus), 0);
	T_EQ(e->info.dpa_max_run_ms, 12000);
	impl_table_free(&t);
}

T_CASE(manners_are_of_the_device)
{
	static const char text[] = DEV "progress = single\nlenient = freed_tasks\nworkers = 64\n"
		"again_after_send = 1\n" PF0 "[function pf1]\npci = b1:00.1\n"
		"progress = burst\nlenient =\nagain_after_send = 0\nworkers = 1\n"
		"host_index = 3\nrep_iface_index = 12\n";
	const struct impl_manners *m;
	struct impl_table t = { .nb_devs = 0 };

	if (impl_table_read_text(&t, "t", text) != DOCA_SUCCESS)
		T_FAIL("%s", t.why);
	m = impl_dev_manners(&entry(&t, "pf0")->info.dev);
	T_CHECK(m->single_progress && m->keeps_freed_tasks && m->again_after_send);
	T_EQ(m->workers, 64);
	T_EQ(entry(&t, "pf0")->rep.host_index, 1);
	T_EQ(entry(&t, "pf0")->rep.iface_index, 1);
	m = impl_dev_manners(&entry(&t, "pf1")->info.dev);
	T_CHECK(!m->single_progress && !m->keeps_freed_tasks && !m->again_after_send);
	T_EQ(m->workers, 1);
	T_EQ(entry(&t, "pf1")->rep.host_index, 3);
	T_EQ(entry(&t, "pf1")->rep.iface_index, 12);
	impl_table_free(&t);
	if (impl_table_read_text(&t, "t", DEV PF0) != DOCA_SUCCESS)
		T_FAIL("%s", t.why);
	m = impl_dev_manners(&entry(&t, "pf0")->info.dev);
	T_CHECK(!m->single_progress && !m->keeps_freed_tasks && !m->again_after_send);
	impl_table_free(&t);
}

/* What a table says of a function, and one kind of device of EAL. */
static void
offload_is(const struct impl_table *t, const char *label, enum impl_offload_kind kind,
		const char *name, uint32_t min)
{
	const struct impl_manners *m = impl_dev_manners(&entry(t, label)->info.dev);

	T_STR_EQ(m->offload[kind].name, name);
	T_EQ(m->offload[kind].min, min);
}

T_CASE(devices_of_eal_are_of_the_device)
{
	static const char text[] = DEV "dma = wq0.0\ndma_min = 5\ncrypto = c0\n" PF0
		"[function pf1]\npci = b1:00.1\ndma =\ncompress = z1\ncompress_min = 7\n"
		"[function pf2]\npci = b1:00.2\ndma = wq0.1\ndma_min = 0\ncrypto_min = 3\n";
	struct impl_table t = { .nb_devs = 0 };

	if (impl_table_read_text(&t, "t", text) != DOCA_SUCCESS)
		T_FAIL("%s", t.why);
	offload_is(&t, "pf0", IMPL_OFFLOAD_DMA, "wq0.0", 5);
	offload_is(&t, "pf0", IMPL_OFFLOAD_CRYPTO, "c0", 16384);
	offload_is(&t, "pf0", IMPL_OFFLOAD_COMPRESS, "", 4096);
	offload_is(&t, "pf1", IMPL_OFFLOAD_DMA, "", 5);
	offload_is(&t, "pf1", IMPL_OFFLOAD_COMPRESS, "z1", 7);
	offload_is(&t, "pf2", IMPL_OFFLOAD_DMA, "wq0.1", 0);
	offload_is(&t, "pf2", IMPL_OFFLOAD_CRYPTO, "c0", 3);
	impl_table_free(&t);
	if (impl_table_read_text(&t, "t", DEV PF0) != DOCA_SUCCESS)
		T_FAIL("%s", t.why);
	offload_is(&t, "pf0", IMPL_OFFLOAD_DMA, "", 65536);
	impl_table_free(&t);
}

T_CASE(limits_are_of_the_device)
{
	static const char text[] = DEV "limit.max_msg_size = 1000\nlimit.max_clients = 3\n" PF0
		"[function pf1]\npci = b1:00.1\nlimit.max_clients = 5\nprofile = bf2\n";
	struct impl_table t = { .nb_devs = 0 };
	const struct impl_limits *l;

	if (impl_table_read_text(&t, "t", text) != DOCA_SUCCESS)
		T_FAIL("%s", t.why);
	l = &entry(&t, "pf0")->info.manners.limits;
	T_EQ(l->max_msg_size, 1000);
	T_EQ(l->max_clients, 3);
	T_EQ(l->max_buf_size, IMPL_MAX_BUF_SIZE);
	/* Its own key, its own profile, its device. */
	l = &entry(&t, "pf1")->info.manners.limits;
	T_EQ(l->max_clients, 5);
	T_EQ(l->max_msg_size, 4080);
	impl_table_free(&t);
}

static unsigned int
nb_hits(const char *keys, uint64_t *bits)
{
	struct impl_table t = { .nb_devs = 0 };
	struct impl_faults *faults;
	unsigned int i, n = 0;
	char text[256];

	snprintf(text, sizeof(text), DEV "%s" PF0, keys);
	if (impl_table_read_text(&t, "t", text) != DOCA_SUCCESS)
		T_FAIL("%s", t.why);
	/* Faults are of one side. */
	T_CHECK(entry(&t, "pf0")->info.manners.faults == NULL);
	faults = entry(&t, "d")->info.manners.faults;
	T_CHECK(faults != NULL);
	for (*bits = 0, i = 0; i < 64; i++) {
		if (!impl_fault_hits(faults, IMPL_FAULT_AGAIN, "submit"))
			continue;
		*bits |= UINT64_C(1) << i;
		n++;
	}
	impl_table_free(&t);
	return n;
}

T_CASE(when_faults_come)
{
	uint64_t bits, same, other;
	unsigned int n;

	T_EQ(nb_hits("fault.again = 5\n", &bits), 1);
	T_EQ(bits, UINT64_C(1) << 4);
	T_EQ(nb_hits("fault.again = 5-7\n", &bits), 3);
	T_EQ(bits, UINT64_C(7) << 4);
	T_EQ(nb_hits("fault.again = 60-\n", &bits), 5);
	T_EQ(nb_hits("fault.late = 1\n", &bits), 0);
	n = nb_hits("fault.again = 1/4\nfault.seed = 7\n", &bits);
	T_CHECK(n > 4 && n < 32);
	/* As often, and at the same places, with the same seed alone. */
	T_EQ(nb_hits("fault.again = 1/4\nfault.seed = 7\n", &same), n);
	T_EQ(same, bits);
	nb_hits("fault.again = 1/4\nfault.seed = 8\n", &other);
	T_CHECK(other != bits);
}

T_CASE(the_built_in_one_is_right)
{
	struct impl_table t = { .nb_devs = 0 };

	if (impl_table_read_text(&t, "t", comch_doca_default_devices()) != DOCA_SUCCESS)
		T_FAIL("%s", t.why);
	T_EQ(t.nb_devs, 1);
	T_EQ(t.nb_funcs, 5);
	T_CHECK(TAILQ_NEXT(entry(&t, "pf0sf0"), next) == NULL);
	impl_table_free(&t);
}

static const char *
write_file(const char *dir, const char *text)
{
	static char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/comch", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/comch/devices.ini", dir);
	f = fopen(path, "w");
	T_CHECK(f != NULL);
	fputs(text, f);
	fclose(f);
	return path;
}

T_CASE(a_file_is_checked)
{
	T_CHECK(comch_doca_devices_fault(write_file(t_dir(), DEV PF0)) == NULL);
	T_STR_HAS(comch_doca_devices_fault(write_file(t_dir(), DEV "fire = 1\n" PF0)),
		"unknown key 'fire'");
	T_STR_HAS(comch_doca_devices_fault("/nowhere"), "/nowhere: read failed");
}

/* Name of the first device of the DPU, as the process sees its table. */
static const char *
first_ibdev(void)
{
	static char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	uint32_t nb;

	setenv("COMCH_ROLE", "dpu", 1);
	T_GETS(doca_devinfo_create_list(&list, &nb), nb, 1);
	T_OK(doca_devinfo_get_ibdev_name(list[0], name, sizeof(name)));
	doca_devinfo_destroy_list(list);
	return name;
}

T_CASE(a_variable_names_the_table)
{
	setenv("XDG_CONFIG_HOME", "/nowhere", 1);
	setenv("COMCH_DEVICES", write_file(t_dir(), DEV "ibdev = given\n" PF0), 1);
	T_STR_EQ(first_ibdev(), "given");
}

T_CASE(the_users_table_counts)
{
	char dir[512];

	unsetenv("COMCH_DEVICES");
	snprintf(dir, sizeof(dir), "%s/.config", t_dir());
	write_file(dir, DEV "ibdev = of_home\n" PF0);
	unsetenv("XDG_CONFIG_HOME");
	setenv("HOME", t_dir(), 1);
	T_STR_EQ(first_ibdev(), "of_home");
}

T_CASE(xdg_goes_before_home)
{
	char dir[512];

	setenv("COMCH_DEVICES", "", 1);
	snprintf(dir, sizeof(dir), "%s/.config", t_dir());
	write_file(dir, DEV "ibdev = of_home\n" PF0);
	setenv("HOME", t_dir(), 1);
	snprintf(dir, sizeof(dir), "%s/xdg", t_dir());
	write_file(dir, DEV "ibdev = of_xdg\n" PF0);
	setenv("XDG_CONFIG_HOME", dir, 1);
	T_STR_EQ(first_ibdev(), "of_xdg");
}

T_CASE(without_a_file_it_is_built_in)
{
	if (access("/etc/comch/devices.ini", F_OK) == 0)
		t_skip("this system has a table");
	unsetenv("COMCH_DEVICES");
	setenv("XDG_CONFIG_HOME", t_dir(), 1);
	T_STR_EQ(first_ibdev(), "mlx5_0");
}

/* Said on stderr, once; and no other table instead. */
static void
refused(const char *why)
{
	struct doca_devinfo **list = NULL;
	uint32_t nb = 77;

	setenv("COMCH_ROLE", "host", 1);
	t_capture_begin();
	T_IS(doca_devinfo_create_list(&list, &nb), DOCA_ERROR_BAD_CONFIG);
	T_STR_HAS(t_capture_end(), why);
	T_CHECK(list == NULL);
	T_EQ(nb, 77);
	t_capture_begin();
	T_IS(doca_devinfo_create_list(&list, &nb), DOCA_ERROR_BAD_CONFIG);
	T_STR_EQ(t_capture_end(), "");
}

T_CASE(an_unreadable_file_is_no_fall_back)
{
	setenv("COMCH_DEVICES", "/nowhere/devices.ini", 1);
	refused("comch: /nowhere/devices.ini: read failed: No such file or directory");
}

T_CASE(a_directory_is_no_table)
{
	setenv("COMCH_DEVICES", t_dir(), 1);
	refused("read failed: Is a directory");
}

T_CASE(a_wrong_file_is_said_aloud)
{
	setenv("COMCH_DEVICES", write_file(t_dir(), DEV PF0 "mac = 1\n"), 1);
	refused("comch/devices.ini:5: mac = 1: expected a MAC address");
}

/* Both objects are linked: the first one's role counts, and COMCH_ROLE more. */
T_CASE(linked_twice_is_harmless)
{
	struct doca_devinfo **list;
	uint32_t nb;

	unsetenv("COMCH_ROLE");
	T_OK(doca_devinfo_create_list(&list, &nb));
	T_CHECK(nb == 1 || nb == 5);
	doca_devinfo_destroy_list(list);
	setenv("COMCH_ROLE", nb == 1 ? "host" : "dpu", 1);
	doca_devinfo_create_list(&list, &nb);
	doca_devinfo_destroy_list(list);
	t_capture_begin();
	comch_doca_role_set(COMCH_DOCA_ROLE_HOST);
	comch_doca_role_set(COMCH_DOCA_ROLE_DPU);
	T_STR_HAS(t_capture_end(), "linked with both roles, ");
}
