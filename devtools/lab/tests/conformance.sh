# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Conformance of the driver for RDMA, both ends in one machine

machines=one
programs=(test/agent/conformance-agent)

# suite GROUP: an idle link's probes must not wake a test that counts wake-ups.
suite() {
	local dev=comch_mlx5,dev=rxe0,timeout=17,dead_ms=300000
	vm_run one 300 "/lab/build/test/agent/conformance-agent --dpu-dev $dev \
		--host-dev $dev,peer=$vm_ip_one --rep-addr @$vm_ip_one --patience 4 $1"
}

test_each_conformance_group suite
