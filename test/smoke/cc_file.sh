#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# A file from the host to the DPU with examples/doca_cc_data_path: the copy is complete, a
# block that is not the last one is full, and invalid files are refused.
#
# usage: cc_file.sh DPU-PROGRAM HOST-PROGRAM

set -euo pipefail

dpu=$1
host=$2

fail() {
	echo "$*" >&2
	cat "$TMPDIR"/{dpu,host}.out >&2
	exit 1
}

# One byte more than 40 blocks of 64 KiB, without their headers, hold.
head -c $((40 * (65536 - 32) + 1)) /dev/urandom >"$TMPDIR/original"

"$dpu" --file "$TMPDIR/copy" >"$TMPDIR/dpu.out" 2>&1 &
pid=$!
trap 'kill "$pid" 2>/dev/null || true' EXIT
"$host" --file "$TMPDIR/original" >"$TMPDIR/host.out" 2>&1 || fail "host: exit status $?"
wait "$pid" || fail "DPU: exit status $?"
trap - EXIT
cmp "$TMPDIR/original" "$TMPDIR/copy" || fail 'the copy differs'
grep -q '^host: all blocks are intact$' "$TMPDIR/host.out" || fail 'no verdict'
grep -q '^DPU: all blocks are intact$' "$TMPDIR/dpu.out" || fail 'the DPU lacks blocks'

# refuses TEXT OPTION...
refuses() {
	local text=$1
	shift
	! "$host" "$@" >"$TMPDIR/host.out" 2>&1 || fail "$* ended well"
	grep -qF -- "$text" "$TMPDIR/host.out" || fail "$*: not '$text'"
}
: >"$TMPDIR/empty"
refuses "$TMPDIR/missing failed" --file "$TMPDIR/missing"
refuses 'is empty' --file "$TMPDIR/empty"
refuses 'must be at least 1' --size 0
