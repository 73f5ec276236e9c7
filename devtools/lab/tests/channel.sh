# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# comch-perf between the machines, each byte checked; killed processes and machines

machines='host dpu'
programs=(app/comch-perf/comch-perf app/comch-perf/comch-perf-floor test/lab/libwrong_key.so)
cases=(control data_64 data_4k data_1m killed_on_dpu killed_on_host dpu_dies host_dies
	link_down_on_dpu link_down_on_host wrong_key)
quick=(control data_64 killed_on_dpu)

perf=/lab/build/app/comch-perf/comch-perf
dpu_perf="$perf --role dpu --dev comch_mlx5,role=dpu,dev=rxe0,timeout=17,rep=pf0@$vm_ip_host"
host_perf="$perf --role host --dev comch_mlx5,role=host,dev=rxe0,timeout=17,peer=$vm_ip_dpu"
host_perf+=' --wait event --verify'
# A peer that is gone is noticed within 5 s, and the rest is an emulated machine's time.
gone_time=60

# perf ARGUMENTS: both sides end well, and no message is lost. Where nothing is to fail, slow
# emulation is no failure either.
perf() {
	local dpu patience=timeout=17,dead_ms=60000
	dpu=$(vm_begin dpu "${dpu_perf/timeout=17/$patience}")
	vm_rdma_listens dpu
	vm_run host 120 "${host_perf/timeout=17/$patience} $*"
	vm_end dpu "$dpu"
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
	vm_rdma_listens dpu
	host=$(vm_begin host "$host_perf --duration 600 --size 4096 data-rate")
	vm_moves host
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

# The driver of this machine hears of it from its device, the other one by silence. The cable
# is out meanwhile: qemu would hold back the other machine's packets, and Soft-RoCE destroys no
# queue pair before its packets are gone.
link_goes_down() {
	stream_begin
	vm_link "$1" off
	vm_run "$1" 10 'ip link set eth0 down'
	survives host "$host"
	survives dpu "$dpu"
	vm_link "$1" on
	vm_run "$1" 10 'ip link set eth0 up'
	case_control
}

case_link_down_on_dpu() {
	link_goes_down dpu
}

case_link_down_on_host() {
	link_goes_down host
}

# The DPU's device refuses what the host writes.
case_wrong_key() {
	dpu=$(vm_begin dpu "LD_PRELOAD=/lab/build/test/lab/libwrong_key.so $dpu_perf")
	vm_rdma_listens dpu
	host=$(vm_begin host "$host_perf --iters 100 --size 4096 data-rate")
	survives host "$host"
	grep -q "peer's memory does not allow the access" "$(vm_output host "$host")"
	vm_end dpu "$dpu" "$gone_time" || [ $? -lt 124 ]
	case_control
}
