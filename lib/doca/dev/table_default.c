/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The built-in device table, in the format of a file. */

#include <comch_doca.h>

/* The addresses are those that DOCA's samples and guides often use. */
static const char text[] =
	"; The built-in device table. To change it:\n"
	";   comch-info --default-devices > ~/.config/comch/devices.ini\n"
	"\n"
	"; A device for programs on the DPU.\n"
	"[device dpu0]\n"
	"pci = 0000:03:00.0\n"
	"ibdev = mlx5_0\n"
	"iface = p0\n"
	"ipv4 = 192.168.100.2\n"
	"driver = comch_shm\n"
	"\n"
	"; Its functions, for programs on the host; rep_iface is the name of the\n"
	"; representor on the DPU. Programs take the first function with a PCI address,\n"
	"; so list an SF after its PF, whose address it has.\n"
	"[function pf0]\n"
	"device = dpu0\n"
	"pci = 0000:b1:00.0\n"
	"ibdev = mlx5_0\n"
	"iface = ens1f0np0\n"
	"rep_iface = pf0hpf\n"
	"ipv4 = 192.168.100.1\n"
	"\n"
	"[function pf1]\n"
	"device = dpu0\n"
	"pci = 0000:b1:00.1\n"
	"ibdev = mlx5_1\n"
	"iface = ens1f1np1\n"
	"rep_iface = pf1hpf\n"
	"\n"
	"[function pf0vf0]\n"
	"device = dpu0\n"
	"pci = 0000:b1:00.2\n"
	"ibdev = mlx5_2\n"
	"iface = ens1f0v0\n"
	"rep_iface = pf0vf0\n"
	"\n"
	"[function pf0vf1]\n"
	"device = dpu0\n"
	"pci = 0000:b1:00.3\n"
	"ibdev = mlx5_3\n"
	"iface = ens1f0v1\n"
	"rep_iface = pf0vf1\n"
	"\n"
	"[function pf0sf0]\n"
	"device = dpu0\n"
	"ibdev = mlx5_4\n"
	"iface = enp177s0f0s0\n"
	"rep_iface = en3f0pf0sf0\n";

const char *
comch_doca_default_devices(void)
{
	return text;
}
