# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# comch-perf between the machines, each byte checked; killed processes and machines

machines='host dpu'
programs=(app/comch-perf/comch-perf app/comch-perf/comch-perf-floor test/lab/survivor)
cases=(control data_64 data_4k data_1m killed_on_dpu killed_on_host dpu_dies host_dies
	killed_100_times dpu_dies_20_times host_dies_20_times)
quick=(control data_64 killed_on_dpu)

perf=/lab/build/app/comch-perf/comch-perf
dpu_dev=comch_mlx5,role=dpu,dev=rxe0,timeout=17,rep=pf0@$vm_ip_host
host_dev=comch_mlx5,role=host,dev=rxe0,timeout=17,peer=$vm_ip_dpu
dpu_perf="$perf --role dpu --dev $dpu_dev"
host_perf="$perf --role host --dev $host_dev"
host_perf+=' --wait event --verify'
declare -gA survivor_command=(
	[dpu]="T_PATIENCE=8 /lab/build/test/lab/survivor dpu $dpu_dev"
	[host]="T_PATIENCE=8 /lab/build/test/lab/survivor host $host_dev")
# A peer that is gone is noticed within 5 s, and the rest is an emulated machine's time.
gone_time=60

# perf ARGUMENTS: both sides end well, and no message is lost.
perf() {
	local dpu
	dpu=$(vm_begin dpu "$dpu_perf")
	vm_rdma_listens dpu 30
	vm_run host 120 "$host_perf $*"
	vm_end dpu "$dpu" 30
}

case_control() {
	perf --iters 200 ctrl-lat ctrl-rate
}

case_data_64() {
	perf --iters 2000 --size 64 data-rate
}

case_data_4k() {
	perf --iters 500 --size 4096 data-rate
}

case_data_1m() {
	perf --iters 20 --size 1048576 --queue 8 --burst 4 data-bw
}

# stream_begin: an endless transfer; sets ids of the sides.
stream_begin() {
	dpu=$(vm_begin dpu "$dpu_perf")
	vm_rdma_listens dpu 30
	host=$(vm_begin host "$host_perf --duration 600 --size 4096 data-rate")
	vm_moves host 60
}

# survives NAME ID: the side whose peer is gone ends by itself, with an error.
survives() {
	local status=0
	vm_end "$1" "$2" "$gone_time" || status=$?
	cat "$(vm_output "$1" "$2")"
	[ "$status" -ne 0 ] && [ "$status" -lt 124 ]
}

case_killed_on_dpu() {
	stream_begin
	vm_end_killed dpu "$dpu"
	survives host "$host"
	case_control
}

case_killed_on_host() {
	stream_begin
	vm_end_killed host "$host"
	survives dpu "$dpu"
	case_control
}

case_dpu_dies() {
	stream_begin
	vm_kill dpu
	survives host "$host"
	vm_boot dpu
	case_control
}

case_host_dies() {
	stream_begin
	vm_kill host
	survives dpu "$dpu"
	vm_boot host
	case_control
}

# outlives NAME LIVES KILL: an end that accounts for everything and connects again, while its
# peer is killed so many times, each time in the middle of a transfer.
outlives() {
	local peer survivor killed i
	peer=$(vm_peer "$1")
	survivor=$(vm_begin "$1" "${survivor_command[$1]} $2")
	for ((i = 1; i <= $2; i++)); do
		killed=$(vm_begin "$peer" "${survivor_command[$peer]} 1000")
		vm_says "$1" "$survivor" "life $i moves" 120
		"$3" "$peer" "$killed"
	done
	vm_end "$1" "$survivor" "$gone_time"
	cat "$(vm_output "$1" "$survivor")"
}

# restart NAME ID: end a machine, whatever runs there.
restart() {
	vm_kill "$1"
	vm_boot "$1"
}

case_killed_100_times() {
	outlives host 50 vm_end_killed
	outlives dpu 50 vm_end_killed
}

case_dpu_dies_20_times() {
	outlives host 20 restart
}

case_host_dies_20_times() {
	outlives dpu 20 restart
}
