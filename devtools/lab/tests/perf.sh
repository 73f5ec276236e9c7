# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# comch-perf beside perftest: medians of five, by turns; and what a message costs
#
# Time is not tested: the machines are emulated. Counts are.

machines='host dpu'
programs=(app/comch-perf/comch-perf)
cases=(rate_64 bandwidth_1m counts)
quick=()

turns=5
perf=/lab/build/app/comch-perf/comch-perf
# Probes of idle links are messages, too.
dpu_perf="$perf --role dpu --dev comch_mlx5,role=dpu,dev=rxe0,timeout=17,dead_ms=60000"
dpu_perf+=",rep=pf0@$vm_ip_host"
host_perf="$perf --role host --dev comch_mlx5,role=host,dev=rxe0,timeout=17,dead_ms=60000"
host_perf+=",peer=$vm_ip_dpu --api desc --memory shared --format json"

# perftest PROGRAM SIZE COUNT: the host sends, the DPU receives, with our timeout.
perftest() {
	local server what="$1 -d rxe0 -x 1 -u 17 -F -s $2 -n $3"
	server=$(vm_begin dpu "$what")
	vm_listens dpu 18515
	vm_run host 120 "$what $vm_ip_dpu"
	vm_end dpu "$server"
}

# comch ARGUMENT...: as perftest.
comch() {
	local dpu
	dpu=$(vm_begin dpu "$dpu_perf")
	vm_rdma_listens dpu
	vm_run host 180 "$host_perf $*"
	vm_end dpu "$dpu"
}

# beside SIZE COUNT COMCH-ARGUMENT...: all three by turns.
beside() {
	local turn name size=$1 count=$2 dir=$lab_run/perf
	shift 2
	rm -rf "$dir"
	mkdir "$dir"
	for ((turn = 0; turn < turns; turn++)); do
		for name in ib_send_bw ib_write_bw; do
			perftest "$name" "$size" "$count" >"$dir/$name.$turn"
		done
		comch --size "$size" --iters "$count" "$@" >"$dir/comch-perf.$turn"
	done
	"$top/devtools/lab/perf.py" rates "$size" "$dir"/{ib_send_bw,ib_write_bw,comch-perf}.* |
		tee "$lab_run/report"
}

case_rate_64() {
	beside 64 2000 --burst 32 --queue 256 data-rate
}

case_bandwidth_1m() {
	# As ib_write_bw, whose sender spins and whose receiver sleeps.
	beside 1048576 100 --queue 16 --wait receiver data-bw
}

case_counts() {
	local burst size count file
	while read -r burst size count; do
		file=$lab_run/counts.$burst.$size
		comch --size "$size" --burst "$burst" --queue 1024 --iters "$count" data-rate >"$file"
		cat "$file"
	done <<-END
		32 64 8000
		1 64 1000
		32 4096 4000
	END
	"$top/devtools/lab/perf.py" counts "$lab_run"/counts.* | tee "$lab_run/report"
}
