#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Move large amounts of data and check every byte with comch-perf --verify: small
# messages (64 bytes) and large ones (1 MiB), with 1, 2 and 4 producers and consumers,
# over each kind of memory.
#
# usage: devtools/soak.sh [MESSAGES [GIGABYTES]]
#
# Each of the nine combinations moves MESSAGES (100000000) small messages and
# GIGABYTES (100) of large ones. A combination fails if it loses, reorders or tears a
# message. The last line is "N passed, N failed, N skipped".

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
esac
messages=${1:-100000000}
gigabytes=${2:-100}
[[ $messages =~ ^[1-9][0-9]*$ ]] || die "MESSAGES: '$messages' is not a number"
[[ $gigabytes =~ ^[1-9][0-9]*$ ]] || die "GIGABYTES: '$gigabytes' is not a number"
large=$((gigabytes * 1000000000 / 1048576 + 1))

"$top/devtools/setup.sh" build
build build --buildtype=release
own_runtime

passed=0
failed=0
# soak TEST SIZE TOTAL WORKERS MEMORY
soak() {
	local row
	if row=$("$top/build/app/comch-perf/comch-perf" -- "$1" --verify --size "$2" \
			--iters $((($3 + $4 - 1) / $4)) --producers "$4" --consumers "$4" \
			--memory "$5" --api desc --format json); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
	printf '%s\n' "$row" | python3 -c '
import json
import sys

j = json.loads(sys.stdin.readline() or "{}")
if j:
    print("%-9s %8d B  %d -> %d  %-6s %11d messages %6.1f GB %7.1f s  %d errors" % (
        j["test"], j["size"], j["producers"], j["consumers"], j["memory"], j["messages"],
        j["messages"] * j["size"] / 1e9, j["seconds"], j["errors"]))
'
}

step "Moving $messages messages and $gigabytes GB in each of 9 combinations"
for memory in shared heap eal; do
	for workers in 1 2 4; do
		soak data-rate 64 "$messages" "$workers" "$memory"
		soak data-bw 1M "$large" "$workers" "$memory"
	done
done
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" 0
[ "$failed" -eq 0 ]
