#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Compare with net_memif, DPDK's own shared-memory port, under dpdk-testpmd: net_comch, and
# the mbuf calls (comch-perf data-rate --api mbuf). 64-byte packets between two processes on
# the same two CPUs, one queue, in turns.
#
# usage: devtools/compare-memif.sh [RUNS]
#
# Prints million packets per second of RUNS (3) rounds, with the time of a cache line between
# the CPUs before and after, and the medians of the ratios:
#
#   send     txonly to rxonly
#   forward  io to io: 512 packets go back and forth
#
#   comch    net_comch as it is
#   trust    net_comch with export_eal=1,trust_peer=1: the sender writes into the mbufs
#   mbuf     comch-perf
#
# On a virtual machine the CPUs move: near each other in one row, far apart in the next. A
# ratio counts if all four times are within a factor of 1.3.
#
# net_comch is left out where it was not built (devtools/build-pmd.sh). The exit status is 1
# if a run failed; the figures do not affect it.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
esac
runs=${1:-3}
[[ $runs =~ ^[1-9][0-9]*$ ]] || die "RUNS: '$runs' is not a number"

"$top/devtools/setup.sh" memif
configure build --buildtype=release
targets=(app/comch-perf/comch-perf app/comch-perf/comch-perf-floor)
testpmd=$top/devtools/testpmd-rate.sh
ports=(memif)
if [ -e "$top/build/drivers/net/comch" ]; then
	ports+=(comch trust)
	targets+=(drivers/net/comch/librte_net_comch.so)
fi
build_targets "${targets[@]}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mbuf() {
	"$top/build/app/comch-perf/comch-perf" data-rate --size 64 --burst 32 --api mbuf \
		--format json 2>"$dir/comch.log" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["msgs_per_s"] / 1e6)' ||
		die "comch-perf failed: $(tail -n 3 "$dir/comch.log")"
}

# line: print the nanoseconds of a cache line from one CPU to the other.
line() {
	"$top/build/app/comch-perf/comch-perf-floor" line 0 1 100 || die 'comch-perf-floor failed'
}

# measure NAME RUN COMMAND...: note the figure that the command prints, and show it.
measure() {
	local name=$1 run=$2 before value after
	shift 2
	before=$(line)
	value=$("$@")
	after=$(line)
	printf '%-16s %4d %8.2f %6.0f %6.0f\n' "$name" "$run" "$value" "$before" "$after" |
		tee -a "$dir/rates"
}

step "net_memif, ${ports[1]:+net_comch and }the mbuf calls: 64 bytes, bursts of 32"
printf '%-16s %4s %8s %6s %6s\n' '' round 'M/s' line/ns after
for ((run = 1; run <= runs; run++)); do
	for port in "${ports[@]}"; do
		measure "send-$port" "$run" "$testpmd" "$port" send
	done
	measure send-mbuf "$run" mbuf
	for port in "${ports[@]}"; do
		measure "forward-$port" "$run" "$testpmd" "$port" forward
	done
done
awk '
	{
		rate[$1, $2] = $3
		least[$1, $2] = $4 < $5 ? $4 : $5
		most[$1, $2] = $4 < $5 ? $5 : $4
		runs = $2 > runs ? $2 : runs
		names[$1] = 1
	}
	function are_alike(a, b, i,   low, high) {
		low = least[a, i] < least[b, i] ? least[a, i] : least[b, i]
		high = most[a, i] < most[b, i] ? most[b, i] : most[a, i]
		return high <= 1.3 * low
	}
	function line(name, memif,   n, i, k, v, t) {
		if (!(name in names))
			return
		for (i = 1; i <= runs; i++) {
			if (!are_alike(name, memif, i))
				continue
			v[++n] = rate[name, i] / rate[memif, i]
			for (k = n; k > 1 && v[k] < v[k - 1]; k--) {
				t = v[k]; v[k] = v[k - 1]; v[k - 1] = t
			}
		}
		if (n == 0)
			printf "%-16s      - the CPUs moved in all rounds\n", name
		else
			printf "%-16s %6.2f x net_memif (%d of %d rounds)\n", name,
				n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2, n, runs
	}
	END {
		print ""
		line("send-comch", "send-memif")
		line("send-trust", "send-memif")
		line("send-mbuf", "send-memif")
		line("forward-comch", "forward-memif")
		line("forward-trust", "forward-memif")
	}' "$dir/rates"
