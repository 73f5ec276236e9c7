# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What may be learnt from memory that an RDMA device writes: nothing but behind a completion

machines='one host dpu'
programs=(test/lab/litmus_torn test/lab/litmus_wake)
cases=(torn wake)

# Both ends in one machine with two CPUs: the reader sees each store of the other CPU.
case_torn() {
	vm_run one 300 "/lab/build/test/lab/litmus_torn $vm_ip_one 1000" | tee "$lab_run/torn"
	# Polling must have seen torn cells, or the rest proves nothing.
	awk '/poll/ { torn += $(NF - 5) + $(NF - 2) } END { exit torn == 0 }' "$lab_run/torn"
}

# Between machines: within one, Soft-RoCE delivers before the sender's call returns.
case_wake() {
	local server
	server=$(vm_begin dpu "/lab/build/test/lab/litmus_wake server $vm_ip_dpu $vm_ip_host")
	vm_run host 120 "/lab/build/test/lab/litmus_wake client $vm_ip_host $vm_ip_dpu" |
		tee "$lab_run/wake"
	vm_end dpu "$server"
	awk '/^fence/ { lost = $4 } END { exit lost == 0 }' "$lab_run/wake"
}
