#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Compare the mbuf calls with DPDK's own shared-memory driver: comch-perf data-rate
# --api mbuf, and net_memif under dpdk-testpmd (txonly to rxonly), with 64-byte
# messages between two processes on the same two CPUs, in turns.
#
# usage: devtools/compare-memif.sh [RUNS]
#
# Runs both RUNS (3) times and prints a table of million messages per second. The exit
# status is 1 if a run failed; the figures do not affect it.

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
# Run time of testpmd in seconds. It reports every second; the first reports are warm-up.
seconds=6

"$top/devtools/setup.sh" memif
build build --buildtype=release
command -v dpdk-testpmd >/dev/null || die 'needs dpdk-testpmd (package dpdk)'
dir=$(mktemp -d)
server=
client=
stop() {
	for pid in $client $server; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	server=
	client=
}
trap 'stop; rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# testpmd NAME LCORES ROLE MODE: start one side. 64 bytes are testpmd's default.
testpmd() {
	dpdk-testpmd --lcores "$2" --no-huge -m 256 --no-pci --no-telemetry \
		--file-prefix "comch-memif-$$-$1" \
		--vdev "net_memif0,role=$3,socket=$dir/memif.sock,socket-abstract=no" -- \
		--total-num-mbufs=16384 --forward-mode="$4" --auto-start --stats-period 1 \
		>"$dir/$1.log" 2>&1 </dev/null &
}

# memif: print the million packets per second received, from the last but one report.
memif() {
	rm -f "$dir/memif.sock"
	testpmd server '0@0,1@0' server rxonly
	server=$!
	sleep 1
	testpmd client '0@1,1@1' client txonly
	client=$!
	sleep "$seconds"
	stop
	awk '/Rx-pps:/ && $2 > 0 { rate[++n] = $2 }
		END { if (n < 3) exit 1; print rate[n - 1] / 1e6 }' "$dir/server.log" ||
		die "testpmd received no packets: $(tail -n 3 "$dir/server.log")"
}

comch() {
	"$top/build/app/comch-perf/comch-perf" data-rate --size 64 --burst 32 --api mbuf \
		--format json 2>"$dir/comch.log" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["msgs_per_s"] / 1e6)' ||
		die "comch-perf failed: $(tail -n 3 "$dir/comch.log")"
}

step 'net_memif under dpdk-testpmd and comch-perf --api mbuf: 64 bytes, bursts of 32'
for ((run = 1; run <= runs; run++)); do
	printf '%s %s\n' "$(memif)" "$(comch)" >>"$dir/rates"
	printf 'run %d of %d done\n' "$run" "$runs" >&2
done
awk 'BEGIN { printf "%-4s %18s %18s %14s\n", "run", "net_memif, M/s", "comch mbuf, M/s", "comch/memif" }
	{ printf "%-4d %18.1f %18.1f %14.2f\n", NR, $1, $2, $2 / $1 }' "$dir/rates"
