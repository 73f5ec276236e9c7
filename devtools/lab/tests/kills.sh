# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# One process that outlives its peers: 100 killed processes, 40 machines that die

machines='host dpu'
programs=(test/lab/survivor)
cases=(dpu_process_50_times host_process_50_times dpu_20_times host_20_times)

survivor='T_PATIENCE=8 /lab/build/test/lab/survivor'
keys=dev=rxe0,timeout=17
program_dpu="$survivor dpu comch_mlx5,role=dpu,$keys,rep=pf0@$vm_ip_host"
program_host="$survivor host comch_mlx5,role=host,$keys,peer=$vm_ip_dpu"
# For a life of the survivor, most of which is the start of a program.
life_time=60

# outlives TIMES NAME COMMAND: "COMMAND PEER ID" kills the peer's program or the peer, again and
# again, each time in the middle of a transfer. The survivor in the machine NAME completes each
# message once, leaks nothing, and connects again.
outlives() {
	local i peer id killed own=program_$2 other
	peer=$(vm_peer "$2")
	other=program_$peer
	id=$(vm_begin "$2" "${!own} $1")
	for ((i = 1; i <= $1; i++)); do
		killed=$(vm_begin "$peer" "${!other} 1000")
		vm_says "$2" "$id" "life $i moves" "$life_time"
		"$3" "$peer" "$killed"
		vm_says "$2" "$id" "life $i ends" "$life_time"
		vm_ready "$peer"
	done
	vm_end "$2" "$id" "$life_time"
	cat "$(vm_output "$2" "$id")"
}

# It boots while the survivor finds out.
machine_dies() {
	vm_kill "$1"
	vm_start "$1"
}

case_dpu_process_50_times() {
	outlives 50 host vm_end_killed
}

case_host_process_50_times() {
	outlives 50 dpu vm_end_killed
}

case_dpu_20_times() {
	outlives 20 host machine_dies
}

case_host_20_times() {
	outlives 20 dpu machine_dies
}
