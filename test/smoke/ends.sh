#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# How comch-perf ends: rows that are refused, in all shapes alike; messages without
# a byte; sides that share a CPU; a parent that ignores SIGCHLD, which is inherited.
#
# usage: ends.sh COMCH-PERF

set -euo pipefail

program=$1
shapes=('--producers 1' '--producers 2' '--consumers 2')

fail() {
	echo "$*" >&2
	cat "$TMPDIR/out" "$TMPDIR/err" >&2
	exit 1
}

# ends STATUS TEXT ARGUMENT...: in each shape, and with nothing else on stderr.
ends() {
	local want=$1 text=$2 shape options status
	shift 2
	for shape in "${shapes[@]}"; do
		read -ra options <<<"$shape"
		status=0
		"$program" --iters 32 --attempts 1 --format csv "${options[@]}" "$@" \
			>"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
		[ "$status" -eq "$want" ] || fail "$shape $*: exit status $status, not $want"
		[ "$(sort -u "$TMPDIR/err")" = "$text" ] || fail "$shape $*: not '$text'"
	done
}

ends 0 '' --size 0 data-rate
ends 0 '' --size 3 --api desc data-rate
ends 2 'comch-perf: data-rate: --api doca: a message needs at least one byte of --size or --imm' \
	--size 0 --api doca data-rate
ends 2 'comch-perf: data-rate: --api doca: supports one side per process only' \
	--dev comch_ring0 --api doca data-rate
ends 2 'comch-perf: --same-process requires --role both' --same-process --role host data-rate
ends 2 'comch-perf: data-bw: --size: bandwidth tests need at least one byte' --size 0 data-bw
ends 2 'comch-perf: data-rate: --queue: 65537 exceeds the device limit of 65536' \
	--queue 65537 data-rate
ends 2 'comch-perf: data-rate: --queue times --size exceeds 4 GiB' \
	--queue 65536 --size 1M data-rate
ends 2 'comch-perf: data-rate: --stride: 64 is less than --size: buffers overlap' \
	--api desc --size 65 --stride 64 data-rate
ends 2 'comch-perf: data-rate: --stride: the pool places mbufs' --api mbuf --stride 128 data-rate
ends 2 'comch-perf: data-rate: --queue times --stride exceeds 4 GiB' \
	--api desc --queue 65536 --stride 1048576 data-rate

# refuses TEXT ARGUMENT...: tests of accelerators have one shape.
refuses() {
	local text=$1 status=0
	shift
	"$program" --iters 32 --format csv "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
	[ "$status" -eq 2 ] || fail "$*: exit status $status, not 2"
	[ "$(cat "$TMPDIR/err")" = "comch-perf: $text" ] || fail "$*: not '$text'"
}

if "$program" --help | grep -q '^ *dma-bw '; then
	refuses 'dma-bw: --work sha1: this test supports local to to-peer' --work sha1 dma-bw
	refuses 'sha-bw: --api desc: unsupported for accelerators' --api desc sha-bw
	refuses 'compress-bw: --size: a task works on 1 byte to 1 GiB' --size 0 compress-bw
	refuses 'dma-bw: --queue times --size exceeds 4 GiB' --queue 5 --size 1G dma-bw
fi

cpu=$(taskset -pc $$ | sed 's/.*[:,-] *//')
"$program" -l "$cpu" -- --duration 0.1 --attempts 1 --format json floor data-lat >"$TMPDIR/out"
! grep -v '"stable": false' "$TMPDIR/out" || fail 'two sides on one CPU are stable'
"$program" -l "$cpu" -- --duration 0.1 data-lat >"$TMPDIR/out"
grep -q '  crowded, p99.9 ' "$TMPDIR/out" || fail 'two sides on one CPU are not marked crowded'

env --ignore-signal=CHLD "$program" --iters 32 --attempts 1 --format csv data-rate >"$TMPDIR/out"
status=0
env --ignore-signal=CHLD "$program" --iters 32 --attempts 1 --queue 65537 --format csv data-rate \
	>"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
[ "$status" -eq 2 ] || fail "with SIGCHLD ignored: exit status $status, not 2"
