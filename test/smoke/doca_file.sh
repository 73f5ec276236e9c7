#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Files from the host to the DPU with examples/doca_file: the copies are complete, whatever their
# lengths and however well they compress; a side says so when the other one is killed, or when its
# file cannot be written.
#
# usage: doca_file.sh DPU-PROGRAM HOST-PROGRAM

set -euo pipefail

dpu=$1
host=$2
piece=65536
pid=

fail() {
	echo "$*" >&2
	cat "$TMPDIR"/{dpu,host}.out >&2
	exit 1
}
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

# start ROLE PROGRAM ARGUMENT...: in the background.
start() {
	local role=$1
	shift
	"$@" >"$TMPDIR/$role.out" 2>&1 &
	pid=$!
}

# ends ROLE STATUS: what is in the background.
ends() {
	local status=0
	wait "$pid" || status=$?
	pid=
	[ "$status" -eq "$2" ] || fail "$1: exit status $status instead of $2"
}

# copies FILE
copies() {
	rm -f "$TMPDIR/copy"
	start dpu "$dpu" --file "$TMPDIR/copy"
	"$host" --file "$1" >"$TMPDIR/host.out" 2>&1 || fail "host: exit status $?"
	ends DPU 0
	cmp "$1" "$TMPDIR/copy" || fail "the copy of $1 differs"
	grep -q '^host: all pieces are intact$' "$TMPDIR/host.out" || fail 'no verdict'
	grep -q '^DPU: all pieces are intact$' "$TMPDIR/dpu.out" || fail 'the DPU lacks pieces'
}

for size in 1 $((piece - 1)) $piece $((piece + 1)); do
	head -c "$size" /dev/urandom >"$TMPDIR/original"
	copies "$TMPDIR/original"
done
# More pieces than there is memory for at a time: noise, zeros and text.
(
	head -c $((20 * piece)) /dev/urandom
	head -c $((20 * piece)) /dev/zero
	yes "a line of text" | head -c $((20 * piece + 7)) || true
) >"$TMPDIR/original"
copies "$TMPDIR/original"

# with_fault FAULT: on each side, from now on.
with_fault() {
	printf '[device dpu0]\npci = 03:00.0\n%s\n[function pf0]\npci = b1:00.0\n%s\n' "$1" "$1" \
		>"$TMPDIR/devices.ini"
	export COMCH_DEVICES=$TMPDIR/devices.ini
}
# Nothing is taken at once.
with_fault 'fault.again = 1/3'
copies "$TMPDIR/original"
# A task fails, with others behind it.
with_fault 'fault.error = 40'
start dpu "$dpu"
"$host" --file "$TMPDIR/original" >"$TMPDIR/host.out" 2>&1 && fail 'host: it ended well'
ends DPU 1
[ "$(grep -c 'stage: ' "$TMPDIR/host.out")" -eq 1 ] || fail 'the host does not say why, once'
unset COMCH_DEVICES

# The other side is killed in the middle, once the copy has begun: of 100 GiB it does not end.
# under_way: both sides; $dpu_pid and $host_pid.
under_way() {
	rm -f "$TMPDIR/copy"
	"$dpu" --file "$TMPDIR/copy" >"$TMPDIR/dpu.out" 2>&1 &
	dpu_pid=$!
	"$host" --size 102400 >"$TMPDIR/host.out" 2>&1 &
	host_pid=$!
	until [ -s "$TMPDIR/copy" ]; do
		kill -0 $dpu_pid || fail 'the DPU has ended'
		kill -0 $host_pid || fail 'the host has ended'
		sleep 0.01
	done
}
# killed VICTIM SURVIVOR PID-OF-VICTIM PID-OF-SURVIVOR
killed() {
	pid=$4
	kill -KILL "$3"
	wait "$3" 2>/dev/null || true
	ends "$2" 1
	grep -q 'some pieces are missing' "$TMPDIR/$2.out" || fail "$2 does not say that $1 is gone"
}
under_way
killed host dpu $host_pid $dpu_pid
under_way
killed dpu host $dpu_pid $host_pid

# A disk that is full.
start dpu "$dpu" --file /dev/full
"$host" --file "$TMPDIR/original" >"$TMPDIR/host.out" 2>&1 && fail 'host: it ended well'
ends DPU 1
grep -q 'write piece' "$TMPDIR/dpu.out" || fail 'the DPU does not say why'
