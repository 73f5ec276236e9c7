# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Conformance of the driver for RDMA between the machines: the DPU's end in an agent

machines='host dpu'
programs=(test/agent/conformance-agent test/agent/comch-agent)

# suite GROUP: without the cases that remove a server's lock file, which is on the DPU. Each
# call of the DPU's end is a round trip of two emulated machines, so loops are shorter. While
# one of them handles hundreds of megabytes, it may acknowledge nothing for seconds: a timeout
# of 20 is 4 s, seven times.
suite() {
	local agent status=0 dev=comch_mlx5,dev=rxe0,timeout=20,dead_ms=300000
	agent=$(vm_begin dpu '/lab/build/test/agent/comch-agent --listen 0.0.0.0:7000')
	vm_listens dpu 7000
	vm_run host 600 "/lab/build/test/agent/conformance-agent --agent $vm_ip_dpu:7000 \
		--far dpu --dpu-dev $dev --host-dev $dev,peer=$vm_ip_dpu \
		--rep-addr @$vm_ip_host --patience 8 --fewer 20 $1 -- -lifecycle/server_lost \
		-lifecycle/server_lost_busy -lifecycle/lock_removed" || status=$?
	vm_end_killed dpu "$agent"
	return "$status"
}

test_each_conformance_group suite
