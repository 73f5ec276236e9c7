# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# One process that outlives its peers: 100 killed processes, 40 machines that die

machines='host dpu'
programs=(test/lab/survivor)
cases=(dpu_process_50_times host_process_50_times dpu_20_times host_20_times)

survivor=/lab/build/test/lab/survivor
keys=dev=rxe0,timeout=17
program_dpu="env T_PATIENCE=4 $survivor dpu comch_mlx5,role=dpu,$keys,rep=pf0@$vm_ip_host"
program_host="env T_PATIENCE=4 $survivor host comch_mlx5,role=host,$keys,peer=$vm_ip_dpu"
# For a round of the survivor, most of which is the start of a program.
round_time=60

# rounds FILE: how many connections have ended.
rounds() {
	grep -c 'survivor: round' "$1" || true
}

# transfers FILE: wait until a transfer is under way. On a busy machine, connections that are
# slow for a while end early.
transfers() {
	local before
	before=$(rounds "$1")
	vm_moves host "$round_time"
	while [ "$(rounds "$1")" -ne "$before" ]; do
		before=$(rounds "$1")
		vm_moves host "$round_time"
	done
}

# outlives TIMES NAME COMMAND: "COMMAND PEER ID" kills the peer's program or the peer, again and
# again; the survivor in the machine NAME completes each message once, and leaks nothing.
outlives() {
	local i before peer id victim own=program_$2 other out
	peer=$(vm_peer "$2")
	other=program_$peer
	id=$(vm_begin "$2" "exec ${!own}")
	out=$(vm_output "$2" "$id")
	for ((i = 1; i <= $1; i++)); do
		victim=$(vm_begin "$peer" "exec ${!other}")
		transfers "$out"
		before=$(rounds "$out")
		[ "$i" -lt "$1" ] || vm_signal "$2" TERM "$id"
		"$3" "$peer" "$victim"
		vm_says "$2" "$id" "survivor: round $((before + 1)):" "$round_time"
		vm_ready "$peer"
	done
	vm_end "$2" "$id" "$round_time"
	cat "$out"
	grep -q 'survivor: ended well' "$out"
	# Each time there was something to lose.
	[ "$(grep 'survivor: round' "$out" | grep -vc ': 0 taken')" -ge "$1" ]
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
