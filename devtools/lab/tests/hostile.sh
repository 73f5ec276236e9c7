# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# A raw verbs peer in one machine: what the driver and the device make of what it posts

machines=one
programs=(test/mlx5/t_mlx5_hostile)
cases=(control_messages flood_of_control_messages no_receives_of_control_messages records
	record_beyond_slot posts posts_beyond_depth no_receives_of_a_consumer wrong_key
	write_after_mr_del address_of_no_function)

hostile() {
	local dev=dev=rxe0,timeout=17,dead_ms=3000
	vm_run one 120 "T_PATIENCE=4 T_REP_ADDR=@$vm_ip_one T_KEYS_DPU=$dev \
		T_KEYS_HOST=$dev,peer=$vm_ip_one /lab/build/test/mlx5/t_mlx5_hostile $1"
}

for name in "${cases[@]}"; do
	eval "case_$name() { hostile $name; }"
done
