# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Soft-RoCE is up in both machines, and RDMA works between them

machines='host dpu'
cases=(device ping rdma_cm verbs_to_dpu verbs_to_host)
quick=(device rdma_cm)

case_device() {
	local name
	for name in host dpu; do
		vm_run "$name" 20 'ibv_devinfo -d rxe0' | tee "$lab_run/info"
		grep -q PORT_ACTIVE "$lab_run/info"
		# The link takes whole packets of 4096 bytes.
		grep -q 'active_mtu:.*4096' "$lab_run/info"
	done
}

case_ping() {
	vm_run host "$vm_patience" "ping -c 3 -s 4000 $vm_ip_dpu"
}

# Connecting by rdma_cm, SEND, RDMA READ and WRITE.
case_rdma_cm() {
	local server
	server=$(vm_begin dpu "rping -s -a $vm_ip_dpu -C 10 -v")
	vm_rdma_listens dpu
	vm_run host "$vm_patience" "rping -c -a $vm_ip_dpu -C 10 -v"
	vm_end dpu "$server"
}

# A reliable connection without rdma_cm; messages of 16 KiB are four packets.
pingpong() {
	local server ip=vm_ip_$1
	server=$(vm_begin "$1" "ibv_rc_pingpong -d rxe0 -g 1 -s 16384 -n 200")
	vm_listens "$1" 18515
	vm_run "$2" "$vm_patience" "ibv_rc_pingpong -d rxe0 -g 1 -s 16384 -n 200 ${!ip}"
	vm_end "$1" "$server"
}

case_verbs_to_dpu() {
	pingpong dpu host
}

case_verbs_to_host() {
	pingpong host dpu
}
